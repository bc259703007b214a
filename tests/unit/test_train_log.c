/* test_train_log.c - training logs: their lines, the lines that are kept on resume, events for
 * TensorBoard (records byte by byte, known checksums), unwritable directories and full disks.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_train_ckpt.h"

#include "common/job/train/train_log.h"

#define HEAD "epoch avg_val_loss avg_val_accuracy avg_train_loss avg_train_accuracy\n"

static const char table[] = "metrics.log", lines[] = "metrics.jsonl";

static const double epoch_values[][COV_TRAIN_QUANTITIES] = {
    {0.5, 0.25, 1.5, 0.125}, {-0.123456789012, 1e-9, (double)INFINITY, (double)NAN}};

static void add_step(struct cov_train_log *l, int64_t step, double loss)
{
    const struct cov_train_step s = {step, loss, 0.5, 0.001};
    assert_ok(cov_train_log_step(l, &s, &e));
}

TEST(test_lines)
{
    struct cov_train_log *l;
    assert_ok(cov_train_log_open(".", NULL, -1, 0, false, &l, &e));
    check_text(table, HEAD);
    check_text(lines, "");
    add_step(l, 1, 2.25);
    /* Each line is visible immediately. */
    check_text(lines,
               "{\"step\": 1, \"loss\": 2.25, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n");
    add_step(l, 2, (double)NAN);
    assert_ok(cov_train_log_epoch(l, 0, 2, epoch_values[0], &e));
    add_step(l, INT64_C(3000000000), -1);
    assert_ok(cov_train_log_epoch(l, 1, 3, epoch_values[1], &e));
    assert_ok(cov_train_log_sync(l, &e));
    check_text(table, HEAD "0 0.5 0.25 1.5 0.125\n1 -0.123456789 1e-09 inf nan\n");
    check_text(lines,
               "{\"step\": 1, \"loss\": 2.25, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n"
               "{\"step\": 2, \"loss\": null, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n"
               "{\"epoch\": 0, \"avg_val_loss\": 0.5, \"avg_val_accuracy\": 0.25, "
               "\"avg_train_loss\": 1.5, "
               "\"avg_train_accuracy\": 0.125}\n"
               "{\"step\": 3000000000, \"loss\": -1, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n"
               "{\"epoch\": 1, \"avg_val_loss\": -0.123456789, \"avg_val_accuracy\": 1e-09, "
               "\"avg_train_loss\": null, \"avg_train_accuracy\": null}\n");
    assert_ok(cov_train_log_close(l, &e));
    assert_string_equal(list_dir("."), "metrics.jsonl metrics.log runs.jsonl ");
}

/* The part that is kept when resuming after epoch 1 and step 4. */
#define KEPT_TABLE HEAD "0 1 1 1 1\n1 2 2 2 2\n"
#define KEPT_LINES                                                                                 \
    "{\"step\": 1, \"loss\": 1}\n{\"step\": 2}\n{\"epoch\": 0}\n{\"step\": 3}\n{\"step\": 4}\n"    \
    "{\"epoch\": 1, \"x\": 7}\n"

static void reopen(int64_t epoch, int64_t step)
{
    struct cov_train_log *l;
    assert_ok(cov_train_log_open(".", NULL, epoch, step, false, &l, &e));
    assert_ok(cov_train_log_close(l, &e));
}

TEST(test_kept)
{
    static const char old_table[] = KEPT_TABLE "2 3 3 3 3\nnonsense\n-1 2 2 2 2\n1 2 2";
    static const char old_lines[] = KEPT_LINES
        "{\"step\": 5}\n{\"epoch\": 2}\n\nnonsense\n{\"loss\": 2, \"step\": 1}\n{\"step\": 1, \"lo";
    put_text(table, old_table);
    put_text(lines, old_lines);
    reopen(1, 4);
    check_text(table, KEPT_TABLE);
    check_text(lines, KEPT_LINES);
    reopen(1, 4); /* a second time changes nothing */
    check_text(lines, KEPT_LINES);
    reopen(0, 2);
    check_text(table, HEAD "0 1 1 1 1\n");
    check_text(lines, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2}\n{\"epoch\": 0}\n");
    /* One of the files is missing. */
    assert_int_equal(unlink(table), 0);
    reopen(0, 2);
    check_text(table, HEAD);
    check_text(lines, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2}\n{\"epoch\": 0}\n");
    /* A new training run keeps nothing. */
    put_text(table, old_table);
    reopen(-1, 0);
    check_text(table, HEAD);
    check_text(lines, "");
}

/* ---- events for TensorBoard ---- */

