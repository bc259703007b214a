/* bench_loader.c - see bench_loader.h: the files, what is measured with them, and what it says.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/job/encode/encode.h"
#include "common/job/predict/loader.h"
#include "common/seq/alphabet.h"
#include "common/store/h5_plain.h"
#include "tools/benchmark/bench_epoch.h"

struct shared {
    struct cov_bench *b;
    const struct cov_bench_loader_options *o;
    struct cov_epochs all;
};

/* ---------------------------------------------------------------- the files */

/* data/X of the file of the genome again, as libhdf5 and zlib write it. */
static int write_as_helixer(const struct shared *s, const char *path, struct cov_err *e)
{
    struct cov_h5_plain *p = NULL;
    struct cov_loader *l = NULL;
    struct cov_loader_item item;
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    const struct cov_loader_options options = {.chunk_length = (size_t)s->o->length,
                                               .genome = {.tmpdir = s->all.tmpdir, .n_threads = 1}};
    uint8_t *codes = NULL;
    uint16_t *halves = NULL;
    size_t L = options.chunk_length;
    int got = 0, rc = cov_loader_open(s->o->fasta, &options, NULL, &l, e);
    if (!rc) {
        codes = cov_malloc(2, L, e);
        halves = cov_malloc(4 * L, sizeof *halves, e);
        rc = codes && halves ? cov_h5_plain_open_anew(path, &p, e) : COV_ENOMEM;
    }
    cov_progress_begin(s->b->progress, "writing as Helixer", "chunks", (int64_t)s->all.n_chunks);
    while (!rc && (got = cov_loader_next(l, &item, raw, e)) > 0) {
        uint8_t *const of[2] = {codes, codes + L};
        rc = cov_loader_codes(l, &item, raw, of, e);
        for (int k = COV_PLUS; k <= COV_MINUS && !rc; k++) {
            for (size_t t = 0; t < L; t++)
                memcpy(halves + 4 * t, cov_onehot_f16[of[k][t]], 8);
            rc = cov_h5_plain_write(p, item.rows[k], halves, e);
            cov_progress_add(s->b->progress, 1);
        }
    }
    cov_progress_end(s->b->progress);
    rc = rc ? rc : got;
    int closed = cov_h5_plain_close(p, e);
    cov_blob_fini(&raw[0]);
    cov_blob_fini(&raw[1]);
    free(codes);
    free(halves);
    cov_loader_close(l);
    return rc ? rc : closed;
}

static int make_file(struct shared *s, struct cov_pool *pool, const char *name,
                     enum cov_layout layout, enum cov_codec_id codec, char **path,
                     struct cov_err *e)
{
    struct cov_stats stats;
    const struct cov_encode_options options = {
        .species = "benchmark",
        .chunk_length = (size_t)s->o->length,
        .layout = layout,
        .compression = {codec, codec == COV_CODEC_BLOSC ? 5 : 0},
        .genome = {.tmpdir = s->all.tmpdir, .n_threads = 1}};
    const struct cov_job job = {pool, s->b->progress, &stats};
    *path = cov_path_join(s->all.tmpdir, name, e);
    if (!*path)
        return COV_ENOMEM;
    cov_stats_init(&stats, "benchmark", "");
    int rc = cov_encode_fasta(s->o->fasta, *path, true, &options, &job, e);
    s->all.n_chunks = (size_t)stats.chunks;
    cov_stats_fini(&stats);
    return rc;
}

