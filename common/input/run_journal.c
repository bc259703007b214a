/* run_journal.c - see run_journal.h.
 * SPDX-License-Identifier: MIT */
#include "common/input/run_journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/compute/device_open.h"
#include "common/file/hash.h"

/* The only line that may differ: another device changes values only by rounding. */
#define COMPUTED_BY "computed by"

char *cov_run_journal_name(const char *output, struct cov_err *e)
{
    return cov_strfmt(e, "%s.resume", output);
}

/* ---- the description of a run ---- */

void cov_run_lines_fini(struct cov_run_lines *l)
{
    free(l->data);
    *l = (struct cov_run_lines){0};
}

int cov_run_lines_add(struct cov_run_lines *l, const char *name, const char *value,
                      const char *path, struct cov_err *e)
{
    enum { MOST = 1000 };
    const char *fields[] = {name, value, path};
    for (size_t f = 0; f < COV_COUNT(fields) && fields[f]; f++) {
        char cut[MOST + 64];
        size_t n = strlen(fields[f]);
        if (n > MOST)
            n = (size_t)snprintf(cut, sizeof cut, "%.*s... fingerprint %016" PRIx64, MOST,
                                 fields[f], cov_fingerprint(0, fields[f], n));
        int rc = COV_RESERVE(&l->data, &l->cap, l->n + n + 2, e);
        if (rc)
            return rc;
        memcpy(l->data + l->n, n > MOST ? cut : fields[f], n);
        for (size_t i = l->n; i < l->n + n; i++) /* a value must not break the line */
            if (l->data[i] == '\n' || l->data[i] == '\t')
                l->data[i] = ' ';
        l->n += n;
        l->data[l->n++] = '\t';
    }
    l->data[l->n - 1] = '\n';
    l->data[l->n] = '\0';
    return COV_OK;
}

int cov_run_lines_add_file(struct cov_run_lines *l, const char *name, const char *path,
                           struct cov_progress *progress, struct cov_err *e)
{
    uint64_t fingerprint;
    int64_t n_bytes;
    char value[80];
    if (!path)
        return cov_run_lines_add(l, name, "none", NULL, e);
    int rc = cov_fingerprint_file(path, progress, &fingerprint, &n_bytes, e);
    if (rc)
        return rc;
    (void)snprintf(value, sizeof value, "%" PRId64 " bytes, fingerprint %016" PRIx64, n_bytes,
                   fingerprint);
    return cov_run_lines_add(l, name, value, path, e);
}

int cov_run_lines_add_precision(struct cov_run_lines *l, const struct cov_device *device,
                                struct cov_err *e)
{
    const char *products = device->ops->products ? device->ops->products(device) : NULL;
    const int rc =
        cov_run_lines_add(l, "--precision", cov_device_recorded_precision(device), NULL, e);
    return rc ? rc
              : cov_run_lines_add(l, "products (COVTOOLS_CUBLAS)", products ? products : "own",
                                  NULL, e);
}

int cov_run_lines_add_device(struct cov_run_lines *l, const struct cov_device *device,
                             struct cov_err *e)
{
    return cov_run_lines_add(l, COMPUTED_BY, device->ops->describe(device), NULL, e);
}

/* ---- the journal ---- */

/* A part of a line. */
struct field {
    const char *text;
    int n;
};

/* Splits the line that begins at *at (cov_run_lines_add), and moves *at to the next. Fields that
 * the line lacks are empty. */
static void split_line(const char **at, struct field *name, struct field *value, struct field *path)
{
    struct field *const fields[] = {name, value, path};
    for (size_t f = 0; f < COV_COUNT(fields); f++) {
        *fields[f] = (struct field){*at, (int)strcspn(*at, "\t\n")};
        *at += fields[f]->n;
        *at += **at == '\t';
    }
    *at += **at == '\n';
}

/* Checks that a journal started by the run `old` can be resumed by the run `new`. */
static int compare_runs(const char *journal, const char *old, const char *new, struct cov_err *e)
{
    while (*old || *new) {
        struct field old_name, name, was, is, from, to;
        split_line(&old, &old_name, &was, &from);
        split_line(&new, &name, &is, &to);
        if (was.n == is.n && strncmp(was.text, is.text, (size_t)was.n) == 0)
            continue;
        if (name.n == 0)
            name = old_name;
        if (strncmp(name.text, COMPUTED_BY "\t", sizeof COMPUTED_BY) == 0) {
            cov_warn("%s: started on %.*s, resuming on %.*s: values may differ by rounding",
                     journal, was.n, was.text, is.n, is.text);
            continue;
        }
        return cov_fail(e, COV_EEXIST,
                        "%s: journal of a run with different %.*s: %.*s%s%.*s%s, now "
                        "%.*s%s%.*s%s; use the same to resume, or -f to start over",
                        journal, name.n, name.text, from.n, from.text, from.n ? " (" : "", was.n,
                        was.text, from.n ? ")" : "", to.n, to.text, to.n ? " (" : "", is.n, is.text,
                        to.n ? ")" : "");
    }
    return COV_OK;
}

int cov_run_journal_start(struct cov_journal *journal, const struct cov_run_lines *now, bool force,
                          struct cov_err *e)
{
    struct cov_err differs = COV_ERR_INIT;
    bool damaged;
    const char *old = cov_journal_head(journal, &damaged), *path = cov_journal_path(journal);
    if (damaged)
        (void)cov_fail(&differs, COV_EINPUT, "%s: damaged head; use -f to start over", path);
    else if (old)
        (void)compare_runs(path, old, now->data, &differs);
    if (differs.code && !force)
        return cov_fail(e, differs.code, "%s", differs.text);
    return old && !differs.code ? COV_OK : cov_journal_begin(journal, now->data, e);
}

void cov_run_journal_add_times(const struct cov_journal *journal, struct cov_stats *stats)
{
    const struct cov_journal_times t = cov_journal_earlier(journal);
    stats->earlier.has_times = t.n_runs > 0;
    stats->earlier.n_runs = (int)t.n_runs;
    stats->earlier.wall_seconds = t.wall_seconds;
    stats->earlier.cpu_seconds = t.cpu_seconds;
}

/* ---- finished runs ---- */

/* The last line of a finished run. */
#define FINISHED "output"

void cov_run_journal_finish(struct cov_journal *journal, struct cov_run_lines *now,
                            const char *output)
{
    struct cov_err e = COV_ERR_INIT;
    int rc = cov_run_lines_add_file(now, FINISHED, output, NULL, &e);
    if (!rc)
        rc = cov_journal_finish(journal, now->data, &e);
    else
        cov_journal_close(journal);
    if (rc)
        cov_warn("%s", e.text);
}

int cov_run_journal_done(struct cov_journal *journal, struct cov_run_lines *now, const char *output,
                         bool force, bool *done, struct cov_err *e)
{
    struct stat st;
    bool damaged;
    const char *old = cov_journal_head(journal, &damaged);
    const size_t n = now->n;
    *done = false;
    if (!old || !strstr(old, "\n" FINISHED "\t"))
        return COV_OK;
    if (stat(output, &st) != 0)
        return cov_journal_begin(journal, now->data, e);
    struct cov_err differs = COV_ERR_INIT;
    int rc = cov_run_lines_add_file(now, FINISHED, output, NULL, e);
    if (!rc)
        *done = compare_runs(cov_journal_path(journal), old, now->data, &differs) == COV_OK;
    now->data[now->n = n] = '\0';
    if (rc || *done)
        return rc;
    return force ? cov_journal_begin(journal, now->data, e)
                 : cov_fail(e, differs.code, "%s", differs.text);
}
