/* test_ckpt.c - checkpoints and files of torch.save: round trips, every tensor type, the state of
 * training, damaged and contradictory files.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <sys/mman.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt.h"
#include "common/ckpt/zip.h"
#include "tests/lib/own_dir.h"
#include "tests/lib/put_ckpt.h"

/* Two files in memory, because the tests write many. */
static char path[40], path2[40];

static float storage[24]; /* 0, 1, ..., 23 */

static int setup(void **state)
{
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("a.ckpt", 0));
    (void)snprintf(path2, sizeof path2, "/proc/self/fd/%d", memfd_create("b.ckpt", 0));
    for (size_t i = 0; i < COV_COUNT(storage); i++)
        storage[i] = (float)i;
    return access(path, R_OK | W_OK) || access(path2, R_OK | W_OK);
}
TEST_GROUP(setup, NULL)

/* ---------------------------------------------------------------- whole checkpoints */

static void fill(struct cov_ckpt *c)
{
    static const char *const datasets[] = {"atacseq", "h3k4me3"};
    static const int64_t shape[] = {2, 3, 4}, empty[] = {3, 0};
    struct cov_torch_tensor *t;
    c->epoch = 13;
    c->global_step = (int64_t)1 << 40;
    assert_ok(cov_ckpt_set_version(c, "1.0", &e));
    assert_ok(cov_ckpt_set_version(c, "2.0.2", &e));
    assert_ok(cov_ckpt_add_string(c, "model_type", "bi-hybrid", &e));
    assert_ok(cov_ckpt_add_int(c, "cnn_layers", 3, &e));
    assert_ok(cov_ckpt_add_int(c, "negative", -70000, &e));
    assert_ok(cov_ckpt_add_bool(c, "bnorm", true, &e));
    assert_ok(cov_ckpt_add_float(c, "learning_rate", 0.001, &e));
    assert_ok(cov_ckpt_add_bool(c, "nothing", false, &e));
    c->hparams[c->n_hparams - 1].kind = COV_HPARAM_NONE;
    assert_ok(cov_ckpt_add_strings(c, "datasets", datasets, 2, &e));
    assert_ok(cov_ckpt_add_strings(c, "no strings", NULL, 0, &e));
    assert_ok(cov_ckpt_add_tensor(c, "weight", COV_TORCH_FLOAT32, 3, shape, &t, &e));
    assert_int_equal(t->n_elems, 24);
    for (size_t i = 0; i < t->n_elems; i++)
        t->f32[i] = (float)i / 7 - 1;
    assert_ok(cov_ckpt_add_tensor(c, "count", COV_TORCH_INT64, 0, NULL, &t, &e));
    t->i64[0] = INT64_MIN + 5;
    assert_ok(cov_ckpt_add_tensor(c, "empty", COV_TORCH_FLOAT32, 2, empty, &t, &e));
    assert_int_equal(t->n_elems, 0);
}

static bool same_tensor(const struct cov_torch_tensor *a, const struct cov_torch_tensor *b)
{
    if (strcmp(a->name, b->name) != 0 || a->dtype != b->dtype || a->n_dims != b->n_dims ||
        a->n_elems != b->n_elems || !a->f32 != !b->f32)
        return false;
    for (int i = 0; i < a->n_dims; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return a->f32 ? memcmp(a->f32, b->f32, a->n_elems * sizeof *a->f32) == 0
                  : memcmp(a->i64, b->i64, a->n_elems * sizeof *a->i64) == 0;
}

static bool same_hparam(const struct cov_hparam *a, const struct cov_hparam *b)
{
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->boolean != b->boolean ||
        a->integer != b->integer || a->number != b->number || a->n_strings != b->n_strings)
        return false;
    for (size_t i = 0; i < a->n_strings; i++)
        if (strcmp(a->strings[i], b->strings[i]) != 0)
            return false;
    return a->kind != COV_HPARAM_STRING || strcmp(a->string, b->string) == 0;
}

static bool same(const struct cov_ckpt *a, const struct cov_ckpt *b)
{
    if (a->epoch != b->epoch || a->global_step != b->global_step ||
        strcmp(a->lightning_version, b->lightning_version) != 0 || a->n_hparams != b->n_hparams ||
        a->n_tensors != b->n_tensors)
        return false;
    for (size_t i = 0; i < a->n_hparams; i++)
        if (!same_hparam(&a->hparams[i], &b->hparams[i]))
            return false;
    for (size_t i = 0; i < a->n_tensors; i++)
        if (!same_tensor(&a->tensors[i], &b->tensors[i]))
            return false;
    return true;
}

static struct cov_ckpt *read_good(const char *from)
{
    struct cov_ckpt *c;
    assert_ok(cov_ckpt_read(from, &c, &e));
    return c;
}

