/* mates.c - see mates.h. The table is a hash table with linear probing, at most 3/4 full, without
 * names: two mates are the same if the 64-bit hashes of their names and places are.
 * SPDX-License-Identifier: MIT */
#include "common/features/mates.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/fingerprint.h"
#include "common/base/mem.h"

enum { FIRST_SLOTS = 1 << 10 };

struct cov_mate {
    uint64_t key; /* 0: an empty slot */
    int64_t last; /* the place of the right mate, with all contigs laid end to end */
};

void cov_mates_fini(struct cov_mates *m)
{
    free(m->table);
    *m = (struct cov_mates){.sorted = m->sorted};
}

/* Returns the key of the left or right mate of a pair. */
static uint64_t key_of(const struct cov_read *r, bool right)
{
    int64_t low = r->pos < r->mate_pos ? r->pos : r->mate_pos;
    int64_t place[] = {r->contig, low, r->pos + r->mate_pos - low, right};
    uint64_t key =
        cov_fingerprint(cov_fingerprint(0, place, sizeof place), r->name, strlen(r->name));
    return key ? key : 1;
}

static size_t slot_of(const struct cov_mates *m, uint64_t key)
{
    size_t slot = key & (m->n_slots - 1);
    while (m->table[slot].key && m->table[slot].key != key)
        slot = (slot + 1) & (m->n_slots - 1);
    return slot;
}

/* Clears a slot, and moves the mates after it to where they are found. */
static void clear(struct cov_mates *m, size_t slot)
{
    m->table[slot].key = 0;
    m->n--;
    for (size_t i = (slot + 1) & (m->n_slots - 1); m->table[i].key;
         i = (i + 1) & (m->n_slots - 1)) {
        struct cov_mate moved = m->table[i];
        m->table[i].key = 0;
        m->table[slot_of(m, moved.key)] = moved;
    }
}

/* Makes room for one more mate, whose place is `at`: drops those that the reads have passed; the
 * table is then at most 3/8 full. */
static int make_room(struct cov_mates *m, int64_t at, struct cov_err *e)
{
    struct cov_mates old = *m;
    m->n = 0;
    for (size_t i = 0; i < old.n_slots; i++) {
        struct cov_mate *x = &old.table[i];
        if (m->sorted && x->last < at)
            x->key = 0;
        m->n += x->key != 0;
    }
    for (m->n_slots = FIRST_SLOTS; m->n_slots / 8 * 3 <= m->n;)
        m->n_slots *= 2;
    m->table = cov_calloc(m->n_slots, sizeof *m->table, e);
    if (!m->table) {
        *m = old;
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.table[i].key)
            m->table[slot_of(m, old.table[i].key)] = old.table[i];
    free(old.table);
    return COV_OK;
}

int cov_mates_meet(struct cov_mates *m, const struct cov_read *r, int64_t beg, bool *met,
                   struct cov_err *e)
{
    bool right = r->template_length < 0;
    size_t slot = m->n_slots ? slot_of(m, key_of(r, !right)) : 0;
    *met = m->n_slots && m->table[slot].key;
    if (*met) {
        clear(m, slot);
        return COV_OK;
    }
    int rc = m->n >= m->n_slots / 4 * 3 ? make_room(m, beg + r->pos, e) : COV_OK;
    if (rc)
        return rc;
    int64_t last = r->pos > r->mate_pos ? r->pos : r->mate_pos;
    uint64_t key = key_of(r, right);
    slot = slot_of(m, key);
    m->n += m->table[slot].key == 0;
    m->table[slot] = (struct cov_mate){key, beg + last};
    return COV_OK;
}
