/* example_copies.c - see example_copies.h.
 * SPDX-License-Identifier: MIT */
#include "common/examples/example_copies.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/seq/copies.h"

/* Rows of `val` have their number, counted over all files, as index. Those of `train` have a higher
 * one, so that they follow rows of `val` with the same key. */
#define IN_TRAIN SIZE_MAX

struct list {
    struct cov_keyed_chunk *chunks;
    size_t n, cap;
};

/* Adds the rows of a file that are used; `first`: the index of its first row. */
static int add_file(struct list *l, const struct cov_examples *x, size_t file, size_t first,
                    struct cov_err *e)
{
    const struct cov_bases_key *keys = x->files[file].keys;
    const size_t n = keys ? cov_grid_n_chunks(x->files[file].grid) : 0;
    int rc = COV_RESERVE(&l->chunks, &l->cap, l->n + n, e);
    for (size_t i = 0; !rc && i < n; i++)
        if (cov_examples_keeps(x, file, i))
            l->chunks[l->n++] =
                (struct cov_keyed_chunk){keys[i], first == IN_TRAIN ? IN_TRAIN : first + i};
    return rc;
}

/* Sets is_copy[] for the rows of `val`, counted over all files, whose bases are in `train`. */
static int find_copies(const struct cov_examples *val, const struct cov_examples *train,
                       bool *is_copy, struct cov_err *e)
{
    struct list l = {.n = 0};
    size_t first = 0, end;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < train->n_files; k++)
        rc = add_file(&l, train, k, IN_TRAIN, e);
    for (size_t k = 0; !rc && k < val->n_files; k++) {
        rc = add_file(&l, val, k, first, e);
        first += cov_grid_n_chunks(val->files[k].grid);
    }
    if (!rc)
        cov_copies_sort(l.chunks, l.n);
    for (size_t beg = 0; !rc && beg < l.n; beg = end) {
        end = cov_copies_end(l.chunks, l.n, beg);
        for (size_t i = beg; l.chunks[end - 1].index == IN_TRAIN && i < end; i++)
            if (l.chunks[i].index != IN_TRAIN)
                is_copy[l.chunks[i].index] = true;
    }
    free(l.chunks);
    return rc;
}

/* Warns if file v of `val` has the chunks of a file of `train`. */
static bool warn_same_file(const struct cov_examples *val, size_t v,
                           const struct cov_examples *train)
{
    bool same = false;
    for (size_t t = 0; t < train->n_files; t++)
        if (cov_examples_same_chunks(val, v, train, t)) {
            cov_warn("%s: the same chunks as %s: validation on training data does not show how the "
                     "network does on other sequences",
                     val->files[v].path, train->files[t].path);
            same = true;
        }
    return same;
}

int cov_examples_warn_copies(const struct cov_examples *val, const struct cov_examples *train,
                             struct cov_err *e)
{
    size_t n_rows = 0, first = 0;
    for (size_t v = 0; v < val->n_files; v++)
        n_rows += cov_grid_n_chunks(val->files[v].grid);
    bool *is_copy = cov_calloc(n_rows, sizeof *is_copy, e);
    int rc = is_copy ? find_copies(val, train, is_copy, e) : COV_ENOMEM;
    for (size_t v = 0; !rc && v < val->n_files; v++) {
        const size_t n = cov_grid_n_chunks(val->files[v].grid);
        size_t n_copies = 0, n_kept = 0;
        for (size_t i = 0; i < n; i++) {
            n_copies += is_copy[first + i];
            n_kept += cov_examples_keeps(val, v, i);
        }
        first += n;
        if (!warn_same_file(val, v, train) && n_copies > 0)
            cov_warn("%s: %zu of %zu chunks (%.3g %%) have the bases of training data, which "
                     "validation should not see; h5chunk split keeps them apart",
                     val->files[v].path, n_copies, n_kept, 100 * (double)n_copies / (double)n_kept);
    }
    free(is_copy);
    return rc;
}
