/* test_chunk_head.c - heads: copies, look-ups and invalid parts.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/err.h"
#include "common/chunk/chunk_head.h"

static const struct cov_h5_type int32 = {COV_H5_INT, 4, true, false, '\0'};

static struct cov_chunk_set coverage(void)
{
    static uint8_t fill[4] = {0xff, 0xff, 0xff, 0xff};
    return (struct cov_chunk_set){"evaluation/atac_coverage", int32, 3, {40, 2}, fill};
}

TEST(test_contents)
{
    struct cov_chunk_head h = {.L = 40, .has_bases = true}, copy;
    static char blacklist[] = "data/blacklist", matrix[] = "extra/matrix";
    uint8_t bytes[24];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    const struct cov_chunk_set sets[] = {coverage(), {blacklist, int32, 1, {1, 1}, NULL}};
    const struct cov_chunk_table table = {matrix, int32, 2, {3, 2, 1}, bytes, 24};
    static const char *const names[] = {"a.bam", "longer.bam", ""};
    assert_ok(cov_chunk_head_add_set(&h, &sets[0], &e));
    assert_ok(cov_chunk_head_add_set(&h, &sets[1], &e));
    assert_ok(cov_chunk_head_add_table(&h, &table, &e));
    assert_ok(cov_chunk_head_add_texts(&h, "evaluation/atac_meta/bam_files", 5, 3, names, &e));
    assert_ok(cov_chunk_head_add_texts(&h, "prediction/model_name", 256, 1, names, &e));
    assert_ok(cov_chunk_head_add_texts(&h, "extra/nothing", 0, 0, names, &e));
    assert_ok(cov_chunk_head_add_attr(&h, NULL, "input_path", "x.fa", &e));
    assert_ok(cov_chunk_head_add_attr(&h, sets[0].name, "input_path", "y", &e));
    assert_ok(cov_chunk_head_add_attr(&h, matrix, "unit", "", &e));
    assert_true(cov_chunk_head_has_group(&h, "data"));
    assert_true(cov_chunk_head_has_group(&h, "extra"));
    assert_int_equal(cov_chunk_head_add_attr(&h, "ext", "a", "b", NULL), COV_EINPUT);

    assert_ok(cov_chunk_head_copy(&h, &copy, &e));
    cov_chunk_head_fini(&h);
    cov_chunk_head_fini(&h);
    assert_int_equal(copy.L, 40);
    assert_true(copy.has_bases);
    assert_int_equal(copy.n_sets, 2);
    assert_int_equal(copy.n_tables, 4);
    assert_int_equal(copy.n_attrs, 3);
    const struct cov_chunk_set *s = cov_chunk_head_set(&copy, "evaluation/atac_coverage");
    assert_ptr_equal(s, &copy.sets[0]);
    assert_int_equal(cov_chunk_set_row_bytes(s), 320);
    assert_memory_equal(s->fill, "\xff\xff\xff\xff", 4);
    assert_memory_equal(copy.sets[1].fill, "\0\0\0\0", 4);
    assert_int_equal(cov_chunk_set_row_bytes(&copy.sets[1]), 4);
    assert_null(cov_chunk_head_set(&copy, "extra/matrix"));
    const struct cov_chunk_table *t = cov_chunk_head_table(&copy, "extra/matrix");
    assert_memory_equal(t->elems, bytes, 24);
    t = cov_chunk_head_table(&copy, "evaluation/atac_meta/bam_files");
    assert_int_equal(t->type.bytes, 10);
    assert_int_equal(t->dims[0], 3);
    assert_memory_equal(t->elems, "a.bam\0\0\0\0\0longer.bam\0\0\0\0\0\0\0\0\0\0", 30);
    assert_int_equal(cov_chunk_head_table(&copy, "prediction/model_name")->n_bytes, 256);
    assert_int_equal(cov_chunk_head_table(&copy, "extra/nothing")->n_bytes, 0);
    assert_string_equal(cov_chunk_head_attr(&copy, NULL, "input_path"), "x.fa");
    assert_string_equal(cov_chunk_head_attr(&copy, "evaluation/atac_coverage", "input_path"), "y");
    assert_string_equal(cov_chunk_head_attr(&copy, "extra/matrix", "unit"), "");
    assert_null(cov_chunk_head_attr(&copy, NULL, "unit"));
    assert_true(cov_chunk_head_same_attr(&copy, &copy, NULL, "input_path"));
    assert_true(cov_chunk_head_same_attr(&copy, &copy, NULL, "absent"));
    struct cov_chunk_head other = {.L = 40};
    assert_false(cov_chunk_head_same_attr(&copy, &other, NULL, "input_path"));
    assert_ok(cov_chunk_head_add_attr(&other, NULL, "input_path", "z.fa", &e));
    assert_false(cov_chunk_head_same_attr(&copy, &other, NULL, "input_path"));
    cov_chunk_head_fini(&other);
    cov_chunk_head_drop_attr(&copy, NULL, "absent");
    cov_chunk_head_drop_attr(&copy, NULL, "input_path");
    assert_null(cov_chunk_head_attr(&copy, NULL, "input_path"));
    assert_string_equal(cov_chunk_head_attr(&copy, "evaluation/atac_coverage", "input_path"), "y");
    assert_string_equal(cov_chunk_head_attr(&copy, "extra/matrix", "unit"), "");
    cov_chunk_head_fini(&copy);
}

static void refuse_set(struct cov_chunk_head *h, const struct cov_chunk_set *set, const char *text)
{
    assert_fails(cov_chunk_head_add_set(h, set, &e), COV_EINPUT, text);
}

TEST(test_wrong_sets)
{
    struct cov_chunk_head h = {.L = 40};
    static char *const names[] = {"",         "/a", "a/", "a//b", ".",           "data/..",
                                  "./data/y", NULL, NULL, NULL,   "data/../data"};
    static char *const taken[] = {"data/X",           "data/X_packed",   "data/seqids",
                                  "data/species",     "data/start_ends", "data/seq_names",
                                  "data/seq_species", "data/seq_lengths"};
    char text[300];
    memset(text, 'n', sizeof text);
    text[256] = '\0';
    for (size_t i = 0; i < COV_COUNT(names); i++) {
        struct cov_chunk_set s = coverage();
        s.name = names[i] ? names[i] : text;
        refuse_set(&h, &s, "is not a valid dataset name");
    }
    for (size_t i = 0; i < COV_COUNT(taken); i++) {
        struct cov_chunk_set s = coverage();
        s.name = taken[i];
        refuse_set(&h, &s, taken[i]);
    }
    static const struct cov_h5_type types[] = {
        {COV_H5_INT, 3, true, false, '\0'},        {COV_H5_INT, 0, true, false, '\0'},
        {COV_H5_INT, 16, true, false, '\0'},       {COV_H5_INT, 4, true, true, '\0'},
        {COV_H5_FLOAT, 1, true, false, '\0'},      {COV_H5_FLOAT, 8, true, true, '\0'},
        {COV_H5_STRING, 0, false, false, '\0'},    {COV_H5_STRING, 65537, false, false, '\0'},
        {COV_H5_STRING, 5, false, false, 'x'},     {(enum cov_h5_kind)7, 4, false, false, '\0'},
        {COV_H5_INT, SIZE_MAX, true, false, '\0'}, {COV_H5_BOOL, 2, false, false, '\0'}};
    for (size_t i = 0; i < COV_COUNT(types); i++) {
        struct cov_chunk_set s = coverage();
        s.type = types[i];
        s.fill = NULL;
        refuse_set(&h, &s, "unsupported type");
    }
    static const struct {
        int rank;
        size_t dims[2];
        const char *text;
    } shapes[] = {
        {0, {1, 1}, "0 dimensions"},       {4, {1, 1}, "4 dimensions"},
        {-1, {1, 1}, "-1 dimensions"},     {1, {2, 1}, "damaged shape"},
        {2, {2, 2}, "damaged shape"},      {3, {0, 2}, "its rows are empty"},
        {3, {2, 0}, "its rows are empty"}, {3, {SIZE_MAX, 2}, "1 GiB"},
        {3, {SIZE_MAX / 4, 4}, "1 GiB"},   {2, {((size_t)1 << 28) + 1, 1}, "1 GiB"},
    };
    for (size_t i = 0; i < COV_COUNT(shapes); i++) {
        struct cov_chunk_set s = coverage();
        s.rank = shapes[i].rank;
        memcpy(s.dims, shapes[i].dims, sizeof s.dims);
        refuse_set(&h, &s, shapes[i].text);
    }
    assert_int_equal(h.n_sets, 0);
    struct cov_chunk_set s = coverage();
    assert_ok(cov_chunk_head_add_set(&h, &s, &e));
    refuse_set(&h, &s, "duplicate dataset");
    uint8_t bytes[12] = {0};
    const struct cov_chunk_table same = {s.name, int32, 1, {3, 1, 1}, bytes, 12};
    assert_int_equal(cov_chunk_head_add_table(&h, &same, NULL), COV_EINPUT);
    assert_int_equal(h.n_sets, 1);
    for (int i = 1; i < COV_CHUNK_MAX_SETS; i++) {
        (void)snprintf(text, sizeof text, "data/%d", i);
        s.name = text;
        assert_ok(cov_chunk_head_add_set(&h, &s, &e));
    }
    (void)snprintf(text, sizeof text, "data/one_more");
    refuse_set(&h, &s, "more than 4096 datasets");
    cov_chunk_head_fini(&h);
}

TEST(test_wrong_tables)
{
    struct cov_chunk_head h = {.L = 40};
    static char name[] = "extra/t";
    uint8_t bytes[24] = {0};
    static const struct {
        int rank;
        size_t dims[3], n_bytes;
    } cases[] = {
        {1, {3, 1, 1}, 11},
        {1, {3, 1, 1}, 13},
        {1, {3, 2, 1}, 24},
        {0, {1, 1, 1}, 4},
        {4, {1, 1, 1}, 4},
        {2, {1, 1, 2}, 8},
        {1, {0, 1, 1}, 1},
        {3, {SIZE_MAX, SIZE_MAX, 2}, 24},
        {1, {1 << 29, 1, 1}, (size_t)1 << 31},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        struct cov_chunk_table t = {name, int32, cases[i].rank, {1, 1, 1}, bytes, cases[i].n_bytes};
        memcpy(t.dims, cases[i].dims, sizeof t.dims);
        assert_fails_in(cov_chunk_head_add_table(&h, &t, &e), COV_EINPUT, "extra/t: ", "");
    }
    assert_int_equal(h.n_tables, 0);
    assert_int_equal(cov_chunk_head_add_attr(&h, "extra/t", "a", "b", NULL), COV_EINPUT);
    assert_int_equal(cov_chunk_head_add_attr(&h, NULL, "", "b", NULL), COV_EINPUT);
    assert_int_equal(cov_chunk_head_add_attr(&h, NULL, "a", "b", NULL), 0);
    assert_int_equal(cov_chunk_head_add_attr(&h, NULL, "a", "c", NULL), COV_EINPUT);
    assert_string_equal(cov_chunk_head_attr(&h, NULL, "a"), "b");
    cov_chunk_head_fini(&h);
}
