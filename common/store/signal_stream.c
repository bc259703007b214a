/* signal_stream.c - see signal_stream.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/signal_stream.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/file/bgz.h"
#include "common/seq/grid.h"
#include "common/store/predictions.h"

struct cov_signal_stream {
    struct cov_stream *records;
    const struct cov_chunk_head *head; /* borrowed from the records */
    struct cov_signal_part *datasets;
    size_t n_datasets;
    bool gaps; /* only regions were predicted */
};

static bool holds(const struct cov_chunk_head *head, enum cov_signal_kind kind)
{
    struct cov_signal_part *parts;
    size_t n;
    if (cov_signal_find_parts(head, kind, &parts, &n, NULL))
        return false;
    cov_signal_free_parts(parts, n);
    return true;
}

static int find_datasets(struct cov_signal_stream *s, enum cov_signal_kind kind, struct cov_err *e)
{
    bool predicted = kind == COV_SIGNAL_PREDICTED;
    int rc = cov_signal_find_parts(s->head, kind, &s->datasets, &s->n_datasets, e);
    if (!rc || rc == COV_ENOMEM)
        return rc;
    const char *instead = "";
    if (predicted && holds(s->head, COV_SIGNAL_MEASURED))
        instead = ": a genome with measured coverage, not predictions";
    else if (predicted && s->head->has_bases)
        instead = ": a genome, not predictions";
    else if (!predicted && holds(s->head, COV_SIGNAL_PREDICTED))
        instead = ": predictions, not measured coverage";
    return cov_err_prefix(e, "%s%s", cov_signal_stream_name(s), instead);
}

int cov_signal_stream_new(struct cov_bgz *in, enum cov_signal_kind kind,
                          struct cov_signal_stream **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_signal_stream *s = cov_calloc(1, sizeof *s, e);
    if (!s) {
        cov_bgz_abort(in);
        return COV_ENOMEM;
    }
    int rc = cov_stream_open(in, &s->records, e);
    if (!rc) {
        s->head = cov_stream_head(s->records);
        s->gaps = kind == COV_SIGNAL_PREDICTED &&
                  cov_chunk_head_attr(s->head, COV_PREDICTIONS_SET, COV_PREDICTIONS_OUTSIDE_ATTR);
        rc = find_datasets(s, kind, e);
    }
    if (rc)
        cov_signal_stream_close(s);
    else
        *out = s;
    return rc;
}

int cov_signal_stream_open(const char *path, enum cov_signal_kind kind,
                           struct cov_signal_stream **out, struct cov_err *e)
{
    struct cov_bgz *in;
    *out = NULL;
    int rc = cov_bgz_open_read(path, 1, &in, e);
    return rc ? rc : cov_signal_stream_new(in, kind, out, e);
}

