/* bgz.h - byte streams on htslib: reads plain, gzip and BGZF data from a file or standard input;
 * writes plain and BGZF data to a file or standard output.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_BGZ_H
#define COV_FILE_BGZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_bgz;

/* Opens `path`, a file, a URL or "-" (standard input), for reading. Detects the compression by
 * content: none, gzip (also with several members) or BGZF. `n_threads` > 1 decompresses BGZF in
 * parallel. */
int cov_bgz_open_read(const char *path, unsigned n_threads, struct cov_bgz **out,
                      struct cov_err *e) COV_MUST_USE;

/* Fails after an htslib function that opens `path`, a file or a URL, has set errno. */
int cov_bgz_fail_open(const char *path, struct cov_err *e) COV_MUST_USE;

/* Reads up to `n` bytes; *got = 0 at the end. Returns COV_EINPUT if a stream ends inside a
 * compressed block or member, or without BGZF's end-of-file block ("<path>: truncated ..."), or
 * if a checksum is wrong ("<path>: damaged ..."). As in gzip(1), zeros after the last member of
 * a gzip file are ignored; other trailing bytes are ignored with a warning. */
int cov_bgz_read(struct cov_bgz *b, void *buf, size_t n, size_t *got,
                 struct cov_err *e) COV_MUST_USE;

/* Copies the next n bytes, at most COV_BGZ_PEEK, without consuming them. *got is less than n only
 * at the end. */
enum { COV_BGZ_PEEK = 512 };
int cov_bgz_peek(struct cov_bgz *b, void *buf, size_t n, size_t *got,
                 struct cov_err *e) COV_MUST_USE;

/* Continues reading an uncompressed file or URL at offset `at` from SEEK_SET or SEEK_END, and sets
 * *reached to the offset in the file. */
int cov_bgz_seek(struct cov_bgz *b, int64_t at, int from, int64_t *reached,
                 struct cov_err *e) COV_MUST_USE;

/* Returns true if the input is BGZF, which consists of blocks with checksums. */
bool cov_bgz_is_bgzf(const struct cov_bgz *b);

/* Returns the total number of bytes that will be read, or -1 for pipes and compressed files,
 * where it is unknown. */
int64_t cov_bgz_total(const struct cov_bgz *b);

/* Returns the name of the input for messages: its path, or "standard input". Borrowed until
 * close. */
const char *cov_bgz_name(const struct cov_bgz *b);

enum cov_bgz_mode {
    COV_BGZ_PLAIN,   /* unchanged bytes */
    COV_BGZ_DEFLATE, /* BGZF */
    COV_BGZ_STORED   /* BGZF blocks with checksums, not compressed */
};

/* Creates or truncates `path` ("-": standard output) for writing. `n_threads` > 1 compresses in
 * parallel; the output bytes do not depend on the number of threads. */
int cov_bgz_open_write(const char *path, enum cov_bgz_mode mode, unsigned n_threads,
                       struct cov_bgz **out, struct cov_err *e) COV_MUST_USE;
int cov_bgz_write(struct cov_bgz *b, const void *buf, size_t n, struct cov_err *e) COV_MUST_USE;

/* Compresses src[0..n), n <= 65280, to deflate data (RFC 1951) in dst[0..*n_dst); dst has room
 * for n + 200 bytes. Several threads may call it at once. */
typedef int cov_bgz_deflate_fn(const uint8_t *src, size_t n, uint8_t *dst, size_t *n_dst,
                               struct cov_err *e);

/* Compresses BGZF blocks with `fn` instead of htslib. Call it before the first write. */
void cov_bgz_deflate_by(struct cov_bgz *b, cov_bgz_deflate_fn *fn);

/* Flushes the stream, writes the end-of-file block, and closes the stream. Always frees *b.
 * Reports any write error that was not reported before. */
int cov_bgz_close(struct cov_bgz *b, struct cov_err *e) COV_MUST_USE;

/* Closes and ignores errors. NULL is accepted. */
void cov_bgz_abort(struct cov_bgz *b);

/* Silences htslib's own messages, because our errors report the same faults, unless details are
 * shown (-v). Affects the whole process. */
void cov_bgz_set_log(void);

struct BGZF;
/* Describes the fault in a stream that htslib reads, for example "a block does not decompress".
 * Returns NULL if there is none. */
const char *cov_bgz_fault(const struct BGZF *stream);

struct htsFile;
/* Returns true, with errno set, if the operating system is the reason that reading failed. */
bool cov_bgz_is_unreadable(const struct htsFile *f);

/* Returns the number of unread bytes in the stream's current block, and sets *at to their
 * address, which is valid until the next read. */
size_t cov_bgz_block_rest(const struct BGZF *stream, const uint8_t **at);
/* Copies the next n bytes to `to`, without reading them. Returns false if the block has fewer. */
bool cov_bgz_peek_block(struct BGZF *stream, void *to, size_t n);
/* Skips the next n unread bytes of the block; does not update its address for bgzf_tell. */
void cov_bgz_block_skip(struct BGZF *stream, size_t n);

struct kstring_t;
enum { COV_BGZ_TOO_LONG = -2 };
/* Reads the next line into *line, without "\n" or "\r\n". Returns 1, 0 at the end, -1 for a fault
 * or a lack of memory, or COV_BGZ_TOO_LONG for a line of more than `most` bytes, of which it reads
 * little more. */
int cov_bgz_next_line(struct BGZF *stream, size_t most, struct kstring_t *line);

/* Writes the index of a finished, sorted bedGraph file in BGZF to `index_path`. The format is
 * .tbi, or .csi if `csi` is set; contigs longer than 2^29 bases need .csi. */
int cov_bgz_index_bed(const char *path, const char *index_path, bool csi,
                      struct cov_err *e) COV_MUST_USE;

/* The versions of htslib and zlib, for --version. */
const char *cov_bgz_version(void);
const char *cov_bgz_zlib_version(void);

#endif
