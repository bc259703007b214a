/* bench_edits.c - edited windows, only what differs against everything: the largest difference, and
 * the processor time per version. One thread.
 *
 *     bench_edits MODEL.ckpt GENOME.fa [WINDOWS [VERSIONS [WIDTH [L [SEED]]]]]
 *
 * Each window begins at a random place or at an end of a sequence, or reaches past the end; in one of
 * four, a run of N replaces bases. Each of its versions has one random edit, which replaces a base; in
 * every sixth window, the edits insert or delete up to 10. One of four edits is within 20 bases of an
 * end of the window. Of a version, WIDTH positions around the edit are wanted (default: 1001; 0: all).
 * Differences are relative to max(value, 1e-3). The genome's sequences have at least L bases.
 *
 * Each edit counts in the first of these classes that it is in: in a run of N or within 20 bases of it,
 * at an end of a sequence, at another end of a window, elsewhere.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/rng.h"
#include "common/job/effect/edited_windows.h"
#include "common/seq/alphabet.h"
#include "common/seq/genome.h"

enum { BATCH = 32, MOST_BASES = 10, NEAR = 20 };

enum { AT_N, AT_SEQUENCE_END, AT_WINDOW_END, ELSEWHERE, CLASSES };

static const char *const classes[CLASSES] = {"at N", "sequence ends", "window ends", "elsewhere"};

struct bench {
    struct cov_rng rng;
    struct cov_ensemble *model;
    struct cov_genome *genome;
    struct cov_edited_windows *net[2]; /* only what differs; everything */
    size_t L, n_versions, width;
    uint8_t *codes; /* [2 L] */
    struct cov_version *versions;
    float *values[2];
    int64_t beg, length; /* of the window in its sequence; of the sequence */
    struct {
        double seconds[2], largest[CLASSES];
        size_t n[CLASSES];
    } of[2]; /* substitutions, others */
    double window_seconds;
};

static size_t draw(struct bench *b, size_t n)
{
    return (size_t)cov_rng_below(&b->rng, n);
}

/* Draws a window: its place, and a run of N in one of four. Returns its number of bases. */
static size_t draw_window(struct bench *b, struct cov_err *e)
{
    const struct cov_genome *g = b->genome;
    const size_t seq = draw(b, g->n_seqs), length = (size_t)g->lengths[seq];
    size_t beg = draw(b, 3) ? draw(b, length - b->L + 1) : draw(b, 2) ? 0 : length - b->L;
    if (draw(b, 8) == 0) /* the window reaches past the end */
        beg = length - b->L + draw(b, b->L / 10);
    b->beg = (int64_t)beg;
    b->length = (int64_t)length;
    const size_t n = length - beg < b->L + MOST_BASES ? length - beg : b->L + MOST_BASES;
    if (cov_genome_codes(g, seq, (int64_t)beg, (int64_t)(beg + n), b->codes, e))
        return 0;
    if (draw(b, 4) == 0) {
        const size_t at = draw(b, n), run = draw(b, 1500);
        memset(b->codes + at, COV_CODE_N, run < n - at ? run : n - at);
    }
    return n;
}

static void draw_versions(struct bench *b, size_t n, size_t kind, uint8_t *bases)
{
    const size_t inside = n < b->L ? n : b->L;
    for (size_t k = 0; k < b->n_versions; k++) {
        uint8_t *codes = bases + k * 2 * MOST_BASES;
        size_t at = draw(b, 4)   ? draw(b, inside)
                    : draw(b, 2) ? draw(b, NEAR)
                                 : inside - 1 - draw(b, NEAR);
        size_t n_old = 1, n_new = 1;
        for (size_t i = 0; i < (size_t)2 * MOST_BASES; i++)
            codes[i] = (uint8_t)(1U << draw(b, 4));
        if (kind == 1) {
            n_old += draw(b, 2) * (1 + draw(b, MOST_BASES - 1));
            n_new += n_old == 1 ? 1 + draw(b, MOST_BASES - 1) : 0;
        }
        if (n_old > inside - at)
            n_old = inside - at;
        b->versions[k] =
            (struct cov_version){.edit = {at, n_old, codes, n_new},
                                 .next = k + 1 < b->n_versions ? &b->versions[k + 1] : NULL};
        if (b->width > 0) {
            b->versions[k].beg = at > b->width / 2 ? at - b->width / 2 : 0;
            b->versions[k].end = at + b->width - b->width / 2;
        }
    }
}

static size_t class_of(const struct bench *b, const struct cov_edit *edit, size_t n)
{
    const size_t beg = edit->at > NEAR ? edit->at - NEAR : 0, end = edit->at + edit->n_old + NEAR;
    if (memchr(b->codes + beg, COV_CODE_N, (end < n ? end : n) - beg))
        return AT_N;
    if (b->beg + (int64_t)edit->at < NEAR || b->beg + (int64_t)end >= b->length)
        return AT_SEQUENCE_END;
    return edit->at < NEAR || end >= b->L ? AT_WINDOW_END : ELSEWHERE;
}

