/* chunk_table.c - see chunk_table.h.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/chunk_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"

/* Helixer stores these columns in chunks of one row, which makes writing and reading a hundred
 * times slower. No reader depends on the shape of the chunks. */
enum { BLOCK_ROWS = 4096, NAME_BYTES = 50, DECLARED_LEVEL = 4 };
enum { BLOCK_BYTES = 1 << 22, MANY_ROWS = 1 << 20 };

/* Columns of the whole genome, in partial files. */
#define SEQ_NAMES "data/seq_names"
#define SEQ_SPECIES "data/seq_species"
#define SEQ_LENGTHS "data/seq_lengths"

/* ---- reading ---- */

struct column {
    struct cov_h5_set *set; /* NULL: missing */
    uint8_t *block;         /* [step][n_cols] elements */
    size_t step;            /* rows read at once */
};

static void close_column(struct column *c)
{
    cov_h5_set_close(c->set);
    free(c->block);
}

static const struct cov_h5_type *type_of(const struct column *c)
{
    return &cov_h5_set_rows(c->set)->type;
}

/* A column that may be missing: then c->set is NULL. */
static int find_column(struct cov_h5 *f, const char *name, enum cov_h5_kind kind, size_t n_rows,
                       size_t n_cols, struct column *c, struct cov_err *e)
{
    int rc = cov_h5_set_find(f, name, n_cols > 1 ? 2 : 1, &c->set, e);
    if (!c->set)
        return rc;
    const struct cov_h5_rows *r = cov_h5_set_rows(c->set);
    if (r->type.kind != kind)
        return cov_fail(e, COV_EINPUT, "%s: %s: the elements are not %s", cov_h5_path(f), name,
                        kind == COV_H5_STRING ? "texts" : "integers");
    if (r->dims[0] != n_rows || r->dims[1] != n_cols)
        return cov_fail(e, COV_EINPUT, "%s: %s: %zu x %zu elements instead of %zu x %zu",
                        cov_h5_path(f), name, r->dims[0], r->dims[1], n_rows, n_cols);
    size_t row_bytes = n_cols * r->type.bytes;
    c->step = row_bytes < BLOCK_BYTES / BLOCK_ROWS ? BLOCK_ROWS
              : row_bytes < BLOCK_BYTES            ? BLOCK_BYTES / row_bytes
                                                   : 1;
    c->block = cov_malloc(c->step, row_bytes, e);
    return c->block ? COV_OK : COV_ENOMEM;
}

static int open_column(struct cov_h5 *f, const char *name, enum cov_h5_kind kind, size_t n_rows,
                       size_t n_cols, struct column *c, struct cov_err *e)
{
    int rc = find_column(f, name, kind, n_rows, n_cols, c, e);
    return rc || c->set ? rc : cov_fail(e, COV_EINPUT, "%s: no dataset %s", cov_h5_path(f), name);
}

static int read_block(const struct column *c, size_t first, size_t n, struct cov_err *e)
{
    return c->set ? cov_h5_set_read(c->set, first, n, 0, 1, c->block, e) : COV_OK;
}

/* Returns string i of the block; *n is its length without padding. */
static const char *text_at(const struct column *c, size_t i, size_t *n)
{
    if (!c->set) {
        *n = 0;
        return "";
    }
    const char *text = (const char *)c->block + i * type_of(c)->bytes;
    *n = cov_h5_string_length(type_of(c), text);
    return text;
}

/* What describes each row, or each sequence of the genome. */
struct description {
    struct column names, species, numbers; /* species may be missing */
    size_t n_numbers;                      /* per row: start and end; per sequence: the length */
    const char *usual;                     /* the species if they are missing, n_usual bytes */
    size_t n_usual;
};

static void close_description(struct description *d)
{
    close_column(&d->names);
    close_column(&d->species);
    close_column(&d->numbers);
}

