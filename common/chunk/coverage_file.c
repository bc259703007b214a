/* coverage_file.c - see coverage_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/coverage_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/chunk/chunk_table.h"
#include "common/h5/h5.h"

/* A file with more columns is damaged. */
enum { MAX_COLUMNS = 4096 };
enum { NAME_BYTES = 512 }; /* as in Helixer's files */

/* ---- rows ---- */

static const struct cov_codec_choice compression = {COV_CODEC_LZF, 0};

/* Sets *planes to room for the shuffled bytes: elem_bytes planes of L bytes each, which the caller
 * computes straight from the values. */
static int begin_row(struct cov_coverage_row row, struct cov_blob *out, uint8_t **planes,
                     struct cov_err *e)
{
    uint8_t *scratch;
    return cov_h5_pack_begin(compression, row.L * row.elem_bytes, out, planes, &scratch, e);
}

static int end_row(struct cov_coverage_row row, uint8_t *planes, struct cov_blob *out,
                   struct cov_err *e)
{
    struct cov_filter filters[3];
    size_t n_filters = cov_h5_filters(compression, row.elem_bytes, filters);
    for (size_t j = 0; j < row.elem_bytes; j++)
        memset(planes + j * row.L + row.n, 0xff, row.L - row.n);
    return cov_h5_pack_end(compression, filters, n_filters, row.L * row.elem_bytes, out, e);
}

int cov_coverage_encode(struct cov_coverage_row row, const int64_t *values, struct cov_blob *out,
                        struct cov_err *e)
{
    uint8_t *planes;
    int rc = begin_row(row, out, &planes, e);
    if (rc)
        return rc;
    uint64_t limit = (uint64_t)1 << (8 * row.elem_bytes - 1);
    for (size_t t = 0; row.elem_bytes < 8 && t < row.n; t++)
        if ((uint64_t)values[t] + limit >= 2 * limit)
            return cov_fail(e, COV_EINPUT, "index %zu: %lld does not fit in %zu bits", t,
                            (long long)values[t], 8 * row.elem_bytes);
    for (size_t j = 0; j < row.elem_bytes; j++)
        for (size_t t = 0; t < row.n; t++)
            planes[j * row.L + t] = (uint8_t)((uint64_t)values[t] >> 8 * j);
    return end_row(row, planes, out, e);
}

#define LITTLE_ENDIAN_HOST (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

typedef uint32_t words __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(16)));

static inline bytes load_bytes(const int32_t *depth, unsigned shift, bool minus)
{
    words w;
    memcpy(&w, depth, sizeof w);
    return (bytes)((minus ? __builtin_shufflevector(w, w, 3, 2, 1, 0) : w) >> shift);
}

static inline bytes every_other(bytes a, bytes b)
{
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

/* Sets plane[i] to byte number shift / 8 of depth[i], or of depth[n - 1 - i] for the - strand. */
static inline __attribute__((always_inline)) void
fill_plane(const int32_t *depth, size_t n, unsigned shift, bool minus, uint8_t *plane)
{
    size_t i = 0;
    for (; LITTLE_ENDIAN_HOST && i + 16 <= n; i += 16) {
        bytes four[4];
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++)
            four[k] = load_bytes(depth + i + 4 * (minus ? 3 - k : k), shift, minus);
        bytes all = every_other(every_other(four[0], four[1]), every_other(four[2], four[3]));
        memcpy(plane + (minus ? n - 16 - i : i), &all, sizeof all);
    }
    for (; i < n; i++)
        plane[minus ? n - 1 - i : i] = (uint8_t)((uint32_t)depth[i] >> shift);
}

int cov_coverage_encode_depth(struct cov_coverage_row row, const struct cov_depth_lane *lane,
                              bool minus, struct cov_blob *out, struct cov_err *e)
{
    uint8_t *planes;
    int rc = begin_row(row, out, &planes, e);
    if (rc)
        return rc;
    for (size_t j = 0; j < row.elem_bytes; j++) {
        uint8_t *plane = planes + j * row.L;
        unsigned shift = 8 * (unsigned)j;
        if (shift >= 32 || (uint32_t)lane->max >> shift == 0)
            memset(plane, 0, row.n);
        else if (minus)
            fill_plane(lane->depth, row.n, shift, true, plane);
        else
            fill_plane(lane->depth, row.n, shift, false, plane);
    }
    return end_row(row, planes, out, e);
}

