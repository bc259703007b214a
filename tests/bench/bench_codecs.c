/* bench_codecs - measures bytes, ratio, and MB/s per core of the compressions, including shuffle,
 * on the data of our HDF5 files: the one-hot matrix, packed bases, and coverage.
 *   bench_codecs [ELEM_BYTES CHUNK_BYTES FILE]
 * Compresses the bytes of FILE in chunks; without FILE, bases are random and coverage is simulated.
 * Prints the median of seven passes over at most 48 chunks. MB are those of uncompressed data.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/base/rng.h"
#include "common/deflate/onehot_deflate.h"
#include "common/h5/h5_rows.h"
#include "common/seq/alphabet.h"

enum { L = 21384, N_CHUNKS = 48, N_PASSES = 7, READ = 100 };

struct data {
    const char *name;
    const uint8_t *bytes;
    size_t elem_bytes, chunk_bytes, n_chunks;
    const uint8_t *codes; /* set if the bytes are the one-hot matrix of these codes,
                           * [n_chunks][L] */
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *room(size_t n)
{
    void *p = malloc(n);
    if (!p) {
        (void)fprintf(stderr, "bench_codecs: out of memory\n");
        exit(1);
    }
    return p;
}

/* Encodes a chunk as a piece of *out. */
static int encode(const struct data *d, size_t i, struct cov_codec_choice choice,
                  const struct cov_filter *filters, size_t n_filters, struct cov_blob *out,
                  struct cov_err *e)
{
    size_t n = d->chunk_bytes;
    uint8_t *src, *scratch;
    if (d->codes && (choice.id == COV_CODEC_GZIP || choice.id == COV_CODEC_FAST)) {
        size_t bound = cov_onehot_bound(L), n_packed;
        int rc = cov_blob_room(out, COV_H5_PIECE_HEAD + bound, &src, e);
        if (rc)
            return rc;
        memset(src, 0, COV_H5_PIECE_HEAD);
        if (cov_onehot_encode(choice.id == COV_CODEC_FAST ? COV_ONEHOT_FAST : COV_ONEHOT_SMALL,
                              d->codes + i * L, L, src + COV_H5_PIECE_HEAD, bound, &n_packed))
            return cov_blob_end_piece(out, COV_H5_PIECE_HEAD + n_packed, e);
    }
    int rc = cov_h5_pack_begin(choice, n, out, &src, &scratch, e);
    if (rc)
        return rc;
    if (n_filters > 1)
        cov_shuffle(d->bytes + i * n, n, filters[0].elem_bytes, src);
    else
        memcpy(src, d->bytes + i * n, n);
    return cov_h5_pack_end(choice, filters, n_filters, n, out, e);
}

static int decode(const struct data *d, size_t i, const struct cov_filter *filters,
                  size_t n_filters, const struct cov_blob *packed, uint8_t *dst, uint8_t *scratch,
                  struct cov_err *e)
{
    size_t n;
    const uint8_t *piece = cov_blob_piece(packed, i, &n);
    uint32_t mask;
    memcpy(&mask, piece, sizeof mask);
    return cov_codec_undo((struct cov_applied){filters, n_filters, mask}, piece + COV_H5_PIECE_HEAD,
                          n - COV_H5_PIECE_HEAD, dst, d->chunk_bytes, scratch, e);
}

static int measure(const struct data *d, const char *name, struct cov_err *e)
{
    struct cov_codec_choice choice;
    struct cov_filter filters[3];
    struct cov_blob packed = COV_BLOB_INIT;
    double encoding[N_PASSES], decoding[N_PASSES];
    uint8_t *dst = room(d->chunk_bytes), *scratch = room(cov_codec_undo_scratch(d->chunk_bytes));
    int rc = cov_codec_parse(name, &choice, e);
    size_t n_filters = rc ? 0 : cov_h5_filters(choice, d->elem_bytes, filters);
    for (int pass = 0; !rc && pass < N_PASSES; pass++) {
        cov_blob_clear(&packed);
        double start = cov_clock_thread();
        for (size_t i = 0; !rc && i < d->n_chunks; i++)
            rc = encode(d, i, choice, filters, n_filters, &packed, e);
        encoding[pass] = cov_clock_thread() - start;
        start = cov_clock_thread();
        for (size_t i = 0; !rc && i < d->n_chunks; i++)
            rc = decode(d, i, filters, n_filters, &packed, dst, scratch, e);
        decoding[pass] = cov_clock_thread() - start;
    }
    if (!rc && memcmp(dst, d->bytes + (d->n_chunks - 1) * d->chunk_bytes, d->chunk_bytes) != 0)
        rc = cov_fail(e, COV_EIO, "%s: %s: decoded to different bytes", d->name, name);
    if (!rc) {
        double bytes = (double)d->chunk_bytes * (double)d->n_chunks,
               stored = (double)packed.n_bytes - (double)(COV_H5_PIECE_HEAD * d->n_chunks);
        qsort(encoding, N_PASSES, sizeof *encoding, ascending);
        qsort(decoding, N_PASSES, sizeof *decoding, ascending);
        printf("%-10s %-13s %9.0f %7.1f %9.0f %9.0f\n", d->name, name, stored / (double)d->n_chunks,
               bytes / stored, bytes / encoding[N_PASSES / 2] / 1e6,
               bytes / decoding[N_PASSES / 2] / 1e6);
    }
    cov_blob_fini(&packed);
    free(dst);
    free(scratch);
    return rc;
}

