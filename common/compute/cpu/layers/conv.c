/* conv.c - see conv.h.
 *
 * Both kinds of convolution are, for each phase of the outputs, a product of input rows with a
 * matrix of taps: output row first + i * step is the sum over taps of x[i * in_step + offset[tap]]
 * * B[tap]. A convolution has one phase, with (first, step) = (0, 1) and in_step = stride. A
 * transposed one has `stride` phases, each with (first, step) = (phase, stride), in_step = 1 and
 * the taps that reach this phase.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/conv.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/cpu/layers/blas.h"
#include "common/seq/alphabet.h"

enum {
    TILE_ROWS = 32, /* output rows of a product, so that sums stay in the cache until they are
                  * finished */
    ONE_HOT = 4,    /* channels of one-hot rows */
    MAX_SPAN = 64,  /* the longest span of taps of a layer that reads codes */
    MAX_TABLE = 64 * 1024, /* floats of that layer's table */
    MAX_JOINED = 16,       /* channels of joined rows */
    BLAS_ROWS =
        384, /* the same for OpenBLAS, which packs both sides: large enough that packing costs
              * little */
};

struct phase {
    size_t first, rows; /* outputs first, first + step, ...: `rows` of them */
    size_t n_taps;
    int64_t *offset; /* [n_taps], ascending */
    bool contiguous; /* taps are on consecutive rows */
    float *taps;     /* [n_taps * c_in, c_out]; freed after packing, unless OpenBLAS reads it */
    struct cov_matrix matrix;
};

struct cov_conv {
    struct cov_layer layer; /* if rows are joined, the convolution that computes them */
    size_t joined;          /* rows of y in a row of this layer's output */
    struct cov_cpu_kernels kernels;
    size_t n_phases, in_step;
    struct phase *phases;
    struct cov_toom_cook *minimal; /* instead of phases, if that is faster */
    float *bias, *scale, *shift;   /* [c_out] */
    struct cov_finish finish;      /* points to these */
    float *linear;                 /* [c_in, c_out] */
    float *table;                  /* [kernel, 16 codes, c_out] of a first layer; or NULL */
};

static size_t tile_rows(const struct cov_conv *f)
{
    return f->kernels.openblas ? BLAS_ROWS : TILE_ROWS;
}

/* dst[cols,rows] = transposed src[rows,cols]. */
static void transpose(const float *src, size_t rows, size_t cols, float *dst)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            dst[c * rows + r] = src[r * cols + c];
}

/* ---- joined rows ---- */

/* A transposed convolution to few channels leaves most columns of a product empty. So `joined` rows
 * of y are computed as one row of a convolution that has all their taps, with zeros for taps that
 * not all of them have. */
static size_t n_joined(const struct cov_layer *l)
{
    size_t periods = l->kind == COV_LAYER_CONV_TRANSPOSED ? MAX_JOINED / (l->stride * l->c_out) : 0;
    while (periods > 0 && (l->t_out % (periods * l->stride) > 0 || COV_PLAN_TILE % periods > 0))
        periods--;
    return periods * l->stride;
}

bool cov_conv_joins(const struct cov_layer *l)
{
    return n_joined(l) > 0;
}

/* Returns true if tap k of a transposed convolution contributes to row q of y, and sets *at to the row of
 * x. */
static bool has_tap(const struct cov_layer *l, size_t q, size_t k, int64_t *at)
{
    int64_t distance = (int64_t)q + l->pad - (int64_t)(k * l->dilation);
    *at = distance / (int64_t)l->stride;
    return distance % (int64_t)l->stride == 0;
}

static struct cov_layer joined_layer(const struct cov_layer *l, size_t joined)
{
    int64_t first = INT64_MAX, last = INT64_MIN, at;
    for (size_t q = 0; q < joined; q++)
        for (size_t k = 0; k < l->kernel; k++)
            if (has_tap(l, q, k, &at)) {
                first = at < first ? at : first;
                last = at > last ? at : last;
            }
    struct cov_layer wide = *l;
    wide.kind = COV_LAYER_CONV;
    wide.stride = joined / l->stride;
    wide.kernel = (size_t)(last - first) + 1;
    wide.dilation = 1;
    wide.pad = -first;
    wide.t_out = l->t_out / joined;
    wide.c_out = l->c_out * joined;
    return wide;
}

