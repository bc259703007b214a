/* names.c - see names.h. Open addressing, linear probing, at most half full.
 * SPDX-License-Identifier: MIT */
#include "common/seq/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/mem.h"

struct cov_names {
    char *text; /* all names, a zero behind each */
    size_t n_text, cap_text;
    size_t *ends; /* of each name in text, behind its zero */
    size_t n, cap_ends;
    uint64_t *hashes; /* of each name, so that the table grows without reading text */
    size_t cap_hashes;
    size_t *slots;  /* number + 1; 0: empty */
    size_t n_slots; /* a power of two */
    uint64_t seed;  /* so that no file can be prepared whose names meet in one slot */
};

int cov_names_new(struct cov_names **out, struct cov_err *e)
{
    struct cov_names *s = cov_calloc(1, sizeof *s, e);
    if (!s)
        return COV_ENOMEM;
    s->n_slots = 64;
    s->slots = cov_calloc(s->n_slots, sizeof *s->slots, e);
    if (!s->slots) {
        free(s);
        return COV_ENOMEM;
    }
    if (getrandom(&s->seed, sizeof s->seed, GRND_NONBLOCK) != (ssize_t)sizeof s->seed)
        s->seed = (uint64_t)(uintptr_t)s->slots;
    *out = s;
    return COV_OK;
}

void cov_names_free(struct cov_names *s)
{
    if (!s)
        return;
    free(s->text);
    free(s->ends);
    free(s->hashes);
    free(s->slots);
    free(s);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    return x ^ x >> 32;
}

static uint64_t hash_of(const struct cov_names *s, const char *name, size_t n)
{
    uint64_t h = s->seed ^ n;
    uint64_t word;
    for (; n >= sizeof word; n -= sizeof word, name += sizeof word) {
        memcpy(&word, name, sizeof word);
        h = mix(h ^ word);
    }
    word = 0;
    memcpy(&word, name, n);
    return mix(h ^ word);
}

const char *cov_names_get(const struct cov_names *s, size_t i, size_t *n)
{
    size_t beg = i ? s->ends[i - 1] : 0;
    if (n)
        *n = s->ends[i] - beg - 1;
    return s->text + beg;
}

/* The slot that holds the name, or the empty one where it belongs. */
static size_t slot_of(const struct cov_names *s, uint64_t hash, const char *name, size_t n)
{
    size_t slot = hash & (s->n_slots - 1);
    for (; s->slots[slot]; slot = (slot + 1) & (s->n_slots - 1)) {
        size_t i = s->slots[slot] - 1, n_other;
        if (s->hashes[i] != hash)
            continue;
        const char *other = cov_names_get(s, i, &n_other);
        if (n_other == n && memcmp(other, name, n) == 0)
            break;
    }
    return slot;
}

static int grow(struct cov_names *s, struct cov_err *e)
{
    size_t n_slots;
    if (cov_size_mul(s->n_slots, 2, &n_slots))
        return cov_fail(e, COV_ENOMEM, "out of memory: too many names");
    size_t *slots = cov_calloc(n_slots, sizeof *slots, e);
    if (!slots)
        return COV_ENOMEM;
    for (size_t i = 0; i < s->n; i++) {
        size_t slot = s->hashes[i] & (n_slots - 1);
        while (slots[slot])
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = i + 1;
    }
    free(s->slots);
    s->slots = slots;
    s->n_slots = n_slots;
    return COV_OK;
}

/* Makes room for one more name, whose text will end at `end`. */
static int reserve(struct cov_names *s, size_t end, struct cov_err *e)
{
    int rc = COV_RESERVE(&s->text, &s->cap_text, end, e);
    if (!rc)
        rc = COV_RESERVE(&s->ends, &s->cap_ends, s->n + 1, e);
    if (!rc)
        rc = COV_RESERVE(&s->hashes, &s->cap_hashes, s->n + 1, e);
    return rc;
}

int cov_names_add(struct cov_names *s, const char *name, size_t n, size_t *index, bool *is_new,
                  struct cov_err *e)
{
    uint64_t hash = hash_of(s, name, n);
    size_t slot = slot_of(s, hash, name, n);
    *is_new = s->slots[slot] == 0;
    if (!*is_new) {
        *index = s->slots[slot] - 1;
        return COV_OK;
    }
    if (s->n + 1 > s->n_slots / 2) {
        int rc = grow(s, e);
        if (rc)
            return rc;
        slot = slot_of(s, hash, name, n);
    }
    size_t end;
    if (cov_size_add(s->n_text, n, &end) || cov_size_add(end, 1, &end))
        return cov_fail(e, COV_ENOMEM, "out of memory: a name of %zu bytes", n);
    int rc = reserve(s, end, e);
    if (rc)
        return rc;
    memcpy(s->text + s->n_text, name, n);
    s->text[end - 1] = '\0';
    s->n_text = end;
    s->ends[s->n] = end;
    s->hashes[s->n] = hash;
    *index = s->n++;
    s->slots[slot] = s->n;
    return COV_OK;
}

bool cov_names_find(const struct cov_names *s, const char *name, size_t n, size_t *index)
{
    size_t slot = slot_of(s, hash_of(s, name, n), name, n);
    if (!s->slots[slot])
        return false;
    *index = s->slots[slot] - 1;
    return true;
}

size_t cov_names_count(const struct cov_names *s)
{
    return s->n;
}
