/* tee.c - see tee.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/tee.h"

#include <stdlib.h>

#include "common/base/mem.h"

struct tee {
    struct cov_track_sink base;
    struct cov_track_sink *to[2];
    size_t n_ended; /* contigs whose length has been handed on, where they are announced */
};

/* The length of an announced contig is known when the next one begins. */
static int end_contig(struct tee *t, struct cov_err *e)
{
    int rc = COV_OK;
    if (t->base.contigs || !t->to[0]->begun || t->n_ended == cov_track_n_contigs(t->to[0]))
        return COV_OK;
    for (size_t i = 0; !rc && i < 2; i++)
        rc = cov_track_end_contig(t->to[i], cov_track_contig_length(&t->base, t->n_ended), e);
    t->n_ended++;
    return rc;
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct tee *t = (struct tee *)s;
    int rc = end_contig(t, e);
    for (size_t i = 0; !rc && i < 2; i++)
        rc = s->contigs ? cov_track_begin(t->to[i], s->contig, e)
                        : cov_track_begin_named(t->to[i], s->contig_name, e);
    return rc;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct tee *t = (struct tee *)s;
    int rc = cov_track_add(t->to[0], iv, n, e);
    return rc ? rc : cov_track_add(t->to[1], iv, n, e);
}

static int close_both(struct cov_track_sink *s, struct cov_err *e)
{
    struct tee *t = (struct tee *)s;
    int rc = end_contig(t, e);
    for (size_t i = 0; !rc && i < 2; i++)
        rc = cov_track_close(t->to[i], e);
    return rc;
}

static void free_tee(struct cov_track_sink *s)
{
    free(s);
}

static const struct cov_track_format format = {begin, add, close_both, free_tee};

int cov_tee_new(struct cov_track_sink *a, struct cov_track_sink *b,
                const struct cov_track_contigs *contigs, struct cov_track_sink **out,
                struct cov_err *e)
{
    *out = NULL;
    struct tee *t = cov_calloc(1, sizeof *t, e);
    if (!t)
        return COV_ENOMEM;
    t->to[0] = a;
    t->to[1] = b;
    int rc = cov_track_init(&t->base, &format, a->name, contigs, e);
    if (rc)
        cov_track_free(&t->base);
    else
        *out = &t->base;
    return rc;
}
