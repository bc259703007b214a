/* bigwig_io.h - for unit tests: writes tracks as bigWig, and reads them back with libBigWig.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_BIGWIG_IO_H
#define TESTS_BIGWIG_IO_H

#include "tests/lib/own_dir.h"

#include <bigWig.h>

#include "common/base/pool.h"
#include "common/track/formats/bigwig.h"

/* The intervals of a contig. */
struct expected {
    const struct cov_interval *iv;
    size_t n;
};

/* Writes x[] to `path`, `piece` intervals at a time, with contigs that are listed or announced. */
static inline int put_bigwig(const char *path, const struct cov_track_contigs *contigs,
                             const struct expected *x, bool announced,
                             const struct cov_bigwig_options *options, size_t piece,
                             struct cov_err *e)
{
    struct cov_track_sink *s;
    int rc = cov_bigwig_open(path, "x.bw", announced ? NULL : contigs, options, &s, e);
    for (size_t c = 0; c < contigs->n && !rc; c++) {
        rc = announced ? cov_track_begin_named(s, contigs->names[c], e) : cov_track_begin(s, c, e);
        for (size_t i = 0; i < x[c].n && !rc; i += piece)
            rc = cov_track_add(s, x[c].iv + i, x[c].n - i < piece ? x[c].n - i : piece, e);
        if (!rc && announced)
            rc = cov_track_end_contig(s, contigs->lengths[c], e);
    }
    if (!rc)
        rc = cov_track_close(s, e);
    cov_track_free(s);
    return rc;
}

static inline void check_intervals(bigWigFile_t *bw, const char *contig, int64_t length,
                                   const struct expected *x)
{
    bwOverlappingIntervals_t *found = bwGetOverlappingIntervals(bw, contig, 0, (uint32_t)length);
    assert_int_equal(found ? found->l : 0, x->n);
    for (size_t i = 0; found && i < x->n; i++) {
        assert_int_equal(found->start[i], (uint32_t)x->iv[i].beg);
        assert_int_equal(found->end[i], (uint32_t)x->iv[i].end);
        assert_memory_equal(&found->value[i], &x->iv[i].value, sizeof(float));
    }
    if (found)
        bwDestroyOverlappingIntervals(found);
}

/* Checks that the file has these contigs and intervals, and their summary. */
static inline void check_bigwig(const char *path, const struct cov_track_contigs *contigs,
                                const struct expected *x)
{
    double least = 0, most = 0, sum = 0, squares = 0;
    uint64_t n_bases = 0, n = 0;
    bigWigFile_t *bw = bwOpen(path, NULL, "r");
    assert_non_null(bw);
    assert_int_equal(bw->cl->nKeys, contigs->n);
    for (size_t c = 0; c < contigs->n; c++) {
        assert_string_equal(bw->cl->chrom[c], contigs->names[c]);
        assert_int_equal(bw->cl->len[c], (uint32_t)contigs->lengths[c]);
        check_intervals(bw, contigs->names[c], contigs->lengths[c], &x[c]);
        for (size_t i = 0; i < x[c].n; i++, n++) {
            const struct cov_interval *iv = &x[c].iv[i];
            const double v = (double)iv->value, bases = (double)(iv->end - iv->beg);
            least = n == 0 || v < least ? v : least;
            most = n == 0 || v > most ? v : most;
            sum += v * bases;
            squares += v * v * bases;
            n_bases += (uint64_t)(iv->end - iv->beg);
        }
    }
    assert_true(bw->hdr->minVal == least && bw->hdr->maxVal == most);
    assert_true(bw->hdr->sumData == sum && bw->hdr->sumSquared == squares);
    assert_int_equal(bw->hdr->nBasesCovered, n_bases);
    assert_true(bw->hdr->nLevels > 0 || n == 0); /* IGV requires one */
    bwClose(bw);
}

/* Returns the number of n bytes, little-endian, at an offset of a file. */
static inline uint64_t number_at(const struct bytes *b, size_t at, size_t n)
{
    uint64_t x = 0;
    assert_true(at <= b->n && n <= b->n - at);
    for (size_t i = n; i-- > 0;)
        x = x << 8 | b->p[at + i];
    return x;
}

#endif
