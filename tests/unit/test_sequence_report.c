/* test_sequence_report.c - NCBI's sequence reports.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/job/chunks/sequence_report.h"

static char path[] = "/tmp/cov-test-XXXXXX";

static int make(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int drop(void **state)
{
    (void)state;
    return unlink(path);
}

static int read_text(const char *text, struct cov_sequence_report *r, struct cov_err *e)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return cov_sequence_report_read(path, r, e);
}

static void expect(const struct cov_sequence_report *r, const char *id, bool drops)
{
    size_t index;
    assert_true(cov_names_find(r->ids, id, strlen(id), &index));
    assert_int_equal(r->drops[index], drops);
}

static void says_what_is_left_out(void **state)
{
    (void)state;
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

static void first_line_says_which_accession(void **state)
{
    (void)state;
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
    assert_int_equal(strncmp(e.text, path, strlen(path)), 0);
    assert_non_null(strstr(e.text, says));
    assert_null(r.ids);
}

static void refuses_other_files(void **state)
{
    (void)state;
    refuse("", ": there is no sequence in it");
    refuse(" \n\n", ": there is no sequence in it");
    refuse("{\"refseqAccession\":\"a\"}\n{\"refseqAccession\":", ":2: no JSON");
    refuse("{\"refseqAccession\":\"a\"}\n{\"refseqAccession\":\"a\"}\n", ":2: a is there twice");
    refuse("\n{\"refseqAccession\":\"\"}\n", ":2: neither refseqAccession nor");
    refuse("[]\n", ":1: neither refseqAccession nor");
    refuse("id\tname\n", ":1: no JSON");
}

/* Lines that begin and end in all places of the blocks that are read. */
static void reads_long_files(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_left_out),
        cmocka_unit_test(first_line_says_which_accession),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(reads_long_files),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
