/* test_h5.c - HDF5 files written and read: shapes, filters, missing chunks, attributes, damage,
 * full disks.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/h5/h5.h"
#include "tests/lib/own_child.h"
#include "tests/lib/own_dir.h"

/* ---- helpers ---- */

static int32_t value(size_t row, size_t pos, size_t col)
{
    return (int32_t)(row * 1000 + pos * 10 + col) - 500;
}

/* Tests use an int32 set of 11 x 20 x 3 elements in chunks of the given shape. With `holes`, all
 * chunks that contain elements of row 4 are missing. */
enum { ROWS = 11, POS = 20, COLS = 3, HOLE = 4, FILL = -7 };

static struct cov_h5_new spec_of(const size_t chunk[3], struct cov_codec_choice choice,
                                 bool shuffle)
{
    struct cov_h5_new spec = {
        .type = {COV_H5_INT, 4, true, false, 0},
        .rank = 3,
        .dims = {ROWS, POS, COLS},
        .unlimited = {true, true, true},
        .chunk = {chunk[0], chunk[1], chunk[2]},
        .deflate_level = 4,
        .fill = FILL,
    };
    spec.n_filters = cov_h5_filters(choice, shuffle ? 4 : 0, spec.filters);
    return spec;
}

static void put_chunk(struct cov_h5_set *s, const struct cov_h5_new *spec,
                      struct cov_codec_choice choice, const size_t at[3])
{
    size_t n = spec->chunk[0] * spec->chunk[1] * spec->chunk[2] * 4, k = 0;
    uint8_t *plain = unit_alloc(n);
    for (size_t i = 0; i < spec->chunk[0]; i++)
        for (size_t j = 0; j < spec->chunk[1]; j++)
            for (size_t c = 0; c < spec->chunk[2]; c++, k += 4) {
                int32_t x = value(at[0] + i, at[1] + j, at[2] + c);
                for (int byte = 0; byte < 4; byte++)
                    plain[k + (size_t)byte] = (uint8_t)((uint32_t)x >> 8 * byte);
            }
    assert_ok(cov_h5_set_put_elems(s, spec, choice, at, plain, n, &e));
}

static void write_file(const char *path, const struct cov_h5_new *spec,
                       struct cov_codec_choice choice, bool holes)
{
    struct cov_h5 *f;
    struct cov_h5_set *s;
    assert_ok(cov_h5_create(path, &f, &e));
    assert_ok(cov_h5_write_attr(f, NULL, "greeting", "gr\xc3\xbc\xc3\x9f", &e));
    assert_ok(cov_h5_set_create(f, "data/deep/x", spec, &s, &e));
    for (size_t row = 0; row < ROWS; row += spec->chunk[0])
        for (size_t pos = 0; pos < POS; pos += spec->chunk[1])
            for (size_t col = 0; col < COLS; col += spec->chunk[2]) {
                if (holes && row <= HOLE && HOLE < row + spec->chunk[0])
                    continue;
                put_chunk(s, spec, choice, (size_t[3]){row, pos, col});
            }
    cov_h5_set_close(s);
    assert_ok(cov_h5_finish(f, &e));
}

static void check_block(const struct cov_h5_new *spec, const uint8_t *block, size_t row,
                        size_t n_rows, size_t col, size_t n_cols, bool holes)
{
    static const struct cov_h5_type type = {COV_H5_INT, 4, true, false, 0};
    for (size_t i = row; i < row + n_rows; i++)
        for (size_t j = 0; j < POS; j++)
            for (size_t k = col; k < col + n_cols; k++, block += 4) {
                int64_t got;
                assert_ok(cov_h5_to_int64(&type, block, 1, &got, &e));
                bool hole = holes && i / spec->chunk[0] == HOLE / spec->chunk[0];
                assert_int_equal(got, hole ? FILL : value(i, j, k));
            }
}