static int measure_all(const struct data *d, struct cov_err *e)
{
    static const char *const names[] = {"gzip",  "fast",    "libdeflate", "lzf",
                                        "lz4",   "zstd",    "zstd:10",    "blosc:1",
                                        "blosc", "blosc:5", "none"};
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < COV_COUNT(names); i++)
        rc = measure(d, names[i], e);
    return rc;
}

/* Coverage by reads: most at random positions, one in four in one of three peaks per chunk. */
static void simulate_coverage(struct cov_rng *r, uint8_t *bytes)
{
    static int32_t depth[L + READ];
    for (size_t i = 0; i < N_CHUNKS; i++) {
        size_t peaks[3];
        for (size_t k = 0; k < COV_COUNT(peaks); k++)
            peaks[k] = cov_rng_below(r, L - 300);
        memset(depth, 0, sizeof depth);
        for (size_t k = 0; k < L / 40; k++) {
            size_t at = cov_rng_below(r, 4) > 0
                            ? cov_rng_below(r, L)
                            : peaks[cov_rng_below(r, 3)] + cov_rng_below(r, 300);
            for (size_t t = at; t < at + READ; t++)
                depth[t]++;
        }
        memcpy(bytes + i * L * 4, depth, (size_t)L * 4);
    }
}

static int measure_synthetic(struct cov_err *e)
{
    struct cov_rng r;
    cov_rng_init(&r, 1);
    uint8_t *codes = room((size_t)N_CHUNKS * L), *rows = room((size_t)N_CHUNKS * L * 8),
            *packed = room((size_t)N_CHUNKS * L / 2), *coverage = room((size_t)N_CHUNKS * L * 4);
    for (size_t t = 0; t < (size_t)N_CHUNKS * L; t++) {
        codes[t] = (uint8_t)(1 << cov_rng_below(&r, 4));
        memcpy(rows + 8 * t, cov_onehot_f16[codes[t]], 8);
    }
    for (size_t t = 0; t < (size_t)N_CHUNKS * L / 2; t++)
        packed[t] = (uint8_t)(codes[2 * t] | codes[2 * t + 1] << 4);
    simulate_coverage(&r, coverage);
    const struct data all[] = {
        {"one-hot", rows, 2, (size_t)L * 8, N_CHUNKS, codes},
        {"packed", packed, 0, L / 2, N_CHUNKS, NULL},
        {"coverage", coverage, 4, (size_t)L * 4, N_CHUNKS, NULL},
    };
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < COV_COUNT(all); i++)
        rc = measure_all(&all[i], e);
    free(codes);
    free(rows);
    free(packed);
    free(coverage);
    return rc;
}

static int measure_file(char **argv, struct cov_err *e)
{
    size_t elem_bytes = strtoul(argv[1], NULL, 10), chunk_bytes = strtoul(argv[2], NULL, 10);
    if (chunk_bytes == 0 || chunk_bytes > (size_t)1 << 24)
        return cov_fail(e, COV_EUSAGE, "chunks of 1 to 16777216 bytes");
    uint8_t *bytes = room(N_CHUNKS * chunk_bytes);
    FILE *f = fopen(argv[3], "rb");
    size_t n = f ? fread(bytes, chunk_bytes, N_CHUNKS, f) : 0;
    if (f)
        (void)fclose(f);
    const char *slash = strrchr(argv[3], '/');
    const struct data d = {slash ? slash + 1 : argv[3], bytes, elem_bytes, chunk_bytes, n, NULL};
    int rc = n > 0 ? measure_all(&d, e) : cov_fail(e, COV_EIO, "%s: less than one chunk", argv[3]);
    free(bytes);
    return rc;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    if (argc != 1 && argc != 4) {
        (void)fprintf(stderr, "usage: bench_codecs [ELEM_BYTES CHUNK_BYTES FILE]\n");
        return 2;
    }
    printf("%-10s %-13s %9s %7s %9s %9s\n", "", "", "bytes", "ratio", "in, MB/s", "out, MB/s");
    int rc = argc == 4 ? measure_file(argv, &e) : measure_synthetic(&e);
    if (rc)
        (void)fprintf(stderr, "bench_codecs: %s\n", e.text);
    return rc ? 1 : 0;
}
