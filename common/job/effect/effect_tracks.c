/* effect_tracks.c - see effect_tracks.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_tracks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/track/formats/bigwig.h"

enum { REFERENCE, ALTERNATIVE, DIFFERENCE, KINDS };

struct cov_effect_tracks {
    const struct cov_effect_options *o;
    struct cov_newdir directory;
    struct cov_interval *intervals; /* [L] */
};

int cov_effect_tracks_open(const struct cov_effect_options *options, struct cov_effect_tracks **out,
                           struct cov_err *e)
{
    *out = NULL;
    struct cov_effect_tracks *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->o = options;
    t->directory = (struct cov_newdir)COV_NEWDIR_INIT;
    t->intervals = cov_calloc(options->window, sizeof *t->intervals, e);
    int rc = t->intervals ? cov_newdir_make(&t->directory, options->tracks, e) : COV_ENOMEM;
    if (rc)
        cov_effect_tracks_free(t);
    else
        *out = t;
    return rc;
}

void cov_effect_tracks_free(struct cov_effect_tracks *t)
{
    if (!t)
        return;
    cov_newdir_fini(&t->directory);
    free(t->intervals);
    free(t);
}

size_t cov_effect_tracks_count(const struct cov_effect_options *options, size_t n)
{
    return n * options->n_datasets * KINDS;
}

/* Copies at most n characters; what may be special in a file name becomes '_'. Returns to. */
static char *safe(char *to, const char *text, size_t n)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
    size_t i = 0;
    for (; i < n && text[i]; i++)
        to[i] = strchr(plain, text[i]) ? text[i] : '_';
    to[i] = '\0';
    return to;
}

/* Returns "DIR/NUMBER.ALLELE_CONTIG_POS_REF_ALT_DATASET_KIND.bw"; the numbers make it unique. */
static char *track_path(const struct cov_effect_tracks *t, const struct cov_variant *v,
                        size_t allele, const char *dataset, int kind, struct cov_err *e)
{
    enum { NAME = 60, BASES = 12 };
    static const char *const kinds[KINDS] = {"ref", "alt", "diff"};
    char contig[NAME + 1], ref[BASES + 1], alt[BASES + 1], set[NAME + 1];
    char *file =
        cov_strfmt(e, "%" PRId64 ".%zu_%s_%" PRId64 "_%s_%s_%s_%s.bw", v->number, allele + 1,
                   safe(contig, v->contig, NAME), v->pos + 1, safe(ref, v->alleles[0], BASES),
                   safe(alt, v->alleles[allele + 1], BASES), safe(set, dataset, NAME), kinds[kind]);
    char *path = file ? cov_path_join(t->o->tracks, file, e) : NULL;
    free(file);
    return path;
}

/* Sets the intervals of a track, and returns their number. `values` has the values of the dataset,
 * each D after the value of the position before. */
static size_t fill_track(const struct cov_effect_tracks *t, const struct cov_alleles *p,
                         size_t allele, const struct cov_effect_values *values, size_t dataset,
                         int kind)
{
    const size_t D = t->o->model->n_datasets, n_alt = p->items[allele].n;
    const size_t both = p->at + (p->n_ref < n_alt ? p->n_ref : n_alt);
    size_t n = 0;
    for (size_t i = 0; i < values->n_bases[0]; i++) {
        const size_t k = i < both ? i : i - p->n_ref + n_alt; /* its place with the change */
        const float ref = values->values[0][i * D + dataset];
        struct cov_interval *to = &t->intervals[n];
        *to = (struct cov_interval){p->beg + (int64_t)i, p->beg + (int64_t)i + 1, ref};
        if (kind != REFERENCE && ((i >= both && i < p->at + p->n_ref) || k >= values->n_bases[1]))
            continue;
        if (kind != REFERENCE)
            to->value = values->values[1][k * D + dataset] - (kind == DIFFERENCE ? ref : 0);
        n++;
    }
    return n;
}

static int write_track(const struct cov_effect_tracks *t, const struct cov_alleles *p, size_t n,
                       const char *path, struct cov_err *e)
{
    const struct cov_genome *g = t->o->genome;
    const char *name = g->names[p->seq];
    const struct cov_track_contigs contigs = {1, &name, &g->lengths[p->seq]};
    const struct cov_bigwig_options options = {.pool = NULL};
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_track_sink *sink = NULL;
    int rc = cov_outfile_begin(&out, path, COV_OUTFILE_BIGWIG, t->o->force || t->o->resume, e);
    if (!rc)
        rc = cov_bigwig_open(out.tmp, out.path, &contigs, &options, &sink, e);
    if (!rc)
        rc = cov_track_begin(sink, 0, e);
    if (!rc)
        rc = cov_track_add(sink, t->intervals, n, e);
    if (!rc)
        rc = cov_track_close(sink, e);
    cov_track_free(sink);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    cov_outfile_end(&out, e);
    return rc;
}

static int check_track(const char *path, struct cov_err *e)
{
    return access(path, F_OK) == 0
               ? COV_OK
               : cov_fail(e, COV_EINPUT,
                          "%s: missing, but its variant is finished; put the file back, or use -f "
                          "without --resume to start over",
                          path);
}

int cov_effect_tracks_put(struct cov_effect_tracks *t, const struct cov_effect_record *record,
                          struct cov_err *e)
{
    const struct cov_effect_options *o = t->o;
    const struct cov_alleles *p = &record->alleles;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < p->n_alleles * o->n_datasets * KINDS; i++) {
        const int kind = (int)(i % KINDS);
        const size_t d = o->datasets[i / KINDS % o->n_datasets], a = i / KINDS / o->n_datasets;
        if (p->items[a].status != COV_ALLELE_SCORED)
            continue;
        char *path = track_path(t, &record->variant, a, o->model->datasets[d], kind, e);
        if (!path)
            rc = COV_ENOMEM;
        else if (record->done)
            rc = check_track(path, e);
        else
            rc = write_track(t, p, fill_track(t, p, a, &record->values[a], d, kind), path, e);
        free(path);
    }
    return rc;
}