static void check_file(const char *path, const struct cov_h5_new *spec, bool holes)
{
    struct cov_h5 *f;
    struct cov_h5_set *s;
    struct cov_blob raw = COV_BLOB_INIT;
    assert_ok(cov_h5_open(path, &f, &e));
    assert_string_equal(cov_h5_path(f), path);
    assert_ok(cov_h5_set_open(f, "data/deep/x", 3, &s, &e));
    const struct cov_h5_rows *r = cov_h5_set_rows(s);
    assert_int_equal(r->type.kind, COV_H5_INT);
    assert_int_equal(r->dims[0], ROWS);
    /* Reads rows in random order, so that bands are replaced. */
    for (size_t step = 0; step < ROWS; step++) {
        size_t row = step * 7 % ROWS;
        for (size_t col = 0; col < COLS; col++)
            for (size_t n_cols = 1; col + n_cols <= COLS; n_cols++) {
                cov_blob_clear(&raw);
                const uint8_t *block = NULL;
                assert_ok(cov_h5_set_fetch(s, row, col, n_cols, &raw, &e));
                assert_int_equal(raw.n_pieces, cov_h5_n_pieces(r, col, n_cols));
                assert_ok(cov_h5_unpack(r, (struct cov_h5_block){row, 1, col, n_cols}, &raw, 0,
                                        &block, &e));
                check_block(spec, block, row, 1, col, n_cols, holes);
                uint8_t rows[ROWS * POS * COLS * 4];
                assert_ok(cov_h5_set_read(s, row, ROWS - row, col, n_cols, rows, &e));
                check_block(spec, rows, row, ROWS - row, col, n_cols, holes);
            }
    }
    cov_blob_fini(&raw);
    cov_h5_set_close(s);
    cov_h5_close(f);
}

/* ---- tests ---- */

static const struct cov_codec_choice none = {COV_CODEC_NONE, 0}, gzip = {COV_CODEC_GZIP, 0},
                                     lzf = {COV_CODEC_LZF, 0};

TEST(test_round_trips)
{
    static const size_t shapes[][3] = {{1, 20, 1}, {1, 20, 3},  {3, 6, 2},  {8, 20, 3},
                                       {9, 7, 1},  {11, 20, 3}, {16, 32, 4}};
    const struct cov_codec_choice choices[] = {none, gzip, lzf};
    for (size_t i = 0; i < COV_COUNT(shapes); i++)
        for (size_t c = 0; c < COV_COUNT(choices); c++)
            for (int variant = 0; variant < 4; variant++) {
                struct cov_h5_new spec = spec_of(shapes[i], choices[c], variant & 1);
                write_file("x.h5", &spec, choices[c], variant & 2);
                check_file("x.h5", &spec, variant & 2);
            }
}

TEST(test_names)
{
    struct cov_h5_new spec = spec_of((size_t[3]){1, 20, 1}, gzip, true);
    struct cov_h5 *f;
    struct cov_h5_set *s;
    assert_ok(cov_h5_create("x.h5", &f, &e));
    static const char *const sets[] = {"g/b", "g/a_long_one", "g/A", "top"}, *const sorted[] = {
                                                                                 "A", "a_long_one",
                                                                                 "b"};
    for (size_t i = 0; i < COV_COUNT(sets); i++) {
        assert_ok(cov_h5_set_create(f, sets[i], &spec, &s, &e));
        cov_h5_set_close(s);
    }
    assert_fails(cov_h5_set_create(f, "top", &spec, &s, &e), COV_EIO,
                 "x.h5: top: cannot be created");
    assert_ok(cov_h5_finish(f, &e));

    assert_ok(cov_h5_open("x.h5", &f, &e));
    static const struct {
        const char *name;
        int has;
    } cases[] = {{"g", 1},       {"g/b", 1},           {"top", 1},
                 {"nothing", 0}, {"no/thing/here", 0}, {"top/of", COV_EINPUT}};
    for (size_t i = 0; i < COV_COUNT(cases); i++)
        assert_int_equal(cov_h5_has(f, cases[i].name, NULL), cases[i].has);
    char **names;
    size_t n;
    assert_ok(cov_h5_list(f, "g", &names, &n, &e));
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(names[i], sorted[i]);
    cov_h5_free_names(names, n);
    assert_ok(cov_h5_list(f, "h", &names, &n, &e));
    assert_int_equal(n, 0);
    cov_h5_free_names(names, n);

    assert_fails_with(cov_h5_set_open(f, "g/c", 3, &s, &e), COV_EINPUT, "x.h5: no dataset g/c");
    assert_fails(cov_h5_set_open(f, "g", 3, &s, &e), COV_EINPUT, "x.h5: g: ");
    assert_fails_with(cov_h5_set_open(f, "top", 2, &s, &e), COV_EINPUT,
                      "x.h5: top: 3 dimensions instead of 2");
    assert_ok(cov_h5_set_open(f, "top", 0, &s, &e));
    cov_h5_set_close(s);
    cov_h5_close(f);
    cov_h5_close(NULL);
    cov_h5_set_close(NULL);
}

