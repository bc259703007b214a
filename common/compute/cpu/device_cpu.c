/* device_cpu.c - the CPU as a device (device.h).
 *
 * A worker runs its sequences through the whole network by itself, in an arena of its own: the
 * convolutions sequence by sequence, so that activations stay in its caches, the LSTM layers with up
 * to COV_LSTM_ROWS sequences side by side. Beyond that, memory does not grow with the batch.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/compute/cpu/blas.h"
#include "common/compute/cpu/fast.h"
#include "common/compute/cpu/ref.h"
#include "common/compute/device.h"
#include "common/seq/alphabet.h"

enum { LINE = 16 }; /* floats of a cache line */

struct cpu_device {
    struct cov_device base;
    bool reference; /* the scalar reference instead of `kernels` */
    struct cov_cpu_kernels kernels;
    char description[256];
};

/* The scratch of a worker, one allocation. */
struct arena {
    float *memory;
    float *onehot;  /* [L, 4] */
    float *rows[2]; /* activations of one sequence, in turn */
    float *lstm[2]; /* [T, n, C], in turn */
    float *scratch;
};

struct cov_program {
    const struct cpu_device *dev;
    struct cov_layer *layers;
    size_t n_layers, lstm_beg, lstm_end; /* layers [lstm_beg, lstm_end) are LSTMs */
    size_t n_rows;                       /* sequences side by side, at most COV_LSTM_ROWS */
    struct cov_fast_layer **fast;        /* [n_layers]; NULL with the reference */
    struct cov_layer_weights *weights;   /* [n_layers], of the reference */
    float **weight_memory;               /* [n_layers] */
    struct arena *arenas;
    unsigned n_workers;
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- making ---- */

/* The reference reads weights as PyTorch has them: keep a copy. */
static int copy_weights(struct cov_program *p, size_t i, const struct cov_layer_weights *w,
                        struct cov_err *e)
{
    size_t sizes[COV_REF_N_WEIGHTS];
    const float *from[COV_REF_N_WEIGHTS];
    const float **to[COV_REF_N_WEIGHTS];
    size_t total = cov_ref_weight_sizes(&p->layers[i], sizes);
    cov_ref_weight_list(w, from);
    cov_ref_weight_places(&p->weights[i], to);
    float *at = cov_malloc(total, sizeof *at, e);
    if (!at)
        return COV_ENOMEM;
    p->weight_memory[i] = at;
    for (size_t k = 0; k < COV_REF_N_WEIGHTS; k++) {
        if (!sizes[k])
            continue;
        memcpy(at, from[k], sizes[k] * sizeof *at);
        *to[k] = at;
        at += sizes[k];
    }
    return COV_OK;
}

/* Floats that an LSTM layer reads or writes for one sequence, whichever is more. */
static size_t lstm_floats(const struct cov_layer *layers, size_t n_layers)
{
    size_t most = 0;
    for (size_t i = 0; i < n_layers; i++)
        if (layers[i].kind == COV_LAYER_LSTM)
            most = max_size(most, layers[i].t_in * max_size(layers[i].c_in, layers[i].c_out));
    return most;
}

/* The memory is left as it comes, for the worker to touch first. */
static int make_arenas(struct cov_program *p, struct cov_err *e)
{
    size_t rows = 0, scratch = 0, onehot = p->layers[0].t_in * 4;
    size_t lstm = p->dev->reference ? 0 : p->n_rows * lstm_floats(p->layers, p->n_layers);
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct cov_layer *l = &p->layers[i];
        if (l->kind != COV_LAYER_LSTM || p->dev->reference)
            rows = max_size(rows, l->t_out * l->c_out);
        size_t need = p->dev->reference ? 12 * l->hidden : cov_fast_layer_scratch(p->fast[i]);
        scratch = max_size(scratch, need);
    }
    /* Every part starts on a cache line, the first one too. */
    onehot = (onehot + LINE - 1) / LINE * LINE;
    rows = (rows + LINE - 1) / LINE * LINE;
    lstm = (lstm + LINE - 1) / LINE * LINE;
    size_t total = LINE + onehot + 2 * rows + 2 * lstm + scratch;
    for (unsigned i = 0; i < p->n_workers; i++) {
        struct arena *a = &p->arenas[i];
        a->memory = cov_malloc(total, sizeof(float), e);
        if (!a->memory)
            return COV_ENOMEM;
        size_t beyond = (uintptr_t)a->memory / sizeof(float) % LINE;
        a->onehot = a->memory + (LINE - beyond);
        a->rows[0] = a->onehot + onehot;
        a->rows[1] = a->rows[0] + rows;
        a->lstm[0] = a->rows[1] + rows;
        a->lstm[1] = a->lstm[0] + lstm;
        a->scratch = a->lstm[1] + lstm;
    }
    return COV_OK;
}

