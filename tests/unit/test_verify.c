/* test_verify.c - checks of files of chunks.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/job/chunks/verify.h"
#include "tests/lib/make_chunks.h"
#include "tests/lib/own_folder.h"

static void expect(bool bases, void (*spoil)(size_t, uint8_t *const[2]), size_t n_wanted,
                   const char *wanted)
{
    make_chunks("x.h5", bases, spoil);
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        struct cov_stats stats;
        struct cov_job job = {.stats = &stats};
        char *text = NULL;
        size_t n_text = 0, n = 99;
        FILE *f = open_memstream(&text, &n_text);
        assert_non_null(f);
        cov_stats_init(&stats, "test", "0");
        assert_int_equal(cov_pool_new(n_threads, &job.pool, NULL), COV_OK);
        assert_int_equal(cov_verify("x.h5", f, &job, &n, NULL), COV_OK);
        assert_int_equal(fclose(f), 0);
        assert_string_equal(text, wanted);
        assert_int_equal(n, n_wanted);
        assert_int_equal(stats.chunks, MADE_ROWS);
        assert_int_equal(stats.bases, 35);
        cov_pool_free(job.pool);
        cov_stats_fini(&stats);
        free(text);
    }
}

TEST(accepts_sound_files)
{
    expect(true, NULL, 0, "");
    expect(false, NULL, 0, "");
}

static void change_base(size_t row, uint8_t *const codes_elems[2])
{
    uint8_t *codes = codes_elems[0];
    if (row == 4)
        codes[2] = codes[2] == COV_CODE_A ? COV_CODE_C : COV_CODE_A;
}

TEST(compares_strands)
{
    /* Row 1 is [10, 20) of the + strand. The base at index t is 1 << (10 + t * t) % 4, so at index
     * 7 it is 1 << 59 % 4. */
    expect(true, change_base, 1,
           "x.h5: data/X: row 4 (chr1:11-20, - strand): C at index 2, but the + strand (row 1) "
           "has A\n");
}

static void change_values(size_t row, uint8_t *const codes_elems[2])
{
    uint8_t *elems = codes_elems[1];
    if (row == 2)
        elems[4 * 5] = elems[4 * 5 + 1] = 0; /* past the end */
    if (row == 7)
        elems[4 * 9 + 3] = 0x80;
}

TEST(checks_values)
{
    expect(
        false, change_values, 2,
        "x.h5: prediction/predictions: row 2 (chr1:21-25, + strand): 0 instead of -1 at index 5, "
        "column 0, past the end\n"
        "x.h5: prediction/predictions: row 7 (chr2:1-10, - strand): -32761 at index 9, column 1\n");
}

TEST(fails_if_the_file_cannot_be_opened)
{
    struct cov_job job = {.pool = NULL};
    size_t n = 99;
    assert_int_equal(cov_pool_new(1, &job.pool, NULL), COV_OK);
    assert_int_not_equal(cov_verify("none.h5", NULL, &job, &n, NULL), COV_OK);
    assert_int_equal(n, 0);
    cov_pool_free(job.pool);
}

/* ---------------------------------------------------------------- grid and names */

struct row {
    const char *species, *name;
    int64_t start, end;
};

/* Checks the lines that are printed for a grid of these rows, or for a head if one is given. */
static void expect_lines(const struct row *rows, size_t n, int64_t declared,
                         const struct cov_chunk_head *head, size_t n_wanted, const char *wanted)
{
    struct cov_grid_builder *b;
    struct cov_grid *g;
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
    struct cov_findings f = {.path = "x.h5", .out = out};
    if (head)
        assert_int_equal(cov_verify_head(head, g, &f, NULL), COV_OK);
    else
        assert_int_equal(cov_verify_grid(g, &f, NULL), COV_OK);
    assert_int_equal(cov_findings_finish(&f), n_wanted);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    cov_grid_free(g);
    free(text);
}

TEST(finds_overlaps_and_holes)
{
    static const struct row sound[] = {
        {"S", "a", 0, 10}, {"S", "a", 10, 15}, {"S", "a", 15, 10}, {"S", "a", 10, 0}};
    expect_lines(sound, 4, 0, NULL, 0, "");
    /* The order of rows does not matter. */
    static const struct row mixed[] = {
        {"S", "a", 10, 0}, {"S", "a", 10, 15}, {"S", "a", 0, 10}, {"S", "a", 15, 10}};
    expect_lines(mixed, 4, 0, NULL, 0, "");
    static const struct row late[] = {{"S", "a", 5, 10}, {"S", "a", 10, 5}};
    expect_lines(
        late, 2, 0, NULL, 2,
        "x.h5: data/start_ends: row 0 (a:6-10, + strand): bases 1 to 5 of this strand are missing "
        "before it\n"
        "x.h5: data/start_ends: row 1 (a:6-10, - strand): bases 1 to 5 of this strand are missing "
        "before it\n");
    /* A chunk inside another one does not hide a gap. */
    static const struct row within[] = {{"S", "a", 0, 10},
                                        {"S", "a", 2, 4},
                                        {"S", "a", 12, 20},
                                        {"S", "a", 10, 0},
                                        {"S", "a", 20, 10}};
    expect_lines(
        within, 5, 0, NULL, 2,
        "x.h5: data/start_ends: row 1 (a:3-4, + strand): overlaps row 0\n"
        "x.h5: data/start_ends: row 2 (a:13-20, + strand): bases 11 to 12 of this strand are "
        "missing before it\n");
}

