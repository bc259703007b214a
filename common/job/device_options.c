/* device_options.c - see device_options.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/device_options.h"

#include <stdlib.h>

/* The levels of the CPU, from the command line or the environment. */
static int check_levels(const char **cpu, bool given, struct cov_err *e)
{
    if (!given)
        *cpu = getenv("COVTOOLS_CPU");
    if (*cpu && (*cpu)[0] == '\0' && !given)
        *cpu = NULL;
    int rc = cov_device_check_levels(*cpu, e);
    return rc ? cov_err_prefix(e, "%s", given ? "--cpu" : "COVTOOLS_CPU") : COV_OK;
}

int cov_device_options(const char *device, const char **cpu, bool cpu_given,
                       struct cov_device_choice *choice, struct cov_err *e)
{
    int rc = cov_device_parse(device, choice, e);
    if (rc)
        return rc;
    if (cpu_given && choice->kind == COV_DEVICE_CUDA)
        return cov_fail(e, COV_EUSAGE, "--cpu and --device %s contradict each other", device);
    if (cpu_given)
        choice->kind = COV_DEVICE_CPU;
    return check_levels(cpu, cpu_given, e);
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