/* Checks that reading fails with a text that starts with the file name and contains `message`. */
static void read_bad(const char *from, const char *message)
{
    struct cov_ckpt *c;
    assert_fails_in(cov_ckpt_read(from, &c, &e), COV_EINPUT, from, message);
    assert_null(c);
}

TEST(round_trip)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    fill(&c);
    assert_ok(cov_ckpt_write(path, &c, &e));
    struct cov_ckpt *r = read_good(path);
    assert_true(same(&c, r));
    assert_true(cov_ckpt_hparam(r, "cnn_layers")->integer == 3);
    assert_true(cov_ckpt_hparam(r, "cnn_layers")->number == 3.0);
    assert_null(cov_ckpt_hparam(r, "cnn"));
    assert_ptr_equal(cov_ckpt_tensor(r, "count"), &r->tensors[1]);
    assert_null(cov_ckpt_tensor(r, "down"));
    assert_int_equal((uintptr_t)cov_ckpt_tensor(r, "weight")->f32 % 64, 0);
    /* Rewriting what was read gives the same bytes. */
    assert_ok(cov_ckpt_write(path2, r, &e));
    check_same_files(path, path2);
    cov_ckpt_free(r);
    cov_ckpt_fini(&c);
    cov_ckpt_fini(&c);
    cov_ckpt_free(NULL);
}

/* Checks that writing fails, and restores the checkpoint. */
static void refuse(struct cov_ckpt *c, int code, const char *message)
{
    assert_fails(cov_ckpt_write(path, c, &e), code, message);
    cov_ckpt_fini(c);
    fill(c);
}

TEST(refused_writing)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_torch_tensor *t;
    static const int64_t negative[] = {3, -1}, huge[] = {INT64_MAX, INT64_MAX};
    fill(&c);
    c.tensors[0].f32[3] = NAN;
    refuse(&c, COV_EINPUT, "tensor weight: element 3 is NaN");
    assert_ok(cov_ckpt_add_tensor(&c, "weight", COV_TORCH_INT64, 0, NULL, &t, &e));
    refuse(&c, COV_EINPUT, "duplicate tensor weight");
    assert_ok(cov_ckpt_add_bool(&c, "bnorm", false, &e));
    refuse(&c, COV_EINPUT, "duplicate hyperparameter bnorm");
    c.hparams[1].kind = COV_HPARAM_OTHER;
    c.hparams[1].string = strdup("dict");
    refuse(&c, COV_EUNSUPPORTED, "hyperparameter cnn_layers of type dict");
    c.epoch = -1;
    refuse(&c, COV_EINPUT, "needs an epoch");
    free(c.lightning_version);
    c.lightning_version = NULL;
    refuse(&c, COV_EINPUT, "needs an epoch");
    assert_int_equal(cov_ckpt_add_tensor(&c, "x", COV_TORCH_FLOAT16, 0, NULL, &t, NULL),
                     COV_EUNSUPPORTED);
    assert_int_equal(cov_ckpt_add_tensor(&c, "x", COV_TORCH_FLOAT32, 9, NULL, &t, NULL),
                     COV_EUNSUPPORTED);
    assert_int_equal(cov_ckpt_add_tensor(&c, "x", COV_TORCH_FLOAT32, 2, negative, &t, NULL),
                     COV_ENOMEM);
    assert_int_equal(cov_ckpt_add_tensor(&c, "x", COV_TORCH_FLOAT32, 2, huge, &t, NULL),
                     COV_ENOMEM);
    assert_int_equal(cov_ckpt_write("/nonexistent/x", &c, NULL), COV_EIO);
    assert_fails(cov_ckpt_write("/dev/full", &c, &e), COV_EIO,
                 "cannot write /dev/full: No space left on device");
    cov_ckpt_fini(&c);
}

/* More entries than the 16 bits of a ZIP file without ZIP64 count. (Each tensor moves the list of all.) */
TEST(many_tensors)
{
    const int n = TESTS_ARE_SLOW ? 1000 : 66000;
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_torch_tensor *t;
    char name[16];
    fill(&c);
    for (int i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "t%d", i);
        assert_ok(cov_ckpt_add_tensor(&c, name, COV_TORCH_INT64, 0, NULL, &t, &e));
        t->i64[0] = i;
    }
    assert_ok(cov_ckpt_write(path, &c, &e));
    struct cov_ckpt *r = read_good(path);
    assert_true(same(&c, r));
    cov_ckpt_free(r);
    cov_ckpt_fini(&c);
}

