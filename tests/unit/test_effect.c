/* test_effect.c - edits of windows, windows of variants, and scores of predictions, by hand; groups
 * of equal haplotypes, against their calls one by one. coveffect.t compares with other programs.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/base/rng.h"
#include "common/job/effect/alleles.h"
#include "common/job/effect/edited_windows.h"
#include "common/job/effect/effect_background.h"
#include "common/job/effect/effect_haplotypes.h"
#include "common/job/effect/effect_scores.h"
#include "common/seq/alphabet.h"

/* One sequence of 20 bases. */
static struct cov_genome *sequences;
static struct cov_effect_genome whole;

static int open_genome(void **state)
{
    const struct cov_genome_options options = {.tmpdir = "."};
    if (enter_dir(state))
        return -1;
    put_text("g.fa", ">s\nAAAAAAAAAAAAAAAAAAAA\n");
    return cov_genome_read("g.fa", &options, NULL, &sequences, NULL) ||
           cov_effect_genome_init(&whole, sequences, NULL);
}

static int close_genome(void **state)
{
    cov_effect_genome_fini(&whole);
    cov_genome_free(sequences);
    return leave_dir(state);
}

/* ---------------------------------------------------------------- edits */

/* Replaces n_old bases of a window at `at` by `new`, in L positions, and compares the bases. */
static void check_edit(const char *window, size_t L, size_t at, size_t n_old, const char *new,
                       const char *wanted)
{
    enum { MOST = 64 };
    uint8_t codes[MOST], added[MOST], out[MOST];
    const size_t n_codes = strlen(window), n_wanted = strlen(wanted);
    const struct cov_edited_window w = {codes, n_codes, NULL};
    const struct cov_edit edit = {at, n_old, added, strlen(new)};
    assert_true(cov_codes_of_letters(window, n_codes, codes));
    assert_true(cov_codes_of_letters(new, edit.n_new, added));
    memset(out, 0xee, sizeof out);
    assert_int_equal(cov_version_codes(&w, &edit, L, out), n_wanted);
    for (size_t i = 0; i < L; i++)
        assert_int_equal(cov_letter_of_code[out[i]], i < n_wanted ? wanted[i] : '-');
    assert_int_equal(out[L], 0xee);
}

TEST(edits_windows)
{
    check_edit("ACGTAC", 4, 0, 0, "", "ACGT");
    check_edit("ACG", 4, 0, 0, "", "ACG"); /* the sequence ends */
    check_edit("ACGTAC", 4, 1, 1, "T", "ATGT");
    check_edit("ACGTAC", 4, 1, 1, "", "AGTA"); /* bases move in */
    check_edit("ACGT", 4, 1, 2, "", "AT");
    check_edit("ACGTAC", 4, 2, 1, "TTTTT", "ACTT"); /* and out */
    check_edit("ACGTAC", 4, 5, 1, "T", "ACGT");     /* after them */
    check_edit("ACGTAC", 6, 0, 1, "TTT", "TTTCGT");
    check_edit("ACGTAC", 4, 0, 1, "TTTT", "TTTT");
    check_edit("ACGTAC", 4, 0, 4, "", "AC");
}

/* ---------------------------------------------------------------- plans */

struct expected {
    int64_t pos;
    const char *ref, *alt;
    enum cov_allele_status status;
    int64_t beg;
    size_t at, n_codes;
};

/* Plans variants in windows of 6 bases. */
static void check_plans(size_t step, const struct expected *cases, size_t n)
{
    struct cov_alleles p = {0};
    for (size_t i = 0; i < n; i++) {
        const struct expected *c = &cases[i];
        char ref[16], alt[16];
        (void)snprintf(ref, sizeof ref, "%s", c->ref);
        (void)snprintf(alt, sizeof alt, "%s", c->alt);
        const struct cov_variant v = {
            .contig = "s", .pos = c->pos, .n_alleles = 2, .alleles = (char *[]){ref, alt}};
        assert_ok(cov_alleles_find(&p, &whole, 6, step, &v, &e));
        assert_int_equal(p.n_alleles, 1);
        assert_int_equal(p.items[0].status, c->status);
        assert_int_equal(p.n_scored, c->status == COV_ALLELE_SCORED);
        if (p.status != COV_ALLELE_SCORED)
            continue;
        assert_int_equal(p.beg, c->beg);
        assert_int_equal(p.at, c->at);
        assert_int_equal(p.n_codes, c->n_codes);
    }
    cov_alleles_fini(&p);
}

