/* test_examples.c - examples of two small genomes, the plan of an epoch and the feed: kept rows,
 * orders, pairs, offsets and batches, from disk and from memory; packing of targets of every form.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/make_examples.h"

#include "common/base/rng.h"
#include "common/compute/device.h"
#include "common/examples/example_batches.h"
#include "common/examples/example_file.h"

/* Regions that a list masks: a part of sequence one, and the first row of sequence two. */
static struct cov_blacklist *list;

static bool is_masked(size_t seq, int64_t at)
{
    return list && ((seq == 0 && at >= 20 && at < 70) || (seq == 1 && at < 16));
}

static void prepare(struct cov_examples *x)
{
    struct cov_pool *pool;
    assert_ok(cov_pool_new(2, &pool, &e));
    assert_ok(cov_examples_prepare(x, pool, NULL, &e));
    cov_pool_free(pool);
}

static struct cov_examples *open_examples(enum cov_loading loading)
{
    const struct cov_examples_options options = {
        .datasets = datasets, .n_datasets = D, .loading = loading, .list = list};
    struct cov_examples *x;
    assert_ok(cov_examples_open_dir(".", &options, &x, &e));
    prepare(x);
    return x;
}

static size_t seq_of(const struct cov_examples *x, const struct cov_example *ex)
{
    return cov_grid_chunk(x->files[ex->file].grid, ex->rows[0]).seq;
}

/* Checks that codes and targets of an example are those of its interval. */
static void check_example(const struct cov_examples *x, const struct cov_example *ex,
                          const uint8_t *codes, const float *targets)
{
    size_t seq = seq_of(x, ex);
    assert_in_range(ex->end - ex->beg, 1, L);
    for (int64_t t = 0; t < L; t++) {
        int64_t at = ex->minus ? ex->end - 1 - t : ex->beg + t;
        bool pad = t >= ex->end - ex->beg;
        uint8_t code = pad ? COV_CODE_PAD : base_at(ex->file, seq, at);
        assert_int_equal(codes[t], ex->minus ? cov_code_complement[code] : code);
        for (size_t d = 0; d < D; d++)
            assert_true(targets[(size_t)t * D + d] ==
                        (pad                  ? 0
                         : is_masked(seq, at) ? COV_TARGET_MASKED
                                              : target_at(ex->file, seq, at, ex->minus, d)));
    }
}

/* How often the plan has each base of each strand, by file and sequence. */
static unsigned seen[N_FILES][N_SEQS][2][MAX];

/* A gap has N, but no C, as in Predmoter. */
static bool is_gap(const struct cov_example *ex, size_t seq)
{
    bool has_n = false;
    for (int64_t at = ex->beg; at < ex->end; at++) {
        uint8_t code = base_at(ex->file, seq, at);
        code = ex->minus ? cov_code_complement[code] : code;
        has_n = has_n || code == COV_CODE_N;
        if (code != COV_CODE_N && (code & COV_CODE_C))
            return false;
    }
    return has_n;
}

static size_t n_gaps; /* examples that are gaps */

