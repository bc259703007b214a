/* bench_report.c - benchmark report: all measurements, and recommended settings for this machine.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "tools/benchmark/bench_epoch.h"
#include "tools/benchmark/measuring.h"

/* A setting that needs less memory or fewer threads is preferred if it has this share of the best
 * speed, and the difference is within the noise. */
#define AS_GOOD 0.95
/* A less exact precision is mentioned if it is at least this many times as fast. */
#define WORTH_IT 1.2
/* The genome whose time is estimated. */
#define BASES 1e9

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

static bool is_candidate(const struct bench_speed *s, const struct bench_speed *like,
                         bool same_threads)
{
    return is_like(s, like) &&
           (same_threads ? s->threads == like->threads : s->batch == like->batch);
}

/* Considers the speeds with the same length and precision as `like`, and the same threads (if
 * same_threads) or the same batch. Sets *fastest, and *best to the smallest batch or the fewest
 * threads that are as good. */
static int find_best(const struct bench *b, const struct bench_speed *like, bool same_threads,
                     struct bench_speed *fastest, struct bench_speed *best, struct cov_err *e)
{
    struct spread ratio;
    *fastest = *like;
    for (size_t i = 0; i < b->n_speeds; i++)
        if (is_candidate(&b->speeds[i], like, same_threads) &&
            b->speeds[i].median > fastest->median)
            *fastest = b->speeds[i];
    *best = *fastest;
    for (size_t i = 0; i < b->n_speeds; i++) {
        const struct bench_speed *s = &b->speeds[i];
        if (!is_candidate(s, like, same_threads) || s->median < AS_GOOD * fastest->median ||
            (same_threads ? s->batch >= best->batch : s->threads >= best->threads))
            continue;
        const struct figure *slow = &b->figures.items[s->figure];
        const struct figure *fast = &b->figures.items[fastest->figure];
        if (spread_ratio(slow->values, slow->n, fast->values, fast->n, &ratio, e))
            return COV_ENOMEM;
        if (ratio.low <= 1)
            *best = *s;
    }
    return COV_OK;
}

static int advise_batch(struct bench *b, struct bench_speed *best, struct cov_err *e)
{
    struct bench_speed fastest;
    char value[24], speed[40], most[40], *reason;
    if (find_best(b, &b->speeds[0], true, &fastest, best, e))
        return COV_ENOMEM;
    (void)snprintf(value, sizeof value, "%zu", best->batch);
    if (best->batch == fastest.batch)
        reason = cov_strfmt(e, "%s of the genome in %s, the fastest measured",
                            speed_text(best, speed), best->precision);
    else
        reason = cov_strfmt(e,
                            "%s of the genome in %s; a batch of %zu gives %s, but needs more "
                            "memory",
                            speed_text(best, speed), best->precision, fastest.batch,
                            speed_text(&fastest, most));
    return bench_advise(b, "batch", value, cov_strfmt(e, "covpredict --batch-size %s", value),
                        reason, e);
}

