/* file_kind.c - see file_kind.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/file_kind.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/text.h"

enum { ZIP_NAME = 30 }; /* offset of the first member's name */

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
        [COV_KIND_CKPT] = "a PyTorch checkpoint",
        [COV_KIND_ZIP] = "a zip archive",
        [COV_KIND_GZIP] = "a file compressed by gzip",
        [COV_KIND_HTML] = "an HTML page",
        [COV_KIND_LFS] = "a Git LFS pointer: git lfs pull fetches the file",
    };
    return names[kind];
}

/* PyTorch's first member is NAME/data.pkl. */
static bool is_checkpoint(const char *bytes, size_t n)
{
    static const char end[] = "/data.pkl";
    return n > ZIP_NAME && memmem(bytes + ZIP_NAME, n - ZIP_NAME, end, sizeof end - 1) != NULL;
}

static bool is_html(const char *bytes, size_t n)
{
    static const char *const starts[] = {"<!doctype html", "<html"};
    while (n > 0 && (*bytes == '\n' || cov_text_is_blank(*bytes))) {
        bytes++;
        n--;
    }
    for (size_t i = 0; i < COV_COUNT(starts); i++)
        if (n >= strlen(starts[i]) && strncasecmp(bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
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
        {"version https://git-lfs.", COV_KIND_LFS},
    };
    for (size_t i = 0; i < COV_COUNT(kinds); i++) {
        size_t length = strlen(kinds[i].magic);
        if (n >= length && memcmp(bytes, kinds[i].magic, length) == 0)
            return kinds[i].kind == COV_KIND_ZIP && is_checkpoint(bytes, n) ? COV_KIND_CKPT
                                                                            : kinds[i].kind;
    }
    return is_html(bytes, n) ? COV_KIND_HTML : COV_KIND_UNKNOWN;
}
