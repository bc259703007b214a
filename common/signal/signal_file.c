/* signal_file.c - see signal_file.h.
 *
 * A stream and a file of chunks have a head, so that all that describes the datasets is the same for
 * both. Only rows are read and decoded in two ways: from a file, only the columns that are wanted.
 * SPDX-License-Identifier: MIT */
#include "common/signal/signal_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/chunk/bases.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/chunk_table.h"
#include "common/chunk/coverage_file.h"
#include "common/chunk/predictions.h"
#include "common/chunk/stream.h"
#include "common/file/bgz.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/h5/h5_rows.h"

/* A file with more is damaged. */
enum { MAX_DATASETS = 4096 };

#define GROUP COV_COVERAGE_GROUP

static int fail_names(const char *table, size_t n, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s: not the names of %zu columns", table, n);
}

/* ---- opening a file ---- */

/* Explains that the file does not have the signal of this kind. In a message, what cannot be read may
 * count as missing. */
static int fail_kind(const struct cov_h5 *h5, enum cov_signal_kind kind, struct cov_err *e)
{
    const char *name = cov_h5_path(h5);
    const bool is_genome = cov_bases_are_in(h5, NULL) > 0;
    const bool predicted = cov_h5_has(h5, COV_PREDICTIONS_SET, NULL) > 0;
    const bool measured = cov_h5_has(h5, GROUP, NULL) > 0;
    if (kind == COV_SIGNAL_PREDICTED && !is_genome)
        return cov_fail(e, COV_EINPUT, "%s: no dataset " COV_PREDICTIONS_SET, name);
    if (kind == COV_SIGNAL_PREDICTED)
        return cov_fail(e, COV_EINPUT, "%s: a genome file%s, not a predictions file", name,
                        measured ? " with measured coverage (use --experimental)" : "");
    return cov_fail(e, COV_EINPUT,
                    "%s: a %sfile without measured coverage (" GROUP "/<name>_coverage)%s", name,
                    predicted   ? "predictions "
                    : is_genome ? "genome "
                                : "",
                    is_genome && !predicted ? "; bam2h5 adds it" : "");
}

/* Opens the datasets names[0..n) of h5, which s->file owns afterwards. */
static int open_sets(struct cov_signal *s, struct cov_h5 *h5, const char *const *names, size_t n,
                     struct cov_err *e)
{
    const struct cov_chunk_wanted wanted = {.names = names, .n_names = n};
    int rc = cov_chunk_file_open_some(h5, &wanted, &s->file, e);
    if (rc)
        return rc;
    s->h5 = cov_chunk_file_h5(s->file);
    s->name = cov_h5_path(s->h5);
    s->head = cov_chunk_file_head(s->file);
    s->grid = cov_chunk_file_grid(s->file);
    return COV_OK;
}

/* Lists the datasets of measured coverage, and the lists of the files that were counted: *n names, and
 * *n_sets of coverage. Free with cov_h5_free_names. */
static int list_measured(const struct cov_h5 *h5, char ***names, size_t *n, size_t *n_sets,
                         struct cov_err *e)
{
    char **links;
    size_t n_links;
    *n = *n_sets = 0;
    int rc = cov_h5_list(h5, GROUP, &links, &n_links, e);
    *names = rc ? NULL : cov_calloc(2 * n_links, sizeof **names, e);
    if (!rc && !*names)
        rc = COV_ENOMEM;
    for (size_t i = 0; !rc && i < n_links; i++) {
        const size_t length = cov_coverage_prefix_length(links[i]);
        if (length == 0)
            continue;
        (*n_sets)++;
        (*names)[(*n)++] = cov_strfmt(e, GROUP "/%s", links[i]);
        (*names)[(*n)++] = cov_coverage_files_name(links[i], length, e);
        rc = (*names)[*n - 2] && (*names)[*n - 1] ? COV_OK : COV_ENOMEM;
    }
    cov_h5_free_names(links, n_links);
    return rc;
}