TEST(plans_windows)
{
    /* Windows of 6 bases in a sequence of 20. */
    static const struct expected cases[] = {
        {10, "A", "C", COV_ALLELE_SCORED, 7, 3, 6},
        {10, "a", "c", COV_ALLELE_SCORED, 7, 3, 6},
        {0, "A", "C", COV_ALLELE_SCORED, 0, 0, 6},
        {3, "A", "C", COV_ALLELE_SCORED, 0, 3, 6},
        {19, "A", "C", COV_ALLELE_SCORED, 14, 5, 6},
        {16, "A", "C", COV_ALLELE_SCORED, 13, 3, 6},
        {10, "AAA", "A", COV_ALLELE_SCORED, 7, 3, 8},  /* needs two bases more */
        {16, "AAA", "A", COV_ALLELE_SCORED, 13, 3, 7}, /* where there is one */
        {10, "A", "AGG", COV_ALLELE_SCORED, 7, 3, 6},
        {10, "A", "AGGG", COV_ALLELE_LONG, 7, 3, 6},
        {10, "AAAA", "A", COV_ALLELE_LONG, 7, 3, 6},
        {0, "A", "AGGGGG", COV_ALLELE_SCORED, 0, 0, 6},
        {18, "A", "AGG", COV_ALLELE_END, 14, 4, 6}, /* longer than the rest, in each window */
        {10, "A", "AGGGGGGGGGG", COV_ALLELE_END, 7, 3, 6},
        {10, "A", "AGGGGGGGGG", COV_ALLELE_LONG, 7, 3, 6},
        {10, "AA", "N", COV_ALLELE_EMPTY, 7, 3, 6}, /* N for no base */
        {10, "N", "gg", COV_ALLELE_EMPTY, 7, 3, 6},
        {10, "n", "NGG", COV_ALLELE_EMPTY, 7, 3, 6},
        {10, "N", "C", COV_ALLELE_SCORED, 7, 3, 6},
        {10, "A", "n", COV_ALLELE_SCORED, 7, 3, 6},
        {10, "A", "*", COV_ALLELE_OVERLAP, 7, 3, 6},
        {10, "A", "<DEL>", COV_ALLELE_NO_END, 7, 3, 6},
        {10, "A", "<INS>", COV_ALLELE_NO_BASES, 7, 3, 6},
        {10, "A", "<CNV>", COV_ALLELE_SYMBOLIC, 7, 3, 6},
        {10, "A", "<*>", COV_ALLELE_OTHER, 7, 3, 6},
        {10, "A", "A[s:3[", COV_ALLELE_SYMBOLIC, 7, 3, 6},
        {10, "A", "-", COV_ALLELE_SYMBOLIC, 7, 3, 6},
        {10, "R", "N", COV_ALLELE_SCORED, 7, 3, 6}, /* R and A share a base */
        {10, "C", "A", COV_ALLELE_MISMATCH, 0, 0, 0},
        {10, "?", "A", COV_ALLELE_MISMATCH, 0, 0, 0},
        {19, "AA", "A", COV_ALLELE_MISMATCH, 0, 0, 0},
        {20, "A", "C", COV_ALLELE_MISMATCH, 0, 0, 0},
        {-1, "A", "C", COV_ALLELE_MISMATCH, 0, 0, 0},
    };
    /* The same at multiples of 3, or at the last possible place. */
    static const struct expected stepped[] = {
        {10, "A", "C", COV_ALLELE_SCORED, 6, 4, 6},  {11, "A", "C", COV_ALLELE_SCORED, 9, 2, 6},
        {13, "A", "C", COV_ALLELE_SCORED, 9, 4, 6},  {14, "AA", "C", COV_ALLELE_SCORED, 12, 2, 7},
        {0, "A", "C", COV_ALLELE_SCORED, 0, 0, 6},   {17, "A", "C", COV_ALLELE_SCORED, 14, 3, 6},
        {19, "A", "C", COV_ALLELE_SCORED, 14, 5, 6},
    };
    struct cov_alleles p = {0};
    check_plans(1, cases, COV_COUNT(cases));
    check_plans(3, stepped, COV_COUNT(stepped));
    const struct cov_variant other = {
        .contig = "t", .n_alleles = 3, .alleles = (char *[]){"A", "C", "*"}};
    assert_ok(cov_alleles_find(&p, &whole, 6, 1, &other, &e));
    assert_int_equal(p.status, COV_ALLELE_UNKNOWN);
    assert_int_equal(p.items[1].status, COV_ALLELE_UNKNOWN);
    cov_alleles_fini(&p);
}

