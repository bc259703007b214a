/* device_cpu.c - the CPU as a device (device.h). README.md lists the work that is skipped, and the
 * files that skip it.
 *
 * A worker runs its sequences through the whole network in its own arena: convolutions one sequence
 * at a time, so that activations stay in its caches; LSTM layers with up to COV_LSTM_ROWS sequences
 * side by side, with similar padding, so that they can skip the same steps. Larger batches need no
 * more memory.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/compute/cpu/cpu_program.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/layers/blas.h"
#include "common/compute/cpu/layers/ref.h"
#include "common/compute/cpu/train/training.h"
#include "common/seq/alphabet.h"

enum { LINE = 16 }; /* floats of a cache line */

/* ---- making ---- */

/* Keeps a copy of the weights for the reference, which reads them in PyTorch's layouts. */
static int copy_weights(struct cov_cpu_program *p, size_t i, const struct cov_layer_weights *w,
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

static enum cov_arithmetic arithmetic_of(const struct cov_cpu_program *p, size_t i)
{
    return cov_cpu_arithmetic_of(&p->dev->arithmetic, &p->layers[i], i + 2 == p->n_layers);
}

static int pack_layer(struct cov_cpu_program *p, size_t i, const struct cov_layer_weights *w,
                      struct cov_err *e)
{
    const struct cov_layer *l = &p->layers[i];
    const struct cov_cpu_kernels *plain = &p->dev->kernels;
    const struct cov_cpu_arithmetic *a = &p->dev->arithmetic;
    if (p->dev->reference)
        return copy_weights(p, i, w, e);
    if (l->kind == COV_LAYER_LSTM)
        return cov_lstm_new(l, w, cov_cpu_lstm_gemm(a, l), cov_cpu_lstm_vec(a, l),
                            cov_cpu_lstm_rest(a), &p->lstm[i], e);
    struct cov_cpu_kernels kernels = cov_cpu_conv_kernels(a, l, arithmetic_of(p, i), plain);
    return cov_conv_new(l, w, &kernels, &p->fast[i], e);
}

/* The memory is not initialised: the worker must touch it first. */
static int make_arenas(struct cov_cpu_program *p, struct cov_err *e)
{
    size_t rows = 0, scratch = 0, onehot = p->layers[0].t_in * 4;
    size_t lstm = p->dev->reference ? 0 : p->n_rows * cov_cpu_lstm_floats(p->layers, p->n_layers);
    for (size_t i = 0; i < p->n_layers; i++) {
        const struct cov_layer *l = &p->layers[i];
        if (l->kind != COV_LAYER_LSTM || p->dev->reference)
            rows = cov_size_max(rows, l->t_out * l->c_out);
        size_t need = p->dev->reference ? 12 * l->hidden
                      : p->lstm[i]      ? cov_lstm_scratch(p->lstm[i])
                                        : cov_conv_scratch(p->fast[i]);
        scratch = cov_size_max(scratch, need);
        if (p->lstm[i])
            scratch = cov_size_max(scratch, cov_cpu_edits_scratch(p->lstm[i]));
    }
    /* Every part starts on a cache line. */
    onehot = (onehot + LINE - 1) / LINE * LINE;
    rows = (rows + LINE - 1) / LINE * LINE;
    lstm = (lstm + LINE - 1) / LINE * LINE;
    const size_t total = onehot + 2 * rows + 2 * lstm + scratch;
    for (unsigned i = 0; i < p->n_workers; i++) {
        struct cov_cpu_arena *a = &p->arenas[i];
        /* Large pages, as rows of a sequence are far apart in the LSTMs' part. */
        a->memory = cov_malloc_huge(total, sizeof *a->memory, e);
        a->plans = cov_calloc(p->n_rows * (p->n_layers + 1), sizeof *a->plans, e);
        a->work = cov_calloc(p->n_rows, sizeof *a->work, e);
        if (!a->memory || !a->plans || !a->work ||
            cov_chunk_order_init(&a->order, p->layers[0].t_in, p->layers[p->n_layers - 1].c_out,
                                 p->max_batch, e))
            return COV_ENOMEM;
        a->onehot = a->memory;
        a->rows[0] = a->onehot + onehot;
        a->rows[1] = a->rows[0] + rows;
        a->lstm[0] = a->rows[1] + rows;
        a->lstm[1] = a->lstm[0] + lstm;
        a->scratch = a->lstm[1] + lstm;
    }
    return COV_OK;
}

static void program_free(struct cov_program *base)
{
    struct cov_cpu_program *p = (struct cov_cpu_program *)base;
    for (size_t i = 0; i < p->n_layers; i++) {
        if (p->fast)
            cov_conv_free(p->fast[i]);
        if (p->lstm)
            cov_lstm_free(p->lstm[i]);
        if (p->weight_memory)
            free(p->weight_memory[i]);
    }
    for (unsigned i = 0; p->arenas && i < p->n_workers; i++) {
        free(p->arenas[i].memory);
        free(p->arenas[i].plans);
        free(p->arenas[i].work);
        cov_chunk_order_fini(&p->arenas[i].order);
        cov_cpu_edits_free(p->arenas[i].edits);
    }
    free(p->padding.memory);
    free(p->padding.plans);
    free(p->padding.layers);
    (void)pthread_mutex_destroy(&p->padding.lock);
    free(p->fast);
    free(p->lstm);
    free(p->weight_memory);
    free(p->weights);
    free(p->arenas);
    free(p->layers);
    free(p);
}

/* ---- running ---- */

/* Reserves the next `n` floats of *at, in whole cache lines. */
static float *take(float **at, size_t n)
{
    float *taken = *at;
    *at += (n + LINE - 1) / LINE * LINE;
    return taken;
}

/* Plans the rows of the padding and lays out its memory: the input of the LSTM layers, then the
 * output of each one and the cells of its backward direction. */
static int place_padding(const struct cov_cpu_program *p, struct cov_cpu_padding *of, float **input,
                         struct cov_err *e)
{
    const struct cov_layer *layers = p->layers, *first = &layers[p->lstm_beg];
    size_t T = first->t_in, n_floats = T * first->c_in + LINE;
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++)
        n_floats += T * (layers[i].c_out + layers[i].hidden) + 2 * LINE;
    of->memory = cov_calloc64(n_floats, sizeof *of->memory, e);
    of->plans = of->memory ? cov_calloc(p->n_layers + 1, sizeof *of->plans, e) : NULL;
    of->layers = of->plans ? cov_calloc(p->n_layers, sizeof *of->layers, e) : NULL;
    if (!of->layers)
        return COV_ENOMEM;
    cov_plan_padding(layers, p->n_layers, of->plans);
    float *at = of->memory;
    const float *x = *input = take(&at, T * first->c_in);
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++) {
        struct cov_lstm_padding *to = &of->layers[i];
        to->x = x;
        to->input = i == p->lstm_beg ? &of->plans[i] : NULL;
        to->last = i + 1 == p->lstm_end;
        x = to->y = take(&at, T * layers[i].c_out);
        to->cells = layers[i].directions == 2 ? take(&at, T * layers[i].hidden) : NULL;
    }
    return COV_OK;
}

