/* example_file.c - see example_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/example_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/seq/alphabet.h"
#include "common/store/chunk_file.h"
#include "common/store/signal_file.h"

#define BLACKLIST "data/blacklist"

/* A data set that is there. */
struct source {
    size_t dataset, n_columns;
};

struct cov_example_file {
    char *path;
    struct cov_chunk_file *file;
    size_t L, n_datasets;
    bool *present;
    char *datasets;         /* all that are there, with commas between */
    struct source *sources; /* [n_sources], of the sets ks[] of the head */
    size_t *ks, n_sources;
    size_t scratch; /* bytes of the elements of a row, of all sources */
    bool *dropped;  /* of each row; NULL: none */
};

void cov_example_file_close(struct cov_example_file *f)
{
    if (!f)
        return;
    cov_chunk_file_close(f->file);
    free(f->path);
    free(f->present);
    free(f->datasets);
    free(f->sources);
    free(f->ks);
    free(f->dropped);
    free(f);
}

/* Elements begin at multiples of 8 bytes. */
static size_t row_bytes(const struct cov_chunk_set *set)
{
    return (cov_chunk_set_row_bytes(set) + 7) / 8 * 8;
}

static char *list_parts(const struct cov_signal_part *parts, size_t n, struct cov_err *e)
{
    char *list = cov_strdup(n ? parts[0].name : "", e);
    for (size_t i = 1; list && i < n; i++) {
        char *longer = cov_strfmt(e, "%s,%s", list, parts[i].name);
        free(list);
        list = longer;
    }
    return list;
}

static int find_sources(struct cov_example_file *f, const char *const *datasets, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    struct cov_signal_part *parts = NULL;
    size_t n_parts = 0;
    int rc = cov_signal_find_parts(head, COV_SIGNAL_MEASURED, &parts, &n_parts, e);
    if (rc)
        return cov_err_prefix(e, "%s", f->path);
    f->datasets = list_parts(parts, n_parts, e);
    f->present = cov_calloc(f->n_datasets, sizeof *f->present, e);
    f->sources = cov_calloc(f->n_datasets, sizeof *f->sources, e);
    f->ks = cov_calloc(f->n_datasets, sizeof *f->ks, e);
    if (!f->datasets || !f->present || !f->sources || !f->ks)
        rc = COV_ENOMEM;
    for (size_t d = 0; !rc && d < f->n_datasets; d++)
        for (size_t i = 0; i < n_parts; i++) {
            if (strcmp(parts[i].name, datasets[d]) != 0)
                continue;
            const struct cov_chunk_set *set = &head->sets[parts[i].set];
            f->present[d] = true;
            f->sources[f->n_sources] = (struct source){d, set->dims[1]};
            f->ks[f->n_sources++] = parts[i].set;
            f->scratch += row_bytes(set);
        }
    cov_signal_free_parts(parts, n_parts);
    return rc;
}

static int read_blacklist(struct cov_example_file *f, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    const struct cov_chunk_set *set = cov_chunk_head_set(head, BLACKLIST);
    if (!set) {
        cov_warn("%s: there is no " BLACKLIST " in it, so --blacklist leaves nothing out: h5chunk "
                 "blacklist writes one",
                 f->path);
        return COV_OK;
    }
    if (set->type.kind != COV_H5_INT || cov_chunk_set_row_bytes(set) != set->type.bytes)
        return cov_fail(e, COV_EINPUT, "%s: " BLACKLIST ": not one integer a chunk", f->path);
    struct cov_blob raw = COV_BLOB_INIT;
    size_t k = (size_t)(set - head->sets), n = cov_grid_n_chunks(cov_chunk_file_grid(f->file));
    f->dropped = cov_calloc(n, sizeof *f->dropped, e);
    int rc = f->dropped ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        uint8_t elem[8];
        uint8_t *const elems[1] = {elem};
        int64_t value = 1;
        cov_blob_clear(&raw);
        rc = cov_chunk_file_fetch(f->file, i, (struct cov_chunk_parts){false, &k, 1}, &raw, e);
        if (!rc)
            rc = cov_chunk_file_decode(f->file, i, (struct cov_chunk_parts){false, &k, 1}, &raw,
                                       NULL, elems, e);
        if (!rc)
            rc = cov_h5_to_int64(&set->type, elem, 1, &value, e);
        f->dropped[i] = value == 0;
    }
    cov_blob_fini(&raw);
    return rc;
}