/* ---------------------------------------------------------------- scores */

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) < 1e-12))
        fail_msg("%.17g is not %.17g", got, wanted);
}

/* The second of two datasets is constant. */
TEST(scores_substitutions)
{
    static const float one[] = {1, 7, 1, 7, 2, 7, 4, 7, 0, 7},
                       two[] = {1, 7, 3, 7, 8, 7, 4, 7, 0, 7};
    struct cov_effect_pair p = {{one, two}, {5, 5}, 2, 2, 1, 1, NULL};
    struct cov_effect_score s;
    cov_effect_score(&p, 0, 5, &s);
    assert_near(s.counts[0], 8);
    assert_near(s.counts[1], 16);
    assert_near(s.logfc, 1);
    assert_near(s.max_diff, 6);
    assert_int_equal(s.max_at, 2);
    /* p = 1/8 1/8 1/4 1/2, q = 1/16 3/16 1/2 1/4 */
    double js = 0;
    const double a[] = {0.125, 0.125, 0.25, 0.5}, b[] = {0.0625, 0.1875, 0.5, 0.25};
    for (size_t i = 0; i < 4; i++)
        js +=
            (a[i] * log2(a[i] / ((a[i] + b[i]) / 2)) + b[i] * log2(b[i] / ((a[i] + b[i]) / 2))) / 2;
    assert_near(s.jsd, sqrt(js));
    cov_effect_score(&p, 0, 2, &s); /* positions 1 and 2 */
    assert_near(s.counts[0], 3);
    assert_near(s.counts[1], 11);
    cov_effect_score(&p, 0, 1, &s);
    assert_near(s.counts[1], 8);
    assert_near(s.jsd, 0);
    cov_effect_score(&p, 1, 5, &s); /* no difference */
    assert_true(s.logfc == 0 && s.jsd == 0 && s.max_diff == 0 && s.max_at == 2);
    p.at = 4; /* the end of the window; without signal in a width of 1 */
    cov_effect_score(&p, 0, 100, &s);
    assert_near(s.counts[0], 8);
    cov_effect_score(&p, 0, 1, &s);
    assert_true(isnan(s.logfc) && isnan(s.jsd) && s.max_diff == 0);
}

TEST(scores_indels)
{
    /* Position 2 and what follows it moves by two; aligned bases are equal. */
    static const float one[] = {1, 2, 3, 50, 60, 4, 5, 6}, two[] = {1, 2, 3, 4, 5, 6, 70, 80};
    struct cov_effect_score s;
    const struct cov_effect_pair deletion = {{one, two}, {8, 8}, 1, 2, 3, 1, NULL};
    cov_effect_score(&deletion, 0, 100, &s);
    assert_near(s.counts[0], 131);
    assert_near(s.counts[1], 171);
    assert_true(s.jsd == 0 && s.max_diff == 0);
    const struct cov_effect_pair insertion = {{two, one}, {8, 8}, 1, 2, 1, 3, NULL};
    cov_effect_score(&insertion, 0, 100, &s);
    assert_true(s.jsd == 0 && s.max_diff == 0);
    /* A width of 4 ends within the deletion: positions 0 to 3. */
    cov_effect_score(&deletion, 0, 4, &s);
    assert_near(s.counts[0], 56);
    assert_near(s.counts[1], 10);
    assert_true(s.jsd == 0 && s.max_diff == 0);
    /* The place of a difference is that of allele 1. */
    static const float three[] = {1, 2, 3, 4, 6, 6, 70, 80};
    const struct cov_effect_pair later = {{one, three}, {8, 8}, 1, 2, 3, 1, NULL};
    cov_effect_score(&later, 0, 100, &s);
    assert_near(s.max_diff, 1);
    assert_int_equal(s.max_at, 6);
    assert_true(s.jsd > 0);
    /* The sequence ends with the deletion. */
    const struct cov_effect_pair end = {{one, two}, {5, 3}, 1, 2, 3, 1, NULL};
    cov_effect_score(&end, 0, 100, &s);
    assert_near(s.counts[0], 6); /* as many bases as there are after the deletion */
    assert_near(s.counts[1], 6);
    assert_true(s.jsd == 0 && s.logfc == 0);
}