TEST(partial_grids_may_have_holes)
{
    static const struct row rows[] = {{"S", "a", 10, 20}, {"S", "a", 35, 30}};
    expect_lines(rows, 2, 100, NULL, 0, "");
    static const struct row overlap[] = {{"S", "a", 10, 20}, {"S", "a", 19, 25}};
    expect_lines(overlap, 2, 100, NULL, 1,
                 "x.h5: data/start_ends: row 1 (a:20-25, + strand): overlaps row 0\n");
}

TEST(checks_sequence_names)
{
    struct cov_chunk_head head;
    made_head(true, &head);
    static const struct row names[] = {{"S", "a", 0, 10}, {"T", "a", 0, 10}, {"S", "b\t", 0, 10}};
    expect_lines(names, 3, 0, &head, 2,
                 "x.h5: data/seqids: duplicate name a, also in T\n"
                 "x.h5: data/seqids: 'b?': white space in a name\n");
    cov_chunk_head_fini(&head);
}

TEST(checks_lists_of_names)
{
    static const struct row row[] = {{"S", "a", 0, 10}};
    static const char *const one[] = {"x"}, *const empty[] = {"x", ""};
    struct cov_chunk_head head, full;
    made_head(false, &full);
    expect_lines(row, 1, 0, &full, 0, "");

    head = (struct cov_chunk_head){.L = MADE_L};
    assert_int_equal(cov_chunk_head_add_set(&head, &full.sets[0], NULL), COV_OK);
    expect_lines(row, 1, 0, &head, 1,
                 "x.h5: prediction/datasets: missing names of the prediction columns\n");
    assert_int_equal(cov_chunk_head_add_texts(&head, "prediction/datasets", 4, 1, one, NULL),
                     COV_OK);
    expect_lines(row, 1, 0, &head, 1, "x.h5: prediction/datasets: 1 names for 2 columns\n");
    head.L = 11;
    expect_lines(row, 1, 0, &head, 1,
                 "x.h5: prediction/predictions: rows do not hold numbers for 11 positions\n");
    cov_chunk_head_fini(&head);

    struct cov_chunk_set coverage = full.sets[0];
    static char name[] = "evaluation/x_coverage";
    coverage.name = name;
    head = (struct cov_chunk_head){.L = MADE_L};
    assert_int_equal(cov_chunk_head_add_set(&head, &coverage, NULL), COV_OK);
    expect_lines(row, 1, 0, &head, 0, "");
    assert_int_equal(
        cov_chunk_head_add_texts(&head, "evaluation/x_meta/bam_files", 4, 2, empty, NULL), COV_OK);
    expect_lines(row, 1, 0, &head, 1, "x.h5: evaluation/x_meta/bam_files: row 1: empty name\n");
    cov_chunk_head_fini(&head);
    cov_chunk_head_fini(&full);
}

TEST(limits_printed_lines)
{
    char *text = NULL;
    size_t n_text = 0, n_lines = 0;
    FILE *out = open_memstream(&text, &n_text);
    assert_non_null(out);
    struct cov_findings f = {.path = "x.h5", .out = out};
    for (int i = 0; i < COV_VERIFY_MAX_LINES + 7; i++) {
        assert_int_equal(cov_findings_add(&f, "data/X", COV_FOUND_DAMAGE, "a", NULL), COV_OK);
        assert_int_equal(cov_findings_add(&f, "data/X", COV_FOUND_VALUES, "b", NULL), COV_OK);
    }
    assert_int_equal(cov_findings_add(&f, "data/Y", COV_FOUND_VALUES, "c", NULL), COV_OK);
    assert_int_equal(cov_findings_finish(&f), 2 * COV_VERIFY_MAX_LINES + 15);
    assert_int_equal(fclose(out), 0);
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        n_lines++;
    assert_int_equal(n_lines, 2 * COV_VERIFY_MAX_LINES + 3);
    assert_non_null(
        strstr(text, "\nc\nx.h5: data/X: ... and 7 more chunks that cannot be decoded\n"));
    free(text);
}

TEST_GROUP(enter_folder, leave_folder)
