/* h5_type.c - see h5_private.h: HDF5's types of elements, and those of h5_rows.h.
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5_private.h"

#include "common/base/mem.h"

static bool is_ieee(hid_t type, size_t bytes)
{
    static const struct {
        size_t bytes, sign, exponent, n_exponent, n_mantissa, bias;
    } layouts[] = {{2, 15, 10, 5, 10, 15}, {4, 31, 23, 8, 23, 127}, {8, 63, 52, 11, 52, 1023}};
    size_t sign, exponent, n_exponent, mantissa, n_mantissa;
    if (H5Tget_fields(type, &sign, &exponent, &n_exponent, &mantissa, &n_mantissa) < 0)
        return false;
    for (size_t i = 0; i < COV_COUNT(layouts); i++)
        if (bytes == layouts[i].bytes)
            return sign == layouts[i].sign && exponent == layouts[i].exponent &&
                   n_exponent == layouts[i].n_exponent && mantissa == 0 &&
                   n_mantissa == layouts[i].n_mantissa && H5Tget_ebias(type) == layouts[i].bias &&
                   H5Tget_norm(type) == H5T_NORM_IMPLIED && H5Tget_offset(type) == 0 &&
                   H5Tget_precision(type) == 8 * bytes;
    return false;
}

static hid_t make_bool(void)
{
    hid_t type = H5Tenum_create(H5T_STD_I8LE);
    (void)H5Tenum_insert(type, "FALSE", &(int8_t){0});
    (void)H5Tenum_insert(type, "TRUE", &(int8_t){1});
    return type;
}

static bool is_bool(hid_t type)
{
    hid_t wanted = make_bool();
    bool same = H5Tequal(type, wanted) > 0;
    cov_h5_close_id(wanted);
    return same;
}

const char *cov_h5_type_describe(hid_t type, struct cov_h5_type *t)
{
    H5T_class_t kind = H5Tget_class(type);
    t->bytes = H5Tget_size(type);
    if (kind == H5T_STRING) {
        if (H5Tis_variable_str(type) != 0)
            return "variable-length strings are not supported";
        t->kind = COV_H5_STRING;
        t->padding = H5Tget_strpad(type) == H5T_STR_SPACEPAD ? ' ' : '\0';
        /* A file with more is damaged. */
        return t->bytes > 0 && t->bytes <= 65536 ? NULL : "strings of more than 65536 bytes";
    }
    H5T_order_t order = kind == H5T_INTEGER || kind == H5T_FLOAT ? H5Tget_order(type) : 0;
    t->big_endian = order == H5T_ORDER_BE && t->bytes > 1;
    if (kind == H5T_INTEGER && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
        (t->bytes == 1 || t->bytes == 2 || t->bytes == 4 || t->bytes == 8) &&
        H5Tget_precision(type) == 8 * t->bytes && H5Tget_offset(type) == 0) {
        t->kind = COV_H5_INT;
        t->is_signed = H5Tget_sign(type) == H5T_SGN_2;
        return NULL;
    }
    if (kind == H5T_FLOAT && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
        is_ieee(type, t->bytes)) {
        t->kind = COV_H5_FLOAT;
        return NULL;
    }
    if (kind == H5T_ENUM && is_bool(type)) {
        t->kind = COV_H5_BOOL;
        return NULL;
    }
    return "elements are neither integers, floats, booleans nor fixed-length strings";
}

hid_t cov_h5_type_make(const struct cov_h5_type *t)
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
    case COV_H5_BOOL:
        return make_bool();
    case COV_H5_FLOAT:
        break;
    }
    type = H5Tcopy(t->bytes == 8 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE);
    if (t->bytes == 2) {
        /* Derived from F32 as in h5py. The fields must be set first, because they must fit into the
         * new size. */
        (void)H5Tset_fields(type, 15, 10, 5, 0, 10);
        (void)H5Tset_size(type, 2);
        (void)H5Tset_ebias(type, 15);
    }
    return type;
}
