/* device_options.c - see device_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/input/device_options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

int cov_device_options_parse(struct cov_device_options *o, struct cov_err *e)
{
    const bool cpu_given = o->cpu != NULL;
    int rc = cov_device_parse(o->device, &o->choice, e);
    if (rc)
        return rc;
    if (cpu_given && o->choice.kind == COV_DEVICE_CUDA)
        return cov_fail(e, COV_EUSAGE, "--cpu and --device %s contradict each other", o->device);
    if (cpu_given)
        o->choice.kind = COV_DEVICE_CPU;
    else
        o->cpu = getenv("COVTOOLS_CPU");
    if (o->cpu && !*o->cpu)
        o->cpu = NULL;
    rc = cov_device_limit_levels(o->cpu, e);
    return rc ? cov_err_prefix(e, rc, "%s", cpu_given ? "--cpu" : "COVTOOLS_CPU") : COV_OK;
}

int cov_device_options_parse_training(struct cov_device_options *o, struct cov_err *e)
{
    const bool cpu_given = o->cpu != NULL;
    int rc = cov_device_options_parse(o, e);
    if (!rc && o->choice.kind != COV_DEVICE_CUDA && o->cpu && strcmp(o->cpu, "scalar") == 0)
        rc =
            cov_fail(e, COV_EUSAGE,
                     "%s: scalar only predicts; training and gradients need base or a higher level",
                     cpu_given ? "--cpu" : "COVTOOLS_CPU");
    return rc;
}

int cov_device_fill_stats(const struct cov_device *device, const struct cov_forward_counts *counts,
                          struct cov_stats *stats, struct cov_err *e)
{
    stats->precision = device->ops->precision(device);
    if (counts) {
        stats->positions_computed = (int64_t)counts->positions_computed;
        stats->positions_at_rest = (int64_t)counts->positions_at_rest;
        stats->chunks_repeated = (int64_t)counts->chunks_repeated;
    }
    const char *products = device->ops->products ? device->ops->products(device) : NULL;
    stats->device = cov_strdup(device->ops->describe(device), e);
    stats->products = products ? cov_strdup(products, e) : NULL;
    return stats->device && !products == !stats->products ? COV_OK : COV_ENOMEM;
}

void cov_device_print(FILE *f)
{
    struct cov_device *device = NULL;
    struct cov_err e = COV_ERR_INIT;
    char levels[128], *plugin;
    if (cov_device_open_cpu(NULL, &device, NULL) == COV_OK)
        (void)fprintf(f, "device: %s\n", device->ops->describe(device));
    cov_device_close(device);
    if (cov_device_find_plugin(&plugin, &e) == COV_OK)
        (void)fprintf(f, "GPU plugin: %s\n", plugin);
    else
        (void)fprintf(f, "%s\n", e.text);
    free(plugin);
    cov_device_describe_levels(levels, sizeof levels);
    (void)fprintf(f, "--cpu: %s\n", levels);
}
