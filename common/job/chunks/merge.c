/* merge.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/chunk/predictions.h"

enum { SHARDS_TEXT = 320 }; /* more than find_missing writes */

struct merge_row {
    struct cov_rewrite_row from;
    struct cov_chunk chunk;
};

/* Part i of n; n = 0 if the file does not say. */
struct shard {
    int64_t i, n;
};

struct parts {
    const char *const *paths;
    size_t n;
    struct cov_chunk_file *first; /* parts[0]; the others are open only while they are scanned */
    const struct cov_grid *grid;  /* of the first */
    struct shard *shards;         /* [n] */
    struct merge_row *rows;       /* of all parts */
    size_t n_rows, cap;
    bool allow_holes;
    /* Attributes of predictions: whether they differ between parts, and `outside` of the first
     * part that has it. */
    bool regions_differ, devices_differ, versions_differ;
    char *outside;
};

/* ---- parts of one file ---- */

static int fail_differ(const struct parts *p, size_t i, const char *what, struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s and %s are not parts of one file: %s", p->paths[0],
                    p->paths[i], what);
}

static int compare_sequences(const struct parts *p, size_t i, const struct cov_grid *b,
                             struct cov_err *e)
{
    const struct cov_grid *a = p->grid;
    char text[512];
    if (cov_grid_chunk_length(a) != cov_grid_chunk_length(b)) {
        (void)snprintf(text, sizeof text, "chunks of %zu and %zu bases", cov_grid_chunk_length(a),
                       cov_grid_chunk_length(b));
        return fail_differ(p, i, text, e);
    }
    size_t n = cov_grid_n_seqs(a), m = cov_grid_n_seqs(b);
    for (size_t s = 0; s < n && s < m; s++) {
        const char *x = cov_grid_name(a, s), *y = cov_grid_name(b, s);
        const char *u = cov_grid_species(a, s), *v = cov_grid_species(b, s);
        int64_t k = cov_grid_seq_length(a, s), l = cov_grid_seq_length(b, s);
        if (strcmp(u, v) != 0)
            (void)snprintf(text, sizeof text, "sequence %zu is of species %.100s and %.100s", s + 1,
                           u, v);
        else if (strcmp(x, y) != 0)
            (void)snprintf(text, sizeof text, "sequence %zu is %.200s and %.200s", s + 1, x, y);
        else if (k != l)
            (void)snprintf(text, sizeof text,
                           "sequence %.300s has %" PRId64 " and %" PRId64 " bases", x, k, l);
        else
            continue;
        return fail_differ(p, i, text, e);
    }
    if (n == m)
        return COV_OK;
    (void)snprintf(text, sizeof text, "%zu and %zu sequences", n, m);
    return fail_differ(p, i, text, e);
}

static const char missing[] = "is missing in one of them";

static const char *compare_set(const struct cov_chunk_set *a, const struct cov_chunk_set *b)
{
    if (!b)
        return missing;
    if (!cov_h5_same_type(&a->type, &b->type))
        return "has different types";
    if (a->rank != b->rank || a->dims[0] != b->dims[0] || a->dims[1] != b->dims[1])
        return "has different shapes";
    return memcmp(a->fill, b->fill, a->type.bytes) == 0 ? NULL : "has different fill values";
}

static const char *compare_table(const struct cov_chunk_table *a, const struct cov_chunk_table *b)
{
    if (!b)
        return missing;
    if (!cov_h5_same_type(&a->type, &b->type))
        return "has different types";
    if (a->rank != b->rank || memcmp(a->dims, b->dims, sizeof a->dims) != 0)
        return "has different shapes";
    return memcmp(a->elems, b->elems, a->n_bytes) == 0 ? NULL : "differs";
}

static const char *made_by(const struct cov_chunk_head *h)
{
    const char *command = cov_chunk_head_attr(h, NULL, COV_MADE_COMMAND);
    return command ? command : "an unknown command";
}