TEST(cut_or_changed)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    fill(&c);
    assert_ok(cov_ckpt_write(path, &c, &e));
    const struct bytes file = get_file(path);
    for (size_t i = 0; i < file.n; i++) {
        put_bytes(path2, file.p, i);
        read_bad(path2, i == 0  ? "the file is empty"
                        : i < 4 ? "not a PyTorch checkpoint"
                                : "truncated");
    }
    /* A flipped bit either causes an error or does not matter. */
    size_t n_noticed = 0;
    for (size_t bit = 0; bit < 8 * file.n; bit++) {
        struct cov_ckpt *r;
        struct cov_err e = COV_ERR_INIT;
        file.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        put_bytes(path2, file.p, file.n);
        if (cov_ckpt_read(path2, &r, &e) == 0) {
            assert_true(same(&c, r));
        } else {
            assert_true(e.code == COV_EINPUT && e.text[0]);
            n_noticed++;
        }
        cov_ckpt_free(r);
        file.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(n_noticed > 8 * file.n / 2);
    cov_ckpt_fini(&c);
}

/* ---------------------------------------------------------------- tensors */

/* Writes an archive with the pickle of put_values, the storage data/0 and, if `extra` is not NULL,
 * another entry. t: the tensor @, which has the storage; may be NULL. */
static void put_archive_with(const char *values, const struct tensor *t, const char *extra,
                             const char *text)
{
    struct cov_pickle_writer w = COV_PICKLE_WRITER_INIT;
    struct cov_zip_writer *zip;
    cov_pickle_begin(&w);
    put_values(&w, values, t);
    assert_ok(cov_pickle_stop(&w, &e));
    assert_ok(cov_zip_create(path, false, &zip, &e));
    assert_ok(cov_zip_add(zip, "m/data.pkl", w.data, w.n_bytes, &e));
    assert_ok(cov_zip_add(zip, "m/data/0", t ? t->data : "", t ? t->n_bytes : 0, &e));
    if (extra)
        assert_ok(cov_zip_add(zip, extra, text, strlen(text), &e));
    assert_ok(cov_zip_finish(zip, &e));
    free(w.data);
}

static void put_archive(const char *values, const struct tensor *t)
{
    put_archive_with(values, t, NULL, NULL);
}

#define STATE CKPT_HEAD "'hyper_parameters': {}, 'state_dict': "

/* Makes a checkpoint whose state dict has `copies` copies of the tensor t. Their names are x, x0,
 * x1, ... */
static void make_tensors(const struct tensor *t, int copies)
{
    char values[2000];
    int n = snprintf(values, sizeof values, STATE "{'x': @");
    for (int i = 0; i + 1 < copies; i++)
        n += snprintf(values + n, sizeof values - (size_t)n, ", 'x%d': @", i);
    (void)snprintf(values + n, sizeof values - (size_t)n, "}}");
    put_archive(values, t);
}

/* Checks the elements of a tensor in the file: floats, or int64_t if the type is an integer. */
static void check_elements(const struct tensor *t, enum cov_torch_dtype dtype, const void *expected,
                           size_t n)
{
    make_tensors(t, 1);
    struct cov_ckpt *c = read_good(path);
    const struct cov_torch_tensor *x = cov_ckpt_tensor(c, "x");
    const bool is_int = dtype >= COV_TORCH_INT64;
    assert_int_equal(x->dtype, dtype);
    assert_int_equal(x->n_elems, n);
    assert_true(is_int ? !x->f32 : !x->i64);
    assert_memory_equal(is_int ? (const void *)x->i64 : x->f32, expected, n * (is_int ? 8 : 4));
    cov_ckpt_free(c);
}

