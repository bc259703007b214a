/* cuda_device.cu - NVIDIA GPUs as a device (common/compute/device.h), and the plugin's symbol.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/compute/cuda/runtime.h"
#include "common/compute/device.h"
}
#include "common/compute/cuda/cuda_cards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first generation whose tensor cores multiply tf32 and bf16, and the one with products by warpgroups,
 * which needs code of its own (sm_90a). */
enum { AMPERE = 8, HOPPER = 9 };
#ifdef COV_CUDA_WGMMA
static const bool HOPPER_CODE = true;
#else
static const bool HOPPER_CODE = false;
#endif

/* Chunks per call: a block of an LSTM runs 8 sequences in one of two directions, so that each
 * multiprocessor has a block of one call. BATCH_BASES limits the memory of slots and of the host. */
static const size_t BLOCK_CHUNKS = 8, DIRECTIONS = 2, MIN_BATCH = 16, MAX_BATCH = 1024,
                    BATCH_BASES = 1 << 24;

struct cuda_device {
    struct cov_device base;
    struct cov_cuda_cards cards;
    const char *precision;
    bool tensor_cores, wgmma; /* that all cards have */
    size_t batch;
    char description[(COV_CUDA_MAX_CARDS + 1) * sizeof(struct cov_cuda_card)];
};

/* Sets the arithmetic for a precision. Returns why it differs from the requested one, or NULL. */
static const char *choose(struct cuda_device *dev, enum cov_precision wanted, bool tensor_cores)
{
    static const struct {
        enum cov_precision wanted;
        struct cov_cuda_arithmetic arithmetic;
        const char *name, *why; /* NULL: as requested */
    } reduced[] = {
        {COV_PRECISION_BF16X3,
         {COV_CUDA_TF32X3, COV_CUDA_TF32X3},
         "tf32x3",
         "three products of tf32 are as fast on a GPU and more exact"},
        {COV_PRECISION_BALANCED, {COV_CUDA_TF32X3, COV_CUDA_BF16}, NULL, NULL},
        {COV_PRECISION_TF32, {COV_CUDA_TF32, COV_CUDA_TF32}, NULL, NULL},
        {COV_PRECISION_BF16, {COV_CUDA_BF16, COV_CUDA_BF16}, NULL, NULL},
    };
    dev->cards.arithmetic = {COV_CUDA_FP32, COV_CUDA_FP32};
    dev->precision = cov_precision_name(COV_PRECISION_FP32);
    for (const auto &r : reduced) {
        if (r.wanted != wanted)
            continue;
        if (!tensor_cores)
            return "this GPU has no tensor cores for tf32 and bf16";
        dev->cards.arithmetic = r.arithmetic;
        dev->precision = r.name ? r.name : cov_precision_name(wanted);
        return r.why;
    }
    return NULL;
}

static int add_card(struct cuda_device *dev, int index, int n_there, struct cov_err *e)
{
    struct cov_rt_card card;
    if (index >= n_there)
        return cov_fail(e, COV_EUNSUPPORTED, "no GPU %d: CUDA finds %d, numbered from 0", index,
                        n_there);
    int rc = cov_rt_describe(index, &card, e);
    if (!rc)
        rc = cov_rt_check(index, e);
    size_t i = dev->cards.n;
    (void)snprintf(dev->cards.card[i].name, sizeof dev->cards.card[i].name, "GPU %d (%s)", index,
                   card.name);
    if (rc)
        return cov_err_prefix(e, rc, "%s", dev->cards.card[i].name);
    dev->cards.card[i].index = index;
    dev->tensor_cores = dev->tensor_cores && card.major >= AMPERE;
    dev->wgmma = dev->wgmma && card.major == HOPPER && card.minor == 0;
    if (i == 0 || card.shared_bytes < dev->cards.shared_bytes)
        dev->cards.shared_bytes = card.shared_bytes;
    size_t batch = (size_t)card.n_multiprocessors / DIRECTIONS * BLOCK_CHUNKS;
    if (batch > dev->batch)
        dev->batch = batch;
    size_t at = strlen(dev->description);
    (void)snprintf(dev->description + at, sizeof dev->description - at, "%s%s", i ? ", " : "",
                   dev->cards.card[i].name);
    dev->cards.n++;
    return COV_OK;
}

