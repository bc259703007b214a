/* make_demo.c - a small synthetic plant genome, and a network whose output is known.
 *
 *   make_demo DIRECTORY [BASES [SEED]]
 *
 * writes DIRECTORY/genome.fa, DIRECTORY/features.bed (the features of the genome) and DIRECTORY/cpg.ckpt. The output is
 * the same on every machine: decisions are made on integers.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/ckpt/ckpt.h"
#include "workflows/demo/synthetic.h"

enum { SEED = 20240229 };

/* ---- the genome ---- */

/* CpG islands, as at the start of many genes; the GC content is highest in the middle. */
static void put_islands(struct genome *g, const struct piece *p)
{
    for (int64_t at = between(g, 500, 4000);; at += between(g, 1200, 9000)) {
        int64_t n = between(g, 300, 1500);
        int peak = (int)between(g, 480, 720);
        if (at + n > p->n)
            return;
        for (int64_t i = 0; i < n; i++) {
            int64_t from_end = i < n - i ? i : n - i;
            int gc = (int)(360 + (peak - 360) * 2 * from_end / n);
            p->bases[at + i] = draw_base(g, gc);
        }
        note_range(g, p, at, at + n, "island");
        at += n;
    }
}

static int make_piece(struct genome *g, const char *name, int64_t n, struct cov_err *e)
{
    struct piece p = {.name = name, .n = n};
    int64_t beg, end;
    p.bases = cov_malloc((size_t)n, 1, e);
    if (!p.bases)
        return COV_ENOMEM;
    draw_background(g, p.bases, n, 360);
    put_repeats(g, &p, 1000, 9000);
    if (n >= 100000)
        put_centromere(g, &p, &beg, &end);
    put_islands(g, &p);
    put_gaps(g, &p);
    write_bases(g, &p);
    free(p.bases);
    return COV_OK;
}

static int make_pieces(struct genome *g, int64_t n_bases, struct cov_err *e)
{
    int code = COV_OK;
    draw_background(g, g->satellite, SATELLITE, 360);
    for (int i = 0; i < N_FAMILIES && code == COV_OK; i++)
        code = make_family(g, &g->families[i], 300, e);
    for (size_t i = 0; i < N_PIECES && code == COV_OK; i++) {
        char name[32];
        int64_t n;
        describe_piece(i, n_bases, name, &n);
        code = make_piece(g, name, n, e);
    }
    return code;
}

static int make_genome(const char *directory, int64_t n_bases, int64_t seed, struct cov_err *e)
{
    struct genome g = {.more = ""};
    int code = COV_EIO;
    cov_rng_init(&g.rng, seed > 0 ? (uint64_t)seed : SEED);
    g.fasta = create(directory, "genome", "fa", e);
    g.features = g.fasta ? create(directory, "features", "bed", e) : NULL;
    if (g.features)
        code = make_pieces(&g, n_bases, e);
    free_families(&g);
    code = finish(g.features, "features.bed", code, e);
    return finish(g.fasta, "genome.fa", code, e);
}

/* ---- the network ----
 *
 * One convolution and one transposed convolution of stride STEP, with all weights zero but those
 * given here. With kernel = 2 FLANK + STEP both have a padding of FLANK:
 *
 *   h[t, j] = ReLU(C[q] + G[q+1] - 1),  q = t STEP + j,  j < STEP      1 at a CG, else 0
 *   y[p]    = sum of h[t, j] over -FLANK <= q - p < FLANK       the number of CpG
 *   log coverage = y ln(2) / DOUBLING
 *
 * So coverage is 2^(n / DOUBLING), where n is the number of CpG within FLANK bases of p, on either strand. N
 * gives C + G - 1 < 0 and so does not count. */

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
        /* Tap k of window t reads position t STEP - FLANK + k, and writes there. */
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

static int make_model(const char *directory, struct cov_err *e)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    char *path = cov_strfmt(e, "%s/cpg.ckpt", directory);
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

static int make_all(const char *directory, int64_t n_bases, int64_t seed, struct cov_err *e)
{
    int code = make_genome(directory, n_bases, seed, e);
    return code ? code : make_model(directory, e);
}

int main(int argc, char **argv)
{
    return run_program(argc, argv, "make_demo", 2000000, make_all);
}
