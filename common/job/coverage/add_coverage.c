/* add_coverage.c - see add_coverage.h.
 *
 * Counts every file into a temporary store, in the encoding of the output. When all are counted,
 * the value type is known, and the columns are written pair by pair to a copy of the genome file.
 * SPDX-License-Identifier: MIT */
#include "common/job/coverage/add_coverage.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/chunk/chunk_file.h"
#include "common/chunk/coverage_file.h"
#include "common/features/bed_reads.h"
#include "common/features/blacklist.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/h5/h5.h"
#include "common/job/coverage/count_file.h"
#include "common/track/formats/intervals.h"

static const double LEAST_CORRELATION = 0.8;

struct coverage_slot {
    size_t pair;
    struct cov_blob raw[2], out[2]; /* of the + and the - chunk */
};

struct coverage_job {
    const char *path;
    const struct cov_coverage_add_options *o;
    struct cov_count_genome genome;
    struct cov_count_file *files;    /* [o->n_files] */
    enum cov_intervals_kind *kinds;  /* [o->n_files]; NONE for reads */
    enum cov_bed_kind *beds;         /* [o->n_files]; NONE for alignments and tracks */
    struct cov_coverage_reader *old; /* the genome, and the coverage of the prefix */
    struct cov_coverage_writer *writer;
    size_t n_old, n_columns, elem_bytes;
    bool is_encoded; /* everything to be written is already encoded */
    /* For all columns. */
    const char **names;
    char **new_settings; /* [o->n_files] */
    const char **settings;
    struct cov_depth_column *columns;
    struct cov_depth_summary *old_summaries; /* [n_old] */
    size_t next_pair;
};

/* Buffers of a worker. */
struct coverage_worker {
    unsigned i;
    struct cov_coverage_scratch scratch;
};

/* ---------------------------------------------------------------- the genome */

static int read_blacklist(struct coverage_job *j, struct cov_err *e)
{
    int rc = cov_blacklist_read(j->o->blacklist_path, false, &j->genome.blacklist, e);
    for (size_t s = 0; !rc && s < cov_grid_n_seqs(j->genome.grid); s++)
        (void)cov_blacklist_drops(j->genome.blacklist, cov_grid_name(j->genome.grid, s));
    if (!rc)
        cov_blacklist_warn(j->genome.blacklist, j->o->blacklist_path, j->path);
    return rc;
}

static int open_genome(struct coverage_job *j, struct cov_err *e)
{
    int rc = cov_coverage_reader_open(j->path, j->o->prefix, &j->old, e);
    if (rc)
        return rc;
    const struct cov_grid *grid = j->genome.grid = cov_chunk_file_grid(j->old->file);
    rc = cov_names_new(&j->genome.names, e);
    for (size_t s = 0; !rc && s < cov_grid_n_seqs(grid); s++) {
        const char *name = cov_grid_name(grid, s);
        size_t index;
        bool is_new;
        rc = cov_names_add(j->genome.names, name, strlen(name), &index, &is_new, e);
        if (!rc && !is_new)
            rc = cov_fail(e, COV_EINPUT,
                          "%s: sequence %s is in two species; reads cannot tell them apart",
                          j->path, name);
    }
    if (!rc && j->o->rename_path)
        rc = cov_rename_read(j->o->rename_path, &j->genome.rename, e);
    return rc || !j->o->blacklist_path ? rc : read_blacklist(j, e);
}

/* Checks the coverage that the prefix already has against the mode. */
static int check_old(struct coverage_job *j, struct cov_err *e)
{
    if (j->old->n_columns > 0 && j->o->mode == COV_COVERAGE_NEW)
        return cov_fail(e, COV_EEXIST,
                        "%s: already has coverage of %s (%zu column%s); use --append or --replace",
                        j->path, j->o->prefix, j->old->n_columns,
                        j->old->n_columns == 1 ? "" : "s");
    if (j->old->n_columns == 0 && j->o->mode != COV_COVERAGE_NEW)
        cov_warn("%s: no coverage of %s yet", j->path, j->o->prefix);
    j->n_old = j->o->mode == COV_COVERAGE_APPEND ? j->old->n_columns : 0;
    j->n_columns = j->n_old + j->o->n_files;
    /* Start with int16: depths of 2^15 are rare, and the store switches to a wider type when it
     * meets one. */
    j->genome.elem_bytes = j->o->elem_bytes ? j->o->elem_bytes : 2;
    if (j->n_old > 0 && j->old->elem_bytes > j->genome.elem_bytes)
        j->genome.elem_bytes = j->old->elem_bytes;
    return COV_OK;
}

