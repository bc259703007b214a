/* bench_encode.c - benchmark encode: encoding of letters, and the cost of padding, by sequence
 * length.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/codec/codec.h"
#include "common/deflate/onehot_deflate.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/bench.h"

/* Encodings of one sequence, and of many sequences to padded one-hot floats. */
enum form {
    CODES,
    PACKED,
    ONEHOT_F16,
    ONEHOT_F32,
    DEFLATE,
    DEFLATE_FAST,
    LIBDEFLATE,
    PADDINGS,
    TO_MAX_LENGTH = PADDINGS,
    TO_LONGEST,
    GROUPED,
    FORMS
};
static const char *const form_names[FORMS] = {"codes",   "packed",       "onehot_f16", "onehot_f32",
                                              "deflate", "deflate_fast", "libdeflate", "max_length",
                                              "longest", "grouped"};

enum { N_SEQUENCES = 256, LEAST = 32, BATCH = 16 };

/* A sequence of L letters, whose prefixes serve as shorter sequences, and buffers for its encoded
 * forms. */
struct text {
    size_t L, lengths[N_SEQUENCES], sorted[N_SEQUENCES];
    float *floats;    /* [BATCH, L, 4]. Owns the memory of all buffers */
    uint16_t *halves; /* [L, 4] */
    uint8_t *plain, *bytes, *codes, *packed;
    char *letters;
};

/* A form of a text. */
struct encode_case {
    struct text *text;
    enum form form;
    size_t n_bytes;       /* of the last result */
    double bases, padded; /* of the last result, without and with padding */
};

static const struct cov_codec_choice libdeflate = {COV_CODEC_LIBDEFLATE, 6};

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Upper bound for all compressions. */
static size_t bound(size_t L)
{
    size_t a = cov_onehot_bound(L), b = cov_codec_bound(libdeflate, 8 * L);
    return a > b ? a : b;
}

static int open_text(struct text *t, size_t L, struct cov_err *e)
{
    struct cov_rng rng;
    cov_rng_init(&rng, BENCH_SEED + L);
    t->L = L;
    t->floats = cov_calloc64(1, (16 * BATCH + 8 + 8 + 3) * L + bound(L), e);
    if (!t->floats)
        return COV_ENOMEM;
    t->halves = (uint16_t *)(t->floats + 4 * BATCH * L);
    t->plain = (uint8_t *)(t->halves + 4 * L);
    t->bytes = t->plain + 8 * L;
    t->codes = t->bytes + bound(L);
    t->packed = t->codes + L;
    t->letters = (char *)t->packed + L;
    for (size_t i = 0; i < L; i++)
        t->letters[i] = cov_rng_below(&rng, 500) ? "ACGT"[cov_rng_below(&rng, 4)] : 'N';
    for (size_t i = 0; i < N_SEQUENCES; i++)
        t->sorted[i] = t->lengths[i] = LEAST < L ? LEAST + cov_rng_below(&rng, L - LEAST + 1) : L;
    qsort(t->sorted, N_SEQUENCES, sizeof *t->sorted, ascending);
    return COV_OK;
}

/* ---------------------------------------------------------------- padding */

/* Returns the padded length of the batch that starts at sequence i. */
static size_t padded_length(const struct encode_case *c, const size_t *lengths, size_t i)
{
    size_t most = 0;
    if (c->form == TO_MAX_LENGTH)
        return c->text->L;
    for (size_t k = i; k < i + BATCH && k < N_SEQUENCES; k++)
        most = lengths[k] > most ? lengths[k] : most;
    return most;
}

