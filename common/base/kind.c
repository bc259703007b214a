/* kind.c - see kind.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/kind.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bgz.h"

enum { HEAD = 64, ZIP_NAME = 30 }; /* ZIP_NAME: where the first member's name begins */

const char *cov_kind_name(enum cov_kind kind)
{
    static const char *const names[] = {
        [COV_KIND_UNKNOWN] = NULL,
        [COV_KIND_BAM] = "a BAM file",
        [COV_KIND_CRAM] = "a CRAM file",
        [COV_KIND_SAM] = "a SAM file",
        [COV_KIND_FASTA] = "a FASTA file",
        [COV_KIND_HDF5] = "an HDF5 file",
        [COV_KIND_BIGWIG] = "a bigWig file",
        [COV_KIND_BIGBED] = "a bigBed file",
        [COV_KIND_STREAM] = "a chunk stream",
        [COV_KIND_CKPT] = "a checkpoint of PyTorch",
        [COV_KIND_ZIP] = "a zip archive",
        [COV_KIND_GZIP] = "a file compressed by gzip",
    };
    return names[kind];
}

/* PyTorch's first member is NAME/data.pkl. */
static bool is_checkpoint(const char *bytes, size_t n)
{
    static const char end[] = "/data.pkl";
    return n > ZIP_NAME && memmem(bytes + ZIP_NAME, n - ZIP_NAME, end, sizeof end - 1) != NULL;
}

enum cov_kind cov_kind_of(const void *bytes, size_t n)
{
    static const struct {
        const char *magic;
        enum cov_kind kind;
    } kinds[] = {
        {"BAM\1", COV_KIND_BAM},
        {"CRAM", COV_KIND_CRAM},
        {"@HD\t", COV_KIND_SAM},
        {"@SQ\t", COV_KIND_SAM},
        {">", COV_KIND_FASTA},
        {"\x89HDF\r\n\x1a\n", COV_KIND_HDF5},
        {"\x26\xfc\x8f\x88", COV_KIND_BIGWIG},
        {"\x88\x8f\xfc\x26", COV_KIND_BIGWIG},
        {"\xeb\xf2\x89\x87", COV_KIND_BIGBED},
        {"\x87\x89\xf2\xeb", COV_KIND_BIGBED},
        {"COVSTRM\n", COV_KIND_STREAM},
        {"PK\3\4", COV_KIND_ZIP},
        {"\x1f\x8b", COV_KIND_GZIP},
    };
    for (size_t i = 0; i < COV_COUNT(kinds); i++) {
        size_t length = strlen(kinds[i].magic);
        if (n >= length && memcmp(bytes, kinds[i].magic, length) == 0)
            return kinds[i].kind == COV_KIND_ZIP && is_checkpoint(bytes, n) ? COV_KIND_CKPT
                                                                            : kinds[i].kind;
    }
    return COV_KIND_UNKNOWN;
}

/* Of what is read from anywhere in it, and thus not where it is compressed. */
static bool is_unpacked(enum cov_kind kind)
{
    return kind == COV_KIND_HDF5 || kind == COV_KIND_BIGWIG || kind == COV_KIND_BIGBED ||
           kind == COV_KIND_CKPT || kind == COV_KIND_ZIP;
}

static enum cov_kind kind_inside(const char *path)
{
    struct cov_bgz *in;
    char bytes[HEAD];
    size_t n;
    if (cov_bgz_open_read(path, 1, &in, NULL))
        return COV_KIND_GZIP;
    int rc = cov_bgz_peek(in, bytes, sizeof bytes, &n, NULL);
    enum cov_kind kind = rc ? COV_KIND_UNKNOWN : cov_kind_of(bytes, n);
    cov_bgz_abort(in);
    return kind == COV_KIND_UNKNOWN ? COV_KIND_GZIP : kind;
}

enum cov_kind cov_kind_of_file(const char *path, bool *packed)
{
    struct stat st;
    char bytes[HEAD];
    if (packed)
        *packed = false;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return COV_KIND_UNKNOWN;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (fd >= 0)
        (void)close(fd);
    enum cov_kind kind = n < 0 ? COV_KIND_UNKNOWN : cov_kind_of(bytes, (size_t)n);
    if (kind != COV_KIND_GZIP)
        return kind;
    if (packed)
        *packed = true;
    return kind_inside(path);
}

int cov_fail_kind(struct cov_err *e, const char *path, const char *what)
{
    bool packed;
    enum cov_kind kind = cov_kind_of_file(path, &packed);
    const char *name = cov_kind_name(kind);
    return cov_fail(e, COV_EINPUT, "%s: %s%s%s%s", path, what, name ? ", but " : "",
                    name ? name : "", packed && is_unpacked(kind) ? " compressed by gzip" : "");
}
