/* torch_file.c - see torch_file.h. The layout follows PyTorch's torch/serialization.py (_save,
 * _load) and torch/_utils.py (_rebuild_tensor_v2 and similar functions).
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/torch_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/half.h"
#include "common/base/mem.h"
#include "common/ckpt/zip.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "storages are copied as they are");

/* ---------------------------------------------------------------- the allow-list */

enum { OPAQUE, TENSOR, TENSOR_V3, PARAMETER, UNTYPED, STORAGE = 0x100, DTYPE = 0x200 };

/* Storage classes, element types and functions that rebuild tensors; also names (of NumPy and
 * others) that callbacks store and that this program ignores. */
static const struct cov_pickle_name allowed[] = {
    {"collections", "OrderedDict", OPAQUE},
    {"collections", "defaultdict", OPAQUE},
    {"torch._utils", "_rebuild_tensor", TENSOR},
    {"torch._utils", "_rebuild_tensor_v2", TENSOR},
    {"torch._utils", "_rebuild_tensor_v3", TENSOR_V3},
    {"torch._utils", "_rebuild_parameter", PARAMETER},
    {"torch._utils", "_rebuild_parameter_with_state", PARAMETER},
    {"torch", "FloatStorage", STORAGE | COV_TORCH_FLOAT32},
    {"torch", "DoubleStorage", STORAGE | COV_TORCH_FLOAT64},
    {"torch", "HalfStorage", STORAGE | COV_TORCH_FLOAT16},
    {"torch", "BFloat16Storage", STORAGE | COV_TORCH_BFLOAT16},
    {"torch", "LongStorage", STORAGE | COV_TORCH_INT64},
    {"torch", "IntStorage", STORAGE | COV_TORCH_INT32},
    {"torch", "ShortStorage", STORAGE | COV_TORCH_INT16},
    {"torch", "CharStorage", STORAGE | COV_TORCH_INT8},
    {"torch", "ByteStorage", STORAGE | COV_TORCH_UINT8},
    {"torch", "BoolStorage", STORAGE | COV_TORCH_BOOL},
    {"torch", "UntypedStorage", UNTYPED},
    {"torch.storage", "UntypedStorage", UNTYPED},
    {"torch", "float32", DTYPE | COV_TORCH_FLOAT32},
    {"torch", "float64", DTYPE | COV_TORCH_FLOAT64},
    {"torch", "float16", DTYPE | COV_TORCH_FLOAT16},
    {"torch", "bfloat16", DTYPE | COV_TORCH_BFLOAT16},
    {"torch", "int64", DTYPE | COV_TORCH_INT64},
    {"torch", "int32", DTYPE | COV_TORCH_INT32},
    {"torch", "int16", DTYPE | COV_TORCH_INT16},
    {"torch", "int8", DTYPE | COV_TORCH_INT8},
    {"torch", "uint8", DTYPE | COV_TORCH_UINT8},
    {"torch", "bool", DTYPE | COV_TORCH_BOOL},
    {"torch", "Size", OPAQUE},
    {"torch", "device", OPAQUE},
    {"numpy", "ndarray", OPAQUE},
    {"numpy", "dtype", OPAQUE},
    {"numpy.core.multiarray", "_reconstruct", OPAQUE},
    {"numpy.core.multiarray", "scalar", OPAQUE},
    {"numpy.core.numeric", "_frombuffer", OPAQUE},
    {"numpy._core.multiarray", "_reconstruct", OPAQUE},
    {"numpy._core.multiarray", "scalar", OPAQUE},
    {"numpy._core.numeric", "_frombuffer", OPAQUE},
    {"_codecs", "encode", OPAQUE},
    {"__builtin__", "set", OPAQUE},
    {"__builtin__", "frozenset", OPAQUE},
    {"__builtin__", "bytearray", OPAQUE},
    {"__builtin__", "complex", OPAQUE},
    {"__builtin__", "dict", OPAQUE},
    {"__builtin__", "list", OPAQUE},
    {"builtins", "set", OPAQUE},
    {"builtins", "frozenset", OPAQUE},
    {"builtins", "bytearray", OPAQUE},
    {"builtins", "complex", OPAQUE},
    {"builtins", "dict", OPAQUE},
    {"builtins", "list", OPAQUE},
    {"argparse", "Namespace", OPAQUE},
    {"pathlib", "PosixPath", OPAQUE},
    {"pathlib._local", "PosixPath", OPAQUE},
    {"lightning.fabric.utilities.data", "AttributeDict", OPAQUE},
    {"lightning_fabric.utilities.data", "AttributeDict", OPAQUE},
    {"lightning.pytorch.utilities.parsing", "AttributeDict", OPAQUE},
    {"pytorch_lightning.utilities.parsing", "AttributeDict", OPAQUE},
};