int cov_coverage_decode_piece(struct cov_coverage_row row, struct cov_blob *pieces, size_t i,
                              int64_t *values, struct cov_err *e)
{
    struct cov_h5_rows rows = {
        .type = {COV_H5_INT, row.elem_bytes, true, false, '\0'},
        .dims = {1, row.L, 1},
        .chunked = true,
        .chunk = {1, row.L, 1},
    };
    rows.n_filters = cov_h5_filters(compression, row.elem_bytes, rows.filters);
    const uint8_t *elems = NULL;
    int rc = cov_h5_unpack(&rows, (struct cov_h5_block){0, 1, 0, 1}, pieces, i, &elems, e);
    return rc ? rc : cov_h5_to_int64(&rows.type, elems, row.n, values, e);
}

/* ---- reading ---- */

size_t cov_coverage_prefix_length(const char *name)
{
    static const char tail[] = "_coverage", spliced[] = "_spliced_coverage";
    size_t n = strlen(name), n_tail = sizeof tail - 1, n_spliced = sizeof spliced - 1;
    if (n <= n_tail || strcmp(name + n - n_tail, tail) != 0)
        return 0;
    if (n > n_spliced && strcmp(name + n - n_spliced, spliced) == 0)
        return 0;
    return n - n_tail;
}

static char *set_name(const char *prefix, int which, struct cov_err *e)
{
    return cov_strfmt(e, COV_COVERAGE_GROUP "/%s%s", prefix,
                      which == COV_SPLICED ? "_spliced_coverage" : "_coverage");
}

char *cov_coverage_files_name(const char *prefix, size_t n, struct cov_err *e)
{
    return cov_strfmt(e, COV_COVERAGE_GROUP "/%.*s_meta/bam_files", (int)n, prefix);
}

void cov_coverage_reader_close(struct cov_coverage_reader *r)
{
    if (!r)
        return;
    cov_chunk_file_close(r->file);
    for (size_t b = 0; b < r->n_columns; b++) {
        if (r->files)
            free(r->files[b]);
        if (r->settings)
            free(r->settings[b]);
    }
    free(r->files);
    free(r->settings);
    free(r->reads);
    free(r);
}

/* Finds a dataset of the file, unless it lacks it, and checks it. */
static int find_set(struct cov_coverage_reader *r, const char *name, int which, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(r->file);
    const struct cov_chunk_set *set = cov_chunk_head_set(head, name);
    if (!set)
        return COV_OK;
    const char *path = cov_h5_path(cov_chunk_file_h5(r->file));
    if (set->type.kind != COV_H5_INT)
        return cov_fail(e, COV_EINPUT, "%s: %s: the elements are not integers", path, name);
    if (set->rank != 3 || set->dims[0] != head->L || set->dims[1] > MAX_COLUMNS ||
        (which && set->dims[1] != r->n_columns))
        return cov_fail(e, COV_EINPUT, "%s: %s: rows of %zu x %zu elements do not fit the file",
                        path, name, set->dims[0], set->dims[1]);
    r->sets[which] = cov_chunk_file_set(r->file, (size_t)(set - head->sets));
    r->n_columns = set->dims[1];
    if (set->type.bytes > r->elem_bytes)
        r->elem_bytes = set->type.bytes;
    return COV_OK;
}

void cov_coverage_parse_note(const char *text, size_t n, double *values)
{
    for (size_t b = 0; b < n; b++) {
        size_t length = strcspn(text, "\n");
        char line[40];
        values[b] = 0;
        (void)snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : 0), text);
        if (cov_parse_double(line, "", 0, 1e18, &values[b], NULL))
            values[b] = 0;
        text += length + (text[length] == '\n');
    }
}

/* Reads the names of the columns from a list, which may be NULL, and the attributes `settings` and
 * COV_COVERAGE_READS, which have one line per column. Only files written by covtools have these. */
