/* attribution_output.c - see attribution.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/ckpt/zip.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/plot/gnuplot.h"
#include "common/plot/region_plot.h"
#include "common/seq/regions.h"
#include "common/track/formats/bigwig.h"

/* ---------------------------------------------------------------- NumPy */

/* An array of floats as NumPy's savez writes it: a zip archive whose entry arr_0.npy is an array in
 * NumPy's format, version 1.0: a head and the values. The head is a magic number, its version, the length
 * of the text, and the text: a Python dict that is filled up with blanks and ends in a newline. */
enum { PREFIX_BYTES = 10, HEAD_BYTES = 192 };
#define ZIP64_BYTES 0xff000000U

static void fill_head(uint8_t head[HEAD_BYTES], const size_t dims[3])
{
    static const char magic[] = "\x93NUMPY\x01";
    const size_t n_text = HEAD_BYTES - PREFIX_BYTES;
    memset(head, ' ', HEAD_BYTES);
    memcpy(head, magic, sizeof magic); /* with the zero, the minor version */
    head[PREFIX_BYTES - 2] = (uint8_t)n_text;
    head[PREFIX_BYTES - 1] = (uint8_t)(n_text >> 8);
    char *text = (char *)head + PREFIX_BYTES;
    const int used = snprintf(
        text, n_text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu, %zu), }",
        dims[0], dims[1], dims[2]);
    text[used] = ' ';
    text[n_text - 1] = '\n';
}

/* ---------------------------------------------------------------- NumPy and HDF5 */

enum { ONE_HOT, SCORES, OF_BASES };

/* Sets out[4,length] for region r. */
static void fill_region(const struct cov_attribution *a, int what, size_t r, float *out)
{
    const size_t n = a->length;
    if (what == SCORES) {
        memcpy(out, a->scores + r * 4 * n, 4 * n * sizeof *out);
        return;
    }
    memset(out, 0, 4 * n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const int column = cov_attribution_column(a->codes[r * n + i]);
        if (column >= 0)
            out[(size_t)column * n + i] = what == ONE_HOT ? 1.0F : cov_attribution_of_base(a, r, i);
    }
}

static int write_npz(const struct cov_attribution *a, int what, const char *path, struct cov_err *e)
{
    const size_t dims[3] = {a->n, 4, a->length};
    struct cov_zip_writer *w = NULL;
    size_t n;
    if (cov_size_mul(dims[0], dims[1], &n) || cov_size_mul(n, dims[2], &n) ||
        cov_size_mul(n, sizeof(float), &n) || cov_size_add(n, HEAD_BYTES, &n))
        return cov_fail(e, COV_ENOMEM, "an array of %zu x %zu x %zu is too large", dims[0], dims[1],
                        dims[2]);
    uint8_t *bytes = cov_malloc(n, 1, e);
    if (!bytes)
        return COV_ENOMEM;
    fill_head(bytes, dims);
    for (size_t r = 0; r < a->n; r++)
        fill_region(a, what, r, (float *)(void *)(bytes + HEAD_BYTES) + r * 4 * a->length);
    int rc = cov_zip_create(path, n > ZIP64_BYTES, &w, e);
    if (!rc)
        rc = cov_zip_add(w, "arr_0.npy", bytes, n, e);
    free(bytes);
    if (!rc)
        return cov_zip_finish(w, e);
    cov_zip_abort(w);
    return rc;
}

