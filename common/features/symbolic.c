/* symbolic.c - see symbolic.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/symbolic.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/err.h"

static enum cov_symbolic_kind kind_of(const char *allele)
{
    static const struct {
        const char *text;
        enum cov_symbolic_kind kind;
        bool has_subtypes;
    } kinds[] = {{"<DEL", COV_SYMBOLIC_DEL, true},       {"<INS", COV_SYMBOLIC_INS, true},
                 {"<DUP", COV_SYMBOLIC_DUP, false},      {"<DUP:TANDEM", COV_SYMBOLIC_DUP, false},
                 {"<INV", COV_SYMBOLIC_INV, false},      {"<*", COV_SYMBOLIC_OTHER, false},
                 {"<NON_REF", COV_SYMBOLIC_OTHER, false}};
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_";
    for (size_t i = 0; i < COV_COUNT(kinds); i++) {
        const size_t n = strlen(kinds[i].text);
        if (strncmp(allele, kinds[i].text, n) != 0)
            continue;
        const char *end = allele + n;
        if (kinds[i].has_subtypes && *end == ':')
            end += strspn(end, plain);
        if (strcmp(end, ">") == 0)
            return kinds[i].kind;
    }
    return COV_SYMBOLIC_NONE;
}

/* The number of bases of allele i, see struct cov_symbolic. INFO/END is where the longest allele ends. */
static int64_t find_length(const struct cov_variant *v, size_t i)
{
    const size_t n_alts = v->n_alleles - 1;
    const int64_t pos = v->pos + 1;
    int64_t end = 0, length = 0;
    const bool has_end = cov_variant_info_integer(v, "END", 0, 1, &end);
    if (!cov_variant_info_integer(v, "SVLEN", i - 1, n_alts, &length))
        length = 0;
    length = length < 0 ? -length : length;
    if (!has_end)
        return length;
    if (end <= pos)
        return -1;
    if (length == 0)
        return end - pos;
    return length == end - pos || (n_alts > 1 && length < end - pos) ? length : -1;
}

void cov_symbolic_find(const struct cov_variant *v, size_t i, struct cov_symbolic *out)
{
    const size_t n_alts = v->n_alleles - 1;
    *out = (struct cov_symbolic){.kind = kind_of(v->alleles[i])};
    const bool inserts = out->kind == COV_SYMBOLIC_INS;
    if (out->kind == COV_SYMBOLIC_NONE || out->kind == COV_SYMBOLIC_OTHER)
        return;
    if (!inserts)
        out->n_bases = find_length(v, i);
    if (out->kind != COV_SYMBOLIC_INV &&
        !cov_variant_info_text(v, "SVINSSEQ", i - 1, n_alts, &out->seq, &out->n_seq) &&
        !(inserts && cov_variant_info_text(v, "SEQ", i - 1, n_alts, &out->seq, &out->n_seq)))
        out->n_seq = 0;
}
