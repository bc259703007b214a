/* example_file.c - see example_file.h.
 *
 * Packed rows: the codes come first, then for each dataset a byte for the form, and the values. Packed
 * data never leaves the run, so it has the byte order of the machine.
 * SPDX-License-Identifier: MIT */
#include "common/examples/example_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/chunk/chunk_table.h"
#include "common/compute/device.h"
#include "common/seq/alphabet.h"

void cov_example_file_close(struct cov_example_file *f)
{
    if (!f)
        return;
    cov_chunk_file_close(f->file);
    free(f->path);
    free(f->present);
    cov_signal_free_parts(f->parts, f->n_parts);
    free(f->sources);
    free(f->ks);
    free(f->dropped);
    free(f);
}

/* Returns the bytes of a row, rounded up so that the elements of each set are aligned to 8
 * bytes. */
static size_t row_bytes(const struct cov_chunk_set *set)
{
    return (cov_chunk_set_row_bytes(set) + 7) / 8 * 8;
}

int cov_example_file_select(struct cov_example_file *f, const char *const *datasets,
                            size_t n_datasets, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    f->n_datasets = n_datasets;
    f->present = cov_calloc(n_datasets, sizeof *f->present, e);
    f->sources = cov_calloc(n_datasets, sizeof *f->sources, e);
    f->ks = cov_calloc(n_datasets, sizeof *f->ks, e);
    if (!f->present || !f->sources || !f->ks)
        return COV_ENOMEM;
    for (size_t d = 0; d < n_datasets; d++)
        for (size_t i = 0; i < f->n_parts; i++) {
            if (strcmp(f->parts[i].name, datasets[d]) != 0)
                continue;
            const struct cov_chunk_set *set = &head->sets[f->parts[i].set];
            f->present[d] = true;
            f->sources[f->n_sources] = (struct cov_example_source){d, set->dims[1]};
            f->ks[f->n_sources++] = f->parts[i].set;
            f->scratch += row_bytes(set);
        }
    return COV_OK;
}

static int read_blacklist(struct cov_example_file *f, struct cov_err *e)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f->file);
    const struct cov_chunk_set *set = cov_chunk_head_set(head, COV_BLACKLIST_SET);
    if (!set) {
        cov_warn("%s: no " COV_BLACKLIST_SET
                 "; --blacklist has no effect (h5chunk blacklist adds one)",
                 f->path);
        return COV_OK;
    }
    if ((set->type.kind != COV_H5_INT && set->type.kind != COV_H5_BOOL) ||
        cov_chunk_set_row_bytes(set) != set->type.bytes)
        return cov_fail(e, COV_EINPUT, "%s: " COV_BLACKLIST_SET ": not one integer per chunk",
                        f->path);
    struct cov_blob raw = COV_BLOB_INIT;
    size_t k = (size_t)(set - head->sets), n = cov_grid_n_chunks(cov_chunk_file_grid(f->file));
    const struct cov_chunk_parts parts = {false, &k, 1};
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        uint8_t elem[8];
        uint8_t *const elems[1] = {elem};
        int64_t value = 1;
        cov_blob_clear(&raw);
        rc = cov_chunk_file_fetch(f->file, i, parts, &raw, e);
        if (!rc)
            rc = cov_chunk_file_decode(f->file, i, parts, &raw, NULL, elems, e);
        if (!rc)
            rc = cov_h5_to_int64(&set->type, elem, 1, &value, e);
        f->dropped[i] = value == 0;
    }
    cov_blob_fini(&raw);
    return rc;
}

/* Drops the rows that the list covers. */
static void apply_list(struct cov_example_file *f, struct cov_blacklist *list)
{
    const struct cov_grid *grid = cov_chunk_file_grid(f->file);
    f->list = list;
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        struct cov_chunk c = cov_grid_chunk(grid, i);
        const char *name = cov_grid_name(grid, c.seq);
        size_t n;
        const struct cov_region *in = cov_blacklist_overlaps(list, name, c.beg, c.end, &n);
        bool drops = cov_blacklist_drops(list, name); /* also marks the name as known */
        if (drops || (n == 1 && in->beg <= c.beg && in->end >= c.end))
            f->dropped[i] = true;
    }
}

/* Masks the targets of a row that are in regions of the list. */
static void mask_targets(const struct cov_example_file *f, size_t i, float *targets)
{
    const struct cov_grid *grid = cov_chunk_file_grid(f->file);
    struct cov_chunk c = cov_grid_chunk(grid, i);
    size_t n;
    const struct cov_region *in =
        cov_blacklist_overlaps(f->list, cov_grid_name(grid, c.seq), c.beg, c.end, &n);
    for (; n > 0; n--, in++) {
        int64_t beg = in->beg > c.beg ? in->beg : c.beg, end = in->end < c.end ? in->end : c.end;
        size_t first = (size_t)(c.minus ? c.end - end : beg - c.beg) * f->n_datasets;
        for (size_t k = 0; k < (size_t)(end - beg) * f->n_datasets; k++)
            targets[first + k] = COV_TARGET_MASKED;
    }
}