TEST(types)
{
    static const float f32[] = {1.5f, -0.0f, 1e-45f, 3.4e38f};
    static const double f64[] = {1.5, -0.0, 1e-300, 0.1};
    static const float from_f64[] = {1.5f, -0.0f, 0, 0.1f};
    /* 1, -2, 65504 (the largest), 2^-14 (the smallest normal), 2^-24 and 1023 * 2^-24 (subnormal),
     * -0, 1/3 */
    static const uint16_t f16[] = {0x3c00, 0xc000, 0x7bff, 0x0400, 1, 0x03ff, 0x8000, 0x3555};
    static const float from_f16[] = {
        1, -2, 65504, 0x1p-14f, 0x1p-24f, 1023 * 0x1p-24f, -0.0f, 0.333251953125f};
    static const uint16_t bf16[] = {0x3f80, 0xc000, 0x7f7f, 1};
    static const float from_bf16[] = {1, -2, 0x1.fep127f, 0x1p-133f};
    static const int64_t i64[] = {INT64_MIN, -1, INT64_MAX};
    static const int32_t i32[] = {INT32_MIN, -1, INT32_MAX};
    static const int64_t from_i32[] = {INT32_MIN, -1, INT32_MAX};
    static const int16_t i16[] = {INT16_MIN, -1, INT16_MAX};
    static const int64_t from_i16[] = {INT16_MIN, -1, INT16_MAX};
    static const uint8_t bytes[] = {0, 1, 0x80, 0xff};
    static const int64_t from_i8[] = {0, 1, -128, -1}, from_u8[] = {0, 1, 128, 255};
    static const int64_t from_bool[] = {0, 1, 1, 1};
#define PLAIN(class, array)                                                                        \
    &(struct tensor)                                                                               \
    {                                                                                              \
        .class_name = (class), .data = (array), .n_bytes = sizeof(array),                          \
        .n_declared = COV_COUNT(array), .n_dims = 1, .shape = {COV_COUNT(array)}, .stride = {      \
            1                                                                                      \
        }                                                                                          \
    }
    check_elements(PLAIN("FloatStorage", f32), COV_TORCH_FLOAT32, f32, 4);
    check_elements(PLAIN("DoubleStorage", f64), COV_TORCH_FLOAT64, from_f64, 4);
    check_elements(PLAIN("HalfStorage", f16), COV_TORCH_FLOAT16, from_f16, 8);
    check_elements(PLAIN("BFloat16Storage", bf16), COV_TORCH_BFLOAT16, from_bf16, 4);
    check_elements(PLAIN("LongStorage", i64), COV_TORCH_INT64, i64, 3);
    check_elements(PLAIN("IntStorage", i32), COV_TORCH_INT32, from_i32, 3);
    check_elements(PLAIN("ShortStorage", i16), COV_TORCH_INT16, from_i16, 3);
    check_elements(PLAIN("CharStorage", bytes), COV_TORCH_INT8, from_i8, 4);
    check_elements(PLAIN("ByteStorage", bytes), COV_TORCH_UINT8, from_u8, 4);
    check_elements(PLAIN("BoolStorage", bytes), COV_TORCH_BOOL, from_bool, 4);
    struct tensor untyped = *PLAIN("UntypedStorage", bytes);
    untyped.class_module = "torch.storage";
    check_elements(&untyped, COV_TORCH_UINT8, from_u8, 4);
    untyped.maker = "_rebuild_tensor_v3";
    untyped.dtype = "float32";
    untyped.data = f32;
    untyped.n_bytes = sizeof f32;
    untyped.n_declared = sizeof f32;
    check_elements(&untyped, COV_TORCH_FLOAT32, f32, 4);
}

static const struct tensor plain = {.class_name = "FloatStorage",
                                    .data = storage,
                                    .n_bytes = sizeof storage,
                                    .n_declared = 24,
                                    .n_dims = 2,
                                    .shape = {4, 6},
                                    .stride = {6, 1}};

TEST(strides)
{
    struct tensor t = plain;
    check_elements(&t, COV_TORCH_FLOAT32, storage, 24);
    /* transposed */
    float expected[24];
    for (int i = 0; i < 24; i++)
        expected[i] = storage[i % 4 * 6 + i / 4];
    t.shape[0] = 6, t.shape[1] = 4;
    t.stride[0] = 1, t.stride[1] = 6;
    check_elements(&t, COV_TORCH_FLOAT32, expected, 24);
    /* every other column of the last two rows: offset 12, step 2 */
    static const float part[] = {12, 14, 16, 18, 20, 22};
    t.offset = 12;
    t.shape[0] = 2, t.shape[1] = 3;
    t.stride[0] = 6, t.stride[1] = 2;
    check_elements(&t, COV_TORCH_FLOAT32, part, 6);
    /* expanded: the same row three times */
    static const float rows[] = {22, 23, 22, 23, 22, 23};
    t.offset = 22;
    t.shape[0] = 3, t.shape[1] = 2;
    t.stride[0] = 0, t.stride[1] = 1;
    check_elements(&t, COV_TORCH_FLOAT32, rows, 6);
    /* a dimension of size one with any stride; a scalar; four dimensions; an empty tensor */
    t.offset = 23;
    t.shape[0] = 1, t.shape[1] = 1;
    t.stride[0] = INT64_MAX, t.stride[1] = 99;
    check_elements(&t, COV_TORCH_FLOAT32, storage + 23, 1);
    t.n_dims = 0;
    check_elements(&t, COV_TORCH_FLOAT32, storage + 23, 1);
    struct tensor four = plain;
    four.n_dims = 4;
    const int64_t shape[] = {2, 2, 3, 2}, stride[] = {6, 12, 1, 3};
    memcpy(four.shape, shape, sizeof shape);
    memcpy(four.stride, stride, sizeof stride);
    for (int i = 0; i < 24; i++)
        expected[i] = storage[i / 12 * 6 + i / 6 % 2 * 12 + i / 2 % 3 + i % 2 * 3];
    check_elements(&four, COV_TORCH_FLOAT32, expected, 24);
    struct tensor none = plain;
    none.shape[0] = 0;
    none.shape[1] = INT64_MAX;
    none.offset = INT64_MAX;
    check_elements(&none, COV_TORCH_FLOAT32, storage, 0);
}

