/* test_gemm_amx.c - products on AMX tiles, tested on CPUs without AMX. The loops run on any CPU,
 * with C code in place of the tile instructions. The C code also fails if a tile was not configured
 * or not written before it is used. The library's own products run on any CPU with AVX-512 BF16:
 * tile instructions are illegal there, and a signal handler decodes them and executes them in C.
 * LSTMs and convolutions with work between products give the same bits as without; on a CPU with
 * AMX, this is tested for the library's code, too. So are sums of outer products, in test_outer.c.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/random_layer.h"

#include <signal.h>

#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/lstm.h"
#include "tests/lib/check_gemm.h"
#include "tests/lib/check_outer.h"

struct tile_config;
static void tile_configure(const struct tile_config *t);
static void tile_load(size_t t, const void *from, size_t bytes);
static void tile_store(size_t t, void *to, size_t bytes);
static void tile_dot(size_t sums, size_t a, size_t b);
static void tile_zero(size_t t);
static void tile_release(void);

#define TILE_CONFIGURE(t) tile_configure(t)
#define TILE_RELEASE() tile_release()
#define TILE_ZERO(t) tile_zero(t)
#define TILE_LOAD(t, from, bytes) tile_load(t, from, bytes)
#define TILE_STREAM(t, from, bytes) tile_load(t, from, bytes)
#define TILE_STORE(t, to, bytes) tile_store(t, to, bytes)
#define TILE_DOT(sums, a, b) tile_dot(sums, a, b)
#include "common/compute/cpu/kernels/gemm_amx_body.h"
#define LANES 16
#include "common/compute/cpu/kernels/fused_amx_body.h"
#include "common/compute/cpu/kernels/outer_amx_body.h"
/* Close and rough gates are the same without instructions for them. */
#include "common/compute/cpu/kernels/vec_body.h"
VEC_TABLE_OF(emulated_vec, "emulated", 0, GATES_CLOSE)

static struct {
    struct tile_config config;
    bool configured, set[N_TILES];
    uint8_t data[N_TILES][TILE][TILE_BYTES];
} cpu;

static void tile_configure(const struct tile_config *t)
{
    assert_int_equal(sizeof *t, 64);
    assert_int_equal(t->palette, 1);
    memset(&cpu, 0, sizeof cpu);
    cpu.config = *t;
    cpu.configured = true;
    for (size_t i = 0; i < 16; i++) {
        assert_true(t->rows[i] <= TILE && t->row_bytes[i] <= TILE_BYTES);
        assert_true((t->rows[i] == 0) == (t->row_bytes[i] == 0));
        assert_true(i < N_TILES || t->rows[i] == 0);
    }
}

static void tile_release(void)
{
    assert_true(cpu.configured);
    memset(&cpu, 0, sizeof cpu);
}

static void tile_zero(size_t t)
{
    assert_true(cpu.configured && cpu.config.rows[t] > 0);
    memset(cpu.data[t], 0, sizeof cpu.data[t]);
    cpu.set[t] = true;
}

static void tile_load(size_t t, const void *from, size_t bytes)
{
    assert_true(cpu.configured && cpu.config.rows[t] > 0);
    for (size_t r = 0; r < cpu.config.rows[t]; r++)
        memcpy(cpu.data[t][r], (const uint8_t *)from + r * bytes, cpu.config.row_bytes[t]);
    cpu.set[t] = true;
}

static void tile_store(size_t t, void *to, size_t bytes)
{
    assert_true(cpu.configured && cpu.config.rows[t] > 0 && cpu.set[t]);
    for (size_t r = 0; r < cpu.config.rows[t]; r++)
        memcpy((uint8_t *)to + r * bytes, cpu.data[t][r], cpu.config.row_bytes[t]);
}

