/* edit_rows.cu - collects rows of sequences after edits, each from where it was computed or kept (kernels.h).
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/kernels.h"
#include "common/compute/cuda/simt.h"

/* A thread copies 16 bytes. */
SIMT_KERNEL(SIMT_THREADS)
copy_rows(const void *const *from, uint4 *to, int vectors, size_t n)
{
    const size_t at = simt_item(), piece = at / vectors;
    if (piece < n)
        to[at] = ((const uint4 *)from[piece])[at - piece * vectors];
}

void cov_cuda_copy_rows(const void *const *from, void *to, int bytes, size_t n, void *stream)
{
    simt_launch_items(copy_rows, n * (size_t)(bytes / 16), stream, from, (uint4 *)to, bytes / 16,
                      n);
}
