/* bigwig.c - see bigwig.h. The one file that knows libBigWig (0.4.7).
 *
 * libBigWig checks neither its input (sink.c does) nor its output, and its summary is wrong: the
 * maximum starts at the smallest positive double and misses a first value. So the status of every
 * step is looked at, stdio's error flag too, the summary is written anew, and the closed file is
 * read back.
 * SPDX-License-Identifier: MIT */
#include "common/track/bigwig.h"

#include <bigWig.h>
#include <bwCommon.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"

enum { BLOCK = 1024, INTERVAL_BYTES = 12, ZOOM_LEVELS = 10, SAMPLED_CONTIGS = 64 };

/* Where the header has the place of the index. */
enum { INDEX_OFFSET = 24 };

/* An interval to look for when the file is read back. */
struct sample {
    size_t contig;
    struct cov_interval iv;
};

struct bigwig {
    struct cov_track_sink base;
    bigWigFile_t *bw;
    char *path;
    bool contig_begun; /* the current contig has intervals */
    uint32_t beg[BLOCK], end[BLOCK];
    float value[BLOCK];
    size_t stride;          /* every stride-th contig is sampled: its first and its last interval */
    struct sample *samples; /* at most 2 * (SAMPLED_CONTIGS + 1) */
    size_t n_samples;
    struct sample highest; /* an interval with the largest value; end = 0: none yet */
};

/* ---- writing ---- */

static FILE *stream(const struct bigwig *b)
{
    return b->bw->URL->x.fp;
}

static int write_failure(const struct bigwig *b, struct cov_err *e)
{
    if (errno)
        return cov_fail_errno(e, "%s: cannot be written", b->base.name);
    return cov_fail(e, COV_EIO, "%s: cannot be written: libBigWig does not say why", b->base.name);
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    (void)e;
    ((struct bigwig *)s)->contig_begun = false;
    return COV_OK;
}

static void take_sample(struct bigwig *b, const struct cov_interval *iv, size_t n)
{
    size_t contig = b->base.contig;
    for (size_t i = 0; i < n; i++)
        if (b->highest.iv.end == 0 || iv[i].value > b->highest.iv.value)
            b->highest = (struct sample){contig, iv[i]};
    if (contig % b->stride != 0)
        return;
    if (!b->contig_begun)
        b->samples[b->n_samples++] = (struct sample){contig, iv[0]};
    bool second = b->n_samples > 1 && b->samples[b->n_samples - 2].contig == contig;
    if (n > 1 || b->contig_begun)
        b->samples[second ? b->n_samples - 1 : b->n_samples++] = (struct sample){contig, iv[n - 1]};
}

/* Hands n <= BLOCK intervals to libBigWig. When a block of the file is full and cannot be written,
 * libBigWig goes on to write behind its buffer: so no more than one interval is added when that may
 * come, for which the buffer has room, and errors are looked for after each call. */
static int append(struct bigwig *b, size_t n, struct cov_err *e)
{
    const bwWriteBuffer_t *wb = b->bw->writeBuffer;
    size_t i = 0;
    errno = 0;
    if (!b->contig_begun) {
        /* Only here is the contig looked up by its name, which takes as long as there are contigs.
         * That the contig changes writes what is left of the last block; when that is nearly full
         * libBigWig would write it for this, and then an empty block. */
        const char *name = b->base.contigs->names[b->base.contig];
        const uint32_t nearly = 3 * INTERVAL_BYTES;
        b->bw->hdr->bufSize += nearly;
        int failed = bwAddIntervals(b->bw, &name, b->beg, b->end, b->value, 1);
        b->bw->hdr->bufSize -= nearly;
        if (failed)
            return write_failure(b, e);
        b->contig_begun = true;
        i = 1;
    }
    while (i < n) {
        size_t room = (b->bw->hdr->bufSize - wb->l) / INTERVAL_BYTES;
        size_t k = room == 0 ? 1 : n - i < room ? n - i : room;
        if (bwAppendIntervals(b->bw, b->beg + i, b->end + i, b->value + i, (uint32_t)k) != 0 ||
            ferror(stream(b)))
            return write_failure(b, e);
        i += k;
    }
    return ferror(stream(b)) ? write_failure(b, e) : COV_OK;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct bigwig *b = (struct bigwig *)s;
    int rc = COV_OK;
    while (n > 0 && !rc) {
        size_t k = n < BLOCK ? n : BLOCK;
        for (size_t i = 0; i < k; i++) {
            b->beg[i] = (uint32_t)iv[i].beg;
            b->end[i] = (uint32_t)iv[i].end;
            b->value[i] = iv[i].value;
        }
        take_sample(b, iv, k);
        rc = append(b, k, e);
        iv += k;
        n -= k;
    }
    return rc;
}

