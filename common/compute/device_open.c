/* device_open.c - see device_open.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/device_open.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/file/dynload.h"
#include "common/file/path.h"

enum { MAX_CARD = 9999 };

/* ---- names ---- */

/* Parses the number up to a comma or the end, and moves *text past it. */
static bool parse_card(const char **text, int *card)
{
    char number[12];
    int64_t value;
    size_t n = strcspn(*text, ",");
    if (n == 0 || n >= sizeof number)
        return false;
    memcpy(number, *text, n);
    number[n] = '\0';
    if (cov_parse_i64(number, "", 0, MAX_CARD, &value, NULL))
        return false;
    *card = (int)value;
    *text += n;
    return true;
}

/* Parses the text after "cuda:" in `all`. */
static int parse_cards(const char *all, const char *text, struct cov_device_choice *out,
                       struct cov_err *e)
{
    for (;;) {
        int card = 0;
        if (!parse_card(&text, &card))
            return cov_fail(
                e, COV_EUSAGE,
                "--device: '%s': expected GPU numbers from 0 to %d after 'cuda:', separated by "
                "commas, as in cuda:0 or cuda:0,1",
                all, MAX_CARD);
        for (size_t i = 0; i < out->n_cards; i++)
            if (out->cards[i] == card)
                return cov_fail(e, COV_EUSAGE, "--device: duplicate GPU %d", card);
        if (out->n_cards == COV_DEVICE_MAX_CARDS)
            return cov_fail(e, COV_EUSAGE, "--device: more than %d GPUs", COV_DEVICE_MAX_CARDS);
        out->cards[out->n_cards++] = card;
        if (*text == '\0')
            return COV_OK;
        text++;
    }
}

int cov_device_parse(const char *text, struct cov_device_choice *out, struct cov_err *e)
{
    *out = (struct cov_device_choice){.kind = COV_DEVICE_AUTO};
    if (strcmp(text, "auto") == 0)
        return COV_OK;
    out->kind = COV_DEVICE_CPU;
    if (strcmp(text, "cpu") == 0)
        return COV_OK;
    out->kind = COV_DEVICE_CUDA;
    if (strcmp(text, "cuda") == 0)
        return COV_OK;
    if (strncmp(text, "cuda:", 5) == 0)
        return parse_cards(text, text + 5, out, e);
    return cov_fail(e, COV_EUSAGE,
                    "--device: unknown device '%s'; use auto, cpu, cuda or cuda:0,1,...", text);
}

/* ---- the plugin ---- */

int cov_device_find_plugin(char **path, struct cov_err *e)
{
    const char *directory = getenv("COVTOOLS_PLUGINS");
    *path = directory && *directory ? cov_path_join(directory, COV_CUDA_PLUGIN_FILE, e)
                                    : cov_dynload_beside("covtools/" COV_CUDA_PLUGIN_FILE, e);
    if (!*path)
        return COV_ENOMEM;
    if (access(*path, F_OK) == 0)
        return COV_OK;
    int rc =
        cov_fail(e, COV_EUNSUPPORTED,
                 "GPU plugin not installed: %s not found (build it with `make CUDA=1`)", *path);
    free(*path);
    *path = NULL;
    return rc;
}

/* The plugin stays loaded until the process ends: the CUDA library does not support unloading. */
static int load_plugin(const char *path, const struct cov_cuda_plugin **out, struct cov_err *e)
{
    void *library;
    int rc = cov_dynload(path, RTLD_NOW | RTLD_LOCAL, &library, e);
    if (rc)
        return rc;
    const struct cov_cuda_plugin *plugin = dlsym(library, COV_CUDA_PLUGIN_SYMBOL);
    if (!plugin)
        return cov_fail(e, COV_EUNSUPPORTED, "%s: not a covtools plugin", path);
    if (strcmp(plugin->version, cov_version()) != 0)
        return cov_fail(e, COV_EUNSUPPORTED, "%s: plugin of covtools %s, not %s", path,
                        plugin->version, cov_version());
    *out = plugin;
    return COV_OK;
}

