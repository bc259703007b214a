/* grid.c - see grid.h.
 *
 * A regular grid stores only the cumulative numbers of chunks of its sequences. The builder stores
 * no rows while they are regular; as soon as one is not, it stores a list of all rows.
 * SPDX-License-Identifier: MIT */
#include "common/seq/grid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/seq/names.h"

struct row {
    size_t seq;
    int64_t start, end; /* start > end: the - strand */
};

struct cov_grid {
    size_t L, n_chunks;
    struct cov_names *names; /* keys: species, zero, name */
    size_t n_seqs;
    int64_t *lengths;
    /* Regular grids: number of the first chunk of each sequence; n_seqs + 1 entries. */
    size_t *first;
    /* Other grids: `rows` has the rows in file order; `order` their numbers, sorted by sequence,
     * strand (+ before -) and position; `begins` where each sequence and strand begins in
     * `order`, 2 * n_seqs + 1 entries. */
    struct row *rows;
    size_t *order, *begins;
    /* Other grids: the pairs, and where the pairs of each sequence begin, n_seqs + 1 entries. */
    size_t (*pairs)[2];
    size_t *pair_begins;
    bool partial;
};

struct cov_grid_builder {
    struct cov_grid *g;
    size_t cap_lengths, cap_rows;
    char *key; /* of the sequence being added */
    size_t cap_key;
    size_t n_rows;
    bool listing;  /* the rows so far are in g->rows */
    bool declared; /* sequences and lengths are known */
    /* The previous row. */
    size_t seq;
    bool minus;
    int64_t start, end;
};

struct cov_seq_id cov_seq_id(const char *species, const char *name)
{
    return (struct cov_seq_id){species, strlen(species), name, strlen(name)};
}

static int too_large(struct cov_err *e)
{
    return cov_fail(e, COV_ENOMEM, "out of memory: too many chunks");
}

void cov_grid_free(struct cov_grid *g)
{
    if (!g)
        return;
    cov_names_free(g->names);
    free(g->lengths);
    free(g->first);
    free(g->rows);
    free(g->order);
    free(g->begins);
    free(g->pairs);
    free(g->pair_begins);
    free(g);
}

/* Returns the number of chunks on one strand of a sequence. */
static size_t chunks_of(const struct cov_grid *g, size_t seq)
{
    return ((size_t)g->lengths[seq] - 1) / g->L + 1;
}

/* Returns chunk k, 0 <= k < 2 * chunks_of(seq), of a sequence in a regular grid. */
static struct cov_chunk regular_chunk(const struct cov_grid *g, size_t seq, size_t k)
{
    size_t n = chunks_of(g, seq);
    struct cov_chunk c = {seq, 0, 0, k >= n};
    if (c.minus)
        k = 2 * n - 1 - k;
    c.beg = (int64_t)(k * g->L);
    c.end = k + 1 < n ? c.beg + (int64_t)g->L : g->lengths[seq];
    return c;
}

/* Fills in `first`. */
static int number_regular(struct cov_grid *g, struct cov_err *e)
{
    g->first = cov_malloc(g->n_seqs + 1, sizeof *g->first, e);
    if (!g->first)
        return COV_ENOMEM;
    g->first[0] = 0;
    for (size_t s = 0; s < g->n_seqs; s++)
        if (cov_size_add(g->first[s], 2 * chunks_of(g, s), &g->first[s + 1]))
            return too_large(e);
    g->n_chunks = g->first[g->n_seqs];
    return COV_OK;
}

/* Fills b->key[] with the species, a zero byte and the name, *n bytes in all. */
static int make_key(struct cov_grid_builder *b, const struct cov_seq_id *id, size_t *n,
                    struct cov_err *e)
{
    *n = id->n_species + 1 + id->n_name;
    int rc = COV_RESERVE(&b->key, &b->cap_key, *n, e);
    if (rc)
        return rc;
    memcpy(b->key, id->species, id->n_species);
    b->key[id->n_species] = '\0';
    memcpy(b->key + id->n_species + 1, id->name, id->n_name);
    return COV_OK;
}

/* ---- building ---- */

