/* bigwig_reader.c - see bigwig.h.
 *
 * Both trees are walked from left to right with a stack of one entry per level, so memory use does
 * not depend on the contents of nodes. A walk terminates for any file, because its depth is
 * bounded, the number of nodes is bounded by the size of the file, and the number of items is
 * bounded by the head of the tree.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/deflate/deflate.h"
#include "common/file/bgz.h"
#include "common/file/path.h"
#include "common/seq/names.h"
#include "common/track/formats/bigwig.h"

enum {
    MAX_VERSION = 4,
    HEAD = 64,
    BPTREE_HEAD = 32,
    BPTREE_VALUE = 8,
    RTREE_HEAD = 48,
    RTREE_LEAF = 32,
    RTREE_INNER = 24,
    NODE_HEAD = 4,
    SECTION_HEAD = 24,
    MAX_ITEM = 12,
    /* A block is one section, with a 16-bit number of items. */
    MAX_BLOCK = SECTION_HEAD + UINT16_MAX * MAX_ITEM,
    MAX_LEVELS = 32, /* most levels of a tree: enough for 2^32 items with two children per node */
    MAX_KEY = 4096,
    WINDOW = 1 << 14 /* more than the longest item */
};

static const uint32_t magic = 0x888ffc26, magic_bigbed = 0x8789f2eb;
static const uint32_t magic_bptree = 0x78ca8c91, magic_rtree = 0x2468ace0;

/* A node whose items before `next` have been walked. */
struct level {
    uint64_t next;
    unsigned left;
    bool is_leaf;
};

struct walk {
    const char *what; /* name of the tree, for messages */
    size_t leaf_bytes, inner_bytes;
    uint64_t n_items, n_walked; /* in leaves */
    uint64_t n_nodes;
    size_t n_levels;
    struct level levels[MAX_LEVELS];
};

struct contig {
    size_t name; /* in `names` */
    bool done;   /* its intervals have begun */
    uint32_t length;
};

struct cov_bigwig_reader {
    char *path;
    int fd;
    struct cov_bgz *url; /* NULL: a local file */
    uint64_t n_bytes;
    bool big; /* big-endian file */
    size_t max_block;
    bool compressed;
    uint64_t rtree, n_blocks; /* offset of the root of the index; 0: no index */
    struct cov_names *names;
    struct contig *contigs; /* by number */
    size_t n_contigs;
    /* `window` holds the bytes of the file from offset window_at on. */
    uint8_t *window;
    uint64_t window_at;
    size_t n_window;
    /* The walk through the intervals. */
    struct walk walk;
    bool begun, failed;
    size_t contig; /* the current one; SIZE_MAX: none yet */
    int64_t end;   /* end of its last interval */
    uint64_t n_gaps;
    uint8_t *packed, *block;
    struct cov_interval *iv;
    size_t cap_packed, cap_iv;
};

/* ---------------------------------------------------------------- numbers and bytes */