static int open_measured(struct cov_signal *s, struct cov_h5 *h5, struct cov_err *e)
{
    char **names;
    size_t n, n_sets;
    int rc = list_measured(h5, &names, &n, &n_sets, e);
    if (!rc && n_sets == 0)
        rc = fail_kind(h5, COV_SIGNAL_MEASURED, e);
    if (rc)
        cov_h5_close(h5);
    else
        rc = open_sets(s, h5, (const char *const *)names, n, e);
    cov_h5_free_names(names, n);
    return rc;
}

static int open_file(struct cov_signal *s, const char *path, enum cov_signal_kind kind,
                     struct cov_err *e)
{
    static const char *const predicted[] = {COV_PREDICTIONS_SET, COV_PREDICTIONS_DATASETS};
    const bool is_predicted = kind == COV_SIGNAL_PREDICTED;
    struct cov_h5 *h5;
    int rc = cov_h5_open(path, &h5, e);
    if (rc)
        return rc;
    rc = cov_chunk_table_expect(h5, is_predicted ? COV_PREDICTIONS_SET : "data/X", e);
    int found = !rc && is_predicted ? cov_h5_has(h5, COV_PREDICTIONS_SET, e) : 1;
    if (!rc && found < 1)
        rc = found ? found : fail_kind(h5, kind, e);
    if (!rc)
        return is_predicted ? open_sets(s, h5, predicted, COV_COUNT(predicted), e)
                            : open_measured(s, h5, e);
    cov_h5_close(h5);
    return rc;
}

/* ---- opening a stream ---- */

static bool holds(const struct cov_chunk_head *head, enum cov_signal_kind kind)
{
    struct cov_signal_part *parts;
    size_t n;
    if (cov_signal_find_parts(head, kind, &parts, &n, NULL))
        return false;
    cov_signal_free_parts(parts, n);
    return true;
}

/* Returns what a stream is whose datasets are not those of this kind. */
static const char *other_kind(const struct cov_chunk_head *head, enum cov_signal_kind kind)
{
    if (kind == COV_SIGNAL_PREDICTED)
        return holds(head, COV_SIGNAL_MEASURED)
                   ? ": a genome with measured coverage, not predictions"
               : head->has_bases ? ": a genome, not predictions"
                                 : "";
    return holds(head, COV_SIGNAL_PREDICTED) ? ": predictions, not measured coverage" : "";
}

static int open_stream(struct cov_signal *s, struct cov_bgz *in, struct cov_err *e)
{
    int rc = cov_stream_open(in, &s->records, e);
    if (rc)
        return rc;
    s->head = cov_stream_head(s->records);
    s->name = cov_stream_name(s->records);
    return COV_OK;
}

/* Regular files are detected by content; everything else that is not a directory must be a stream. */
static bool is_stream(const char *path)
{
    struct stat st;
    struct cov_bgz *b;
    bool yes = false;
    if (cov_path_is_std(path))
        return true;
    if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return false;
    if (!S_ISREG(st.st_mode))
        return true;
    /* The next call to open it reports the error. */
    if (st.st_size == 0 || cov_bgz_open_read(path, 1, &b, NULL))
        return false;
    if (cov_stream_is(b, &yes, NULL))
        yes = false;
    cov_bgz_abort(b);
    return yes;
}

static int open_signal(struct cov_signal *s, const char *path, struct cov_bgz *in,
                       enum cov_signal_kind kind, struct cov_err *e)
{
    int rc = !in && is_stream(path) ? cov_bgz_open_read(path, 1, &in, e) : COV_OK;
    if (rc)
        return rc;
    rc = in ? open_stream(s, in, e) : open_file(s, path, kind, e);
    if (rc)
        return rc;
    s->has_gaps = kind == COV_SIGNAL_PREDICTED &&
                  cov_chunk_head_attr(s->head, COV_PREDICTIONS_SET, COV_PREDICTIONS_OUTSIDE_ATTR);
    rc = cov_signal_find_parts(s->head, kind, &s->parts, &s->n_parts, e);
    if (rc == COV_EINPUT)
        (void)cov_err_prefix(e, rc, "%s%s", s->name, in ? other_kind(s->head, kind) : "");
    return rc;
}

int cov_signal_open(const char *path, struct cov_bgz *in, enum cov_signal_kind kind,
                    struct cov_signal **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_signal *s = cov_calloc(1, sizeof *s, e);
    if (!s) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    int rc = open_signal(s, path, in, kind, e);
    if (rc)
        cov_signal_close(s);
    else
        *out = s;
    return rc;
}

