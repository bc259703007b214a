/* bgz.h - byte streams on htslib: plain, gzip and BGZF, files and standard input or output.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_BGZ_H
#define COV_BASE_BGZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/kind.h"

struct cov_bgz;

/* Opens `path` ("-": standard input) for reading. Compression is found by content: none, gzip
 * (several members too) or BGZF. `n_threads` > 1 decompresses BGZF in parallel. */
int cov_bgz_open_read(const char *path, unsigned n_threads, struct cov_bgz **out,
                      struct cov_err *e) COV_MUST_USE;

/* Reads up to `n` bytes; *got = 0 at the end. A stream that ends inside a compressed block or
 * member, or without BGZF's end-of-file block ("<path>: truncated ..."), or whose checksum is wrong
 * ("<path>: damaged ...") is an error (COV_EINPUT), never a silent end. As in gzip(1), zeros behind
 * the last member of a gzip file are ignored, and anything else there is with a warning. */
int cov_bgz_read(struct cov_bgz *b, void *buf, size_t n, size_t *got,
                 struct cov_err *e) COV_MUST_USE;

/* The first n bytes of what cov_bgz_read will give next, at most COV_BGZ_PEEK; they stay there.
 * *got is less than n only at the end. */
enum { COV_BGZ_PEEK = 64 };
int cov_bgz_peek(struct cov_bgz *b, void *buf, size_t n, size_t *got,
                 struct cov_err *e) COV_MUST_USE;

/* Whether what is read comes in the blocks of BGZF, with their checksums. */
bool cov_bgz_is_bgzf(const struct cov_bgz *b);

/* How many bytes will be read in all, or -1 where that cannot be told: pipes and compressed
 * files. */
int64_t cov_bgz_total(const struct cov_bgz *b);

/* What messages call the input: its path, or "standard input". Borrowed until close. */
const char *cov_bgz_name(const struct cov_bgz *b);

/* Of a regular file, which is unpacked if need be: *packed, if not NULL, says so. Of others nothing is read. */
enum cov_kind cov_kind_of_file(const char *path, bool *packed);

/* COV_EINPUT: "<path>: <what>, but a BAM file", where what is "not an HDF5 file", or ", but an HDF5 file compressed
 * by gzip"; without the end where nothing is known. */
int cov_fail_kind(struct cov_err *e, const char *path, const char *what);

enum cov_bgz_mode {
    COV_BGZ_PLAIN,   /* bytes as they are */
    COV_BGZ_DEFLATE, /* BGZF */
    COV_BGZ_STORED   /* BGZF, blocks and checksums, but not compressed */
};

/* Creates or truncates `path` ("-": standard output) for writing. `n_threads` > 1 compresses in
 * parallel; the bytes written do not depend on it. */
int cov_bgz_open_write(const char *path, enum cov_bgz_mode mode, unsigned n_threads,
                       struct cov_bgz **out, struct cov_err *e) COV_MUST_USE;
int cov_bgz_write(struct cov_bgz *b, const void *buf, size_t n, struct cov_err *e) COV_MUST_USE;

/* dst[0..*n_dst) = src[0..n), n <= 65280, as deflate (RFC 1951); there is room for n + 200 bytes.
 * Called by several threads at once. */
typedef int cov_bgz_deflate_fn(const uint8_t *src, size_t n, uint8_t *dst, size_t *n_dst,
                               struct cov_err *e);

/* Blocks of BGZF are to be made by `fn` instead of htslib. Before the first write. */
void cov_bgz_deflate_by(struct cov_bgz *b, cov_bgz_deflate_fn *fn);

/* Flushes, writes the end-of-file block, closes; frees *b in any case. Every write error comes out
 * here at the latest. */
int cov_bgz_close(struct cov_bgz *b, struct cov_err *e) COV_MUST_USE;

/* Closes without caring about the result. NULL is accepted. */
void cov_bgz_abort(struct cov_bgz *b);

/* What htslib itself would say is in our errors: it is silent, but where details are shown (-v). It has one level
 * for all of a process. */
void cov_bgz_set_log(void);

struct BGZF;
/* What is wrong with the blocks of a stream that htslib has opened for reading: "a block does not decompress"; NULL
 * for nothing. */
const char *cov_bgz_fault(const struct BGZF *stream);

struct hFILE;
/* The errno for which htslib could not read on in a stream, or where that is NULL in a file; 0 for none. */
int cov_bgz_errno(const struct BGZF *stream, struct hFILE *file);

/* Of such a stream: the bytes of its current block that it has not given yet. *at points to them until
 * it reads on; returns how many. */
size_t cov_bgz_block_rest(const struct BGZF *stream, const uint8_t **at);
/* Passes over the next n of them. */
void cov_bgz_block_skip(struct BGZF *stream, size_t n);

/* Writes a .tbi (or .csi, which a contig longer than 2^29 needs) for a finished, sorted bedGraph in
 * BGZF, under the name `index_path`. */
int cov_bgz_index_bed(const char *path, const char *index_path, bool csi,
                      struct cov_err *e) COV_MUST_USE;

/* The versions of htslib and zlib, for --version. */
const char *cov_bgz_version(void);
const char *cov_bgz_zlib_version(void);

#endif
