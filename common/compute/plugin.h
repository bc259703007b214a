/* plugin.h - the only symbol of covtools-cuda.so, which device_open.c loads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_PLUGIN_H
#define COV_COMPUTE_PLUGIN_H

#include "common/compute/device.h"

struct cov_cuda_options {
    const int *cards; /* GPUs without duplicates */
    size_t n_cards;   /* 0: all that CUDA lists */
    enum cov_precision precision;
};

struct cov_cuda_plugin {
    const char *version; /* must equal the library's own: tables differ between versions */
    /* If it returns COV_EUNSUPPORTED, the message names what is missing. `options` are borrowed for
     * the call. */
    int (*open)(const struct cov_cuda_options *options, struct cov_device **out, struct cov_err *e);
};

#define COV_CUDA_PLUGIN_FILE "covtools-cuda.so"
#define COV_CUDA_PLUGIN_SYMBOL "cov_cuda_plugin"

/* The symbol; for programs that link the plugin. */
extern const struct cov_cuda_plugin cov_cuda_plugin;

#endif
