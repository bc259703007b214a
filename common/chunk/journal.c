/* journal.c - see journal.h.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/deflate/deflate.h"
#include "common/file/outfile.h"
#include "common/file/path.h"

enum { VERSION = 2, MAX_HEAD = 1 << 16, MAX_TRIES = 100 };
#define PIECE_MAGIC UINT32_C(0x70766f63) /* also shows the byte order */

static const char file_magic[16] = "covtools journal";

/* The start of a file; the head follows. */
struct file_head {
    char magic[16];
    uint32_t version, n_head, crc; /* crc: of n_head and the head */
    uint32_t zero;
};

/* The header of a piece. It is followed by the ends of the pieces of both blobs (uint64_t), then by
 * their bytes. */
struct piece_head {
    uint32_t magic, crc; /* crc: of everything after it */
    uint64_t piece;
    uint64_t n_bytes[2];
    uint64_t n_pieces[2];
    struct cov_journal_times times; /* of all runs so far */
};

struct cov_journal {
    char *path, *head;
    int fd;
    bool damaged;
    struct timespec time;
    double start; /* of this run */
    struct cov_journal_times earlier;
    int64_t size, first; /* size of the file; offset of the first piece */
    int64_t *at;         /* [n]: offset of each piece, 0 if missing */
    size_t n, n_stored;
    cov_journal_fits_fn *fits;
    const void *fits_arg;
    struct cov_blob blobs[2]; /* scratch of the scan */
    uint8_t *bytes;           /* a piece */
    size_t cap_bytes;
};

/* ---- bytes ---- */

/* Reads n bytes at offset `at`; *got is less than n only at the end of the file. */
static int read_at(const struct cov_journal *j, int64_t at, void *buf, size_t n, size_t *got,
                   struct cov_err *e)
{
    const ssize_t m = cov_read_at(j->fd, at, buf, n);
    *got = m > 0 ? (size_t)m : 0;
    return m < 0 ? cov_fail_errno(e, "%s: cannot be read", j->path) : COV_OK;
}

static int append(struct cov_journal *j, const void *bytes, size_t n, struct cov_err *e)
{
    if (cov_write_at(j->fd, j->size, bytes, n) == 0) {
        j->size += (int64_t)n;
        return COV_OK;
    }
    int rc = cov_fail_errno(e, "%s: cannot be written", j->path);
    /* A torn piece at the end is harmless. */
    if (ftruncate(j->fd, (off_t)j->size) != 0)
        cov_debug("%s: a torn piece remains at the end", j->path);
    return rc;
}

static int truncate_to(struct cov_journal *j, int64_t size, struct cov_err *e)
{
    if (ftruncate(j->fd, (off_t)size) != 0)
        return cov_fail_errno(e, "%s: cannot be truncated", j->path);
    j->size = size;
    return COV_OK;
}

/* ---- the head ---- */

static uint32_t head_crc(uint32_t n, const char *head)
{
    return cov_crc32(cov_crc32(0, &n, sizeof n), head, n);
}

static int no_journal(const struct cov_journal *j, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT,
                    "%s: exists, but is not a journal of an unfinished run; rename the output or "
                    "this file",
                    j->path);
}

static int read_head(struct cov_journal *j, struct cov_err *e)
{
    /* If the machine stopped before the head was synced, zeros may be there. */
    static const char lost[sizeof file_magic];
    struct file_head h;
    size_t got;
    int rc = read_at(j, 0, &h, sizeof h, &got, e);
    if (rc || got == 0)
        return rc;
    if (got >= sizeof h.magic && memcmp(h.magic, lost, sizeof lost) == 0)
        return COV_OK;
    if (memcmp(h.magic, file_magic, got < sizeof h.magic ? got : sizeof h.magic) != 0)
        return no_journal(j, e);
    if (got < sizeof h)
        return COV_OK; /* killed while starting */
    j->damaged = h.version != VERSION || h.zero != 0 || h.n_head > MAX_HEAD;
    if (j->damaged)
        return COV_OK;
    j->head = cov_malloc((size_t)h.n_head + 1, 1, e);
    if (!j->head)
        return COV_ENOMEM;
    rc = read_at(j, sizeof h, j->head, h.n_head, &got, e);
    if (rc)
        return rc;
    j->head[got] = '\0';
    j->first = (int64_t)(sizeof h + h.n_head);
    if (got < h.n_head || head_crc(h.n_head, j->head) != h.crc || strlen(j->head) != got) {
        j->damaged = j->size > j->first; /* otherwise the run stopped while starting */
        free(j->head);
        j->head = NULL;
    }
    return COV_OK;
}

