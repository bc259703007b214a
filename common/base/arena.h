/* arena.h - memory that is released together.
 *
 * The first failure to allocate is kept, so that a caller takes all it needs and checks once.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_ARENA_H
#define COV_BASE_ARENA_H

#include <stddef.h>

#include "common/base/err.h"

/* Empty if all zero. For one thread. */
struct cov_arena {
    struct cov_arena_block *blocks;
    struct cov_err err;
};

/* Returns n zeroed elements of `size` bytes, valid until fini; NULL after a failure. */
void *cov_arena_calloc(struct cov_arena *a, size_t n, size_t size);
/* Returns zeroed values[n][L][D]; NULL after a failure. */
float *cov_arena_values(struct cov_arena *a, size_t n, size_t L, size_t D);
/* Returns a copy of `text`; NULL after a failure. */
char *cov_arena_strdup(struct cov_arena *a, const char *text);

/* Returns COV_OK, or COV_ENOMEM if an allocation failed. */
int cov_arena_check(const struct cov_arena *a, struct cov_err *e) COV_MUST_USE;

/* Releases all memory; *a is empty then. */
void cov_arena_fini(struct cov_arena *a);

#endif