static int compare_heads(const struct parts *p, size_t i, const struct cov_chunk_head *b,
                         struct cov_err *e)
{
    const struct cov_chunk_head *a = cov_chunk_file_head(p->first);
    const char *what = NULL, *name = NULL;
    if (a->has_bases != b->has_bases)
        return fail_differ(p, i, "only one has bases", e);
    if (!cov_chunk_head_same_attr(a, b, NULL, COV_MADE_MODEL))
        return fail_differ(p, i, "predicted with different models (" COV_MADE_MODEL ")", e);
    if (cov_chunk_head_attr(a, NULL, COV_GENOME_ATTR) &&
        cov_chunk_head_attr(b, NULL, COV_GENOME_ATTR) &&
        !cov_chunk_head_same_attr(a, b, NULL, COV_GENOME_ATTR))
        return fail_differ(p, i, "predicted from different bases (" COV_GENOME_ATTR ")", e);
    for (size_t k = 0; !what && k < a->n_sets; k++) {
        name = a->sets[k].name;
        what = compare_set(&a->sets[k], cov_chunk_head_set(b, name));
        if (!what && !cov_chunk_head_same_attr(a, b, name, COV_PREDICTIONS_OVERLAP_ATTR))
            what = "was predicted with different --overlap";
    }
    for (size_t k = 0; !what && k < b->n_sets; k++) {
        name = b->sets[k].name;
        what = cov_chunk_head_set(a, name) ? NULL : missing;
    }
    for (size_t k = 0; !what && k < a->n_tables; k++) {
        name = a->tables[k].name;
        if (strcmp(name, COV_PREDICTIONS_MODEL) != 0 || !cov_made_by_known_models(a, b))
            what = compare_table(&a->tables[k], cov_chunk_head_table(b, name));
    }
    for (size_t k = 0; !what && k < b->n_tables; k++) {
        name = b->tables[k].name;
        what = cov_chunk_head_table(a, name) ? NULL : missing;
    }
    char text[512];
    if (what)
        (void)snprintf(text, sizeof text, "%.400s %s", name, what);
    else if (cov_made_with_same_options(a, b))
        return COV_OK;
    else
        (void)snprintf(text, sizeof text, "predicted by `%.200s` and `%.200s`", made_by(a),
                       made_by(b));
    return fail_differ(p, i, text, e);
}

/* ---- which parts there are ---- */

static struct shard read_shard(const struct cov_chunk_head *h)
{
    struct shard s;
    const char *text = cov_chunk_head_attr(h, NULL, COV_SHARD_ATTR);
    return text && cov_parse_part(text, "", &s.i, &s.n, NULL) == COV_OK ? s : (struct shard){0, 0};
}

static bool is_given(const struct parts *p, int64_t part, size_t n_files)
{
    for (size_t k = 0; k < n_files; k++)
        if (p->shards[k].i == part)
            return true;
    return false;
}

/* Writes "part 2 of 3 is missing". Returns false if no part is, or the files do not say. */
static bool find_missing(const struct parts *p, char *text, size_t size)
{
    enum { MOST = 8 };
    int64_t n = p->shards[0].n, n_missing = n, part = 1;
    for (size_t k = 0; k < p->n; k++) {
        if (p->shards[k].n != n)
            return false;
        n_missing -= !is_given(p, p->shards[k].i, k);
    }
    if (n == 0 || n_missing == 0)
        return false;
    if (n_missing > MOST) {
        while (is_given(p, part, p->n))
            part++;
        (void)snprintf(text, size,
                       "%" PRId64 " of %" PRId64 " parts are missing, the first is part %" PRId64,
                       n_missing, n, part);
        return true;
    }
    int used = snprintf(text, size, "part%s", n_missing > 1 ? "s" : "");
    for (int64_t listed = 0; listed < n_missing; part++)
        if (!is_given(p, part, p->n))
            used += snprintf(text + used, size - (size_t)used, "%s%" PRId64, listed++ ? ", " : " ",
                             part);
    (void)snprintf(text + used, size - (size_t)used, " of %" PRId64 " %s missing", n,
                   n_missing > 1 ? "are" : "is");
    return true;
}