/* Makes the weights of a joined layer in `memory`, which holds one row for each of its channels. */
static struct cov_layer_weights joined_weights(const struct cov_layer *l,
                                               const struct cov_layer *wide,
                                               const struct cov_layer_weights *w, float *memory)
{
    const float *from[] = {w->bias, w->gamma, w->beta, w->mean, w->var};
    float *to[COV_COUNT(from)], *weight = memory + COV_COUNT(from) * wide->c_out;
    for (size_t i = 0; i < COV_COUNT(from); i++) {
        to[i] = memory + i * wide->c_out;
        for (size_t c = 0; from[i] && c < wide->c_out; c++)
            to[i][c] = from[i][c % l->c_out];
    }
    int64_t at;
    for (size_t c = 0; c < wide->c_out; c++)
        for (size_t k = 0; k < l->kernel; k++)
            for (size_t i = 0; has_tap(l, c / l->c_out, k, &at) && i < l->c_in; i++)
                weight[(c * l->c_in + i) * wide->kernel + (size_t)(at + wide->pad)] =
                    w->weight[(i * l->c_out + c % l->c_out) * l->kernel + k];
    return (struct cov_layer_weights){.weight = weight,
                                      .bias = to[0],
                                      .gamma = to[1],
                                      .beta = to[2],
                                      .mean = to[3],
                                      .var = to[4]};
}

/* ---- making ---- */

/* Allocates up to l->kernel taps of a phase; they are added in ascending order of offset. */
static int phase_init(struct phase *p, const struct cov_layer *l, struct cov_err *e)
{
    p->offset = cov_calloc(l->kernel, sizeof *p->offset, e);
    p->taps = cov_calloc64(l->kernel * l->c_in * l->c_out, sizeof *p->taps, e);
    return p->offset && p->taps ? COV_OK : COV_ENOMEM;
}

/* Adds tap k, whose weight from input i to output o is at i * i_stride + o * o_stride + k. */
static void phase_add(struct phase *p, const struct cov_layer *l, const float *weight,
                      size_t i_stride, size_t o_stride, size_t k, int64_t offset)
{
    float *b = p->taps + p->n_taps * l->c_in * l->c_out;
    for (size_t i = 0; i < l->c_in; i++)
        for (size_t o = 0; o < l->c_out; o++)
            b[i * l->c_out + o] = weight[i * i_stride + o * o_stride + k];
    p->offset[p->n_taps++] = offset;
}

/* Packs a phase once all taps are added. */
static int phase_pack(struct phase *p, const struct cov_conv *f, struct cov_err *e)
{
    const struct cov_layer *l = &f->layer;
    p->contiguous = p->n_taps > 0;
    for (size_t k = 1; k < p->n_taps; k++)
        p->contiguous = p->contiguous && p->offset[k] == p->offset[k - 1] + 1;
    if (f->kernels.openblas)
        return COV_OK;
    int rc =
        cov_matrix_init(f->kernels.gemm, p->n_taps * l->c_in, l->c_out, p->taps, &p->matrix, e);
    free(p->taps);
    p->taps = NULL;
    return rc;
}

static int make_conv(struct cov_conv *f, const struct cov_layer_weights *w, struct cov_err *e)
{
    const struct cov_layer *l = &f->layer;
    f->in_step = l->stride;
    struct phase *p = &f->phases[0];
    if (phase_init(p, l, e))
        return COV_ENOMEM;
    p->rows = l->t_out;
    for (size_t k = 0; k < l->kernel; k++)
        phase_add(p, l, w->weight, l->kernel, l->c_in * l->kernel, k,
                  (int64_t)(k * l->dilation) - l->pad);
    return phase_pack(p, f, e);
}

static int make_conv_transposed(struct cov_conv *f, const struct cov_layer_weights *w,
                                struct cov_err *e)
{
    const struct cov_layer *l = &f->layer;
    int64_t at;
    f->in_step = 1;
    for (size_t r = 0; r < f->n_phases; r++) {
        struct phase *p = &f->phases[r];
        p->first = r;
        p->rows = r < l->t_out ? (l->t_out - r - 1) / l->stride + 1 : 0;
        if (phase_init(p, l, e))
            return COV_ENOMEM;
        for (size_t k = l->kernel; k-- > 0;) /* the last tap reads the earliest input */
            if (has_tap(l, r, k, &at))
                phase_add(p, l, w->weight, l->c_out * l->kernel, l->kernel, k, at);
        if (phase_pack(p, f, e))
            return COV_ENOMEM;
    }
    return COV_OK;
}