/* fastest: the best batch with the threads of the first speed */
static int advise_threads(struct bench *b, const struct bench_speed *fastest, struct cov_err *e)
{
    const struct bench_speed *first = &b->speeds[0], *one = NULL;
    struct bench_speed ignored, best;
    bool disturbed = bench_is_disturbed(b);
    char value[24], speed[40], slow[40], *reason;
    if (find_best(b, first, false, &ignored, &best, e))
        return COV_ENOMEM;
    if (best.median < AS_GOOD * fastest->median || disturbed)
        best = *fastest;
    for (size_t i = 0; i < b->n_speeds; i++)
        if (is_like(&b->speeds[i], first) && b->speeds[i].threads == 1 &&
            b->speeds[i].batch == first->batch)
            one = &b->speeds[i];
    if (disturbed)
        reason =
            cov_strdup("all threads: the machine was too busy to compare numbers of threads", e);
    else if (one && best.threads > 1)
        reason =
            cov_strfmt(e, "%s, %.2f times the speed of one thread (%s)", speed_text(&best, speed),
                       best.median / one->median, speed_text(one, slow));
    else
        reason = cov_strfmt(e, "%s, and no other thread count is faster", speed_text(&best, speed));
    (void)snprintf(value, sizeof value, "%u", best.threads);
    return bench_advise(b, "threads", value, cov_strfmt(e, "covpredict -@ %s", value), reason, e);
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
    char error[80] = "at a lower accuracy", speed[40], *reason;
    (void)speed_text(exact, speed);
    if (find_faster(b, exact, &fast)) {
        const struct figure *f =
            figures_findf(&b->figures, "model/max_relative_error/precision=%s", fast.precision);
        if (f)
            (void)snprintf(error, sizeof error, "with errors of up to %.2g %% in a trained network",
                           100 * f->median);
        reason = cov_strfmt(e, "same values as fp32, at %s; %s is %.2f times as fast, %s", speed,
                            fast.precision, fast.median / exact->median, error);
    } else {
        reason = cov_strfmt(e,
                            "same values as fp32, and no other precision is %.0f %% faster than "
                            "its %s",
                            100 * (WORTH_IT - 1), speed);
    }
    return bench_advise(b, "precision", exact->precision,
                        cov_strfmt(e, "covpredict --precision %s", exact->precision), reason, e);
}

/* Estimates the time of a genome, of which a speed computes both strands: from all repeats, and
 * from the fastest and the slowest. */
static char *time_of(const struct bench *b, const struct bench_speed *s, struct cov_err *e)
{
    const struct figure *f = &b->figures.items[s->figure];
    const double speeds[3] = {f->median, f->high, f->low};
    double times[3];
    for (int i = 0; i < 3; i++)
        times[i] = 2 * BASES / (speeds[i] * (double)s->length) / 60;
    bool in_hours = times[0] >= 90;
    char text[3][32];
    for (int i = 0; i < 3; i++)
        (void)snprintf(text[i], sizeof text[i],
                       times[i] / (in_hours ? 60 : 1) < 99.5 ? "%.2g" : "%.0f",
                       times[i] / (in_hours ? 60 : 1));
    return cov_strfmt(e, "%s %s with %s (repeats: %s to %s)", text[0], in_hours ? "h" : "min",
                      s->precision, text[1], text[2]);
}

static int advise_time(struct bench *b, const struct bench_speed *exact, struct cov_err *e)
{
    struct bench_speed fast;
    char value[32];
    char *slow = time_of(b, exact, e);
    char *less = find_faster(b, exact, &fast) ? time_of(b, &fast, e) : NULL;
    (void)snprintf(value, sizeof value, "%g Gbp", BASES * 1e-9);
    char *reason =
        slow ? cov_strfmt(e, "covpredict takes about %s%s%s%s", slow, less ? ", " : "",
                          less ? less : "",
                          bench_is_disturbed(b) ? "; unreliable: the machine was busy" : "")
             : NULL;
    free(slow);
    free(less);
    return bench_advise(b, "time of a genome", value, cov_strdup("", e), reason, e);
}