/* ---------------------------------------------------------------- types and tensors */

static const struct {
    const char *name;
    size_t n_bytes;
    bool floating;
} dtypes[] = {
    [COV_TORCH_FLOAT32] = {"float32", 4, true}, [COV_TORCH_FLOAT64] = {"float64", 8, true},
    [COV_TORCH_FLOAT16] = {"float16", 2, true}, [COV_TORCH_BFLOAT16] = {"bfloat16", 2, true},
    [COV_TORCH_INT64] = {"int64", 8, false},    [COV_TORCH_INT32] = {"int32", 4, false},
    [COV_TORCH_INT16] = {"int16", 2, false},    [COV_TORCH_INT8] = {"int8", 1, false},
    [COV_TORCH_UINT8] = {"uint8", 1, false},    [COV_TORCH_BOOL] = {"bool", 1, false},
};

const char *cov_torch_dtype_name(enum cov_torch_dtype dtype)
{
    return dtypes[dtype].name;
}

int cov_torch_tensor_alloc(struct cov_torch_tensor *t, struct cov_err *e)
{
    if (dtypes[t->dtype].floating)
        t->f32 = cov_calloc64(t->n_elems, sizeof *t->f32, e);
    else
        t->i64 = cov_calloc64(t->n_elems, sizeof *t->i64, e);
    return t->f32 || t->i64 ? COV_OK : COV_ENOMEM;
}

void cov_torch_tensor_fini(struct cov_torch_tensor *t)
{
    free(t->name);
    free(t->f32);
    free(t->i64);
    *t = (struct cov_torch_tensor){0};
}

static float load_float(enum cov_torch_dtype dtype, const uint8_t *p)
{
    uint32_t bits;
    uint16_t half;
    float f32;
    double f64;
    switch (dtype) {
    case COV_TORCH_FLOAT64:
        memcpy(&f64, p, sizeof f64);
        return (float)f64;
    case COV_TORCH_FLOAT16:
        memcpy(&half, p, sizeof half);
        return cov_half_to_float(half);
    case COV_TORCH_BFLOAT16:
        memcpy(&half, p, sizeof half);
        bits = (uint32_t)half << 16;
        memcpy(&f32, &bits, sizeof f32);
        return f32;
    default:
        memcpy(&f32, p, sizeof f32);
        return f32;
    }
}

static int64_t load_int(enum cov_torch_dtype dtype, const uint8_t *p)
{
    int64_t i64;
    int32_t i32;
    int16_t i16;
    switch (dtype) {
    case COV_TORCH_INT32:
        memcpy(&i32, p, sizeof i32);
        return i32;
    case COV_TORCH_INT16:
        memcpy(&i16, p, sizeof i16);
        return i16;
    case COV_TORCH_INT8:
        return (int8_t)*p;
    case COV_TORCH_UINT8:
        return *p;
    case COV_TORCH_BOOL:
        return *p != 0;
    default:
        memcpy(&i64, p, sizeof i64);
        return i64;
    }
}

/* ---------------------------------------------------------------- the file */

struct cov_torch_file {
    char *path;
    struct cov_zip *zip;
    char *prefix; /* the prefix of all entry names */
    uint8_t *text;
    struct cov_pickle *pickle;
    uint8_t **storages;    /* [entries of zip]; NULL: not read yet */
    uint64_t n_elems_read; /* sum over tensors */
};

/* Finds the only entry "<name>/data.pkl". */
static int find_pickle(struct cov_torch_file *f, size_t *entry, struct cov_err *e)
{
    for (size_t i = 0; i < cov_zip_n_entries(f->zip); i++) {
        const char *name = cov_zip_name(f->zip, i), *slash = strchr(name, '/');
        if (!slash || strcmp(slash, "/data.pkl") != 0)
            continue;
        if (f->prefix)
            return cov_fail(e, COV_EINPUT, "%s: contains two data.pkl entries", f->path);
        f->prefix = cov_strndup(name, (size_t)(slash - name) + 1, e);
        if (!f->prefix)
            return COV_ENOMEM;
        *entry = i;
    }
    if (!f->prefix)
        return cov_fail(e, COV_EINPUT, "%s: not a PyTorch checkpoint: it has no data.pkl", f->path);
    return COV_OK;
}