int cov_grid_builder_new(size_t L, struct cov_grid_builder **out, struct cov_err *e)
{
    struct cov_grid_builder *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    b->g = cov_calloc(1, sizeof *b->g, e);
    int rc = b->g ? cov_names_new(&b->g->names, e) : COV_ENOMEM;
    if (rc) {
        cov_grid_builder_free(b);
        return rc;
    }
    b->g->L = L;
    *out = b;
    return COV_OK;
}

void cov_grid_builder_free(struct cov_grid_builder *b)
{
    if (!b)
        return;
    cov_grid_free(b->g);
    free(b->key);
    free(b);
}

/* Returns true if the row continues a regular grid: it follows the previous row of the same
 * sequence, or starts a new sequence after a complete one. */
static bool is_regular_next(const struct cov_grid_builder *b, bool new_seq, int64_t start,
                            int64_t end)
{
    int64_t L = (int64_t)b->g->L;
    bool complete = b->n_rows == 0 || (b->minus && b->end == 0);
    if (new_seq)
        return complete && start == 0;
    if (complete)
        return false;
    if (start < end) /* +: follows a full chunk */
        return !b->minus && start == b->end && b->end - b->start == L;
    if (!b->minus) /* the first - chunk has the interval of the last + chunk */
        return start == b->end && end == b->start;
    return start == b->end && start - end == L;
}

static int list_row(struct cov_grid_builder *b, size_t i, struct row row, struct cov_err *e)
{
    int rc = COV_RESERVE(&b->g->rows, &b->cap_rows, i + 1, e);
    if (!rc)
        b->g->rows[i] = row;
    return rc;
}

/* Stores the list of the regular rows added so far. */
static int start_listing(struct cov_grid_builder *b, struct cov_err *e)
{
    struct cov_grid *g = b->g;
    size_t i = 0;
    for (size_t s = 0; s < g->n_seqs && i < b->n_rows; s++) {
        size_t n = 2 * chunks_of(g, s);
        for (size_t k = 0; k < n && i < b->n_rows; k++, i++) {
            struct cov_chunk c = regular_chunk(g, s, k);
            struct row row = {s, c.minus ? c.end : c.beg, c.minus ? c.beg : c.end};
            int rc = list_row(b, i, row, e);
            if (rc)
                return rc;
        }
    }
    b->listing = true;
    return COV_OK;
}

/* Records that the sequence, which may be new, has at least `length` bases. */
static int add_length(struct cov_grid_builder *b, size_t seq, bool is_new, int64_t length,
                      struct cov_err *e)
{
    struct cov_grid *g = b->g;
    if (is_new) {
        int rc = COV_RESERVE(&g->lengths, &b->cap_lengths, g->n_seqs + 1, e);
        if (rc)
            return rc;
        g->lengths[g->n_seqs++] = length;
    }
    if (g->lengths[seq] < length)
        g->lengths[seq] = length;
    return COV_OK;
}

/* Returns how many bytes of a name are shown in messages. */
static int shown(const struct cov_seq_id *id)
{
    return id->n_name < 200 ? (int)id->n_name : 200;
}

/* Checks a row before its sequence is looked up. */
static int check_row(const struct cov_grid_builder *b, const struct cov_seq_id *id, int64_t start,
                     int64_t end, struct cov_err *e)
{
    long long from = start, to = end;
    if (id->n_name == 0)
        return cov_fail(e, COV_EINPUT, "row %zu: empty sequence name", b->n_rows);
    if (memchr(id->name, '\0', id->n_name) || memchr(id->species, '\0', id->n_species))
        return cov_fail(e, COV_EINPUT, "row %zu: zero byte in a name", b->n_rows);
    if (start < 0 || end < 0 || start == end)
        return cov_fail(e, COV_EINPUT, "row %zu: invalid interval: %.*s from %lld to %lld",
                        b->n_rows, shown(id), id->name, from, to);
    if ((uint64_t)(start < end ? end - start : start - end) > b->g->L)
        return cov_fail(e, COV_EINPUT,
                        "row %zu: interval longer than a chunk (%zu): %.*s from %lld to %lld",
                        b->n_rows, b->g->L, shown(id), id->name, from, to);
    return COV_OK;
}

