/* fuzz_encode.c - what is compressed by any codec comes back.
 * Target: common/codec/codec.c
 * SPDX-License-Identifier: MIT */
#include "common/codec/codec.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 2)
        return 0;
    static const struct {
        struct cov_codec_choice c;
        int id;
    } all[] = {{{COV_CODEC_LIBDEFLATE, 1}, COV_H5_DEFLATE},
               {{COV_CODEC_LZF, 0}, COV_H5_LZF},
               {{COV_CODEC_LZ4, 0}, COV_H5_LZ4},
               {{COV_CODEC_ZSTD, 3}, COV_H5_ZSTD},
               {{COV_CODEC_BLOSC, 5}, COV_H5_BLOSC}};
    int i = data[0] % 5;
    struct cov_filter f = {.id = all[i].id, .elem_bytes = data[1] % 9};
    size_t cap = cov_codec_bound(all[i].c, n), k = 0;
    uint8_t *packed = malloc(cap + 1), *back = malloc(n),
            *scratch = malloc(cov_codec_undo_scratch(n) + 1);
    const struct cov_applied applied = {&f, 1, 0};
    if (cov_codec_encode(all[i].c, f.elem_bytes, data, n, packed, &k, NULL) || k > cap)
        abort();
    if (k > 0 &&
        (cov_codec_undo(applied, packed, k, back, n, scratch, NULL) || memcmp(back, data, n) != 0))
        abort();
    free(packed);
    free(back);
    free(scratch);
    return 0;
}