/* Reads the only event file in `dir`. */
static char *read_events(const char *dir, size_t *n)
{
    char path[700], name[512];
    (void)snprintf(name, sizeof name, "%s", list_dir(dir));
    assert_true(strncmp(name, "events.out.tfevents.", 20) == 0);
    assert_ptr_equal(strchr(name, ' '), name + strlen(name) - 1); /* only one */
    name[strlen(name) - 1] = '\0';
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return get_bytes(path, n);
}

/* Computes CRC-32C with a table, unlike the tested code. */
static uint32_t crc_of(const void *data, size_t n)
{
    static uint32_t sums[256];
    const uint8_t *p = data;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0x82f63b78U ^ c >> 1 : c >> 1;
        sums[i] = c;
    }
    uint32_t crc = 0xffffffffU;
    while (n-- > 0)
        crc = sums[(crc ^ *p++) & 255] ^ crc >> 8;
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

/* Checks that the next event has a plausible time, and then these bytes. */
static void check_event(const char *file, size_t size, size_t *at, const char *bytes,
                        size_t n_bytes)
{
    size_t n;
    double seconds;
    const char *event = next_record(file, size, at, &n);
    assert_int_equal(event[0], 0x09);
    memcpy(&seconds, event + 1, sizeof seconds);
    assert_true(seconds > 1e9 && seconds < 1e11);
    assert_int_equal(n - 9, n_bytes);
    assert_memory_equal(event + 9, bytes, n_bytes);
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
}

/* Every event file of TensorFlow begins with a record of 24 bytes. The start of the steps follows: when
 * training is resumed, the step after the checkpoint. */
TEST(test_events_begin)
{
    static const uint8_t head[] = {0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22, 0x09};
    static const struct {
        int64_t epoch, step;
        const char *bytes; /* the next step, then session_log{status: START} */
        size_t n;
    } cases[] = {{-1, 0, "\x10\x01\x3a\x02\x08\x01", 6},
                 {1, 18, "\x10\x13\x3a\x02\x08\x01", 6},
                 {1, 299, "\x10\xac\x02\x3a\x02\x08\x01", 7}};
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char dir[16];
        struct cov_train_log *l;
        size_t n, at = 40;
        (void)snprintf(dir, sizeof dir, "two/begin%zu", i);
        assert_ok(cov_train_log_open(".", dir, cases[i].epoch, cases[i].step, false, &l, &e));
        char *data = read_events(dir, &n); /* visible at once */
        assert_memory_equal(data, head, sizeof head);
        assert_memory_equal(data + 21, "\032\015brain.Event:2", 15);
        check_event(data, n, &at, cases[i].bytes, cases[i].n);
        assert_int_equal(at, n);
        assert_ok(cov_train_log_close(l, &e));
        empty_dir();
    }
}

TEST(test_events)
{
    static const struct {
        int64_t step;
        double loss;
        const char *bytes; /* after the time */
        size_t n;
    } cases[] = {
        {1, 0.5, "\x10\x01\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\x3f", 17},
        {300, -2, "\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\xc0", 18},
        {INT64_C(1) << 40, 0,
         "\x10\x80\x80\x80\x80\x80\x20\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\x00", 22},
        {2, (double)INFINITY, "\x10\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x80\x7f", 17},
        {3, (double)NAN, "\x10\x03\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\xc0\x7f", 17},
    };
    static const char dir[] = "events";
    struct cov_train_log *l;
    assert_ok(cov_train_log_open(".", dir, -1, 0, false, &l, &e));
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        add_step(l, cases[i].step, cases[i].loss);
    assert_ok(cov_train_log_epoch(l, 0, 1, epoch_values[0], &e));
    assert_ok(cov_train_log_sync(l, &e));
    size_t n, n_rate = 0, n_val = 0, at = 40, n_record;
    char *data = read_events(dir, &n); /* everything is written before the file is closed */
    (void)next_record(data, n, &at, &n_record);
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        check_event(data, n, &at, cases[i].bytes, cases[i].n);
        (void)next_record(data, n, &at, &n_record); /* accuracy */
        (void)next_record(data, n, &at, &n_record); /* learning rate */
    }
    for (int i = 0; i < COV_TRAIN_QUANTITIES; i++)
        (void)next_record(data, n, &at, &n_record);
    assert_int_equal(at, n);
    for (size_t i = 0; i + 16 < n; i++) {
        n_rate += memcmp(data + i, "\x0dlearning_rate\x15", 15) == 0;
        n_val += memcmp(data + i, "\014avg_val_loss\x15", 14) == 0;
    }
    assert_true(n_rate == COV_COUNT(cases) && n_val == 1);
    assert_ok(cov_train_log_close(l, &e));
    empty_dir();
}

