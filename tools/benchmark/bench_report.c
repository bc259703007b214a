/* bench_report.c - benchmark report: all measurements, and recommended settings for this machine.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "tools/benchmark/bench.h"

/* A setting that needs less memory or fewer threads is preferred if it has this share of the best
 * speed. */
#define AS_GOOD 0.95
/* A less exact precision is mentioned if it is at least this many times as fast. */
#define WORTH_IT 1.2
/* The genome whose time is estimated. */
#define BASES 1e9

/* ---------------------------------------------------------------- the network */

/* Returns a speed as covpredict reports it, in bases of the genome, of which it computes both
 * strands: "27.41 kbp/s". */
static const char *speed_text(const struct bench_speed *s, char text[40])
{
    char number[32];
    (void)figure_text(s->median * (double)s->length / 2, number);
    (void)snprintf(text, 40, "%s%sbp/s", number, strchr(number, ' ') ? "" : " ");
    return text;
}

static bool is_like(const struct bench_speed *s, const struct bench_speed *like)
{
    return s->length == like->length && strcmp(s->precision, like->precision) == 0;
}

/* Considers the speeds with the length and precision of the first, and its threads (if same_threads)
 * or its batch. Sets *fastest, and *best to the smallest batch or the fewest threads that are as
 * good. */
static void find_best(const struct bench *b, bool same_threads, struct bench_speed *fastest,
                      struct bench_speed *best)
{
    const struct bench_speed *first = &b->speeds[0];
    *fastest = *best = *first;
    for (int pass = 0; pass < 2; pass++) {
        for (const struct bench_speed *s = first; s < first + b->n_speeds; s++) {
            if (!is_like(s, first) ||
                (same_threads ? s->threads != first->threads : s->batch != first->batch))
                continue;
            bool smaller = same_threads ? s->batch < best->batch : s->threads < best->threads;
            if (pass == 0 && s->median > fastest->median)
                *fastest = *s;
            else if (pass == 1 && smaller && s->median >= AS_GOOD * fastest->median)
                *best = *s;
        }
        if (pass == 0)
            *best = *fastest;
    }
}

static int advise_batch(struct bench *b, struct bench_speed *best, struct cov_err *e)
{
    struct bench_speed fastest;
    char value[24], speed[40], most[40], more[100] = ", the fastest measured";
    find_best(b, true, &fastest, best);
    (void)snprintf(value, sizeof value, "%zu", best->batch);
    if (best->batch != fastest.batch)
        (void)snprintf(more, sizeof more, "; a batch of %zu gives %s, but needs more memory",
                       fastest.batch, speed_text(&fastest, most));
    return bench_advise(
        b, "batch", value, cov_strfmt(e, "covpredict --batch-size %s", value),
        cov_strfmt(e, "%s of the genome in %s%s", speed_text(best, speed), best->precision, more),
        e);
}

/* fastest: the best batch with the threads of the first speed */
static int advise_threads(struct bench *b, const struct bench_speed *fastest, struct cov_err *e)
{
    const struct bench_speed *first = &b->speeds[0];
    struct bench_speed ignored, best;
    char value[24], speed[40], slow[40], more[100] = ", and no other thread count is faster";
    find_best(b, false, &ignored, &best);
    if (best.median < AS_GOOD * fastest->median || bench_is_disturbed(b))
        best = *fastest;
    for (const struct bench_speed *s = first; s < first + b->n_speeds; s++)
        if (is_like(s, first) && s->threads == 1 && s->batch == first->batch && best.threads > 1)
            (void)snprintf(more, sizeof more, ", %.2f times the speed of one thread (%s)",
                           best.median / s->median, speed_text(s, slow));
    if (bench_is_disturbed(b))
        (void)snprintf(more, sizeof more,
                       " with all threads: the machine was too busy to compare numbers of threads");
    (void)snprintf(value, sizeof value, "%u", best.threads);
    return bench_advise(b, "threads", value, cov_strfmt(e, "covpredict -@ %s", value),
                        cov_strfmt(e, "%s%s", speed_text(&best, speed), more), e);
}

/* Sets *fast to the fastest speed with the threads and the length of `exact`. Returns true if it is
 * worth giving up exact values. */
static bool find_faster(const struct bench *b, const struct bench_speed *exact,
                        struct bench_speed *fast)
{
    *fast = *exact;
    for (size_t i = 0; i < b->n_speeds; i++)
        if (b->speeds[i].threads == exact->threads && b->speeds[i].length == exact->length &&
            b->speeds[i].median > fast->median)
            *fast = b->speeds[i];
    return !is_like(fast, exact) && fast->median > WORTH_IT * exact->median;
}

