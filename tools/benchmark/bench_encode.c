/* bench_encode.c - benchmark encode: encoding of letters, and the cost of padding, by sequence
 * length.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/codec/codec.h"
#include "common/codec/onehot.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/measuring.h"

enum form { CODES, PACKED, ONEHOT_F16, ONEHOT_F32, DEFLATE, DEFLATE_FAST, LIBDEFLATE, FORMS };
static const char *const form_names[FORMS] = {"codes",   "packed",       "onehot_f16", "onehot_f32",
                                              "deflate", "deflate_fast", "libdeflate"};

enum padding { MAX_LENGTH, LONGEST, GROUPED, PADDINGS };
static const char *const padding_names[PADDINGS] = {"max_length", "longest", "grouped"};

enum { N_SEQUENCES = 256, LEAST = 32 };

/* A sequence of L letters, whose prefixes serve as shorter sequences, and buffers for its encoded
 * forms. */
struct text {
    size_t L;
    char *letters; /* [L] */
    uint8_t *codes, *packed, *plain, *bytes, *scratch, *back;
    uint16_t *halves; /* [L, 4] */
    float *floats;    /* [batch, L, 4] */
    size_t batch, lengths[N_SEQUENCES], sorted[N_SEQUENCES];
};

static void close_text(struct text *t)
{
    free(t->letters);
    free(t->codes);
    free(t->packed);
    free(t->plain);
    free(t->bytes);
    free(t->scratch);
    free(t->back);
    free(t->halves);
    free(t->floats);
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static const struct cov_codec_choice libdeflate = {COV_CODEC_LIBDEFLATE, 6};

/* Upper bound for all compressions. */
static size_t bound(size_t L)
{
    size_t a = cov_onehot_bound(L), b = cov_codec_bound(libdeflate, 8 * L);
    return a > b ? a : b;
}

static int open_text(struct text *t, size_t L, size_t batch, uint64_t seed, struct cov_err *e)
{
    struct cov_rng rng;
    cov_rng_init(&rng, seed + L);
    t->L = L;
    t->batch = batch;
    t->letters = cov_malloc(L, 1, e);
    t->codes = cov_malloc(L, 1, e);
    t->packed = cov_malloc((L + 1) / 2, 1, e);
    t->plain = cov_malloc(8 * L, 1, e);
    t->bytes = cov_malloc(bound(L), 1, e);
    t->scratch = cov_malloc(cov_codec_undo_scratch(8 * L), 1, e);
    t->back = cov_malloc(8 * L, 1, e);
    t->halves = cov_malloc(4 * L, sizeof *t->halves, e);
    t->floats = cov_calloc(batch * 4 * L, sizeof *t->floats, e);
    if (!t->letters || !t->codes || !t->packed || !t->plain || !t->bytes || !t->scratch ||
        !t->back || !t->halves || !t->floats)
        return COV_ENOMEM;
    for (size_t i = 0; i < L; i++)
        t->letters[i] = cov_rng_below(&rng, 500) ? "ACGT"[cov_rng_below(&rng, 4)] : 'N';
    for (size_t i = 0; i < N_SEQUENCES; i++)
        t->sorted[i] = t->lengths[i] = LEAST < L ? LEAST + cov_rng_below(&rng, L - LEAST + 1) : L;
    qsort(t->sorted, N_SEQUENCES, sizeof *t->sorted, ascending);
    return COV_OK;
}

/* ---------------------------------------------------------------- forms */

/* A case: one way of encoding or of padding, for sequences of one length. */
struct encode_case {
    struct text *text;
    enum form form;
    enum padding padding;
    size_t n_bytes; /* of the last result */
};

static int encode(struct encode_case *c, struct cov_err *e)
{
    struct text *t = c->text;
    size_t L = t->L;
    if (!cov_codes_of_letters(t->letters, L, t->codes))
        return cov_fail(e, COV_EINPUT, "a letter is not a base");
    switch (c->form) {
    case PACKED:
        cov_codes_pack(t->codes, L, t->packed);
        break;
    case ONEHOT_F32:
        for (size_t i = 0; i < L; i++)
            memcpy(t->floats + 4 * i, cov_onehot_f32[t->codes[i]], 4 * sizeof(float));
        break;
    case ONEHOT_F16:
    case LIBDEFLATE:
        for (size_t i = 0; i < L; i++)
            memcpy(t->halves + 4 * i, cov_onehot_f16[t->codes[i]], 8);
        if (c->form == ONEHOT_F16)
            break;
        cov_shuffle((const uint8_t *)t->halves, 8 * L, 2, t->plain);
        return cov_codec_encode(libdeflate, 0, t->plain, 8 * L, t->bytes, &c->n_bytes, e);
    case DEFLATE:
    case DEFLATE_FAST:
        if (!cov_onehot_encode(c->form == DEFLATE ? COV_ONEHOT_SMALL : COV_ONEHOT_FAST, t->codes, L,
                               t->bytes, bound(L), &c->n_bytes))
            return cov_fail(e, COV_EINPUT, "bases cannot be encoded");
        break;
    default:
        break;
    }
    return COV_OK;
}

/* Decodes the result and compares it with the letters. */
static int check_form(void *arg, struct cov_err *e)
{
    static const struct cov_filter filters[] = {{COV_H5_SHUFFLE, 2, 0}, {COV_H5_DEFLATE, 0, 0}};
    struct encode_case *c = arg;
    struct text *t = c->text;
    int rc = encode(c, e);
    if (rc)
        return rc;
    if (c->form >= DEFLATE) {
        rc = cov_codec_undo((struct cov_applied){filters, 2, 0}, t->bytes, c->n_bytes, t->back,
                            8 * t->L, t->scratch, e);
        if (rc)
            return rc;
        memcpy(t->halves, t->back, 8 * t->L);
    }
    if (c->form == PACKED)
        cov_codes_unpack(t->packed, 0, t->L, t->codes);
    for (size_t i = 0; i < t->L; i++) {
        uint8_t code = t->codes[i];
        if (c->form == ONEHOT_F32)
            code = cov_code_from_onehot(t->floats + 4 * i);
        else if (c->form >= DEFLATE || c->form == ONEHOT_F16)
            code = cov_code_from_onehot_f16(t->halves + 4 * i);
        if (cov_letter_of_code[code & 15] != t->letters[i])
            return cov_fail(e, COV_EINPUT, "base %zu: decoded value differs", i + 1);
    }
    return COV_OK;
}

/* Sets *value to the bases encoded per second. */
static int run_form(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct encode_case *c = arg;
    double start = cov_clock(), spent;
    size_t n = 0;
    int rc = COV_OK;
    do {
        rc = encode(c, e);
        n++;
        spent = cov_clock() - start;
    } while (!rc && spent < seconds);
    *value = (double)(n * c->text->L) / spent;
    return rc;
}

/* ---------------------------------------------------------------- padding */

/* Returns the padded length of the batch that starts at sequence i. */
static size_t padded_length(const struct encode_case *c, const size_t *lengths, size_t i)
{
    size_t most = 0;
    if (c->padding == MAX_LENGTH)
        return c->text->L;
    for (size_t k = i; k < i + c->text->batch && k < N_SEQUENCES; k++)
        most = lengths[k] > most ? lengths[k] : most;
    return most;
}

/* Encodes all sequences once. Sets *bases and *padded to the bases without and with padding. */
static int pad_all(const struct encode_case *c, double *bases, double *padded, struct cov_err *e)
{
    struct text *t = c->text;
    const size_t *lengths = c->padding == GROUPED ? t->sorted : t->lengths;
    *bases = *padded = 0;
    for (size_t i = 0; i < N_SEQUENCES; i++) {
        size_t first = i - i % t->batch, L = padded_length(c, lengths, first);
        float *to = t->floats + i % t->batch * 4 * L;
        if (!cov_codes_of_letters(t->letters, lengths[i], t->codes))
            return cov_fail(e, COV_EINPUT, "a letter is not a base");
        for (size_t k = 0; k < lengths[i]; k++)
            memcpy(to + 4 * k, cov_onehot_f32[t->codes[k]], 4 * sizeof(float));
        memset(to + 4 * lengths[i], 0, (L - lengths[i]) * 4 * sizeof(float));
        *bases += (double)lengths[i];
        *padded += (double)L;
    }
    return COV_OK;
}

static int run_padding(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct encode_case *c = arg;
    double start = cov_clock(), spent, bases, padded, sum = 0;
    int rc;
    do {
        rc = pad_all(c, &bases, &padded, e);
        sum += bases;
        spent = cov_clock() - start;
    } while (!rc && spent < seconds);
    *value = sum / spent;
    return rc;
}

/* ---------------------------------------------------------------- all of them */

struct all {
    struct bench *b;
    const struct bench_encode_options *o;
    struct text *texts;
    struct encode_case *of_cases; /* [n_lengths][FORMS + PADDINGS] */
    struct bench_cases cases;     /* in the same order */
};

static int plan(struct all *a, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < a->o->lengths.n && !rc; i++) {
        long long L = a->o->lengths.items[i];
        rc = open_text(&a->texts[i], (size_t)L, (size_t)a->o->batch, a->b->seed, e);
        for (size_t k = 0; k < FORMS + PADDINGS && !rc; k++) {
            struct encode_case *of = &a->of_cases[a->cases.n];
            bool is_form = k < FORMS;
            *of = (struct encode_case){.text = &a->texts[i]};
            if (is_form)
                of->form = (enum form)k;
            else
                of->padding = (enum padding)(k - FORMS);
            const struct bench_case c = {
                .name = is_form
                            ? cov_strfmt(e, "encode/bases_per_second/form=%s,length=%lld",
                                         form_names[k], L)
                            : cov_strfmt(e, "encode/padded_bases_per_second/padding=%s,length=%lld",
                                         padding_names[k - FORMS], L),
                .unit = "bases/s",
                .higher_is_better = true,
                .check = is_form ? check_form : NULL,
                .run = is_form ? run_form : run_padding,
                .arg = of};
            rc = bench_cases_add(&a->cases, c, e);
        }
    }
    return rc;
}