/* Encodes all sequences. */
static int pad_all(struct encode_case *c, struct cov_err *e)
{
    struct text *t = c->text;
    const size_t *lengths = c->form == GROUPED ? t->sorted : t->lengths;
    c->bases = c->padded = 0;
    for (size_t i = 0; i < N_SEQUENCES; i++) {
        size_t L = padded_length(c, lengths, i - i % BATCH);
        float *to = t->floats + i % BATCH * 4 * L;
        if (!cov_codes_of_letters(t->letters, lengths[i], t->codes))
            return cov_fail(e, COV_EINPUT, "a letter is not a base");
        for (size_t k = 0; k < lengths[i]; k++)
            memcpy(to + 4 * k, cov_onehot_f32[t->codes[k]], 4 * sizeof(float));
        memset(to + 4 * lengths[i], 0, (L - lengths[i]) * 4 * sizeof(float));
        c->bases += (double)lengths[i];
        c->padded += (double)L;
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- forms */

static int encode(void *arg, struct cov_err *e)
{
    struct encode_case *c = arg;
    struct text *t = c->text;
    size_t L = t->L;
    if (c->form >= PADDINGS)
        return pad_all(c, e);
    c->bases = (double)L;
    if (!cov_codes_of_letters(t->letters, L, t->codes))
        return cov_fail(e, COV_EINPUT, "a letter is not a base");
    if (c->form == PACKED)
        cov_codes_pack(t->codes, L, t->packed);
    for (size_t i = 0; i < L && c->form == ONEHOT_F32; i++)
        memcpy(t->floats + 4 * i, cov_onehot_f32[t->codes[i]], 4 * sizeof(float));
    for (size_t i = 0; i < L && (c->form == ONEHOT_F16 || c->form == LIBDEFLATE); i++)
        memcpy(t->halves + 4 * i, cov_onehot_f16[t->codes[i]], 8);
    if (c->form == LIBDEFLATE) {
        cov_shuffle((const uint8_t *)t->halves, 8 * L, 2, t->plain);
        return cov_codec_encode(libdeflate, 0, t->plain, 8 * L, t->bytes, &c->n_bytes, e);
    }
    if ((c->form == DEFLATE || c->form == DEFLATE_FAST) &&
        !cov_onehot_encode(c->form == DEFLATE ? COV_ONEHOT_SMALL : COV_ONEHOT_FAST, t->codes, L,
                           t->bytes, bound(L), &c->n_bytes))
        return cov_fail(e, COV_EINPUT, "bases cannot be encoded");
    return COV_OK;
}

/* Sets *value to the bases encoded per second, without padding. */
static int run(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct encode_case *c = arg;
    double each;
    int rc = bench_repeat(encode, arg, seconds, &each, e);
    *value = c->bases / each;
    return rc;
}

/* ---------------------------------------------------------------- all of them */

static double by_form(const struct encode_case *c, bool padded, char series[64], double *x)
{
    (void)snprintf(series, 64, "%s", form_names[c->form]);
    *x = (double)c->text->L;
    return padded == (c->form >= PADDINGS) ? 1e-6 : 0;
}

static double place_form(const void *arg, char series[64], double *x)
{
    return by_form(arg, false, series, x);
}

static double place_padding(const void *arg, char series[64], double *x)
{
    return by_form(arg, true, series, x);
}

static int report(struct bench *b, const struct bench_cases *cases, struct cov_err *e)
{
    static const struct cov_chart forms = {.file = "encode_forms",
                                           .title = "Encoding of letters, one core",
                                           .x = "bases of a sequence",
                                           .y = "million bases/s",
                                           .log_x = true,
                                           .log_y = true};
    static const struct cov_chart paddings = {
        .file = "encode_padding",
        .title = "Padded one-hot floats of sequences of all lengths, one core",
        .x = "the longest sequence",
        .y = "million bases/s, without padding",
        .log_x = true};
    int rc = bench_draw(b, &forms, cases, place_form, e);
    if (!rc)
        rc = bench_draw(b, &paddings, cases, place_padding, e);
    for (size_t i = 0; i < cases->n && !rc; i++) {
        const struct encode_case *c = cases->items[i].arg;
        if (c->form >= PADDINGS)
            rc = figures_add_one(&b->figures, 1 - c->bases / c->padded, e,
                                 "encode/padding_share/padding=%s,length=%zu", form_names[c->form],
                                 c->text->L);
    }
    return rc;
}

int bench_encode(struct bench *b, const void *options, struct cov_err *e)
{
    const struct numbers *lengths = &((const struct encode_options *)options)->lengths;
    struct text *texts = cov_calloc(lengths->n, sizeof *texts, e);
    struct encode_case *all = cov_calloc(lengths->n * FORMS, sizeof *all, e);
    struct bench_cases cases = {.run = run};
    int rc = texts && all ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < lengths->n && !rc; i++) {
        rc = open_text(&texts[i], (size_t)lengths->items[i], e);
        for (size_t k = 0; k < FORMS && !rc; k++) {
            struct encode_case *c = &all[i * FORMS + k];
            *c = (struct encode_case){.text = &texts[i], .form = (enum form)k};
            rc = bench_cases_add(&cases, c, e, "encode/%s=%s,length=%zu",
                                 k < PADDINGS ? "bases_per_second/form"
                                              : "padded_bases_per_second/padding",
                                 form_names[k], c->text->L);
        }
    }
    if (!rc)
        rc = bench_run(b, "encoding", &cases, e);
    if (!rc)
        rc = report(b, &cases, e);
    for (size_t i = 0; texts && i < lengths->n; i++)
        free(texts[i].floats);
    bench_cases_fini(&cases);
    free(texts);
    free(all);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

static const struct cov_opt encode_rows[] = {
    BENCHMARK_LIST("length", offsetof(struct encode_options, lengths), "500,2k,8k,21384", 8,
                   1 << 24, "bases of a sequence"),
    BENCHMARK_SECONDS("0.02"),
    BENCHMARK_REPEATS("5"),
    {.name = NULL},
};

static int encode_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    int rc = benchmark_numbers(encode_rows, config, e);
    return rc ? rc : benchmark_run(common, config, false, bench_encode, e);
}

const struct cov_tool benchmark_encode = {
    .name = "encode",
    .summary = "measure encoding and padding by sequence length",
    BENCHMARK_OUTPUT(""),
    .examples = "  benchmark encode --length 500,5k,50k\n",
    .options = encode_rows,
    .config_bytes = sizeof(struct encode_options),
    .run = encode_run,
};
