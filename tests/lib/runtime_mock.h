/* runtime_mock.h - cards that are not there (common/compute/cuda/runtime.h): their memory can be touched
 * by kernels and copies alone, each in its turn, and stands against guard pages; nothing that is
 * queued happens before it is waited for. Tests only.
 *
 * The variable COVTOOLS_MOCK says what there is, words with commas between them:
 *   cards=N     so many of them (1)
 *   memory=N    bytes of each (64 MiB)
 *   shared=N    bytes of memory that a block may have (100 KiB)
 *   major=N     compute capability N.0 (9)
 *   fail=N      the N-th wait fails, from 1
 *   free_percent=N  of its free memory, what a card says is free (100)
 *   wrong=N     what is copied from card N is wrong in one place
 *   together=N  nothing is computed before something was queued on so many streams at a time, once; ten
 *               seconds without that are a failure
 *   driver=no   there is no driver
 * SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MOCK_H
#define RUNTIME_MOCK_H

#include <stddef.h>

/* Since the program began: waits on a card, allocations that were refused. Allocations that were not
 * freed, of cards and host. */
size_t runtime_mock_waits(int card);
size_t runtime_mock_refused(void);
size_t runtime_mock_left(void);

#endif
