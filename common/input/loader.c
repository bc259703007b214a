/* loader.c - see loader.h.
 *
 * Regions, shards and length limits reduce the stored grid to the grid that is delivered; `rows`
 * maps rows of the delivered grid to rows of the file. With `neighbours`, pairs of the stored grid
 * are fetched, decoded and kept in memory.
 * SPDX-License-Identifier: MIT */
#include "common/input/loader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/chunk/chunk_file.h"
#include "common/file/bgz.h"
#include "common/file/hash.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/h5/h5.h"
#include "common/input/loader_memory.h"
#include "common/input/loader_stream.h"
#include "common/seq/alphabet.h"

struct cov_loader {
    char *path;
    struct cov_chunk_file *file; /* exactly one of these three is set */
    struct cov_genome *genome;
    struct cov_loader_stream *stream;
    const struct cov_grid *grid;   /* delivered: the stored grid or `own`; NULL for a stream */
    const struct cov_grid *stored; /* of the file, or `of_fasta` */
    struct cov_grid *of_fasta, *own;
    struct cov_select *regions; /* NULL: everything is wanted */
    bool neighbours;
    bool (*excluded)(const void *arg, size_t pair); /* NULL: none */
    const void *excluded_arg;
    size_t *rows; /* for each row of `grid`, its row in the file; NULL: the same */
    bool partial;
    enum cov_loading loading;
    struct cov_blob *kept_rows; /* [of source_grid] in memory, as stored */
    struct cov_kept_codes *kept_codes;
    size_t *pairs;    /* in order of delivery; NULL: in grid order */
    size_t next, seq; /* next pair; in grid order also the next sequence */
};

/* ---------------------------------------------------------------- opening */

/* Returns the grid whose pairs are fetched, decoded and kept in memory. */
static const struct cov_grid *source_grid(const struct cov_loader *l)
{
    return l->neighbours ? l->stored : l->grid;
}

void cov_loader_close(struct cov_loader *l)
{
    if (!l)
        return;
    cov_kept_codes_free(l->kept_codes);
    for (size_t i = 0; l->kept_rows && i < cov_grid_n_chunks(source_grid(l)); i++)
        cov_blob_fini(&l->kept_rows[i]);
    free(l->kept_rows);
    cov_select_free(l->regions);
    cov_grid_free(l->own);
    cov_grid_free(l->of_fasta);
    cov_chunk_file_close(l->file);
    cov_genome_free(l->genome);
    cov_loader_stream_close(l->stream);
    free(l->pairs);
    free(l->rows);
    free(l->path);
    free(l);
}

static int check_chunk_length(const struct cov_loader_options *o, size_t L, struct cov_err *e)
{
    return o->check ? o->check(o->check_arg, L, e) : COV_OK;
}

static int open_fasta(struct cov_loader *l, struct cov_bgz *in, const struct cov_loader_options *o,
                      struct cov_progress *progress, struct cov_err *e)
{
    char *stem = NULL;
    struct cov_genome_options how = o->genome;
    how.opened = in;
    int rc = check_chunk_length(o, o->chunk_length, e);
    if (!rc)
        rc = cov_genome_read(l->path, &how, progress, &l->genome, e);
    if (rc)
        return rc;
    if (!o->species) {
        stem = cov_path_stem(l->path, e);
        if (!stem)
            return COV_ENOMEM;
    }
    rc = cov_grid_new(l->genome->n_seqs, l->genome->names, l->genome->lengths,
                      o->species ? o->species : stem, o->chunk_length, &l->of_fasta, e);
    l->grid = l->stored = l->of_fasta;
    free(stem);
    return rc;
}

static int open_genome_file(struct cov_loader *l, const struct cov_loader_options *o,
                            struct cov_err *e)
{
    if (o->fasta_option)
        return cov_fail(e, COV_EINPUT, "--%s is for FASTA input, but %s is a genome file",
                        o->fasta_option, l->path);
    int rc = cov_chunk_file_open_bases(l->path, &l->file, e);
    if (rc)
        return rc;
    l->grid = l->stored = cov_chunk_file_grid(l->file);
    return check_chunk_length(o, cov_grid_chunk_length(l->grid), e);
}