/* Returns how many rows all three columns can read at once, at most n. */
static size_t step_of(const struct description *d, size_t n)
{
    const struct column *all[] = {&d->names, &d->species, &d->numbers};
    for (size_t i = 0; i < COV_COUNT(all); i++)
        if (all[i]->set && all[i]->step < n)
            n = all[i]->step;
    return n;
}

/* Adds row i of the block to the grid. */
static int add_row(const struct cov_h5 *f, const struct description *d, size_t first, size_t i,
                   struct cov_grid_builder *builder, struct cov_err *e)
{
    const struct cov_h5_type *type = type_of(&d->numbers);
    const bool by_row = d->n_numbers == 2;
    struct cov_seq_id id = {.species = d->usual, .n_species = d->n_usual};
    int64_t x[2] = {0, 0};
    id.name = text_at(&d->names, i, &id.n_name);
    if (d->species.set)
        id.species = text_at(&d->species, i, &id.n_species);
    int rc = cov_h5_to_int64(type, d->numbers.block + d->n_numbers * i * type->bytes, d->n_numbers,
                             x, e);
    if (rc && by_row)
        return cov_err_prefix(e, rc, "%s: data/start_ends: row %zu", cov_h5_path(f), first + i);
    if (!rc)
        rc = by_row ? cov_grid_builder_add(builder, &id, x[0], x[1], e)
                    : cov_grid_builder_declare(builder, &id, x[0], e);
    return rc ? cov_err_prefix(e, rc, "%s: %s", cov_h5_path(f), by_row ? "data" : SEQ_NAMES)
              : COV_OK;
}

static int add_rows(const struct cov_h5 *f, const struct description *d, size_t n_rows,
                    struct cov_grid_builder *builder, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t first = 0, n; !rc && first < n_rows; first += n) {
        n = step_of(d, n_rows - first);
        rc = read_block(&d->names, first, n, e);
        if (!rc)
            rc = read_block(&d->species, first, n, e);
        if (!rc)
            rc = read_block(&d->numbers, first, n, e);
        for (size_t i = 0; !rc && i < n; i++)
            rc = add_row(f, d, first, i, builder, e);
    }
    return rc;
}

/* *n = the number of sequences of the genome, or 0 if the file does not list them. */
static int count_sequences(struct cov_h5 *f, size_t *n, struct cov_err *e)
{
    struct cov_h5_set *set;
    *n = 0;
    int rc = cov_h5_set_find(f, SEQ_NAMES, 1, &set, e);
    if (!set)
        return rc;
    *n = cov_h5_set_rows(set)->dims[0];
    cov_h5_set_close(set);
    return *n ? COV_OK : cov_fail(e, COV_EINPUT, "%s: %s is empty", cov_h5_path(f), SEQ_NAMES);
}

/* Declares the n sequences of the genome. Without SEQ_SPECIES, they have the species of the first
 * row. */
static int declare_sequences(struct cov_h5 *f, size_t n, const struct description *rows,
                             size_t n_rows, struct cov_grid_builder *builder, struct cov_err *e)
{
    struct description d = {.n_numbers = 1, .usual = ""};
    int rc = n_rows > 0 ? read_block(&rows->species, 0, 1, e) : COV_OK;
    if (!rc && n_rows > 0)
        d.usual = text_at(&rows->species, 0, &d.n_usual);
    if (!rc)
        rc = open_column(f, SEQ_NAMES, COV_H5_STRING, n, 1, &d.names, e);
    if (!rc)
        rc = open_column(f, SEQ_LENGTHS, COV_H5_INT, n, 1, &d.numbers, e);
    if (!rc)
        rc = find_column(f, SEQ_SPECIES, COV_H5_STRING, n, 1, &d.species, e);
    if (!rc)
        rc = add_rows(f, &d, n, builder, e);
    close_description(&d);
    return rc;
}