TEST(bad_tensors)
{
#define BAD(message, ...)                                                                          \
    do {                                                                                           \
        struct tensor t = plain;                                                                   \
        __VA_ARGS__;                                                                               \
        make_tensors(&t, 1);                                                                       \
        read_bad(path, "tensor x: " message);                                                      \
    } while (0)
    BAD("it extends past its storage", t.offset = 1);
    BAD("it extends past its storage", t.shape[0] = 5);
    BAD("it extends past its storage", t.shape[1] = 7);
    BAD("it extends past its storage", t.stride[0] = 7);
    BAD("it extends past its storage", t.stride[1] = 2);
    BAD("it extends past its storage", t.stride[0] = INT64_MAX);
    BAD("it extends past its storage", t.stride[0] = t.stride[1] = INT64_MAX);
    BAD("it extends past its storage", t.offset = INT64_MAX);
    BAD("it extends past its storage", t.offset = INT64_MAX, t.stride[0] = INT64_MAX);
    BAD("a negative size or stride", t.shape[0] = -1);
    BAD("a negative size or stride", t.stride[1] = -1);
    BAD("its description is damaged", t.offset = -1);
    BAD("its shape has 9.0072e+15 elements", t.shape[0] = (int64_t)1 << 51, t.shape[1] = 4);
    BAD("its shape has 1.84467e+19 elements", t.shape[0] = t.shape[1] = (int64_t)1 << 32);
    BAD("its shape has 8.50706e+37 elements", t.shape[0] = t.shape[1] = INT64_MAX);
    BAD("its shape has 1e+15 elements", t.shape[0] = 1000000000, t.shape[1] = 1000000,
        t.stride[0] = t.stride[1] = 0);
    BAD("too many dimensions", t.n_dims = 9);
    BAD("its storage data/0 has 96 bytes instead of 100", t.n_declared = 25);
    BAD("its storage data/0 has 96 bytes instead of 92", t.n_declared = 23);
    BAD("its storage data/0 has 96 bytes instead of 192", t.class_name = "DoubleStorage");
    BAD("its storage data/0 has 95 bytes instead of 96", t.n_bytes = 95);
    BAD("its storage data/0 has 96 bytes instead of 3.68935e+19", t.n_declared = INT64_MAX);
    BAD("the description of its storage is damaged", t.n_declared = -1);
    BAD("its storage data/1 is missing", t.key = "1");
    BAD("its storage data/../data.pkl is missing", t.key = "../data.pkl");
    BAD("unknown storage class", t.class_module = "collections", t.class_name = "OrderedDict");
    BAD("its description is damaged", t.maker = "_rebuild_tensor_v3");
    BAD("unknown element type", t.maker = "_rebuild_tensor_v3", t.dtype = "Size");
    BAD("expected a tensor, found type persistent id", t.maker = "_rebuild_parameter_with_state");
    static float bad[24];
    bad[5] = INFINITY;
    BAD("element 5 is NaN or infinite", t.data = bad);
    bad[5] = NAN;
    BAD("element 5 is NaN or infinite", t.data = bad);
    static const double large[24] = {0, 0, 1e39};
    BAD("element 2 is NaN or infinite", t.class_name = "DoubleStorage", t.data = large,
        t.n_bytes = sizeof large);
    static const uint16_t halves[24] = {0x7c00};
    BAD("element 0 is NaN or infinite", t.class_name = "HalfStorage", t.data = halves,
        t.n_bytes = sizeof halves);
    static const uint16_t nans[24] = {0, 0xfe00};
    BAD("element 1 is NaN or infinite", t.class_name = "HalfStorage", t.data = nans,
        t.n_bytes = sizeof nans);

    /* Many tensors may share a storage unless their elements outnumber the bytes of the file. */
    struct tensor t = plain;
    make_tensors(&t, 3);
    cov_ckpt_free(read_good(path));
    t.shape[0] = 1000;
    t.stride[0] = t.stride[1] = 0;
    make_tensors(&t, 100);
    read_bad(path, "its shape has 6000 elements, but the file has only");
    put_archive(STATE "{'x': @, 'x': @}}", &plain);
    read_bad(path, "duplicate tensor x");
}

/* Values that are not tensors, and a tensor wrapped in a parameter. */
TEST(other_values)
{
    static const char *const cases[][2] = {
        {"1", "x: expected a tensor, found type int"},
        {"{}", "x: expected a tensor, found type dict"},
        {"torch.FloatStorage", "x: expected a tensor, found type FloatStorage"},
        {"torch._utils._rebuild_parameter()",
         "x: expected a tensor, found type _rebuild_parameter"},
        {"torch._utils._rebuild_tensor_v2()", "tensor x: its description is damaged"},
    };
    put_archive_with(STATE "<'p': torch._utils._rebuild_parameter(@, True)>}", &plain,
                     "m/byteorder", "little");
    struct cov_ckpt *c = read_good(path);
    assert_memory_equal(cov_ckpt_tensor(c, "p")->f32, storage, sizeof storage);
    cov_ckpt_free(c);
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        char values[300];
        (void)snprintf(values, sizeof values, STATE "{'x': %s}}", cases[i][0]);
        put_archive(values, NULL);
        read_bad(path, cases[i][1]);
    }
}