void cov_signal_close(struct cov_signal *s)
{
    if (!s)
        return;
    cov_signal_free_parts(s->parts, s->n_parts);
    cov_chunk_file_close(s->file);
    cov_stream_close(s->records);
    free(s);
}

bool cov_signal_is_float(const struct cov_signal *s, size_t k)
{
    return s->head->sets[s->parts[k].set].type.kind == COV_H5_FLOAT;
}

/* ---- rows ---- */

int cov_signal_fetch(struct cov_signal *s, size_t i, const size_t *ks, size_t n_ks,
                     struct cov_blob *raw, struct cov_err *e)
{
    cov_blob_clear(raw);
    int rc = COV_OK;
    for (size_t j = 0; !rc && j < n_ks; j++) {
        const struct cov_signal_part *d = &s->parts[ks[j]];
        rc = cov_h5_set_fetch(cov_chunk_file_set(s->file, d->set), i, d->col, d->n_cols, raw, e);
    }
    return rc;
}

/* Sets each of values[0..n) to the mean of the next n_cols elements. */
static void take_means(const struct cov_h5_type *type, const uint8_t *elems, size_t n,
                       size_t n_cols, float *values)
{
    enum { TILE = 512 };
    double tile[TILE], sum = 0;
    size_t n_elems = n * n_cols, col = 0;
    for (size_t beg = 0; beg < n_elems; beg += TILE) {
        size_t m = n_elems - beg < TILE ? n_elems - beg : TILE;
        cov_h5_to_double(type, elems + beg * type->bytes, m, tile);
        if (n_cols == 1) {
            for (size_t j = 0; j < m; j++)
                values[beg + j] = (float)tile[j];
            continue;
        }
        for (size_t j = 0; j < m; j++) {
            sum += tile[j];
            if (++col < n_cols)
                continue;
            *values++ = (float)(sum / (double)n_cols);
            col = 0;
            sum = 0;
        }
    }
}

/* The same for only some of the columns. Gathers their elements, a few rows at a time. */
static void take_some(const struct cov_signal_columns *c, const uint8_t *elems, size_t n,
                      float *values)
{
    uint8_t some[4096];
    size_t row = c->n_columns * c->type->bytes, part = c->n_cols * c->type->bytes;
    if (part > sizeof some) {
        for (size_t t = 0; t < n; t++)
            take_means(c->type, elems + t * row, 1, c->n_cols, values + t);
        return;
    }
    for (size_t beg = 0, m; beg < n; beg += m) {
        m = n - beg < sizeof some / part ? n - beg : sizeof some / part;
        for (size_t t = 0; t < m; t++)
            memcpy(some + t * part, elems + (beg + t) * row, part);
        take_means(c->type, some, m, c->n_cols, values + beg);
    }
}

size_t cov_signal_means(const struct cov_signal_columns *c, const uint8_t *elems, size_t length,
                        size_t L, float *values)
{
    for (size_t t = length; t < L; t++)
        values[t] = COV_SIGNAL_PAD;
    if (c->n_columns == 1 && cov_h5_to_float(c->type, elems, length, values))
        return length;
    if (c->n_cols == c->n_columns)
        take_means(c->type, elems, length, c->n_cols, values);
    else
        take_some(c, elems + c->col * c->type->bytes, length, values);
    size_t t = cov_count_valid(values, length);
    while (c->gaps && t < length && values[t] == COV_SIGNAL_PAD) {
        t++;
        t += cov_count_valid(values + t, length - t);
    }
    return t;
}

