/* bgz.c - see bgz.h.
 *
 * htslib reads BGZF (SAM specification, section 4.1). Plain gzip (RFC 1952) is read with zlib's
 * inflate, because htslib treats padding after the last member as damage, and gzread cannot read
 * from a pipe whose first bytes were examined and does not report trailing garbage. This file
 * writes BGZF blocks itself, because htslib does not return the errno of a failed write.
 * SPDX-License-Identifier: MIT */
#include "common/file/bgz.h"

#include <errno.h>
#include <fcntl.h>
#include <htslib/bgzf.h>
#include <htslib/cram.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <htslib/kstring.h>
#include <htslib/tbx.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/file/file_kind.h"
#include "common/file/path.h"

enum kind { PLAIN, GZIP, BGZF_BLOCKS };
enum { GZIP_BUFFER = 1 << 18 };
enum { BLOCK_IN = 0xff00, BLOCK_OUT = BGZF_MAX_BLOCK_SIZE, BLOCKS_A_THREAD = 4 };

/* Blocks that are compressed and written together. */
struct batch {
    struct cov_bgz *owner;
    uint8_t *in, *out;
    size_t n_in;
    size_t *n_out;    /* per block */
    size_t n_started; /* blocks handed to the pool but not yet written */
    size_t n_pending; /* pending blocks that are still in the pool */
    struct cov_err err;
};

struct cov_bgz {
    char *name;
    enum kind kind;
    int64_t total;

    /* Reading. */
    hFILE *file;
    BGZF *bgzf; /* owns `file` */
    z_stream z;
    bool z_ready, z_in_member;
    bool at_end;
    uint8_t *z_in;
    uint8_t ahead[COV_BGZ_PEEK]; /* bytes peeked at and not yet read */
    size_t n_ahead;

    /* Writing. */
    int fd;                         /* -1: reading */
    int level;                      /* compression level; -1: htslib's default */
    cov_bgz_deflate_fn *deflate_by; /* NULL: htslib */
    size_t batch_blocks;
    struct batch batches[2];
    int current;
    struct cov_pool *pool; /* NULL: the caller's thread compresses */
    pthread_mutex_t lock;
    pthread_cond_t ready;
};

const char *cov_bgz_version(void)
{
    return hts_version();
}

const char *cov_bgz_zlib_version(void)
{
    return zlibVersion();
}

const char *cov_bgz_name(const struct cov_bgz *b)
{
    return b->name;
}

int64_t cov_bgz_total(const struct cov_bgz *b)
{
    return b->total;
}

void cov_bgz_set_log(void)
{
    hts_set_log_level(cov_log_is_shown(COV_LOG_DEBUG) ? HTS_LOG_WARNING : HTS_LOG_OFF);
}

const char *cov_bgz_fault(const struct BGZF *stream)
{
    static const struct {
        unsigned bit;
        const char *text;
    } faults[] = {{BGZF_ERR_CRC, "the checksum of a block is wrong"},
                  {BGZF_ERR_ZLIB, "a block does not decompress"},
                  {BGZF_ERR_HEADER, "the header of a block is damaged"},
                  {BGZF_ERR_IO, "it ends within a block"}};
    for (size_t i = 0; i < COV_COUNT(faults); i++)
        if (stream->errcode & faults[i].bit)
            return faults[i].text;
    return NULL;
}

/* Returns the errno of the failed read, or 0 if no read failed. */
static int errno_of(hFILE *file)
{
    const int number = herrno(file);
    return number == EPIPE ? EIO : number; /* a connection that ended early */
}

bool cov_bgz_is_unreadable(const htsFile *f)
{
    errno = errno_of(f->is_bgzf   ? f->fp.bgzf->fp
                     : f->is_cram ? cram_fd_get_fp(f->fp.cram)
                                  : f->fp.hfile);
    return errno != 0;
}

int cov_bgz_fail_open(const char *path, struct cov_err *e)
{
    if (errno == EDESTADDRREQ) /* htslib's for a host without an address */
        return cov_fail(e, COV_EIO, "%s: unknown host", path);
    return cov_fail_errno(e, "%s", path);
}

static int fail_read(const struct cov_bgz *b, struct cov_err *e)
{
    if (b->file)
        errno = errno_of(b->file);
    if (errno == ESPIPE)
        return cov_fail(e, COV_EIO,
                        "%s: the server does not send parts of files; download it first", b->name);
    return cov_fail_errno(e, "%s", b->name);
}

