/* fuzz_rows.c - stored chunks of a dataset, of any shape that opening one allows, as rows and as numbers.
 * Target: common/h5/h5_rows.c
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5_rows.h"
#include "tests/fuzz/fuzz.h"

enum { HEAD = 12 };

#define AT_MOST(x, most) (1 + (size_t)(x) % (most))

/* Converts n elements in the other ways; d has room for n. */
static void use(const struct cov_h5_type *type, const uint8_t *block, size_t n, double *d)
{
    const struct cov_h5_type wide = {COV_H5_FLOAT, 8, true, false, 0},
                             whole = {COV_H5_INT, 4, true, false, 0};
    char text[40];
    if (type->kind == COV_H5_INT)
        fuzz_ignore(cov_h5_to_int64(type, block, n, (int64_t *)d, NULL));
    if (type->big_endian)
        return;
    if (cov_h5_retype(type, block, n, &wide, d) > n || cov_h5_retype(type, block, n, &whole, d) > n)
        abort();
    cov_h5_print_element(type, block, text, sizeof text);
    if (!cov_h5_same_type(type, type) || cov_h5_same_type(&wide, &whole))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const size_t sizes[] = {1, 2, 4, 8};
    static const int ids[] = {COV_H5_DEFLATE, COV_H5_LZF, COV_H5_BLOSC, COV_H5_LZ4, COV_H5_ZSTD};
    uint8_t fill[8] = {0};
    if (n < HEAD)
        return 0;
    struct cov_h5_rows r = {
        .type = {.kind = data[0] & 1 ? COV_H5_FLOAT : COV_H5_INT,
                 .bytes = sizes[data[0] & 1 ? 1 + (data[0] >> 1) % 3 : (data[0] >> 1) % 4],
                 .is_signed = data[0] & 8,
                 .big_endian = data[0] & 16},
        .dims = {AT_MOST(data[1], 9), AT_MOST(data[2], 200), AT_MOST(data[3], 5)},
        .chunked = true,
        .fill = fill,
        .chunk = {AT_MOST(data[4], 4), AT_MOST(data[5], 70), AT_MOST(data[6], 6)}};
    if (data[7] & 1)
        r.filters[r.n_filters++] =
            (struct cov_filter){.id = COV_H5_SHUFFLE, .elem_bytes = r.type.bytes};
    if (data[7] & 2)
        r.filters[r.n_filters++] = (struct cov_filter){.id = ids[(data[7] >> 3) % 5]};
    if (data[7] & 4)
        r.filters[r.n_filters++] = (struct cov_filter){.id = COV_H5_FLETCHER32};
    size_t row = data[8] % r.dims[0], col = data[9] % r.dims[2],
           n_cols = AT_MOST(data[10], r.dims[2] - col);
    struct cov_blob raw = COV_BLOB_INIT;
    const uint8_t *block;
    data += HEAD, n -= HEAD;
    for (size_t i = 0; i < cov_h5_n_pieces(&r, col, n_cols); i++) { /* length, mask, bytes */
        uint8_t *to;
        size_t k = n > 0 ? data[0] : 0;
        data += n > 0, n -= n > 0;
        k = k > n ? n : k;
        k = k < COV_H5_PIECE_HEAD + 1 ? 0 : k;
        if (cov_blob_room(&raw, k + 1, &to, NULL))
            abort();
        memcpy(to, data, k);
        data += k, n -= k;
        if (cov_blob_end_piece(&raw, k, NULL))
            abort();
    }
    if (cov_codec_can_undo(r.filters, r.n_filters) &&
        cov_h5_unpack(&r, (struct cov_h5_block){row, 1, col, n_cols}, &raw, 0, &block, NULL) ==
            COV_OK) {
        double *d = malloc(r.dims[1] * n_cols * sizeof *d);
        cov_h5_to_double(&r.type, block, r.dims[1] * n_cols, d);
        use(&r.type, block, r.dims[1] * n_cols, d);
        free(d);
    }
    cov_blob_fini(&raw);
    return 0;
}
