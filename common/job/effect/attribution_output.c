/* attribution_output.c - see attribution_output.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution_output.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/path.h"
#include "common/file/suffix.h"
#include "common/job/effect/npz.h"
#include "common/store/h5.h"
#include "common/track/formats/bigwig.h"

/* ---------------------------------------------------------------- NumPy and HDF5 */

enum { ONE_HOT, SCORES, OF_BASES };

/* Sets out[4,length] for region r. */
static void fill(const struct cov_attribution *a, int what, size_t r, float *out)
{
    const size_t n = a->length;
    if (what == SCORES) {
        memcpy(out, a->scores + r * 4 * n, 4 * n * sizeof *out);
        return;
    }
    memset(out, 0, 4 * n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const int column = cov_attribution_column(a->codes[r * n + i]);
        if (column >= 0)
            out[(size_t)column * n + i] = what == ONE_HOT ? 1.0F : cov_attribution_of_base(a, r, i);
    }
}

static int write_npz(const struct cov_attribution *a, int what, const char *path, struct cov_err *e)
{
    const size_t dims[3] = {a->n, 4, a->length};
    struct cov_npz z;
    int rc = cov_npz_init(&z, dims, e);
    for (size_t r = 0; !rc && r < a->n; r++)
        fill(a, what, r, cov_npz_values(&z) + r * 4 * a->length);
    if (!rc)
        rc = cov_npz_write(&z, path, e);
    cov_npz_fini(&z);
    return rc;
}

static int write_set(struct cov_h5 *h5, const char *name, const struct cov_attribution *a, int what,
                     struct cov_err *e)
{
    static const struct cov_codec_choice gzip = {COV_CODEC_GZIP, 0};
    const size_t n = 4 * a->length;
    struct cov_h5_set *set = NULL;
    struct cov_h5_new spec = {.type = {COV_H5_FLOAT, sizeof(float), true, false, '\0'},
                              .rank = 3,
                              .dims = {a->n, 4, a->length},
                              .chunk = {1, 4, a->length},
                              .deflate_level = 4};
    spec.n_filters = cov_h5_filters(gzip, sizeof(float), spec.filters);
    float *row = cov_malloc(n, sizeof *row, e);
    int rc = row ? cov_h5_set_create(h5, name, &spec, &set, e) : COV_ENOMEM;
    for (size_t r = 0; !rc && r < a->n; r++) {
        const size_t at[3] = {r, 0, 0};
        fill(a, what, r, row);
        rc = cov_h5_set_put_elems(set, &spec, gzip, at, (const uint8_t *)row, n * sizeof *row, e);
    }
    cov_h5_set_close(set);
    free(row);
    return rc;
}

static int write_hdf5(const struct cov_attribution *a, const char *path, struct cov_err *e)
{
    struct cov_h5 *h5 = NULL;
    int rc = cov_h5_create(path, &h5, e);
    if (!rc)
        rc = write_set(h5, "raw/seq", a, ONE_HOT, e);
    if (!rc)
        rc = write_set(h5, "shap/seq", a, SCORES, e);
    if (!rc)
        rc = write_set(h5, "projected_shap/seq", a, OF_BASES, e);
    if (!rc)
        return cov_h5_finish(h5, e);
    cov_h5_close(h5);
    return rc;
}

/* ---------------------------------------------------------------- bigWig */

/* A region or a sequence, and where it sorts. */
struct place {
    const char *name;
    int64_t beg;
    size_t number;
};

static int by_name(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->beg < y->beg ? -1 : x->beg > y->beg;
}

struct track {
    const struct cov_attribution *a;
    const struct cov_genome *genome;
    struct place *seqs, *regions; /* sorted */
    const char **names;           /* of the sequences, sorted */
    int64_t *lengths;
    struct cov_track_sink *sink;
    double *sums; /* of the bases of some regions */
    uint32_t *counts;
    size_t cap_sums, cap_counts;
};

static int sort_places(struct track *t, struct cov_err *e)
{
    const struct cov_genome *g = t->genome;
    const struct cov_attribution *a = t->a;
    t->seqs = cov_calloc(g->n_seqs, sizeof *t->seqs, e);
    t->regions = cov_calloc(a->n, sizeof *t->regions, e);
    t->names = cov_calloc(g->n_seqs, sizeof *t->names, e);
    t->lengths = cov_calloc(g->n_seqs, sizeof *t->lengths, e);
    if (!t->seqs || !t->regions || !t->names || !t->lengths)
        return COV_ENOMEM;
    for (size_t i = 0; i < g->n_seqs; i++)
        t->seqs[i] = (struct place){g->names[i], 0, i};
    for (size_t i = 0; i < a->n; i++)
        t->regions[i] = (struct place){g->names[a->regions[i].seq], a->regions[i].beg, i};
    qsort(t->seqs, g->n_seqs, sizeof *t->seqs, by_name);
    qsort(t->regions, a->n, sizeof *t->regions, by_name);
    for (size_t i = 0; i < g->n_seqs; i++) {
        t->names[i] = t->seqs[i].name;
        t->lengths[i] = g->lengths[t->seqs[i].number];
    }
    return COV_OK;
}

/* Adds the scores of a region to the sums, which begin at base `beg`. */
static void add_region(struct track *t, size_t r, int64_t beg)
{
    const struct cov_attribution *a = t->a;
    for (size_t i = 0; i < a->length; i++) {
        const int64_t at = a->regions[r].beg + (int64_t)i - beg;
        if (cov_attribution_column(a->codes[r * a->length + i]) < 0)
            continue;
        t->sums[at] += (double)cov_attribution_of_base(a, r, i);
        t->counts[at]++;
    }
}

