/* vcf_line.h - lines of a VCF as text: what has to be known, or changed, before htslib parses them.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_VCF_LINE_H
#define COV_FEATURES_VCF_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COV_VCF_LAST_FIXED = 8, COV_VCF_HAS_FORMAT = 9 }; /* columns of a VCF */

/* Returns the number of columns of a line of n bytes. */
size_t cov_vcf_line_columns(const char *line, size_t n);

/* Returns the bytes of the widest value of each field of the samples, summed. */
size_t cov_vcf_line_widest(const char *line);

/* Returns true if a value may begin with a phase sign. */
bool cov_vcf_line_has_signs(const char *line);

/* Drops the phase sign before the first allele of a genotype, which VCF 4.4 allows and htslib < 1.22 does
 * not read. The line has samples, and *n bytes. Returns the number of signs that differ from the next
 * one. */
int64_t cov_vcf_line_drop_signs(char *line, size_t *n);

#endif
