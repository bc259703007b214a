/* toom_cook.c - see toom_cook.h.
 *
 * Below, a row of a tile is a group of `in_phases` rows of x or `out_phases` rows of y. Tiles are
 * processed in blocks of BLOCK. A group of blocks is transformed at once. It fits in the
 * second-level cache together with one panel of weights (or all weights of a small layer). Then,
 * for each panel and block, the products at all points stay in the first-level cache until they
 * become rows of y.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/kernels/toom_cook.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum {
    BLOCK = 36,         /* a multiple of the rows of every product kernel's tile */
    FEW = 4,            /* tiles whose rows are prepared at once, in the first-level cache */
    GROUP = 128 * 1024, /* floats of transformed tiles at once */
    GAP = 16,  /* floats between rows, so that they do not all start in the same set of the cache */
    LINE = 16, /* floats of a cache line */
    MANY_CHANNELS = 64, /* channels on both sides of a layer */
    MAX_POINTS = COV_TOOM_COOK_MAX_POINTS,
};

/* Adjacent columns with their weights at all points: [column, column + cols) of an output phase, or
 * all columns of all phases if these are few. */
struct panel {
    size_t phase, n_phases, column, cols; /* cols: per phase */
    struct cov_matrix at[MAX_POINTS];     /* k = 0: the products are zero */
};

struct cov_toom_cook {
    struct cov_toom_cook_points points;
    const struct cov_gemm *gemm;
    const struct cov_toom_cook_kernels *kernels;
    struct cov_layer layer;
    struct cov_toom_cook_places places;
    size_t depth, depth_stride; /* channels of a row of a tile; floats from one row to the next */
    size_t n_panels;
    struct panel *panels;
};

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Returns a / b rounded down; b > 0. */
static int64_t divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- points ---- */

/* Sets q to the product of (y - pair[h]^2) over all h != leave_out; returns its degree. */
static size_t product(const struct cov_toom_cook_points *p, size_t leave_out,
                      double q[COV_TOOM_COOK_MAX_PAIRS + 1])
{
    size_t degree = 0;
    q[0] = 1;
    for (size_t h = 0; h < p->n_pairs; h++) {
        if (h == leave_out)
            continue;
        double square = (double)p->pair[h] * (double)p->pair[h];
        degree++;
        q[degree] = q[degree - 1];
        for (size_t j = degree - 1; j > 0; j--)
            q[j] = q[j - 1] - square * q[j];
        q[0] *= -square;
    }
    return degree;
}

void cov_toom_cook_points_init(size_t taps, size_t outputs, struct cov_toom_cook_points *p)
{
    /* Their rounding error is at most a tenth above the least of all sets of four simple
     * fractions. */
    static const float few[COV_TOOM_COOK_MAX_PAIRS] = {1, 2, 0.5f},
                       many[COV_TOOM_COOK_MAX_PAIRS] = {0.5f, 0.75f, 1.25f, 2};
    const float *pairs = outputs == COV_TOOM_COOK_OUTPUTS ? few : many;
    *p = (struct cov_toom_cook_points){
        .taps = taps, .outputs = outputs, .n_points = taps + outputs - 1};
    p->n_pairs = (p->n_points - 2) / 2;
    p->has_single = p->n_points % 2 == 1;
    memcpy(p->pair, pairs, sizeof p->pair);
    p->single = p->has_single ? pairs[p->n_pairs] : 0;

    double q[COV_TOOM_COOK_MAX_PAIRS + 1], finite[MAX_POINTS] = {0};
    size_t degree = product(p, COV_TOOM_COOK_MAX_PAIRS, q);
    for (size_t j = 0; j <= degree; j++)
        p->whole[j] = (float)q[j];
    for (size_t h = 0; h < p->n_pairs; h++) {
        degree = product(p, h, q);
        for (size_t j = 0; j <= degree; j++)
            p->without[h][j] = (float)q[j];
        finite[2 * h + 1] = (double)p->pair[h];
        finite[2 * h + 2] = -(double)p->pair[h];
    }
    if (p->has_single)
        finite[p->n_points - 2] = (double)p->single;
    for (size_t i = 0; i + 1 < p->n_points; i++) {
        double power = 1;
        for (size_t j = 0; j + 1 < p->n_points; j++)
            if (j != i)
                power /= finite[i] - finite[j];
        for (size_t k = 0; k < taps; k++, power *= finite[i])
            p->filter[i][k] = power;
    }
    p->filter[p->n_points - 1][taps - 1] = 1;
}