/* Sums that are compared are of the same bases, also in another pair of windows. */
TEST(scores_windows_of_other_bases)
{
    static const float one[] = {1, 2, 4, 8, 16, 32, 64, 128};
    struct cov_effect_pair genome = {{one, one}, {8, 8}, 1, 4, 1, 1, NULL};
    struct cov_effect_pair moved = {{one, one}, {8, 7}, 1, 5, 1, 1, &genome};
    struct cov_effect_score s;
    genome.other = &moved;
    cov_effect_score(&moved, 0, 100, &s); /* four bases before the variant, and two from it on */
    assert_near(s.counts[0], 2 + 4 + 8 + 16 + 32 + 64);
    assert_near(s.counts[1], s.counts[0]);
    cov_effect_score(&genome, 0, 100, &s);
    assert_near(s.counts[0], 1 + 2 + 4 + 8 + 16 + 32);
    moved.at = 1;
    moved.n_bases[1] = 8;
    cov_effect_score(&genome, 0, 100, &s);
    assert_near(s.counts[0], 8 + 16 + 32 + 64 + 128);
    cov_effect_score(&genome, 0, 2, &s);
    assert_near(s.counts[0], 8 + 16);
    moved.at = 8; /* has no base */
    cov_effect_score(&moved, 0, 1, &s);
    assert_true(s.counts[0] == 0 && isnan(s.logfc));
}

TEST(spreads_and_ranks)
{
    const struct cov_effect_score models[] = {
        {.counts = {1, 2}, .logfc = -1, .jsd = 0.5, .max_diff = 3},
        {.counts = {4, 2}, .logfc = 1, .jsd = 0.5, .max_diff = 7},
        {.counts = {1, 2}, .logfc = 0, .jsd = 0.5, .max_diff = 5}};
    struct cov_effect_score s = {.logfc = 0.5, .jsd = 0.2};
    cov_effect_score_spread(&s, models, 3);
    assert_near(s.sd[COV_SPREAD_COUNTS1], sqrt(3));
    assert_near(s.sd[COV_SPREAD_COUNTS2], 0);
    assert_near(s.sd[COV_SPREAD_LOGFC], 1);
    assert_near(s.sd[COV_SPREAD_ABS_LOGFC], sqrt(1.0 / 3));
    assert_near(s.sd[COV_SPREAD_JSD], 0);
    assert_near(s.sd[COV_SPREAD_MAX_DIFF], 2);

    const struct cov_effect_score shuffles[] = {{.logfc = 0.5, .jsd = 0.1},
                                                {.logfc = -0.7, .jsd = 0.1},
                                                {.logfc = 0.2, .jsd = 0.2},
                                                {.logfc = 0.1, .jsd = 0.1}};
    for (size_t i = 0; i < COV_COUNT(shuffles); i++)
        cov_effect_score_count(&s, &shuffles[i]);
    assert_near(cov_effect_p_value(&s, COV_RANK_LOGFC, 4), 2 * 2.0 / 5);
    assert_near(cov_effect_p_value(&s, COV_RANK_ABS_LOGFC, 4), 3.0 / 5);
    assert_near(cov_effect_p_value(&s, COV_RANK_JSD, 4), 2.0 / 5);
    const struct cov_effect_score none = {.logfc = (double)NAN, .jsd = (double)NAN};
    cov_effect_score_count(&s, &none); /* without a score: extreme */
    assert_near(cov_effect_p_value(&s, COV_RANK_LOGFC, 5), 1);
    assert_near(cov_effect_p_value(&s, COV_RANK_JSD, 5), 3.0 / 6);
    assert_true(isnan(cov_effect_p_value(&none, COV_RANK_JSD, 5)));
    assert_true(isnan(cov_effect_p_value(&none, COV_RANK_ABS_LOGFC, 5)));
}

