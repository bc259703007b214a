/* bigwig.c - see bigwig.h. The only file that uses libBigWig (0.4.7).
 *
 *   header, headers of zoom levels, summary, B+ tree of contigs
 *   number of blocks, blocks, R tree of them
 *   per zoom level: number of windows, blocks, R tree of them
 *   the magic number again
 *
 * The tree of contigs comes before the data, because some readers (JBrowse) assume that the tree
 * fills all the space between the offsets of the tree and the data. If contigs are announced, the
 * size of the tree is not known in advance. Then some space is reserved, and if that is not enough,
 * the data is moved.
 *
 * Blocks of zoom levels go to a temporary file and are finally appended to the data, except those
 * of levels that turn out to be useless.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bigwig.h"

#include <bigWig.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/track/formats/bigwig_layout.h"
#include "common/track/formats/bigwig_zoom.h"

enum {
    HEADER_BYTES = 64,
    ZOOM_HEADER_BYTES = 24,
    SUMMARY_BYTES = 40,
    SUMMARY_AT = HEADER_BYTES + COV_ZOOM_MAX_CHOSEN * ZOOM_HEADER_BYTES,
    TREE_AT = SUMMARY_AT + SUMMARY_BYTES,
    COUNT_BYTES = 8,
    /* Space for the tree of announced contigs: 400 names of 30 letters. */
    TREE_ROOM = 16384 - TREE_AT,
};

/* A block has a head and items; UCSC's programs use 1024 items. */
enum {
    BLOCK_ITEMS = 1024,
    ITEM_BYTES = 12,
    BLOCK_HEAD = COV_BIGWIG_BLOCK_HEAD,
    WINDOW_BYTES = 32,
    BEDGRAPH = 1,
};

static const uint32_t magic = 0x888ffc26;

enum { SAMPLED_CONTIGS = 32, OTHER_SAMPLES = 2 };

/* A contig whose first and last interval are checked when the file is read back. */
struct sampled {
    size_t contig;
    struct cov_interval first, last;
};

struct level {
    uint8_t *windows; /* windows of the current block; NULL before the first */
    size_t n;
    struct cov_rtree_block cover;
    struct cov_block_list list;
    /* The first n_shared of n_blocks blocks are those of the level below. */
    size_t n_shared, n_blocks;
};

struct bigwig {
    struct cov_track_sink base;
    char *path;
    struct cov_bigwig_out outs[COV_BIGWIG_FILES];
    char *spool_what;
    struct cov_block_queue *queue;
    uint64_t data_at; /* offset of the number of blocks */
    uint32_t contig;  /* contig of the last intervals */
    /* The current block. */
    uint8_t block[BLOCK_HEAD + BLOCK_ITEMS * ITEM_BYTES];
    size_t n_items;
    uint32_t block_beg, block_end;
    bool contig_begun; /* the current contig has intervals */
    struct cov_block_list list;
    struct cov_zoom zoom;
    struct level levels[COV_ZOOM_LEVELS];
    /* For reading the file back. */
    size_t stride; /* every `stride`-th contig is sampled */
    struct sampled sampled[SAMPLED_CONTIGS];
    size_t n_sampled;
    struct cov_bigwig_sample highest, last; /* the last interval of all */
};

/* ---- zoom levels ---- */

static int flush_level(struct bigwig *b, size_t k, struct cov_err *e)
{
    struct level *l = &b->levels[k];
    if (l->n == 0)
        return COV_OK;
    size_t n = l->n;
    l->n = 0;
    l->n_blocks++;
    return cov_block_queue_add(b->queue, COV_BIGWIG_SPOOL, l->windows, n * WINDOW_BYTES, &l->cover,
                               &l->list, e);
}

/* Limits the sums of extreme values, which may exceed the range of a float. */
static float to_float(double x)
{
    const float most = 3.40282347e38F;
    return x > (double)most ? most : x < -(double)most ? -most : (float)x;
}

