/* fuzz_codec.c - the filters of HDF5 chunks: a pipeline from the first bytes, undone.
 * Target: common/codec/codec.c, common/codec/h5_filters.c
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_OUT = 1 << 16 };

static void undo(const uint8_t *data, size_t n)
{
    static const int ids[] = {COV_H5_DEFLATE, COV_H5_LZF, COV_H5_BLOSC, COV_H5_LZ4, COV_H5_ZSTD};
    struct cov_filter filters[3];
    size_t k = 0, n_dst = (size_t)data[1] | (size_t)data[2] << 8;
    if (data[0] & 1)
        filters[k++] =
            (struct cov_filter){.id = COV_H5_SHUFFLE, .elem_bytes = 1u << (data[0] >> 6)};
    if (data[0] & 2)
        filters[k++] = (struct cov_filter){.id = ids[(data[0] >> 2) % 5]};
    if (data[0] & 32)
        filters[k++] = (struct cov_filter){.id = COV_H5_FLETCHER32};
    uint8_t *dst = malloc(n_dst + 1), *scratch = malloc(cov_codec_undo_scratch(n_dst) + 1);
    uint8_t *src = malloc(n - 3 + 1); /* a buffer that ends where the data does */
    memcpy(src, data + 3, n - 3);
    if (cov_codec_can_undo(filters, k)) {
        const struct cov_applied applied = {filters, k, data[0] & 16 ? data[1] & 7 : 0};
        fuzz_ignore(cov_codec_undo(applied, src, n - 3, dst, n_dst, scratch, NULL));
    }
    for (size_t i = 0; i < 5; i++)
        if (cov_codec_of_filter(ids[i])->claim)
            (void)cov_codec_of_filter(ids[i])->claim(NULL, 0, src, n - 3);
    free(src);
    free(dst);
    free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 4 || n > MAX_OUT)
        return 0;
    undo(data, n);
    return 0;
}