/* ---------------------------------------------------------------- counting */

/* Returns true for a name such as H3K4me3 or h2a.z. */
static bool names_histone(const char *name)
{
    static const char *const histones[] = {"h2a", "h2b", "h3", "h4"};
    for (size_t i = 0; i < COV_COUNT(histones); i++) {
        const char *at = strcasestr(name, histones[i]);
        if (at && (at == name || !isalnum((unsigned char)at[-1])))
            return true;
    }
    return false;
}

/* Warns if --shift, which applies to reads, does not suit the name of the dataset, or fragments. */
static void check_shift(const struct coverage_job *j)
{
    const struct cov_coverage_add_options *o = j->o;
    size_t n_reads = 0;
    for (size_t k = 0; k < o->n_files; k++) {
        n_reads += j->kinds[k] == COV_INTERVALS_NONE && j->beds[k] != COV_BED_FRAGMENTS;
        if (j->beds[k] == COV_BED_FRAGMENTS && o->counting.has_shift)
            cov_warn("%s: --shift moves the ends of fragments, which 10x and chromap have moved to "
                     "the Tn5 cut already",
                     o->files[k]);
    }
    if (n_reads == 0)
        return;
    if (strcasestr(o->prefix, "atac") && !o->counting.has_shift)
        cov_warn("%s: counted without --shift, which moves reads of ATAC-seq to the Tn5 cut; use "
                 "it unless they are shifted already",
                 o->prefix);
    if (names_histone(o->prefix) && o->counting.has_shift)
        cov_warn("%s: counted with --shift, which is for ATAC-seq only", o->prefix);
}

/* Detects the kinds of the files by content. */
static int find_kinds(struct coverage_job *j, struct cov_err *e)
{
    size_t n = j->o->n_files, n_tracks = 0, n_beds = 0;
    j->kinds = cov_calloc(n, sizeof *j->kinds, e);
    j->beds = cov_calloc(n, sizeof *j->beds, e);
    int rc = j->kinds && j->beds ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        rc = cov_intervals_detect(j->o->files[k], &j->kinds[k], e);
        if (!rc && j->kinds[k] != COV_INTERVALS_BIGWIG)
            j->beds[k] = cov_bed_reads_detect(j->o->files[k]);
        if (j->beds[k] != COV_BED_NONE) {
            /* Also text that begins with comments only, as far as cov_intervals_detect looks. */
            j->kinds[k] = COV_INTERVALS_NONE;
            n_beds++;
        }
        n_tracks += j->kinds[k] != COV_INTERVALS_NONE;
    }
    if (!rc && n_tracks == n && j->o->for_reads)
        rc = cov_fail(e, COV_EINPUT, "--%s applies to reads, but %s is a track", j->o->for_reads,
                      j->o->files[0]);
    if (!rc && n_tracks + n_beds == n && j->o->for_alignments)
        rc = cov_fail(e, COV_EINPUT, "--%s applies to BAM, CRAM and SAM, but %s is another kind",
                      j->o->for_alignments, j->o->files[0]);
    return rc;
}

static char *describe_settings(const struct cov_coverage_add_options *o,
                               const struct cov_count_file *m, struct cov_err *e)
{
    const char *before = o->blacklist_path ? " blacklist=" : "";
    const char *list = o->blacklist_path ? o->blacklist_path : "";
    if (m->is_track)
        return cov_strfmt(e, "count=track strand=both%s%s file=%s", before, list, m->path);
    static const char *const units[] = {"read", "cut", "fragment"};
    static const char *const strands[] = {"both", "own", "first", "second"};
    const struct cov_counting *c = &o->counting;
    char shift[64] = "none", filters[96] = "", lengths[64] = "";
    if (c->has_shift)
        (void)snprintf(shift, sizeof shift, "%lld,%lld", (long long)c->shift_plus,
                       (long long)c->shift_minus);
    if (!m->is_bed)
        (void)snprintf(filters, sizeof filters, " min_mapq=%d require_flags=%u exclude_flags=%u",
                       (int)c->min_mapq, c->require_flags, c->exclude_flags);
    if (c->min_fragment > 0 || c->max_fragment > 0)
        (void)snprintf(lengths, sizeof lengths, " min_fragment=%lld max_fragment=%lld",
                       (long long)c->min_fragment, (long long)c->max_fragment);
    return cov_strfmt(e, "count=%s strand=%s shift=%s%s%s%s%s file=%s", units[c->unit],
                      strands[c->strand], shift, filters, lengths, before, list, m->path);
}

