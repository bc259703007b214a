/* device_options.h - the options for where, and how precisely, the network is computed: --device,
 * --cpu and --precision. Used like the rows of shared_options.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_DEVICE_OPTIONS_H
#define COV_INPUT_DEVICE_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/opt.h"
#include "common/cli/stats.h"
#include "common/compute/device_open.h"

struct cov_device_options {
    const char *device;
    const char *cpu;                 /* NULL: not given */
    struct cov_device_choice choice; /* by cov_device_options_parse */
};

/* Two rows. */
#define COV_DEVICE_OPTIONS(at)                                                                     \
    COV_OPT(STRING, "device", 0, (at) + offsetof(struct cov_device_options, device),               \
            "auto|cpu|cuda[:N,...]",                                                               \
            "where to compute: on the CPU or on NVIDIA GPUs. auto uses GPUs if available "         \
            "and --cpu is not given; cuda fails without one",                                      \
            .def = "auto"),                                                                        \
        COV_OPT(STRING, "cpu", 0, (at) + offsetof(struct cov_device_options, cpu), "LEVELS",       \
                "use only the instructions of the best of these levels: scalar (only "             \
                "predicts), base, avx2, avx512, avx512bf16, amx (default: the variable "           \
                "COVTOOLS_CPU, or all)")

/* `names`: those of enum cov_precision that the tool supports; `more` ends the help text. */
#define COV_PRECISION_OPTION(at, default_, names, more)                                            \
    COV_OPT(ENUM, "precision", 0, (at), NULL,                                                      \
            "arithmetic of the network's matrix multiplications: " more, .def = (default_),        \
            .choices = (names))

/* Fills o->choice from --device, and o->cpu from the variable COVTOOLS_CPU unless --cpu is given.
 * With --cpu, `auto` means the CPU. Restricts the whole process to the levels of --cpu. COV_EUSAGE
 * for unknown levels or devices, and for --cpu with GPUs. */
int cov_device_options_parse(struct cov_device_options *o, struct cov_err *e) COV_MUST_USE;

/* The same for training and gradients, which the scalar reference does not compute: scalar is
 * COV_EUSAGE, too. */
int cov_device_options_parse_training(struct cov_device_options *o, struct cov_err *e) COV_MUST_USE;

/* Records the device, its precision and, if `counts` is not NULL, what was computed. */
int cov_device_fill_stats(const struct cov_device *device, const struct cov_forward_counts *counts,
                          struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

/* For --version: prints the devices of this machine, or why there is no GPU, and the levels of
 * --cpu. */
void cov_device_print(FILE *f);

#endif