static int add_window(void *arg, size_t k, uint32_t contig, const struct cov_zoom_sums *sums,
                      struct cov_err *e)
{
    struct bigwig *b = arg;
    struct level *l = &b->levels[k];
    if (!l->windows && !(l->windows = cov_malloc(BLOCK_ITEMS, WINDOW_BYTES, e)))
        return COV_ENOMEM;
    uint8_t *p = l->windows + l->n * WINDOW_BYTES;
    p = cov_put32(p, contig);
    p = cov_put32(p, sums->beg);
    p = cov_put32(p, sums->end);
    p = cov_put32(p, sums->n_bases);
    p = cov_put_float(p, sums->min);
    p = cov_put_float(p, sums->max);
    p = cov_put_float(p, to_float(sums->sum));
    (void)cov_put_float(p, to_float(sums->sum_squares));
    if (l->n++ == 0) {
        l->cover.beg_contig = contig;
        l->cover.beg = sums->beg;
    }
    l->cover.end_contig = contig;
    l->cover.end = sums->end;
    return l->n == BLOCK_ITEMS ? flush_level(b, k, e) : COV_OK;
}

/* Windows that two levels share are stored once. */
static int begin_level(void *arg, size_t k, struct cov_err *e)
{
    struct bigwig *b = arg;
    int rc = flush_level(b, k - 1, e);
    b->levels[k].n_shared = b->levels[k].n_blocks = b->levels[k - 1].n_blocks;
    return rc;
}

/* The blocks of a level, for a cov_rtree_fn. */
struct level_blocks {
    const struct level *levels;
    size_t k;
};

static struct cov_rtree_block level_block(const void *arg, size_t i)
{
    const struct level_blocks *blocks = arg;
    const struct level *l = &blocks->levels[blocks->k];
    while (i < l->n_shared)
        l--;
    return l->list.blocks[i - l->n_shared];
}

static struct cov_rtree_block listed_block(const void *arg, size_t i)
{
    return ((const struct cov_rtree_block *)arg)[i];
}

/* ---- intervals ---- */

static int flush_block(struct bigwig *b, struct cov_err *e)
{
    if (b->n_items == 0)
        return COV_OK;
    const struct cov_rtree_block cover = {
        .beg_contig = b->contig, .beg = b->block_beg, .end_contig = b->contig, .end = b->block_end};
    size_t n = BLOCK_HEAD + b->n_items * ITEM_BYTES;
    uint8_t *p = b->block;
    p = cov_put32(p, b->contig);
    p = cov_put32(p, b->block_beg);
    p = cov_put32(p, b->block_end);
    p = cov_put64(p, 0); /* step and span, for other types */
    *p++ = BEDGRAPH;
    *p++ = 0;
    (void)cov_put16(p, (uint16_t)b->n_items);
    b->n_items = 0;
    return cov_block_queue_add(b->queue, COV_BIGWIG_DATA, b->block, n, &cover, &b->list, e);
}

/* Ends the intervals of the current contig. */
static int end_contig(struct bigwig *b, struct cov_err *e)
{
    if (!b->contig_begun)
        return COV_OK;
    b->contig_begun = false;
    int rc = flush_block(b, e);
    return rc ? rc : cov_zoom_end(&b->zoom, e);
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct bigwig *b = (struct bigwig *)s;
    int rc = end_contig(b, e);
    if (!rc && s->contig >= UINT32_MAX)
        rc = cov_fail(e, COV_EINPUT, "%s: too many contigs for bigWig (%zu)", s->name, s->contig);
    return rc;
}

/* Samples every contig that has intervals; when there are too many samples, only every second, then
 * every fourth, and so on. */
static void begin_sample(struct bigwig *b, const struct cov_interval *iv)
{
    size_t contig = b->base.contig;
    while (contig % b->stride == 0 && b->n_sampled == SAMPLED_CONTIGS) {
        size_t n = 0;
        b->stride *= 2;
        for (size_t i = 0; i < b->n_sampled; i++)
            if (b->sampled[i].contig % b->stride == 0)
                b->sampled[n++] = b->sampled[i];
        b->n_sampled = n;
    }
    if (contig % b->stride == 0)
        b->sampled[b->n_sampled++] = (struct sampled){contig, *iv, *iv};
}