int cov_grid_builder_add(struct cov_grid_builder *b, const struct cov_seq_id *id, int64_t start,
                         int64_t end, struct cov_err *e)
{
    size_t n_key, seq;
    bool is_new = false;
    int rc = check_row(b, id, start, end, e);
    if (!rc)
        rc = make_key(b, id, &n_key, e);
    if (rc)
        return rc;
    if (!b->declared)
        rc = cov_names_add(b->g->names, b->key, n_key, &seq, &is_new, e);
    else if (!cov_names_find(b->g->names, b->key, n_key, &seq))
        rc = cov_fail(e, COV_EINPUT, "row %zu: %.*s is not a sequence of the genome", b->n_rows,
                      shown(id), id->name);
    else if (start > b->g->lengths[seq] || end > b->g->lengths[seq])
        rc = cov_fail(e, COV_EINPUT,
                      "row %zu: past the end of a sequence of %lld bases: %.*s from %lld to %lld",
                      b->n_rows, (long long)b->g->lengths[seq], shown(id), id->name,
                      (long long)start, (long long)end);
    if (rc)
        return rc;
    bool follows = is_new || seq == b->seq;
    if (!b->listing && !(follows && is_regular_next(b, is_new, start, end))) {
        rc = start_listing(b, e);
        if (rc)
            return rc;
    }
    rc = add_length(b, seq, is_new, start < end ? end : start, e);
    if (!rc && b->listing)
        rc = list_row(b, b->n_rows, (struct row){seq, start, end}, e);
    if (rc)
        return rc;
    b->n_rows++;
    b->seq = seq;
    b->minus = start > end;
    b->start = start;
    b->end = end;
    return COV_OK;
}

/* Adds the next sequence and its full length. */
static int add_sequence(struct cov_grid_builder *b, const struct cov_seq_id *id, int64_t length,
                        struct cov_err *e)
{
    size_t n_key, seq;
    bool is_new;
    if (id->n_name == 0 || memchr(id->name, '\0', id->n_name) ||
        memchr(id->species, '\0', id->n_species))
        return cov_fail(e, COV_EINPUT, "sequence %zu: empty name, or zero byte in a name",
                        b->g->n_seqs);
    if (length <= 0)
        return cov_fail(e, COV_EINPUT, "empty sequence %.*s", shown(id), id->name);
    int rc = make_key(b, id, &n_key, e);
    if (!rc)
        rc = cov_names_add(b->g->names, b->key, n_key, &seq, &is_new, e);
    if (!rc && !is_new)
        rc = cov_fail(e, COV_EINPUT, "duplicate sequence %.*s", shown(id), id->name);
    return rc ? rc : add_length(b, seq, true, length, e);
}

int cov_grid_builder_declare(struct cov_grid_builder *b, const struct cov_seq_id *id,
                             int64_t length, struct cov_err *e)
{
    assert(b->n_rows == 0);
    b->declared = b->listing = true;
    int rc = add_sequence(b, id, length, e);
    /* The list distinguishes this grid from a regular one, even if no row is ever added. */
    return rc ? rc : COV_RESERVE(&b->g->rows, &b->cap_rows, 1, e);
}

int cov_grid_builder_declare_all(struct cov_grid_builder *b, const struct cov_grid *g,
                                 struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t s = 0; !rc && s < g->n_seqs; s++) {
        struct cov_seq_id id = cov_grid_seq_id(g, s);
        rc = cov_grid_builder_declare(b, &id, g->lengths[s], e);
    }
    return rc;
}

int cov_grid_new(size_t n_seqs, char *const *names, const int64_t *lengths, const char *species,
                 size_t L, struct cov_grid **out, struct cov_err *e)
{
    struct cov_grid_builder *b = NULL;
    *out = NULL;
    int rc = cov_grid_builder_new(L, &b, e);
    for (size_t s = 0; !rc && s < n_seqs; s++) {
        struct cov_seq_id id = cov_seq_id(species, names[s]);
        rc = add_sequence(b, &id, lengths[s], e);
    }
    if (!rc)
        rc = number_regular(b->g, e);
    if (!rc) {
        *out = b->g;
        b->g = NULL;
    }
    cov_grid_builder_free(b);
    return rc;
}

struct sort_key {
    int64_t beg, end;
    size_t row;
};

static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    if (x->beg != y->beg)
        return x->beg < y->beg ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int64_t row_beg(const struct row *r)
{
    return r->start < r->end ? r->start : r->end;
}

static int64_t row_end(const struct row *r)
{
    return r->start < r->end ? r->end : r->start;
}

