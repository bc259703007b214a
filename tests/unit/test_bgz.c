/* test_bgz.c - byte streams: plain, gzip and BGZF, complete and truncated.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"
#include "tests/lib/own_log.h"

#include "common/deflate/deflate.h"
#include "common/file/bgz.h"

static const char path[] = "a", path2[] = "b";

static struct bytes text_of(size_t n)
{
    struct bytes b = {unit_alloc(n), n};
    uint32_t x = 7;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        b.p[i] = (uint8_t) "ACGT"[x >> 30];
    }
    return b;
}

static void write_with(const char *to, struct bytes text, enum cov_bgz_mode mode,
                       unsigned n_threads)
{
    struct cov_bgz *b;
    assert_ok(cov_bgz_open_write(to, mode, n_threads, &b, &e));
    size_t at = 0;
    for (size_t k = 1; at < text.n; k = k * 3 + 1) {
        size_t n = text.n - at < k ? text.n - at : k;
        assert_ok(cov_bgz_write(b, text.p + at, n, &e));
        at += n;
    }
    assert_ok(cov_bgz_close(b, &e));
}

/* Reads `path` to the end, `step` bytes at a time, into *out. Returns the status. */
static int read_all(unsigned n_threads, size_t step, struct bytes *out, struct cov_err *e)
{
    struct cov_bgz *b;
    out->p = NULL;
    out->n = 0;
    int rc = cov_bgz_open_read(path, n_threads, &b, e);
    if (rc)
        return rc;
    size_t got = 1, cap = 0;
    while (!rc && got) {
        if (cap - out->n < step) {
            cap = 2 * cap + step;
            out->p = realloc(out->p, cap);
        }
        rc = cov_bgz_read(b, out->p + out->n, step, &got, e);
        out->n += got;
    }
    if (!rc) {
        /* Reading again at the end is not an error. */
        uint8_t byte;
        assert_int_equal(cov_bgz_read(b, &byte, 1, &got, e), 0);
        assert_int_equal(got, 0);
    }
    cov_bgz_abort(b);
    return rc;
}

static void expect_text(struct bytes text)
{
    static const size_t steps[] = {777, 1 << 16, 1 << 20};
    for (size_t i = 0; i < 3; i++)
        for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
            struct bytes back;
            assert_ok(read_all(n_threads, steps[i], &back, &e));
            assert_int_equal(back.n, text.n);
            assert_memory_equal(back.p, text.p, text.n);
            free(back.p);
        }
}

/* Checks that reading `path` fails with a message that contains `part`. */
static void expect_error(const char *part)
{
    for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
        struct bytes back;
        assert_fails_in(read_all(n_threads, 5000, &back, &e), COV_EINPUT, path, part);
        free(back.p);
    }
}

TEST(reads_what_it_wrote)
{
    static const size_t sizes[] = {0, 1, 0xff00, 0xff01, 3000000};
    for (size_t i = 0; i < COV_COUNT(sizes); i++) {
        struct bytes text = text_of(sizes[i]);
        for (int mode = COV_BGZ_PLAIN; mode <= COV_BGZ_STORED; mode++) {
            write_with(path, text, mode, 1);
            expect_text(text);
            write_with(path2, text, mode, 3);
            check_same_files(path, path2);
            struct bytes file = get_file(path);
            if (mode == COV_BGZ_PLAIN)
                assert_int_equal(file.n, text.n);
            if (mode == COV_BGZ_STORED)
                assert_in_range(file.n, text.n + 28, text.n + 28 + 31 * (text.n / 0xff00 + 1));
        }
    }
}

TEST(knows_total_of_plain_files)
{
    struct bytes text = text_of(1000);
    struct cov_bgz *b;
    write_with(path, text, COV_BGZ_PLAIN, 1);
    assert_ok(cov_bgz_open_read(path, 1, &b, &e));
    assert_int_equal(cov_bgz_total(b), 1000);
    assert_string_equal(cov_bgz_name(b), path);
    assert_ok(cov_bgz_close(b, &e));
    write_with(path, text, COV_BGZ_DEFLATE, 1);
    assert_ok(cov_bgz_open_read(path, 1, &b, &e));
    assert_int_equal(cov_bgz_total(b), -1);
    assert_ok(cov_bgz_close(b, &e));
}

