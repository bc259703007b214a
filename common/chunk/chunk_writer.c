/* chunk_writer.c - see chunk_file.h: writing.
 *
 * The number of rows is not used before the end: datasets grow row by row, and data that depends
 * on the number (the columns of the grid, datasets of small rows) is written last. So the bytes of
 * a file are the same whether its grid was known in advance or arrived with the rows.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/chunk_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/chunk/chunk_table.h"
#include "common/file/tmpfile.h"
#include "common/h5/h5.h"

/* Declared deflate levels and species bytes of Helixer's and Predmoter's files. */
enum { GENOME_LEVEL = 4, PREDICTIONS_LEVEL = 9, GENOME_SPECIES = 25, PREDICTIONS_SPECIES = 50 };

/* Small rows, which have one element or one column of at most SMALL_BYTES, are kept in memory and
 * stored in chunks of up to BLOCK_ROWS rows and BLOCK_BYTES. Tables of up to TABLE_BYTES are not
 * compressed. */
enum { SMALL_BYTES = 64, BLOCK_ROWS = 4096, BLOCK_BYTES = 1 << 24, TABLE_BYTES = 1 << 16 };

struct set_writer {
    const struct cov_chunk_set *what; /* the set in the head */
    struct cov_h5_set *set;           /* NULL for small rows */
    struct cov_filter filters[3];
    size_t n_filters;
    size_t row_bytes;
    bool small;
    uint8_t *rows; /* [cap][row_bytes], for small rows */
    size_t cap;
};

struct cov_chunk_writer {
    struct cov_h5 *h5;
    struct cov_chunk_head head;
    struct cov_chunk_writer_options options;
    struct cov_bases_writer *bases;
    struct set_writer *sets; /* in the order of head.sets */
    size_t n_pieces;
    size_t n_groups, end; /* groups put; 1 + the largest first row of a group */
};

/* Like Helixer, writes the local time in Python's format. If SOURCE_DATE_EPOCH
 * (https://reproducible-builds.org/specs/source-date-epoch/) is set, writes that time in UTC, which
 * makes the output reproducible. */
static int write_timestamp(struct cov_h5 *h5, struct cov_err *e)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    struct tm tm;
    bool good;
    if (epoch && *epoch) {
        char *end;
        errno = 0;
        long long seconds = strtoll(epoch, &end, 10);
        time_t t = (time_t)seconds;
        good = !errno && !*end && seconds >= 0 && gmtime_r(&t, &tm);
        if (!good)
            return cov_fail(e, COV_EUSAGE, "SOURCE_DATE_EPOCH is not a number of seconds: %s",
                            epoch);
    } else {
        time_t now = time(NULL);
        good = localtime_r(&now, &tm);
    }
    char text[64];
    if (!good || strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        return cov_fail(e, COV_EIO, "cannot get the time");
    return cov_h5_write_attr(h5, NULL, "timestamp", text, e);
}

/* ---- datasets ---- */

static bool is_prediction(const char *name)
{
    return strncmp(name, "prediction/", 11) == 0;
}

/* Returns the element size for shuffling, or 0 if the dataset is not shuffled. At the same speed,
 * shuffling makes coverage (int32, int64) 15 to 40 % smaller and unrounded predictions 20 %
 * smaller; LZF without shuffling saves nothing. Deflated int32 predictions would become 5 %
 * smaller, but they keep the filters of Predmoter's files. */
static size_t shuffled_bytes(const char *name, const struct cov_h5_type *type,
                             struct cov_codec_choice compression)
{
    bool deflate = cov_codecs[compression.id]->h5_id == COV_H5_DEFLATE;
    if (type->kind == COV_H5_STRING || type->bytes == 1 ||
        (type->kind == COV_H5_INT && deflate && is_prediction(name)))
        return 0;
    return type->bytes;
}

static struct cov_h5_new spec_of(const struct cov_chunk_set *s, struct set_writer *w,
                                 struct cov_codec_choice compression)
{
    struct cov_h5_new spec = {
        .type = s->type,
        .rank = s->rank,
        .dims = {0, s->dims[0], s->dims[1]},
        .unlimited = {true, false, s->rank == 3},
        .deflate_level = is_prediction(s->name) ? PREDICTIONS_LEVEL : GENOME_LEVEL,
        .fill_elem = s->fill,
    };
    spec.n_filters =
        cov_h5_filters(compression, shuffled_bytes(s->name, &s->type, compression), spec.filters);
    if (is_prediction(s->name) && s->type.kind == COV_H5_INT && spec.n_filters == 1)
        spec.filters[0].elem_bytes = s->type.bytes;
    memcpy(w->filters, spec.filters, sizeof w->filters);
    w->n_filters = spec.n_filters;
    return spec;
}