int cov_example_file_open(const char *path, bool blacklist, struct cov_blacklist *list,
                          struct cov_example_file **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_example_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->path = cov_strdup(path, e);
    int rc = f->path ? cov_chunk_file_open(path, &f->file, e) : COV_ENOMEM;
    if (!rc && !cov_chunk_file_head(f->file)->has_bases)
        rc = cov_fail(e, COV_EINPUT, "%s: not a genome file: no bases", path);
    if (!rc) {
        f->L = cov_grid_chunk_length(cov_chunk_file_grid(f->file));
        rc = cov_signal_find_parts(cov_chunk_file_head(f->file), COV_SIGNAL_MEASURED, &f->parts,
                                   &f->n_parts, e);
        if (rc)
            (void)cov_err_prefix(e, rc, "%s", path);
    }
    if (!rc && (blacklist || list)) {
        f->dropped =
            cov_calloc(cov_grid_n_chunks(cov_chunk_file_grid(f->file)), sizeof *f->dropped, e);
        rc = f->dropped ? COV_OK : COV_ENOMEM;
    }
    if (!rc && blacklist)
        rc = read_blacklist(f, e);
    if (!rc && list)
        apply_list(f, list);
    if (rc) {
        cov_example_file_close(f);
        return rc;
    }
    *out = f;
    return COV_OK;
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

/* Sets targets[t, d] to the means of one dataset, rounded to hundredths. */
static int put_targets(const struct cov_example_file *f, size_t i, size_t s, const uint8_t *elems,
                       float *means, float *targets, struct cov_err *e)
{
    const struct cov_grid *grid = cov_chunk_file_grid(f->file);
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
    if (!rc && f->list)
        mask_targets(f, i, targets);
    return rc;
}

/* ---------------------------------------------------------------- packed rows */

enum form { ZEROS, BYTES, WORDS, HUNDREDTHS, FLOATS };

static const size_t widths[] = {
    [ZEROS] = 0, [BYTES] = 1, [WORDS] = 2, [HUNDREDTHS] = 2, [FLOATS] = 4};

size_t cov_example_pack_bound(size_t L, size_t D)
{
    return (L + 1) / 2 + D * (1 + 4 * L);
}

/* Returns the shortest form that holds a value exactly. */
static enum form form_of(float v)
{
    if (v >= 0 && v <= UINT16_MAX && v == (float)(uint16_t)v)
        return v == 0 ? ZEROS : v <= UINT8_MAX ? BYTES : WORDS;
    float h = rintf(v * 100.0F);
    return h >= 0 && h <= UINT16_MAX && h / 100.0F == v ? HUNDREDTHS : FLOATS;
}

/* Returns the form of all values of a dataset. HUNDREDTHS cannot hold values above 655.35. */
static enum form common_form(const float *targets, size_t L, size_t D)
{
    enum form most = ZEROS;
    float max = 0;
    for (size_t i = 0; i < L; i++) {
        enum form form = form_of(targets[i * D]);
        most = form > most ? form : most;
        max = targets[i * D] > max ? targets[i * D] : max;
    }
    return most == HUNDREDTHS && max * 100.0F > UINT16_MAX ? FLOATS : most;
}

static void put(enum form form, float v, uint8_t *out)
{
    uint16_t word = (uint16_t)(form == HUNDREDTHS ? rintf(v * 100.0F) : v);
    if (form == BYTES)
        *out = (uint8_t)v;
    else if (form == FLOATS)
        memcpy(out, &v, sizeof v);
    else
        memcpy(out, &word, sizeof word);
}

static float get(enum form form, const uint8_t *in)
{
    uint16_t word;
    float v;
    if (form == BYTES)
        return *in;
    if (form == FLOATS) {
        memcpy(&v, in, sizeof v);
        return v;
    }
    memcpy(&word, in, sizeof word);
    return form == HUNDREDTHS ? (float)word / 100.0F : (float)word;
}

size_t cov_example_pack(const uint8_t *codes, const float *targets, size_t L, size_t D,
                        uint8_t *out)
{
    uint8_t *at = out + (L + 1) / 2;
    cov_codes_pack(codes, L, out);
    for (size_t d = 0; d < D; d++) {
        enum form form = common_form(targets + d, L, D);
        *at++ = (uint8_t)form;
        for (size_t i = 0; form != ZEROS && i < L; i++, at += widths[form])
            put(form, targets[i * D + d], at);
    }
    return (size_t)(at - out);
}

void cov_example_unpack(const uint8_t *packed, size_t L, size_t D, uint8_t *codes, float *targets)
{
    const uint8_t *at = packed + (L + 1) / 2;
    cov_codes_unpack(packed, 0, L, codes);
    for (size_t d = 0; d < D; d++) {
        enum form form = (enum form) * at++;
        for (size_t i = 0; i < L; i++, at += widths[form])
            targets[i * D + d] = form == ZEROS ? 0 : get(form, at);
    }
}