static int make_padding(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                        struct cov_cpu_padding *of, struct cov_err *e)
{
    uint8_t *codes = cov_calloc(p->layers[0].t_in, sizeof *codes, e); /* COV_CODE_PAD */
    float *x;
    int rc = codes ? place_padding(p, of, &x, e) : COV_ENOMEM;
    if (rc == COV_OK) {
        const struct cov_layer_io io = {.y = x, .y_stride = p->layers[p->lstm_beg].c_in};
        (void)cov_cpu_run_rows(p, a, of->plans, (struct cov_rows){0, p->lstm_beg}, codes, &io);
        cov_lstm_settle(p->lstm[p->lstm_beg], x, &of->plans[p->lstm_beg]);
        for (size_t i = p->lstm_beg; i < p->lstm_end; i++)
            cov_lstm_run_padding(p->lstm[i], &of->layers[i], a->scratch);
    }
    free(codes);
    return rc;
}

/* Computes the padding once one of these n chunks is the first that needs it. Sets *out to its
 * layers, [n_layers], or to NULL if none of these chunks needs it or it could not be computed. */
static int get_padding(struct cov_cpu_program *p, struct cov_cpu_arena *a, size_t n,
                       const struct cov_ordered_chunk *chunks, const struct cov_lstm_padding **out,
                       struct cov_err *e)
{
    struct cov_cpu_padding *of = &p->padding;
    bool wanted = false;
    int rc = COV_OK;
    *out = NULL;
    if (p->full || p->lstm_beg == p->lstm_end || p->layers[p->lstm_beg].directions != 2)
        return COV_OK; /* without a backward direction, an LSTM ends with the last base */
    for (size_t b = 0; b < n; b++)
        wanted = wanted || cov_cpu_has_much_padding(p, chunks[b].filled);
    if (!wanted)
        return COV_OK;
    (void)pthread_mutex_lock(&of->lock);
    if (!of->made)
        rc = make_padding(p, a, of, e);
    of->made = true; /* also after a failure, which leaves no layers */
    *out = of->layers;
    (void)pthread_mutex_unlock(&of->lock);
    return rc;
}

