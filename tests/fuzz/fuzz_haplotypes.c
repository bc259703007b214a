/* fuzz_haplotypes.c - haplotypes of a VCF or BCF: each row has its own change, edits within what the
 * window needs, and haplotypes in order. BCF comes uncompressed and is put into BGZF here. The first byte is the length of
 * windows and their step.
 * Target: common/job/effect/effect_haplotypes.c, common/job/effect/haplotype_reader.c
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_haplotypes.h"
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

static void check_row(const struct cov_effect_rows *r, const struct cov_effect_row *row,
                      const struct cov_alleles *p, size_t L)
{
    const size_t n = p->items[row->allele].n, n_ref = p->items[row->allele].n_ref;
    size_t end = 0;
    if (row->edits + row->n_edits > r->n_edits || row->haps + row->n_haps > r->n_haps)
        abort();
    if (row->status == COV_ALLELE_SCORED && (row->at + n > L || row->at + n_ref > L))
        abort();
    for (size_t i = 0; i < row->n_edits; i++) {
        const struct cov_edit *edit = &r->edits[row->edits + i];
        if (edit->at < end || (edit->n_new > 0 && !edit->codes))
            abort();
        for (size_t k = 0; k < edit->n_new; k++)
            if (edit->codes[k] == 0 || edit->codes[k] > 15)
                abort();
        end = edit->at + edit->n_old;
    }
    if ((row->n_edits > 0) != (row->n_haps > 0) || (row->n_edits > 0 && row->own >= row->n_edits) ||
        row->n_codes > 2 * L)
        abort();
    for (size_t i = 0; i < row->n_haps; i++) {
        const struct cov_haplotype *h = &r->haps[row->haps + i];
        if (i > 0 &&
            (h->sample < h[-1].sample || (h->sample == h[-1].sample && h->copy <= h[-1].copy)))
            abort();
    }
    for (size_t i = 0; row->status == COV_ALLELE_SCORED && i < L; i++)
        (void)cov_effect_row_place(r, row, i);
}

static void run(const char *path, const struct cov_effect_genome *g, size_t L, size_t step)
{
    struct cov_haplotypes *h = NULL;
    struct cov_variants *in = NULL;
    struct cov_variant v;
    struct cov_alleles alleles = {0};
    struct cov_effect_rows rows = {0};
    const struct cov_effect_options o = {.input = path, .window = L};
    const bool is_open = cov_haplotypes_open(&o, g, &h, NULL) == COV_OK;
    if (cov_variants_open(path, NULL, true, &in, NULL) == COV_OK) {
        if (cov_variant_init(&v, NULL))
            abort();
        while (cov_variants_next(in, &v, NULL) > 0) {
            if (!is_open || cov_alleles_find(&alleles, g, L, step, &v, NULL) ||
                cov_haplotypes_rows(h, &v, &alleles, &rows, NULL))
                continue;
            if (rows.n < alleles.n_alleles)
                abort();
            for (size_t i = 0; i < rows.n; i++)
                check_row(&rows, &rows.rows[i], &alleles, L);
        }
        cov_variant_fini(&v);
    } else if (is_open) {
        abort();
    }
    cov_effect_rows_fini(&rows);
    cov_alleles_fini(&alleles);
    cov_variants_close(in);
    cov_haplotypes_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct cov_genome *genome;
    struct cov_effect_genome g;
    if (n < 2)
        return 0;
    if (!genome)
        genome = read_genome();
    const size_t L = 2 + data[0] % 40;
    const char *path = n > 5 && memcmp(data + 1, "BCF\2", 4) == 0 ? fuzz_bgzf(data + 1, n - 1)
                                                                  : fuzz_file(data + 1, n - 1);
    if (cov_effect_genome_init(&g, genome, NULL))
        abort();
    run(path, &g, L, data[0] & 64 ? 1 + L / 2 : 1);
    cov_effect_genome_fini(&g);
    return 0;
}
