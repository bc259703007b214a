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
#ifndef COV_JOB_SHARED_OPTIONS_H
#define COV_JOB_SHARED_OPTIONS_H

#include <stddef.h>

#include "common/cli/opt.h"
#include "common/seq/genome.h"

#define COV_RENAME_OPTION(at)                                                                      \
    {                                                                                              \
        .name = "rename", .type = COV_OPT_STRING, .flags = COV_OPT_PATH_IN, .field = (at),         \
        .metavar = "FILE",                                                                         \
        .help = "two columns: name of a sequence in the input, name to use instead"                \
    }

/* HDF5 stores no chunk of 4 GiB or more, and one-hot takes eight bytes a base: at most 2^28 bases. */
#define COV_SUBSEQUENCE_LENGTH_OPTION(at)                                                          \
    {                                                                                              \
        .name = "subsequence-length", .type = COV_OPT_SIZE, .field = (at), .metavar = "N",         \
        .def = "21384", .min = 1, .max = 1 << 28,                                                  \
        .help = "length of the chunks that a FASTA is cut into, in bases"                          \
    }

#define COV_MIN_LENGTH_OPTION(at)                                                                  \
    {                                                                                              \
        .name = "min-length", .type = COV_OPT_SIZE, .field = (at), .metavar = "N", .min = 1,       \
        .max = 1e15, .help = "omit sequences shorter than N bases"                                 \
    }

#define COV_MAX_LENGTH_OPTION(at)                                                                  \
    {                                                                                              \
        .name = "max-length", .type = COV_OPT_SIZE, .field = (at), .metavar = "N", .min = 1,       \
        .max = 1e15, .help = "omit sequences longer than N bases"                                  \
    }

/* `before` of the help text: "" or, say, "with --evaluate: ". */
#define COV_BLACKLIST_OPTION(at, before)                                                           \
    {                                                                                              \
        .name = "blacklist", .type = COV_OPT_FLAG, .field = (at),                                  \
        .help = before "omit the chunks that a file's data/blacklist marks"                        \
    }

/* `names`: of enum cov_loading, as far as the tool has them; `more` ends the help text. */
#define COV_LOADING_OPTION(at, names, more)                                                        \
    {                                                                                              \
        .name = "loading", .type = COV_OPT_ENUM, .field = (at), .def = "disk", .choices = (names), \
        .help =                                                                                    \
            "where the data are during the run: on disk, or read into memory first, as stored "    \
            "or packed to 4 bits a base" more                                                      \
    }

/* `default_`: text or NULL; `what` is compressed. */
#define COV_COMPRESSION_OPTION(at, default_, what)                                                 \
    {                                                                                              \
        .name = "compression", .type = COV_OPT_STRING, .field = (at),                              \
        .metavar = "gzip|fast|libdeflate[:LEVEL]|lzf|lz4|zstd[:LEVEL]|blosc[:LEVEL]|none",         \
        .def = (default_), .help = "compression of " what                                          \
    }

/* `does` what with the regions: "predict only". */
#define COV_REGIONS_OPTION(at, does)                                                               \
    {                                                                                              \
        .name = "regions", .letter = 'r', .type = COV_OPT_LIST, .field = (at),                     \
        .metavar = "REGION,...",                                                                   \
        .help = does " these: NAME or NAME:FIRST-LAST, 1-based, both ends included; separated by " \
                     "commas, or the option repeated"                                              \
    }

#define COV_REGIONS_FILE_OPTION(at, does)                                                          \
    {                                                                                              \
        .name = "regions-file", .letter = 'R', .type = COV_OPT_STRING, .flags = COV_OPT_PATH_IN,   \
        .field = (at), .metavar = "BED", .help = does " the regions of a BED file"                 \
    }

/* ---- how a FASTA is read ---- */

struct cov_fasta_options {
    int64_t chunk_length;
    const char *species; /* NULL: not given */
    int on_bad_base;     /* enum cov_on_bad_base */
    const char *rename;
    int64_t min_length, max_length; /* 0: no limit */
};

enum cov_on_bad_base { COV_BAD_BASE_ERROR, COV_BAD_BASE_N };
extern const char *const cov_on_bad_base_names[]; /* ended by NULL */

/* Rows of the group, from its first one on. */
enum {
    COV_FASTA_ROW_LENGTH,
    COV_FASTA_ROW_SPECIES,
    COV_FASTA_ROW_ON_BAD_BASE,
    COV_FASTA_ROW_RENAME,
    COV_FASTA_ROWS_OF_FASTA, /* the rows before concern only a FASTA, those after any input */
    COV_FASTA_ROW_MIN_LENGTH = COV_FASTA_ROWS_OF_FASTA,
    COV_FASTA_ROW_MAX_LENGTH,
    COV_FASTA_ROWS
};

#define COV_FASTA_OPTIONS(at)                                                                      \
    COV_SUBSEQUENCE_LENGTH_OPTION((at) + offsetof(struct cov_fasta_options, chunk_length)),        \
        {.name = "species",                                                                        \
         .type = COV_OPT_STRING,                                                                   \
         .field = (at) + offsetof(struct cov_fasta_options, species),                              \
         .metavar = "NAME",                                                                        \
         .help = "species to store in the output (default: the FASTA's name without folder and "   \
                 "suffix)"},                                                                       \
        {.name = "on-bad-base",                                                                    \
         .type = COV_OPT_ENUM,                                                                     \
         .field = (at) + offsetof(struct cov_fasta_options, on_bad_base),                          \
         .def = "error",                                                                           \
         .choices = cov_on_bad_base_names,                                                         \
         .help = "what to do with a letter that is not an IUPAC code: stop, or read it as N and "  \
                 "count it"},                                                                      \
        COV_RENAME_OPTION((at) + offsetof(struct cov_fasta_options, rename)),                      \
        COV_MIN_LENGTH_OPTION((at) + offsetof(struct cov_fasta_options, min_length)),              \
        COV_MAX_LENGTH_OPTION((at) + offsetof(struct cov_fasta_options, max_length))

/* COV_EUSAGE for limits of length that exclude every sequence. */
int cov_fasta_options_check(const struct cov_fasta_options *o, struct cov_err *e) COV_MUST_USE;

/* How the FASTA is read; borrows the texts. */
struct cov_genome_options cov_fasta_options_genome(const struct cov_fasta_options *o,
                                                   const char *tmpdir, unsigned n_threads);

#endif
