/* effect_tally.c - see effect_tally.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_tally.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/text.h"

int cov_effect_tally_check_lengths(const struct cov_variants *in,
                                   const struct cov_effect_options *o, struct cov_err *e)
{
    const struct cov_genome *g = o->genome;
    size_t n = 0, n_other = 0, first = 0;
    int64_t length = 0;
    for (size_t i = 0; i < g->n_seqs; i++) {
        const int64_t found = cov_variants_length(in, g->names[i]);
        n += found > 0;
        if (found <= 0 || found == g->lengths[i])
            continue;
        if (n_other++ == 0) {
            first = i;
            length = found;
        }
    }
    if (n_other == 0)
        return COV_OK;
    char text[512];
    (void)snprintf(text, sizeof text,
                   "%.100s has %" PRId64 " bases in the header, but %" PRId64
                   " in %.100s (%zu of %zu sequences differ); check that the variants were called "
                   "with this genome",
                   g->names[first], length, g->lengths[first], o->genome_path, n_other, n);
    if (o->strict)
        return cov_fail(e, COV_EINPUT, "%s: %s", cov_variants_name(in), text);
    cov_warn("%s: %s", cov_variants_name(in), text);
    return COV_OK;
}

/* Writes "REF is A, but the genome has C", or why there is nothing to compare. */
static void describe_mismatch(const struct cov_effect_options *o, const struct cov_variant *v,
                              const struct cov_alleles *p, char *text, size_t n)
{
    enum { SHOWN = 20 };
    const int length = p->n_ref < SHOWN ? (int)p->n_ref : SHOWN;
    if (p->status == COV_ALLELE_UNKNOWN)
        (void)snprintf(text, n, "%s does not have the sequence '%.100s'", o->genome_path,
                       v->contig);
    else if (!p->found[0])
        (void)snprintf(text, n, "%.100s:%" PRId64 ": REF is not inside the sequence", v->contig,
                       v->pos + 1);
    else
        (void)snprintf(text, n, "%.60s:%" PRId64 ": REF is %.*s%s, but the genome has %.*s%s",
                       v->contig, v->pos + 1, length, v->alleles[0], p->n_ref > SHOWN ? "..." : "",
                       length, p->found, p->n_ref > SHOWN ? "..." : "");
}

int cov_effect_tally_add(struct cov_effect_tally *t, const struct cov_variants *in,
                         const struct cov_effect_options *o, const struct cov_variant *v,
                         const struct cov_alleles *p, struct cov_err *e)
{
    t->n_records++;
    t->n_scored += p->n_scored > 0;
    for (size_t i = 0; i < p->n_alleles; i++)
        t->n_alleles[p->items[i].status]++;
    if (p->status == COV_ALLELE_SCORED)
        return COV_OK;
    const bool unknown = p->status == COV_ALLELE_UNKNOWN;
    char text[sizeof t->mismatch];
    describe_mismatch(o, v, p, text, sizeof text);
    if (o->strict)
        return cov_variants_fail(in, e, "%s%s", text,
                                 p->is_swapped ? ", which is an allele of ALT" : "");
    if ((unknown ? t->n_unknown : t->n_mismatches) == 0)
        memcpy(unknown ? t->unknown : t->mismatch, text, sizeof text);
    *(unknown ? &t->n_unknown : &t->n_mismatches) += 1;
    t->n_swapped += p->is_swapped;
    return COV_OK;
}

/* Returns true if the row has less of a width than the genome's window; *by_window: because the window is
 * too small. */
static bool is_cut(const struct cov_effect_options *o, const struct cov_alleles *p,
                   const struct cov_effect_row *row, bool *by_window)
{
    const size_t L = o->window;
    for (size_t i = 0; i < o->n_widths; i++) {
        const size_t half = (size_t)o->widths[i] / 2, rest = (size_t)o->widths[i] - half;
        const bool left = row->at < p->at && row->at < half;
        const bool right = row->at > p->at && L - row->at < rest;
        *by_window =
            (left && p->beg > 0) || (right && p->beg + (int64_t)L < o->genome->lengths[p->seq]);
        if (left || right)
            return true;
    }
    return false;
}

void cov_effect_tally_add_rows(struct cov_effect_tally *t, const struct cov_effect_options *o,
                               const struct cov_alleles *p, const struct cov_effect_rows *rows)
{
    for (size_t i = 0; i < rows->n;) {
        const size_t allele = rows->rows[i].allele;
        const enum cov_allele_status first = rows->rows[i].status;
        bool is_scored = false;
        for (; i < rows->n && rows->rows[i].allele == allele; i++) {
            bool by_window = false;
            if (rows->rows[i].status != COV_ALLELE_SCORED)
                continue;
            is_scored = true;
            t->n_cut += is_cut(o, p, &rows->rows[i], &by_window);
            t->n_cut_by_window += by_window;
        }
        if (!is_scored && p->items[allele].status == COV_ALLELE_SCORED) {
            t->n_alleles[COV_ALLELE_SCORED]--;
            t->n_alleles[first]++;
        }
    }
}

/* What to do about records whose REF differs from the genome. */
static const char *remedy(const struct cov_effect_tally *t)
{
    if (t->n_swapped > t->n_mismatches / 2)
        return ": REF and ALT are swapped, as PLINK and TASSEL write them; plink2 --ref-from-fa or "
               "bcftools norm --check-ref s puts them right";
    return t->n_mismatches > t->n_records / 2
               ? "; check that the variants were called with this genome"
               : "";
}