/* Peeks at any number of bytes, then reads the same bytes, in files of any kind. */
TEST(peeks)
{
    static const size_t sizes[] = {0, 1, 20, COV_BGZ_PEEK, 70000};
    for (size_t i = 0; i < 5; i++)
        for (int mode = COV_BGZ_PLAIN; mode <= COV_BGZ_STORED; mode++) {
            struct bytes text = text_of(sizes[i]);
            write_with(path, text, mode, 1);
            struct cov_bgz *b;
            assert_ok(cov_bgz_open_read(path, 1, &b, &e));
            assert_int_equal(cov_bgz_is_bgzf(b), mode != COV_BGZ_PLAIN);
            uint8_t head[COV_BGZ_PEEK];
            size_t at = 0, got = 1;
            for (size_t n = 1; n < 1000; n = n * 5 + 1) {
                assert_ok(cov_bgz_peek(b, head, n, &got, &e));
                size_t left = text.n - at, most = n < COV_BGZ_PEEK ? n : COV_BGZ_PEEK;
                assert_int_equal(got, left < most ? left : most);
                assert_memory_equal(head, text.p + at, got);
                assert_ok(cov_bgz_read(b, head, 7, &got, &e));
                assert_memory_equal(head, text.p + at, got);
                at += got;
            }
            while (got) {
                assert_ok(cov_bgz_read(b, head, 50, &got, &e));
                assert_memory_equal(head, text.p + at, got);
                at += got;
            }
            assert_int_equal(at, text.n);
            cov_bgz_abort(b);
        }
}

/* A BGZF file that is truncated anywhere is refused, even if only the end-of-file block is
 * missing. */
TEST(finds_truncation_and_damage)
{
    struct bytes text = text_of(66000);
    write_with(path, text, COV_BGZ_DEFLATE, 1);
    struct bytes file = get_file(path);
    enum { EOF_BLOCK = 28 };
    for (size_t n = 2; n < file.n; n += n < 30 || n + 60 > file.n ? 1 : 997) {
        put_bytes(path, file.p, n);
        expect_error(n == file.n - EOF_BLOCK ? "truncated: the end-of-file block" : "truncated");
    }
    for (size_t n = 20; n + EOF_BLOCK < file.n; n += 3777) {
        file.p[n] ^= 0x10;
        put_bytes(path, file.p, file.n);
        expect_error("damaged");
        file.p[n] ^= 0x10;
    }
}

/* Appends a gzip member that holds the text in one stored block (n < 65536) to a file with room for it. */
static void add_member(struct bytes *file, struct bytes text)
{
    static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1};
    uint8_t *p = file->p + file->n;
    memcpy(p, head, sizeof head);
    p += sizeof head;
    *p++ = (uint8_t)text.n;
    *p++ = (uint8_t)(text.n >> 8);
    *p++ = (uint8_t)~text.n;
    *p++ = (uint8_t)(~text.n >> 8);
    memcpy(p, text.p, text.n);
    p += text.n;
    uint32_t crc = cov_crc32(0, text.p, text.n);
    for (int k = 0; k < 4; k++)
        *p++ = (uint8_t)(crc >> 8 * k);
    for (int k = 0; k < 4; k++)
        *p++ = (uint8_t)(text.n >> 8 * k);
    file->n = (size_t)(p - file->p);
}