/* Returns the length of settings without the file name. */
static size_t rules_length(const char *settings)
{
    const char *file = strstr(settings, " file=");
    return file ? (size_t)(file - settings) : strlen(settings);
}

/* Warns if the file was counted with other settings than an existing column. */
static void compare_settings(const struct coverage_job *j, size_t k)
{
    const char *new = j->new_settings[k];
    for (size_t b = 0; b < j->n_old; b++) {
        const char *old = j->old->settings[b];
        size_t n = rules_length(old);
        if (n == 0 || (n == rules_length(new) && memcmp(old, new, n) == 0))
            continue;
        cov_warn("%s: counted with %.*s, but column %zu of %s (%s) with %.*s; training and tracks "
                 "use the mean",
                 j->files[k].path, (int)rules_length(new), new, b + 1, j->o->prefix,
                 j->old->files[b], (int)n, old);
        return;
    }
}

static void tell(const struct cov_count_file *m)
{
    if (m->is_track) {
        cov_info("%s: %lld intervals, %lld of them on contigs that are not in the genome", m->path,
                 (long long)m->n_seen, (long long)m->n_elsewhere);
        return;
    }
    char text[400] = "";
    size_t used = 0;
    int64_t n_skipped = m->n_elsewhere;
    for (int r = COV_COUNTED + 1; r < COV_SKIP_N; r++) {
        if (m->n_by_result[r] == 0)
            continue;
        n_skipped += m->n_by_result[r];
        int n = snprintf(text + used, sizeof text - used, "%s%s %lld", used ? ", " : "",
                         cov_count_result_names[r], (long long)m->n_by_result[r]);
        used += n > 0 && (size_t)n < sizeof text - used ? (size_t)n : 0;
    }
    if (m->n_elsewhere > 0)
        (void)snprintf(text + used, sizeof text - used, "%snot_in_genome %lld", used ? ", " : "",
                       (long long)m->n_elsewhere);
    const int n_letters = (int)strlen(m->items) - (m->n_seen == 1); /* "read" */
    cov_info("%s: %lld %.*s, %lld counted, %lld skipped%s%s%s", m->path, (long long)m->n_seen,
             n_letters, m->items, (long long)m->n_by_result[COV_COUNTED], (long long)n_skipped,
             *text ? " (" : "", text, *text ? ")" : "");
}

static int count_files(struct coverage_job *j, struct cov_err *e)
{
    int rc = COV_OK;
    size_t n = j->o->n_files;
    j->files = cov_calloc(n, sizeof *j->files, e);
    j->new_settings = cov_calloc(n, sizeof *j->new_settings, e);
    if (!j->files || !j->new_settings)
        return COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        bool is_track = j->kinds[k] != COV_INTERVALS_NONE;
        j->files[k].is_bed = j->beds[k] != COV_BED_NONE;
        j->files[k].items = is_track                          ? "intervals"
                            : j->beds[k] == COV_BED_FRAGMENTS ? "fragments"
                                                              : "reads";
        j->files[k].path = cov_strdup(j->o->files[k], e);
        if (!j->files[k].path)
            return COV_ENOMEM;
        rc = is_track
                 ? cov_count_track(&j->genome, &j->files[k], e)
                 : cov_count_reads(&j->genome, &j->o->counting, j->o->reference, &j->files[k], e);
        if (rc)
            break;
        tell(&j->files[k]);
        j->new_settings[k] = describe_settings(j->o, &j->files[k], e);
        if (!j->new_settings[k])
            return COV_ENOMEM;
        compare_settings(j, k);
    }
    if (!rc && j->genome.rename && cov_rename_unused(j->genome.rename))
        cov_warn("%s: %zu of %zu names are in none of the files", j->o->rename_path,
                 cov_rename_unused(j->genome.rename), cov_rename_count(j->genome.rename));
    return rc;
}

