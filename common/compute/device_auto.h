/* device_auto.h - --device auto: GPUs, replaced by the CPU when they fail.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_DEVICE_AUTO_H
#define COV_COMPUTE_DEVICE_AUTO_H

#include "common/compute/device.h"

/* Owns `gpu`, also after a failure. If it cannot make a network (no kernel for a layer, too little
 * memory, no training, a failing card), the CPU, opened with a copy of `cpu` (NULL: all zero),
 * makes this one and all later ones: one warning says why, and name, description, precision and
 * advice become those of the CPU. Networks made before stay on the GPU. A failing forward call is a
 * failure. */
int cov_device_open_auto(struct cov_device *gpu, const struct cov_cpu_options *cpu,
                         struct cov_device **out, struct cov_err *e) COV_MUST_USE;

#endif
