/* suffix.c - see suffix.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/suffix.h"

#include <string.h>
#include <strings.h>

#include "common/base/mem.h"

static const struct cov_suffix suffixes[] = {
    {".h5", COV_SUFFIX_HDF5},          {".hdf5", COV_SUFFIX_HDF5},
    {".fa", COV_SUFFIX_FASTA},         {".fasta", COV_SUFFIX_FASTA},
    {".fna", COV_SUFFIX_FASTA},        {".fas", COV_SUFFIX_FASTA},
    {".fsa", COV_SUFFIX_FASTA},        {".ffn", COV_SUFFIX_FASTA},
    {".frn", COV_SUFFIX_FASTA},        {".mfa", COV_SUFFIX_FASTA},
    {".bam", COV_SUFFIX_BAM},          {".cram", COV_SUFFIX_BAM},
    {".sam", COV_SUFFIX_SAM},          {".bedgraph", COV_SUFFIX_BEDGRAPH},
    {".bg", COV_SUFFIX_BEDGRAPH},      {".bdg", COV_SUFFIX_BEDGRAPH},
    {".bed", COV_SUFFIX_BED},          {".bw", COV_SUFFIX_BIGWIG},
    {".bigwig", COV_SUFFIX_BIGWIG},    {".ckpt", COV_SUFFIX_CKPT},
    {".narrowpeak", COV_SUFFIX_PEAKS}, {".broadpeak", COV_SUFFIX_PEAKS},
    {".gappedpeak", COV_SUFFIX_PEAKS}, {".png", COV_SUFFIX_PICTURE},
    {".svg", COV_SUFFIX_PICTURE},      {".txt", COV_SUFFIX_TEXT},
    {".tsv", COV_SUFFIX_TEXT},         {".csv", COV_SUFFIX_TEXT},
    {".json", COV_SUFFIX_JSON},        {".fq", COV_SUFFIX_INPUT},
    {".fastq", COV_SUFFIX_INPUT},      {".2bit", COV_SUFFIX_INPUT},
    {".gff", COV_SUFFIX_INPUT},        {".gff3", COV_SUFFIX_INPUT},
    {".gtf", COV_SUFFIX_INPUT},        {".vcf", COV_SUFFIX_VARIANTS},
    {".bcf", COV_SUFFIX_VARIANTS},     {".bb", COV_SUFFIX_INPUT},
    {".bigbed", COV_SUFFIX_INPUT},     {".npz", COV_SUFFIX_ARRAYS},
};

static bool ends_in(const char *name, size_t n, const char *suffix)
{
    size_t length = strlen(suffix);
    return n > length && strncasecmp(name + n - length, suffix, length) == 0;
}

const struct cov_suffix *cov_suffix_find(const char *name, size_t n)
{
    for (size_t i = 0; i < COV_COUNT(suffixes); i++)
        if (ends_in(name, n, suffixes[i].text))
            return &suffixes[i];
    return NULL;
}

size_t cov_suffix_skip_gz(const char *name, size_t n)
{
    return ends_in(name, n, ".gz") ? n - strlen(".gz") : n;
}