static size_t group_of(const struct row *r)
{
    return 2 * r->seq + (r->start > r->end);
}

/* Fills in `order` and `begins`. */
static int sort_rows(struct cov_grid *g, struct cov_err *e)
{
    int rc = COV_OK;
    size_t n_groups = 2 * g->n_seqs;
    struct sort_key *keys = cov_malloc(g->n_chunks, sizeof *keys, e);
    g->order = cov_malloc(g->n_chunks, sizeof *g->order, e);
    g->begins = cov_calloc(n_groups + 1, sizeof *g->begins, e);
    if (!keys || !g->order || !g->begins) {
        rc = COV_ENOMEM;
        goto out;
    }
    /* Counting sort into groups; begins[k + 1] is the index at which the next row of group k
     * goes. */
    for (size_t i = 0; i < g->n_chunks; i++)
        if (group_of(&g->rows[i]) + 2 <= n_groups)
            g->begins[group_of(&g->rows[i]) + 2]++;
    for (size_t k = 2; k <= n_groups; k++)
        g->begins[k] += g->begins[k - 1];
    for (size_t i = 0; i < g->n_chunks; i++) {
        size_t at = g->begins[group_of(&g->rows[i]) + 1]++;
        keys[at].beg = row_beg(&g->rows[i]);
        keys[at].end = row_end(&g->rows[i]);
        keys[at].row = i;
    }
    for (size_t k = 0; k < n_groups; k++)
        qsort(keys + g->begins[k], g->begins[k + 1] - g->begins[k], sizeof *keys, compare_keys);
    for (size_t i = 0; i < g->n_chunks; i++)
        g->order[i] = keys[i].row;
out:
    free(keys);
    return rc;
}

/* Compares two rows of a sequence by interval. */
static int compare_intervals(const struct row *a, const struct row *b)
{
    if (row_beg(a) != row_beg(b))
        return row_beg(a) < row_beg(b) ? -1 : 1;
    return row_end(a) < row_end(b) ? -1 : row_end(a) > row_end(b);
}

/* Writes the pairs of sequence `seq` to pairs[], unless `pairs` is NULL. Returns the number of
 * pairs. */
static size_t match_strands(const struct cov_grid *g, size_t seq, size_t (*pairs)[2])
{
    size_t p = g->begins[2 * seq], p_end = g->begins[2 * seq + 1];
    size_t m = p_end, m_end = g->begins[2 * seq + 2], n = 0;
    while (p < p_end || m < m_end) {
        int order = p == p_end   ? 1
                    : m == m_end ? -1
                                 : compare_intervals(&g->rows[g->order[p]], &g->rows[g->order[m]]);
        if (pairs) {
            pairs[n][COV_PLUS] = order <= 0 ? g->order[p] : COV_NO_ROW;
            pairs[n][COV_MINUS] = order >= 0 ? g->order[m] : COV_NO_ROW;
        }
        p += order <= 0;
        m += order >= 0;
        n++;
    }
    return n;
}

/* Returns true if the rows of group k tile their sequence. */
static bool tiles(const struct cov_grid *g, size_t k)
{
    int64_t at = 0;
    for (size_t i = g->begins[k]; i < g->begins[k + 1]; i++) {
        const struct row *r = &g->rows[g->order[i]];
        if (row_beg(r) != at)
            return false;
        at = row_end(r);
    }
    return at == g->lengths[k / 2];
}

/* Fills in `pairs` and `pair_begins` from the sorted rows. */
static int pair_rows(struct cov_grid *g, struct cov_err *e)
{
    g->pair_begins = cov_malloc(g->n_seqs + 1, sizeof *g->pair_begins, e);
    if (!g->pair_begins)
        return COV_ENOMEM;
    g->pair_begins[0] = 0;
    for (size_t s = 0; s < g->n_seqs; s++)
        g->pair_begins[s + 1] = g->pair_begins[s] + match_strands(g, s, NULL);
    size_t n = g->pair_begins[g->n_seqs];
    g->pairs = cov_malloc(n ? n : 1, sizeof *g->pairs, e);
    if (!g->pairs)
        return COV_ENOMEM;
    for (size_t s = 0; s < g->n_seqs; s++)
        (void)match_strands(g, s, g->pairs + g->pair_begins[s]);
    return COV_OK;
}