static void take_sample(struct bigwig *b, const struct cov_interval *iv, size_t n)
{
    size_t contig = b->base.contig;
    for (size_t i = 0; i < n; i++)
        if (b->highest.iv.end == 0 || iv[i].value > b->highest.iv.value)
            b->highest = (struct cov_bigwig_sample){contig, iv[i]};
    b->last = (struct cov_bigwig_sample){contig, iv[n - 1]};
    if (!b->contig_begun)
        begin_sample(b, iv);
    if (b->n_sampled && b->sampled[b->n_sampled - 1].contig == contig)
        b->sampled[b->n_sampled - 1].last = iv[n - 1];
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct bigwig *b = (struct bigwig *)s;
    take_sample(b, iv, n);
    if (!b->contig_begun) {
        b->contig = (uint32_t)s->contig;
        b->contig_begun = true;
        cov_zoom_begin(&b->zoom, b->contig);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t beg = (uint32_t)iv[i].beg, end = (uint32_t)iv[i].end;
        uint8_t *p = b->block + BLOCK_HEAD + b->n_items * ITEM_BYTES;
        p = cov_put32(p, beg);
        p = cov_put32(p, end);
        (void)cov_put_float(p, iv[i].value);
        if (b->n_items++ == 0)
            b->block_beg = beg;
        b->block_end = end;
        int rc = b->n_items == BLOCK_ITEMS ? flush_block(b, e) : COV_OK;
        if (!rc)
            rc = cov_zoom_add(&b->zoom, beg, end, iv[i].value, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* ---- verification ---- */

static int verify_header(const struct cov_track_sink *s, const bigWigFile_t *bw, struct cov_err *e)
{
    const struct cov_track_summary *sum = &s->summary;
    const bigWigHdr_t *hdr = bw->hdr;
    if (hdr->nBasesCovered != sum->n_bases || hdr->minVal != sum->min || hdr->maxVal != sum->max ||
        hdr->sumData != sum->sum || hdr->sumSquared != sum->sum_squares)
        return cov_fail(e, COV_EIO, "%s: verification failed: the summary differs", s->name);
    size_t n = cov_track_n_contigs(s);
    bool same = bw->cl->nKeys == (int64_t)n;
    for (size_t i = 0; same && i < n; i++)
        same = bw->cl->chrom[i] && strcmp(bw->cl->chrom[i], cov_track_contig_name(s, i)) == 0 &&
               bw->cl->len[i] == (uint32_t)cov_track_contig_length(s, i);
    if (!same)
        return cov_fail(e, COV_EIO, "%s: verification failed: the contigs differ", s->name);
    return COV_OK;
}

static int verify_sample(const struct cov_track_sink *s, bigWigFile_t *bw,
                         const struct cov_bigwig_sample *sample, struct cov_err *e)
{
    const struct cov_interval *iv = &sample->iv;
    const char *contig = cov_track_contig_name(s, sample->contig);
    uint32_t beg = (uint32_t)iv->beg, end = (uint32_t)iv->end;
    bwOverlappingIntervals_t *found = bwGetOverlappingIntervals(bw, contig, beg, beg + 1);
    bool same = found && found->l == 1 && found->start[0] == beg && found->end[0] == end &&
                found->value[0] == iv->value;
    if (found)
        bwDestroyOverlappingIntervals(found);
    if (same)
        return COV_OK;
    return cov_fail(e, COV_EIO, "%s: verification failed: %s:%" PRId64 "-%" PRId64 " differs",
                    s->name, contig, iv->beg + 1, iv->end);
}

int cov_bigwig_verify(const char *path, const struct cov_track_sink *s,
                      const struct cov_bigwig_sample *samples, size_t n_samples, struct cov_err *e)
{
    bigWigFile_t *bw = bwOpen(path, NULL, "r");
    if (!bw || !bw->hdr || !bw->cl) {
        if (bw)
            bwClose(bw);
        return cov_fail(e, COV_EIO, "%s: verification failed: unreadable", s->name);
    }
    int rc = verify_header(s, bw, e);
    for (size_t i = 0; i < n_samples && !rc; i++)
        rc = verify_sample(s, bw, &samples[i], e);
    bwClose(bw);
    return rc;
}

/* ---- the end ---- */

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct cov_bptree_item *)x)->name,
                  ((const struct cov_bptree_item *)y)->name);
}

/* Returns the contigs sorted by name; caller frees. */
static struct cov_bptree_item *sort_contigs(const struct cov_track_sink *s, size_t *key_bytes,
                                            struct cov_err *e)
{
    size_t n = cov_track_n_contigs(s);
    struct cov_bptree_item *items = cov_malloc(n, sizeof *items, e);
    *key_bytes = 1;
    for (size_t i = 0; items && i < n; i++) {
        const char *name = cov_track_contig_name(s, i);
        items[i] =
            (struct cov_bptree_item){name, (uint32_t)i, (uint32_t)cov_track_contig_length(s, i)};
        size_t length = strlen(name);
        *key_bytes = length > *key_bytes ? length : *key_bytes;
    }
    if (items && !s->contigs)
        qsort(items, n, sizeof *items, by_name);
    return items;
}

