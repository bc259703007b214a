/* verify.c - see verify.h.
 *
 * The rows of a pair are fetched one after the other, decoded and compared in the pool, and what was
 * found is printed in the order of the pairs.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/job/chunks/verify_head.h"
#include "common/seq/alphabet.h"
#include "common/store/chunk_file.h"
#include "common/store/chunk_table.h"
#include "common/store/signal_file.h"

/* ---------------------------------------------------------------- findings of a pair */

struct finding {
    size_t place; /* 0: the bases; 1 + k: set k */
    enum cov_finding_kind kind;
    char *text;
};

struct slot {
    struct cov_pair pair;
    struct cov_blob *raw; /* [2][1 + n_sets] */
    bool *has;            /* [2][1 + n_sets]: it was fetched */
    struct finding *findings;
    size_t n_findings, cap;
};

/* What the elements of a set must be. */
enum rule { RULE_NONE, RULE_COVERAGE, RULE_REGIONS, RULE_BLACKLIST };

struct job {
    struct cov_chunk_file *file;
    const struct cov_grid *grid;
    const struct cov_chunk_head *head;
    const char *path, *bases_name;
    enum rule *rules; /* of each set */
    size_t n_places;  /* 1 + number of sets */
    struct cov_findings *findings;
    struct slot *slots;
    size_t n_slots;
    uint8_t *codes; /* [workers][2][L] */
    uint8_t *elems; /* [workers][elem_bytes] */
    size_t elem_bytes;
    struct cov_progress *progress;
};

static int add_text(struct slot *s, size_t place, enum cov_finding_kind kind, const char *text,
                    struct cov_err *e)
{
    int rc = COV_RESERVE(&s->findings, &s->cap, s->n_findings + 1, e);
    char *copy = rc ? NULL : cov_strdup(text, e);
    if (!copy)
        return COV_ENOMEM;
    s->findings[s->n_findings++] = (struct finding){place, kind, copy};
    return COV_OK;
}

static const char *place_name(const struct job *j, size_t place)
{
    return place == 0 ? j->bases_name : j->head->sets[place - 1].name;
}

static int add(const struct job *j, struct slot *s, size_t place, enum cov_finding_kind kind,
               size_t row, struct cov_err *e, const char *format, ...) COV_PRINTF(7, 8);
static int add(const struct job *j, struct slot *s, size_t place, enum cov_finding_kind kind,
               size_t row, struct cov_err *e, const char *format, ...)
{
    char reason[300], where[COV_ROW_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    struct cov_err line = COV_ERR_INIT;
    (void)cov_fail(&line, COV_EINPUT, "%s: %s: %s: %s", j->path, place_name(j, place),
                   cov_row_text(j->grid, row, where), reason);
    return add_text(s, place, kind, line.text, e);
}

/* A failure to fetch or to decode becomes a finding; anything else stays what it is. */
static int add_failure(const struct job *j, struct slot *s, size_t place, size_t row,
                       const struct cov_err *failure, struct cov_err *e)
{
    if (failure->code == COV_ENOMEM)
        return cov_fail(e, COV_ENOMEM, "%s", failure->text);
    size_t n = strlen(j->path);
    bool named = strncmp(failure->text, j->path, n) == 0 && failure->text[n] == ':';
    return strstr(failure->text, ": row ") && named
               ? add_text(s, place, COV_FOUND_DAMAGE, failure->text, e)
               : add(j, s, place, COV_FOUND_DAMAGE, row, e, "%s",
                     failure->text + (named ? n + 2 : 0));
}

/* ---------------------------------------------------------------- what must be true of values */

/* The first of n values that breaks the rule; n if none does. The first n_inside are inside. */
static size_t first_bad(enum rule rule, const struct cov_h5_type *type, const uint8_t *elems,
                        size_t n, size_t n_inside, double *value)
{
    enum { TILE = 512 };
    double tile[TILE];
    for (size_t beg = 0; beg < n; beg += TILE) {
        size_t m = n - beg < TILE ? n - beg : TILE;
        cov_h5_to_double(type, elems + beg * type->bytes, m, tile);
        for (size_t i = 0; i < m; i++) {
            bool fine = rule == RULE_BLACKLIST ? tile[i] == 0 || tile[i] == 1
                        : beg + i < n_inside   ? (tile[i] >= 0 && isfinite(tile[i])) ||
                                                   (rule == RULE_REGIONS && tile[i] == -1)
                                             : tile[i] == -1;
            if (!fine) {
                *value = tile[i];
                return beg + i;
            }
        }
    }
    return n;
}

static int check_values(const struct job *j, struct slot *s, size_t k, size_t row,
                        const uint8_t *elems, struct cov_err *e)
{
    const struct cov_chunk_set *set = &j->head->sets[k];
    size_t n = set->dims[0] * set->dims[1];
    size_t inside = (size_t)(s->pair.end - s->pair.beg);
    double value = 0;
    if (j->rules[k] == RULE_NONE)
        return COV_OK;
    size_t bad = first_bad(j->rules[k], &set->type, elems, n, inside * set->dims[1], &value);
    if (bad == n)
        return COV_OK;
    if (j->rules[k] == RULE_BLACKLIST)
        return add(j, s, 1 + k, COV_FOUND_VALUES, row, e, "%g is neither 0 nor 1", value);
    size_t index = bad / set->dims[1], column = bad % set->dims[1];
    if (index < inside)
        return add(j, s, 1 + k, COV_FOUND_VALUES, row, e, "%g at index %zu, column %zu", value,
                   index, column);
    return add(j, s, 1 + k, COV_FOUND_VALUES, row, e,
               "%g instead of -1 at index %zu, column %zu, behind the end", value, index, column);
}

/* ---------------------------------------------------------------- stages */

static void clear_findings(struct slot *s)
{
    for (size_t i = 0; i < s->n_findings; i++)
        free(s->findings[i].text);
    s->n_findings = 0;
}

static int source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    struct job *j = arg;
    struct slot *s = &j->slots[slot];
    if (n >= cov_grid_n_pairs(j->grid))
        return 0;
    s->pair = cov_grid_pair(j->grid, (size_t)n);
    clear_findings(s);
    for (size_t strand = 0; strand < 2; strand++)
        for (size_t place = 0; place < j->n_places; place++) {
            size_t at = strand * j->n_places + place, row = s->pair.rows[strand];
            size_t k = place - 1; /* not used at place 0 */
            struct cov_err failure = COV_ERR_INIT;
            s->has[at] = false;
            if (row == COV_NO_ROW || (place == 0 && !j->bases_name))
                continue;
            cov_blob_clear(&s->raw[at]);
            int rc = cov_chunk_file_fetch(j->file, row,
                                          (struct cov_chunk_parts){place == 0, &k, place > 0},
                                          &s->raw[at], &failure);
            s->has[at] = rc == COV_OK;
            if (rc)
                rc = add_failure(j, s, place, row, &failure, e);
            if (rc)
                return rc;
        }
    return 1;
}

