/* set_blacklist.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/chunk_table.h"
#include "common/features/blacklist.h"
#include "common/file/bgz.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/textfile.h"

/* ---------------------------------------------------------------- NCBI's report */

void cov_sequence_report_fini(struct cov_sequence_report *r)
{
    cov_names_free(r->ids);
    free(r->drops);
    *r = (struct cov_sequence_report){0};
}

/* The text of a member, whose key may also be spelled in snake case (older versions of NCBI's
 * datasets). */
static const char *member(const struct cov_json_value *v, const char *key, const char *snake)
{
    const char *text = cov_json_text(v, key);
    return text ? text : cov_json_text(v, snake);
}

/* Returns true if a member has this text, in upper or lower case. */
static bool member_is(const struct cov_json_value *v, const char *key, const char *snake,
                      const char *wanted)
{
    const char *text = member(v, key, snake);
    return text && strcasecmp(text, wanted) == 0;
}

static bool is_dropped(const struct cov_json_value *v)
{
    const char *name = member(v, "chrName", "chr_name");
    return (name && strcmp(name, "Un") == 0) ||
           member_is(v, "assemblyUnit", "assembly_unit", "non-nuclear") ||
           member_is(v, "role", "role", "unplaced-scaffold") ||
           member_is(v, "role", "role", "unlocalized-scaffold");
}

struct report_reader {
    struct cov_sequence_report *report;
    const char *path;
    size_t line;
    bool by_refseq; /* judging by the first line */
};

static int take_object(struct report_reader *r, const struct cov_json_value *v, struct cov_err *e)
{
    struct cov_sequence_report *report = r->report;
    const char *refseq = member(v, "refseqAccession", "refseq_accession");
    const char *genbank = member(v, "genbankAccession", "genbank_accession");
    size_t index;
    bool is_new;
    if (cov_names_count(report->ids) == 0)
        r->by_refseq = refseq != NULL;
    const char *id = r->by_refseq ? refseq : genbank;
    if (!id)
        id = r->by_refseq ? genbank : refseq;
    if (!id || !*id)
        return cov_fail(e, COV_EINPUT,
                        "%s:%zu: neither refseqAccession nor genbankAccession; not NCBI's "
                        "sequence_report.jsonl?",
                        r->path, r->line);
    int rc = cov_names_add(report->ids, id, strlen(id), &index, &is_new, e);
    if (!rc && !is_new)
        rc = cov_fail(e, COV_EINPUT, "%s:%zu: duplicate %.200s", r->path, r->line, id);
    if (rc)
        return rc;
    rc = COV_RESERVE(&report->drops, &report->cap, index + 1, e);
    if (!rc)
        report->drops[index] = is_dropped(v);
    return rc;
}

static int read_lines(struct report_reader *r, struct cov_lines *lines, struct cov_err *e)
{
    const char *text;
    size_t n;
    int rc;
    while ((rc = cov_lines_next(lines, &text, &n, &r->line, e)) > 0) {
        struct cov_json_value *v;
        struct cov_err fault = COV_ERR_INIT;
        while (n > 0 && cov_text_is_blank(*text)) {
            text++;
            n--;
        }
        if (n == 0)
            continue;
        rc = cov_json_parse(text, n, &v, &fault);
        if (rc)
            return cov_fail(e, rc,
                            "%s:%zu: %s; expected NCBI's sequence_report.jsonl, with an object in "
                            "each line",
                            r->path, r->line, fault.text);
        rc = take_object(r, v, e);
        cov_json_free(v);
        if (rc)
            return rc;
    }
    return rc;
}