static void choose_type(struct coverage_job *j)
{
    int32_t max = 0;
    for (size_t k = 0; k < j->o->n_files; k++)
        max = j->files[k].max > max ? j->files[k].max : max;
    j->elem_bytes = j->genome.elem_bytes;
    if (!j->o->elem_bytes && j->elem_bytes < 4 && max > INT16_MAX)
        j->elem_bytes = 4;
    if (max == 0)
        cov_warn("no coverage: all values are 0");
    cov_info("maximum depth %d, stored as int%zu", max, 8 * j->elem_bytes);
}

/* ---------------------------------------------------------------- repeated files */

struct repeat_search {
    const struct coverage_job *j;
    struct cov_coverage_scratch scratch;
    struct cov_blob raw;
    int64_t *values[2]; /* [L] */
};

/* Sets values[0..n) to those of a column: the old ones, then the new ones. */
static int column_values(struct repeat_search *s, size_t column, const struct cov_stored_row *row,
                         size_t i, int64_t *values, struct cov_err *e)
{
    const struct coverage_job *j = s->j;
    cov_blob_clear(&s->raw);
    if (column < j->n_old) {
        const struct cov_coverage_column old = {i, row->which, column};
        int rc = cov_coverage_fetch(j->old, i, &s->raw, e);
        return rc ? rc : cov_coverage_decode(j->old, &old, &s->raw, row->n, values, e);
    }
    const struct cov_coverage_row whole = {row->n, cov_grid_chunk_length(j->genome.grid),
                                           j->elem_bytes};
    int rc = cov_coverage_store_get(&j->files[column - j->n_old].store, row, j->elem_bytes,
                                    &s->scratch, &s->raw, e);
    return rc ? rc : cov_coverage_decode_piece(whole, &s->raw, 0, values, e);
}

/* Sets *same to whether two columns are equal. */
static int compare_columns(struct repeat_search *s, const size_t columns[2], bool *same,
                           struct cov_err *e)
{
    const struct cov_grid *grid = s->j->genome.grid;
    int rc = COV_OK;
    *same = true;
    for (size_t pair = 0; !rc && *same && pair < cov_grid_n_pairs(grid); pair++) {
        struct cov_pair p = cov_grid_pair(grid, pair);
        size_t n = (size_t)(p.end - p.beg);
        for (int k = 0; !rc && *same && k < 2 * COV_COVERAGE_SETS; k++) {
            const struct cov_stored_row row = {pair, k / COV_COVERAGE_SETS, k % COV_COVERAGE_SETS,
                                               n};
            if (p.rows[row.strand] == COV_NO_ROW)
                continue;
            for (int c = 0; !rc && c < 2; c++)
                rc = column_values(s, columns[c], &row, p.rows[row.strand], s->values[c], e);
            *same = !rc && memcmp(s->values[0], s->values[1], n * sizeof *s->values[0]) == 0;
        }
    }
    return rc;
}

/* Fails if a file has the counts of another column, unless it has none. */
static int check_repeats(const struct coverage_job *j, struct cov_err *e)
{
    size_t L = cov_grid_chunk_length(j->genome.grid);
    struct repeat_search s = {.j = j, .raw = COV_BLOB_INIT, .scratch = {.blob = COV_BLOB_INIT}};
    s.scratch.values = cov_malloc(L, sizeof *s.scratch.values, e);
    s.values[0] = cov_malloc(L, sizeof *s.values[0], e);
    s.values[1] = cov_malloc(L, sizeof *s.values[1], e);
    int rc = s.scratch.values && s.values[0] && s.values[1] ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k < j->o->n_files; k++)
        for (size_t b = 0; !rc && j->files[k].max > 0 && b < j->n_old + k; b++) {
            bool same = false;
            rc = compare_columns(&s, (const size_t[2]){b, j->n_old + k}, &same, e);
            if (!rc && same)
                rc = cov_fail(
                    e, COV_EINPUT,
                    "%s: the same counts as %s%s%s: the mean would count the same data twice",
                    j->files[k].path, b < j->n_old ? j->old->files[b] : j->files[b - j->n_old].path,
                    b < j->n_old ? ", which is already in " : "", b < j->n_old ? j->path : "");
        }
    free(s.scratch.values);
    free(s.values[0]);
    free(s.values[1]);
    cov_blob_fini(&s.scratch.blob);
    cov_blob_fini(&s.raw);
    return rc;
}

