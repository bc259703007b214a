/* subset.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/seq/holdout.h"
#include "common/seq/regions.h"

/* ---- chunks of N only ---- */

static int drop_n(struct cov_chunk_file *f, const char *path, bool *wanted,
                  const struct cov_job *job, struct cov_err *e)
{
    const struct cov_grid *g = cov_chunk_file_grid(f);
    const size_t n_rows = cov_grid_n_chunks(g);
    struct cov_survey v = {.n = 0};
    if (!cov_chunk_file_head(f)->has_bases)
        return cov_fail(e, COV_EINPUT, "--drop-n: %s has no bases", path);
    bool *kept = cov_calloc(n_rows, sizeof *kept, e);
    int rc = kept ? cov_survey_file(f, wanted, "looking for N", job, &v, e) : COV_ENOMEM;
    for (size_t i = 0; !rc && i < v.n; i++) {
        const struct cov_pair p = cov_grid_pair(g, v.chunks[i].index);
        for (int k = COV_PLUS; k <= COV_MINUS; k++)
            if (p.rows[k] != COV_NO_ROW)
                kept[p.rows[k]] = wanted[p.rows[k]];
    }
    if (!rc && n_rows > 0)
        memcpy(wanted, kept, n_rows * sizeof *kept);
    cov_survey_fini(&v);
    free(kept);
    return rc;
}

/* ---- subset ---- */

static int choose(const char *input, const struct cov_grid *g, const struct cov_subset_options *o,
                  bool *wanted, struct cov_err *e)
{
    struct cov_select *s = NULL;
    int rc = cov_select_new(g, &s, e);
    if (!rc) {
        rc = cov_select_regions(s, (const char *const *)o->regions.items, o->regions.n, e);
        if (rc)
            (void)cov_err_prefix(e, rc, "%s", input);
    }
    if (!rc && o->bed_path)
        rc = cov_select_read(s, COV_SELECT_BED, "--regions-file", o->bed_path, e);
    if (!rc && o->names_path)
        rc = cov_select_read(s, COV_SELECT_NAMES, "--names", o->names_path, e);
    if (!rc && o->excluded_path)
        rc = cov_select_read(s, COV_SELECT_EXCLUDED, "--exclude-names", o->excluded_path, e);
    if (!rc)
        cov_select_rows(s, o->min_length, wanted);
    cov_select_free(s);
    return rc;
}

