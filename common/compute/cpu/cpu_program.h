/* cpu_program.h - the CPU's networks: what device_cpu.c, which runs chunks, cpu_edits.c, which
 * runs chunks after edits, and cpu_rows.c below them share.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_CPU_PROGRAM_H
#define COV_COMPUTE_CPU_CPU_PROGRAM_H

#include <pthread.h>

#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/lstm.h"
#include "common/compute/cpu/layers/precision.h"
#include "common/compute/device.h"
#include "common/compute/plan.h"

/* The CPU as a device. */
struct cov_cpu_device {
    struct cov_device base;
    bool reference; /* the scalar reference instead of `kernels` */
    struct cov_cpu_kernels kernels;
    struct cov_cpu_arithmetic arithmetic;
    char description[256];
};

/* The scratch of a worker. */
struct cov_cpu_arena {
    float *memory;
    float *onehot;  /* [L, 4] */
    float *rows[2]; /* activations of one sequence, alternating */
    float *lstm[2]; /* [T, n, C], alternating */
    float *scratch;
    struct cov_row_plan *plans; /* [n_rows, n_layers + 1] */
    double *work;               /* [n_rows] multiplications */
    struct cov_chunk_order order;
    struct cov_forward_counts counts; /* without chunks_repeated */
    struct cov_cpu_edits *edits;      /* NULL until the first call of forward_edited */
};

/* A chunk of only padding. */
struct cov_cpu_padding {
    pthread_mutex_t lock; /* held while the padding is computed, which does not change afterwards */
    bool made;
    float *memory;
    struct cov_row_plan *plans;      /* [n_layers + 1] */
    struct cov_lstm_padding *layers; /* [n_layers], of LSTMs */
};

struct cov_cpu_program {
    struct cov_program base;
    const struct cov_cpu_device *dev;
    struct cov_layer *layers;
    size_t n_layers, lstm_beg, lstm_end; /* layers [lstm_beg, lstm_end) are LSTMs */
    bool full;                           /* compute everything */
    size_t n_rows;                       /* sequences side by side, at most COV_LSTM_ROWS */
    struct cov_conv **fast;              /* [n_layers]; NULL for LSTMs and for the reference */
    struct cov_lstm **lstm;              /* [n_layers], of LSTMs */
    struct cov_layer_weights *weights;   /* [n_layers], for the reference */
    float **weight_memory;               /* [n_layers] */
    struct cov_cpu_arena *arenas;
    unsigned n_workers;
    size_t max_batch;
    double full_work; /* multiplications of a full chunk */
    struct cov_cpu_padding padding;
};

/* ---- cpu_rows.c ---- */

/* x[L, 4] = the one-hot rows that a plan of the input computes. */
void cov_cpu_one_hot(const struct cov_row_plan *plan, const uint8_t *codes, float *x);
/* Runs layers [of.beg, of.end), without LSTMs, on one sequence, from its codes if io->x is NULL.
 * Returns the number of multiplications. */
double cov_cpu_run_rows(const struct cov_cpu_program *p, struct cov_cpu_arena *a,
                        const struct cov_row_plan *plans, struct cov_rows of, const uint8_t *codes,
                        const struct cov_layer_io *io);
/* Returns the most floats that an LSTM layer reads or writes for one sequence. */
size_t cov_cpu_lstm_floats(const struct cov_layer *layers, size_t n_layers);
/* Returns true if a chunk with bases before `filled` has so much padding that its values are
 * shared; false if it has no base. */
bool cov_cpu_has_much_padding(const struct cov_cpu_program *p, size_t filled);
/* Counts the work of a chunk: multiplications. */
void cov_cpu_count_work(const struct cov_cpu_program *p, struct cov_cpu_arena *a, double work);

/* ---- cpu_edits.c ---- */

/* Returns true if the network can be run by cov_cpu_forward_edited: it has LSTM layers, and computes
 * in single precision. */
bool cov_cpu_can_edit(const struct cov_cpu_program *p);
/* Returns the floats of scratch that an LSTM layer needs for edits. */
size_t cov_cpu_edits_scratch(const struct cov_lstm *f);
/* forward_edited of struct cov_program. */
int cov_cpu_forward_edited(struct cov_program *base, unsigned worker,
                           const struct cov_edited_chunks *chunks, float *out, struct cov_err *e);
void cov_cpu_edits_free(struct cov_cpu_edits *edits); /* NULL is accepted */

#endif
