/* peak_files.c - see peak_files.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/peak_files.h"

#include "common/base/log.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"

/* ---------------------------------------------------------------- what counts */

int cov_peak_scope_read(const struct cov_peak_files_options *o, struct cov_peak_scope *out,
                        struct cov_err *e)
{
    *out = (struct cov_peak_scope){0};
    if (o->genome && o->sizes)
        return cov_fail(e, COV_EUSAGE, "--genome and --chrom-sizes cannot be used together");
    const char *path = o->genome ? o->genome : o->sizes;
    const bool is_hdf5 = path && cov_kind_of_file(path, NULL) == COV_KIND_HDF5;
    if (o->sizes && is_hdf5)
        return cov_fail(e, COV_EINPUT, "%s: an HDF5 file; use --genome", o->sizes);
    int rc = cov_peak_genome_read(path, !o->genome, &out->genome, e);
    if (rc == COV_EINPUT && o->genome && !is_hdf5)
        cov_err_append(e, "; --chrom-sizes reads a list of names and lengths");
    return rc || !o->blacklist ? rc : cov_blacklist_read(o->blacklist, &out->blacklist, e);
}

void cov_peak_scope_fini(struct cov_peak_scope *s)
{
    cov_blacklist_free(s->blacklist);
    cov_peak_genome_fini(&s->genome);
    s->blacklist = NULL;
}

bool cov_peak_scope_has(const struct cov_peak_scope *s, size_t contig,
                        struct cov_region_span *dropped)
{
    const char *name = cov_names_get(s->genome.names, contig, NULL);
    *dropped = (struct cov_region_span){NULL, 0};
    if (!s->blacklist)
        return true;
    if (cov_blacklist_drops(s->blacklist, name))
        return false;
    dropped->items = cov_blacklist_regions(s->blacklist, name, &dropped->n);
    return true;
}

int cov_peak_scope_keep(const struct cov_peak_scope *s, size_t contig,
                        struct cov_region_span dropped, struct cov_region_list *kept,
                        struct cov_err *e)
{
    const struct cov_peak_genome *g = &s->genome;
    const struct cov_region whole = {contig, 0, g->path ? g->lengths[contig] : INT64_MAX};
    return cov_region_list_subtract(kept, (struct cov_region_span){&whole, 1}, dropped, e);
}

/* ---------------------------------------------------------------- peaks */

int cov_peak_input_read(const char *path, struct cov_peak_scope *s, struct cov_peak_input *out,
                        struct cov_err *e)
{
    *out = (struct cov_peak_input){0};
    int rc =
        cov_peak_list_check_kind(path, "a track, not peaks; call its peaks with covpeaks call", e);
    if (!rc)
        rc = cov_peak_list_read(path, &s->genome, &out->peaks, e);
    if (!rc && out->peaks.n == 0)
        cov_warn("%s: there are no peaks", cov_path_of_input(path));
    return rc ? rc : cov_peak_list_merge(&out->peaks, &out->merged, e);
}

void cov_peak_input_fini(struct cov_peak_input *in)
{
    cov_peak_list_fini(&in->peaks);
    cov_region_list_fini(&in->merged);
}

struct cov_peak_span cov_peak_input_next(struct cov_peak_input *in, size_t contig)
{
    const struct cov_peak_list *peaks = &in->peaks;
    const struct cov_region_list *merged = &in->merged;
    struct cov_peak_span span = {.items = peaks->items + in->next,
                                 .merged = {merged->items + in->next_merged, 0}};
    while (in->next < peaks->n && peaks->items[in->next].region.contig == contig) {
        in->next++;
        span.n++;
    }
    while (in->next_merged < merged->n && merged->items[in->next_merged].contig == contig) {
        in->next_merged++;
        span.merged.n++;
    }
    return span;
}
