/* test_names.c - sets of names, and files with new names or lengths.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/seq/names.h"

TEST(many_names_keep_their_numbers)
{
    struct cov_names *s;
    char name[32];
    size_t index, n;
    bool is_new;
    enum { COUNT = 50000 };
    assert_ok(cov_names_new(&s, &e));
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT; i++) {
            int length = snprintf(name, sizeof name, "contig_%zu", i);
            assert_ok(cov_names_add(s, name, (size_t)length, &index, &is_new, &e));
            assert_int_equal(is_new, round == 0);
            assert_int_equal(index, i);
        }
    assert_int_equal(cov_names_count(s), COUNT);
    assert_string_equal(cov_names_get(s, 1234, &n), "contig_1234");
    assert_int_equal(n, 11);
    assert_true(cov_names_find(s, "contig_49999", 12, &index));
    assert_int_equal(index, 49999);
    assert_false(cov_names_find(s, "contig_50000", 12, &index));
    cov_names_free(s);
}

/* Strings of zero bytes with different lengths are different names. */
TEST(names_hold_any_bytes)
{
    static const char zeros[40];
    struct cov_names *s;
    size_t index, n;
    bool is_new;
    assert_ok(cov_names_new(&s, &e));
    for (size_t i = 0; i <= sizeof zeros; i++) {
        assert_ok(cov_names_add(s, zeros, i, &index, &is_new, &e));
        assert_true(is_new);
        assert_int_equal(index, i);
    }
    for (size_t i = 0; i <= sizeof zeros; i++) {
        assert_true(cov_names_find(s, zeros, i, &index));
        assert_int_equal(index, i);
        const char *name = cov_names_get(s, i, &n);
        assert_int_equal(n, i);
        assert_int_equal(name[n], 0);
    }
    cov_names_free(s);
    cov_names_free(NULL);
}

TEST(rename_gives_new_names)
{
    struct cov_rename *r;
    put_text("x", "1\tchr1\r\n\n  2 chr2  \n#x y z\nMT\tchrM # mitochondrion");
    assert_ok(cov_rename_read("x", &r, &e));
    assert_int_equal(cov_rename_count(r), 3);
    assert_int_equal(cov_rename_unused(r), 3);
    assert_string_equal(cov_rename_apply(r, "1", 1), "chr1");
    assert_string_equal(cov_rename_apply(r, "2xx", 1), "chr2");
    assert_string_equal(cov_rename_apply(r, "MT", 2), "chrM");
    assert_string_equal(cov_rename_apply(r, "1", 1), "chr1");
    const char *name = "chr1";
    assert_ptr_equal(cov_rename_apply(r, name, 4), name);
    assert_int_equal(cov_rename_unused(r), 0);
    cov_rename_free(r);
    put_text("x", "");
    assert_ok(cov_rename_read("x", &r, &e));
    assert_int_equal(cov_rename_count(r), 0);
    cov_rename_free(r);
    cov_rename_free(NULL);
}

TEST(rename_refuses_malformed_files)
{
    static const struct {
        const char *text;
        size_t n;
        const char *error;
    } cases[] = {
        {"a b\nc\n", 6, "x:2: expected two columns"},
        {"a b c\n", 6, "x:1: expected two columns"},
        {"a\0 b\n", 5, "x:1: "},
        {"a b\0\n", 5, "x:1: "},
        {"a b\n\nc d\na e\n", 13, "x:4: duplicate name 'a'"},
    };
    struct cov_rename *r;
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        put_bytes("x", cases[i].text, cases[i].n);
        assert_fails(cov_rename_read("x", &r, &e), COV_EINPUT, cases[i].error);
        assert_null(r);
    }
    char text[5000];
    memset(text, 'x', sizeof text);
    text[1] = '\t';
    put_bytes("x", text, sizeof text);
    assert_fails(cov_rename_read("x", &r, &e), COV_EINPUT, "x:1: name longer than 4095 bytes");
    assert_fails(cov_rename_read("/nonexistent", &r, &e), COV_EIO, "/nonexistent");
}

TEST(sizes_are_read)
{
    struct cov_sizes s = {0};
    put_text("x", "chr2\t1000\r\n\n#x\n  chr1 999999999999999999 60 61\nx 1");
    assert_ok(cov_sizes_read("x", &s, &e));
    assert_int_equal(cov_names_count(s.names), 3);
    assert_string_equal(cov_names_get(s.names, 0, NULL), "chr2");
    assert_int_equal(s.lengths[0], 1000);
    assert_string_equal(cov_names_get(s.names, 1, NULL), "chr1");
    assert_int_equal(s.lengths[1], 999999999999999999);
    cov_sizes_fini(&s);
    put_text("x", "");
    s = (struct cov_sizes){0};
    assert_ok(cov_sizes_read("x", &s, &e));
    assert_int_equal(cov_names_count(s.names), 0);
    cov_sizes_fini(&s);
}

static void refuse_sizes(const char *path, int rc, const char *text)
{
    struct cov_sizes s = {0};
    assert_fails(cov_sizes_read(path, &s, &e), rc, text);
    cov_sizes_fini(&s);
}

TEST(sizes_refuse_malformed_files)
{
    static const char *const texts[] = {"a 1\nb\n",     "a 1\nb 0\n",
                                        "a 1\nb -1\n",  "a 1\nb x\n",
                                        "a 1\nb 1.5\n", "a 1\nb 1000000000000000000\n"};
    for (size_t i = 0; i < COV_COUNT(texts); i++) {
        put_text("x", texts[i]);
        refuse_sizes("x", COV_EINPUT, "x:2: expected a name and a length above 0");
    }
    put_text("x", "a 1\nb 2\na 1\n");
    refuse_sizes("x", COV_EINPUT, "x:3: duplicate name 'a'");
    refuse_sizes("/nonexistent/x", COV_EIO, "/nonexistent/x");
}

TEST_GROUP(enter_dir, leave_dir)
