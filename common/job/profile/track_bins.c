/* track_bins.c - see track_bins.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/track_bins.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/track/bin_means.h"

/* ---------------------------------------------------------------- rows */

static size_t end_of(const struct cov_bin_means *b, size_t i)
{
    return i + 1 < b->n_contigs ? b->contigs[i + 1].first : b->n;
}

static int64_t length_of(const struct cov_bin_means *b, size_t i, bool has_lengths)
{
    return has_lengths ? cov_track_contig_length(&b->sink, b->contigs[i].contig) : 0;
}

/* The bins of the first track become the rows. */
static int make_rows(struct cov_track_bins *t, const struct cov_bin_means *b, bool has_lengths,
                     struct cov_err *e)
{
    int rc = cov_names_new(&t->contigs, e);
    if (!rc)
        rc = COV_RESERVE(&t->first, &t->cap_first, b->n_contigs + 1, e);
    if (!rc)
        rc = COV_RESERVE(&t->lengths, &t->cap_lengths, b->n_contigs + 1, e);
    for (size_t i = 0; !rc && i < b->n_contigs; i++) {
        const char *name = cov_track_contig_name(&b->sink, b->contigs[i].contig);
        size_t k;
        bool is_new;
        rc = cov_names_add(t->contigs, name, strlen(name), &k, &is_new, e);
        t->first[i] = b->contigs[i].first;
        t->lengths[i] = length_of(b, i, has_lengths);
    }
    if (!rc)
        t->first[b->n_contigs] = t->n_rows = b->n;
    return rc;
}

static int fail_names(const struct cov_track_bins *t, const struct cov_bin_means *b,
                      struct cov_err *e)
{
    struct cov_listing here = {0}, there = {0};
    for (size_t i = 0; i < b->n_contigs; i++)
        cov_listing_add(&here, cov_track_contig_name(&b->sink, b->contigs[i].contig));
    for (size_t i = 0; i < cov_names_count(t->contigs); i++)
        cov_listing_add(&there, cov_names_get(t->contigs, i, NULL));
    return cov_fail(e, COV_EINPUT,
                    "%s: none of its sequences (%s%s) is in %s (%s%s); --rename maps names",
                    b->sink.name, here.text, cov_listing_more(&here), t->first_input, there.text,
                    cov_listing_more(&there));
}

/* Copies the bins of a track to its column. */
static int fill_column(const struct cov_track_bins *t, const struct cov_bin_means *b,
                       bool has_lengths, double *column, struct cov_err *e)
{
    size_t n_shared = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        column[i] = (double)NAN;
    for (size_t i = 0; i < b->n_contigs; i++) {
        const char *name = cov_track_contig_name(&b->sink, b->contigs[i].contig);
        const int64_t length = length_of(b, i, has_lengths);
        size_t k;
        if (!cov_names_find(t->contigs, name, strlen(name), &k))
            continue;
        if (length > 0 && t->lengths[k] > 0 && length != t->lengths[k])
            return cov_fail(e, COV_EINPUT, "%s: %s has %" PRId64 " bases, but %" PRId64 " in %s",
                            b->sink.name, name, length, t->lengths[k], t->first_input);
        const size_t n = end_of(b, i) - b->contigs[i].first, room = t->first[k + 1] - t->first[k];
        n_shared++;
        if (n > 0 && room > 0)
            memcpy(column + t->first[k], b->means + b->contigs[i].first,
                   (n < room ? n : room) * sizeof *column);
    }
    return n_shared > 0 ? COV_OK : fail_names(t, b, e);
}

static int add_column(struct cov_track_bins *t, const struct cov_profile_input *in, size_t k,
                      const struct cov_bin_means *b, struct cov_err *e)
{
    const bool has_lengths = in->source->has_lengths;
    char **names = cov_realloc(t->names, t->n + 1, sizeof(char *), e);
    if (!names)
        return COV_ENOMEM;
    t->names = names;
    char **files = cov_realloc(t->files, t->n + 1, sizeof(char *), e);
    if (!files)
        return COV_ENOMEM;
    t->files = files;
    double **means = cov_realloc(t->means, t->n + 1, sizeof(double *), e);
    if (!means)
        return COV_ENOMEM;
    t->means = means;
    if (b->sink.summary.n_bases == 0)
        return cov_fail(e, COV_EINPUT, "%s: no base has a value", b->sink.name);
    int rc = t->n == 0 ? make_rows(t, b, has_lengths, e) : COV_OK;
    if (rc)
        return rc;
    t->means[t->n] = cov_malloc(t->n_rows, sizeof(double), e);
    t->files[t->n] = cov_strdup(b->sink.name, e);
    t->names[t->n] = NULL;
    rc =
        t->means[t->n] && t->files[t->n] ? cov_profile_name(in, k, &t->names[t->n], e) : COV_ENOMEM;
    t->n++;
    return rc ? rc : fill_column(t, b, has_lengths, t->means[t->n - 1], e);
}