static void compare(struct bench *b, size_t kind, size_t n)
{
    const size_t D = b->model->n_datasets;
    for (size_t k = 0; k < b->n_versions; k++) {
        const struct cov_version *v = &b->versions[k];
        const size_t end = v->end == 0 || v->end > v->n_bases ? v->n_bases : v->end;
        const size_t class = class_of(b, &v->edit, n);
        double *largest = &b->of[kind].largest[class];
        b->of[kind].n[class]++;
        for (size_t i = (k * b->L + v->beg) * D; i < (k * b->L + end) * D; i++) {
            const double x = (double)b->values[0][i], want = (double)b->values[1][i];
            const double d = fabs(x - want) / fmax(fabs(want), 1e-3);
            *largest = !(d <= *largest) ? d : *largest;
        }
    }
}

static int run_window(struct bench *b, size_t kind, struct cov_err *e)
{
    static uint8_t bases[1 << 20];
    struct cov_version none = {.values = b->values[0]};
    const size_t n = draw_window(b, e);
    struct cov_edited_window w = {b->codes, n, &none};
    if (n == 0)
        return COV_EINPUT;
    draw_versions(b, n, kind, bases);
    double clock = cov_clock_thread();
    int rc = cov_edited_windows_predict(b->net[0], 0, &w, 1, e);
    b->window_seconds += cov_clock_thread() - clock;
    w.versions = b->versions;
    for (size_t i = 0; !rc && i < 2; i++) {
        for (size_t k = 0; k < b->n_versions; k++)
            b->versions[k].values = b->values[i] + k * b->L * b->model->n_datasets;
        clock = cov_clock_thread();
        rc = cov_edited_windows_predict(b->net[i], 0, &w, 1, e);
        b->of[kind].seconds[i] += cov_clock_thread() - clock;
    }
    if (!rc)
        compare(b, kind, n);
    return rc;
}

static int start(struct bench *b, char **argv, struct cov_device *dev, struct cov_err *e)
{
    const struct cov_genome_options genome = {.tmpdir = "/tmp", .n_threads = 1};
    int rc = cov_ensemble_open((const char *const[]){argv[1]}, 1, false, &b->model, e);
    if (!rc)
        rc = cov_genome_read(argv[2], &genome, NULL, &b->genome, e);
    struct cov_edited_options options = {.L = b->L, .n_workers = 1, .batch = BATCH};
    for (size_t i = 0; !rc && i < 2; i++) {
        options.full = i == 1;
        rc = cov_edited_windows_new(b->model, dev, &options, &b->net[i], e);
    }
    return rc;
}

static void report(const struct bench *b, size_t kind)
{
    size_t n = 0;
    printf("%s:", kind ? "insertions and deletions" : "substitutions");
    for (size_t i = 0; i < CLASSES; i++) {
        printf("%s %.2g of %zu %s", i ? "," : " largest relative difference",
               b->of[kind].largest[i], b->of[kind].n[i], classes[i]);
        n += b->of[kind].n[i];
    }
    printf("; %.2f ms a version, %.2f with --full\n", 1e3 * b->of[kind].seconds[0] / (double)n,
           1e3 * b->of[kind].seconds[1] / (double)n);
}

static size_t argument(int argc, char **argv, int i, size_t otherwise)
{
    return i < argc ? strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    struct bench b = {.L = argument(argc, argv, 6, 21384),
                      .n_versions = argument(argc, argv, 4, BATCH / 2),
                      .width = argument(argc, argv, 5, 1001)};
    const size_t n_windows = argument(argc, argv, 3, 10);
    struct cov_device *dev = NULL;
    if (argc < 3 || b.n_versions == 0 || b.n_versions > 50000 || b.L == 0)
        return 2;
    cov_rng_init(&b.rng, argument(argc, argv, 7, 1));
    int rc = cov_device_open_cpu(NULL, &dev, &e);
    if (!rc)
        rc = start(&b, argv, dev, &e);
    const size_t row = rc ? 1 : b.L * b.model->n_datasets;
    b.codes = malloc(2 * b.L);
    b.versions = calloc(b.n_versions, sizeof *b.versions);
    b.values[0] = malloc(b.n_versions * row * sizeof(float));
    b.values[1] = malloc(b.n_versions * row * sizeof(float));
    for (size_t i = 0; !rc && i < n_windows; i++)
        rc = run_window(&b, i % 6 == 5, &e);
    if (rc)
        (void)fprintf(stderr, "%s\n", e.text);
    else
        printf("a window: %.1f ms\n", 1e3 * b.window_seconds / (double)n_windows);
    for (size_t i = 0; !rc && i < 2; i++)
        report(&b, i);
    for (size_t i = 0; i < 2; i++) {
        cov_edited_windows_free(b.net[i]);
        free(b.values[i]);
    }
    free(b.codes);
    free(b.versions);
    cov_genome_free(b.genome);
    cov_ensemble_close(b.model);
    cov_device_close(dev);
    return rc != 0;
}
