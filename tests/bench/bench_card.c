/* bench_card.c - how many chunks per second covpredict could feed to an infinitely fast GPU.
 *
 *   bench_card MODEL.ckpt INPUT OUTPUT.h5 CORES
 *
 * Runs the pipeline of covpredict with the GPU plugin on a mock card (tests/mock/runtime_mock.h). The
 * host's side of the plugin is the real one; kernels take no time, nor do copies, which a card makes
 * itself. The values are those of the first chunk of the input, computed once on the CPU, so that they
 * compress as usual. Like covpredict, starts threads in addition to CORES, which wait for the card;
 * limits the process to the first CORES processors.
 *
 * Prints a line of tab-separated figures: cores, chunks, seconds, chunks per second; CPU microseconds a
 * chunk of all threads, and of the calling thread alone, which reads and writes the files: its inverse
 * is the limit for any number of cores; and the largest resident set in MB. COVTOOLS_MOCK replaces the
 * card's properties: with too little memory, it has fewer slots.
 * SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "common/base/pool.h"
#include "common/compute/device.h"
#include "common/compute/device_open.h"
#include "common/job/predict/predict.h"
#include "common/net/net.h"
#include "tests/mock/runtime_mock.h"

enum { LENGTH = 21384 /* of the chunks of a FASTA */ };

/* The first prediction of an input: values[length, depth]. */
struct first {
    float *values;
    size_t length, depth;
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The loader's options, like covpredict's. */
static struct cov_loader_options options_of(size_t length, unsigned n_threads)
{
    return (struct cov_loader_options){.chunk_length = length,
                                       .genome = {.tmpdir = ".", .n_threads = n_threads},
                                       .order = COV_ORDER_FILLED};
}

/* Predicts the input's first chunk on the CPU. Free f->values afterwards. */
static int predict_first(const char *path, const struct cov_model *m, struct first *f,
                         struct cov_err *e)
{
    struct cov_device *cpu = NULL;
    struct cov_net *net = NULL;
    struct cov_loader *l = NULL;
    struct cov_loader_item item;
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    uint8_t *codes = NULL;
    const struct cov_loader_options options = options_of(LENGTH, 1);
    int rc = cov_loader_open(path, &options, NULL, &l, e);
    if (!rc)
        rc = cov_device_open_cpu(NULL, &cpu, e);
    if (!rc) {
        f->length = cov_loader_chunk_length(l);
        f->depth = (size_t)m->hp.output_size;
        codes = malloc(2 * f->length);
        f->values = malloc(f->length * f->depth * sizeof *f->values);
        rc = codes && f->values ? COV_OK : cov_fail(e, COV_ENOMEM, "out of memory");
    }
    if (!rc)
        rc = cov_net_new(cpu, &m->hp, m->block, (struct cov_net_size){f->length, 1, 1}, &net, e);
    if (!rc)
        rc = cov_loader_next(l, &item, raw, e) < 1 ? COV_EINPUT : COV_OK;
    if (!rc)
        rc = cov_loader_codes(l, &item, raw, (uint8_t *[2]){codes, codes + f->length}, e);
    if (!rc)
        rc = cov_net_forward(net, 0, 1, codes, f->values, e);
    free(codes);
    cov_blob_fini(&raw[0]);
    cov_blob_fini(&raw[1]);
    cov_net_free(net);
    cov_device_close(cpu);
    cov_loader_close(l);
    return rc;
}

static void print_run(unsigned n_cores, const struct cov_stats *stats, double wall, double cpu,
                      double own)
{
    struct rusage usage;
    double n = (double)stats->chunks;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("cores\tchunks\tseconds\tper_second\tcpu_us\tfiles_us\trss_mb\n"
                 "%u\t%.0f\t%.2f\t%.0f\t%.1f\t%.1f\t%.0f\n",
                 n_cores, n, wall, n / wall, cpu / n * 1e6, own / n * 1e6,
                 (double)usage.ru_maxrss / 1024);
    for (int i = 0; i < stats->n_stages; i++)
        (void)printf("# %s: %.1f us a chunk\n", stats->stages[i].name,
                     stats->stages[i].seconds / n * 1e6);
}

static int run(char **argv, unsigned n_cores, struct cov_err *e)
{
    const struct cov_cuda_options any = {NULL, 0, COV_PRECISION_BF16};
    const struct cov_loader_options from = options_of(LENGTH, n_cores);
    struct first first = {0};
    struct cov_device *card = NULL;
    struct cov_ensemble *m = NULL;
    struct cov_loader *l = NULL;
    struct cov_pool *pool = NULL;
    struct cov_stats stats = {0};
    int rc = cov_ensemble_open(&(const char *){argv[1]}, 1, false, &m, e);
    if (!rc)
        rc = predict_first(argv[2], m->models[0], &first, e);
    if (!rc)
        rc = cov_cuda_plugin.open(&any, &card, e);
    if (!rc) /* after the self-check of the card */
        runtime_mock_idle(first.values, first.length * first.depth * sizeof *first.values);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID),
           own = seconds(CLOCK_THREAD_CPUTIME_ID);
    if (!rc)
        rc = cov_loader_open(argv[2], &from, NULL, &l, e);
    if (!rc)
        rc = cov_pool_new(n_cores + cov_device_waiting(card), &pool, e);
    if (!rc)
        rc = cov_predict(
            l, m,
            &(struct cov_predict_options){
                .type = COV_PREDICTIONS_INT32, .device = card, .tmpdir = ".", .command = ""},
            argv[3], &(struct cov_job){.pool = pool, .stats = &stats}, e);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
    if (!rc)
        print_run(n_cores, &stats, wall, cpu, own);
    cov_pool_free(pool);
    cov_loader_close(l);
    cov_ensemble_close(m);
    cov_device_close(card);
    free(first.values);
    return rc;
}

/* Limits the process to the first n processors that it may use. */
static bool limit_cores(long n)
{
    cpu_set_t all, some;
    CPU_ZERO(&some);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    for (size_t i = 0; i < CPU_SETSIZE && n > 0; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &some);
            n--;
        }
    return n == 0 && sched_setaffinity(0, sizeof some, &some) == 0;
}

int main(int argc, char **argv)
{
    /* An H200. */
    const char *card = "multiprocessors=132,shared=232448,memory=150000000000";
    struct cov_err e = COV_ERR_INIT;
    long n_cores = argc == 5 ? strtol(argv[4], NULL, 10) : 0;
    if (n_cores < 1 || n_cores > 1024) {
        (void)fprintf(stderr, "usage: bench_card MODEL.ckpt INPUT OUTPUT.h5 CORES\n");
        return 2;
    }
    if (!limit_cores(n_cores)) {
        (void)fprintf(stderr, "bench_card: this process may not use %ld processors\n", n_cores);
        return 1;
    }
    (void)setenv("COVTOOLS_MOCK", card, 0);
    if (run(argv, (unsigned)n_cores, &e) == COV_OK)
        return 0;
    (void)fprintf(stderr, "bench_card: %s\n", e.text);
    return 1;
}
