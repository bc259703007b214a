/* make_ckpt.c - small valid and broken checkpoints, for tests: make_ckpt KIND OUT [SEED].
 *
 * KIND is cnn, hybrid or bi-hybrid for a network of that type with random weights; counting for a
 * bi-hybrid network whose LSTMs count; cpg for one that counts CpG; or another name in the table `kinds`, usually that of a
 * fault.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/ckpt/ckpt.h"
#include "common/ckpt/zip.h"
#include "common/file/path.h"
#include "common/input/model.h"
#include "common/net/shape.h"
#include "tests/lib/put_ckpt.h"

/* Of the network that counts CpG. */
enum { CPG_STEP = 8, CPG_FLANK = 100 };

static const struct cov_hparams networks[] = {
    {COV_MODEL_CNN, 2, 8, 9, 2, 2, 1, 1, 16, 4, 1, false, 0},
    {COV_MODEL_HYBRID, 2, 8, 9, 3, 1, 1, 2, 12, 4, 1, true, 0},
    {COV_MODEL_BI_HYBRID, 3, 4, 6, 2, 2, 1, 2, 8, 4, 2, true, 0.2},
    {COV_MODEL_CNN, 1, CPG_STEP, 2 * CPG_FLANK + CPG_STEP, CPG_STEP, 1, 1, 1, 16, 4, 1, false, 0},
};

struct maker {
    struct cov_ckpt c;
    struct cov_rng rng;
    struct cov_err e;
    int rc; /* the first failure */
};

/* Draws a parameter, distributed as in PyTorch, or as in a trained norm. */
static void draw_param(struct maker *m, const struct cov_param *p, float *values)
{
    static const struct {
        const char *end;
        double low, high;
    } others[] = {
        /* A much wider range than PyTorch's, so that rounded outputs differ. */
        {"out.weight", -10, 10},   {"out.bias", 1, 2},  {"running_mean", 0, 0.5},
        {"running_var", 0.5, 2.0}, {"bias", -0.5, 0.5}, {"weight", 0.5, 1.5},
    };
    const struct cov_param *weight = strstr(p->name, ".bias") ? p - 1 : p;
    double low, high;
    if (strstr(p->name, "lstm") || weight->n_dims == 3) {
        size_t fan_in = weight->n_dims == 3 ? weight->shape[1] * weight->shape[2] : p->shape[0] / 4;
        high = 1 / sqrt((double)fan_in);
        low = -high;
    } else {
        size_t i = 0;
        while (!cov_path_has_suffix(p->name, others[i].end))
            i++;
        low = others[i].low;
        high = others[i].high;
    }
    for (size_t i = 0; i < p->n; i++)
        values[i] = (float)(low + (high - low) * cov_rng_double(&m->rng));
}

static void make_network(struct maker *m, const struct cov_hparams *hp)
{
    static const char *const datasets[] = {"atacseq", "h3k4me3"};
    struct cov_params params;
    m->c.epoch = 4;
    m->c.global_step = 35;
    m->rc = cov_ckpt_set_version(&m->c, "2.0.2", &m->e);
    if (!m->rc)
        m->rc = cov_model_add_hparams(&m->c, hp, 21384, 0.001, datasets, &m->e);
    if (!m->rc)
        m->rc = cov_params_init(hp, &params, &m->e);
    if (m->rc)
        return;
    float *block = cov_malloc(params.n_floats, sizeof *block, &m->e);
    for (size_t i = 0; block && i < params.n_items; i++)
        draw_param(m, &params.items[i], block + params.items[i].offset);
    m->rc = block ? cov_model_add_tensors(&m->c, &params, block, 100, &m->e) : COV_ENOMEM;
    free(block);
    cov_params_fini(&params);
}

/* ---------------------------------------------------------------- broken ones */

static struct cov_torch_tensor *tensor(struct maker *m, const char *name)
{
    for (size_t i = 0; i < m->c.n_tensors; i++)
        if (strcmp(m->c.tensors[i].name, name) == 0)
            return &m->c.tensors[i];
    abort();
}

/* The last layer has weights for five channels instead of four. */
static void wrong_shape(struct maker *m)
{
    struct cov_torch_tensor *old = tensor(m, "out.weight"), *t;
    cov_torch_tensor_fini(old);
    *old = m->c.tensors[--m->c.n_tensors];
    const int64_t shape[2] = {1, 5};
    if (!m->rc)
        m->rc = cov_ckpt_add_tensor(&m->c, "out.weight", COV_TORCH_FLOAT32, 2, shape, &t, &m->e);
}

/* Sets the network's output to `log_coverage` everywhere. */
static void constant_output(struct maker *m, float log_coverage)
{
    struct cov_torch_tensor *weight = tensor(m, "out.weight"), *bias = tensor(m, "out.bias");
    for (size_t i = 0; i < weight->n_elems; i++)
        weight->f32[i] = 0;
    for (size_t i = 0; i < bias->n_elems; i++)
        bias->f32[i] = log_coverage;
}

/* Writes an archive of the pickle of put_values and one storage, a single NaN, which
 * cov_ckpt_write refuses. */
static int write_archive(const char *path, const char *values, struct cov_err *e)
{
    static const float storage = NAN;
    static const struct tensor scalar = {
        .class_name = "FloatStorage", .n_declared = 1, .n_dims = 1, .shape = {1}, .stride = {1}};
    struct cov_pickle_writer w = COV_PICKLE_WRITER_INIT;
    struct cov_zip_writer *zip = NULL;
    cov_pickle_begin(&w);
    put_values(&w, values, &scalar);
    int rc = cov_pickle_stop(&w, e);
    if (!rc)
        rc = cov_zip_create(path, false, &zip, e);
    if (!rc)
        rc = cov_zip_add(zip, "archive/data.pkl", w.data, w.n_bytes, e);
    if (!rc)
        rc = cov_zip_add(zip, "archive/data/0", &storage, sizeof storage, e);
    if (!rc)
        rc = cov_zip_add(zip, "archive/version", "3\n", 2, e);
    if (!rc)
        rc = cov_zip_finish(zip, e);
    else
        cov_zip_abort(zip);
    free(w.data);
    return rc;
}

