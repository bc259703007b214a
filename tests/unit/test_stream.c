/* test_stream.c - the chunk stream: round trips, and truncated or damaged streams.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/base/rng.h"
#include "common/chunk/stream.h"
#include "common/seq/alphabet.h"
#include "common/seq/grid.h"
#include "tests/lib/own_dir.h"
#include "tests/lib/same_sets.h"
#include "tests/lib/stream_bytes.h"

/* ---------------------------------------------------------------- synthetic genomes */

enum { MAX_SETS = 4 };

struct row {
    struct cov_stream_pair pair;
    uint8_t *codes[2], *elems[2][MAX_SETS];
};

struct sequence {
    char species[16], name[32];
    int64_t length;
    struct row *rows;
    size_t n_rows;
};

struct genome {
    struct cov_chunk_head head;
    bool partial;
    struct sequence *seqs;
    size_t n_seqs;
};

static struct cov_rng rng;

static size_t below(size_t n)
{
    return (size_t)cov_rng_below(&rng, n);
}

static void make_head(struct cov_chunk_head *head, size_t L)
{
    static const struct cov_h5_type types[] = {
        {.kind = COV_H5_INT, .bytes = 1},
        {.kind = COV_H5_INT, .bytes = 8, .is_signed = true},
        {.kind = COV_H5_FLOAT, .bytes = 4},
        {.kind = COV_H5_STRING, .bytes = 3, .padding = ' '},
        {.kind = COV_H5_INT, .bytes = 4, .is_signed = true},
        {.kind = COV_H5_BOOL, .bytes = 1},
    };
    memset(head, 0, sizeof *head);
    head->L = L;
    head->has_bases = below(4) > 0;
    size_t n_sets = below(MAX_SETS + 1);
    for (size_t k = 0; k < n_sets; k++) {
        uint8_t fill[8];
        for (int i = 0; i < 8; i++)
            fill[i] = (uint8_t)(below(2) ? 0xff : below(256));
        char name[48];
        (void)snprintf(name, sizeof name, "evaluation/set_%zu", k);
        struct cov_chunk_set set = {.name = name, .rank = 1 + (int)below(3), .fill = fill};
        set.type = types[below(COV_COUNT(types))];
        set.dims[0] = set.rank < 2 ? 1 : below(4) ? L : 1 + below(2 * L);
        set.dims[1] = set.rank < 3 ? 1 : 1 + below(3);
        assert_ok(cov_chunk_head_add_set(head, &set, &e));
    }
    const char *const texts[] = {"atacseq", "h3k4me3", ""};
    for (size_t i = 0; i < below(3); i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "prediction/table_%zu", i);
        assert_ok(cov_chunk_head_add_texts(head, name, 8, below(4), texts, &e));
    }
    if (below(2))
        assert_ok(cov_chunk_head_add_attr(head, NULL, "model_md5sum", "", &e));
    if (n_sets > 0)
        assert_ok(cov_chunk_head_add_attr(head, head->sets[0].name, "unit", "x y", &e));
}

static void make_codes(const struct genome *g, struct row *r)
{
    size_t L = g->head.L, n = (size_t)(r->pair.end - r->pair.beg);
    for (int s = 0; s < 2; s++)
        r->codes[s] = unit_zeros(L);
    for (size_t i = 0; i < n; i++)
        r->codes[COV_PLUS][i] = (uint8_t)(below(8) ? 1U << below(4) : 1 + below(15));
    memcpy(r->codes[COV_MINUS], r->codes[COV_PLUS], n);
    cov_codes_reverse_complement(r->codes[COV_MINUS], n);
    if (below(5) == 0) /* the strands differ in one base */
        r->codes[COV_MINUS][below(n)] ^= 1 << below(4);
    for (size_t i = 0; i < n; i++)
        if (r->codes[COV_MINUS][i] == 0)
            r->codes[COV_MINUS][i] = COV_CODE_N;
}

