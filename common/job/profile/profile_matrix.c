/* profile_matrix.c - see profile_matrix.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/profile/profile_matrix.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/file/bgz.h"

/* ---------------------------------------------------------------- numbers */

size_t cov_profile_matrix_put(double x, char text[COV_PROFILE_VALUE_BYTES])
{
    static const double MOST = 8e6, SURE = 1e-3; /* the product is below 2^43 */
    const double scaled = fabs(x) * 1e6, part = scaled - floor(scaled);
    char *p = text;
    /* Close to the middle of two numbers, the rounding of the product would decide. */
    if (!(fabs(x) < MOST) || fabs(part - 0.5) < SURE || (x == 0 && signbit(x)))
        return isnan(x) ? (size_t)snprintf(text, COV_PROFILE_VALUE_BYTES, "nan")
                        : (size_t)snprintf(text, COV_PROFILE_VALUE_BYTES, "%f", x);
    uint64_t n = (uint64_t)(scaled + 0.5);
    if (x < 0)
        *p++ = '-';
    char digits[24];
    size_t k = 0;
    for (; k < 7 || n > 0; k++, n /= 10) {
        if (k == 6)
            digits[k++] = '.';
        digits[k] = (char)('0' + n % 10);
    }
    while (k > 0)
        *p++ = digits[--k];
    return (size_t)(p - text);
}

/* ---------------------------------------------------------------- head */

/* A setting that each track has. */
static void put_each(struct cov_json *j, const char *key, int64_t value, size_t n)
{
    cov_json_begin_array(j, key);
    for (size_t i = 0; i < n; i++)
        cov_json_int(j, NULL, value);
    cov_json_end_array(j);
}

static void put_settings(struct cov_json *j, const struct cov_profile_tracks *t)
{
    static const char *const points[] = {"TSS", "TES", "center", NULL};
    const struct cov_profile_layout *l = &t->windows->layout;
    put_each(j, "upstream", l->before, t->n);
    put_each(j, "downstream", l->after, t->n);
    put_each(j, "body", l->body, t->n);
    put_each(j, "bin size", l->bin, t->n);
    cov_json_begin_array(j, "ref point");
    for (size_t i = 0; i < t->n; i++)
        cov_json_string(j, NULL, points[l->anchor]);
    cov_json_end_array(j);
    cov_json_bool(j, "verbose", false);
    cov_json_string(j, "bin avg type", "mean");
    cov_json_bool(j, "missing data as zero", false);
    cov_json_string(j, "min threshold", NULL);
    cov_json_string(j, "max threshold", NULL);
    cov_json_int(j, "scale", 1);
    cov_json_bool(j, "skip zeros", false);
    cov_json_bool(j, "nan after end", false);
    cov_json_int(j, "proc number", 1);
    cov_json_string(j, "sort regions", "keep");
    cov_json_string(j, "sort using", "mean");
    put_each(j, "unscaled 5 prime", 0, t->n);
    put_each(j, "unscaled 3 prime", 0, t->n);
}

static void put_labels(struct cov_json *j, const struct cov_profile_tracks *t)
{
    cov_json_begin_array(j, "group_labels");
    cov_json_string(j, NULL, "genes");
    cov_json_end_array(j);
    cov_json_begin_array(j, "group_boundaries");
    cov_json_int(j, NULL, 0);
    cov_json_int(j, NULL, (int64_t)t->windows->features->n);
    cov_json_end_array(j);
    cov_json_begin_array(j, "sample_labels");
    for (size_t i = 0; i < t->n; i++)
        cov_json_string(j, NULL, t->items[i]->name);
    cov_json_end_array(j);
    cov_json_begin_array(j, "sample_boundaries");
    for (size_t i = 0; i <= t->n; i++)
        cov_json_int(j, NULL, (int64_t)(i * t->n_bins));
    cov_json_end_array(j);
}

/* Joins indented lines to one, and returns its length. */
static size_t join_lines(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++)
        if (*p == '\n')
            p += strspn(p + 1, " ");
        else
            *to++ = *p;
    return (size_t)(to - text);
}