static void run_feed(struct cov_examples *x, const struct cov_example_plan *plan, size_t batch,
                     size_t n_shares)
{
    struct cov_example_feed *feed;
    const struct cov_feed_batch *b;
    assert_ok(cov_example_feed_new(x, batch, 3, &feed, &e));
    for (size_t share = 0; share < n_shares; share++) {
        assert_ok(cov_example_feed_begin(feed, plan, 0, share, n_shares, &e));
        for (size_t i = 0; i < plan->n_batches; i++) {
            size_t first = i > 0 ? plan->ends[i - 1] : 0, beg, end;
            assert_int_equal(cov_example_feed_next(feed, &b, NULL), 1);
            cov_example_feed_share(plan->ends[i] - first, share, n_shares, &beg, &end);
            assert_int_equal(b->n, end - beg);
            for (size_t k = 0; k < b->n; k++) {
                const struct cov_example *ex = &plan->items[first + beg + k];
                const size_t seq = seq_of(x, ex);
                check_example(x, ex, b->codes + k * L, b->targets + k * L * D);
                bool gap = is_gap(ex, seq);
                n_gaps += gap;
                assert_false(b->present[k * D + 1]);
                assert_true(b->present[k * D] == !gap && b->present[k * D + 2] == !gap);
                for (int64_t at = ex->beg; at < ex->end; at++)
                    seen[ex->file][seq][ex->minus][at]++;
            }
        }
        assert_ok(cov_example_feed_next(feed, &b, &e));
    }
    /* The feed is stopped halfway and restarted. */
    assert_ok(cov_example_feed_begin(feed, plan, 0, 0, 1, &e));
    assert_int_equal(cov_example_feed_next(feed, &b, NULL), 1);
    assert_ok(cov_example_feed_begin(feed, plan, 0, 0, 1, &e));
    /* It begins within the plan. */
    for (size_t first = 0; first <= plan->n_batches; first++) {
        assert_ok(cov_example_feed_begin(feed, plan, first, 0, 1, &e));
        for (size_t i = first; i < plan->n_batches; i++) {
            size_t from = i > 0 ? plan->ends[i - 1] : 0;
            assert_int_equal(cov_example_feed_next(feed, &b, NULL), 1);
            assert_int_equal(b->n, plan->ends[i] - from);
            for (size_t k = 0; k < b->n; k++)
                check_example(x, &plan->items[from + k], b->codes + k * L, b->targets + k * L * D);
        }
        assert_ok(cov_example_feed_next(feed, &b, &e));
    }
    cov_example_feed_free(feed);
}

/* Each base is used once. Only N and, with random offsets, pieces that are too short are not
 * used. */
static void check_seen(bool random_offset)
{
    for (size_t f = 0; f < N_FILES; f++)
        for (size_t s = 0; s < N_SEQS; s++)
            for (int strand = 0; strand < 2; strand++) {
                size_t missing = 0;
                for (int64_t at = 0; at < lengths[s]; at++) {
                    bool gap = s == 1 && at >= 16 && at < 32;
                    unsigned n = seen[f][s][strand][at];
                    assert_in_range(n, 0, !gap);
                    missing += n == 0 && !gap;
                }
                assert_in_range(missing, 0, random_offset ? 2 * (L / 8) : 0);
            }
}

static bool are_partners(const struct cov_examples *x, const struct cov_example *a,
                         const struct cov_example *b)
{
    return a->file == b->file && seq_of(x, a) == seq_of(x, b) && a->beg == b->beg &&
           a->end == b->end && a->minus != b->minus;
}

/* Each example has a partner, neither in the same step nor in a neighbouring one. Returns how often
 * the partners of neighbours are in another order. */
static size_t check_apart(const struct cov_examples *x, const struct cov_example_plan *p,
                          size_t step)
{
    size_t n_pairs = 0, last = 0, n_changes = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = i + 1; k < p->n; k++)
            if (are_partners(x, &p->items[i], &p->items[k])) {
                assert_true(k / step >= i / step + 2);
                n_changes += k < last;
                last = k;
                n_pairs++;
            }
    assert_int_equal(2 * n_pairs, p->n);
    return n_changes;
}

static void check_together(const struct cov_examples *x, const struct cov_example_plan *p)
{
    for (size_t i = 0; i < p->n; i += 2)
        assert_true(!p->items[i].minus && are_partners(x, &p->items[i], &p->items[i + 1]));
}

static const enum cov_loading loadings[] = {COV_LOAD_DISK, COV_LOAD_RAM, COV_LOAD_RAM_PACKED};

