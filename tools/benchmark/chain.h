/* chain.h - the tools from FASTA to tracks, run stage by stage and measured.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_CHAIN_H
#define BENCHMARK_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "tools/benchmark/bench.h"
#include "tools/benchmark/child.h"

enum chain_stage {
    CHAIN_ENCODE,
    CHAIN_PREDICT,
    CHAIN_MERGE, /* of the shards of prediction */
    CHAIN_BIGWIG,
    CHAIN_BEDGRAPH,
    CHAIN_ALL, /* the sum of the others */
    CHAIN_STAGES
};
extern const char *const chain_stages[CHAIN_STAGES]; /* "fasta2h5", ... */

/* The programs of a stage, which run at once. */
struct chain_run {
    struct bench *b;
    struct child *children; /* [n]. Owned, like the commands */
    size_t n, cap;
    char *output;             /* an HDF5 file to verify once; NULL: none. Owned */
    char label[64];           /* the end of its figures' names: "stage=S,bases=N" */
    struct child_cost *costs; /* [repeats], each the sum over the programs. Owned */
    size_t n_costs;
};

/* The stages for one genome. The caller sets the first members, and zeros. */
struct chain {
    struct bench *b;
    const char *section; /* "stages" or "pipeline", the start of names of figures and files */
    char *fasta;         /* Owned */
    int64_t n_bases;     /* for the names of figures; 0: omitted */
    unsigned shards;     /* of prediction, which share the threads; 0: one process and no merge */
    struct chain_run runs[CHAIN_STAGES];
};

/* Runs b->repeats of all stages in alternating order and adds the figures
 * SECTION/FIGURE/stage=S[,bases=N]: wall_seconds, cpu_seconds, peak_rss_bytes, read_bytes and
 * written_bytes, and hardware counters where they can be read. With shards also for stage=all. The
 * caller frees each chain with chain_fini, in any case. */
int chains_run(struct chain *chains, size_t n, struct cov_err *e) COV_MUST_USE;
void chain_fini(struct chain *c);

/* Returns a figure of a stage; NULL if it was not measured. */
const struct figure *chain_figure(const struct chain *c, const char *figure,
                                  enum chain_stage stage);

#endif
