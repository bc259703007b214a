/* zip_writer.c - the writing half of zip.h.
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/codec/deflate.h"

enum { ALIGNMENT = 64, LOCAL_BYTES = 30, NAMES_UTF8 = 0x800, DOS_DATE_1980 = 0x21 };

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
    struct bytes header; /* of the entry in progress */
};

/* ---------------------------------------------------------------- little-endian fields */

static void put(struct bytes *b, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        b->data[b->n++] = (uint8_t)(value >> (8 * i));
}

/* A field of 32 bits, which zip64 leaves to the extra field. */
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

/* ---------------------------------------------------------------- entries */

/* What local header and directory have in common, from the version to the length of the name. */
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

/* The local header. An extra field "FB" (PyTorch's) pads it so that the data begins at an
 * aligned offset. */
static void put_local(struct cov_zip_writer *w, const char *name, size_t n_name, uint32_t crc,
                      uint64_t size)
{
    struct bytes *b = &w->header;
    b->n = 0;
    size_t n_zip64 = w->zip64 ? 20 : 0;
    uint64_t data_at = w->offset + LOCAL_BYTES + n_name + n_zip64 + 4;
    size_t padding = (size_t)(-data_at % ALIGNMENT);
    put(b, 0x04034b50, 4);
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

/* The entry's record of the directory. */
static void put_central(struct cov_zip_writer *w, const char *name, size_t n_name, uint32_t crc,
                        uint64_t size)
{
    struct bytes *b = &w->directory;
    put(b, 0x02014b50, 4);
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
    /* Behind the entry come its padded header, and the directory that grows by a record. */
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

/* The records behind the directory that say where it is. */
static void put_end(struct cov_zip_writer *w, uint64_t directory_at)
{
    struct bytes *b = &w->directory;
    uint64_t n_directory = b->n;
    if (w->zip64) {
        put(b, 0x06064b50, 4);
        put(b, 44, 8); /* bytes of this record from here on */
        put(b, 45, 2);
        put(b, 45, 2);
        put(b, 0, 4);
        put(b, 0, 4);
        put(b, w->n_entries, 8);
        put(b, w->n_entries, 8);
        put(b, n_directory, 8);
        put(b, directory_at, 8);
        put(b, 0x07064b50, 4);
        put(b, 0, 4);
        put(b, directory_at + n_directory, 8);
        put(b, 1, 4);
    }
    put(b, 0x06054b50, 4);
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
