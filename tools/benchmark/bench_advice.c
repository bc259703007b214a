/* bench_advice.c - see bench_advice.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "tools/benchmark/bench_epoch.h"

/* Of two settings of which one takes more memory or threads, the other one is as good within this. */
#define AS_GOOD 0.95
/* What a less exact form has to gain. */
#define WORTH_IT 1.2

static const char speed_prefix[] = "model/chunks_per_second/";

/* A case of the network, read from the name of its figure. */
struct setting {
    char device[16], precision[16];
    long batch, threads, length;
    double speed;
};

static bool part_of(const char *name, const char *key, char *to, size_t size)
{
    const char *p = strstr(name, key);
    if (!p)
        return false;
    p += strlen(key);
    (void)snprintf(to, size, "%.*s", (int)strcspn(p, ","), p);
    return true;
}

static bool read_setting(const struct cov_figure *f, struct setting *s)
{
    char number[24];
    if (strncmp(f->name, speed_prefix, strlen(speed_prefix)) != 0 ||
        !part_of(f->name, "device=", s->device, sizeof s->device) ||
        !part_of(f->name, "precision=", s->precision, sizeof s->precision) ||
        !part_of(f->name, "batch=", number, sizeof number))
        return false;
    s->batch = strtol(number, NULL, 10);
    if (!part_of(f->name, "threads=", number, sizeof number))
        return false;
    s->threads = strtol(number, NULL, 10);
    if (!part_of(f->name, "length=", number, sizeof number))
        return false;
    s->length = strtol(number, NULL, 10);
    s->speed = f->median;
    return true;
}

/* The fastest of the length and precision of `like`, or, of several threads or batches that are as good,
 * that of the least. */
static struct setting best_of(const struct cov_bench *b, const struct setting *like,
                              bool same_threads)
{
    struct setting best = *like, s;
    for (size_t i = 0; i < b->figures.n; i++)
        if (read_setting(&b->figures.items[i], &s) && s.length == like->length &&
            strcmp(s.precision, like->precision) == 0 &&
            (same_threads ? s.threads == like->threads : s.batch == like->batch) &&
            s.speed > best.speed)
            best = s;
    struct setting least = best;
    for (size_t i = 0; i < b->figures.n; i++)
        if (read_setting(&b->figures.items[i], &s) && s.length == like->length &&
            strcmp(s.precision, like->precision) == 0 &&
            (same_threads ? s.threads == like->threads && s.batch < least.batch
                          : s.batch == like->batch && s.threads < least.threads) &&
            s.speed >= AS_GOOD * best.speed)
            least = s;
    return least;
}

static int advise_batch(struct cov_bench *b, const struct setting *first, struct setting *best,
                        struct cov_err *e)
{
    double most = 0;
    struct setting s, at = *first;
    *best = best_of(b, first, true);
    for (size_t i = 0; i < b->figures.n; i++)
        if (read_setting(&b->figures.items[i], &s) && s.threads == first->threads &&
            s.length == first->length && strcmp(s.precision, first->precision) == 0 &&
            s.speed > most) {
            most = s.speed;
            at = s;
        }
    char value[24];
    (void)snprintf(value, sizeof value, "%ld", best->batch);
    return cov_bench_advise(
        b, "batch", value, cov_strfmt(e, "covpredict --batch-size %s", value),
        cov_strfmt(
            e,
            "%.4g chunks/s in %s; the most is %.4g, with a batch of %ld; a larger batch takes "
            "more memory",
            best->speed, best->precision, most, at.batch),
        e);
}

/* `fastest`: the best batch with the threads of `first`. */
static int advise_threads(struct cov_bench *b, const struct setting *first,
                          const struct setting *fastest, struct cov_err *e)
{
    struct setting best = best_of(b, first, false), s, one = {.threads = 0};
    bool disturbed = cov_bench_is_disturbed(b);
    char value[24], *reason;
    if (best.speed < AS_GOOD * fastest->speed || disturbed)
        best = *fastest;
    for (size_t i = 0; i < b->figures.n; i++)
        if (read_setting(&b->figures.items[i], &s) && s.threads == 1 && s.batch == first->batch &&
            s.length == first->length && strcmp(s.precision, first->precision) == 0)
            one = s;
    if (disturbed)
        reason = cov_strdup("other programs kept the processors busy, so that numbers of threads "
                            "could not be compared: all that there are",
                            e);
    else if (one.threads && best.threads > 1)
        reason = cov_strfmt(e, "%.4g chunks/s, %.2f times those of one thread (%.4g)", best.speed,
                            best.speed / one.speed, one.speed);
    else
        reason = cov_strfmt(e, "%.4g chunks/s, and no other number is faster", best.speed);
    (void)snprintf(value, sizeof value, "%ld", best.threads);
    return cov_bench_advise(b, "threads", value, cov_strfmt(e, "covpredict -@ %s", value), reason,
                            e);
}

static double error_of(const struct cov_bench *b, const char *precision)
{
    char name[96];
    (void)snprintf(name, sizeof name, "model/max_relative_error/precision=%s", precision);
    const struct cov_figure *f = cov_figures_find(&b->figures, name);
    return f ? f->median : 0;
}

