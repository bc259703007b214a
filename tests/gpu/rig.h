/* rig.h - shared by the programs that test and measure the plugin: TAP output, options, devices and
 * networks.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_GPU_RIG_H
#define TESTS_GPU_RIG_H

extern "C" {
#include "common/base/rng.h"
#include "common/compute/cuda/runtime.h"
#include "common/compute/device.h"
#include "common/net/shape.h"
}

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

inline int n_tests, n_failed;

inline void result(bool passed, const char *name)
{
    n_failed += !passed;
    printf("%sok %d - %s\n", passed ? "" : "not ", ++n_tests, name);
    fflush(stdout);
}

/* Ends the program after a failure that is not a test result. */
inline void must(int rc, const struct cov_err *e)
{
    if (rc) {
        printf("Bail out! %s\n", e->text);
        exit(1);
    }
}

/* Options of the check programs. Ends the program if there is no GPU. */
struct Options {
    bool big;
    const char *only; /* precision; NULL: all */
};

inline Options parse_options(int argc, char **argv)
{
    Options o = {};
    struct cov_err e = COV_ERR_INIT;
    int n_cards;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--big") == 0)
            o.big = true;
        else if (strcmp(argv[i], "--precision") == 0 && i + 1 < argc)
            o.only = argv[++i];
        else
            must(cov_fail(&e, COV_EUSAGE, "unknown option '%s'", argv[i]), &e);
    }
    if (cov_rt_count(&n_cards, &e)) {
        printf("1..0 # SKIP %s\n", e.text);
        exit(0);
    }
    return o;
}

/* Selects how the emulation sums products of tensor cores; has no effect on a GPU. */
inline void use_sums(bool truncated)
{
#if defined(SIMT_EMULATED_H)
    simt_set_sums(truncated ? SIMT_SUMS_TRUNCATED : SIMT_SUMS_EXACT);
#else
    (void)truncated;
#endif
}

/* Returns true while the emulation has a planted fault. */
inline bool faulty(void)
{
#if defined(SIMT_EMULATED_H)
    return simt_get_fault() != SIMT_FAULT_NONE;
#else
    return false;
#endif
}

#if defined(SIMT_EMULATED_H)
/* Faults that checks must find. */
struct Fault {
    enum simt_fault fault;
    const char *name;
    bool affects(enum cov_precision p) const
    {
        switch (fault) {
        case SIMT_FAULT_NONE:
        case SIMT_FAULT_SWIZZLE:
        case SIMT_FAULT_ARRIVAL:
        case SIMT_FAULT_PENDING:
            return false;
        case SIMT_FAULT_H:
            return p == COV_PRECISION_BALANCED || p == COV_PRECISION_BF16;
        case SIMT_FAULT_PRODUCTS:
        case SIMT_FAULT_EXP:
        case SIMT_FAULT_BARRIER:
        case SIMT_FAULT_REST:
            return true;
        default:
            return p != COV_PRECISION_FP32;
        }
    }
    bool of_wgmma(void) const
    {
        return fault == SIMT_FAULT_SWIZZLE || fault == SIMT_FAULT_ARRIVAL ||
               fault == SIMT_FAULT_PENDING;
    }
    /* Products by warpgroups write no zeros to shared memory. */
    bool affects_wgmma(enum cov_precision p) const
    {
        return of_wgmma() || (affects(p) && fault != SIMT_FAULT_ZEROS);
    }
    /* Training has other last layers, and its LSTMs never rest. */
    bool affects_training(enum cov_precision p) const
    {
        return affects(p) && fault != SIMT_FAULT_EXP && fault != SIMT_FAULT_REST &&
               (fault != SIMT_FAULT_PRODUCTS || p != COV_PRECISION_FP32);
    }
};

const Fault faults[] = {
    {SIMT_FAULT_PRODUCTS, "products of zero"},
    {SIMT_FAULT_HALVES, "swapped halves"},
    {SIMT_FAULT_H, "LSTMs without output"},
    {SIMT_FAULT_EXP, "values without exp"},
    {SIMT_FAULT_BARRIER, "lost barriers"},
    {SIMT_FAULT_ZEROS, "copies without zeros"},
    {SIMT_FAULT_REST, "sequences that rest too early"},
    {SIMT_FAULT_SWIZZLE, "weights in another order"},
    {SIMT_FAULT_ARRIVAL, "weights that are used before they arrive"},
    {SIMT_FAULT_PENDING, "products by warpgroups that are not waited for"},
};
#endif

inline bool has_tensor_cores(void)
{
    struct cov_rt_card card;
    struct cov_err e = COV_ERR_INIT;
    must(cov_rt_describe(0, &card, &e), &e);
    return card.major >= 8;
}

