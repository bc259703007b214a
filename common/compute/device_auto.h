/* device_auto.h - a device that the CPU takes the place of: GPUs as long as they take what they are
 * given, of --device auto.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_DEVICE_AUTO_H
#define COV_COMPUTE_DEVICE_AUTO_H

#include "common/compute/device.h"

/* Owns `gpu`, also after a failure. A network that it does not take (a layer that it has no kernel
 * for, memory that does not suffice, training that it cannot do, a card that fails) goes to the CPU,
 * opened with a copy of `cpu` (NULL: all zero), and so do all others from then on: a warning says
 * why, once, and name, description, precision and advice are those of the CPU. What was made before
 * stays where it is. A forward call that fails is a failure. */
int cov_device_open_auto(struct cov_device *gpu, const struct cov_cpu_options *cpu,
                         struct cov_device **out, struct cov_err *e) COV_MUST_USE;

#endif
