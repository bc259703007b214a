/* test_verify_head.c - faults of grids and of lists of names.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/job/chunks/verify.h"
#include "common/job/chunks/verify_head.h"
#include "tests/lib/make_chunks.h"

struct row {
    const char *species, *name;
    int64_t start, end;
};

/* The lines about a grid of these rows, and, with a head, about that. */
static void expect(const struct row *rows, size_t n, int64_t declared,
                   const struct cov_chunk_head *head, size_t n_wanted, const char *wanted)
{
    struct cov_grid_builder *b;
    struct cov_grid *g;
    struct cov_findings *f;
    char *text = NULL;
    size_t n_text = 0;
    FILE *out = open_memstream(&text, &n_text);
    assert_non_null(out);
    assert_int_equal(cov_grid_builder_new(MADE_L, &b, NULL), COV_OK);
    struct cov_seq_id id = cov_seq_id("S", "a");
    if (declared > 0)
        assert_int_equal(cov_grid_builder_declare(b, &id, declared, NULL), COV_OK);
    for (size_t i = 0; i < n; i++) {
        id = cov_seq_id(rows[i].species, rows[i].name);
        assert_int_equal(cov_grid_builder_add(b, &id, rows[i].start, rows[i].end, NULL), COV_OK);
    }
    assert_int_equal(cov_grid_builder_finish(b, &g, NULL), COV_OK);
    assert_int_equal(cov_findings_new("x.h5", out, &f, NULL), COV_OK);
    if (head)
        assert_int_equal(cov_verify_head(head, g, f, NULL), COV_OK);
    else
        assert_int_equal(cov_verify_grid(g, f, NULL), COV_OK);
    assert_int_equal(cov_findings_finish(f), n_wanted);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    cov_grid_free(g);
    free(text);
}

static void follows_strands(void **state)
{
    (void)state;
    static const struct row sound[] = {
        {"S", "a", 0, 10}, {"S", "a", 10, 15}, {"S", "a", 15, 10}, {"S", "a", 10, 0}};
    expect(sound, 4, 0, NULL, 0, "");
    /* In any order. */
    static const struct row mixed[] = {
        {"S", "a", 10, 0}, {"S", "a", 10, 15}, {"S", "a", 0, 10}, {"S", "a", 15, 10}};
    expect(mixed, 4, 0, NULL, 0, "");
    static const struct row late[] = {{"S", "a", 5, 10}, {"S", "a", 10, 5}};
    expect(
        late, 2, 0, NULL, 2,
        "x.h5: data/start_ends: row 0 (a:6-10, + strand): no chunk of this strand has the bases 1 "
        "to 5 before it\n"
        "x.h5: data/start_ends: row 1 (a:6-10, - strand): no chunk of this strand has the bases 1 "
        "to 5 before it\n");
    /* One that lies within another does not hide a hole. */
    static const struct row within[] = {{"S", "a", 0, 10},
                                        {"S", "a", 2, 4},
                                        {"S", "a", 12, 20},
                                        {"S", "a", 10, 0},
                                        {"S", "a", 20, 10}};
    expect(within, 5, 0, NULL, 2,
           "x.h5: data/start_ends: row 1 (a:3-4, + strand): overlaps row 0\n"
           "x.h5: data/start_ends: row 2 (a:13-20, + strand): no chunk of this strand has the "
           "bases 11 "
           "to 12 before it\n");
}

static void partial_grids_may_have_holes(void **state)
{
    (void)state;
    static const struct row rows[] = {{"S", "a", 10, 20}, {"S", "a", 35, 30}};
    expect(rows, 2, 100, NULL, 0, "");
    static const struct row overlap[] = {{"S", "a", 10, 20}, {"S", "a", 19, 25}};
    expect(overlap, 2, 100, NULL, 1,
           "x.h5: data/start_ends: row 1 (a:20-25, + strand): overlaps row 0\n");
}

static void looks_at_names(void **state)
{
    (void)state;
    struct cov_chunk_head head;
    made_head(true, &head);
    static const struct row names[] = {{"S", "a", 0, 10}, {"T", "a", 0, 10}, {"S", "b\t", 0, 10}};
    expect(names, 3, 0, &head, 2,
           "x.h5: data/seqids: a is the name of a sequence of T too\n"
           "x.h5: data/seqids: 'b?' is not a name: there is white space in it\n");
    cov_chunk_head_fini(&head);
}

static void looks_at_lists(void **state)
{
    (void)state;
    static const struct row row[] = {{"S", "a", 0, 10}};
    static const char *const one[] = {"x"}, *const empty[] = {"x", ""};
    struct cov_chunk_head head, full;
    made_head(false, &full);
    expect(row, 1, 0, &full, 0, "");

    head = (struct cov_chunk_head){.L = MADE_L};
    assert_int_equal(cov_chunk_head_add_set(&head, &full.sets[0], NULL), COV_OK);
    expect(row, 1, 0, &head, 1,
           "x.h5: prediction/datasets: missing: the columns of the predictions have no names\n");
    assert_int_equal(cov_chunk_head_add_texts(&head, "prediction/datasets", 4, 1, one, NULL),
                     COV_OK);
    expect(row, 1, 0, &head, 1, "x.h5: prediction/datasets: 1 names of 2 columns\n");
    head.L = 11;
    expect(row, 1, 0, &head, 1,
           "x.h5: prediction/predictions: rows that are not numbers of 11 positions\n");
    cov_chunk_head_fini(&head);

    struct cov_chunk_set coverage = full.sets[0];
    static char name[] = "evaluation/x_coverage";
    coverage.name = name;
    head = (struct cov_chunk_head){.L = MADE_L};
    assert_int_equal(cov_chunk_head_add_set(&head, &coverage, NULL), COV_OK);
    expect(row, 1, 0, &head, 0, "");
    assert_int_equal(
        cov_chunk_head_add_texts(&head, "evaluation/x_meta/bam_files", 4, 2, empty, NULL), COV_OK);
    expect(row, 1, 0, &head, 1, "x.h5: evaluation/x_meta/bam_files: row 1: no name\n");
    cov_chunk_head_fini(&head);
    cov_chunk_head_fini(&full);
}

static void prints_no_more_than_can_be_read(void **state)
{
    (void)state;
    struct cov_findings *f;
    char *text = NULL;
    size_t n_text = 0, n_lines = 0;
    FILE *out = open_memstream(&text, &n_text);
    assert_non_null(out);
    assert_int_equal(cov_findings_new("x.h5", out, &f, NULL), COV_OK);
    for (int i = 0; i < COV_VERIFY_MAX_LINES + 7; i++) {
        assert_int_equal(cov_findings_add(f, "data/X", COV_FOUND_DAMAGE, "a", NULL), COV_OK);
        assert_int_equal(cov_findings_add(f, "data/X", COV_FOUND_VALUES, "b", NULL), COV_OK);
    }
    assert_int_equal(cov_findings_add(f, "data/Y", COV_FOUND_VALUES, "c", NULL), COV_OK);
    assert_int_equal(cov_findings_finish(f), 2 * COV_VERIFY_MAX_LINES + 15);
    assert_int_equal(fclose(out), 0);
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        n_lines++;
    assert_int_equal(n_lines, 2 * COV_VERIFY_MAX_LINES + 3);
    assert_non_null(
        strstr(text, "\nc\nx.h5: data/X: ... and 7 more chunks that cannot be decoded\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_strands),
        cmocka_unit_test(partial_grids_may_have_holes),
        cmocka_unit_test(looks_at_names),
        cmocka_unit_test(looks_at_lists),
        cmocka_unit_test(prints_no_more_than_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
