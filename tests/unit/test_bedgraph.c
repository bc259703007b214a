/* test_bedgraph.c - bedGraph text, plain and BGZF with an index.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <float.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/file/bgz.h"
#include "common/track/formats/bedgraph.h"

static const char *const names[] = {"chr1", "chr10", "chr2"};
static const int64_t lengths[] = {INT64_C(3000000000000), 10, 1000};
static const struct cov_track_contigs contigs = {3, names, lengths};

/* Returns the decompressed file, with a zero at the end. Caller frees. */
static char *contents(const char *path, size_t *n)
{
    enum { CAP = 4000000 };
    char *text = malloc(CAP);
    struct cov_bgz *b;
    size_t got;
    assert_non_null(text);
    assert_int_equal(cov_bgz_open_read(path, 1, &b, NULL), COV_OK);
    *n = 0;
    do {
        assert_int_equal(cov_bgz_read(b, text + *n, CAP - 1 - *n, &got, NULL), COV_OK);
        *n += got;
    } while (got);
    cov_bgz_abort(b);
    text[*n] = '\0';
    return text;
}

TEST(formats_values)
{
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0F, "0"},
        {1, "1"},
        {-17, "-17"},
        {16777216, "16777216"},
        {3e9F, "3000000000"},
        {0.5F, "0.5"},
        {0.1F, "0.100000001"},
        {-2.25F, "-2.25"},
        {1e20F, "1.00000002e+20"},
        {FLT_MIN, "1.17549435e-38"},
        {FLT_MAX, "3.40282347e+38"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char text[COV_BEDGRAPH_VALUE_BYTES];
        assert_int_equal(cov_bedgraph_format_value(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
        assert_true(strtof(text, NULL) == cases[i].value);
    }
}

TEST(writes_lines)
{
    static const char expected[] =
        "chr1\t0\t2999999999999\t3\nchr1\t2999999999999\t3000000000000\t0\n"
        "chr2\t5\t6\t0.25\n";
    const struct cov_interval a[] = {{0, INT64_C(2999999999999), 3},
                                     {INT64_C(2999999999999), INT64_C(3000000000000), 0}};
    const struct cov_interval b = {5, 6, 0.25F};
    for (int compress = 0; compress < 2; compress++) {
        struct cov_bedgraph_options o = {.compress = compress, .n_threads = 1};
        struct cov_track_sink *s;
        assert_int_equal(cov_bedgraph_open("x", "x", &contigs, &o, &s, NULL), COV_OK);
        assert_int_equal(cov_track_begin(s, 0, NULL), COV_OK);
        assert_int_equal(cov_track_add(s, a, 2, NULL), COV_OK);
        assert_int_equal(cov_track_begin(s, 2, NULL), COV_OK);
        assert_int_equal(cov_track_add(s, &b, 1, NULL), COV_OK);
        assert_int_equal(cov_track_close(s, NULL), COV_OK);
        cov_track_free(s);
        size_t n;
        char *text = contents("x", &n);
        assert_string_equal(text, expected);
        free(text);
    }
}

/* More data than the buffer holds, with names of many lengths. */
TEST(writes_many_lines)
{
    char *name = malloc(100001);
    assert_non_null(name);
    memset(name, 'n', 100000);
    name[100000] = '\0';
    static const int64_t length[] = {INT64_C(600000000)};
    for (int wide = 0; wide < 2; wide++) {
        const char *const one[] = {wide ? name : names[0]};
        struct cov_track_contigs c = {1, one, length};
        struct cov_bedgraph_options o = {
            .compress = true, .n_threads = 2, .csi_path = "x.bg.gz.csi"};
        struct cov_track_sink *s;
        assert_true(cov_bedgraph_list_needs_csi(&c));
        assert_int_equal(cov_bedgraph_open("x.bg.gz", "x", &c, &o, &s, NULL), COV_OK);
        assert_int_equal(cov_track_begin(s, 0, NULL), COV_OK);
        size_t lines = wide ? 20 : 100000;
        for (size_t i = 0; i < lines; i++) {
            const struct cov_interval iv = {(int64_t)i * 5000, (int64_t)i * 5000 + 7, (float)i};
            assert_int_equal(cov_track_add(s, &iv, 1, NULL), COV_OK);
        }
        assert_int_equal(cov_track_close(s, NULL), COV_OK);
        cov_track_free(s);
        size_t n;
        char *text = contents("x.bg.gz", &n), *p = text, line[64];
        for (size_t i = 0; i < lines; i++) {
            assert_memory_equal(p, one[0], strlen(one[0]));
            p += strlen(one[0]);
            int k = snprintf(line, sizeof line, "\t%zu\t%zu\t%zu\n", i * 5000, i * 5000 + 7, i);
            assert_memory_equal(p, line, (size_t)k);
            p += k;
        }
        assert_int_equal(p - text, n);
        free(text);
        struct stat st;
        assert_int_equal(stat("x.bg.gz.csi", &st), 0);
        assert_true(st.st_size > 0);
        assert_int_equal(unlink("x.bg.gz.csi"), 0);
    }
    free(name);
}

/* Contigs are unsorted, and their names get longer. The contig lengths determine the kind of
 * index. */
TEST(writes_announced_contigs)
{
    const struct cov_interval iv[] = {{3, 5, 1}, {7, 8, 2}};
    for (int large = 0; large < 2; large++) {
        struct cov_bedgraph_options o = {
            .compress = true, .n_threads = 1, .tbi_path = "x.tbi", .csi_path = "x.csi"};
        struct cov_track_sink *s;
        assert_int_equal(cov_bedgraph_open("x.bg.gz", "x", NULL, &o, &s, NULL), COV_OK);
        assert_int_equal(cov_track_begin_named(s, "z", NULL), COV_OK);
        assert_int_equal(cov_track_add(s, iv, 2, NULL), COV_OK);
        assert_int_equal(cov_track_end_contig(s, 9, NULL), COV_OK);
        assert_int_equal(cov_track_begin_named(s, "empty", NULL), COV_OK);
        assert_int_equal(cov_track_end_contig(s, 1, NULL), COV_OK);
        assert_int_equal(cov_track_begin_named(s, "a_longer_name", NULL), COV_OK);
        assert_int_equal(cov_track_add(s, iv, 1, NULL), COV_OK);
        assert_int_equal(cov_track_end_contig(s, (INT64_C(1) << 29) + large, NULL), COV_OK);
        assert_fails_with(cov_track_begin_named(s, "a b", &e), COV_EINPUT,
                          "x: the name of contig 'a b' has white space or control "
                          "characters, which bedGraph does not allow");
        assert_int_equal(cov_track_end_contig(s, 1, NULL), COV_OK);
        assert_true(cov_bedgraph_needs_csi(s) == (large != 0));
        assert_int_equal(cov_track_close(s, NULL), COV_OK);
        cov_track_free(s);
        size_t n;
        char *text = contents("x.bg.gz", &n);
        assert_string_equal(text, "z\t3\t5\t1\nz\t7\t8\t2\na_longer_name\t3\t5\t1\n");
        free(text);
        assert_int_equal(unlink(large ? "x.csi" : "x.tbi"), 0);
        assert_int_equal(access(large ? "x.tbi" : "x.csi", F_OK), -1);
    }
}

TEST(chooses_index)
{
    int64_t n = INT64_C(1) << 29;
    struct cov_track_contigs c = {1, names, &n};
    assert_false(cov_bedgraph_list_needs_csi(&c));
    n++;
    assert_true(cov_bedgraph_list_needs_csi(&c));
}

static void count_warning(void *arg, enum cov_log_level level, const char *text)
{
    (void)text;
    *(int *)arg += level == COV_LOG_WARNING;
}

TEST(checks_names)
{
    static const char *const bad[] = {"a b", "a\tb", "a\nb", "", "a\x7f"};
    static const int64_t length = 5;
    struct cov_bedgraph_options o = {.compress = false};
    struct cov_track_sink *s;
    for (size_t i = 0; i < COV_COUNT(bad); i++) {
        struct cov_track_contigs c = {1, &bad[i], &length};
        assert_fails(cov_bedgraph_open("bad", "x.bg", &c, &o, &s, &e), COV_EINPUT, "x.bg: ");
        assert_int_equal(access("bad", F_OK), -1);
    }
    static const char *const odd[] = {"#1", "track7", "browser"};
    int n_warnings = 0;
    cov_log_set(count_warning, &n_warnings, COV_LOG_WARNING);
    for (size_t i = 0; i < COV_COUNT(odd); i++) {
        struct cov_track_contigs c = {1, &odd[i], &length};
        assert_int_equal(cov_bedgraph_open("x", "x.bg", &c, &o, &s, NULL), COV_OK);
        assert_int_equal(n_warnings, i + 1);
        cov_track_free(s);
    }
    cov_log_set(NULL, NULL, COV_LOG_WARNING);
}

TEST(reports_full_disk)
{
    if (access("/dev/full", W_OK))
        return;
    for (int compress = 0; compress < 2; compress++) {
        struct cov_bedgraph_options o = {.compress = compress, .n_threads = 2};
        struct cov_track_sink *s;
        const struct cov_interval iv = {0, 1, 1};
        assert_int_equal(cov_bedgraph_open("/dev/full", "x", &contigs, &o, &s, NULL), COV_OK);
        assert_int_equal(cov_track_begin(s, 0, NULL), COV_OK);
        assert_int_equal(cov_track_add(s, &iv, 1, NULL), COV_OK);
        assert_fails(cov_track_close(s, &e), COV_EIO, "No space left");
        cov_track_free(s);
    }
}

TEST_GROUP(enter_dir, leave_dir)
