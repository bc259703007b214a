/* example_pack.c - see example_pack.h.
 *
 * The codes come first, then for each dataset a byte for the form, and the values. Byte order is
 * that of the machine: packed data never leaves the run.
 * SPDX-License-Identifier: MIT */
#include "common/examples/example_pack.h"

#include <math.h>
#include <string.h>

#include "common/seq/alphabet.h"

enum form { ZEROS, BYTES, WORDS, HUNDREDTHS, FLOATS };

static const size_t widths[] = {
    [ZEROS] = 0, [BYTES] = 1, [WORDS] = 2, [HUNDREDTHS] = 2, [FLOATS] = 4};

size_t cov_example_pack_bound(size_t L, size_t D)
{
    return (L + 1) / 2 + D * (1 + 4 * L);
}

/* Returns the shortest form that holds a value exactly. */
static enum form form_of(float v)
{
    if (v >= 0 && v <= UINT16_MAX && v == (float)(uint16_t)v)
        return v == 0 ? ZEROS : v <= UINT8_MAX ? BYTES : WORDS;
    float h = rintf(v * 100.0F);
    return h >= 0 && h <= UINT16_MAX && h / 100.0F == v ? HUNDREDTHS : FLOATS;
}

/* Returns the form of all values of a dataset. HUNDREDTHS cannot hold values above 655.35. */
static enum form common_form(const float *targets, size_t L, size_t D)
{
    enum form most = ZEROS;
    float max = 0;
    for (size_t i = 0; i < L; i++) {
        enum form form = form_of(targets[i * D]);
        most = form > most ? form : most;
        max = targets[i * D] > max ? targets[i * D] : max;
    }
    return most == HUNDREDTHS && max * 100.0F > UINT16_MAX ? FLOATS : most;
}

static void put(enum form form, float v, uint8_t *out)
{
    uint16_t word = (uint16_t)(form == HUNDREDTHS ? rintf(v * 100.0F) : v);
    if (form == BYTES)
        *out = (uint8_t)v;
    else if (form == FLOATS)
        memcpy(out, &v, sizeof v);
    else
        memcpy(out, &word, sizeof word);
}

static float get(enum form form, const uint8_t *in)
{
    uint16_t word;
    float v;
    if (form == BYTES)
        return *in;
    if (form == FLOATS) {
        memcpy(&v, in, sizeof v);
        return v;
    }
    memcpy(&word, in, sizeof word);
    return form == HUNDREDTHS ? (float)word / 100.0F : (float)word;
}

size_t cov_example_pack(const uint8_t *codes, const float *targets, size_t L, size_t D,
                        uint8_t *out)
{
    uint8_t *at = out + (L + 1) / 2;
    cov_codes_pack(codes, L, out);
    for (size_t d = 0; d < D; d++) {
        enum form form = common_form(targets + d, L, D);
        *at++ = (uint8_t)form;
        for (size_t i = 0; form != ZEROS && i < L; i++, at += widths[form])
            put(form, targets[i * D + d], at);
    }
    return (size_t)(at - out);
}

void cov_example_unpack(const uint8_t *packed, size_t L, size_t D, uint8_t *codes, float *targets)
{
    const uint8_t *at = packed + (L + 1) / 2;
    cov_codes_unpack(packed, 0, L, codes);
    for (size_t d = 0; d < D; d++) {
        enum form form = (enum form) * at++;
        for (size_t i = 0; i < L; i++, at += widths[form])
            targets[i * D + d] = form == ZEROS ? 0 : get(form, at);
    }
}