/* Sets *entry to the entry "<prefix><directory><key>", and *found to whether it exists. */
static int find_entry(const struct cov_torch_file *f, const char *directory, const char *key,
                      size_t *entry, bool *found, struct cov_err *e)
{
    char *name = cov_strfmt(e, "%s%s%s", f->prefix, directory, key);
    if (!name)
        return COV_ENOMEM;
    *found = cov_zip_find(f->zip, name, entry);
    free(name);
    return COV_OK;
}

static int check_byte_order(const struct cov_torch_file *f, struct cov_err *e)
{
    char text[6];
    size_t entry = 0;
    bool found = false;
    int rc = find_entry(f, "", "byteorder", &entry, &found, e);
    if (rc || !found)
        return rc;
    if (cov_zip_size(f->zip, entry) == sizeof text) {
        rc = cov_zip_read(f->zip, entry, text, e);
        if (rc || memcmp(text, "little", sizeof text) == 0)
            return rc;
    }
    return cov_fail(e, COV_EUNSUPPORTED, "%s: the storages are not little-endian", f->path);
}

static int read_pickle(struct cov_torch_file *f, struct cov_err *e)
{
    size_t entry = 0;
    int rc = find_pickle(f, &entry, e);
    if (rc)
        return rc;
    rc = check_byte_order(f, e);
    if (rc)
        return rc;
    size_t n = cov_zip_size(f->zip, entry);
    f->text = cov_malloc(n, 1, e);
    if (!f->text)
        return COV_ENOMEM;
    rc = cov_zip_read(f->zip, entry, f->text, e);
    if (rc)
        return rc;
    rc = cov_pickle_read(f->text, n, allowed, COV_COUNT(allowed), &f->pickle, e);
    return rc ? cov_err_prefix(e, rc, "%s", f->path) : COV_OK;
}

