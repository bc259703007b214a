/* h5_retype.c - see h5_retype.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5_retype.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* An integer of any type: a negative number has `negative`, and its absolute value. */
struct whole {
    bool negative;
    uint64_t size;
};

static uint64_t load(const uint8_t *p, size_t bytes)
{
    uint64_t x = 0;
    for (size_t k = 0; k < bytes; k++)
        x |= (uint64_t)p[k] << (8 * k);
    return x;
}

static void store(uint8_t *p, size_t bytes, uint64_t x)
{
    for (size_t k = 0; k < bytes; k++)
        p[k] = (uint8_t)(x >> (8 * k));
}

static uint64_t sign_bit(size_t bytes)
{
    switch (bytes) {
    case 1:
        return 0x80;
    case 2:
        return 0x8000;
    case 4:
        return 0x80000000U;
    default:
        return (uint64_t)1 << 63;
    }
}

static struct whole load_whole(const struct cov_h5_type *t, const uint8_t *p)
{
    uint64_t x = load(p, t->bytes), sign = sign_bit(t->bytes);
    bool negative = t->is_signed && (x & sign);
    /* Extended, then negated. */
    return (struct whole){negative, negative ? ~(x | ~(sign - 1)) + 1 : x};
}

static bool store_whole(const struct cov_h5_type *t, struct whole w, uint8_t *p)
{
    uint64_t sign = sign_bit(t->bytes), most = t->is_signed ? sign - 1 : sign - 1 + sign;
    uint64_t least = t->is_signed ? sign : 0;
    if (w.size > (w.negative ? least : most))
        return false;
    store(p, t->bytes, w.negative ? ~w.size + 1 : w.size);
    return true;
}

static bool whole_of_double(double v, struct whole *w)
{
    double size = fabs(v);
    if (!(size < 18446744073709551616.0) || size != trunc(size)) /* 2^64 */
        return false;
    *w = (struct whole){v < 0, (uint64_t)size};
    return true;
}

static bool double_of_whole(struct whole w, double *v)
{
    double size = (double)w.size;
    if (size >= 18446744073709551616.0 || (uint64_t)size != w.size)
        return false;
    *v = w.negative ? -size : size;
    return true;
}

static bool store_double(const struct cov_h5_type *t, double v, uint8_t *p)
{
    if (t->bytes == sizeof(double)) {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        store(p, sizeof bits, bits);
        return true;
    }
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    store(p, sizeof bits, bits);
    return (double)f == v || isnan(v);
}

static bool convert(const struct cov_h5_type *from, const uint8_t *src,
                    const struct cov_h5_type *to, uint8_t *dst)
{
    struct whole w;
    double v;
    if (from->kind == COV_H5_INT) {
        w = load_whole(from, src);
        if (to->kind == COV_H5_INT)
            return store_whole(to, w, dst);
        return double_of_whole(w, &v) && store_double(to, v, dst);
    }
    cov_h5_to_double(from, src, 1, &v);
    if (to->kind == COV_H5_INT)
        return whole_of_double(v, &w) && store_whole(to, w, dst);
    return store_double(to, v, dst);
}

size_t cov_h5_retype(const struct cov_h5_type *from, const void *src, size_t n,
                     const struct cov_h5_type *to, void *dst)
{
    const uint8_t *s = src;
    uint8_t *d = dst;
    size_t i = 0;
    while (i < n && convert(from, s + i * from->bytes, to, d + i * to->bytes))
        i++;
    return i;
}

void cov_h5_print_element(const struct cov_h5_type *type, const void *src, char *text, size_t size)
{
    if (type->kind == COV_H5_INT) {
        struct whole w = load_whole(type, src);
        (void)snprintf(text, size, "%s%" PRIu64, w.negative ? "-" : "", w.size);
        return;
    }
    double v;
    cov_h5_to_double(type, src, 1, &v);
    (void)snprintf(text, size, "%.9g", v);
}