/* Runs the LSTM layers on n chunks, whose input is a->lstm[0]. Returns the address of the
 * output. */
static const float *run_lstms(const struct cov_cpu_program *p, struct cov_cpu_arena *a, size_t n,
                              const struct cov_ordered_chunk *chunks,
                              const struct cov_lstm_padding *padding)
{
    const float *x = a->lstm[0];
    struct cov_lstm_task tasks[COV_LSTM_ROWS];
    for (size_t i = p->lstm_beg; i < p->lstm_end; i++) {
        const struct cov_layer *l = &p->layers[i];
        for (size_t b = 0; b < n; b++) {
            const struct cov_row_plan *plan = a->plans + b * (p->n_layers + 1) + i;
            size_t padded = i > p->lstm_beg ? tasks[b].y_padded : l->t_in;
            if (i == p->lstm_beg && padding && cov_cpu_has_much_padding(p, chunks[b].filled))
                padded = cov_lstm_padded_from(p->lstm[i], &padding[i], plan, x + b * l->c_in,
                                              n * l->c_in);
            tasks[b] =
                (struct cov_lstm_task){.input = i == p->lstm_beg ? plan : NULL, .x_padded = padded};
            if (plan[1].n_ranges > 0)
                tasks[b].rows = plan[1].ranges[0];
        }
        float *y = a->lstm[(i - p->lstm_beg + 1) % 2];
        cov_lstm_run(
            p->lstm[i],
            &(struct cov_lstm_batch){n, tasks, p->full, padding ? &padding[i] : NULL, x, y},
            a->scratch);
        for (size_t b = 0; b < n; b++)
            a->work[b] +=
                cov_plan_work_of_lstm(&p->layers[i], tasks[b].x_products, tasks[b].h_products);
        x = y;
    }
    return x;
}