int cov_torch_open(const char *path, struct cov_torch_file **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_torch_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    int rc = cov_zip_open(path, &f->zip, e);
    if (!rc) {
        f->path = cov_strdup(path, e);
        f->storages = cov_calloc(cov_zip_n_entries(f->zip), sizeof(uint8_t *), e);
        rc = f->path && f->storages ? read_pickle(f, e) : COV_ENOMEM;
    }
    if (rc) {
        cov_torch_close(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

void cov_torch_close(struct cov_torch_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; f->storages && i < cov_zip_n_entries(f->zip); i++)
        free(f->storages[i]);
    free(f->storages);
    cov_pickle_free(f->pickle);
    free(f->text);
    free(f->prefix);
    cov_zip_close(f->zip);
    free(f->path);
    free(f);
}

const struct cov_pickle_value *cov_torch_root(const struct cov_torch_file *f)
{
    return cov_pickle_root(f->pickle);
}

/* ---------------------------------------------------------------- reading a tensor */

/* A tensor as described by the pickle. */
struct description {
    const struct cov_pickle_value *storage; /* a persistent id */
    uint64_t offset;                        /* in elements, like the strides */
    uint64_t stride[COV_TORCH_MAX_DIMS];
    const uint8_t *data; /* the storage */
    size_t n_in_storage; /* elements in the storage */
};

static int bad_tensor(const struct cov_torch_file *f, const struct cov_torch_tensor *t,
                      const char *what, struct cov_err *e)
{
    (void)cov_fail(e, COV_EINPUT, "%s: tensor %s: %s", f->path, t->name, what);
    return COV_EINPUT;
}

static int tag_of(const struct cov_pickle_value *v)
{
    return v->kind == COV_PICKLE_GLOBAL ? v->u.global->tag : OPAQUE;
}

/* Sets *out to item i of a tuple. Returns false if the item is not an integer >= 0. */
static bool get_size(const struct cov_pickle_value *tuple, size_t i, uint64_t *out)
{
    const struct cov_pickle_value *v = tuple->items[i];
    if (v->kind != COV_PICKLE_INT || v->u.integer < 0)
        return false;
    *out = (uint64_t)v->u.integer;
    return true;
}

/* Reads the arguments (storage, offset, size, stride, ...) of _rebuild_tensor_v2. */
static int describe(const struct cov_torch_file *f, const struct cov_pickle_value *args,
                    struct cov_torch_tensor *t, struct description *d, struct cov_err *e)
{
    if (args->n_items < 4)
        return bad_tensor(f, t, "its description is damaged", e);
    const struct cov_pickle_value *size = args->items[2], *stride = args->items[3];
    d->storage = args->items[0];
    if (d->storage->kind != COV_PICKLE_PERSISTENT || !get_size(args, 1, &d->offset) ||
        size->kind != COV_PICKLE_TUPLE || stride->kind != COV_PICKLE_TUPLE ||
        size->n_items != stride->n_items)
        return bad_tensor(f, t, "its description is damaged", e);
    if (size->n_items > COV_TORCH_MAX_DIMS)
        return bad_tensor(f, t, "too many dimensions", e);
    t->n_dims = (int)size->n_items;
    for (size_t i = 0; i < size->n_items; i++) {
        uint64_t extent;
        if (!get_size(size, i, &extent) || !get_size(stride, i, &d->stride[i]))
            return bad_tensor(f, t, "a negative size or stride", e);
        t->shape[i] = (int64_t)extent;
    }
    return COV_OK;
}

/* Finds the storage with the given persistent id ("storage", class, key, location, number of
 * elements), and reads it unless it was read before. `dtype` is the element type; if it is NULL,
 * the storage class determines the type. */
static int read_storage(struct cov_torch_file *f, struct cov_torch_tensor *t, struct description *d,
                        const struct cov_pickle_value *dtype, struct cov_err *e)
{
    const struct cov_pickle_value *id = d->storage->u.object.args;
    uint64_t n_declared;
    if (id->kind != COV_PICKLE_TUPLE || id->n_items != 5 ||
        !cov_pickle_is_string(id->items[0], "storage") || !get_size(id, 4, &n_declared))
        return bad_tensor(f, t, "the description of its storage is damaged", e);
    int class = tag_of(id->items[1]), type = dtype ? tag_of(dtype) : class;
    if (!(class & STORAGE) && class != UNTYPED)
        return bad_tensor(f, t, "unknown storage class", e);
    if (dtype && !(type & DTYPE))
        return bad_tensor(f, t, "unknown element type", e);
    t->dtype = type == UNTYPED ? COV_TORCH_UINT8 : (enum cov_torch_dtype)(type & 0xff);
    size_t n_unit = class == UNTYPED ? 1 : dtypes[class & 0xff].n_bytes;

    char *key;
    size_t entry = 0;
    bool found = false;
    int rc = cov_pickle_string(id->items[2], &key, e);
    if (rc) {
        (void)cov_err_prefix(e, rc, "%s: tensor %s", f->path, t->name);
        return rc;
    }
    rc = find_entry(f, "data/", key, &entry, &found, e);
    if (!rc && !found)
        rc = cov_fail(e, COV_EINPUT, "%s: tensor %s: its storage data/%s is missing", f->path,
                      t->name, key);
    size_t n_bytes = rc ? 0 : cov_zip_size(f->zip, entry);
    if (!rc && (n_bytes % n_unit != 0 || n_bytes / n_unit != n_declared))
        rc = cov_fail(e, COV_EINPUT,
                      "%s: tensor %s: its storage data/%s has %zu bytes instead of %.6g", f->path,
                      t->name, key, n_bytes, (double)n_declared * (double)n_unit);
    free(key);
    if (rc)
        return rc;
    d->n_in_storage = n_bytes / dtypes[t->dtype].n_bytes;
    if (!f->storages[entry]) {
        uint8_t *data = cov_malloc(n_bytes, 1, e);
        rc = data ? cov_zip_read(f->zip, entry, data, e) : COV_ENOMEM;
        if (rc) {
            free(data);
            return rc;
        }
        f->storages[entry] = data;
    }
    d->data = f->storages[entry];
    return COV_OK;
}

/* Counts the elements and checks that none is past the end of the storage. */
static int check_extent(struct cov_torch_file *f, struct cov_torch_tensor *t,
                        const struct description *d, struct cov_err *e)
{
    size_t n = 1, last = d->offset;
    bool overflow = false;
    double asked = 1;
    for (int i = 0; i < t->n_dims; i++) {
        overflow |= cov_size_mul(n, (size_t)t->shape[i], &n) != COV_OK;
        asked *= (double)t->shape[i];
    }
    if (asked == 0)
        return COV_OK; /* no elements: other sizes and the offset do not matter */
    if (overflow || n > cov_zip_file_bytes(f->zip) - f->n_elems_read) {
        (void)cov_fail(e, COV_EINPUT,
                       "%s: tensor %s: its shape has %.6g elements, but the file has only "
                       "%.6g bytes",
                       f->path, t->name, asked, (double)cov_zip_file_bytes(f->zip));
        return COV_EINPUT;
    }
    for (int i = 0; i < t->n_dims; i++) {
        size_t step;
        overflow |= cov_size_mul((size_t)t->shape[i] - 1, (size_t)d->stride[i], &step) ||
                    cov_size_add(last, step, &last);
    }
    if (overflow || last >= d->n_in_storage)
        return bad_tensor(f, t, "it extends past its storage", e);
    t->n_elems = n;
    f->n_elems_read += n;
    return COV_OK;
}

static bool is_contiguous(const struct cov_torch_tensor *t, const struct description *d)
{
    uint64_t step = 1;
    for (int i = t->n_dims - 1; i >= 0; i--) {
        if (t->shape[i] != 1 && d->stride[i] != step)
            return false;
        step *= (uint64_t)t->shape[i];
    }
    return true;
}

/* Copies the elements in row-major order. check_extent has verified all indices. */
static void copy_elements(struct cov_torch_tensor *t, const struct description *d)
{
    if (t->n_elems == 0)
        return;
    size_t n_bytes = dtypes[t->dtype].n_bytes;
    const uint8_t *p = d->data + d->offset * n_bytes;
    if (t->dtype == COV_TORCH_FLOAT32 && is_contiguous(t, d)) {
        memcpy(t->f32, p, t->n_elems * n_bytes);
        return;
    }
    int64_t index[COV_TORCH_MAX_DIMS] = {0};
    uint64_t at = 0;
    for (size_t k = 0; k < t->n_elems; k++) {
        if (t->f32)
            t->f32[k] = load_float(t->dtype, p + at * n_bytes);
        else
            t->i64[k] = load_int(t->dtype, p + at * n_bytes);
        for (int i = t->n_dims - 1; i >= 0; i--) {
            at += d->stride[i];
            if (++index[i] < t->shape[i])
                break;
            at -= d->stride[i] * (uint64_t)t->shape[i];
            index[i] = 0;
        }
    }
}

int cov_torch_read_tensor(struct cov_torch_file *f, const struct cov_pickle_value *v,
                          const char *name, struct cov_torch_tensor *out, struct cov_err *e)
{
    *out = (struct cov_torch_tensor){.name = cov_strdup(name, e)};
    struct description d = {0};
    int rc = out->name ? COV_OK : COV_ENOMEM;
    if (rc)
        goto out;
    /* The first argument of a parameter is its tensor. */
    if (v->kind == COV_PICKLE_OBJECT && tag_of(v->u.object.callee) == PARAMETER &&
        v->u.object.args->n_items > 0)
        v = v->u.object.args->items[0];
    int tag = v->kind == COV_PICKLE_OBJECT ? tag_of(v->u.object.callee) : OPAQUE;
    if (tag != TENSOR && tag != TENSOR_V3) {
        rc = cov_fail(e, COV_EINPUT, "%s: tensor %s: expected a tensor, found type %s", f->path,
                      name, cov_pickle_type(v));
        goto out;
    }
    const struct cov_pickle_value *args = v->u.object.args, *dtype = NULL;
    if (tag == TENSOR_V3) {
        if (args->n_items < 7) {
            rc = bad_tensor(f, out, "its description is damaged", e);
            goto out;
        }
        dtype = args->items[6];
    }
    rc = describe(f, args, out, &d, e);
    if (!rc)
        rc = read_storage(f, out, &d, dtype, e);
    if (!rc)
        rc = check_extent(f, out, &d, e);
    if (!rc)
        rc = cov_torch_tensor_alloc(out, e);
    if (rc)
        goto out;
    copy_elements(out, &d);
    for (size_t i = 0; out->f32 && i < out->n_elems && !rc; i++)
        if (!isfinite(out->f32[i]))
            rc = cov_fail(e, COV_EINPUT, "%s: tensor %s: element %zu is NaN or infinite", f->path,
                          name, i);
out:
    if (rc)
        cov_torch_tensor_fini(out);
    return rc;
}
