/* make_demo.c - a small made-up plant genome, and a network whose output is known.
 *
 *   make_demo FOLDER [BASES]
 *
 * writes FOLDER/genome.fa, FOLDER/features.bed (what was put where) and FOLDER/cpg.ckpt. The same
 * bytes on every machine: all randomness comes from one seed, and decisions are made on integers.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/number.h"
#include "common/base/rng.h"
#include "common/ckpt/ckpt.h"
#include "common/cli/opt.h"

enum { SEED = 20240229, LINE = 60, N_FAMILIES = 12, MAX_NAME = 32 };

/* ---- the genome ---- */

struct piece {
    char name[MAX_NAME];
    char *bases;
    int64_t n;
};

struct family { /* of transposable elements: copies of a common ancestor */
    char *bases;
    int64_t n;
};

struct maker {
    struct cov_rng rng;
    struct family families[N_FAMILIES];
    char *satellite; /* the unit that a centromere repeats */
    FILE *fasta, *features;
};

enum { SATELLITE = 178 };

static int64_t between(struct maker *m, int64_t low, int64_t high)
{
    return low + (int64_t)cov_rng_below(&m->rng, (uint64_t)(high - low));
}

/* True in `per_mille` of 1000 cases. */
static bool chance(struct maker *m, int per_mille)
{
    return (int)cov_rng_below(&m->rng, 1000) < per_mille;
}

static char draw_base(struct maker *m, int gc_per_mille)
{
    bool gc = chance(m, gc_per_mille), second = chance(m, 500);
    return gc ? (second ? 'C' : 'G') : (second ? 'A' : 'T');
}

/* bases[0..n): as in most of a plant's genome, CG is rare, as methylated C turns into T. */
static void draw_background(struct maker *m, char *bases, int64_t n, int gc_per_mille)
{
    char before = 'A';
    for (int64_t i = 0; i < n; i++) {
        char base = draw_base(m, gc_per_mille);
        if (before == 'C' && base == 'G' && chance(m, 350))
            base = 'A';
        bases[i] = before = base;
    }
}

static void note(struct maker *m, const struct piece *p, int64_t beg, int64_t end, const char *what)
{
    (void)fprintf(m->features, "%s\t%lld\t%lld\t%s\n", p->name, (long long)beg, (long long)end,
                  what);
}

/* A copy with about 6 % of the bases changed, soft-masked: in lower case. */
static void put_copy(struct maker *m, char *bases, const char *original, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        char base = chance(m, 60) ? draw_base(m, 400) : original[i];
        bases[i] = (char)(base | 0x20);
    }
}

static void put_repeats(struct maker *m, const struct piece *p)
{
    for (int64_t at = between(m, 500, 6000);; at += between(m, 1000, 9000)) {
        const struct family *f = &m->families[between(m, 0, N_FAMILIES)];
        int64_t n = chance(m, 400) ? f->n : between(m, f->n / 4, f->n); /* often but a part */
        if (at + n > p->n)
            return;
        put_copy(m, p->bases + at, f->bases, n);
        note(m, p, at, at + n, "repeat");
        at += n;
    }
}

/* The centromere: one unit over and over, as in Arabidopsis, and never assembled to its end. */
static void put_centromere(struct maker *m, const struct piece *p)
{
    int64_t n = p->n / 25 / SATELLITE * SATELLITE, beg = p->n / 9 * 5, gap = n / 3;
    for (int64_t i = 0; i < n; i += SATELLITE)
        put_copy(m, p->bases + beg + i, m->satellite, SATELLITE);
    note(m, p, beg, beg + n, "repeat");
    memset(p->bases + beg + gap, 'N', (size_t)gap);
    note(m, p, beg + gap, beg + 2 * gap, "gap");
}

/* Stretches rich in CG, as at the start of many genes: richest in their middle. */
static void put_islands(struct maker *m, const struct piece *p)
{
    for (int64_t at = between(m, 500, 4000);; at += between(m, 1200, 9000)) {
        int64_t n = between(m, 300, 1500);
        int peak = (int)between(m, 480, 720);
        if (at + n > p->n)
            return;
        for (int64_t i = 0; i < n; i++) {
            int64_t from_end = i < n - i ? i : n - i;
            int gc = (int)(360 + (peak - 360) * 2 * from_end / n);
            p->bases[at + i] = draw_base(m, gc);
        }
        note(m, p, at, at + n, "island");
        at += n;
    }
}

static void put_gaps(struct maker *m, const struct piece *p)
{
    for (int64_t at = between(m, 15000, 60000); at + 3000 < p->n; at += between(m, 30000, 200000)) {
        int64_t n = chance(m, 500) ? 100 : between(m, 200, 2500);
        memset(p->bases + at, 'N', (size_t)n);
        note(m, p, at, at + n, "gap");
    }
}