/* Bases are bytes, scores floats. */
static int write_set(struct cov_h5 *h5, const char *name, const struct cov_attribution *a, int what,
                     struct cov_err *e)
{
    static const struct cov_codec_choice gzip = {COV_CODEC_GZIP, 0};
    const size_t n = 4 * a->length, size = what == ONE_HOT ? 1 : sizeof(float);
    struct cov_h5_set *set = NULL;
    struct cov_h5_new spec = {
        .type = {what == ONE_HOT ? COV_H5_INT : COV_H5_FLOAT, size, true, false, '\0'},
        .rank = 3,
        .dims = {a->n, 4, a->length},
        .chunk = {1, 4, a->length},
        .deflate_level = 4};
    spec.n_filters = cov_h5_filters(gzip, size, spec.filters);
    float *row = cov_malloc(n, sizeof *row, e);
    int8_t *bases = cov_malloc(n, sizeof *bases, e);
    int rc = row && bases ? cov_h5_set_create(h5, name, &spec, &set, e) : COV_ENOMEM;
    for (size_t r = 0; !rc && r < a->n; r++) {
        const size_t at[3] = {r, 0, 0};
        fill_region(a, what, r, row);
        for (size_t i = 0; what == ONE_HOT && i < n; i++)
            bases[i] = (int8_t)row[i];
        const void *elems = what == ONE_HOT ? (const void *)bases : row;
        rc = cov_h5_set_put_elems(set, &spec, gzip, at, elems, n * size, e);
    }
    cov_h5_set_close(set);
    free(row);
    free(bases);
    return rc;
}

static int write_hdf5(const struct cov_attribution *a, const char *path, struct cov_err *e)
{
    struct cov_h5 *h5 = NULL;
    int rc = cov_h5_create(path, &h5, e);
    if (!rc)
        rc = write_set(h5, "raw/seq", a, ONE_HOT, e);
    if (!rc)
        rc = write_set(h5, "shap/seq", a, SCORES, e);
    if (!rc)
        rc = write_set(h5, "projected_shap/seq", a, OF_BASES, e);
    if (!rc)
        return cov_h5_finish(h5, e);
    cov_h5_close(h5);
    return rc;
}

/* ---------------------------------------------------------------- bigWig */

/* A region or a sequence, and where it sorts. */
struct sorted_place {
    const char *name;
    int64_t beg;
    size_t number;
};

static int by_sequence(const void *a, const void *b)
{
    const struct sorted_place *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->beg < y->beg ? -1 : x->beg > y->beg;
}

struct score_track {
    struct cov_arena memory;
    const struct cov_attribution *a;
    const struct cov_genome *genome;
    struct sorted_place *seqs, *regions; /* sorted */
    const char **names;                  /* of the sequences, sorted */
    int64_t *lengths;
    struct cov_track_sink *sink;
    double *sums; /* of the bases of some regions */
    uint32_t *counts;
    size_t cap_sums, cap_counts;
};

static int sort_places(struct score_track *t, struct cov_err *e)
{
    const struct cov_genome *g = t->genome;
    const struct cov_attribution *a = t->a;
    t->seqs = cov_arena_calloc(&t->memory, g->n_seqs, sizeof *t->seqs);
    t->regions = cov_arena_calloc(&t->memory, a->n, sizeof *t->regions);
    t->names = cov_arena_calloc(&t->memory, g->n_seqs, sizeof *t->names);
    t->lengths = cov_arena_calloc(&t->memory, g->n_seqs, sizeof *t->lengths);
    int rc = cov_arena_check(&t->memory, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < g->n_seqs; i++)
        t->seqs[i] = (struct sorted_place){g->names[i], 0, i};
    for (size_t i = 0; i < a->n; i++)
        t->regions[i] = (struct sorted_place){g->names[a->regions[i].seq], a->regions[i].beg, i};
    qsort(t->seqs, g->n_seqs, sizeof *t->seqs, by_sequence);
    qsort(t->regions, a->n, sizeof *t->regions, by_sequence);
    for (size_t i = 0; i < g->n_seqs; i++) {
        t->names[i] = t->seqs[i].name;
        t->lengths[i] = g->lengths[t->seqs[i].number];
    }
    return COV_OK;
}

static int put_sums(struct score_track *t, int64_t beg, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        const int64_t at = beg + (int64_t)i;
        if (t->counts[i] == 0)
            continue;
        const struct cov_interval iv = {at, at + 1, (float)(t->sums[i] / t->counts[i])};
        rc = cov_track_add(t->sink, &iv, 1, e);
    }
    return rc;
}