/* Recommends exact; the reason mentions a faster precision if it gains enough. */
static int advise_precision(struct bench *b, const struct bench_speed *exact, struct cov_err *e)
{
    struct bench_speed fast;
    char error[80] = "at a lower accuracy", speed[40], more[200];
    if (find_faster(b, exact, &fast)) {
        const struct figure *f =
            figures_findf(&b->figures, "model/max_relative_error/precision=%s", fast.precision);
        if (f)
            (void)snprintf(error, sizeof error, "with errors of up to %.2g %% in a trained network",
                           100 * f->median);
        (void)snprintf(more, sizeof more, "at %s; %s is %.2f times as fast, %s",
                       speed_text(exact, speed), fast.precision, fast.median / exact->median,
                       error);
    } else {
        (void)snprintf(more, sizeof more, "and no other precision is %.0f %% faster than its %s",
                       100 * (WORTH_IT - 1), speed_text(exact, speed));
    }
    return bench_advise(b, "precision", exact->precision,
                        cov_strfmt(e, "covpredict --precision %s", exact->precision),
                        cov_strfmt(e, "same values as fp32, %s", more), e);
}

/* Estimates the time of a genome, of which a speed computes both strands: from all repeats, and
 * from the fastest and the slowest. */
static void time_of(const struct bench *b, const struct bench_speed *s, char out[160])
{
    const struct figure *f = &b->figures.items[s->figure];
    const double speeds[3] = {f->median, f->high, f->low};
    const double minutes = 2 * BASES / (f->median * (double)s->length) / 60;
    const bool in_hours = minutes >= 90;
    char text[3][32];
    for (int i = 0; i < 3; i++) {
        double time = minutes * f->median / speeds[i] / (in_hours ? 60 : 1);
        (void)snprintf(text[i], sizeof text[i], time < 99.5 ? "%.2g" : "%.0f", time);
    }
    (void)snprintf(out, 160, "%s %s with %s (repeats: %s to %s)", text[0], in_hours ? "h" : "min",
                   s->precision, text[1], text[2]);
}

static int advise_time(struct bench *b, const struct bench_speed *exact, struct cov_err *e)
{
    struct bench_speed fast;
    char value[32], slow[160], less[160] = "";
    bool two = find_faster(b, exact, &fast);
    time_of(b, exact, slow);
    if (two)
        time_of(b, &fast, less);
    (void)snprintf(value, sizeof value, "%g Gbp", BASES * 1e-9);
    return bench_advise(
        b, "time of a genome", value, cov_strdup("", e),
        cov_strfmt(e, "covpredict takes about %s%s%s%s", slow, two ? ", " : "", less,
                   bench_is_disturbed(b) ? "; unreliable: the machine was busy" : ""),
        e);
}

static int advise_network(struct bench *b, struct cov_err *e)
{
    struct bench_speed best;
    char speed[40];
    int rc = advise_batch(b, &best, e);
    if (!rc)
        rc = advise_threads(b, &best, e);
    if (!rc)
        rc = advise_precision(b, &best, e);
    if (!rc)
        rc = advise_time(b, &best, e);
    const char *device = b->speeds[0].device;
    return rc ? rc
              : bench_advise(b, "device", device, cov_strfmt(e, "covpredict --device %s", device),
                             cov_strfmt(e, "%s, the fastest measured", speed_text(&best, speed)),
                             e);
}

/* ---------------------------------------------------------------- loading and tools */

static int advise_loading(struct bench *b, struct cov_err *e)
{
    static const struct {
        const char *layout, *compression;
    } files[STRATEGIES] = {{"onehot", "gzip"},
                           {"onehot", "blosc"},
                           {"packed", "none"},
                           {"packed", "none"},
                           {"packed", "none"}};
    double original = 0, best = 0;
    int which = 0;
    for (int i = 0; i < STRATEGIES; i++) {
        const struct figure *f = figures_findf(
            &b->figures, "loader/epoch_seconds/strategy=%s,io=unlimited", strategy_names[i]);
        if (f && i == 0)
            original = f->median;
        if (f && (best <= 0 || f->median < best)) {
            best = f->median;
            which = i;
        }
    }
    const struct figure *stored =
        figures_findf(&b->figures, "loader/bytes_per_base/strategy=%s", strategy_names[which]);
    return bench_advise(
        b, "layout", files[which].layout,
        cov_strfmt(e, "fasta2h5 --layout %s --compression %s", files[which].layout,
                   files[which].compression),
        cov_strfmt(
            e,
            "%.3g s to load an epoch with %s, %.1f times as fast as the original; %.2f bytes per "
            "base for both strands",
            best, strategy_names[which], original / best, stored ? stored->median : 0.0),
        e);
}

static int advise_stage(struct bench *b, struct cov_err *e)
{
    double most = 0, all = 0;
    int which = 0;
    for (int i = 0; i < CHAIN_STAGES; i++) {
        const struct figure *f =
            figures_findf(&b->figures, "pipeline/wall_seconds/stage=%s", chain_stages[i]);
        if (f && i == CHAIN_ALL) {
            all = f->median;
        } else if (f && f->median > most) {
            most = f->median;
            which = i;
        }
    }
    return bench_advise(b, "where more hardware helps", chain_stages[which], cov_strdup("", e),
                        cov_strfmt(e, "%.0f %% of the pipeline's %.3g s", 100 * most / all, all),
                        e);
}