/* Takes ownership of *in. */
static int open_chunk_stream(struct cov_loader *l, struct cov_bgz *in,
                             const struct cov_loader_options *o, struct cov_err *e)
{
    const char *cannot = o->n_shards > 0                   ? "cut into shards"
                         : o->n_regions > 0 || o->bed_path ? "limited to regions"
                         : o->neighbours                   ? "predicted with overlap"
                         : o->resumes                      ? "resumed (--resume)"
                         : o->loading != COV_LOAD_DISK     ? "loaded into memory"
                                                           : NULL;
    int rc = COV_OK;
    if (o->fasta_option)
        rc = cov_fail(e, COV_EINPUT, "--%s is for FASTA input, but %s is a chunk stream",
                      o->fasta_option, cov_bgz_name(in));
    else if (cannot)
        rc = cov_fail(e, COV_EINPUT, "%s is a chunk stream, which cannot be %s", cov_bgz_name(in),
                      cannot);
    if (rc) {
        cov_bgz_abort(in);
        return rc;
    }
    rc = cov_loader_stream_open(in, &o->genome, &l->stream, e);
    return rc ? rc : check_chunk_length(o, cov_loader_stream_chunk_length(l->stream), e);
}

/* HDF5 is read, but not from a URL or a pipe. */
static int refuse_hdf5(const char *path, struct cov_bgz *in, struct cov_err *e)
{
    char bytes[COV_BGZ_PEEK];
    size_t n;
    int rc = cov_bgz_peek(in, bytes, sizeof bytes, &n, e);
    if (rc || cov_kind_of(bytes, n) != COV_KIND_HDF5)
        return rc;
    if (cov_path_is_url(path))
        return cov_path_check_file(path, e);
    if (cov_kind_of_file(path, NULL) == COV_KIND_HDF5)
        return COV_OK; /* compressed: it is no FASTA either */
    return cov_fail(e, COV_EINPUT,
                    "%s: an HDF5 file cannot be read from a pipe: name the file, or convert it by "
                    "`h5chunk cat`",
                    cov_bgz_name(in));
}

/* Opens input other than HDF5. */
static int open_bytes(struct cov_loader *l, const struct cov_loader_options *o,
                      struct cov_progress *progress, struct cov_err *e)
{
    struct cov_bgz *in;
    bool stream;
    int rc = cov_bgz_open_read(l->path, o->genome.n_threads, &in, e);
    if (rc)
        return rc;
    rc = cov_stream_is(in, &stream, e);
    if (!rc && stream)
        return open_chunk_stream(l, in, o, e);
    if (!rc)
        rc = refuse_hdf5(l->path, in, e);
    if (!rc)
        rc = open_fasta(l, in, o, progress, e);
    cov_bgz_abort(in);
    return rc;
}

/* Reduces the grid to these rows. Takes ownership of `rows`. */
static int keep_rows(struct cov_loader *l, size_t *rows, size_t n, struct cov_err *e)
{
    struct cov_grid *grid;
    int rc = cov_grid_select(l->grid, rows, n, &grid, e);
    if (rc) {
        free(rows);
        return rc;
    }
    for (size_t i = 0; l->rows && i < n; i++)
        rows[i] = l->rows[rows[i]];
    free(l->rows);
    l->rows = rows;
    cov_grid_free(l->own);
    l->grid = l->own = grid;
    return COV_OK;
}

