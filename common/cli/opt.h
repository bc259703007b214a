/* opt.h - command-line options from one table per tool.
 *
 * The table produces the parser, `--help`, and the list for programs that man pages are checked
 * against. Parsing is strict: the whole text of a value must be valid and in range; an unknown
 * option, a missing value, a value for a flag, and two different values for one option are errors.
 * Hyphen and underscore are the same in long names; a long name may not be abbreviated;
 * `--name=value` and `--name value`, `-n value`, `-nvalue` and `-n=value` are the same; flags may
 * be bundled (`-fq`); `--` ends the options; options may stand after operands. A list that is given
 * several times grows.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_OPT_H
#define COV_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

enum cov_opt_type {
    COV_OPT_FLAG,   /* bool */
    COV_OPT_COUNT,  /* int, one more each time it is given */
    COV_OPT_INT,    /* int64_t in [min, max] */
    COV_OPT_SIZE,   /* int64_t in [min, max], with k, M, G (powers of 1000); "0.125G" too */
    COV_OPT_FLOAT,  /* double in [min, max], finite */
    COV_OPT_ENUM,   /* int: the index in `choices` */
    COV_OPT_STRING, /* const char * (points into argv); must not be empty */
    COV_OPT_LIST,   /* struct cov_strings: comma separated, no empty parts. Freed by cov_opt_fini */
};

enum cov_opt_flags {
    COV_OPT_REQUIRED = 1,
    COV_OPT_OPTIONAL_VALUE = 2, /* a value only after "=", as in --shift=4,-5; else the default */
    COV_OPT_PATH_IN = 4,        /* the value is a file that is read, and so no output */
    COV_OPT_PATH_OUT = 8,
    COV_OPT_HIDDEN = 16, /* neither in the help nor in the machine-readable list */
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
    size_t field;               /* offsetof(struct config, field) */
    const char *metavar;        /* in help, as "N"; NULL for flags. NULL of an ENUM: its choices */
    const char *def;            /* the default, parsed like a value; NULL: zero (a STRING: NULL) */
    double min, max;            /* of INT, SIZE, FLOAT; both 0: any (a SIZE: not negative) */
    const char *const *choices; /* of ENUM, ended by NULL */
    const char *help;           /* a phrase: no capital, no full stop; the default is added */
};

/* A table and the struct that it fills. `given` (may be NULL) gets one bool per row: whether it was
 * on the command line. */
struct cov_opt_set {
    const struct cov_opt *table;
    void *config;
    bool *given;
};

/* Fills the configs from the defaults and argv[1..argc-1] and moves the operands to the front of
 * argv (argv[1..*n_operands]). Tables are searched in the order given. Errors are COV_EUSAGE and
 * name the option; what stood before the faulty argument has been taken then, and cov_opt_fini is
 * still due. */
int cov_opt_parse(const struct cov_opt_set *sets, size_t n_sets, int argc, char **argv,
                  int *n_operands, struct cov_err *e) COV_MUST_USE;

/* Frees the lists in `config`. */
void cov_opt_fini(const struct cov_opt *table, void *config);

/* The options as text for --help, wrapped at 80 columns. */
void cov_opt_print_help(const struct cov_opt *table, FILE *f);

/* One line an option, tab separated: name, letter, type (as in enum cov_opt_type, lower case),
 * metavar ("[=X]" when optional), default, choices joined by '|', path (in or out), help. Empty
 * fields are "-". */
void cov_opt_print_machine(const struct cov_opt *table, FILE *f);

#endif