/* Returns the offset of the data, which follows a tree of n contigs. */
static uint64_t behind_tree(size_t n, size_t key_bytes)
{
    return (TREE_AT + cov_bptree_bytes(n, key_bytes) + 7) / 8 * 8;
}

/* Moves the n bytes of blocks so that the data begins at `to` > data_at. */
static int move_data(struct bigwig *b, uint64_t n, uint64_t to, struct cov_err *e)
{
    enum { PIECE = 1 << 20 };
    const struct cov_bigwig_out *out = &b->outs[COV_BIGWIG_DATA];
    uint64_t from = b->data_at + COUNT_BYTES, shift = to - b->data_at;
    uint8_t *piece = cov_malloc(PIECE, 1, e);
    int rc = piece ? COV_OK : COV_ENOMEM;
    while (n > 0 && !rc) { /* from the end, since it moves up */
        size_t k = n < PIECE ? (size_t)n : PIECE;
        n -= k;
        rc = cov_bigwig_out_read(out, piece, k, from + n, e);
        if (!rc)
            rc = cov_bigwig_out_write(out, piece, k, from + n + shift, e);
    }
    free(piece);
    b->data_at = to;
    return rc;
}

/* Appends level k and sets *data_at and *index_at to its offsets. */
static int put_level(struct bigwig *b, size_t k, uint64_t *data_at, uint64_t *index_at,
                     struct cov_err *e)
{
    struct cov_bigwig_out *out = &b->outs[COV_BIGWIG_DATA];
    const struct level_blocks blocks = {b->levels, k};
    size_t n = b->levels[k].n_blocks;
    struct cov_rtree_block *placed = cov_malloc(n, sizeof *placed, e);
    uint8_t *bytes = NULL;
    size_t cap = 0;
    uint8_t count[4];
    int rc = placed ? COV_OK : COV_ENOMEM;
    *data_at = out->at;
    (void)cov_put32(count, (uint32_t)b->zoom.levels[k].n_windows);
    if (!rc)
        rc = cov_bigwig_out_put(out, count, sizeof count, e);
    for (size_t i = 0; i < n && !rc; i++) {
        placed[i] = level_block(&blocks, i);
        rc = COV_RESERVE(&bytes, &cap, placed[i].n_bytes, e);
        if (!rc)
            rc = cov_bigwig_out_read(&b->outs[COV_BIGWIG_SPOOL], bytes, placed[i].n_bytes,
                                     placed[i].offset, e);
        placed[i].offset = out->at;
        if (!rc)
            rc = cov_bigwig_out_put(out, bytes, placed[i].n_bytes, e);
    }
    *index_at = out->at;
    if (!rc)
        rc = cov_rtree_put(out, n, listed_block, placed, 0, BLOCK_ITEMS, e);
    free(bytes);
    free(placed);
    return rc;
}

struct zoom_headers {
    size_t n;
    uint8_t bytes[COV_ZOOM_MAX_CHOSEN * ZOOM_HEADER_BYTES];
};

static int put_zoom(struct bigwig *b, struct zoom_headers *headers, struct cov_err *e)
{
    size_t chosen[COV_ZOOM_MAX_CHOSEN];
    uint8_t *p = headers->bytes;
    int rc = COV_OK;
    headers->n = cov_zoom_choose(&b->zoom, chosen);
    for (size_t i = 0; i < headers->n && !rc; i++) {
        uint64_t data_at, index_at;
        rc = put_level(b, chosen[i], &data_at, &index_at, e);
        p = cov_put32(p, cov_zoom_reduction(chosen[i]));
        p = cov_put32(p, 0);
        p = cov_put64(p, data_at);
        p = cov_put64(p, index_at);
    }
    return rc;
}

