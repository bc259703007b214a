/* bench_onehot - bytes and CPU time per chunk of the encoders for the bases of a genome file.
 * bench_onehot [FASTA] Without FASTA the bases are random. The median of nine passes over at most 64 chunks without
 * padding.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/bgz.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/codec/codec.h"
#include "common/codec/deflate.h"
#include "common/codec/onehot.h"
#include "common/seq/alphabet.h"

enum { CHUNK = 21384, N_CHUNKS = 64, N_PASSES = 9 };

/* Fills codes with the letters of the sequences of a FASTA file; *n_chunks = complete chunks. */
static int read_codes(const char *path, uint8_t *codes, size_t *n_chunks, struct cov_err *e)
{
    static uint8_t text[1 << 16];
    struct cov_bgz *file = NULL;
    size_t got = 1, n = 0;
    bool header = false;
    int rc = cov_bgz_open_read(path, 1, &file, e);
    while (!rc && got > 0 && n < N_CHUNKS * CHUNK) {
        rc = cov_bgz_read(file, text, sizeof text, &got, e);
        for (size_t i = 0; !rc && i < got && n < N_CHUNKS * CHUNK; i++) {
            header = text[i] == '>' || (header && text[i] != '\n');
            if (!header && cov_code_of_letter[text[i]] != COV_CODE_BAD)
                codes[n++] = cov_code_of_letter[text[i]];
        }
    }
    cov_bgz_abort(file);
    *n_chunks = n / CHUNK;
    return rc;
}

static uint8_t rows[8 * CHUNK], planes[8 * CHUNK], packed[16 * CHUNK];

/* Writes the stream to `packed`; level 0: by onehot.h. */
static int encode(int level, enum cov_onehot_effort effort, const uint8_t *codes, size_t *n,
                  struct cov_err *e)
{
    if (level == 0 && cov_onehot_encode(effort, codes, CHUNK, packed, sizeof packed, n))
        return 0;
    for (size_t t = 0; t < CHUNK; t++)
        memcpy(rows + 8 * t, cov_onehot_f16[codes[t]], 8);
    cov_shuffle(rows, sizeof rows, 2, planes);
    return cov_deflate(level ? level : 3, planes, sizeof planes, packed, sizeof packed, n, e);
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int level;
        enum cov_onehot_effort effort;
    } kinds[] = {{"fast", 0, COV_ONEHOT_FAST},
                 {"gzip", 0, COV_ONEHOT_SMALL},
                 {"libdeflate:1", 1, 0},
                 {"libdeflate:3", 3, 0},
                 {"libdeflate:6", 6, 0}};
    static uint8_t codes[N_CHUNKS * CHUNK];
    struct cov_err e = COV_ERR_INIT;
    size_t n_chunks = N_CHUNKS;
    struct cov_rng r;
    cov_rng_init(&r, 1);
    for (size_t t = 0; t < sizeof codes; t++)
        codes[t] = (uint8_t)(1 << cov_rng_below(&r, 4));
    if (argc > 1 && read_codes(argv[1], codes, &n_chunks, &e))
        goto fail;
    if (n_chunks == 0) {
        (void)fprintf(stderr, "bench_onehot: less than one chunk\n");
        return 1;
    }
    printf("%-14s %10s %10s %10s\n", "", "bytes", "us", "us, best");
    for (size_t k = 0; k < COV_COUNT(kinds); k++) {
        double us[N_PASSES];
        size_t bytes = 0, n;
        for (int pass = 0; pass < N_PASSES; pass++) {
            double start = now();
            for (size_t i = bytes = 0; i < n_chunks; i++, bytes += n)
                if (encode(kinds[k].level, kinds[k].effort, codes + i * CHUNK, &n, &e))
                    goto fail;
            us[pass] = (now() - start) / (double)n_chunks;
        }
        qsort(us, N_PASSES, sizeof *us, ascending);
        printf("%-14s %10.0f %10.1f %10.1f\n", kinds[k].name, (double)bytes / (double)n_chunks,
               us[N_PASSES / 2], us[0]);
    }
    return 0;
fail:
    (void)fprintf(stderr, "bench_onehot: %s\n", e.text);
    return 1;
}
