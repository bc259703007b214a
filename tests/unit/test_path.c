/* test_path.c - file names.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/err.h"
#include "common/file/path.h"

static void check(char *made, const char *expected)
{
    assert_non_null(made);
    assert_string_equal(made, expected);
    free(made);
}

TEST(stems)
{
    static const char *const pairs[][2] = {
        {"x.1.fa.gz", "x.1"},
        {"-", "stdin"},
        {"/a.b/c/genome.fasta", "genome"},
        {"genome.FNA.GZ", "genome"},
        {"g.fna", "g"},
        {"g.h5", "g"},
        {"g.hdf5", "g"},
        {"g_predictions.h5", "g_predictions"},
        {"t.bw", "t"},
        {"t.bigWig", "t"},
        {"t.bedGraph.gz", "t"},
        {"t.bg", "t"},
        {"r.bam", "r"},
        {"r.cram", "r"},
        {"last.ckpt", "last"},
        {"x.fa.fa", "x.fa"},
        {"x.txt", "x.txt"},
        {"genes.gff3.gz", "genes.gff3"},
        {"x.tar.gz", "x.tar"},
        {"plain", "plain"},
        {"dir/", "dir"},
        {".fa", ".fa"},
        {".gz", ".gz"},
        {"fa.gz", "fa"},
        {"x.", "x."},
        {"", ""},
    };
    for (size_t i = 0; i < COV_COUNT(pairs); i++)
        check(cov_path_stem(pairs[i][0], NULL), pairs[i][1]);
}

TEST(directories)
{
    static const char *const pairs[][2] = {
        {"a/b", "a"},   {"b", "."},   {"/b", "/"}, {"a/b/", "a"}, {"a//b", "a"}, {"//b", "/"},
        {"/a/b", "/a"}, {"./b", "."}, {"/", "/"},  {"", "."},     {"b//", "."},
    };
    for (size_t i = 0; i < COV_COUNT(pairs); i++)
        check(cov_path_dir(pairs[i][0], NULL), pairs[i][1]);
    check(cov_path_join("a", "b", NULL), "a/b");
    check(cov_path_join("a/", "b", NULL), "a/b");
    check(cov_path_join("/", "b", NULL), "/b");
}

TEST(opens_files)
{
    static const struct {
        const char *path;
        int code;
        const char *text;
    } none[] = {{"/tmp", COV_EINPUT, "/tmp: is a directory, not a file"},
                {"/dev/null", COV_EINPUT, "/dev/null: is not a regular file"},
                {"/not/there", COV_EIO, "/not/there: No such file or directory"}};
    uint64_t n = 0;
    int fd = -1, first = dup(0);
    assert_int_equal(close(first), 0);
    assert_ok(cov_path_open_file("/proc/self/exe", &fd, &n, &e));
    assert_int_equal(n, lseek(fd, 0, SEEK_END));
    assert_int_equal(close(fd), 0);
    for (size_t i = 0; i < COV_COUNT(none); i++) {
        fd = 99, n = 99;
        assert_fails_with(cov_path_open_file(none[i].path, &fd, &n, &e), none[i].code,
                          none[i].text);
        assert_true(fd == -1 && n == 0);
    }
    assert_int_equal(fd = dup(0), first); /* none stays open */
    assert_int_equal(close(fd), 0);
}

TEST(kinds)
{
    assert_true(cov_path_has_suffix("x.BW", ".bw"));
    assert_true(cov_path_has_suffix("x.bg.gz", ".bg.gz"));
    assert_false(cov_path_has_suffix("w", ".bw"));
    assert_false(cov_path_has_suffix("x.bwx", ".bw"));
    assert_true(cov_path_names_dir("not/there/"));
    assert_true(cov_path_names_dir("/tmp"));
    assert_false(cov_path_names_dir("/dev/null"));
    assert_false(cov_path_names_dir("/not/there"));
    assert_true(cov_path_is_std("-"));
    assert_false(cov_path_is_std("./-"));
    assert_true(cov_path_same_file("/proc/self/exe", "/proc/self/../self/exe"));
    assert_false(cov_path_same_file("/proc/self/exe", "/not/there"));
    assert_true(cov_path_same_file("/not/there", "/not/there"));
    assert_false(cov_path_same_file("/tmp", "/tmp"));
    assert_false(cov_path_same_file("-", "-"));
    char *twice[] = {"/dev/null", "/proc/self/exe", "-", "/proc/self/exe"};
    char *linked[] = {"/proc/self/exe", "/dev/null", "/proc/self/../self/exe"};
    assert_ok(cov_path_check_distinct(twice, 3, &e));
    assert_int_equal(cov_path_check_distinct(twice, 4, NULL), COV_EUSAGE);
    assert_int_equal(cov_path_check_distinct(linked, 3, NULL), COV_EINPUT);
    assert_true(cov_path_is_url("https://a.org/x.fa"));
    assert_true(cov_path_is_url("s3://bucket/x.bam"));
    assert_false(cov_path_is_url("://x"));
    assert_false(cov_path_is_url("a/b://x"));
    assert_false(cov_path_is_url("x:/y"));
    assert_false(cov_path_is_url("-"));
    assert_fails(cov_path_check_file("http://a.org/x.h5", &e), COV_EINPUT,
                 "http://a.org/x.h5: is a URL");
}
