/* bench_card.c - how many chunks per second covpredict could feed to an infinitely fast card.
 *
 *   bench_card MODEL.ckpt INPUT OUTPUT.h5 THREADS
 *
 * Runs the pipeline of covpredict with a device that takes no time: like a card's, its forward call
 * packs the bases, and copies values out of a buffer. The values are those of the first chunk of
 * the input, computed once on the CPU, so that they compress as usual. Prints a line of tab-separated
 * figures: chunks, seconds, chunks per second; CPU microseconds a chunk of all threads, and of the
 * calling thread alone, which reads and writes the files: its inverse is the limit for any number of
 * cores; and the largest resident set in MB.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/base/pool.h"
#include "common/compute/device.h"
#include "common/job/predict/predict.h"
#include "common/net/net.h"
#include "common/seq/alphabet.h"

/* The batch of a card with at least 128 multiprocessors. */
enum { BATCH = 128 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the device that takes no time ---- */

struct card {
    struct cov_device base;
    float *values; /* [length, depth] */
    size_t length, depth;
};

struct card_program {
    struct cov_program base;
    const struct card *card;
    uint8_t *packed; /* [n_workers, (length + 1) / 2] */
};

static int forward(struct cov_program *base, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e)
{
    const struct card_program *p = (const struct card_program *)base;
    const size_t L = p->card->length, row = L * p->card->depth;
    (void)e;
    for (size_t i = 0; i < n; i++) {
        size_t filled = L;
        while (filled > 0 && codes[i * L + filled - 1] == COV_CODE_PAD)
            filled--;
        cov_codes_pack(codes + i * L, L, p->packed + worker * ((L + 1) / 2));
        memcpy(out + i * row, p->card->values, filled * p->card->depth * sizeof *out);
        for (size_t k = filled * p->card->depth; k < row; k++)
            out[i * row + k] = COV_PAD_VALUE;
    }
    return COV_OK;
}

static void compute_all(struct cov_program *p)
{
    (void)p;
}

static void counts(const struct cov_program *p, struct cov_forward_counts *out)
{
    (void)p;
    *out = (struct cov_forward_counts){0};
}

static void free_program(struct cov_program *base)
{
    free(((struct card_program *)base)->packed);
    free(base);
}

static int program_new(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e)
{
    static const struct cov_program_ops ops = {forward, compute_all, counts, free_program};
    struct card_program *p = calloc(1, sizeof *p);
    const struct card *card = (const struct card *)dev;
    *out = NULL;
    if (!p)
        return cov_fail(e, COV_ENOMEM, "out of memory");
    p->base.ops = &ops;
    p->card = card;
    p->packed = malloc(spec->n_workers * ((card->length + 1) / 2));
    if (!p->packed) {
        free(p);
        return cov_fail(e, COV_ENOMEM, "out of memory");
    }
    *out = &p->base;
    return COV_OK;
}

static void advise(const struct cov_device *dev, struct cov_device_advice *out)
{
    (void)dev;
    *out = (struct cov_device_advice){.batch = BATCH, .batch_bases = 1 << 23};
}

static const char *describe(const struct cov_device *dev)
{
    (void)dev;
    return "a card that takes no time";
}

static const char *precision(const struct cov_device *dev)
{
    (void)dev;
    return "fp32";
}

/* ---- the run ---- */

/* Sets values[L, depth] to the prediction of the input's first chunk. */
static int first_values(const char *path, const struct cov_model *m, struct card *card,
                        struct cov_err *e)
{
    struct cov_device *cpu = NULL;
    struct cov_net *net = NULL;
    struct cov_loader *l = NULL;
    struct cov_loader_item item;
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    uint8_t *codes = NULL;
    int rc =
        cov_loader_open(path, &(struct cov_loader_options){.chunk_length = 21384}, NULL, &l, e);
    if (!rc)
        rc = cov_device_open_cpu(NULL, &cpu, e);
    if (!rc) {
        card->length = cov_loader_chunk_length(l);
        card->depth = (size_t)m->hp.output_size;
        codes = malloc(2 * card->length);
        card->values = malloc(card->length * card->depth * sizeof *card->values);
        rc = codes && card->values ? COV_OK : cov_fail(e, COV_ENOMEM, "out of memory");
    }
    if (!rc)
        rc = cov_net_new(cpu, &m->hp, m->block, (struct cov_net_size){card->length, 1, 1}, &net, e);
    if (!rc)
        rc = cov_loader_next(l, &item, raw, e) < 1 ? COV_EINPUT : COV_OK;
    if (!rc)
        rc = cov_loader_codes(l, &item, raw, (uint8_t *[2]){codes, codes + card->length}, e);
    if (!rc)
        rc = cov_net_forward(net, 0, 1, codes, card->values, e);
    free(codes);
    cov_blob_fini(&raw[0]);
    cov_blob_fini(&raw[1]);
    cov_net_free(net);
    cov_device_close(cpu);
    cov_loader_close(l);
    return rc;
}

static int run(char **argv, unsigned n_threads, struct cov_err *e)
{
    static const struct cov_device_ops ops = {.name = "card",
                                              .describe = describe,
                                              .precision = precision,
                                              .advise = advise,
                                              .program_new = program_new};
    struct card card = {.base = {&ops}};
    struct cov_ensemble *m = NULL;
    struct cov_loader *l = NULL;
    struct cov_pool *pool = NULL;
    struct cov_stats stats = {0};
    int rc = cov_ensemble_open(&(const char *){argv[1]}, 1, false, &m, e);
    if (!rc)
        rc = first_values(argv[2], m->models[0], &card, e);
    if (!rc)
        rc = cov_loader_open(argv[2], &(struct cov_loader_options){.chunk_length = card.length},
                             NULL, &l, e);
    if (!rc)
        rc = cov_pool_new(n_threads, &pool, e);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID),
           own = seconds(CLOCK_THREAD_CPUTIME_ID);
    if (!rc)
        rc = cov_predict(l, m,
                         &(struct cov_predict_options){
                             .type = COV_PREDICTIONS_INT64, .device = &card.base, .command = ""},
                         argv[3], &(struct cov_job){.pool = pool, .stats = &stats}, e);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
    if (!rc) {
        struct rusage usage;
        (void)getrusage(RUSAGE_SELF, &usage);
        double n = (double)stats.chunks;
        (void)printf("threads\tchunks\tseconds\tper_second\tcpu_us\tfiles_us\trss_mb\n"
                     "%u\t%.0f\t%.2f\t%.0f\t%.1f\t%.1f\t%.0f\n",
                     n_threads, n, wall, n / wall, cpu / n * 1e6, own / n * 1e6,
                     (double)usage.ru_maxrss / 1024);
        for (int i = 0; i < stats.n_stages; i++)
            (void)printf("# %s: %.1f us a chunk\n", stats.stages[i].name,
                         stats.stages[i].seconds / n * 1e6);
    }
    cov_pool_free(pool);
    cov_loader_close(l);
    cov_ensemble_close(m);
    free(card.values);
    return rc;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    long n_threads = argc == 5 ? strtol(argv[4], NULL, 10) : 0;
    if (n_threads < 1 || n_threads > 1024) {
        (void)fprintf(stderr, "usage: bench_card MODEL.ckpt INPUT OUTPUT.h5 THREADS\n");
        return 2;
    }
    if (run(argv, (unsigned)n_threads, &e) == COV_OK)
        return 0;
    (void)fprintf(stderr, "bench_card: %s\n", e.text);
    return 1;
}
