/* device_open.h - opens the device that --device names: the CPU, or NVIDIA GPUs through the plugin
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

/* Parses "auto", "cpu", "cuda" or a list such as "cuda:0,2". Returns COV_EUSAGE for anything
 * else. */
int cov_device_parse(const char *text, struct cov_device_choice *out,
                     struct cov_err *e) COV_MUST_USE;

/* Opens a device. `cpu` holds the options of the CPU; its precision applies to any device. The
 * plugin is in the directory of the variable COVTOOLS_PLUGINS, or in covtools/ next to the library.
 * With COV_DEVICE_CUDA, returns COV_EUNSUPPORTED if there is no GPU or no plugin, and other codes
 * for failures. With COV_DEVICE_AUTO, such errors are logged and the CPU is opened instead; the CPU
 * also replaces GPUs that fail later (cov_device_open_auto). Close with cov_device_close. */
int cov_device_open(const struct cov_device_choice *choice, const struct cov_cpu_options *cpu,
                    struct cov_device **out, struct cov_err *e) COV_MUST_USE;

/* Finds the plugin's file without loading it. Sets *path, which the caller frees; if there is none,
 * sets it to NULL and returns COV_EUNSUPPORTED. */
int cov_device_find_plugin(char **path, struct cov_err *e) COV_MUST_USE;

/* For --device auto. Takes ownership of `gpu`, even on failure. If the GPU cannot build a network
 * (no kernel for a layer, too little memory, no training, a failing card), the CPU, opened with a
 * copy of `cpu` (NULL: all zero), builds this network and all later ones. One warning says why. The
 * device then has the name, description, precision and advice of the CPU. Networks built earlier
 * stay on the GPU. A forward call that fails does not fall back to the CPU. */
int cov_device_open_auto(struct cov_device *gpu, const struct cov_cpu_options *cpu,
                         struct cov_device **out, struct cov_err *e) COV_MUST_USE;

/* Returns the precision as files record it: "exact" for fp32 and bf16x3, whose values differ as those of
 * different CPUs do, so that parts and resumed runs of several machines fit together. */
const char *cov_device_recorded_precision(const struct cov_device *dev);
/* Returns the number of chunks of L positions per call: the device's advice, or a default for one
 * CPU core. It is at least 1. */
size_t cov_device_batch(const struct cov_device *dev, size_t L);
/* Returns the number of threads that only wait for the device; start them in addition to those that
 * work. */
unsigned cov_device_waiting(const struct cov_device *dev);

#endif
