/* alignments.c - see alignments.h.
 * SPDX-License-Identifier: MIT */
#include "common/features/alignments.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <htslib/sam.h>
#include <htslib/thread_pool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/bgz.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"

enum { SHORT_CIGAR = 64, BLOCKS_AHEAD = 32, SHOWN = 100 };

struct cov_alignments {
    char *path;
    htsFile *file;
    htsThreadPool threads; /* outlives the file */
    sam_hdr_t *header;
    int32_t n_contigs;
    bam1_t *read;
    uint32_t cigar[SHORT_CIGAR]; /* CIGAR of a read that is decoded in its block */
    int64_t n_reads;             /* from the index, or -1 */
    int64_t n_got;
};

void cov_alignments_close(struct cov_alignments *a)
{
    if (!a)
        return;
    bam_destroy1(a->read);
    sam_hdr_destroy(a->header);
    if (a->file)
        (void)hts_close(a->file); /* opened for reading: nothing can be lost */
    if (a->threads.pool)
        hts_tpool_destroy(a->threads.pool);
    free(a->path);
    free(a);
}

/* Returns true if the file at `path` was modified before the one at `other`. */
static bool is_older(const char *path, const char *other)
{
    struct stat a, b;
    if (stat(path, &a) || stat(other, &b))
        return false;
    return a.st_mtim.tv_sec < b.st_mtim.tv_sec;
}

/* Gets the number of reads from the index, if there is one. Used only for the progress. */
static void ask_index(struct cov_alignments *a)
{
    static const char *const suffixes[] = {".csi", ".bai", ".crai"};
    a->n_reads = -1;
    if (a->file->format.format != bam || cov_path_is_url(a->path))
        return;
    for (size_t i = 0; i < COV_COUNT(suffixes); i++) {
        char *name = cov_strfmt(NULL, "%s%s", a->path, suffixes[i]);
        bool old = name && is_older(name, a->path);
        if (old)
            cov_warn("%s is older than %s", name, a->path);
        free(name);
        if (old)
            return;
    }
    hts_idx_t *index = sam_index_load3(a->file, a->path, NULL, HTS_IDX_SILENT_FAIL);
    if (!index)
        return;
    uint64_t n = hts_idx_get_n_no_coor(index);
    for (int i = 0; i < a->n_contigs; i++) {
        uint64_t mapped, unmapped;
        if (hts_idx_get_stat(index, i, &mapped, &unmapped) == 0)
            n += mapped + unmapped;
    }
    hts_idx_destroy(index);
    a->n_reads = n <= INT64_MAX ? (int64_t)n : -1;
}

/* Sets a thread pool that allows more blocks in flight than hts_set_threads() does, which reduces
 * waiting. Does nothing for a single thread. Returns false if there is no memory. */
static bool decompress_ahead(struct cov_alignments *a, unsigned n_threads)
{
    if (n_threads <= 1)
        return true;
    a->threads.pool = hts_tpool_init((int)n_threads);
    a->threads.qsize = BLOCKS_AHEAD * (int)n_threads;
    return a->threads.pool && hts_set_thread_pool(a->file, &a->threads) == 0;
}

/* Fails because htslib rejects the file or the file has a different format. */
static int refuse(const struct cov_alignments *a, struct cov_err *e)
{
    struct stat st;
    enum cov_kind kind = cov_kind_of_file(a->path, NULL);
    if (cov_path_is_std(a->path) || (stat(a->path, &st) == 0 && !S_ISREG(st.st_mode)))
        return cov_fail(e, COV_EINPUT,
                        "%s: not BAM, CRAM or SAM; other kinds cannot be read from a "
                        "pipe",
                        a->path);
    if (kind == COV_KIND_BAM || kind == COV_KIND_CRAM || kind == COV_KIND_SAM)
        return cov_fail(e, COV_EINPUT, "%s: damaged or truncated (%s)", a->path,
                        cov_kind_name(kind));
    if (kind == COV_KIND_BED)
        return cov_fail(e, COV_EINPUT, "%s: column 6 of its first line of BED is not +, - or .",
                        a->path);
    return cov_fail_kind(e, a->path,
                         "neither reads (BAM, CRAM, SAM, BED) nor a track (bigWig, bedGraph)");
}

