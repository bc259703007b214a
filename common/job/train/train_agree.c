/* train_agree.c - see train_agree.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/train_agree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/version.h"
#include "common/compute/device_open.h"
#include "common/file/descriptor.h"
#include "common/file/hash.h"

static uint64_t add_text(uint64_t before, const char *text)
{
    return cov_fingerprint(before, text, strlen(text) + 1);
}

static uint64_t add_texts(uint64_t before, const struct cov_strings *list)
{
    for (size_t i = 0; i < list->n; i++)
        before = add_text(before, list->items[i]);
    return add_text(before, "");
}

/* Add a new option here if processes could not train together with different values of it. */
static uint64_t options_fingerprint(const struct cov_train_options *o)
{
    const struct cov_hparams *h = &o->hp;
    const double values[] = {h->model_type,
                             (double)h->cnn_layers,
                             (double)h->filter_size,
                             (double)h->kernel_size,
                             (double)h->step,
                             (double)h->up,
                             (double)h->dilation,
                             (double)h->lstm_layers,
                             (double)h->hidden_size,
                             h->bnorm,
                             h->dropout,
                             o->learning_rate,
                             o->weight_decay,
                             o->loading,
                             o->blacklist,
                             o->in_order,
                             o->random_offset,
                             o->strands,
                             o->balance_species,
                             (double)o->batch,
                             (double)o->accumulate,
                             o->has_seed,
                             (double)o->seed,
                             (double)o->epochs,
                             (double)o->max_steps,
                             o->schedule,
                             (double)o->warmup_steps,
                             o->clip,
                             o->average,
                             o->save_by,
                             o->stop_by,
                             (double)o->top_k,
                             (double)o->patience,
                             (double)o->save_every,
                             o->max_hours,
                             o->recompute,
                             o->cpu.precision,
                             o->resume != NULL,
                             o->init_from != NULL,
                             o->blacklist_path != NULL};
    uint64_t hash = cov_fingerprint(0, values, sizeof values);
    hash = cov_fingerprint(hash, o->requested, sizeof o->requested);
    hash = cov_fingerprint(hash, o->loss_weights, o->n_loss_weights * sizeof *o->loss_weights);
    hash = add_texts(hash, &o->datasets);
    hash = add_texts(hash, &o->freeze);
    return add_texts(hash, &o->leave_out);
}

int cov_train_agree_on_options(const struct cov_train_options *o, struct cov_ranks *r,
                               struct cov_err *e)
{
    const struct cov_rank_item items[] = {{"version", add_text(0, cov_version())},
                                          {"options", options_fingerprint(o)}};
    return cov_ranks_compare(r, items, COV_COUNT(items), e);
}

/* Hashes the name and size of a file, and up to 1 MB of its bytes: all of a small file, otherwise
 * parts at equal distances, including the end. A difference in coverage changes most compressed
 * chunks. */
static int add_file(struct cov_rank_item *items, size_t *n, const char *path, struct cov_err *e)
{
    enum { PART = 1 << 16, PARTS = 16 };
    static uint8_t part[PART];
    struct stat st = {0};
    const char *name = strrchr(path, '/');
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int rc = cov_fail_errno(e, "%s", path);
        if (fd >= 0)
            (void)close(fd);
        return rc;
    }
    uint64_t hash = add_text(0, name ? name + 1 : path);
    hash = cov_fingerprint(hash, &st.st_size, sizeof st.st_size);
    const int64_t last = st.st_size > PART ? st.st_size - PART : 0;
    const int64_t step = last / (PARTS - 1) > PART ? last / (PARTS - 1) : PART;
    ssize_t got = 0;
    for (int64_t at = 0; got >= 0 && at <= last + step - 1; at += step) {
        got = cov_read_at(fd, at < last ? at : last, part, PART);
        hash = cov_fingerprint(hash, part, got > 0 ? (size_t)got : 0);
    }
    const int rc = got < 0 ? cov_fail_errno(e, "%s", path) : COV_OK;
    (void)close(fd); /* opened for reading */
    items[(*n)++] = (struct cov_rank_item){path, hash};
    return rc;
}

int cov_train_agree_on_files(const struct cov_train_setup *s, const struct cov_train_options *o,
                             struct cov_ranks *r, struct cov_err *e)
{
    const char *const others[] = {o->resume, o->init_from, o->blacklist_path};
    const struct cov_examples *const parts[] = {s->train, s->val};
    size_t n = 0;
    if (r->n < 2)
        return COV_OK;
    struct cov_rank_item *items =
        cov_calloc(s->train->n_files + s->val->n_files + COV_COUNT(others), sizeof *items, e);
    int rc = items ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < COV_COUNT(others); i++)
        if (!rc && others[i])
            rc = add_file(items, &n, others[i], e);
    for (size_t p = 0; p < COV_COUNT(parts); p++)
        for (size_t k = 0; !rc && k < parts[p]->n_files; k++)
            rc = add_file(items, &n, parts[p]->files[k].path, e);
    if (!rc)
        rc = cov_ranks_compare(r, items, n, e);
    free(items);
    return rc;
}

int cov_train_agree_on_precision(const struct cov_device *device, struct cov_ranks *r,
                                 struct cov_err *e)
{
    const struct cov_rank_item item = {"precision",
                                       add_text(0, cov_device_recorded_precision(device))};
    return cov_ranks_compare(r, &item, 1, e);
}