static int make_files(struct shared *s, struct cov_err *e)
{
    struct cov_pool *pool = NULL;
    int rc = cov_pool_new(s->b->threads, &pool, e);
    if (!rc)
        rc = make_file(s, pool, "loader_original.h5", COV_LAYOUT_ONEHOT, COV_CODEC_FAST,
                       &s->all.files[COV_STRATEGY_ORIGINAL], e);
    if (!rc)
        rc = write_as_helixer(s, s->all.files[COV_STRATEGY_ORIGINAL], e);
    if (!rc)
        rc = make_file(s, pool, "loader_blosc.h5", COV_LAYOUT_ONEHOT, COV_CODEC_BLOSC,
                       &s->all.files[COV_STRATEGY_BLOSC], e);
    if (!rc)
        rc = make_file(s, pool, "loader_packed.h5", COV_LAYOUT_PACKED, COV_CODEC_NONE,
                       &s->all.files[COV_STRATEGY_PACKED], e);
    cov_pool_free(pool);
    s->all.files[COV_STRATEGY_DEVICE] = s->all.files[COV_STRATEGY_RING] =
        s->all.files[COV_STRATEGY_PACKED];
    return rc;
}

/* What is stored of a chunk's bases, and a figure of it. */
static int measure_storage(struct shared *s, enum cov_loading_strategy strategy, double *per_chunk,
                           struct cov_err *e)
{
    struct cov_chunk_file *f;
    struct cov_h5_storage storage;
    char name[80];
    int rc = cov_chunk_file_open(s->all.files[strategy], &f, e);
    if (rc)
        return rc;
    rc = cov_chunk_file_storage(f, cov_chunk_file_bases_name(f), &storage, e);
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    double bases = 0;
    for (size_t i = 0; i < cov_grid_n_seqs(grid); i++)
        bases += (double)cov_grid_seq_length(grid, i);
    cov_chunk_file_close(f);
    if (rc)
        return rc;
    *per_chunk = (double)storage.stored_bytes / (double)s->all.n_chunks;
    (void)snprintf(name, sizeof name, "loader/bytes_per_base/strategy=%s",
                   cov_strategy_names[strategy]);
    return cov_figures_add_one(&s->b->figures, name, "bytes", false,
                               (double)storage.stored_bytes / bases, e);
}

/* ---------------------------------------------------------------- figures */

static const char *limit_name(int64_t limit, char text[32])
{
    if (limit == 0)
        return "unlimited";
    (void)snprintf(text, 32, "%lldMB/s", (long long)(limit / 1000000));
    return text;
}

static char *name_of(const char *figure, int strategy, int64_t limit, struct cov_err *e)
{
    char text[32];
    return cov_strfmt(e, "loader/%s/strategy=%s,io=%s", figure, cov_strategy_names[strategy],
                      limit_name(limit, text));
}

/* The times of each repeat over those of the original in the same repeat. */
static int add_ratios(struct shared *s, int strategy, int64_t limit, struct cov_err *e)
{
    char *base = name_of("epoch_seconds", COV_STRATEGY_ORIGINAL, limit, e);
    char *mine = name_of("epoch_seconds", strategy, limit, e);
    char *name = name_of("ratio_to_original", strategy, limit, e);
    const struct cov_figure *a = base ? cov_figures_find(&s->b->figures, base) : NULL;
    const struct cov_figure *m = mine ? cov_figures_find(&s->b->figures, mine) : NULL;
    double *ratios = a && m ? cov_malloc(a->n, sizeof *ratios, e) : NULL;
    int rc = ratios && name ? COV_OK : COV_ENOMEM;
    size_t n = rc ? 0 : a->n < m->n ? a->n : m->n;
    for (size_t i = 0; i < n; i++)
        ratios[i] = a->values[i] / m->values[i];
    if (!rc)
        rc = cov_figures_add(&s->b->figures, name, "times", true, ratios, n, e);
    free(ratios);
    free(base);
    free(mine);
    free(name);
    return rc;
}

static int chart_bars(struct shared *s, const char *figure, const char *file, const char *title,
                      const char *y, double factor, struct cov_err *e)
{
    struct cov_chart *c;
    int rc =
        cov_charts_add(&s->b->charts, COV_CHART_BARS, file, title, "loading strategy", y, &c, e);
    for (size_t l = 0; l < s->o->n_io_limits && !rc; l++)
        for (int i = 0; i < COV_STRATEGIES && !rc; i++) {
            char text[32], *name = name_of(figure, i, s->o->io_limits[l], e);
            const struct cov_figure *f = name ? cov_figures_find(&s->b->figures, name) : NULL;
            if (f)
                rc = cov_chart_add_bar(c, limit_name(s->o->io_limits[l], text),
                                       cov_strategy_names[i], factor * f->median, factor * f->low,
                                       factor * f->high, e);
            free(name);
        }
    return rc;
}