TEST(rejects_values_without_a_ratio)
{
    static const float one[] = {0, 0}, two[] = {1, (float)INFINITY};
    struct cov_effect_score s;
    const struct cov_effect_pair zero = {{one, two}, {1, 1}, 1, 0, 1, 1, NULL};
    cov_effect_score(&zero, 0, 1, &s);
    assert_true(isnan(s.logfc) && isnan(s.jsd) && s.max_diff == 1);
    const struct cov_effect_pair infinite = {{two, two}, {2, 2}, 1, 0, 1, 1, NULL};
    cov_effect_score(&infinite, 0, 9, &s);
    assert_true(isnan(s.logfc) && isnan(s.jsd));
}

/* ---------------------------------------------------------------- random variants */

TEST(draws_random_variants_and_ranks_scores)
{
    enum { N = 2000 };
    const struct cov_effect_options o = {.genome = sequences,
                                         .genome_path = "g.fa",
                                         .n_background = N,
                                         .seed = 3,
                                         .n_datasets = 1,
                                         .n_widths = 2};
    struct cov_effect_background *b = NULL;
    struct cov_effect_score scores[2] = {{.jsd = 0.5}, {.jsd = (double)NAN}};
    struct cov_effect_record record = {.scores = scores};
    size_t n = 0, n_at[20] = {0}, n_of[3] = {0};
    int64_t last = 0;
    assert_ok(cov_effect_background_new(&o, 7, &b, &e));
    while (cov_effect_background_next(b, &record.variant)) {
        const struct cov_variant *v = &record.variant;
        assert_string_equal(v->contig, "s");
        assert_string_equal(v->alleles[0], "A");
        assert_int_equal(v->number, 7 + n++);
        assert_true(v->n_alleles == 2 && v->pos >= last && v->pos < 20);
        last = v->pos;
        n_at[v->pos]++;
        n_of[strchr("CGT", v->alleles[1][0]) - "CGT"]++;
        /* n / 4 scores of each of -3, 2 and 1, and none for the rest; all negative ones count by their size. */
        const double logfc[] = {-3, 2, 1, (double)NAN};
        scores[0].logfc = scores[1].logfc = logfc[n % 4];
        cov_effect_background_take(b, &record);
    }
    assert_int_equal(n, N);
    for (size_t i = 0; i < 20; i++)
        assert_true(n_at[i] > N / 20 / 2 && n_at[i] < N / 20 * 2);
    for (size_t i = 0; i < 3; i++)
        assert_true(n_of[i] > N / 4 && n_of[i] < N / 2);
    cov_effect_background_sort(b);
    static const struct {
        double logfc, wanted;
    } cases[] = {{0, 0},       {1, 0.5 / 3}, {-1, 0.5 / 3}, {1.5, 1.0 / 3},
                 {2, 1.5 / 3}, {3, 2.5 / 3}, {-3, 2.5 / 3}, {4, 1}};
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const struct cov_effect_score s = {.logfc = cases[i].logfc, .jsd = 0.5};
        for (size_t k = 0; k < 2; k++)
            assert_near(cov_effect_background_quantile(b, k, COV_QUANTILE_ABS_LOGFC, &s),
                        cases[i].wanted);
        assert_near(cov_effect_background_quantile(b, 0, COV_QUANTILE_JSD, &s), 0.5);
        assert_true(isnan(cov_effect_background_quantile(b, 1, COV_QUANTILE_JSD, &s)));
    }
    const struct cov_effect_score none = {.logfc = (double)NAN, .jsd = (double)NAN};
    assert_true(isnan(cov_effect_background_quantile(b, 0, COV_QUANTILE_ABS_LOGFC, &none)));
    assert_true(isnan(cov_effect_background_quantile(b, 0, COV_QUANTILE_JSD, &none)));
    cov_effect_background_free(b);
}

