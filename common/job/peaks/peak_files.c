/* peak_files.c - see peak_files.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/peak_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/chunk/chunk_file.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/file/textfile.h"
#include "common/seq/regions.h"

/* ---------------------------------------------------------------- genome */

static int add_sequence(struct cov_peak_genome *g, size_t *cap, const char *name, int64_t length,
                        struct cov_err *e)
{
    size_t i;
    bool is_new;
    int rc = cov_names_add(g->names, name, strlen(name), &i, &is_new, e);
    if (!rc)
        rc = COV_RESERVE(&g->lengths, cap, i + 1, e);
    if (!rc)
        g->lengths[i] = length;
    return rc;
}

static int read_sizes(struct cov_peak_genome *g, struct cov_err *e)
{
    struct cov_sizes sizes = {0};
    size_t cap = 0;
    int rc = cov_sizes_read(g->path, &sizes, e);
    for (size_t i = 0; !rc && i < cov_names_count(sizes.names); i++)
        rc = add_sequence(g, &cap, cov_names_get(sizes.names, i, NULL), sizes.lengths[i], e);
    cov_sizes_fini(&sizes);
    return rc;
}

static int read_grid(struct cov_peak_genome *g, struct cov_err *e)
{
    struct cov_chunk_file *f;
    size_t cap = 0;
    int rc = cov_chunk_file_open(g->path, &f, e);
    if (rc)
        return rc;
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    for (size_t i = 0; !rc && i < cov_grid_n_seqs(grid); i++) {
        rc = add_sequence(g, &cap, cov_grid_name(grid, i), cov_grid_seq_length(grid, i), e);
        g->n_missing += cov_grid_seq_length(grid, i);
    }
    for (size_t i = 0; i < cov_grid_n_pairs(grid); i++) {
        const struct cov_pair pair = cov_grid_pair(grid, i);
        g->n_missing -= pair.end - pair.beg;
    }
    if (!cov_grid_is_partial(grid))
        g->n_missing = 0;
    cov_chunk_file_close(f);
    return rc;
}

int cov_peak_genome_read(const char *path, bool is_list, struct cov_peak_genome *out,
                         struct cov_err *e)
{
    *out = (struct cov_peak_genome){.path = path};
    int rc = cov_names_new(&out->names, e);
    if (rc || !path)
        return rc;
    return is_list ? read_sizes(out, e) : read_grid(out, e);
}

void cov_peak_genome_fini(struct cov_peak_genome *g)
{
    cov_names_free(g->names);
    free(g->lengths);
    *g = (struct cov_peak_genome){0};
}

/* ---------------------------------------------------------------- peaks */

struct reader {
    const char *path;
    struct cov_peak_genome *genome;
    struct cov_peak_list *list;
    struct cov_names *unknown; /* sequences that the genome lacks */
    size_t n_dropped;
    size_t recent[256]; /* items of the list, by a hash of the place; each may have moved */
};

static int by_place(const void *a, const void *b)
{
    const struct cov_region *x = &((const struct cov_counted_peak *)a)->region;
    const struct cov_region *y = &((const struct cov_counted_peak *)b)->region;
    if (x->contig != y->contig)
        return x->contig < y->contig ? -1 : 1;
    if (x->beg != y->beg)
        return x->beg < y->beg ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Sorts the peaks, and joins equal ones. */
static void join(struct cov_peak_list *l)
{
    size_t n = 0;
    if (l->n > 0)
        qsort(l->items, l->n, sizeof *l->items, by_place);
    for (size_t i = 0; i < l->n; i++)
        if (n > 0 && by_place(&l->items[n - 1], &l->items[i]) == 0)
            l->items[n - 1].n += l->items[i].n;
        else
            l->items[n++] = l->items[i];
    l->n = n;
}

/* Adds a peak. A small compressed file may repeat the same peaks millions of times, hence finds
 * recent ones without sorting, and joins equal ones before the list grows. */
static int add_peak(struct reader *r, const struct cov_region *region, struct cov_err *e)
{
    enum { FEW = 4096 };
    const struct cov_counted_peak peak = {*region, 1};
    struct cov_peak_list *l = r->list;
    const uint64_t place = (uint64_t)region->beg * 31 + (uint64_t)region->end * 7 + region->contig;
    size_t *recent = &r->recent[place % COV_COUNT(r->recent)];
    int rc = COV_OK;
    if (*recent < l->n && by_place(&l->items[*recent], &peak) == 0) {
        l->items[*recent].n++;
        return COV_OK;
    }
    if (l->n == l->cap) {
        if (l->n >= FEW)
            join(l);
        if (l->n >= l->cap / 2)
            rc = COV_RESERVE(&l->items, &l->cap, l->cap + 1, e);
    }
    if (!rc) {
        *recent = l->n;
        l->items[l->n++] = peak;
    }
    return rc;
}

static int note_last(struct cov_peak_list *l, const struct cov_region *peak, size_t line,
                     struct cov_err *e)
{
    int rc = COV_RESERVE(&l->last, &l->cap_last, peak->contig + 1, e);
    while (!rc && l->n_last <= peak->contig)
        l->last[l->n_last++] = (struct cov_last_peak){0};
    if (!rc && peak->end > l->last[peak->contig].end)
        l->last[peak->contig] = (struct cov_last_peak){peak->end, line};
    return rc;
}

/* Notes the name of a sequence that the genome lacks; a few are enough for messages. */
static int drop(struct reader *r, const char *name, size_t n, struct cov_err *e)
{
    enum { SOME = 100 };
    size_t unused;
    bool is_new;
    r->n_dropped++;
    return cov_names_count(r->unknown) < SOME
               ? cov_names_add(r->unknown, name, n, &unused, &is_new, e)
               : COV_OK;
}

static int check_end(const struct reader *r, const struct cov_region *peak, size_t line,
                     struct cov_err *e)
{
    const struct cov_peak_genome *g = r->genome;
    const struct cov_overhang overhang = {r->path,
                                          "peak",
                                          line,
                                          peak->end,
                                          cov_names_get(g->names, peak->contig, NULL),
                                          g->lengths[peak->contig],
                                          g->path};
    return peak->end <= overhang.length ? COV_OK : cov_overhang_fail(&overhang, e);
}

static int take_line(struct reader *r, size_t line, const char *p, const char *end,
                     struct cov_err *e)
{
    struct cov_bed_line l;
    bool is_new;
    cov_bed_line_split(p, end, &l);
    if (l.n == 0 || l.is_head)
        return COV_OK;
    if (!l.has_place)
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected contig, start and end%s", r->path, line,
                        cov_line_bed_hint(p, end));
    const struct cov_word name = l.words[0];
    struct cov_region peak = {0, l.beg, l.end};
    if (peak.end <= peak.beg)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: the peak ends at %" PRId64 ", but starts at %" PRId64, r->path,
                        line, peak.end, peak.beg);
    int rc = COV_OK;
    const bool is_known = cov_names_find(r->genome->names, name.text, name.n, &peak.contig);
    if (!is_known && r->genome->path)
        return drop(r, name.text, name.n, e);
    if (!is_known && name.n > COV_PEAK_NAME)
        return cov_fail(e, COV_EINPUT, "%s:%zu: the name of the sequence is longer than %d bytes",
                        r->path, line, COV_PEAK_NAME);
    if (!is_known)
        rc = cov_names_add(r->genome->names, name.text, name.n, &peak.contig, &is_new, e);
    if (!rc && r->genome->path)
        rc = check_end(r, &peak, line, e);
    if (!rc)
        rc = note_last(r->list, &peak, line, e);
    return rc ? rc : add_peak(r, &peak, e);
}

