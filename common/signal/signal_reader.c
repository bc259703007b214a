/* signal_reader.c - see signal_reader.h.
 * SPDX-License-Identifier: MIT */
#include "common/signal/signal_reader.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/chunk/predictions.h"
#include "common/chunk/stream.h"

/* ---------------------------------------------------------------- contigs */

static int by_name(const void *a, const void *b)
{
    const struct cov_track_contig *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int check_twins(const struct cov_signal_reader *r, struct cov_err *e)
{
    for (size_t i = 1; i < r->n_contigs; i++) {
        const struct cov_track_contig *a = &r->contigs[i - 1], *b = &r->contigs[i];
        if (strcmp(a->name, b->name) != 0)
            continue;
        const char *x = cov_grid_name(r->signal->grid, a->seq),
                   *y = cov_grid_name(r->signal->grid, b->seq);
        if (strcmp(x, y) != 0)
            return cov_fail(e, COV_EINPUT, "%s: %s and %s are both renamed to %s",
                            r->o->rename_path, x, y, a->name);
        return cov_fail(e, COV_EINPUT, "%s: sequence %s is in two species, %s and %s; %s",
                        r->signal->name, x, cov_grid_species(r->signal->grid, a->seq),
                        cov_grid_species(r->signal->grid, b->seq), "one track cannot hold both");
    }
    return COV_OK;
}

/* Chooses and sorts the contigs. The lists in the options use the names of the input. */
static int make_plan(struct cov_signal_reader *r, struct cov_err *e)
{
    size_t n_seqs = cov_grid_n_seqs(r->signal->grid);
    r->contigs = cov_calloc(n_seqs, sizeof *r->contigs, e);
    r->names = cov_calloc(n_seqs, sizeof *r->names, e);
    r->lengths = cov_calloc(n_seqs, sizeof *r->lengths, e);
    if (!r->contigs || !r->names || !r->lengths)
        return COV_ENOMEM;
    for (size_t seq = 0; seq < n_seqs; seq++) {
        struct cov_track_contig c;
        bool kept;
        const char *name = cov_grid_name(r->signal->grid, seq);
        int rc = cov_contig_filter_take(&r->filter, name, &c, &kept, e);
        if (!rc && kept)
            rc = cov_contig_filter_check_length(
                &r->filter, name, cov_grid_seq_length(r->signal->grid, seq), r->signal->name, e);
        if (rc)
            return rc;
        c.seq = seq;
        if (kept)
            r->contigs[r->n_contigs++] = c;
    }
    int rc = cov_contig_filter_finish(&r->filter, r->signal->name, e);
    if (rc)
        return rc;
    if (r->n_contigs == 0)
        return cov_contig_filter_fail_empty(&r->filter, r->signal->name, e);
    qsort(r->contigs, r->n_contigs, sizeof *r->contigs, by_name);
    for (size_t i = 0; i < r->n_contigs; i++) {
        r->names[i] = r->contigs[i].name;
        r->lengths[i] = cov_grid_seq_length(r->signal->grid, r->contigs[i].seq);
    }
    return check_twins(r, e);
}

/* ---------------------------------------------------------------- a file */

bool cov_signal_needs(const struct cov_source_options *o, enum cov_strand_index strand)
{
    return o->strand != (strand == COV_PLUS ? COV_STRAND_MINUS : COV_STRAND_PLUS);
}

/* Lists the rows of a contig that is complete on all needed strands. */
static int list_rows(struct cov_signal_reader *r, size_t seq, struct cov_err *e)
{
    size_t n[2] = {0, 0};
    for (int strand = 0; strand < 2; strand++) {
        free(r->rows[strand]);
        r->rows[strand] = NULL;
    }
    for (int strand = 0; strand < 2; strand++) {
        if (!cov_signal_needs(r->o, (enum cov_strand_index)strand))
            continue;
        int rc = cov_grid_strand_rows(r->signal->grid, seq, strand == COV_MINUS, &r->rows[strand],
                                      &n[strand], e);
        if (rc)
            return rc == COV_EINPUT ? cov_err_prefix(e, rc, "%s", r->signal->name) : rc;
    }
    const size_t *plus = r->rows[COV_PLUS], *minus = r->rows[COV_MINUS];
    bool same = !plus || !minus || n[COV_PLUS] == n[COV_MINUS];
    r->row = 0;
    r->n_rows = plus ? n[COV_PLUS] : n[COV_MINUS];
    for (size_t i = 0; same && plus && minus && i < r->n_rows; i++)
        same = cov_grid_chunk(r->signal->grid, plus[i]).beg ==
               cov_grid_chunk(r->signal->grid, minus[i]).beg;
    if (!same)
        return cov_fail(e, COV_EINPUT,
                        "%s: the strands of sequence %s are chunked at different positions",
                        r->signal->name, cov_grid_name(r->signal->grid, seq));
    return COV_OK;
}

/* Sets *use to whether a pair, which may lack a strand, has the needed strands. */
static int use_pair(const struct cov_signal_reader *r, const char *sequence,
                    const struct cov_stream_pair *pair, bool *use, struct cov_err *e)
{
    const bool *has = pair->has;
    *use = (has[COV_PLUS] || !cov_signal_needs(r->o, COV_PLUS)) &&
           (has[COV_MINUS] || !cov_signal_needs(r->o, COV_MINUS));
    if (*use || r->o->strand != COV_STRAND_AVG)
        return COV_OK;
    char present = has[COV_PLUS] ? '+' : '-';
    return cov_fail(
        e, COV_EINPUT,
        "%s: %s:%lld-%lld: only the %c strand is present, but the mean needs both; use --strand %c",
        r->signal->name, sequence, (long long)pair->beg + 1, (long long)pair->end, present,
        present);
}

/* Partial file: sets *pair to the next usable pair of a contig; *use is false after the last. */
static int next_pair(struct cov_signal_reader *r, size_t seq, struct cov_pair *pair, bool *use,
                     struct cov_err *e)
{
    const char *name = cov_grid_name(r->signal->grid, seq);
    *use = false;
    while (!*use && r->row < r->n_rows) {
        *pair = cov_grid_pair(r->signal->grid, r->row++);
        const struct cov_stream_pair part = {
            pair->beg,
            pair->end,
            {pair->rows[COV_PLUS] != COV_NO_ROW, pair->rows[COV_MINUS] != COV_NO_ROW}};
        int rc = use_pair(r, name, &part, use, e);
        if (rc)
            return rc;
        if (*use && pair->beg < r->covered)
            return cov_fail(e, COV_EINPUT, "%s: %s:%lld-%lld: chunks overlap", r->signal->name,
                            name, (long long)pair->beg + 1, (long long)r->covered);
    }
    for (int strand = 0; *use && strand < 2; strand++)
        if (!cov_signal_needs(r->o, (enum cov_strand_index)strand))
            pair->rows[strand] = COV_NO_ROW;
    return COV_OK;
}

/* Sets *pair to the next pair of the current contig, like next_pair. */
static int next_of_contig(struct cov_signal_reader *r, struct cov_pair *pair, bool *use,
                          struct cov_err *e)
{
    size_t seq = r->contigs[r->contig - 1].seq;
    if (cov_grid_is_partial(r->signal->grid))
        return next_pair(r, seq, pair, use, e);
    *use = r->row < r->n_rows;
    if (!*use)
        return COV_OK;
    *pair = (struct cov_pair){.seq = seq};
    for (int strand = 0; strand < 2; strand++) {
        pair->rows[strand] = r->rows[strand] ? r->rows[strand][r->row] : COV_NO_ROW;
        if (r->rows[strand]) {
            struct cov_chunk chunk = cov_grid_chunk(r->signal->grid, pair->rows[strand]);
            pair->beg = chunk.beg;
            pair->end = chunk.end;
        }
    }
    r->row++;
    return COV_OK;
}

static int begin_contig(struct cov_signal_reader *r, struct cov_signal_piece *p, struct cov_err *e)
{
    p->number = r->contig++;
    p->contig = r->contigs[p->number];
    p->begins = true;
    r->covered = 0;
    r->row = r->n_rows = 0;
    if (p->contig.is_empty)
        return COV_OK;
    if (!cov_grid_is_partial(r->signal->grid))
        return list_rows(r, p->contig.seq, e);
    cov_grid_seq_pairs(r->signal->grid, p->contig.seq, &r->row, &r->n_rows);
    return COV_OK;
}

static int read_file(struct cov_signal_reader *r, struct cov_signal_piece *p, struct cov_err *e)
{
    struct cov_pair pair;
    bool found = false;
    int rc = COV_OK;
    if (r->contig > 0)
        rc = next_of_contig(r, &pair, &found, e);
    if (!rc && !found) {
        p->ends = r->contig > 0;
        r->done = r->contig == r->n_contigs;
        if (r->done)
            return COV_OK;
        rc = begin_contig(r, p, e);
        if (!rc)
            rc = next_of_contig(r, &pair, &found, e);
    }
    if (rc || !found)
        return rc;
    p->n = (size_t)(pair.end - pair.beg);
    p->beg = pair.beg;
    r->covered = pair.end;
    r->n_chunks += (int64_t)cov_pair_n_rows(&pair);
    for (int strand = 0; strand < 2 && !rc; strand++) {
        p->rows[strand] = pair.rows[strand];
        if (pair.rows[strand] != COV_NO_ROW)
            rc = cov_signal_fetch(r->signal, pair.rows[strand], r->ks, r->n_ks, &p->raw[strand], e);
    }
    return rc;
}

/* ---------------------------------------------------------------- a stream */

/* Handles the start of a sequence. */
static int announce(struct cov_signal_reader *r, struct cov_signal_piece *p,
                    const struct cov_stream_item *item, struct cov_err *e)
{
    size_t number;
    bool is_new = true;
    int rc = cov_copy_text(&r->sequence, &r->cap_sequence, item->sequence, e);
    if (!rc)
        rc = cov_copy_text(&p->sequence, &p->cap_sequence, item->sequence, e);
    if (rc)
        return rc;
    bool kept;
    rc = cov_contig_filter_take(&r->filter, p->sequence, &p->contig, &kept, e);
    r->skips = !kept;
    if (rc || r->skips)
        return rc;
    p->begins = true;
    const char *name = p->contig.name;
    rc = cov_names_add(r->announced, name, strlen(name), &number, &is_new, e);
    if (rc || is_new)
        return rc;
    if (strcmp(name, p->sequence) != 0)
        return cov_fail(e, COV_EINPUT,
                        "%s: %s is renamed to %s, which is the name of an earlier sequence",
                        r->o->rename_path, p->sequence, name);
    return cov_fail(e, COV_EINPUT, "%s: duplicate sequence %s; one track cannot hold both",
                    r->signal->name, name);
}

static int take_pair(struct cov_signal_reader *r, struct cov_signal_piece *p,
                     const struct cov_stream_item *item, bool *use, struct cov_err *e)
{
    const struct cov_stream_pair *pair = &item->pair;
    int rc = use_pair(r, r->sequence, pair, use, e);
    if (!rc && *use)
        rc = cov_copy_text(&p->sequence, &p->cap_sequence, r->sequence, e);
    if (rc || !*use)
        return rc;
    p->n = (size_t)(pair->end - pair->beg);
    p->beg = pair->beg;
    r->n_chunks += cov_signal_needs(r->o, COV_PLUS) + cov_signal_needs(r->o, COV_MINUS);
    return COV_OK;
}

/* Reads on until the piece has bases or is full: a piece holds at most one start and one end of a
 * contig. */
static int read_stream(struct cov_signal_reader *r, struct cov_signal_piece *p, struct cov_err *e)
{
    bool full = false;
    p->ends = r->owes_end;
    p->length = r->length;
    r->owes_end = false;
    while (!full) {
        struct cov_stream_item item;
        int rc = cov_stream_next(r->signal->records, &item, &p->raw[0], e);
        if (!rc && item.event == COV_STREAM_DONE) {
            r->done = full = true;
        } else if (!rc && item.event == COV_STREAM_BEGIN) {
            rc = announce(r, p, &item, e);
        } else if (!rc && !r->skips && item.event == COV_STREAM_PAIR) {
            rc = take_pair(r, p, &item, &full, e);
        } else if (!rc && !r->skips && item.event == COV_STREAM_END) {
            rc = cov_contig_filter_check_length(&r->filter, r->sequence, item.length,
                                                r->signal->name, e);
            full = r->owes_end = p->begins;
            r->length = item.length;
            p->ends = p->ends || !full;
            p->length = full ? p->length : item.length;
        }
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* ---------------------------------------------------------------- all of it */

int cov_signal_reader_open(struct cov_signal_reader *r, const char *path, struct cov_bgz *in,
                           const struct cov_source_options *o, struct cov_err *e)
{
    r->o = o;
    int rc = cov_signal_open(path, in, o->measured ? COV_SIGNAL_MEASURED : COV_SIGNAL_PREDICTED,
                             &r->signal, e);
    if (!rc)
        rc = cov_contig_filter_open(&r->filter, o, e);
    if (rc)
        return rc;
    return r->signal->grid ? make_plan(r, e) : cov_names_new(&r->announced, e);
}

void cov_signal_reader_close(struct cov_signal_reader *r)
{
    free(r->rows[COV_PLUS]);
    free(r->rows[COV_MINUS]);
    free(r->contigs);
    free(r->names);
    free(r->lengths);
    free(r->sequence);
    cov_names_free(r->announced);
    cov_contig_filter_close(&r->filter);
    cov_signal_close(r->signal);
}

void cov_signal_piece_fini(struct cov_signal_piece *p)
{
    cov_blob_fini(&p->raw[0]);
    cov_blob_fini(&p->raw[1]);
    free(p->sequence);
}

int64_t cov_signal_reader_count(const struct cov_signal_reader *r)
{
    if (!r->signal->grid)
        return -1;
    int64_t n = 0;
    bool partial = cov_grid_is_partial(r->signal->grid);
    for (size_t i = 0; i < r->n_contigs; i++) {
        size_t beg = 0, end = 0;
        if (r->contigs[i].is_empty)
            continue;
        if (partial)
            cov_grid_seq_pairs(r->signal->grid, r->contigs[i].seq, &beg, &end);
        else
            n += r->lengths[i];
        for (; beg < end; beg++) {
            struct cov_pair pair = cov_grid_pair(r->signal->grid, beg);
            n += pair.end - pair.beg;
        }
    }
    return n;
}

int cov_signal_reader_next(struct cov_signal_reader *r, struct cov_signal_piece *p,
                           struct cov_err *e)
{
    p->ends = p->begins = false;
    p->n = 0;
    return r->signal->grid ? read_file(r, p, e) : read_stream(r, p, e);
}

int cov_signal_reader_decode(const struct cov_signal_reader *r, struct cov_signal_piece *p,
                             float *const values[2], struct cov_err *e)
{
    if (r->signal->records) {
        const struct cov_signal_output out = {r->ks, r->n_ks, {values[0], values[1]}};
        return cov_signal_decode_pair(r->signal, p->sequence, &p->raw[0], &out, &p->raw[1], e);
    }
    int rc = COV_OK;
    for (int strand = 0; strand < 2 && !rc; strand++)
        if (values[strand])
            rc = cov_signal_decode_row(r->signal, p->rows[strand], r->ks, r->n_ks, &p->raw[strand],
                                       values[strand], e);
    return rc;
}

int cov_signal_reader_check(const struct cov_signal_reader *r, struct cov_err *e)
{
    if (r->signal->grid)
        return COV_OK;
    int rc = cov_contig_filter_finish(&r->filter, r->signal->name, e);
    return rc || cov_names_count(r->announced)
               ? rc
               : cov_contig_filter_fail_empty(&r->filter, r->signal->name, e);
}

/* ---------------------------------------------------------------- how the input was made */

static int add_source(const struct cov_signal_reader *r, const char *set, const char *name,
                      const char *text, struct cov_stats *stats, struct cov_err *e)
{
    char *full = cov_strfmt(e, "%s%s%s", set ? set : "", set ? " " : "", name);
    int rc = full ? cov_stats_add_source(stats, r->signal->name, full, text, e) : COV_ENOMEM;
    free(full);
    return rc;
}

/* `set`: an HDF5 dataset; NULL: the file. */
static int add_sources(const struct cov_signal_reader *r, const char *set, struct cov_stats *stats,
                       struct cov_err *e)
{
    const struct cov_chunk_head *h = r->signal->head;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < h->n_attrs; i++)
        if (cov_text_same(h->attrs[i].set, set))
            rc = add_source(r, set, h->attrs[i].name, h->attrs[i].text, stats, e);
    return rc;
}

int cov_signal_reader_add_sources(const struct cov_signal_reader *r, const size_t *ks, size_t n,
                                  struct cov_stats *stats, struct cov_err *e)
{
    int rc = add_sources(r, NULL, stats, e);
    if (!r->o->measured)
        return rc ? rc : add_sources(r, COV_PREDICTIONS_SET, stats, e);
    for (size_t i = 0; !rc && i < n; i++) {
        char *set = cov_strfmt(e, "evaluation/%s_coverage", r->signal->parts[ks[i]].name);
        rc = set ? add_sources(r, set, stats, e) : COV_ENOMEM;
        free(set);
    }
    return rc;
}
