/* bench_bigwig.c - measures speed and memory of writing bigWig.
 *   bench_bigwig OUT.bw [INTERVALS [CONTIGS [WIDTH [THREADS [announced]]]]]
 * Intervals are WIDTH (40) bases long on average, without gaps; their values are a random walk,
 * like coverage. All contigs have the same size. If OUT.bw is "-", the intervals are discarded, to
 * measure the cost of generating them.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/rng.h"
#include "common/cli/stats.h"
#include "common/track/formats/bigwig.h"

enum { POOLED = 1 << 16, PIECE = 1024, NAME_BYTES = 32 };

/* Widths and values, reused from random offsets. */
static struct cov_interval pooled[POOLED];

static void make_intervals(struct cov_rng *rng, uint64_t width)
{
    int64_t value = 20;
    for (size_t i = 0; i < POOLED; i++) {
        value += (int64_t)cov_rng_below(rng, 9) - 4;
        value = value < 0 ? 0 : value > 500 ? 500 : value;
        pooled[i].end = 1 + (int64_t)cov_rng_below(rng, 2 * width - 1);
        pooled[i].value = (float)value;
    }
}

static uint64_t number(int argc, char **argv, int i, uint64_t otherwise)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

static int write_contig(struct cov_track_sink *s, struct cov_rng *rng, uint64_t n, int64_t *length,
                        struct cov_err *e)
{
    struct cov_interval iv[PIECE];
    int64_t at = 0;
    while (n > 0) {
        size_t k = n < PIECE ? (size_t)n : PIECE;
        size_t from = (size_t)cov_rng_below(rng, POOLED - PIECE);
        for (size_t i = 0; i < k; i++) {
            iv[i] = (struct cov_interval){at, at + pooled[from + i].end, pooled[from + i].value};
            at = iv[i].end;
        }
        int rc = s ? cov_track_add(s, iv, k, e) : 0;
        if (rc)
            return rc;
        n -= k;
    }
    *length = at;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    uint64_t n = number(argc, argv, 2, 10000000), n_contigs = number(argc, argv, 3, 5);
    uint64_t width = number(argc, argv, 4, 40);
    unsigned n_threads = (unsigned)number(argc, argv, 5, cov_pool_default_size());
    bool announced = argc > 6;
    if (!n || !n_contigs || !width || n < n_contigs)
        return 2;
    uint64_t per_contig = n / n_contigs;
    struct cov_err e = COV_ERR_INIT;
    struct cov_pool *pool = NULL;
    struct cov_track_sink *s = NULL;
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    make_intervals(&rng, width);
    char(*names)[NAME_BYTES] = calloc(n_contigs, sizeof *names);
    const char **list = calloc(n_contigs, sizeof *list);
    int64_t *lengths = calloc(n_contigs, sizeof *lengths), length = 0, n_bases = 0;
    if (!names || !list || !lengths) {
        free(names);
        free(list);
        free(lengths);
        return 1;
    }
    for (size_t i = 0; i < n_contigs; i++) {
        (void)snprintf(names[i], sizeof names[i], "scaffold_%09zu", i);
        list[i] = names[i];
        lengths[i] = (int64_t)(2 * width * per_contig);
    }
    const struct cov_track_contigs contigs = {n_contigs, list, lengths};
    double beg = cov_clock();
    int rc = cov_pool_new(n_threads, &pool, &e);
    const struct cov_bigwig_options options = {.pool = pool};
    bool writes = strcmp(argv[1], "-") != 0;
    if (!rc && writes)
        rc = cov_bigwig_open(argv[1], argv[1], announced ? NULL : &contigs, &options, &s, &e);
    for (size_t i = 0; i < n_contigs && !rc; i++) {
        if (writes)
            rc = announced ? cov_track_begin_named(s, names[i], &e) : cov_track_begin(s, i, &e);
        if (!rc)
            rc = write_contig(s, &rng, per_contig, &length, &e);
        n_bases += length;
        if (!rc && writes && announced)
            rc = cov_track_end_contig(s, length, &e);
    }
    double added = cov_clock();
    if (!rc && writes)
        rc = cov_track_close(s, &e);
    double end = cov_clock();
    cov_track_free(s);
    cov_pool_free(pool);
    free(names);
    free(list);
    free(lengths);
    if (rc) {
        (void)fprintf(stderr, "bench_bigwig: %s\n", e.text);
        return 1;
    }
    struct rusage usage;
    struct stat st = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)stat(argv[1], &st);
    printf("%" PRIu64 " intervals, %" PRIu64 " contigs, %u threads: %.2f s (%.2f to close), "
           "%.2f s CPU, %.2f M intervals/s, %.0f Mbp/s, %.2f bytes an interval, %ld MB held\n",
           per_contig * n_contigs, n_contigs, n_threads, end - beg, end - added,
           (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
               (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6,
           (double)n / (end - beg) / 1e6, (double)n_bases / (end - beg) / 1e6,
           (double)st.st_size / (double)n, usage.ru_maxrss / 1024);
    return 0;
}