const char *cov_journal_head(const struct cov_journal *j, bool *damaged)
{
    *damaged = j->damaged;
    return j->head;
}

int cov_journal_sync(const struct cov_journal *j, struct cov_err *e)
{
    if (fsync(j->fd) != 0 && errno != EINVAL && errno != EROFS)
        return cov_fail_errno(e, "%s: cannot sync", j->path);
    return COV_OK;
}

int cov_journal_begin(struct cov_journal *j, const char *head, struct cov_err *e)
{
    size_t n = strlen(head);
    if (n > MAX_HEAD)
        return cov_fail(e, COV_EUSAGE, "%s: a head of %zu bytes is too long", j->path, n);
    struct file_head h = {
        .version = VERSION, .n_head = (uint32_t)n, .crc = head_crc((uint32_t)n, head)};
    memcpy(h.magic, file_magic, sizeof h.magic);
    char *copy = cov_strdup(head, e);
    int rc = copy ? truncate_to(j, 0, e) : COV_ENOMEM;
    if (!rc)
        rc = append(j, &h, sizeof h, e);
    if (!rc)
        rc = append(j, copy, n, e);
    if (!rc)
        rc = cov_journal_sync(j, e);
    if (!rc)
        cov_sync_name(j->path);
    free(j->head);
    j->head = copy;
    j->damaged = false;
    j->first = j->size;
    j->n_stored = 0;
    return rc;
}

/* ---- opening ---- */