int cov_signal_decode_row(const struct cov_signal *s, size_t i, const size_t *ks, size_t n_ks,
                          struct cov_blob *raw, float *values, struct cov_err *e)
{
    size_t L = cov_grid_chunk_length(s->grid), first_piece = 0;
    struct cov_chunk chunk = cov_grid_chunk(s->grid, i);
    size_t length = (size_t)(chunk.end - chunk.beg);
    char row[COV_ROW_TEXT_BYTES];
    for (size_t j = 0; j < n_ks; j++, values += L) {
        const struct cov_signal_part *d = &s->parts[ks[j]];
        const struct cov_h5_rows *r = cov_h5_set_rows(cov_chunk_file_set(s->file, d->set));
        const uint8_t *elems = NULL;
        int rc = cov_h5_unpack(r, (struct cov_h5_block){i, 1, d->col, d->n_cols}, raw, first_piece,
                               &elems, e);
        if (rc)
            return cov_err_prefix(e, rc, "%s: %s: %s", s->name, d->name,
                                  cov_row_text(s->grid, i, row));
        first_piece += cov_h5_n_pieces(r, d->col, d->n_cols);
        const struct cov_signal_columns columns = {&r->type, d->n_cols, 0, d->n_cols, s->has_gaps};
        size_t good = cov_signal_means(&columns, elems, length, L, values);
        if (good < length)
            return cov_fail(e, COV_EINPUT, "%s: %s: %s, index %zu: %g is not a valid coverage",
                            s->name, d->name, cov_row_text(s->grid, i, row), good,
                            (double)values[good]);
    }
    return COV_OK;
}

/* ---- pairs of a stream ---- */

/* Allocates rows[strand * n_sets + set] in *scratch for the wanted sets and strands. The other rows
 * stay NULL. */
static int place_rows(const struct cov_signal *s, const bool *wanted, struct cov_blob *scratch,
                      float *const values[2], uint8_t **rows, struct cov_err *e)
{
    size_t n_sets = s->head->n_sets, n = 0;
    uint8_t *at;
    for (size_t i = 0; i < 2 * n_sets; i++)
        if (wanted[i % n_sets] && values[i / n_sets] &&
            cov_size_add(n, cov_chunk_set_row_bytes(&s->head->sets[i % n_sets]), &n))
            return cov_fail(e, COV_ENOMEM, "%s: rows are too long", s->name);
    cov_blob_clear(scratch);
    int rc = cov_blob_room(scratch, n, &at, e);
    for (size_t i = 0; i < 2 * n_sets && !rc; i++)
        if (wanted[i % n_sets] && values[i / n_sets]) {
            rows[i] = at;
            at += cov_chunk_set_row_bytes(&s->head->sets[i % n_sets]);
        }
    return rc;
}

/* Positions per step. All datasets are decoded from one tile of the rows before the next tile, so
 * that rows are read from memory only once. */
enum { TILE = 128 };

/* Decodes positions [beg, end) of dataset d from its row. Returns the first position without a
 * valid coverage, or `end`. */
static size_t take_values(const struct cov_signal *s, const struct cov_signal_part *d,
                          const uint8_t *elems, size_t beg, size_t end, float *values)
{
    const struct cov_chunk_set *set = &s->head->sets[d->set];
    const struct cov_signal_columns columns = {&set->type, set->dims[1], d->col, d->n_cols,
                                               s->has_gaps};
    return beg + cov_signal_means(&columns, elems + beg * set->dims[1] * set->type.bytes, end - beg,
                                  end - beg, values + beg);
}

int cov_signal_decode_pair(const struct cov_signal *s, const char *sequence,
                           const struct cov_blob *record, const struct cov_signal_output *out,
                           struct cov_blob *scratch, struct cov_err *e)
{
    size_t L = s->head->L, n_sets = s->head->n_sets, n = 0;
    struct cov_stream_pair pair;
    uint8_t **rows = cov_calloc(2 * n_sets, sizeof *rows, e);
    bool *wanted = cov_calloc(n_sets, sizeof *wanted, e);
    for (size_t j = 0; j < out->n_ks && wanted; j++)
        wanted[s->parts[out->ks[j]].set] = true;
    int rc = rows && wanted ? place_rows(s, wanted, scratch, out->values, rows, e) : COV_ENOMEM;
    if (!rc) {
        uint8_t *const *const elems[2] = {out->values[0] ? rows : NULL,
                                          out->values[1] ? rows + n_sets : NULL};
        rc = cov_stream_unpack(s->head, s->name, record, &pair, NULL, elems, e);
        n = rc ? 0 : (size_t)(pair.end - pair.beg);
    }
    for (size_t i = 0, beg, end; i < n / TILE + (n % TILE > 0) && !rc; i++) {
        beg = i * TILE;
        end = n - beg < TILE ? n : beg + TILE;
        for (size_t j = 0; j < 2 * out->n_ks && !rc; j++) {
            const struct cov_signal_part *d = &s->parts[out->ks[j / 2]];
            size_t strand = j % 2 ? COV_MINUS : COV_PLUS;
            if (!out->values[strand])
                continue;
            float *x = out->values[strand] + j / 2 * L;
            size_t t = take_values(s, d, rows[strand * n_sets + d->set], beg, end, x);
            if (t < end)
                rc = cov_fail(
                    e, COV_EINPUT,
                    "%s: %s: %s:%lld-%lld, %c strand, index %zu: %g is not a valid coverage",
                    s->name, d->name, sequence, (long long)pair.beg + 1, (long long)pair.end,
                    strand == COV_PLUS ? '+' : '-', t, (double)x[t]);
            for (t = n; end == n && t < L; t++)
                x[t] = COV_SIGNAL_PAD;
        }
    }
    free(wanted);
    free(rows);
    return rc;
}