static int advise_network(struct bench *b, struct cov_err *e)
{
    struct bench_speed best;
    char speed[40];
    if (b->n_speeds == 0)
        return COV_OK;
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

/* ---------------------------------------------------------------- loading */

static const struct figure *of_strategy(const struct bench *b, const char *figure, int strategy,
                                        const char *rest)
{
    return figures_findf(&b->figures, "loader/%s/strategy=%s%s", figure, strategy_names[strategy],
                         rest);
}

static int advise_loading(struct bench *b, struct cov_err *e)
{
    static const char unlimited[] = ",io=unlimited";
    const struct figure *original = of_strategy(b, "epoch_seconds", STRATEGY_ORIGINAL, unlimited);
    const struct figure *best = original;
    int which = STRATEGY_ORIGINAL;
    for (int i = 0; i < STRATEGIES && original; i++) {
        const struct figure *f = of_strategy(b, "epoch_seconds", i, unlimited);
        if (f && f->median < best->median) {
            best = f;
            which = i;
        }
    }
    if (!original)
        return COV_OK;
    const struct figure *stored = of_strategy(b, "bytes_per_base", which, "");
    const char *layout = which < STRATEGY_PACKED ? "onehot" : "packed";
    const char *compression = which == STRATEGY_ORIGINAL ? "gzip"
                              : which == STRATEGY_BLOSC  ? "blosc"
                                                         : "none";
    return bench_advise(
        b, "layout", layout,
        cov_strfmt(e, "fasta2h5 --layout %s --compression %s", layout, compression),
        cov_strfmt(
            e,
            "%.3g s to load an epoch with %s, %.1f times as fast as the original; %.2f bytes per "
            "base for both strands",
            best->median, strategy_names[which], original->median / best->median,
            stored ? stored->median : 0.0),
        e);
}

/* ---------------------------------------------------------------- the pipeline */

static int advise_stage(struct bench *b, struct cov_err *e)
{
    static const char prefix[] = "pipeline/wall_seconds/stage=";
    const struct figure *most = NULL,
                        *all = figures_find(&b->figures, "pipeline/wall_seconds/stage=all");
    for (size_t i = 0; i < b->figures.n; i++) {
        const struct figure *f = &b->figures.items[i];
        if (strncmp(f->name, prefix, strlen(prefix)) == 0 && f != all &&
            (!most || f->median > most->median))
            most = f;
    }
    if (!most || !all)
        return COV_OK;
    return bench_advise(b, "where more hardware helps", most->name + strlen(prefix),
                        cov_strdup("", e),
                        cov_strfmt(e, "%.0f %% of the pipeline's %.3g s",
                                   100 * most->median / all->median, all->median),
                        e);
}

/* Adds recommendations for what was measured. */
static int advise(struct bench *b, struct cov_err *e)
{
    int rc = advise_network(b, e);
    if (!rc)
        rc = advise_loading(b, e);
    return rc ? rc : advise_stage(b, e);
}

/* ---------------------------------------------------------------- all measurements */

struct report_config {
    struct benchmark_config common; /* only the seed is an option */
    const char *model, *fasta;
    bool quick;
};

static const struct cov_opt report_options[] = {
    BENCHMARK_MODEL(offsetof(struct report_config, model)),
    BENCHMARK_FASTA(offsetof(struct report_config, fasta),
                    "the genome for the loaders and the pipeline"),
    COV_OPT(FLAG, "quick", 0, offsetof(struct report_config, quick), NULL,
            "small genomes and few repeats: a minute or two on two cores"),
    BENCHMARK_SEED(offsetof(struct report_config, common.seed)),
    {.name = NULL},
};

static int report_model(struct bench *b, const char *path, bool quick, struct cov_err *e)
{
    int64_t training[] = {1, 4, 8, 16}, some[] = {2, 8}, few[] = {4, 1, 16},
            many[] = {8, 1, 2, 4, 16, 32};
    int64_t lengths[] = {21384, 10688}, threads[] = {b->threads, 1};
    static const enum cov_precision precisions[] = {COV_PRECISION_EXACT, COV_PRECISION_BF16,
                                                    COV_PRECISION_FP32, COV_PRECISION_BF16X3,
                                                    COV_PRECISION_BALANCED};
    static const char *const devices[] = {"auto"};
    struct bench_model_options o = {
        .batches = {many, COV_COUNT(many)},
        .threads = {threads, b->threads > 1 ? 2 : 1},
        .lengths = {lengths, COV_COUNT(lengths)},
        .precisions = precisions,
        .n_precisions = COV_COUNT(precisions),
        .devices = devices,
        .n_devices = 1,
        .layers = true,
        .training = {training, COV_COUNT(training)},
    };
    if (quick) {
        o.batches = (struct numbers){few, COV_COUNT(few)};
        o.lengths = (struct numbers){lengths + 1, 1}; /* half a chunk */
        o.n_precisions = 2;
        o.training = (struct numbers){some, COV_COUNT(some)};
    }
    struct bench_net net;
    int rc = bench_net_open(path, b->seed, &net, e);
    b->seconds = quick ? 0.1 : 1;
    if (!rc)
        rc = bench_model(b, &net, &o, e);
    bench_net_close(&net);
    return rc;
}

static int report_loader(struct bench *b, const char *fasta, bool quick, struct cov_err *e)
{
    int64_t limits[] = {0, 1000000000}, batches[] = {2, 8, 32}, threads[] = {1, b->threads};
    int64_t lengths[] = {500, 2000, 8000, 21384};
    const struct bench_loader_options loader = {.fasta = fasta,
                                                .io_limits = {limits, COV_COUNT(limits)},
                                                .threads = {threads, b->threads > 1 ? 2 : 1},
                                                .batches = {batches, COV_COUNT(batches)},
                                                .batch = 16,
                                                .device_rate = 20000,
                                                .length = 21384};
    const struct bench_encode_options encode = {{lengths, COV_COUNT(lengths)}, 16};
    b->seconds = quick ? 0.05 : 0.5;
    int rc = bench_loader(b, &loader, e);
    b->seconds = quick ? 0.01 : 0.1;
    return rc ? rc : bench_encode(b, &encode, e);
}

static int report_all(struct bench *b, const struct report_config *c, const char *fasta,
                      const char *model, struct cov_err *e)
{
    static const int64_t small[] = {100000, 200000, 400000}, large[] = {2000000, 5000000, 10000000};
    enum { N_GENOMES = COV_COUNT(small) };
    struct bench_genome *genomes = NULL;
    struct bench_pipeline_options pipeline = {fasta, model, 2, true};
    size_t repeats = b->repeats;
    /* The tools run first, because the memory of this process when it starts them counts as theirs.
     * */
    int rc = bench_genomes_make(b, c->quick ? small : large, N_GENOMES, &genomes, e);
    b->seconds = 1;
    b->repeats = c->quick ? 2 : 3;
    if (!rc)
        rc = bench_stages(b, genomes, N_GENOMES, model, e);
    if (!rc && !c->fasta)
        pipeline.fasta = genomes[N_GENOMES / 2].path;
    if (!rc)
        rc = bench_pipeline(b, &pipeline, e);
    b->repeats = repeats;
    if (!rc)
        rc = report_model(b, c->model ? c->model : "combined", c->quick, e);
    if (!rc)
        rc = report_loader(b, fasta, c->quick, e);
    bench_genomes_free(genomes, N_GENOMES);
    return rc ? rc : advise(b, e);
}

static int report_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct report_config *c = config;
    const struct benchmark_config how = {c->quick ? 3 : 7, c->common.seed, 1};
    struct bench b = {0};
    char *fasta = NULL, *model = NULL;
    int rc = benchmark_check_inputs(c->fasta, c->model, e);
    if (!rc)
        rc = benchmark_begin(common, &how, BENCH_ALL, c->quick ? 0.1 : 1, &b, e);
    if (!rc)
        rc = benchmark_genome(&b, c->fasta, "synthetic.fa", c->quick ? 2000000 : 20000000, &fasta,
                              e);
    if (!rc)
        rc = benchmark_model_file(&b, c->model, &model, e);
    if (!rc)
        rc = report_all(&b, c, fasta, model, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(fasta);
    free(model);
    bench_fini(&b);
    return rc;
}

const struct cov_tool benchmark_report = {
    .name = "report",
    .summary = "measure everything, and recommend settings for this machine",
    BENCHMARK_OUTPUT,
    .examples = "  benchmark report --quick\n"
                "  benchmark report -m model.ckpt --fasta rice.fa -o results/\n",
    .options = report_options,
    .config_bytes = sizeof(struct report_config),
    .run = report_run,
};
