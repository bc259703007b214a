/* test_set_blacklist.c - data/blacklist of genome files, and sequence reports.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/chunk/chunk_table.h"
#include "common/job/chunks/chunk_jobs.h"
#include "common/job/chunks/sequence_report.h"
#include "tests/lib/make_chunks.h"
#include "tests/lib/own_folder.h"

static int set(const struct cov_set_blacklist_options *o)
{
    struct cov_stats stats;
    cov_stats_init(&stats, "test", "0");
    const struct cov_job job = {.stats = &stats};
    int rc = cov_set_blacklist("g.h5", o, &job, NULL);
    cov_stats_fini(&stats);
    return rc;
}

static void holds(const char *path, const bool keep[MADE_ROWS])
{
    struct cov_h5 *f;
    bool same = false, flipped[MADE_ROWS];
    memcpy(flipped, keep, sizeof flipped);
    flipped[MADE_ROWS - 1] = !keep[MADE_ROWS - 1];
    assert_int_equal(cov_h5_open(path, &f, NULL), COV_OK);
    assert_int_equal(cov_blacklist_rows_compare(f, keep, MADE_ROWS, &same, NULL), COV_OK);
    assert_true(same);
    assert_int_equal(cov_blacklist_rows_compare(f, flipped, MADE_ROWS, &same, NULL), COV_OK);
    assert_false(same);
    assert_int_equal(cov_blacklist_rows_compare(f, keep, MADE_ROWS - 1, &same, NULL), COV_EINPUT);
    assert_false(same);
    cov_h5_close(f);
}

static const bool without_chr1[MADE_ROWS] = {0, 0, 0, 0, 0, 0, 1, 1};
static const bool without_chr2[MADE_ROWS] = {1, 1, 1, 1, 1, 1, 0, 0};

TEST(changes_the_file)
{
    struct cov_set_blacklist_options o = {.names = "names"};
    make_chunks("g.h5", true, NULL);
    put_text("names", "chr2\n");
    assert_int_equal(set(&o), COV_OK);
    holds("g.h5", without_chr2);
    put_text("names", "chr1\n");
    assert_int_equal(set(&o), COV_EEXIST);
    holds("g.h5", without_chr2);
    o.force = true;
    assert_int_equal(set(&o), COV_OK);
    holds("g.h5", without_chr1);
}

TEST(writes_a_new_file)
{
    struct cov_set_blacklist_options o = {.names = "names", .output = "new.h5", .list = "list"};
    make_chunks("g.h5", true, NULL);
    put_text("names", "chr1\nchr3\n");
    assert_int_equal(set(&o), COV_OK);
    holds("new.h5", without_chr1);
    struct cov_h5 *f;
    assert_int_equal(cov_h5_open("g.h5", &f, NULL), COV_OK);
    assert_int_equal(cov_h5_has(f, "data/blacklist", NULL), 0);
    cov_h5_close(f);
    check_text("list", "chr1\n");
    assert_int_equal(set(&o), COV_EEXIST);
    assert_int_equal(unlink("list"), 0);
    assert_int_equal(set(&o), COV_EEXIST);
    assert_int_equal(access("list", F_OK), -1);
    assert_int_equal(unlink("new.h5"), 0);
}

/* ---------------------------------------------------------------- NCBI's sequence reports */

static int read_text(const char *text, struct cov_sequence_report *r, struct cov_err *e)
{
    put_text("report", text);
    return cov_sequence_report_read("report", r, e);
}

static void expect(const struct cov_sequence_report *r, const char *id, bool drops)
{
    size_t index;
    assert_true(cov_names_find(r->ids, id, strlen(id), &index));
    assert_int_equal(r->drops[index], drops);
}

TEST(drops_what_is_not_nuclear)
{
    struct cov_sequence_report r;
    assert_int_equal(
        read_text("{\"refseqAccession\":\"a\",\"genbankAccession\":\"A\",\"chrName\":\"1\","
                  "\"assemblyUnit\":\"Primary Assembly\",\"role\":\"assembled-molecule\"}\r\n"
                  "  \n"
                  "{\"refseqAccession\":\"b\",\"chrName\":\"Un\"}\n"
                  "{\"refseqAccession\":\"c\",\"assemblyUnit\":\"non-nuclear\"}\n"
                  "{\"refseqAccession\":\"d\",\"role\":\"unplaced-scaffold\"}\n"
                  "{\"genbankAccession\":\"e\",\"role\":\"unlocalized-scaffold\"}\n"
                  "{\"refseqAccession\":\"f\",\"chrName\":\"un\",\"role\":7}",
                  &r, NULL),
        COV_OK);
    assert_int_equal(cov_names_count(r.ids), 6);
    expect(&r, "a", false);
    expect(&r, "b", true);
    expect(&r, "c", true);
    expect(&r, "d", true);
    expect(&r, "e", true);
    expect(&r, "f", false);
    cov_sequence_report_fini(&r);
    cov_sequence_report_fini(&r);
}

TEST(first_line_decides_on_the_accession)
{
    struct cov_sequence_report r;
    assert_int_equal(read_text("{\"genbankAccession\":\"A\"}\n"
                               "{\"refseqAccession\":\"b\",\"genbankAccession\":\"B\"}\n",
                               &r, NULL),
                     COV_OK);
    expect(&r, "A", false);
    expect(&r, "B", false);
    cov_sequence_report_fini(&r);
}

static void refuse(const char *text, const char *says)
{
    struct cov_sequence_report r;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(read_text(text, &r, &e), COV_EINPUT);
    assert_int_equal(strncmp(e.text, "report", strlen("report")), 0);
    assert_non_null(strstr(e.text, says));
    assert_null(r.ids);
}

TEST(rejects_other_files)
{
    refuse("", ": no sequences");
    refuse(" \n\n", ": no sequences");
    refuse("{\"refseqAccession\":\"a\"}\n{\"refseqAccession\":", ":2: invalid JSON");
    refuse("{\"refseqAccession\":\"a\"}\n{\"refseqAccession\":\"a\"}\n", ":2: duplicate a");
    refuse("\n{\"refseqAccession\":\"\"}\n", ":2: neither refseqAccession nor");
    refuse("[]\n", ":1: neither refseqAccession nor");
    refuse("# Assembly name:  x\n# Sequence-Name\tSequence-Role\n",
           ":1: invalid JSON at byte 1; expected NCBI's sequence_report.jsonl, with an object in "
           "each line");
}

/* Lines cross the boundaries of the blocks in which the file is read, at many positions. */
TEST(reads_long_reports)
{
    enum { N = 3000, LINE = 200 };
    char *text = calloc(N, LINE);
    assert_non_null(text);
    size_t n = 0;
    for (int i = 0; i < N; i++)
        n += (size_t)snprintf(text + n, LINE,
                              "{\"refseqAccession\":\"s%d\",\"pad\":\"%*s\",\"role\":\"%s\"}\n", i,
                              i % 97, "", i % 3 ? "x" : "unplaced-scaffold");
    struct cov_sequence_report r;
    assert_int_equal(read_text(text, &r, NULL), COV_OK);
    assert_int_equal(cov_names_count(r.ids), N);
    for (int i = 0; i < N; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "s%d", i);
        expect(&r, id, i % 3 == 0);
    }
    cov_sequence_report_fini(&r);
    free(text);
}

TEST_GROUP(enter_folder, leave_folder)