/* Writes the attributes of a dataset, or of the file if `set` is NULL. */
static int write_attrs(struct cov_chunk_writer *w, const char *set, struct cov_err *e)
{
    for (size_t i = 0; i < w->head.n_attrs; i++) {
        const struct cov_chunk_attr *a = &w->head.attrs[i];
        /* The writer adds these itself. */
        bool own =
            !set && (strcmp(a->name, "timestamp") == 0 || strcmp(a->name, COV_CHUNK_VERSION) == 0);
        if (own || !cov_text_same(a->set, set))
            continue;
        int rc = cov_h5_write_attr(w->h5, set, a->name, a->text, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* Writes the attributes of groups, once all groups exist. */
static int write_group_attrs(struct cov_chunk_writer *w, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < w->head.n_attrs; i++) {
        const struct cov_chunk_attr *a = &w->head.attrs[i];
        if (a->set && cov_chunk_head_has_group(&w->head, a->set))
            rc = cov_h5_write_attr(w->h5, a->set, a->name, a->text, e);
    }
    return rc;
}

/* Creates the dataset, unless its rows are small. */
static int begin_set(struct cov_chunk_writer *w, size_t k, struct cov_err *e)
{
    struct set_writer *s = &w->sets[k];
    s->what = &w->head.sets[k];
    s->row_bytes = cov_chunk_set_row_bytes(s->what);
    s->small = s->what->rank == 1 || (s->what->rank == 2 && s->row_bytes <= SMALL_BYTES);
    w->n_pieces += s->small ? 1 : s->what->dims[1];
    if (s->small)
        return COV_OK;
    size_t bytes;
    if (cov_size_mul(s->row_bytes / s->what->dims[1], w->options.chunk_rows, &bytes) ||
        bytes > COV_H5_MAX_BYTES)
        return cov_fail(e, COV_EINPUT, "%s: %zu rows per chunk are too many", s->what->name,
                        w->options.chunk_rows);
    struct cov_h5_new spec = spec_of(s->what, s, w->options.compression);
    if (!w->h5)
        return COV_OK;
    spec.chunk[0] = w->options.chunk_rows;
    spec.chunk[1] = s->what->dims[0];
    spec.chunk[2] = 1;
    int rc = cov_h5_set_create(w->h5, s->what->name, &spec, &s->set, e);
    return rc ? rc : write_attrs(w, s->what->name, e);
}

/* Writes a dataset of small rows. */
static int write_small(struct cov_chunk_writer *w, struct set_writer *s, size_t n_rows,
                       struct cov_err *e)
{
    struct cov_codec_choice compression = w->options.compression;
    struct cov_h5_new spec = spec_of(s->what, s, compression);
    size_t block = n_rows > 0 && n_rows < BLOCK_ROWS ? n_rows : BLOCK_ROWS;
    while (block > 1 && block > BLOCK_BYTES / s->row_bytes)
        block /= 2;
    spec.dims[0] = n_rows;
    spec.chunk[0] = block;
    spec.chunk[1] = s->what->dims[0];
    spec.chunk[2] = s->what->dims[1];
    int rc = cov_h5_set_create(w->h5, s->what->name, &spec, &s->set, e);
    for (size_t row = 0; !rc && row < n_rows; row += block) {
        size_t n = n_rows - row < block ? n_rows - row : block;
        rc = cov_h5_set_put_elems(s->set, &spec, compression, (size_t[3]){row, 0, 0},
                                  s->rows + row * s->row_bytes, n * s->row_bytes, e);
    }
    return rc ? rc : write_attrs(w, s->what->name, e);
}

static int write_table(struct cov_chunk_writer *w, const struct cov_chunk_table *t,
                       struct cov_err *e)
{
    struct cov_codec_choice compression = w->options.compression;
    if (t->n_bytes <= TABLE_BYTES)
        compression = (struct cov_codec_choice){COV_CODEC_NONE, 0};
    struct cov_h5_new spec = {
        .type = t->type,
        .rank = t->rank,
        .dims = {t->dims[0], t->dims[1], t->dims[2]},
        .unlimited = {true, false, false},
        .deflate_level = GENOME_LEVEL,
    };
    for (int i = 0; i < 3; i++)
        spec.chunk[i] = t->dims[i] ? t->dims[i] : 1;
    spec.n_filters =
        cov_h5_filters(compression, shuffled_bytes(t->name, &t->type, compression), spec.filters);
    struct cov_h5_set *set;
    int rc = cov_h5_set_create(w->h5, t->name, &spec, &set, e);
    if (rc)
        return rc;
    if (t->n_bytes > 0)
        rc = cov_h5_set_put_elems(set, &spec, compression, (size_t[3]){0}, t->elems, t->n_bytes, e);
    cov_h5_set_close(set);
    return rc ? rc : write_attrs(w, t->name, e);
}

/* ---- the file ---- */

/* Creates the file with its attributes, tables and bases. */
static int create(struct cov_chunk_writer *w, const char *path, struct cov_err *e)
{
    const struct cov_chunk_head *h = &w->head;
    int rc = cov_h5_create(path, &w->h5, e);
    if (!rc && (h->has_bases || cov_chunk_head_attr(h, NULL, "timestamp")))
        rc = write_timestamp(w->h5, e);
    if (!rc)
        rc = write_attrs(w, NULL, e);
    if (!rc)
        rc = cov_h5_write_attr(w->h5, NULL, COV_CHUNK_VERSION, cov_version(), e);
    for (size_t i = 0; !rc && i < h->n_tables; i++)
        rc = write_table(w, &h->tables[i], e);
    if (!rc && h->has_bases) {
        rc = cov_bases_create(w->h5, w->options.layout, h->L, w->options.chunk_rows,
                              w->options.compression, &w->bases, e);
        w->n_pieces++;
    }
    return rc;
}

static int begin(struct cov_chunk_writer *w, const char *path, struct cov_err *e)
{
    const struct cov_chunk_head *h = &w->head;
    assert(path || !h->has_bases);
    int rc = path ? create(w, path, e) : COV_OK;
    w->sets = cov_calloc(h->n_sets, sizeof *w->sets, e);
    if (!rc && !w->sets)
        rc = COV_ENOMEM;
    for (size_t k = 0; !rc && k < h->n_sets; k++)
        rc = begin_set(w, k, e);
    return rc;
}

int cov_chunk_writer_new(const char *path, const struct cov_chunk_head *head,
                         const struct cov_chunk_writer_options *options,
                         struct cov_chunk_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_chunk_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    w->options = *options;
    if (w->options.chunk_rows == 0)
        w->options.chunk_rows = 1;
    int rc = cov_chunk_head_copy(head, &w->head, e);
    if (!rc)
        rc = begin(w, path, e);
    if (rc) {
        cov_chunk_writer_abort(w);
        return rc;
    }
    *out = w;
    return COV_OK;
}

size_t cov_chunk_writer_n_pieces(const struct cov_chunk_writer *w)
{
    return w->n_pieces;
}

/* Copies column `col` of n positions with n_cols columns. */
static void take_column(const uint8_t *row, size_t n, size_t n_cols, size_t col, size_t size,
                        uint8_t *dst)
{
    if (n_cols == 1) {
        memcpy(dst, row, n * size);
        return;
    }
    row += col * size;
    size_t step = n_cols * size;
    if (size == 4)
        for (size_t t = 0; t < n; t++)
            memcpy(dst + 4 * t, row + t * step, 4);
    else if (size == 8)
        for (size_t t = 0; t < n; t++)
            memcpy(dst + 8 * t, row + t * step, 8);
    else
        for (size_t t = 0; t < n; t++)
            memcpy(dst + size * t, row + t * step, size);
}

/* Adds one piece per column. */
static int encode_columns(const struct cov_chunk_writer *w, const struct set_writer *s, size_t k,
                          size_t n_rows, const uint8_t *const *const *elems, struct cov_blob *out,
                          struct cov_err *e)
{
    const struct cov_chunk_set *set = s->what;
    size_t size = set->type.bytes, column = set->dims[0] * size;
    size_t bytes = column * w->options.chunk_rows;
    for (size_t c = 0; c < set->dims[1]; c++) {
        uint8_t *src, *scratch;
        int rc = cov_h5_pack_begin(w->options.compression, bytes, out, &src, &scratch, e);
        if (rc)
            return rc;
        uint8_t *plain = s->n_filters > 1 ? scratch : src;
        for (size_t r = 0; r < n_rows; r++)
            take_column(elems[r][k], set->dims[0], set->dims[1], c, size, plain + r * column);
        memset(plain + n_rows * column, 0, bytes - n_rows * column);
        if (s->n_filters > 1)
            cov_shuffle(plain, bytes, size, src);
        rc = cov_h5_pack_end(w->options.compression, s->filters, s->n_filters, bytes, out, e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

static int encode_small(const struct set_writer *s, size_t k, size_t n_rows,
                        const uint8_t *const *const *elems, struct cov_blob *out, struct cov_err *e)
{
    uint8_t *to;
    int rc = cov_blob_room(out, n_rows * s->row_bytes, &to, e);
    if (rc)
        return rc;
    for (size_t r = 0; r < n_rows; r++)
        memcpy(to + r * s->row_bytes, elems[r][k], s->row_bytes);
    return cov_blob_end_piece(out, n_rows * s->row_bytes, e);
}

int cov_chunk_writer_encode(const struct cov_chunk_writer *w, size_t n_rows,
                            const uint8_t *const *codes, const uint8_t *const *const *elems,
                            struct cov_blob *out, struct cov_err *e)
{
    int rc = w->bases ? cov_bases_encode(w->bases, n_rows, codes, out, e) : COV_OK;
    for (size_t k = 0; !rc && k < w->head.n_sets; k++) {
        const struct set_writer *s = &w->sets[k];
        rc = s->small ? encode_small(s, k, n_rows, elems, out, e)
                      : encode_columns(w, s, k, n_rows, elems, out, e);
    }
    return rc;
}

const struct cov_bases_writer *cov_chunk_writer_bases(const struct cov_chunk_writer *w)
{
    return w->bases;
}

static int keep_small(struct set_writer *s, size_t i, const uint8_t *rows, size_t n_bytes,
                      struct cov_err *e)
{
    size_t end = i + n_bytes / s->row_bytes;
    int rc = cov_reserve(&s->rows, &s->cap, end, s->row_bytes, e);
    if (!rc)
        memcpy(s->rows + i * s->row_bytes, rows, n_bytes);
    return rc;
}

bool cov_chunk_writer_fits(const struct cov_chunk_writer *w, const struct cov_blob *blob)
{
    size_t piece = 0, n;
    if (blob->n_pieces != w->n_pieces || w->bases)
        return false;
    for (size_t k = 0; k < w->head.n_sets; k++) {
        const struct set_writer *s = &w->sets[k];
        for (size_t c = 0; c < (s->small ? 1 : s->what->dims[1]); c++) {
            (void)cov_blob_piece(blob, piece++, &n);
            if (s->small ? n != s->row_bytes : n <= COV_H5_PIECE_HEAD)
                return false;
        }
    }
    return true;
}

int cov_chunk_writer_put(struct cov_chunk_writer *w, size_t i, const struct cov_blob *blob,
                         size_t first_piece, struct cov_err *e)
{
    size_t piece = first_piece, n;
    int rc = w->bases ? cov_bases_put(w->bases, i, blob, piece++, e) : COV_OK;
    for (size_t k = 0; !rc && k < w->head.n_sets; k++) {
        struct set_writer *s = &w->sets[k];
        if (s->small) {
            const uint8_t *rows = cov_blob_piece(blob, piece++, &n);
            rc = keep_small(s, i, rows, n, e);
            continue;
        }
        for (size_t c = 0; !rc && c < s->what->dims[1]; c++) {
            const uint8_t *stored = cov_blob_piece(blob, piece++, &n);
            rc = cov_h5_set_put(s->set, (size_t[3]){i, 0, c}, stored, n, e);
        }
    }
    w->n_groups++;
    if (i + 1 > w->end)
        w->end = i + 1;
    return rc;
}

static int complete(struct cov_chunk_writer *w, const struct cov_grid *grid, struct cov_err *e)
{
    size_t n_rows = cov_grid_n_chunks(grid), group = w->options.chunk_rows;
    size_t n_groups = n_rows / group + (n_rows % group != 0);
    if (cov_grid_chunk_length(grid) != w->head.L)
        return cov_fail(e, COV_EUSAGE, "chunks of %zu bases in a file of chunks of %zu",
                        cov_grid_chunk_length(grid), w->head.L);
    if (n_groups != w->n_groups || w->end > n_rows)
        return cov_fail(e, COV_EUSAGE, "%zu stored chunks of %zu rows, but the grid has %zu rows",
                        w->n_groups, group, n_rows);
    int rc = w->bases ? cov_bases_resize(w->bases, n_rows, e) : COV_OK;
    for (size_t k = 0; !rc && k < w->head.n_sets; k++)
        rc = w->sets[k].small ? write_small(w, &w->sets[k], n_rows, e)
                              : cov_h5_set_resize(w->sets[k].set, n_rows, e);
    if (!rc)
        rc = cov_chunk_table_write(w->h5, grid,
                                   w->head.has_bases ? GENOME_SPECIES : PREDICTIONS_SPECIES,
                                   w->options.compression, e);
    if (!rc)
        rc = write_group_attrs(w, e);
    if (!rc && cov_grid_is_partial(grid))
        rc = cov_h5_write_attr_int(w->h5, NULL, "partial", 1, e);
    return rc;
}

static void close_sets(struct cov_chunk_writer *w)
{
    cov_bases_writer_close(w->bases);
    w->bases = NULL;
    for (size_t k = 0; w->sets && k < w->head.n_sets; k++) {
        cov_h5_set_close(w->sets[k].set);
        free(w->sets[k].rows);
    }
    free(w->sets);
    w->sets = NULL;
}

int cov_chunk_writer_finish(struct cov_chunk_writer *w, const struct cov_grid *grid,
                            struct cov_err *e)
{
    int rc = cov_chunk_head_check_fill(&w->head, cov_grid_longest(grid), false, e);
    if (!rc)
        rc = complete(w, grid, e);
    close_sets(w);
    if (!rc) {
        rc = cov_h5_finish(w->h5, e);
        w->h5 = NULL;
    }
    cov_chunk_writer_abort(w);
    return rc;
}

void cov_chunk_writer_abort(struct cov_chunk_writer *w)
{
    if (!w)
        return;
    close_sets(w);
    cov_h5_close(w->h5);
    cov_chunk_head_fini(&w->head);
    free(w);
}

/* ---- pair by pair ---- */

/* The temporary file is truncated only when it has reached this size, not after every short
 * contig. */
#define SPOOL_BYTES ((int64_t)1 << 26)

/* Waiting chunks in memory are stored in blocks. */
enum { WAITING_BLOCK = 1 << 22, MAX_WAITING_BLOCKS = COV_PAIR_WRITER_MEMORY / WAITING_BLOCK };

struct pair {
    int64_t beg, end;
    bool has[2];
};

struct seq {
    char *species, *name;
    int64_t length;
    size_t first_pair;
};

/* A waiting - chunk: the ends of its pieces, then the pieces. */
struct waiting {
    void *memory; /* NULL: in the file, at `at` */
    int64_t at;
    size_t n_bytes; /* size of the pieces */
};

struct cov_pair_writer {
    struct cov_chunk_writer *writer;
    size_t L, n_pieces, n_rows;
    bool partial, open; /* within a sequence */
    uint8_t *blocks[MAX_WAITING_BLOCKS];
    size_t memory;          /* limit in bytes */
    size_t block, in_block; /* current block and bytes used in it */
    struct cov_spool spool;
    uint8_t *read; /* a waiting chunk, as read from the file */
    size_t cap_read;
    struct pair *pairs;
    size_t n_pairs, cap_pairs;
    struct seq *seqs;
    size_t n_seqs, cap_seqs;
    struct waiting *waiting; /* waiting chunks of this sequence */
    size_t n_waiting, cap_waiting;
};

void cov_pair_writer_abort(struct cov_pair_writer *p)
{
    if (!p)
        return;
    cov_chunk_writer_abort(p->writer);
    for (size_t i = 0; i < MAX_WAITING_BLOCKS; i++)
        free(p->blocks[i]);
    cov_spool_fini(&p->spool);
    free(p->read);
    for (size_t i = 0; i < p->n_seqs; i++) {
        free(p->seqs[i].species);
        free(p->seqs[i].name);
    }
    free(p->seqs);
    free(p->pairs);
    free(p->waiting);
    free(p);
}

int cov_pair_writer_new(struct cov_chunk_writer *w, size_t L, const char *tmpdir, size_t memory,
                        bool partial, struct cov_pair_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_pair_writer *p = cov_calloc(1, sizeof *p, e);
    if (!p) {
        cov_chunk_writer_abort(w);
        return COV_ENOMEM;
    }
    p->writer = w;
    p->L = L;
    p->memory = memory < COV_PAIR_WRITER_MEMORY ? memory : COV_PAIR_WRITER_MEMORY;
    p->partial = partial;
    p->n_pieces = cov_chunk_writer_n_pieces(w);
    p->spool = (struct cov_spool)COV_SPOOL_INIT;
    int rc = cov_spool_init(&p->spool, tmpdir, e);
    if (rc) {
        cov_pair_writer_abort(p);
        return rc;
    }
    *out = p;
    return COV_OK;
}

int cov_pair_writer_begin(struct cov_pair_writer *p, const char *species, const char *name,
                          struct cov_err *e)
{
    assert(!p->open);
    int rc = COV_RESERVE(&p->seqs, &p->cap_seqs, p->n_seqs + 1, e);
    if (rc)
        return rc;
    struct seq *s = &p->seqs[p->n_seqs];
    *s = (struct seq){cov_strdup(species, e), cov_strdup(name, e), 0, p->n_pairs};
    if (!s->species || !s->name) {
        free(s->species);
        free(s->name);
        return COV_ENOMEM;
    }
    p->n_seqs++;
    p->open = true;
    return COV_OK;
}

/* Returns the end of the last pair of the current sequence, or 0. */
static int64_t last_end(const struct cov_pair_writer *p)
{
    return p->n_pairs > p->seqs[p->n_seqs - 1].first_pair ? p->pairs[p->n_pairs - 1].end : 0;
}

/* Returns memory for n waiting bytes, aligned for any type of number, or NULL if the bytes must go
 * to the file. */
static void *wait_in_memory(struct cov_pair_writer *p, size_t n)
{
    const size_t align = sizeof(size_t);
    if (n > WAITING_BLOCK)
        return NULL;
    if (n > WAITING_BLOCK - p->in_block) {
        p->block++;
        p->in_block = 0;
    }
    if (p->block * WAITING_BLOCK + p->in_block + n > p->memory)
        return NULL;
    if (!p->blocks[p->block])
        p->blocks[p->block] = cov_malloc_huge(WAITING_BLOCK, 1, NULL);
    if (!p->blocks[p->block])
        return NULL;
    uint8_t *at = p->blocks[p->block] + p->in_block;
    p->in_block += n + (align - n % align) % align;
    return at;
}

static int keep_minus(struct cov_pair_writer *p, const struct cov_blob *minus, struct cov_err *e)
{
    int rc = COV_RESERVE(&p->waiting, &p->cap_waiting, p->n_waiting + 1, e);
    if (rc)
        return rc;
    struct waiting *w = &p->waiting[p->n_waiting];
    size_t head = p->n_pieces * sizeof *minus->ends;
    w->n_bytes = minus->n_bytes;
    w->memory = wait_in_memory(p, head + minus->n_bytes);
    if (w->memory) {
        memcpy(w->memory, minus->ends, head);
        memcpy((uint8_t *)w->memory + head, minus->data, minus->n_bytes);
    } else {
        rc = cov_spool_append(&p->spool, minus->ends, head, &w->at, e);
        if (!rc)
            rc = cov_spool_append(&p->spool, minus->data, minus->n_bytes, NULL, e);
    }
    p->n_waiting += !rc;
    return rc;
}

int cov_pair_writer_put(struct cov_pair_writer *p, int64_t beg, int64_t end,
                        const struct cov_blob *plus, const struct cov_blob *minus,
                        struct cov_err *e)
{
    assert(p->open && beg >= last_end(p) && beg < end && (uint64_t)(end - beg) <= p->L);
    assert(p->partial || (plus && minus && beg == last_end(p)));
    int rc = COV_RESERVE(&p->pairs, &p->cap_pairs, p->n_pairs + 1, e);
    if (!rc && plus)
        rc = cov_chunk_writer_put(p->writer, p->n_rows++, plus, 0, e);
    if (!rc && minus)
        rc = keep_minus(p, minus, e);
    if (!rc)
        p->pairs[p->n_pairs++] = (struct pair){beg, end, {plus != NULL, minus != NULL}};
    return rc;
}

/* Writes a waiting chunk as the next row. */
static int put_minus(struct cov_pair_writer *p, const struct waiting *w, struct cov_err *e)
{
    size_t n = p->n_pieces * sizeof(size_t) + w->n_bytes;
    void *memory = w->memory;
    if (!memory) {
        int rc = COV_RESERVE(&p->read, &p->cap_read, n, e);
        if (!rc)
            rc = cov_spool_read(&p->spool, w->at, p->read, n, e);
        if (rc)
            return rc;
        memory = p->read;
    }
    size_t *ends = memory;
    const struct cov_blob kept = {.data = (uint8_t *)(ends + p->n_pieces),
                                  .n_bytes = w->n_bytes,
                                  .ends = ends,
                                  .n_pieces = p->n_pieces};
    return cov_chunk_writer_put(p->writer, p->n_rows++, &kept, 0, e);
}

int cov_pair_writer_end(struct cov_pair_writer *p, int64_t length, struct cov_err *e)
{
    assert(p->open && length > 0);
    assert(p->partial ? last_end(p) <= length : last_end(p) == length);
    int rc = COV_OK;
    for (; !rc && p->n_waiting > 0; p->n_waiting--)
        rc = put_minus(p, &p->waiting[p->n_waiting - 1], e);
    p->block = p->in_block = 0;
    if (!rc && p->spool.n_bytes > SPOOL_BYTES)
        rc = cov_spool_truncate(&p->spool, 0, e);
    p->seqs[p->n_seqs - 1].length = length;
    p->open = false;
    return rc;
}

static int add_row(struct cov_grid_builder *b, const struct seq *s, int64_t start, int64_t end,
                   struct cov_err *e)
{
    struct cov_seq_id id = cov_seq_id(s->species, s->name);
    return cov_grid_builder_add(b, &id, start, end, e);
}

static int add_rows(const struct cov_pair_writer *p, struct cov_grid_builder *b, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < p->n_seqs; i++) {
        const struct seq *s = &p->seqs[i];
        size_t first = s->first_pair, end = i + 1 < p->n_seqs ? s[1].first_pair : p->n_pairs;
        for (size_t k = first; !rc && k < end; k++)
            if (p->pairs[k].has[COV_PLUS])
                rc = add_row(b, s, p->pairs[k].beg, p->pairs[k].end, e);
        for (size_t k = end; !rc && k-- > first;)
            if (p->pairs[k].has[COV_MINUS])
                rc = add_row(b, s, p->pairs[k].end, p->pairs[k].beg, e);
    }
    return rc;
}

static int make_grid(const struct cov_pair_writer *p, struct cov_grid **grid, struct cov_err *e)
{
    struct cov_grid_builder *b;
    int rc = cov_grid_builder_new(p->L, &b, e);
    if (rc)
        return rc;
    for (size_t i = 0; !rc && p->partial && i < p->n_seqs; i++) {
        const struct seq *s = &p->seqs[i];
        struct cov_seq_id id = cov_seq_id(s->species, s->name);
        rc = cov_grid_builder_declare(b, &id, s->length, e);
    }
    if (!rc)
        rc = add_rows(p, b, e);
    if (!rc)
        return cov_grid_builder_finish(b, grid, e);
    cov_grid_builder_free(b);
    return rc;
}

int cov_pair_writer_finish(struct cov_pair_writer *p, struct cov_err *e)
{
    struct cov_grid *g = NULL;
    assert(!p->open);
    int rc = make_grid(p, &g, e);
    assert(rc || cov_grid_n_seqs(g) == p->n_seqs);
    if (!rc) {
        rc = cov_chunk_writer_finish(p->writer, g, e);
        p->writer = NULL;
    }
    cov_pair_writer_abort(p);
    cov_grid_free(g);
    return rc;
}