static int add_padding_shares(const struct all *a, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < a->cases.n && !rc; i++) {
        const struct encode_case *c = &a->of_cases[i];
        double bases, padded;
        if (a->cases.items[i].run != run_padding)
            continue;
        rc = pad_all(c, &bases, &padded, e);
        if (!rc)
            rc = figures_add_one(&a->b->figures, "of positions", false, 1 - bases / padded, e,
                                 "encode/padding_share/padding=%s,length=%zu",
                                 padding_names[c->padding], c->text->L);
    }
    return rc;
}

static int draw(const struct all *a, struct cov_err *e)
{
    static const struct cov_chart like_forms = {.kind = COV_CHART_LINES,
                                                .file = "encode_forms",
                                                .title = "Encoding of letters, one core",
                                                .x = "bases of a sequence",
                                                .y = "million bases/s",
                                                .log_x = true,
                                                .log_y = true};
    static const struct cov_chart like_paddings = {
        .kind = COV_CHART_LINES,
        .file = "encode_padding",
        .title = "Padded one-hot floats of sequences of all lengths, one core",
        .x = "the longest sequence",
        .y = "million bases/s, without padding",
        .log_x = true};
    struct cov_chart *forms, *paddings;
    int rc = cov_charts_add(&a->b->charts, &like_forms, &forms, e);
    if (!rc)
        rc = cov_charts_add(&a->b->charts, &like_paddings, &paddings, e);
    for (size_t i = 0; i < a->cases.n && !rc; i++) {
        const struct bench_case *c = &a->cases.items[i];
        const struct figure *f = figures_find(&a->b->figures, c->name);
        const struct encode_case *of = c->arg;
        rc = c->run == run_form
                 ? chart_add_figure(forms, form_names[of->form], (double)of->text->L, f, 1e-6, e)
                 : chart_add_figure(paddings, padding_names[of->padding], (double)of->text->L, f,
                                    1e-6, e);
    }
    return rc;
}

