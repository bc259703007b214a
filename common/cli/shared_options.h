/* shared_options.h - options that several tools take; each row is written once, here.
 *
 * A macro expands to one row of a tool's table (common/cli/opt.h), or to the rows of a group, which
 * fill a struct inside the tool's config:
 *
 *     struct config { struct cov_fasta_options fasta; const char *rename; };
 *     static const struct cov_opt options[] = {
 *         COV_FASTA_OPTIONS(offsetof(struct config, fasta)),
 *         COV_RENAME_OPTION(offsetof(struct config, rename)),
 *         {.name = NULL},
 *     };
 *
 * `at` is the offset of the field or struct. Words that differ between tools are arguments.
 * --device and --cpu: device_options.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CLI_SHARED_OPTIONS_H
#define COV_CLI_SHARED_OPTIONS_H

#include <stddef.h>

#include "common/cli/opt.h"
#include "common/seq/genome.h"

#define COV_RENAME_OPTION(at)                                                                      \
    COV_OPT(STRING, "rename", 0, (at), "FILE",                                                     \
            "two columns: name of a sequence in the input, name to use instead",                   \
            .flags = COV_OPT_PATH_IN)

/* HDF5 stores no chunk of 4 GiB or more, and one-hot takes eight bytes per base, so the limit is
 * 2^28 bases. */
#define COV_SUBSEQUENCE_LENGTH_OPTION(at)                                                          \
    COV_OPT(SIZE, "subsequence-length", 0, (at), "N",                                              \
            "length of the chunks that a FASTA is cut into, in bases", .def = "21384", .min = 1,   \
            .max = 1 << 28)

#define COV_MIN_LENGTH_OPTION(at)                                                                  \
    COV_OPT(SIZE, "min-length", 0, (at), "N", "omit sequences shorter than N bases", .min = 1,     \
            .max = 1e15)

#define COV_MAX_LENGTH_OPTION(at)                                                                  \
    COV_OPT(SIZE, "max-length", 0, (at), "N", "omit sequences longer than N bases", .min = 1,      \
            .max = 1e15)

/* `before` begins the help text: "" or, say, "with --evaluate: ". */
#define COV_BLACKLIST_OPTION(at, before)                                                           \
    COV_OPT(FLAG, "blacklist", 0, (at), NULL,                                                      \
            before "omit the chunks that a file's data/blacklist marks")

/* `does`: what the tool does with them, say "drop". */
#define COV_BLACKLIST_FILE_OPTION(at, does)                                                        \
    COV_OPT(STRING, "blacklist-file", 0, (at), "FILE",                                             \
            does " sequences (one id per line) or regions (BED)", .flags = COV_OPT_PATH_IN)

/* `names`: those of enum cov_loading that the tool supports; `more` ends the help text. */
#define COV_LOADING_OPTION(at, names, more)                                                        \
    COV_OPT(ENUM, "loading", 0, (at), NULL,                                                        \
            "where to keep the data during the run: on disk, or in memory, as stored "             \
            "or packed to 4 bits per base" more,                                                   \
            .def = "disk", .choices = (names))

/* `default_`: text or NULL; `what`: what is compressed. */
#define COV_COMPRESSION_OPTION(at, default_, what)                                                 \
    COV_OPT(STRING, "compression", 0, (at),                                                        \
            "gzip|fast|libdeflate[:LEVEL]|lzf|lz4|zstd[:LEVEL]|blosc[:LEVEL]|none",                \
            "compression of " what, .def = (default_))

/* `does`: what the tool does with the regions, say "predict only". */
#define COV_REGIONS_OPTION(at, does)                                                               \
    COV_OPT(LIST, "regions", 'r', (at), "REGION,...",                                              \
            does " these: NAME, NAME:FIRST-LAST, NAME:FIRST- or NAME:-LAST, 1-based, both ends "   \
                 "included; separated by commas, or the option repeated")

#define COV_REGIONS_FILE_OPTION(at, does)                                                          \
    COV_OPT(STRING, "regions-file", 'R', (at), "BED", does " the regions of a BED file",           \
            .flags = COV_OPT_PATH_IN)

/* ---- options for reading a FASTA ---- */

struct cov_fasta_options {
    int64_t chunk_length;
    const char *species; /* NULL: not given */
    int on_bad_base;     /* enum cov_on_bad_base */
    const char *rename;
    int64_t min_length, max_length; /* 0: no limit */
};

enum cov_on_bad_base { COV_BAD_BASE_ERROR, COV_BAD_BASE_N };
extern const char *const cov_on_bad_base_names[]; /* ended by NULL */

/* Indices of the rows within the group. */
enum {
    COV_FASTA_ROW_LENGTH,
    COV_FASTA_ROW_SPECIES,
    COV_FASTA_ROW_ON_BAD_BASE,
    COV_FASTA_ROW_RENAME,
    COV_FASTA_ROWS_OF_FASTA, /* earlier rows apply only to a FASTA, later ones to any input */
    COV_FASTA_ROW_MIN_LENGTH = COV_FASTA_ROWS_OF_FASTA,
    COV_FASTA_ROW_MAX_LENGTH,
    COV_FASTA_ROWS
};

#define COV_ON_BAD_BASE_OPTION(at)                                                                 \
    COV_OPT(ENUM, "on-bad-base", 0, (at), NULL,                                                    \
            "what to do with a letter that is not an IUPAC code: stop, or read it as N and "       \
            "count it",                                                                            \
            .def = "error", .choices = cov_on_bad_base_names)

#define COV_FASTA_OPTIONS(at)                                                                      \
    COV_SUBSEQUENCE_LENGTH_OPTION((at) + offsetof(struct cov_fasta_options, chunk_length)),        \
        COV_OPT(STRING, "species", 0, (at) + offsetof(struct cov_fasta_options, species), "NAME",  \
                "species to store in the output (default: the FASTA's name without directory and " \
                "suffix)"),                                                                        \
        COV_ON_BAD_BASE_OPTION((at) + offsetof(struct cov_fasta_options, on_bad_base)),            \
        COV_RENAME_OPTION((at) + offsetof(struct cov_fasta_options, rename)),                      \
        COV_MIN_LENGTH_OPTION((at) + offsetof(struct cov_fasta_options, min_length)),              \
        COV_MAX_LENGTH_OPTION((at) + offsetof(struct cov_fasta_options, max_length))

/* COV_EUSAGE for length limits that exclude every sequence. */
int cov_fasta_options_check(const struct cov_fasta_options *o, struct cov_err *e) COV_MUST_USE;

/* COV_EUSAGE for a text that cannot be the name of a dataset. */
int cov_dataset_check_name(const char *name, const char *option, struct cov_err *e) COV_MUST_USE;

/* Returns the options in the form of cov_genome; borrows the strings. */
struct cov_genome_options cov_fasta_options_genome(const struct cov_fasta_options *o,
                                                   const char *tmpdir, unsigned n_threads);

#endif
