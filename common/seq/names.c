/* names.c - see names.h. The set is a hash table with linear probing, at most half full.
 * SPDX-License-Identifier: MIT */
#include "common/seq/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/textfile.h"
#include "common/seq/fasta.h"

struct cov_names {
    char *text; /* all names, each with a terminating zero */
    size_t n_text, cap_text;
    size_t *ends; /* end of each name in `text`, after its zero */
    size_t n, cap_ends;
    uint64_t *hashes; /* of each name, so that the table can grow without reading `text` */
    size_t cap_hashes;
    size_t *slots;  /* index + 1 of a name; 0: empty */
    size_t n_slots; /* a power of two */
    uint64_t seed;  /* random, so that no file can be crafted to make all names collide */
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

/* Returns the slot that holds the name, or the empty slot where the name belongs. */
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
        return cov_fail(e, COV_ENOMEM, "out of memory: name of %zu bytes", n);
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

/* ---- files of names ---- */

struct target {
    size_t to; /* index in cov_rename.to */
    bool used;
};

struct cov_rename {
    struct cov_names *from, *to;
    struct target *targets; /* of each name in `from` */
    size_t cap;
};

struct line {
    const char *path;
    size_t number;
    const char *p, *end; /* the words not yet read */
};

/* Passes each line of a file to `add`. */
static int read_lines(const char *path, int (*add)(void *, struct line *, struct cov_err *),
                      void *arg, struct cov_err *e)
{
    struct cov_lines *lines = NULL;
    struct line line = {path, 0, NULL, NULL};
    size_t n;
    int rc = cov_lines_open(path, &lines, e);
    while (!rc && (rc = cov_lines_next(lines, &line.p, &n, &line.number, e)) > 0) {
        line.end = line.p + n;
        rc = add(arg, &line, e);
    }
    cov_lines_close(lines);
    return rc;
}

/* Adds a name, which must be new, to a set. */
static int add_unique(struct cov_names *names, const char *name, size_t n, const struct line *line,
                      size_t *index, struct cov_err *e)
{
    bool is_new;
    int rc = cov_names_add(names, name, n, index, &is_new, e);
    if (!rc && !is_new)
        rc = cov_fail(e, COV_EINPUT, "%s:%zu: duplicate name '%s'", line->path, line->number,
                      cov_names_get(names, *index, NULL));
    return rc;
}

static int add_renamed(void *arg, struct line *line, struct cov_err *e)
{
    struct cov_rename *r = arg;
    size_t n_from, n_to, n_more, index = 0, to_index;
    bool is_new;
    const char *beg = line->p, *from = cov_line_word(&line->p, line->end, &n_from);
    if (!from)
        return COV_OK;
    const char *to = cov_line_word(&line->p, line->end, &n_to);
    if (!to || cov_line_word(&line->p, line->end, &n_more))
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected two columns%s", line->path, line->number,
                        cov_line_hint(beg, line->end));
    if (n_to > COV_FASTA_MAX_NAME)
        return cov_fail(e, COV_EINPUT, "%s:%zu: name longer than %d bytes", line->path,
                        line->number, COV_FASTA_MAX_NAME);
    int rc = add_unique(r->from, from, n_from, line, &index, e);
    if (!rc)
        rc = cov_names_add(r->to, to, n_to, &to_index, &is_new, e);
    if (!rc)
        rc = COV_RESERVE(&r->targets, &r->cap, index + 1, e);
    if (!rc)
        r->targets[index] = (struct target){to_index, false};
    return rc;
}

int cov_rename_read(const char *path, struct cov_rename **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_rename *r = cov_calloc(1, sizeof *r, e);
    int rc = r ? cov_names_new(&r->from, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_names_new(&r->to, e);
    if (!rc)
        rc = read_lines(path, add_renamed, r, e);
    if (rc)
        cov_rename_free(r);
    else
        *out = r;
    return rc;
}

void cov_rename_free(struct cov_rename *r)
{
    if (!r)
        return;
    cov_names_free(r->from);
    cov_names_free(r->to);
    free(r->targets);
    free(r);
}

const char *cov_rename_apply(struct cov_rename *r, const char *name, size_t n)
{
    size_t index;
    if (!cov_names_find(r->from, name, n, &index))
        return name;
    r->targets[index].used = true;
    return cov_names_get(r->to, r->targets[index].to, NULL);
}

size_t cov_rename_count(const struct cov_rename *r)
{
    return cov_names_count(r->from);
}

size_t cov_rename_unused(const struct cov_rename *r)
{
    size_t n = 0;
    for (size_t i = 0; i < cov_names_count(r->from); i++)
        n += !r->targets[i].used;
    return n;
}

static int add_size(void *arg, struct line *line, struct cov_err *e)
{
    struct cov_sizes *s = arg;
    size_t n_name, n_length, index = 0;
    int64_t length = 0;
    const char *beg = line->p, *name = cov_line_word(&line->p, line->end, &n_name);
    if (!name)
        return COV_OK;
    const char *text = cov_line_word(&line->p, line->end, &n_length);
    if (!text || !cov_text_position(text, n_length, &length) || length == 0)
        return cov_fail(e, COV_EINPUT, "%s:%zu: expected a name and a length above 0%s", line->path,
                        line->number, cov_line_hint(beg, line->end));
    int rc = add_unique(s->names, name, n_name, line, &index, e);
    if (!rc)
        rc = COV_RESERVE(&s->lengths, &s->cap, index + 1, e);
    if (!rc)
        s->lengths[index] = length;
    return rc;
}

int cov_sizes_read(const char *path, struct cov_sizes *s, struct cov_err *e)
{
    int rc = cov_names_new(&s->names, e);
    return rc ? rc : read_lines(path, add_size, s, e);
}

void cov_sizes_fini(struct cov_sizes *s)
{
    cov_names_free(s->names);
    free(s->lengths);
}