/* Returns the items of all[] with the name `only`, or all items if it is NULL, that the card can compute.
 * The emulation checks the items that use tensor cores a second time, with truncated sums. */
template <typename Precision, size_t N>
std::vector<Precision> choose_precisions(const Precision (&all)[N], const char *only)
{
    std::vector<Precision> chosen;
    struct cov_err e = COV_ERR_INIT;
    bool found = false;
    for (const Precision &p : all) {
        if (only && p.name != only)
            continue;
        found = true;
        if (p.precision != COV_PRECISION_FP32 && !has_tensor_cores()) {
            printf("ok %d # SKIP %s: no tensor cores\n", ++n_tests, p.name.c_str());
            continue;
        }
        chosen.push_back(p);
#if defined(SIMT_EMULATED_H)
        if (p.precision != COV_PRECISION_FP32) {
            chosen.push_back(p);
            chosen.back().name += ", truncated sums";
            chosen.back().truncated = true;
        }
#endif
    }
    if (!found)
        must(cov_fail(&e, COV_EUSAGE, "unknown precision '%s'", only), &e);
    return chosen;
}

/* Returns the precisions for slow checks: without those that the emulation checks with truncated sums, too. */
template <typename Precision> std::vector<Precision> slow_ones(const std::vector<Precision> &all)
{
    std::vector<Precision> chosen;
    for (size_t i = 0; i < all.size(); i++)
        if (i + 1 == all.size() || all[i + 1].precision != all[i].precision)
            chosen.push_back(all[i]);
    return chosen;
}

inline int finish_tests(void)
{
    printf("1..%d\n", n_tests);
    return n_failed > 0;
}

/* Opens the first n GPUs. */
inline struct cov_device *open_gpus(enum cov_precision precision, size_t n)
{
    static const int cards[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct cov_device *dev;
    struct cov_err e = COV_ERR_INIT;
    struct cov_cuda_options options = {cards, n, precision};
    must(cov_cuda_plugin.open(&options, &dev, &e), &e);
    return dev;
}

inline struct cov_device *open_gpu(enum cov_precision precision)
{
    return open_gpus(precision, 1);
}

inline void named(bool passed, const std::string &name)
{
    result(passed, name.c_str());
}

inline struct cov_device *open_cpu(const char *levels)
{
    struct cov_device *dev;
    struct cov_err e = COV_ERR_INIT;
    struct cov_cpu_options options = {};
    options.levels = levels;
    must(cov_device_open_cpu(&options, &dev, &e), &e);
    return dev;
}

/* The same, with the sums of a precision. */
template <typename Precision> struct cov_device *open_gpu(const Precision &p)
{
    use_sums(p.truncated);
    return open_gpu(p.precision);
}

/* The network of the published size. */
inline struct cov_hparams published(int64_t outputs)
{
    struct cov_hparams hp = cov_hparams_published;
    hp.output_size = outputs;
    hp.dropout = 0;
    return hp;
}

/* A network of one layer of each kind, with one output. */
inline struct cov_hparams small_network(int64_t filters, int64_t kernel, int64_t hidden)
{
    struct cov_hparams hp = published(1);
    hp.cnn_layers = hp.up = hp.lstm_layers = 1;
    hp.filter_size = filters;
    hp.kernel_size = kernel;
    hp.hidden_size = hidden;
    return hp;
}

/* Calls run(i) for i < n, each in a thread of its own. */
template <typename Function> void in_threads(size_t n, Function run)
{
    std::vector<std::thread> threads;
    for (size_t i = 0; i < n; i++)
        threads.emplace_back(run, i);
    for (std::thread &t : threads)
        t.join();
}

/* A random number from min to max, inclusive. */
inline int64_t draw(struct cov_rng *rng, int64_t min, int64_t max)
{
    return min + (int64_t)cov_rng_below(rng, (uint64_t)(max - min + 1));
}

inline uint8_t draw_base(struct cov_rng *rng)
{
    return (uint8_t)(1U << cov_rng_below(rng, 4));
}

/* Returns the larger of `most` and d, or infinity if d is not a number. */
inline double larger(double most, double d)
{
    return d <= most ? most : isnan(d) ? INFINITY : d;
}

/* The largest difference, relative to the largest value that is wanted. */
inline double difference(const std::vector<float> &got, const std::vector<float> &want)
{
    double most = 0, largest = 1e-30;
    for (size_t i = 0; i < want.size(); i++) {
        most = larger(most, fabs((double)got[i] - (double)want[i]));
        largest = std::max(largest, fabs((double)want[i]));
    }
    return most / largest;
}

#endif