static inline uint32_t get16(const uint8_t *p, bool big)
{
    return big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static inline uint32_t get32(const uint8_t *p, bool big)
{
    return big ? get16(p, big) << 16 | get16(p + 2, big) : get16(p + 2, big) << 16 | get16(p, big);
}

static inline uint64_t get64(const uint8_t *p, bool big)
{
    uint64_t a = get32(p, big), b = get32(p + 4, big);
    return big ? a << 32 | b : b << 32 | a;
}

static inline float get_float(const uint8_t *p, bool big)
{
    uint32_t bits = get32(p, big);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

bool cov_bigwig_is_magic(const void *bytes)
{
    return get32(bytes, false) == magic || get32(bytes, true) == magic;
}

static int read_at(const struct cov_bigwig_reader *r, void *data, size_t n, uint64_t at,
                   struct cov_err *e)
{
    size_t done = 0, got = 1;
    int64_t there;
    int rc = COV_OK;
    if (!r->url) {
        const ssize_t all = cov_read_at(r->fd, (int64_t)at, data, n);
        if (all < 0)
            return cov_fail_errno(e, "%s: read error", r->path);
        done = (size_t)all;
    } else {
        rc = cov_bgz_seek(r->url, (int64_t)at, SEEK_SET, &there, e);
        for (; !rc && done < n && got > 0; done += got)
            rc = cov_bgz_read(r->url, (uint8_t *)data + done, n - done, &got, e);
    }
    if (rc || done == n)
        return rc;
    return cov_fail(e, COV_EIO, "%s: truncated while it was read", r->path);
}

/* Sets *p to the n <= WINDOW bytes at `at`, valid until the next call. `what` is for messages. */
static int look(struct cov_bigwig_reader *r, uint64_t at, size_t n, const char *what,
                const uint8_t **p, struct cov_err *e)
{
    *p = r->window;
    if (at > r->n_bytes || n > r->n_bytes - at)
        return cov_fail(e, COV_EINPUT,
                        "%s: damaged or truncated: %s at byte %" PRIu64 " is past the end (%" PRIu64
                        " bytes)",
                        r->path, what, at, r->n_bytes);
    if (at < r->window_at || at + n > r->window_at + r->n_window) {
        uint64_t left = r->n_bytes - at;
        r->n_window = 0;
        int rc = read_at(r, r->window, left < WINDOW ? (size_t)left : WINDOW, at, e);
        if (rc)
            return rc;
        r->window_at = at;
        r->n_window = left < WINDOW ? (size_t)left : WINDOW;
    }
    *p = r->window + (at - r->window_at);
    return COV_OK;
}

/* ---------------------------------------------------------------- walking through a tree */

static int enter_node(struct cov_bigwig_reader *r, struct walk *w, uint64_t at, struct cov_err *e)
{
    const uint8_t *p;
    if (w->n_levels == MAX_LEVELS || w->n_nodes++ > r->n_bytes / NODE_HEAD)
        return cov_fail(e, COV_EINPUT, "%s: damaged: %s has a cycle at byte %" PRIu64, r->path,
                        w->what, at);
    int rc = look(r, at, NODE_HEAD, w->what, &p, e);
    if (rc)
        return rc;
    struct level *l = &w->levels[w->n_levels++];
    *l = (struct level){at + NODE_HEAD, get16(p + 2, r->big), p[0] == 1};
    if (p[0] > 1 || (l->left == 0 && w->n_items > 0))
        return cov_fail(e, COV_EINPUT, "%s: damaged: invalid node of %s at byte %" PRIu64, r->path,
                        w->what, at);
    return COV_OK;
}

/* Sets *p to the next item of the tree, and *is_leaf to whether it is in a leaf. The walk descends
 * into an inner item only if the caller calls enter_node. Returns 1, or 0 at the end, or a
 * failure. */
static int next_item(struct cov_bigwig_reader *r, struct walk *w, const uint8_t **p, bool *is_leaf,
                     struct cov_err *e)
{
    while (w->n_levels > 0 && w->levels[w->n_levels - 1].left == 0)
        w->n_levels--;
    if (w->n_levels == 0)
        return 0;
    struct level *l = &w->levels[w->n_levels - 1];
    size_t n = l->is_leaf ? w->leaf_bytes : w->inner_bytes;
    int rc = look(r, l->next, n, w->what, p, e);
    if (rc)
        return rc;
    l->next += n;
    l->left--;
    *is_leaf = l->is_leaf;
    if (l->is_leaf && w->n_walked++ == w->n_items)
        return cov_fail(e, COV_EINPUT,
                        "%s: damaged: %s has more than the declared %" PRIu64 " items", r->path,
                        w->what, w->n_items);
    return 1;
}

/* Checks that a finished walk has seen the whole tree. */
static int check_walk(const struct cov_bigwig_reader *r, const struct walk *w, struct cov_err *e)
{
    if (w->n_walked == w->n_items)
        return COV_OK;
    return cov_fail(e, COV_EINPUT,
                    "%s: damaged: %s has %" PRIu64 " instead of the declared %" PRIu64 " items",
                    r->path, w->what, w->n_walked, w->n_items);
}

/* ---------------------------------------------------------------- contigs */

static int add_contig(struct cov_bigwig_reader *r, const uint8_t *key, size_t key_bytes,
                      struct cov_err *e)
{
    size_t n = strnlen((const char *)key, key_bytes), name;
    uint32_t number = get32(key + key_bytes, r->big), length = get32(key + key_bytes + 4, r->big);
    bool is_new;
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: damaged: contig without a name", r->path);
    int rc = cov_names_add(r->names, (const char *)key, n, &name, &is_new, e);
    if (rc)
        return rc;
    const char *text = cov_names_get(r->names, name, NULL);
    if (!is_new)
        return cov_fail(e, COV_EINPUT, "%s: damaged: duplicate contig %s", r->path, text);
    if (number >= r->n_contigs || r->contigs[number].length > 0)
        return cov_fail(e, COV_EINPUT,
                        "%s: damaged: contig %s has number %" PRIu32
                        ", which is taken or above %zu",
                        r->path, text, number, r->n_contigs - 1);
    if (length == 0)
        return cov_fail(e, COV_EINPUT, "%s: damaged: contig %s has length 0", r->path, text);
    r->contigs[number] = (struct contig){.name = name, .length = length};
    return COV_OK;
}

static int read_contigs(struct cov_bigwig_reader *r, uint64_t at, struct cov_err *e)
{
    const uint8_t *p;
    int rc = look(r, at, BPTREE_HEAD, "the list of contigs", &p, e);
    if (rc)
        return rc;
    size_t key_bytes = get32(p + 8, r->big);
    uint64_t n = get64(p + 16, r->big);
    if (get32(p, r->big) != magic_bptree || get32(p + 12, r->big) != BPTREE_VALUE ||
        key_bytes == 0 || key_bytes > MAX_KEY)
        return cov_fail(e, COV_EINPUT, "%s: damaged: no list of contigs at byte %" PRIu64, r->path,
                        at);
    if (n > r->n_bytes / (key_bytes + BPTREE_VALUE) || n > UINT32_MAX)
        return cov_fail(e, COV_EINPUT, "%s: damaged: impossible number of contigs (%" PRIu64 ")",
                        r->path, n);
    r->n_contigs = (size_t)n;
    r->contigs = cov_calloc(r->n_contigs, sizeof *r->contigs, e);
    rc = r->contigs ? cov_names_new(&r->names, e) : COV_ENOMEM;
    struct walk w = {.what = "the list of contigs",
                     .leaf_bytes = key_bytes + BPTREE_VALUE,
                     .inner_bytes = key_bytes + BPTREE_VALUE,
                     .n_items = n};
    if (!rc)
        rc = enter_node(r, &w, at + BPTREE_HEAD, e);
    while (!rc) {
        bool is_leaf = false;
        rc = next_item(r, &w, &p, &is_leaf, e);
        if (rc <= 0)
            break;
        rc = is_leaf ? add_contig(r, p, key_bytes, e)
                     : enter_node(r, &w, get64(p + key_bytes, r->big), e);
    }
    return rc ? rc : check_walk(r, &w, e);
}

/* ---------------------------------------------------------------- opening */

/* libBigWig writes no index if there are no intervals. Sets *none to whether the summary confirms
 * that there are none. */
static int ask_summary(struct cov_bigwig_reader *r, uint64_t index, uint64_t summary, bool *none,
                       struct cov_err *e)
{
    const uint8_t *p;
    *none = false;
    if (index != 0 || summary == 0)
        return COV_OK;
    int rc = look(r, summary, 8, "the summary", &p, e);
    *none = !rc && get64(p, r->big) == 0; /* bases covered */
    return rc;
}

/* `data`: offset of the number of blocks (4 or 8 bytes), which precedes the blocks. */
static int read_index_head(struct cov_bigwig_reader *r, uint64_t at, uint64_t data,
                           struct cov_err *e)
{
    const uint8_t *p;
    int rc = look(r, at, RTREE_HEAD, "the index", &p, e);
    if (rc)
        return rc;
    if (get32(p, r->big) != magic_rtree)
        return cov_fail(e, COV_EINPUT, "%s: damaged: no index at byte %" PRIu64, r->path, at);
    r->rtree = at + RTREE_HEAD;
    r->n_blocks = get64(p + 8, r->big);
    if (r->n_blocks > r->n_bytes / RTREE_LEAF)
        return cov_fail(e, COV_EINPUT, "%s: damaged: impossible number of blocks (%" PRIu64 ")",
                        r->path, r->n_blocks);
    if (r->n_blocks == 0 && data + 8 < at)
        return cov_fail(e, COV_EINPUT, "%s: damaged: it has data, but the index is empty", r->path);
    return COV_OK;
}

static int read_head(struct cov_bigwig_reader *r, struct cov_err *e)
{
    const uint8_t *p;
    if (r->n_bytes < HEAD)
        return cov_fail(e, COV_EINPUT, "%s: damaged or truncated: only %" PRIu64 " bytes", r->path,
                        r->n_bytes);
    int rc = look(r, 0, HEAD, "the header", &p, e);
    if (rc)
        return rc;
    if (get32(p, false) == magic_bigbed || get32(p, true) == magic_bigbed)
        return cov_fail(e, COV_EINPUT, "%s: not a bigWig but a bigBed file, which has no values",
                        r->path);
    if (!cov_bigwig_is_magic(p))
        return cov_fail(e, COV_EINPUT, "%s: not a bigWig file", r->path);
    r->big = get32(p, false) != magic;
    unsigned version = get16(p + 4, r->big);
    if (version < 1 || version > MAX_VERSION)
        return cov_fail(e, version ? COV_EUNSUPPORTED : COV_EINPUT, "%s: unknown bigWig version %u",
                        r->path, version);
    uint64_t bptree = get64(p + 8, r->big), rtree = get64(p + 24, r->big);
    uint64_t data = get64(p + 16, r->big);
    uint64_t summary = get64(p + 44, r->big);
    bool none;
    size_t max_block = get32(p + 52, r->big);
    r->compressed = max_block > 0;
    r->max_block = max_block == 0 || max_block > MAX_BLOCK ? MAX_BLOCK : max_block;
    rc = look(r, r->n_bytes - COV_BIGWIG_MAGIC_BYTES, COV_BIGWIG_MAGIC_BYTES, "the end", &p, e);
    if (!rc && get32(p, r->big) != magic)
        cov_warn("%s: the end marker is missing; the file may be truncated", r->path);
    if (!rc)
        rc = read_contigs(r, bptree, e);
    if (!rc)
        rc = ask_summary(r, rtree, summary, &none, e);
    return rc || none ? rc : read_index_head(r, rtree, data, e);
}

static int open_file(struct cov_bigwig_reader *r, struct cov_err *e)
{
    struct stat st;
    int64_t n_bytes = 0;
    int rc = COV_OK;
    if (cov_path_is_url(r->path)) {
        rc = cov_bgz_open_read(r->path, 1, &r->url, e);
        if (!rc)
            rc = cov_bgz_seek(r->url, 0, SEEK_END, &n_bytes, e);
        if (rc)
            return rc;
    } else {
        r->fd = open(r->path, O_RDONLY | O_CLOEXEC);
        if (r->fd < 0 || fstat(r->fd, &st) != 0)
            return cov_fail_errno(e, "%s", r->path);
        if (!S_ISREG(st.st_mode))
            return cov_fail(e, COV_EINPUT, "%s: a bigWig must be a regular file", r->path);
        n_bytes = st.st_size;
    }
    r->n_bytes = (uint64_t)n_bytes;
    r->window = cov_malloc(WINDOW, 1, e);
    rc = r->window ? read_head(r, e) : COV_ENOMEM;
    if (rc)
        return rc;
    r->block = cov_malloc(r->max_block, 1, e);
    return r->block ? COV_OK : COV_ENOMEM;
}

int cov_bigwig_reader_open(const char *path, struct cov_bigwig_reader **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_bigwig_reader *r = cov_calloc(1, sizeof *r, e);
    if (!r)
        return COV_ENOMEM;
    r->fd = -1;
    r->path = cov_strdup(path, e);
    int rc = r->path ? open_file(r, e) : COV_ENOMEM;
    if (rc)
        cov_bigwig_reader_close(r);
    else
        *out = r;
    return rc;
}

void cov_bigwig_reader_close(struct cov_bigwig_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        (void)close(r->fd); /* opened for reading: nothing can be lost */
    cov_bgz_abort(r->url);
    cov_names_free(r->names);
    free(r->contigs);
    free(r->window);
    free(r->packed);
    free(r->block);
    free(r->iv);
    free(r->path);
    free(r);
}

size_t cov_bigwig_reader_n_contigs(const struct cov_bigwig_reader *r)
{
    return r->n_contigs;
}

const char *cov_bigwig_reader_contig(const struct cov_bigwig_reader *r, size_t i)
{
    return cov_names_get(r->names, r->contigs[i].name, NULL);
}

int64_t cov_bigwig_reader_length(const struct cov_bigwig_reader *r, size_t i)
{
    return r->contigs[i].length;
}

/* ---------------------------------------------------------------- blocks */

/* Reads the block of a leaf item into r->block; sets *n to its size in bytes. */
static int fetch(struct cov_bigwig_reader *r, const uint8_t *item, uint64_t *at, size_t *n,
                 struct cov_err *e)
{
    uint64_t n_packed = get64(item + 24, r->big);
    *at = get64(item + 16, r->big);
    size_t most = r->compressed ? cov_deflate_bound(r->max_block) : r->max_block;
    if (*at > r->n_bytes || n_packed > r->n_bytes - *at || n_packed > most)
        return cov_fail(e, COV_EINPUT,
                        "%s: damaged or truncated: no block of %" PRIu64 " bytes at byte %" PRIu64,
                        r->path, n_packed, *at);
    *n = (size_t)n_packed;
    if (!r->compressed)
        return read_at(r, r->block, *n, *at, e);
    int rc = COV_RESERVE(&r->packed, &r->cap_packed, *n, e);
    if (!rc)
        rc = read_at(r, r->packed, *n, *at, e);
    if (rc)
        return rc;
    rc = cov_inflate_most(r->packed, (size_t)n_packed, r->block, r->max_block, n, e);
    return rc ? cov_err_prefix(e, rc, "%s: the block at byte %" PRIu64, r->path, *at) : COV_OK;
}

/* Fails because of an interval. */
static int refuse(const struct cov_bigwig_reader *r, const struct cov_interval *iv,
                  const char *reason, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s: %s:%" PRId64 "-%" PRId64 ": %s", r->path,
                    cov_bigwig_reader_contig(r, r->contig), iv->beg + 1, iv->end, reason);
}

/* Checks r->iv[0..*n), and removes those whose value is NaN. */
static int check_intervals(struct cov_bigwig_reader *r, size_t *n, struct cov_err *e)
{
    int64_t end = r->end, length = r->contigs[r->contig].length;
    size_t n_kept = 0;
    for (size_t i = 0; i < *n; i++) {
        const struct cov_interval *iv = &r->iv[i];
        if (iv->beg < end || iv->end <= iv->beg || iv->end > length || isinf(iv->value))
            return refuse(r, iv,
                          iv->end <= iv->beg ? "empty interval"
                          : iv->end > length ? "past the end of the contig"
                          : isinf(iv->value) ? "value is not a finite number"
                                             : "overlaps or precedes the previous interval",
                          e);
        end = iv->end;
        if (!isnan(iv->value))
            r->iv[n_kept++] = *iv;
    }
    r->end = end;
    r->n_gaps += *n - n_kept;
    *n = n_kept;
    return COV_OK;
}

enum section { SECTION_BEDGRAPH = 1, SECTION_VARIABLE = 2, SECTION_FIXED = 3 };

/* Decodes the items of a section into iv[0..n). For speed, callers pass a constant as `big`. */
static inline void decode(const uint8_t *head, enum section type, size_t n, bool big,
                          struct cov_interval *iv)
{
    const uint8_t *p = head + SECTION_HEAD;
    int64_t beg = get32(head + 4, big), step = get32(head + 12, big), span = get32(head + 16, big);
    switch (type) {
    case SECTION_BEDGRAPH:
        for (size_t i = 0; i < n; i++, p += 12)
            iv[i] = (struct cov_interval){get32(p, big), get32(p + 4, big), get_float(p + 8, big)};
        break;
    case SECTION_VARIABLE:
        for (size_t i = 0; i < n; i++, p += 8) {
            beg = get32(p, big);
            iv[i] = (struct cov_interval){beg, beg + span, get_float(p + 4, big)};
        }
        break;
    default:
        for (size_t i = 0; i < n; i++, p += 4, beg += step)
            iv[i] = (struct cov_interval){beg, beg + span, get_float(p, big)};
    }
}

/* Reads *contig and r->iv[0..*n) from the block of a leaf item. */
static int read_block(struct cov_bigwig_reader *r, const uint8_t *item, size_t *contig, size_t *n,
                      struct cov_err *e)
{
    static const size_t item_bytes[] = {0, 12, 8, 4};
    uint64_t at;
    size_t n_bytes = 0;
    int rc = fetch(r, item, &at, &n_bytes, e);
    if (rc)
        return rc;
    const uint8_t *p = r->block;
    unsigned type = n_bytes >= SECTION_HEAD ? p[20] : 0;
    *n = type ? get16(p + 22, r->big) : 0;
    *contig = type ? get32(p, r->big) : SIZE_MAX;
    if (type < SECTION_BEDGRAPH || type > SECTION_FIXED || *contig >= r->n_contigs ||
        n_bytes != SECTION_HEAD + *n * item_bytes[type])
        return cov_fail(e, COV_EINPUT, "%s: damaged: invalid block of intervals at byte %" PRIu64,
                        r->path, at);
    rc = COV_RESERVE(&r->iv, &r->cap_iv, *n, e);
    if (rc)
        return rc;
    if (r->big)
        decode(p, (enum section)type, *n, true, r->iv);
    else
        decode(p, (enum section)type, *n, false, r->iv);
    return COV_OK;
}

/* ---------------------------------------------------------------- the walk */

uint64_t cov_bigwig_reader_n_gaps(const struct cov_bigwig_reader *r)
{
    return r->n_gaps;
}

static int begin(struct cov_bigwig_reader *r, struct cov_err *e)
{
    r->walk = (struct walk){.what = "the index",
                            .leaf_bytes = RTREE_LEAF,
                            .inner_bytes = RTREE_INNER,
                            .n_items = r->n_blocks};
    r->contig = SIZE_MAX;
    r->begun = true;
    return r->rtree ? enter_node(r, &r->walk, r->rtree, e) : COV_OK;
}

/* Switches to the contig of a block. */
static int change_contig(struct cov_bigwig_reader *r, size_t contig, struct cov_err *e)
{
    if (contig == r->contig)
        return COV_OK;
    r->contig = contig;
    r->end = 0;
    if (r->contigs[contig].done)
        return cov_fail(e, COV_EINPUT, "%s: damaged: intervals of contig %s in two places", r->path,
                        cov_bigwig_reader_contig(r, contig));
    r->contigs[contig].done = true;
    return COV_OK;
}

static int next(struct cov_bigwig_reader *r, size_t *contig, size_t *n, struct cov_err *e)
{
    int rc = r->begun ? COV_OK : begin(r, e);
    while (!rc) {
        const uint8_t *p = NULL;
        bool is_leaf = false;
        rc = next_item(r, &r->walk, &p, &is_leaf, e);
        if (rc <= 0)
            break;
        if (!is_leaf) {
            rc = enter_node(r, &r->walk, get64(p + 16, r->big), e);
            continue;
        }
        rc = read_block(r, p, contig, n, e);
        if (rc || *n == 0)
            continue;
        rc = change_contig(r, *contig, e);
        if (!rc)
            rc = check_intervals(r, n, e);
        if (rc || *n > 0)
            return rc ? rc : 1;
    }
    return rc ? rc : check_walk(r, &r->walk, e);
}

int cov_bigwig_reader_next(struct cov_bigwig_reader *r, size_t *contig,
                           const struct cov_interval **iv, size_t *n, struct cov_err *e)
{
    *n = 0;
    if (r->failed)
        return cov_fail(e, COV_EINPUT, "%s: damaged", r->path);
    int rc = next(r, contig, n, e);
    r->failed = rc < 0;
    *iv = r->iv;
    return rc;
}