/* Runs n <= n_rows chunks of a call. */
static int forward_block(struct cov_cpu_program *p, struct cov_cpu_arena *a, size_t n,
                         const struct cov_ordered_chunk *chunks, const uint8_t *codes, float *out,
                         struct cov_err *e)
{
    size_t length = p->layers[0].t_in, last = p->n_layers - 1, n_plans = p->n_layers + 1;
    size_t row = length * p->layers[last].c_out, depth = p->layers[last].c_out;
    bool lstm = p->lstm_beg < p->lstm_end;
    size_t c = lstm ? p->layers[p->lstm_beg].c_in : 0;
    const struct cov_lstm_padding *padding;
    int rc = get_padding(p, a, n, chunks, &padding, e);
    if (rc)
        return rc;
    for (size_t b = 0; b < n; b++) {
        struct cov_row_plan *plans = a->plans + b * n_plans;
        const uint8_t *in = codes + chunks[b].index * length;
        if (p->full)
            cov_plan_full(p->layers, p->n_layers, plans);
        else
            cov_plan(p->layers, p->n_layers, in, plans);
        float *y = lstm ? a->lstm[0] + b * c : out + chunks[b].index * row;
        const struct cov_layer_io io = {
            .y = y,
            .y_stride = lstm ? n * c : depth,
        };
        a->work[b] = cov_cpu_run_rows(
            p, a, plans, (struct cov_rows){0, lstm ? p->lstm_beg : p->n_layers}, in, &io);
    }
    if (lstm) {
        const float *x = run_lstms(p, a, n, chunks, padding);
        c = p->layers[p->lstm_end - 1].c_out;
        for (size_t b = 0; b < n; b++) {
            float *y = out + chunks[b].index * row;
            const struct cov_layer_io io = {x + b * c, n * c, y, depth};
            a->work[b] += cov_cpu_run_rows(p, a, a->plans + b * n_plans,
                                           (struct cov_rows){p->lstm_end, p->n_layers}, NULL, &io);
        }
    }
    for (size_t b = 0; b < n; b++)
        cov_cpu_count_work(p, a, a->work[b]);
    return COV_OK;
}

static void forward_reference(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                              const uint8_t *codes, float *out)
{
    cov_plan_full(p->layers, p->n_layers, a->plans);
    cov_cpu_one_hot(a->plans, codes, a->onehot);
    const float *x = a->onehot;
    for (size_t i = 0; i < p->n_layers; i++) {
        float *y = i + 1 == p->n_layers ? out : a->rows[i % 2];
        cov_ref_layer(&p->layers[i], &p->weights[i], arithmetic_of(p, i), x, y,
                      (double *)(void *)a->scratch);
        x = y;
    }
}

static int forward_sorted(struct cov_cpu_program *p, struct cov_cpu_arena *a, size_t n,
                          const uint8_t *codes, float *out, struct cov_err *e)
{
    struct cov_chunk_order *o = &a->order;
    o->full = p->full;
    cov_chunk_order_begin(o, n, codes, out);
    int rc = COV_OK;
    for (size_t i = 0; rc == COV_OK && i < o->n_todo; i += p->n_rows)
        rc = forward_block(p, a, o->n_todo - i < p->n_rows ? o->n_todo - i : p->n_rows, o->todo + i,
                           codes, out, e);
    if (rc == COV_OK)
        cov_chunk_order_end(o, out);
    return rc;
}

static int forward(struct cov_program *base, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e)
{
    struct cov_cpu_program *p = (struct cov_cpu_program *)base;
    struct cov_cpu_arena *a = &p->arenas[worker];
    size_t length = p->layers[0].t_in, depth = p->layers[p->n_layers - 1].c_out;
    int rc = COV_OK;
    if (p->dev->reference) {
        for (size_t b = 0; b < n; b++)
            forward_reference(p, a, codes + b * length, out + b * length * depth);
        a->counts.positions_computed += n * length;
    } else {
        rc = forward_sorted(p, a, n, codes, out, e);
    }
    for (size_t i = 0; rc == COV_OK && i < n * length; i++)
        if (codes[i] == COV_CODE_PAD)
            for (size_t d = 0; d < depth; d++)
                out[i * depth + d] = COV_PAD_VALUE;
    return rc;
}

