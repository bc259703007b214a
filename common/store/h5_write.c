/* h5_write.c - see h5.h: data sets created, grown and filled.
 * SPDX-License-Identifier: MIT */
#include "common/store/h5_private.h"

#include <assert.h>
#include <string.h>

static hid_t make_type(const struct cov_h5_type *t)
{
    hid_t type;
    switch (t->kind) {
    case COV_H5_STRING:
        type = H5Tcopy(H5T_C_S1);
        (void)H5Tset_size(type, t->bytes);
        (void)H5Tset_strpad(type, t->padding == ' ' ? H5T_STR_SPACEPAD : H5T_STR_NULLPAD);
        return type;
    case COV_H5_INT:
        if (!t->is_signed)
            return H5Tcopy(t->bytes == 1   ? H5T_STD_U8LE
                           : t->bytes == 2 ? H5T_STD_U16LE
                           : t->bytes == 4 ? H5T_STD_U32LE
                                           : H5T_STD_U64LE);
        return H5Tcopy(t->bytes == 1   ? H5T_STD_I8LE
                       : t->bytes == 2 ? H5T_STD_I16LE
                       : t->bytes == 4 ? H5T_STD_I32LE
                                       : H5T_STD_I64LE);
    case COV_H5_FLOAT:
        break;
    }
    type = H5Tcopy(t->bytes == 8 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE);
    if (t->bytes == 2) {
        /* As h5py makes it from F32: the fields first, then the size that they fit into. */
        (void)H5Tset_fields(type, 15, 10, 5, 0, 10);
        (void)H5Tset_size(type, 2);
        (void)H5Tset_ebias(type, 15);
    }
    return type;
}

/* Zeros, which are the default, are not declared: as h5py. */
static bool set_fill(hid_t dcpl, const struct cov_h5_new *spec, hid_t type)
{
    if (!spec->fill_elem)
        return spec->type.kind == COV_H5_STRING || spec->fill == 0 ||
               H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &spec->fill) >= 0;
    for (size_t i = 0; i < spec->type.bytes; i++)
        if (spec->fill_elem[i])
            return H5Pset_fill_value(dcpl, type, spec->fill_elem) >= 0;
    return true;
}

static bool declare_filter(hid_t dcpl, const struct cov_filter *f, int deflate_level,
                           size_t chunk_bytes)
{
    if (f->id == COV_H5_SHUFFLE)
        return H5Pset_shuffle(dcpl) >= 0;
    if (f->id == COV_H5_DEFLATE)
        return H5Pset_deflate(dcpl, (unsigned)deflate_level) >= 0;
    unsigned values[COV_CODEC_MAX_VALUES];
    size_t n = cov_codec_values(f, chunk_bytes, values);
    return H5Pset_filter(dcpl, f->id, H5Z_FLAG_OPTIONAL, n, values) >= 0;
}

static hid_t make_create_list(const struct cov_h5_new *spec, hid_t type)
{
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[3];
    size_t chunk_bytes = spec->type.bytes;
    for (int i = 0; i < spec->rank; i++) {
        chunk[i] = spec->chunk[i];
        chunk_bytes *= spec->chunk[i];
    }
    bool good =
        H5Pset_obj_track_times(dcpl, false) >= 0 && H5Pset_chunk(dcpl, spec->rank, chunk) >= 0;
    good = good && set_fill(dcpl, spec, type);
    for (size_t i = 0; good && i < spec->n_filters; i++)
        good = declare_filter(dcpl, &spec->filters[i], spec->deflate_level, chunk_bytes);
    if (good)
        return dcpl;
    cov_h5_close_id(dcpl);
    return H5I_INVALID_HID;
}

int cov_h5_set_create(struct cov_h5 *f, const char *name, const struct cov_h5_new *spec,
                      struct cov_h5_set **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_h5_set *s = cov_h5_new_set(f, name, e);
    if (!s)
        return COV_ENOMEM;
    hsize_t dims[3], max_dims[3];
    for (int i = 0; i < spec->rank; i++) {
        dims[i] = spec->dims[i];
        max_dims[i] = spec->unlimited[i] ? H5S_UNLIMITED : dims[i];
    }
    for (int i = 0; i < 3; i++) {
        s->stored.dims[i] = i < spec->rank ? spec->dims[i] : 1;
        s->stored.chunk[i] = i < spec->rank ? spec->chunk[i] : 1;
    }
    s->rank = spec->rank;
    s->type = make_type(&spec->type);
    hid_t lcpl = H5Pcreate(H5P_LINK_CREATE), dcpl = make_create_list(spec, s->type);
    (void)H5Pset_create_intermediate_group(lcpl, 1);
    s->space = H5Screate_simple(spec->rank, dims, max_dims);
    s->id = dcpl >= 0 ? H5Dcreate2(f->id, name, s->type, s->space, lcpl, dcpl, H5P_DEFAULT)
                      : H5I_INVALID_HID;
    int rc = s->id >= 0 ? COV_OK : cov_h5_fail_set(s, e, COV_EIO, "cannot be created");
    cov_h5_close_id(lcpl);
    cov_h5_close_id(dcpl);
    if (rc)
        cov_h5_set_close(s);
    else
        *out = s;
    return rc;
}

int cov_h5_set_resize(struct cov_h5_set *s, size_t n_rows, struct cov_err *e)
{
    const hsize_t dims[3] = {n_rows, s->stored.dims[1], s->stored.dims[2]};
    if (n_rows == s->stored.dims[0])
        return COV_OK;
    if (H5Dset_extent(s->id, dims) < 0)
        return cov_h5_fail_set(s, e, COV_EIO, "cannot be made longer or shorter");
    s->stored.dims[0] = n_rows;
    return COV_OK;
}

/* To be followed by what makes it shorter again. That would rewrite a chunk that it goes through,
 * so that only chunks of one row are made for later rows. */
static int grow(struct cov_h5_set *s, size_t row, struct cov_err *e)
{
    enum { ROWS_AT_ONCE = 64 };
    size_t n_rows = row + 1;
    if (n_rows <= s->stored.dims[0])
        return COV_OK;
    if (s->stored.chunk[0] == 1)
        n_rows += ROWS_AT_ONCE - 1;
    return cov_h5_set_resize(s, n_rows, e);
}

int cov_h5_set_put(struct cov_h5_set *s, const size_t at[3], const uint8_t *piece, size_t n,
                   struct cov_err *e)
{
    assert(n > COV_H5_PIECE_HEAD);
    int rc = grow(s, at[0], e);
    if (rc)
        return rc;
    const hsize_t offset[3] = {at[0], at[1], at[2]};
    uint32_t mask;
    memcpy(&mask, piece, sizeof mask);
    if (H5Dwrite_chunk(s->id, H5P_DEFAULT, mask, offset, n - COV_H5_PIECE_HEAD,
                       piece + COV_H5_PIECE_HEAD) < 0)
        return cov_h5_fail_set(s, e, COV_EIO, "cannot be written");
    return COV_OK;
}
