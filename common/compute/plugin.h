/* plugin.h - what covtools-cuda.so gives to the library that opens it (device_open.c): one symbol.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_PLUGIN_H
#define COV_COMPUTE_PLUGIN_H

#include "common/compute/device.h"

struct cov_cuda_options {
    const int *cards; /* which GPUs, none twice */
    size_t n_cards;   /* 0: all that CUDA shows */
    enum cov_precision precision;
};

struct cov_cuda_plugin {
    const char *version; /* as the library's own: tables of another version may be others */
    /* COV_EUNSUPPORTED says what is missing. `options` are borrowed for the call. */
    int (*open)(const struct cov_cuda_options *options, struct cov_device **out, struct cov_err *e);
};

#define COV_CUDA_PLUGIN_FILE "covtools-cuda.so"
#define COV_CUDA_PLUGIN_SYMBOL "cov_cuda_plugin"

/* The symbol; programs that are linked with the plugin use it so. */
extern const struct cov_cuda_plugin cov_cuda_plugin;

#endif