/* Writes everything before the data. */
static int write_head(struct bigwig *b, const struct zoom_headers *zoom, uint64_t index_at,
                      const struct cov_bptree_item *items, size_t key_bytes, struct cov_err *e)
{
    enum { VERSION = 4 };
    const struct cov_track_summary *sum = &b->base.summary;
    struct cov_bigwig_out head = b->outs[COV_BIGWIG_DATA];
    uint8_t bytes[TREE_AT] = {0}, *p = bytes, count[COUNT_BYTES];
    p = cov_put32(p, magic);
    p = cov_put16(p, VERSION);
    p = cov_put16(p, (uint16_t)zoom->n);
    p = cov_put64(p, TREE_AT);
    p = cov_put64(p, b->data_at);
    p = cov_put64(p, index_at);
    p = cov_put32(p, 0); /* fields (bigBed) */
    p = cov_put64(p, 0); /* autoSql (bigBed) */
    p = cov_put64(p, SUMMARY_AT);
    (void)cov_put32(p, COV_BIGWIG_BLOCK_BYTES);
    memcpy(bytes + HEADER_BYTES, zoom->bytes, zoom->n * ZOOM_HEADER_BYTES);
    p = cov_put64(bytes + SUMMARY_AT, sum->n_bases);
    p = cov_put_double(p, sum->min);
    p = cov_put_double(p, sum->max);
    p = cov_put_double(p, sum->sum);
    (void)cov_put_double(p, sum->sum_squares);
    head.at = 0;
    head.n = 0;
    head.buf = NULL;
    int rc = cov_bigwig_out_put(&head, bytes, sizeof bytes, e);
    if (!rc)
        rc = cov_bptree_put(&head, items, cov_track_n_contigs(&b->base), key_bytes, e);
    if (!rc)
        rc = cov_bigwig_out_flush(&head, e);
    cov_bigwig_out_fini(&head);
    (void)cov_put64(count, b->list.n);
    return rc ? rc : cov_bigwig_out_write(&head, count, sizeof count, b->data_at, e);
}

static int write_rest(struct bigwig *b, struct cov_err *e)
{
    struct cov_bigwig_out *out = &b->outs[COV_BIGWIG_DATA];
    struct zoom_headers zoom = {0};
    uint8_t last[4];
    size_t key_bytes;
    struct cov_bptree_item *items = sort_contigs(&b->base, &key_bytes, e);
    if (!items)
        return COV_ENOMEM;
    uint64_t n_data = out->at - (b->data_at + COUNT_BYTES), old_at = b->data_at, index_at = 0;
    uint64_t wanted = behind_tree(cov_track_n_contigs(&b->base), key_bytes);
    int rc = wanted > b->data_at ? move_data(b, n_data, wanted, e) : COV_OK;
    index_at = out->at = b->data_at + COUNT_BYTES + n_data;
    if (!rc)
        rc = cov_rtree_put(out, b->list.n, listed_block, b->list.blocks, b->data_at - old_at,
                           BLOCK_ITEMS, e);
    if (!rc)
        rc = put_zoom(b, &zoom, e);
    (void)cov_put32(last, magic);
    if (!rc)
        rc = cov_bigwig_out_put(out, last, sizeof last, e);
    if (!rc)
        rc = cov_bigwig_out_flush(out, e);
    if (!rc)
        rc = write_head(b, &zoom, index_at, items, key_bytes, e);
    free(items);
    return rc;
}

/* Reads the file back and checks samples of the intervals. */
static int verify(const struct bigwig *b, struct cov_err *e)
{
    struct cov_bigwig_sample samples[2 * SAMPLED_CONTIGS + OTHER_SAMPLES];
    size_t n = 0;
    for (size_t i = 0; i < b->n_sampled; i++) {
        samples[n++] = (struct cov_bigwig_sample){b->sampled[i].contig, b->sampled[i].first};
        samples[n++] = (struct cov_bigwig_sample){b->sampled[i].contig, b->sampled[i].last};
    }
    if (b->base.summary.n_intervals) {
        samples[n++] = b->highest;
        samples[n++] = b->last;
    }
    return cov_bigwig_verify(b->path, &b->base, samples, n, e);
}