/* ---- making ---- */

static size_t n_taps(const struct cov_layer *l)
{
    return (l->kernel + l->stride - 1) / l->stride;
}

bool cov_toom_cook_can(const struct cov_layer *l)
{
    return (l->kind == COV_LAYER_CONV || l->kind == COV_LAYER_CONV_TRANSPOSED) &&
           l->dilation == 1 && n_taps(l) >= 2 && n_taps(l) <= COV_TOOM_COOK_MAX_TAPS;
}

/* Measured on a Cascade Lake Xeon with AVX-512, AVX2 and SSE2 kernels: with three taps or more, 1.1
 * to 2.2 times faster if a tile's row has at least 16 channels, slower if it has 8; with two taps,
 * which save only 3/8 of the products, 1.1 times faster with at least 32 channels on either side. A
 * first layer has 4 channels. */
bool cov_toom_cook_pays(const struct cov_layer *l)
{
    size_t depth = l->kind == COV_LAYER_CONV ? l->stride * l->c_in : l->c_in;
    return cov_toom_cook_can(l) &&
           (n_taps(l) > 2 ? l->c_in >= 8 && depth >= 16 : l->c_in >= 32 && l->c_out >= 32);
}

/* Returns the number of phases whose filter has all taps; the filters of the others are one tap
 * shorter. */
static size_t n_full(const struct cov_layer *l)
{
    return l->kernel - (n_taps(l) - 1) * l->stride;
}

/* Copies the taps of a filter, with zeros past the end of the kernel. */
static void take_filter(const struct cov_toom_cook *m, const float *weight, size_t in_phase,
                        size_t out_phase, size_t i, size_t o, double filter[COV_TOOM_COOK_MAX_TAPS])
{
    const struct cov_layer *l = &m->layer;
    bool transposed = l->kind == COV_LAYER_CONV_TRANSPOSED;
    const float *from = weight + (transposed ? i * l->c_out + o : o * l->c_in + i) * l->kernel;
    for (size_t tap = 0; tap < m->points.taps; tap++) {
        /* The last tap of a transposed convolution reads the earliest input. */
        size_t at = transposed ? m->points.taps - 1 - tap : tap;
        size_t in_kernel = at * l->stride + (transposed ? out_phase : in_phase);
        filter[tap] = in_kernel < l->kernel ? (double)from[in_kernel] : 0;
    }
}

/* Sets b[point, depth, width] to the weights of a panel's columns at every point. */
static void transform_weights(const struct cov_toom_cook *m, const float *weight,
                              const struct panel *panel, size_t width, float *b)
{
    size_t size = m->depth * width, cols = panel->n_phases * panel->cols;
    bool by_rows =
        m->layer.kind == COV_LAYER_CONV_TRANSPOSED; /* in the order of the weights in memory */
    memset(b, 0, m->points.n_points * size * sizeof *b);
    for (size_t n = 0; n < m->depth * cols; n++) {
        size_t row = by_rows ? n / cols : n % m->depth, c = by_rows ? n % cols : n / m->depth;
        double filter[COV_TOOM_COOK_MAX_TAPS];
        take_filter(m, weight, row / m->layer.c_in, panel->phase + c / panel->cols,
                    row % m->layer.c_in, panel->column + c % panel->cols, filter);
        for (size_t p = 0; p < m->points.n_points; p++) {
            double sum = 0;
            for (size_t tap = 0; tap < m->points.taps; tap++)
                sum += m->points.filter[p][tap] * filter[tap];
            b[p * size + row * width + c] = (float)sum;
        }
    }
}

/* Returns the channels of a row of a tile that contribute at point p. */
static size_t depth_at(const struct cov_toom_cook *m, size_t p)
{
    bool last = m->layer.kind == COV_LAYER_CONV && p + 1 == m->points.n_points;
    return last ? n_full(&m->layer) * m->layer.c_in : m->depth;
}

