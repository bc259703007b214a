/* mem.h - checked sizes, allocation, and memory that is released together.
 *
 * Sizes that come from files go through cov_size_mul before anything is allocated. Allocators
 * return NULL and fill *e (COV_ENOMEM) on failure; a request of zero bytes succeeds. Release all
 * memory with free().
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_MEM_H
#define COV_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Set *out to a * b, or to a + b. Return 0; on overflow, return COV_ENOMEM and leave *out
 * unchanged. */
int cov_size_mul(size_t a, size_t b, size_t *out) COV_MUST_USE;
int cov_size_add(size_t a, size_t b, size_t *out) COV_MUST_USE;

static inline size_t cov_size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t cov_size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Allocate n elements of `size` bytes: uninitialised, zeroed, or zeroed and aligned to 64 bytes. */
void *cov_malloc(size_t n, size_t size, struct cov_err *e) COV_MUST_USE;
void *cov_calloc(size_t n, size_t size, struct cov_err *e) COV_MUST_USE;
void *cov_calloc64(size_t n, size_t size, struct cov_err *e) COV_MUST_USE;

/* Allocates n uninitialised elements of `size` bytes, aligned to 64 bytes. From 2 MiB on, uses huge
 * pages where the system has them, which makes the first access faster. Use it only for memory that
 * will be used in full. */
void *cov_malloc_huge(size_t n, size_t size, struct cov_err *e) COV_MUST_USE;

/* Like realloc(p, n * size): on failure p stays valid and NULL is returned. */
void *cov_realloc(void *p, size_t n, size_t size, struct cov_err *e) COV_MUST_USE;

/* Grows the array *p, of any type, geometrically to at least `need` elements; *cap is its size
 * in elements. On COV_ENOMEM, *p and *cap are unchanged. */
#define COV_RESERVE(p, cap, need, e) cov_reserve((p), (cap), (need), sizeof **(p), (e))
/* Does the same for elements of `size` bytes. `p` is the address of the pointer. */
int cov_reserve(void *p, size_t *cap, size_t need, size_t size, struct cov_err *e) COV_MUST_USE;

/* Copies `text` to *to, a reusable buffer of *cap bytes that grows as with cov_reserve. */
int cov_copy_text(char **to, size_t *cap, const char *text, struct cov_err *e) COV_MUST_USE;

char *cov_strdup(const char *text, struct cov_err *e) COV_MUST_USE;
/* Returns a copy of the n bytes at `text`, with a terminating zero. */
char *cov_strndup(const char *text, size_t n, struct cov_err *e) COV_MUST_USE;
/* Returns a new formatted string. */
char *cov_strfmt(struct cov_err *e, const char *fmt, ...) COV_PRINTF(2, 3) COV_MUST_USE;
/* Appends formatted text to *text, a string of malloc. *text is NULL without memory, and stays so. */
void cov_strappend(char **text, struct cov_err *e, const char *fmt, ...) COV_PRINTF(3, 4);
/* Returns a new string: items[0..n) with `separator` between them. */
char *cov_strjoin(const char *const *items, size_t n, const char *separator,
                  struct cov_err *e) COV_MUST_USE;

/* ---- memory that is released together ---- */

/* Keeps the first failure to allocate, so that a caller takes all it needs and checks once. Empty if
 * all zero. For one thread. */
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
