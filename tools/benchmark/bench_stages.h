/* bench_stages.h - the tools as users run them: each stage over the size of the genome, and the pipeline in
 * shards.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_BENCH_STAGES_H
#define COV_BENCHMARK_BENCH_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "tools/benchmark/bench.h"

/* A FASTA to measure with. */
struct cov_bench_genome {
    const char *path;
    int64_t n_bases;
};

/* Bases of a FASTA, which is read for it. */
int cov_bench_count_bases(const char *path, const char *tmpdir, int64_t *n,
                          struct cov_err *e) COV_MUST_USE;

/* FASTA to genome file, to predictions, to bigWig and to bedGraph. Adds stages/wall_seconds/stage=S,bases=N,
 * cpu_seconds, peak_rss_bytes, read_bytes and written_bytes; with genomes of several sizes also
 * stages/seconds_per_mbp/stage=S and stages/fit_r2/stage=S, of the line through the times; and charts. The
 * programs are those beside this one, or in PATH. */
int cov_bench_stages(struct cov_bench *b, const struct cov_bench_genome *genomes, size_t n,
                     const char *model, struct cov_err *e) COV_MUST_USE;

struct cov_bench_pipeline_options {
    const char *fasta, *model;
    unsigned shards; /* of prediction, at the same time, which share the threads */
    bool profile;    /* a flame graph of prediction, by perf */
};

/* FASTA to genome file, predictions in shards, merged, bigWig and bedGraph. Adds
 * pipeline/wall_seconds/stage=S, cpu_seconds, peak_rss_bytes, pipeline/wall_seconds/stage=all, and what the
 * processor counted where it may be asked; a chart; and the files pipeline_snakemake.tsv with the
 * columns of Snakemake's benchmark and pipeline_flame.svg. What is missing is told in a note. */
int cov_bench_pipeline(struct cov_bench *b, const struct cov_bench_pipeline_options *options,
                       struct cov_err *e) COV_MUST_USE;

#endif
