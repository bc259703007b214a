/* placement.h - messages about features that do not fit the sequences of another file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_PLACEMENT_H
#define COV_FEATURES_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/text.h"

/* Features on sequences that another file lacks. Strings are borrowed. */
struct cov_misplaced {
    const char *path, *what;      /* the file of features, and what they are: "peak" */
    size_t n;                     /* features on other sequences */
    bool is_all;                  /* there are no others */
    struct cov_listing sequences; /* those that the other file lacks */
    const char *input;            /* the other file */
    struct cov_listing there;     /* its sequences */
    const char *hint;             /* ends the message of a failure: "; --rename maps names" */
};

/* COV_EINPUT if all features are on other sequences. Otherwise, with `warns`, warns about those that
 * are. */
int cov_misplaced_check(const struct cov_misplaced *m, bool warns, struct cov_err *e) COV_MUST_USE;

/* A feature that ends after its sequence. */
struct cov_overhang {
    const char *path, *what;
    size_t line; /* 0: not known */
    int64_t end;
    const char *sequence;
    int64_t length;
    const char *input; /* which has the sequence */
};

/* Returns COV_EINPUT. */
int cov_overhang_fail(const struct cov_overhang *o, struct cov_err *e) COV_MUST_USE;

#endif