static void refuse(const char *path, int code, const char *text)
{
    struct cov_h5 *f;
    assert_fails_with(cov_h5_open(path, &f, &e), code, text);
    assert_null(f);
}

TEST(test_no_hdf5)
{
    refuse("none.h5", COV_EIO, "none.h5: No such file or directory");
    refuse(".", COV_EINPUT, ".: is a directory, not a file");
    refuse("/dev/null", COV_EINPUT, "/dev/null: not a regular file, as HDF5 files must be");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    refuse("pipe", COV_EINPUT, "pipe: not a regular file, as HDF5 files must be");
    assert_int_equal(unlink("pipe"), 0);
    put_text("x.h5", "");
    refuse("x.h5", COV_EINPUT, "x.h5: the file is empty");
    put_text("x.h5", ">chr1\nACGT\n");
    refuse("x.h5", COV_EINPUT, "x.h5: not an HDF5 file, but a FASTA file");
    put_text("x.h5", "\x89HDF\r\n\x1a\n\x09");
    refuse("x.h5", COV_EINPUT,
           "x.h5: unknown HDF5 superblock version 9; if the file is of a newer HDF5, convert it "
           "with h5repack --high=2");
    put_text("x.h5", "\x89HDF\r\n\x1a\n");
    refuse("x.h5", COV_EINPUT, "x.h5: damaged HDF5 superblock");
}

/* Writes x.h5 with chunks of one row, and returns its bytes. */
static struct bytes write_rows(struct cov_h5_new *spec)
{
    *spec = spec_of((size_t[3]){1, 20, 1}, gzip, true);
    write_file("x.h5", spec, gzip, false);
    return get_file("x.h5");
}

TEST(test_signature_of_no_file)
{
    bool yes;
    struct cov_err why = COV_ERR_INIT;
    assert_true(cov_h5_is_signed("none.h5", &yes, &why) != COV_OK);
    assert_string_equal(why.text, "none.h5: No such file or directory");
    assert_false(yes);
}

TEST(test_cut_short)
{
    struct cov_h5_new spec;
    struct bytes whole = write_rows(&spec);
    put_bytes("x.h5", whole.p, whole.n - 1);
    char text[100];
    (void)snprintf(text, sizeof text, "x.h5: truncated: %zu of %zu bytes", whole.n - 1, whole.n);
    refuse("x.h5", COV_EINPUT, text);
    /* A user block, as added by h5jam, is skipped. */
    uint8_t *jammed = unit_zeros(whole.n + 512);
    memcpy(jammed + 512, whole.p, whole.n);
    put_bytes("x.h5", jammed, whole.n + 511);
    (void)snprintf(text, sizeof text, "x.h5: truncated: %zu of %zu bytes", whole.n + 511,
                   whole.n + 512);
    refuse("x.h5", COV_EINPUT, text);
    put_bytes("x.h5", jammed, whole.n + 512);
    check_file("x.h5", &spec, false);
}