/* ---------------------------------------------------------------- writing */

static int coverage_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct coverage_job *j = arg;
    struct coverage_slot *s = slot;
    if (j->next_pair == cov_grid_n_pairs(j->genome.grid))
        return 0;
    s->pair = j->next_pair++;
    struct cov_pair p = cov_grid_pair(j->genome.grid, s->pair);
    for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
        cov_blob_clear(&s->raw[strand]);
        if (p.rows[strand] == COV_NO_ROW || j->n_old == 0)
            continue;
        int rc = cov_coverage_fetch(j->old, p.rows[strand], &s->raw[strand], e);
        if (rc)
            return rc;
    }
    return 1;
}

/* Encodes one row of both datasets into s->out: the old columns, then the new ones. */
static int encode_row(const struct coverage_job *j, struct coverage_slot *s,
                      struct coverage_worker *worker, const struct cov_pair *p, int strand,
                      struct cov_err *e)
{
    struct cov_coverage_scratch *w = &worker->scratch;
    size_t n = (size_t)(p->end - p->beg), L = cov_grid_chunk_length(j->genome.grid);
    struct cov_blob *out = &s->out[strand];
    int rc = COV_OK;
    cov_blob_clear(out);
    for (int which = 0; !rc && which < COV_COVERAGE_SETS; which++) {
        for (size_t b = 0; !rc && b < j->n_old; b++) {
            const struct cov_coverage_column column = {p->rows[strand], which, b};
            rc = cov_coverage_decode(j->old, &column, &s->raw[strand], n, w->values, e);
            if (!rc && which == COV_COVERAGE)
                rc = cov_depth_summary_add_row(&j->old_summaries[b], worker->i, s->pair, strand,
                                               w->values, e);
            if (!rc)
                rc = cov_coverage_encode((struct cov_coverage_row){n, L, j->elem_bytes}, w->values,
                                         out, e);
        }
        for (size_t k = 0; !rc && k < j->o->n_files; k++)
            rc = cov_coverage_store_get(&j->files[k].store,
                                        &(struct cov_stored_row){s->pair, strand, which, n},
                                        j->elem_bytes, w, out, e);
    }
    return rc ? cov_err_prefix(e, rc, "%s: %s:%lld-%lld", j->path,
                               cov_grid_name(j->genome.grid, p->seq), (long long)p->beg + 1,
                               (long long)p->end)
              : COV_OK;
}

static int coverage_work(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct coverage_job *j = arg;
    struct coverage_slot *s = slot;
    struct cov_pair p = cov_grid_pair(j->genome.grid, s->pair);
    int rc = COV_OK;
    for (int strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
        if (p.rows[strand] != COV_NO_ROW)
            rc = encode_row(j, s, worker, &p, strand, e);
    return rc;
}

static int coverage_store(void *arg, void *slot, struct cov_err *e)
{
    struct coverage_job *j = arg;
    struct coverage_slot *s = slot;
    struct cov_pair p = cov_grid_pair(j->genome.grid, s->pair);
    struct coverage_worker none = {0}; /* what is encoded is only copied */
    int rc = j->is_encoded ? coverage_work(j, s, &none, e) : COV_OK;
    for (int strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
        if (p.rows[strand] != COV_NO_ROW)
            rc = cov_coverage_put(j->writer, p.rows[strand], &s->out[strand], e);
    cov_progress_add(j->genome.progress, 1);
    return rc;
}

static void fini_slot(void *arg, void *slot)
{
    struct coverage_slot *s = slot;
    (void)arg;
    for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
        cov_blob_fini(&s->raw[strand]);
        cov_blob_fini(&s->out[strand]);
    }
}

static void init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct coverage_job *j = arg;
    struct coverage_worker *w = worker;
    w->i = i;
    w->scratch.values =
        cov_arena_calloc(memory, cov_grid_chunk_length(j->genome.grid), sizeof *w->scratch.values);
}