/* Says how much of the genome the result lacks, if anything. */
static void report_holes(const struct parts *p)
{
    const struct cov_grid *g = p->grid;
    int64_t n = 0, n_missing;
    char which[SHARDS_TEXT], how_much[128];
    for (size_t s = 0; s < cov_grid_n_seqs(g); s++)
        n += 2 * cov_grid_seq_length(g, s);
    n_missing = n;
    for (size_t i = 0; i < p->n_rows; i++)
        n_missing -= p->rows[i].chunk.end - p->rows[i].chunk.beg;
    if (n_missing <= 0)
        return;
    (void)snprintf(how_much, sizeof how_much,
                   "the result lacks %" PRId64 " of %" PRId64 " bases (%.3g %%)", n_missing / 2,
                   n / 2, 100 * (double)n_missing / (double)n);
    if (find_missing(p, which, sizeof which))
        cov_warn("%s: %s", which, how_much);
    else
        cov_info("%s", how_much);
}

/* ---- rows ---- */

/* Compares rows in Helixer's order; rows of the same interval are sorted by file, for messages. */
static int by_order(const void *a, const void *b)
{
    const struct merge_row *x = a, *y = b;
    if (x->chunk.seq != y->chunk.seq)
        return x->chunk.seq < y->chunk.seq ? -1 : 1;
    if (x->chunk.minus != y->chunk.minus)
        return x->chunk.minus ? 1 : -1;
    if (x->chunk.beg != y->chunk.beg)
        return (x->chunk.beg < y->chunk.beg) == x->chunk.minus ? 1 : -1;
    return (x->from.file > y->from.file) - (x->from.file < y->from.file);
}

static int add_rows(struct parts *p, size_t i, const struct cov_grid *g, struct cov_err *e)
{
    size_t n = cov_grid_n_chunks(g), n_all;
    if (cov_size_add(p->n_rows, n, &n_all))
        return cov_fail(e, COV_ENOMEM, "too many rows");
    int rc = COV_RESERVE(&p->rows, &p->cap, n_all, e);
    for (size_t k = 0; !rc && k < n; k++)
        p->rows[p->n_rows++] = (struct merge_row){{i, k}, cov_grid_chunk(g, k)};
    return rc;
}

/* Fails because [beg, end) of a strand is missing. */
static int fail_hole(const struct parts *p, size_t seq, bool minus, int64_t beg, int64_t end,
                     struct cov_err *e)
{
    char which[SHARDS_TEXT];
    const bool known = find_missing(p, which, sizeof which);
    int rc = cov_fail(e, COV_EINPUT,
                      "sequence %s, %c strand: chunks of %" PRId64 "-%" PRId64 " are missing%s",
                      cov_grid_name(p->grid, seq), minus ? '-' : '+', beg + 1, end,
                      known ? ""
                            : "; give the file that has them, or use --allow-holes if the "
                              "parts are of a subset");
    return known ? cov_err_prefix(e, rc, "%s", which) : rc;
}

/* Checks that the rows from *at on tile one strand of a sequence; moves *at past them. */
static int check_strand(const struct parts *p, size_t seq, bool minus, size_t *at,
                        struct cov_err *e)
{
    const struct cov_grid *g = p->grid;
    int64_t length = cov_grid_seq_length(g, seq), edge = minus ? length : 0;
    for (; *at < p->n_rows; (*at)++) {
        const struct merge_row *r = &p->rows[*at];
        if (r->chunk.seq != seq || r->chunk.minus != minus)
            break;
        int64_t here = minus ? r->chunk.end : r->chunk.beg;
        bool hole = minus ? here < edge : here > edge;
        if (hole && !p->allow_holes)
            return fail_hole(p, seq, minus, minus ? here : edge, minus ? edge : here, e);
        if (here != edge && !hole) {
            const struct merge_row *before = r - 1; /* exists, since the edge has moved */
            const struct shard *a = &p->shards[before->from.file], *b = &p->shards[r->from.file];
            if (a->n > 0 && a->i == b->i && a->n == b->n)
                return cov_fail(e, COV_EINPUT,
                                "part %" PRId64 " of %" PRId64 " is given twice: %s and %s", a->i,
                                a->n, p->paths[before->from.file], p->paths[r->from.file]);
            int64_t x = r->chunk.beg, y = before->chunk.beg;
            return cov_fail(e, COV_EINPUT,
                            "sequence %s, %c strand: chunks overlap at position %" PRId64
                            ": row %zu of %s and row %zu of %s",
                            cov_grid_name(g, seq), minus ? '-' : '+', (x > y ? x : y) + 1,
                            before->from.row, p->paths[before->from.file], r->from.row,
                            p->paths[r->from.file]);
        }
        edge = minus ? r->chunk.beg : r->chunk.end;
    }
    if (edge != (minus ? 0 : length) && !p->allow_holes)
        return fail_hole(p, seq, minus, minus ? 0 : edge, minus ? edge : length, e);
    return COV_OK;
}

