/* opt_names.c - see opt_names.h.
 * SPDX-License-Identifier: MIT */
#include "common/cli/opt_names.h"

#include <string.h>

#define OPERAND NULL, "inputs are given without an option", false
#define BE(ours) ours, NULL, false
#define IS(ours) ours, NULL, true

const struct cov_opt_habit cov_opt_habits[] = {
    /* Earlier versions, and Predmoter. */
    {"bin", IS("bin-size")},
    {"bins", IS("bin-size")},
    {"bin-sizes", IS("bin-size")},
    {"binSize", IS("bin-size")},
    {"peak-threshold", IS("peak-cutoff")},
    {"peak-length", IS("peak-min-length")},
    {"peak-gap", IS("peak-max-gap")},
    {"compare", IS("measured")},
    {"measured-threshold", IS("measured-cutoff")},
    {"target", IS("dataset")},
    {"datasets", IS("dataset")},
    {"dataset", IS("datasets")},
    {"reference", IS("genome")},
    {"names", IS("labels")},
    {"window-size", IS("windows")},
    {"plot", "basename", "use covprofile region", false},
    {"plot-region", "basename", "use covprofile region", false},
    {"mode", "device", "covtrain trains, covpredict predicts, covpredict --evaluate tests", false},
    {"filepath", BE("input-dir")},
    {"input-file", BE("input-dir")},
    {"i", "dataset", "the inputs are --genome and --regions-file", false},
    {"filepath", OPERAND},
    {"input-dir", OPERAND},
    {"input-file", OPERAND},
    {"output-dir", BE("output")},
    {"output-format", BE("format")},
    {"of", BE("format")},
    {"lr", BE("learning-rate")},
    {"num-devices", "device", "name the GPUs, as in --device cuda:0,1", false},
    {"num-workers", BE("threads")},
    /* samtools. */
    {"F", BE("exclude-flags")},
    {"excl-flags", BE("exclude-flags")},
    {"f", BE("require-flags")},
    {"incl-flags", BE("require-flags")},
    {"q", BE("min-mapq")},
    {"min-MQ", BE("min-mapq")},
    {"T", BE("genome")},
    {"L", BE("regions-file")},
    {"targets-file", BE("regions-file")},
    {"t", BE("threads")},
    /* deepTools. */
    {"bs", BE("bin-size")},
    {"p", BE("threads")},
    {"numberOfProcessors", BE("threads")},
    {"outFileName", BE("output")},
    {"outFileFormat", BE("format")},
    {"outFileNameMatrix", BE("output")},
    {"outRawCounts", BE("output")},
    {"matrixFile", BE("matrix")},
    {"plotFile", BE("plot")},
    {"bam", OPERAND},
    {"bamfiles", OPERAND},
    {"bwfiles", OPERAND},
    {"scoreFileName", OPERAND},
    {"S", OPERAND},
    {"region", BE("regions")},
    {"regionsFileName", BE("genes")},
    {"beforeRegionStartLength", BE("before")},
    {"upstream", BE("before")},
    {"afterRegionStartLength", BE("after")},
    {"downstream", BE("after")},
    {"regionBodyLength", BE("body")},
    {"referencePoint", BE("anchor")},
    {"averageType", BE("median")},
    {"samplesLabel", BE("labels")},
    {"corMethod", BE("method")},
    {"blackListFileName", BE("blacklist-file")},
    {"bl", BE("blacklist-file")},
    {"normalizeUsing", BE("normalize")},
    {"effectiveGenomeSize", "normalize", "use --normalize cpm --scale MILLIONS", false},
    {"scaleFactor", BE("scale")},
    {"smoothLength", BE("window-size")},
    {"skipZeros", BE("skip-zero")},
    {"minMappingQuality", BE("min-mapq")},
    {"samFlagInclude", BE("require-flags")},
    {"samFlagExclude", BE("exclude-flags")},
    {"minFragmentLength", BE("min-fragment")},
    {"maxFragmentLength", BE("max-fragment")},
    {"extendReads", "count", "use --count fragment", false},
    {"Offset", "count", "use --count cut", false},
    {"ignoreDuplicates", "exclude-flags", "use --exclude-flags UNMAP,SECONDARY,QCFAIL,DUP", false},
    /* MACS3. */
    {"ofile", BE("output")},
    {"o-prefix", BE("output")},
    {"outdir", BE("output")},
    {"name", BE("output")},
    {"n", BE("output")},
    {"ifile", OPERAND},
    {"treatment", OPERAND},
    {"cutoff", BE("peak-cutoff")},
    {"min-length", BE("peak-min-length")},
    {"max-gap", BE("peak-max-gap")},
    {"cutoff-peak", BE("cutoff")},
    {"cutoff-link", BE("weak-cutoff")},
    {"broad-cutoff", BE("weak-cutoff")},
    {"lvl1-max-gap", BE("max-gap")},
    {"lvl2-max-gap", BE("link-gap")},
    {"call-summits", BE("summits")},
    {"cutoff-analysis", "auto", "use --auto, or covpeaks curve", false},
    {"qvalue", "cutoff", "values are not tested; use --cutoff or --auto", false},
    {"pvalue", "cutoff", "values are not tested; use --cutoff or --auto", false},
    {"gsize", "normalize", "use --normalize cpm --scale MILLIONS", false},
    {"extsize", "count", "use --count fragment", false},
    {"keep-dup", "exclude-flags", "all reads count unless --exclude-flags has DUP", false},
    {"nomodel", NULL, "no model of fragments is made, so leave it out", false},
    {"no-trackline", NULL, "no track line is written, so leave it out", false},
    /* bedtools. */
    {"g", BE("chrom-sizes")},
    {"bg", "format", "give -o a name that ends in .bedGraph", false},
    {"ibam", OPERAND},
    {"a", OPERAND},
    {"b", OPERAND},
    {"i", OPERAND},
    {.theirs = NULL},
};

static bool same_letter(char a, char b)
{
    return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

bool cov_opt_same_name(const char *a, const char *name, size_t n)
{
    if (strlen(a) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same_letter(a[i], name[i]))
            return false;
    return true;
}

bool cov_opt_is_close(const char *a, size_t n, const char *b)
{
    size_t m = strlen(b), head = 0, tail = 0;
    while (head < n && head < m && same_letter(a[head], b[head]))
        head++;
    if (head == n)
        return n > 2;
    while (tail < n - head && tail < m - head && same_letter(a[n - 1 - tail], b[m - 1 - tail]))
        tail++;
    size_t least = n < m ? n : m, most = n < m ? m : n, other = most - head - tail;
    bool swapped = n == m && other == 2 && same_letter(a[head], b[head + 1]) &&
                   same_letter(a[head + 1], b[head]);
    return n > 2 && least + 1 >= most && (other <= 1 || swapped);
}