/* ---------------------------------------------------------------- entries and hyperparameters */

TEST(other_entries)
{
    static const struct {
        const char *name, *text;
        int code;
        const char *message;
    } all[] = {
        {"m/version", "3\n", COV_OK, NULL},
        {"m/byteorder", "little", COV_OK, NULL},
        {"m/.format_version", "1", COV_OK, NULL},
        {"m/.storage_alignment", "64", COV_OK, NULL},
        {"m/.data/serialization_id", "0636457737946401051300000027264370494161", COV_OK, NULL},
        {"m/more/data.pkl", "x", COV_OK, NULL},
        {"m/byteorder", "big", COV_EUNSUPPORTED, "not little-endian"},
        {"m/byteorder", "LITTLE", COV_EUNSUPPORTED, "not little-endian"},
        {"m2/data.pkl", "x", COV_EINPUT, "contains two data.pkl entries"},
    };
    struct cov_ckpt *c;
    for (size_t i = 0; i < COV_COUNT(all); i++) {
        put_archive_with(STATE "{}}", NULL, all[i].name, all[i].text);
        if (all[i].code)
            assert_fails_in(cov_ckpt_read(path, &c, &e), all[i].code, path, all[i].message);
        else
            cov_ckpt_free(read_good(path));
    }
    struct cov_zip_writer *zip;
    assert_ok(cov_zip_create(path, false, &zip, &e));
    assert_ok(cov_zip_add(zip, "data.pkl", "N.", 2, &e));
    assert_ok(cov_zip_finish(zip, &e));
    read_bad(path, "it has no data.pkl");
}

/* A file that has nothing of a training, as from save_weights_only=True, or something else. */
TEST(other_states_of_training)
{
    static const char *const all[] = {"{}", "{'optimizer_states': 'x', 'callbacks': 1}"};
    for (size_t i = 0; i < COV_COUNT(all); i++) {
        struct cov_ckpt_training t;
        put_archive(all[i], NULL);
        assert_ok(cov_ckpt_read_training(path, &t, &e));
        assert_false(t.adam.is_there || t.saving.is_there || t.has_seed);
        cov_ckpt_training_fini(&t);
    }
}

/* A missing item, an item of a different type, and a pickle that is not a dict. */
TEST(other_pickles)
{
    static const char *const items[][2] = {{"epoch", "0"},
                                           {"global_step", "0"},
                                           {"pytorch-lightning_version", "'2.0.2'"},
                                           {"hyper_parameters", "{}"},
                                           {"state_dict", "{}"}};
    for (size_t wrong = 0; wrong < COV_COUNT(items); wrong++)
        for (int how = 0; how < 2; how++) {
            char values[300] = "{", message[100];
            for (size_t i = 0; i < COV_COUNT(items); i++)
                if (i != wrong || how > 0)
                    (void)snprintf(values + strlen(values), sizeof values - strlen(values),
                                   "'%s': %s, ", items[i][0], i == wrong ? "None" : items[i][1]);
            values[strlen(values)] = '}';
            put_archive(values, NULL);
            (void)snprintf(message, sizeof message, how ? "%s has type None" : "%s is missing",
                           items[wrong][0]);
            read_bad(path, message);
        }
    put_archive("5", NULL);
    read_bad(path, "not a PyTorch Lightning checkpoint: state_dict is missing");
}

#define HPARAMS(values) CKPT_HEAD "'state_dict': {}, 'hyper_parameters': " values "}"

TEST(hyper_parameters)
{
    /* As in Python, the last of duplicate keys wins. */
    put_archive(HPARAMS("{}, 'hyper_parameters': <'tuple': ('a', ''), 'numbers': ['a', 1], "
                        "'dict': {}, 'path': pathlib.PosixPath('x')>"),
                NULL);
    struct cov_ckpt *c = read_good(path);
    assert_int_equal(c->n_hparams, 4);
    const struct cov_hparam *h = cov_ckpt_hparam(c, "tuple");
    assert_int_equal(h->kind, COV_HPARAM_STRINGS);
    assert_int_equal(h->n_strings, 2);
    assert_string_equal(h->strings[0], "a");
    assert_string_equal(h->strings[1], "");
    static const char *const others[][2] = {
        {"numbers", "list"}, {"dict", "dict"}, {"path", "PosixPath"}};
    for (size_t i = 0; i < COV_COUNT(others); i++) {
        h = cov_ckpt_hparam(c, others[i][0]);
        assert_int_equal(h->kind, COV_HPARAM_OTHER);
        assert_string_equal(h->string, others[i][1]);
    }
    cov_ckpt_free(c);
    put_archive(HPARAMS("{'step': 1, 'step': 1}"), NULL);
    read_bad(path, "duplicate hyperparameter step");
    put_archive(HPARAMS("{1: 1}"), NULL);
    read_bad(path, "hyper_parameters: expected a string, found type int");
}