static int make_finish(struct cov_conv *f, const struct cov_layer_weights *w, struct cov_err *e)
{
    size_t n = f->layer.c_out;
    f->bias = cov_calloc64(n, sizeof(float), e);
    f->scale = cov_calloc64(n, sizeof(float), e);
    f->shift = cov_calloc64(n, sizeof(float), e);
    if (!f->bias || !f->scale || !f->shift)
        return COV_ENOMEM;
    for (size_t o = 0; o < n; o++) {
        double scale = 1, shift = 0;
        if (f->layer.norm) {
            scale = (double)w->gamma[o] / sqrt((double)w->var[o] + COV_NORM_EPS);
            shift = (double)w->beta[o] - (double)w->mean[o] * scale;
        }
        f->bias[o] = w->bias[o];
        f->scale[o] = (float)scale;
        f->shift[o] = (float)shift;
    }
    f->finish = (struct cov_finish){f->bias, f->scale, f->shift, 0};
    return COV_OK;
}

static size_t span(const struct cov_layer *l)
{
    return (l->kernel - 1) * l->dilation + 1;
}

/* Computes the contribution of each tap for each code. */
static int make_table(struct cov_conv *f, const struct cov_layer_weights *w, struct cov_err *e)
{
    const struct cov_layer *l = &f->layer;
    if (l->kind != COV_LAYER_CONV || l->c_in != ONE_HOT || f->kernels.openblas ||
        f->kernels.gemm->arithmetic != COV_FP32 || span(l) > MAX_SPAN ||
        l->kernel * 16 * l->c_out > MAX_TABLE)
        return COV_OK;
    f->table = cov_calloc64(l->kernel * 16 * l->c_out, sizeof *f->table, e);
    if (!f->table)
        return COV_ENOMEM;
    for (size_t k = 0; k < l->kernel; k++)
        for (size_t code = 0; code < 16; code++)
            for (size_t o = 0; o < l->c_out; o++) {
                double sum = 0;
                for (size_t i = 0; i < ONE_HOT; i++)
                    sum += (double)w->weight[(o * ONE_HOT + i) * l->kernel + k] *
                           (double)cov_onehot_f32[code][i];
                f->table[(k * 16 + code) * l->c_out + o] = (float)sum;
            }
    return COV_OK;
}

static int make_linear(struct cov_conv *f, const struct cov_layer_weights *w, struct cov_err *e)
{
    f->linear = cov_calloc64(f->layer.c_in * f->layer.c_out, sizeof(float), e);
    f->bias = cov_calloc64(f->layer.c_out, sizeof(float), e);
    if (!f->linear || !f->bias)
        return COV_ENOMEM;
    transpose(w->weight, f->layer.c_out, f->layer.c_in, f->linear);
    memcpy(f->bias, w->bias, f->layer.c_out * sizeof(float));
    return COV_OK;
}

static int new_joined(const struct cov_layer *layer, size_t joined,
                      const struct cov_layer_weights *w, const struct cov_cpu_kernels *kernels,
                      struct cov_conv **out, struct cov_err *e)
{
    struct cov_layer wide = joined_layer(layer, joined);
    float *memory = cov_calloc(wide.c_out, (wide.c_in * wide.kernel + 5) * sizeof *memory, e);
    if (!memory)
        return COV_ENOMEM;
    struct cov_layer_weights weights = joined_weights(layer, &wide, w, memory);
    int rc = cov_conv_new(&wide, &weights, kernels, out, e);
    free(memory);
    if (rc == COV_OK)
        (*out)->joined = joined;
    return rc;
}

