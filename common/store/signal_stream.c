/* signal_stream.c - see signal_stream.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/signal_stream.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bgz.h"
#include "common/base/mem.h"
#include "common/seq/grid.h"
#include "common/store/signal_values.h"

#define PREDICTIONS "prediction/predictions"
#define DATASETS "prediction/datasets"
#define GROUP "evaluation/"

struct dataset {
    char *name;
    size_t set; /* of the head */
    size_t col, n_cols;
};

struct cov_signal_stream {
    struct cov_stream *records;
    const struct cov_chunk_head *head; /* borrowed from the records */
    struct dataset *datasets;
    size_t n_datasets;
};

/* A data set of positions, as wide as the chunks. */
static int check_set(const struct cov_signal_stream *s, const struct cov_chunk_set *set,
                     struct cov_err *e)
{
    if (set->type.kind == COV_H5_STRING)
        return cov_fail(e, COV_EINPUT, "%s: %s: the elements are not numbers",
                        cov_signal_stream_name(s), set->name);
    if (set->rank != 3 || set->dims[0] != s->head->L || set->dims[1] == 0)
        return cov_fail(e, COV_EINPUT, "%s: %s: %zu x %zu elements a row, where chunks have %zu",
                        cov_signal_stream_name(s), set->name, set->dims[0], set->dims[1],
                        s->head->L);
    return COV_OK;
}

static int add_dataset(struct cov_signal_stream *s, const char *name, size_t n_name, size_t set,
                       size_t col, size_t n_cols, struct cov_err *e)
{
    struct dataset *d = &s->datasets[s->n_datasets++];
    *d = (struct dataset){cov_strndup(name, n_name, e), set, col, n_cols};
    return d->name ? COV_OK : COV_ENOMEM;
}

static bool has_set(const struct cov_signal_stream *s, const char *name, size_t *k)
{
    for (*k = 0; *k < s->head->n_sets; (*k)++)
        if (strcmp(s->head->sets[*k].name, name) == 0)
            return true;
    return false;
}

/* The length of the prefix of measured coverage, or 0. */
static size_t measured_prefix(const struct cov_chunk_set *set)
{
    size_t n = sizeof GROUP - 1;
    return strncmp(set->name, GROUP, n) == 0 ? cov_signal_prefix(set->name + n) : 0;
}

static size_t count_measured(const struct cov_signal_stream *s)
{
    size_t n = 0;
    for (size_t k = 0; k < s->head->n_sets; k++)
        n += measured_prefix(&s->head->sets[k]) > 0;
    return n;
}

static size_t text_length(const struct cov_h5_type *type, const char *text)
{
    size_t n = type->bytes;
    while (n > 0 && (text[n - 1] == '\0' || text[n - 1] == type->padding))
        n--;
    const char *zero = memchr(text, '\0', n);
    return zero ? (size_t)(zero - text) : n;
}

static int find_predicted(struct cov_signal_stream *s, struct cov_err *e)
{
    const char *stream = cov_signal_stream_name(s);
    size_t k;
    if (!has_set(s, PREDICTIONS, &k))
        return cov_fail(e, COV_EINPUT, "%s: no predictions, but a genome%s", stream,
                        count_measured(s) ? " with measured coverage" : "");
    const struct cov_chunk_set *set = &s->head->sets[k];
    const struct cov_chunk_table *names = cov_chunk_head_table(s->head, DATASETS);
    int rc = check_set(s, set, e);
    if (rc)
        return rc;
    size_t n = set->dims[1];
    if (!names || names->type.kind != COV_H5_STRING || names->rank != 1 || names->dims[0] != n ||
        names->type.bytes == 0)
        return cov_fail(e, COV_EINPUT, "%s: " DATASETS ": no list of %zu names", stream, n);
    s->datasets = cov_calloc(n, sizeof *s->datasets, e);
    if (!s->datasets)
        return COV_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++) {
        const char *name = (const char *)names->elems + i * names->type.bytes;
        size_t n_name = text_length(&names->type, name);
        rc = n_name ? add_dataset(s, name, n_name, k, i, 1, e)
                    : cov_fail(e, COV_EINPUT, "%s: " DATASETS ": name %zu is empty", stream, i);
        for (size_t j = 0; !rc && j < i; j++)
            if (strcmp(s->datasets[j].name, s->datasets[i].name) == 0)
                rc = cov_fail(e, COV_EINPUT, "%s: " DATASETS ": %s is there twice", stream,
                              s->datasets[i].name);
    }
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct dataset *)a)->name, ((const struct dataset *)b)->name);
}

static int find_measured(struct cov_signal_stream *s, struct cov_err *e)
{
    size_t n = count_measured(s), k;
    if (n == 0)
        return cov_fail(
            e, COV_EINPUT, "%s: %s without measured coverage (" GROUP "<name>_coverage)",
            cov_signal_stream_name(s), has_set(s, PREDICTIONS, &k) ? "predictions" : "a genome");
    s->datasets = cov_calloc(n, sizeof *s->datasets, e);
    int rc = s->datasets ? COV_OK : COV_ENOMEM;
    for (k = 0; k < s->head->n_sets && !rc; k++) {
        const struct cov_chunk_set *set = &s->head->sets[k];
        size_t n_prefix = measured_prefix(set);
        if (n_prefix == 0)
            continue;
        rc = check_set(s, set, e);
        if (!rc)
            rc = add_dataset(s, set->name + sizeof GROUP - 1, n_prefix, k, 0, set->dims[1], e);
    }
    if (!rc)
        qsort(s->datasets, s->n_datasets, sizeof *s->datasets, by_name);
    return rc;
}

