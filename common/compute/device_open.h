/* device_open.h - the device of a name, as --device takes it: the CPU, or NVIDIA GPUs through the plugin
 * covtools-cuda.so, which is opened only then.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_DEVICE_OPEN_H
#define COV_COMPUTE_DEVICE_OPEN_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/compute/device.h"

enum cov_device_kind {
    COV_DEVICE_AUTO, /* GPUs if they can be had, else the CPU */
    COV_DEVICE_CPU,
    COV_DEVICE_CUDA,
};

enum { COV_DEVICE_MAX_CARDS = 64 };

struct cov_device_choice {
    enum cov_device_kind kind;
    int cards[COV_DEVICE_MAX_CARDS]; /* of COV_DEVICE_CUDA, none twice */
    size_t n_cards;                  /* 0: all */
};

/* "auto", "cpu", "cuda", "cuda:0,2". COV_EUSAGE for anything else. */
int cov_device_parse(const char *text, struct cov_device_choice *out,
                     struct cov_err *e) COV_MUST_USE;

/* Opens it; `cpu` is for the CPU, but its precision for any. The plugin is looked for in the folder
 * that the variable COVTOOLS_PLUGINS names, else in covtools/ beside the library. For
 * COV_DEVICE_CUDA, COV_EUNSUPPORTED says what is missing, and any other code what fails; for
 * COV_DEVICE_AUTO that is logged, and the CPU is opened, which also takes the place of GPUs later,
 * if they do not take a network (device_auto.h). Close with cov_device_close. */
int cov_device_open(const struct cov_device_choice *choice, const struct cov_cpu_options *cpu,
                    struct cov_device **out, struct cov_err *e) COV_MUST_USE;

/* Chunks of L positions for a call: what the device wants, or what is good for a CPU's core. At least 1. */
size_t cov_device_batch(const struct cov_device *dev, size_t L);
/* Threads that only wait for it, beside those that work. */
unsigned cov_device_waiting(const struct cov_device *dev);

#endif