static struct cov_bgz *new_stream(const char *name, struct cov_err *e)
{
    cov_bgz_set_log();
    struct cov_bgz *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return NULL;
    b->fd = -1;
    b->total = -1;
    (void)pthread_mutex_init(&b->lock, NULL);
    (void)pthread_cond_init(&b->ready, NULL);
    b->name = cov_strdup(name, e);
    if (!b->name) {
        cov_bgz_abort(b);
        return NULL;
    }
    return b;
}

void cov_bgz_abort(struct cov_bgz *b)
{
    if (!b)
        return;
    cov_pool_free(b->pool); /* waits for its blocks */
    for (int i = 0; i < 2; i++) {
        free(b->batches[i].in);
        free(b->batches[i].out);
        free(b->batches[i].n_out);
    }
    if (b->fd >= 0)
        (void)close(b->fd);
    if (b->z_ready)
        (void)inflateEnd(&b->z);
    free(b->z_in);
    if (b->bgzf)
        (void)bgzf_close(b->bgzf);
    else if (b->file)
        hclose_abruptly(b->file);
    (void)pthread_cond_destroy(&b->ready);
    (void)pthread_mutex_destroy(&b->lock);
    free(b->name);
    free(b);
}

/* Opens `path`. Duplicates standard input or output, which must outlive the stream. */
static int open_descriptor(const char *path, bool writing, struct cov_err *e)
{
    int fd;
    bool standard = strcmp(path, "-") == 0;
    if (standard)
        fd = fcntl(writing ? STDOUT_FILENO : STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    else if (writing)
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    else
        fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        const char *name = writing ? "standard output" : "standard input";
        (void)cov_fail_errno(e, "%s", standard ? name : path);
    }
    return fd;
}

/* ---------------------------------------------------------------- reading */