/* sums[m][n] += a[m][2k] b[k][2n] + a[m][2k+1] b[k][2n+1] */
static void tile_dot(size_t sums, size_t a, size_t b)
{
    const struct tile_config *t = &cpu.config;
    assert_true(cpu.configured && cpu.set[sums] && cpu.set[a] && cpu.set[b]);
    assert_true(sums != a && sums != b && a != b);
    assert_int_equal(t->rows[a], t->rows[sums]);
    assert_int_equal(t->row_bytes[a], t->rows[b] * 4);
    assert_int_equal(t->row_bytes[b], t->row_bytes[sums]);
    for (size_t m = 0; m < t->rows[sums]; m++)
        for (size_t n = 0; n < t->row_bytes[sums] / sizeof(float); n++) {
            float sum;
            memcpy(&sum, cpu.data[sums][m] + n * sizeof sum, sizeof sum);
            for (size_t k = 0; k < t->rows[b]; k++) {
                uint16_t x[2], y[2];
                memcpy(x, cpu.data[a][m] + k * sizeof x, sizeof x);
                memcpy(y, cpu.data[b][k] + n * sizeof y, sizeof y);
                sum += cov_bf16_float(x[0]) * cov_bf16_float(y[0]);
                sum += cov_bf16_float(x[1]) * cov_bf16_float(y[1]);
            }
            memcpy(cpu.data[sums][m] + n * sizeof sum, &sum, sizeof sum);
        }
}

#ifdef __x86_64__
#include <ucontext.h>

/* An instruction with a three-byte VEX prefix: C4, opcode map, prefix. Fields that are stored
 * inverted have their true values here. */
struct vex_code {
    unsigned opcode, prefix, reg, rm, vvvv;
    bool memory;
    uint64_t address, stride; /* stride: the index register's value times the scale */
    size_t bytes;
};

static uint64_t register_of(const ucontext_t *u, unsigned number)
{
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};
    return (uint64_t)u->uc_mcontext.gregs[places[number]];
}

/* Decodes the memory operand of the instruction that begins at p. */
static void decode_memory(const ucontext_t *u, const uint8_t *p, struct vex_code *c)
{
    enum { SIB = 4, NO_INDEX = 4, NO_BASE = 5 };
    const uint8_t *at = p + 5;
    bool index_high = !(p[1] & 0x40), base_high = !(p[1] & 0x20);
    unsigned mod = p[4] >> 6, base = p[4] & 7U;
    int32_t offset = 0;
    bool has_base = true;
    if (base == SIB) {
        unsigned index = (*at >> 3 & 7U) | (index_high ? 8U : 0);
        base = *at & 7U;
        if (index != NO_INDEX)
            c->stride = register_of(u, index) << (*at >> 6);
        at++;
        has_base = mod != 0 || base != NO_BASE;
    } else if (mod == 0 && base == NO_BASE) {
        fail_msg("tiles: addresses relative to the instruction are not decoded");
    }
    if (mod == 1) {
        offset = *at < 128 ? *at : *at - 256;
        at++;
    } else if (mod == 2 || !has_base) {
        memcpy(&offset, at, sizeof offset);
        at += sizeof offset;
    }
    c->address = (uint64_t)(int64_t)offset;
    if (has_base)
        c->address += register_of(u, base | (base_high ? 8U : 0));
    c->bytes = (size_t)(at - p);
}

/* Returns false for anything but VEX map 0F38 with 128 bits and W0. */
static bool decode(const ucontext_t *u, struct vex_code *c)
{
    const uint8_t *p = (const uint8_t *)u->uc_mcontext.gregs[REG_RIP]; // NOLINT
    *c = (struct vex_code){.bytes = 5};
    if (p[0] != 0xc4 || (p[1] & 0x1f) != 2 || (p[2] & 0x84) != 0)
        return false;
    c->prefix = p[2] & 3U;
    c->vvvv = ~(unsigned)p[2] >> 3 & 15U;
    c->opcode = p[3];
    c->reg = p[4] >> 3 & 7U;
    c->rm = p[4] & 7U;
    c->memory = p[4] >> 6 != 3;
    if (c->memory)
        decode_memory(u, p, c);
    return true;
}