static int describe_columns(struct cov_coverage_reader *r, const char *set,
                            const struct cov_chunk_table *files, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(r->file);
    const char *settings = cov_chunk_head_attr(head, set, "settings"),
               *at = settings ? settings : "";
    const char *reads = cov_chunk_head_attr(head, set, COV_COVERAGE_READS);
    if (files && !cov_chunk_table_is_list(files, r->n_columns))
        return cov_fail(e, COV_EINPUT, "%s: %s: expected %zu file names",
                        cov_h5_path(cov_chunk_file_h5(r->file)), files->name, r->n_columns);
    r->files = cov_calloc(r->n_columns, sizeof *r->files, e);
    r->settings = cov_calloc(r->n_columns, sizeof *r->settings, e);
    r->reads = cov_calloc(r->n_columns, sizeof *r->reads, e);
    if (!r->files || !r->settings || !r->reads)
        return COV_ENOMEM;
    for (size_t b = 0; b < r->n_columns; b++) {
        size_t length = strcspn(at, "\n");
        r->files[b] = files ? cov_chunk_table_text(files, b, e) : cov_strdup("", e);
        r->settings[b] = cov_strndup(at, length, e);
        if (!r->files[b] || !r->settings[b])
            return COV_ENOMEM;
        at += length + (at[length] == '\n');
    }
    if (reads)
        cov_coverage_parse_note(reads, r->n_columns, r->reads);
    return COV_OK;
}

/* names[]: the datasets of coverage, and the list of files. */
static int open_reader(struct cov_coverage_reader *r, const char *path, const char *const names[3],
                       struct cov_err *e)
{
    const struct cov_chunk_wanted wanted = {true, names, 3};
    struct cov_h5 *h5;
    int rc = cov_h5_open(path, &h5, e);
    if (!rc)
        rc = cov_chunk_file_open_some(h5, &wanted, &r->file, e);
    if (!rc)
        rc = find_set(r, names[COV_COVERAGE], COV_COVERAGE, e);
    if (!rc && r->n_columns > 0)
        rc = find_set(r, names[COV_SPLICED], COV_SPLICED, e);
    return rc || r->n_columns == 0
               ? rc
               : describe_columns(r, names[COV_COVERAGE],
                                  cov_chunk_head_table(cov_chunk_file_head(r->file), names[2]), e);
}

int cov_coverage_reader_open(const char *path, const char *prefix, struct cov_coverage_reader **out,
                             struct cov_err *e)
{
    *out = NULL;
    struct cov_coverage_reader *r = cov_calloc(1, sizeof *r, e);
    char *names[] = {set_name(prefix, COV_COVERAGE, e), set_name(prefix, COV_SPLICED, e),
                     cov_coverage_files_name(prefix, strlen(prefix), e)};
    int rc = r && names[0] && names[1] && names[2]
                 ? open_reader(r, path, (const char *const *)names, e)
                 : COV_ENOMEM;
    for (size_t i = 0; i < COV_COUNT(names); i++)
        free(names[i]);
    if (rc)
        cov_coverage_reader_close(r);
    else
        *out = r;
    return rc;
}

int cov_coverage_fetch(struct cov_coverage_reader *r, size_t i, struct cov_blob *raw,
                       struct cov_err *e)
{
    int rc = COV_OK;
    for (int which = 0; !rc && which < COV_COVERAGE_SETS; which++)
        for (size_t b = 0; !rc && r->sets[which] && b < r->n_columns; b++)
            rc = cov_h5_set_fetch(r->sets[which], i, b, 1, raw, e);
    return rc;
}

int cov_coverage_decode(const struct cov_coverage_reader *r,
                        const struct cov_coverage_column *column, struct cov_blob *raw, size_t n,
                        int64_t *values, struct cov_err *e)
{
    if (!r->sets[column->which]) {
        memset(values, 0, n * sizeof *values);
        return COV_OK;
    }
    size_t piece = 0;
    for (int k = 0; k <= column->which; k++)
        for (size_t b = 0; b < (k < column->which ? r->n_columns : column->col); b++)
            piece += cov_h5_n_pieces(cov_h5_set_rows(r->sets[k]), b, 1);
    const struct cov_h5_rows *rows = cov_h5_set_rows(r->sets[column->which]);
    const struct cov_h5_block block = {column->row, 1, column->col, 1};
    const uint8_t *elems = NULL;
    int rc = cov_h5_unpack(rows, block, raw, piece, &elems, e);
    return rc ? rc : cov_h5_to_int64(&rows->type, elems, n, values, e);
}

/* ---- writing ---- */

