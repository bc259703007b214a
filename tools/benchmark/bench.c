/* bench.c - see bench.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/mem.h"

/* Of the disk, for each second of a probe. */
#define DISK_BYTES 256e6
/* The part of the processor that is enough. */
#define UNDISTURBED 0.9

static void free_advice(struct cov_bench_advice *a)
{
    free(a->what);
    free(a->value);
    free(a->how);
    free(a->reason);
}

void cov_bench_fini(struct cov_bench *b)
{
    cov_figures_fini(&b->figures);
    cov_charts_fini(&b->charts);
    for (size_t i = 0; i < b->n_notes; i++)
        free(b->notes[i]);
    for (size_t i = 0; i < b->n_advice; i++)
        free_advice(&b->advice[i]);
    for (size_t i = 0; i < b->n_files; i++) {
        free(b->files[i].name);
        free(b->files[i].title);
    }
    cov_tmpfolder_remove(&b->work);
    cov_newfolder_fini(&b->folder);
    free(b->notes);
    free(b->advice);
    free(b->files);
}

int cov_bench_begin(struct cov_bench *b, double seconds, struct cov_err *e)
{
    struct cov_pool *pool = NULL;
    int rc = cov_tmpfolder_make(&b->work, b->tmpdir ? b->tmpdir : b->dir, "benchmark", e);
    if (rc)
        return rc;
    cov_machine_describe(&b->machine);
    cov_progress_begin(b->progress, "probing the machine", "", -1);
    rc = cov_pool_new(b->threads, &pool, e);
    if (!rc)
        rc = cov_machine_probe(&b->machine, pool, b->work.path, seconds,
                               (size_t)(seconds * DISK_BYTES), e);
    cov_pool_free(pool);
    cov_progress_end(b->progress);
    return rc;
}

int cov_bench_note(struct cov_bench *b, struct cov_err *e, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (COV_RESERVE(&b->notes, &b->cap_notes, b->n_notes + 1, e))
        return COV_ENOMEM;
    b->notes[b->n_notes] = cov_strdup(text, e);
    if (!b->notes[b->n_notes])
        return COV_ENOMEM;
    b->n_notes++;
    return COV_OK;
}

int cov_bench_advise(struct cov_bench *b, const char *what, const char *value, char *how,
                     char *reason, struct cov_err *e)
{
    struct cov_bench_advice a = {.what = cov_strdup(what, e), .value = cov_strdup(value, e)};
    a.how = how;
    a.reason = reason;
    if (!a.what || !a.value || !how || !reason ||
        COV_RESERVE(&b->advice, &b->cap_advice, b->n_advice + 1, e)) {
        free_advice(&a);
        return COV_ENOMEM;
    }
    b->advice[b->n_advice++] = a;
    return COV_OK;
}

void cov_bench_print_advice(const struct cov_bench *b, FILE *out)
{
    (void)fprintf(out, "setting\tvalue\thow\treason\n");
    for (size_t i = 0; i < b->n_advice; i++) {
        const struct cov_bench_advice *a = &b->advice[i];
        (void)fprintf(out, "%s\t%s\t%s\t%s\n", a->what, a->value, a->how, a->reason);
    }
}

int cov_bench_add_file(struct cov_bench *b, const char *name, const char *title, struct cov_err *e)
{
    if (COV_RESERVE(&b->files, &b->cap_files, b->n_files + 1, e))
        return COV_ENOMEM;
    struct cov_bench_file *f = &b->files[b->n_files++];
    *f = (struct cov_bench_file){cov_strdup(name, e), title ? cov_strdup(title, e) : NULL};
    return f->name && (f->title || !title) ? COV_OK : COV_ENOMEM;
}

bool cov_bench_is_disturbed(const struct cov_bench *b)
{
    return b->processor_had < UNDISTURBED * b->processor_wanted;
}

void cov_bench_remove(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        (void)closedir(dir);
    (void)remove(path);
}

int cov_bench_run(struct cov_bench *b, const char *what, const struct cov_bench_case *cases,
                  size_t n, struct cov_err *e)
{
    double *values = cov_calloc(n * b->repeats + 1, sizeof *values, e);
    int rc = values ? COV_OK : COV_ENOMEM;
    cov_progress_begin(b->progress, what, "runs", (int64_t)(n * (b->repeats + 1)));
    for (size_t i = 0; i < n && !rc; i++) {
        double ignored;
        if (cases[i].check)
            rc = cases[i].check(cases[i].arg, e);
        if (!rc)
            rc = cases[i].run(cases[i].arg, 0, &ignored, e);
        if (rc)
            (void)cov_err_prefix(e, "%s", cases[i].name);
        cov_progress_add(b->progress, 1);
    }
    for (size_t round = 0; round < b->repeats && !rc; round++)
        for (size_t k = 0; k < n && !rc; k++) {
            size_t i = round % 2 ? n - 1 - k : k;
            rc = cases[i].run(cases[i].arg, b->seconds, &values[i * b->repeats + round], e);
            if (rc)
                (void)cov_err_prefix(e, "%s", cases[i].name);
            cov_progress_add(b->progress, 1);
        }
    for (size_t i = 0; i < n && !rc; i++)
        rc = cov_figures_add(&b->figures, cases[i].name, cases[i].unit, cases[i].higher_is_better,
                             values + i * b->repeats, b->repeats, e);
    cov_progress_end(b->progress);
    free(values);
    return rc;
}
