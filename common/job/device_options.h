/* device_options.h - --device and --cpu, as the tools that compute have them.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_DEVICE_OPTIONS_H
#define COV_JOB_DEVICE_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/compute/device_open.h"

/* *choice = what --device says. Without --cpu, *cpu is what the variable COVTOOLS_CPU lists; with it
 * (cpu_given), auto is the CPU. COV_EUSAGE for levels or devices that there are not, and for --cpu with GPUs. */
int cov_device_options(const char *device, const char **cpu, bool cpu_given,
                       struct cov_device_choice *choice, struct cov_err *e) COV_MUST_USE;

/* For --version: the devices there are, or why there is no GPU, and the levels for --cpu. */
void cov_device_print(FILE *f);

#endif