/* What torch.compile and DistributedDataParallel put before names is removed. */
TEST(wrapped_names)
{
    static const char *const names[][2] = {
        {"module._orig_mod.a.0.weight", "a.0.weight"},
        {"module._orig_mod.a._orig_mod._orig_mod.0.bias", "a.0.bias"},
        {"module._orig_mod.b_orig_mod.module.weight", "b_orig_mod.module.weight"},
    };
    for (size_t first = 0; first < 2; first++) {
        struct cov_ckpt c = COV_CKPT_INIT;
        struct cov_torch_tensor *t;
        const int64_t shape[] = {1};
        assert_ok(cov_ckpt_set_version(&c, "2.0", &e));
        for (size_t i = 0; i < COV_COUNT(names); i++)
            assert_ok(cov_ckpt_add_tensor(&c, names[i][0], COV_TORCH_FLOAT32, 1, shape, &t, &e));
        if (first) /* a tensor without the prefix */
            assert_ok(cov_ckpt_add_tensor(&c, "x", COV_TORCH_FLOAT32, 1, shape, &t, &e));
        assert_ok(cov_ckpt_write(path, &c, &e));
        cov_ckpt_fini(&c);
        struct cov_ckpt *got = read_good(path);
        assert_int_equal(got->n_tensors, COV_COUNT(names) + first);
        for (size_t i = 0; !first && i < COV_COUNT(names); i++)
            assert_string_equal(got->tensors[i].name, names[i][1]);
        if (first)
            assert_string_equal(got->tensors[1].name, "module.a.0.bias");
        cov_ckpt_free(got);
    }
}

/* ---------------------------------------------------------------- the state of training */

enum { N = 3 };
static float values[2 * N][4];
static char train_loss[] = "avg_train_loss", accuracy[] = "avg_val_accuracy", dot[] = ".",
            last[] = "last.ckpt", first[] = "a_epoch=0.ckpt", second[] = "a_epoch=1.ckpt";

static struct cov_torch_tensor tensor(int i)
{
    for (int k = 0; k < 4; k++)
        values[i][k] = (float)(10 * i + k) / 3;
    return (struct cov_torch_tensor){
        .dtype = COV_TORCH_FLOAT32, .n_dims = 2, .shape = {2, 2}, .n_elems = 4, .f32 = values[i]};
}

/* Compares words of a generator's state with those of NumPy, or of Python: the first three, and the
 * sum of all. */
static void check_words(const struct cov_pickle_value *words, const uint32_t wanted[4])
{
    uint32_t sum = 0;
    assert_true(words->n_items >= 624);
    for (size_t i = 0; i < 624; i++)
        sum += (uint32_t)words->items[i]->u.integer;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(words->items[i]->u.integer, wanted[i]);
    assert_int_equal(sum, wanted[3]);
}

/* The states after random.seed, numpy.random.seed and torch.manual_seed with UINT32_MAX. */
static void check_generators(void)
{
    static const uint32_t python[] = {2147483648, 2159790430, 4274725319, 4218682327},
                          numpy[] = {UINT32_MAX, 1340201581, 3941791902, 2288129294};
    struct cov_torch_file *f;
    struct cov_torch_tensor torch;
    assert_ok(cov_torch_open(path, &f, &e));
    const struct cov_pickle_value *v = cov_pickle_get(cov_torch_root(f), "callbacks");
    v = cov_pickle_get(cov_pickle_get(v, "SeedCallback"), "rng_states");
    check_words(cov_pickle_get(v, "random")->items[1], python);
    const struct cov_pickle_value *words = cov_pickle_get(v, "numpy")->items[1];
    check_words(words, numpy);
    assert_ok(cov_torch_read_tensor(f, cov_pickle_get(v, "torch"), "torch", &torch, &e));
    for (size_t i = 0; i < 624; i++) /* in PyTorch, each word has 64 bits */
        assert_int_equal(torch.i64[24 + 8 * i] | torch.i64[25 + 8 * i] << 8 |
                             torch.i64[26 + 8 * i] << 16 | torch.i64[27 + 8 * i] << 24,
                         words->items[i]->u.integer);
    cov_torch_tensor_fini(&torch);
    cov_torch_close(f);
}