/* Drops sequences outside the length limits; for a FASTA, the reader has already done so. */
static int apply_length_limits(struct cov_loader *l, const struct cov_genome_options *o,
                               struct cov_err *e)
{
    size_t n_seqs = cov_grid_n_seqs(l->grid), n_rows = cov_grid_n_chunks(l->grid);
    size_t n_short = 0, n_long = 0, n = 0;
    for (size_t s = 0; s < n_seqs; s++) {
        n_short += cov_grid_seq_length(l->grid, s) < o->min_length;
        n_long += o->max_length > 0 && cov_grid_seq_length(l->grid, s) > o->max_length;
    }
    if (n_short + n_long == 0)
        return COV_OK;
    cov_warn("%s: %zu of %zu sequences left out by length: %zu too short, %zu too long", l->path,
             n_short + n_long, n_seqs, n_short, n_long);
    if (n_short + n_long == n_seqs)
        return cov_fail(e, COV_EINPUT, "%s: no sequence has a length within the limits", l->path);
    size_t *rows = cov_malloc(n_rows, sizeof *rows, e);
    if (!rows)
        return COV_ENOMEM;
    for (size_t i = 0; i < n_rows; i++) {
        int64_t length = cov_grid_seq_length(l->grid, cov_grid_chunk(l->grid, i).seq);
        if (length >= o->min_length && (o->max_length == 0 || length <= o->max_length))
            rows[n++] = i;
    }
    if (n == 0 && l->regions) {
        free(rows);
        return cov_fail(e, COV_EINPUT,
                        "%s: no sequence in the regions has a length within the limits", l->path);
    }
    return keep_rows(l, rows, n, e);
}