int cov_signal_stream_open(const char *path, enum cov_signal_kind kind,
                           struct cov_signal_stream **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_bgz *in;
    struct cov_signal_stream *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return COV_ENOMEM;
    int rc = cov_bgz_open_read(path, 1, &in, e);
    if (!rc)
        rc = cov_stream_open(in, &s->records, e);
    if (!rc) {
        s->head = cov_stream_head(s->records);
        rc = kind == COV_SIGNAL_PREDICTED ? find_predicted(s, e) : find_measured(s, e);
    }
    if (rc)
        cov_signal_stream_close(s);
    else
        *out = s;
    return rc;
}

void cov_signal_stream_close(struct cov_signal_stream *s)
{
    if (!s)
        return;
    for (size_t k = 0; k < s->n_datasets; k++)
        free(s->datasets[k].name);
    free(s->datasets);
    cov_stream_close(s->records);
    free(s);
}

struct cov_stream *cov_signal_stream_records(const struct cov_signal_stream *s)
{
    return s->records;
}

const char *cov_signal_stream_name(const struct cov_signal_stream *s)
{
    return cov_stream_name(s->records);
}

size_t cov_signal_stream_chunk_length(const struct cov_signal_stream *s)
{
    return s->head->L;
}

size_t cov_signal_stream_n_datasets(const struct cov_signal_stream *s)
{
    return s->n_datasets;
}

const char *cov_signal_stream_dataset(const struct cov_signal_stream *s, size_t k)
{
    return s->datasets[k].name;
}

bool cov_signal_stream_is_float(const struct cov_signal_stream *s, size_t k)
{
    return s->head->sets[s->datasets[k].set].type.kind == COV_H5_FLOAT;
}

/* The rows of the sets that are wanted, in *scratch: rows[strand * n_sets + set]; others stay
 * NULL. */
static int place_rows(const struct cov_signal_stream *s, const size_t *ks, size_t n_ks,
                      struct cov_blob *scratch, float *const values[2], uint8_t **rows,
                      struct cov_err *e)
{
    size_t n_sets = s->head->n_sets, n = 0;
    uint8_t *base = NULL;
    /* Once to count, once to place. */
    for (int pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (size_t j = 0; j < n_ks; j++) {
            size_t k = s->datasets[ks[j]].set;
            for (int strand = 0; strand < 2; strand++) {
                if (!values[strand] || (pass && rows[(size_t)strand * n_sets + k]))
                    continue;
                if (pass)
                    rows[(size_t)strand * n_sets + k] = base + at;
                if (cov_size_add(at, cov_chunk_set_row_bytes(&s->head->sets[k]), &at))
                    return cov_fail(e, COV_ENOMEM, "%s: rows are too long",
                                    cov_signal_stream_name(s));
            }
        }
        n = at;
        if (pass == 0) {
            cov_blob_clear(scratch);
            int rc = cov_blob_room(scratch, n, &base, e);
            if (rc)
                return rc;
        }
    }
    return COV_OK;
}

int cov_signal_stream_decode(const struct cov_signal_stream *s, const char *sequence,
                             const struct cov_blob *record, const size_t *ks, size_t n_ks,
                             struct cov_blob *scratch, float *const values[2], struct cov_err *e)
{
    size_t L = s->head->L, n_sets = s->head->n_sets;
    struct cov_stream_pair pair;
    uint8_t **rows = cov_calloc(2 * n_sets, sizeof *rows, e);
    int rc = rows ? place_rows(s, ks, n_ks, scratch, values, rows, e) : COV_ENOMEM;
    if (rc)
        goto out;
    uint8_t *const *const elems[2] = {values[0] ? rows : NULL, values[1] ? rows + n_sets : NULL};
    rc = cov_stream_unpack(s->head, cov_signal_stream_name(s), record, &pair, NULL, elems, e);
    for (size_t j = 0; j < n_ks && !rc; j++)
        for (int strand = 0; strand < 2 && !rc; strand++) {
            const struct dataset *d = &s->datasets[ks[j]];
            const struct cov_chunk_set *set = &s->head->sets[d->set];
            size_t n = (size_t)(pair.end - pair.beg);
            if (!values[strand])
                continue;
            float *x = values[strand] + j * L;
            size_t t = cov_signal_values(&set->type, elems[strand][d->set], n, set->dims[1], d->col,
                                         d->n_cols, x);
            if (t < n)
                rc = cov_fail(e, COV_EINPUT,
                              "%s: %s: %s:%lld-%lld, %c strand, index %zu: %g is no coverage",
                              cov_signal_stream_name(s), d->name, sequence, (long long)pair.beg + 1,
                              (long long)pair.end, strand == COV_PLUS ? '+' : '-', t, (double)x[t]);
        }
out:
    free(rows);
    return rc;
}