/* ", in 3 of these, ALT is what the genome has", or nothing. */
static const char *swapped(const struct cov_effect_tally *t, char text[96])
{
    text[0] = '\0';
    if (t->n_swapped > 0)
        (void)snprintf(text, 96,
                       "; in %" PRId64 " of these %" PRId64 ", ALT is what the genome has",
                       t->n_swapped, t->n_mismatches);
    return text;
}

int cov_effect_tally_check(const struct cov_effect_tally *t, const struct cov_variants *in,
                           const struct cov_effect_options *o, struct cov_err *e)
{
    const struct cov_genome *g = o->genome;
    struct cov_listing names = {.text = ""};
    char text[96];
    if (t->n_records == 0 || t->n_unknown + t->n_mismatches < t->n_records)
        return COV_OK;
    if (t->n_mismatches > 0)
        return cov_fail(e, COV_EINPUT,
                        "%s: no variant has the genome's bases as REF (%" PRId64 " of %" PRId64
                        " differ), the first at %s%s%s",
                        cov_variants_name(in), t->n_mismatches, t->n_records, t->mismatch,
                        swapped(t, text), remedy(t));
    for (size_t i = 0; i < g->n_seqs; i++)
        cov_listing_add(&names, g->names[i]);
    return cov_fail(e, COV_EINPUT,
                    "%s: no variant is on a sequence of the genome: %s; it has %s%s; --rename "
                    "changes its names",
                    cov_variants_name(in), t->unknown, names.text, cov_listing_more(&names));
}

static void report_lengths(const struct cov_effect_tally *t, const char *input)
{
    if (t->n_alleles[COV_ALLELE_LONG] > 0)
        cov_warn("%s: no scores for alleles that reach past their windows (%" PRId64
                 "); use a larger --window",
                 input, t->n_alleles[COV_ALLELE_LONG]);
    if (t->n_alleles[COV_ALLELE_END] > 0)
        cov_warn("%s: no scores for insertions that are longer than the rest of their sequence "
                 "(%" PRId64 ")",
                 input, t->n_alleles[COV_ALLELE_END]);
    if (t->n_cut > 0)
        cov_warn("%s: scores of fewer bases than --width, because other variants of the haplotype "
                 "move the allele towards an end of its window (%" PRId64 ")%s",
                 input, t->n_cut, t->n_cut_by_window > 0 ? "; use a larger --window" : "");
}

void cov_effect_tally_report(const struct cov_effect_tally *t, const struct cov_variants *in)
{
    const char *input = cov_variants_name(in);
    const int64_t n_signs = cov_variants_n_signs(in);
    char text[96];
    if (t->n_mismatches > 0)
        cov_warn("%s: no scores for variants that differ from the genome (%" PRId64 " of %" PRId64
                 "), the first at %s%s%s",
                 input, t->n_mismatches, t->n_records, t->mismatch, swapped(t, text), remedy(t));
    if (t->n_unknown > 0)
        cov_warn("%s: no scores for variants on unknown sequences (%" PRId64 " of %" PRId64
                 "): %s; --rename changes its names",
                 input, t->n_unknown, t->n_records, t->unknown);
    if (t->n_alleles[COV_ALLELE_EMPTY] > 0)
        cov_warn("%s: no scores for alleles whose record has N where no base is (%" PRId64
                 "), as Sniffles writes them; write the base before them in REF and ALT",
                 input, t->n_alleles[COV_ALLELE_EMPTY]);
    report_lengths(t, input);
    if (n_signs > 0)
        cov_warn("%s: genotypes with another phase sign before the first allele than after it "
                 "(%" PRId64 "); the first sign is not written",
                 input, n_signs);
    cov_info("variants: %" PRId64 "; alleles with scores: %" PRId64 "; without: symbolic %" PRId64
             ", overlapping deletions (*) %" PRId64,
             t->n_records, t->n_alleles[COV_ALLELE_SCORED], t->n_alleles[COV_ALLELE_SYMBOLIC],
             t->n_alleles[COV_ALLELE_OVERLAP]);
}

void cov_effect_tally_json(struct cov_json *json, const void *arg)
{
    static const char *const names[] = {
        [COV_ALLELE_SCORED] = "scored",     [COV_ALLELE_UNKNOWN] = "unknown_sequence",
        [COV_ALLELE_MISMATCH] = "mismatch", [COV_ALLELE_OVERLAP] = "overlapping_deletion",
        [COV_ALLELE_SYMBOLIC] = "symbolic", [COV_ALLELE_EMPTY] = "n_for_no_base",
        [COV_ALLELE_LONG] = "too_long",     [COV_ALLELE_END] = "past_sequence_end"};
    const struct cov_effect_tally *t = arg;
    cov_json_int(json, "variants", t->n_records);
    if (t->n_resumed >= 0)
        cov_json_int(json, "variants_resumed", t->n_resumed);
    cov_json_begin_object(json, "alleles");
    for (size_t i = 0; i < COV_COUNT(names); i++)
        cov_json_int(json, names[i], t->n_alleles[i]);
    cov_json_end_object(json);
}
