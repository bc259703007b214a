/* progress.c - see progress.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/base/err.h"

enum { MAX_TEXT = 256, MIN_BAR = 10, MAX_BAR = 40 };

static const double bar_interval = 0.25, line_interval = 30.0;
/* Before that, the rate says little: only a part of what was started is done. */
static const double rate_interval = 1.0;

void cov_progress_init(struct cov_progress *p, const char *tool, enum cov_progress_mode mode)
{
    if (!p)
        return;
    memset(p, 0, sizeof *p);
    p->tool = tool;
    p->mode = mode;
    if (mode == COV_PROGRESS_AUTO)
        p->mode = isatty(STDERR_FILENO) ? COV_PROGRESS_BAR : COV_PROGRESS_LINES;
}

/* Formats a count or rate: "950"; "35.2" if it is small; "12.3 M" if it is large. */
static void print_number(char *text, size_t n, double value, int decimals)
{
    static const struct {
        double unit;
        const char *letter;
    } steps[] = {{1e9, " G"}, {1e6, " M"}};
    for (size_t i = 0; i < COV_COUNT(steps); i++)
        if (value >= steps[i].unit) {
            (void)snprintf(text, n, "%.2f%s", value / steps[i].unit, steps[i].letter);
            return;
        }
    (void)snprintf(text, n, "%.*f", value < 100 ? decimals : 0, value);
}

/* "4 s", "1 min 20 s", "2 h 05 min" */
static void print_duration(char *text, size_t n, double seconds)
{
    long s = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000L;
    if (s < 60)
        (void)snprintf(text, n, "%ld s", s);
    else if (s < 3600)
        (void)snprintf(text, n, "%ld min %02ld s", s / 60, s % 60);
    else
        (void)snprintf(text, n, "%ld h %02ld min", s / 3600, s / 60 % 60);
}

/* "1200/4000 chunks, 35.2 chunks/s, 1 min 20 s left", without the unknown parts. */
static void print_state(const struct cov_progress *p, double now, char *text, size_t n)
{
    char done[32], total[32], rate[32], left[32];
    double seconds = now - p->started;
    double per_second = seconds > 0 ? (double)p->done / seconds : 0;
    print_number(done, sizeof done, (double)p->done, 0);
    print_number(total, sizeof total, (double)p->total, 0);
    print_number(rate, sizeof rate, per_second, 1);
    int used = p->total >= 0 ? snprintf(text, n, "%s/%s %s", done, total, p->unit)
                             : snprintf(text, n, "%s %s", done, p->unit);
    if (per_second > 0 && used > 0 && (size_t)used < n) {
        int more = snprintf(text + used, n - (size_t)used, ", %s %s/s", rate, p->unit);
        used = more < 0 ? more : used + more;
        if (p->total >= p->done && seconds >= rate_interval && used > 0 && (size_t)used < n) {
            double units = (double)(p->total - p->done) + p->later_units;
            bool more_stages = p->later_units > 0 || p->later_seconds > 0;
            print_duration(left, sizeof left,
                           (units > 0 ? units / per_second : 0) + p->later_seconds);
            (void)snprintf(text + used, n - (size_t)used, ", %s left%s", left,
                           more_stages ? " in all" : "");
        }
    }
}

static void draw_bar(const struct cov_progress *p, const char *state)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    /* The last column stays empty, because some terminals wrap the line when it is filled. */
    int room = columns - 1 - (int)strlen(p->what) - (int)strlen(state) - 4;
    char line[MAX_TEXT + MAX_BAR + 64];
    if (p->total > 0 && room >= MIN_BAR) {
        int width = room < MAX_BAR ? room : MAX_BAR;
        double fraction = (double)p->done / (double)p->total;
        int full = fraction < 1 ? (int)(fraction * width) : width;
        char bar[MAX_BAR + 1];
        memset(bar, '#', (size_t)full);
        memset(bar + full, '.', (size_t)(width - full));
        bar[width] = '\0';
        (void)snprintf(line, sizeof line, "%s [%s] %s", p->what, bar, state);
    } else {
        (void)snprintf(line, sizeof line, "%s %s", p->what, state);
    }
    (void)fprintf(stderr, "\r%.*s\x1b[K", columns - 1, line);
    (void)fflush(stderr);
}

static void draw(struct cov_progress *p, double now)
{
    char state[MAX_TEXT];
    print_state(p, now, state, sizeof state);
    if (p->mode == COV_PROGRESS_BAR)
        draw_bar(p, state);
    else
        (void)fprintf(stderr, "%s: %s %s\n", p->tool, p->what, state);
    p->drawn = now;
}

void cov_progress_begin(struct cov_progress *p, const char *what, const char *unit, int64_t total)
{
    if (!p)
        return;
    p->what = what;
    p->unit = unit;
    p->total = total;
    p->done = 0;
    p->later_units = p->later_seconds = 0;
    p->started = p->drawn = cov_clock();
}

void cov_progress_expect(struct cov_progress *p, double units, double seconds)
{
    if (!p)
        return;
    p->later_units = units;
    p->later_seconds = seconds;
}

void cov_progress_add(struct cov_progress *p, int64_t n)
{
    if (!p)
        return;
    p->done += n;
    if (p->mode == COV_PROGRESS_NONE || !p->what)
        return;
    double now = cov_clock();
    if (now - p->drawn >= (p->mode == COV_PROGRESS_BAR ? bar_interval : line_interval))
        draw(p, now);
}

void cov_progress_end(struct cov_progress *p)
{
    if (!p || !p->what)
        return;
    if (p->mode == COV_PROGRESS_BAR && p->drawn > p->started) {
        (void)fputs("\r\x1b[K", stderr);
        (void)fflush(stderr);
    }
    p->what = NULL;
}

/* ---- clocks ---- */

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cov_clock(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double cov_clock_thread(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}