/* Executes an instruction as described in Intel's manual. */
static bool emulate(const struct vex_code *c)
{
    enum { NONE, P66, PF3, PF2 };
    enum { CONFIGURE = 0x49, MOVE = 0x4b, DOT = 0x5c };
    bool none = c->vvvv == 0;          /* no operand in vvvv */
    void *memory = (void *)c->address; // NOLINT
    if (c->opcode == CONFIGURE && c->prefix == NONE && none && c->reg == 0 && c->memory)
        tile_configure(memory);
    else if (c->opcode == CONFIGURE && c->prefix == NONE && none && c->reg == 0 && c->rm == 0)
        tile_release();
    else if (c->opcode == CONFIGURE && c->prefix == PF2 && none && !c->memory && c->rm == 0)
        tile_zero(c->reg);
    else if (c->opcode == MOVE && (c->prefix == PF2 || c->prefix == P66) && none && c->memory)
        tile_load(c->reg, memory, c->stride);
    else if (c->opcode == MOVE && c->prefix == PF3 && none && c->memory)
        tile_store(c->reg, memory, c->stride);
    else if (c->opcode == DOT && c->prefix == PF3 && !c->memory && c->vvvv < N_TILES)
        tile_dot(c->reg, c->rm, c->vvvv);
    else
        return false;
    return true;
}

static volatile size_t n_emulated;

static void on_illegal(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    struct vex_code c;
    (void)signal_number;
    (void)info;
    if (!decode(u, &c) || !emulate(&c))
        fail_msg("an illegal instruction that is not a tile instruction");
    u->uc_mcontext.gregs[REG_RIP] += (greg_t)c.bytes;
    n_emulated++;
}

/* Checks sizes around the edges of tiles, panels and parts of k. There are only a few sizes,
 * because a trap takes microseconds. */
static void check_edges(const struct cov_gemm *gemm, struct gemm_data *d)
{
    static const size_t rows[] = {1, 15, 16, 17, 31, 32, 33};
    static const size_t columns[] = {1, 15, 16, 17, 32, 33, 64, 65, 97};
    for (size_t i = 0; i < COV_COUNT(rows); i++)
        for (size_t j = 0; j < COV_COUNT(columns); j++)
            check_product(gemm, d, rows[i], columns[j], 1 + (i * 23 + j * 9) % 70, 77, (i + j) % 2);
    check_product(gemm, d, 5, 66, 1152, MAX_K, false);
    check_product(gemm, d, 2, 40, MAX_K, MAX_K, true);
    check_product(gemm, d, 18, 40, 300, 60, false); /* overlapping rows */
}