/* Sets *installed to true if the plugin exists, even if loading it fails. */
static int open_cuda(const struct cov_device_choice *choice, enum cov_precision precision,
                     bool *installed, struct cov_device **out, struct cov_err *e)
{
    const struct cov_cuda_options options = {choice->cards, choice->n_cards, precision};
    const struct cov_cuda_plugin *plugin = NULL;
    char *path;
    int rc = cov_device_find_plugin(&path, e);
    *installed = rc == COV_OK;
    if (!rc)
        rc = load_plugin(path, &plugin, e);
    if (plugin)
        rc = plugin->open(&options, out, e);
    free(path);
    return rc;
}

/* ---- GPUs with the CPU as a fallback ---- */

struct auto_device {
    struct cov_device base;
    struct cov_device_ops ops;    /* its own copy, so that the name can change */
    struct cov_device *gpu, *cpu; /* cpu: NULL until it is needed */
    struct cov_cpu_options options;
    char *levels; /* a copy, for options */
};

static struct cov_device *current(const struct cov_device *dev)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    return d->cpu ? d->cpu : d->gpu;
}

/* Switches to the CPU, because of `why`. */
static int change(struct cov_device *dev, const struct cov_err *why, struct cov_err *e)
{
    struct auto_device *d = (struct auto_device *)dev;
    int rc = cov_device_open_cpu(&d->options, &d->cpu, e);
    if (rc || !d->cpu)
        return rc;
    d->ops.name = d->cpu->ops->name;
    cov_warn("%s; continuing on the CPU", why->text);
    return COV_OK;
}

static void close_device(struct cov_device *dev)
{
    struct auto_device *d = (struct auto_device *)dev;
    cov_device_close(d->gpu);
    cov_device_close(d->cpu);
    free(d->levels);
    free(d);
}

static const char *describe(const struct cov_device *dev)
{
    return current(dev)->ops->describe(current(dev));
}

static const char *precision(const struct cov_device *dev)
{
    return current(dev)->ops->precision(current(dev));
}

static void advise(const struct cov_device *dev, struct cov_device_advice *out)
{
    if (current(dev)->ops->advise)
        current(dev)->ops->advise(current(dev), out);
}

static int program_new(struct cov_device *dev, const struct cov_program_spec *spec,
                       struct cov_program **out, struct cov_err *e)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    struct cov_err why = COV_ERR_INIT;
    *out = NULL;
    if (!d->cpu && d->gpu->ops->program_new(d->gpu, spec, out, &why) == COV_OK)
        return COV_OK;
    int rc = d->cpu ? COV_OK : change(dev, &why, e);
    return rc || !d->cpu ? rc : d->cpu->ops->program_new(d->cpu, spec, out, e);
}

static int training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                        struct cov_training **out, struct cov_err *e)
{
    const struct auto_device *d = (const struct auto_device *)dev;
    const struct cov_device_ops *gpu = d->gpu->ops;
    struct cov_err why = COV_ERR_INIT;
    int rc = COV_OK;
    *out = NULL;
    if (!d->cpu) {
        rc = gpu->training_new
                 ? gpu->training_new(d->gpu, spec, out, &why)
                 : cov_fail(&why, COV_EUNSUPPORTED, "%s: cannot train", gpu->describe(d->gpu));
        if (rc == COV_OK)
            return COV_OK;
        rc = change(dev, &why, e);
    }
    return rc || !d->cpu ? rc : d->cpu->ops->training_new(d->cpu, spec, out, e);
}

static const char *products(const struct cov_device *dev)
{
    const struct cov_device *d = current(dev);
    return d->ops->products ? d->ops->products(d) : NULL;
}