/* Filters that are one tap shorter end with a zero in a convolution, and contribute nothing at
 * infinity. In a transposed one they start with a zero, and contribute nothing at point 0. */
static int make_panel(const struct cov_toom_cook *m, const struct cov_layer *l, const float *weight,
                      struct panel *panel, float *b, struct cov_err *e)
{
    size_t cols = panel->n_phases * panel->cols;
    size_t width = cols <= m->gemm->lanes ? m->gemm->lanes : m->gemm->width;
    int rc = COV_OK;
    transform_weights(m, weight, panel, width, b);
    for (size_t p = 0; rc == COV_OK && p < m->points.n_points; p++) {
        if (l->kind == COV_LAYER_CONV_TRANSPOSED && p == 0 &&
            panel->phase >= n_full(l)) /* no phase of the panel contributes at 0 */
            continue;
        rc = cov_matrix_init(m->gemm, depth_at(m, p), width, b + p * m->depth * width,
                             &panel->at[p], e);
    }
    return rc;
}

static int make_panels(struct cov_toom_cook *m, const struct cov_layer *l, const float *weight,
                       struct cov_err *e)
{
    size_t width = m->gemm->width, a_phase = (l->c_out + width - 1) / width;
    bool join = m->places.out_phases * l->c_out <= width;
    m->n_panels = join ? 1 : m->places.out_phases * a_phase;
    m->panels = cov_calloc(m->n_panels, sizeof *m->panels, e);
    float *b = cov_malloc(m->points.n_points * m->depth * width, sizeof *b, e);
    int rc = m->panels && b ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; rc == COV_OK && i < m->n_panels; i++) {
        struct panel *panel = &m->panels[i];
        panel->phase = i / a_phase;
        panel->n_phases = join ? m->places.out_phases : 1;
        panel->column = i % a_phase * width;
        panel->cols = cov_size_min(width, l->c_out - panel->column);
        rc = make_panel(m, l, weight, panel, b, e);
    }
    free(b);
    return rc;
}

/* Output row t of a convolution reads rows t * stride - pad + tap of x; row j of x contributes to
 * rows j * stride - pad + tap of a transposed one. */
void cov_toom_cook_places_init(const struct cov_layer *l, size_t outputs,
                               struct cov_toom_cook_places *out)
{
    int64_t stride = (int64_t)l->stride, rows = (int64_t)l->t_out;
    if (l->kind == COV_LAYER_CONV) {
        *out = (struct cov_toom_cook_places){l->stride, 1, -l->pad, 0, 0};
    } else {
        int64_t first = divide(l->pad, stride);
        *out = (struct cov_toom_cook_places){1, l->stride, first - (int64_t)n_taps(l) + 1,
                                             first * stride - l->pad, 0};
        rows = (rows - out->out_first + stride - 1) / stride;
    }
    out->n_tiles = ((size_t)rows + outputs - 1) / outputs;
}

/* Six outputs need 15 % fewer products than four, but have 2.5 times the rounding error. In the
 * last transposed convolutions this error does not matter. But before an LSTM whose cells count up
 * over many steps, it made the error of single precision five times larger, 1.6e-5. So layers
 * before an LSTM use four outputs. */
static bool makes_many(const struct cov_layer *l, const struct cov_gemm *gemm)
{
    return n_taps(l) == COV_TOOM_COOK_MAX_TAPS &&
           l->c_in * l->c_out >= MANY_CHANNELS * MANY_CHANNELS &&
           (l->kind == COV_LAYER_CONV_TRANSPOSED || gemm->arithmetic != COV_FP32);
}

int cov_toom_cook_new(const struct cov_layer *l, const float *weight, const struct cov_gemm *gemm,
                      const struct cov_toom_cook_kernels *kernels, struct cov_toom_cook **out,
                      struct cov_err *e)
{
    struct cov_toom_cook *m = cov_calloc(1, sizeof *m, e);
    if (!m)
        return COV_ENOMEM;
    cov_toom_cook_points_init(
        n_taps(l), makes_many(l, gemm) ? COV_TOOM_COOK_MAX_OUTPUTS : COV_TOOM_COOK_OUTPUTS,
        &m->points);
    m->gemm = gemm;
    m->kernels = kernels;
    m->layer = *l;
    cov_toom_cook_places_init(l, m->points.outputs, &m->places);
    m->depth = m->places.in_phases * l->c_in;
    m->depth_stride = round_up(m->depth, LINE) + GAP;
    int rc = make_panels(m, l, weight, e);
    if (rc) {
        cov_toom_cook_free(m);
        return rc;
    }
    *out = m;
    return COV_OK;
}

