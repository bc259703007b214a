/* test_zip.c - archives of stored entries: round trips, and damaged or contradictory archives.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/ckpt/zip.h"
#include "tests/lib/own_dir.h"

/* The tests use two files in memory, because they write many files. */
static char path[40], path2[40];

static int setup(void **state)
{
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", memfd_create("a.zip", 0));
    (void)snprintf(path2, sizeof path2, "/proc/self/fd/%d", memfd_create("b.zip", 0));
    return access(path, R_OK | W_OK) || access(path2, R_OK | W_OK);
}

static uint64_t get(const struct bytes *image, size_t at, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | image->p[at + (size_t)i];
    return v;
}

static void put(struct bytes *image, size_t at, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        image->p[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

/* Returns the offset of the k-th record with the given signature. */
static size_t find(const struct bytes *image, uint32_t signature, int k)
{
    for (size_t i = 0; i + 4 <= image->n; i++)
        if (get(image, i, 4) == signature && k-- == 0)
            return i;
    fail_msg("no record %d of kind %08x", k, signature);
    return 0;
}

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, END64 = 0x06064b50 };
enum { LOCATOR64 = 0x07064b50 };

static const char *const names[] = {"b/first", "a", "b/second", "c/d.e/..f"};
static const char *const contents[] = {"hello", "", "0123456789", "x"};

/* Makes an archive of n entries. */
static void make_of(size_t n, const char *const *of, const char *const *texts, bool zip64)
{
    struct cov_zip_writer *w;
    assert_ok(cov_zip_create(path, zip64, &w, &e));
    for (size_t i = 0; i < n; i++)
        assert_ok(cov_zip_add(w, of[i], texts[i], strlen(texts[i]), &e));
    assert_ok(cov_zip_finish(w, &e));
}

static void make(bool zip64)
{
    make_of(COV_COUNT(names), names, contents, zip64);
}

/* Reads all entries. */
static int read_all(const char *from, struct cov_err *e)
{
    struct cov_zip *z;
    int rc = cov_zip_open(from, &z, e);
    for (size_t i = 0; !rc && i < cov_zip_n_entries(z); i++) {
        char *buf = must(malloc(cov_zip_size(z, i) + 1));
        rc = cov_zip_read(z, i, buf, e);
        free(buf);
    }
    cov_zip_close(z);
    return rc;
}

static void bad(const struct bytes *image, const char *message)
{
    struct cov_err e = COV_ERR_INIT;
    put_bytes(path2, image->p, image->n);
    assert_int_equal(read_all(path2, &e), COV_EINPUT);
    assert_contains(e.text, path2);
    check_error(&e, COV_EINPUT, message);
}

TEST(round_trip)
{
    for (int zip64 = 0; zip64 < 2; zip64++) {
        make(zip64);
        struct cov_zip *z;
        assert_ok(cov_zip_open(path, &z, &e));
        assert_int_equal(cov_zip_n_entries(z), COV_COUNT(names));
        for (size_t i = 0; i < COV_COUNT(names); i++) {
            size_t k;
            char buf[20];
            assert_true(cov_zip_find(z, names[i], &k));
            assert_string_equal(cov_zip_name(z, k), names[i]);
            assert_int_equal(cov_zip_size(z, k), strlen(contents[i]));
            assert_ok(cov_zip_read(z, k, buf, &e));
            assert_memory_equal(buf, contents[i], strlen(contents[i]));
        }
        size_t k;
        assert_false(cov_zip_find(z, "b", &k));
        assert_false(cov_zip_find(z, "", &k));
        assert_false(cov_zip_find(z, "zzz", &k));
        struct bytes image = get_file(path);
        assert_int_equal(cov_zip_file_bytes(z), image.n);
        cov_zip_close(z);
        /* Data is aligned to 64 bytes. The same calls give the same bytes. */
        for (int i = 0; i < (int)COV_COUNT(names); i++) {
            size_t at = find(&image, LOCAL, i);
            assert_int_equal((at + 30 + get(&image, at + 26, 2) + get(&image, at + 28, 2)) % 64, 0);
        }
        make(zip64);
        struct bytes again = get_file(path);
        assert_int_equal(again.n, image.n);
        assert_memory_equal(again.p, image.p, image.n);
    }
}

TEST(empty_archive)
{
    for (int zip64 = 0; zip64 < 2; zip64++) {
        struct cov_zip *z;
        make_of(0, NULL, NULL, zip64);
        assert_ok(cov_zip_open(path, &z, &e));
        assert_int_equal(cov_zip_n_entries(z), 0);
        cov_zip_close(z);
    }
}

TEST(many_entries)
{
    enum { N = 66000 };
    for (int zip64 = 0; zip64 < 2; zip64++) {
        struct cov_zip_writer *w;
        assert_ok(cov_zip_create(path, zip64, &w, &e));
        int rc = 0, n = 0;
        for (; n < N && !rc; n++) {
            char name[20];
            (void)snprintf(name, sizeof name, "%d", n);
            rc = cov_zip_add(w, name, &n, sizeof n, NULL);
        }
        if (!zip64) {
            assert_int_equal(n - 1, 65534);
            assert_int_equal(rc, COV_EUNSUPPORTED);
            cov_zip_abort(w);
            continue;
        }
        assert_int_equal(rc, 0);
        assert_ok(cov_zip_finish(w, &e));
        struct cov_zip *z;
        assert_ok(cov_zip_open(path, &z, &e));
        assert_int_equal(cov_zip_n_entries(z), N);
        size_t k;
        int value;
        assert_true(cov_zip_find(z, "65999", &k));
        assert_ok(cov_zip_read(z, k, &value, &e));
        assert_int_equal(value, 65999);
        cov_zip_close(z);
    }
}

TEST(other_files)
{
    static const struct {
        const char *path, *message;
        int code;
    } all[] = {
        {"/nonexistent/x", "/nonexistent/x: No such file", COV_EIO},
        {"/tmp", "/tmp: is a directory, not a file", COV_EINPUT},
        {"/dev/null", "/dev/null: is not a regular file", COV_EINPUT},
    };
    for (size_t i = 0; i < COV_COUNT(all); i++) {
        struct cov_zip *z;
        assert_fails(cov_zip_open(all[i].path, &z, &e), all[i].code, all[i].message);
        assert_null(z);
    }
    /* Opening a pipe without a writer does not block. */
    char directory[] = "/tmp/test_zip.XXXXXX", pipe[40];
    assert_non_null(mkdtemp(directory));
    (void)snprintf(pipe, sizeof pipe, "%s/pipe", directory);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_fails(read_all(pipe, &e), COV_EINPUT, "not a regular file");
    assert_int_equal(unlink(pipe), 0);
    assert_int_equal(rmdir(directory), 0);
    /* These files are not archives. */
    static char text[100000] = "#!/bin/sh\n";
    for (size_t n = 0; n <= sizeof text; n = n < 30 ? n + 1 : n * 3)
        bad(&(struct bytes){(uint8_t *)text, n},
            n == 0 ? "the file is empty" : "not a PyTorch checkpoint");
    struct cov_zip_writer *w;
    assert_int_equal(cov_zip_create("/nonexistent/x", false, &w, NULL), COV_EIO);
    assert_ok(cov_zip_create("/dev/full", false, &w, &e));
    assert_ok(cov_zip_add(w, "x", text, 10, &e));
    assert_fails(cov_zip_finish(w, &e), COV_EIO, "No space left");
}

TEST(cut_or_changed)
{
    for (int zip64 = 0; zip64 < 2; zip64++) {
        make(zip64);
        struct bytes image = get_file(path);
        for (size_t n = 0; n < image.n; n++)
            bad(&(struct bytes){image.p, n}, n == 0  ? "the file is empty"
                                             : n < 4 ? "not a PyTorch checkpoint"
                                                     : "the end record is missing");
        /* An extra byte at the start or the end is an error. */
        uint8_t *longer = unit_zeros(image.n + 2);
        memcpy(longer + 1, image.p, image.n);
        bad(&(struct bytes){longer, image.n + 1}, "misplaced");
        bad(&(struct bytes){longer + 1, image.n + 1}, "the end record is missing");
        /* A flipped bit either is an error or does not change the data that is read. */
        size_t n_noticed = 0;
        for (size_t bit = 0; bit < 8 * image.n; bit++) {
            struct cov_err e = COV_ERR_INIT;
            image.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
            put_bytes(path2, image.p, image.n);
            n_noticed += read_all(path2, &e) != 0;
            image.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_true(n_noticed > 8 * image.n / 4);
        /* Damages random bytes. */
        struct cov_rng rng;
        cov_rng_init(&rng, 7);
        for (int round = 0; round < 3000; round++) {
            size_t at[4];
            uint8_t was[4];
            struct cov_err e = COV_ERR_INIT;
            for (int i = 0; i < 4; i++) {
                at[i] = (size_t)cov_rng_below(&rng, image.n);
                was[i] = image.p[at[i]];
                image.p[at[i]] = (uint8_t)cov_rng_next(&rng);
            }
            put_bytes(path2, image.p, image.n);
            if (read_all(path2, &e))
                assert_int_equal(e.code, COV_EINPUT);
            for (int i = 3; i >= 0; i--)
                image.p[at[i]] = was[i];
        }
    }
}

/* Replaces n bytes with `value`, at offset `at` of the k-th record of a kind. `message` is the
 * expected error. */
struct lie {
    uint32_t record;
    int k, at, n;
    uint64_t value;
    const char *message;
};

static void check_lies(const struct lie *lies, size_t n_lies)
{
    struct bytes image = get_file(path);
    for (size_t i = 0; i < n_lies; i++) {
        const struct lie *lie = &lies[i];
        size_t at = find(&image, lie->record, lie->k) + (size_t)lie->at;
        uint64_t was = get(&image, at, lie->n);
        put(&image, at, lie->value, lie->n);
        bad(&image, lie->message);
        put(&image, at, was, lie->n);
    }
    put_bytes(path2, image.p, image.n);
    assert_ok(read_all(path2, &e));
}

TEST(lies)
{
    static const struct lie all[] = {
        {END, 0, 4, 2, 1, "several files"},
        {END, 0, 6, 2, 1, "several files"},
        {END, 0, 8, 2, 3, "several files"},
        {END, 0, 8, 4, 0x00030003, "more than its entries"},
        {END, 0, 8, 4, 0x00050005, "more entries than fit in the directory"},
        {END, 0, 8, 4, 0xfffefffe, "more entries than fit in the directory"},
        {END, 0, 12, 4, 10, "misplaced"},
        {END, 0, 12, 4, 0xfffffff0, "misplaced"},
        {END, 0, 16, 4, 0, "misplaced"},
        {END, 0, 16, 4, 0xfffffff0, "misplaced"},
        {END, 0, 20, 2, 1, "the end record is missing"},
        {CENTRAL, 0, 0, 4, 0, "a record of the directory is missing"},
        {CENTRAL, 0, 8, 2, 1, "entry b/first: it is encrypted"},
        {CENTRAL, 0, 10, 2, 8, "entry b/first: it is compressed"},
        {CENTRAL, 0, 16, 4, 0, "entry b/first: its header contradicts"},
        {CENTRAL, 0, 20, 4, 4, "entry b/first: its two sizes differ"},
        {CENTRAL, 0, 24, 4, 6, "entry b/first: its two sizes differ"},
        {CENTRAL, 0, 28, 2, 0xffff, "a record extends past"},
        {CENTRAL, 0, 28, 2, 0, "a name that is not allowed"},
        {CENTRAL, 0, 30, 2, 0xffff, "a record extends past"},
        {CENTRAL, 0, 32, 2, 0xffff, "a record extends past"},
        {CENTRAL, 3, 32, 2, 1, "a record extends past"},
        {CENTRAL, 0, 34, 2, 1, "several files"},
        {CENTRAL, 0, 42, 4, 1, "its header is misplaced"},
        {CENTRAL, 0, 42, 4, 64, "its header is misplaced"},
        {CENTRAL, 0, 42, 4, 0x7fffffff, "it lies outside"},
        {CENTRAL, 0, 42, 4, 0xfffffffe, "it lies outside"},
        {LOCAL, 0, 0, 4, 0, "its header is misplaced"},
        {LOCAL, 0, 6, 2, 1, "its header contradicts"},
        {LOCAL, 0, 8, 2, 8, "its header contradicts"},
        {LOCAL, 0, 14, 4, 0, "its header contradicts"},
        {LOCAL, 0, 18, 4, 6, "its header contradicts"},
        {LOCAL, 0, 22, 4, 4, "its header contradicts"},
        {LOCAL, 0, 26, 2, 6, "its header is misplaced"},
        {LOCAL, 0, 28, 2, 0xffff, "it extends past"},
        {LOCAL, 0, 28, 2, 100, "it overlaps another one"},
        {LOCAL, 3, 28, 2, 100, "it extends past"},
        {LOCAL, 0, 30, 1, 'c', "its header contradicts"},
    };
    make(false);
    check_lies(all, COV_COUNT(all));
}

TEST(zip64_lies)
{
    static const struct lie all[] = {
        {LOCATOR64, 0, 0, 4, 0, "misplaced"},
        {LOCATOR64, 0, 4, 4, 1, "several files"},
        {LOCATOR64, 0, 16, 4, 2, "several files"},
        {LOCATOR64, 0, 8, 8, 0, "the zip64 end record is misplaced"},
        {LOCATOR64, 0, 8, 8, UINT64_MAX, "the zip64 end record lies outside the file"},
        {LOCATOR64, 0, 8, 8, (uint64_t)1 << 63, "the zip64 end record lies outside the file"},
        {END64, 0, 0, 4, 0, "the zip64 end record is misplaced"},
        {END64, 0, 4, 8, 45, "the zip64 end record is misplaced"},
        {END64, 0, 4, 8, UINT64_MAX, "the zip64 end record is misplaced"},
        {END64, 0, 16, 4, 1, "several files"},
        {END64, 0, 20, 4, 1, "several files"},
        {END64, 0, 24, 8, 3, "several files"},
        {END64, 0, 40, 8, UINT64_MAX, "misplaced"},
        {END64, 0, 40, 8, 1, "misplaced"},
        {END64, 0, 48, 8, UINT64_MAX, "misplaced"},
        {END64, 0, 48, 8, 0, "misplaced"},
        {END, 0, 8, 4, 0x00030003, "contradict each other"},
        {END, 0, 12, 4, 3, "contradict each other"},
        {END, 0, 16, 4, 3, "contradict each other"},
        /* the extra field of b/first consists of id, length, size, stored size and offset */
        {CENTRAL, 0, 53, 2, 2, "it lies outside"},
        {CENTRAL, 0, 55, 2, 16, "its extra field is damaged"},
        {CENTRAL, 0, 55, 2, 200, "its extra field is damaged"},
        {CENTRAL, 0, 57, 8, 6, "its two sizes differ"},
        {CENTRAL, 0, 65, 8, UINT64_MAX, "its two sizes differ"},
        {CENTRAL, 0, 73, 8, UINT64_MAX, "it lies outside"},
        {CENTRAL, 0, 73, 8, UINT64_MAX - 20, "it lies outside"},
        {CENTRAL, 0, 73, 8, 1, "its header is misplaced"},
    };
    make(true);
    check_lies(all, COV_COUNT(all));
    /* Both sizes are huge, and offset + size overflows. */
    struct bytes image = get_file(path);
    size_t at = find(&image, CENTRAL, 0);
    const uint64_t sizes[] = {image.n,         (uint64_t)1 << 50, (uint64_t)1 << 63,
                              UINT64_MAX - 63, UINT64_MAX - 1,    UINT64_MAX};
    for (size_t i = 0; i < COV_COUNT(sizes); i++) {
        put(&image, at + 57, sizes[i], 8);
        put(&image, at + 65, sizes[i], 8);
        bad(&image, "it extends past");
    }
    /* More entries than the directory has room for. */
    size_t end = find(&image, END64, 0);
    const uint64_t counts[] = {5, 1000, (uint64_t)1 << 32, UINT64_MAX};
    for (size_t i = 0; i < COV_COUNT(counts); i++) {
        put(&image, end + 24, counts[i], 8);
        put(&image, end + 32, counts[i], 8);
        bad(&image, i == 0 ? "" : "more entries than fit in the directory");
    }
}

TEST(overlaps)
{
    make(false);
    struct bytes image = get_file(path);
    /* The second directory record points to the first entry, so this entry occurs twice. */
    size_t first = find(&image, CENTRAL, 0), second = find(&image, CENTRAL, 2);
    put(&image, second + 42, get(&image, first + 42, 4), 4);
    bad(&image, "entry b/second: its header is misplaced");

    /* Entries are duplicated or overlap, or names are duplicated. */
    static const char *const pair[] = {"x", "x"}, *const same[] = {"same", "same"};
    make_of(2, pair, same, false);
    image = get_file(path);
    bad(&image, "entry x: duplicate name");
    first = find(&image, CENTRAL, 0);
    second = find(&image, CENTRAL, 1);
    uint64_t was = get(&image, second + 42, 4);
    put(&image, second + 42, get(&image, first + 42, 4), 4);
    bad(&image, "entry x: it overlaps another one");
    put(&image, second + 42, was, 4);
    size_t local = find(&image, LOCAL, 0);
    put(&image, first + 20, 60, 4);
    put(&image, first + 24, 60, 4);
    put(&image, local + 18, 60, 4);
    put(&image, local + 22, 60, 4);
    bad(&image, "entry x: it overlaps another one");
}

TEST(bad_names)
{
    static const char *const all[] = {"..",   "../x", "a/..", "a/../b", "/etc/passwd",
                                      "a\\b", "",     "../",  "x/../.."};
    static const char *const text[] = {"x"};
    for (size_t i = 0; i < COV_COUNT(all); i++) {
        make_of(1, &all[i], text, false);
        const struct bytes image = get_file(path);
        bad(&image, "a name that is not allowed");
    }
    static char name[70000];
    memset(name, 'n', sizeof name - 1);
    struct cov_zip_writer *w;
    assert_ok(cov_zip_create(path, false, &w, &e));
    assert_int_equal(cov_zip_add(w, name, "x", 1, NULL), COV_EUNSUPPORTED);
    cov_zip_abort(w);
    name[5000] = '\0';
    make_of(1, &(const char *){name}, text, false);
    struct bytes image = get_file(path);
    bad(&image, "a name that is not allowed");
}

/* The sizes and the checksum follow the data, as in files of torch.save. */
TEST(descriptors)
{
    make(false);
    struct bytes image = get_file(path);
    for (int i = 0; i < (int)COV_COUNT(names); i++) {
        size_t at = find(&image, LOCAL, i);
        put(&image, at + 6, 0x808, 2);
        put(&image, at + 14, 0, 8);
        put(&image, at + 22, 0, 4);
        at = find(&image, CENTRAL, i);
        put(&image, at + 8, 0x808, 2);
    }
    put_bytes(path2, image.p, image.n);
    assert_ok(read_all(path2, &e));
    /* The checksum that counts is the one in the directory. */
    size_t at = find(&image, CENTRAL, 2);
    put(&image, at + 16, get(&image, at + 16, 4) ^ 1, 4);
    bad(&image, "entry b/second: wrong checksum");
}

TEST_GROUP(setup, NULL)