/* Cases of all strategies at one limit. */
static int measure_limit(struct shared *s, const double *per_chunk, int64_t limit, bool device,
                         struct cov_epoch *epochs, struct cov_err *e)
{
    struct cov_bench_case cases[COV_STRATEGIES];
    int rc = COV_OK;
    memset(cases, 0, sizeof cases);
    for (int i = 0; i < COV_STRATEGIES && !rc; i++) {
        epochs[i] = (struct cov_epoch){.all = &s->all,
                                       .strategy = (enum cov_loading_strategy)i,
                                       .io_limit = limit,
                                       .threads = s->b->threads,
                                       .n_pairs = (size_t)(s->o->batch + 1) / 2,
                                       .bytes_per_chunk = per_chunk[i],
                                       .device_rate = device ? s->o->device_rate : 0,
                                       .seed = s->b->seed};
        cases[i] = (struct cov_bench_case){
            .name = name_of(device ? "device_use" : "epoch_seconds", i, limit, e),
            .unit = device ? "of an epoch" : "s",
            .higher_is_better = device,
            .check = device ? NULL : cov_epoch_check,
            .run = cov_epoch_time,
            .arg = &epochs[i]};
        rc = cases[i].name ? COV_OK : COV_ENOMEM;
    }
    if (!rc)
        rc = cov_bench_run(s->b, device ? "feeding a device" : "loading", cases, COV_STRATEGIES, e);
    for (int i = 0; i < COV_STRATEGIES; i++)
        free(cases[i].name);
    for (int i = 1; i < COV_STRATEGIES && !rc && !device; i++)
        rc = add_ratios(s, i, limit, e);
    return rc;
}

/* How busy the device was over the last epochs, as it went on. */
static int chart_use(struct shared *s, const struct cov_epoch *epochs, struct cov_err *e)
{
    struct cov_chart *c;
    int rc = cov_charts_add(&s->b->charts, COV_CHART_LINES, "loader_device_use",
                            "Use of a device over an epoch, I/O unlimited",
                            "progress of the epoch [%]", "use of the device [%]", &c, e);
    if (rc)
        return rc;
    c->top = 105;
    c->right = 100;
    for (int i = 0; i < COV_STRATEGIES && !rc; i++)
        for (int k = 0; k < COV_EPOCH_BINS && !rc; k++) {
            double use = 100 * epochs[i].busy[k] / epochs[i].spent[k];
            use = use < 100 ? use : 100;
            if (epochs[i].spent[k] > 0)
                rc = cov_chart_add(c, cov_strategy_names[i], (k + 0.5) * 100 / COV_EPOCH_BINS, use,
                                   use, use, e);
        }
    return rc;
}