/* ---------------------------------------------------------------- all measurements */

struct report_options {
    struct benchmark_config common; /* the inputs are options */
    bool quick;
};

static const struct cov_opt report_rows[] = {
    BENCHMARK_MODEL,
    BENCHMARK_FASTA("the genome for the loaders and the pipeline"),
    COV_OPT(FLAG, "quick", 0, offsetof(struct report_options, quick), NULL,
            "small genomes and few repeats: a minute or two on two cores"),
    {.name = NULL},
};

static int report_tools(struct bench *b, const struct report_options *o, struct cov_err *e)
{
    struct stages_options stages = {.sizes = {.items = {2000000, 5000000, 10000000}, .n = 3}};
    const struct pipeline_options pipeline = {.shards = 2, .profile = true};
    const size_t repeats = b->repeats;
    char *fasta = b->fasta;
    if (o->quick)
        stages.sizes = (struct numbers){.items = {100000, 200000, 400000}, .n = 3};
    b->repeats = o->quick ? 2 : 3;
    int rc = bench_stages(b, &stages, e);
    if (!rc && !o->common.fasta) {
        b->fasta = cov_strfmt(e, "%s/" BENCH_STAGES_GENOME, b->work.path, (size_t)2);
        rc = b->fasta ? COV_OK : COV_ENOMEM;
    }
    if (!rc)
        rc = bench_pipeline(b, &pipeline, e);
    if (b->fasta != fasta)
        free(b->fasta);
    b->fasta = fasta;
    b->repeats = repeats;
    return rc;
}

static int report_model(struct bench *b, const struct report_options *o, struct cov_err *e)
{
    static char automatic[] = "auto", exact[] = "exact", bf16[] = "bf16", fp32[] = "fp32",
                bf16x3[] = "bf16x3", balanced[] = "balanced";
    char *devices[] = {automatic}, *precisions[] = {exact, bf16, fp32, bf16x3, balanced};
    struct model_options model = {
        .common = o->common,
        .batches = {.items = {8, 1, 2, 4, 16, 32}, .n = 6},
        .lengths = {.items = {21384, 10688}, .n = 2},
        .precisions = {precisions, COV_COUNT(precisions)},
        .devices = {devices, 1},
        .training = {.items = {1, 4, 8, 16}, .n = 4},
    };
    if (o->quick) {
        model.batches = (struct numbers){.items = {4, 1, 16}, .n = 3};
        model.lengths = (struct numbers){.items = {10688}, .n = 1};
        model.precisions.n = 2;
        model.training = (struct numbers){.items = {2, 8}, .n = 2};
    }
    b->seconds = o->quick ? 0.1 : 1;
    return bench_model(b, &model, e);
}

static int report_loading(struct bench *b, const struct report_options *o, struct cov_err *e)
{
    const struct loader_options loader = {.io_limits = {.items = {0, 1000000000}, .n = 2},
                                          .batches = {.items = {2, 8, 32}, .n = 3},
                                          .length = 21384};
    const struct encode_options encode = {.lengths = {.items = {500, 2000, 8000, 21384}, .n = 4}};
    b->seconds = o->quick ? 0.05 : 0.5;
    int rc = bench_loader(b, &loader, e);
    b->seconds = o->quick ? 0.01 : 0.1;
    return rc ? rc : bench_encode(b, &encode, e);
}

/* The tools run first, because the memory of this process when it starts them counts as theirs. */
static int measure_all(struct bench *b, const void *options, struct cov_err *e)
{
    const struct report_options *c = options;
    int rc = report_tools(b, c, e);
    if (!rc)
        rc = report_model(b, c, e);
    if (!rc)
        rc = report_loading(b, c, e);
    if (!rc)
        rc = advise_network(b, e);
    if (!rc)
        rc = advise_loading(b, e);
    return rc ? rc : advise_stage(b, e);
}

static int report_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    struct report_options *c = config;
    c->common.repeats = c->quick ? 3 : 7;
    c->common.seconds = c->quick ? 0.025 : 1;
    c->common.size = c->quick ? 2000000 : 20000000;
    return benchmark_run(common, config, true, measure_all, e);
}

const struct cov_tool benchmark_report = {
    .name = "report",
    .summary = "measure everything, and recommend settings for this machine",
    BENCHMARK_OUTPUT(""),
    .examples = "  benchmark report --quick\n"
                "  benchmark report -m model.ckpt --fasta rice.fa -o results/\n",
    .options = report_rows,
    .config_bytes = sizeof(struct report_options),
    .run = report_run,
};
