/* peak_list.c - see peak_list.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/peak_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/lines.h"
#include "common/store/chunk_file.h"

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
    struct cov_sizes *sizes;
    size_t cap = 0;
    int rc = cov_sizes_read(g->path, &sizes, e);
    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < cov_sizes_count(sizes); i++)
        rc = add_sequence(g, &cap, cov_sizes_name(sizes, i), cov_sizes_length(sizes, i), e);
    cov_sizes_free(sizes);
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
    for (size_t i = 0; !rc && i < cov_grid_n_seqs(grid); i++)
        rc = add_sequence(g, &cap, cov_grid_name(grid, i), cov_grid_seq_length(grid, i), e);
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
};

static bool word_is(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

static int take_line(struct reader *r, size_t line, const char *p, const char *end,
                     struct cov_err *e)
{
    size_t n_name, n_beg = 0, n_end = 0, unused;
    bool is_new;
    struct cov_region peak = {0, 0, 0};
    const char *name = cov_line_word(&p, end, &n_name);
    if (!name || word_is(name, n_name, "track") || word_is(name, n_name, "browser"))
        return COV_OK;
    const char *beg_text = cov_line_word(&p, end, &n_beg);
    const char *end_text = beg_text ? cov_line_word(&p, end, &n_end) : NULL;
    if (!end_text || !cov_text_position(beg_text, n_beg, &peak.beg) ||
        !cov_text_position(end_text, n_end, &peak.end))
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected a sequence, a start and an end", r->path,
                        line);
    if (peak.end <= peak.beg)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: the peak ends at %" PRId64 ", but starts at %" PRId64, r->path,
                        line, peak.end, peak.beg);
    int rc = COV_OK;
    if (!r->genome->path)
        rc = cov_names_add(r->genome->names, name, n_name, &peak.contig, &is_new, e);
    else if (!cov_names_find(r->genome->names, name, n_name, &peak.contig)) {
        r->n_dropped++;
        return cov_names_add(r->unknown, name, n_name, &unused, &is_new, e);
    }
    if (r->genome->path && peak.end > r->genome->lengths[peak.contig])
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: the peak ends at %" PRId64 ", but %.*s has only %" PRId64
                        " bases in %s",
                        r->path, line, peak.end, (int)n_name, name, r->genome->lengths[peak.contig],
                        r->genome->path);
    if (!rc)
        rc = COV_RESERVE(&r->list->items, &r->list->cap, r->list->n + 1, e);
    if (!rc)
        r->list->items[r->list->n++] = peak;
    return rc;
}

/* Lists the first names. */
static void list_names(const struct cov_names *names, struct cov_listing *l)
{
    for (size_t i = 0; i < cov_names_count(names); i++)
        cov_listing_add(l, cov_names_get(names, i, NULL));
}

static int check_names(const struct reader *r, struct cov_err *e)
{
    struct cov_listing unknown = {0}, known = {0};
    if (r->list->n == 0 && r->n_dropped == 0)
        cov_warn("%s: there are no peaks", r->path);
    if (r->n_dropped == 0)
        return COV_OK;
    list_names(r->unknown, &unknown);
    list_names(r->genome->names, &known);
    if (r->list->n == 0)
        return cov_fail(e, COV_EINPUT, "%s: none of its sequences (%s%s) is in %s (%s%s)", r->path,
                        unknown.text, cov_listing_more(&unknown), r->genome->path, known.text,
                        cov_listing_more(&known));
    cov_warn("%s: %zu peak%s on sequences that are not in %s: %s%s", r->path, r->n_dropped,
             cov_text_s((int64_t)r->n_dropped), r->genome->path, unknown.text,
             cov_listing_more(&unknown));
    return COV_OK;
}

int cov_peak_list_read(const char *path, struct cov_peak_genome *genome, struct cov_peak_list *out,
                       struct cov_err *e)
{
    struct reader r = {.path = path, .genome = genome, .list = out};
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
    if (!rc)
        rc = check_names(&r, e);
    cov_names_free(r.unknown);
    return rc;
}

void cov_peak_list_fini(struct cov_peak_list *l)
{
    free(l->items);
    *l = (struct cov_peak_list){0};
}