int cov_subset(const char *input, const char *output, const struct cov_subset_options *options,
               const struct cov_rewrite_storage *storage, const struct cov_rewrite_job *job,
               struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_chunk_file *f = NULL;
    bool *wanted = NULL;
    int rc = cov_rewrite_begin(&out, output, &input, 1, job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (!rc && options) {
        size_t n = cov_grid_n_chunks(cov_chunk_file_grid(f));
        wanted = cov_malloc(n, sizeof *wanted, e);
        rc = wanted ? choose(input, cov_chunk_file_grid(f), options, wanted, e) : COV_ENOMEM;
        if (!rc && options->drop_n)
            rc = drop_n(f, input, wanted, &job->job, e);
        if (!rc && (n == 0 || !memchr(wanted, true, n)))
            rc = cov_fail(e, COV_EINPUT, "%s: no chunks left", input);
    }
    if (!rc)
        rc = cov_rewrite_rows(f, input, wanted, storage, out.tmp, &job->job, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    free(wanted);
    cov_chunk_file_close(f);
    cov_outfile_end(&out, e);
    return rc;
}

/* ---- several outputs ---- */

/* A file that is split into n others. */
struct split {
    const char *input;
    const struct cov_rewrite_job *job;
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    bool *wanted; /* rows of the next output */
    bool *kept;   /* rows of any output; NULL: all */
    size_t n;
    char **names;
    struct cov_outfile *parts;
};

/* Begins the outputs first, to detect existing files early, then opens the input. */
static int begin_split(struct split *s, struct cov_err *e)
{
    s->parts = cov_calloc(s->n, sizeof *s->parts, e);
    int rc = s->parts ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; s->parts && i < s->n; i++)
        s->parts[i] = (struct cov_outfile)COV_OUTFILE_INIT;
    for (size_t i = 0; !rc && i < s->n; i++)
        rc = cov_rewrite_begin(&s->parts[i], s->names[i], &s->input, 1, s->job->force, e);
    if (!rc)
        rc = cov_chunk_file_open(s->input, &s->file, e);
    if (rc)
        return rc;
    s->grid = cov_chunk_file_grid(s->file);
    s->wanted = cov_malloc(cov_grid_n_chunks(s->grid), sizeof *s->wanted, e);
    return s->wanted ? COV_OK : COV_ENOMEM;
}

/* Writes output i. `shard`: its COV_SHARD_ATTR, or NULL. */
static int write_part(struct split *s, size_t i, const char *shard, struct cov_err *e)
{
    const struct cov_rewrite_storage as_input = {.shard = shard};
    return cov_rewrite_rows(s->file, s->input, s->wanted, &as_input, s->parts[i].tmp, &s->job->job,
                            e);
}

static int commit_split(struct split *s, struct cov_err *e)
{
    struct cov_outfile **files = cov_malloc(s->n, sizeof *files, e);
    for (size_t i = 0; files && i < s->n; i++)
        files[i] = &s->parts[i];
    int rc = files ? cov_outfile_commit_all(files, s->n, e) : COV_ENOMEM;
    free(files);
    return rc;
}

static void end_split(struct split *s, struct cov_err *e)
{
    free(s->wanted);
    free(s->kept);
    cov_chunk_file_close(s->file);
    for (size_t i = 0; s->parts && i < s->n; i++)
        cov_outfile_end(&s->parts[i], e);
    free(s->parts);
    for (size_t i = 0; s->names && i < s->n; i++)
        free(s->names[i]);
    free(s->names);
}

/* ---- shards ---- */

/* Sets s->wanted for the rows of shard i. */
static int want_shard(struct split *s, size_t i, struct cov_err *e)
{
    size_t beg, end, *rows, n_rows;
    cov_grid_shard(s->grid, i, s->n, &beg, &end);
    int rc = cov_grid_rows_of_pairs(s->grid, beg, end, &rows, &n_rows, e);
    if (rc)
        return rc;
    memset(s->wanted, 0, cov_grid_n_chunks(s->grid) * sizeof *s->wanted);
    for (size_t k = 0; k < n_rows; k++)
        s->wanted[rows[k]] = true;
    free(rows);
    return COV_OK;
}

int cov_split_shards(const char *input, const char *prefix, size_t n,
                     const struct cov_rewrite_job *job, struct cov_err *e)
{
    struct split s = {.input = input, .job = job, .n = n};
    s.names = cov_calloc(n, sizeof *s.names, e);
    int rc = s.names ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        if (!(s.names[i] = cov_strfmt(e, "%s.%zu.h5", prefix, i + 1)))
            rc = COV_ENOMEM;
    if (!rc)
        rc = begin_split(&s, e);
    if (!rc && cov_grid_n_pairs(s.grid) < n)
        rc = cov_fail(e, COV_EINPUT, "%s: %zu pairs of chunks are too few for %zu shards", input,
                      cov_grid_n_pairs(s.grid), n);
    for (size_t i = 0; !rc && i < n; i++) {
        char shard[48];
        (void)snprintf(shard, sizeof shard, "%zu/%zu", i + 1, n);
        rc = want_shard(&s, i, e);
        if (!rc)
            rc = write_part(&s, i, n > 1 ? shard : NULL, e);
    }
    if (!rc)
        rc = commit_split(&s, e);
    end_split(&s, e);
    return rc;
}

/* ---- training and validation ---- */

enum { TRAIN, VAL, N_SETS };
static const char *const set_names[N_SETS] = {"train", "val"};

/* Creates DIRECTORY/train and DIRECTORY/val, and makes the paths of the files. */
static int name_sets(const char *directory, const char *name, struct cov_newdir directories[N_SETS],
                     char **names, struct cov_err *e)
{
    for (int k = 0; k < N_SETS; k++) {
        char *path = cov_path_join(directory, set_names[k], e);
        int rc = path ? cov_newdir_make(&directories[k], path, e) : COV_ENOMEM;
        names[k] = rc ? NULL : cov_path_join(path, name, e);
        free(path);
        if (rc || !names[k])
            return rc ? rc : COV_ENOMEM;
    }
    return COV_OK;
}

/* Sets marked[i] for the rows of the sequences that the list adds, or does not exclude. */
static int mark_listed(const struct cov_grid *g, enum cov_select_list list, const char *option,
                       const char *path, bool *marked, struct cov_err *e)
{
    struct cov_select *s = NULL;
    int rc = cov_select_new(g, &s, e);
    if (!rc)
        rc = cov_select_read(s, list, option, path, e);
    if (!rc)
        cov_select_rows(s, 0, marked);
    cov_select_free(s);
    return rc;
}

/* Clears held[i] for the rows of chunks[0..n), which have the same bases, if some of them are for
 * training. Returns the number of rows. */
static size_t release_copies(const struct cov_grid *g, const struct cov_keyed_chunk *chunks,
                             size_t n, bool *held)
{
    size_t n_held = 0, n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        const struct cov_pair p = cov_grid_pair(g, chunks[i].index);
        n_held += cov_pair_is_marked(&p, held);
    }
    for (size_t i = 0; n_held < n && i < n; i++) {
        const struct cov_pair p = cov_grid_pair(g, chunks[i].index);
        for (int k = COV_PLUS; k <= COV_MINUS; k++)
            if (p.rows[k] != COV_NO_ROW && held[p.rows[k]]) {
                held[p.rows[k]] = false;
                n_rows++;
            }
    }
    return n_rows;
}

