/* effect_journal.c - see effect_journal.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/version.h"
#include "common/input/run_journal.h"

struct cov_effect_journal {
    struct cov_journal *file;
    const char *output;
    struct cov_run_lines lines;
    struct cov_blob blobs[2]; /* the second is empty */
};

#define KEPT "finished variants are kept in %s; run the same command with --resume to continue"

static int describe_run(const struct cov_effect_options *o, struct cov_progress *progress,
                        struct cov_run_lines *l, struct cov_err *e)
{
    char window[64], shuffles[64] = "none", background[64] = "none";
    char *widths = cov_strdup("", e), *datasets = cov_strdup("", e);
    char *samples = cov_strjoin((const char *const *)o->samples.items, o->samples.n, ",", e);
    (void)snprintf(window, sizeof window, "%zu, step %zu", o->window, o->step);
    if (o->n_shuffles > 0)
        (void)snprintf(shuffles, sizeof shuffles, "%zu, seed %" PRIu64, o->n_shuffles, o->seed);
    if (o->n_background > 0)
        (void)snprintf(background, sizeof background, "%zu, seed %" PRIu64, o->n_background,
                       o->seed);
    for (size_t i = 0; i < o->n_widths; i++)
        cov_strappend(&widths, e, "%s%" PRId64, i ? "," : "", o->widths[i]);
    for (size_t i = 0; i < o->n_datasets; i++)
        cov_strappend(&datasets, e, "%s%s", i ? "," : "", o->model->datasets[o->datasets[i]]);
    const char *haplotypes = !o->haplotypes ? "none" : o->samples.n > 0 ? samples : "all";
    const struct {
        const char *name, *value;
    } files[] = {{"--genome", o->genome_path},
                 {"--rename", o->rename_path},
                 {"--genes", o->genes},
                 {"variants", o->input}},
      values[] = {{"--window", window},
                  {"--width", widths},
                  {"--datasets", datasets},
                  {"--ensemble", o->sd ? "sd" : "mean"},
                  {"--shuffles", shuffles},
                  {"--background", background},
                  {"--haplotypes", haplotypes},
                  {"--feature", o->genes ? o->feature : "none"},
                  {"--tracks", o->tracks ? o->tracks : "none"},
                  {"--full", o->full ? "yes" : "no"}};
    int rc = widths && datasets && samples ? cov_run_lines_add(l, "version", cov_version(), NULL, e)
                                           : COV_ENOMEM;
    for (size_t i = 0; !rc && i < o->model->n; i++)
        rc = cov_run_lines_add_file(l, "--model", o->model->models[i]->path, progress, e);
    for (size_t i = 0; !rc && i < COV_COUNT(files); i++)
        rc = cov_run_lines_add_file(l, files[i].name, files[i].value, progress, e);
    if (!rc)
        rc = cov_run_lines_add_precision(l, o->device, e);
    for (size_t i = 0; !rc && i < COV_COUNT(values); i++)
        rc = cov_run_lines_add(l, values[i].name, values[i].value, NULL, e);
    free(widths);
    free(datasets);
    free(samples);
    return rc ? rc : cov_run_lines_add_device(l, o->device, e);
}

static int start_journal(struct cov_effect_journal *j, const struct cov_effect_options *o, size_t n,
                         const struct cov_job *job, bool *done, struct cov_err *e)
{
    int rc = describe_run(o, job->progress, &j->lines, e);
    if (!rc)
        rc = cov_run_journal_done(j->file, &j->lines, j->output, o->force, done, e);
    if (!rc && !*done)
        rc = cov_run_journal_start(j->file, &j->lines, o->force, e);
    if (!rc)
        rc = cov_journal_scan(j->file, *done ? 1 : n, NULL, NULL, e);
    if (!rc && cov_journal_n_pieces(j->file) > 0)
        cov_run_journal_add_times(j->file, job->stats);
    if (!rc && !*done && cov_journal_n_pieces(j->file) > 0)
        cov_info("%s: %zu of %zu variants are done", cov_journal_path(j->file),
                 cov_journal_n_pieces(j->file), n);
    return rc;
}

static void free_journal(struct cov_effect_journal *j)
{
    cov_log_set_last_words(NULL);
    cov_run_lines_fini(&j->lines);
    cov_blob_fini(&j->blobs[0]);
    cov_blob_fini(&j->blobs[1]);
    free(j);
}

int cov_effect_journal_open(const struct cov_effect_options *options, size_t n,
                            const struct cov_job *job, struct cov_effect_journal **out, bool *done,
                            struct cov_err *e)
{
    *out = NULL;
    *done = false;
    struct cov_effect_journal *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->output = options->output;
    char *path = cov_run_journal_name(j->output, e);
    int rc = path ? cov_journal_open(path, &j->file, e) : COV_ENOMEM;
    if (!rc) {
        cov_journal_set_start(j->file, job->stats->started);
        rc = start_journal(j, options, n, job, done, e);
    }
    free(path);
    if (rc || *done) {
        cov_journal_close(j->file);
        free_journal(j);
        return rc;
    }
    char *words = cov_strfmt(NULL, KEPT, cov_journal_path(j->file));
    cov_log_set_last_words(words);
    free(words);
    *out = j;
    return COV_OK;
}

int cov_effect_journal_sync(const struct cov_effect_journal *j, struct cov_err *e)
{
    return j ? cov_journal_sync(j->file, e) : COV_OK;
}

void cov_effect_journal_close(struct cov_effect_journal *j)
{
    if (!j)
        return;
    if (cov_journal_n_pieces(j->file) > 0)
        cov_info(KEPT, cov_journal_path(j->file));
    cov_journal_close(j->file);
    free_journal(j);
}

void cov_effect_journal_finish(struct cov_effect_journal *j)
{
    if (!j)
        return;
    cov_run_journal_finish(j->file, &j->lines, j->output);
    free_journal(j);
}

size_t cov_effect_journal_n_done(const struct cov_effect_journal *j)
{
    return cov_journal_n_pieces(j->file);
}

int cov_effect_journal_read(struct cov_effect_journal *j, int64_t number,
                            struct cov_effect_score *scores, size_t n, struct cov_err *e)
{
    const size_t piece = (size_t)(number - 1);
    if (!cov_journal_has(j->file, piece))
        return 0;
    int rc = cov_journal_read(j->file, piece, j->blobs, e);
    if (rc)
        return rc;
    if (j->blobs[0].n_pieces != 1 || j->blobs[0].n_bytes != n * sizeof *scores)
        return cov_fail(e, COV_EINPUT,
                        "%s: other scores than those of variant %" PRId64
                        "; use -f without --resume to start over",
                        cov_journal_path(j->file), number);
    memcpy(scores, j->blobs[0].data, n * sizeof *scores);
    return 1;
}

int cov_effect_journal_append(struct cov_effect_journal *j, int64_t number,
                              const struct cov_effect_score *scores, size_t n, struct cov_err *e)
{
    const size_t n_bytes = n * sizeof *scores;
    uint8_t *to;
    cov_blob_clear(&j->blobs[0]);
    cov_blob_clear(&j->blobs[1]);
    int rc = cov_blob_room(&j->blobs[0], n_bytes, &to, e);
    if (rc)
        return rc;
    memcpy(to, scores, n_bytes);
    rc = cov_blob_end_piece(&j->blobs[0], n_bytes, e);
    return rc ? rc : cov_journal_append(j->file, (size_t)(number - 1), j->blobs, e);
}