TEST(test_plans)
{
    static const enum cov_example_strands strands[] = {COV_STRANDS_ANYWHERE, COV_STRANDS_TOGETHER,
                                                       COV_STRANDS_APART};
    for (size_t how = 0; how < 3 * 12; how++) {
        struct cov_examples *x = open_examples(loadings[how / 12]);
        const struct cov_example_plan_options o = {.batch = 4 + (how / 4 % 3 < 2),
                                                   .accumulate = 2,
                                                   .shuffle = how & 1,
                                                   .strands = strands[how / 4 % 3],
                                                   .random_offset = how & 2,
                                                   .seed = 7};
        size_t n_cut = 0, n_changes = 0;
        assert_int_equal(cov_examples_n_kept(x), 2 * 2 * (7 + 2 + 1));
        for (uint64_t epoch = 0; epoch < 6; epoch++) {
            struct cov_example_plan plan;
            assert_ok(cov_example_plan_init(&plan, x, &o, epoch, &e));
            assert_int_equal(plan.ends[plan.n_batches - 1], plan.n);
            for (size_t i = 0, beg = 0; i < plan.n_batches; beg = plan.ends[i++])
                assert_in_range(plan.ends[i] - beg, 1, o.batch);
            if (o.strands == COV_STRANDS_TOGETHER)
                check_together(x, &plan);
            if (o.strands == COV_STRANDS_APART)
                n_changes += check_apart(x, &plan, o.batch * o.accumulate);
            memset(seen, 0, sizeof seen);
            n_gaps = 0;
            run_feed(x, &plan, o.batch, 1 + epoch % 3);
            check_seen(o.random_offset);
            n_cut += n_gaps;
            assert_true(n_gaps == 0 || o.random_offset);
            cov_example_plan_fini(&plan);
        }
        assert_true(n_cut > 0 || !o.random_offset);
        assert_int_equal(n_changes > 0, o.strands == COV_STRANDS_APART && o.shuffle);
        cov_examples_close(x);
    }
}

/* Rows in a region are dropped; of others, the positions in regions are masked. */
TEST(test_masks)
{
    const char *first;
    put_text("list", "one\t30\t70\none\t20\t31\ntwo\t0\t16\nnone\t0\t5\n");
    assert_ok(cov_blacklist_read("list", false, &list, &e));
    for (size_t how = 0; how < 3 * 2; how++) {
        struct cov_examples *x = open_examples(loadings[how / 2]);
        const struct cov_example_plan_options o = {.batch = 5, .random_offset = how & 1};
        assert_int_equal(cov_examples_n_kept(x), 2 * 2 * (5 + 1 + 1));
        assert_true(cov_examples_keeps(x, 0, 1) && !cov_examples_keeps(x, 0, 2));
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            struct cov_example_plan plan;
            assert_ok(cov_example_plan_init(&plan, x, &o, epoch, &e));
            run_feed(x, &plan, o.batch, 1);
            cov_example_plan_fini(&plan);
        }
        cov_examples_close(x);
    }
    assert_int_equal(cov_blacklist_n_unknown(list, &first), 1);
    assert_string_equal(first, "none");
    cov_blacklist_free(list);
    list = NULL;
}

/* The order depends on seed and epoch. Without shuffling, it is the order of the files. */
TEST(test_orders)
{
    struct cov_examples *x = open_examples(COV_LOAD_DISK);
    struct cov_example_plan_options o = {.batch = 4, .shuffle = true, .seed = 1};
    struct cov_example_plan a, b;
    assert_ok(cov_example_plan_init(&a, x, &o, 3, &e));
    assert_ok(cov_example_plan_init(&b, x, &o, 3, &e));
    assert_memory_equal(a.items, b.items, a.n * sizeof *a.items);
    cov_example_plan_fini(&b);
    assert_ok(cov_example_plan_init(&b, x, &o, 4, &e));
    assert_memory_not_equal(a.items, b.items, a.n * sizeof *a.items);
    cov_example_plan_fini(&b);
    o.seed = 2;
    assert_ok(cov_example_plan_init(&b, x, &o, 3, &e));
    assert_memory_not_equal(a.items, b.items, a.n * sizeof *a.items);
    cov_example_plan_fini(&b);
    cov_example_plan_fini(&a);
    o.shuffle = false;
    assert_ok(cov_example_plan_init(&a, x, &o, 9, &e));
    for (size_t i = 1; i < a.n; i++)
        assert_true(a.items[i].file > a.items[i - 1].file ||
                    a.items[i].rows[0] > a.items[i - 1].rows[0]);
    cov_example_plan_fini(&a);
    cov_examples_close(x);
}

