/* bench.c - see bench.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/textfile.h"

/* Bytes of the disk probe per second of probing. */
#define DISK_BYTES 256e6
/* Share of a processor that a compute thread gets on an idle machine. */
#define UNDISTURBED 0.9

static void free_advice(struct bench_advice *a)
{
    free(a->what);
    free(a->value);
    free(a->how);
    free(a->reason);
}

void bench_fini(struct bench *b)
{
    figures_fini(&b->figures);
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
    free(b->speeds);
    free(b->notes);
    free(b->advice);
    free(b->files);
}

int bench_begin(struct bench *b, double seconds, struct cov_err *e)
{
    struct cov_pool *pool = NULL;
    int rc = cov_tmpfolder_make(&b->work, b->tmpdir ? b->tmpdir : b->dir, "benchmark", e);
    if (rc)
        return rc;
    machine_describe(&b->machine);
    cov_progress_begin(b->progress, "probing the machine", "", -1);
    rc = cov_pool_new(b->threads, &pool, e);
    if (!rc)
        rc = machine_probe(&b->machine, pool, b->work.path, seconds, (size_t)(seconds * DISK_BYTES),
                           e);
    cov_pool_free(pool);
    cov_progress_end(b->progress);
    return rc;
}

int bench_note(struct bench *b, struct cov_err *e, const char *fmt, ...)
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

int bench_advise(struct bench *b, const char *what, const char *value, char *how, char *reason,
                 struct cov_err *e)
{
    struct bench_advice a = {.what = cov_strdup(what, e), .value = cov_strdup(value, e)};
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

void bench_print_advice(const struct bench *b, FILE *out)
{
    (void)fprintf(out, "setting\tvalue\thow\treason\n");
    for (size_t i = 0; i < b->n_advice; i++) {
        const struct bench_advice *a = &b->advice[i];
        (void)fprintf(out, "%s\t%s\t%s\t%s\n", a->what, a->value, a->how, a->reason);
    }
}

int bench_add_file(struct bench *b, const char *name, const char *title, struct cov_err *e)
{
    if (COV_RESERVE(&b->files, &b->cap_files, b->n_files + 1, e))
        return COV_ENOMEM;
    struct bench_file *f = &b->files[b->n_files++];
    *f = (struct bench_file){cov_strdup(name, e), title ? cov_strdup(title, e) : NULL};
    return f->name && (f->title || !title) ? COV_OK : COV_ENOMEM;
}

bool bench_is_disturbed(const struct bench *b)
{
    return b->processor_had < UNDISTURBED * b->processor_wanted;
}

void bench_remove(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        (void)closedir(dir);
    (void)remove(path);
}

int bench_read_json(const char *path, struct cov_json_value **out, struct cov_err *e)
{
    return cov_textfile_read_json(path, BENCH_MAX_TEXT, out, e);
}

int bench_cases_add(struct bench_cases *list, struct bench_case c, struct cov_err *e)
{
    if (!c.name || COV_RESERVE(&list->items, &list->cap, list->n + 1, e)) {
        free(c.name);
        return COV_ENOMEM;
    }
    list->items[list->n++] = c;
    return COV_OK;
}

void bench_cases_fini(struct bench_cases *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i].name);
    free(list->items);
}

static int run_case(const struct bench_case *c, double seconds, double *value, struct cov_err *e)
{
    int rc = c->run(c->arg, seconds, value, e);
    return rc ? cov_err_prefix(e, "%s", c->name) : rc;
}

int bench_run(struct bench *b, const char *what, const struct bench_cases *cases, struct cov_err *e)
{
    size_t n = cases->n;
    double *values = cov_calloc(n * b->repeats + 1, sizeof *values, e);
    int rc = values ? COV_OK : COV_ENOMEM;
    cov_progress_begin(b->progress, what, "runs", (int64_t)(n * (b->repeats + 1)));
    for (size_t i = 0; i < n && !rc; i++) {
        const struct bench_case *c = &cases->items[i];
        double ignored;
        if (c->check && (rc = c->check(c->arg, e)))
            rc = cov_err_prefix(e, "%s", c->name);
        if (!rc)
            rc = run_case(c, 0, &ignored, e);
        cov_progress_add(b->progress, 1);
    }
    for (size_t round = 0; round < b->repeats && !rc; round++)
        for (size_t k = 0; k < n && !rc; k++) {
            size_t i = round % 2 ? n - 1 - k : k;
            rc = run_case(&cases->items[i], b->seconds, &values[i * b->repeats + round], e);
            cov_progress_add(b->progress, 1);
        }
    for (size_t i = 0; i < n && !rc; i++) {
        const struct bench_case *c = &cases->items[i];
        rc = figures_add(&b->figures, c->name, c->unit, c->higher_is_better,
                         values + i * b->repeats, b->repeats, e);
    }
    cov_progress_end(b->progress);
    free(values);
    return rc;
}
