/* opt.h - command-line options, which each tool describes in one table.
 *
 * The table provides the parser, `--help`, and the machine-readable list that man pages are checked
 * against. Parsing is strict: the whole value must be valid and in range; unknown options, missing
 * values, values for flags, and two different values for one option are errors. Long names may not
 * be abbreviated, but have aliases (`habits` in opt.c); hyphens and underscores in them are equivalent.
 * So are `--name=value`, `--name value`, `-n value`, `-nvalue` and `-n=value`. Flags may be bundled
 * (`-fq`); `--` ends the options; options may follow operands. If a list option is given several
 * times, its lists are joined.
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
    COV_OPT_COUNT,  /* int: incremented each time */
    COV_OPT_INT,    /* int64_t in [min, max] */
    COV_OPT_SIZE,   /* int64_t in [min, max]; may end in k, M or G (powers of 1000): "0.125G" */
    COV_OPT_FLOAT,  /* double in [min, max], finite */
    COV_OPT_ENUM,   /* int: the index in `choices` */
    COV_OPT_STRING, /* const char * (into argv); must not be empty */
    COV_OPT_LIST,   /* struct cov_strings: comma separated; blanks after a comma
                     * are skipped; no empty parts. Freed by cov_opt_fini */
};

enum cov_opt_flags {
    COV_OPT_REQUIRED = 1,
    COV_OPT_OPTIONAL_VALUE = 2, /* takes a value only after "=", as in --shift=4,-5; else the
                                 * default */
    COV_OPT_PATH_IN = 4,        /* an input file, neither an output nor standard input */
    COV_OPT_PATH_OUT = 8,
    COV_OPT_UNIQUE = 32, /* a list whose parts must differ */
    COV_OPT_HIDDEN = 16, /* omitted from --help and the machine-readable list */
};

struct cov_strings {
    char **items;
    size_t n;
};

/* One row. A row whose `name` is NULL ends the table. */
struct cov_opt {
    const char *name; /* long name without dashes */
    char letter;      /* short name, or 0 */
    enum cov_opt_type type;
    unsigned flags;
    size_t field;        /* offsetof(struct config, field) */
    const char *metavar; /* in help, as "N"; NULL: a flag, or an ENUM, which shows its choices */
    const char *def;     /* the default, parsed like a value; NULL: zero (a STRING: NULL) */
    double min, max;     /* INT, SIZE, FLOAT: limits; both 0: none (SIZE: not negative) */
    const char *const *choices; /* ENUM: the values, ended by NULL */
    const char *help;           /* a phrase without capital or full stop; the default is appended */
    const char *heading;        /* --help prints it above this row; NULL: none */
};

/* Defines a row of a table. The arguments are the type without COV_OPT_, the fields that every row
 * has, and designated initialisers for the other fields:
 *
 *     COV_OPT(INT, "step", 0, FIELD(step), "N", "stride of a convolution", .def = "2", .min = 1) */
#define COV_OPT(type_, name_, letter_, field_, metavar_, help_, ...)                               \
    {                                                                                              \
        .name = (name_), .letter = (letter_), .type = COV_OPT_##type_, .field = (field_),          \
        .metavar = (metavar_), .help = (help_), __VA_ARGS__                                        \
    }

/* A table and the struct that it fills. `given` (may be NULL) has a bool per row, which is true
 * if the option was on the command line. */
struct cov_opt_set {
    const struct cov_opt *table;
    void *config;
    bool *given;
};

/* Fills the configs from the defaults and argv[1..argc-1], and moves the operands to
 * argv[1..*n_operands]. Searches the tables in order. Errors are COV_EUSAGE and name the option.
 * When an argument is faulty, those before it have already been processed, so always call
 * cov_opt_fini. */
int cov_opt_parse(const struct cov_opt_set *sets, size_t n_sets, int argc, char **argv,
                  int *n_operands, struct cov_err *e) COV_MUST_USE;

/* Frees the lists in `config`. */
void cov_opt_fini(const struct cov_opt *table, void *config);

/* Prints the options for --help, wrapped at 80 columns. */
void cov_opt_print_help(const struct cov_opt *table, FILE *f);

/* Prints one line per option, with tab-separated fields: name, letter, type (enum cov_opt_type
 * in lower case), metavar ("[=X]" if optional), default, choices joined by '|', path (in or
 * out), help. Empty fields are "-". */
void cov_opt_print_machine(const struct cov_opt *table, FILE *f);

/* Returns true if a[0..n), of at least three letters, is a prefix of `b`, or differs from `b` by
 * one inserted, deleted or replaced letter or by two swapped neighbours. */
bool cov_opt_is_close(const char *a, size_t n, const char *b);

#endif
