/* target_scale.c - see target_scale.h.
 * SPDX-License-Identifier: MIT */
#include "common/examples/target_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"

const char *const cov_target_kind_names[] = {"none", "median", "cpm", NULL};

#define KIND "target_scale"
#define REFERENCES "target_depths"

int cov_target_scale_init(struct cov_target_scale *s, const char *const *datasets,
                          size_t n_datasets, struct cov_err *e)
{
    *s = (struct cov_target_scale){.n = n_datasets, .datasets = datasets};
    s->references = cov_calloc(n_datasets, sizeof *s->references, e);
    return s->references ? COV_OK : COV_ENOMEM;
}

void cov_target_scale_fini(struct cov_target_scale *s)
{
    free(s->references);
    *s = (struct cov_target_scale){.kind = COV_TARGET_NONE};
}

/* ---- checkpoints ---- */

static const char *made_text(const struct cov_ckpt *c, const char *name)
{
    for (size_t i = 0; i < c->n_made; i++)
        if (strcmp(c->made[i].name, name) == 0 && c->made[i].kind == COV_HPARAM_STRING)
            return c->made[i].string;
    return NULL;
}

/* Reads "3.5, 0, 12". */
static int read_references(const char *text, struct cov_target_scale *s, struct cov_err *e)
{
    char *copy = cov_strdup(text ? text : "", e), *rest = NULL;
    int rc = copy ? COV_OK : COV_ENOMEM;
    size_t n = 0;
    for (char *word = copy ? strtok_r(copy, ", ", &rest) : NULL; !rc && word;
         word = strtok_r(NULL, ", ", &rest), n++)
        if (n < s->n)
            rc = cov_parse_double(word, REFERENCES, 0, 1e30, &s->references[n], NULL);
    if (copy && (rc || n != s->n))
        rc = cov_fail(e, COV_EINPUT, REFERENCES ": not %zu depths", s->n);
    free(copy);
    return rc;
}

int cov_target_scale_read(const struct cov_ckpt *c, struct cov_target_scale *s, struct cov_err *e)
{
    const char *kind = made_text(c, KIND);
    s->kind = COV_TARGET_NONE;
    if (!kind)
        return COV_OK;
    for (int i = 0; cov_target_kind_names[i]; i++)
        if (strcmp(kind, cov_target_kind_names[i]) == 0)
            s->kind = (enum cov_target_kind)i;
    if (s->kind == COV_TARGET_NONE)
        return cov_fail(e, COV_EINPUT, KIND ": unknown scale");
    return read_references(made_text(c, REFERENCES), s, e);
}

int cov_target_scale_describe(const struct cov_target_scale *s, struct cov_ckpt *made,
                              struct cov_err *e)
{
    if (s->kind == COV_TARGET_NONE)
        return COV_OK;
    char *text = cov_strdup("", e);
    for (size_t d = 0; d < s->n; d++)
        cov_strappend(&text, e, "%s%.17g", d ? ", " : "", s->references[d]);
    int rc = text ? cov_ckpt_add_made(made, KIND, cov_target_kind_names[s->kind], e) : COV_ENOMEM;
    if (!rc)
        rc = cov_ckpt_add_made(made, REFERENCES, text, e);
    free(text);
    return rc;
}

/* ---- scaling ---- */

static int by_depth(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sets *depth to 0 if the file lacks the dataset or its coverage. */
static int depth_of(const struct cov_target_scale *s, const struct cov_examples *x, size_t file,
                    size_t d, double *depth, struct cov_err *e)
{
    *depth = 0;
    if (s->kind == COV_TARGET_MEDIAN)
        *depth = x->files[file].medians[d];
    else if (x->files[file].present[d]) {
        *depth = cov_examples_reads(x, file, d) / 1e6;
        if (!(*depth > 0))
            return cov_fail(e, COV_EINPUT,
                            "%s: %s: its number of reads is unknown; add its BAM files "
                            "again with this version of bam2h5, or use --target-scale median",
                            x->files[file].path, s->datasets[d]);
    }
    return COV_OK;
}

/* Sets the reference to the median of the depths of the files; of two in the middle, to their
 * mean. */
static int choose_reference(struct cov_target_scale *s, const struct cov_examples *train, size_t d,
                            struct cov_err *e)
{
    size_t n_files = train->n_files, n = 0;
    double *depths = cov_calloc(n_files, sizeof *depths, e);
    if (!depths)
        return COV_ENOMEM;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < n_files; k++) {
        rc = depth_of(s, train, k, d, &depths[n], e);
        n += depths[n] > 0;
    }
    qsort(depths, n, sizeof *depths, by_depth);
    if (n > 0)
        s->references[d] = n % 2 ? depths[n / 2] : (depths[n / 2 - 1] + depths[n / 2]) / 2;
    free(depths);
    return rc;
}

static int scale_files(const struct cov_target_scale *s, struct cov_examples *x, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < x->n_files; k++)
        for (size_t d = 0; !rc && d < s->n; d++) {
            double depth;
            rc = depth_of(s, x, k, d, &depth, e);
            if (rc || !(depth > 0 && s->references[d] > 0))
                continue;
            double factor = s->references[d] / depth;
            cov_examples_scale_targets(x, k, d, (float)factor);
            cov_debug("%s: %s: depth %g, times %g", x->files[k].path, s->datasets[d], depth,
                      factor);
        }
    return rc;
}

int cov_target_scale_apply(struct cov_target_scale *s, struct cov_examples *train,
                           struct cov_examples *val, struct cov_err *e)
{
    int rc = COV_OK;
    if (s->kind == COV_TARGET_NONE)
        return COV_OK;
    for (size_t d = 0; !rc && d < s->n; d++)
        if (!(s->references[d] > 0))
            rc = choose_reference(s, train, d, e);
    if (!rc)
        rc = scale_files(s, train, e);
    return rc ? rc : scale_files(s, val, e);
}
