/* h5_stream.c - writes a file of chunks as a chunk stream to standard output, for tests.
 *
 * usage: h5_stream FILE
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/store/chunk_file.h"
#include "common/store/stream.h"

struct copy {
    struct cov_chunk_file *in;
    struct cov_stream_writer *out;
    const struct cov_chunk_head *head;
    size_t *ks;
    uint8_t *codes[2], **elems[2];
    struct cov_blob raw, record;
};

static int make_rows(struct copy *c, struct cov_err *e)
{
    size_t n = c->head->n_sets;
    c->ks = cov_calloc(n, sizeof *c->ks, e);
    if (!c->ks)
        return COV_ENOMEM;
    for (int s = 0; s < 2; s++) {
        c->codes[s] = cov_malloc(c->head->L, 1, e);
        c->elems[s] = cov_calloc(n, sizeof *c->elems[s], e);
        if (!c->codes[s] || !c->elems[s])
            return COV_ENOMEM;
        for (size_t k = 0; k < n; k++) {
            c->ks[k] = k;
            c->elems[s][k] = cov_malloc(cov_chunk_set_row_bytes(&c->head->sets[k]), 1, e);
            if (!c->elems[s][k])
                return COV_ENOMEM;
        }
    }
    return COV_OK;
}

static int copy_pair(struct copy *c, const struct cov_pair *pair, struct cov_err *e)
{
    struct cov_stream_pair p = {.beg = pair->beg, .end = pair->end};
    const uint8_t *codes[2] = {NULL, NULL};
    const uint8_t *const *elems[2] = {NULL, NULL};
    for (int s = 0; s < 2; s++) {
        if (pair->rows[s] == COV_NO_ROW)
            continue;
        p.has[s] = true;
        codes[s] = c->head->has_bases ? c->codes[s] : NULL;
        elems[s] = (const uint8_t *const *)c->elems[s];
        cov_blob_clear(&c->raw);
        int rc = cov_chunk_file_fetch(
            c->in, pair->rows[s],
            (struct cov_chunk_parts){c->head->has_bases, c->ks, c->head->n_sets}, &c->raw, e);
        if (!rc)
            rc = cov_chunk_file_decode(
                c->in, pair->rows[s],
                (struct cov_chunk_parts){c->head->has_bases, c->ks, c->head->n_sets}, &c->raw,
                c->codes[s], c->elems[s], e);
        if (rc)
            return rc;
    }
    int rc = cov_stream_pack(c->head, &p, codes, elems, &c->record, e);
    return rc ? rc : cov_stream_put(c->out, &c->record, e);
}

static int copy(struct copy *c, const char *path, struct cov_err *e)
{
    int rc = cov_chunk_file_open(path, &c->in, e);
    if (rc)
        return rc;
    const struct cov_grid *grid = cov_chunk_file_grid(c->in);
    c->head = cov_chunk_file_head(c->in);
    rc = make_rows(c, e);
    if (!rc)
        rc = cov_stream_create("-", c->head, cov_grid_is_partial(grid), false, 1, &c->out, e);
    for (size_t seq = 0; seq < cov_grid_n_seqs(grid) && !rc; seq++) {
        size_t p, end;
        rc = cov_stream_begin(c->out, cov_grid_species(grid, seq), cov_grid_name(grid, seq), e);
        cov_grid_seq_pairs(grid, seq, &p, &end);
        for (; p < end && !rc; p++) {
            struct cov_pair pair = cov_grid_pair(grid, p);
            rc = copy_pair(c, &pair, e);
        }
        if (!rc)
            rc = cov_stream_end(c->out, cov_grid_seq_length(grid, seq), e);
    }
    struct cov_stream_writer *out = c->out;
    c->out = NULL;
    if (!rc)
        return cov_stream_finish(out, e);
    cov_stream_abort(out);
    return rc;
}

int main(int argc, char **argv)
{
    struct cov_err e = COV_ERR_INIT;
    struct copy c = {0};
    if (argc != 2)
        return 2;
    int rc = copy(&c, argv[1], &e);
    if (rc)
        (void)fprintf(stderr, "h5_stream: %s\n", e.text);
    for (int s = 0; s < 2; s++) {
        for (size_t k = 0; c.elems[s] && k < c.head->n_sets; k++)
            free(c.elems[s][k]);
        free(c.elems[s]);
        free(c.codes[s]);
    }
    free(c.ks);
    cov_blob_fini(&c.raw);
    cov_blob_fini(&c.record);
    cov_chunk_file_close(c.in);
    return rc != COV_OK;
}
