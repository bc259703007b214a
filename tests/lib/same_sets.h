/* same_sets.h - for unit tests: compares the datasets of two heads.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SAME_SETS_H
#define TESTS_SAME_SETS_H

#include "tests/lib/unit.h"

#include "common/chunk/chunk_head.h"

/* Compares L, the sets, which have the same order, and the tables. */
static inline void check_same_sets(const struct cov_chunk_head *got, const struct cov_chunk_head *h)
{
    assert_int_equal(got->L, h->L);
    assert_int_equal(got->has_bases, h->has_bases);
    assert_int_equal(got->n_sets, h->n_sets);
    for (size_t k = 0; k < h->n_sets; k++) {
        const struct cov_chunk_set *a = &got->sets[k], *b = &h->sets[k];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type.kind, b->type.kind);
        assert_int_equal(a->type.bytes, b->type.bytes);
        if (a->type.kind == COV_H5_INT)
            assert_int_equal(a->type.is_signed, b->type.is_signed);
        assert_int_equal(a->type.padding, b->type.padding);
        assert_int_equal(a->rank, b->rank);
        assert_memory_equal(a->dims, b->dims, sizeof a->dims);
        assert_memory_equal(a->fill, b->fill, a->type.bytes);
    }
    assert_int_equal(got->n_tables, h->n_tables);
    for (size_t k = 0; k < h->n_tables; k++) {
        const struct cov_chunk_table *b = &h->tables[k], *a = cov_chunk_head_table(got, b->name);
        assert_non_null(a);
        assert_int_equal(a->rank, b->rank);
        assert_int_equal(a->type.bytes, b->type.bytes);
        assert_memory_equal(a->dims, b->dims, sizeof a->dims);
        assert_int_equal(a->n_bytes, b->n_bytes);
        assert_memory_equal(a->elems, b->elems, a->n_bytes);
    }
}

#endif