/* If chunks have 0 rows, libhdf5 1.10.8 divides by zero when a set is opened. This happens in the
 * child. */
TEST(test_crash_of_libhdf5)
{
    struct cov_h5_new spec;
    struct bytes whole = write_rows(&spec);
    /* The layout message has version 3, chunked, 3 + 1 dimensions, the address and the chunk's
     * shape. */
    size_t n_found = 0;
    for (size_t i = 0; i + 27 < whole.n; i++)
        if (memcmp(whole.p + i, "\3\2\4", 3) == 0 &&
            memcmp(whole.p + i + 11, "\1\0\0\0\x14\0\0\0\1\0\0\0\4\0\0\0", 16) == 0) {
            whole.p[i + 15] = 0;
            n_found++;
        }
    assert_int_equal(n_found, 1);
    put_bytes("x.h5", whole.p, whole.n);
    struct cov_h5 *f;
    struct cov_h5_set *s;
    struct cov_err e = COV_ERR_INIT;
    int rc = cov_h5_open("x.h5", &f, &e);
    if (!rc) /* a fixed libhdf5 */
        rc = cov_h5_set_open(f, "data/deep/x", 3, &s, &e);
    else
        assert_string_equal(e.text, "x.h5: damaged HDF5 file: libhdf5 crashes on it");
    assert_int_equal(rc, COV_EINPUT);
    cov_h5_close(f);
}

static void put_attr(hid_t file, const char *name, hid_t type, hsize_t n, const void *values)
{
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t attr = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attr, type, values) >= 0 && H5Aclose(attr) >= 0 && H5Sclose(space) >= 0);
}

/* Only a single integer or text is read. */
TEST(test_attributes)
{
    hid_t file = H5Fcreate("x.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_attr(file, "float", H5T_NATIVE_FLOAT, 1, &(float){7});
    put_attr(file, "int", H5T_NATIVE_INT, 1, &(int){-7});
    put_attr(file, "ints", H5T_NATIVE_INT, 3, (int[3]){7, 8, 9});
    assert_true(H5Fclose(file) >= 0);
    struct cov_h5 *f;
    struct cov_h5_attr *attrs;
    size_t n;
    assert_ok(cov_h5_open("x.h5", &f, &e));
    assert_ok(cov_h5_list_attrs(f, NULL, &attrs, &n, &e));
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        bool is_int = strcmp(attrs[i].name, "int") == 0;
        assert_int_equal(attrs[i].is_int, is_int);
        assert_int_equal(attrs[i].value, is_int ? -7 : 0);
        assert_null(attrs[i].text);
    }
    cov_h5_free_attrs(attrs, n);
    cov_h5_close(f);
}

/* libhdf5 allocates and fills as many bytes as a variable-length attribute claims. */
TEST(test_long_attribute)
{
    struct cov_h5_new spec = spec_of((size_t[3]){1, 20, 1}, gzip, true);
    struct cov_h5 *f;
    struct cov_h5_set *s;
    struct cov_h5_attr *attrs;
    struct rusage before, after;
    struct cov_err e = COV_ERR_INIT;
    size_t n_found = 0, n;
    assert_int_equal(cov_h5_create("x.h5", &f, NULL), 0);
    assert_int_equal(cov_h5_set_create(f, "data/x", &spec, &s, NULL), 0);
    cov_h5_set_close(s);
    assert_int_equal(cov_h5_write_attr(f, NULL, "name", "seventeen letters", NULL), 0);
    assert_int_equal(cov_h5_finish(f, NULL), 0);
    /* The element has its length, the address of its heap, and its index in the heap. */
    struct bytes whole = get_file("x.h5");
    for (size_t i = 0; i + 16 < whole.n; i++) {
        uint32_t length;
        uint64_t heap;
        memcpy(&length, whole.p + i, sizeof length);
        memcpy(&heap, whole.p + i + 4, sizeof heap);
        if ((length == 17 || length == 18) && heap > 0 && heap < whole.n - 4 &&
            memcmp(whole.p + heap, "GCOL", 4) == 0) {
            memset(whole.p + i, 0xf0, sizeof length);
            n_found++;
        }
    }
    assert_int_equal(n_found, 1);
    put_bytes("x.h5", whole.p, whole.n);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    int rc = cov_h5_open("x.h5", &f, &e);
    if (!rc) /* sanitizers end the child */
        rc = cov_h5_list_attrs(f, NULL, &attrs, &n, &e);
    assert_int_equal(rc, COV_EINPUT);
    assert_true(strncmp(e.text, "x.h5: ", 6) == 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 1 << 18); /* KiB */
    cov_h5_close(f);
}