/* Refuses more rows and sequences than a file of this size can hold. */
static int check_count(const struct cov_h5 *f, size_t n, struct cov_err *e)
{
    uint64_t n_bytes = cov_h5_bytes(f);
    return n > MANY_ROWS && n > n_bytes
               ? cov_fail(e, COV_EINPUT,
                          "%s: %zu chunks and sequences in a file of %" PRIu64 " bytes",
                          cov_h5_path(f), n, n_bytes)
               : COV_OK;
}

int cov_chunk_table_expect(const struct cov_h5 *f, const char *wanted, struct cov_err *e)
{
    static const char *const groups[] = {"data", "prediction", "evaluation"};
    int found = 0;
    for (size_t i = 0; !found && i < COV_COUNT(groups); i++)
        found = cov_h5_has(f, groups[i], e);
    if (found)
        return found < 0 ? found : COV_OK;
    return cov_fail(e, COV_EINPUT,
                    "%s: neither a genome file nor a predictions file, but another HDF5 file: no "
                    "dataset %s",
                    cov_h5_path(f), wanted);
}

int cov_chunk_table_read(struct cov_h5 *f, size_t n_rows, size_t L, struct cov_grid **out,
                         struct cov_err *e)
{
    *out = NULL;
    struct description d = {.n_numbers = 2, .usual = ""};
    struct cov_grid_builder *builder = NULL;
    size_t n_seqs;
    int rc = count_sequences(f, &n_seqs, e);
    if (!rc && ((n_rows == 0 && n_seqs == 0) || L == 0))
        rc = cov_fail(e, COV_EINPUT, "%s: no chunks", cov_h5_path(f));
    if (!rc)
        rc = check_count(f, n_rows + n_seqs, e);
    if (!rc)
        rc = open_column(f, "data/seqids", COV_H5_STRING, n_rows, 1, &d.names, e);
    if (!rc)
        rc = find_column(f, "data/species", COV_H5_STRING, n_rows, 1, &d.species, e);
    if (!rc)
        rc = open_column(f, "data/start_ends", COV_H5_INT, n_rows, 2, &d.numbers, e);
    if (!rc)
        rc = cov_grid_builder_new(L, &builder, e);
    if (!rc && n_seqs > 0)
        rc = declare_sequences(f, n_seqs, &d, n_rows, builder, e);
    if (!rc)
        rc = add_rows(f, &d, n_rows, builder, e);
    if (!rc) {
        rc = cov_grid_builder_finish(builder, out, e);
        builder = NULL;
        if (rc)
            (void)cov_err_prefix(e, rc, "%s", cov_h5_path(f));
    }
    cov_grid_builder_free(builder);
    close_description(&d);
    return rc;
}

/* ---- writing ---- */

const char *cov_text_of_array(const void *texts, size_t i)
{
    const char *const *array = texts;
    return array[i];
}

size_t cov_text_width(const char *set, size_t usual, const struct cov_text_list *texts)
{
    size_t width = usual, n_long = 0;
    const char *longest = "";
    for (size_t i = 0; i < texts->n; i++) {
        size_t bytes = strlen(texts->get(texts->arg, i));
        n_long += bytes > usual;
        if (bytes > width) {
            width = bytes;
            longest = texts->get(texts->arg, i);
        }
    }
    if (n_long > 0)
        cov_warn("%s: %zu of %zu names are longer than the usual %zu bytes (such as %.200s); the "
                 "dataset stores %zu bytes per name",
                 set, n_long, texts->n, usual, longest, width);
    return width;
}

/* The source of a column's rows. */
struct source {
    void (*put_rows)(const void *arg, size_t first, size_t n, uint8_t *dst); /* dst is zeroed */
    const void *arg;
};