/* The summary block: bases covered, minimum, maximum, sum, sum of squares. */
static int write_summary(struct bigwig *b, struct cov_err *e)
{
    const struct cov_track_summary *sum = &b->base.summary;
    const double values[4] = {sum->min, sum->max, sum->sum, sum->sum_squares};
    FILE *f = stream(b);
    if (fseek(f, (long)b->bw->hdr->summaryOffset, SEEK_SET) != 0 ||
        fwrite(&sum->n_bases, sizeof sum->n_bases, 1, f) != 1 ||
        fwrite(values, sizeof values[0], COV_COUNT(values), f) != COV_COUNT(values))
        return write_failure(b, e);
    return COV_OK;
}

/* Without any interval libBigWig writes no index, which readers then do not find: this one is
 * empty. */
static int write_empty_index(struct bigwig *b, struct cov_err *e)
{
    FILE *f = stream(b);
    const uint32_t magic = IDX_MAGIC, file_magic = BIGWIG_MAGIC, leaf = 1;
    const uint32_t items_per_block = 1;
    uint8_t index[52] = {0}; /* 48 of the header, 4 of a leaf without children */
    uint64_t at = 0;
    memcpy(index, &magic, sizeof magic);
    memcpy(index + 4, &b->bw->writeBuffer->blockSize, 4);
    memcpy(index + 40, &items_per_block, 4);
    memcpy(index + 48, &leaf, 4);
    bool ok = fseek(f, -(long)sizeof file_magic, SEEK_END) == 0;
    if (ok) {
        at = (uint64_t)ftell(f);
        memcpy(index + 32, &at, sizeof at); /* where the data ends */
        ok = fwrite(index, sizeof index, 1, f) == 1 &&
             fwrite(&file_magic, sizeof file_magic, 1, f) == 1 &&
             fseek(f, INDEX_OFFSET, SEEK_SET) == 0 && fwrite(&at, sizeof at, 1, f) == 1;
    }
    return ok ? COV_OK : write_failure(b, e);
}

/* Frees libBigWig's file without letting it write. */
static void drop(struct bigwig *b)
{
    if (!b->bw)
        return;
    b->bw->isWrite = 0;
    bwWriteBuffer_t *wb = b->bw->writeBuffer;
    if (wb && !b->bw->idx) /* of a file that is not finalized bwClose loses the index */
        for (bwLL *l = wb->firstIndexNode, *next; l; l = next) {
            next = l->next;
            bwDestroyIndexNode(l->node);
            free(l);
        }
    bwClose(b->bw);
    b->bw = NULL;
}

static int verify(const struct bigwig *b, struct cov_err *e);

static int close_file(struct cov_track_sink *s, struct cov_err *e)
{
    struct bigwig *b = (struct bigwig *)s;
    errno = 0;
    /* Zoom levels are made from the file itself: it must be there. */
    if (fflush(stream(b)) != 0)
        return write_failure(b, e);
    errno = 0;
    if (bwFinalize(b->bw) != 0)
        return write_failure(b, e);
    int rc = write_summary(b, e);
    if (!rc && s->summary.n_intervals == 0)
        rc = write_empty_index(b, e);
    if (!rc && fflush(stream(b)) != 0)
        rc = write_failure(b, e);
    if (!rc && ferror(stream(b)))
        rc = write_failure(b, e);
    drop(b);
    return rc ? rc : verify(b, e);
}

static void free_sink(struct cov_track_sink *s)
{
    struct bigwig *b = (struct bigwig *)s;
    drop(b);
    free(b->samples);
    free(b->path);
    free(b);
}

static const struct cov_track_format bigwig_format = {begin, add, close_file, free_sink};

/* ---- reading back ---- */

static int verify_header(const struct bigwig *b, const bigWigFile_t *bw, struct cov_err *e)
{
    const struct cov_track_summary *sum = &b->base.summary;
    const struct cov_track_contigs *contigs = b->base.contigs;
    const bigWigHdr_t *hdr = bw->hdr;
    if (hdr->nBasesCovered != sum->n_bases || hdr->minVal != sum->min || hdr->maxVal != sum->max ||
        hdr->sumData != sum->sum || hdr->sumSquared != sum->sum_squares)
        return cov_fail(e, COV_EIO, "%s: read back, its summary is not what was written",
                        b->base.name);
    bool same = bw->cl->nKeys == (int64_t)contigs->n;
    for (size_t i = 0; same && i < contigs->n; i++)
        same = bw->cl->chrom[i] && strcmp(bw->cl->chrom[i], contigs->names[i]) == 0 &&
               bw->cl->len[i] == (uint32_t)contigs->lengths[i];
    if (!same)
        return cov_fail(e, COV_EIO, "%s: read back, its contigs are not what was written",
                        b->base.name);
    return COV_OK;
}