void cov_toom_cook_free(struct cov_toom_cook *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->panels && i < m->n_panels; i++)
        for (size_t p = 0; p < MAX_POINTS; p++)
            cov_matrix_fini(&m->panels[i].at[p]);
    free(m->panels);
    free(m);
}

/* ---- running ---- */

/* The floats of a row of a transformed block, as products read it, and of a block; and the number
 * of blocks that are transformed at once. */
static size_t row_floats(const struct cov_toom_cook *m)
{
    return m->gemm->prepare ? m->gemm->prepared_floats(m->depth) : m->depth_stride;
}

static size_t block_floats(const struct cov_toom_cook *m)
{
    return m->points.n_points * BLOCK * row_floats(m);
}

static size_t n_blocks(const struct cov_toom_cook *m)
{
    size_t fit = cov_size_max(1, GROUP / block_floats(m));
    return cov_size_min(fit, (m->places.n_tiles + BLOCK - 1) / BLOCK);
}

/* Parts of the scratch, in order. */
static size_t sums_floats(const struct cov_toom_cook *m)
{
    return m->points.n_points * BLOCK * m->gemm->width;
}

static size_t edge_floats(const struct cov_toom_cook *m)
{
    return round_up(cov_size_max(m->points.n_points * m->depth, m->points.outputs * m->gemm->width),
                    LINE);
}

size_t cov_toom_cook_scratch(const struct cov_toom_cook *m)
{
    return sums_floats(m) + edge_floats(m) + n_blocks(m) * block_floats(m) +
           (m->gemm->prepare ? m->points.n_points * FEW * m->depth_stride : 0);
}

/* A call. Rows of x outside [x_beg, x_end) count as zeros; rows of y outside [y_beg, y_end) are not
 * written. */
struct task {
    struct cov_layer_io io;
    const struct cov_finish *finish;
    int64_t x_beg, x_end, y_beg, y_end;
};

/* Finds the rows of x that rows y_beg .. y_end-1 of y depend on. */
static void find_x(const struct cov_layer *l, struct task *t)
{
    int64_t stride = (int64_t)l->stride, kernel = (int64_t)l->kernel;
    if (l->kind == COV_LAYER_CONV) {
        t->x_beg = t->y_beg * stride - l->pad;
        t->x_end = (t->y_end - 1) * stride - l->pad + kernel;
    } else {
        t->x_beg = divide(t->y_beg + l->pad - kernel, stride) + 1;
        t->x_end = divide(t->y_end - 1 + l->pad, stride) + 1;
    }
    t->x_beg = t->x_beg < 0 ? 0 : t->x_beg;
    t->x_end = t->x_end > (int64_t)l->t_in ? (int64_t)l->t_in : t->x_end;
}

/* in_row returns the row of x where tile i starts. sees_inside returns true if the tile reads only
 * existing rows. */
static int64_t in_row(const struct cov_toom_cook *m, size_t i)
{
    return (int64_t)(i * m->points.outputs * m->places.in_phases) + m->places.in_first;
}

static bool sees_inside(const struct cov_toom_cook *m, const struct task *t, size_t i)
{
    int64_t row = in_row(m, i);
    return row >= t->x_beg && row + (int64_t)(m->points.n_points * m->places.in_phases) <= t->x_end;
}

/* Transforms a tile at an end of x, with zeros past that end. */
static void transform_edge(const struct cov_toom_cook *m, const struct task *t, size_t i, float *v,
                           size_t v_step, float *edge)
{
    size_t rows = m->points.n_points * m->places.in_phases, c = m->layer.c_in;
    int64_t first = in_row(m, i);
    for (size_t k = 0; k < rows; k++) {
        int64_t row = first + (int64_t)k;
        if (row < t->x_beg || row >= t->x_end)
            memset(edge + k * c, 0, c * sizeof *edge);
        else
            memcpy(edge + k * c, t->io.x + (size_t)row * t->io.x_stride, c * sizeof *edge);
    }
    const struct cov_toom_cook_tiles one = {1, m->depth, v_step, 0};
    m->kernels->input(&m->points, &one, edge, m->depth, v);
}