/* Opens and locks the file at the path. Returns 1 if another process removed or replaced it. */
static int open_and_lock(struct cov_journal *j, struct cov_err *e)
{
    struct stat st;
    j->fd = open(j->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (j->fd < 0 && errno == ELOOP)
        return cov_fail(e, COV_EINPUT, "%s: is a symbolic link, not a journal; remove it", j->path);
    if (j->fd < 0)
        return cov_fail_errno(e, "%s: cannot be opened", j->path);
    if (fstat(j->fd, &st) != 0)
        return cov_fail_errno(e, "%s", j->path);
    if (!S_ISREG(st.st_mode))
        return no_journal(j, e);
    enum cov_lock_result got = cov_lock(j->fd);
    if (got == COV_LOCK_HELD)
        return cov_fail(e, COV_EEXIST, "%s: another run is writing this output", j->path);
    if (got == COV_LOCK_FAILED)
        return cov_fail_errno(e, "%s: cannot be locked", j->path);
    if (got == COV_LOCK_UNSUPPORTED)
        cov_warn("%s: the file system does not support locks; a concurrent run would go unnoticed",
                 j->path);
    if (fstat(j->fd, &st) != 0)
        return cov_fail_errno(e, "%s", j->path);
    j->size = st.st_size;
    j->time = st.st_mtim;
    /* Another run may have removed it before the lock was acquired. */
    return !cov_lock_is_at(j->fd, j->path);
}

static void release(struct cov_journal *j)
{
    if (j->fd >= 0)
        (void)close(j->fd); /* every write was checked */
    free(j->path);
    free(j->head);
    free(j->at);
    free(j->bytes);
    cov_blob_fini(&j->blobs[0]);
    cov_blob_fini(&j->blobs[1]);
    free(j);
}

int cov_journal_open(const char *path, struct cov_journal **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_journal *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->fd = -1;
    j->start = cov_clock();
    j->path = cov_strdup(path, e);
    int rc = j->path ? 1 : COV_ENOMEM;
    for (int i = 0; rc == 1 && i < MAX_TRIES; i++) {
        if (j->fd >= 0)
            (void)close(j->fd);
        rc = open_and_lock(j, e);
    }
    if (rc == 1)
        rc = cov_fail(e, COV_EEXIST, "%s: other runs keep removing it", path);
    if (!rc)
        rc = read_head(j, e);
    if (rc) {
        release(j);
        return rc;
    }
    *out = j;
    return COV_OK;
}

void cov_journal_close(struct cov_journal *j)
{
    if (!j)
        return;
    /* The file has only a head. (Before the scan, pieces may follow the head.) */
    if (j->size <= j->first)
        (void)unlink(j->path);
    release(j);
}

int cov_journal_remove(struct cov_journal *j, struct cov_err *e)
{
    int rc = unlink(j->path) == 0 || errno == ENOENT
                 ? COV_OK
                 : cov_fail_errno(e, "%s: cannot be removed", j->path);
    release(j);
    return rc;
}

const char *cov_journal_path(const struct cov_journal *j)
{
    return j->path;
}

struct timespec cov_journal_time(const struct cov_journal *j)
{
    return j->time;
}

/* ---- times ---- */

void cov_journal_set_start(struct cov_journal *j, double clock)
{
    j->start = clock;
}

struct cov_journal_times cov_journal_earlier(const struct cov_journal *j)
{
    return j->earlier;
}

/* Returns the times of all runs until now. */
static struct cov_journal_times times_so_far(const struct cov_journal *j)
{
    struct rusage usage = {0};
    struct cov_journal_times t = j->earlier;
    (void)getrusage(RUSAGE_SELF, &usage);
    t.n_runs++;
    t.wall_seconds += cov_clock() - j->start;
    t.cpu_seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return t;
}

/* ---- pieces ---- */

/* Returns true if *h may be the header of a piece at offset `at`. Sets *n_body to the number of
 * bytes after it. */
static bool plausible(const struct cov_journal *j, const struct piece_head *h, int64_t at,
                      uint64_t *n_body)
{
    uint64_t left = (uint64_t)(j->size - at) - sizeof *h;
    if (h->magic != PIECE_MAGIC || h->piece >= j->n || h->n_bytes[0] > left ||
        h->n_bytes[1] > left || h->n_pieces[0] > left / 8 || h->n_pieces[1] > left / 8)
        return false;
    *n_body = h->n_bytes[0] + h->n_bytes[1] + 8 * (h->n_pieces[0] + h->n_pieces[1]);
    return *n_body <= left;
}

static uint32_t crc_of_head(const struct piece_head *h)
{
    const size_t skip = offsetof(struct piece_head, piece);
    return cov_crc32(0, (const char *)h + skip, sizeof *h - skip);
}

/* Fills a blob. Returns 1, or 0 if the ends of the pieces do not ascend to n_bytes. */
static int fill_blob(struct cov_blob *b, const uint8_t *ends, uint64_t n_pieces,
                     const uint8_t *data, uint64_t n_bytes, struct cov_err *e)
{
    uint64_t beg = 0;
    cov_blob_clear(b);
    for (uint64_t i = 0; i < n_pieces; i++) {
        uint64_t end;
        uint8_t *to;
        memcpy(&end, ends + 8 * i, 8);
        if (end < beg || end > n_bytes)
            return 0;
        int rc = cov_blob_room(b, (size_t)(end - beg), &to, e);
        if (rc)
            return rc;
        if (end > beg)
            memcpy(to, data + beg, (size_t)(end - beg));
        rc = cov_blob_end_piece(b, (size_t)(end - beg), e);
        if (rc)
            return rc;
        beg = end;
    }
    return beg == n_bytes;
}

/* Reads the piece at offset `at`. Returns 1 if it is complete and fits the run, otherwise 0. */
static int read_piece(struct cov_journal *j, int64_t at, struct piece_head *h, uint64_t *n_body,
                      struct cov_blob blobs[2], struct cov_err *e)
{
    size_t got;
    if (j->size - at < (int64_t)sizeof *h)
        return 0;
    int rc = read_at(j, at, h, sizeof *h, &got, e);
    if (rc)
        return rc;
    if (got < sizeof *h || !plausible(j, h, at, n_body))
        return 0;
    rc = COV_RESERVE(&j->bytes, &j->cap_bytes, (size_t)*n_body + 1, e);
    if (!rc)
        rc = read_at(j, at + (int64_t)sizeof *h, j->bytes, (size_t)*n_body, &got, e);
    if (rc)
        return rc;
    if (got != *n_body || cov_crc32(crc_of_head(h), j->bytes, got) != h->crc)
        return 0;
    const uint8_t *ends = j->bytes, *data = ends + 8 * (h->n_pieces[0] + h->n_pieces[1]);
    for (int b = 0; b < 2; b++) {
        rc = fill_blob(&blobs[b], ends, h->n_pieces[b], data, h->n_bytes[b], e);
        if (rc <= 0)
            return rc;
        ends += 8 * h->n_pieces[b];
        data += h->n_bytes[b];
    }
    return !j->fits || j->fits(j->fits_arg, (size_t)h->piece, blobs);
}

int cov_journal_scan(struct cov_journal *j, size_t n, cov_journal_fits_fn *fits, const void *arg,
                     struct cov_err *e)
{
    struct piece_head h;
    uint64_t n_body = 0;
    int64_t at = j->first;
    free(j->at);
    j->n = n;
    j->n_stored = 0;
    j->fits = fits;
    j->fits_arg = arg;
    j->at = cov_calloc(n ? n : 1, sizeof *j->at, e);
    if (!j->at)
        return COV_ENOMEM;
    int got = 1;
    while (at < j->size && (got = read_piece(j, at, &h, &n_body, j->blobs, e)) > 0) {
        j->n_stored += j->at[h.piece] == 0;
        j->at[h.piece] = at;
        j->earlier = h.times;
        at += (int64_t)(sizeof h + n_body);
    }
    if (got < 0 || at == j->size)
        return got < 0 ? got : COV_OK;
    cov_warn("%s: torn or damaged after %zu complete pieces; dropped %" PRId64 " bytes", j->path,
             j->n_stored, j->size - at);
    return truncate_to(j, at, e);
}

size_t cov_journal_n_pieces(const struct cov_journal *j)
{
    return j->n_stored;
}

bool cov_journal_has(const struct cov_journal *j, size_t piece)
{
    return piece < j->n && j->at[piece] > 0;
}

int cov_journal_append(struct cov_journal *j, size_t piece, const struct cov_blob blobs[2],
                       struct cov_err *e)
{
    struct piece_head h = {.magic = PIECE_MAGIC, .piece = piece, .times = times_so_far(j)};
    size_t n = sizeof h;
    if (piece >= j->n)
        return cov_fail(e, COV_EINPUT, "%s: piece %zu of %zu: the input changed during the run",
                        j->path, piece + 1, j->n);
    for (int b = 0; b < 2; b++) {
        h.n_pieces[b] = blobs[b].n_pieces;
        h.n_bytes[b] = blobs[b].n_pieces ? blobs[b].ends[blobs[b].n_pieces - 1] : 0;
        n += 8 * blobs[b].n_pieces + (size_t)h.n_bytes[b];
    }
    int rc = COV_RESERVE(&j->bytes, &j->cap_bytes, n, e);
    if (rc)
        return rc;
    uint8_t *to = j->bytes + sizeof h;
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < blobs[b].n_pieces; i++, to += 8)
            memcpy(to, &(uint64_t){blobs[b].ends[i]}, 8);
    for (int b = 0; b < 2; b++) {
        if (h.n_bytes[b] > 0)
            memcpy(to, blobs[b].data, (size_t)h.n_bytes[b]);
        to += h.n_bytes[b];
    }
    h.crc = cov_crc32(crc_of_head(&h), j->bytes + sizeof h, n - sizeof h);
    memcpy(j->bytes, &h, sizeof h);
    int64_t at = j->size;
    rc = append(j, j->bytes, n, e);
    if (rc)
        return rc;
    j->n_stored += j->at[piece] == 0;
    j->at[piece] = at;
    return COV_OK;
}