int bench_encode(struct bench *b, const struct bench_encode_options *options, struct cov_err *e)
{
    struct all a = {.b = b, .o = options};
    size_t n = options->lengths.n;
    a.texts = cov_calloc(n, sizeof *a.texts, e);
    a.of_cases = cov_calloc(n * (FORMS + PADDINGS), sizeof *a.of_cases, e);
    int rc = a.texts && a.of_cases ? plan(&a, e) : COV_ENOMEM;
    if (!rc)
        rc = bench_run(b, "encoding", &a.cases, e);
    if (!rc)
        rc = add_padding_shares(&a, e);
    if (!rc)
        rc = draw(&a, e);
    for (size_t i = 0; a.texts && i < n; i++)
        close_text(&a.texts[i]);
    bench_cases_fini(&a.cases);
    free(a.texts);
    free(a.of_cases);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

struct encode_config {
    struct benchmark_config common;
    struct cov_strings lengths;
    int64_t batch;
};

static const struct cov_opt encode_options[] = {
    BENCHMARK_LIST("length", offsetof(struct encode_config, lengths), "N", "500,2k,8k,21384",
                   "bases of a sequence"),
    BENCHMARK_COUNT("batch-size", offsetof(struct encode_config, batch), "16", 256,
                    "sequences padded together"),
    BENCHMARK_OPTIONS("5", "0.02"),
    {.name = NULL},
};

static int encode_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct encode_config *c = config;
    const struct number_limits lengths = {.option = "--length", .min = 8, .max = 1 << 24};
    struct bench_encode_options o = {.batch = c->batch};
    struct bench b = {0};
    int rc = benchmark_numbers(&c->lengths, &lengths, &o.lengths, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, BENCH_ENCODE, 4 * c->common.seconds, &b, e);
    if (!rc)
        rc = bench_encode(&b, &o, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    bench_fini(&b);
    free(o.lengths.items);
    return rc;
}

const struct cov_tool benchmark_encode = {
    .name = "encode",
    .summary = "measure encoding and padding by sequence length",
    BENCHMARK_OUTPUT,
    .examples = "  benchmark encode --length 500,5k,50k\n",
    .options = encode_options,
    .config_bytes = sizeof(struct encode_config),
    .run = encode_run,
};