static int sweep(struct shared *s, double per_chunk, struct cov_err *e)
{
    size_t n = s->o->n_threads * s->o->n_batches, k = 0;
    struct cov_epoch *epochs = cov_calloc(n, sizeof *epochs, e);
    struct cov_bench_case *cases = cov_calloc(n, sizeof *cases, e);
    struct cov_chart *c = NULL;
    int rc = epochs && cases ? COV_OK : COV_ENOMEM;
    for (size_t t = 0; t < s->o->n_threads && !rc; t++)
        for (size_t b = 0; b < s->o->n_batches && !rc; b++, k++) {
            epochs[k] = (struct cov_epoch){.all = &s->all,
                                           .strategy = COV_STRATEGY_RING,
                                           .threads = (unsigned)s->o->threads[t],
                                           .n_pairs = (size_t)(s->o->batches[b] + 1) / 2,
                                           .bytes_per_chunk = per_chunk,
                                           .seed = s->b->seed};
            cases[k] = (struct cov_bench_case){
                .name = cov_strfmt(
                    e, "loader/chunks_per_second/strategy=+ring-buffer,threads=%lld,batch=%lld",
                    (long long)s->o->threads[t], (long long)s->o->batches[b]),
                .unit = "chunks/s",
                .higher_is_better = true,
                .run = cov_epoch_rate,
                .arg = &epochs[k]};
            rc = cases[k].name ? COV_OK : COV_ENOMEM;
        }
    if (!rc)
        rc = cov_bench_run(s->b, "sweeping threads and batch", cases, n, e);
    if (!rc)
        rc = cov_charts_add(&s->b->charts, COV_CHART_LINES, "loader_sweep",
                            "The ring buffer over batch and threads, I/O unlimited",
                            "chunks of a batch", "chunks/s", &c, e);
    if (c)
        c->log_x = true;
    for (size_t i = 0; i < n && !rc; i++) {
        char series[32];
        const struct cov_figure *f = cov_figures_find(&s->b->figures, cases[i].name);
        (void)snprintf(series, sizeof series, "%u thread%s", epochs[i].threads,
                       epochs[i].threads == 1 ? "" : "s");
        if (f)
            rc = cov_chart_add(c, series, (double)s->o->batches[i % s->o->n_batches], f->median,
                               f->low, f->high, e);
    }
    for (size_t i = 0; cases && i < n; i++)
        free(cases[i].name);
    free(cases);
    free(epochs);
    return rc;
}

static int measure(struct shared *s, struct cov_err *e)
{
    double per_chunk[COV_STRATEGIES];
    struct cov_epoch *epochs = cov_calloc(COV_STRATEGIES, sizeof *epochs, e);
    int rc = epochs ? COV_OK : COV_ENOMEM;
    for (int i = 0; i < COV_STRATEGIES && !rc; i++)
        rc = measure_storage(s, (enum cov_loading_strategy)i, &per_chunk[i], e);
    for (size_t l = 0; l < s->o->n_io_limits && !rc; l++)
        rc = measure_limit(s, per_chunk, s->o->io_limits[l], false, epochs, e);
    for (size_t l = s->o->n_io_limits; l > 0 && !rc; l--)
        rc = measure_limit(s, per_chunk, s->o->io_limits[l - 1], true, epochs, e);
    if (!rc)
        rc = chart_bars(s, "epoch_seconds", "loader_epoch", "An epoch of loading", "seconds", 1, e);
    if (!rc)
        rc = chart_bars(s, "ratio_to_original", "loader_ratio",
                        "How many times as fast as the original", "times", 1, e);
    if (!rc)
        rc = chart_bars(s, "device_use", "loader_device_mean", "Mean use of a device", "percent",
                        100, e);
    /* The last that was measured was the first limit: unlimited, if that is asked for. */
    if (!rc && s->o->io_limits[0] == 0)
        rc = chart_use(s, epochs, e);
    free(epochs);
    return rc ? rc : sweep(s, per_chunk[COV_STRATEGY_RING], e);
}

int cov_bench_loader(struct cov_bench *b, const struct cov_bench_loader_options *options,
                     struct cov_err *e)
{
    struct shared s = {
        .b = b, .o = options, .all = {.tmpdir = b->work.path, .warm = options->warm}};
    int rc = cov_epochs_init(&s.all, e);
    if (!rc)
        rc = make_files(&s, e);
    if (!rc)
        rc = measure(&s, e);
    if (!rc)
        rc = cov_bench_note(
            b, e,
            "Loading: %zu chunks in shuffled order, %s; the device is a stand-in that takes %.0f "
            "chunks a second; a limit of I/O is a reader that waits.",
            s.all.n_chunks,
            options->warm   ? "the files in the system's cache"
            : s.all.dropped ? "the system's cache of the files dropped before each epoch"
                            : "the system did not let its cache be dropped",
            options->device_rate);
    for (int i = 0; i <= COV_STRATEGY_PACKED; i++)
        if (s.all.files[i])
            cov_bench_remove(s.all.files[i]);
    cov_epochs_fini(&s.all);
    return rc;
}
