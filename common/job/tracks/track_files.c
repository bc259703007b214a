/* track_files.c - see track_files.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/track_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "common/track/formats/bedgraph.h"
#include "common/track/formats/bigwig.h"

enum { TBI, CSI, INDEXES };

struct track_file {
    char *name; /* for messages */
    int fd;     /* bigWig for standard output: an unlinked file; else -1 */
    char fd_path[32];
    struct cov_outfile data;
    /* With announced contigs, the kind of index is known only at the end; until then both kinds
     * have an outfile. */
    struct cov_outfile indexes[INDEXES];
    char *index_names[INDEXES]; /* NULL: no index is written */
    struct cov_track_sink *sink;
};

struct cov_track_files {
    struct track_file *tracks;
    size_t n;
    struct cov_newdir directory; /* removed again unless a file is in it */
};

static const struct {
    const char *suffix;
    enum cov_track_kind kind;
} suffixes[] = {
    {".bw", COV_TRACK_BIGWIG},         {".bigWig", COV_TRACK_BIGWIG},
    {".bedGraph", COV_TRACK_BEDGRAPH}, {".bg", COV_TRACK_BEDGRAPH},
    {".bdg", COV_TRACK_BEDGRAPH},      {".bedGraph.gz", COV_TRACK_BEDGRAPH_GZ},
    {".bg.gz", COV_TRACK_BEDGRAPH_GZ}, {".bdg.gz", COV_TRACK_BEDGRAPH_GZ},
};

int cov_track_kind_of(const char *path, enum cov_track_kind *kind, struct cov_err *e)
{
    if (cov_path_is_std(path)) {
        *kind = COV_TRACK_BEDGRAPH;
        return COV_OK;
    }
    for (size_t i = 0; i < COV_COUNT(suffixes); i++)
        if (cov_path_has_suffix(path, suffixes[i].suffix)) {
            *kind = suffixes[i].kind;
            return COV_OK;
        }
    return cov_fail(e, COV_EUSAGE,
                    "%s: unknown suffix; use .bw .bigWig .bedGraph .bg .bdg or, compressed, "
                    ".bedGraph.gz .bg.gz .bdg.gz, or a directory that ends in '/'",
                    path);
}

/* ---- opening ---- */

/* Dataset names come from files and must not lead to another directory. */
static int check_dataset(const char *dataset, struct cov_err *e)
{
    bool good = *dataset != '\0';
    for (const char *p = dataset; *p; p++)
        good = good && (unsigned char)*p >= ' ' && *p != 0x7f && *p != '/';
    if (good)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "dataset '%s': not usable as part of a file name", dataset);
}

static char *name_of(const struct cov_track_target *target, const char *dataset, struct cov_err *e)
{
    static const char *const endings[] = {".bw", ".bg", ".bg.gz"};
    if (!cov_path_names_dir(target->output))
        return cov_strdup(target->output, e);
    if (dataset && check_dataset(dataset, e))
        return NULL;
    char *file = cov_strfmt(e, "%s%s%s%s%s", target->basename, dataset ? "_" : "",
                            dataset ? dataset : "", target->tail, endings[target->kind]);
    char *path = file ? cov_path_join(target->output, file, e) : NULL;
    free(file);
    return path;
}

/* Begins the outfile of the index, or of both kinds if the kind is not known yet. An existing index
 * of the other kind counts as an existing output. */
static int begin_indexes(struct track_file *t, const struct cov_track_contigs *contigs, bool force,
                         struct cov_err *e)
{
    static const char *const suffixes_of[INDEXES] = {".tbi", ".csi"};
    for (int i = 0; i < INDEXES; i++) {
        t->index_names[i] = cov_strfmt(e, "%s%s", t->data.path, suffixes_of[i]);
        if (!t->index_names[i])
            return COV_ENOMEM;
    }
    for (int i = 0; i < INDEXES; i++) {
        const char *path = t->index_names[i];
        if (!contigs || i == (cov_bedgraph_list_needs_csi(contigs) ? CSI : TBI)) {
            int rc = cov_outfile_begin(&t->indexes[i], path, COV_OUTFILE_BESIDE, force, e);
            if (rc)
                return rc;
        } else if (!force && access(path, F_OK) == 0) {
            return cov_fail(e, COV_EEXIST, "%s: already exists; use -f to replace it", path);
        }
    }
    return COV_OK;
}

static int open_track(struct track_file *t, const struct cov_track_target *target,
                      enum cov_track_kind kind, const struct cov_track_contigs *contigs,
                      const char *dataset, unsigned n_threads, struct cov_err *e)
{
    struct cov_bedgraph_options o = {.compress = kind == COV_TRACK_BEDGRAPH_GZ,
                                     .n_threads = n_threads};
    const struct cov_bigwig_options options = {target->pool, target->tmpdir};
    if (cov_path_is_std(target->output)) {
        t->name = cov_strdup("standard output", e);
        if (!t->name || kind != COV_TRACK_BIGWIG)
            return t->name ? cov_bedgraph_open("-", t->name, contigs, &o, &t->sink, e) : COV_ENOMEM;
        const char *dir = target->tmpdir ? target->tmpdir : ".";
        int code = cov_tmpfile(dir, &t->fd, e);
        const struct cov_bigwig_options here = {target->pool, dir};
        (void)snprintf(t->fd_path, sizeof t->fd_path, "/proc/self/fd/%d", t->fd);
        return code ? code : cov_bigwig_open(t->fd_path, t->name, contigs, &here, &t->sink, e);
    }
    t->name = name_of(target, dataset, e);
    if (!t->name)
        return e ? e->code : COV_EINPUT;
    bool is_bigwig = kind == COV_TRACK_BIGWIG;
    int rc = cov_outfile_begin(
        &t->data, t->name, is_bigwig ? COV_OUTFILE_BIGWIG : COV_OUTFILE_BEDGRAPH, target->force, e);
    if (rc)
        return rc;
    if (is_bigwig)
        return cov_bigwig_open(t->data.tmp, t->name, contigs, &options, &t->sink, e);
    if (o.compress && !t->data.in_place) {
        rc = begin_indexes(t, contigs, target->force, e);
        if (rc)
            return rc;
        o.tbi_path = t->indexes[TBI].tmp;
        o.csi_path = t->indexes[CSI].tmp;
    }
    return cov_bedgraph_open(t->data.tmp, t->name, contigs, &o, &t->sink, e);
}