static void fini_worker(void *arg, void *worker)
{
    struct coverage_worker *w = worker;
    (void)arg;
    cov_blob_fini(&w->scratch.blob);
}

static int coverage_prepare(struct coverage_job *j, struct cov_err *e)
{
    j->names = cov_calloc(j->n_columns, sizeof *j->names, e);
    j->settings = cov_calloc(j->n_columns, sizeof *j->settings, e);
    j->columns = cov_calloc(j->n_columns, sizeof *j->columns, e);
    j->old_summaries = cov_calloc(j->n_old, sizeof *j->old_summaries, e);
    if (!j->names || !j->settings || !j->columns || !j->old_summaries)
        return COV_ENOMEM;
    for (size_t b = 0; b < j->n_old; b++)
        if (cov_depth_summary_init(&j->old_summaries[b], j->genome.grid,
                                   cov_pool_size(j->genome.pool), e))
            return COV_ENOMEM;
    j->is_encoded = j->n_old == 0;
    for (size_t k = 0; j->is_encoded && k < j->o->n_files; k++)
        j->is_encoded = cov_coverage_store_is_ready(&j->files[k].store, j->elem_bytes);
    for (size_t b = 0; b < j->n_columns; b++) {
        bool is_old = b < j->n_old;
        j->names[b] = is_old ? j->old->files[b] : j->o->files[b - j->n_old];
        j->settings[b] = is_old ? j->old->settings[b] : j->new_settings[b - j->n_old];
        if (!(j->columns[b].file = cov_strdup(j->names[b], e)))
            return COV_ENOMEM;
    }
    return COV_OK;
}

/* Warns of replicates that differ: of columns whose correlation with the others is lower than the least. */
static void check_replicates(const struct coverage_job *j)
{
    for (size_t b = 0; b < j->n_columns; b++)
        if (j->columns[b].r < LEAST_CORRELATION)
            cov_warn("%s: Pearson's r of %.3f with %s of %s, in bins of %d bases; replicates "
                     "should agree, and training and tracks use their mean",
                     j->columns[b].file, j->columns[b].r,
                     j->n_columns == 2 ? "the other column" : "the mean of the other columns",
                     j->o->prefix, COV_DEPTH_BIN);
}

/* Returns the number of reads counted in a column; 0: unknown, or a track. */
static double count_of(const struct coverage_job *j, size_t column)
{
    if (column < j->n_old)
        return j->old->reads[column];
    const struct cov_count_file *m = &j->files[column - j->n_old];
    return m->is_track ? 0 : (double)m->n_by_result[COV_COUNTED];
}

/* Summarises the columns, and adds the results to the file. */
static int describe_columns(struct coverage_job *j, struct cov_err *e)
{
    static const char *const notes[] = {"mean_coverage", "median_coverage", COV_COVERAGE_READS};
    const size_t n = j->n_columns;
    struct cov_depth_summary **summaries = cov_malloc(n, sizeof(struct cov_depth_summary *), e);
    double *values = cov_malloc(n, sizeof *values, e);
    int rc = summaries && values ? COV_OK : COV_ENOMEM;
    for (size_t b = 0; !rc && b < n; b++)
        summaries[b] = b < j->n_old ? &j->old_summaries[b] : &j->files[b - j->n_old].summary;
    if (!rc)
        rc = cov_depth_summaries_end(summaries, n, j->columns, e);
    for (size_t k = 0; !rc && k < COV_COUNT(notes); k++) {
        for (size_t b = 0; b < n; b++)
            values[b] = k == 0   ? j->columns[b].mean
                        : k == 1 ? j->columns[b].median
                                 : count_of(j, b);
        rc = cov_coverage_note(j->writer, notes[k], values, e);
    }
    if (!rc)
        check_replicates(j);
    free(summaries);
    free(values);
    return rc;
}