static void make_elems(const struct genome *g, struct row *r)
{
    size_t n = (size_t)(r->pair.end - r->pair.beg);
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < g->head.n_sets; k++) {
            const struct cov_chunk_set *set = &g->head.sets[k];
            size_t size = set->type.bytes, n_bytes = cov_chunk_set_row_bytes(set);
            uint8_t *p = r->elems[s][k] = unit_zeros(n_bytes);
            for (size_t i = 0; i < n_bytes; i++)
                p[i] = (uint8_t)below(256);
            if (set->dims[0] != g->head.L || below(8) == 0)
                continue;
            for (size_t i = n * set->dims[1] * size; i < n_bytes; i++)
                p[i] = set->fill[i % size];
            if (below(8) == 0)
                p[n_bytes - 1] ^= 1;
        }
}

static void make_genome(struct genome *g, size_t max_L, size_t max_seqs, size_t max_rows)
{
    make_head(&g->head, 1 + below(max_L));
    g->partial = below(2);
    g->n_seqs = below(max_seqs + 1);
    g->seqs = unit_zeros(g->n_seqs * sizeof *g->seqs);
    for (size_t q = 0; q < g->n_seqs; q++) {
        struct sequence *s = &g->seqs[q];
        (void)snprintf(s->species, sizeof s->species, "%s", below(3) ? "Zea" : "");
        (void)snprintf(s->name, sizeof s->name, "chr%zu", q);
        s->n_rows = g->partial ? below(max_rows + 1) : 1 + below(max_rows);
        s->rows = unit_zeros(s->n_rows * sizeof *s->rows);
        for (size_t i = 0; i < s->n_rows; i++) {
            struct row *r = &s->rows[i];
            size_t L = g->head.L;
            r->pair.beg = s->length + (g->partial ? (int64_t)below(2 * L) : 0);
            r->pair.end = r->pair.beg + (int64_t)(below(3) ? L : 1 + below(L));
            r->pair.has[COV_PLUS] = r->pair.has[COV_MINUS] = true;
            if (g->partial && below(3) == 0)
                r->pair.has[below(2)] = false;
            s->length = r->pair.end;
            make_codes(g, r);
            make_elems(g, r);
        }
        s->length += g->partial ? (int64_t)below(3) + (s->length == 0) : 0;
    }
}

static void free_genome(struct genome *g)
{
    cov_chunk_head_fini(&g->head);
    unit_free();
}

static void write_genome(const struct genome *g, const char *path, bool compress,
                         unsigned n_threads)
{
    struct cov_stream_writer *w;
    struct cov_blob record = COV_BLOB_INIT;
    assert_ok(cov_stream_create(path, &g->head, g->partial, compress, n_threads, &w, &e));
    for (size_t q = 0; q < g->n_seqs; q++) {
        const struct sequence *s = &g->seqs[q];
        assert_ok(cov_stream_begin(w, s->species, s->name, &e));
        for (size_t i = 0; i < s->n_rows; i++) {
            const struct row *r = &s->rows[i];
            const uint8_t *codes[2] = {r->codes[0], r->codes[1]};
            const uint8_t *const *elems[2] = {(const uint8_t *const *)r->elems[0],
                                              (const uint8_t *const *)r->elems[1]};
            uint8_t other[1000];
            memcpy(other, codes[0], g->head.L);
            cov_codes_reverse_complement(other, (size_t)(r->pair.end - r->pair.beg));
            if (r->pair.has[0] && memcmp(other, codes[1], g->head.L) == 0 && below(2))
                codes[1] = NULL;
            assert_ok(cov_stream_pack(&g->head, &r->pair, codes, elems, &record, &e));
            assert_ok(cov_stream_put(w, &record, &e));
        }
        assert_ok(cov_stream_end(w, s->length, &e));
    }
    assert_ok(cov_stream_finish(w, &e));
    cov_blob_fini(&record);
}

static void expect_head(const struct genome *g, const struct cov_stream *s)
{
    const struct cov_chunk_head *a = &g->head, *b = cov_stream_head(s);
    assert_int_equal(cov_stream_is_partial(s), g->partial);
    check_same_sets(b, a);
    assert_int_equal(a->n_attrs, b->n_attrs);
    for (size_t i = 0; i < a->n_attrs; i++) {
        assert_int_equal(!a->attrs[i].set, !b->attrs[i].set);
        if (a->attrs[i].set)
            assert_string_equal(a->attrs[i].set, b->attrs[i].set);
        assert_string_equal(a->attrs[i].name, b->attrs[i].name);
        assert_string_equal(a->attrs[i].text, b->attrs[i].text);
    }
}

/* Buffers to unpack into. */
struct space {
    uint8_t *codes[2], *elems[2][MAX_SETS];
};