/* Transforms tiles [beg, end). In v, points are v_step apart, and tiles depth_stride. */
static void transform_tiles(const struct cov_toom_cook *m, const struct task *t, size_t beg,
                            size_t end, float *v, size_t v_step, float *edge)
{
    /* Adjacent rows are treated as one long row. */
    bool dense = t->io.x_stride == m->layer.c_in;
    size_t n_parts = dense ? 1 : m->places.in_phases, channels = dense ? m->depth : m->layer.c_in;
    size_t i = beg;
    while (i < end) {
        float *to = v + (i - beg) * m->depth_stride;
        if (!sees_inside(m, t, i)) {
            transform_edge(m, t, i++, to, v_step, edge);
            continue;
        }
        const float *from = t->io.x + (size_t)in_row(m, i) * t->io.x_stride;
        size_t n = 1;
        while (i + n < end && sees_inside(m, t, i + n))
            n++;
        const struct cov_toom_cook_tiles tiles = {n, channels, v_step, m->depth_stride};
        for (size_t part = 0; part < n_parts; part++)
            m->kernels->input(&m->points, &tiles, from + part * t->io.x_stride,
                              m->places.in_phases * t->io.x_stride, to + part * channels);
        i += n;
    }
}

/* Sets v[point, tile, depth] for tiles [beg, end), in the form that products read. `unprepared` is
 * scratch for a few tiles. */
static void make_block(const struct cov_toom_cook *m, const struct task *t, size_t beg, size_t end,
                       float *v, float *edge, float *unprepared)
{
    size_t v_step = BLOCK * row_floats(m);
    if (!m->gemm->prepare) {
        transform_tiles(m, t, beg, end, v, v_step, edge);
        return;
    }
    for (size_t i = beg; i < end; i += FEW) {
        size_t n = cov_size_min(FEW, end - i);
        transform_tiles(m, t, i, i + n, unprepared, FEW * m->depth_stride, edge);
        for (size_t p = 0; p < m->points.n_points; p++) {
            size_t k = depth_at(m, p);
            m->gemm->prepare(n, k, unprepared + p * FEW * m->depth_stride, m->depth_stride,
                             v + p * v_step + (i - beg) * m->gemm->prepared_floats(k));
        }
    }
}

/* out_row returns the row of y where tile i of a phase starts. ends_inside returns true if all rows
 * of the tile are wanted. */
static int64_t out_row(const struct cov_toom_cook *m, size_t i, size_t phase)
{
    return (int64_t)(i * m->points.outputs * m->places.out_phases + phase) + m->places.out_first;
}

static bool ends_inside(const struct cov_toom_cook *m, const struct task *t, size_t i, size_t phase)
{
    int64_t row = out_row(m, i, phase);
    return row >= t->y_beg &&
           row + (int64_t)((m->points.outputs - 1) * m->places.out_phases) < t->y_end;
}

/* Writes the rows of y of a phase for the tiles in `of`, from the products s[point, tile,
 * column]. */
static void write_phase(const struct cov_toom_cook *m, const struct task *t, const struct panel *p,
                        size_t phase, struct cov_rows of, const float *s, float *edge)
{
    size_t width = m->gemm->width, c = p->column;
    const struct cov_finish finish = {t->finish->bias + c, t->finish->scale + c,
                                      t->finish->shift + c, t->finish->lowest};
    size_t beg = of.beg, end = of.end, i = beg;
    while (i < end) {
        bool inside = ends_inside(m, t, i, phase);
        int64_t row = out_row(m, i, phase);
        size_t n = 1, step = m->places.out_phases * t->io.y_stride;
        while (inside && i + n < end && ends_inside(m, t, i + n, phase))
            n++;
        const struct cov_toom_cook_tiles tiles = {n, p->cols, BLOCK * width, width};
        m->kernels->output(&m->points, &tiles, s + (i - beg) * width, &finish,
                           inside ? t->io.y + (size_t)row * t->io.y_stride + c : edge,
                           inside ? step : width);
        for (size_t j = 0; !inside && j < m->points.outputs;
             j++, row += (int64_t)m->places.out_phases)
            if (row >= t->y_beg && row < t->y_end)
                memcpy(t->io.y + (size_t)row * t->io.y_stride + c, edge + j * width,
                       p->cols * sizeof *edge);
        i += n;
    }
}