/* codes[0..L) of a row; *good tells whether they are there. */
static int decode_bases(const struct job *j, struct slot *s, size_t strand, uint8_t *codes,
                        bool *good, struct cov_err *e)
{
    size_t at = strand * j->n_places, row = s->pair.rows[strand];
    *good = false;
    if (!s->has[at])
        return COV_OK;
    struct cov_err failure = COV_ERR_INIT;
    *good = cov_chunk_file_decode(j->file, row, COV_CHUNK_BASES, &s->raw[at], codes, NULL,
                                  &failure) == COV_OK;
    return *good ? COV_OK : add_failure(j, s, 0, row, &failure, e);
}

static int check_strands(const struct job *j, struct slot *s, const uint8_t *plus,
                         const uint8_t *minus, struct cov_err *e)
{
    size_t n = (size_t)(s->pair.end - s->pair.beg);
    for (size_t t = 0; t < n; t++) {
        uint8_t wanted = cov_code_complement[plus[n - 1 - t]];
        if (minus[t] != wanted)
            return add(j, s, 0, COV_FOUND_STRANDS, s->pair.rows[COV_MINUS], e,
                       "%c at index %zu, where the + strand (row %zu) says %c",
                       cov_letter_of_code[minus[t] & 15], t, s->pair.rows[COV_PLUS],
                       cov_letter_of_code[wanted]);
    }
    return COV_OK;
}

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct job *j = arg;
    struct slot *s = &j->slots[slot];
    size_t L = j->head->L;
    uint8_t *codes[2] = {j->codes + 2 * worker * L, j->codes + (2 * worker + 1) * L};
    uint8_t *elems = j->elems + worker * j->elem_bytes;
    bool good[2];
    int rc = COV_OK;
    for (size_t strand = 0; strand < 2 && !rc; strand++)
        rc = decode_bases(j, s, strand, codes[strand], &good[strand], e);
    if (!rc && good[COV_PLUS] && good[COV_MINUS])
        rc = check_strands(j, s, codes[COV_PLUS], codes[COV_MINUS], e);
    for (size_t strand = 0; strand < 2; strand++)
        for (size_t k = 0; k < j->head->n_sets && !rc; k++) {
            size_t at = strand * j->n_places + 1 + k, row = s->pair.rows[strand];
            struct cov_err failure = COV_ERR_INIT;
            if (!s->has[at])
                continue;
            if (cov_chunk_file_decode(j->file, row, (struct cov_chunk_parts){false, &k, 1},
                                      &s->raw[at], NULL, &elems, &failure))
                rc = add_failure(j, s, 1 + k, row, &failure, e);
            else
                rc = check_values(j, s, k, row, elems, e);
        }
    return rc;
}

static int sink(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    struct job *j = arg;
    struct slot *s = &j->slots[slot];
    (void)n;
    int rc = COV_OK;
    for (size_t i = 0; i < s->n_findings && !rc; i++) {
        const struct finding *f = &s->findings[i];
        rc = cov_findings_add(j->findings, place_name(j, f->place), f->kind, f->text, e);
    }
    cov_progress_add(j->progress,
                     (s->pair.rows[0] != COV_NO_ROW) + (s->pair.rows[1] != COV_NO_ROW));
    return rc;
}

