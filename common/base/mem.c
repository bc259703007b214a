/* mem.c - see mem.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/mem.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int cov_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return COV_ENOMEM;
    *out = product;
    return COV_OK;
}

int cov_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return COV_ENOMEM;
    *out = sum;
    return COV_OK;
}

static void *out_of_memory(size_t n, size_t size, struct cov_err *e)
{
    (void)cov_fail(e, COV_ENOMEM, "out of memory: %zu elements of %zu bytes", n, size);
    return NULL;
}

/* Returns the number of bytes to allocate, at least 1; 0 if it exceeds the address space. */
static size_t request(size_t n, size_t size)
{
    size_t bytes;
    if (cov_size_mul(n, size, &bytes) || bytes > PTRDIFF_MAX - 64)
        return 0;
    return bytes ? bytes : 1;
}

void *cov_malloc(size_t n, size_t size, struct cov_err *e)
{
    size_t bytes = request(n, size);
    void *p = bytes ? malloc(bytes) : NULL;
    return p ? p : out_of_memory(n, size, e);
}

void *cov_calloc(size_t n, size_t size, struct cov_err *e)
{
    size_t bytes = request(n, size);
    void *p = bytes ? calloc(1, bytes) : NULL;
    return p ? p : out_of_memory(n, size, e);
}

void *cov_calloc64(size_t n, size_t size, struct cov_err *e)
{
    size_t bytes = request(n, size);
    if (!bytes)
        return out_of_memory(n, size, e);
    bytes = (bytes + 63) & ~(size_t)63;
    void *p = aligned_alloc(64, bytes);
    if (!p)
        return out_of_memory(n, size, e);
    memset(p, 0, bytes);
    return p;
}

void *cov_malloc_huge(size_t n, size_t size, struct cov_err *e)
{
    const size_t page = (size_t)1 << 21, bytes = request(n, size), unit = bytes < page ? 64 : page;
    size_t room = (bytes + unit - 1) / unit * unit;
    void *p = bytes ? aligned_alloc(unit, room) : NULL;
    if (!p)
        return out_of_memory(n, size, e);
    if (unit == page)
        (void)madvise(p, room, MADV_HUGEPAGE); /* failure does not matter */
    return p;
}

void *cov_realloc(void *p, size_t n, size_t size, struct cov_err *e)
{
    size_t bytes = request(n, size);
    void *q = bytes ? realloc(p, bytes) : NULL;
    return q ? q : out_of_memory(n, size, e);
}

/* The pointer at `p` has an unknown type. Accessing it as a void * would be undefined, so its
 * bytes are copied. */
int cov_reserve(void *p, size_t *cap, size_t need, size_t size, struct cov_err *e)
{
    void *held;
    if (need <= *cap)
        return COV_OK;
    memcpy(&held, p, sizeof held);
    size_t grown = *cap + *cap / 2 + 16;
    if (grown < need)
        grown = need;
    held = cov_realloc(held, grown, size, e);
    if (!held)
        return COV_ENOMEM;
    memcpy(p, &held, sizeof held);
    *cap = grown;
    return COV_OK;
}

char *cov_strndup(const char *text, size_t n, struct cov_err *e)
{
    size_t bytes;
    if (cov_size_add(n, 1, &bytes))
        return out_of_memory(n, 1, e);
    char *copy = cov_malloc(bytes, 1, e);
    if (!copy)
        return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

int cov_copy_text(char **to, size_t *cap, const char *text, struct cov_err *e)
{
    size_t n = strlen(text) + 1;
    int rc = COV_RESERVE(to, cap, n, e);
    if (!rc)
        memcpy(*to, text, n);
    return rc;
}

char *cov_strdup(const char *text, struct cov_err *e)
{
    return cov_strndup(text, strlen(text), e);
}

/* Returns text[0..n) and formatted text. */
static char *format(struct cov_err *e, const char *text, size_t n, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int more = vsnprintf(NULL, 0, fmt, args);
    char *all = more < 0 ? NULL : cov_malloc(n + (size_t)more + 1, 1, e);
    if (all) {
        memcpy(all, text, n);
        (void)vsnprintf(all + n, (size_t)more + 1, fmt, again);
    }
    va_end(again);
    return all;
}

char *cov_strfmt(struct cov_err *e, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = format(e, "", 0, fmt, args);
    va_end(args);
    return text;
}

void cov_strappend(char **text, struct cov_err *e, const char *fmt, ...)
{
    va_list args;
    if (!*text)
        return;
    va_start(args, fmt);
    char *longer = format(e, *text, strlen(*text), fmt, args);
    va_end(args);
    free(*text);
    *text = longer;
}

char *cov_strjoin(const char *const *items, size_t n, const char *separator, struct cov_err *e)
{
    size_t n_bytes = 1, n_separator = strlen(separator);
    for (size_t i = 0; i < n; i++)
        n_bytes += strlen(items[i]) + n_separator;
    char *text = cov_malloc(n_bytes, 1, e), *at = text;
    for (size_t i = 0; text && i < n; i++)
        at += snprintf(at, n_bytes - (size_t)(at - text), "%s%s", i ? separator : "", items[i]);
    if (text)
        *at = '\0';
    return text;
}

/* ---- memory that is released together ---- */

/* A block of a list; its memory follows. */
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
        (void)out_of_memory(n, size, &a->err);
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
