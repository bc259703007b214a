/* haplotype_reader.c - see haplotype_reader.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/haplotype_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"

/* ---------------------------------------------------------------- groups */

/* A group has the list of its calls. When a record splits a group, those of its haplotypes that come
 * first keep its number and its list. The others get a new number, the largest, and a copy of the list. */

struct cov_call_group {
    struct cov_group_call *calls; /* those of records that were dropped may still be there */
    size_t n, cap;
    /* Of the record that is added: the group of which this one was a part, and what it has. */
    uint32_t parent;
    bool is_used;
    struct cov_call call;
};

int cov_haplotype_groups_new(size_t n_samples, size_t most, struct cov_haplotype_groups **out,
                             struct cov_err *e)
{
    struct cov_haplotype_groups *g = *out = cov_calloc(1, sizeof *g, e);
    if (!g)
        return COV_ENOMEM;
    g->n_samples = n_samples;
    g->most = most;
    return COV_OK;
}

void cov_haplotype_groups_free(struct cov_haplotype_groups *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++)
        free(g->groups[i].calls);
    free(g->groups);
    free(g->group_of);
    free(g->calls);
    free(g->slots);
    free(g);
}

/* ---------------------------------------------------------------- memory */

static size_t bytes_of(const struct cov_haplotype_groups *g)
{
    return g->n_items * (sizeof *g->calls + sizeof *g->group_of) + g->n * sizeof *g->groups +
           g->n_cap_calls * sizeof(struct cov_group_call);
}

static int fail_large(size_t most, struct cov_err *e)
{
    enum { MB_SHIFT = 20 };
    return cov_fail(e, COV_EINPUT,
                    "the genotypes of the records in a window need more than %zu MiB; use fewer "
                    "--samples or a smaller --window",
                    most >> MB_SHIFT);
}

static int reserve_calls(struct cov_haplotype_groups *g, struct cov_call_group *to, size_t n,
                         struct cov_err *e)
{
    const size_t cap = to->cap;
    int rc = COV_RESERVE(&to->calls, &to->cap, n, e);
    if (!rc)
        g->n_cap_calls += to->cap - cap;
    return !rc && bytes_of(g) > g->most ? fail_large(g->most, e) : rc;
}

/* Empties the hash table, which gets room for n groups. */
static int clear_slots(struct cov_haplotype_groups *g, size_t n, struct cov_err *e)
{
    size_t n_slots = g->n_slots ? g->n_slots : 16;
    while (n_slots < 2 * n)
        n_slots *= 2;
    if (n_slots > g->n_slots) {
        free(g->slots);
        g->n_slots = 0;
        g->slots = cov_malloc(n_slots, sizeof *g->slots, e);
        if (!g->slots)
            return COV_ENOMEM;
        g->n_slots = n_slots;
    }
    memset(g->slots, 0, g->n_slots * sizeof *g->slots);
    return COV_OK;
}

