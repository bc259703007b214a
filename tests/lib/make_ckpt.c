/* make_ckpt.c - small valid and broken checkpoints, for tests: make_ckpt KIND OUT [SEED].
 *
 * KIND is cnn, hybrid or bi-hybrid for a network of that type with random weights; counting for a
 * bi-hybrid network whose LSTMs count; or another name in the table `kinds`, usually that of a
 * fault.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/ckpt/ckpt.h"
#include "common/ckpt/zip.h"
#include "tests/lib/put_ckpt.h"

/* Predmoter's hyperparameters. */
struct network {
    const char *type;
    int layers, filters, kernel, step, up, lstm_layers, hidden;
    bool bnorm;
    double dropout;
    int n_datasets;
};

static const struct network networks[] = {
    {"cnn", 2, 8, 9, 2, 2, 1, 16, false, 0.0, 1},
    {"hybrid", 2, 8, 9, 3, 1, 2, 12, true, 0.0, 1},
    {"bi-hybrid", 3, 4, 6, 2, 2, 2, 8, true, 0.2, 2},
};

struct maker {
    struct cov_ckpt c;
    struct cov_rng rng;
    struct cov_err e;
    int rc; /* the first failure */
};

/* A tensor of values uniform in (low, high). */
static void add_uniform(struct maker *m, const char *name, int n_dims, const int64_t *shape,
                        double low, double high)
{
    struct cov_torch_tensor *t;
    if (!m->rc)
        m->rc = cov_ckpt_add_tensor(&m->c, name, COV_TORCH_FLOAT32, n_dims, shape, &t, &m->e);
    for (size_t i = 0; !m->rc && i < t->n_elems; i++)
        t->f32[i] = (float)(low + (high - low) * cov_rng_double(&m->rng));
}

/* Weight [shape] and bias [n_bias], distributed as in PyTorch. */
static void add_layer(struct maker *m, const char *layer, int n_dims, const int64_t *shape,
                      int64_t n_bias, int64_t fan_in)
{
    char name[100];
    double bound = 1 / sqrt((double)fan_in);
    (void)snprintf(name, sizeof name, "%s.weight", layer);
    add_uniform(m, name, n_dims, shape, -bound, bound);
    (void)snprintf(name, sizeof name, "%s.bias", layer);
    add_uniform(m, name, 1, &n_bias, -bound, bound);
}

/* A trained BatchNorm1d. */
static void add_norm(struct maker *m, const char *list, int k, int64_t n)
{
    static const struct {
        const char *name;
        double low, high;
    } parts[] = {
        {"weight", 0.5, 1.5},
        {"bias", -0.5, 0.5},
        {"running_mean", 0, 0.5},
        {"running_var", 0.5, 2},
    };
    char name[100];
    for (size_t i = 0; i < COV_COUNT(parts); i++) {
        (void)snprintf(name, sizeof name, "%s.%d.%s", list, k, parts[i].name);
        add_uniform(m, name, 1, &n, parts[i].low, parts[i].high);
    }
    struct cov_torch_tensor *t;
    (void)snprintf(name, sizeof name, "%s.%d.num_batches_tracked", list, k);
    if (!m->rc)
        m->rc = cov_ckpt_add_tensor(&m->c, name, COV_TORCH_INT64, 0, NULL, &t, &m->e);
    if (!m->rc)
        t->i64[0] = 100;
}

static void add_lstm(struct maker *m, int k, int64_t n_in, int64_t hidden, const char *suffix)
{
    const int64_t gates = 4 * hidden;
    const struct {
        const char *name;
        int n_dims;
        int64_t shape[2];
    } parts[] = {
        {"weight_ih", 2, {gates, n_in}},
        {"weight_hh", 2, {gates, hidden}},
        {"bias_ih", 1, {gates}},
        {"bias_hh", 1, {gates}},
    };
    double bound = 1 / sqrt((double)hidden);
    char name[100];
    for (size_t i = 0; i < COV_COUNT(parts); i++) {
        (void)snprintf(name, sizeof name, "lstm_layer_list.%d.%s_l0%s", k, parts[i].name, suffix);
        add_uniform(m, name, parts[i].n_dims, parts[i].shape, -bound, bound);
    }
}

/* Returns the input channels of layer i; for i = layers, the output channels of the last layer. */
static int64_t channels(const struct network *n, int i)
{
    int64_t c = i == 0 ? 4 : n->filters;
    for (int k = 1; k < i; k++)
        c *= n->up;
    return c;
}