static int write_head(const struct cov_profile_tracks *t, struct cov_bgz *out, struct cov_err *e)
{
    char *text = NULL;
    size_t n = 0;
    struct cov_json j;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return cov_fail_errno(e, "settings of the matrix");
    cov_json_init(&j, f);
    j.is_ascii = true;
    cov_json_begin_object(&j, NULL);
    put_settings(&j, t);
    put_labels(&j, t);
    cov_json_end_object(&j);
    int rc = fclose(f) == 0 ? cov_bgz_write(out, "@", 1, e) : cov_fail_errno(e, "out of memory");
    if (!rc)
        rc = cov_bgz_write(out, text, join_lines(text), e);
    if (!rc)
        rc = cov_bgz_write(out, "\n", 1, e);
    free(text);
    return rc;
}

/* ---------------------------------------------------------------- features */

/* The text of a line. */
struct line {
    char *text; /* Owned */
    size_t n, cap;
    double *bins; /* Owned */
};

/* Appends a text in ASCII, as deepTools needs it: other bytes as %C3, for example. The caller has
 * reserved the room. */
static void put_ascii(struct line *line, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 0x80) {
            line->text[line->n++] = (char)*p;
            continue;
        }
        line->text[line->n++] = '%';
        line->text[line->n++] = digits[*p >> 4];
        line->text[line->n++] = digits[*p & 0xf];
    }
}

static int put_feature(struct line *line, const struct cov_profile_tracks *t, size_t i,
                       struct cov_err *e)
{
    const struct cov_annotation *a = t->windows->features;
    const struct cov_feature *f = &a->items[i];
    const char *contig = cov_names_get(a->contigs, f->contig, NULL);
    const char *name = cov_annotation_name(a, i), *score = cov_annotation_score(a, i);
    char place[80];
    (void)snprintf(place, sizeof place, "%" PRId64 "\t%" PRId64, f->beg, f->end);
    const size_t room = 3 * (2 * strlen(contig) + strlen(name) + strlen(score)) + 2 * sizeof place;
    int rc = COV_RESERVE(&line->text, &line->cap, room, e);
    if (rc)
        return rc;
    line->n = 0;
    put_ascii(line, contig);
    put_ascii(line, "\t");
    put_ascii(line, place);
    put_ascii(line, "\t");
    if (*name) {
        put_ascii(line, name);
    } else {
        *strchr(place, '\t') = '-';
        put_ascii(line, contig);
        put_ascii(line, ":");
        put_ascii(line, place);
    }
    const char end[] = {'\t', f->strand, '\0'};
    put_ascii(line, "\t");
    put_ascii(line, score);
    put_ascii(line, end);
    return COV_OK;
}

static int put_track(struct line *line, const struct cov_profile_tracks *t, size_t track,
                     size_t feature, struct cov_err *e)
{
    int rc = cov_profile_tracks_bins(t, track, feature, 0, t->n_bins, line->bins, e);
    for (size_t i = 0; !rc && i < t->n_bins; i++) {
        rc = COV_RESERVE(&line->text, &line->cap, line->n + COV_PROFILE_VALUE_BYTES + 2, e);
        if (rc)
            break;
        line->text[line->n++] = '\t';
        line->n += cov_profile_matrix_put(line->bins[i], line->text + line->n);
    }
    return rc;
}

static int write_features(const struct cov_profile_tracks *t, struct cov_bgz *out,
                          struct cov_err *e)
{
    struct line line = {.bins = cov_malloc(t->n_bins, sizeof(double), e)};
    int rc = line.bins ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < t->windows->features->n; i++) {
        rc = put_feature(&line, t, i, e);
        for (size_t k = 0; !rc && k < t->n; k++)
            rc = put_track(&line, t, k, i, e);
        if (!rc) {
            line.text[line.n++] = '\n';
            rc = cov_bgz_write(out, line.text, line.n, e);
        }
    }
    free(line.text);
    free(line.bins);
    return rc;
}

int cov_profile_matrix_write(const struct cov_profile_tracks *t, const char *path,
                             unsigned n_threads, struct cov_err *e)
{
    struct cov_bgz *out;
    int rc = cov_bgz_open_write(path, COV_BGZ_DEFLATE, n_threads, &out, e);
    if (rc)
        return rc;
    rc = write_head(t, out, e);
    if (!rc)
        rc = write_features(t, out, e);
    if (rc) {
        cov_bgz_abort(out);
        return rc;
    }
    return cov_bgz_close(out, e);
}
