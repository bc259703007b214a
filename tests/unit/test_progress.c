/* test_progress.c - the progress shown to a user.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/progress.h"

/* Captures standard error between begin and end. */
static int saved = -1;
static FILE *capture;

static void begin_capture(void)
{
    capture = must(tmpfile());
    (void)fflush(stderr);
    saved = dup(STDERR_FILENO);
    assert_true(saved >= 0);
    assert_true(dup2(fileno(capture), STDERR_FILENO) >= 0);
}

static void end_capture(char *text, size_t n)
{
    (void)fflush(stderr);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)close(saved);
    rewind(capture);
    size_t got = fread(text, 1, n - 1, capture);
    text[got] = '\0';
    assert_int_equal(fclose(capture), 0);
}

/* Pretends that `seconds` have passed since the stage began. */
static void advance_clock(struct cov_progress *p, double seconds)
{
    p->started -= seconds;
    p->drawn -= seconds;
}

TEST(prints_lines)
{
    struct cov_progress p;
    char text[1024];
    begin_capture();
    cov_progress_init(&p, "covpredict", COV_PROGRESS_AUTO);
    cov_progress_begin(&p, "predicting", "chunks", 4000);
    cov_progress_add(&p, 1000); /* too early for a line */
    advance_clock(&p, 34.0909);
    cov_progress_add(&p, 200);
    cov_progress_add(&p, 1);
    cov_progress_end(&p);
    cov_progress_begin(&p, "reading", "bases", -1);
    advance_clock(&p, 40);
    cov_progress_add(&p, 123456789);
    cov_progress_end(&p);
    cov_progress_add(&p, 1); /* between stages */
    cov_progress_begin(&p, "writing", "rows", 1000000);
    advance_clock(&p, 100);
    cov_progress_add(&p, 900);
    cov_progress_end(&p);
    cov_progress_end(&p);
    end_capture(text, sizeof text);
    assert_int_equal(p.mode, COV_PROGRESS_LINES);
    assert_string_equal(text,
                        "covpredict: predicting 1200/4000 chunks, 35.2 chunks/s, 1 min 20 s left\n"
                        "covpredict: reading 123.46 M bases, 3.09 M bases/s\n"
                        "covpredict: writing 900/1.00 M rows, 9.0 rows/s, 30 h 50 min left\n");
}

TEST(includes_later_stages)
{
    static const struct {
        double units, seconds;
        const char *left;
    } cases[] = {
        {0, 0, "40 s left"},
        {2000, 0, "2 min 00 s left in all"},
        {0, 50, "1 min 30 s left in all"},
        {2000, 3600, "1 h 02 min left in all"},
        {-500, 0, "20 s left"},
        {-2000, 0, "0 s left"},
    };
    struct cov_progress p;
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char text[1024], wanted[100];
        begin_capture();
        cov_progress_init(&p, "covtrain", COV_PROGRESS_LINES);
        cov_progress_begin(&p, "epoch 0", "chunks", 2000);
        cov_progress_expect(&p, cases[i].units, cases[i].seconds);
        advance_clock(&p, 40);
        cov_progress_add(&p, 1000);
        end_capture(text, sizeof text);
        (void)snprintf(wanted, sizeof wanted,
                       "covtrain: epoch 0 1000/2000 chunks, 25.0 chunks/s, %s\n", cases[i].left);
        assert_string_equal(text, wanted);
    }
    cov_progress_begin(&p, "epoch 1", "chunks", 2000);
    assert_true(p.later_units == 0 && p.later_seconds == 0);
    cov_progress_expect(NULL, 1, 1);
}

TEST(draws_bar)
{
    struct cov_progress p;
    char text[2048];
    begin_capture();
    cov_progress_init(&p, "covpredict", COV_PROGRESS_BAR);
    cov_progress_begin(&p, "predicting", "chunks", 100);
    cov_progress_add(&p, 10); /* too early */
    advance_clock(&p, 0.5);
    cov_progress_add(&p, 10); /* too early for the time left */
    advance_clock(&p, 9.5);
    cov_progress_add(&p, 30);
    cov_progress_end(&p);
    end_capture(text, sizeof text);
    assert_string_equal(text, "\rpredicting [#######..............................] 20/100 chunks, "
                              "40.0 chunks/s\x1b[K"
                              "\rpredicting [#############..............] 50/100 chunks, "
                              "5.0 chunks/s, 10 s left\x1b[K\r\x1b[K");
}

TEST(keeps_quiet)
{
    struct cov_progress p;
    char text[64];
    begin_capture();
    cov_progress_init(NULL, "x", COV_PROGRESS_BAR);
    cov_progress_begin(NULL, "x", "y", 1);
    cov_progress_add(NULL, 1);
    cov_progress_end(NULL);
    cov_progress_init(&p, "x", COV_PROGRESS_NONE);
    cov_progress_begin(&p, "x", "y", 1);
    advance_clock(&p, 100);
    cov_progress_add(&p, 1);
    cov_progress_end(&p);
    /* If a stage ends before anything is drawn, nothing needs to be cleared. */
    cov_progress_init(&p, "x", COV_PROGRESS_BAR);
    cov_progress_begin(&p, "x", "y", 1);
    cov_progress_end(&p);
    end_capture(text, sizeof text);
    assert_string_equal(text, "");
}
