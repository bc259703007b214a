/* put_ckpt.h - for tests: pickles of checkpoints, valid and damaged, from a text like that of Python.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PUT_CKPT_H
#define TESTS_PUT_CKPT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/ckpt/pickle_writer.h"

/* A tensor as described by a pickle. */
struct tensor {
    const char *class_module, *class_name; /* class of the storage. class_module NULL: "torch" */
    const void *data;
    size_t n_bytes;
    int64_t n_declared, offset;
    int n_dims;
    int64_t shape[9], stride[9];
    const char *maker; /* NULL: _rebuild_tensor_v2 */
    const char *dtype; /* for _rebuild_tensor_v3 */
    const char *key;   /* NULL: "0" */
};

static inline void put_sizes(struct cov_pickle_writer *w, const int64_t *sizes, int n)
{
    cov_pickle_begin_tuple(w);
    for (int i = 0; i < n; i++)
        cov_pickle_int(w, sizes[i]);
    cov_pickle_end_tuple(w);
}

static inline void put_tensor(struct cov_pickle_writer *w, const struct tensor *t)
{
    cov_pickle_global(w, "torch._utils", t->maker ? t->maker : "_rebuild_tensor_v2");
    cov_pickle_begin_tuple(w);
    cov_pickle_begin_tuple(w);
    cov_pickle_text(w, "storage");
    cov_pickle_global(w, t->class_module ? t->class_module : "torch", t->class_name);
    cov_pickle_text(w, t->key ? t->key : "0");
    cov_pickle_text(w, "cuda:3");
    cov_pickle_int(w, t->n_declared);
    cov_pickle_end_tuple(w);
    cov_pickle_persistent(w);
    cov_pickle_int(w, t->offset);
    put_sizes(w, t->shape, t->n_dims);
    put_sizes(w, t->stride, t->n_dims);
    cov_pickle_bool(w, true);
    cov_pickle_begin_ordered_dict(w);
    cov_pickle_end_dict(w);
    if (t->dtype)
        cov_pickle_global(w, "torch", t->dtype);
    cov_pickle_end_tuple(w);
    cov_pickle_call(w);
}

/* Pushes a word of put_values: 'text', 12, None, True, a function like os.system, or @ for the
 * tensor. */
static inline void put_word(struct cov_pickle_writer *w, char *word, const struct tensor *t)
{
    char *dot = strrchr(word, '.');
    if (*word == '\'')
        cov_pickle_text(w, word + 1);
    else if (*word == '@' && t)
        put_tensor(w, t);
    else if (*word == '-' || (*word >= '0' && *word <= '9'))
        cov_pickle_int(w, strtoll(word, NULL, 10));
    else if (strcmp(word, "None") == 0)
        cov_pickle_none(w);
    else if (!dot)
        cov_pickle_bool(w, strcmp(word, "True") == 0);
    else {
        *dot = '\0';
        cov_pickle_global(w, word, dot + 1);
    }
}

/* Pushes values as Python writes them: {'key': 1, 'more': ['x', None]}; <...> is an OrderedDict; a
 * tuple right after a function calls it. */
static inline void put_values(struct cov_pickle_writer *w, const char *values,
                              const struct tensor *t)
{
    uint64_t calls = 0; /* a bit per open bracket */
    for (const char *p = values; *p;) {
        char word[200];
        size_t n = *p == '\'' ? 1 + strcspn(p + 1, "'") : strcspn(p, " ,:{}<>[]()");
        if (n > 0) {
            (void)snprintf(word, sizeof word, "%.*s", (int)n, p);
            put_word(w, word, t);
            p += n + (*p == '\'');
            continue;
        }
        if (strchr("{<[(", *p))
            calls = calls << 1 | (*p == '(' && p > values && !strchr(" ,:{<[(", p[-1]));
        if (*p == '{')
            cov_pickle_begin_dict(w);
        else if (*p == '<')
            cov_pickle_begin_ordered_dict(w);
        else if (*p == '[')
            cov_pickle_begin_list(w);
        else if (*p == '(')
            cov_pickle_begin_tuple(w);
        else if (*p == '}' || *p == '>')
            cov_pickle_end_dict(w);
        else if (*p == ']')
            cov_pickle_end_list(w);
        else if (*p == ')')
            cov_pickle_end_tuple(w);
        if (*p == ')' && calls & 1)
            cov_pickle_call(w);
        if (strchr("}>])", *p))
            calls >>= 1;
        p++;
    }
}

/* The start of a checkpoint. */
#define CKPT_HEAD "{'epoch': 1, 'global_step': 2, 'pytorch-lightning_version': '2.0.2', "

#endif