/* ---------------------------------------------------------------- groups of equal haplotypes */

enum { SAMPLES = 30, COPIES = 4, RECORDS = 60 };

struct model {
    struct cov_call calls[RECORDS][COPIES][SAMPLES];
    size_t first, n; /* records that are kept */
};

/* Fills the calls of a record, which has n_copies. */
static void add(struct model *m, struct cov_haplotype_groups *g, struct cov_rng *rng,
                size_t n_copies)
{
    struct cov_call *calls;
    assert_ok(cov_haplotype_groups_calls(g, n_copies, &calls, &e));
    for (size_t k = 0; k < n_copies; k++)
        for (size_t s = 0; s < SAMPLES; s++) {
            const uint64_t x = cov_rng_next(rng) >> 32;
            struct cov_call c = {0};
            if (x % 6 == 0) /* haplotypes of equal samples often stay equal */
                c = (struct cov_call){1 + (int32_t)(s % 3 == 0), (int32_t)(s % 2), s % 5 == 0};
            calls[k * SAMPLES + s] = m->calls[m->n][k][s] = c;
        }
    m->n++;
    assert_ok(cov_haplotype_groups_add(g, &e));
}

static bool same_call(const struct cov_call *a, const struct cov_call *b)
{
    return a->allele == b->allele && (a->allele == 0 || (a->set == b->set && a->equal == b->equal));
}

static void check_groups(const struct model *m, const struct cov_haplotype_groups *g)
{
    const size_t n_copies = g->n_copies;
    const uint32_t first = g->first;
    size_t n_seen = 0;
    bool seen[SAMPLES * COPIES] = {false};
    for (size_t s = 0; s < SAMPLES; s++)
        for (size_t k = 0; k < n_copies; k++) {
            const uint32_t group = g->group_of[k * SAMPLES + s];
            assert_true(group < g->n);
            n_seen += !seen[group];
            seen[group] = true;
            for (size_t r = m->first; r < m->n; r++) {
                const struct cov_call none = {0};
                const struct cov_call *found =
                    cov_haplotype_groups_find(g, group, first + (uint32_t)(r - m->first));
                assert_true(same_call(found ? found : &none, &m->calls[r][k][s]));
            }
        }
    assert_int_equal(n_seen, g->n);
    for (uint32_t i = 0; i < g->n; i++) {
        size_t n;
        const struct cov_group_call *c = cov_haplotype_groups_list(g, i, &n);
        for (size_t k = 0; k < n; k++) {
            assert_true(c[k].record >= first && c[k].record < first + (m->n - m->first));
            assert_true(k == 0 || c[k - 1].record < c[k].record);
            assert_true(c[k].call.allele > 0);
        }
    }
}

TEST(groups_equal_haplotypes)
{
    static struct model m;
    struct cov_haplotype_groups *g;
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    assert_ok(cov_haplotype_groups_new(SAMPLES, 1 << 20, &g, &e));
    while (m.n < RECORDS) {
        add(&m, g, &rng, m.n < 10 ? 2 : m.n < 40 ? COPIES : 1);
        check_groups(&m, g);
        const size_t n = m.n % 3 ? 0 : 1 + m.n % 5;
        if (n > 0 && n <= m.n - m.first) {
            assert_ok(cov_haplotype_groups_drop(g, n, &e));
            m.first += n;
            check_groups(&m, g);
        }
    }
    assert_ok(cov_haplotype_groups_drop(g, m.n - m.first, &e));
    assert_int_equal(g->n, 1);
    cov_haplotype_groups_free(g);
}