static void counts(const struct cov_program *base, struct cov_forward_counts *out)
{
    const struct cov_cpu_program *p = (const struct cov_cpu_program *)base;
    *out = (struct cov_forward_counts){0};
    for (unsigned i = 0; i < p->n_workers; i++) {
        const struct cov_forward_counts *of = &p->arenas[i].counts;
        out->positions_computed += of->positions_computed;
        out->positions_at_rest += of->positions_at_rest;
        out->chunks_repeated += p->arenas[i].order.n_repeated;
    }
}

static void compute_all(struct cov_program *p)
{
    ((struct cov_cpu_program *)p)->full = true;
}

static int program_new(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e)
{
    static const struct cov_program_ops ops = {forward, compute_all, counts, program_free};
    const struct cov_layer *layers = spec->layers;
    size_t n_layers = spec->n_layers, max_batch = spec->max_batch;
    struct cov_cpu_program *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    (void)pthread_mutex_init(&p->padding.lock, NULL);
    p->base.ops = &ops;
    p->dev = (const struct cov_cpu_device *)dev;
    p->n_layers = n_layers;
    p->n_workers = spec->n_workers;
    p->max_batch = max_batch;
    p->n_rows = cov_cpu_lstm_rows(&p->dev->arithmetic);
    p->n_rows = max_batch < p->n_rows ? max_batch : p->n_rows;
    p->layers = cov_calloc(n_layers, sizeof *p->layers, e);
    p->fast = cov_calloc(n_layers, sizeof(struct cov_conv *), e);
    p->lstm = cov_calloc(n_layers, sizeof(struct cov_lstm *), e);
    p->weights = cov_calloc(n_layers, sizeof *p->weights, e);
    p->weight_memory = cov_calloc(n_layers, sizeof *p->weight_memory, e);
    p->arenas = cov_calloc(spec->n_workers, sizeof *p->arenas, e);
    int rc = p->layers && p->fast && p->lstm && p->weights && p->weight_memory && p->arenas
                 ? COV_OK
                 : COV_ENOMEM;
    if (rc == COV_OK) {
        memcpy(p->layers, layers, n_layers * sizeof *layers);
        while (p->lstm_beg < n_layers && layers[p->lstm_beg].kind != COV_LAYER_LSTM)
            p->lstm_beg++;
        p->lstm_end = p->lstm_beg;
        while (p->lstm_end < n_layers && layers[p->lstm_end].kind == COV_LAYER_LSTM)
            p->lstm_end++;
        for (size_t i = p->lstm_end; i < n_layers; i++)
            if (layers[i].kind == COV_LAYER_LSTM)
                rc = cov_fail(e, COV_EUNSUPPORTED, "LSTM layers are not consecutive");
        if (p->lstm_beg < n_layers && (p->lstm_beg == 0 || p->lstm_end == n_layers))
            rc = cov_fail(e, COV_EUNSUPPORTED, "no layer before or after the LSTM layers");
    }
    for (size_t i = 0; rc == COV_OK && i < n_layers; i++) {
        const struct cov_layer *l = &p->layers[i];
        size_t rows = l->t_out * l->directions;
        p->full_work += l->kind == COV_LAYER_LSTM ? cov_plan_work_of_lstm(l, rows, rows)
                                                  : (double)l->t_out * cov_plan_work_of_row(l);
        rc = pack_layer(p, i, &spec->weights[i], e);
    }
    if (rc == COV_OK)
        rc = make_arenas(p, e);
    if (rc) {
        program_free(&p->base);
        return rc;
    }
    if (cov_cpu_can_edit(p))
        p->base.forward_edited = cov_cpu_forward_edited;
    *out = &p->base;
    return COV_OK;
}

/* ---- training ---- */

static int training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                        struct cov_training **out, struct cov_err *e)
{
    const struct cov_cpu_device *cpu = (const struct cov_cpu_device *)dev;
    if (cpu->reference)
        return cov_fail(
            e, COV_EUNSUPPORTED,
            "--cpu scalar: only predicts; training and gradients need base or a higher level");
    return cov_cpu_training_new(&cpu->kernels, &cpu->arithmetic, spec, out, e);
}