/* Lists the first names. */
static void list_names(const struct cov_names *names, struct cov_listing *l)
{
    for (size_t i = 0; i < cov_names_count(names); i++)
        cov_listing_add(l, cov_names_get(names, i, NULL));
}

static int check_names(const struct reader *r, struct cov_err *e)
{
    struct cov_misplaced misplaced = {.path = r->path,
                                      .what = "peak",
                                      .n = r->n_dropped,
                                      .is_all = r->list->n == 0,
                                      .input = r->genome->path,
                                      .hint = ""};
    list_names(r->unknown, &misplaced.sequences);
    list_names(r->genome->names, &misplaced.there);
    return cov_misplaced_check(&misplaced, true, e);
}

int cov_peak_list_check_kind(const char *path, const char *hint, struct cov_err *e)
{
    static const char *const suffixes[] = {".bedGraph", ".bedgraph", ".bdg", ".bg"};
    const enum cov_kind kind = cov_kind_of_file(path, NULL);
    bool is_track = kind == COV_KIND_BIGWIG || kind == COV_KIND_HDF5 || kind == COV_KIND_STREAM;
    for (size_t i = 0; i < COV_COUNT(suffixes); i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%s.gz", suffixes[i]);
        is_track =
            is_track || cov_path_has_suffix(path, suffixes[i]) || cov_path_has_suffix(path, name);
    }
    if (is_track)
        return cov_fail(e, COV_EINPUT, "%s: %s", path, hint);
    return kind == COV_KIND_UNKNOWN || kind == COV_KIND_BED || kind == COV_KIND_NARROWPEAK ||
                   kind == COV_KIND_GZIP
               ? COV_OK
               : cov_fail_kind(e, path, "not a file of peaks");
}

int cov_peak_list_read(const char *path, struct cov_peak_genome *genome, struct cov_peak_list *out,
                       struct cov_err *e)
{
    struct reader r = {.path = cov_path_of_input(path), .genome = genome, .list = out};
    struct cov_lines *lines = NULL;
    const char *text;
    size_t n, line;
    *out = (struct cov_peak_list){0};
    int rc = cov_names_new(&r.unknown, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    while (!rc && (rc = cov_lines_next(lines, &text, &n, &line, e)) > 0)
        rc = take_line(&r, line, text, text + n, e);
    cov_lines_close(lines);
    join(out);
    if (!rc)
        rc = check_names(&r, e);
    cov_names_free(r.unknown);
    return rc;
}

void cov_peak_list_fini(struct cov_peak_list *l)
{
    free(l->items);
    free(l->last);
    *l = (struct cov_peak_list){0};
}

int cov_peak_list_merge(const struct cov_peak_list *l, struct cov_region_list *out,
                        struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < l->n; i++)
        rc = cov_region_list_add(out, l->items[i].region, e);
    if (!rc)
        cov_region_list_merge(out);
    return rc;
}

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
    return rc || !o->blacklist ? rc : cov_blacklist_read(o->blacklist, false, &out->blacklist, e);
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

/* ---------------------------------------------------------------- sequence by sequence */

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