static void add_weights(struct maker *m, const struct network *n)
{
    const int per_layer = n->bnorm ? 2 : 1;
    char layer[50];
    for (int i = 0; i < n->layers; i++) {
        int64_t shape[3] = {channels(n, i + 1), channels(n, i), n->kernel};
        (void)snprintf(layer, sizeof layer, "down_layer_list.%d", i * per_layer);
        add_layer(m, layer, 3, shape, shape[0], shape[1] * shape[2]);
        if (n->bnorm)
            add_norm(m, "down_layer_list", i * per_layer + 1, shape[0]);
    }
    const bool both = strcmp(n->type, "bi-hybrid") == 0;
    int64_t n_in = channels(n, n->layers);
    for (int i = 0; i < n->lstm_layers && strcmp(n->type, "cnn") != 0; i++) {
        int k = n->dropout > 0 ? 2 * i : i;
        add_lstm(m, k, n_in, n->hidden, "");
        if (both)
            add_lstm(m, k, n_in, n->hidden, "_reverse");
        n_in = both ? 2 * n->hidden : n->hidden;
    }
    for (int i = n->layers - 1, k = 0; i >= 0; i--, k += per_layer) {
        int64_t shape[3] = {n_in, channels(n, i), n->kernel};
        (void)snprintf(layer, sizeof layer, "up_layer_list.%d", k);
        add_layer(m, layer, 3, shape, shape[1], shape[1] * shape[2]);
        if (n->bnorm)
            add_norm(m, "up_layer_list", k + 1, shape[1]);
        n_in = shape[1];
    }
    /* A much wider range than PyTorch's, so that rounded outputs differ. */
    const int64_t shape[2] = {n->n_datasets, n_in}, n_bias = n->n_datasets;
    add_uniform(m, "out.weight", 2, shape, -10, 10);
    add_uniform(m, "out.bias", 1, &n_bias, 1, 2);
}

static void add_int(struct maker *m, const char *name, int64_t value)
{
    if (!m->rc)
        m->rc = cov_ckpt_add_int(&m->c, name, value, &m->e);
}

static void add_hparams(struct maker *m, const struct network *n)
{
    static const char *const datasets[] = {"atacseq", "h3k4me3"};
    m->rc = cov_ckpt_set_version(&m->c, "2.0.2", &m->e);
    if (!m->rc)
        m->rc = cov_ckpt_add_string(&m->c, "model_type", n->type, &m->e);
    add_int(m, "cnn_layers", n->layers);
    add_int(m, "filter_size", n->filters);
    add_int(m, "kernel_size", n->kernel);
    add_int(m, "step", n->step);
    add_int(m, "up", n->up);
    add_int(m, "dilation", 1);
    add_int(m, "lstm_layers", n->lstm_layers);
    add_int(m, "hidden_size", n->hidden);
    if (!m->rc)
        m->rc = cov_ckpt_add_bool(&m->c, "bnorm", n->bnorm, &m->e);
    if (!m->rc)
        m->rc = cov_ckpt_add_float(&m->c, "dropout", n->dropout, &m->e);
    if (!m->rc)
        m->rc = cov_ckpt_add_float(&m->c, "learning_rate", 0.001, &m->e);
    add_int(m, "seq_len", 21384);
    add_int(m, "input_size", 4);
    add_int(m, "output_size", n->n_datasets);
    if (!m->rc)
        m->rc = cov_ckpt_add_strings(&m->c, "datasets", datasets, (size_t)n->n_datasets, &m->e);
}

static void make_network(struct maker *m, const struct network *n)
{
    m->c.epoch = 4;
    m->c.global_step = 35;
    add_hparams(m, n);
    add_weights(m, n);
}

/* ---------------------------------------------------------------- broken ones */

static struct cov_torch_tensor *tensor(struct maker *m, const char *name)
{
    for (size_t i = 0; i < m->c.n_tensors; i++)
        if (strcmp(m->c.tensors[i].name, name) == 0)
            return &m->c.tensors[i];
    abort();
}

