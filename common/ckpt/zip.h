/* zip.h - zip archives of uncompressed ("stored") entries, like those of torch.save, including
 * zip64.
 *
 * Format: PKWARE's APPNOTE.TXT 6.3. Uses no zip library, because programs that map a checkpoint
 * into memory expect each entry at a multiple of 64 bytes, which such libraries cannot write.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_ZIP_H
#define COV_CKPT_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* ---- reading ---- */

struct cov_zip;

/* Opens the archive and checks its whole structure: no entry reaches past the end of the file,
 * overlaps another entry or overlaps the directory; both copies of each header agree; no name is
 * repeated. Also refuses compressed or encrypted entries, split archives, and names that are
 * absolute or contain ".." or a backslash. The message of COV_EINPUT names the fault. */
int cov_zip_open(const char *path, struct cov_zip **out, struct cov_err *e) COV_MUST_USE;
void cov_zip_close(struct cov_zip *z); /* NULL is accepted */

uint64_t cov_zip_file_bytes(const struct cov_zip *z); /* size of the archive */

/* Entries 0 .. n-1, sorted by name. */
size_t cov_zip_n_entries(const struct cov_zip *z);
const char *cov_zip_name(const struct cov_zip *z, size_t i); /* borrowed until close */
size_t cov_zip_size(const struct cov_zip *z, size_t i);      /* in bytes; at most the file size */

/* Sets *i to the entry called `name`; returns false if there is none. */
bool cov_zip_find(const struct cov_zip *z, const char *name, size_t *i);

/* Reads entry i into buf[0..size) and checks its CRC-32. */
int cov_zip_read(const struct cov_zip *z, size_t i, void *buf, struct cov_err *e) COV_MUST_USE;

/* ---- writing ---- */

struct cov_zip_writer;

/* Creates or truncates `path`. `zip64` makes sizes and offsets 64 bits wide, for archives of
 * more than 4 GiB or 65,534 entries; old readers cannot read such archives. The same entries
 * give the same bytes, because all times are set to 1980-01-01. */
int cov_zip_create(const char *path, bool zip64, struct cov_zip_writer **out,
                   struct cov_err *e) COV_MUST_USE;

/* Appends an entry of n bytes, aligned to 64 bytes. Fails with COV_EUNSUPPORTED if the archive
 * needs zip64. */
int cov_zip_add(struct cov_zip_writer *w, const char *name, const void *data, size_t n,
                struct cov_err *e) COV_MUST_USE;

/* Writes the directory and closes the file; always frees *w. The file is complete only if this
 * returns 0. */
int cov_zip_finish(struct cov_zip_writer *w, struct cov_err *e) COV_MUST_USE;
void cov_zip_abort(struct cov_zip_writer *w); /* NULL is accepted */

#endif
