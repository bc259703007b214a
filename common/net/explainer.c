/* explainer.c - see explainer.h.
 * SPDX-License-Identifier: MIT */
#include "common/net/explainer.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/net/shape.h"

struct cov_explainer {
    struct cov_training *training;
};

/* Makes the network and loads its parameters. */
static int make(struct cov_explainer *x, struct cov_device *dev,
                const struct cov_explainer_options *o, const struct cov_params *params,
                struct cov_err *e)
{
    struct cov_layers layers = {0};
    int rc = cov_shape(o->hp, o->L, params, o->block, &layers, e);
    const struct cov_training_spec spec = {.layers = layers.layers,
                                           .weights = layers.weights,
                                           .n_layers = layers.n,
                                           .block = o->block,
                                           .n_floats = params->n_floats,
                                           .max_batch = o->max_batch,
                                           .explain = true,
                                           .pool = o->pool};
    if (rc == COV_OK)
        rc = dev->ops->training_new(dev, &spec, &x->training, e);
    cov_layers_fini(&layers);
    if (rc)
        return rc;
    if (!x->training->gradients || !x->training->gradients->explain)
        return cov_fail(e, COV_EUNSUPPORTED, "device %s does not compute gradients of bases",
                        dev->ops->name);
    return x->training->gradients->load(x->training, e);
}

int cov_explainer_new(struct cov_device *dev, const struct cov_explainer_options *options,
                      struct cov_explainer **out, struct cov_err *e)
{
    struct cov_params params = {0};
    *out = NULL;
    if (!dev->ops->training_new)
        return cov_fail(e, COV_EUNSUPPORTED, "device %s does not compute gradients",
                        dev->ops->name);
    struct cov_explainer *x = cov_calloc(1, sizeof *x, e);
    int rc = x ? cov_params_init(options->hp, &params, e) : COV_ENOMEM;
    if (rc == COV_OK)
        rc = make(x, dev, options, &params, e);
    cov_params_fini(&params);
    if (rc)
        cov_explainer_free(x);
    else
        *out = x;
    return rc;
}

void cov_explainer_free(struct cov_explainer *x)
{
    if (!x)
        return;
    cov_training_free(x->training);
    free(x);
}

int cov_explainer_run(struct cov_explainer *x, const struct cov_explain_batch *batch, double *sums,
                      float *gradient, struct cov_err *e)
{
    return x->training->gradients->explain(x->training, batch, sums, gradient, e);
}
