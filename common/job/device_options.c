/* device_options.c - see device_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/device_options.h"

#include <stdbool.h>
#include <stdlib.h>

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
    return rc ? cov_err_prefix(e, "%s", cpu_given ? "--cpu" : "COVTOOLS_CPU") : COV_OK;
}

void cov_device_print(FILE *f)
{
    static const struct cov_device_choice cuda = {.kind = COV_DEVICE_CUDA};
    struct cov_device *device = NULL;
    struct cov_err e = COV_ERR_INIT;
    char levels[128];
    if (cov_device_open_cpu(NULL, &device, NULL) == COV_OK)
        (void)fprintf(f, "device: %s\n", device->ops->describe(device));
    cov_device_close(device);
    if (cov_device_open(&cuda, NULL, &device, &e) == COV_OK)
        (void)fprintf(f, "device: %s\n", device->ops->describe(device));
    else
        (void)fprintf(f, "%s\n", e.text);
    cov_device_close(device);
    cov_device_describe_levels(levels, sizeof levels);
    (void)fprintf(f, "--cpu: %s\n", levels);
}