int cov_example_file_open(const char *path, const char *const *datasets, size_t n_datasets,
                          bool blacklist, struct cov_example_file **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_example_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->n_datasets = n_datasets;
    f->path = cov_strdup(path, e);
    int rc = f->path ? cov_chunk_file_open(path, &f->file, e) : COV_ENOMEM;
    if (!rc && !cov_chunk_file_head(f->file)->has_bases)
        rc = cov_fail(e, COV_EINPUT, "%s: there are no bases in it, it is not a genome file", path);
    if (!rc) {
        f->L = cov_grid_chunk_length(cov_chunk_file_grid(f->file));
        rc = find_sources(f, datasets, e);
    }
    if (!rc && blacklist)
        rc = read_blacklist(f, e);
    if (rc) {
        cov_example_file_close(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

const char *cov_example_file_path(const struct cov_example_file *f)
{
    return f->path;
}

const struct cov_grid *cov_example_file_grid(const struct cov_example_file *f)
{
    return cov_chunk_file_grid(f->file);
}

const bool *cov_example_file_present(const struct cov_example_file *f)
{
    return f->present;
}

const char *cov_example_file_datasets(const struct cov_example_file *f)
{
    return f->datasets;
}

bool cov_example_file_drops(const struct cov_example_file *f, size_t i)
{
    return f->dropped && f->dropped[i];
}

int cov_example_file_fetch(struct cov_example_file *f, size_t i, struct cov_blob *raw,
                           struct cov_err *e)
{
    cov_blob_clear(raw);
    return cov_chunk_file_fetch(f->file, i, (struct cov_chunk_parts){true, f->ks, f->n_sources},
                                raw, e);
}

size_t cov_example_file_scratch(const struct cov_example_file *f)
{
    return f->n_sources * sizeof(uint8_t *) + f->scratch + f->L * sizeof(float);
}

/* targets[i, d] = the means of one data set, rounded. */
static int put_targets(const struct cov_example_file *f, size_t i, size_t s, const uint8_t *elems,
                       float *means, float *targets, struct cov_err *e)
{
    const struct cov_grid *grid = cov_example_file_grid(f);
    const struct cov_chunk_set *set = &cov_chunk_file_head(f->file)->sets[f->ks[s]];
    struct cov_chunk chunk = cov_grid_chunk(grid, i);
    size_t length = (size_t)(chunk.end - chunk.beg), n_columns = f->sources[s].n_columns;
    const struct cov_signal_columns columns = {&set->type, n_columns, 0, n_columns, false};
    size_t good = cov_signal_means(&columns, elems, length, f->L, means);
    if (good < length)
        return cov_fail(e, COV_EINPUT, "%s: %s: row %zu, index %zu: %g is not a valid coverage",
                        f->path, set->name, i, good, (double)means[good]);
    float *at = targets + f->sources[s].dataset;
    for (size_t t = 0; t < length; t++, at += f->n_datasets)
        *at = rintf(means[t] * 100.0F) / 100.0F;
    return COV_OK;
}

int cov_example_file_decode(const struct cov_example_file *f, size_t i, struct cov_blob *raw,
                            uint8_t *scratch, uint8_t *codes, float *targets, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    uint8_t **elems = (uint8_t **)(void *)scratch, *at = scratch + f->n_sources * sizeof *elems;
    for (size_t s = 0; s < f->n_sources; s++) {
        elems[s] = at;
        at += row_bytes(&head->sets[f->ks[s]]);
    }
    int rc = cov_chunk_file_decode(f->file, i, (struct cov_chunk_parts){true, f->ks, f->n_sources},
                                   raw, codes, elems, e);
    memset(targets, 0, f->L * f->n_datasets * sizeof *targets);
    for (size_t s = 0; !rc && s < f->n_sources; s++)
        rc = put_targets(f, i, s, elems[s], (float *)(void *)at, targets, e);
    return rc;
}

bool cov_example_is_gap(const uint8_t *codes, size_t n)
{
    bool has_n = false;
    for (size_t i = 0; i < n; i++) {
        if (codes[i] == COV_CODE_N)
            has_n = true;
        else if (codes[i] & COV_CODE_C)
            return false;
    }
    return has_n;
}
