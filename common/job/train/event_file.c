/* event_file.c - see event_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/event_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/tmpfile.h"

struct cov_event_file {
    FILE *f;
    char *path;
    struct cov_newdir directory; /* its directory, if it was created */
};

/* CRC-32C (Castagnoli) of data[0..n). */
static uint32_t crc32c(const void *data, uint64_t n)
{
    const uint8_t *p = data;
    uint32_t crc = UINT32_MAX;
    for (uint64_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
    }
    return ~crc;
}

/* ---------------------------------------------------------------- protocol buffers */

enum { MAX_TAG = 200, MAX_EVENT = MAX_TAG + 64 };

/* Field numbers and wire types. */
enum { WALL_TIME = 1, STEP = 2, FILE_VERSION = 3, SUMMARY = 5, SESSION_LOG = 7 };
enum { VALUE = 1, TAG = 1, SIMPLE_VALUE = 2 };
enum { STATUS = 1, STATUS_START = 1 };
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct message {
    uint8_t data[MAX_EVENT];
    size_t n;
};

static void put_varint(struct message *m, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        m->data[m->n++] = (uint8_t)(x | 0x80);
    m->data[m->n++] = (uint8_t)x;
}

static void put_little(struct message *m, uint64_t bits, int n)
{
    for (int i = 0; i < n; i++)
        m->data[m->n++] = (uint8_t)(bits >> (8 * i));
}

static void put_key(struct message *m, unsigned field, unsigned type)
{
    put_varint(m, field << 3 | type);
}

static void put_bytes(struct message *m, unsigned field, const void *data, size_t n)
{
    put_key(m, field, BYTES);
    put_varint(m, n);
    memcpy(m->data + m->n, data, n);
    m->n += n;
}

static void begin_event(struct message *m)
{
    struct timeval now;
    uint64_t bits;
    (void)gettimeofday(&now, NULL);
    double seconds = (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
    memcpy(&bits, &seconds, sizeof bits);
    m->n = 0;
    put_key(m, WALL_TIME, FIXED64);
    put_little(m, bits, 8);
}

/* ---------------------------------------------------------------- records */

static uint32_t masked_crc(const void *data, uint64_t n)
{
    uint32_t crc = crc32c(data, n);
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

static int write_record(struct cov_event_file *f, const struct message *m, struct cov_err *e)
{
    struct message head = {.n = 0}, tail = {.n = 0};
    put_little(&head, m->n, 8);
    put_little(&head, masked_crc(head.data, 8), 4);
    put_little(&tail, masked_crc(m->data, m->n), 4);
    if (fwrite(head.data, 1, head.n, f->f) != head.n || fwrite(m->data, 1, m->n, f->f) != m->n ||
        fwrite(tail.data, 1, tail.n, f->f) != tail.n)
        return cov_fail_errno(e, "%s", f->path);
    return COV_OK;
}

int cov_event_file_open(const char *dir, struct cov_event_file **out, struct cov_err *e)
{
    static const char version[] = "brain.Event:2";
    char host[65] = "localhost";
    struct message m;
    struct timeval now;
    *out = NULL;
    (void)gethostname(host, sizeof host - 1);
    (void)gettimeofday(&now, NULL);
    struct cov_event_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    int rc = cov_newdir_make(&f->directory, dir, e);
    f->path = rc ? NULL
                 : cov_strfmt(e, "%s/events.out.tfevents.%lld.%s.%ld", dir, (long long)now.tv_sec,
                              host, (long)getpid());
    if (!rc && !f->path)
        rc = COV_ENOMEM;
    if (!rc) {
        f->f = fopen(f->path, "wbxe");
        if (!f->f)
            rc = cov_fail_errno(e, "%s", f->path);
    }
    if (!rc) {
        begin_event(&m);
        put_bytes(&m, FILE_VERSION, version, sizeof version - 1);
        rc = write_record(f, &m, e);
    }
    if (!rc) {
        *out = f;
        return COV_OK;
    }
    if (f->f)
        (void)fclose(f->f);
    cov_newdir_fini(&f->directory);
    free(f->path);
    free(f);
    return rc;
}

int cov_event_file_start(struct cov_event_file *f, int64_t step, struct cov_err *e)
{
    struct message event, session = {.n = 0};
    put_key(&session, STATUS, VARINT);
    put_varint(&session, STATUS_START);
    begin_event(&event);
    put_key(&event, STEP, VARINT);
    put_varint(&event, (uint64_t)step);
    put_bytes(&event, SESSION_LOG, session.data, session.n);
    return write_record(f, &event, e);
}

int cov_event_file_add(struct cov_event_file *f, int64_t step, const char *tag, double value,
                       struct cov_err *e)
{
    struct message event, summary = {.n = 0}, item = {.n = 0};
    float v = (float)value;
    uint32_t bits;
    size_t n = strlen(tag);
    memcpy(&bits, &v, sizeof bits);
    put_bytes(&item, TAG, tag, n < MAX_TAG ? n : MAX_TAG);
    put_key(&item, SIMPLE_VALUE, FIXED32);
    put_little(&item, bits, 4);
    put_bytes(&summary, VALUE, item.data, item.n);
    begin_event(&event);
    put_key(&event, STEP, VARINT);
    put_varint(&event, (uint64_t)step);
    put_bytes(&event, SUMMARY, summary.data, summary.n);
    return write_record(f, &event, e);
}

int cov_event_file_flush(struct cov_event_file *f, struct cov_err *e)
{
    return fflush(f->f) || ferror(f->f) ? cov_fail_errno(e, "%s", f->path) : COV_OK;
}

int cov_event_file_close(struct cov_event_file *f, struct cov_err *e)
{
    if (!f)
        return COV_OK;
    int rc = ferror(f->f) ? cov_fail(e, COV_EIO, "%s: incomplete", f->path) : COV_OK;
    if (fclose(f->f) && !rc)
        rc = cov_fail_errno(e, "%s", f->path);
    cov_newdir_fini(&f->directory);
    free(f->path);
    free(f);
    return rc;
}
