/* make_training.h - for tests: parameters and batches for small networks in training, in memory of the
 * test.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MAKE_TRAINING_H
#define TESTS_MAKE_TRAINING_H

#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/compute/device.h"
#include "common/net/shape.h"
#include "common/seq/alphabet.h"

/* A small network; its LSTMs have two layers. */
static inline struct cov_hparams toy_network(enum cov_model_type type, int64_t layers,
                                             int64_t kernel, int64_t step, int64_t dilation,
                                             bool bnorm)
{
    return (struct cov_hparams){.model_type = type,
                                .cnn_layers = layers,
                                .filter_size = 3,
                                .kernel_size = kernel,
                                .step = step,
                                .up = 2,
                                .dilation = dilation,
                                .lstm_layers = 2,
                                .hidden_size = 3,
                                .input_size = 4,
                                .output_size = 2,
                                .bnorm = bnorm};
}

struct toy_data {
    size_t n, L, outputs;
    uint8_t *codes;
    float *targets;
    bool *present;
};

/* Bases with some N and other letters; the second half of the last chunk is padding; one target in
 * four is missing, but not the first; one position in eight is masked. */
static inline void toy_data_init(struct toy_data *d, size_t n, size_t L, size_t outputs,
                                 uint64_t seed)
{
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    *d = (struct toy_data){n, L, outputs, NULL, NULL, NULL};
    d->codes = unit_alloc(n * L);
    d->targets = unit_alloc(n * L * outputs * sizeof *d->targets);
    d->present = unit_alloc(n * outputs * sizeof *d->present);
    for (size_t i = 0; i < n * L; i++) {
        uint64_t draw = cov_rng_below(&rng, 20);
        d->codes[i] = (uint8_t)(draw < 16 ? 1U << draw % 4 : draw < 18 ? COV_CODE_N : draw - 13);
    }
    memset(d->codes + (n - 1) * L + L / 2, COV_CODE_PAD, L - L / 2);
    for (size_t i = 0; i < n * L * outputs; i++)
        d->targets[i] = cov_rng_below(&rng, 8) ? (float)cov_rng_below(&rng, 400) / 100 : -1;
    for (size_t i = 0; i < n * outputs; i++)
        d->present[i] = i == 0 || cov_rng_below(&rng, 4) > 0;
}

/* Returns chunks beg .. end-1 as a batch. */
static inline struct cov_train_batch toy_batch(const struct toy_data *d, size_t beg, size_t end)
{
    return (struct cov_train_batch){end - beg, d->codes + beg * d->L,
                                    d->targets + beg * d->L * d->outputs,
                                    d->present + beg * d->outputs, beg};
}

/* Returns block[n_floats] with random weights and biases of norms. */
static inline float *toy_block(const struct cov_hparams *hp, const struct cov_params *params,
                               uint64_t seed)
{
    struct cov_rng rng;
    cov_rng_init(&rng, seed);
    float *block = unit_alloc(params->n_floats * sizeof *block);
    cov_params_randomize(hp, params, seed, block);
    for (size_t i = 0; i < params->n_items; i++) {
        const struct cov_param *p = &params->items[i];
        const float *first = block + p->offset;
        bool norm = p->trained && p->n_dims == 1 && (*first == 0 || *first == 1);
        for (size_t k = 0; norm && k < p->n; k++)
            block[p->offset + k] += (float)(cov_rng_double(&rng) - 0.5);
    }
    return block;
}

#endif