static int write_column(struct cov_h5 *f, const char *name, struct cov_h5_new *spec,
                        struct cov_codec_choice compression, struct source source,
                        struct cov_err *e)
{
    bool is_text = spec->type.kind == COV_H5_STRING;
    spec->n_filters = cov_h5_filters(compression, is_text ? 0 : spec->type.bytes, spec->filters);
    spec->deflate_level = DECLARED_LEVEL;
    spec->unlimited[0] = true;
    struct cov_h5_set *set;
    int rc = cov_h5_set_create(f, name, spec, &set, e);
    if (rc)
        return rc;
    size_t block = spec->chunk[0], row_bytes = spec->chunk[1] * spec->type.bytes;
    uint8_t *rows = cov_malloc(block, row_bytes, e);
    if (!rows)
        rc = COV_ENOMEM;
    for (size_t first = 0; !rc && first < spec->dims[0]; first += block) {
        size_t left = spec->dims[0] - first, n = left < block ? left : block;
        memset(rows, 0, n * row_bytes);
        source.put_rows(source.arg, first, n, rows);
        rc = cov_h5_set_put_elems(set, spec, compression, (size_t[3]){first, 0, 0}, rows,
                                  n * row_bytes, e);
    }
    free(rows);
    cov_h5_set_close(set);
    return rc;
}

struct padded_texts {
    const struct cov_text_list *list;
    size_t width;
};

static void put_texts(const void *arg, size_t first, size_t n, uint8_t *dst)
{
    const struct padded_texts *t = arg;
    for (size_t i = 0; i < n; i++) {
        const char *text = t->list->get(t->list->arg, first + i);
        memcpy(dst + i * t->width, text, strnlen(text, t->width));
    }
}

int cov_texts_write(struct cov_h5 *f, const char *set, size_t width,
                    const struct cov_text_list *texts, size_t chunk_rows,
                    struct cov_codec_choice compression, struct cov_err *e)
{
    const struct padded_texts padded = {texts, width};
    struct cov_h5_new spec = {
        .type = {COV_H5_STRING, width, false, false, '\0'},
        .rank = 1,
        .dims = {texts->n, 1, 1},
        .chunk = {chunk_rows, 1, 1},
    };
    return write_column(f, set, &spec, compression, (struct source){put_texts, &padded}, e);
}

static void put_start_ends(const void *arg, size_t first, size_t n, uint8_t *dst)
{
    const struct cov_grid *grid = arg;
    for (size_t i = 0; i < n; i++) {
        struct cov_chunk c = cov_grid_chunk(grid, first + i);
        uint64_t range[2] = {(uint64_t)(c.minus ? c.end : c.beg),
                             (uint64_t)(c.minus ? c.beg : c.end)};
        for (size_t k = 0; k < 16; k++)
            dst[16 * i + k] = (uint8_t)(range[k / 8] >> k % 8 * 8);
    }
}

static const char *seq_name(const void *grid, size_t seq)
{
    return cov_grid_name(grid, seq);
}

static const char *seq_species(const void *grid, size_t seq)
{
    return cov_grid_species(grid, seq);
}

static const char *row_name(const void *grid, size_t i)
{
    return cov_grid_name(grid, cov_grid_chunk(grid, i).seq);
}

static const char *row_species(const void *grid, size_t i)
{
    return cov_grid_species(grid, cov_grid_chunk(grid, i).seq);
}

static void put_lengths(const void *arg, size_t first, size_t n, uint8_t *dst)
{
    const struct cov_grid *grid = arg;
    for (size_t i = 0; i < n; i++) {
        uint64_t length = (uint64_t)cov_grid_seq_length(grid, first + i);
        for (size_t k = 0; k < 8; k++)
            dst[8 * i + k] = (uint8_t)(length >> 8 * k);
    }
}

/* Returns the rows per stored chunk for a column of n rows (n may be 0). */
static size_t block_rows(size_t n)
{
    return n == 0 || n > BLOCK_ROWS ? BLOCK_ROWS : n;
}

/* Writes a dataset int64 [n], or [n, n_cols] for n_cols > 1. */
static int write_integers(struct cov_h5 *f, const char *name, size_t n, size_t n_cols,
                          struct source source, struct cov_codec_choice compression,
                          struct cov_err *e)
{
    struct cov_h5_new spec = {
        .type = {COV_H5_INT, 8, true, false, '\0'},
        .rank = n_cols > 1 ? 2 : 1,
        .dims = {n, n_cols, 1},
        .chunk = {block_rows(n), n_cols, 1},
    };
    return write_column(f, name, &spec, compression, source, e);
}