/* Drops chunks that overlap no region. */
static int apply_regions(struct cov_loader *l, const struct cov_loader_options *o,
                         struct cov_err *e)
{
    size_t n_rows = cov_grid_n_chunks(l->grid), n = 0, *rows = NULL;
    int rc = cov_select_new(l->stored, &l->regions, e);
    if (!rc)
        rc = cov_select_regions(l->regions, o->regions, o->n_regions, e);
    if (rc) {
        (void)cov_err_prefix(e, rc, "%s", l->path);
        return rc;
    }
    if (o->bed_path)
        rc = cov_select_read(l->regions, COV_SELECT_BED, "--regions-file", o->bed_path, e);
    if (rc)
        return rc;
    bool *wanted = cov_calloc(n_rows ? n_rows : 1, sizeof *wanted, e);
    rows = cov_malloc(n_rows ? n_rows : 1, sizeof *rows, e);
    if (!wanted || !rows) {
        rc = COV_ENOMEM;
        goto out;
    }
    cov_select_rows(l->regions, 0, wanted);
    for (size_t i = 0; i < n_rows; i++)
        if (wanted[i])
            rows[n++] = i;
    if (n == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no sequence overlaps the regions", l->path);
    if (!rc) {
        rc = keep_rows(l, rows, n, e); /* takes ownership */
        rows = NULL;
    }
out:
    free(wanted);
    free(rows);
    return rc;
}

/* Returns true if the pairs of a sequence tile it and have both strands; with `regular`, as in a
 * regular grid. */
static bool is_tiled(const struct cov_grid *g, size_t seq, bool regular)
{
    size_t p, end;
    int64_t at = 0, L = (int64_t)cov_grid_chunk_length(g), length = cov_grid_seq_length(g, seq);
    for (cov_grid_seq_pairs(g, seq, &p, &end); p < end; p++) {
        struct cov_pair pair = cov_grid_pair(g, p);
        if (pair.beg != at || cov_pair_n_rows(&pair) < 2 ||
            (regular && pair.end != (length - at < L ? length : at + L)))
            return false;
        at = pair.end;
    }
    return at == length;
}

static bool has_pairs(const struct cov_grid *g, size_t seq)
{
    size_t beg, end;
    cov_grid_seq_pairs(g, seq, &beg, &end);
    return beg < end;
}

static int check_whole(const struct cov_loader *l, struct cov_err *e)
{
    const struct cov_grid *g = l->stored;
    for (size_t s = 0; !cov_grid_is_regular(g) && s < cov_grid_n_seqs(g); s++)
        if (has_pairs(g, s) && !is_tiled(g, s, true))
            return cov_fail(e, COV_EINPUT,
                            "%s: --overlap needs complete sequences, but chunks of %s are missing "
                            "or out of order",
                            l->path, cov_grid_name(g, s));
    return COV_OK;
}

static int apply_shard(struct cov_loader *l, const struct cov_loader_options *o, struct cov_err *e)
{
    size_t beg, end, *rows, n;
    assert(o->shard < o->n_shards);
    cov_grid_shard(l->grid, o->shard, o->n_shards, &beg, &end);
    int rc = cov_grid_rows_of_pairs(l->grid, beg, end, &rows, &n, e);
    return rc ? rc : keep_rows(l, rows, n, e);
}

/* Returns true if any position of any strand is missing. */
static bool has_holes(const struct cov_grid *g)
{
    for (size_t s = 0; !cov_grid_is_regular(g) && s < cov_grid_n_seqs(g); s++)
        if (!is_tiled(g, s, false))
            return true;
    return false;
}

struct filled_key {
    int64_t filled;
    size_t pair;
};

static int compare_keys(const void *a, const void *b)
{
    const struct filled_key *x = a, *y = b;
    if (x->filled != y->filled)
        return x->filled > y->filled ? -1 : 1;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static int sort_by_filled(struct cov_loader *l, struct cov_err *e)
{
    size_t n = cov_grid_n_pairs(l->grid);
    struct filled_key *keys = cov_malloc(n, sizeof *keys, e);
    l->pairs = cov_malloc(n, sizeof *l->pairs, e);
    if (!keys || !l->pairs) {
        free(keys);
        return COV_ENOMEM;
    }
    for (size_t p = 0; p < n; p++) {
        struct cov_pair pair = cov_grid_pair(l->grid, p);
        keys[p] = (struct filled_key){pair.end - pair.beg, p};
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n; i++)
        l->pairs[i] = keys[i].pair;
    free(keys);
    return COV_OK;
}

static int open_any(struct cov_loader *l, const struct cov_loader_options *o,
                    struct cov_progress *progress, struct cov_err *e)
{
    bool hdf5 = false;
    int rc = cov_path_is_std(l->path) ? COV_OK : cov_h5_is_signed(l->path, &hdf5, e);
    if (!rc)
        rc = hdf5 ? open_genome_file(l, o, e) : open_bytes(l, o, progress, e);
    if (rc || l->stream)
        return rc;
    if (o->neighbours)
        rc = check_whole(l, e);
    if (!rc && (o->n_regions > 0 || o->bed_path))
        rc = apply_regions(l, o, e);
    if (!rc && l->file)
        rc = apply_length_limits(l, &o->genome, e);
    if (!rc && o->n_shards > 0)
        rc = apply_shard(l, o, e);
    if (rc)
        return rc;
    l->partial = has_holes(l->grid);
    return o->order == COV_ORDER_FILLED ? sort_by_filled(l, e) : COV_OK;
}

int cov_loader_open(const char *path, const struct cov_loader_options *options,
                    struct cov_progress *progress, struct cov_loader **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_loader *l = cov_calloc(1, sizeof *l, e);
    if (!l)
        return COV_ENOMEM;
    l->loading = options->loading;
    l->neighbours = options->neighbours;
    l->path = cov_strdup(path, e);
    int rc = l->path ? open_any(l, options, progress, e) : COV_ENOMEM;
    if (rc) {
        cov_loader_close(l);
        return rc;
    }
    *out = l;
    return COV_OK;
}

/* ---------------------------------------------------------------- questions */

const char *cov_loader_shard(const struct cov_loader *l)
{
    return l->file && cov_grid_n_chunks(l->grid) == cov_grid_n_chunks(l->stored)
               ? cov_chunk_head_attr(cov_chunk_file_head(l->file), NULL, COV_SHARD_ATTR)
               : NULL;
}

int cov_loader_fingerprint(const struct cov_loader *l, char text[COV_LOADER_FINGERPRINT],
                           struct cov_err *e)
{
    enum { MOST = 1024 };
    const struct cov_grid *g = l->stored;
    struct cov_blob raw = COV_BLOB_INIT;
    uint64_t hash = 0;
    text[0] = '\0';
    if (!g || has_holes(g) || cov_grid_n_seqs(g) != cov_grid_n_seqs(l->grid))
        return COV_OK;
    const size_t n = cov_grid_n_pairs(g), step = (n + MOST - 1) / MOST;
    uint8_t *codes = cov_malloc(cov_grid_chunk_length(g), 1, e);
    int rc = codes ? COV_OK : COV_ENOMEM;
    for (size_t p = 0; !rc && p < n; p += step) {
        const struct cov_pair pair = cov_grid_pair(g, p);
        const size_t row = pair.rows[COV_PLUS];
        cov_blob_clear(&raw);
        if (l->genome)
            rc = cov_genome_codes(l->genome, pair.seq, pair.beg, pair.end, codes, e);
        else
            rc = cov_chunk_file_fetch(l->file, row, COV_CHUNK_BASES, &raw, e);
        if (!rc && l->file)
            rc = cov_chunk_file_decode(l->file, row, COV_CHUNK_BASES, &raw, codes, NULL, e);
        if (!rc)
            hash = cov_fingerprint(hash, codes, (size_t)(pair.end - pair.beg));
    }
    if (!rc)
        (void)snprintf(text, COV_LOADER_FINGERPRINT, "%016" PRIx64, hash);
    cov_blob_fini(&raw);
    free(codes);
    return rc;
}

size_t cov_loader_chunk_length(const struct cov_loader *l)
{
    return l->stream ? cov_loader_stream_chunk_length(l->stream) : cov_grid_chunk_length(l->grid);
}

const struct cov_grid *cov_loader_grid(const struct cov_loader *l)
{
    return l->grid;
}

size_t cov_loader_n_pairs(const struct cov_loader *l)
{
    return l->stream ? SIZE_MAX : cov_grid_n_pairs(l->grid);
}

const struct cov_select *cov_loader_regions(const struct cov_loader *l)
{
    return l->regions;
}

bool cov_loader_is_partial(const struct cov_loader *l)
{
    return l->stream ? cov_loader_stream_is_partial(l->stream) : l->partial;
}

const char *cov_loader_name(const struct cov_loader *l, size_t seq)
{
    return l->stream ? cov_loader_stream_name(l->stream) : cov_grid_name(l->grid, seq);
}

const char *cov_loader_species(const struct cov_loader *l, size_t seq)
{
    return l->stream ? cov_loader_stream_species(l->stream) : cov_grid_species(l->grid, seq);
}

/* ---------------------------------------------------------------- pairs */

/* Returns the row in the file for row i of source_grid(). */
static size_t file_row(const struct cov_loader *l, size_t i)
{
    return l->rows && !l->neighbours ? l->rows[i] : i;
}

bool cov_loader_has_neighbours(const struct cov_loader *l)
{
    return l->neighbours;
}

static void fill_item(const struct cov_grid *g, size_t p, struct cov_loader_item *item)
{
    struct cov_pair pair = cov_grid_pair(g, p);
    *item = (struct cov_loader_item){
        .pair = p,
        .seq = pair.seq,
        .beg = pair.beg,
        .end = pair.end,
        .length = cov_grid_seq_length(g, pair.seq),
    };
    for (int s = COV_PLUS; s <= COV_MINUS; s++) {
        item->rows[s] = pair.rows[s];
        item->has[s] = pair.rows[s] != COV_NO_ROW;
    }
}

static bool is_excluded(const struct cov_loader *l, size_t p)
{
    return l->excluded && l->excluded(l->excluded_arg, p);
}

/* Delivers the next pair of the current sequence, or an empty item for a sequence without pairs.
 * Returns false if the pair is excluded. */
static bool next_of_sequence(struct cov_loader *l, struct cov_loader_item *item)
{
    size_t beg, end;
    cov_grid_seq_pairs(l->grid, l->seq, &beg, &end);
    if (beg == end) {
        *item = (struct cov_loader_item){.seq = l->seq,
                                         .rows = {COV_NO_ROW, COV_NO_ROW},
                                         .first = true,
                                         .last = true,
                                         .length = cov_grid_seq_length(l->grid, l->seq)};
        l->seq++;
        return true;
    }
    size_t p = l->next++;
    l->seq += l->next == end;
    if (is_excluded(l, p))
        return false;
    fill_item(l->grid, p, item);
    item->first = p == beg;
    item->last = p + 1 == end;
    return true;
}

int cov_loader_next_item(struct cov_loader *l, struct cov_loader_item *item)
{
    while (l->pairs && l->next < cov_grid_n_pairs(l->grid)) {
        size_t p = l->pairs[l->next++];
        if (is_excluded(l, p))
            continue;
        fill_item(l->grid, p, item);
        return 1;
    }
    while (!l->pairs && l->seq < cov_grid_n_seqs(l->grid))
        if (next_of_sequence(l, item))
            return 1;
    return 0;
}

int64_t cov_loader_n_left(const struct cov_loader *l)
{
    int64_t n = 0;
    if (l->stream)
        return -1;
    for (size_t i = l->next; i < cov_grid_n_pairs(l->grid); i++) {
        size_t p = l->pairs ? l->pairs[i] : i;
        struct cov_pair pair = cov_grid_pair(l->grid, p);
        if (!is_excluded(l, p))
            n += (int64_t)cov_pair_n_rows(&pair);
    }
    return n;
}

void cov_loader_exclude(struct cov_loader *l, bool (*fn)(const void *arg, size_t pair),
                        const void *arg)
{
    l->excluded = fn;
    l->excluded_arg = arg;
}

/* Fetches the stored rows of a pair. Codes of a FASTA are read later, by the worker. */
static int fetch_rows(struct cov_loader *l, const struct cov_loader_item *item,
                      struct cov_blob raw[2], struct cov_err *e)
{
    for (int s = COV_PLUS; l->file && s <= COV_MINUS; s++) {
        if (!item->has[s])
            continue;
        cov_blob_clear(&raw[s]);
        int rc =
            cov_chunk_file_fetch(l->file, file_row(l, item->rows[s]), COV_CHUNK_BASES, &raw[s], e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

int cov_loader_next(struct cov_loader *l, struct cov_loader_item *item, struct cov_blob raw[2],
                    struct cov_err *e)
{
    if (l->stream)
        return cov_loader_stream_next(l->stream, item, &raw[0], e);
    assert(l->loading == COV_LOAD_DISK || l->kept_rows || l->kept_codes);
    if (!cov_loader_next_item(l, item))
        return 0;
    /* Rows in memory are not fetched; with neighbours, the caller fetches what it needs. */
    if (l->loading != COV_LOAD_DISK || l->neighbours)
        return 1;
    int rc = fetch_rows(l, item, raw, e);
    return rc ? rc : 1;
}

int cov_loader_neighbour(struct cov_loader *l, size_t seq, int64_t at, struct cov_loader_item *item,
                         struct cov_blob raw[2], struct cov_err *e)
{
    size_t beg, end;
    assert(l->neighbours && !l->stream);
    cov_grid_seq_pairs(l->stored, seq, &beg, &end);
    fill_item(l->stored, beg + (size_t)at / cov_grid_chunk_length(l->stored), item);
    return l->loading == COV_LOAD_DISK ? fetch_rows(l, item, raw, e) : COV_OK;
}

/* Decodes a pair from a file or FASTA. */
static int decode_pair(const struct cov_loader *l, const struct cov_loader_item *item,
                       struct cov_blob raw[2], uint8_t *const codes[2], struct cov_err *e)
{
    if (l->file) {
        int rc = COV_OK;
        for (int s = COV_PLUS; !rc && s <= COV_MINUS; s++)
            if (item->has[s])
                rc = cov_chunk_file_decode(l->file, file_row(l, item->rows[s]), COV_CHUNK_BASES,
                                           &raw[s], codes[s], NULL, e);
        return rc;
    }
    size_t n = (size_t)(item->end - item->beg), L = cov_grid_chunk_length(l->grid);
    int rc = cov_genome_codes(l->genome, item->seq, item->beg, item->end, codes[COV_PLUS], e);
    if (rc)
        return rc;
    cov_codes_other_strand(codes[COV_PLUS], n, codes[COV_MINUS]);
    for (int s = COV_PLUS; s <= COV_MINUS; s++)
        memset(codes[s] + n, COV_CODE_PAD, L - n);
    return COV_OK;
}

int cov_loader_codes(const struct cov_loader *l, const struct cov_loader_item *item,
                     struct cov_blob raw[2], uint8_t *const codes[2], struct cov_err *e)
{
    if (!item->has[COV_PLUS] && !item->has[COV_MINUS])
        return COV_OK;
    if (l->stream)
        return cov_loader_stream_codes(l->stream, &raw[0], codes, e);
    if (l->kept_codes) {
        cov_kept_codes_get(l->kept_codes, item->pair, codes);
        return COV_OK;
    }
    for (int s = COV_PLUS; l->kept_rows && s <= COV_MINUS; s++) {
        int rc = item->has[s] ? cov_blob_copy(&raw[s], &l->kept_rows[item->rows[s]], e) : COV_OK;
        if (rc)
            return rc;
    }
    return decode_pair(l, item, raw, codes, e);
}

int cov_loader_rewind(struct cov_loader *l, struct cov_err *e)
{
    if (l->stream)
        return cov_fail(e, COV_EINPUT, "%s is a chunk stream, which can be read only once",
                        l->path);
    l->next = l->seq = 0;
    return COV_OK;
}

/* ---------------------------------------------------------------- into memory */

struct load_job {
    struct cov_loader *l;
    const struct cov_grid *grid;
    struct cov_progress *progress;
    size_t next; /* pair */
};

struct load_slot {
    struct cov_loader_item item;
    struct cov_blob raw[2];
};

static int load_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct load_job *j = arg;
    struct load_slot *s = slot;
    if (j->next == cov_grid_n_pairs(j->grid))
        return 0;
    fill_item(j->grid, j->next++, &s->item);
    int rc = fetch_rows(j->l, &s->item, s->raw, e);
    return rc ? rc : 1;
}

/* `worker` is a buffer for the codes of three chunks. */
static int load_decode(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct load_job *j = arg;
    struct load_slot *s = slot;
    const size_t L = cov_grid_chunk_length(j->grid);
    uint8_t *const codes[3] = {worker, (uint8_t *)worker + L, (uint8_t *)worker + 2 * L};
    int rc = decode_pair(j->l, &s->item, s->raw, codes, e);
    return rc ? rc : cov_kept_codes_put(j->l->kept_codes, s->item.pair, codes, codes[2], e);
}

static int load_keep(void *arg, void *slot, struct cov_err *e)
{
    const struct load_job *j = arg;
    const struct load_slot *s = slot;
    int rc = COV_OK;
    for (int k = COV_PLUS; j->l->kept_rows && !rc && k <= COV_MINUS; k++)
        if (s->item.has[k])
            rc = cov_blob_copy(&j->l->kept_rows[s->item.rows[k]], &s->raw[k], e);
    cov_progress_add(j->progress, s->item.has[COV_PLUS] + s->item.has[COV_MINUS]);
    return rc;
}

static void load_fini_slot(void *arg, void *slot)
{
    (void)arg;
    struct load_slot *s = slot;
    cov_blob_fini(&s->raw[COV_PLUS]);
    cov_blob_fini(&s->raw[COV_MINUS]);
}

int cov_loader_load(struct cov_loader *l, struct cov_pool *pool, struct cov_progress *progress,
                    struct cov_err *e)
{
    if (l->loading == COV_LOAD_DISK)
        return COV_OK;
    assert(!l->kept_rows && !l->kept_codes);
    struct load_job j = {.l = l, .grid = source_grid(l), .progress = progress};
    int rc = COV_OK;
    if (l->loading != COV_LOAD_RAM || !l->file)
        rc = cov_kept_codes_new(j.grid, &l->kept_codes, e);
    else if (!(l->kept_rows = cov_calloc(cov_grid_n_chunks(j.grid), sizeof *l->kept_rows, e)))
        rc = COV_ENOMEM;
    const struct cov_ring_job ring = {.fetch = load_fetch,
                                      .work = l->kept_codes ? load_decode : NULL,
                                      .store = load_keep,
                                      .slot_bytes = sizeof(struct load_slot),
                                      .worker_bytes = 3 * cov_grid_chunk_length(j.grid),
                                      .fini_slot = load_fini_slot};
    cov_progress_begin(progress, "loading", "chunks", (int64_t)cov_grid_n_chunks(j.grid));
    if (!rc)
        rc = cov_ring_run_job(pool, &ring, &j, NULL, e);
    cov_progress_end(progress);
    if (rc)
        return rc;
    /* The temporary file is no longer needed. */
    cov_genome_free(l->genome);
    l->genome = NULL;
    return COV_OK;
}
