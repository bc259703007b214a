/* test_train_log.c - the metrics of training: what lines are, what a resume keeps of them, disks that are full.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_point.h"

#include <math.h>

#include "common/job/train/train_log.h"

#define HEAD "epoch avg_val_loss avg_val_accuracy avg_train_loss avg_train_accuracy\n"

static char home[] = "/tmp/cov_test_train_log_XXXXXX";
static char table[64], lines[64];

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(home))
        return -1;
    (void)snprintf(table, sizeof table, "%s/metrics.log", home);
    (void)snprintf(lines, sizeof lines, "%s/metrics.jsonl", home);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(home);
    return 0;
}

static void assert_text(const char *path, const char *wanted)
{
    size_t n;
    char *text = slurp(path, &n);
    assert_string_equal(text, wanted);
    free(text);
}

static const double epoch_values[][COV_TRAIN_QUANTITIES] = {
    {0.5, 0.25, 1.5, 0.125}, {-0.123456789012, 1e-9, (double)INFINITY, (double)NAN}};

static void add_step(struct cov_train_log *l, int64_t step, double loss)
{
    const struct cov_train_step s = {step, loss, 0.5, 0.001};
    assert_int_equal(cov_train_log_step(l, &s, NULL), 0);
}

static void test_lines(void **state)
{
    (void)state;
    struct cov_train_log *l;
    assert_int_equal(cov_train_log_open(home, NULL, -1, 0, false, &l, NULL), 0);
    assert_text(table, HEAD);
    assert_text(lines, "");
    add_step(l, 1, 2.25);
    /* Each is there at once. */
    assert_text(lines,
                "{\"step\": 1, \"loss\": 2.25, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n");
    add_step(l, 2, (double)NAN);
    assert_int_equal(cov_train_log_epoch(l, 0, 2, epoch_values[0], NULL), 0);
    add_step(l, INT64_C(3000000000), -1);
    assert_int_equal(cov_train_log_epoch(l, 1, 3, epoch_values[1], NULL), 0);
    assert_text(table, HEAD "0 0.5 0.25 1.5 0.125\n1 -0.123456789 1e-09 inf nan\n");
    assert_text(
        lines, "{\"step\": 1, \"loss\": 2.25, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n"
               "{\"step\": 2, \"loss\": null, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n"
               "{\"epoch\": 0, \"avg_val_loss\": 0.5, \"avg_val_accuracy\": 0.25, "
               "\"avg_train_loss\": 1.5, "
               "\"avg_train_accuracy\": 0.125}\n"
               "{\"step\": 3000000000, \"loss\": -1, \"accuracy\": 0.5, \"learning_rate\": 0.001}\n"
               "{\"epoch\": 1, \"avg_val_loss\": -0.123456789, \"avg_val_accuracy\": 1e-09, "
               "\"avg_train_loss\": null, \"avg_train_accuracy\": null}\n");
    assert_int_equal(cov_train_log_close(l, NULL), 0);
    assert_string_equal(list_folder(home), "metrics.jsonl metrics.log ");
}

/* Of these, what a point after epoch 1 and step 4 has behind it. */
#define KEPT_TABLE HEAD "0 1 1 1 1\n1 2 2 2 2\n"
#define KEPT_LINES                                                                                 \
    "{\"step\": 1, \"loss\": 1}\n{\"step\": 2}\n{\"epoch\": 0}\n{\"step\": 3}\n{\"step\": 4}\n"    \
    "{\"epoch\": 1, \"x\": 7}\n"

static void reopen(int64_t epoch, int64_t step)
{
    struct cov_train_log *l;
    assert_int_equal(cov_train_log_open(home, NULL, epoch, step, false, &l, NULL), 0);
    assert_int_equal(cov_train_log_close(l, NULL), 0);
}

static void test_kept(void **state)
{
    (void)state;
    static const char old_table[] = KEPT_TABLE "2 3 3 3 3\nnonsense\n-1 2 2 2 2\n1 2 2";
    static const char old_lines[] = KEPT_LINES
        "{\"step\": 5}\n{\"epoch\": 2}\n\nnonsense\n{\"loss\": 2, \"step\": 1}\n{\"step\": 1, \"lo";
    spill(table, old_table, sizeof old_table - 1);
    spill(lines, old_lines, sizeof old_lines - 1);
    reopen(1, 4);
    assert_text(table, KEPT_TABLE);
    assert_text(lines, KEPT_LINES);
    reopen(1, 4); /* again, the same */
    assert_text(lines, KEPT_LINES);
    reopen(0, 2);
    assert_text(table, HEAD "0 1 1 1 1\n");
    assert_text(lines, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2}\n{\"epoch\": 0}\n");
    /* Only one of the files is there. */
    assert_int_equal(unlink(table), 0);
    reopen(0, 2);
    assert_text(table, HEAD);
    assert_text(lines, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2}\n{\"epoch\": 0}\n");
    /* From the beginning: nothing. */
    spill(table, old_table, sizeof old_table - 1);
    reopen(-1, 0);
    assert_text(table, HEAD);
    assert_text(lines, "");
}

/* The one file of events in `dir`; caller frees. */
static char *slurp_events(const char *dir, size_t *n)
{
    char path[700], name[512];
    (void)snprintf(name, sizeof name, "%s", list_folder(dir));
    assert_ptr_equal(strchr(name, ' '), name + strlen(name) - 1);
    name[strlen(name) - 1] = '\0';
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return slurp(path, n);
}