/* ---------------------------------------------------------------- inputs */

static int open_sink(void *arg, const struct cov_profile_input *in, size_t k,
                     struct cov_track_sink **sink, struct cov_err *e)
{
    struct cov_track_bins *t = arg;
    const struct cov_track_source *source = in->source;
    int rc = k == 0 && !t->first_input && t->first_is_track
                 ? cov_track_source_check_single(source, "--datasets", e)
                 : COV_OK;
    if (!rc && !t->first_input) {
        t->first_input = cov_strdup(source->name, e);
        rc = t->first_input ? COV_OK : COV_ENOMEM;
    }
    return rc ? rc
              : cov_bin_means_init((struct cov_bin_means *)*sink, t->width, source->name,
                                   source->contigs, e);
}

static int take_column(void *arg, const struct cov_profile_input *in, size_t k,
                       struct cov_track_sink *sink, struct cov_err *e)
{
    int rc = add_column(arg, in, k, (const struct cov_bin_means *)sink, e);
    if (!rc && k + 1 == in->source->n_datasets)
        (void)cov_profile_missing(in, sink);
    return rc;
}

int cov_track_bins_read(struct cov_track_bins *t, const struct cov_profile_request *request,
                        struct cov_err *e)
{
    const struct cov_profile_reader r = {sizeof(struct cov_bin_means), open_sink, take_column, t};
    return cov_profile_inputs_read(request, &r, e);
}

size_t cov_rows_keep_whole(double *const *values, size_t n, size_t n_rows)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n_rows; i++) {
        bool is_whole = true;
        for (size_t k = 0; k < n; k++)
            is_whole = is_whole && !isnan(values[k][i]);
        for (size_t k = 0; is_whole && k < n; k++)
            values[k][n_kept] = values[k][i];
        n_kept += is_whole;
    }
    return n_kept;
}

int cov_rows_fail_few(const char *const *names, size_t n, size_t n_rows, const char *what,
                      const char *needs, struct cov_err *e)
{
    struct cov_listing tracks = {0};
    for (size_t k = 0; k < n; k++)
        cov_listing_add(&tracks, names[k]);
    return cov_fail(e, COV_EINPUT, "%s%s: %zu %s%s a value in %s; %s two", tracks.text,
                    cov_listing_more(&tracks), n_rows, what, n_rows == 1 ? " has" : "s have",
                    n == 1 ? "the track" : "all tracks", needs);
}

struct cov_bin_place cov_track_bins_place(const struct cov_track_bins *t, size_t row)
{
    size_t i = 0, end = cov_names_count(t->contigs);
    while (end - i > 1) {
        const size_t middle = i + (end - i) / 2;
        if (t->first[middle] <= row)
            i = middle;
        else
            end = middle;
    }
    const int64_t beg = (int64_t)(row - t->first[i]) * t->width, length = t->lengths[i];
    return (struct cov_bin_place){
        .name = cov_names_get(t->contigs, i, NULL),
        .contig = i,
        .beg = beg,
        .end = length > beg && length < beg + t->width ? length : beg + t->width,
        .is_first = row == t->first[i],
        .is_last = row + 1 == t->first[i + 1],
    };
}

void cov_track_bins_fini(struct cov_track_bins *t)
{
    for (size_t k = 0; k < t->n; k++) {
        free(t->names[k]);
        free(t->files[k]);
        free(t->means[k]);
    }
    free(t->names);
    free(t->files);
    free(t->means);
    cov_names_free(t->contigs);
    free(t->first_input);
    free(t->first);
    free(t->lengths);
    *t = (struct cov_track_bins){0};
}
