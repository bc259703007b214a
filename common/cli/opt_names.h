/* opt_names.h - names that options have in other programs and had in earlier versions.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_OPT_NAMES_H
#define COV_CLI_OPT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A habit of users of samtools, bedtools, deepTools, MACS3, Predmoter or earlier versions. */
struct cov_opt_habit {
    const char *theirs; /* without dashes; a single letter is a short option */
    const char *ours;   /* a long name: the row is for tools that have it; NULL: for all tools */
    const char *advice; /* what to do instead; NULL: "did you mean --OURS?" */
    bool is_alias;      /* --THEIRS is taken as --OURS */
};

/* The rows end with one without `theirs`. The first row that fits a tool is used. */
extern const struct cov_opt_habit cov_opt_habits[];

/* Returns true if name[0..n) is `a`; hyphens and underscores are equivalent. */
bool cov_opt_same_name(const char *a, const char *name, size_t n);

/* Returns true if a[0..n), of at least three letters, is a prefix of `b`, or differs from `b` by
 * one inserted, deleted or replaced letter or by two swapped neighbours. */
bool cov_opt_is_close(const char *a, size_t n, const char *b);

#endif