int cov_conv_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_cpu_kernels *kernels, struct cov_conv **out, struct cov_err *e)
{
    const size_t joined = n_joined(layer);
    if (joined > 0 && kernels->gemm->arithmetic == COV_BF16X3 && !kernels->openblas)
        return new_joined(layer, joined, w, kernels, out, e);
    struct cov_conv *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->layer = *layer;
    f->joined = 1;
    f->kernels = *kernels;
    f->n_phases = layer->kind == COV_LAYER_CONV              ? 1
                  : layer->kind == COV_LAYER_CONV_TRANSPOSED ? layer->stride
                                                             : 0;
    bool minimal = kernels->minimal && !kernels->openblas && cov_toom_cook_pays(layer);
    f->phases = cov_calloc(f->n_phases, sizeof *f->phases, e);
    int rc = f->phases ? COV_OK : COV_ENOMEM;
    if (rc == COV_OK && f->n_phases)
        rc = make_finish(f, w, e);
    if (rc == COV_OK)
        rc = make_table(f, w, e);
    if (rc == COV_OK && minimal)
        rc = cov_toom_cook_new(layer, w->weight, kernels->gemm, kernels->minimal, &f->minimal, e);
    else if (rc == COV_OK)
        rc = layer->kind == COV_LAYER_CONV              ? make_conv(f, w, e)
             : layer->kind == COV_LAYER_CONV_TRANSPOSED ? make_conv_transposed(f, w, e)
                                                        : make_linear(f, w, e);
    if (rc) {
        cov_conv_free(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

int cov_conv_sums_new(const struct cov_layer *layer, const float *weight,
                      const struct cov_cpu_kernels *kernels, struct cov_conv **out,
                      struct cov_err *e)
{
    struct cov_layer l = *layer;
    l.norm = false;
    float *zeros = cov_calloc(l.c_out, sizeof *zeros, e);
    if (!zeros)
        return COV_ENOMEM;
    const struct cov_layer_weights w = {.weight = weight, .bias = zeros};
    int rc = cov_conv_new(&l, &w, kernels, out, e);
    free(zeros);
    if (rc == COV_OK)
        (*out)->finish.lowest = -INFINITY;
    return rc;
}

void cov_conv_free(struct cov_conv *f)
{
    if (!f)
        return;
    for (size_t i = 0; f->phases && i < f->n_phases; i++) {
        free(f->phases[i].offset);
        free(f->phases[i].taps);
        cov_matrix_fini(&f->phases[i].matrix);
    }
    free(f->phases);
    cov_toom_cook_free(f->minimal);
    free(f->bias);
    free(f->scale);
    free(f->shift);
    free(f->linear);
    free(f->table);
    free(f);
}

size_t cov_conv_scratch(const struct cov_conv *f)
{
    const struct cov_layer *l = &f->layer;
    if (f->minimal)
        return cov_toom_cook_scratch(f->minimal);
    size_t n_taps = 0;
    for (size_t i = 0; i < f->n_phases; i++)
        n_taps = cov_size_max(n_taps, f->phases[i].n_taps);
    return tile_rows(f) * (n_taps * l->c_in + l->c_out);
}

/* ---- running ---- */

/* a[rows, n_taps*c_in] = the rows of x that output rows i0 .. i0+rows-1 of a phase read; zeros past
 * the ends. */
static void gather(const struct cov_conv *f, const struct phase *p, size_t i0, size_t rows,
                   const struct cov_layer_io *io, float *a)
{
    size_t c = f->layer.c_in;
    int64_t t_in = (int64_t)f->layer.t_in;
    bool dense = io->x_stride == c;
    for (size_t i = 0; i < rows; i++) {
        int64_t base = (int64_t)((i0 + i) * f->in_step);
        size_t k = 0;
        while (k < p->n_taps) {
            int64_t row = base + p->offset[k];
            size_t n = 1; /* taps on consecutive rows */
            if (dense && row >= 0)
                while (k + n < p->n_taps && p->offset[k + n] == p->offset[k] + (int64_t)n &&
                       row + (int64_t)n < t_in)
                    n++;
            if (row < 0 || row >= t_in)
                memset(a, 0, c * sizeof *a);
            else
                memcpy(a, io->x + (size_t)row * io->x_stride, n * c * sizeof *a);
            a += n * c;
            k += n;
        }
    }
}

/* Returns the number of rows of a phase among the output rows before t. */
static size_t phase_rows_below(const struct cov_conv *f, const struct phase *p, size_t t)
{
    return t <= p->first ? 0 : (t - p->first - 1) / f->n_phases + 1;
}

/* acc[rows, c_out] = the sums of output rows i0 .. i0+rows-1 of a phase. */
static void run_tile(const struct cov_conv *f, const struct phase *p, size_t i0, size_t rows,
                     const struct cov_layer_io *io, float *acc, float *gathered)
{
    const struct cov_layer *l = &f->layer;
    size_t depth = p->n_taps * l->c_in;
    if (depth == 0) {
        memset(acc, 0, rows * l->c_out * sizeof *acc);
        return;
    }
    if (f->kernels.openblas) {
        gather(f, p, i0, rows, io, gathered);
        cov_blas_sgemm(rows, l->c_out, depth, gathered, p->taps, acc);
        return;
    }
    /* If all taps are within x, rows are read in place, overlapping. */
    int64_t from = (int64_t)(i0 * f->in_step) + p->offset[0];
    int64_t to = (int64_t)((i0 + rows - 1) * f->in_step) + p->offset[p->n_taps - 1];
    bool inside = from >= 0 && to < (int64_t)l->t_in;
    if (p->contiguous && inside && io->x_stride == l->c_in) {
        f->kernels.gemm->run(rows, io->x + (size_t)from * io->x_stride, f->in_step * io->x_stride,
                             &p->matrix, acc, l->c_out, false);
    } else {
        gather(f, p, i0, rows, io, gathered);
        f->kernels.gemm->run(rows, gathered, depth, &p->matrix, acc, l->c_out, false);
    }
}

/* Sets the least and the greatest offset of a tap. */
static void find_reach(const struct cov_conv *f, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = INT64_MIN;
    for (size_t i = 0; i < f->n_phases; i++) {
        const struct phase *p = &f->phases[i];
        *first = p->offset[0] < *first ? p->offset[0] : *first;
        *last = p->offset[p->n_taps - 1] > *last ? p->offset[p->n_taps - 1] : *last;
    }
}

/* Returns true if rows whose taps are all within x can be computed by run_rows. */
static bool runs_rows(const struct cov_conv *f)
{
    const struct cov_layer *l = &f->layer;
    bool fits = !f->kernels.openblas && f->kernels.gemm->run_rows && f->n_phases > 0 &&
                f->n_phases <= COV_ROWS_PARTS && l->c_out % COV_ROWS_MULTIPLE == 0 &&
                l->c_in % COV_ROWS_MULTIPLE == 0;
    for (size_t i = 0; fits && i < f->n_phases; i++)
        fits = f->phases[i].contiguous;
    if (!fits)
        return false;
    int64_t first, last;
    find_reach(f, &first, &last);
    size_t rows = (COV_ROWS_TILE - 1) * f->in_step + (size_t)(last - first) + 1;
    return rows * l->c_in <= COV_ROWS_ROOM;
}

/* Runs as many of the rows [beg, end) of all phases as have all taps within x, and returns which
 * these are. */
static struct cov_rows run_inner_rows(const struct cov_conv *f, size_t beg, size_t end,
                                      const struct cov_layer_io *io)
{
    const struct cov_layer *l = &f->layer;
    int64_t first, last, step = (int64_t)f->in_step;
    find_reach(f, &first, &last);
    int64_t inner = first < 0 ? (step - 1 - first) / step : 0;
    int64_t stop = (int64_t)l->t_in - 1 - last < 0 ? 0 : ((int64_t)l->t_in - 1 - last) / step + 1;
    struct cov_rows rows = {(size_t)inner > beg ? (size_t)inner : beg,
                            (size_t)stop < end ? (size_t)stop : end};
    if (rows.beg >= rows.end)
        return (struct cov_rows){beg, beg};
    struct cov_gemm_rows of = {.m = rows.end - rows.beg,
                               .step = f->in_step * l->c_in,
                               .x = io->x +
                                    (size_t)((int64_t)rows.beg * step + first) * io->x_stride,
                               .channels = l->c_in,
                               .x_stride = io->x_stride,
                               .n_parts = f->n_phases,
                               .y_stride = f->n_phases * io->y_stride,
                               .finish = &f->finish};
    for (size_t i = 0; i < f->n_phases; i++) {
        const struct phase *p = &f->phases[i];
        of.part[i].b = &p->matrix;
        of.part[i].offset = (size_t)(p->offset[0] - first) * l->c_in;
        of.part[i].y = io->y + (p->first + rows.beg * f->n_phases) * io->y_stride;
    }
    f->kernels.gemm->run_rows(&of);
    return rows;
}

/* Rows of a phase form whole tiles that start at multiples of COV_PLAN_TILE (plan.h), except for
 * the last rows of a layer. */
static void run_convolution(const struct cov_conv *f, struct cov_rows rows,
                            const struct cov_layer_io *io, float *scratch)
{
    const struct cov_layer *l = &f->layer;
    size_t tile = tile_rows(f);
    float *acc = scratch, *gathered = scratch + tile * l->c_out;
    struct cov_rows done = {0, 0};
    if (runs_rows(f))
        done = run_inner_rows(f, phase_rows_below(f, &f->phases[0], rows.beg),
                              phase_rows_below(f, &f->phases[f->n_phases - 1], rows.end), io);
    for (size_t i = 0; i < f->n_phases; i++) {
        const struct phase *p = &f->phases[i];
        size_t beg = phase_rows_below(f, p, rows.beg), end = phase_rows_below(f, p, rows.end);
        for (size_t i0 = beg, n; i0 < end; i0 += n) {
            size_t stop = i0 < done.beg ? done.beg : end;
            n = stop - i0 < tile ? stop - i0 : tile;
            if (i0 == done.beg && done.end > i0) {
                n = done.end - i0;
                continue;
            }
            run_tile(f, p, i0, n, io, acc, gathered);
            f->kernels.vec->finish(n, l->c_out, acc, &f->finish,
                                   io->y + (p->first + i0 * f->n_phases) * io->y_stride,
                                   f->n_phases * io->y_stride);
        }
    }
}

static void run_linear(const struct cov_conv *f, struct cov_rows rows,
                       const struct cov_layer_io *io)
{
    const struct cov_layer *l = &f->layer;
    for (size_t t = rows.beg; t < rows.end; t++) {
        const float *in = io->x + t * io->x_stride;
        float *out = io->y + t * io->y_stride;
        for (size_t o = 0; o < l->c_out; o++) {
            float sum = f->bias[o];
            for (size_t i = 0; i < l->c_in; i++)
                sum += f->linear[i * l->c_out + o] * in[i];
            out[o] = sum;
        }
        if (io->y_stride != l->c_out)
            f->kernels.vec->exp(l->c_out, out);
    }
    if (io->y_stride == l->c_out)
        f->kernels.vec->exp((rows.end - rows.beg) * l->c_out, io->y + rows.beg * io->y_stride);
}

void cov_conv_rows(const struct cov_conv *f, struct cov_rows rows, const struct cov_layer_io *io,
                   float *scratch)
{
    if (f->layer.kind == COV_LAYER_LINEAR_EXP) {
        run_linear(f, rows, io);
    } else if (f->minimal) {
        cov_toom_cook_run(f->minimal, rows, io, &f->finish, scratch);
    } else {
        struct cov_layer_io wide = *io;
        assert(f->joined == 1 || io->y_stride * f->joined == f->layer.c_out);
        wide.y_stride *= f->joined;
        rows = (struct cov_rows){rows.beg / f->joined, (rows.end + f->joined - 1) / f->joined};
        run_convolution(f, rows, &wide, scratch);
    }
}

bool cov_conv_reads_codes(const struct cov_conv *f)
{
    return f->table;
}

void cov_conv_rows_of_codes(const struct cov_conv *f, struct cov_rows rows, const uint8_t *codes,
                            float *y, size_t y_stride)
{
    const struct cov_layer *l = &f->layer;
    int64_t stride = (int64_t)l->stride, t_in = (int64_t)l->t_in, reach = (int64_t)span(l);
    struct cov_look_up look = {.n = l->c_out,
                               .n_taps = l->kernel,
                               .table = f->table,
                               .step = l->stride,
                               .apart = l->dilation,
                               .y_stride = y_stride};
    for (size_t t = rows.beg; t < rows.end;) {
        int64_t from = (int64_t)t * stride - l->pad;
        uint8_t window[MAX_SPAN]; /* past the ends of x: padding, whose one-hot rows are zeros */
        look.codes = window;
        look.rows = 1;
        if (from >= 0 && from + reach <= t_in) {
            size_t fit = (size_t)((t_in - reach - from) / stride) + 1;
            look.rows = fit < rows.end - t ? fit : rows.end - t;
            look.codes = codes + from;
        } else {
            for (int64_t i = 0; i < reach; i++)
                window[i] = from + i >= 0 && from + i < t_in ? codes[from + i] : COV_CODE_PAD;
        }
        look.y = y + t * y_stride;
        f->kernels.vec->look_up(&look, &f->finish);
        t += look.rows;
    }
}