TEST(state_of_training)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_ckpt_moments moments[N];
    struct cov_ckpt_saved saved[2] = {{first, 0.25}, {second, 0.5}};
    struct cov_ckpt_training r;
    fill(&c);
    for (int i = 0; i < N; i++)
        moments[i] = (struct cov_ckpt_moments){35 + i, tensor(2 * i), tensor(2 * i + 1)};
    const struct cov_ckpt_training t = {
        .adam = {true, 0.002, 0.8, 0.99, 1e-7, 0.03, N, moments},
        .stopping = {true, train_loss, false, 2, 7, 5, -1.5},
        .saving = {true, accuracy, true, 0.5, 0.125, 0.25, dot, second, first, last, saved, 2},
        .has_seed = true,
        .seed = UINT32_MAX,
        .n_batches = 40,
        .n_epoch_batches = 8,
        .n_val_batches = 2,
        .n_epoch_steps = 7,
        .current = c.tensors,
        .n_current = c.n_tensors,
    };
    assert_ok(cov_ckpt_write_training(path, &c, &t, &e));
    assert_ok(cov_ckpt_read_training(path, &r, &e));
    assert_true(r.adam.is_there && r.adam.n_params == N && r.adam.learning_rate == 0.002);
    assert_true(r.adam.beta1 == 0.8 && r.adam.beta2 == 0.99 && r.adam.eps == 1e-7);
    assert_true(r.adam.weight_decay == 0.03);
    for (int i = 0; i < N; i++) {
        assert_true(r.adam.moments[i].step == 35 + i);
        assert_int_equal(r.adam.moments[i].mean.shape[1], 2);
        assert_memory_equal(r.adam.moments[i].mean.f32, values[2 * i], sizeof values[0]);
        assert_memory_equal(r.adam.moments[i].square.f32, values[2 * i + 1], sizeof values[0]);
    }
    assert_true(r.stopping.is_there && !r.stopping.is_max && r.stopping.best_score == -1.5);
    assert_string_equal(r.stopping.monitor, train_loss);
    assert_int_equal(r.stopping.wait_count, 2);
    assert_int_equal(r.stopping.stopped_epoch, 7);
    assert_int_equal(r.stopping.patience, 5);
    assert_true(r.saving.is_there && r.saving.is_max && r.saving.best_score == 0.5);
    assert_true(r.saving.current_score == 0.125 && r.saving.kth_score == 0.25);
    assert_string_equal(r.saving.monitor, accuracy);
    assert_string_equal(r.saving.best_path, second);
    assert_string_equal(r.saving.last_path, last);
    assert_int_equal(r.saving.n_saved, 2);
    assert_string_equal(r.saving.saved[0].path, first);
    assert_true(r.saving.saved[1].score == 0.5);
    assert_true(r.has_seed && r.seed == UINT32_MAX);
    check_generators();
    assert_int_equal(r.n_batches, 40);
    assert_int_equal(r.n_epoch_steps, 7);
    assert_int_equal(r.n_current, 3);
    assert_string_equal(r.current[0].name, "weight");
    cov_ckpt_training_forget(&r);
    assert_null(r.adam.moments);
    cov_ckpt_training_fini(&r);
    cov_ckpt_fini(&c);
}

TEST(no_state_of_training)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_ckpt_training r;
    fill(&c);
    assert_ok(cov_ckpt_write(path, &c, &e));
    assert_ok(cov_ckpt_read_training(path, &r, &e));
    assert_true(!r.adam.is_there && !r.stopping.is_there && !r.saving.is_there && !r.has_seed);
    assert_int_equal(r.n_current, 0);
    cov_ckpt_training_fini(&r);
    const struct cov_ckpt_training empty = {.adam = {.is_there = true, .n_params = 1}};
    assert_ok(cov_ckpt_write_training(path, &c, &empty, &e));
    assert_ok(cov_ckpt_read_training(path, &r, &e));
    assert_true(r.adam.is_there && !r.adam.moments);
    cov_ckpt_training_fini(&r);
    cov_ckpt_fini(&c);
}

TEST(refused_states_of_training)
{
    struct cov_ckpt c = COV_CKPT_INIT;
    struct cov_ckpt_training r;
    fill(&c);
    struct cov_ckpt_moments moments[1] = {{1, tensor(0), tensor(1)}};
    const struct cov_ckpt_training t = {.adam = {true, 1, 0.9, 0.999, 1e-8, 0, 1, moments}};
    assert_ok(cov_ckpt_write_training(path, &c, &t, &e));
    assert_int_equal(cov_ckpt_read_training("/dev/null", &r, NULL), COV_EINPUT);
    moments[0].square.n_elems = 0;
    moments[0].square.shape[0] = 0;
    assert_ok(cov_ckpt_write_training(path, &c, &t, &e));
    assert_fails(cov_ckpt_read_training(path, &r, &e), COV_EINPUT,
                 "exp_avg or exp_avg_sq of parameter 0 is empty");
    moments[0].square = tensor(1);
    values[1][2] = 1.0F / 0.0F;
    assert_fails(cov_ckpt_write_training(path, &c, &t, &e), COV_EINPUT, "NaN or infinite");
    assert_int_equal(cov_ckpt_write_training("/dev/full", &c, NULL, NULL), COV_EIO);
    cov_ckpt_fini(&c);
}