void cov_signal_stream_close(struct cov_signal_stream *s)
{
    if (!s)
        return;
    cov_signal_free_parts(s->datasets, s->n_datasets);
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

bool cov_signal_stream_has_gaps(const struct cov_signal_stream *s)
{
    return s->gaps;
}

bool cov_signal_stream_is_float(const struct cov_signal_stream *s, size_t k)
{
    return s->head->sets[s->datasets[k].set].type.kind == COV_H5_FLOAT;
}

size_t cov_signal_stream_n_columns(const struct cov_signal_stream *s, size_t k)
{
    return s->datasets[k].n_cols;
}

int cov_signal_stream_split(struct cov_signal_stream *s, size_t k, struct cov_err *e)
{
    char *name = cov_signal_files_table(s->datasets[k].name, e);
    int rc = name ? cov_signal_split_part(&s->datasets, &s->n_datasets, k,
                                          cov_chunk_head_table(s->head, name), e)
                  : COV_ENOMEM;
    free(name);
    return rc ? cov_err_prefix(e, "%s", cov_signal_stream_name(s)) : COV_OK;
}

/* Allocates rows[strand * n_sets + set] in *scratch for the wanted sets and strands. The other rows
 * stay NULL. */
static int place_rows(const struct cov_signal_stream *s, const bool *wanted,
                      struct cov_blob *scratch, float *const values[2], uint8_t **rows,
                      struct cov_err *e)
{
    size_t n_sets = s->head->n_sets, n = 0;
    uint8_t *at;
    for (size_t i = 0; i < 2 * n_sets; i++)
        if (wanted[i % n_sets] && values[i / n_sets] &&
            cov_size_add(n, cov_chunk_set_row_bytes(&s->head->sets[i % n_sets]), &n))
            return cov_fail(e, COV_ENOMEM, "%s: rows are too long", cov_signal_stream_name(s));
    cov_blob_clear(scratch);
    int rc = cov_blob_room(scratch, n, &at, e);
    for (size_t i = 0; i < 2 * n_sets && !rc; i++)
        if (wanted[i % n_sets] && values[i / n_sets]) {
            rows[i] = at;
            at += cov_chunk_set_row_bytes(&s->head->sets[i % n_sets]);
        }
    return rc;
}

/* Positions per step. All data sets are decoded from one tile of the rows before the next tile, so
 * that rows are read from memory only once. */
enum { TILE = 128 };

/* Decodes positions [beg, end) of data set d from its row. Returns the first position without a
 * valid coverage, or `end`. */
static size_t take_values(const struct cov_signal_stream *s, const struct cov_signal_part *d,
                          const uint8_t *elems, size_t beg, size_t end, float *values)
{
    const struct cov_chunk_set *set = &s->head->sets[d->set];
    const struct cov_signal_columns columns = {&set->type, set->dims[1], d->col, d->n_cols,
                                               s->gaps};
    return beg + cov_signal_means(&columns, elems + beg * set->dims[1] * set->type.bytes, end - beg,
                                  end - beg, values + beg);
}

int cov_signal_stream_decode(const struct cov_signal_stream *s, const char *sequence,
                             const struct cov_blob *record, const struct cov_signal_output *out,
                             struct cov_blob *scratch, struct cov_err *e)
{
    size_t L = s->head->L, n_sets = s->head->n_sets, n = 0;
    struct cov_stream_pair pair;
    uint8_t **rows = cov_calloc(2 * n_sets, sizeof *rows, e);
    bool *wanted = cov_calloc(n_sets, sizeof *wanted, e);
    for (size_t j = 0; j < out->n_ks && wanted; j++)
        wanted[s->datasets[out->ks[j]].set] = true;
    int rc = rows && wanted ? place_rows(s, wanted, scratch, out->values, rows, e) : COV_ENOMEM;
    if (!rc) {
        uint8_t *const *const elems[2] = {out->values[0] ? rows : NULL,
                                          out->values[1] ? rows + n_sets : NULL};
        rc = cov_stream_unpack(s->head, cov_signal_stream_name(s), record, &pair, NULL, elems, e);
        n = rc ? 0 : (size_t)(pair.end - pair.beg);
    }
    for (size_t i = 0, beg, end; i < n / TILE + (n % TILE > 0) && !rc; i++) {
        beg = i * TILE;
        end = n - beg < TILE ? n : beg + TILE;
        for (size_t j = 0; j < 2 * out->n_ks && !rc; j++) {
            const struct cov_signal_part *d = &s->datasets[out->ks[j / 2]];
            size_t strand = j % 2 ? COV_MINUS : COV_PLUS;
            if (!out->values[strand])
                continue;
            float *x = out->values[strand] + j / 2 * L;
            size_t t = take_values(s, d, rows[strand * n_sets + d->set], beg, end, x);
            if (t < end)
                rc = cov_fail(
                    e, COV_EINPUT,
                    "%s: %s: %s:%lld-%lld, %c strand, index %zu: %g is not a valid coverage",
                    cov_signal_stream_name(s), d->name, sequence, (long long)pair.beg + 1,
                    (long long)pair.end, strand == COV_PLUS ? '+' : '-', t, (double)x[t]);
            for (t = n; end == n && t < L; t++)
                x[t] = COV_SIGNAL_PAD;
        }
    }
    free(wanted);
    free(rows);
    return rc;
}