/* Writes the regions [*i, a->n) of the sequence `seq`; those that overlap are added up. */
static int put_sequence(struct score_track *t, size_t seq, size_t *i, struct cov_err *e)
{
    const struct cov_attribution *a = t->a;
    int rc = COV_OK;
    while (!rc && *i < a->n && a->regions[t->regions[*i].number].seq == seq) {
        const int64_t beg = t->regions[*i].beg;
        int64_t end = beg + (int64_t)a->length;
        size_t next = *i + 1;
        for (; next < a->n && a->regions[t->regions[next].number].seq == seq &&
               t->regions[next].beg < end;
             next++)
            end = t->regions[next].beg + (int64_t)a->length;
        const size_t n = (size_t)(end - beg);
        rc = COV_RESERVE(&t->sums, &t->cap_sums, n, e);
        if (!rc)
            rc = COV_RESERVE(&t->counts, &t->cap_counts, n, e);
        if (rc)
            return rc;
        memset(t->sums, 0, n * sizeof *t->sums);
        memset(t->counts, 0, n * sizeof *t->counts);
        for (; *i < next; (*i)++)
            cov_attribution_add_up(a, t->regions[*i].number, beg, n, t->sums, t->counts);
        rc = put_sums(t, beg, n, e);
    }
    return rc;
}

static int write_track(struct score_track *t, const struct cov_outfile *file,
                       const struct cov_bigwig_options *options, struct cov_err *e)
{
    struct cov_track_contigs contigs = {.n = t->genome->n_seqs};
    size_t i = 0;
    int rc = sort_places(t, e);
    contigs.names = t->names;
    contigs.lengths = t->lengths;
    if (!rc)
        rc = cov_bigwig_open(file->tmp, file->path, &contigs, options, &t->sink, e);
    for (size_t s = 0; !rc && s < contigs.n; s++) {
        rc = cov_track_begin(t->sink, s, e);
        if (!rc)
            rc = put_sequence(t, t->seqs[s].number, &i, e);
    }
    return rc ? rc : cov_track_close(t->sink, e);
}

static int write_bigwig(const struct cov_attribution_files *f, const struct cov_attribution *a,
                        const struct cov_genome *genome, struct cov_pool *pool, struct cov_err *e)
{
    const struct cov_attribution_paths *p = f->paths;
    const struct cov_bigwig_options options = {pool, p->tmpdir ? p->tmpdir : p->directory};
    struct score_track t = {.a = a, .genome = genome};
    int rc = write_track(&t, &f->files[COV_ATTRIBUTION_BIGWIG], &options, e);
    cov_track_free(t.sink);
    cov_arena_fini(&t.memory);
    free(t.sums);
    free(t.counts);
    return rc;
}

/* ---------------------------------------------------------------- regions */

/* The last column is the summit: the middle of the region. */
static int write_regions(const struct cov_attribution *a, const struct cov_genome *genome,
                         const char *path, struct cov_err *e)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return cov_fail_errno(e, "%s", path);
    for (size_t r = 0; r < a->n; r++) {
        const struct cov_attributed_region *region = &a->regions[r];
        (void)fprintf(f, "%s\t%" PRId64 "\t%" PRId64 "\t%s\t0\t.\t0\t-1\t-1\t%zu\n",
                      genome->names[region->seq], region->beg, region->end,
                      *region->name ? region->name : ".", a->length / 2);
    }
    int rc = ferror(f) ? cov_fail_errno(e, "%s", path) : COV_OK;
    if (fclose(f) != 0 && !rc)
        rc = cov_fail_errno(e, "%s", path);
    return rc;
}

/* ---------------------------------------------------------------- picture */

/* Letters of 8 pixels or more can be read. */
enum { MOST_BASES = COV_PLOT_BINS, LETTER = 8, ROW_BASES = COV_PLOT_BINS / LETTER };
enum { MOST_ROWS = (MOST_BASES + ROW_BASES - 1) / ROW_BASES };

/* Returns true if region r has bases of the place. */
static bool overlaps(const struct cov_attribution *a, size_t r, const struct cov_region *place)
{
    const struct cov_attributed_region *region = &a->regions[r];
    return region->seq == place->contig && region->beg < place->end && place->beg < region->end;
}