/* ---- datasets in a head ---- */

void cov_signal_free_parts(struct cov_signal_part *parts, size_t n)
{
    for (size_t i = 0; parts && i < n; i++)
        free(parts[i].name);
    free(parts);
}

static int check_set(const struct cov_chunk_head *h, const struct cov_chunk_set *s,
                     struct cov_err *e)
{
    if (s->type.kind == COV_H5_STRING || s->rank != 3)
        return cov_fail(e, COV_EINPUT, "%s: not a matrix of numbers per chunk", s->name);
    if (s->dims[0] != h->L)
        return cov_fail(e, COV_EINPUT, "%s: rows of %zu positions, but chunks have %zu", s->name,
                        s->dims[0], h->L);
    return COV_OK;
}

static int predicted_parts(const struct cov_chunk_head *h, struct cov_signal_part *parts, size_t *n,
                           struct cov_err *e)
{
    const struct cov_chunk_set *set = cov_chunk_head_set(h, COV_PREDICTIONS_SET);
    const struct cov_chunk_table *names = cov_chunk_head_table(h, COV_PREDICTIONS_DATASETS);
    if (!set || !names)
        return cov_fail(e, COV_EINPUT, "no dataset %s",
                        set ? COV_PREDICTIONS_DATASETS : COV_PREDICTIONS_SET);
    int rc = check_set(h, set, e);
    if (rc)
        return rc;
    if (!cov_chunk_table_is_list(names, set->dims[1]))
        return fail_names(names->name, set->dims[1], e);
    for (size_t k = 0; k < set->dims[1]; k++) {
        parts[k] = (struct cov_signal_part){cov_chunk_table_text(names, k, e),
                                            (size_t)(set - h->sets), k, 1};
        if (!parts[k].name)
            return COV_ENOMEM;
        *n = k + 1;
        if (!parts[k].name[0])
            return cov_fail(e, COV_EINPUT, COV_PREDICTIONS_DATASETS ": name %zu is empty", k);
        for (size_t j = 0; j < k; j++)
            if (strcmp(parts[j].name, parts[k].name) == 0)
                return cov_fail(e, COV_EINPUT, COV_PREDICTIONS_DATASETS ": duplicate name %s",
                                parts[k].name);
    }
    return COV_OK;
}

/* Moves the last of n parts to its position in the order of set names. */
static void sort_last(const struct cov_chunk_head *h, struct cov_signal_part *parts, size_t n)
{
    struct cov_signal_part last = parts[n - 1];
    size_t i = n - 1;
    for (; i > 0 && strcmp(h->sets[parts[i - 1].set].name, h->sets[last.set].name) > 0; i--)
        parts[i] = parts[i - 1];
    parts[i] = last;
}