int cov_journal_finish(struct cov_journal *j, const char *head, struct cov_err *e)
{
    const struct cov_blob none[2] = {{0}, {0}};
    const int old = j->fd; /* stays locked */
    struct cov_outfile out;
    int rc = cov_outfile_begin(&out, j->path, COV_OUTFILE_BESIDE, true, e);
    if (!rc) {
        j->fd = out.fd;
        rc = cov_journal_begin(j, head, e);
        if (!rc)
            rc = cov_journal_scan(j, 1, NULL, NULL, e);
        if (!rc)
            rc = cov_journal_append(j, 0, none, e); /* a journal without pieces is removed */
        if (!rc)
            rc = cov_outfile_commit(&out, e);
        j->fd = old;
    }
    cov_outfile_end(&out, e);
    release(j);
    return rc;
}

int cov_journal_read(struct cov_journal *j, size_t piece, struct cov_blob blobs[2],
                     struct cov_err *e)
{
    struct piece_head h;
    uint64_t n_body = 0;
    int got = cov_journal_has(j, piece) ? read_piece(j, j->at[piece], &h, &n_body, blobs, e) : 0;
    if (got < 0)
        return got;
    return got > 0 && h.piece == piece
               ? COV_OK
               : cov_fail(e, COV_EINPUT,
                          "%s: piece %zu was damaged during the run; run again to recompute it",
                          j->path, piece);
}