/* Prefetches a share of the rows of y that n tiles write; every point gets an equal share. */
static void expect_rows(const struct cov_toom_cook *m, const struct task *t,
                        const struct panel *panel, size_t first, size_t n, size_t point)
{
    size_t rows = n * m->points.outputs, beg = rows * point / m->points.n_points;
    size_t end = rows * (point + 1) / m->points.n_points;
    for (size_t phase = panel->phase; phase < panel->phase + panel->n_phases; phase++)
        for (size_t r = beg; r < end; r++) {
            int64_t row = out_row(m, first, phase) + (int64_t)(r * m->places.out_phases);
            const float *y = t->io.y + (size_t)row * t->io.y_stride + panel->column;
            for (size_t c = 0; row >= t->y_beg && row < t->y_end && c < panel->cols; c += LINE)
                __builtin_prefetch(y + c, 1);
        }
}

/* Sets s[point, tile, column] to the products of the n tiles in v, the first of which is tile
 * `first`. */
static void multiply_block(const struct cov_toom_cook *m, const struct task *t,
                           const struct panel *panel, size_t first, size_t n, const float *v,
                           float *s)
{
    size_t width = m->gemm->width;
    for (size_t p = 0; p < m->points.n_points; p++) {
        float *to = s + p * BLOCK * width;
        expect_rows(m, t, panel, first, n, p);
        if (panel->at[p].k == 0)
            memset(to, 0, BLOCK * width * sizeof *to);
        else if (m->gemm->prepare)
            m->gemm->run_prepared(n, v + p * BLOCK * row_floats(m), &panel->at[p], to, width);
        else
            m->gemm->run(n, v + p * BLOCK * m->depth_stride, m->depth_stride, &panel->at[p], to,
                         width, false);
    }
}

void cov_toom_cook_run(const struct cov_toom_cook *m, struct cov_rows rows,
                       const struct cov_layer_io *io, const struct cov_finish *finish,
                       float *scratch)
{
    if (rows.beg >= rows.end)
        return;
    struct task t = {
        .io = *io, .finish = finish, .y_beg = (int64_t)rows.beg, .y_end = (int64_t)rows.end};
    find_x(&m->layer, &t);
    float *sums = scratch, *edge = sums + sums_floats(m), *v = edge + edge_floats(m);
    float *unprepared = v + n_blocks(m) * block_floats(m);
    int64_t tile =
        (int64_t)(m->points.outputs * m->places.out_phases); /* rows of y; out_first <= 0 */
    size_t first = (size_t)((t.y_beg - m->places.out_first) / tile);
    size_t last = (size_t)((t.y_end - 1 - m->places.out_first) / tile);
    size_t group = n_blocks(m) * BLOCK;
    for (size_t g = first; g <= last; g += group) {
        size_t stop = cov_size_min(g + group, last + 1);
        for (size_t i = g; i < stop; i += BLOCK)
            make_block(m, &t, i, cov_size_min(i + BLOCK, stop),
                       v + (i - g) / BLOCK * block_floats(m), edge, unprepared);
        for (size_t k = 0; k < m->n_panels; k++)
            for (size_t i = g; i < stop; i += BLOCK) {
                const struct panel *p = &m->panels[k];
                size_t n = cov_size_min(BLOCK, stop - i);
                multiply_block(m, &t, p, i, n, v + (i - g) / BLOCK * block_floats(m), sums);
                for (size_t phase = 0; phase < p->n_phases; phase++)
                    write_phase(m, &t, p, p->phase + phase, (struct cov_rows){i, i + n},
                                sums + phase * p->cols, edge);
            }
    }
}