/* ---------------------------------------------------------------- the job */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static enum rule rule_of(const struct cov_chunk_head *head, const struct cov_chunk_set *set)
{
    if (set->type.kind == COV_H5_STRING)
        return RULE_NONE;
    if (strcmp(set->name, "data/blacklist") == 0)
        return RULE_BLACKLIST;
    bool is_coverage = strcmp(set->name, "prediction/predictions") == 0 ||
                       (strncmp(set->name, "evaluation/", strlen("evaluation/")) == 0 &&
                        ends_in(set->name, "_coverage"));
    if (!is_coverage || set->dims[0] != head->L)
        return RULE_NONE;
    return cov_chunk_head_attr(head, set->name, COV_SIGNAL_REGIONS_ATTR) ? RULE_REGIONS
                                                                         : RULE_COVERAGE;
}

static int prepare(struct job *j, const struct cov_pool *pool, struct cov_err *e)
{
    size_t n_workers = cov_pool_size(pool), n_codes, n_elems;
    j->elem_bytes = 1;
    for (size_t k = 0; k < j->head->n_sets; k++) {
        size_t bytes = cov_chunk_set_row_bytes(&j->head->sets[k]);
        j->elem_bytes = bytes > j->elem_bytes ? bytes : j->elem_bytes;
    }
    if (cov_size_mul(j->head->L, 2 * n_workers, &n_codes) ||
        cov_size_mul(j->elem_bytes, n_workers, &n_elems))
        return cov_fail(e, COV_ENOMEM, "%s: out of memory: rows too large", j->path);
    j->n_slots = cov_ring_slots(pool);
    j->codes = cov_malloc(j->bases_name ? n_codes : 0, 1, e);
    j->elems = cov_malloc(n_elems, 1, e);
    j->rules = cov_calloc(j->head->n_sets, sizeof *j->rules, e);
    j->slots = cov_calloc(j->n_slots, sizeof *j->slots, e);
    if (!j->codes || !j->elems || !j->rules || !j->slots)
        return COV_ENOMEM;
    for (size_t k = 0; k < j->head->n_sets; k++)
        j->rules[k] = rule_of(j->head, &j->head->sets[k]);
    for (size_t i = 0; i < j->n_slots; i++) {
        j->slots[i].raw = cov_calloc(2 * j->n_places, sizeof(struct cov_blob), e);
        j->slots[i].has = cov_calloc(2 * j->n_places, sizeof(bool), e);
        if (!j->slots[i].raw || !j->slots[i].has)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static void finish(struct job *j)
{
    for (size_t i = 0; j->slots && i < j->n_slots; i++) {
        struct slot *s = &j->slots[i];
        for (size_t at = 0; s->raw && at < 2 * j->n_places; at++)
            cov_blob_fini(&s->raw[at]);
        clear_findings(s);
        free(s->findings);
        free(s->raw);
        free(s->has);
    }
    free(j->slots);
    free(j->rules);
    free(j->codes);
    free(j->elems);
}

int cov_verify(const char *path, struct cov_pool *pool, FILE *out, struct cov_progress *progress,
               struct cov_stats *stats, size_t *n_findings, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {source, work, sink};
    struct cov_findings *findings = NULL;
    struct job j = {.path = path, .progress = progress};
    struct cov_ring_times times = {0, 0, 0, 0};
    *n_findings = 0;
    int rc = cov_chunk_file_open(path, &j.file, e);
    if (rc)
        return rc;
    j.grid = cov_chunk_file_grid(j.file);
    j.head = cov_chunk_file_head(j.file);
    j.bases_name = cov_chunk_file_bases_name(j.file);
    j.n_places = 1 + j.head->n_sets;
    cov_progress_begin(progress, "verifying", "chunks", (int64_t)cov_grid_n_chunks(j.grid));
    rc = cov_findings_new(path, out, &findings, e);
    j.findings = findings;
    if (!rc)
        rc = cov_verify_head(j.head, j.grid, findings, e);
    if (!rc)
        rc = cov_verify_grid(j.grid, findings, e);
    if (!rc)
        rc = prepare(&j, pool, e);
    if (!rc)
        rc = cov_ring_run(pool, j.n_slots, &stages, &j, &times, e);
    cov_progress_end(progress);
    if (findings)
        *n_findings = cov_findings_finish(findings);
    if (!rc && stats) {
        int64_t bases = 0;
        for (size_t i = 0; i < cov_grid_n_chunks(j.grid); i++) {
            struct cov_chunk c = cov_grid_chunk(j.grid, i);
            bases += c.minus ? 0 : c.end - c.beg;
        }
        stats->bases = (stats->bases < 0 ? 0 : stats->bases) + bases;
        stats->chunks =
            (stats->chunks < 0 ? 0 : stats->chunks) + (int64_t)cov_grid_n_chunks(j.grid);
        cov_stats_add_stage(stats, "read", times.source);
        cov_stats_add_stage(stats, "check", times.work);
        cov_stats_add_stage(stats, "wait", times.wait);
    }
    finish(&j);
    cov_chunk_file_close(j.file);
    return rc;
}