static int write_columns(struct coverage_job *j, const char *path, struct cov_err *e)
{
    const struct cov_grid *grid = j->genome.grid;
    int rc = coverage_prepare(j, e);
    if (rc)
        return rc;
    /* If everything is encoded, leave the other threads asleep. */
    const struct cov_ring_job ring = {
        .fetch = coverage_fetch,
        .work = j->is_encoded ? NULL : coverage_work,
        .store = coverage_store,
        .slot_bytes = sizeof(struct coverage_slot),
        .worker_bytes = sizeof(struct coverage_worker),
        .fini_slot = fini_slot,
        .init_worker = init_worker,
        .fini_worker = fini_worker,
    };
    const struct cov_coverage_options layout = {
        .prefix = j->o->prefix,
        .n_rows = cov_grid_n_chunks(grid),
        .L = cov_grid_chunk_length(grid),
        .n_columns = j->n_columns,
        .files = j->names,
        .settings = j->settings,
        .elem_bytes = j->elem_bytes,
    };
    rc = cov_coverage_writer_new(path, &layout, &j->writer, e);
    if (rc)
        return rc;
    cov_progress_begin(j->genome.progress, "writing", "chunks", (int64_t)cov_grid_n_pairs(grid));
    rc = cov_ring_run_job(j->genome.pool, &ring, j, NULL, e);
    cov_progress_end(j->genome.progress);
    if (!rc)
        rc = describe_columns(j, e);
    if (!rc) {
        rc = cov_coverage_writer_close(j->writer, e);
        j->writer = NULL;
    }
    return rc;
}

/* Clears *same unless the rows of a pair hold the counted values and the old columns. values[2][L] is
 * scratch. */
static int check_pair(const struct coverage_job *j, struct cov_coverage_reader *r, size_t pair,
                      struct cov_blob raw[2], int64_t *values, bool *same, struct cov_err *e)
{
    struct cov_pair p = cov_grid_pair(j->genome.grid, pair);
    size_t n = (size_t)(p.end - p.beg);
    int64_t *got = values, *wanted = values + cov_grid_chunk_length(j->genome.grid);
    int rc = COV_OK;
    for (size_t b = 0; !rc && *same && b < j->n_columns; b++) {
        uint64_t hash = 0;
        for (int k = 0; !rc && *same && k < 2 * COV_COVERAGE_SETS; k++) {
            int which = k % COV_COVERAGE_SETS;
            size_t row = p.rows[k / COV_COVERAGE_SETS];
            if (row == COV_NO_ROW)
                continue;
            const struct cov_coverage_column column = {row, which, b};
            cov_blob_clear(&raw[0]);
            cov_blob_clear(&raw[1]);
            rc = cov_coverage_fetch(r, row, &raw[0], e);
            if (!rc)
                rc = cov_coverage_decode(r, &column, &raw[0], n, got, e);
            if (!rc)
                hash = cov_coverage_hash(hash, got, n);
            if (rc || b >= j->n_old)
                continue;
            rc = cov_coverage_fetch(j->old, row, &raw[1], e);
            if (!rc)
                rc = cov_coverage_decode(j->old, &column, &raw[1], n, wanted, e);
            *same = rc || memcmp(got, wanted, n * sizeof *got) == 0;
        }
        if (!rc && b >= j->n_old)
            *same = hash == cov_coverage_store_hash(&j->files[b - j->n_old].store, pair, &p);
    }
    return rc;
}

