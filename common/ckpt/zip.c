/* zip.c - see zip.h. Section numbers are those of APPNOTE.TXT 6.3.10.
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/deflate/deflate.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"

enum {
    END_BYTES = 22,
    LOCATOR_BYTES = 20,
    END64_BYTES = 56,
    CENTRAL_BYTES = 46,
    LOCAL_BYTES = 30,
    MAX_COMMENT = 65535,
    MAX_NAME = 4096,
    MAX_ENTRIES = 1 << 20,
};

enum {
    LOCAL_SIGNATURE = 0x04034b50,
    CENTRAL_SIGNATURE = 0x02014b50,
    END_SIGNATURE = 0x06054b50,
    END64_SIGNATURE = 0x06064b50,
    LOCATOR_SIGNATURE = 0x07064b50,
};

/* General purpose bits (4.4.4). Bits 0, 6 and 13 mean encryption; bit 3 means that a data
 * descriptor after the data holds the sizes and the checksum. */
enum { FLAGS_ENCRYPTED = 0x2041, FLAG_DESCRIPTOR = 8 };

struct entry {
    char *name; /* in `names` */
    uint64_t size;
    uint64_t header_at, data_at;
    uint32_t crc;
};

struct cov_zip {
    int fd;
    char *path;
    uint64_t n_bytes;
    struct entry *entries; /* sorted by name after reading */
    size_t n_entries;
    char *names; /* NUL-terminated */
};

/* The central directory. */
struct place {
    uint64_t at, n_bytes, n_entries;
};

static int damaged(const struct cov_zip *z, const char *what, struct cov_err *e)
{
    (void)cov_fail(e, COV_EINPUT, "%s: damaged zip archive: %s", z->path, what);
    return COV_EINPUT;
}

static int bad_entry(const struct cov_zip *z, const struct entry *entry, const char *what,
                     struct cov_err *e)
{
    (void)cov_fail(e, COV_EINPUT, "%s: entry %s: %s", z->path, entry->name, what);
    return COV_EINPUT;
}

