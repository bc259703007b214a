/* arena.c - see arena.h: a list of blocks, each of which begins with a link to the next.
 * SPDX-License-Identifier: MIT */
#include "common/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct cov_arena_block {
    alignas(max_align_t) struct cov_arena_block *next;
};

void *cov_arena_calloc(struct cov_arena *a, size_t n, size_t size)
{
    size_t bytes = 0;
    if (a->err.code)
        return NULL;
    struct cov_arena_block *block = NULL;
    if (cov_size_mul(n, size, &bytes) || cov_size_add(bytes, sizeof *block, &bytes))
        (void)cov_fail(&a->err, COV_ENOMEM, "out of memory: %zu elements of %zu bytes", n, size);
    else
        block = cov_calloc(bytes, 1, &a->err);
    if (!block)
        return NULL;
    block->next = a->blocks;
    a->blocks = block;
    return block + 1;
}

float *cov_arena_values(struct cov_arena *a, size_t n, size_t L, size_t D)
{
    size_t row;
    if (cov_size_mul(L, D, &row) || cov_size_mul(row, sizeof(float), &row))
        row = SIZE_MAX;
    return cov_arena_calloc(a, n, row);
}

char *cov_arena_strdup(struct cov_arena *a, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = cov_arena_calloc(a, n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

int cov_arena_check(const struct cov_arena *a, struct cov_err *e)
{
    return a->err.code ? cov_fail(e, a->err.code, "%s", a->err.text) : COV_OK;
}

void cov_arena_fini(struct cov_arena *a)
{
    while (a->blocks) {
        struct cov_arena_block *block = a->blocks;
        a->blocks = block->next;
        free(block);
    }
    cov_err_clear(&a->err);
}