/* Of a resumed training, whose steps after the checkpoint's are told again: from which one on. */
static void test_events_begin(void **state)
{
    (void)state;
    static const struct {
        int64_t epoch, step;
        const char *bytes; /* step: the next one; session_log{status: START} */
    } cases[] = {{-1, 0, "\x10\x01\x3a\x02\x08\x01"}, {1, 18, "\x10\x13\x3a\x02\x08\x01"}};
    for (size_t i = 0; i < 2; i++) {
        char dir[128];
        struct cov_train_log *l;
        size_t n;
        (void)snprintf(dir, sizeof dir, "%s/begin%zu", home, i);
        assert_int_equal(
            cov_train_log_open(home, dir, cases[i].epoch, cases[i].step, false, &l, NULL), 0);
        char *data = slurp_events(dir, &n); /* there at once */
        assert_int_equal(n, 40 + 16 + 9 + 6);
        assert_memory_equal(data + 40 + 12 + 9, cases[i].bytes, 6);
        free(data);
        assert_int_equal(cov_train_log_close(l, NULL), 0);
        remove_folder(dir);
    }
}

static void test_events(void **state)
{
    (void)state;
    char dir[128];
    struct cov_train_log *l;
    (void)snprintf(dir, sizeof dir, "%s/events", home);
    assert_int_equal(cov_train_log_open(home, dir, -1, 0, false, &l, NULL), 0);
    add_step(l, 1, 2);
    assert_int_equal(cov_train_log_epoch(l, 0, 1, epoch_values[0], NULL), 0);
    size_t n, n_loss = 0, n_rate = 0, n_val = 0;
    char *data = slurp_events(dir, &n);
    for (size_t i = 0; i + 16 < n; i++) {
        n_loss += memcmp(data + i, "\x04loss\x15", 6) == 0;
        n_rate += memcmp(data + i, "\x0dlearning_rate\x15", 15) == 0;
        n_val += memcmp(data + i,
                        "\x0c"
                        "avg_val_loss\x15",
                        14) == 0;
    }
    free(data);
    assert_true(n_loss == 1 && n_rate == 1 && n_val == 1);
    assert_int_equal(cov_train_log_close(l, NULL), 0);
    remove_folder(dir);
}

static void test_failures(void **state)
{
    (void)state;
    struct cov_train_log *l = NULL;
    struct cov_err e = COV_ERR_INIT;
    const struct cov_train_step s = {1, 1, 1, 1};
    assert_int_equal(cov_train_log_open("/nonexistent/folder", NULL, -1, 0, false, &l, &e),
                     COV_EIO);
    assert_non_null(strstr(e.text, "/nonexistent/folder/metrics.log"));
    assert_null(l);
    cov_err_clear(&e);
    assert_int_equal(cov_train_log_open(home, "/dev/null/events", -1, 0, false, &l, &e), COV_EIO);
    assert_non_null(strstr(e.text, "/dev/null"));
    assert_null(l);
    /* An old file that cannot be read. */
    (void)unlink(table);
    assert_int_equal(symlink("metrics.log", table), 0);
    cov_err_clear(&e);
    assert_int_equal(cov_train_log_open(home, NULL, 0, 1, false, &l, &e), COV_EIO);
    assert_non_null(strstr(e.text, table));
    assert_int_equal(unlink(table), 0);
    assert_int_equal(cov_train_log_close(NULL, NULL), 0);

    /* A full disk: the line is not there, which is said, at the next epoch and in the end, too. */
    assert_int_equal(cov_train_log_open(home, NULL, -1, 0, false, &l, NULL), 0);
    limit_files(100);
    assert_int_equal(cov_train_log_step(l, &s, NULL), 0);
    cov_err_clear(&e);
    assert_int_equal(cov_train_log_step(l, &s, &e), COV_EIO);
    assert_non_null(strstr(e.text, "metrics.jsonl"));
    cov_err_clear(&e);
    assert_int_equal(cov_train_log_epoch(l, 0, 1, epoch_values[0], &e), COV_EIO);
    assert_int_equal(cov_train_log_close(l, NULL), COV_EIO);
    limit_files(RLIM_INFINITY);
    /* What is cut off there does not come back. */
    reopen(0, 1);
    assert_text(lines, "{\"step\": 1, \"loss\": 1, \"accuracy\": 1, \"learning_rate\": 1}\n");

    /* No room for the lines that are kept: the old ones stay. */
    char big[3000];
    int n_head = snprintf(big, sizeof big, "{\"step\": 1, ");
    memset(big + n_head, 'x', sizeof big - (size_t)n_head);
    big[sizeof big - 1] = '\n';
    spill(lines, big, sizeof big);
    limit_files(2000);
    cov_err_clear(&e);
    assert_int_equal(cov_train_log_open(home, NULL, 0, 1, false, &l, &e), COV_EIO);
    limit_files(RLIM_INFINITY);
    assert_non_null(strstr(e.text, "metrics.jsonl"));
    size_t n;
    char *text = slurp(lines, &n);
    assert_int_equal(n, sizeof big);
    free(text);
    assert_string_equal(list_folder(home), "metrics.jsonl metrics.log ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_events_begin), cmocka_unit_test(test_events),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