/* ---- replaced and incomplete logs ---- */

/* A log that replaces another is complete when the first checkpoint is written, and replaces it
 * afterwards. */
TEST(test_replaces)
{
    struct cov_train_log *l;
    put_text(table, KEPT_TABLE);
    assert_ok(cov_train_log_open(".", NULL, -1, 0, true, &l, &e));
    assert_ok(cov_train_log_epoch(l, 0, 2, epoch_values[0], &e));
    assert_ok(cov_train_log_sync(l, &e));
    check_text(table, KEPT_TABLE);
    check_text(".metrics.covtools.tmp.log", HEAD "0 0.5 0.25 1.5 0.125\n");
    assert_ok(cov_train_log_commit(l, &e));
    check_text(table, HEAD "0 0.5 0.25 1.5 0.125\n");
    assert_ok(cov_train_log_close(l, &e));
}

/* Only a table with epochs after the first is certain to belong to a checkpoint. */
TEST(test_has_epochs)
{
    put_text(table, HEAD "0 1 1 1 1\n");
    assert_false(cov_train_log_has_epochs(table));
    put_text(table, HEAD "1 1 1 1 1\n");
    assert_true(cov_train_log_has_epochs(table));
    put_text(table, KEPT_TABLE);
    assert_true(cov_train_log_has_epochs(table));
    assert_true(cov_train_log_has_epochs("missing"));
}

TEST(test_failures)
{
    struct cov_train_log *l = NULL;
    const struct cov_train_step s = {1, 1, 1, 1};
    assert_fails(cov_train_log_open("/nonexistent/directory", NULL, -1, 0, false, &l, &e), COV_EIO,
                 "/nonexistent/directory/metrics.log");
    assert_null(l);
    assert_fails(cov_train_log_open(".", "/dev/null/events", -1, 0, false, &l, &e), COV_EIO,
                 "/dev/null");
    assert_null(l);
    assert_fails(cov_train_log_open(".", "/proc", -1, 0, false, &l, &e), COV_EIO,
                 "/proc/events.out.tfevents.");
    assert_null(l);
    /* The old file is unreadable. */
    (void)unlink(table);
    assert_int_equal(symlink("metrics.log", table), 0);
    assert_fails(cov_train_log_open(".", NULL, 0, 1, false, &l, &e), COV_EIO, table);
    assert_int_equal(unlink(table), 0);
    assert_ok(cov_train_log_close(NULL, &e));

    /* Events that do not fit are reported at once, and on closing. */
    assert_ok(cov_train_log_open(".", "events", -1, 0, false, &l, &e));
    limit_files(150);
    assert_fails(cov_train_log_step(l, &s, &e), COV_EIO, "events/events.out.tfevents.");
    assert_int_equal(cov_train_log_close(l, NULL), COV_EIO);
    limit_files(RLIM_INFINITY);
    empty_dir();

    /* If the disk is full, the missing line is reported at once, before the next checkpoint, and on
     * closing. */
    assert_ok(cov_train_log_open(".", NULL, -1, 0, false, &l, &e));
    limit_files(100);
    assert_ok(cov_train_log_step(l, &s, &e));
    assert_fails(cov_train_log_step(l, &s, &e), COV_EIO, "metrics.jsonl");
    assert_ok(cov_train_log_epoch(l, 0, 1, epoch_values[0], &e));
    assert_int_equal(cov_train_log_sync(l, NULL), COV_EIO);
    assert_int_equal(cov_train_log_close(l, NULL), COV_EIO);
    limit_files(RLIM_INFINITY);
    /* A truncated line is dropped on resume. */
    reopen(0, 1);
    check_text(lines, "{\"step\": 1, \"loss\": 1, \"accuracy\": 1, \"learning_rate\": 1}\n");

    /* If there is no space for the kept lines, the old files stay. */
    char big[3000];
    int n_head = snprintf(big, sizeof big, "{\"step\": 1, ");
    memset(big + n_head, 'x', sizeof big - (size_t)n_head);
    big[sizeof big - 1] = '\n';
    put_bytes(lines, big, sizeof big);
    limit_files(2000);
    assert_fails(cov_train_log_open(".", NULL, 0, 1, false, &l, &e), COV_EIO, "metrics.jsonl");
    limit_files(RLIM_INFINITY);
    put_bytes("copy", big, sizeof big);
    check_same_files(lines, "copy");
    assert_int_equal(unlink("copy"), 0);
    assert_string_equal(list_dir("."), "metrics.jsonl metrics.log runs.jsonl ");
}

TEST_GROUP(enter_dir, leave_dir)