struct cov_coverage_writer {
    struct cov_h5 *h5;
    struct cov_h5_set *sets[COV_COVERAGE_SETS];
    char *name; /* of the coverage. Owned */
    size_t n_columns;
};

static int write_files(struct cov_coverage_writer *w, const struct cov_coverage_options *o,
                       struct cov_err *e)
{
    static const struct cov_codec_choice none = {COV_CODEC_NONE, 0};
    char *name = cov_coverage_files_name(o->prefix, strlen(o->prefix), e);
    if (!name)
        return COV_ENOMEM;
    int rc = cov_h5_remove(w->h5, name, e);
    const struct cov_text_list files = {o->n_columns, cov_text_of_array, o->files};
    size_t width = cov_text_width(name, NAME_BYTES, &files);
    if (!rc)
        rc = cov_texts_write(w->h5, name, width, &files, o->n_columns, none, e);
    free(name);
    return rc;
}

static int create_set(struct cov_coverage_writer *w, const struct cov_coverage_options *o,
                      int which, const char *settings, struct cov_err *e)
{
    struct cov_h5_new spec = {
        .type = {COV_H5_INT, o->elem_bytes, true, false, '\0'},
        .rank = 3,
        .dims = {o->n_rows, o->L, o->n_columns},
        .unlimited = {true, false, true},
        .chunk = {1, o->L, 1},
        .fill = -1,
    };
    spec.n_filters = cov_h5_filters(compression, o->elem_bytes, spec.filters);
    char *name = set_name(o->prefix, which, e);
    if (!name)
        return COV_ENOMEM;
    int rc = cov_h5_remove(w->h5, name, e);
    if (!rc)
        rc = cov_h5_set_create(w->h5, name, &spec, &w->sets[which], e);
    if (!rc)
        rc = cov_h5_write_attr(w->h5, name, "settings", settings, e);
    free(name);
    return rc;
}

int cov_coverage_writer_new(const char *path, const struct cov_coverage_options *o,
                            struct cov_coverage_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_coverage_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    w->n_columns = o->n_columns;
    w->name = set_name(o->prefix, COV_COVERAGE, e);
    char *settings = cov_strjoin(o->settings, o->n_columns, "\n", e);
    int rc = w->name && settings ? cov_h5_open_to_change(path, &w->h5, e) : COV_ENOMEM;
    for (int which = 0; !rc && which < COV_COVERAGE_SETS; which++)
        rc = create_set(w, o, which, settings, e);
    if (!rc)
        rc = write_files(w, o, e);
    free(settings);
    if (rc)
        cov_coverage_writer_abort(w);
    else
        *out = w;
    return rc;
}

int cov_coverage_put(struct cov_coverage_writer *w, size_t i, const struct cov_blob *blob,
                     struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < COV_COVERAGE_SETS * w->n_columns; k++) {
        size_t n;
        const uint8_t *piece = cov_blob_piece(blob, k, &n);
        rc = cov_h5_set_put(w->sets[k / w->n_columns], (size_t[3]){i, 0, k % w->n_columns}, piece,
                            n, e);
    }
    return rc;
}

int cov_coverage_note(struct cov_coverage_writer *w, const char *name, const double *values,
                      struct cov_err *e)
{
    enum { BYTES = 32 };
    char *text = cov_malloc(w->n_columns, BYTES, e);
    size_t used = 0;
    if (!text)
        return COV_ENOMEM;
    for (size_t b = 0; b < w->n_columns; b++)
        used += (size_t)snprintf(text + used, BYTES, "%s%.*g", b > 0 ? "\n" : "",
                                 values[b] == floor(values[b]) ? 15 : 6, values[b]);
    int rc = cov_h5_write_attr(w->h5, w->name, name, text, e);
    free(text);
    return rc;
}

static void close_sets(struct cov_coverage_writer *w)
{
    for (int which = 0; which < COV_COVERAGE_SETS; which++)
        cov_h5_set_close(w->sets[which]);
}

int cov_coverage_writer_close(struct cov_coverage_writer *w, struct cov_err *e)
{
    close_sets(w);
    int rc = cov_h5_finish(w->h5, e);
    free(w->name);
    free(w);
    return rc;
}

void cov_coverage_writer_abort(struct cov_coverage_writer *w)
{
    if (!w)
        return;
    close_sets(w);
    cov_h5_close(w->h5);
    free(w->name);
    free(w);
}

