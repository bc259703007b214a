/* test_event_file.c - events for TensorBoard: records byte by byte, known checksums, unwritable
 * directories and full disks.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_train_ckpt.h"

#include <sys/stat.h>

#include "common/job/train/event_file.h"

/* Returns the path of the only file in the directory. */
static char *path_in(const char *dir, char *path, size_t n)
{
    char name[512];
    (void)snprintf(name, sizeof name, "%s", list_dir(dir));
    assert_true(strncmp(name, "events.out.tfevents.", 20) == 0);
    assert_ptr_equal(strchr(name, ' '), name + strlen(name) - 1); /* only one */
    name[strlen(name) - 1] = '\0';
    (void)snprintf(path, n, "%s/%s", dir, name);
    return path;
}

/* Computes CRC-32C with a table, unlike the tested code. */
static uint32_t crc_of(const void *data, size_t n)
{
    static uint32_t table[256];
    const uint8_t *p = data;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0x82f63b78U ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    uint32_t crc = 0xffffffffU;
    while (n-- > 0)
        crc = table[(crc ^ *p++) & 255] ^ crc >> 8;
    return crc ^ 0xffffffffU;
}

static uint32_t masked(const void *data, size_t n)
{
    uint32_t crc = crc_of(data, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

static uint64_t little(const char *data, int n)
{
    uint64_t x = 0;
    while (n-- > 0)
        x = x << 8 | (uint8_t)data[n];
    return x;
}

/* Returns the data of the record at *at and sets *n to its size. Moves *at past the record. */
static const char *next_record(const char *file, size_t size, size_t *at, size_t *n)
{
    const char *p = file + *at;
    assert_true(size - *at >= 12);
    *n = little(p, 8);
    assert_int_equal(little(p + 8, 4), masked(p, 8));
    assert_true(*n <= size - *at - 16);
    assert_int_equal(little(p + 12 + *n, 4), masked(p + 12, *n));
    *at += 16 + *n;
    return p + 12;
}

TEST(test_checksums)
{
    /* The examples of RFC 3720, B.4, and the common check value. */
    static const uint8_t zeros[32];
    uint8_t ones[32];
    memset(ones, 0xff, sizeof ones);
    assert_int_equal(crc_of("123456789", 9), 0xe3069283U);
    assert_int_equal(crc_of(zeros, sizeof zeros), 0x8a9136aaU);
    assert_int_equal(crc_of(ones, sizeof ones), 0x62a8ab43U);
    /* Every event file of TensorFlow begins with a record of 24 bytes. */
    static const uint8_t head[] = {0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22, 0x09};
    struct cov_event_file *f;
    char path[600];
    size_t n;
    assert_ok(cov_event_file_open(".", &f, &e));
    assert_ok(cov_event_file_close(f, &e));
    char *data = get_bytes(path_in(".", path, sizeof path), &n);
    assert_int_equal(n, 40);
    assert_memory_equal(data, head, sizeof head);
    assert_memory_equal(data + 21,
                        "\x1a\x0d"
                        "brain.Event:2",
                        15);
    free(data);
    empty_dir();
}

/* A file resumed at step 300: Event{wall_time, step: 300, session_log{status: START}} follows the
 * head. */
TEST(test_start)
{
    char path[600];
    size_t n_file, at = 0, n;
    struct cov_event_file *f;
    assert_ok(cov_event_file_open(".", &f, &e));
    assert_ok(cov_event_file_start(f, 300, &e));
    assert_ok(cov_event_file_close(f, &e));
    char *data = get_bytes(path_in(".", path, sizeof path), &n_file);
    (void)next_record(data, n_file, &at, &n);
    const char *event = next_record(data, n_file, &at, &n);
    assert_int_equal(event[0], 0x09);
    assert_int_equal(n, 9 + 7);
    assert_memory_equal(event + 9, "\x10\xac\x02\x3a\x02\x08\x01", 7);
    assert_int_equal(at, n_file);
    free(data);
    empty_dir();
}

TEST(test_scalars)
{
    static const struct {
        int64_t step;
        const char *tag;
        double value;
        const char *bytes; /* after the time */
        size_t n;
    } cases[] = {
        {1, "loss", 0.5, "\x10\x01\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\x3f", 17},
        {300, "a", -2, "\x10\xac\x02\x2a\x0a\x0a\x08\x0a\x01\x61\x15\x00\x00\x00\xc0", 15},
        {INT64_C(1) << 40, "", 0,
         "\x10\x80\x80\x80\x80\x80\x20\x2a\x09\x0a\x07\x0a\x00\x15\x00\x00\x00\x00", 18},
        {0, "x", (double)INFINITY, "\x10\x00\x2a\x0a\x0a\x08\x0a\x01x\x15\x00\x00\x80\x7f", 14},
    };
    static const char dir[] = "two/levels";
    char path[600], tag[400];
    size_t n_file, at = 0, n;
    struct cov_event_file *f;
    assert_ok(cov_event_file_open(dir, &f, &e));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cov_event_file_add(f, cases[i].step, cases[i].tag, cases[i].value, NULL),
                         0);
    memset(tag, 't', sizeof tag - 1);
    tag[sizeof tag - 1] = '\0';
    assert_ok(cov_event_file_add(f, 1, tag, (double)NAN, &e));
    assert_ok(cov_event_file_flush(f, &e));
    char *data = get_bytes(path_in(dir, path, sizeof path),
                           &n_file); /* everything is written before the file is closed */
    (void)next_record(data, n_file, &at, &n);
    for (size_t i = 0; i < 4; i++) {
        const char *event = next_record(data, n_file, &at, &n);
        double seconds;
        assert_int_equal(event[0], 0x09);
        memcpy(&seconds, event + 1, sizeof seconds);
        assert_true(seconds > 1e9 && seconds < 1e11);
        assert_int_equal(n - 9, cases[i].n);
        assert_memory_equal(event + 9, cases[i].bytes, cases[i].n);
    }
    const char *event = next_record(data, n_file, &at, &n);
    assert_int_equal(n, 9 + 2 + 3 + 3 + 3 + 200 + 5); /* the tag is truncated */
    assert_memory_equal(event + n - 5 - 200, tag, 200);
    float value;
    memcpy(&value, event + n - 4, 4);
    assert_true(isnan(value));
    assert_int_equal(at, n_file);
    free(data);
    assert_ok(cov_event_file_close(f, &e));
    empty_dir();
}

TEST(test_failures)
{
    char path[600];
    struct cov_event_file *f = NULL;
    assert_fails(cov_event_file_open("/dev/null/x", &f, &e), COV_EIO, "/dev/null");
    assert_null(f);
    assert_fails(cov_event_file_open("/proc", &f, &e), COV_EIO, "/proc/events.out.tfevents.");
    assert_null(f);
    assert_ok(cov_event_file_close(NULL, &e));

    /* The disk is full at a flush, while writing, and when closing. */
    assert_ok(cov_event_file_open(".", &f, &e));
    limit_files(60);
    assert_ok(cov_event_file_flush(f, &e));
    assert_ok(cov_event_file_add(f, 1, "loss", 1, &e));
    assert_fails(cov_event_file_flush(f, &e), COV_EIO, path_in(".", path, sizeof path));
    int rc = 0;
    for (int i = 0; i < 1000 && !rc; i++)
        rc = cov_event_file_add(f, i, "loss", 1, NULL);
    assert_int_equal(rc, COV_EIO);
    assert_int_equal(cov_event_file_close(f, NULL), COV_EIO);
    limit_files(RLIM_INFINITY);
    empty_dir();
}

TEST_GROUP(enter_dir, leave_dir)
