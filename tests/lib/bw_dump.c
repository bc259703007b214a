/* bw_dump.c - converts a bigWig to bedGraph with libBigWig: bw_dump FILE.
 * SPDX-License-Identifier: MIT */
#include <bigWig.h>
#include <inttypes.h>
#include <stdio.h>

static int dump(bigWigFile_t *bw, const char *contig, uint32_t length)
{
    bwOverlapIterator_t *it = bwOverlappingIntervalsIterator(bw, contig, 0, length, 100);
    if (!it)
        return 1;
    while (it->data) {
        const bwOverlappingIntervals_t *found = it->intervals;
        for (uint32_t i = 0; i < found->l; i++)
            if (printf("%s\t%" PRIu32 "\t%" PRIu32 "\t%.9g\n", contig, found->start[i],
                       found->end[i], (double)found->value[i]) < 0)
                return 1;
        it = bwIteratorNext(it);
        if (!it)
            return 1;
    }
    bwIteratorDestroy(it);
    return 0;
}

int main(int argc, char **argv)
{
    bigWigFile_t *bw = argc == 2 ? bwOpen(argv[1], NULL, "r") : NULL;
    if (!bw)
        return 1;
    int failed = 0;
    for (int64_t i = 0; i < bw->cl->nKeys && !failed; i++)
        failed = dump(bw, bw->cl->chrom[i], bw->cl->len[i]);
    bwClose(bw);
    return failed || fflush(stdout) != 0;
}