static int add_cards(struct cuda_device *dev, const struct cov_cuda_options *options,
                     struct cov_err *e)
{
    int n_there;
    int rc = cov_rt_count(&n_there, e);
    if (rc)
        return rc;
    size_t n = options->n_cards ? options->n_cards : (size_t)n_there;
    if (n > COV_CUDA_MAX_CARDS)
        return cov_fail(e, COV_EUNSUPPORTED, "%zu GPUs are too many: at most %d", n,
                        COV_CUDA_MAX_CARDS);
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_card(dev, options->n_cards ? options->cards[i] : (int)i, n_there, e);
    return rc;
}

/* ---- products by warpgroups ---- */

/* Uses them if COVTOOLS_WGMMA is yes and the cards have them. By default they are off until a card has
 * run them: a self-check notices wrong values, but not that a kernel never ends. */
static int choose_wgmma(struct cuda_device *dev, struct cov_err *e)
{
    const char *text = getenv("COVTOOLS_WGMMA");
    const bool yes = text && strcmp(text, "yes") == 0;
    if (text && *text && !yes && strcmp(text, "no") != 0)
        return cov_fail(e, COV_EUSAGE, "COVTOOLS_WGMMA: '%s': expected yes or no", text);
    const struct cov_cuda_arithmetic a = dev->cards.arithmetic;
    dev->cards.arithmetic.wgmma = yes && dev->wgmma && cov_cuda_wgmma_can(a.lstm);
    if (yes && !dev->cards.arithmetic.wgmma)
        cov_info("COVTOOLS_WGMMA=yes has no effect on %s in %s", dev->description, dev->precision);
    return COV_OK;
}

/* ---- cuBLAS and self-checks ---- */

/* COVTOOLS_CUBLAS. */
enum wish { IF_BROKEN, NEVER, ALWAYS };

static int read_wish(enum wish *out, struct cov_err *e)
{
    const char *text = getenv("COVTOOLS_CUBLAS");
    *out = IF_BROKEN;
    if (!text || !*text)
        return COV_OK;
    if (strcmp(text, "no") == 0)
        *out = NEVER;
    else if (strcmp(text, "always") == 0)
        *out = ALWAYS;
    else
        return cov_fail(e, COV_EUSAGE, "COVTOOLS_CUBLAS: '%s': expected no or always", text);
    return COV_OK;
}

/* Checks all cards, in training if there is a pool. */
static int check_with(const struct cov_cuda_cards *cards, struct cov_pool *pool, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < cards->n; i++)
        rc = cov_cuda_self_check(cards, i, pool, e);
    return rc == COV_ENOMEM ? cov_err_prefix(e, rc, "self-check of the GPU") : rc;
}

/* Checks the predictions of all cards. If they are wrong, products by warpgroups are not used from now on,
 * provided that the check passes without them. */
static int check_predictions(struct cuda_device *dev, struct cov_err *e)
{
    struct cov_err why = COV_ERR_INIT;
    int rc = check_with(&dev->cards, NULL, &why);
    if (rc != COV_EIO || !dev->cards.arithmetic.wgmma)
        return rc ? cov_fail(e, rc, "%s", why.text) : COV_OK;
    cov_debug("with wgmma: %s", why.text);
    dev->cards.arithmetic.wgmma = false;
    rc = check_with(&dev->cards, NULL, e);
    if (!rc)
        cov_warn("%s; slower kernels replace products by wgmma", why.text);
    return rc;
}

/* Opens cuBLAS, and checks the predictions of all cards with it. */
static int check_with_cublas(struct cuda_device *dev, struct cov_err *e)
{
    int rc = cov_cublas_open(dev->cards.card, dev->cards.n, &dev->cards.cublas, e);
    dev->cards.arithmetic.float_sums = true;
    return rc ? rc : check_predictions(dev, e);
}

/* Checks the predictions of all cards: with cuBLAS if it is demanded; if our products are wrong, cuBLAS
 * computes them from now on, provided that its check passes. */
