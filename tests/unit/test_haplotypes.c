/* test_haplotypes.c - groups of equal haplotypes, against their calls one by one; rows of a file that changes.
 * coveffect.t compares the scores of haplotypes with other programs.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/base/rng.h"
#include "common/job/effect/effect_haplotypes.h"

/* ---------------------------------------------------------------- groups */

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

/* ---------------------------------------------------------------- rows */

#define HEAD                                                                                       \
    "##fileformat=VCFv4.2\n##contig=<ID=s>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="     \
    "\"\">\n"                                                                                      \
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
#define RECORD(pos, ref, alt) "s\t" pos "\t.\t" ref "\t" alt "\t.\t.\t.\tGT\t0|1\t1|1\n"

/* Gets the rows of the n records of a file from those of another. Returns the status of the last one. */
static int read_rows(const struct cov_effect_genome *g, const char *later, size_t n,
                     struct cov_err *failure)
{
    const struct cov_effect_options o = {.input = "v.vcf", .window = 10};
    struct cov_haplotypes *h = NULL;
    struct cov_variants *in = NULL;
    struct cov_variant v;
    struct cov_alleles alleles = {0};
    struct cov_effect_rows rows = {0};
    int rc = 0;
    put_text("v.vcf", HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGG"));
    assert_ok(cov_haplotypes_open(&o, g, &h, &e));
    put_text("later.vcf", later);
    assert_ok(cov_variants_open("later.vcf", NULL, false, &in, &e));
    assert_ok(cov_variant_init(&v, &e));
    for (size_t i = 0; rc == 0 && i < n; i++) {
        assert_int_equal(cov_variants_next(in, &v, NULL), 1);
        assert_ok(cov_alleles_find(&alleles, g, 10, 1, &v, &e));
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
    struct cov_genome *genome = NULL;
    struct cov_effect_genome g = {0};
    put_text("g.fa", ">s\nAAAAAAAAAAAAAAAAAAAAAAAAA\n");
    assert_ok(
        cov_genome_read("g.fa", &(struct cov_genome_options){.tmpdir = "."}, NULL, &genome, &e));
    assert_ok(cov_effect_genome_init(&g, genome, &e));
    assert_ok(read_rows(&g, HEAD RECORD("8", "A", "C") RECORD("12", "A", "AGG"), 2, &e));
    for (size_t i = 0; i < COV_COUNT(changed); i++)
        assert_fails(read_rows(&g, changed[i], i < 2 ? 3 : 2, &e), COV_EINPUT,
                     "v.vcf: changed while it was read; run again");
    cov_effect_genome_fini(&g);
    cov_genome_free(genome);
}

TEST_GROUP(enter_dir, leave_dir)