TEST_WITH(runs_as_built, new_gemm_data, free_gemm_data)
{
    unsigned tiles = COV_CPU_AMX_TILE | COV_CPU_AMX_BF16, has = cov_cpu_features();
    struct cov_gemm one = cov_gemm_amx_bf16, three = cov_gemm_amx_bf16x3;
    if ((has & tiles) != 0 || (one.needs & ~tiles & ~has) != 0) {
        (void)printf("# the CPU has tiles, or no AVX-512\n");
        return;
    }
    one.needs = three.needs = 0;
    struct sigaction action = {.sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction before;
    assert_int_equal(sigaction(SIGILL, &action, &before), 0);
    check_edges(&one, *state);
    check_edges(&three, *state);
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    check_outer(&rng, &cov_outer_amx_bf16, 47, 65, COV_OUTER_DEPTH + 3, 50);
    assert_false(cpu.configured);
    assert_int_equal(sigaction(SIGILL, &before, NULL), 0);
    assert_true(n_emulated > 10000);
    (void)printf("# %zu instructions on tiles\n", n_emulated);
}
#endif

#ifdef __x86_64__
/* ---- layers with work between products ---- */

static float *random_floats(struct cov_rng *rng, size_t n)
{
    float *x = floats(n);
    fill(rng, x, n, 1);
    return x;
}

static void run_lstm(const struct cov_layer *l, const struct cov_layer_weights *w,
                     const struct cov_gemm *gemm, const struct cov_vec *loops, bool full, size_t n,
                     const float *x, float *y)
{
    const struct cov_lstm_rest rest = {0x1p-12F, 0x1p-12F, 64};
    struct cov_lstm_task tasks[COV_LSTM_ROWS] = {{.input = NULL}};
    struct cov_lstm *f;
    assert_int_equal(cov_lstm_new(l, w, gemm, loops, rest, &f, NULL), 0);
    float *scratch = floats(cov_lstm_scratch(f));
    for (size_t b = 0; b < n; b++)
        tasks[b].rows = (struct cov_rows){0, l->t_in};
    cov_lstm_run(f, &(struct cov_lstm_batch){n, tasks, full, NULL, x, y}, scratch);
    cov_lstm_free(f);
}

/* Parts of x repeat, so that some sequences rest. */
static void check_lstm(struct cov_rng *rng, const struct cov_gemm *gemm,
                       const struct cov_vec *loops, size_t n)
{
    const size_t t_n = draw(rng, 1, 30), c_in = 32 * draw(rng, 1, 3), hidden = 32 * draw(rng, 1, 2);
    const struct cov_layer l = lstm_layer(t_n, c_in, hidden, draw(rng, 1, 2));
    struct cov_gemm plain = *gemm;
    plain.lstm_step = NULL;
    float *x = random_floats(rng, l.t_in * n * l.c_in);
    struct cov_layer_weights w = draw_weights(rng, &l, 0.25f);
    for (size_t t = 1; t < l.t_in; t++)
        for (size_t b = 0; b < n; b++)
            if (b % 4 == 1 && t % 16 > 12)
                memcpy(x + (t * n + b) * l.c_in, x + ((t - 1) * n + b) * l.c_in,
                       l.c_in * sizeof *x);
    for (int full = 0; full < 2; full++) {
        float *y = floats(l.t_in * n * l.c_out), *want = floats(l.t_in * n * l.c_out);
        run_lstm(&l, &w, gemm, loops, full, n, x, y);
        run_lstm(&l, &w, &plain, loops, full, n, x, want);
        assert_memory_equal(y, want, l.t_in * n * l.c_out * sizeof *y);
    }
}

static void run_conv(const struct cov_layer *l, const struct cov_layer_weights *w,
                     const struct cov_gemm *gemm, const float *x, size_t x_stride, float *y)
{
    const struct cov_cpu_kernels kernels = {.gemm = gemm, .vec = &cov_vec_base};
    struct cov_conv *f;
    assert_int_equal(cov_conv_new(l, w, &kernels, &f, NULL), 0);
    float *scratch = floats(cov_conv_scratch(f));
    cov_conv_rows(f, (struct cov_rows){0, l->t_out},
                  &(struct cov_layer_io){x, x_stride, y, l->c_out}, scratch);
    cov_conv_free(f);
}

static void check_conv(struct cov_rng *rng, const struct cov_gemm *gemm, bool transposed)
{
    struct cov_layer l = {.kind = transposed ? COV_LAYER_CONV_TRANSPOSED : COV_LAYER_CONV,
                          .c_in = 32 * draw(rng, 1, 2),
                          .c_out = 32 * draw(rng, 1, 3),
                          .kernel = draw(rng, 1, 10),
                          .stride = draw(rng, 1, 3),
                          .dilation = 1};
    l.pad = (int64_t)draw(rng, 0, l.kernel - 1);
    size_t length = draw(rng, 1, 150), x_stride = l.c_in * draw(rng, 1, 2);
    l.t_in = transposed ? length : length * l.stride + l.kernel;
    l.t_out = transposed ? length * l.stride : length;
    struct cov_gemm plain = *gemm;
    plain.run_rows = NULL;
    float *x = random_floats(rng, l.t_in * x_stride);
    struct cov_layer_weights w = draw_weights(rng, &l, 0.25f);
    float *y = floats(l.t_out * l.c_out), *want = floats(l.t_out * l.c_out);
    run_conv(&l, &w, gemm, x, x_stride, y);
    run_conv(&l, &w, &plain, x, x_stride, want);
    assert_memory_equal(y, want, l.t_out * l.c_out * sizeof *y);
}

/* Joined rows equal those of single precision within the rounding of three terms. */
static void check_joined(struct cov_rng *rng, const struct cov_gemm *gemm)
{
    struct cov_layer l = {.kind = COV_LAYER_CONV_TRANSPOSED,
                          .c_in = draw(rng, 1, 70),
                          .c_out = draw(rng, 1, 5),
                          .kernel = draw(rng, 1, 10),
                          .stride = draw(rng, 1, 3),
                          .dilation = draw(rng, 1, 2)};
    l.pad = (int64_t)draw(rng, 0, l.kernel - 1);
    l.t_in = draw(rng, 1, 150);
    l.t_out = l.t_in * l.stride;
    assert_true(cov_conv_joins(&l));
    float *x = random_floats(rng, l.t_in * l.c_in);
    struct cov_layer_weights w = draw_weights(rng, &l, 0.25f);
    size_t n = l.t_out * l.c_out;
    float *y = floats(n), *want = floats(n), scale = 1e-3f;
    run_conv(&l, &w, gemm, x, l.c_in, y);
    run_conv(&l, &w, &cov_gemm_base, x, l.c_in, want);
    for (size_t i = 0; i < n; i++)
        scale = fmaxf(scale, fabsf(want[i]));
    for (size_t i = 0; i < n; i++)
        assert_true(fabsf(y[i] - want[i]) <= 2e-5f * scale);
}

static void check_layers(const struct cov_gemm *gemm, const struct cov_vec *loops, size_t n_cases)
{
    static const size_t rows[] = {1, 2, 15, 16, 17, 31, 32};
    struct cov_rng rng;
    cov_rng_init(&rng, 71);
    for (size_t i = 0; i < n_cases; i++) {
        if (gemm->run_rows)
            check_conv(&rng, gemm, i % 2);
        else
            check_joined(&rng, gemm);
        check_lstm(&rng, gemm, loops, rows[i % COV_COUNT(rows)]);
        unit_free();
    }
}

TEST(works_between)
{
    struct cov_gemm one = cov_gemm_amx_bf16, three = cov_gemm_amx_bf16x3;
    one.needs = three.needs = 0;
    one.run = amx_bf16;
    one.run_rows = amx_rows_bf16;
    one.lstm_step = amx_lstm_bf16;
    three.run = amx_bf16x3;
    three.lstm_step = amx_lstm_bf16x3;
    check_layers(&one, &emulated_vec, 30);
    check_layers(&three, &emulated_vec, 30);
    assert_false(cpu.configured);
    struct cov_cpu_choice amx;
    if (cov_cpu_level_choose("amx", &amx, NULL))
        return;
    check_layers(&cov_gemm_amx_bf16, &cov_vec_amx_bf16, 100);
    check_layers(&cov_gemm_amx_bf16x3, &cov_vec_amx, 100);
}
#endif

TEST(sums_outer_products)
{
    const struct cov_outer emulated = {"C", 0, amx_outer, COV_BF16};
    struct cov_rng rng;
    cov_rng_init(&rng, 72);
    check_outer_sizes(&rng, &emulated);
    assert_false(cpu.configured);
}

TEST_WITH(multiplies, new_gemm_data, free_gemm_data)
{
    const struct cov_gemm one = {.name = "tiles",
                                 .needs = 0,
                                 .lanes = PAIRS_LANES,
                                 .width = PAIRS_PANEL,
                                 .run = amx_bf16,
                                 .pack = cov_gemm_pack_pairs,
                                 .arithmetic = COV_BF16,
                                 .k_unit = TILE_UNIT};
    const struct cov_gemm three = {.name = "tiles x3",
                                   .needs = 0,
                                   .lanes = PAIRS_LANES,
                                   .width = PAIRS_PANEL,
                                   .run = amx_bf16x3,
                                   .pack = cov_gemm_pack_pairs,
                                   .arithmetic = COV_BF16X3,
                                   .k_unit = TILE_UNIT};
    check_gemm(&one, *state);
    assert_false(cpu.configured);
    check_gemm(&three, *state);
    assert_false(cpu.configured);
}
