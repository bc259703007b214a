/* chunk_table.h - the columns that say what each row of a file is: data/seqids, species,
 * start_ends.
 *
 * Genome files and predictions files have them in common.
 * SPDX-License-Identifier: MIT */
#ifndef COV_STORE_CHUNK_TABLE_H
#define COV_STORE_CHUNK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/codec/codec.h"
#include "common/seq/grid.h"
#include "common/store/h5.h"

/* The grid of the n_rows rows of length L. data/species may be missing: "" then. With
 * data/seq_names and data/seq_lengths, which partial files have, it knows all sequences of the
 * genome, and there may be no rows at all; where data/seq_species is missing all are of the first
 * row's species. COV_EINPUT names file and data set. HDF5's thread. Free with cov_grid_free. */
int cov_chunk_table_read(struct cov_h5 *f, size_t n_rows, size_t L, struct cov_grid **out,
                         struct cov_err *e) COV_MUST_USE;

/* Writes them, and those of the whole genome for a partial grid: names of 50 bytes, or as many as
 * the longest needs (with a warning); of the species `species_bytes` at least. HDF5's thread. */
int cov_chunk_table_write(struct cov_h5 *f, const struct cov_grid *grid, size_t species_bytes,
                          struct cov_codec_choice compression, struct cov_err *e) COV_MUST_USE;

/* n texts: get(arg, i) returns text i. */
struct cov_text_list {
    size_t n;
    const char *(*get)(const void *arg, size_t i);
    const void *arg;
};
/* `get` for an array of texts. */
const char *cov_text_of_array(const void *texts, size_t i);

/* Bytes per text of a data set: `usual`, or, with a warning, the length of the longest text. */
size_t cov_text_width(const char *set, size_t usual, const struct cov_text_list *texts);

/* A data set of texts of `width` bytes, zero-padded. HDF5's thread. */
int cov_texts_write(struct cov_h5 *f, const char *set, size_t width,
                    const struct cov_text_list *texts, size_t chunk_rows,
                    struct cov_codec_choice compression, struct cov_err *e) COV_MUST_USE;

/* Writes data/blacklist, which is not there yet: 1 for each row to keep, 0 for the others. HDF5's
 * thread. */
int cov_blacklist_rows_write(struct cov_h5 *f, const bool *keep, size_t n_rows,
                             struct cov_codec_choice compression, struct cov_err *e) COV_MUST_USE;
/* *same: data/blacklist holds exactly that. HDF5's thread. */
int cov_blacklist_rows_compare(struct cov_h5 *f, const bool *keep, size_t n_rows, bool *same,
                               struct cov_err *e) COV_MUST_USE;

/* "row 7 (Chr1:21385-42768, - strand)", cut to fit buf. */
enum { COV_ROW_TEXT_BYTES = 200 };
const char *cov_row_text(const struct cov_grid *grid, size_t i, char buf[COV_ROW_TEXT_BYTES]);

#endif