static void program_free(struct cov_program *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_layers; i++) {
        if (p->fast)
            cov_fast_layer_free(p->fast[i]);
        if (p->weight_memory)
            free(p->weight_memory[i]);
    }
    for (unsigned i = 0; p->arenas && i < p->n_workers; i++)
        free(p->arenas[i].memory);
    free(p->fast);
    free(p->weight_memory);
    free(p->weights);
    free(p->arenas);
    free(p->layers);
    free(p);
}

static int program_new(struct cov_device *dev, const struct cov_layer *layers,
                       const struct cov_layer_weights *weights, size_t n_layers, unsigned n_workers,
                       size_t max_batch, struct cov_program **out, struct cov_err *e)
{
    struct cov_program *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->dev = (const struct cpu_device *)dev;
    p->n_layers = n_layers;
    p->n_workers = n_workers;
    p->n_rows = max_batch < COV_LSTM_ROWS ? max_batch : COV_LSTM_ROWS;
    p->layers = cov_calloc(n_layers, sizeof *p->layers, e);
    p->fast = cov_calloc(n_layers, sizeof(struct cov_fast_layer *), e);
    p->weights = cov_calloc(n_layers, sizeof *p->weights, e);
    p->weight_memory = cov_calloc(n_layers, sizeof *p->weight_memory, e);
    p->arenas = cov_calloc(n_workers, sizeof *p->arenas, e);
    int rc =
        p->layers && p->fast && p->weights && p->weight_memory && p->arenas ? COV_OK : COV_ENOMEM;
    if (rc == COV_OK) {
        memcpy(p->layers, layers, n_layers * sizeof *layers);
        while (p->lstm_beg < n_layers && layers[p->lstm_beg].kind != COV_LAYER_LSTM)
            p->lstm_beg++;
        p->lstm_end = p->lstm_beg;
        while (p->lstm_end < n_layers && layers[p->lstm_end].kind == COV_LAYER_LSTM)
            p->lstm_end++;
        for (size_t i = p->lstm_end; i < n_layers; i++)
            if (layers[i].kind == COV_LAYER_LSTM)
                rc = cov_fail(e, COV_EUNSUPPORTED, "LSTM layers do not follow one another");
        if (p->lstm_beg < n_layers && (p->lstm_beg == 0 || p->lstm_end == n_layers))
            rc = cov_fail(e, COV_EUNSUPPORTED, "no layer before or behind the LSTM layers");
    }
    for (size_t i = 0; rc == COV_OK && i < n_layers; i++)
        rc = p->dev->reference
                 ? copy_weights(p, i, &weights[i], e)
                 : cov_fast_layer_new(&layers[i], &weights[i], &p->dev->kernels, &p->fast[i], e);
    if (rc == COV_OK)
        rc = make_arenas(p, e);
    if (rc) {
        program_free(p);
        return rc;
    }
    *out = p;
    return COV_OK;
}

/* ---- running ---- */

static void one_hot(const uint8_t *codes, size_t n, float *x)
{
    for (size_t t = 0; t < n; t++)
        memcpy(x + 4 * t, cov_onehot_f32[codes[t] & 15], 4 * sizeof *x);
}

/* Layers [beg, end) of one sequence; the last one writes to y with rows y_stride apart. */
static void run_rows(const struct cov_program *p, struct arena *a, size_t beg, size_t end,
                     const float *x, size_t x_stride, float *y, size_t y_stride)
{
    for (size_t i = beg; i < end; i++) {
        const struct cov_layer *l = &p->layers[i];
        float *to = i + 1 == end ? y : a->rows[i % 2];
        size_t to_stride = i + 1 == end ? y_stride : l->c_out;
        cov_fast_rows(p->fast[i], x, x_stride, to, to_stride, a->scratch);
        x = to;
        x_stride = to_stride;
    }
}