/* Clears held[i] for rows whose bases are in training data, too: validation would measure what the
 * network remembers. */
static int hold_no_copies(const struct split *s, bool *held, size_t *n_moved, struct cov_err *e)
{
    struct cov_survey v = {.n = 0};
    size_t end;
    int rc = cov_survey_file(s->file, s->kept, "looking for copies", &s->job->job, &v, e);
    for (size_t beg = 0; !rc && beg < v.n; beg = end) {
        end = cov_copies_end(v.chunks, v.n, beg);
        *n_moved += release_copies(s->grid, v.chunks + beg, end - beg, held);
    }
    cov_survey_fini(&v);
    return rc;
}

static int draw(const struct cov_grid *g, const char *input, const struct cov_split_holdout *o,
                bool *held, struct cov_err *e)
{
    int rc;
    if (o->names_path)
        return mark_listed(g, COV_SELECT_NAMES, "--val-names", o->names_path, held, e);
    if (o->by == COV_HOLDOUT_PAIRS)
        rc = cov_holdout_pairs(g, o->fraction, (uint64_t)o->seed, held, e);
    else
        rc = cov_holdout_sequences(g, o->fraction, (uint64_t)o->seed, held, e);
    return rc == COV_EINPUT ? cov_err_prefix(e, rc, "%s", input) : rc;
}

/* The same for the rows that are kept, as if the file had no others. */
static int draw_kept(const struct split *s, const struct cov_split_holdout *o, bool *held,
                     struct cov_err *e)
{
    const size_t n_all = cov_grid_n_chunks(s->grid);
    size_t n = 0, *rows = cov_malloc(n_all, sizeof *rows, e);
    bool *part = cov_malloc(n_all, sizeof *part, e);
    struct cov_grid *rest = NULL;
    int rc = rows && part ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n_all; i++) {
        held[i] = false;
        if (s->kept[i])
            rows[n++] = i;
    }
    if (!rc && n == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no chunks left by --exclude-names", s->input);
    if (!rc)
        rc = cov_grid_select(s->grid, rows, n, &rest, e);
    if (!rc)
        rc = draw(rest, s->input, o, part, e);
    for (size_t i = 0; !rc && i < n; i++)
        held[rows[i]] = part[i];
    cov_grid_free(rest);
    free(part);
    free(rows);
    return rc;
}

