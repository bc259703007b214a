/* fuzz_journal.c - a journal of a killed run; the checksums of head and pieces are made right, unless the first byte
 * is odd.
 * Target: common/chunk/journal.c
 * SPDX-License-Identifier: MIT */
#include "common/chunk/journal.h"
#include "common/deflate/deflate.h"
#include "tests/fuzz/fuzz.h"

enum { HEAD = 32, PIECE = 48, N_PIECES = 64 };

/* Of what journal.c says the layout is: magic 16, version, n, crc, zero; pieces: magic, crc, number, bytes, pieces. */
static void mend(uint8_t *p, size_t n)
{
    uint32_t n_head, crc;
    uint64_t f[5];
    if (n < HEAD)
        return;
    memcpy(&n_head, p + 20, 4);
    if (n_head > n - HEAD)
        return;
    crc = cov_crc32(cov_crc32(0, p + 20, 4), p + HEAD, n_head);
    memcpy(p + 24, &crc, 4);
    for (size_t at = HEAD + n_head; at + PIECE <= n;) {
        memcpy(f, p + at + 8, sizeof f);
        size_t left = n - at - PIECE;
        if (f[1] > left || f[2] > left || f[3] > left / 8 || f[4] > left / 8)
            return;
        uint64_t body = f[1] + f[2] + 8 * (f[3] + f[4]);
        if (body > left)
            return;
        crc = cov_crc32(0, p + at + 8, PIECE - 8 + body);
        memcpy(p + at + 4, &crc, 4);
        at += PIECE + body;
    }
}

static bool fits(const void *arg, size_t piece, const struct cov_blob blobs[2])
{
    const uint8_t *how = arg;
    return !(*how & 8) || (piece < N_PIECES && blobs[0].n_pieces < 3);
}

/* Reads all pieces; appends the input as one, and reads that. */
static void use(struct cov_journal *j, const uint8_t *data, size_t n)
{
    struct cov_blob blobs[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    size_t n_there = 0;
    uint8_t *to;
    if (cov_journal_scan(j, N_PIECES, fits, data, NULL))
        abort();
    for (size_t i = 0; i < N_PIECES; i++) {
        n_there += cov_journal_has(j, i);
        if (cov_journal_has(j, i) &&
            (cov_journal_read(j, i, blobs, NULL) || blobs[0].n_bytes + blobs[1].n_bytes > n))
            abort();
    }
    if (n_there != cov_journal_n_pieces(j))
        abort();
    struct cov_journal *second;
    if (cov_journal_open(cov_journal_path(j), &second, NULL) != COV_EEXIST ||
        cov_journal_time(j).tv_nsec < 0)
        abort();
    cov_blob_clear(&blobs[0]);
    cov_blob_clear(&blobs[1]);
    if (cov_blob_room(&blobs[1], n, &to, NULL))
        abort();
    memcpy(to, data, n);
    if (cov_blob_end_piece(&blobs[1], n, NULL) || cov_journal_append(j, 1, blobs, NULL) ||
        cov_journal_read(j, 1, blobs, NULL) || blobs[1].n_bytes != n || blobs[0].n_pieces ||
        memcmp(blobs[1].data, data, n) != 0)
        abort();
    cov_blob_fini(&blobs[0]);
    cov_blob_fini(&blobs[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    uint8_t *copy = malloc(n);
    memcpy(copy, data + 1, n - 1);
    if (data[0] % 2 == 0)
        mend(copy, n - 1);
    struct cov_journal *j;
    bool damaged;
    if (cov_journal_open(fuzz_named_file(copy, n - 1), &j, NULL) == COV_OK) {
        if (data[0] & 2 || !cov_journal_head(j, &damaged))
            fuzz_ignore(cov_journal_begin(j, "another run", NULL));
        if (cov_journal_head(j, &damaged))
            use(j, data, n);
        if (data[0] & 16)
            fuzz_ignore(cov_journal_remove(j, NULL));
        else
            cov_journal_close(j);
    }
    free(copy);
    return 0;
}