int cov_sequence_report_read(const char *path, struct cov_sequence_report *out, struct cov_err *e)
{
    struct cov_lines *lines = NULL;
    struct report_reader r = {.report = out, .path = path};
    *out = (struct cov_sequence_report){0};
    int rc = cov_names_new(&out->ids, e);
    if (!rc)
        rc = cov_lines_open(path, &lines, e);
    if (!rc)
        rc = read_lines(&r, lines, e);
    if (!rc && cov_names_count(out->ids) == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no sequences", path);
    cov_lines_close(lines);
    if (rc)
        cov_sequence_report_fini(out);
    return rc;
}

/* ---------------------------------------------------------------- which sequences */

struct blacklist_job {
    const char *path;
    const struct cov_set_blacklist_options *o;
    const struct cov_grid *grid;
    bool *drops; /* [n_seqs] */
    bool *keep;  /* [n_rows] */
    size_t n_rows;
};

static int mark_by_report(struct blacklist_job *j, struct cov_err *e)
{
    struct cov_sequence_report report;
    size_t n_seqs = cov_grid_n_seqs(j->grid), n_here = 0, n_lacking = 0;
    const char *lacking = "";
    int rc = cov_sequence_report_read(j->o->report, &report, e);
    if (rc)
        return rc;
    for (size_t s = 0; s < n_seqs; s++) {
        const char *name = cov_grid_name(j->grid, s);
        size_t index;
        if (cov_names_find(report.ids, name, strlen(name), &index)) {
            j->drops[s] = report.drops[index];
            n_here++;
        } else if (n_lacking++ == 0) {
            lacking = name;
        }
    }
    size_t n_ids = cov_names_count(report.ids);
    if (n_here == 0)
        rc = cov_fail(e, COV_EINPUT,
                      "%s: none of its %zu sequences (first: %.100s) is in %s (first: %.100s)",
                      j->o->report, n_ids, cov_names_get(report.ids, 0, NULL), j->path, lacking);
    else if (n_lacking > 0)
        cov_warn("%s: %zu of %zu sequences are not in %s and are kept (first: %.100s)", j->path,
                 n_lacking, n_seqs, j->o->report, lacking);
    /* Names are unique, so the others in the report are not in the file. */
    if (!rc && n_ids > n_here)
        cov_warn("%s: %zu of %zu sequences are not in %s", j->o->report, n_ids - n_here, n_ids,
                 j->path);
    cov_sequence_report_fini(&report);
    return rc;
}

static int mark_by_names(struct blacklist_job *j, struct cov_err *e)
{
    struct cov_blacklist *list;
    const char *first = "";
    int rc = cov_blacklist_read(j->o->names, false, &list, e);
    if (rc)
        return rc;
    if (cov_blacklist_has_regions(list))
        rc =
            cov_fail(e, COV_EINPUT,
                     "%s: has regions; only sequence ids are allowed; --blacklist-file of covtrain "
                     "and covpredict takes regions",
                     j->o->names);
    for (size_t s = 0; !rc && s < cov_grid_n_seqs(j->grid); s++)
        j->drops[s] = cov_blacklist_drops(list, cov_grid_name(j->grid, s));
    size_t n = cov_blacklist_n_unknown(list, &first);
    if (!rc && n > 0)
        cov_warn("%s: %zu of %zu names are not in %s (first: %.100s)", j->o->names, n,
                 cov_blacklist_n_names(list), j->path, first);
    cov_blacklist_free(list);
    return rc;
}

static int mark(struct blacklist_job *j, struct cov_err *e)
{
    j->n_rows = cov_grid_n_chunks(j->grid);
    j->drops = cov_calloc(cov_grid_n_seqs(j->grid), sizeof *j->drops, e);
    j->keep = cov_calloc(j->n_rows, sizeof *j->keep, e);
    if (!j->drops || !j->keep)
        return COV_ENOMEM;
    int rc = j->o->report ? mark_by_report(j, e) : mark_by_names(j, e);
    for (size_t i = 0; !rc && i < j->n_rows; i++)
        j->keep[i] = !j->drops[cov_grid_chunk(j->grid, i).seq];
    return rc;
}

/* ---------------------------------------------------------------- the file */

static int change(const struct blacklist_job *j, const char *tmp, bool replace, struct cov_err *e)
{
    const struct cov_codec_choice gzip = {COV_CODEC_GZIP, 0};
    struct cov_h5 *f;
    int rc = cov_h5_open_to_change(tmp, &f, e);
    if (rc)
        return rc;
    if (replace)
        rc = cov_h5_remove(f, COV_BLACKLIST_SET, e);
    if (!rc)
        rc = cov_blacklist_rows_write(f, j->keep, j->n_rows, gzip, e);
    if (rc)
        cov_h5_close(f);
    else
        rc = cov_h5_finish(f, e);
    return rc;
}

/* Reads the result back. */
static int check(const struct blacklist_job *j, const char *tmp, struct cov_err *e)
{
    struct cov_h5 *f;
    bool same = false;
    int rc = cov_h5_open(tmp, &f, e);
    if (rc)
        return rc;
    rc = cov_blacklist_rows_compare(f, j->keep, j->n_rows, &same, e);
    if (!rc && !same)
        rc = cov_fail(e, COV_EIO, "%s: " COV_BLACKLIST_SET ": read-back check failed", tmp);
    cov_h5_close(f);
    return rc;
}

static int write_file(const struct blacklist_job *j, struct cov_outfile *out, bool replace,
                      struct cov_progress *progress, struct cov_err *e)
{
    int rc = cov_outfile_copy(out, j->path, progress, e);
    if (rc)
        return rc;
    rc = change(j, out->tmp, replace, e);
    if (!rc)
        rc = check(j, out->tmp, e);
    /* The messages name only the temporary file, so add the final name. */
    return rc ? cov_err_prefix(e, rc, "%s", out->path) : COV_OK;
}

static int write_list(const struct blacklist_job *j, const char *path, struct cov_err *e)
{
    struct cov_bgz *out;
    int rc = cov_bgz_open_write(path, COV_BGZ_PLAIN, 1, &out, e);
    if (rc)
        return rc;
    for (size_t s = 0; s < cov_grid_n_seqs(j->grid) && !rc; s++) {
        const char *name = cov_grid_name(j->grid, s);
        if (!j->drops[s])
            continue;
        rc = cov_bgz_write(out, name, strlen(name), e);
        if (!rc)
            rc = cov_bgz_write(out, "\n", 1, e);
    }
    if (rc)
        cov_bgz_abort(out);
    else
        rc = cov_bgz_close(out, e);
    return rc;
}

/* ---------------------------------------------------------------- the job */

static void report(const struct blacklist_job *j, struct cov_stats *stats)
{
    size_t n_dropped = 0, n_rows = 0;
    int64_t bases = 0;
    for (size_t s = 0; s < cov_grid_n_seqs(j->grid); s++) {
        n_dropped += j->drops[s];
        bases += cov_grid_seq_length(j->grid, s);
    }
    for (size_t i = 0; i < j->n_rows; i++)
        n_rows += !j->keep[i];
    cov_info("blacklisted %zu of %zu sequences, %zu of %zu chunks", n_dropped,
             cov_grid_n_seqs(j->grid), n_rows, j->n_rows);
    stats->bases = bases;
    stats->chunks = (int64_t)j->n_rows;
}

static int write_outputs(const struct blacklist_job *j, bool replace, struct cov_progress *progress,
                         struct cov_err *e)
{
    struct cov_outfile file = COV_OUTFILE_INIT, list = COV_OUTFILE_INIT;
    bool to_stdout = j->o->list && cov_path_is_std(j->o->list);
    int rc = j->o->output ? cov_outfile_begin(&file, j->o->output, COV_OUTFILE_HDF5, j->o->force, e)
                          : cov_outfile_begin_update(&file, j->path, j->o->force, e);
    if (!rc && j->o->list && !to_stdout)
        rc = cov_outfile_begin(&list, j->o->list, COV_OUTFILE_TABLE, j->o->force, e);
    if (!rc)
        rc = write_file(j, &file, replace, progress, e);
    if (!rc && j->o->list)
        rc = write_list(j, to_stdout ? j->o->list : list.tmp, e);
    if (!rc)
        rc = cov_outfile_commit_all((struct cov_outfile *[]){&list, &file}, 2, e);
    cov_outfile_end(&file, e);
    cov_outfile_end(&list, e);
    return rc;
}

int cov_set_blacklist(const char *path, const struct cov_set_blacklist_options *options,
                      const struct cov_job *job, struct cov_err *e)
{
    struct blacklist_job j = {.path = path, .o = options};
    struct cov_chunk_file *f;
    int rc = cov_chunk_file_open(path, &f, e);
    if (rc)
        return rc;
    j.grid = cov_chunk_file_grid(f);
    bool replace = cov_chunk_head_set(cov_chunk_file_head(f), COV_BLACKLIST_SET) != NULL;
    if (replace && !options->force)
        rc = cov_fail(e, COV_EEXIST, "%s: already has " COV_BLACKLIST_SET "; use -f to replace it",
                      path);
    if (!rc)
        rc = mark(&j, e);
    if (!rc)
        rc = write_outputs(&j, replace, job->progress, e);
    if (!rc)
        report(&j, job->stats);
    free(j.drops);
    free(j.keep);
    cov_chunk_file_close(f);
    return rc;
}