static uint64_t get(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static uint16_t get16(const uint8_t *p)
{
    return (uint16_t)get(p, 2);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get(p, 4);
}

/* Reads n bytes at offset `at`, which were in the file when it was opened. */
static int read_at(const struct cov_zip *z, uint64_t at, void *buf, size_t n, struct cov_err *e)
{
    const ssize_t got = cov_read_at(z->fd, (int64_t)at, buf, n);
    if (got < 0)
        return cov_fail_errno(e, "%s", z->path);
    return (size_t)got == n ? COV_OK
                            : cov_fail(e, COV_EINPUT, "%s: truncated while being read", z->path);
}

/* ---------------------------------------------------------------- the end records */

/* Fails with the reason for the missing end record. */
static int no_end(const struct cov_zip *z, struct cov_err *e)
{
    uint8_t first[4] = {0};
    int rc = read_at(z, 0, first, z->n_bytes < sizeof first ? 0 : sizeof first, e);
    if (rc)
        return rc;
    if (get32(first) == LOCAL_SIGNATURE)
        return cov_fail(e, COV_EINPUT, "%s: truncated zip archive: the end record is missing",
                        z->path);
    (void)cov_fail_kind(e, z->path, "not a PyTorch checkpoint: not a zip archive");
    return COV_EINPUT;
}

/* Finds the end of central directory record (4.3.16), that is, the last such record whose
 * comment ends where the file ends. Sets *at to its offset. */
static int find_end(const struct cov_zip *z, uint8_t *record, uint64_t *at, struct cov_err *e)
{
    size_t n = z->n_bytes < END_BYTES + MAX_COMMENT ? (size_t)z->n_bytes : END_BYTES + MAX_COMMENT;
    uint8_t *tail = cov_malloc(n, 1, e);
    if (!tail)
        return COV_ENOMEM;
    int rc = read_at(z, z->n_bytes - n, tail, n, e);
    size_t i = n < END_BYTES ? 0 : n - END_BYTES + 1; /* 1 + the offset being tested */
    while (!rc && i > 0 &&
           (get32(tail + i - 1) != END_SIGNATURE || i - 1 + END_BYTES + get16(tail + i + 19) != n))
        i--;
    if (!rc && i > 0) {
        memcpy(record, tail + i - 1, END_BYTES);
        *at = z->n_bytes - n + i - 1;
    } else if (!rc) {
        rc = no_end(z, e);
    }
    free(tail);
    return rc;
}

/* If a zip64 locator (4.3.15) precedes the end record, replaces the values of the end record
 * with those of the zip64 end record (4.3.14) that the locator points to. Sets *end to where the
 * directory must end. */
static int read_end64(const struct cov_zip *z, uint64_t end_at, struct place *dir, uint64_t *end,
                      struct cov_err *e)
{
    uint8_t locator[LOCATOR_BYTES], record[END64_BYTES];
    *end = end_at;
    if (end_at < LOCATOR_BYTES)
        return COV_OK;
    int rc = read_at(z, end_at - LOCATOR_BYTES, locator, sizeof locator, e);
    if (rc || get32(locator) != LOCATOR_SIGNATURE)
        return rc;
    uint64_t at = get(locator + 8, 8), locator_at = end_at - LOCATOR_BYTES;
    if (get32(locator + 4) != 0 || get32(locator + 16) != 1)
        return damaged(z, "it is split over several files", e);
    if (locator_at < END64_BYTES || at > locator_at - END64_BYTES)
        return damaged(z, "the zip64 end record lies outside the file", e);
    rc = read_at(z, at, record, sizeof record, e);
    if (rc)
        return rc;
    if (get32(record) != END64_SIGNATURE || get(record + 4, 8) != locator_at - at - 12)
        return damaged(z, "the zip64 end record is misplaced", e);
    if (get32(record + 16) != 0 || get32(record + 20) != 0 ||
        get(record + 24, 8) != get(record + 32, 8))
        return damaged(z, "it is split over several files", e);
    struct place wide = {get(record + 48, 8), get(record + 40, 8), get(record + 32, 8)};
    if ((dir->n_entries != UINT16_MAX && dir->n_entries != wide.n_entries) ||
        (dir->n_bytes != UINT32_MAX && dir->n_bytes != wide.n_bytes) ||
        (dir->at != UINT32_MAX && dir->at != wide.at))
        return damaged(z, "its two end records contradict each other", e);
    *dir = wide;
    *end = at;
    return COV_OK;
}

static int find_directory(const struct cov_zip *z, struct place *dir, struct cov_err *e)
{
    uint8_t record[END_BYTES] = {0};
    uint64_t end_at = 0, end;
    int rc = find_end(z, record, &end_at, e);
    if (rc)
        return rc;
    if (get16(record + 4) != 0 || get16(record + 6) != 0 || get16(record + 8) != get16(record + 10))
        return damaged(z, "it is split over several files", e);
    *dir = (struct place){get32(record + 16), get32(record + 12), get16(record + 10)};
    rc = read_end64(z, end_at, dir, &end, e);
    if (rc)
        return rc;
    if (dir->at > end || dir->n_bytes != end - dir->at)
        return damaged(z, "the directory is misplaced", e);
    if (dir->n_entries > dir->n_bytes / CENTRAL_BYTES || dir->n_entries > MAX_ENTRIES)
        return damaged(z, "more entries than fit in the directory", e);
    return COV_OK;
}

/* ---------------------------------------------------------------- entries */

/* If all bits of the size, the stored size or the offset are set, replaces that field with its
 * 64-bit value in the zip64 extra field (4.5.3). */
static int read_extra64(const uint8_t *extra, size_t n, uint64_t *const fields[3])
{
    size_t at = 0;
    while (n - at >= 4) {
        unsigned id = get16(extra + at);
        size_t n_field = get16(extra + at + 2);
        at += 4;
        if (n_field > n - at)
            return COV_EINPUT;
        if (id == 1) {
            const uint8_t *p = extra + at;
            for (int i = 0; i < 3; i++) {
                if (*fields[i] != UINT32_MAX)
                    continue;
                if (n_field < 8)
                    return COV_EINPUT;
                *fields[i] = get(p, 8);
                p += 8;
                n_field -= 8;
            }
            return COV_OK;
        }
        at += n_field;
    }
    return COV_OK;
}

/* Entry names are only compared, never opened as files, but torch.save does not write such
 * names. */
static bool good_name(const char *name, size_t n)
{
    if (n == 0 || n > MAX_NAME || name[0] == '/' || memchr(name, 0, n) || memchr(name, '\\', n))
        return false;
    for (size_t beg = 0; beg < n;) {
        const char *slash = memchr(name + beg, '/', n - beg);
        size_t end = slash ? (size_t)(slash - name) : n;
        if (end - beg == 2 && memcmp(name + beg, "..", 2) == 0)
            return false;
        beg = end + 1;
    }
    return true;
}

/* Reads the directory record at p; `left` bytes remain up to the end of the directory. Sets
 * *n_record to the length of the record. Copies the name to entry->name, where there is enough
 * room. */
static int read_central(const struct cov_zip *z, const uint8_t *p, size_t left, struct entry *entry,
                        size_t *n_record, struct cov_err *e)
{
    if (left < CENTRAL_BYTES || get32(p) != CENTRAL_SIGNATURE)
        return damaged(z, "a record of the directory is missing", e);
    size_t n_name = get16(p + 28), n_extra = get16(p + 30), n_comment = get16(p + 32);
    *n_record = CENTRAL_BYTES + n_name + n_extra + n_comment;
    if (*n_record > left)
        return damaged(z, "a record extends past the directory", e);
    const char *name = (const char *)p + CENTRAL_BYTES;
    if (!good_name(name, n_name))
        return damaged(z, "an entry has a name that is not allowed", e);
    memcpy(entry->name, name, n_name);
    entry->name[n_name] = '\0';
    entry->crc = get32(p + 16);
    entry->size = get32(p + 24);
    entry->header_at = get32(p + 42);
    uint64_t stored = get32(p + 20);
    uint64_t *const wide[3] = {&entry->size, &stored, &entry->header_at};
    if (read_extra64((const uint8_t *)name + n_name, n_extra, wide))
        return bad_entry(z, entry, "its extra field is damaged", e);
    if (get16(p + 8) & FLAGS_ENCRYPTED)
        return bad_entry(z, entry, "it is encrypted", e);
    if (get16(p + 10) != 0)
        return bad_entry(z, entry, "it is compressed; torch.save writes stored entries", e);
    if (stored != entry->size)
        return bad_entry(z, entry, "its two sizes differ", e);
    if (get16(p + 34) != 0)
        return damaged(z, "it is split over several files", e);
    return COV_OK;
}

/* Checks the local header (4.3.7) against the directory and finds the data. Entries must end
 * before dir_at. */
static int read_local(const struct cov_zip *z, struct entry *entry, uint64_t dir_at,
                      struct cov_err *e)
{
    uint8_t header[LOCAL_BYTES];
    char name[MAX_NAME];
    size_t n_name = strlen(entry->name);
    uint64_t fixed = LOCAL_BYTES + n_name;
    if (dir_at < fixed || entry->header_at > dir_at - fixed)
        return bad_entry(z, entry, "it lies outside the archive", e);
    int rc = read_at(z, entry->header_at, header, sizeof header, e);
    if (rc)
        return rc;
    if (get32(header) != LOCAL_SIGNATURE || get16(header + 26) != n_name)
        return bad_entry(z, entry, "its header is misplaced", e);
    rc = read_at(z, entry->header_at + LOCAL_BYTES, name, n_name, e);
    if (rc)
        return rc;
    /* If there is a data descriptor, the sizes and the checksum in the header may be zero. */
    bool known = !(get16(header + 6) & FLAG_DESCRIPTOR);
    uint32_t stored = get32(header + 18), size = get32(header + 22);
    if (memcmp(name, entry->name, n_name) != 0 || get16(header + 8) != 0 ||
        (get16(header + 6) & FLAGS_ENCRYPTED) ||
        (known &&
         (get32(header + 14) != entry->crc || (size != UINT32_MAX && size != entry->size) ||
          (stored != UINT32_MAX && stored != entry->size))))
        return bad_entry(z, entry, "its header contradicts the directory", e);
    entry->data_at = entry->header_at + fixed + get16(header + 28);
    if (entry->data_at > dir_at || entry->size > dir_at - entry->data_at)
        return bad_entry(z, entry, "it extends past the archive's entries", e);
    return COV_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->header_at < y->header_at ? -1 : x->header_at > y->header_at;
}

static int by_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Checks that entries do not overlap or share a name. */
static int check_entries(struct cov_zip *z, struct cov_err *e)
{
    struct entry *entries = z->entries;
    qsort(entries, z->n_entries, sizeof *entries, by_place);
    for (size_t i = 1; i < z->n_entries; i++)
        if (entries[i].header_at < entries[i - 1].data_at + entries[i - 1].size)
            return bad_entry(z, &entries[i], "it overlaps another one", e);
    qsort(entries, z->n_entries, sizeof *entries, by_name);
    for (size_t i = 1; i < z->n_entries; i++)
        if (strcmp(entries[i].name, entries[i - 1].name) == 0)
            return bad_entry(z, &entries[i], "duplicate name", e);
    return COV_OK;
}

/* Fails if the directory lists a checkpoint, which a download or an archiver has packed. */
static int refuse_packed(const struct cov_zip *z, const struct place *dir, const uint8_t *data,
                         struct cov_err *e)
{
    static const char suffix[] = ".ckpt";
    size_t n_suffix = sizeof suffix - 1, left = (size_t)dir->n_bytes;
    for (const uint8_t *p = data; left >= CENTRAL_BYTES && get32(p) == CENTRAL_SIGNATURE;) {
        const char *name = (const char *)p + CENTRAL_BYTES;
        size_t n_name = get16(p + 28), n = CENTRAL_BYTES + n_name + get16(p + 30) + get16(p + 32);
        if (n > left)
            break;
        if (n_name > n_suffix && memcmp(name + n_name - n_suffix, suffix, n_suffix) == 0)
            return cov_fail(e, COV_EINPUT, "%s: a zip archive that holds %.*s: unzip it first",
                            z->path, (int)n_name, name);
        p += n;
        left -= n;
    }
    return COV_OK;
}

static int read_directory(struct cov_zip *z, struct cov_err *e)
{
    struct place dir;
    uint8_t *data = NULL;
    int rc = find_directory(z, &dir, e);
    if (rc)
        return rc;
    rc = COV_ENOMEM;
    z->n_entries = (size_t)dir.n_entries;
    data = cov_malloc((size_t)dir.n_bytes, 1, e);
    /* A name with its terminator is shorter than its directory record. */
    z->names = cov_malloc((size_t)dir.n_bytes, 1, e);
    z->entries = cov_calloc(z->n_entries, sizeof *z->entries, e);
    if (!data || !z->names || !z->entries)
        goto out;
    rc = read_at(z, dir.at, data, (size_t)dir.n_bytes, e);
    if (!rc)
        rc = refuse_packed(z, &dir, data, e);
    size_t at = 0, n_record = 0;
    for (size_t i = 0; !rc && i < z->n_entries; i++) {
        z->entries[i].name = z->names + at;
        rc = read_central(z, data + at, (size_t)dir.n_bytes - at, &z->entries[i], &n_record, e);
        if (!rc)
            rc = read_local(z, &z->entries[i], dir.at, e);
        at += n_record;
    }
    if (!rc && at != dir.n_bytes)
        rc = damaged(z, "the directory holds more than its entries", e);
    if (!rc)
        rc = check_entries(z, e);
out:
    free(data);
    return rc;
}

/* ---------------------------------------------------------------- reading */

static int open_file(struct cov_zip *z, const char *path, struct cov_err *e)
{
    z->path = cov_strdup(path, e);
    int rc = z->path ? cov_path_open_file(path, &z->fd, &z->n_bytes, e) : COV_ENOMEM;
    if (!rc && z->n_bytes == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: the file is empty", path);
    return rc;
}

int cov_zip_open(const char *path, struct cov_zip **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_zip *z = cov_calloc(1, sizeof *z, e);
    if (!z)
        return COV_ENOMEM;
    z->fd = -1;
    int rc = open_file(z, path, e);
    if (!rc)
        rc = read_directory(z, e);
    if (rc) {
        cov_zip_close(z);
        return rc;
    }
    *out = z;
    return COV_OK;
}

void cov_zip_close(struct cov_zip *z)
{
    if (!z)
        return;
    if (z->fd >= 0)
        (void)close(z->fd);
    free(z->entries);
    free(z->names);
    free(z->path);
    free(z);
}

uint64_t cov_zip_file_bytes(const struct cov_zip *z)
{
    return z->n_bytes;
}

size_t cov_zip_n_entries(const struct cov_zip *z)
{
    return z->n_entries;
}

const char *cov_zip_name(const struct cov_zip *z, size_t i)
{
    return z->entries[i].name;
}

size_t cov_zip_size(const struct cov_zip *z, size_t i)
{
    return (size_t)z->entries[i].size;
}

bool cov_zip_find(const struct cov_zip *z, const char *name, size_t *i)
{
    size_t beg = 0, end = z->n_entries;
    while (beg < end) {
        size_t middle = beg + (end - beg) / 2;
        int order = strcmp(name, z->entries[middle].name);
        if (order == 0) {
            *i = middle;
            return true;
        }
        if (order < 0)
            end = middle;
        else
            beg = middle + 1;
    }
    return false;
}

int cov_zip_read(const struct cov_zip *z, size_t i, void *buf, struct cov_err *e)
{
    const struct entry *entry = &z->entries[i];
    int rc = read_at(z, entry->data_at, buf, (size_t)entry->size, e);
    if (!rc && cov_crc32(0, buf, (size_t)entry->size) != entry->crc)
        rc = bad_entry(z, entry, "wrong checksum; the file is damaged", e);
    return rc;
}

/* ---------------------------------------------------------------- writing */

enum { ALIGNMENT = 64, NAMES_UTF8 = 0x800, DOS_DATE_1980 = 0x21 };

struct bytes {
    uint8_t *data;
    size_t n, cap;
};

struct cov_zip_writer {
    char *path;
    FILE *f;
    bool zip64;
    uint64_t offset; /* bytes written */
    uint64_t n_entries;
    struct bytes directory;
    struct bytes header; /* header of the current entry */
};

/* ---- little-endian fields ---- */

static void put(struct bytes *b, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        b->data[b->n++] = (uint8_t)(value >> (8 * i));
}

/* Writes a 32-bit field, which zip64 moves to the extra field. */
static void put32(struct bytes *b, uint64_t value, bool zip64)
{
    put(b, zip64 ? UINT32_MAX : value, 4);
}

static int reserve(struct bytes *b, size_t n, struct cov_err *e)
{
    int rc = COV_RESERVE(&b->data, &b->cap, b->n + n, e);
    return rc;
}

static int write_bytes(struct cov_zip_writer *w, const void *data, size_t n, struct cov_err *e)
{
    if (fwrite(data, 1, n, w->f) != n)
        return cov_fail_errno(e, "cannot write %s", w->path);
    w->offset += n;
    return COV_OK;
}

/* ---- entries ---- */

/* Writes the fields that the local header and the directory record share, from the version to
 * the length of the name. */
static void put_common(struct bytes *b, bool zip64, uint32_t crc, uint64_t size, size_t n_name)
{
    put(b, zip64 ? 45 : 20, 2); /* version needed */
    put(b, NAMES_UTF8, 2);
    put(b, 0, 2); /* method: stored */
    put(b, 0, 2); /* time */
    put(b, DOS_DATE_1980, 2);
    put(b, crc, 4);
    put32(b, size, zip64);
    put32(b, size, zip64);
    put(b, n_name, 2);
}

/* Writes the local header. PyTorch's extra field "FB" pads it so that the data is aligned. */
static void put_local(struct cov_zip_writer *w, const char *name, size_t n_name, uint32_t crc,
                      uint64_t size)
{
    struct bytes *b = &w->header;
    b->n = 0;
    size_t n_zip64 = w->zip64 ? 20 : 0;
    uint64_t data_at = w->offset + LOCAL_BYTES + n_name + n_zip64 + 4;
    size_t padding = (size_t)(-data_at % ALIGNMENT);
    put(b, LOCAL_SIGNATURE, 4);
    put_common(b, w->zip64, crc, size, n_name);
    put(b, n_zip64 + 4 + padding, 2);
    memcpy(b->data + b->n, name, n_name);
    b->n += n_name;
    if (w->zip64) {
        put(b, 1, 2);
        put(b, 16, 2);
        put(b, size, 8);
        put(b, size, 8);
    }
    put(b, 'F' | 'B' << 8, 2);
    put(b, padding, 2);
    memset(b->data + b->n, 'Z', padding);
    b->n += padding;
}

/* Writes a central directory record (4.3.12). */
static void put_central(struct cov_zip_writer *w, const char *name, size_t n_name, uint32_t crc,
                        uint64_t size)
{
    struct bytes *b = &w->directory;
    put(b, CENTRAL_SIGNATURE, 4);
    put(b, w->zip64 ? 45 : 20, 2); /* version made by */
    put_common(b, w->zip64, crc, size, n_name);
    put(b, w->zip64 ? 28 : 0, 2); /* extra field */
    put(b, 0, 2);                 /* comment */
    put(b, 0, 2);                 /* disk */
    put(b, 0, 2);                 /* internal attributes */
    put(b, 0, 4);                 /* external attributes */
    put32(b, w->offset, w->zip64);
    memcpy(b->data + b->n, name, n_name);
    b->n += n_name;
    if (w->zip64) {
        put(b, 1, 2);
        put(b, 24, 2);
        put(b, size, 8);
        put(b, size, 8);
        put(b, w->offset, 8);
    }
}

int cov_zip_create(const char *path, bool zip64, struct cov_zip_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_zip_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    w->zip64 = zip64;
    int rc = COV_OK;
    w->path = cov_strdup(path, e);
    if (!w->path)
        rc = COV_ENOMEM;
    else if (!(w->f = fopen(path, "wbe")))
        rc = cov_fail_errno(e, "cannot write %s", path);
    if (rc) {
        cov_zip_abort(w);
        return rc;
    }
    *out = w;
    return COV_OK;
}

int cov_zip_add(struct cov_zip_writer *w, const char *name, const void *data, size_t n,
                struct cov_err *e)
{
    size_t n_name = strlen(name);
    if (n_name > UINT16_MAX - 128)
        return cov_fail(e, COV_EUNSUPPORTED, "%s: an entry's name of %zu bytes", w->path, n_name);
    /* The padded header and the new directory record. */
    size_t n_header = LOCAL_BYTES + n_name + 24 + ALIGNMENT, n_record = 46 + n_name + 28;
    uint64_t end = w->offset + n_header + n + w->directory.n + n_record;
    if (!w->zip64 && (n > UINT32_MAX || end >= UINT32_MAX || w->n_entries >= UINT16_MAX - 1))
        return cov_fail(e, COV_EUNSUPPORTED, "%s: beyond 4 GiB or 65,534 entries without zip64",
                        w->path);
    int rc = reserve(&w->header, n_header, e);
    if (!rc)
        rc = reserve(&w->directory, n_record, e);
    if (rc)
        return rc;
    uint32_t crc = cov_crc32(0, data, n);
    put_central(w, name, n_name, crc, n);
    put_local(w, name, n_name, crc, n);
    w->n_entries++;
    rc = write_bytes(w, w->header.data, w->header.n, e);
    return rc ? rc : write_bytes(w, data, n, e);
}

/* Writes the end records. */
static void put_end(struct cov_zip_writer *w, uint64_t directory_at)
{
    struct bytes *b = &w->directory;
    uint64_t n_directory = b->n;
    if (w->zip64) {
        put(b, END64_SIGNATURE, 4);
        put(b, 44, 8); /* bytes in this record after this field */
        put(b, 45, 2);
        put(b, 45, 2);
        put(b, 0, 4);
        put(b, 0, 4);
        put(b, w->n_entries, 8);
        put(b, w->n_entries, 8);
        put(b, n_directory, 8);
        put(b, directory_at, 8);
        put(b, LOCATOR_SIGNATURE, 4);
        put(b, 0, 4);
        put(b, directory_at + n_directory, 8);
        put(b, 1, 4);
    }
    put(b, END_SIGNATURE, 4);
    put(b, 0, 2);
    put(b, 0, 2);
    put(b, w->zip64 ? UINT16_MAX : w->n_entries, 2);
    put(b, w->zip64 ? UINT16_MAX : w->n_entries, 2);
    put32(b, n_directory, w->zip64);
    put32(b, directory_at, w->zip64);
    put(b, 0, 2);
}

int cov_zip_finish(struct cov_zip_writer *w, struct cov_err *e)
{
    int rc = reserve(&w->directory, 98, e);
    if (!rc) {
        put_end(w, w->offset);
        rc = write_bytes(w, w->directory.data, w->directory.n, e);
    }
    FILE *f = w->f;
    w->f = NULL;
    if (fclose(f) && !rc)
        rc = cov_fail_errno(e, "cannot write %s", w->path);
    cov_zip_abort(w);
    return rc;
}

void cov_zip_abort(struct cov_zip_writer *w)
{
    if (!w)
        return;
    if (w->f)
        (void)fclose(w->f);
    free(w->directory.data);
    free(w->header.data);
    free(w->path);
    free(w);
}