static int measured_parts(const struct cov_chunk_head *h, struct cov_signal_part *parts, size_t *n,
                          struct cov_err *e)
{
    static const char group[] = GROUP "/";
    for (size_t k = 0; k < h->n_sets; k++) {
        const struct cov_chunk_set *s = &h->sets[k];
        const char *name = s->name + sizeof group - 1;
        if (strncmp(s->name, group, sizeof group - 1) != 0 || cov_coverage_prefix_length(name) == 0)
            continue;
        int rc = check_set(h, s, e);
        if (rc)
            return rc;
        parts[*n] = (struct cov_signal_part){NULL, k, 0, s->dims[1]};
        parts[*n].name = cov_strndup(name, cov_coverage_prefix_length(name), e);
        if (!parts[*n].name)
            return COV_ENOMEM;
        sort_last(h, parts, ++*n);
    }
    if (*n == 0)
        return cov_fail(e, COV_EINPUT,
                        "no measured coverage (" GROUP "/<name>_coverage); bam2h5 adds it");
    return COV_OK;
}

int cov_signal_find_parts(const struct cov_chunk_head *head, enum cov_signal_kind kind,
                          struct cov_signal_part **parts, size_t *n, struct cov_err *e)
{
    const struct cov_chunk_set *p = cov_chunk_head_set(head, COV_PREDICTIONS_SET);
    size_t cap = kind == COV_SIGNAL_MEASURED ? head->n_sets : p ? p->dims[1] : 0;
    *parts = NULL;
    *n = 0;
    if (cap > MAX_DATASETS)
        return cov_fail(e, COV_EINPUT, COV_PREDICTIONS_SET ": %zu columns are too many", cap);
    struct cov_signal_part *list = cov_calloc(cap, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    int rc = kind == COV_SIGNAL_PREDICTED ? predicted_parts(head, list, n, e)
                                          : measured_parts(head, list, n, e);
    if (rc) {
        cov_signal_free_parts(list, *n);
        *n = 0;
        return rc;
    }
    *parts = list;
    return COV_OK;
}

/* ---- columns as datasets ---- */

/* Fills stems[n] with the names of the columns' files, without directory and suffix. *differ: they can
 * tell the columns apart. */
static int find_stems(const struct cov_chunk_table *files, char **stems, size_t n, bool *differ,
                      struct cov_err *e)
{
    *differ = true;
    for (size_t i = 0; i < n; i++) {
        char *path = cov_chunk_table_text(files, i, e);
        stems[i] = path ? cov_path_stem(path, e) : NULL;
        free(path);
        if (!stems[i])
            return COV_ENOMEM;
        *differ = *differ && stems[i][0];
        for (size_t k = 0; k < i; k++)
            *differ = *differ && strcmp(stems[i], stems[k]) != 0;
    }
    return COV_OK;
}

/* Appends the columns of part k to the list. `files` may be NULL. */
static int split_part(struct cov_signal *s, size_t k, const struct cov_chunk_table *files,
                      struct cov_err *e)
{
    const size_t n_cols = s->parts[k].n_cols;
    if (files && !cov_chunk_table_is_list(files, n_cols))
        return fail_names(files->name, n_cols, e);
    struct cov_signal_part *list = cov_realloc(s->parts, s->n_parts + n_cols, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    s->parts = list;
    char **stems = cov_calloc(n_cols, sizeof(char *), e);
    bool differ = false;
    int rc = stems ? COV_OK : COV_ENOMEM;
    if (!rc && files)
        rc = find_stems(files, stems, n_cols, &differ, e);
    for (size_t i = 0; !rc && i < n_cols; i++) {
        char *name = differ ? cov_strfmt(e, "%s_%s", list[k].name, stems[i])
                            : cov_strfmt(e, "%s_%zu", list[k].name, i + 1);
        if (name)
            list[s->n_parts++] = (struct cov_signal_part){name, list[k].set, list[k].col + i, 1};
        else
            rc = COV_ENOMEM;
    }
    for (size_t i = 0; stems && i < n_cols; i++)
        free(stems[i]);
    free(stems);
    return rc;
}

int cov_signal_split(struct cov_signal *s, size_t k, struct cov_err *e)
{
    const char *prefix = s->parts[k].name;
    char *name = cov_coverage_files_name(prefix, strlen(prefix), e);
    int rc = name ? COV_OK : COV_ENOMEM;
    if (!rc) {
        rc = split_part(s, k, cov_chunk_head_table(s->head, name), e);
        if (rc)
            rc = cov_err_prefix(e, rc, "%s", s->name);
    }
    free(name);
    return rc;
}