/* n <= n_rows sequences. */
static void forward_block(const struct cov_program *p, struct arena *a, size_t n,
                          const uint8_t *codes, float *out)
{
    size_t length = p->layers[0].t_in, last = p->n_layers - 1;
    size_t depth = p->layers[last].c_out;
    if (p->lstm_beg == p->lstm_end) {
        for (size_t b = 0; b < n; b++) {
            one_hot(codes + b * length, length, a->onehot);
            run_rows(p, a, 0, p->n_layers, a->onehot, 4, out + b * length * depth, depth);
        }
        return;
    }
    size_t c = p->layers[p->lstm_beg].c_in;
    for (size_t b = 0; b < n; b++) {
        one_hot(codes + b * length, length, a->onehot);
        run_rows(p, a, 0, p->lstm_beg, a->onehot, 4, a->lstm[0] + b * c, n * c);
    }
    const float *x = a->lstm[0];
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++) {
        float *y = a->lstm[(i - p->lstm_beg + 1) % 2];
        cov_fast_lstm(p->fast[i], n, x, y, a->scratch);
        x = y;
        c = p->layers[i].c_out;
    }
    for (size_t b = 0; b < n; b++)
        run_rows(p, a, p->lstm_end, p->n_layers, x + b * c, n * c, out + b * length * depth, depth);
}

static void forward_reference(const struct cov_program *p, struct arena *a, const uint8_t *codes,
                              float *out)
{
    one_hot(codes, p->layers[0].t_in, a->onehot);
    const float *x = a->onehot;
    for (size_t i = 0; i < p->n_layers; i++) {
        float *y = i + 1 == p->n_layers ? out : a->rows[i % 2];
        cov_ref_layer(&p->layers[i], &p->weights[i], x, y, (double *)(void *)a->scratch);
        x = y;
    }
}

static int forward(struct cov_program *p, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e)
{
    (void)e;
    struct arena *a = &p->arenas[worker];
    size_t length = p->layers[0].t_in, depth = p->layers[p->n_layers - 1].c_out;
    size_t step = p->dev->reference ? 1 : p->n_rows;
    for (size_t b = 0; b < n; b += step) {
        const uint8_t *in = codes + b * length;
        float *to = out + b * length * depth;
        if (p->dev->reference)
            forward_reference(p, a, in, to);
        else
            forward_block(p, a, n - b < step ? n - b : step, in, to);
    }
    for (size_t i = 0; i < n * length; i++)
        if (codes[i] == COV_CODE_PAD)
            for (size_t d = 0; d < depth; d++)
                out[i * depth + d] = COV_PAD_VALUE;
    return COV_OK;
}

/* ---- the device ---- */

static void close_device(struct cov_device *dev)
{
    free(dev);
}

static const char *describe(const struct cov_device *dev)
{
    return ((const struct cpu_device *)dev)->description;
}

int cov_device_open_cpu(const char *kernels, struct cov_device **out, struct cov_err *e)
{
    static const struct cov_device_ops ops = {
        .name = "cpu",
        .close = close_device,
        .describe = describe,
        .program_new = program_new,
        .forward = forward,
        .program_free = program_free,
    };
    bool reference = kernels && strcmp(kernels, "ref") == 0;
    bool openblas = kernels && strcmp(kernels, "openblas") == 0;
    bool direct = kernels && strcmp(kernels, "direct") == 0;
    if (kernels && !reference && !openblas && !direct)
        return cov_fail(e, COV_EUSAGE, "no CPU kernels are called '%s'", kernels);
    if (openblas && !cov_blas_load())
        return cov_fail(e, COV_EUNSUPPORTED, "OpenBLAS (libopenblas.so.0) cannot be loaded");
    struct cpu_device *dev = cov_calloc(1, sizeof *dev, e);
    if (!dev)
        return COV_ENOMEM;
    unsigned features = cov_cpu_features();
    dev->base.ops = &ops;
    dev->reference = reference;
    dev->kernels.vec = cov_vec_choose(features);
    dev->kernels.gemm = cov_gemm_choose(features);
    /* A CPU that we have no kernels for is better served by OpenBLAS, if it is there. */
    dev->kernels.openblas = openblas || (!reference && !direct &&
                                         dev->kernels.gemm == &cov_gemm_base && cov_blas_load());
    dev->kernels.minimal = direct ? NULL : cov_minimal_choose(features);
    char cpu[128];
    cov_cpu_describe(cpu, sizeof cpu);
    (void)snprintf(
        dev->description, sizeof dev->description, "%.*s, %s%s%s%s", (int)strcspn(cpu, ":"), cpu,
        reference ? "scalar reference" : dev->kernels.gemm->name, dev->kernels.openblas ? ", " : "",
        dev->kernels.openblas ? cov_blas_describe() : "", direct ? ", direct convolutions" : "");
    *out = &dev->base;
    return COV_OK;
}

void cov_device_close(struct cov_device *dev)
{
    if (dev)
        dev->ops->close(dev);
}
