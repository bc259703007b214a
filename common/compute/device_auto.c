/* device_auto.c - see device_auto.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/device_auto.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"

struct auto_device {
    struct cov_device base;
    struct cov_device_ops ops;    /* its own copy, for the name */
    struct cov_device *gpu, *cpu; /* cpu: NULL until it is needed */
    struct cov_cpu_options options;
    char *levels; /* a copy, for options */
};

static struct cov_device *current(const struct cov_device *dev)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    return d->cpu ? d->cpu : d->gpu;
}

/* Switches to the CPU, because of `why`. */
static int change(struct cov_device *dev, const struct cov_err *why, struct cov_err *e)
{
    struct auto_device *d = (struct auto_device *)dev;
    int rc = cov_device_open_cpu(&d->options, &d->cpu, e);
    if (rc || !d->cpu)
        return rc;
    d->ops.name = d->cpu->ops->name;
    cov_warn("%s; continuing on the CPU", why->text);
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

static int program_new(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    struct cov_err why = COV_ERR_INIT;
    *out = NULL;
    if (!d->cpu && d->gpu->ops->program_new(d->gpu, spec, out, &why) == COV_OK)
        return COV_OK;
    int rc = d->cpu ? COV_OK : change(dev, &why, e);
    return rc ? rc : d->cpu->ops->program_new(d->cpu, spec, out, e);
}

static int training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                        struct cov_training **out, struct cov_err *e)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    const struct cov_device_ops *gpu = d->gpu->ops;
    struct cov_err why = COV_ERR_INIT;
    int rc = COV_OK;
    *out = NULL;
    if (!d->cpu) {
        rc = gpu->training_new
                 ? gpu->training_new(d->gpu, spec, out, &why)
                 : cov_fail(&why, COV_EUNSUPPORTED, "%s: cannot train", gpu->describe(d->gpu));
        if (rc == COV_OK)
            return COV_OK;
        rc = change(dev, &why, e);
    }
    return rc ? rc : d->cpu->ops->training_new(d->cpu, spec, out, e);
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
        .training_new = training_new,
    };
    d->base.ops = &d->ops;
    *out = &d->base;
    return COV_OK;
}