/* ---- the store ---- */

/* At least one in every SAMPLED_OF pairs, and at least SAMPLE pairs in total, are read back. */
enum { SAMPLED_OF = 64, SAMPLE = 16 };

struct cov_stored_pair {
    int64_t at;             /* offset of the first piece; the others follow. -1: the pair was not
                             * put */
    uint32_t n_bytes[2][2]; /* [strand][set] */
    uint32_t elem_bytes;
    uint64_t hash;
};

int cov_coverage_store_init(struct cov_coverage_store *s, size_t n_pairs, size_t L,
                            size_t elem_bytes, const char *tmpdir, struct cov_err *e)
{
    memset(s, 0, sizeof *s);
    s->n_pairs = n_pairs;
    s->L = L;
    s->elem_bytes = elem_bytes;
    int rc = cov_spool_init(&s->spool, tmpdir, e);
    s->pairs = rc ? NULL : cov_calloc(n_pairs, sizeof *s->pairs, e);
    if (!s->pairs) {
        cov_coverage_store_fini(s);
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < n_pairs; i++)
        s->pairs[i].at = -1;
    return COV_OK;
}

void cov_coverage_store_fini(struct cov_coverage_store *s)
{
    if (s->spool.dir)
        cov_spool_fini(&s->spool);
    free(s->pairs);
    memset(s, 0, sizeof *s);
    s->spool.fd = -1;
}

bool cov_coverage_store_samples(const struct cov_coverage_store *s, size_t i)
{
    size_t step = s->n_pairs / SAMPLE;
    step = step < 1 ? 1 : step > SAMPLED_OF ? SAMPLED_OF : step;
    return i % step == 0 || i + 1 == s->n_pairs;
}

static inline uint64_t hash_value(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15;
    return h ^ h >> 32;
}

uint64_t cov_coverage_hash(uint64_t before, const int64_t *values, size_t n)
{
    uint64_t h = hash_value(before, n);
    for (size_t t = 0; t < n; t++)
        h = hash_value(h, (uint64_t)values[t]);
    return h;
}

static uint64_t hash_lane(uint64_t before, const struct cov_depth_lane *lane, size_t n, bool minus)
{
    uint64_t h = hash_value(before, n);
    for (size_t t = 0; t < n; t++)
        h = hash_value(h, lane->max > 0 ? (uint64_t)lane->depth[minus ? n - 1 - t : t] : 0);
    return h;
}

static uint64_t hash_lanes(const struct cov_pair *pair,
                           const struct cov_depth_lane lanes[COV_COVERAGE_SETS][2])
{
    uint64_t h = 0;
    for (int strand = COV_PLUS; strand <= COV_MINUS; strand++)
        for (int which = 0; which < COV_COVERAGE_SETS && pair->rows[strand] != COV_NO_ROW; which++)
            h = hash_lane(h, &lanes[which][strand], (size_t)(pair->end - pair->beg),
                          strand == COV_MINUS);
    return h;
}

uint64_t cov_coverage_store_hash(const struct cov_coverage_store *s, size_t i,
                                 const struct cov_pair *pair)
{
    static const struct cov_depth_lane zeros[COV_COVERAGE_SETS][2];
    return s->pairs[i].at >= 0 ? s->pairs[i].hash : hash_lanes(pair, zeros);
}

/* Adds a row of zeros. *zeros is the number of the piece of such a row, or SIZE_MAX before the
 * first one. */
static int pack_zeros(struct cov_coverage_row row, size_t *zeros, struct cov_blob *out,
                      struct cov_err *e)
{
    if (*zeros == SIZE_MAX) {
        *zeros = out->n_pieces;
        return cov_coverage_encode_depth(row, &(struct cov_depth_lane){NULL, 0}, false, out, e);
    }
    size_t n_bytes;
    uint8_t *to;
    (void)cov_blob_piece(out, *zeros, &n_bytes);
    int rc = cov_blob_room(out, n_bytes, &to, e);
    if (rc)
        return rc;
    memcpy(to, cov_blob_piece(out, *zeros, &n_bytes), n_bytes);
    return cov_blob_end_piece(out, n_bytes, e);
}