static int make_piece(struct maker *m, const char *name, int64_t n, struct cov_err *e)
{
    struct piece p = {.n = n};
    (void)snprintf(p.name, sizeof p.name, "%s", name);
    p.bases = cov_malloc((size_t)n, 1, e);
    if (!p.bases)
        return COV_ENOMEM;
    draw_background(m, p.bases, n, 360);
    put_repeats(m, &p);
    if (n >= 100000)
        put_centromere(m, &p);
    put_islands(m, &p);
    put_gaps(m, &p);
    (void)fprintf(m->fasta, ">%s a made-up sequence of %lld bases\n", name, (long long)n);
    for (int64_t i = 0; i < n; i += LINE)
        (void)fprintf(m->fasta, "%.*s\n", (int)(n - i < LINE ? n - i : LINE), p.bases + i);
    free(p.bases);
    return COV_OK;
}

/* Five chromosomes of `n_bases` together, and contigs: one of exactly one chunk, and very short
 * ones. */
static int make_pieces(struct maker *m, int64_t n_bases, struct cov_err *e)
{
    static const int shares[] = {30, 24, 19, 15, 12}; /* percent */
    static const int contigs[] = {21384, 5003, 777, 41};
    char name[MAX_NAME];
    int code = COV_OK;
    for (size_t i = 0; i < COV_COUNT(shares) && code == COV_OK; i++) {
        (void)snprintf(name, sizeof name, "chr%zu", i + 1);
        code = make_piece(m, name, n_bases / 100 * shares[i], e);
    }
    for (size_t i = 0; i < COV_COUNT(contigs) && code == COV_OK; i++) {
        (void)snprintf(name, sizeof name, "contig_%zu", i + 1);
        code = make_piece(m, name, contigs[i], e);
    }
    return code;
}

static FILE *create(const char *folder, const char *name, struct cov_err *e)
{
    char *path = cov_strfmt(e, "%s/%s", folder, name);
    FILE *f = path ? fopen(path, "we") : NULL;
    if (path && !f)
        (void)cov_fail_errno(e, "%s", path);
    free(path);
    return f;
}

/* Closes *f, whose writes went unchecked so far. */
static int finish(FILE *f, const char *name, struct cov_err *e)
{
    int failed = ferror(f);
    if (fclose(f) != 0 || failed)
        return cov_fail_errno(e, "%s: cannot be written", name);
    return COV_OK;
}

static int make_genome(const char *folder, int64_t n_bases, struct cov_err *e)
{
    struct maker m = {0};
    int code = COV_ENOMEM;
    cov_rng_init(&m.rng, SEED);
    m.satellite = cov_malloc(SATELLITE, 1, e);
    if (!m.satellite)
        goto out;
    draw_background(&m, m.satellite, SATELLITE, 360);
    for (int i = 0; i < N_FAMILIES; i++) {
        struct family *f = &m.families[i];
        f->n = between(&m, 300, 4000);
        f->bases = cov_malloc((size_t)f->n, 1, e);
        if (!f->bases)
            goto out;
        draw_background(&m, f->bases, f->n, (int)between(&m, 320, 460));
    }
    code = COV_EIO;
    m.fasta = create(folder, "genome.fa", e);
    m.features = m.fasta ? create(folder, "features.bed", e) : NULL;
    if (m.features)
        code = make_pieces(&m, n_bases, e);
out:
    for (int i = 0; i < N_FAMILIES; i++)
        free(m.families[i].bases);
    free(m.satellite);
    if (m.features) {
        int closed = finish(m.features, "features.bed", e);
        code = code ? code : closed;
    }
    if (m.fasta) {
        int closed = finish(m.fasta, "genome.fa", e);
        code = code ? code : closed;
    }
    return code;
}

/* ---- the network ----
 *
 * One convolution and one transposed convolution of stride STEP, of which only what is told here
 * is not zero. With kernel = 2 FLANK + STEP the convolution's padding and the transposed one's
 * are both FLANK:
 *
 *   h[t, j] = ReLU(C[q] + G[q+1] - 1),  q = t STEP + j,  j < STEP      1 where CG is, else 0
 *   y[p]    = sum of h[t, j] over those with -FLANK <= q - p < FLANK       a count of CpG
 *   log coverage = y ln(2) / DOUBLING
 *
 * So coverage is 2^(n / DOUBLING), n being the CpG that lie wholly within FLANK bases of p, on
 * either strand. N gives C + G - 1 < 0 and so nothing. */

enum { STEP = 8, FLANK = 100, KERNEL = 2 * FLANK + STEP, DOUBLING = 4, CHUNK = 21384 };
enum { COLUMN_C = 0, COLUMN_G = 3, N_COLUMNS = 4 };

