/* device_open.h - opens the device of --device: the CPU, or NVIDIA GPUs through the plugin
 * covtools-cuda.so, which is loaded only then.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_DEVICE_OPEN_H
#define COV_COMPUTE_DEVICE_OPEN_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/compute/device.h"

enum cov_device_kind {
    COV_DEVICE_AUTO, /* GPUs if available, otherwise the CPU */
    COV_DEVICE_CPU,
    COV_DEVICE_CUDA,
};

enum { COV_DEVICE_MAX_CARDS = 64 };

struct cov_device_choice {
    enum cov_device_kind kind;
    int cards[COV_DEVICE_MAX_CARDS]; /* COV_DEVICE_CUDA: GPU numbers without duplicates */
    size_t n_cards;                  /* 0: all */
};

/* "auto", "cpu", "cuda", "cuda:0,2". COV_EUSAGE for anything else. */
int cov_device_parse(const char *text, struct cov_device_choice *out,
                     struct cov_err *e) COV_MUST_USE;

/* Opens a device. `cpu` holds the options of the CPU; its precision applies to any device. The
 * plugin is in the folder of the variable COVTOOLS_PLUGINS, or in covtools/ next to the library.
 * With COV_DEVICE_CUDA, a missing GPU or plugin is COV_EUNSUPPORTED; other codes are failures. With
 * COV_DEVICE_AUTO they are logged and the CPU is opened; it also replaces GPUs that fail later
 * (cov_device_open_auto). Close with cov_device_close. */
int cov_device_open(const struct cov_device_choice *choice, const struct cov_cpu_options *cpu,
                    struct cov_device **out, struct cov_err *e) COV_MUST_USE;

/* For --device auto. Takes ownership of `gpu`, even on failure. If it cannot build a network (no
 * kernel for a layer, too little memory, no training, a failing card), the CPU, opened with a copy
 * of `cpu` (NULL: all zero), builds this one and all later ones. One warning says why, and name,
 * description, precision and advice become those of the CPU. Networks built earlier stay on the
 * GPU. A forward call that fails does not fall back to the CPU. */
int cov_device_open_auto(struct cov_device *gpu, const struct cov_cpu_options *cpu,
                         struct cov_device **out, struct cov_err *e) COV_MUST_USE;

/* Chunks of L positions per call: the device's advice, or a default for a CPU core. At least 1. */
size_t cov_device_batch(const struct cov_device *dev, size_t L);
/* Number of threads that only wait for the device, in addition to those that work. */
unsigned cov_device_waiting(const struct cov_device *dev);

#endif