int cov_device_open_auto(struct cov_device *gpu, const struct cov_cpu_options *cpu,
                         struct cov_device **out, struct cov_err *e)
{
    assert(gpu);
    *out = NULL;
    struct auto_device *d = cov_calloc(1, sizeof *d, e);
    if (!d) {
        cov_device_close(gpu);
        return COV_ENOMEM;
    }
    d->gpu = gpu;
    if (cpu)
        d->options = *cpu;
    if (d->options.levels) {
        d->options.levels = d->levels = cov_strdup(d->options.levels, e);
        if (!d->levels) {
            close_device(&d->base);
            return COV_ENOMEM;
        }
    }
    d->ops = (struct cov_device_ops){
        .name = gpu->ops->name,
        .close = close_device,
        .describe = describe,
        .precision = precision,
        .advise = advise,
        .program_new = program_new,
        .training_new = training_new,
        .products = products,
    };
    d->base.ops = &d->ops;
    *out = &d->base;
    return COV_OK;
}

/* ---- opening ---- */

/* Returns true if the system has the driver of a GPU, or if the user, or the batch system, chose
 * one. Then it matters why it is not used. */
static bool expects_gpu(void)
{
    static const char *const files[] = {"/proc/driver/nvidia/version", "/dev/nvidiactl",
                                        "/dev/dxg"};
    const char *chosen = getenv("CUDA_VISIBLE_DEVICES");
    bool found = chosen && *chosen && strcmp(chosen, "-1") != 0;
    for (size_t i = 0; i < COV_COUNT(files); i++)
        found = found || access(files[i], F_OK) == 0;
    return found;
}

int cov_device_open(const struct cov_device_choice *choice, const struct cov_cpu_options *cpu,
                    struct cov_device **out, struct cov_err *e)
{
    enum cov_precision precision = cpu ? cpu->precision : COV_PRECISION_EXACT;
    bool installed = false;
    struct cov_err why = COV_ERR_INIT;
    *out = NULL;
    if (choice->kind == COV_DEVICE_CPU)
        return cov_device_open_cpu(cpu, out, e);
    int rc = open_cuda(choice, precision, &installed, out, &why);
    if (choice->kind == COV_DEVICE_CUDA)
        return rc ? cov_fail(e, rc, "--device cuda: %s", why.text) : COV_OK;
    if (rc == COV_OK)
        return cov_device_open_auto(*out, cpu, out, e);
    /* A missing GPU is normal, but a failing one is worth a warning. */
    if (rc != COV_EUNSUPPORTED)
        cov_warn("%s; continuing on the CPU", why.text);
    else if (installed && expects_gpu())
        cov_info("no GPU: %s; using the CPU", why.text);
    else
        cov_debug("%s; using the CPU", why.text);
    return cov_device_open_cpu(cpu, out, e);
}

/* ---- advice ---- */

/* The batch for devices without advice: enough chunks for efficient products, but fewer if they
 * would have more than BATCH_BASES bases. */
enum { DEFAULT_BATCH = 16, BATCH_BASES = 1 << 20 };

size_t cov_device_batch(const struct cov_device *dev, size_t L)
{
    struct cov_device_advice advice = {0};
    if (dev->ops->advise)
        dev->ops->advise(dev, &advice);
    if (advice.batch > 0) {
        size_t most = advice.batch_bases / L ? advice.batch_bases / L : 1;
        return advice.batch < most ? advice.batch : most;
    }
    size_t batch = DEFAULT_BATCH;
    while (batch > 1 && batch > BATCH_BASES / L)
        batch /= 2;
    return batch;
}

unsigned cov_device_waiting(const struct cov_device *dev)
{
    struct cov_device_advice advice = {0};
    if (dev->ops->advise)
        dev->ops->advise(dev, &advice);
    return advice.n_waiting;
}

const char *cov_device_recorded_precision(const struct cov_device *dev)
{
    const char *name = dev->ops->precision(dev);
    bool exact = strcmp(name, cov_precision_name(COV_PRECISION_FP32)) == 0 ||
                 strcmp(name, cov_precision_name(COV_PRECISION_BF16X3)) == 0;
    return exact ? cov_precision_name(COV_PRECISION_EXACT) : name;
}