/* "copies_moved": N of --stats. */
static void print_moved(struct cov_json *json, const void *n_moved)
{
    cov_json_int(json, "copies_moved", (int64_t) * (const size_t *)n_moved);
}

/* Sets s->wanted for the rows for validation. */
static int hold(struct split *s, const struct cov_split_holdout *o, struct cov_err *e)
{
    const size_t n_all = cov_grid_n_chunks(s->grid);
    size_t n = 0, n_held = 0, *n_moved = cov_calloc(1, sizeof *n_moved, e);
    if (!n_moved)
        return COV_ENOMEM;
    cov_stats_set_more(s->job->job.stats, print_moved, free, n_moved);
    if (o->excluded_path && !(s->kept = cov_malloc(n_all, sizeof *s->kept, e)))
        return COV_ENOMEM;
    int rc = s->kept ? mark_listed(s->grid, COV_SELECT_EXCLUDED, "--exclude-names",
                                   o->excluded_path, s->kept, e)
                     : COV_OK;
    if (!rc)
        rc = s->kept ? draw_kept(s, o, s->wanted, e) : draw(s->grid, s->input, o, s->wanted, e);
    if (!rc && cov_chunk_file_head(s->file)->has_bases)
        rc = hold_no_copies(s, s->wanted, n_moved, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n_all; i++) {
        n_held += s->wanted[i];
        n += !s->kept || s->kept[i];
    }
    if (n_held == 0 && *n_moved > 0)
        return cov_fail(e, COV_EINPUT,
                        "%s: no chunks left for validation: all of them have the bases of chunks "
                        "for training",
                        s->input);
    if (n_held == 0 || n_held == n)
        return cov_fail(e, COV_EINPUT, "%s: no chunks left for %s", s->input,
                        n_held ? "training" : "validation");
    if (*n_moved > 0)
        cov_info("%zu chunk%s moved from validation to training, where the same bases are",
                 *n_moved, cov_text_s((int64_t)*n_moved));
    cov_info("%zu chunk%s for training, %zu for validation", n - n_held,
             cov_text_s((int64_t)(n - n_held)), n_held);
    return COV_OK;
}

int cov_split_holdout(const char *input, const char *directory,
                      const struct cov_split_holdout *options, const struct cov_rewrite_job *job,
                      struct cov_err *e)
{
    struct split s = {.input = input, .job = job, .n = N_SETS};
    struct cov_newdir directories[N_SETS] = {{0}};
    int rc = COV_ENOMEM;
    char *stem = cov_path_stem(input, e);
    char *name = stem ? cov_strfmt(e, "%s.h5", stem) : NULL;
    s.names = cov_calloc(N_SETS, sizeof *s.names, e);
    if (name && s.names)
        rc = name_sets(directory, name, directories, s.names, e);
    if (!rc)
        rc = begin_split(&s, e);
    if (!rc)
        rc = hold(&s, options, e);
    if (!rc)
        rc = write_part(&s, VAL, NULL, e);
    for (size_t i = 0; !rc && i < cov_grid_n_chunks(s.grid); i++)
        s.wanted[i] = !s.wanted[i] && (!s.kept || s.kept[i]);
    if (!rc)
        rc = write_part(&s, TRAIN, NULL, e);
    if (!rc)
        rc = commit_split(&s, e);
    end_split(&s, e);
    for (int k = N_SETS; k-- > 0;)
        cov_newdir_fini(&directories[k]);
    free(name);
    free(stem);
    return rc;
}
