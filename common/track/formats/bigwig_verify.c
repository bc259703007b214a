/* bigwig_verify.c - see bigwig_verify.h. The only file that uses libBigWig (0.4.7).
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bigwig_verify.h"

#include <bigWig.h>
#include <inttypes.h>
#include <string.h>

static int verify_header(const struct cov_track_sink *s, const bigWigFile_t *bw, struct cov_err *e)
{
    const struct cov_track_summary *sum = &s->summary;
    const bigWigHdr_t *hdr = bw->hdr;
    if (hdr->nBasesCovered != sum->n_bases || hdr->minVal != sum->min || hdr->maxVal != sum->max ||
        hdr->sumData != sum->sum || hdr->sumSquared != sum->sum_squares)
        return cov_fail(e, COV_EIO, "%s: verification failed: the summary differs", s->name);
    size_t n = cov_track_n_contigs(s);
    bool same = bw->cl->nKeys == (int64_t)n;
    for (size_t i = 0; same && i < n; i++)
        same = bw->cl->chrom[i] && strcmp(bw->cl->chrom[i], cov_track_contig_name(s, i)) == 0 &&
               bw->cl->len[i] == (uint32_t)cov_track_contig_length(s, i);
    if (!same)
        return cov_fail(e, COV_EIO, "%s: verification failed: the contigs differ", s->name);
    return COV_OK;
}

static int verify_sample(const struct cov_track_sink *s, bigWigFile_t *bw,
                         const struct cov_bigwig_sample *sample, struct cov_err *e)
{
    const struct cov_interval *iv = &sample->iv;
    const char *contig = cov_track_contig_name(s, sample->contig);
    uint32_t beg = (uint32_t)iv->beg, end = (uint32_t)iv->end;
    bwOverlappingIntervals_t *found = bwGetOverlappingIntervals(bw, contig, beg, beg + 1);
    bool same = found && found->l == 1 && found->start[0] == beg && found->end[0] == end &&
                found->value[0] == iv->value;
    if (found)
        bwDestroyOverlappingIntervals(found);
    if (same)
        return COV_OK;
    return cov_fail(e, COV_EIO, "%s: verification failed: %s:%" PRId64 "-%" PRId64 " differs",
                    s->name, contig, iv->beg + 1, iv->end);
}

int cov_bigwig_verify(const char *path, const struct cov_track_sink *s,
                      const struct cov_bigwig_sample *samples, size_t n_samples, struct cov_err *e)
{
    bigWigFile_t *bw = bwOpen(path, NULL, "r");
    if (!bw || !bw->hdr || !bw->cl) {
        if (bw)
            bwClose(bw);
        return cov_fail(e, COV_EIO, "%s: verification failed: unreadable", s->name);
    }
    int rc = verify_header(s, bw, e);
    for (size_t i = 0; i < n_samples && !rc; i++)
        rc = verify_sample(s, bw, &samples[i], e);
    bwClose(bw);
    return rc;
}

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

const char *cov_bigwig_version(void)
{
    return TEXT_OF(LIBBIGWIG_VERSION);
}