/* Makes the grid of the sorted rows. */
static int make_grid(const struct parts *p, struct cov_grid **out, struct cov_err *e)
{
    const struct cov_grid *g = p->grid;
    struct cov_grid_builder *b = NULL;
    *out = NULL;
    int rc = cov_grid_builder_new(cov_grid_chunk_length(g), &b, e);
    if (!rc && p->allow_holes)
        rc = cov_grid_builder_declare_all(b, g, e);
    for (size_t i = 0; !rc && i < p->n_rows; i++) {
        const struct cov_chunk *c = &p->rows[i].chunk;
        struct cov_seq_id id = cov_grid_seq_id(g, c->seq);
        rc =
            cov_grid_builder_add(b, &id, c->minus ? c->end : c->beg, c->minus ? c->beg : c->end, e);
    }
    if (!rc)
        return cov_grid_builder_finish(b, out, e);
    cov_grid_builder_free(b);
    return rc;
}

/* ---- the attributes of the result ---- */

/* Values depend on the version, so warns once about parts of several. */
static void compare_versions(struct parts *p, size_t i, const struct cov_chunk_head *h)
{
    const struct cov_chunk_head *first = cov_chunk_file_head(p->first);
    const char *a = cov_chunk_head_attr(first, NULL, COV_CHUNK_VERSION);
    const char *b = cov_chunk_head_attr(h, NULL, COV_CHUNK_VERSION);
    if (p->versions_differ || !cov_chunk_head_set(h, COV_PREDICTIONS_SET) || !a || !b ||
        strcmp(a, b) == 0)
        return;
    p->versions_differ = true;
    cov_warn("%s and %s were written by covtools %s and %s: predictions of two versions may differ",
             p->paths[0], p->paths[i], a, b);
}

/* Compares the predictions of a part with the first part, and notes what differs. */
static int note_regions(struct parts *p, const struct cov_chunk_head *h, struct cov_err *e)
{
    const char *set = COV_PREDICTIONS_SET;
    const struct cov_chunk_head *first = cov_chunk_file_head(p->first);
    const char *outside = cov_chunk_head_attr(h, set, COV_PREDICTIONS_OUTSIDE_ATTR);
    p->regions_differ |= !cov_chunk_head_same_attr(h, first, set, COV_PREDICTIONS_REGIONS_ATTR);
    p->devices_differ |= !cov_chunk_head_same_attr(h, first, NULL, COV_MADE_DEVICE);
    if (!outside || p->outside)
        return COV_OK;
    p->outside = cov_strdup(outside, e);
    return p->outside ? COV_OK : COV_ENOMEM;
}

/* If any part has predictions of regions only, so does the result; if the parts' regions or devices
 * differ, the result does not name them. */
static int join_regions(const struct parts *p, struct cov_chunk_head *to, struct cov_err *e)
{
    const char *set = COV_PREDICTIONS_SET;
    if (!cov_chunk_head_set(to, set))
        return COV_OK;
    if (p->regions_differ)
        cov_chunk_head_drop_attr(to, set, COV_PREDICTIONS_REGIONS_ATTR);
    if (p->devices_differ)
        cov_chunk_head_drop_attr(to, NULL, COV_MADE_DEVICE);
    return p->outside && !cov_chunk_head_attr(to, set, COV_PREDICTIONS_OUTSIDE_ATTR)
               ? cov_chunk_head_add_attr(to, set, COV_PREDICTIONS_OUTSIDE_ATTR, p->outside, e)
               : COV_OK;
}

/* ---- the job ---- */