static int put_sums(struct track *t, int64_t beg, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        const int64_t at = beg + (int64_t)i;
        if (t->counts[i] == 0)
            continue;
        const struct cov_interval iv = {at, at + 1, (float)(t->sums[i] / t->counts[i])};
        rc = cov_track_add(t->sink, &iv, 1, e);
    }
    return rc;
}

/* Writes the regions [*i, a->n) of the sequence `seq`; those that overlap are added up. */
static int put_sequence(struct track *t, size_t seq, size_t *i, struct cov_err *e)
{
    const struct cov_attribution *a = t->a;
    int rc = COV_OK;
    while (!rc && *i < a->n && a->regions[t->regions[*i].number].seq == seq) {
        const int64_t beg = t->regions[*i].beg;
        int64_t end = beg + (int64_t)a->length;
        size_t next = *i + 1;
        for (; next < a->n && a->regions[t->regions[next].number].seq == seq &&
               t->regions[next].beg < end;
             next++)
            end = t->regions[next].beg + (int64_t)a->length;
        const size_t n = (size_t)(end - beg);
        rc = COV_RESERVE(&t->sums, &t->cap_sums, n, e);
        if (!rc)
            rc = COV_RESERVE(&t->counts, &t->cap_counts, n, e);
        if (rc)
            return rc;
        memset(t->sums, 0, n * sizeof *t->sums);
        memset(t->counts, 0, n * sizeof *t->counts);
        for (; *i < next; (*i)++)
            add_region(t, t->regions[*i].number, beg);
        rc = put_sums(t, beg, n, e);
    }
    return rc;
}

static int write_track(struct track *t, const struct cov_outfile *file,
                       const struct cov_bigwig_options *options, struct cov_err *e)
{
    struct cov_track_contigs contigs = {.n = t->genome->n_seqs};
    size_t i = 0;
    int rc = sort_places(t, e);
    contigs.names = t->names;
    contigs.lengths = t->lengths;
    if (!rc)
        rc = cov_bigwig_open(file->tmp, file->path, &contigs, options, &t->sink, e);
    for (size_t s = 0; !rc && s < contigs.n; s++) {
        rc = cov_track_begin(t->sink, s, e);
        if (!rc)
            rc = put_sequence(t, t->seqs[s].number, &i, e);
    }
    return rc ? rc : cov_track_close(t->sink, e);
}

static int write_bigwig(const struct cov_attribution_files *f, const struct cov_attribution *a,
                        const struct cov_genome *genome, struct cov_pool *pool, struct cov_err *e)
{
    struct track t = {.a = a, .genome = genome};
    char *dir = cov_path_dir(f->bigwig.path, e);
    const struct cov_bigwig_options options = {pool, f->paths->tmpdir ? f->paths->tmpdir : dir};
    int rc = dir ? write_track(&t, &f->bigwig, &options, e) : COV_ENOMEM;
    cov_track_free(t.sink);
    free(t.seqs);
    free(t.regions);
    free(t.names);
    free(t.lengths);
    free(t.sums);
    free(t.counts);
    free(dir);
    return rc;
}

/* ---------------------------------------------------------------- all of them */

int cov_attribution_files_begin(struct cov_attribution_files *f,
                                const struct cov_attribution_paths *paths, struct cov_err *e)
{
    const struct cov_suffix *suffix = cov_suffix_find(paths->scores, strlen(paths->scores));
    *f = (struct cov_attribution_files){.paths = paths,
                                        .scores = COV_OUTFILE_INIT,
                                        .one_hot = COV_OUTFILE_INIT,
                                        .bigwig = COV_OUTFILE_INIT,
                                        .is_hdf5 = suffix && suffix->kind == COV_SUFFIX_HDF5};
    int rc = cov_outfile_begin(&f->scores, paths->scores,
                               f->is_hdf5 ? COV_OUTFILE_HDF5 : COV_OUTFILE_ARRAYS, paths->force, e);
    if (!rc && paths->one_hot)
        rc = cov_outfile_begin(&f->one_hot, paths->one_hot, COV_OUTFILE_ARRAYS, paths->force, e);
    if (!rc && paths->bigwig)
        rc = cov_outfile_begin(&f->bigwig, paths->bigwig, COV_OUTFILE_BIGWIG, paths->force, e);
    return rc;
}

int cov_attribution_files_write(struct cov_attribution_files *f, const struct cov_attribution *a,
                                const struct cov_genome *genome, struct cov_pool *pool,
                                struct cov_err *e)
{
    struct cov_outfile *const files[] = {&f->scores, &f->one_hot, &f->bigwig};
    int rc = f->is_hdf5 ? write_hdf5(a, f->scores.tmp, e) : write_npz(a, SCORES, f->scores.tmp, e);
    if (!rc && f->paths->one_hot)
        rc = write_npz(a, ONE_HOT, f->one_hot.tmp, e);
    if (!rc && f->paths->bigwig)
        rc = write_bigwig(f, a, genome, pool, e);
    return rc ? rc : cov_outfile_commit_all(files, COV_COUNT(files), e);
}

void cov_attribution_files_end(struct cov_attribution_files *f, struct cov_err *e)
{
    cov_outfile_end(&f->scores, e);
    cov_outfile_end(&f->one_hot, e);
    cov_outfile_end(&f->bigwig, e);
}
