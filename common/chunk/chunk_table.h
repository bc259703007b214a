/* chunk_table.h - the columns that describe each row of a genome or predictions file: data/seqids,
 * species, start_ends.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CHUNK_CHUNK_TABLE_H
#define COV_CHUNK_CHUNK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/h5/h5.h"
#include "common/seq/grid.h"

/* COV_EINPUT if the file has none of the groups of genome and predictions files; the message says
 * that dataset `wanted` is missing. HDF5's thread. */
int cov_chunk_table_expect(const struct cov_h5 *f, const char *wanted,
                           struct cov_err *e) COV_MUST_USE;

/* Reads the grid of n_rows rows of length L. Without data/species, all species are "". Partial
 * files have data/seq_names and data/seq_lengths; then the grid knows all sequences of the genome,
 * and may have no rows. If such a file has no data/seq_species, all sequences have the species of
 * the first row. The message of COV_EINPUT names the file and the dataset. HDF5's thread. Free
 * with cov_grid_free. */
int cov_chunk_table_read(struct cov_h5 *f, size_t n_rows, size_t L, struct cov_grid **out,
                         struct cov_err *e) COV_MUST_USE;

/* Writes these columns, and for a partial grid also the columns of the whole genome. Names take 50
 * bytes and species take species_bytes. If a string is longer, a warning is given and its column is
 * made as wide as needed. HDF5's thread. */
int cov_chunk_table_write(struct cov_h5 *f, const struct cov_grid *grid, size_t species_bytes,
                          struct cov_codec_choice compression, struct cov_err *e) COV_MUST_USE;

/* n strings: get(arg, i) returns string i. */
struct cov_text_list {
    size_t n;
    const char *(*get)(const void *arg, size_t i);
    const void *arg;
};
/* A `get` for an array of strings. */
const char *cov_text_of_array(const void *texts, size_t i);

/* Returns the bytes per string for a dataset: `usual`, or the length of the longest string, with a
 * warning, if that is longer. */
size_t cov_text_width(const char *set, size_t usual, const struct cov_text_list *texts);

/* Writes a dataset of strings of `width` bytes, zero-padded. HDF5's thread. */
int cov_texts_write(struct cov_h5 *f, const char *set, size_t width,
                    const struct cov_text_list *texts, size_t chunk_rows,
                    struct cov_codec_choice compression, struct cov_err *e) COV_MUST_USE;

#define COV_BLACKLIST_SET "data/blacklist"

/* Writes the blacklist, which must not exist yet: 1 for rows to keep, 0 for other rows. HDF5's
 * thread. */
int cov_blacklist_rows_write(struct cov_h5 *f, const bool *keep, size_t n_rows,
                             struct cov_codec_choice compression, struct cov_err *e) COV_MUST_USE;
/* Sets *same to whether the blacklist has these values. HDF5's thread. */
int cov_blacklist_rows_compare(struct cov_h5 *f, const bool *keep, size_t n_rows, bool *same,
                               struct cov_err *e) COV_MUST_USE;

/* Formats a row as "row 7 (Chr1:21385-42768, - strand)", truncated to fit buf. */
enum { COV_ROW_TEXT_BYTES = 200 };
const char *cov_row_text(const struct cov_grid *grid, size_t i, char buf[COV_ROW_TEXT_BYTES]);

#endif