static int check_cards(struct cuda_device *dev, struct cov_err *e)
{
    struct cov_err why = COV_ERR_INIT, too = COV_ERR_INIT;
    const bool can = cov_cublas_can(dev->cards.arithmetic.lstm);
    enum wish wish;
    int rc = read_wish(&wish, e);
    if (rc)
        return rc;
    if (wish == ALWAYS && can)
        return check_with_cublas(dev, e);
    if (wish == ALWAYS)
        cov_info("COVTOOLS_CUBLAS=always has no effect: cuBLAS does not compute in %s",
                 dev->precision);
    rc = check_predictions(dev, &why);
    if (rc != COV_EIO || wish == NEVER || !can)
        return rc ? cov_fail(e, rc, "%s", why.text) : COV_OK;
    if (check_with_cublas(dev, &too)) {
        cov_debug("with cuBLAS: %s", too.text);
        return cov_fail(e, rc, "%s", why.text);
    }
    cov_warn("%s; cuBLAS replaces the kernels of LSTMs' products", why.text);
    return COV_OK;
}

/* ---- the device ---- */

struct cov_cuda_cards *cov_cuda_cards_of(struct cov_device *dev)
{
    return &((struct cuda_device *)dev)->cards;
}

static void close_device(struct cov_device *dev)
{
    struct cuda_device *d = (struct cuda_device *)dev;
    cov_cublas_close(d->cards.cublas);
    free(d);
}

static const char *products(const struct cov_device *dev)
{
    return cov_cublas_version(((const struct cuda_device *)dev)->cards.cublas);
}

static const char *describe(const struct cov_device *dev)
{
    return ((const struct cuda_device *)dev)->description;
}

static const char *precision(const struct cov_device *dev)
{
    return ((const struct cuda_device *)dev)->precision;
}

static void advise(const struct cov_device *dev, struct cov_device_advice *out)
{
    const struct cuda_device *d = (const struct cuda_device *)dev;
    out->batch = d->batch;
    out->batch_bases = BATCH_BASES;
    out->n_waiting = (unsigned)d->cards.n * COV_CUDA_SLOTS;
}

static int program_new(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e)
{
    return cov_cuda_program_new(&((const struct cuda_device *)dev)->cards, spec, out, e);
}

static int training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                        struct cov_training **out, struct cov_err *e)
{
    struct cuda_device *d = (struct cuda_device *)dev;
    *out = NULL;
    int rc = check_with(&d->cards, spec->pool, e);
    if (rc)
        return rc;
    if (d->cards.n > 1)
        return cov_cuda_team_new(&d->cards, spec, out, e);
    const struct cov_cuda_seat alone = {&d->cards, 0, NULL};
    return cov_cuda_training_new(&alone, spec, out, e);
}

static struct cov_device_ops make_ops(void)
{
    struct cov_device_ops ops = {};
    ops.name = "cuda";
    ops.close = close_device;
    ops.describe = describe;
    ops.precision = precision;
    ops.advise = advise;
    ops.program_new = program_new;
    ops.training_new = training_new;
    ops.products = products;
    return ops;
}

static const struct cov_device_ops cuda_ops = make_ops();

static int open_device(const struct cov_cuda_options *options, struct cov_device **out,
                       struct cov_err *e)
{
    *out = NULL;
    struct cuda_device *dev = (struct cuda_device *)cov_calloc(1, sizeof *dev, e);
    if (!dev)
        return COV_ENOMEM;
    dev->tensor_cores = true;
    dev->wgmma = HOPPER_CODE;
    int rc = add_cards(dev, options, e);
    const char *why = choose(dev, options->precision, dev->tensor_cores);
    if (!rc)
        rc = choose_wgmma(dev, e);
    if (!rc)
        rc = check_cards(dev, e);
    if (rc) {
        close_device(&dev->base);
        return rc;
    }
    dev->batch = dev->batch < MIN_BATCH   ? MIN_BATCH
                 : dev->batch > MAX_BATCH ? MAX_BATCH
                                          : dev->batch;
    if (why)
        cov_info("%s instead of %s: %s", dev->precision, cov_precision_name(options->precision),
                 why);
    size_t at = strlen(dev->description);
    (void)snprintf(dev->description + at, sizeof dev->description - at, ", %s", dev->precision);
    dev->base.ops = &cuda_ops;
    *out = &dev->base;
    return COV_OK;
}

extern "C" __attribute__((visibility("default")))
const struct cov_cuda_plugin cov_cuda_plugin = {COV_VERSION, open_device};