/* Opens part i, compares it with the first, and adds its rows. */
static int scan_part(struct parts *p, size_t i, struct cov_err *e)
{
    struct cov_chunk_file *f;
    int rc = cov_chunk_file_open(p->paths[i], &f, e);
    if (rc)
        return rc;
    const struct cov_chunk_head *head = cov_chunk_file_head(f);
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    if (i == 0) {
        p->first = f;
        p->grid = grid;
    } else {
        rc = compare_sequences(p, i, grid, e);
        if (!rc)
            rc = compare_heads(p, i, head, e);
    }
    if (!rc)
        rc = note_regions(p, head, e);
    if (!rc)
        compare_versions(p, i, head);
    if (!rc)
        rc = add_rows(p, i, grid, e);
    p->shards[i] = read_shard(head);
    if (i > 0)
        cov_chunk_file_close(f);
    return rc;
}

/* Writes the rows. The part of the first row, which is the template, replaces p->first. */
static int write_rows(struct parts *p, const struct cov_grid *grid, const char *path,
                      const struct cov_job *job, struct cov_err *e)
{
    const size_t template = p->n_rows ? p->rows[0].from.file : 0;
    struct cov_chunk_head head = {.L = 0};
    struct cov_rewrite_row *rows = cov_malloc(p->n_rows, sizeof *rows, e);
    if (!rows)
        return COV_ENOMEM;
    for (size_t i = 0; i < p->n_rows; i++)
        rows[i] = p->rows[i].from;
    free(p->rows); /* no longer needed; saves memory */
    p->rows = NULL;
    int rc = COV_OK;
    if (template > 0) {
        cov_chunk_file_close(p->first);
        rc = cov_chunk_file_open(p->paths[template], &p->first, e);
    }
    if (!rc)
        rc = cov_chunk_head_copy(cov_chunk_file_head(p->first), &head, e);
    if (!rc)
        rc = join_regions(p, &head, e);
    const struct cov_rewrite_plan plan = {.paths = p->paths,
                                          .n_files = p->n,
                                          .file = p->first,
                                          .template = template,
                                          .rows = rows,
                                          .grid = grid,
                                          .from = rc ? NULL : cov_chunk_file_head(p->first),
                                          .to = &head};
    if (!rc)
        rc = cov_rewrite(&plan, path, job, e);
    cov_chunk_head_fini(&head);
    free(rows);
    return rc;
}

/* Fails if the statistics of the shards describe more or less than the shards. */
static int check_statistics(const struct cov_stats_shards *shards, const struct cov_grid *grid,
                            struct cov_err *e)
{
    const int64_t n = (int64_t)cov_grid_n_chunks(grid);
    if (!shards->n || shards->chunks == n)
        return COV_OK;
    return cov_fail(e, COV_EINPUT,
                    "--shard-stats: the statistics have %" PRId64 " chunks, the shards %" PRId64
                    "; give one file for each shard",
                    shards->chunks, n);
}

int cov_merge(const char *const *inputs, size_t n, const char *output, bool allow_holes,
              const struct cov_rewrite_job *job, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_grid *grid = NULL;
    struct parts p = {.paths = inputs, .n = n, .allow_holes = allow_holes};
    int rc = cov_rewrite_begin(&out, output, inputs, n, job->force, e);
    if (rc)
        goto out;
    p.shards = cov_calloc(n, sizeof *p.shards, e);
    rc = p.shards ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        rc = scan_part(&p, i, e);
    if (!rc && p.n_rows)
        qsort(p.rows, p.n_rows, sizeof *p.rows, by_order);
    size_t at = 0;
    for (size_t k = 0; !rc && k < 2 * cov_grid_n_seqs(p.grid); k++)
        rc = check_strand(&p, k / 2, k % 2, &at, e);
    if (!rc)
        report_holes(&p);
    if (!rc)
        rc = make_grid(&p, &grid, e);
    if (!rc)
        rc = check_statistics(&job->job.stats->shards, grid, e);
    if (!rc)
        rc = write_rows(&p, grid, out.tmp, &job->job, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
out:
    cov_chunk_file_close(p.first);
    free(p.outside);
    free(p.shards);
    free(p.rows);
    cov_grid_free(grid);
    cov_outfile_end(&out, e);
    return rc;
}