/* Compressed formats that are recognised but not read. */
static const struct {
    const char *magic, *program;
} foreign[] = {
    {"BZh", "bzip2"}, {"\3757zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"PK\3\4", "zip"}};

static int find_kind(struct cov_bgz *b, struct cov_err *e)
{
    enum { BGZF_HEAD = 18 };
    uint8_t head[64];
    ssize_t n = hpeek(b->file, head, sizeof head);
    if (n < 0)
        return fail_read(b, e);
    if (cov_kind_of(head, (size_t)n) == COV_KIND_CKPT)
        return cov_fail(e, COV_EINPUT, "%s: wrong kind of file: a PyTorch checkpoint", b->name);
    for (size_t i = 0; i < COV_COUNT(foreign); i++)
        if ((size_t)n >= strlen(foreign[i].magic) &&
            memcmp(head, foreign[i].magic, strlen(foreign[i].magic)) == 0)
            return cov_fail(e, COV_EINPUT, "%s: compressed by %s; only gzip and bgzip are read",
                            b->name, foreign[i].program);
    if (n < 2 || head[0] != 0x1f || head[1] != 0x8b)
        b->kind = PLAIN;
    else if (n >= BGZF_HEAD && head[3] & 4 && memcmp(head + 12, "BC\2", 4) == 0)
        b->kind = BGZF_BLOCKS;
    else
        b->kind = GZIP;
    return COV_OK;
}

/* Sets up decompression for b->file. */
static int start_reading(struct cov_bgz *b, unsigned n_threads, struct cov_err *e)
{
    int rc = find_kind(b, e);
    if (rc)
        return rc;
    if (b->kind == GZIP) {
        b->z_in = cov_malloc(GZIP_BUFFER, 1, e);
        b->z_ready = b->z_in_member = b->z_in && inflateInit2(&b->z, 15 + 16) == Z_OK;
    } else if (b->kind == BGZF_BLOCKS) {
        b->bgzf = bgzf_hopen(b->file, "r");
    }
    if ((b->kind == GZIP && !b->z_ready) || (b->kind == BGZF_BLOCKS && !b->bgzf) ||
        (b->bgzf && n_threads > 1 && bgzf_mt(b->bgzf, (int)n_threads, 256)))
        return cov_fail(e, COV_ENOMEM, "%s: out of memory", b->name);
    return COV_OK;
}

int cov_bgz_open_read(const char *path, unsigned n_threads, struct cov_bgz **out, struct cov_err *e)
{
    *out = NULL;
    struct stat st;
    struct cov_bgz *b = new_stream(cov_path_of_input(path), e);
    if (!b)
        return COV_ENOMEM;
    bool local = !cov_path_is_url(path);
    int rc = cov_path_is_std(path) || !local ? COV_OK : cov_path_check_file(path, e);
    int fd = rc || !local ? -1 : open_descriptor(path, false, e);
    if (!rc && local && fd < 0)
        rc = COV_EIO;
    bool regular = !rc && local && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    b->file = rc ? NULL : local ? hdopen(fd, "r") : hopen(path, "r");
    if (!rc && !b->file) {
        rc = cov_bgz_fail_open(b->name, e);
        if (fd >= 0)
            (void)close(fd);
    }
    if (!rc)
        rc = start_reading(b, n_threads, e);
    if (rc) {
        cov_bgz_abort(b);
        return rc;
    }
    if (b->kind == PLAIN && regular)
        b->total = st.st_size;
    *out = b;
    return COV_OK;
}

int cov_bgz_seek(struct cov_bgz *b, int64_t at, int from, int64_t *reached, struct cov_err *e)
{
    *reached = hseek(b->file, at, from);
    b->n_ahead = 0;
    b->at_end = false;
    return *reached < 0 ? fail_read(b, e) : COV_OK;
}

static int read_bgzf(struct cov_bgz *b, void *buf, size_t n, size_t *got, struct cov_err *e)
{
    ssize_t k = bgzf_read(b->bgzf, buf, n);
    if (k > 0) {
        *got = (size_t)k;
        return COV_OK;
    }
    /* With threads, htslib may report an end of file after a failure; its flags are reliable. */
    if (herrno(b->bgzf->fp))
        return fail_read(b, e);
    if (b->bgzf->errcode & BGZF_ERR_IO)
        return cov_fail(e, COV_EINPUT, "%s: truncated: it ends inside a BGZF block", b->name);
    if (k < 0 || b->bgzf->errcode)
        return cov_fail(e, COV_EINPUT, "%s: truncated or damaged BGZF data", b->name);
    if (b->bgzf->no_eof_block)
        return cov_fail(e, COV_EINPUT, "%s: truncated: the end-of-file block of BGZF is missing",
                        b->name);
    b->at_end = true;
    return COV_OK;
}

/* Appends more of the file to the data left in z_in. */
static int refill(struct cov_bgz *b, bool *end, struct cov_err *e)
{
    if (b->z.avail_in)
        memmove(b->z_in, b->z.next_in, b->z.avail_in);
    ssize_t k = hread(b->file, b->z_in + b->z.avail_in, GZIP_BUFFER - b->z.avail_in);
    if (k < 0)
        return fail_read(b, e);
    b->z.next_in = b->z_in;
    b->z.avail_in += (uInt)k;
    *end = k == 0;
    return COV_OK;
}

/* Called between members: starts the next one, or detects the end. */
static int next_member(struct cov_bgz *b, struct cov_err *e)
{
    bool end = false, zeros = false;
    while (!end) {
        if (b->z.avail_in < 2) {
            int rc = refill(b, &end, e);
            if (rc)
                return rc;
        }
        const uint8_t *p = b->z.next_in;
        if (!zeros && b->z.avail_in >= 2 && p[0] == 0x1f && p[1] == 0x8b) {
            b->z_in_member = true;
            (void)inflateReset(&b->z); /* cannot fail: the stream is ready */
            return COV_OK;
        }
        while (b->z.avail_in && *b->z.next_in == 0) {
            zeros = true;
            b->z.next_in++;
            b->z.avail_in--;
        }
        if (b->z.avail_in >= 2 || (end && b->z.avail_in)) {
            cov_warn("%s: trailing garbage after the gzip data is ignored", b->name);
            break;
        }
    }
    b->at_end = true;
    return COV_OK;
}

static int read_gzip(struct cov_bgz *b, void *buf, size_t n, size_t *got, struct cov_err *e)
{
    b->z.next_out = buf;
    b->z.avail_out = n < GZIP_BUFFER ? (uInt)n : GZIP_BUFFER;
    uInt room = b->z.avail_out;
    int rc = COV_OK;
    while (b->z.avail_out == room && !b->at_end) {
        if (!b->z_in_member) {
            rc = next_member(b, e);
            if (rc)
                return rc;
            continue;
        }
        bool end = false;
        if (b->z.avail_in == 0) {
            rc = refill(b, &end, e);
            if (rc)
                return rc;
        }
        if (end)
            return cov_fail(e, COV_EINPUT, "%s: truncated: it ends inside the gzip data", b->name);
        int status = inflate(&b->z, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR)
            return cov_fail(e, COV_ENOMEM, "%s: out of memory", b->name);
        if (status == Z_STREAM_END)
            b->z_in_member = false;
        else if (status != Z_OK && status != Z_BUF_ERROR)
            return cov_fail(e, COV_EINPUT, "%s: damaged gzip data (%s)", b->name,
                            b->z.msg ? b->z.msg : "a preset dictionary");
    }
    *got = room - b->z.avail_out;
    return COV_OK;
}

static int read_more(struct cov_bgz *b, void *buf, size_t n, size_t *got, struct cov_err *e)
{
    *got = 0;
    if (n == 0 || b->at_end)
        return COV_OK;
    if (b->kind == GZIP)
        return read_gzip(b, buf, n, got, e);
    if (b->kind == BGZF_BLOCKS)
        return read_bgzf(b, buf, n, got, e);
    ssize_t k = hread(b->file, buf, n);
    if (k < 0)
        return fail_read(b, e);
    *got = (size_t)k;
    return COV_OK;
}

int cov_bgz_read(struct cov_bgz *b, void *buf, size_t n, size_t *got, struct cov_err *e)
{
    if (b->n_ahead == 0)
        return read_more(b, buf, n, got, e);
    *got = n < b->n_ahead ? n : b->n_ahead;
    memcpy(buf, b->ahead, *got);
    b->n_ahead -= *got;
    memmove(b->ahead, b->ahead + *got, b->n_ahead);
    return COV_OK;
}

int cov_bgz_peek(struct cov_bgz *b, void *buf, size_t n, size_t *got, struct cov_err *e)
{
    *got = 0;
    if (n > COV_BGZ_PEEK)
        n = COV_BGZ_PEEK;
    for (size_t k = 1; b->n_ahead < n && k > 0; b->n_ahead += k) {
        int rc = read_more(b, b->ahead + b->n_ahead, n - b->n_ahead, &k, e);
        if (rc)
            return rc;
    }
    *got = n < b->n_ahead ? n : b->n_ahead;
    memcpy(buf, b->ahead, *got);
    return COV_OK;
}

bool cov_bgz_is_bgzf(const struct cov_bgz *b)
{
    return b->kind == BGZF_BLOCKS;
}

size_t cov_bgz_block_rest(const struct BGZF *stream, const uint8_t **at)
{
    const int rest = stream->block_length - stream->block_offset;
    *at = (const uint8_t *)stream->uncompressed_block + stream->block_offset;
    return rest > 0 ? (size_t)rest : 0;
}

bool cov_bgz_peek_block(struct BGZF *stream, void *to, size_t n)
{
    const uint8_t *at;
    return bgzf_peek(stream) >= 0 && cov_bgz_block_rest(stream, &at) >= n && memcpy(to, at, n);
}

void cov_bgz_block_skip(struct BGZF *stream, size_t n)
{
    stream->block_offset += (int)n;
    stream->uncompressed_address += (int64_t)n;
    if (stream->block_offset == stream->block_length)
        stream->block_offset = stream->block_length = 0;
}

int cov_bgz_next_line(struct BGZF *stream, size_t most, kstring_t *line)
{
    bool ends = false;
    for (line->l = 0; !ends && line->l <= most;) {
        const int next = bgzf_peek(stream);
        const uint8_t *at;
        if (next == -1 && line->l > 0)
            break;
        if (next < 0)
            return next == -1 ? 0 : -1;
        const size_t rest = cov_bgz_block_rest(stream, &at);
        const uint8_t *end = memchr(at, '\n', rest);
        const size_t n = end ? (size_t)(end - at) : rest;
        if (kputsn((const char *)at, n, line) < 0)
            return -1;
        ends = end != NULL;
        cov_bgz_block_skip(stream, ends ? n + 1 : n);
    }
    if (line->l > 0 && line->s[line->l - 1] == '\r')
        line->s[--line->l] = '\0';
    return line->l <= most ? 1 : COV_BGZ_TOO_LONG;
}

/* ---------------------------------------------------------------- writing */

int cov_bgz_open_write(const char *path, enum cov_bgz_mode mode, unsigned n_threads,
                       struct cov_bgz **out, struct cov_err *e)
{
    *out = NULL;
    bool compress = mode != COV_BGZ_PLAIN, parallel = compress && n_threads > 1;
    struct cov_bgz *b = new_stream(cov_path_is_std(path) ? "standard output" : path, e);
    if (!b)
        return COV_ENOMEM;
    b->kind = compress ? BGZF_BLOCKS : PLAIN;
    b->level = mode == COV_BGZ_STORED ? 0 : -1;
    b->batch_blocks = parallel ? (size_t)n_threads * BLOCKS_A_THREAD : 1;
    int rc = parallel ? cov_pool_new(n_threads, &b->pool, e) : COV_OK;
    for (int i = 0; i < 2 && !rc; i++) {
        struct batch *batch = &b->batches[i];
        batch->owner = b;
        batch->in = cov_malloc(b->batch_blocks, BLOCK_IN, e);
        batch->out = cov_malloc(b->batch_blocks, BLOCK_OUT, e);
        batch->n_out = cov_calloc(b->batch_blocks, sizeof *batch->n_out, e);
        if (!batch->in || !batch->out || !batch->n_out)
            rc = COV_ENOMEM;
    }
    if (!rc)
        b->fd = open_descriptor(path, true, e);
    if (!rc && b->fd < 0)
        rc = COV_EIO;
    if (rc)
        cov_bgz_abort(b);
    else
        *out = b;
    return rc;
}

static int write_all(const struct cov_bgz *b, const uint8_t *p, size_t n, struct cov_err *e)
{
    while (n > 0) {
        ssize_t k = write(b->fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return cov_fail_errno(e, "%s", b->name);
        p += k;
        n -= (size_t)k;
    }
    return COV_OK;
}

void cov_bgz_deflate_by(struct cov_bgz *b, cov_bgz_deflate_fn *fn)
{
    b->deflate_by = fn;
}

/* Stores the n low bytes of x in little-endian order. */
static void put_number(uint8_t *to, uint32_t x, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(x >> (8 * i));
}

/* Builds a BGZF block (SAM specification, 4.1.1): a gzip member whose header holds its size. */
static int make_block(cov_bgz_deflate_fn *fn, const uint8_t *src, size_t n, uint8_t *dst,
                      size_t *n_dst, struct cov_err *e)
{
    static const uint8_t head[] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0};
    enum { SIZE_BYTES = 2, NUMBER = 4 };
    const size_t n_head = sizeof head + SIZE_BYTES;
    size_t k = 0;
    int rc = fn(src, n, dst + n_head, &k, e);
    if (rc)
        return rc;
    k += n_head;
    put_number(dst + k, (uint32_t)crc32(0, src, (uInt)n), NUMBER);
    put_number(dst + k + NUMBER, (uint32_t)n, NUMBER);
    k += 2 * (size_t)NUMBER;
    memcpy(dst, head, sizeof head);
    put_number(dst + sizeof head, (uint32_t)(k - 1), SIZE_BYTES);
    *n_dst = k;
    return COV_OK;
}

static int compress_block(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct batch *batch = arg;
    size_t beg = item * BLOCK_IN;
    size_t n = batch->n_in - beg < BLOCK_IN ? batch->n_in - beg : BLOCK_IN;
    size_t n_out = BLOCK_OUT;
    if (batch->owner->deflate_by)
        return make_block(batch->owner->deflate_by, batch->in + beg, n,
                          batch->out + item * BLOCK_OUT, &batch->n_out[item], e);
    if (bgzf_compress(batch->out + item * BLOCK_OUT, &n_out, batch->in + beg, n,
                      batch->owner->level))
        return cov_fail(e, COV_ENOMEM, "%s: compression failed", batch->owner->name);
    batch->n_out[item] = n_out;
    return COV_OK;
}

static void block_ready(void *arg, size_t item, int code, const struct cov_err *e)
{
    (void)item;
    struct batch *batch = arg;
    struct cov_bgz *b = batch->owner;
    (void)pthread_mutex_lock(&b->lock);
    if (code && batch->err.code == COV_OK)
        batch->err = *e;
    if (--batch->n_pending == 0)
        (void)pthread_cond_signal(&b->ready);
    (void)pthread_mutex_unlock(&b->lock);
}

/* Starts compressing the blocks of the batch. */
static int start_batch(struct cov_bgz *b, struct batch *batch, struct cov_err *e)
{
    size_t n = (batch->n_in + BLOCK_IN - 1) / BLOCK_IN;
    for (batch->n_started = 0; batch->n_started < n; batch->n_started++) {
        int rc;
        if (b->pool) {
            (void)pthread_mutex_lock(&b->lock);
            batch->n_pending++;
            (void)pthread_mutex_unlock(&b->lock);
            rc = cov_pool_submit(b->pool, compress_block, batch, batch->n_started, block_ready,
                                 batch, e);
            if (rc)
                block_ready(batch, batch->n_started, COV_OK, NULL);
        } else {
            rc = compress_block(batch, batch->n_started, 0, e);
        }
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* Waits for the blocks of the batch, writes them and empties it. */
static int finish_batch(struct cov_bgz *b, struct batch *batch, struct cov_err *e)
{
    (void)pthread_mutex_lock(&b->lock);
    while (batch->n_pending)
        (void)pthread_cond_wait(&b->ready, &b->lock);
    (void)pthread_mutex_unlock(&b->lock);
    if (batch->err.code)
        return cov_fail(e, batch->err.code, "%s", batch->err.text);
    for (size_t i = 0; i < batch->n_started; i++) {
        int rc = write_all(b, batch->out + i * BLOCK_OUT, batch->n_out[i], e);
        if (rc)
            return rc;
    }
    batch->n_in = batch->n_started = 0;
    return COV_OK;
}

/* Starts the current batch, and finishes the other one to make room. */
static int switch_batches(struct cov_bgz *b, struct cov_err *e)
{
    struct batch *batch = &b->batches[b->current];
    if (b->kind == PLAIN) {
        int rc = write_all(b, batch->in, batch->n_in, e);
        batch->n_in = 0;
        return rc;
    }
    int rc = start_batch(b, batch, e);
    b->current = !b->current;
    return rc ? rc : finish_batch(b, &b->batches[b->current], e);
}

int cov_bgz_write(struct cov_bgz *b, const void *buf, size_t n, struct cov_err *e)
{
    const uint8_t *p = buf;
    size_t cap = b->batch_blocks * BLOCK_IN;
    while (n > 0) {
        struct batch *batch = &b->batches[b->current];
        size_t k = cap - batch->n_in < n ? cap - batch->n_in : n;
        memcpy(batch->in + batch->n_in, p, k);
        batch->n_in += k;
        p += k;
        n -= k;
        if (batch->n_in == cap) {
            int rc = switch_batches(b, e);
            if (rc)
                return rc;
        }
    }
    return COV_OK;
}

/* Writes the last batches and BGZF's end-of-file block. */
static int finish_writing(struct cov_bgz *b, struct cov_err *e)
{
    int rc = switch_batches(b, e);
    if (rc || b->kind == PLAIN)
        return rc;
    rc = finish_batch(b, &b->batches[!b->current], e);
    if (rc)
        return rc;
    uint8_t block[64];
    size_t n = sizeof block;
    if (bgzf_compress(block, &n, NULL, 0, -1))
        return cov_fail(e, COV_ENOMEM, "%s: compression failed", b->name);
    return write_all(b, block, n, e);
}

int cov_bgz_close(struct cov_bgz *b, struct cov_err *e)
{
    int rc = COV_OK;
    if (b->fd >= 0) {
        rc = finish_writing(b, e);
        if (close(b->fd) && errno != EINTR && !rc)
            rc = cov_fail_errno(e, "%s", b->name);
        b->fd = -1;
    }
    cov_bgz_abort(b);
    return rc;
}

/* ---------------------------------------------------------------- the index */

int cov_bgz_index_bed(const char *path, const char *index_path, bool csi, struct cov_err *e)
{
    enum { CSI_BITS = 14, NOT_BGZF = -2 }; /* CSI_BITS: bins of 2^14 bases, as in tabix */
    cov_bgz_set_log();
    int rc = tbx_index_build3(path, index_path, csi ? CSI_BITS : 0, 0, &tbx_conf_bed);
    if (rc == NOT_BGZF)
        return cov_fail(e, COV_EINPUT, "%s: cannot be indexed: not in BGZF", path);
    if (rc)
        return cov_fail(e, COV_EIO, "%s: cannot write the index of %s", index_path, path);
    return COV_OK;
}
