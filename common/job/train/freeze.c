/* freeze.c - see freeze.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/freeze.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

static const struct {
    const char *name, *prefixes[2]; /* of the layers */
} groups[] = {
    {"conv", {"down_layer_list.", "up_layer_list."}},
    {"lstm", {"lstm_layer_list.", NULL}},
    {"linear", {"out", NULL}},
};

/* Returns the length of the name of the layer of parameter i. */
static size_t layer_length(const struct cov_params *params, size_t i)
{
    const char *name = params->items[i].name, *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : strlen(name);
}

static bool is_in_group(const struct cov_params *params, size_t i, size_t group)
{
    const char *const *prefixes = groups[group].prefixes;
    const char *name = params->items[i].name;
    return strncmp(name, prefixes[0], strlen(prefixes[0])) == 0 ||
           (prefixes[1] && strncmp(name, prefixes[1], strlen(prefixes[1])) == 0);
}

/* Returns true if parameter i is the first one of its layer. */
static bool begins_layer(const struct cov_params *params, size_t i)
{
    size_t n = layer_length(params, i);
    return i == 0 || n != layer_length(params, i - 1) ||
           strncmp(params->items[i].name, params->items[i - 1].name, n) != 0;
}

static bool is_named(const struct cov_params *params, size_t i, const char *name)
{
    size_t n = layer_length(params, i);
    for (size_t g = 0; g < COV_COUNT(groups); g++)
        if (strcmp(name, groups[g].name) == 0)
            return is_in_group(params, i, g);
    return strlen(name) == n && strncmp(name, params->items[i].name, n) == 0;
}

/* Appends ",NAME", or NAME to an empty text. */
static void append(char **text, const char *name, size_t n, struct cov_err *e)
{
    cov_strappend(text, e, "%s%.*s", *text && **text ? "," : "", (int)n, name);
}

/* Fails because no layer has this name. */
static int fail_unknown(const struct cov_params *params, const char *name, struct cov_err *e)
{
    char *text = cov_strdup("", e);
    for (size_t g = 0; g < COV_COUNT(groups); g++)
        for (size_t i = 0, n = 0; i < params->n_items; i++)
            if (is_in_group(params, i, g) && n++ == 0)
                append(&text, groups[g].name, strlen(groups[g].name), e);
    for (size_t i = 0; i < params->n_items; i++)
        if (begins_layer(params, i))
            append(&text, params->items[i].name, layer_length(params, i), e);
    int rc = text ? cov_fail(e, COV_EINPUT, "--freeze: the network has no layer %s; it has %s",
                             name, text)
                  : COV_ENOMEM;
    free(text);
    return rc;
}

int cov_freeze_parse(const struct cov_params *params, const char *const *names, size_t n,
                     bool *frozen, struct cov_err *e)
{
    size_t n_left = 0;
    for (size_t i = 0; i < params->n_items; i++)
        frozen[i] = false;
    for (size_t k = 0; k < n; k++) {
        size_t n_found = 0;
        for (size_t i = 0; i < params->n_items; i++)
            if (is_named(params, i, names[k])) {
                frozen[i] = params->items[i].trained;
                n_found++;
            }
        if (n_found == 0)
            return fail_unknown(params, names[k], e);
    }
    for (size_t i = 0; i < params->n_items; i++)
        n_left += params->items[i].trained && !frozen[i];
    return n_left > 0
               ? COV_OK
               : cov_fail(e, COV_EINPUT, "--freeze: all layers are frozen: nothing to train");
}

int cov_freeze_check(const struct cov_params *params, const bool *frozen, struct cov_err *e)
{
    size_t first = 0; /* parameter of the layer, which is always trained */
    for (size_t i = 0; i < params->n_items; i++) {
        first = begins_layer(params, i) ? i : first;
        if (params->items[i].trained && frozen[i] != frozen[first])
            return cov_fail(e, COV_EINPUT,
                            "optimizer_states: %s has no state, but other parameters of its layer "
                            "have one",
                            params->items[frozen[i] ? i : first].name);
    }
    return COV_OK;
}

/* Returns true if the group has layers, and all are frozen. */
static bool is_all_frozen(const struct cov_params *params, const bool *frozen, size_t group)
{
    size_t n = 0;
    for (size_t i = 0; i < params->n_items; i++)
        if (is_in_group(params, i, group) && params->items[i].trained) {
            if (!frozen[i])
                return false;
            n++;
        }
    return n > 0;
}

char *cov_freeze_text(const struct cov_params *params, const bool *frozen, struct cov_err *e)
{
    char *text = cov_strdup("", e);
    for (size_t g = 0; g < COV_COUNT(groups); g++) {
        bool all = is_all_frozen(params, frozen, g);
        if (all)
            append(&text, groups[g].name, strlen(groups[g].name), e);
        for (size_t i = 0; !all && i < params->n_items; i++)
            if (frozen[i] && is_in_group(params, i, g) && begins_layer(params, i))
                append(&text, params->items[i].name, layer_length(params, i), e);
    }
    return text;
}