/* Of two species, the first has twice as many chunks. Batches have as many of both. */
TEST(test_balance)
{
    const char *const three[] = {files[0], files[0], files[1]};
    const struct cov_examples_options options = {.datasets = datasets, .n_datasets = D};
    struct cov_examples *x;
    assert_ok(cov_examples_open(three, 3, &options, &x, &e));
    prepare(x);
    struct cov_example_plan_options o = {.batch = 6, .shuffle = true, .balance_species = true};
    struct cov_example_plan p;
    assert_ok(cov_example_plan_init(&p, x, &o, 0, &e));
    assert_true(p.n == 60 && p.n_batches == 10);
    for (size_t i = 0; i < p.n; i += 6) {
        size_t n_other = 0;
        for (size_t k = i; k < i + 6; k++)
            n_other += p.items[k].file == 2;
        assert_int_equal(n_other, 3);
    }
    /* No chunk of the first is used twice, each of the second once or twice. */
    size_t n_same[3] = {0};
    for (size_t i = 0; i < p.n; i++)
        for (size_t k = 0; k < i; k++)
            n_same[p.items[i].file] +=
                p.items[i].file == p.items[k].file && p.items[i].rows[0] == p.items[k].rows[0];
    assert_true(n_same[0] == 0 && n_same[1] == 0);
    assert_int_equal(n_same[2], 10);
    cov_example_plan_fini(&p);
    o.strands = COV_STRANDS_TOGETHER;
    assert_ok(cov_example_plan_init(&p, x, &o, 0, &e));
    check_together(x, &p);
    cov_example_plan_fini(&p);
    cov_examples_close(x);
}

TEST(test_choice)
{
    const char *const names_of[] = {"Other", "Sp"}, *const unknown[] = {"Sp", "None"};
    struct cov_examples_choice choice = {names_of, 1, .others = false, .place = "."};
    const struct cov_examples_options options = {
        .datasets = datasets, .n_datasets = D, .choice = &choice};
    struct cov_examples *x;
    for (int others = 0; others < 2; others++) {
        choice.others = others;
        assert_ok(cov_examples_open_dir(".", &options, &x, &e));
        assert_int_equal(x->n_files, 1);
        assert_string_equal(x->files[0].path, files[!others]);
        assert_string_equal(x->files[0].species, species[!others]);
        cov_examples_close(x);
    }
    choice.n = 2;
    assert_fails(cov_examples_open_dir(".", &options, &x, &e), COV_EINPUT,
                 "all files are of Sp, Other");
    choice = (struct cov_examples_choice){unknown, 2, .others = false, .place = "."};
    assert_fails(cov_examples_open_dir(".", &options, &x, &e), COV_EINPUT,
                 "no file is of the species None; they are of: Sp, Other");
}

/* The steps of an epoch are too few to keep strands apart. */
TEST(test_few_steps)
{
    struct cov_examples *x = open_examples(COV_LOAD_DISK);
    struct cov_example_plan_options o = {
        .batch = 5, .accumulate = 2, .shuffle = true, .strands = COV_STRANDS_APART};
    struct cov_example_plan p;
    for (o.seed = 0; o.seed < 20; o.seed++) {
        assert_ok(cov_example_plan_init(&p, x, &o, 0, &e));
        assert_int_equal(p.n_batches, 8);
        assert_int_equal(check_apart(x, &p, o.batch * o.accumulate), 0);
        cov_example_plan_fini(&p);
    }
    o.batch = 11, o.accumulate = 1;
    assert_fails(cov_example_plan_init(&p, x, &o, 0, &e), COV_EINPUT,
                 "--pair-strands=apart: 20 chunks with both strands are too few for steps of 11");
    assert_null(p.items);
    cov_examples_close(x);
}