static int find_place(const struct cov_genome *g, const char *text, struct cov_region *out,
                      struct cov_err *e)
{
    struct cov_range range;
    struct cov_listing names = {.text = ""};
    int rc = cov_range_parse(text, &range, e);
    for (size_t i = 0; !rc && i < g->n_seqs; i++) {
        cov_listing_add(&names, g->names[i]);
        if (!cov_range_means(&range, g->names[i], &out->beg, &out->end))
            continue;
        out->contig = i;
        out->end = out->end < g->lengths[i] ? out->end : g->lengths[i];
        return out->beg < out->end
                   ? COV_OK
                   : cov_range_fail_beyond(&range, g->lengths[i], "--plot-region", e);
    }
    return rc ? rc : cov_range_fail_unknown(&range, "--plot-region", &names, e);
}

static int find_drawn(const struct cov_attribution *a, const struct cov_genome *genome,
                      const char *text, struct cov_region *out, struct cov_err *e)
{
    *out = (struct cov_region){a->regions[0].seq, a->regions[0].beg, a->regions[0].end};
    int rc = text ? find_place(genome, text, out, e) : COV_OK;
    if (rc)
        return rc;
    const int64_t n = out->end - out->beg;
    if (n > MOST_BASES)
        return cov_fail(e, COV_EINPUT,
                        "--plot-region: %s has %" PRId64 " bases, too many for letters; at most %d",
                        text ? text : "the first region", n, (int)MOST_BASES);
    for (size_t r = 0; r < a->n; r++)
        if (overlaps(a, r, out))
            return COV_OK;
    return cov_fail(e, COV_EINPUT, "--plot-region: %s is in none of the regions", text);
}

static int draw_letters(const struct cov_attribution *a, const struct cov_genome *genome,
                        const struct cov_region *place, const char *heading,
                        const struct cov_picture *picture, struct cov_err *e)
{
    const size_t n = (size_t)(place->end - place->beg);
    double sums[MOST_BASES] = {0};
    uint32_t counts[MOST_BASES] = {0};
    uint8_t codes[MOST_BASES];
    char letters[MOST_BASES];
    struct cov_plot_row rows[MOST_ROWS];
    const size_t n_rows = (n + ROW_BASES - 1) / ROW_BASES, most = (n + n_rows - 1) / n_rows;
    const struct cov_region_plot plot = {.rows = rows,
                                         .n_rows = n_rows,
                                         .is_wrapped = n_rows > 1,
                                         .note = "; the height of a letter is its score"};
    int rc = cov_genome_codes(genome, place->contig, place->beg, place->end, codes, e);
    for (size_t r = 0; r < a->n; r++)
        if (overlaps(a, r, place))
            cov_attribution_add_up(a, r, place->beg, n, sums, counts);
    for (size_t i = 0; !rc && i < n; i++) {
        const int column = cov_attribution_column(codes[i]);
        letters[i] = column < 0 ? 'N' : "ACGT"[column];
        sums[i] = counts[i] > 0 ? sums[i] / counts[i] : (double)NAN;
    }
    double least = 0, highest = 0;
    for (size_t i = 0; i < n_rows; i++) {
        const size_t beg = i * most, end = beg + most < n ? beg + most : n;
        rows[i] =
            (struct cov_plot_row){.heading = i == 0 ? heading : NULL,
                                  .bins = {genome->names[place->contig], place->beg + (int64_t)beg,
                                           place->beg + (int64_t)end, 1, end - beg, sums + beg},
                                  .letters = letters + beg};
        cov_plot_extend(&rows[i].bins, &least, &highest);
    }
    for (size_t i = 0; i < n_rows; i++) {
        rows[i].least = least;
        rows[i].most = least == highest ? 1 : highest;
    }
    return rc ? rc : cov_region_plot_draw(&plot, picture, e);
}

/* ---------------------------------------------------------------- all of them */

/* A name such as attr.npz is perhaps meant to be that of a file. */
static int check_output_name(const char *path, struct cov_err *e)
{
    const struct cov_suffix *suffix = cov_suffix_find(path, cov_suffix_skip_gz(path, strlen(path)));
    if (cov_path_is_std(path))
        return cov_fail(e, COV_EUSAGE, "-o: the output is a directory, not standard output");
    return !suffix || cov_path_names_dir(path)
               ? COV_OK
               : cov_fail(e, COV_EUSAGE,
                          "%s: the output is a directory, but %s is a file; use %s/ if a directory "
                          "should "
                          "have this name",
                          path, suffix->text, path);
}

