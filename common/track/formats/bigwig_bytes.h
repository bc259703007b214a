/* bigwig_bytes.h - the numbers of bigWig files, which are little-endian here, and writing them in
 * their place.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_FORMATS_BIGWIG_BYTES_H
#define COV_TRACK_FORMATS_BIGWIG_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/err.h"

/* Each puts a number at p and returns the place behind it. */
static inline uint8_t *cov_put16(uint8_t *p, uint16_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    return p + 2;
}

static inline uint8_t *cov_put32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
    return p + 4;
}

static inline uint8_t *cov_put64(uint8_t *p, uint64_t x)
{
    return cov_put32(cov_put32(p, (uint32_t)x), (uint32_t)(x >> 32));
}

static inline uint8_t *cov_put_float(uint8_t *p, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return cov_put32(p, bits);
}

static inline uint8_t *cov_put_double(uint8_t *p, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return cov_put64(p, bits);
}

/* A file that is written piece after piece. Free with cov_bigwig_out_fini; what was put and not
 * flushed is lost. */
struct cov_bigwig_out {
    int fd;           /* borrowed */
    const char *name; /* for messages. Borrowed */
    const char *what; /* behind the name in messages: "" or what else this is. Borrowed */
    uint64_t at;      /* place of the next byte in the file */
    size_t n;
    uint8_t *buf; /* Owned; NULL until the first put */
};

/* The n bytes at `data` come next. COV_EIO "<name>: cannot be written<what>: <reason>". */
int cov_bigwig_out_put(struct cov_bigwig_out *out, const void *data, size_t n,
                       struct cov_err *e) COV_MUST_USE;
int cov_bigwig_out_flush(struct cov_bigwig_out *out, struct cov_err *e) COV_MUST_USE;
void cov_bigwig_out_fini(struct cov_bigwig_out *out);

/* Writes n bytes at `at`, past the buffer. */
int cov_bigwig_out_write(const struct cov_bigwig_out *out, const void *data, size_t n, uint64_t at,
                         struct cov_err *e) COV_MUST_USE;
/* Reads n bytes back; COV_EIO when they are not there. */
int cov_bigwig_out_read(const struct cov_bigwig_out *out, void *data, size_t n, uint64_t at,
                        struct cov_err *e) COV_MUST_USE;

#endif