static void make_space(struct space *p, const struct cov_chunk_head *head)
{
    memset(p, 0, sizeof *p);
    for (int s = 0; s < 2; s++) {
        p->codes[s] = unit_zeros(head->L);
        for (size_t k = 0; k < head->n_sets && k < MAX_SETS; k++)
            p->elems[s][k] = unit_zeros(cov_chunk_set_row_bytes(&head->sets[k]));
    }
}

static int unpack(const struct cov_stream *s, const struct cov_blob *record, struct space *p,
                  struct cov_err *e)
{
    struct cov_stream_pair pair;
    uint8_t *const codes[2] = {p->codes[0], p->codes[1]};
    uint8_t *const *elems[2] = {p->elems[0], p->elems[1]};
    return cov_stream_unpack(cov_stream_head(s), cov_stream_name(s), record, &pair, codes, elems,
                             e);
}

static void expect_row(const struct genome *g, const struct row *r, const struct space *p)
{
    for (int s = 0; s < 2; s++) {
        if (!r->pair.has[s])
            continue;
        if (g->head.has_bases)
            assert_true(memcmp(p->codes[s], r->codes[s], g->head.L) == 0);
        for (size_t k = 0; k < g->head.n_sets; k++)
            assert_true(memcmp(p->elems[s][k], r->elems[s][k],
                               cov_chunk_set_row_bytes(&g->head.sets[k])) == 0);
    }
}

/* Reads the stream to its end. If there is no error and `g` is not NULL, the contents must equal
 * *g. */
static int read_stream(const struct genome *g, const char *path, unsigned n_threads,
                       struct cov_err *e)
{
    struct cov_bgz *b;
    struct cov_stream *s;
    struct cov_blob record = COV_BLOB_INIT;
    struct space space;
    const size_t mark = unit_mark();
    int rc = cov_bgz_open_read(path, n_threads, &b, e);
    if (!rc)
        rc = cov_stream_open(b, &s, e);
    if (rc)
        return rc;
    if (g)
        expect_head(g, s);
    make_space(&space, cov_stream_head(s));
    size_t seq = 0, row = 0;
    struct cov_stream_item item = {.event = COV_STREAM_BEGIN};
    while (!rc && item.event != COV_STREAM_DONE) {
        rc = cov_stream_next(s, &item, &record, e);
        if (!rc && item.event == COV_STREAM_PAIR)
            rc = unpack(s, &record, &space, e);
        if (rc || !g)
            continue;
        const struct sequence *q = &g->seqs[seq];
        if (item.event == COV_STREAM_DONE) {
            assert_int_equal(seq, g->n_seqs);
            continue;
        }
        assert_in_range(seq, 0, g->n_seqs - 1);
        assert_string_equal(item.species, q->species);
        assert_string_equal(item.sequence, q->name);
        if (item.event == COV_STREAM_PAIR) {
            assert_in_range(row, 0, q->n_rows - 1);
            assert_memory_equal(&item.pair, &q->rows[row].pair, sizeof item.pair.beg * 2);
            assert_int_equal(item.pair.has[0], q->rows[row].pair.has[0]);
            assert_int_equal(item.pair.has[1], q->rows[row].pair.has[1]);
            expect_row(g, &q->rows[row], &space);
            row++;
        } else if (item.event == COV_STREAM_END) {
            assert_int_equal(item.length, q->length);
            assert_int_equal(row, q->n_rows);
            seq++;
            row = 0;
        }
    }
    unit_free_since(mark);
    cov_blob_fini(&record);
    cov_stream_close(s);
    return rc;
}

static void expect_equal(const struct genome *g, const char *path, unsigned n_threads)
{
    assert_ok(read_stream(g, path, n_threads, &e));
}

/* ---------------------------------------------------------------- round trips */

TEST(test_round_trip)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct genome g;
        cov_rng_init(&rng, seed);
        make_genome(&g, seed % 3 ? 40 : 900, 5, 6);
        bool compress = below(2);
        write_genome(&g, "a", compress, 1);
        expect_equal(&g, "a", 1 + (seed % 16 == 0));
        if (seed % 16 == 0) {
            write_genome(&g, "b", compress, 3);
            expect_equal(&g, "b", 1);
        }
        free_genome(&g);
    }
}

