/* opt.h - command-line options from one table per tool.
 *
 * The table produces the parser, `--help`, shell completion and the check of the man page. Parsing is strict: the whole
 * text of a value must be valid and in range; an unknown option, a missing value and a value for a flag are errors. Hyphen
 * and underscore are the same in long names; a long name may not be abbreviated; `--name=value` and `--name value`, `-n value`
 * and `-nvalue` are the same; flags may be bundled (`-fq`); `--` ends the options; options may stand after operands.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_OPT_H
#define COV_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

enum cov_opt_type {
    COV_OPT_FLAG,   /* bool */
    COV_OPT_COUNT,  /* int, one more each time it is given */
    COV_OPT_INT,    /* int64_t in [min, max] */
    COV_OPT_SIZE,   /* int64_t in [min, max], with k, M, G (powers of 1000) */
    COV_OPT_FLOAT,  /* double in [min, max], finite */
    COV_OPT_ENUM,   /* int: the index in `choices` */
    COV_OPT_STRING, /* const char * (points into argv); must not be empty */
    COV_OPT_LIST, /* struct cov_strings: comma separated, no empty parts. Owned, freed by cov_opt_fini */
};

enum cov_opt_flags {
    COV_OPT_REQUIRED = 1,
    COV_OPT_OPTIONAL_VALUE = 2, /* a value only after "=", as in --shift=4,-5 */
    COV_OPT_PATH_IN = 4,        /* the value is a file that is read (completion) */
    COV_OPT_PATH_OUT = 8,
};

struct cov_strings {
    char **items;
    size_t n;
};

/* One row. The table ends with a row whose `name` is NULL. */
struct cov_opt {
    const char *name; /* long name without dashes */
    char letter;      /* short name, or 0 */
    enum cov_opt_type type;
    unsigned flags;
    size_t field; /* offsetof(struct config, field) */
    const char *
        metavar; /* in help, as "N"; NULL for flags. Of an ENUM NULL means the choices joined by '|' */
    const char *
        def; /* the default as text, parsed like a value; NULL: field stays zero (a STRING: NULL) */
    double min, max;            /* of INT, SIZE, FLOAT; both 0: any */
    const char *const *choices; /* of ENUM, ended by NULL */
    const char *help;           /* one sentence without the default, which is added */
};

/* Fills `config` from the defaults and argv[1..argc-1], and moves the operands to the front of argv (argv[1..*n_operands]).
 * Errors are COV_EUSAGE and name the option. `given` (may be NULL) gets one bool per row: whether it was on the command
 * line. Tables are searched in the order given; `n_tables` rows of (table, config) pairs. */
struct cov_opt_set {
    const struct cov_opt *table;
    void *config;
    bool *given;
};
int cov_opt_parse(const struct cov_opt_set *sets, size_t n_sets, int argc, char **argv,
                  int *n_operands, struct cov_err *e) COV_MUST_USE;

/* Frees the lists in `config`. */
void cov_opt_fini(const struct cov_opt *table, void *config);

/* The options as text for --help, wrapped at 80 columns. */
void cov_opt_print_help(const struct cov_opt *table, FILE *f);

/* One line an option, tab separated: name, letter, type, metavar, default, choices, path (in|out|-), help. */
void cov_opt_print_machine(const struct cov_opt *table, FILE *f);

/* Whole-string number parsing with errno and range checked, for other texts than options. `what` names the thing. */
int cov_parse_i64(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                  struct cov_err *e) COV_MUST_USE;
int cov_parse_double(const char *text, const char *what, double min, double max, double *out,
                     struct cov_err *e) COV_MUST_USE;

#endif
