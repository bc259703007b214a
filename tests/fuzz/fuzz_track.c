/* fuzz_track.c - a chunk stream of predictions or measured coverage, in BGZF with sound checksums: which datasets it
 * has, and their values.
 * Target: common/signal/signal_file.c
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "common/chunk/stream.h"
#include "common/signal/signal_file.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_L = 4096, MAX_SETS = 8 };

static void decode(const struct cov_signal *s, const struct cov_stream_item *item,
                   const struct cov_blob *record, struct cov_blob *scratch)
{
    size_t ks[MAX_SETS], n = s->n_parts, L = s->head->L;
    n = n < MAX_SETS ? n : MAX_SETS;
    if (L > MAX_L)
        return;
    for (size_t k = 0; k < n; k++)
        ks[k] = n - 1 - k;
    float *values[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        values[i] = item->pair.has[i] ? malloc((n * L + 1) * sizeof(float)) : NULL;
    const struct cov_signal_output out = {ks, n, {values[0], values[1]}};
    if (cov_signal_decode_pair(s, item->sequence, record, &out, scratch, NULL) == COV_OK)
        for (int i = 0; i < 2; i++)
            for (size_t k = 0; values[i] && k < n; k++)
                for (int64_t t = 0; t < item->pair.end - item->pair.beg; t++)
                    if (!isfinite((double)values[i][k * L + (size_t)t]))
                        abort();
    free(values[0]);
    free(values[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    enum cov_signal_kind kind = data[0] & 1 ? COV_SIGNAL_MEASURED : COV_SIGNAL_PREDICTED;
    struct cov_signal *s;
    struct cov_stream_item item;
    struct cov_blob record = COV_BLOB_INIT, scratch = COV_BLOB_INIT;
    struct cov_bgz *in;
    if (cov_bgz_open_read(fuzz_bgzf(data + 1, n - 1), 1, &in, NULL) ||
        cov_signal_open(NULL, in, kind, &s, NULL))
        return 0;
    while (cov_stream_next(s->records, &item, &record, NULL) == COV_OK &&
           item.event != COV_STREAM_DONE)
        if (item.event == COV_STREAM_PAIR)
            decode(s, &item, &record, &scratch);
    cov_blob_fini(&record);
    cov_blob_fini(&scratch);
    cov_signal_close(s);
    return 0;
}