int cov_coverage_store_pack(const struct cov_coverage_store *s, size_t i,
                            const struct cov_pair *pair,
                            const struct cov_depth_lane lanes[COV_COVERAGE_SETS][2],
                            struct cov_packed_pair *out, struct cov_err *e)
{
    size_t zeros = SIZE_MAX;
    int rc = COV_OK;
    cov_blob_clear(&out->blob);
    out->elem_bytes = s->elem_bytes;
    for (int k = 0; k < 2 * COV_COVERAGE_SETS; k++)
        if (lanes[k / 2][k % 2].max > INT16_MAX && out->elem_bytes < 4)
            out->elem_bytes = 4;
    const struct cov_coverage_row row = {(size_t)(pair->end - pair->beg), s->L, out->elem_bytes};
    for (int k = 0; !rc && k < 2 * COV_COVERAGE_SETS; k++) {
        int strand = k / COV_COVERAGE_SETS;
        const struct cov_depth_lane *lane = &lanes[k % COV_COVERAGE_SETS][strand];
        if (pair->rows[strand] == COV_NO_ROW)
            rc = cov_blob_end_piece(&out->blob, 0, e);
        else if (lane->max == 0)
            rc = pack_zeros(row, &zeros, &out->blob, e);
        else
            rc = cov_coverage_encode_depth(row, lane, strand == COV_MINUS, &out->blob, e);
    }
    if (!rc)
        out->hash = cov_coverage_store_samples(s, i) ? hash_lanes(pair, lanes) : 0;
    return rc;
}

int cov_coverage_store_put(struct cov_coverage_store *s, size_t i,
                           const struct cov_packed_pair *packed, struct cov_err *e)
{
    struct cov_stored_pair *p = &s->pairs[i];
    for (size_t k = 0; k < packed->blob.n_pieces; k++) {
        size_t n;
        (void)cov_blob_piece(&packed->blob, k, &n);
        p->n_bytes[k / COV_COVERAGE_SETS][k % COV_COVERAGE_SETS] = (uint32_t)n;
    }
    p->elem_bytes = (uint32_t)packed->elem_bytes;
    p->hash = packed->hash;
    return cov_spool_append(&s->spool, packed->blob.data, packed->blob.n_bytes, &p->at, e);
}

bool cov_coverage_store_is_ready(const struct cov_coverage_store *s, size_t elem_bytes)
{
    for (size_t i = 0; i < s->n_pairs; i++)
        if (s->pairs[i].at >= 0 && s->pairs[i].elem_bytes != elem_bytes)
            return false;
    return true;
}

static int read_piece(const struct cov_coverage_store *s, const struct cov_stored_row *row,
                      struct cov_blob *out, struct cov_err *e)
{
    const struct cov_stored_pair *p = &s->pairs[row->pair];
    int64_t at = p->at;
    for (int k = 0; k < row->strand * COV_COVERAGE_SETS + row->which; k++)
        at += p->n_bytes[k / COV_COVERAGE_SETS][k % COV_COVERAGE_SETS];
    size_t n = p->n_bytes[row->strand][row->which];
    uint8_t *to;
    int rc = cov_blob_room(out, n, &to, e);
    if (!rc)
        rc = cov_spool_read(&s->spool, at, to, n, e);
    return rc ? rc : cov_blob_end_piece(out, n, e);
}

int cov_coverage_store_get(const struct cov_coverage_store *s, const struct cov_stored_row *row,
                           size_t elem_bytes, struct cov_coverage_scratch *scratch,
                           struct cov_blob *out, struct cov_err *e)
{
    const struct cov_stored_pair *p = &s->pairs[row->pair];
    const struct cov_coverage_row wanted = {row->n, s->L, elem_bytes};
    if (p->at < 0)
        return cov_coverage_encode_depth(wanted, &(struct cov_depth_lane){NULL, 0}, false, out, e);
    if (p->elem_bytes == elem_bytes)
        return read_piece(s, row, out, e);
    const struct cov_coverage_row stored = {row->n, s->L, p->elem_bytes};
    cov_blob_clear(&scratch->blob);
    int rc = read_piece(s, row, &scratch->blob, e);
    if (!rc)
        rc = cov_coverage_decode_piece(stored, &scratch->blob, 0, scratch->values, e);
    return rc ? rc : cov_coverage_encode(wanted, scratch->values, out, e);
}