static int add_hparams(struct cov_ckpt *c, struct cov_err *e)
{
    static const struct {
        const char *name;
        int64_t value;
    } integers[] = {
        {"cnn_layers", 1},
        {"filter_size", STEP},
        {"kernel_size", KERNEL},
        {"step", STEP},
        {"up", 1},
        {"dilation", 1},
        {"lstm_layers", 1},
        {"hidden_size", 128},
        {"seq_len", CHUNK},
        {"input_size", N_COLUMNS},
        {"output_size", 1},
    };
    static const char *const datasets[] = {"cpg"};
    int code = cov_ckpt_add_string(c, "model_type", "cnn", e);
    for (size_t i = 0; i < COV_COUNT(integers) && code == COV_OK; i++)
        code = cov_ckpt_add_int(c, integers[i].name, integers[i].value, e);
    if (code == COV_OK)
        code = cov_ckpt_add_bool(c, "bnorm", false, e);
    if (code == COV_OK)
        code = cov_ckpt_add_float(c, "dropout", 0.0, e);
    if (code == COV_OK)
        code = cov_ckpt_add_float(c, "learning_rate", 0.001, e);
    if (code == COV_OK)
        code = cov_ckpt_add_strings(c, "datasets", datasets, COV_COUNT(datasets), e);
    return code;
}

static int add_weights(struct cov_ckpt *c, struct cov_err *e)
{
    static const struct {
        const char *name;
        int n_dims;
        int64_t shape[3];
    } tensors[] = {
        {"down_layer_list.0.weight", 3, {STEP, N_COLUMNS, KERNEL}},
        {"down_layer_list.0.bias", 1, {STEP}},
        {"up_layer_list.0.weight", 3, {STEP, N_COLUMNS, KERNEL}},
        {"up_layer_list.0.bias", 1, {N_COLUMNS}},
        {"out.weight", 2, {1, N_COLUMNS}},
        {"out.bias", 1, {1}},
    };
    float *values[COV_COUNT(tensors)];
    for (size_t i = 0; i < COV_COUNT(tensors); i++) {
        struct cov_torch_tensor *t;
        int code = cov_ckpt_add_tensor(c, tensors[i].name, COV_TORCH_FLOAT32, tensors[i].n_dims,
                                       tensors[i].shape, &t, e);
        if (code != COV_OK)
            return code;
        values[i] = t->f32;
    }
    float *down = values[0], *down_bias = values[1], *up = values[2], *out = values[4];
    for (int j = 0; j < STEP; j++) {
        /* Tap k of window t is position t STEP - FLANK + k; what window t gives goes to t STEP -
         * FLANK + k. */
        float *filter = down + (ptrdiff_t)j * N_COLUMNS * KERNEL;
        filter[COLUMN_C * KERNEL + FLANK + j] = 1.0F;
        filter[COLUMN_G * KERNEL + FLANK + j + 1] = 1.0F;
        down_bias[j] = -1.0F;
        for (int k = 0; k < KERNEL; k++) {
            int distance = FLANK + j - k; /* q - p */
            if (distance >= -FLANK && distance < FLANK)
                up[(ptrdiff_t)j * N_COLUMNS * KERNEL + k] = 1.0F;
        }
    }
    out[0] = 0.693147181F / (float)DOUBLING;
    return COV_OK;
}

static int make_model(const char *folder, struct cov_err *e)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    char *path = cov_strfmt(e, "%s/cpg.ckpt", folder);
    int code = path ? COV_OK : COV_ENOMEM;
    c.lightning_version = cov_strdup("2.0.2", e);
    if (!c.lightning_version)
        code = COV_ENOMEM;
    if (code == COV_OK)
        code = add_hparams(&c, e);
    if (code == COV_OK)
        code = add_weights(&c, e);
    if (code == COV_OK)
        code = cov_ckpt_write(path, &c, e);
    cov_ckpt_fini(&c);
    free(path);
    return code;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    int64_t n_bases = 2000000;
    if (argc < 2 || argc > 3) {
        (void)fputs("usage: make_demo FOLDER [BASES]\n", stderr);
        return 2;
    }
    int code = COV_OK;
    if (argc == 3)
        code = cov_parse_i64(argv[2], "BASES", 10000, 1000000000, &n_bases, &e);
    if (code == COV_OK)
        code = make_genome(argv[1], n_bases, &e);
    if (code == COV_OK)
        code = make_model(argv[1], &e);
    if (code != COV_OK)
        (void)fprintf(stderr, "make_demo: error: %s\n", e.text);
    return code == COV_OK ? 0 : code == COV_EUSAGE ? 2 : 1;
}