/* Reads back a sample of the new file that includes the first and the last pair. */
static int verify(const struct coverage_job *j, const char *path, struct cov_err *e)
{
    const struct cov_grid *grid = j->genome.grid;
    size_t L = cov_grid_chunk_length(grid);
    struct cov_coverage_reader *r = NULL;
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    int64_t *values = cov_malloc(2 * L, sizeof *values, e);
    int rc = values ? cov_coverage_reader_open(path, j->o->prefix, &r, e) : COV_ENOMEM;
    bool same = !rc && r->n_columns == j->n_columns && r->elem_bytes == j->elem_bytes &&
                cov_grid_n_chunks(cov_chunk_file_grid(r->file)) == cov_grid_n_chunks(grid);
    for (size_t pair = 0; !rc && same && pair < cov_grid_n_pairs(grid); pair++)
        if (cov_coverage_store_samples(&j->files[0].store, pair))
            rc = check_pair(j, r, pair, raw, values, &same, e);
    if (!rc && !same)
        rc = cov_fail(e, COV_EIO, "%s: data read back differ from the data written", path);
    cov_coverage_reader_close(r);
    cov_blob_fini(&raw[0]);
    cov_blob_fini(&raw[1]);
    free(values);
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void coverage_fini(struct coverage_job *j)
{
    cov_coverage_writer_abort(j->writer);
    for (size_t b = 0; j->old_summaries && b < j->n_old; b++)
        cov_depth_summary_fini(&j->old_summaries[b]);
    free(j->old_summaries);
    cov_depth_columns_free(j->columns, j->n_columns);
    cov_count_files_free(j->files, j->o->n_files);
    for (size_t k = 0; j->new_settings && k < j->o->n_files; k++)
        free(j->new_settings[k]);
    free(j->kinds);
    free(j->beds);
    free(j->new_settings);
    free(j->names);
    free(j->settings);
    cov_coverage_reader_close(j->old);
    cov_rename_free(j->genome.rename);
    cov_blacklist_free(j->genome.blacklist);
    cov_names_free(j->genome.names);
    cov_pool_free(j->genome.pool);
}

/* Moves the results to *stats. */
static int add_summary(struct coverage_job *j, struct cov_stats *stats, struct cov_err *e)
{
    struct cov_coverage_results results = {.files = j->files,
                                           .columns = j->columns,
                                           .n_files = j->o->n_files,
                                           .n_columns = j->n_columns,
                                           .names = j->genome.names,
                                           .grid = j->genome.grid,
                                           .bits = 8 * (int)j->elem_bytes};
    int rc = cov_coverage_stats_add(&results, stats, e);
    j->files = results.files;
    j->columns = results.columns;
    j->genome.names = results.names;
    return rc;
}

/* Rejects a BAM file given as the genome file before any output is created. */
static int require_hdf5(const char *path, struct cov_err *e)
{
    struct stat st;
    bool yes = false;
    int rc = cov_path_check_file(path, e);
    if (!rc)
        rc = cov_h5_is_signed(path, &yes, e);
    if (rc || yes)
        return rc;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return cov_fail(e, COV_EINPUT, "%s: empty file", path);
    return cov_fail_kind(e, path, "not a genome file (the first argument)");
}

/* Begins the output and opens the inputs, so that faults are reported before the files are counted. */
static int open_all(struct coverage_job *j, struct cov_outfile *out, char **dir, struct cov_err *e)
{
    const struct cov_coverage_add_options *o = j->o;
    int rc = find_kinds(j, e);
    if (rc)
        return rc;
    rc = require_hdf5(j->path, e);
    if (rc)
        return rc;
    rc = o->output ? cov_outfile_begin(out, o->output, COV_OUTFILE_HDF5, o->force, e)
                   : cov_outfile_begin_update(out, j->path, o->force, e);
    if (rc)
        return rc;
    *dir = cov_path_dir(out->path, e);
    if (!*dir)
        return COV_ENOMEM;
    j->genome.tmpdir = o->tmpdir ? o->tmpdir : *dir;
    rc = open_genome(j, e);
    if (rc)
        return rc;
    rc = check_old(j, e);
    if (rc)
        return rc;
    check_shift(j);
    /* Opening HDF5 calls fork(), so threads start later: a child would inherit their locks. */
    return cov_pool_new(o->n_threads, &j->genome.pool, e);
}

int cov_coverage_add(const char *genome, const struct cov_coverage_add_options *options,
                     struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    struct coverage_job j = {.path = genome, .o = options};
    struct cov_outfile out = COV_OUTFILE_INIT;
    char *dir = NULL;
    j.genome.path = genome;
    j.genome.progress = progress;
    int rc = open_all(&j, &out, &dir, e);
    double clock = cov_clock();
    if (!rc)
        rc = count_files(&j, e);
    cov_stats_add_stage(stats, "count", cov_clock() - clock);
    clock = cov_clock();
    if (!rc) {
        choose_type(&j);
        rc = check_repeats(&j, e);
    }
    if (!rc)
        rc = cov_outfile_copy(&out, genome, progress, e);
    cov_stats_add_stage(stats, "copy", cov_clock() - clock);
    clock = cov_clock();
    if (!rc)
        rc = write_columns(&j, out.tmp, e);
    if (!rc)
        rc = verify(&j, out.tmp, e);
    if (!rc)
        rc = add_summary(&j, stats, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    cov_stats_add_stage(stats, "write", cov_clock() - clock);
    coverage_fini(&j);
    cov_outfile_end(&out, e);
    free(dir);
    return rc;
}
