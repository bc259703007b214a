/* device_auto.c - see device_auto.h. Programs and trainings remember which device they are of.
 * SPDX-License-Identifier: MIT */
#include "common/compute/device_auto.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"

struct auto_device {
    struct cov_device base;
    struct cov_device_ops ops;    /* its own, for the name */
    struct cov_device *gpu, *cpu; /* cpu: NULL until it is wanted */
    struct cov_cpu_options options;
    char *levels; /* of options */
};

struct cov_program {
    const struct cov_device_ops *ops;
    struct cov_program *of;
};

struct cov_training {
    const struct cov_device_ops *ops;
    struct cov_training *of;
};

static struct cov_device *current(const struct cov_device *dev)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    return d->cpu ? d->cpu : d->gpu;
}

/* After `why`, the CPU. */
static int change(struct cov_device *dev, const struct cov_err *why, struct cov_err *e)
{
    struct auto_device *d = (struct auto_device *)dev;
    int rc = cov_device_open_cpu(&d->options, &d->cpu, e);
    if (rc || !d->cpu)
        return rc;
    d->ops.name = d->cpu->ops->name;
    cov_warn("%s; going on with the CPU", why->text);
    return COV_OK;
}

static void close_device(struct cov_device *dev)
{
    struct auto_device *d = (struct auto_device *)dev;
    cov_device_close(d->gpu);
    cov_device_close(d->cpu);
    free(d->levels);
    free(d);
}

static const char *describe(const struct cov_device *dev)
{
    return current(dev)->ops->describe(current(dev));
}

static const char *precision(const struct cov_device *dev)
{
    return current(dev)->ops->precision(current(dev));
}

static void advise(const struct cov_device *dev, struct cov_device_advice *out)
{
    if (current(dev)->ops->advise)
        current(dev)->ops->advise(current(dev), out);
}

/* ---- programs ---- */

static int program_new(struct cov_device *dev, const struct cov_layer *layers,
                       const struct cov_layer_weights *weights, size_t n_layers, unsigned n_workers,
                       size_t max_batch, struct cov_program **out, struct cov_err *e)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    struct cov_err why = COV_ERR_INIT;
    int rc = COV_OK;
    *out = NULL;
    struct cov_program *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    if (!d->cpu) {
        p->ops = d->gpu->ops;
        if (p->ops->program_new(d->gpu, layers, weights, n_layers, n_workers, max_batch, &p->of,
                                &why))
            rc = change(dev, &why, e);
    }
    if (!rc && d->cpu) {
        p->ops = d->cpu->ops;
        rc =
            p->ops->program_new(d->cpu, layers, weights, n_layers, n_workers, max_batch, &p->of, e);
    }
    if (rc)
        free(p);
    else
        *out = p;
    return rc;
}

static int forward(struct cov_program *p, unsigned worker, size_t n, const uint8_t *codes,
                   float *out, struct cov_err *e)
{
    return p->ops->forward(p->of, worker, n, codes, out, e);
}

static void compute_all(struct cov_program *p)
{
    p->ops->compute_all(p->of);
}

static void counts(const struct cov_program *p, struct cov_forward_counts *out)
{
    p->ops->counts(p->of, out);
}

static void program_free(struct cov_program *p)
{
    if (!p)
        return;
    p->ops->program_free(p->of);
    free(p);
}

/* ---- training ---- */

static int training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                        struct cov_training **out, struct cov_err *e)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    struct cov_err why = COV_ERR_INIT;
    int rc = COV_OK;
    *out = NULL;
    struct cov_training *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    if (!d->cpu) {
        t->ops = d->gpu->ops;
        int failed = t->ops->training_new
                         ? t->ops->training_new(d->gpu, spec, &t->of, &why)
                         : cov_fail(&why, COV_EUNSUPPORTED, "%s: training is not for this device",
                                    t->ops->describe(d->gpu));
        if (failed)
            rc = change(dev, &why, e);
    }
    if (!rc && d->cpu) {
        t->ops = d->cpu->ops;
        rc = t->ops->training_new(d->cpu, spec, &t->of, e);
    }
    if (rc)
        free(t);
    else
        *out = t;
    return rc;
}

static int training_load(struct cov_training *t, struct cov_err *e)
{
    return t->ops->training_load(t->of, e);
}

static int training_run(struct cov_training *t, uint64_t step, const struct cov_train_batch *batch,
                        float *gradient, struct cov_train_score *score, struct cov_err *e)
{
    return t->ops->training_run(t->of, step, batch, gradient, score, e);
}

static bool training_keeps(const struct cov_training *t)
{
    return t->ops->training_keeps && t->ops->training_keeps(t->of);
}

static int training_add(struct cov_training *t, const struct cov_train_batch *batch,
                        struct cov_train_score *score, struct cov_err *e)
{
    return t->ops->training_add(t->of, batch, score, e);
}

static int training_step(struct cov_training *t, const struct cov_adam *adam, struct cov_err *e)
{
    return t->ops->training_step(t->of, adam, e);
}

static int training_read(struct cov_training *t, struct cov_train_state *state, struct cov_err *e)
{
    return t->ops->training_read(t->of, state, e);
}

static int training_write(struct cov_training *t, const struct cov_train_state *state,
                          struct cov_err *e)
{
    return t->ops->training_write(t->of, state, e);
}

static void training_free(struct cov_training *t)
{
    if (!t)
        return;
    t->ops->training_free(t->of);
    free(t);
}

/* ---- opening ---- */

int cov_device_open_auto(struct cov_device *gpu, const struct cov_cpu_options *cpu,
                         struct cov_device **out, struct cov_err *e)
{
    *out = NULL;
    struct auto_device *d = cov_calloc(1, sizeof *d, e);
    if (!d) {
        cov_device_close(gpu);
        return COV_ENOMEM;
    }
    d->gpu = gpu;
    if (cpu)
        d->options = *cpu;
    if (d->options.levels) {
        d->options.levels = d->levels = cov_strdup(d->options.levels, e);
        if (!d->levels) {
            close_device(&d->base);
            return COV_ENOMEM;
        }
    }
    d->ops = (struct cov_device_ops){
        .name = gpu->ops->name,
        .close = close_device,
        .describe = describe,
        .precision = precision,
        .advise = advise,
        .program_new = program_new,
        .forward = forward,
        .compute_all = compute_all,
        .counts = counts,
        .program_free = program_free,
        .training_new = training_new,
        .training_load = training_load,
        .training_run = training_run,
        .training_free = training_free,
        .training_keeps = training_keeps,
        .training_add = training_add,
        .training_step = training_step,
        .training_read = training_read,
        .training_write = training_write,
    };
    d->base.ops = &d->ops;
    *out = &d->base;
    return COV_OK;
}