/* Every other unit of the LSTMs keeps its cell state and adds a little at every step. */
static void counting(struct maker *m)
{
    const int hidden = (int)networks[2].hidden_size;
    for (size_t i = 0; i < m->c.n_tensors; i++) {
        struct cov_torch_tensor *t = &m->c.tensors[i];
        if (!strstr(t->name, ".bias_ih_l0"))
            continue;
        for (int u = 0; u < hidden; u += 2) {
            t->f32[u] -= 3;
            t->f32[hidden + u] += 40;
        }
    }
}

/* Makes the network count CpG. It has one convolution and one transposed convolution of stride STEP; with kernel =
 * 2 FLANK + STEP both have a padding of FLANK:
 *
 *   h[t, j] = ReLU(C[q] + G[q+1] - 1),  q = t STEP + j,  j < STEP      1 at a CG, else 0
 *   y[p]    = sum of h[t, j] over -FLANK <= q - p < FLANK       the number of CpG
 *   log coverage = y ln(2) / 4
 *
 * So coverage is 2^(n / 4), where n is the number of CpG within FLANK bases of p, on either strand. N gives C + G - 1 < 0
 * and so does not count. */
static void cpg(struct maker *m)
{
    enum { COLUMN_C = 0, COLUMN_G = 3, N_COLUMNS = 4, KERNEL = 2 * CPG_FLANK + CPG_STEP };
    for (size_t i = 0; i < m->c.n_tensors; i++)
        memset(m->c.tensors[i].f32, 0, m->c.tensors[i].n_elems * sizeof(float));
    float *down = tensor(m, "down_layer_list.0.weight")->f32;
    float *up = tensor(m, "up_layer_list.0.weight")->f32;
    for (int j = 0; j < CPG_STEP; j++, down += N_COLUMNS * KERNEL, up += N_COLUMNS * KERNEL) {
        /* Tap k of window t reads position t STEP - FLANK + k, and writes there. */
        down[COLUMN_C * KERNEL + CPG_FLANK + j] = 1;
        down[COLUMN_G * KERNEL + CPG_FLANK + j + 1] = 1;
        tensor(m, "down_layer_list.0.bias")->f32[j] = -1;
        for (int k = 0; k < KERNEL; k++) {
            int distance = CPG_FLANK + j - k; /* q - p */
            up[k] = distance >= -CPG_FLANK && distance < CPG_FLANK;
        }
    }
    tensor(m, "out.weight")->f32[0] = 0.693147181F / 4;
}

/* `change` changes a network; or `pickle` is all of a pickle. */
static const struct kind {
    const char *name;
    int network;
    void (*change)(struct maker *m);
    const char *pickle;
    float log_coverage; /* if not 0: the output at every position */
} kinds[] = {
    {.name = "cnn"},
    {.name = "hybrid", .network = 1},
    {.name = "bi-hybrid", .network = 2},
    {.name = "counting", .network = 2, .change = counting},
    {.name = "cpg", .network = 3, .change = cpg},
    {"wrong-shape", .change = wrong_shape},
    {"os-system", .pickle = CKPT_HEAD "'hyper_parameters': {}, "
                                      "'state_dict': os.system('touch executed')}"},
    {"nan", .pickle = CKPT_HEAD "'hyper_parameters': {}, 'state_dict': {'out.bias': @}}"},
    /* Valid, but the outputs exceed the range of 16, 32 and 64 bits, and of a float. */
    {"exp-20", .log_coverage = 20},
    {"exp-25", .log_coverage = 25},
    {"exp-50", .log_coverage = 50},
    {"exp-100", .log_coverage = 100},
};

static int make(const struct kind *kind, const char *path, uint64_t seed, struct cov_err *e)
{
    int rc;
    if (kind->pickle)
        return write_archive(path, kind->pickle, e);
    struct maker m = {.c = COV_CKPT_INIT, .e = COV_ERR_INIT};
    cov_rng_init(&m.rng, seed);
    make_network(&m, &networks[kind->network]);
    if (!m.rc && kind->change)
        kind->change(&m);
    if (!m.rc && kind->log_coverage != 0)
        constant_output(&m, kind->log_coverage);
    rc = m.rc ? cov_fail(e, m.rc, "%s", m.e.text) : cov_ckpt_write(path, &m.c, e);
    cov_ckpt_fini(&m.c);
    return rc;
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: make_ckpt KIND OUT [SEED]\nKIND:");
    for (size_t i = 0; i < COV_COUNT(kinds); i++)
        (void)fprintf(stderr, " %s", kinds[i].name);
    (void)fprintf(stderr, "\n");
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4)
        return usage();
    char *end = NULL;
    errno = 0;
    uint64_t seed = argc == 4 ? strtoull(argv[3], &end, 10) : 1;
    if (errno || (end && (end == argv[3] || *end)))
        return usage();
    for (size_t i = 0; i < COV_COUNT(kinds); i++) {
        struct cov_err e = COV_ERR_INIT;
        if (strcmp(kinds[i].name, argv[1]) != 0)
            continue;
        if (make(&kinds[i], argv[2], seed, &e) == 0)
            return 0;
        (void)fprintf(stderr, "make_ckpt: error: %s\n", e.text);
        return 1;
    }
    return usage();
}