/* The exact form, and a faster one where it gains enough. */
static int advise_precision(struct cov_bench *b, const struct setting *exact, struct cov_err *e)
{
    struct setting s, fast = *exact;
    for (size_t i = 0; i < b->figures.n; i++)
        if (read_setting(&b->figures.items[i], &s) && s.threads == exact->threads &&
            s.length == exact->length && strcmp(s.precision, exact->precision) != 0 &&
            s.speed > fast.speed)
            fast = s;
    bool gains =
        strcmp(fast.precision, exact->precision) != 0 && fast.speed > WORTH_IT * exact->speed;
    char *reason =
        gains ? cov_strfmt(
                    e,
                    "its values are those of fp32 (%.4g chunks/s); where an error of %.2g %% may "
                    "be, %s gives %.2f times the speed",
                    exact->speed, 100 * error_of(b, fast.precision), fast.precision,
                    fast.speed / exact->speed)
              : cov_strfmt(e,
                           "its values are those of fp32, and nothing that was measured is %.0f %% "
                           "faster than its %.4g chunks/s",
                           100 * (WORTH_IT - 1), exact->speed);
    return cov_bench_advise(b, "precision", exact->precision,
                            cov_strfmt(e, "covpredict --precision %s", exact->precision), reason,
                            e);
}

static int advise_network(struct cov_bench *b, struct cov_err *e)
{
    struct setting first, best;
    size_t i = 0;
    while (i < b->figures.n && !read_setting(&b->figures.items[i], &first))
        i++;
    if (i == b->figures.n)
        return COV_OK;
    int rc = advise_batch(b, &first, &best, e);
    if (!rc)
        rc = advise_threads(b, &first, &best, e);
    if (!rc)
        rc = advise_precision(b, &best, e);
    return rc ? rc
              : cov_bench_advise(
                    b, "device", first.device,
                    cov_strfmt(e, "covpredict --device %s", first.device),
                    cov_strfmt(e, "%.4g chunks/s, the most of what was measured here", best.speed),
                    e);
}

/* ---------------------------------------------------------------- loading */

static const struct cov_figure *of_strategy(const struct cov_bench *b, const char *figure,
                                            int strategy, const char *rest)
{
    char name[96];
    (void)snprintf(name, sizeof name, "loader/%s/strategy=%s%s", figure,
                   cov_strategy_names[strategy], rest);
    return cov_figures_find(&b->figures, name);
}

static int advise_loading(struct cov_bench *b, struct cov_err *e)
{
    static const char unlimited[] = ",io=unlimited";
    const struct cov_figure *original =
        of_strategy(b, "epoch_seconds", COV_STRATEGY_ORIGINAL, unlimited);
    const struct cov_figure *best = original;
    int which = COV_STRATEGY_ORIGINAL;
    for (int i = 0; i < COV_STRATEGIES && original; i++) {
        const struct cov_figure *f = of_strategy(b, "epoch_seconds", i, unlimited);
        if (f && f->median < best->median) {
            best = f;
            which = i;
        }
    }
    if (!original)
        return COV_OK;
    const struct cov_figure *stored = of_strategy(b, "bytes_per_base", which, "");
    const char *layout = which < COV_STRATEGY_PACKED ? "onehot" : "packed";
    const char *compression = which == COV_STRATEGY_ORIGINAL ? "gzip"
                              : which == COV_STRATEGY_BLOSC  ? "blosc"
                                                             : "none";
    return cov_bench_advise(
        b, "layout", layout,
        cov_strfmt(e, "fasta2h5 --layout %s --compression %s", layout, compression),
        cov_strfmt(
            e,
            "an epoch is read in %.3g s by %s, %.1f times as fast as the original; a base takes "
            "%.2f bytes of both strands",
            best->median, cov_strategy_names[which], original->median / best->median,
            stored ? stored->median : 0.0),
        e);
}

/* ---------------------------------------------------------------- the pipeline */

static int advise_stage(struct cov_bench *b, struct cov_err *e)
{
    static const char prefix[] = "pipeline/wall_seconds/stage=";
    const struct cov_figure *most = NULL,
                            *all = cov_figures_find(&b->figures, "pipeline/wall_seconds/stage=all");
    for (size_t i = 0; i < b->figures.n; i++) {
        const struct cov_figure *f = &b->figures.items[i];
        if (strncmp(f->name, prefix, strlen(prefix)) == 0 && f != all &&
            (!most || f->median > most->median))
            most = f;
    }
    if (!most || !all)
        return COV_OK;
    return cov_bench_advise(b, "where more hardware helps", most->name + strlen(prefix),
                            cov_strdup("", e),
                            cov_strfmt(e, "it takes %.0f %% of the pipeline's %.3g s",
                                       100 * most->median / all->median, all->median),
                            e);
}

int cov_bench_advice(struct cov_bench *b, struct cov_err *e)
{
    int rc = advise_network(b, e);
    if (!rc)
        rc = advise_loading(b, e);
    return rc ? rc : advise_stage(b, e);
}