TEST(reads_gzip_members)
{
    struct bytes text = text_of(60000), file = {unit_alloc(61000), 0}, empty = {text.p, 0};
    add_member(&file, empty);
    put_bytes(path, file.p, file.n);
    expect_text(empty);
    file.n = 0;
    /* Members of any size, including empty ones. */
    add_member(&file, (struct bytes){text.p, 20000});
    size_t first_end = file.n;
    add_member(&file, empty);
    size_t second_end = file.n;
    add_member(&file, (struct bytes){text.p + 20000, 40000});
    put_bytes(path, file.p, file.n);
    expect_text(text);

    for (size_t n = 2; n < file.n; n += n < 40 || n + 40 > file.n ? 1 : 997)
        if (n != first_end && n != second_end && n != first_end + 1 && n != second_end + 1) {
            put_bytes(path, file.p, n);
            expect_error("truncated");
        }
    for (size_t n = file.n - 8; n < file.n; n++) {
        file.p[n] ^= 1;
        put_bytes(path, file.p, file.n);
        expect_error("damaged");
        file.p[n] ^= 1;
    }

    /* Padding is ignored silently; other trailing bytes cause a warning. */
    static const uint8_t tails[][4] = {{0, 0, 0, 0}, {0, 0, 0, 7}, {0x1f, 0, 0, 0}, {9, 9, 9, 9}};
    for (size_t i = 0; i < COV_COUNT(tails); i++)
        for (size_t n = 1; n <= 4; n++) {
            memcpy(file.p + file.n, tails[i], n);
            put_bytes(path, file.p, file.n + n);
            start_log(COV_LOG_WARNING);
            expect_text(text);
            bool silent = i == 0 || (i == 1 && n < 4);
            assert_int_equal(logged.n_warnings > 0, !silent);
        }
}

TEST(refuses_other_files)
{
    struct cov_bgz *b;
    assert_fails_with(cov_bgz_open_read("/nonexistent/x", 1, &b, &e), COV_EIO,
                      "/nonexistent/x: No such file or directory");
    assert_null(b);
    assert_fails(cov_bgz_open_read(".", 1, &b, &e), COV_EINPUT, "is a directory, not a file");
    put_bytes(path, "\3757zXZ", 6);
    expect_error("compressed by xz; only gzip and bgzip are read");
    put_bytes(path, "BZ", 2);
    expect_text((struct bytes){(uint8_t[]){'B', 'Z'}, 2});
    assert_fails_with(cov_bgz_open_write("/nonexistent/x", COV_BGZ_DEFLATE, 3, &b, &e), COV_EIO,
                      "/nonexistent/x: No such file or directory");
}

TEST(reports_a_full_disk)
{
    struct bytes text = text_of(2000000);
    static const size_t sizes[] = {10, 2000000};
    static const enum cov_bgz_mode modes[] = {COV_BGZ_PLAIN, COV_BGZ_DEFLATE, COV_BGZ_STORED};
    for (int i = 0; i < 12; i++) {
        struct cov_bgz *b;
        assert_ok(cov_bgz_open_write("/dev/full", modes[i >> 2], i & 1 ? 3 : 1, &b, &e));
        struct cov_err e = COV_ERR_INIT;
        int rc = cov_bgz_write(b, text.p, sizes[i >> 1 & 1], &e);
        if (rc)
            cov_bgz_abort(b);
        else
            rc = cov_bgz_close(b, &e);
        assert_int_equal(rc, COV_EIO);
        assert_string_equal(e.text, "/dev/full: No space left on device");
    }
}

TEST(indexes_bedgraph)
{
    static uint8_t bed[] = "chr1\t0\t10\t5\nchr1\t10\t20\t6\nchr2\t0\t7\t1\n";
    struct bytes text = {bed, sizeof bed - 1};
    write_with(path, text, COV_BGZ_PLAIN, 1);
    assert_int_equal(cov_bgz_index_bed(path, path2, false, NULL), COV_EINPUT);
    write_with(path, text, COV_BGZ_DEFLATE, 1);
    for (int csi = 0; csi < 2; csi++) {
        assert_ok(cov_bgz_index_bed(path, path2, csi, &e));
        struct bytes index = get_file(path2);
        assert_true(index.n > 28);
    }
    assert_int_equal(cov_bgz_index_bed(path, "/nonexistent/x", false, NULL), COV_EIO);
}

TEST_GROUP(enter_dir, leave_dir)
