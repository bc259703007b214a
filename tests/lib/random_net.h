/* random_net.h - networks of random shapes with random parameters.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_LIB_RANDOM_NET_H
#define TESTS_LIB_RANDOM_NET_H

#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/net/shape.h"

static inline int64_t draw(struct cov_rng *rng, int64_t min, int64_t max)
{
    return min + (int64_t)cov_rng_below(rng, (uint64_t)(max - min + 1));
}

/* Draws valid hyperparameters. */
static inline struct cov_hparams draw_hparams(struct cov_rng *rng)
{
    struct cov_hparams hp;
    do {
        hp = (struct cov_hparams){
            .model_type = (enum cov_model_type)draw(rng, 0, 2),
            .cnn_layers = draw(rng, 1, 3),
            .filter_size = draw(rng, 1, 20),
            .kernel_size = draw(rng, 1, 11),
            .step = draw(rng, 1, 3),
            .up = draw(rng, 1, 2),
            .dilation = draw(rng, 0, 3) ? 1 : draw(rng, 2, 3),
            .lstm_layers = draw(rng, 1, 3),
            .hidden_size = draw(rng, 1, 40),
            .input_size = 4,
            .output_size = draw(rng, 1, 4),
            .bnorm = draw(rng, 0, 1),
        };
    } while (cov_hparams_check(&hp, NULL));
    return hp;
}

/* Draws a length that the network accepts, from about `least` to about `most`. */
static inline size_t draw_length(struct cov_rng *rng, const struct cov_hparams *hp, int64_t least,
                                 int64_t most)
{
    int64_t unit = 1;
    for (int64_t k = 0; k < hp->cnn_layers; k++)
        unit *= hp->step;
    return (size_t)(unit * draw(rng, (least + unit - 1) / unit, 1 + most / unit));
}

/* Returns the hyperparameters of a network like the published ones. */
static inline struct cov_hparams bi_hybrid(int64_t cnn_layers, int64_t filter_size,
                                           int64_t hidden_size, int64_t output_size)
{
    return (struct cov_hparams){.model_type = COV_MODEL_BI_HYBRID,
                                .cnn_layers = cnn_layers,
                                .filter_size = filter_size,
                                .kernel_size = 9,
                                .step = 2,
                                .up = 2,
                                .dilation = 1,
                                .lstm_layers = 2,
                                .hidden_size = hidden_size,
                                .input_size = 4,
                                .output_size = output_size,
                                .bnorm = true};
}

/* Draws parameters, including the statistics of norms, in memory of the test. */
static inline float *draw_block(struct cov_rng *rng, const struct cov_hparams *hp)
{
    struct cov_params params;
    assert_ok(cov_params_init(hp, &params, &e));
    float *block = unit_alloc(params.n_floats * sizeof *block);
    cov_params_randomize(hp, &params, cov_rng_next(rng), block);
    for (size_t i = 0; i < params.n_items; i++)
        for (size_t k = 0; !params.items[i].trained && k < params.items[i].n; k++)
            block[params.items[i].offset + k] += (float)cov_rng_double(rng) * 0.5f;
    cov_params_fini(&params);
    return block;
}

#endif
