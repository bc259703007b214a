/* split.c - see split.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/split.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/base/tmpfile.h"
#include "common/seq/holdout.h"
#include "common/seq/select.h"

/* Begins outputs under the n names, so that what stands in the way is known first. */
static int begin_parts(const char *input, char *const *names, size_t n, bool force,
                       struct cov_outfile **out, struct cov_err *e)
{
    struct cov_outfile *parts = cov_calloc(n, sizeof *parts, e);
    *out = parts;
    if (!parts)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        parts[i] = (struct cov_outfile)COV_OUTFILE_INIT;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cov_recast_begin(&parts[i], names[i], &input, 1, force, e);
    return rc;
}

static int commit_parts(struct cov_outfile *parts, size_t n, struct cov_err *e)
{
    struct cov_outfile **files = cov_malloc(n, sizeof *files, e);
    for (size_t i = 0; files && i < n; i++)
        files[i] = &parts[i];
    int rc = files ? cov_outfile_commit_all(files, n, e) : COV_ENOMEM;
    free(files);
    return rc;
}

static void free_parts(struct cov_outfile *parts, size_t n, struct cov_err *e)
{
    for (size_t i = 0; parts && i < n; i++)
        cov_outfile_end(&parts[i], e);
    free(parts);
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
}

/* ---- shards ---- */

static int write_shard(struct cov_chunk_file *f, const char *input, size_t index, size_t n,
                       bool *wanted, const char *path, const struct cov_recast_job *job,
                       struct cov_err *e)
{
    const struct cov_grid *g = cov_chunk_file_grid(f);
    size_t beg, end, *rows, n_rows;
    cov_grid_shard(g, index, n, &beg, &end);
    int rc = cov_grid_rows_of_pairs(g, beg, end, &rows, &n_rows, e);
    if (rc)
        return rc;
    memset(wanted, 0, cov_grid_n_chunks(g) * sizeof *wanted);
    for (size_t i = 0; i < n_rows; i++)
        wanted[rows[i]] = true;
    free(rows);
    return cov_recast_rows(f, input, wanted, NULL, path, job, e);
}

int cov_split_shards(const char *input, const char *prefix, size_t n,
                     const struct cov_recast_job *job, struct cov_err *e)
{
    struct cov_chunk_file *f = NULL;
    struct cov_outfile *parts = NULL;
    bool *wanted = NULL;
    int rc = COV_ENOMEM;
    char **names = cov_calloc(n, sizeof *names, e);
    for (size_t i = 0; names && i < n; i++) {
        names[i] = cov_strfmt(e, "%s.%zu.h5", prefix, i + 1);
        if (!names[i])
            goto out;
    }
    if (!names)
        goto out;
    rc = begin_parts(input, names, n, job->force, &parts, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (rc)
        goto out;
    size_t n_pairs = cov_grid_n_pairs(cov_chunk_file_grid(f));
    if (n_pairs < n) {
        rc = cov_fail(e, COV_EUSAGE, "%s: %zu pairs of chunks do not make %zu shards", input,
                      n_pairs, n);
        goto out;
    }
    wanted = cov_malloc(cov_grid_n_chunks(cov_chunk_file_grid(f)), sizeof *wanted, e);
    if (!wanted)
        rc = COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        rc = write_shard(f, input, i, n, wanted, parts[i].tmp, job, e);
    if (!rc)
        rc = commit_parts(parts, n, e);
out:
    free(wanted);
    cov_chunk_file_close(f);
    free_parts(parts, n, e);
    free_names(names, n);
    return rc;
}

/* ---- training and validation ---- */

enum { TRAIN, VAL, N_SETS };
static const char *const set_names[N_SETS] = {"train", "val"};

/* FOLDER/train/NAME and FOLDER/val/NAME in folders that are there. */
static int name_sets(const char *folder, const char *name, struct cov_newfolder folders[N_SETS],
                     char **names, struct cov_err *e)
{
    for (int k = 0; k < N_SETS; k++) {
        char *path = cov_path_join(folder, set_names[k], e);
        int rc = path ? cov_newfolder_make(&folders[k], path, e) : COV_ENOMEM;
        names[k] = rc ? NULL : cov_path_join(path, name, e);
        free(path);
        if (rc || !names[k])
            return rc ? rc : COV_ENOMEM;
    }
    return COV_OK;
}

/* held[i] of the rows of sequences that are listed. */
static int hold_listed(const struct cov_grid *g, const char *path, bool *held, struct cov_err *e)
{
    struct cov_select *s = NULL;
    int rc = cov_select_new(g, &s, e);
    if (!rc)
        rc = cov_select_read_names(s, "--val-names", path, e);
    if (!rc)
        cov_select_rows(s, 0, held);
    cov_select_free(s);
    return rc;
}

static int hold(const struct cov_grid *g, const char *input, const struct cov_split_holdout *o,
                bool *held, struct cov_err *e)
{
    int rc;
    if (o->names_path)
        rc = hold_listed(g, o->names_path, held, e);
    else if (o->by_pairs)
        rc = cov_holdout_pairs(g, o->fraction, o->seed, held, e);
    else
        rc = cov_holdout_sequences(g, o->fraction, o->seed, held, e);
    if (rc)
        return rc == COV_EINPUT && !o->names_path ? cov_err_prefix(e, "%s", input) : rc;
    size_t n = cov_grid_n_chunks(g), n_held = 0;
    for (size_t i = 0; i < n; i++)
        n_held += held[i];
    if (n_held == 0 || n_held == n)
        return cov_fail(e, COV_EINPUT, "%s: no chunk is left for %s", input,
                        n_held ? "training" : "validation");
    cov_info("%zu chunk%s for training, %zu for validation", n - n_held,
             cov_text_s((int64_t)(n - n_held)), n_held);
    return COV_OK;
}

int cov_split_holdout(const char *input, const char *folder,
                      const struct cov_split_holdout *options, const struct cov_recast_job *job,
                      struct cov_err *e)
{
    struct cov_chunk_file *f = NULL;
    struct cov_outfile *parts = NULL;
    bool *held = NULL;
    struct cov_newfolder folders[N_SETS] = {COV_NEWFOLDER_INIT, COV_NEWFOLDER_INIT};
    int rc = COV_ENOMEM;
    char *stem = cov_path_stem(input, e);
    char *name = stem ? cov_strfmt(e, "%s.h5", stem) : NULL;
    char **names = cov_calloc(N_SETS, sizeof *names, e);
    if (name && names)
        rc = name_sets(folder, name, folders, names, e);
    if (!rc)
        rc = begin_parts(input, names, N_SETS, job->force, &parts, e);
    if (!rc)
        rc = cov_chunk_file_open(input, &f, e);
    if (rc)
        goto out;
    const struct cov_grid *g = cov_chunk_file_grid(f);
    held = cov_malloc(cov_grid_n_chunks(g), sizeof *held, e);
    rc = held ? hold(g, input, options, held, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_recast_rows(f, input, held, NULL, parts[VAL].tmp, job, e);
    for (size_t i = 0; !rc && i < cov_grid_n_chunks(g); i++)
        held[i] = !held[i];
    if (!rc)
        rc = cov_recast_rows(f, input, held, NULL, parts[TRAIN].tmp, job, e);
    if (!rc)
        rc = commit_parts(parts, N_SETS, e);
out:
    free(held);
    cov_chunk_file_close(f);
    free_parts(parts, N_SETS, e);
    free_names(names, N_SETS);
    for (int k = N_SETS; k-- > 0;)
        cov_newfolder_fini(&folders[k]);
    free(name);
    free(stem);
    return rc;
}