int cov_track_files_open(const struct cov_track_target *target,
                         const struct cov_track_contigs *contigs, const char *const *datasets,
                         size_t n_datasets, unsigned n_threads, struct cov_track_files **out,
                         struct cov_err *e)
{
    *out = NULL;
    enum cov_track_kind kind = target->kind;
    if (!cov_path_names_dir(target->output)) {
        int rc =
            cov_path_is_std(target->output) ? COV_OK : cov_track_kind_of(target->output, &kind, e);
        if (rc)
            return rc;
        if (n_datasets > 1)
            return cov_fail(e, COV_EINPUT,
                            "%s: %zu datasets (%s, %s%s) do not fit in one file; choose one "
                            "with --datasets, or use -o with a directory",
                            cov_path_is_std(target->output) ? "standard output" : target->output,
                            n_datasets, datasets[0], datasets[1], n_datasets > 2 ? ", ..." : "");
    }
    if (n_datasets == 0)
        return cov_fail(e, COV_EINPUT, "%s: nothing to write", target->output);
    struct cov_track_files *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->directory = (struct cov_newdir)COV_NEWDIR_INIT;
    int rc = COV_ENOMEM;
    f->tracks = cov_calloc(n_datasets, sizeof *f->tracks, e);
    if (!f->tracks)
        goto out;
    f->n = n_datasets;
    for (size_t i = 0; i < f->n; i++) {
        f->tracks[i].fd = -1;
        f->tracks[i].data = f->tracks[i].indexes[TBI] = f->tracks[i].indexes[CSI] =
            (struct cov_outfile)COV_OUTFILE_INIT;
    }
    unsigned share = n_threads > n_datasets ? n_threads / (unsigned)n_datasets : 1;
    rc = cov_path_names_dir(target->output) ? cov_newdir_make(&f->directory, target->output, e)
                                            : COV_OK;
    for (size_t i = 0; i < f->n && !rc; i++)
        rc = open_track(&f->tracks[i], target, kind, contigs, datasets[i], share, e);
out:
    if (rc)
        cov_track_files_free(f);
    else
        *out = f;
    return rc;
}

struct cov_track_sink *cov_track_files_sink(const struct cov_track_files *f, size_t k)
{
    return f->tracks[k].sink;
}

/* ---- ending ---- */

/* Returns the kind of index that is not needed; INDEXES if the track has no index. */
static int other_index(const struct track_file *t)
{
    if (!t->index_names[TBI])
        return INDEXES;
    return cov_bedgraph_needs_csi(t->sink) ? TBI : CSI;
}

/* Copies a finished bigWig to standard output. */
static int copy_out(const struct track_file *t, struct cov_err *e)
{
    char buf[1 << 16];
    for (off_t at = 0;;) {
        ssize_t n = pread(t->fd, buf, sizeof buf, at);
        if (n > 0)
            n = write(STDOUT_FILENO, buf, (size_t)n);
        else if (n == 0)
            return COV_OK;
        if (n < 0 && errno != EINTR)
            return cov_fail_errno(e, "%s", t->name);
        at += n > 0 ? n : 0;
    }
}

int cov_track_files_commit(struct cov_track_files *f, struct cov_err *e)
{
    size_t n = 0;
    struct cov_outfile **files = cov_malloc(f->n * (1 + INDEXES), sizeof *files, e);
    if (!files)
        return COV_ENOMEM;
    for (size_t i = 0; i < f->n; i++) {
        struct track_file *t = &f->tracks[i];
        files[n++] = &t->data;
        for (int k = 0; k < INDEXES; k++)
            if (k == other_index(t))
                cov_outfile_abort(&t->indexes[k]);
            else
                files[n++] = &t->indexes[k];
    }
    int rc = f->tracks[0].fd >= 0 ? copy_out(&f->tracks[0], e) : COV_OK;
    if (!rc)
        rc = cov_outfile_commit_all(files, n, e);
    free(files);
    /* A stale index of the other kind would be used for the new file. */
    for (size_t i = 0; i < f->n && !rc; i++) {
        const struct track_file *t = &f->tracks[i];
        int other = other_index(t);
        if (other < INDEXES && unlink(t->index_names[other]) != 0 && errno != ENOENT)
            rc = cov_fail_errno(e, "%s: cannot be removed", t->index_names[other]);
    }
    return rc;
}

void cov_track_files_free(struct cov_track_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; f->tracks && i < f->n; i++) {
        struct track_file *t = &f->tracks[i];
        cov_track_free(t->sink);
        cov_outfile_abort(&t->data);
        if (t->fd >= 0)
            (void)close(t->fd);
        for (int k = 0; k < INDEXES; k++) {
            cov_outfile_abort(&t->indexes[k]);
            free(t->index_names[k]);
        }
        free(t->name);
    }
    cov_newdir_fini(&f->directory);
    free(f->tracks);
    free(f);
}