static uint64_t mix_hash(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t mix_call(uint64_t hash, const struct cov_call *c)
{
    return mix_hash(mix_hash(hash, (uint64_t)(uint32_t)c->set << 1 ^ c->equal),
                    (uint32_t)c->allele);
}

static bool same(const struct cov_call *a, const struct cov_call *b)
{
    return a->allele == b->allele && a->set == b->set && a->equal == b->equal;
}

/* ---------------------------------------------------------------- adding */

static uint32_t *slot_with(const struct cov_haplotype_groups *g, uint32_t parent,
                           const struct cov_call *call)
{
    size_t i = (size_t)mix_call(parent, call) & (g->n_slots - 1);
    for (; g->slots[i]; i = (i + 1) & (g->n_slots - 1)) {
        const struct cov_call_group *found = &g->groups[g->slots[i] - 1];
        if (found->parent == parent && same(&found->call, call))
            break;
    }
    return &g->slots[i];
}

/* Sets *group, of a haplotype, to the group of those of it that have this call. */
static int split_group(struct cov_haplotype_groups *g, uint32_t *group, const struct cov_call *call,
                       struct cov_err *e)
{
    uint32_t *slot = slot_with(g, *group, call);
    if (*slot) {
        *group = *slot - 1;
        return COV_OK;
    }
    size_t new = *group;
    if (g->groups[*group].is_used) {
        int rc = COV_RESERVE(&g->groups, &g->cap, g->n + 1, e);
        if (rc)
            return rc;
        new = g->n++;
        g->groups[new] = (struct cov_call_group){.n = 0};
    }
    struct cov_call_group *to = &g->groups[new];
    to->parent = *group;
    to->call = *call;
    to->is_used = true;
    *slot = (uint32_t) new + 1;
    *group = (uint32_t) new;
    if (2 * g->n <= g->n_slots)
        return COV_OK;
    int rc = clear_slots(g, 2 * g->n, e);
    for (size_t i = 0; !rc && i < g->n; i++)
        if (g->groups[i].is_used)
            *slot_with(g, g->groups[i].parent, &g->groups[i].call) = (uint32_t)i + 1;
    return rc;
}

/* Gives a new group the calls of the one that it was a part of. */
static int copy_list(struct cov_haplotype_groups *g, uint32_t group, struct cov_err *e)
{
    struct cov_call_group *to = &g->groups[group];
    size_t n;
    const struct cov_group_call *calls = cov_haplotype_groups_list(g, to->parent, &n);
    int rc = reserve_calls(g, to, n, e);
    if (!rc && n > 0)
        memcpy(to->calls, calls, n * sizeof *calls);
    to->n = rc ? 0 : n;
    return rc;
}

int cov_haplotype_groups_add(struct cov_haplotype_groups *g, struct cov_err *e)
{
    const size_t n_old = g->n;
    int rc = clear_slots(g, g->n, e);
    for (size_t i = 0; i < g->n; i++)
        g->groups[i].is_used = false;
    for (size_t i = 0; !rc && i < g->n_items; i++)
        rc = split_group(g, &g->group_of[i], &g->calls[i], e);
    for (size_t i = n_old; !rc && i < g->n; i++)
        rc = copy_list(g, (uint32_t)i, e);
    for (size_t i = 0; !rc && i < g->n; i++) {
        struct cov_call_group *to = &g->groups[i];
        if (to->call.allele <= 0)
            continue;
        rc = reserve_calls(g, to, to->n + 1, e);
        if (!rc)
            to->calls[to->n++] = (struct cov_group_call){g->end, to->call};
    }
    g->end++;
    return rc;
}

int cov_haplotype_groups_calls(struct cov_haplotype_groups *g, size_t n_copies,
                               struct cov_call **calls, struct cov_err *e)
{
    const size_t n = g->n_items;
    if (n_copies > g->n_copies) {
        size_t n_items, bytes;
        if (cov_size_mul(n_copies, g->n_samples, &n_items) || n_items >= UINT32_MAX ||
            cov_size_mul(n_items, sizeof **calls, &bytes) || bytes > g->most)
            return fail_large(g->most, e);
        if (COV_RESERVE(&g->calls, &g->cap_calls, n_items, e) ||
            COV_RESERVE(&g->group_of, &g->cap_group_of, n_items, e) ||
            COV_RESERVE(&g->groups, &g->cap, g->n + 1, e))
            return COV_ENOMEM;
        for (size_t i = n; i < n_items; i++)
            g->group_of[i] = (uint32_t)g->n;
        if (n_items > n)
            g->groups[g->n++] = (struct cov_call_group){.n = 0};
        g->n_copies = n_copies;
        g->n_items = n_items;
    }
    if (g->calls)
        memset(g->calls, 0, g->n_items * sizeof *g->calls);
    *calls = g->calls;
    return COV_OK;
}

/* ---------------------------------------------------------------- dropping */

/* Deletes calls of records that were dropped, and numbers the others from 0. */
static void trim(struct cov_haplotype_groups *g, struct cov_call_group *of, uint32_t group)
{
    size_t n;
    const struct cov_group_call *kept = cov_haplotype_groups_list(g, group, &n);
    if (n > 0)
        memmove(of->calls, kept, n * sizeof *kept);
    of->n = n;
    for (size_t i = 0; i < n; i++)
        of->calls[i].record -= g->first;
    if (n > of->cap / 2)
        return;
    struct cov_group_call *less = n > 0 ? cov_realloc(of->calls, n, sizeof *less, NULL) : NULL;
    if (n == 0)
        free(of->calls);
    else if (!less)
        return;
    g->n_cap_calls -= of->cap - n;
    of->calls = less;
    of->cap = n;
}

static bool same_lists(const struct cov_call_group *a, const struct cov_call_group *b)
{
    bool equal = a->n == b->n;
    for (size_t i = 0; equal && i < a->n; i++)
        equal =
            a->calls[i].record == b->calls[i].record && same(&a->calls[i].call, &b->calls[i].call);
    return equal;
}

/* Merges groups that are the same in all records. */
static int merge(struct cov_haplotype_groups *g, struct cov_err *e)
{
    size_t n = 0;
    uint32_t *new_of = cov_malloc(g->n, sizeof *new_of, e);
    int rc = new_of ? clear_slots(g, g->n, e) : COV_ENOMEM;
    for (size_t k = 0; !rc && k < g->n; k++) {
        struct cov_call_group *of = &g->groups[k];
        uint64_t hash = 0;
        trim(g, of, (uint32_t)k);
        for (size_t i = 0; i < of->n; i++)
            hash = mix_call(mix_hash(hash, of->calls[i].record), &of->calls[i].call);
        size_t i = (size_t)hash & (g->n_slots - 1);
        while (g->slots[i] && !same_lists(&g->groups[g->slots[i] - 1], of))
            i = (i + 1) & (g->n_slots - 1);
        if (!g->slots[i]) {
            g->groups[n] = *of;
            g->slots[i] = (uint32_t)++n;
        } else {
            g->n_cap_calls -= of->cap;
            free(of->calls);
        }
        new_of[k] = g->slots[i] - 1;
    }
    for (size_t i = 0; !rc && i < g->n_items; i++)
        g->group_of[i] = new_of[g->group_of[i]];
    free(new_of);
    if (!rc) {
        g->n = n;
        g->end -= g->first;
        g->first = 0;
    }
    return rc;
}

int cov_haplotype_groups_drop(struct cov_haplotype_groups *g, size_t n, struct cov_err *e)
{
    /* More bytes than that after merging would make it necessary again and again. */
    const size_t many = g->most - g->most / 4;
    g->first += (uint32_t)n;
    if (g->first <= g->end - g->first && (g->first == 0 || bytes_of(g) <= many))
        return COV_OK;
    int rc = merge(g, e);
    return !rc && bytes_of(g) > many ? fail_large(many, e) : rc;
}

/* ---------------------------------------------------------------- reading */

/* Returns the place of the first call of a group in a record >= `record`. */
static size_t lower_bound(const struct cov_call_group *of, uint32_t record)
{
    size_t low = 0, high = of->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (of->calls[mid].record < record)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct cov_group_call *cov_haplotype_groups_list(const struct cov_haplotype_groups *g,
                                                       uint32_t group, size_t *n)
{
    const struct cov_call_group *of = &g->groups[group];
    const size_t from = lower_bound(of, g->first);
    *n = of->n - from;
    return *n > 0 ? of->calls + from : NULL;
}

const struct cov_call *cov_haplotype_groups_find(const struct cov_haplotype_groups *g,
                                                 uint32_t group, uint32_t record)
{
    const struct cov_call_group *of = &g->groups[group];
    const size_t at = lower_bound(of, record);
    return at < of->n && of->calls[at].record == record ? &of->calls[at].call : NULL;
}

/* ---------------------------------------------------------------- the reader */

/* Memory for the rows of a record, for the alleles of the records in a window, and for their genotypes: in
 * proportion to the file, since it must not depend on how well a file compresses. */
enum { MAX_RATIO = 16, LEAST_MB = 16, MOST_MB = 256, MB_SHIFT = 20 };
enum { MAX_NAME = 255, GROUPS_RATIO = 4 };

static void release_record(struct cov_haplotype_record *n)
{
    free(n->changes);
    free(n->codes);
}

void cov_haplotype_reader_close(struct cov_haplotype_reader *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        release_record(&r->records[r->first + i]);
    free(r->records);
    cov_haplotype_groups_free(r->groups);
    free(r->ref);
    free(r->is_used);
    free(r->is_seen);
    cov_genotypes_fini(&r->genotypes);
    cov_alleles_fini(&r->alleles);
    cov_variant_fini(&r->record);
    cov_variants_close(r->in);
    free(r);
}

const struct cov_haplotype_record *cov_haplotype_reader_record(const struct cov_haplotype_reader *r,
                                                               size_t i)
{
    return &r->records[r->first + i];
}

/* Returns the change that an allele makes. Its `codes` index those of r->alleles. */
static struct cov_haplotype_change change_of(const struct cov_haplotype_reader *r,
                                             const struct cov_allele *a)
{
    const uint8_t *alt = r->alleles.codes + a->codes, *ref = r->ref;
    size_t first = 0, n_old = a->n_ref, n_new = a->n;
    if (!a->has_codes || (a->status != COV_ALLELE_SCORED && a->status != COV_ALLELE_LONG &&
                          a->status != COV_ALLELE_END))
        return (struct cov_haplotype_change){.valid = false};
    for (; n_old > 0 && n_new > 0 && ref[first] == alt[first]; n_old--, n_new--)
        first++;
    while (n_old > 0 && n_new > 0 && ref[first + n_old - 1] == alt[first + n_new - 1]) {
        n_old--;
        n_new--;
    }
    return (struct cov_haplotype_change){r->record.pos + (int64_t)first, n_old, a->codes + first,
                                         n_new, true};
}

/* Sets the changes of the alleles that have bases. */
static int add_changes(struct cov_haplotype_reader *r, struct cov_haplotype_record *to,
                       struct cov_err *e)
{
    const struct cov_alleles *p = &r->alleles;
    size_t n_codes = 0, n_ref = p->n_ref;
    for (size_t i = 0; i < p->n_alleles; i++)
        n_ref = p->items[i].has_codes && p->items[i].n_ref > n_ref ? p->items[i].n_ref : n_ref;
    int rc = COV_RESERVE(&r->ref, &r->cap_ref, n_ref, e);
    if (!rc)
        rc = cov_genome_codes(r->g->genome, p->seq, to->pos, to->pos + (int64_t)n_ref, r->ref, e);
    to->changes = rc ? NULL : cov_malloc(p->n_alleles, sizeof *to->changes, e);
    if (!to->changes)
        return rc ? rc : COV_ENOMEM;
    for (size_t i = 0; i < p->n_alleles; i++) {
        to->changes[i] = change_of(r, &p->items[i]);
        n_codes += to->changes[i].n_new;
    }
    to->codes = cov_malloc(n_codes, 1, e);
    if (!to->codes)
        return COV_ENOMEM;
    uint8_t *end = to->codes;
    for (size_t i = 0; i < p->n_alleles; i++) {
        memcpy(end, p->codes + to->changes[i].codes, to->changes[i].n_new);
        to->changes[i].codes = (size_t)(end - to->codes);
        end += to->changes[i].n_new;
    }
    to->n_bytes = sizeof *to + p->n_alleles * sizeof *to->changes + n_codes;
    r->n_bytes += to->n_bytes;
    return r->n_bytes <= r->most
               ? COV_OK
               : cov_variants_fail(
                     r->in, e,
                     "the alleles of the records in a window need more than %zu MiB; remove "
                     "duplicate records, or use a smaller --window",
                     r->most >> MB_SHIFT);
}

/* Adds the place of the record that was read last to a failure. */
static int fail_groups(const struct cov_haplotype_reader *r, struct cov_err *e)
{
    struct cov_err place = COV_ERR_INIT;
    (void)cov_variants_fail(r->in, &place, "%s", e ? e->text : "");
    if (e && e->code == COV_EINPUT)
        *e = place;
    return e ? e->code : COV_EINPUT;
}

/* Adds the genotypes of the record; `keep`: to the groups. */
static int add_calls(struct cov_haplotype_reader *r, bool keep, struct cov_err *e)
{
    const struct cov_genotypes *g = &r->genotypes;
    int rc = cov_variants_genotypes(r->in, &r->record, &r->genotypes, e);
    if (rc)
        return rc;
    struct cov_call *calls = NULL;
    if (keep)
        rc = cov_haplotype_groups_calls(r->groups, g->ploidy, &calls, e);
    if (rc)
        return fail_groups(r, e);
    for (size_t s = 0; s < g->n_samples && g->ploidy > 0; s++) {
        int32_t set;
        const enum cov_phase phase = cov_genotypes_phase(g, s, &set);
        bool has_alt = false;
        if (!r->is_used[s])
            continue;
        for (size_t k = 0; k < g->ploidy; k++) {
            const int32_t allele = cov_genotypes_allele(g, s, k);
            if (allele <= 0)
                continue;
            has_alt = true;
            if (calls && phase != COV_PHASE_NONE)
                calls[k * g->n_samples + s] =
                    (struct cov_call){allele, set, phase == COV_PHASE_EQUAL};
        }
        *(phase == COV_PHASE_NONE ? &r->n_unphased : &r->n_phased) += has_alt;
        r->has_sets = r->has_sets || (set > 0 && phase != COV_PHASE_NONE);
    }
    return keep && cov_haplotype_groups_add(r->groups, e) ? fail_groups(r, e) : COV_OK;
}

/* Fails unless the record that was read last may come after those before it. */
static int check_order(struct cov_haplotype_reader *r, struct cov_err *e)
{
    const struct cov_variant *v = &r->record;
    size_t seq = SIZE_MAX;
    (void)cov_names_find(r->g->names, v->contig, strlen(v->contig), &seq);
    const bool sorted = seq == SIZE_MAX || (seq == r->seq ? v->pos >= r->pos : !r->is_seen[seq]);
    if (seq != SIZE_MAX)
        r->is_seen[seq] = true;
    r->seq = seq;
    r->pos = v->pos;
    r->number = v->number;
    return sorted ? COV_OK
                  : cov_variants_fail(r->in, e,
                                      "not sorted, as --haplotypes needs it: %.100s:%" PRId64
                                      " after a later position",
                                      v->contig, v->pos + 1);
}

/* Reads a record; `keep`: and adds it to r->records if it can be in haplotypes. */
static int read_ahead(struct cov_haplotype_reader *r, bool keep, struct cov_err *e)
{
    const int got = cov_variants_next(r->in, &r->record, e);
    r->at_end = got == 0;
    if (got <= 0)
        return got;
    int rc = check_order(r, e);
    if (!rc)
        rc = cov_alleles_find(&r->alleles, r->g, r->L, 1, &r->record, e);
    if (rc || r->alleles.status != COV_ALLELE_SCORED)
        return rc;
    struct cov_haplotype_record new = {
        r->number, r->pos, r->seq, r->alleles.n_ref, r->alleles.n_alleles, NULL, NULL, 0};
    const size_t n = r->first + r->n;
    if (keep)
        rc = COV_RESERVE(&r->records, &r->cap, n + 1, e);
    if (!rc && keep)
        rc = add_changes(r, &new, e);
    if (!rc)
        rc = add_calls(r, keep, e);
    if (rc || !keep)
        release_record(&new);
    else
        r->records[n] = new;
    r->n += !rc && keep;
    return rc;
}

int cov_haplotype_reader_until(struct cov_haplotype_reader *r, size_t seq, int64_t pos,
                               int64_t number, struct cov_err *e)
{
    int rc = COV_OK;
    while (!rc && !r->at_end &&
           (r->number < number || (r->seq == seq ? r->pos < pos : !r->is_seen[seq])))
        rc = read_ahead(r, true, e);
    return rc;
}

int cov_haplotype_reader_drop(struct cov_haplotype_reader *r, size_t seq, int64_t beg,
                              int64_t number, struct cov_err *e)
{
    size_t n = 0;
    for (; n < r->n; n++) {
        struct cov_haplotype_record *old = &r->records[r->first + n];
        if (old->number >= number || (old->seq == seq && old->pos >= beg))
            break;
        r->n_bytes -= old->n_bytes;
        release_record(old);
    }
    r->first += n;
    r->n -= n;
    if (r->first > r->n) {
        memmove(r->records, cov_haplotype_reader_record(r, 0), r->n * sizeof *r->records);
        r->first = 0;
    }
    int rc = cov_haplotype_groups_drop(r->groups, n, e);
    return rc ? cov_err_prefix(e, rc, "%s: record %" PRId64, cov_variants_name(r->in), number)
              : COV_OK;
}

/* ---------------------------------------------------------------- opening */

static int choose_samples(struct cov_haplotype_reader *r, const struct cov_strings *samples,
                          struct cov_err *e)
{
    const size_t n_all = cov_variants_n_samples(r->in);
    if (n_all == 0)
        return cov_fail(e, COV_EINPUT, "%s: no samples, whose genotypes --haplotypes needs",
                        cov_variants_name(r->in));
    r->is_used = cov_calloc(n_all, sizeof *r->is_used, e);
    if (!r->is_used)
        return COV_ENOMEM;
    for (size_t s = 0; s < n_all; s++) {
        if (strlen(cov_variants_sample(r->in, s)) > MAX_NAME)
            return cov_fail(e, COV_EINPUT, "%s: the name of sample %zu is longer than %d bytes",
                            cov_variants_name(r->in), s + 1, MAX_NAME);
        r->is_used[s] = samples->n == 0;
    }
    for (size_t i = 0; i < samples->n; i++) {
        size_t s = 0;
        while (s < n_all && strcmp(samples->items[i], cov_variants_sample(r->in, s)) != 0)
            s++;
        if (s == n_all)
            return cov_fail(e, COV_EINPUT, "--samples: %s does not have '%.100s'",
                            cov_variants_name(r->in), samples->items[i]);
        r->is_used[s] = true;
    }
    return COV_OK;
}

static int open_once(const struct cov_effect_options *o, const struct cov_effect_genome *g,
                     struct cov_haplotype_reader **out, struct cov_err *e)
{
    struct cov_haplotype_reader *r = *out = cov_calloc(1, sizeof *r, e);
    struct stat st;
    if (!r)
        return COV_ENOMEM;
    const int64_t bytes =
        stat(o->input, &st) == 0 ? (int64_t)st.st_size * MAX_RATIO >> MB_SHIFT : 0;
    r->most = (size_t)(bytes < LEAST_MB ? LEAST_MB : bytes > MOST_MB ? MOST_MB : bytes) << MB_SHIFT;
    r->g = g;
    r->L = o->window;
    r->seq = SIZE_MAX;
    r->is_seen = cov_calloc(g->genome->n_seqs, sizeof *r->is_seen, e);
    int rc = r->is_seen ? cov_variant_init(&r->record, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_variants_open(o->input, NULL, true, &r->in, e);
    if (!rc)
        rc = choose_samples(r, &o->samples, e);
    return rc ? rc
              : cov_haplotype_groups_new(cov_variants_n_samples(r->in), GROUPS_RATIO * r->most,
                                         &r->groups, e);
}

/* Warns of genotypes that are in no haplotype, or contradict themselves. */
static void warn_genotypes(const struct cov_haplotype_reader *r)
{
    const char *name = cov_variants_name(r->in);
    const int64_t n_signs = cov_variants_n_signs(r->in);
    if (n_signs > 0)
        cov_warn("%s: genotypes with another phase sign before the first allele than after it "
                 "(%" PRId64 "); the first sign does not count",
                 name, n_signs);
    if (r->n_phased == 0 && r->number > 0)
        cov_warn("%s: no phased genotype (0|1) has an allele of ALT, so that --haplotypes has no "
                 "effect; not phased: %" PRId64,
                 name, r->n_unphased);
    else if (r->n_unphased > 0)
        cov_warn("%s: genotypes that are not phased (0/1) are in no haplotype (%" PRId64
                 " of %" PRId64 " with an allele of ALT)",
                 name, r->n_unphased, r->n_unphased + r->n_phased);
}

int cov_haplotype_reader_open(const struct cov_effect_options *options,
                              const struct cov_effect_genome *g, struct cov_haplotype_reader **out,
                              struct cov_err *e)
{
    struct cov_haplotype_reader *check = NULL;
    *out = NULL;
    int rc = open_once(options, g, &check, e);
    while (!rc && !check->at_end)
        rc = read_ahead(check, false, e);
    if (!rc)
        warn_genotypes(check);
    cov_haplotype_reader_close(check);
    if (!rc)
        rc = open_once(options, g, out, e);
    if (rc) {
        cov_haplotype_reader_close(*out);
        *out = NULL;
    }
    return rc;
}
