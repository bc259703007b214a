/* net.c - see net.h.
 * SPDX-License-Identifier: MIT */
#include "common/net/net.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/net/shape.h"

struct cov_net {
    struct cov_program *program;
};

int cov_net_new(struct cov_device *dev, const struct cov_hparams *hp, const float *block,
                struct cov_net_size size, struct cov_net **out, struct cov_err *e)
{
    struct cov_params params = {0};
    struct cov_layers layers = {0};
    *out = NULL;
    struct cov_net *net = cov_calloc(1, sizeof *net, e);
    int rc = net ? cov_hparams_check(hp, e) : COV_ENOMEM;
    if (rc)
        goto out;
    rc = cov_params_init(hp, &params, e);
    if (rc)
        goto out;
    rc = cov_shape(hp, size.L, &params, block, &layers, e);
    if (rc)
        goto out;
    const struct cov_program_spec spec = {layers.layers, layers.weights, layers.n, size.n_workers,
                                          size.max_batch};
    rc = dev->ops->program_new(dev, &spec, &net->program, e);
    if (rc)
        goto out;
    *out = net;
    net = NULL;
out:
    free(net);
    cov_layers_fini(&layers);
    cov_params_fini(&params);
    return rc;
}

int cov_net_try(struct cov_device *dev, const struct cov_hparams *hp, const float *block, size_t L,
                unsigned n_workers, struct cov_err *e)
{
    struct cov_net *net;
    int rc = cov_net_new(dev, hp, block, (struct cov_net_size){L, n_workers, 1}, &net, e);
    cov_net_free(net);
    return rc;
}

void cov_net_free(struct cov_net *net)
{
    if (!net)
        return;
    cov_program_free(net->program);
    free(net);
}

void cov_net_compute_all(struct cov_net *net)
{
    net->program->ops->compute_all(net->program);
}

void cov_net_counts(const struct cov_net *net, struct cov_forward_counts *out)
{
    net->program->ops->counts(net->program, out);
}

int cov_net_forward(struct cov_net *net, unsigned worker, size_t n, const uint8_t *codes,
                    float *values, struct cov_err *e)
{
    return net->program->ops->forward(net->program, worker, n, codes, values, e);
}