/* ---- the device ---- */

static void close_device(struct cov_device *dev)
{
    free(dev);
}

static const char *describe(const struct cov_device *dev)
{
    return ((const struct cov_cpu_device *)dev)->description;
}

static const char *precision(const struct cov_device *dev)
{
    return cov_precision_name(((const struct cov_cpu_device *)dev)->arithmetic.precision);
}

/* Without advice, there are COV_LSTM_FEW_ROWS chunks per call. */
static void advise(const struct cov_device *dev, struct cov_device_advice *out)
{
    enum { BASES = 1 << 20 };
    size_t rows = cov_cpu_lstm_rows(&((const struct cov_cpu_device *)dev)->arithmetic);
    if (rows > COV_LSTM_FEW_ROWS)
        *out = (struct cov_device_advice){.batch = rows, .batch_bases = BASES};
}

/* "<CPU>, AVX-512, bf16 on AMX". */
static void make_description(struct cov_cpu_device *dev)
{
    char cpu[128], in[64] = "";
    const struct cov_cpu_arithmetic *a = &dev->arithmetic;
    cov_cpu_describe(cpu, sizeof cpu);
    if (a->precision != COV_PRECISION_FP32)
        (void)snprintf(in, sizeof in, ", %s%s%s", cov_precision_name(a->precision),
                       dev->reference ? "" : " on ", dev->reference ? "" : a->lstm_gemm->name);
    (void)snprintf(
        dev->description, sizeof dev->description, "%.*s, %s%s%s%s", (int)strcspn(cpu, ":"), cpu,
        dev->reference ? "scalar reference" : dev->kernels.gemm->name,
        dev->kernels.openblas ? ", " : "", dev->kernels.openblas ? cov_blas_describe() : "", in);
}

int cov_device_open_cpu(const struct cov_cpu_options *options, struct cov_device **out,
                        struct cov_err *e)
{
    static const struct cov_device_ops ops = {
        .name = "cpu",
        .close = close_device,
        .describe = describe,
        .precision = precision,
        .advise = advise,
        .program_new = program_new,
        .training_new = training_new,
    };
    static const struct cov_cpu_options none = {0};
    struct cov_cpu_choice cpu;
    if (!options)
        options = &none;
    int rc = cov_cpu_level_choose(options->levels, &cpu, e);
    if (rc)
        return rc;
    struct cov_cpu_device *dev = cov_calloc(1, sizeof *dev, e);
    if (!dev)
        return COV_ENOMEM;
    dev->reference = cpu.level == COV_LEVEL_SCALAR;
    dev->base.ops = &ops;
    dev->kernels.vec = cov_vec_choose(cpu.features);
    dev->kernels.gemm = cov_gemm_choose(cpu.features, COV_FP32, 0, 0);
    /* Without kernels for this CPU, OpenBLAS is faster, if it is installed. */
    dev->kernels.openblas = !options->levels && cpu.level == COV_LEVEL_BASE && cov_blas_load();
    dev->kernels.minimal = cov_toom_cook_choose(cpu.features);
    cov_cpu_arithmetic_choose(options->precision, &cpu, options->edits, &dev->arithmetic);
    if (dev->arithmetic.why)
        cov_info("%s instead of %s: %s", cov_precision_name(dev->arithmetic.precision),
                 cov_precision_name(options->precision), dev->arithmetic.why);
    make_description(dev);
    *out = &dev->base;
    return COV_OK;
}

const char *cov_precision_name(enum cov_precision precision)
{
    static const char *const names[] = {"exact", "fp32", "bf16x3", "balanced", "bf16", "tf32"};
    return names[precision];
}

void cov_device_close(struct cov_device *dev)
{
    if (dev)
        dev->ops->close(dev);
}