/* Fills haplotypes of which no two are equal after a few records. Returns the status of the last one. */
static int add_different(struct cov_haplotype_groups *g, size_t n_samples, uint64_t record,
                         struct cov_err *failure)
{
    struct cov_call *calls;
    int rc = cov_haplotype_groups_calls(g, 1, &calls, failure);
    for (size_t s = 0; rc == 0 && s < n_samples; s++)
        calls[s].allele = (s >> record % 16 & 1) != 0;
    return rc ? rc : cov_haplotype_groups_add(g, failure);
}

TEST(groups_have_a_limit)
{
    enum { MANY = 1 << 16, FEW = 1 << 10, MOST = 1 << 22 };
    struct cov_haplotype_groups *g;
    struct cov_err failure = COV_ERR_INIT;
    uint64_t n = 0;
    assert_ok(cov_haplotype_groups_new(MANY, MOST, &g, &e));
    while (add_different(g, MANY, n, &failure) == 0)
        assert_true(++n < 64);
    check_error(&failure, COV_EINPUT,
                "the genotypes of the records in a window need more than 4 MiB; use "
                "fewer --samples or a smaller --window");
    cov_haplotype_groups_free(g);
    /* Records that are dropped do not count. */
    assert_ok(cov_haplotype_groups_new(FEW, MOST, &g, &e));
    for (n = 0; n < 2000; n++) {
        assert_ok(add_different(g, FEW, n, &e));
        if (n >= 16)
            assert_ok(cov_haplotype_groups_drop(g, 1, &e));
    }
    assert_int_equal(g->n, FEW);
    cov_haplotype_groups_free(g);
}

/* ---------------------------------------------------------------- rows of haplotypes */

#define HEAD                                                                                       \
    "##fileformat=VCFv4.2\n##contig=<ID=s>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="     \
    "\"\">\n"                                                                                      \
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
#define RECORD(pos, ref, alt) "s\t" pos "\t.\t" ref "\t" alt "\t.\t.\t.\tGT\t0|1\t1|1\n"

/* Gets the rows of the n records of a file from those of another. Returns the status of the last one. */
static int read_rows(const char *later, size_t n, struct cov_err *failure)
{
    const struct cov_effect_options o = {.input = "v.vcf", .window = 10};
    struct cov_haplotypes *h = NULL;
    struct cov_variants *in = NULL;
    struct cov_variant v;
    struct cov_alleles alleles = {0};
    struct cov_effect_rows rows = {0};
    int rc = 0;
    put_text("v.vcf", HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGG"));
    assert_ok(cov_haplotypes_open(&o, &whole, &h, &e));
    put_text("later.vcf", later);
    assert_ok(cov_variants_open("later.vcf", NULL, false, &in, &e));
    assert_ok(cov_variant_init(&v, &e));
    for (size_t i = 0; rc == 0 && i < n; i++) {
        assert_int_equal(cov_variants_next(in, &v, NULL), 1);
        assert_ok(cov_alleles_find(&alleles, &whole, 10, 1, &v, &e));
        rc = cov_haplotypes_rows(h, &v, &alleles, &rows, failure);
        assert_true(rc || (rows.n == 1 && rows.rows[0].n_haps == 3 && rows.rows[0].n_edits == 2));
    }
    cov_effect_rows_fini(&rows);
    cov_alleles_fini(&alleles);
    cov_variant_fini(&v);
    cov_variants_close(in);
    cov_haplotypes_free(h);
    return rc;
}

TEST(rejects_a_file_that_changes)
{
    static const char *const changed[] = {
        HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGG") RECORD("14", "A", "T"),
        HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGG") RECORD("12", "A", "T"),
        HEAD RECORD("8", "A", "C") RECORD("11", "A", "AGG"),
        HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGGG"),
        HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGG,T"),
        HEAD RECORD("8", "A", "C") RECORD("12", "AA", "AGG"),
    };
    assert_ok(read_rows(HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGG"), 2, &e));
    for (size_t i = 0; i < COV_COUNT(changed); i++)
        assert_fails(read_rows(changed[i], i < 2 ? 3 : 2, &e), COV_EINPUT,
                     "v.vcf: changed while it was read; run again");
}

TEST_GROUP(open_genome, close_genome)