int cov_grid_builder_finish(struct cov_grid_builder *b, struct cov_grid **out, struct cov_err *e)
{
    int rc = COV_OK;
    struct cov_grid *g = b->g;
    if (!b->listing && b->n_rows > 0 && !(b->minus && b->end == 0))
        rc = start_listing(b, e);
    g->n_chunks = b->n_rows;
    if (!rc)
        rc = b->listing ? sort_rows(g, e) : number_regular(g, e);
    if (!rc && b->listing)
        rc = pair_rows(g, e);
    for (size_t k = 0; !rc && b->declared && k < 2 * g->n_seqs && !g->partial; k++)
        g->partial = !tiles(g, k);
    *out = NULL;
    if (!rc) {
        *out = g;
        b->g = NULL;
    }
    cov_grid_builder_free(b);
    return rc;
}

/* ---- queries ---- */

size_t cov_grid_n_chunks(const struct cov_grid *g)
{
    return g->n_chunks;
}

size_t cov_grid_chunk_length(const struct cov_grid *g)
{
    return g->L;
}

/* Returns the sequence of chunk i in a regular grid: the last sequence whose first chunk is at
 * most i. */
static size_t regular_seq(const struct cov_grid *g, size_t i)
{
    size_t lo = 0, hi = g->n_seqs;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (g->first[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

struct cov_chunk cov_grid_chunk(const struct cov_grid *g, size_t i)
{
    if (g->rows) {
        const struct row *r = &g->rows[i];
        return (struct cov_chunk){r->seq, row_beg(r), row_end(r), r->start > r->end};
    }
    size_t seq = regular_seq(g, i);
    return regular_chunk(g, seq, i - g->first[seq]);
}

size_t cov_grid_n_seqs(const struct cov_grid *g)
{
    return g->n_seqs;
}

const char *cov_grid_species(const struct cov_grid *g, size_t seq)
{
    return cov_names_get(g->names, seq, NULL);
}

const char *cov_grid_name(const struct cov_grid *g, size_t seq)
{
    const char *species = cov_grid_species(g, seq);
    return species + strlen(species) + 1;
}

struct cov_seq_id cov_grid_seq_id(const struct cov_grid *g, size_t seq)
{
    return cov_seq_id(cov_grid_species(g, seq), cov_grid_name(g, seq));
}

int64_t cov_grid_longest(const struct cov_grid *g)
{
    int64_t longest = 0;
    for (size_t s = 0; s < g->n_seqs; s++)
        if (g->lengths[s] > longest)
            longest = g->lengths[s];
    return longest;
}

int64_t cov_grid_seq_length(const struct cov_grid *g, size_t seq)
{
    return g->lengths[seq];
}

bool cov_grid_is_regular(const struct cov_grid *g)
{
    return !g->rows;
}

bool cov_grid_is_partial(const struct cov_grid *g)
{
    return g->partial;
}

int cov_grid_select(const struct cov_grid *g, const size_t *rows, size_t n, struct cov_grid **out,
                    struct cov_err *e)
{
    struct cov_grid_builder *b = NULL;
    *out = NULL;
    int rc = cov_grid_builder_new(g->L, &b, e);
    if (!rc)
        rc = cov_grid_builder_declare_all(b, g, e);
    for (size_t i = 0; !rc && i < n; i++) {
        struct cov_chunk c = cov_grid_chunk(g, rows[i]);
        struct cov_seq_id id = cov_grid_seq_id(g, c.seq);
        rc = cov_grid_builder_add(b, &id, c.minus ? c.end : c.beg, c.minus ? c.beg : c.end, e);
    }
    if (rc) {
        cov_grid_builder_free(b);
        return rc;
    }
    return cov_grid_builder_finish(b, out, e);
}

/* ---- pairs ---- */

size_t cov_grid_n_pairs(const struct cov_grid *g)
{
    return g->rows ? g->pair_begins[g->n_seqs] : g->n_chunks / 2;
}

struct cov_pair cov_grid_pair(const struct cov_grid *g, size_t p)
{
    struct cov_pair pair;
    if (g->rows) {
        const size_t *rows = g->pairs[p];
        const struct row *r = &g->rows[rows[rows[COV_PLUS] == COV_NO_ROW ? COV_MINUS : COV_PLUS]];
        pair = (struct cov_pair){r->seq, row_beg(r), row_end(r), {rows[COV_PLUS], rows[COV_MINUS]}};
        return pair;
    }
    size_t seq = regular_seq(g, 2 * p), first = g->first[seq], k = p - first / 2;
    struct cov_chunk c = regular_chunk(g, seq, k);
    pair = (struct cov_pair){seq, c.beg, c.end, {first + k, g->first[seq + 1] - 1 - k}};
    return pair;
}

void cov_grid_seq_pairs(const struct cov_grid *g, size_t seq, size_t *beg, size_t *end)
{
    *beg = g->rows ? g->pair_begins[seq] : g->first[seq] / 2;
    *end = g->rows ? g->pair_begins[seq + 1] : g->first[seq + 1] / 2;
}

void cov_grid_shard(const struct cov_grid *g, size_t index, size_t n, size_t *beg, size_t *end)
{
    /* The first n_pairs % n shards get one pair more. This avoids index * n_pairs, which may
     * overflow. */
    size_t n_pairs = cov_grid_n_pairs(g), each = n_pairs / n, more = n_pairs % n;
    *beg = index * each + (index < more ? index : more);
    *end = *beg + each + (index < more);
}

static int compare_rows(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

int cov_grid_rows_of_pairs(const struct cov_grid *g, size_t beg, size_t end, size_t **rows,
                           size_t *n, struct cov_err *e)
{
    size_t *list = cov_malloc(end > beg ? 2 * (end - beg) : 1, sizeof *list, e), m = 0;
    *rows = NULL;
    *n = 0;
    if (!list)
        return COV_ENOMEM;
    for (size_t p = beg; p < end; p++) {
        struct cov_pair pair = cov_grid_pair(g, p);
        for (int s = COV_PLUS; s <= COV_MINUS; s++)
            if (pair.rows[s] != COV_NO_ROW)
                list[m++] = pair.rows[s];
    }
    qsort(list, m, sizeof *list, compare_rows);
    *rows = list;
    *n = m;
    return COV_OK;
}

/* ---- strands ---- */

int cov_grid_strand_rows(const struct cov_grid *g, size_t seq, bool minus, size_t **rows, size_t *n,
                         struct cov_err *e)
{
    *rows = NULL;
    *n = 0;
    size_t n_rows = chunks_of(g, seq);
    const size_t *order = NULL;
    if (g->rows) {
        size_t group = 2 * seq + minus;
        n_rows = g->begins[group + 1] - g->begins[group];
        order = g->order + g->begins[group];
        int64_t at = 0;
        for (size_t k = 0; k <= n_rows; k++) {
            int64_t beg = k < n_rows ? row_beg(&g->rows[order[k]]) : g->lengths[seq];
            if (beg != at)
                return cov_fail(e, COV_EINPUT, "sequence %s, %c strand: %s at position %lld",
                                cov_grid_name(g, seq), minus ? '-' : '+',
                                beg > at ? "chunks missing" : "chunks overlap",
                                (long long)(beg > at ? at : beg));
            if (k < n_rows)
                at = row_end(&g->rows[order[k]]);
        }
    }
    size_t *list = cov_malloc(n_rows, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    for (size_t k = 0; k < n_rows; k++)
        list[k] = order ? order[k] : g->first[seq] + (minus ? 2 * n_rows - 1 - k : k);
    *rows = list;
    *n = n_rows;
    return COV_OK;
}

/* ---- overlapping windows ---- */

static int64_t last_window(int64_t length, int64_t L, int64_t N)
{
    return length <= L ? 0 : (length - L - 1) / (L - N) + 1;
}

int64_t cov_window_at(int64_t length, int64_t L, int64_t N, int64_t at)
{
    int64_t last = last_window(length, L, N);
    int64_t k = at < N / 2 ? 0 : (at - N / 2) / (L - N);
    return k < last ? k : last;
}

struct cov_window cov_window_number(int64_t length, int64_t L, int64_t N, int64_t k)
{
    struct cov_window w = {.beg = k * (L - N)};
    bool is_last = k == last_window(length, L, N);
    w.end = is_last ? length : w.beg + L;
    w.core_beg = k == 0 ? 0 : w.beg + N / 2;
    w.core_end = is_last ? length : w.beg + L - N + N / 2;
    return w;
}