/* The probe works even if the caller ignores SIGCHLD or handles it. */
TEST(test_probe_ignoring_children)
{
    struct cov_h5_new spec;
    (void)write_rows(&spec);
    void (*old)(int) = signal(SIGCHLD, SIG_IGN);
    bool good_texts;
    assert_ok(cov_h5_probe("x.h5", &good_texts, &e));
    (void)signal(SIGCHLD, old);
}

/* Writes a file with an image of libhdf5's cache. Runs in its own process because libhdf5 leaks
 * memory. */
static int write_cache_image(void *arg)
{
    H5AC_cache_image_config_t image = {.version = H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION,
                                       .generate_image = true,
                                       .entry_ageout = H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    bool good = H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0 &&
                H5Pset_mdc_image_config(fapl, &image) >= 0;
    hid_t file = H5Fcreate("x.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    hid_t group = H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return good && H5Gclose(group) >= 0 && H5Fclose(file) >= 0 ? 0 : -1;
}

/* A file with a metadata cache image is refused. */
TEST(test_cache_image)
{
    check_in_child(write_cache_image, NULL);
    bool good_texts;
    assert_fails(cov_h5_probe("x.h5", &good_texts, &e), COV_EINPUT,
                 "x.h5: HDF5 file with a metadata cache image");
}

static int fill_disk(void *arg)
{
    const size_t limit = *(const size_t *)arg;
    struct cov_err e = COV_ERR_INIT;
    struct cov_h5 *f = NULL;
    struct cov_h5_set *s = NULL;
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
    struct cov_h5_new spec = spec_of((size_t[3]){1, 20, 3}, none, false);
    spec.dims[0] = 1000;
    uint8_t piece[COV_H5_PIECE_HEAD + 240] = {0};
    int rc = cov_h5_create("x.h5", &f, &e);
    if (!rc)
        rc = cov_h5_set_create(f, "x", &spec, &s, &e);
    for (size_t row = 0; !rc && row < 1000; row++)
        rc = cov_h5_set_put(s, (size_t[3]){row, 0, 0}, piece, sizeof piece, &e);
    cov_h5_set_close(s);
    if (rc)
        cov_h5_close(f);
    else
        rc = cov_h5_finish(f, &e);
    if (rc == COV_EIO && strstr(e.text, "x.h5") && strstr(e.text, "File too large"))
        return 0;
    (void)fprintf(stderr, "# limit %zu: %d %s\n", limit, rc, e.text);
    return -1;
}

/* The disk fills up while writing or closing. A limit on the file size, set in its own process,
 * simulates this. */
TEST(test_full_disk)
{
    static const size_t limits[] = {0, 100, 3000, 20000, 60000};
    for (size_t k = 0; k < COV_COUNT(limits); k++) {
        size_t limit = limits[k];
        check_in_child(fill_disk, &limit);
    }
    assert_int_equal(unlink("x.h5"), 0);
    struct cov_h5 *f;
    assert_fails_with(cov_h5_create("no/such/directory.h5", &f, &e), COV_EIO,
                      "no/such/directory.h5: cannot be created: No such file or directory");
}

TEST_GROUP(enter_dir, leave_dir)