/* ---------------------------------------------------------------- truncated and damaged */

static int longest_first(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x < y) - (x > y);
}

/* Truncates a stream of several blocks, which are compressed or not. */
TEST(test_cut)
{
    struct genome g;
    for (uint64_t seed = 1;; seed++) {
        cov_rng_init(&rng, seed);
        make_genome(&g, 900, 8, 8);
        if (g.head.has_bases && g.head.n_sets == MAX_SETS && g.n_seqs > 4 && g.head.L > 300)
            break;
        free_genome(&g);
    }
    for (int compress = 0; compress < 2; compress++) {
        write_genome(&g, "a", compress, 1);
        struct bytes file = get_file("a");
        assert_true(file.n > 65536 + 1000);
        size_t cuts[1000];
        for (size_t i = 0; i < COV_COUNT(cuts); i++)
            cuts[i] = i < 40 ? file.n - 1 - i : below(file.n);
        qsort(cuts, COV_COUNT(cuts), sizeof *cuts, longest_first);
        for (size_t i = 0; i < COV_COUNT(cuts); i++) {
            struct cov_err e = COV_ERR_INIT;
            assert_int_equal(truncate("a", (off_t)cuts[i]), 0);
            assert_int_equal(read_stream(&g, "a", 1 + (i % 20 == 0), &e), COV_EINPUT);
            check_error(&e, COV_EINPUT, cuts[i] >= 18 ? "truncated" : "");
        }
    }
    free_genome(&g);
}

/* Changes a few bytes, or removes, repeats or swaps a part. */
static void mutate(struct bytes *b)
{
    size_t at = below(b->n), n = 1 + below(b->n - at < 300 ? b->n - at : 300);
    size_t to = below(b->n - n + 1);
    uint8_t piece[300];
    memcpy(piece, b->p + at, n);
    switch (below(6)) {
    case 0:
        b->p[at] ^= 1 << below(8);
        break;
    case 1:
        for (size_t i = 0; i < n && i < 9; i++)
            b->p[at + i] = (uint8_t)(below(2) ? 0xff : below(256));
        break;
    case 2:
        b->n = at;
        break;
    case 3:
        memmove(b->p + at, b->p + at + n, b->n - at - n);
        b->n -= n;
        break;
    case 4: /* there is room for one repetition */
        memmove(b->p + at + n, b->p + at, b->n - at);
        b->n += n;
        break;
    default:
        memmove(b->p + at, b->p + to, n);
        memcpy(b->p + to, piece, n);
    }
}

/* Damages 2000 copies of streams, or of their contents, which then get checksums that match. Each copy
 * is refused with a message that names it, or can be read; if the checksums are those of the original,
 * with the same contents. Returns how many were refused. */
static size_t count_refused(size_t max_L, bool contents)
{
    size_t n_refused = 0;
    struct genome g = {.n_seqs = 0};
    struct bytes original = {NULL, 0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        cov_rng_init(&rng, seed / 40);
        if (seed % 40 == 0) {
            free_genome(&g);
            g = (struct genome){.n_seqs = 0};
            make_genome(&g, max_L, 4, 5);
            write_genome(&g, "a", !contents && below(2), 1);
            original = contents ? unframed("a") : get_file("a");
        }
        cov_rng_init(&rng, seed);
        const size_t mark = unit_mark();
        struct bytes copy = {unit_zeros(original.n + 300), original.n};
        memcpy(copy.p, original.p, original.n);
        mutate(&copy);
        if (contents)
            frame("b", COV_BGZ_STORED, copy.p, copy.n);
        else
            put_bytes("b", copy.p, copy.n);
        unit_free_since(mark);
        struct cov_err e = COV_ERR_INIT;
        int rc = read_stream(contents ? NULL : &g, "b", 1 + (seed % 50 == 0), &e);
        if (rc) {
            n_refused++;
            assert_int_equal(rc, COV_EINPUT);
            assert_memory_equal(e.text, "b: ", 3);
        }
    }
    free_genome(&g);
    return n_refused;
}

TEST(test_damaged_files)
{
    assert_in_range(count_refused(60, false), 1900, 2000);
}

/* Values may change. */
TEST(test_damaged_contents)
{
    assert_in_range(count_refused(20, true), 1200, 1999);
}

TEST_GROUP(enter_dir, leave_dir)