static struct cov_hparam *hparam(struct maker *m, const char *name)
{
    for (size_t i = 0; i < m->c.n_hparams; i++)
        if (strcmp(m->c.hparams[i].name, name) == 0)
            return &m->c.hparams[i];
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

static void missing_tensor(struct maker *m)
{
    struct cov_torch_tensor *t = tensor(m, "out.bias");
    cov_torch_tensor_fini(t);
    *t = m->c.tensors[--m->c.n_tensors];
}

static void extra_tensor(struct maker *m)
{
    const int64_t n = 3;
    add_uniform(m, "down_layer_list.9.bias", 1, &n, 0, 1);
}

/* 2^57 bytes in the shape, 128 in the storage. */
static void petabytes(struct maker *m)
{
    tensor(m, "out.weight")->shape[1] = (int64_t)1 << 55;
}

static void missing_hparam(struct maker *m)
{
    struct cov_hparam *h = hparam(m, "kernel_size");
    free(h->name);
    *h = m->c.hparams[--m->c.n_hparams];
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

static void unknown_type(struct maker *m)
{
    memcpy(hparam(m, "model_type")->string, "rnn", 4);
}

/* Writes an archive of the pickle and one storage, a single NaN. */
static int write_archive(const char *path, const struct cov_pickle_writer *w, struct cov_err *e)
{
    static const float storage = NAN;
    struct cov_zip_writer *zip;
    int rc = cov_zip_create(path, false, &zip, e);
    if (rc)
        return rc;
    rc = cov_zip_add(zip, "archive/data.pkl", w->data, w->n_bytes, e);
    if (!rc)
        rc = cov_zip_add(zip, "archive/data/0", &storage, sizeof storage, e);
    if (!rc)
        rc = cov_zip_add(zip, "archive/version", "3\n", 2, e);
    if (!rc)
        return cov_zip_finish(zip, e);
    cov_zip_abort(zip);
    return rc;
}

/* state_dict is the result of os.system("touch executed"). */
static void os_system(struct cov_pickle_writer *w)
{
    put_head(w);
    put_empty(w, "hyper_parameters");
    cov_pickle_text(w, "state_dict");
    cov_pickle_global(w, "os", "system");
    cov_pickle_begin_tuple(w);
    cov_pickle_text(w, "touch executed");
    cov_pickle_end_tuple(w);
    cov_pickle_call(w);
    cov_pickle_end_dict(w);
}

static void no_hparams(struct cov_pickle_writer *w)
{
    put_head(w);
    put_empty(w, "state_dict");
    cov_pickle_end_dict(w);
}

/* A bare state dict, as written by torch.save(model.state_dict()). */
static void bare_state(struct cov_pickle_writer *w)
{
    cov_pickle_begin(w);
    cov_pickle_begin_ordered_dict(w);
    cov_pickle_end_dict(w);
}

/* A NaN weight, which cov_ckpt_write refuses. */
static void nan_weight(struct cov_pickle_writer *w)
{
    static const struct tensor scalar = {
        .class_name = "FloatStorage", .n_declared = 1, .n_dims = 1, .shape = {1}, .stride = {1}};
    put_head(w);
    put_empty(w, "hyper_parameters");
    cov_pickle_text(w, "state_dict");
    cov_pickle_begin_dict(w);
    cov_pickle_text(w, "out.bias");
    put_tensor(w, &scalar);
    cov_pickle_end_dict(w);
    cov_pickle_end_dict(w);
}

/* Every other unit of the LSTMs keeps its cell state and adds a little at every step. */
static void counting(struct maker *m)
{
    const int hidden = networks[2].hidden;
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

/* `change` or `hparams` change a network; or `pickle` writes all of a pickle except its end. */
static const struct kind {
    const char *name;
    int network;
    void (*change)(struct maker *m);
    struct {
        const char *name;
        int64_t value;
    } hparams[2];
    void (*pickle)(struct cov_pickle_writer *w);
    float log_coverage; /* if not 0: the output at every position */
} kinds[] = {
    {.name = "cnn"},
    {.name = "hybrid", .network = 1},
    {.name = "bi-hybrid", .network = 2},
    {.name = "counting", .network = 2, .change = counting},
    {"wrong-shape", .change = wrong_shape},
    {"missing-tensor", .change = missing_tensor},
    {"extra-tensor", .change = extra_tensor},
    {"petabytes", .change = petabytes},
    {"petabytes-hparams", .hparams = {{"filter_size", (int64_t)1 << 40}, {"up", (int64_t)1 << 20}}},
    {"huge-layers", .hparams = {{"cnn_layers", INT64_MAX}}},
    {"missing-hparam", .change = missing_hparam},
    {"unknown-type", .change = unknown_type},
    {"even-kernel", .hparams = {{"kernel_size", 8}, {"step", 1}}},
    {"zero-step", .hparams = {{"step", 0}}},
    {"negative-kernel", .hparams = {{"kernel_size", -9}}},
    {"os-system", .pickle = os_system},
    {"no-hparams", .pickle = no_hparams},
    {"bare-state", .pickle = bare_state},
    {"nan", .pickle = nan_weight},
    /* Valid, but the outputs exceed the range of 16, 32 and 64 bits, and of a float. */
    {"exp-20", .log_coverage = 20},
    {"exp-25", .log_coverage = 25},
    {"exp-50", .log_coverage = 50},
    {"exp-100", .log_coverage = 100},
};

static int make(const struct kind *kind, const char *path, uint64_t seed, struct cov_err *e)
{
    int rc;
    if (kind->pickle) {
        struct cov_pickle_writer w = COV_PICKLE_WRITER_INIT;
        kind->pickle(&w);
        rc = cov_pickle_stop(&w, e);
        if (!rc)
            rc = write_archive(path, &w, e);
        free(w.data);
        return rc;
    }
    struct maker m = {.c = COV_CKPT_INIT, .e = COV_ERR_INIT};
    cov_rng_init(&m.rng, seed);
    make_network(&m, &networks[kind->network]);
    if (!m.rc && kind->change)
        kind->change(&m);
    for (size_t i = 0; !m.rc && i < COV_COUNT(kind->hparams) && kind->hparams[i].name; i++)
        hparam(&m, kind->hparams[i].name)->integer = kind->hparams[i].value;
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