static int close_file(struct cov_track_sink *s, struct cov_err *e)
{
    struct bigwig *b = (struct bigwig *)s;
    if (cov_track_n_contigs(s) == 0)
        return cov_fail(e, COV_EINPUT, "%s: no contigs to write", s->name);
    int rc = end_contig(b, e);
    for (size_t k = b->zoom.first; k < b->zoom.n_active && !rc; k++)
        rc = flush_level(b, k, e);
    if (!rc)
        rc = cov_block_queue_flush(b->queue, e);
    if (!rc)
        rc = write_rest(b, e);
    if (rc)
        return rc;
    int fd = b->outs[COV_BIGWIG_DATA].fd;
    b->outs[COV_BIGWIG_DATA].fd = -1;
    if (cov_close(fd) != 0)
        return cov_fail_errno(e, "%s: cannot be written", s->name);
    return verify(b, e);
}

static void free_sink(struct cov_track_sink *s)
{
    struct bigwig *b = (struct bigwig *)s;
    cov_block_queue_free(b->queue);
    for (size_t i = 0; i < COV_BIGWIG_FILES; i++) {
        if (b->outs[i].fd >= 0)
            (void)close(b->outs[i].fd);
        cov_bigwig_out_fini(&b->outs[i]);
    }
    for (size_t k = 0; k < COV_ZOOM_LEVELS; k++) {
        free(b->levels[k].windows);
        free(b->levels[k].list.blocks);
    }
    free(b->list.blocks);
    free(b->spool_what);
    free(b->path);
    free(b);
}

static const struct cov_track_format bigwig_format = {begin, add, close_file, free_sink};

/* ---- opening ---- */

static int check_lengths(const struct bigwig *b, struct cov_err *e)
{
    const struct cov_track_contigs *contigs = b->base.contigs;
    for (size_t i = 0; contigs && i < contigs->n; i++)
        if (contigs->lengths[i] > UINT32_MAX)
            return cov_fail(e, COV_EINPUT,
                            "%s: contig %s has %" PRId64 " bases; the limit of bigWig is %" PRIu32,
                            b->base.name, contigs->names[i], contigs->lengths[i], UINT32_MAX);
    return COV_OK;
}

static int open_files(struct bigwig *b, const struct cov_bigwig_options *options, struct cov_err *e)
{
    struct cov_bigwig_out *data = &b->outs[COV_BIGWIG_DATA], *spool = &b->outs[COV_BIGWIG_SPOOL];
    const struct cov_track_contigs *contigs = b->base.contigs;
    data->fd = open(b->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (data->fd < 0)
        return cov_fail_errno(e, "%s", b->base.name);
    char *beside = cov_path_dir(b->base.name, e);
    const char *dir = options->tmpdir ? options->tmpdir : beside;
    int rc = beside ? cov_tmpfile(dir, &spool->fd, e) : COV_ENOMEM;
    if (rc && beside)
        (void)cov_err_prefix(e, rc, "%s", b->base.name);
    b->spool_what = rc ? NULL : cov_strfmt(e, " (temporary file in %s)", dir);
    free(beside);
    if (rc || !b->spool_what)
        return rc ? rc : COV_ENOMEM;
    data->name = spool->name = b->base.name;
    data->what = "";
    spool->what = b->spool_what;
    size_t key_bytes = 1;
    for (size_t i = 0; contigs && i < contigs->n; i++) {
        size_t length = strlen(contigs->names[i]);
        key_bytes = length > key_bytes ? length : key_bytes;
    }
    b->data_at = contigs ? behind_tree(contigs->n, key_bytes) : TREE_AT + TREE_ROOM;
    data->at = b->data_at + COUNT_BYTES;
    return COV_OK;
}

int cov_bigwig_open(const char *path, const char *name, const struct cov_track_contigs *contigs,
                    const struct cov_bigwig_options *options, struct cov_track_sink **out,
                    struct cov_err *e)
{
    *out = NULL;
    struct bigwig *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    b->outs[COV_BIGWIG_DATA].fd = b->outs[COV_BIGWIG_SPOOL].fd = -1;
    b->stride = 1;
    const struct cov_zoom_out zoom = {add_window, begin_level, b};
    cov_zoom_init(&b->zoom, &zoom);
    int rc = cov_track_init(&b->base, &bigwig_format, name, contigs, e);
    b->base.longest = UINT32_MAX;
    if (!rc)
        rc = check_lengths(b, e);
    if (!rc) {
        b->path = cov_strdup(path, e);
        rc = b->path ? open_files(b, options, e) : COV_ENOMEM;
    }
    if (!rc)
        rc = cov_block_queue_new(options->pool, b->outs, &b->queue, e);
    if (rc)
        cov_track_free(&b->base);
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