int cov_chunk_table_write(struct cov_h5 *f, const struct cov_grid *grid, size_t species_bytes,
                          struct cov_codec_choice compression, struct cov_err *e)
{
    size_t n_rows = cov_grid_n_chunks(grid), n_seqs = cov_grid_n_seqs(grid);
    const struct cov_text_list names = {n_seqs, seq_name, grid};
    const struct cov_text_list species = {n_seqs, seq_species, grid};
    size_t n_name = cov_text_width("data/seqids", NAME_BYTES, &names);
    size_t n_species = cov_text_width("data/species", species_bytes, &species);
    const struct {
        const char *set;
        size_t width;
        struct cov_text_list list;
    } texts[] = {
        {"data/seqids", n_name, {n_rows, row_name, grid}},
        {"data/species", n_species, {n_rows, row_species, grid}},
        {SEQ_NAMES, n_name, names},
        {SEQ_SPECIES, n_species, species},
    };
    bool partial = cov_grid_is_partial(grid);
    int rc = COV_OK;
    for (size_t k = 0; k < (partial ? 4 : 2) && !rc; k++)
        rc = cov_texts_write(f, texts[k].set, texts[k].width, &texts[k].list,
                             block_rows(texts[k].list.n), compression, e);
    if (!rc)
        rc = write_integers(f, "data/start_ends", n_rows, 2, (struct source){put_start_ends, grid},
                            compression, e);
    if (!rc && partial)
        rc = write_integers(f, SEQ_LENGTHS, n_seqs, 1, (struct source){put_lengths, grid},
                            compression, e);
    return rc;
}

/* ---- the blacklist ---- */

static void put_keep(const void *arg, size_t first, size_t n, uint8_t *dst)
{
    const bool *keep = arg;
    for (size_t i = 0; i < n; i++)
        dst[4 * i] = keep[first + i];
}

int cov_blacklist_rows_write(struct cov_h5 *f, const bool *keep, size_t n_rows,
                             struct cov_codec_choice compression, struct cov_err *e)
{
    struct cov_h5_new spec = {
        .type = {COV_H5_INT, 4, true, false, '\0'},
        .rank = 1,
        .dims = {n_rows, 1, 1},
        .chunk = {block_rows(n_rows), 1, 1},
    };
    return write_column(f, COV_BLACKLIST_SET, &spec, compression, (struct source){put_keep, keep},
                        e);
}

int cov_blacklist_rows_compare(struct cov_h5 *f, const bool *keep, size_t n_rows, bool *same,
                               struct cov_err *e)
{
    struct column column = {NULL, NULL, 0};
    int rc = open_column(f, COV_BLACKLIST_SET, COV_H5_INT, n_rows, 1, &column, e);
    *same = !rc;
    for (size_t first = 0, n; first < n_rows && *same; first += n) {
        n = n_rows - first < column.step ? n_rows - first : column.step;
        rc = read_block(&column, first, n, e);
        *same = !rc;
        for (size_t i = 0; i < n && *same; i++) {
            int64_t value;
            rc = cov_h5_to_int64(type_of(&column), column.block + i * type_of(&column)->bytes, 1,
                                 &value, e);
            *same = !rc && value == keep[first + i];
        }
    }
    close_column(&column);
    return rc;
}

const char *cov_row_text(const struct cov_grid *grid, size_t i, char buf[COV_ROW_TEXT_BYTES])
{
    struct cov_chunk c = cov_grid_chunk(grid, i);
    (void)snprintf(buf, COV_ROW_TEXT_BYTES, "row %zu (%.100s:%" PRId64 "-%" PRId64 ", %c strand)",
                   i, cov_grid_name(grid, c.seq), c.beg + 1, c.end, c.minus ? '-' : '+');
    return buf;
}
