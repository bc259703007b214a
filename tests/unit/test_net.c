/* test_net.c - the network on a mock device.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/net/net.h"
#include "common/net/shape.h"

struct mock_program {
    struct cov_program base;
    size_t n_layers, T;
    float first_weight;
    unsigned n_workers;
    size_t max_batch;
};

static int n_programs;

static int forward(struct cov_program *base, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e)
{
    const struct mock_program *p = (const struct mock_program *)base;
    if (worker >= p->n_workers || n > p->max_batch)
        return cov_fail(e, COV_EIO, "too many");
    for (size_t i = 0; i < n * p->T; i++)
        out[i] = codes[i] ? p->first_weight + (float)codes[i] : COV_PAD_VALUE;
    return COV_OK;
}

static void program_free(struct cov_program *p)
{
    free(p);
    n_programs--;
}

static int program_new(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e)
{
    static const struct cov_program_ops ops = {.forward = forward, .free = program_free};
    (void)dev;
    if (spec->max_batch == 99)
        return cov_fail(e, COV_EUNSUPPORTED, "99");
    struct mock_program *p = malloc(sizeof *p);
    assert_non_null(p);
    *p = (struct mock_program){.base.ops = &ops,
                               .n_layers = spec->n_layers,
                               .T = spec->layers[0].t_in,
                               .first_weight = spec->weights[0].weight[0],
                               .n_workers = spec->n_workers,
                               .max_batch = spec->max_batch};
    *out = &p->base;
    n_programs++;
    return COV_OK;
}

static const struct cov_device_ops ops = {.name = "mock", .program_new = program_new};

static const struct cov_hparams cnn = {
    .model_type = COV_MODEL_CNN,
    .cnn_layers = 1,
    .filter_size = 2,
    .kernel_size = 3,
    .step = 2,
    .up = 1,
    .dilation = 1,
    .input_size = 4,
    .output_size = 1,
};

enum { N_FLOATS = 2 * 4 * 3 + 2 + 2 * 4 * 3 + 4 + 4 + 1 };

TEST(runs_on_device)
{
    struct cov_device dev = {&ops};
    struct cov_net *net;
    struct cov_err e = COV_ERR_INIT;
    float block[N_FLOATS] = {10}, values[4];
    static const uint8_t codes[4] = {1, 2, 4, 8};
    assert_int_equal(cov_net_new(&dev, &cnn, block, (struct cov_net_size){2, 3, 2}, &net, &e), 0);
    assert_int_equal(n_programs, 1);
    block[0] = 0; /* the device has its own copy */
    assert_int_equal(cov_net_forward(net, 2, 2, codes, values, &e), 0);
    assert_true(values[0] == 11 && values[1] == 12 && values[2] == 14 && values[3] == 18);
    assert_int_equal(cov_net_forward(net, 3, 1, codes, values, &e), COV_EIO);
    cov_net_free(net);
    assert_int_equal(n_programs, 0);
    cov_net_free(NULL);
}

TEST(averages)
{
    struct cov_device dev = {&ops};
    struct cov_net *net;
    float blocks[3][N_FLOATS] = {{10}, {13}, {16}}, values[8];
    static const uint8_t codes[4] = {1, 2, 0, 8};
    struct cov_net_member members[3];
    for (size_t i = 0; i < 3; i++)
        members[i] = (struct cov_net_member){&cnn, blocks[i]};
    const struct cov_net_size size = {2, 2, 2};
    assert_int_equal(cov_net_new_ensemble(&dev, members, 3, false, size, &net, NULL), 0);
    assert_int_equal(n_programs, 3);
    assert_int_equal(cov_net_forward(net, 1, 2, codes, values, NULL), 0);
    assert_true(values[0] == 14 && values[1] == 15 && values[2] == COV_PAD_VALUE &&
                values[3] == 21);
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_net_forward(net, 2, 1, codes, values, &e), COV_EIO);
    cov_net_free(net);
    assert_int_equal(n_programs, 0);
    assert_int_equal(cov_net_new_ensemble(&dev, members, 3, true, size, &net, NULL), 0);
    assert_int_equal(cov_net_forward(net, 0, 2, codes, values, NULL), 0);
    static const float wanted[8] = {14, 3, 15, 3, COV_PAD_VALUE, COV_PAD_VALUE, 21, 3};
    assert_memory_equal(values, wanted, sizeof wanted);
    cov_net_free(net);
    struct cov_hparams bad = cnn;
    bad.up = -1;
    members[1].hp = &bad;
    assert_int_equal(cov_net_new_ensemble(&dev, members, 3, true, size, &net, &e), COV_EINPUT);
    assert_null(net);
    assert_int_equal(n_programs, 0);
}

TEST(refuses)
{
    struct cov_device dev = {&ops};
    struct cov_net *net = (struct cov_net *)&dev;
    struct cov_err e = COV_ERR_INIT;
    float block[N_FLOATS] = {0};
    assert_int_equal(cov_net_new(&dev, &cnn, block, (struct cov_net_size){3, 1, 1}, &net, &e),
                     COV_EINPUT);
    assert_null(net);
    assert_non_null(strstr(e.text, "subsequence length 3 is not a multiple of 2"));
    cov_err_clear(&e);
    struct cov_hparams bad = cnn;
    bad.up = -1;
    assert_int_equal(cov_net_new(&dev, &bad, block, (struct cov_net_size){2, 1, 1}, &net, &e),
                     COV_EINPUT);
    assert_non_null(strstr(e.text, "up is -1"));
    cov_err_clear(&e);
    assert_int_equal(cov_net_new(&dev, &cnn, block, (struct cov_net_size){2, 1, 99}, &net, &e),
                     COV_EUNSUPPORTED);
    assert_null(net);
    assert_int_equal(n_programs, 0);
}
