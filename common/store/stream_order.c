/* stream_order.c - see stream_format.h: sequences one after the other, each once, their pairs
 * ascending, without holes unless the stream is a part of something.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/grid.h"
#include "common/store/stream_format.h"

int cov_stream_order_init(struct cov_stream_order *o, const char *name, bool partial,
                          struct cov_err *e)
{
    *o = (struct cov_stream_order){.name = name, .partial = partial};
    return cov_names_new(&o->names, e);
}

void cov_stream_order_fini(struct cov_stream_order *o)
{
    cov_names_free(o->names);
    o->names = NULL;
}

const char *cov_stream_order_species(const struct cov_stream_order *o)
{
    return cov_names_get(o->names, o->seq, NULL);
}

const char *cov_stream_order_sequence(const struct cov_stream_order *o)
{
    const char *key = cov_names_get(o->names, o->seq, NULL);
    return key + strlen(key) + 1;
}

const char *cov_stream_order_where(const struct cov_stream_order *o,
                                   char buf[COV_STREAM_WHERE_BYTES])
{
    if (cov_names_count(o->names) == 0)
        return "before the first sequence";
    const char *sequence = cov_stream_order_sequence(o);
    if (!o->in_seq)
        (void)snprintf(buf, COV_STREAM_WHERE_BYTES, "behind sequence '%.200s'", sequence);
    else if (o->end == 0)
        (void)snprintf(buf, COV_STREAM_WHERE_BYTES, "at the beginning of sequence '%.200s'",
                       sequence);
    else
        (void)snprintf(buf, COV_STREAM_WHERE_BYTES, "in sequence '%.200s', behind position %lld",
                       sequence, (long long)o->end);
    return buf;
}

static int refuse(const struct cov_stream_order *o, const char *reason, struct cov_err *e)
{
    char where[COV_STREAM_WHERE_BYTES];
    return cov_fail(e, COV_EINPUT, "%s: %s: %s", o->name, cov_stream_order_where(o, where), reason);
}

int cov_stream_order_begin(struct cov_stream_order *o, const char *species, size_t n_species,
                           const char *name, size_t n_name, struct cov_err *e)
{
    if (o->in_seq)
        return refuse(o, "another sequence begins before this one ends", e);
    if (n_name == 0)
        return refuse(o, "a sequence without a name", e);
    if (n_name > COV_STREAM_MAX_NAME || n_species > COV_STREAM_MAX_NAME)
        return refuse(o, "a name of more than 65535 bytes", e);
    if (memchr(name, 0, n_name) || (n_species > 0 && memchr(species, 0, n_species)))
        return refuse(o, "a name with a zero in it", e);
    char *key = cov_malloc(n_species + 1 + n_name, 1, e);
    if (!key)
        return COV_ENOMEM;
    if (n_species > 0)
        memcpy(key, species, n_species);
    key[n_species] = '\0';
    memcpy(key + n_species + 1, name, n_name);
    size_t index;
    bool is_new;
    int rc = cov_names_add(o->names, key, n_species + 1 + n_name, &index, &is_new, e);
    if (!rc && !is_new)
        rc = cov_fail(e, COV_EINPUT, "%s: sequence '%.*s' comes twice", o->name,
                      n_name < 200 ? (int)n_name : 200, name);
    free(key);
    if (rc)
        return rc;
    o->in_seq = true;
    o->seq = index;
    o->end = 0;
    o->n_seq_pairs = 0;
    return COV_OK;
}

int cov_stream_order_pair(struct cov_stream_order *o, const struct cov_stream_pair *pair,
                          struct cov_err *e)
{
    if (!o->in_seq)
        return refuse(o, "chunks outside a sequence", e);
    const char *reason = NULL;
    if (pair->beg < o->end)
        reason = "overlaps what is before it, or stands out of order";
    else if (!o->partial && pair->beg > o->end)
        reason = "leaves a hole before it";
    else if (!o->partial && !(pair->has[COV_PLUS] && pair->has[COV_MINUS]))
        reason = "lacks a strand";
    if (reason) {
        char where[COV_STREAM_WHERE_BYTES];
        return cov_fail(e, COV_EINPUT, "%s: %s: the next chunk, %lld-%lld, %s", o->name,
                        cov_stream_order_where(o, where), (long long)pair->beg + 1,
                        (long long)pair->end, reason);
    }
    o->end = pair->end;
    o->n_seq_pairs++;
    o->n_pairs++;
    o->n_bases += (uint64_t)(pair->end - pair->beg);
    return COV_OK;
}

int cov_stream_order_end(struct cov_stream_order *o, int64_t length, struct cov_err *e)
{
    if (!o->in_seq)
        return refuse(o, "the end of a sequence that has not begun", e);
    if (length < 1 || length < o->end || (!o->partial && length != o->end)) {
        char where[COV_STREAM_WHERE_BYTES];
        return cov_fail(e, COV_EINPUT,
                        "%s: %s: the sequence ends, but its length is said to be %lld", o->name,
                        cov_stream_order_where(o, where), (long long)length);
    }
    o->in_seq = false;
    return COV_OK;
}

int cov_stream_order_last(struct cov_stream_order *o, struct cov_err *e)
{
    return o->in_seq ? refuse(o, "the stream ends before the sequence", e) : COV_OK;
}