static int open_file(struct cov_alignments *a, const struct cov_alignments_options *o,
                     struct cov_err *e)
{
    struct stat st;
    bool is_url = cov_path_is_url(a->path);
    int rc = is_url ? COV_OK : cov_path_check_file(a->path, e);
    if (rc)
        return rc;
    if (stat(a->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        return cov_fail(e, COV_EINPUT, "%s: empty file", a->path);
    cov_bgz_set_log();
    errno = 0;
    a->file = hts_open(a->path, "r");
    if (!a->file) {
        if (errno == ENOENT || errno == EACCES || errno == EIO || (is_url && errno)) {
            errno = errno == EPIPE ? EIO : errno;
            return cov_bgz_fail_open(a->path, e);
        }
        return refuse(a, e);
    }
    enum htsExactFormat format = a->file->format.format;
    if (format != bam && format != cram && format != sam)
        return refuse(a, e);
    if (o->reference && hts_set_fai_filename(a->file, o->reference) != 0)
        return cov_fail(e, COV_EINPUT, "%s: unusable reference %s", a->path, o->reference);
    if (format == cram) {
        /* Does not decode bases, qualities and tags. If bases are not decoded, no reference is
         * needed. */
        int fields = SAM_QNAME | SAM_FLAG | SAM_RNAME | SAM_POS | SAM_MAPQ | SAM_CIGAR | SAM_RNEXT |
                     SAM_PNEXT | SAM_TLEN;
        if (hts_set_opt(a->file, CRAM_OPT_REQUIRED_FIELDS, fields) != 0)
            return cov_fail(e, COV_EIO, "%s: htslib cannot read only a part of CRAM", a->path);
    }
    /* A file that was truncated at the end of a block lacks the last, empty block. Pipes cannot be
     * checked. */
    if (hts_check_EOF(a->file) == 0)
        return cov_fail(e, COV_EINPUT, "%s: truncated: the end-of-file marker is missing", a->path);
    /* For a BAM, threads are started after the header was read. While reading the header, htslib
     * also checks the end of the file, and it waits for ever if a thread that reads ahead has
     * already failed. */
    if (format != bam && !decompress_ahead(a, o->n_threads))
        return cov_fail(e, COV_ENOMEM, "%s: cannot start threads for decompression", a->path);
    a->header = sam_hdr_read(a->file);
    if (!a->header && cov_bgz_is_unreadable(a->file))
        return cov_fail_errno(e, "%s", a->path);
    if (!a->header)
        return cov_fail(e, COV_EINPUT, "%s: damaged header", a->path);
    if (format == bam && !decompress_ahead(a, o->n_threads))
        return cov_fail(e, COV_ENOMEM, "%s: cannot start threads for decompression", a->path);
    a->n_contigs = sam_hdr_nref(a->header);
    if (a->n_contigs <= 0)
        return cov_fail(e, COV_EINPUT, "%s: no sequences in the header", a->path);
    a->read = bam_init1();
    if (!a->read)
        return cov_fail(e, COV_ENOMEM, "out of memory");
    ask_index(a);
    return COV_OK;
}

int cov_alignments_open(const char *path, const struct cov_alignments_options *options,
                        struct cov_alignments **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_alignments *a = cov_calloc(1, sizeof *a, e);
    if (!a)
        return COV_ENOMEM;
    a->path = cov_strdup(path, e);
    int rc = a->path ? open_file(a, options, e) : COV_ENOMEM;
    if (rc)
        cov_alignments_close(a);
    else
        *out = a;
    return rc;
}

size_t cov_alignments_n_contigs(const struct cov_alignments *a)
{
    return (size_t)a->n_contigs;
}

const char *cov_alignments_contig(const struct cov_alignments *a, size_t i)
{
    return sam_hdr_tid2name(a->header, (int)i);
}

int64_t cov_alignments_contig_length(const struct cov_alignments *a, size_t i)
{
    return sam_hdr_tid2len(a->header, (int)i);
}

bool cov_alignments_is_sorted(const struct cov_alignments *a)
{
    kstring_t order = KS_INITIALIZE;
    bool sorted = sam_hdr_find_tag_hd(a->header, "SO", &order) == 0 &&
                  strcmp(ks_str(&order), "coordinate") == 0;
    ks_free(&order);
    return sorted;
}

int64_t cov_alignments_n_reads(const struct cov_alignments *a)
{
    return a->n_reads;
}

/* ---- reads ---- */

/* Parses one flag, the n bytes at `text`; returns 0 if it is none. */
static unsigned long parse_flag(const char *text, size_t n)
{
    static const char *const names[] = {
        "PAIRED", "PROPER_PAIR", "UNMAP",     "MUNMAP", "REVERSE", "MREVERSE",
        "READ1",  "READ2",       "SECONDARY", "QCFAIL", "DUP",     "SUPPLEMENTARY",
    };
    for (size_t i = 0; i < COV_COUNT(names); i++)
        if (strlen(names[i]) == n && strncasecmp(text, names[i], n) == 0)
            return 1UL << i;
    return 0;
}

int cov_read_flags_parse(const char *text, const char *what, unsigned *flags, struct cov_err *e)
{
    *flags = 0;
    for (const char *part = text;; part++) {
        size_t n = strcspn(part, ",");
        char *end = NULL;
        bool is_number = isdigit((unsigned char)*part);
        unsigned long flag = is_number ? strtoul(part, &end, 0) : parse_flag(part, n);
        if (is_number ? end != part + n || flag > COV_READ_ALL : flag == 0)
            return cov_fail(e, COV_EUSAGE,
                            "%s: '%.*s' is not a flag; use a number up to 65535, in decimal or as "
                            "0x904, or names as in UNMAP,SECONDARY,SUPPLEMENTARY",
                            what, n < SHOWN ? (int)n : SHOWN, part);
        *flags |= (unsigned)flag;
        part += n;
        if (!*part)
            return COV_OK;
    }
}

/* Operations that consume bases of the read. */
enum {
    TAKES_BASES = 1 << COV_CIGAR_M | 1 << COV_CIGAR_I | 1 << COV_CIGAR_S | 1 << COV_CIGAR_EQ |
                  1 << COV_CIGAR_X
};

/* A BAM record has four bytes with the length of the rest, 32 fixed bytes, the name with its
 * terminating zero, the CIGAR, bases, qualities and tags. */
enum { LENGTH_BYTES = 4, FIXED_BYTES = 32 };

static inline uint32_t load32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return le32toh(x);
}

/* Fast path for a valid record that is inside one block of a BAM file: reads it without copying its
 * bases. Returns false if htslib must read it. */
static bool take_from_block(struct cov_alignments *a, struct cov_read *read)
{
    const uint8_t *at;
    size_t rest = cov_bgz_block_rest(a->file->fp.bgzf, &at);
    if (rest < LENGTH_BYTES + FIXED_BYTES)
        return false;
    size_t n = load32(at);
    const uint8_t *r = at + LENGTH_BYTES;
    if (n < FIXED_BYTES || n > rest - LENGTH_BYTES)
        return false;
    uint32_t name_and_mapq = load32(r + 8), cigar_and_flags = load32(r + 12),
             n_bases = load32(r + 16);
    size_t n_name = name_and_mapq & 0xff, n_cigar = cigar_and_flags & 0xffff;
    int32_t contig = (int32_t)load32(r), pos = (int32_t)load32(r + 4);
    int32_t mate_contig = (int32_t)load32(r + 20);
    if (contig < -1 || contig >= a->n_contigs || mate_contig < -1 || mate_contig >= a->n_contigs ||
        pos < -1 || n_name == 0 || n_cigar > SHORT_CIGAR || n_bases > INT32_MAX ||
        n - FIXED_BYTES < n_name + 4 * n_cigar + ((size_t)n_bases + 1) / 2 + n_bases)
        return false;
    const uint8_t *name = r + FIXED_BYTES, *cigar = name + n_name;
    if (name[n_name - 1] != '\0')
        return false;
    uint64_t n_taken = 0;
    for (size_t i = 0; i < n_cigar; i++) {
        uint32_t op = a->cigar[i] = load32(cigar + 4 * i);
        n_taken += TAKES_BASES >> (op & 0xf) & 1 ? op >> 4 : 0;
    }
    unsigned flags = cigar_and_flags >> 16;
    if (n_cigar > 0 && n_bases > 0 && n_taken != n_bases && !(flags & COV_READ_UNMAPPED))
        return false; /* htslib reports it */
    if (n_cigar > 0 && a->cigar[0] == (n_bases << 4 | COV_CIGAR_S))
        return false; /* more than 65535 operations: the CIGAR is in a tag */
    *read = (struct cov_read){
        .name = (const char *)name,
        .contig = contig,
        .pos = pos,
        .flags = flags,
        .mapq = name_and_mapq >> 8 & 0xff,
        .cigar = a->cigar,
        .n_cigar = n_cigar,
        .mate_contig = mate_contig,
        .mate_pos = (int32_t)load32(r + 24),
        .template_length = (int32_t)load32(r + 28),
    };
    cov_bgz_block_skip(a->file->fp.bgzf, LENGTH_BYTES + n);
    a->n_got++;
    return true;
}

/* Returns the number of reads before a fault. Threads parse SAM lines ahead, so some reads before
 * the fault were never returned. To count them, a regular file is read again with one thread. */
static int64_t count_sound(const struct cov_alignments *a)
{
    struct stat st;
    bool again = a->file->format.format == sam && a->threads.pool && stat(a->path, &st) == 0 &&
                 S_ISREG(st.st_mode);
    htsFile *file = again ? hts_open(a->path, "r") : NULL;
    sam_hdr_t *header = file ? sam_hdr_read(file) : NULL;
    int64_t n = 0;
    while (header && sam_read1(file, header, a->read) >= 0)
        n++;
    sam_hdr_destroy(header);
    if (file)
        (void)hts_close(file); /* opened for reading */
    return n > a->n_got ? n : a->n_got;
}

/* Describes why there is no next read. */
static const char *find_fault(const struct cov_alignments *a)
{
    const htsFile *f = a->file;
    const char *fault = f->is_bgzf ? cov_bgz_fault(f->fp.bgzf) : NULL;
    if (fault)
        return fault;
    return f->format.format == sam   ? "the next line is not a read"
           : f->format.format == bam ? "the next record is not a read"
                                     : "the next container cannot be decoded";
}

int cov_alignments_next(struct cov_alignments *a, struct cov_read *read, struct cov_err *e)
{
    if (a->file->format.format == bam && take_from_block(a, read))
        return 1;
    int got = sam_read1(a->file, a->header, a->read);
    if (got == -1)
        return 0;
    if (got < -1 && cov_bgz_is_unreadable(a->file))
        return cov_fail_errno(e, "%s", a->path);
    if (got < -1)
        return cov_fail(e, COV_EINPUT, "%s: damaged or truncated after read %lld: %s", a->path,
                        (long long)count_sound(a), find_fault(a));
    a->n_got++;
    const bam1_t *b = a->read;
    if (b->core.tid >= a->n_contigs || b->core.pos < -1)
        return cov_fail(e, COV_EINPUT, "%s: read %lld (%s) has an invalid position", a->path,
                        (long long)a->n_got, bam_get_qname(b));
    *read = (struct cov_read){
        .name = bam_get_qname(b),
        .contig = b->core.tid,
        .pos = b->core.pos,
        .flags = b->core.flag,
        .mapq = b->core.qual,
        .cigar = bam_get_cigar(b),
        .n_cigar = b->core.n_cigar,
        .mate_contig = b->core.mtid,
        .mate_pos = b->core.mpos,
        .template_length = b->core.isize,
    };
    return 1;
}
