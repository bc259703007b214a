/* fuzz_variants.c - records and genotypes of VCF or BCF, planned on a small genome and written again: windows are inside the genome, and
 * alleles inside the windows. BCF comes uncompressed and is put into BGZF here. The first byte is the length of windows.
 * Target: common/features/variants.c, common/features/vcf_line.c, common/job/effect/alleles.c
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/alleles.h"
#include "tests/fuzz/fuzz.h"

static struct cov_genome *read_genome(void)
{
    static const char fasta[] = ">chr1\nACGTNRYACGTacgtACGGTTCAACCGGTT\n>chr2\nA\n";
    struct cov_genome *g;
    const struct cov_genome_options o = {.tmpdir = "/tmp", .n_threads = 1};
    if (cov_genome_read(fuzz_file((const uint8_t *)fasta, sizeof fasta - 1), &o, NULL, &g, NULL))
        abort();
    return g;
}

static void check(const struct cov_alleles *p, const struct cov_genome *g, size_t L)
{
    size_t n_scored = 0;
    if (p->status != COV_ALLELE_SCORED)
        return;
    if (p->beg < 0 || p->beg + (int64_t)p->n_codes > g->lengths[p->seq] || p->n_codes > 2 * L)
        abort();
    for (size_t i = 0; i < p->n_alleles; i++) {
        const struct cov_allele *a = &p->items[i];
        if (a->status != COV_ALLELE_SCORED)
            continue;
        n_scored++;
        if (a->n == 0 || p->at + a->n > L || p->at + a->n_ref > L || p->at + a->n_ref > p->n_codes)
            abort();
        for (size_t k = 0; k < a->n; k++)
            if (p->codes[a->codes + k] == 0 || p->codes[a->codes + k] > 15)
                abort();
    }
    if (n_scored != p->n_scored)
        abort();
}

static void read_genotypes(struct cov_variants *in, struct cov_variant *v, struct cov_genotypes *g)
{
    if (cov_variants_genotypes(in, v, g, NULL))
        return;
    for (size_t s = 0; g->ploidy > 0 && s < g->n_samples; s++) {
        int32_t set;
        if (cov_genotypes_phase(g, s, &set) > COV_PHASE_EQUAL || set < 0)
            abort();
        for (size_t k = 0; k < g->ploidy; k++)
            if (cov_genotypes_allele(g, s, k) >= (int32_t)v->n_alleles)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct cov_genome *genome;
    static const struct cov_variant_field field = {"NEW", "text"};
    struct cov_effect_genome g;
    struct cov_alleles alleles = {0};
    struct cov_variants *r;
    struct cov_variant_file *out = NULL;
    struct cov_variant v;
    struct cov_genotypes genotypes = {0};
    if (n < 2)
        return 0;
    if (!genome)
        genome = read_genome();
    const size_t L = 2 + data[0] % 40;
    const int writes = data[0] & 64;
    const char *path = n > 5 && memcmp(data + 1, "BCF\2", 4) == 0 ? fuzz_bgzf(data + 1, n - 1)
                                                                  : fuzz_file(data + 1, n - 1);
    if (cov_variants_open(path, writes ? &field : NULL, data[0] & 32, &r, NULL))
        return 0;
    if (cov_variant_init(&v, NULL) || cov_effect_genome_init(&g, genome, NULL))
        abort();
    if (writes)
        fuzz_ignore(cov_variant_file_open(
            "/dev/null", data[0] & 128 ? COV_VARIANTS_BCF : COV_VARIANTS_VCF, r, &out, NULL));
    while (cov_variants_next(r, &v, NULL) > 0) {
        if (!v.contig || !v.id || v.n_alleles == 0 || !v.alleles[v.n_alleles - 1])
            abort();
        if (cov_variants_length(r, v.contig) < 0)
            abort();
        if (data[0] & 32 || writes)
            read_genotypes(r, &v, &genotypes);
        if (cov_alleles_find(&alleles, &g, L, 1, &v, NULL))
            break;
        check(&alleles, genome, L);
        if (out && (cov_variant_is_declared(&v) || !(data[0] & 128)) &&
            cov_variant_file_put(out, &v, "a|1", NULL))
            break;
    }
    if (out)
        fuzz_ignore(cov_variant_file_close(out, NULL));
    cov_variant_file_free(out);
    cov_genotypes_fini(&genotypes);
    cov_alleles_fini(&alleles);
    cov_effect_genome_fini(&g);
    cov_variant_fini(&v);
    cov_variants_close(r);
    return 0;
}