static int verify_sample(const struct bigwig *b, bigWigFile_t *bw, const struct sample *sample,
                         struct cov_err *e)
{
    const struct cov_interval *iv = &sample->iv;
    const char *contig = b->base.contigs->names[sample->contig];
    uint32_t beg = (uint32_t)iv->beg, end = (uint32_t)iv->end;
    bwOverlappingIntervals_t *found = bwGetOverlappingIntervals(bw, contig, beg, beg + 1);
    bool same = found && found->l == 1 && found->start[0] == beg && found->end[0] == end &&
                found->value[0] == iv->value;
    if (found)
        bwDestroyOverlappingIntervals(found);
    if (same)
        return COV_OK;
    return cov_fail(e, COV_EIO, "%s: read back, %s:%" PRId64 "-%" PRId64 " is not what was written",
                    b->base.name, contig, iv->beg + 1, iv->end);
}

static int verify(const struct bigwig *b, struct cov_err *e)
{
    bigWigFile_t *bw = bwOpen(b->path, NULL, "r");
    if (!bw || !bw->hdr || !bw->cl) {
        if (bw)
            bwClose(bw);
        return cov_fail(e, COV_EIO, "%s: cannot be read back", b->base.name);
    }
    int rc = verify_header(b, bw, e);
    for (size_t i = 0; i < b->n_samples && !rc; i++)
        rc = verify_sample(b, bw, &b->samples[i], e);
    if (!rc && b->base.summary.n_intervals)
        rc = verify_sample(b, bw, &b->highest, e);
    bwClose(bw);
    return rc;
}

/* ---- opening ---- */

static int write_header(struct bigwig *b, struct cov_err *e)
{
    const struct cov_track_contigs *contigs = b->base.contigs;
    int rc = COV_ENOMEM;
    uint32_t *lengths = cov_malloc(contigs->n, sizeof *lengths, e);
    if (!lengths)
        return rc;
    for (size_t i = 0; i < contigs->n; i++) {
        if (contigs->lengths[i] > UINT32_MAX) {
            rc = cov_fail(e, COV_EINPUT,
                          "%s: contig %s has %" PRId64 " bases; bigWig ends at %" PRIu32,
                          b->base.name, contigs->names[i], contigs->lengths[i], UINT32_MAX);
            goto out;
        }
        lengths[i] = (uint32_t)contigs->lengths[i];
    }
    /* bwOpen crashes on a file that cannot be opened for writing. */
    FILE *probe = fopen(b->path, "wb");
    if (!probe || fclose(probe) != 0) {
        rc = cov_fail_errno(e, "%s", b->base.name);
        goto out;
    }
    b->bw = bwOpen(b->path, NULL, "w");
    if (!b->bw || bwCreateHdr(b->bw, ZOOM_LEVELS) != 0)
        goto out;
    /* Room for the one interval that append() may have written behind the end. */
    void *room = realloc(b->bw->writeBuffer->p, b->bw->hdr->bufSize + INTERVAL_BYTES);
    if (!room)
        goto out;
    b->bw->writeBuffer->p = room;
    b->bw->cl = bwCreateChromList(contigs->names, lengths, (int64_t)contigs->n);
    if (!b->bw->cl)
        goto out;
    errno = 0;
    rc = bwWriteHdr(b->bw) != 0 || ferror(stream(b)) ? write_failure(b, e) : COV_OK;
out:
    free(lengths);
    return rc == COV_ENOMEM ? cov_fail(e, rc, "%s: out of memory", b->base.name) : rc;
}

int cov_bigwig_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                    struct cov_track_sink **out, struct cov_err *e)
{
    *out = NULL;
    struct bigwig *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    int rc = cov_track_init(&b->base, &bigwig_format, name, contigs, e);
    if (rc)
        goto out;
    rc = COV_ENOMEM;
    b->stride = contigs->n / SAMPLED_CONTIGS + 1;
    b->samples = cov_calloc(2 * (SAMPLED_CONTIGS + 1), sizeof *b->samples, e);
    b->path = cov_strdup(path, e);
    if (b->samples && b->path)
        rc = write_header(b, e);
out:
    if (rc)
        free_sink(&b->base);
    else
        *out = &b->base;
    return rc;
}

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

const char *cov_bigwig_version(void)
{
    return TEXT_OF(LIBBIGWIG_VERSION);
}