TEST(test_gaps)
{
    const uint8_t all[4] = {COV_CODE_N, COV_CODE_N, COV_CODE_N, COV_CODE_PAD};
    const uint8_t c[3] = {COV_CODE_N, COV_CODE_C, COV_CODE_N};
    const uint8_t a[3] = {COV_CODE_N, COV_CODE_A, COV_CODE_T}, none[2] = {COV_CODE_A, COV_CODE_A};
    const uint8_t y[2] = {COV_CODE_N, COV_CODE_C | COV_CODE_T};
    assert_true(cov_example_is_gap(all, 4) && cov_example_is_gap(a, 3));
    assert_false(cov_example_is_gap(c, 3) || cov_example_is_gap(none, 2) ||
                 cov_example_is_gap(y, 2));
}

TEST(test_refused)
{
    const struct cov_examples_options options = {.datasets = datasets, .n_datasets = D};
    struct cov_examples *x;
    assert_int_equal(cov_examples_open_dir("/nonexistent", &options, &x, NULL), COV_EIO);
    assert_fails(cov_examples_open_dir("/proc/self/fd", &options, &x, &e), COV_EINPUT,
                 "no *.h5 file");
    assert_null(x);
    assert_ok(cov_examples_open(files, N_FILES, &options, &x, &e));
    cov_examples_close(x);
}

/* ---------------------------------------------------------------- packing */

enum { MAX_L = 33, KINDS = 7 };

/* Draws a value of this kind. Hundredths are like those of examples.h. */
static float draw(struct cov_rng *rng, size_t kind)
{
    uint64_t x = cov_rng_next(rng);
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return (float)(x % 256);
    case 2:
        return (float)(x % 65536);
    case 3:
        return (float)(x % 65536) / 100.0F;
    case 4:
        return x % 2 ? 700.0F : 0.25F; /* an integer too large for hundredths */
    case 5:
        return rintf((float)(x % 10000000)) / 100.0F;
    default:
        return (float)(x % 100000000);
    }
}

/* Returns the packed size of a dataset of this kind. */
static size_t bytes_of(size_t kind, size_t length)
{
    static const size_t bytes[KINDS] = {0, 1, 2, 2, 4, 4, 4};
    return 1 + bytes[kind] * length;
}

TEST(packing_restores_chunks)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 9);
    for (size_t n_bases = 1; n_bases <= MAX_L; n_bases++) {
        uint8_t codes[MAX_L], codes2[MAX_L];
        float targets[MAX_L * KINDS], targets2[MAX_L * KINDS];
        for (size_t i = 0; i < n_bases; i++)
            codes[i] = (uint8_t)cov_rng_below(&rng, 16);
        for (size_t i = 0; i < n_bases * KINDS; i++)
            targets[i] = draw(&rng, i % KINDS);
        /* A single value can determine the form of a dataset. */
        targets[2] = 65535;
        targets[3] = 0.01F;
        targets[4] = 0.25F;
        targets[5] = 99999.99F;
        targets[6] = 1e8F;
        if (n_bases > 1)
            targets[KINDS + 4] = 700;
        size_t bound = cov_example_pack_bound(n_bases, KINDS);
        uint8_t *packed = unit_alloc(bound);
        size_t n = cov_example_pack(codes, targets, n_bases, KINDS, packed),
               most = (n_bases + 1) / 2;
        for (size_t kind = 0; kind < KINDS; kind++)
            most += bytes_of(kind, n_bases);
        assert_true(n <= bound && n <= most);
        cov_example_unpack(packed, n_bases, KINDS, codes2, targets2);
        assert_memory_equal(codes, codes2, n_bases);
        assert_memory_equal(targets, targets2, n_bases * KINDS * sizeof *targets);
    }
}

TEST_GROUP(make_examples, leave_dir)
