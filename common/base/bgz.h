/* bgz.h - byte streams on htslib: plain, gzip and BGZF, files and standard input or output.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_BGZ_H
#define COV_BASE_BGZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/file_kind.h"

struct cov_bgz;

/* Opens `path` ("-": standard input) for reading. Detects the compression by content: none, gzip
 * (also with several members) or BGZF. `n_threads` > 1 decompresses BGZF in parallel. */
int cov_bgz_open_read(const char *path, unsigned n_threads, struct cov_bgz **out,
                      struct cov_err *e) COV_MUST_USE;

/* Reads up to `n` bytes; *got = 0 at the end. COV_EINPUT if a stream ends inside a compressed block
 * or member, or without BGZF's end-of-file block ("<path>: truncated ..."), or if a checksum is
 * wrong ("<path>: damaged ..."). As in gzip(1), zeros after the last member of a gzip file are
 * ignored; other trailing bytes are ignored with a warning. */
int cov_bgz_read(struct cov_bgz *b, void *buf, size_t n, size_t *got,
                 struct cov_err *e) COV_MUST_USE;

/* Copies the next n bytes, at most COV_BGZ_PEEK, without consuming them. *got is less than n only
 * at the end. */
enum { COV_BGZ_PEEK = 64 };
int cov_bgz_peek(struct cov_bgz *b, void *buf, size_t n, size_t *got,
                 struct cov_err *e) COV_MUST_USE;

/* True if the input is BGZF: blocks with checksums. */
bool cov_bgz_is_bgzf(const struct cov_bgz *b);

/* Total bytes that will be read; -1 if unknown: pipes and compressed files. */
int64_t cov_bgz_total(const struct cov_bgz *b);

/* The name of the input in messages: its path, or "standard input". Borrowed until close. */
const char *cov_bgz_name(const struct cov_bgz *b);

/* Returns the kind of a regular file; *packed (may be NULL) is true if it is gzip, which is
 * decompressed to look inside. Does not read from other files, such as pipes. */
enum cov_kind cov_kind_of_file(const char *path, bool *packed);

/* Fails with COV_EINPUT and "<path>: <what>, but a BAM file", where `what` is like "not an HDF5
 * file"; ", but an HDF5 file compressed by gzip" for formats that need random access; without ",
 * but ..." for unknown files. */
int cov_fail_kind(struct cov_err *e, const char *path, const char *what);

enum cov_bgz_mode {
    COV_BGZ_PLAIN,   /* unchanged bytes */
    COV_BGZ_DEFLATE, /* BGZF */
    COV_BGZ_STORED   /* BGZF blocks with checksums, not compressed */
};

/* Creates or truncates `path` ("-": standard output) for writing. `n_threads` > 1 compresses in
 * parallel; the bytes do not depend on it. */
int cov_bgz_open_write(const char *path, enum cov_bgz_mode mode, unsigned n_threads,
                       struct cov_bgz **out, struct cov_err *e) COV_MUST_USE;
int cov_bgz_write(struct cov_bgz *b, const void *buf, size_t n, struct cov_err *e) COV_MUST_USE;

/* dst[0..*n_dst) = src[0..n) as deflate data (RFC 1951), n <= 65280; dst has room for n + 200
 * bytes. Called by several threads at once. */
typedef int cov_bgz_deflate_fn(const uint8_t *src, size_t n, uint8_t *dst, size_t *n_dst,
                               struct cov_err *e);

/* Compresses BGZF blocks with `fn` instead of htslib. Call it before the first write. */
void cov_bgz_deflate_by(struct cov_bgz *b, cov_bgz_deflate_fn *fn);

/* Flushes, writes the end-of-file block and closes; always frees *b. Reports every write error that
 * was not reported before. */
int cov_bgz_close(struct cov_bgz *b, struct cov_err *e) COV_MUST_USE;

/* Closes and ignores errors. NULL is accepted. */
void cov_bgz_abort(struct cov_bgz *b);

/* Silences htslib's own messages, which our errors cover, unless details are shown (-v). One level
 * for the whole process. */
void cov_bgz_set_log(void);

struct BGZF;
/* The fault in a stream that htslib reads, such as "a block does not decompress"; NULL if there is
 * none. */
const char *cov_bgz_fault(const struct BGZF *stream);

struct hFILE;
/* The errno of a failed read of a stream, or of `file` if the stream is NULL; 0 for none. */
int cov_bgz_errno(const struct BGZF *stream, struct hFILE *file);

/* The number of unread bytes in the stream's current block. *at points to them until the next
 * read. */
size_t cov_bgz_block_rest(const struct BGZF *stream, const uint8_t **at);
/* Skips the next n of them. */
void cov_bgz_block_skip(struct BGZF *stream, size_t n);

/* Writes the index `index_path` of a finished, sorted bedGraph file in BGZF: .tbi, or .csi, which
 * contigs longer than 2^29 need. */
int cov_bgz_index_bed(const char *path, const char *index_path, bool csi,
                      struct cov_err *e) COV_MUST_USE;

/* The versions of htslib and zlib, for --version. */
const char *cov_bgz_version(void);
const char *cov_bgz_zlib_version(void);

#endif