int cov_attribution_files_begin(struct cov_attribution_files *f,
                                const struct cov_attribution_paths *paths, struct cov_err *e)
{
    static const struct {
        const char *name;
        enum cov_outfile_kind kind;
    } files[COV_ATTRIBUTION_FILES] = {
        [COV_ATTRIBUTION_ONE_HOT] = {"ohe.npz", COV_OUTFILE_ARRAYS},
        [COV_ATTRIBUTION_SCORES] = {"attr.npz", COV_OUTFILE_ARRAYS},
        [COV_ATTRIBUTION_HDF5] = {"scores.h5", COV_OUTFILE_HDF5},
        [COV_ATTRIBUTION_BIGWIG] = {"scores.bw", COV_OUTFILE_BIGWIG},
        [COV_ATTRIBUTION_REGIONS] = {"regions.bed", COV_OUTFILE_PEAKS},
    };
    *f = (struct cov_attribution_files){.paths = paths, .picture = COV_PICTURE_INIT};
    for (size_t i = 0; i < COV_ATTRIBUTION_FILES; i++)
        f->files[i] = (struct cov_outfile)COV_OUTFILE_INIT;
    if (paths->plot_region && !paths->plot)
        return cov_fail(e, COV_EUSAGE, "--plot-region needs --plot");
    int rc = check_output_name(paths->directory, e);
    if (!rc)
        rc = cov_picture_begin(&f->picture, paths->plot, paths->force, paths->tmpdir, e);
    if (!rc)
        rc = cov_newdir_make(&f->directory, paths->directory, e);
    for (size_t i = 0; !rc && i < COV_ATTRIBUTION_FILES; i++) {
        char *path = cov_path_join(paths->directory, files[i].name, e);
        rc = path ? cov_outfile_begin(&f->files[i], path, files[i].kind, paths->force, e)
                  : COV_ENOMEM;
        free(path);
    }
    return rc;
}

int cov_attribution_files_check(struct cov_attribution_files *f, const struct cov_attribution *a,
                                const struct cov_genome *genome, struct cov_err *e)
{
    return f->paths->plot ? find_drawn(a, genome, f->paths->plot_region, &f->drawn, e) : COV_OK;
}

int cov_attribution_files_write(struct cov_attribution_files *f, const struct cov_attribution *a,
                                const struct cov_genome *genome, const char *target,
                                struct cov_pool *pool, struct cov_err *e)
{
    struct cov_outfile *all[COV_ATTRIBUTION_FILES + 1] = {&f->picture.file};
    int rc = write_npz(a, ONE_HOT, f->files[COV_ATTRIBUTION_ONE_HOT].tmp, e);
    if (!rc)
        rc = write_npz(a, SCORES, f->files[COV_ATTRIBUTION_SCORES].tmp, e);
    if (!rc)
        rc = write_hdf5(a, f->files[COV_ATTRIBUTION_HDF5].tmp, e);
    if (!rc)
        rc = write_bigwig(f, a, genome, pool, e);
    if (!rc)
        rc = write_regions(a, genome, f->files[COV_ATTRIBUTION_REGIONS].tmp, e);
    if (!rc && f->paths->plot)
        rc = draw_letters(a, genome, &f->drawn, target, &f->picture, e);
    for (size_t i = 0; i < COV_ATTRIBUTION_FILES; i++)
        all[i + 1] = &f->files[i];
    return rc ? rc : cov_outfile_commit_all(all, COV_COUNT(all), e);
}

void cov_attribution_files_end(struct cov_attribution_files *f, struct cov_err *e)
{
    for (size_t i = 0; i < COV_ATTRIBUTION_FILES; i++)
        cov_outfile_end(&f->files[i], e);
    cov_picture_end(&f->picture, e);
    cov_newdir_fini(&f->directory);
}
