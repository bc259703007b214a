/* path.c - see path.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/path.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/mem.h"

/* Returns the length of `path` without trailing slashes; the root "/" keeps its slash. */
static size_t trimmed(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

/* Returns the offset of the last component of path[0..n). */
static size_t last_part(const char *path, size_t n)
{
    size_t i = n;
    while (i > 0 && path[i - 1] != '/')
        i--;
    return i;
}

char *cov_path_stem(const char *path, struct cov_err *e)
{
    if (cov_path_is_std(path))
        return cov_strdup("stdin", e);
    size_t end = trimmed(path);
    const char *name = path + last_part(path, end);
    size_t n = (size_t)(path + end - name);
    n = cov_suffix_skip_gz(name, n);
    const struct cov_suffix *suffix = cov_suffix_find(name, n);
    if (suffix && suffix->kind <= COV_SUFFIX_LAST_OF_STEM)
        n -= strlen(suffix->text);
    return cov_strndup(name, n, e);
}

char *cov_path_dir(const char *path, struct cov_err *e)
{
    size_t n = last_part(path, trimmed(path));
    if (n == 0)
        return cov_strdup(path[0] == '/' ? "/" : ".", e);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return cov_strndup(path, n, e);
}

char *cov_path_join(const char *dir, const char *name, struct cov_err *e)
{
    size_t n = strlen(dir);
    const char *slash = n && dir[n - 1] == '/' ? "" : "/";
    return cov_strfmt(e, "%s%s%s", dir, slash, name);
}

bool cov_path_has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), length = strlen(suffix);
    return n >= length && strcasecmp(path + n - length, suffix) == 0;
}

bool cov_path_names_dir(const char *path)
{
    size_t n = strlen(path);
    struct stat st;
    return (n && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

int cov_path_check_file(const char *path, struct cov_err *e)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return cov_fail(e, COV_EINPUT, "%s: is a directory, not a file", path);
    if (cov_path_is_url(path))
        return cov_fail(e, COV_EINPUT,
                        "%s: is a URL; only sequences, reads, tracks and lists are read from "
                        "URLs, so download it first",
                        path);
    return COV_OK;
}

int cov_path_open_file(const char *path, int *fd, uint64_t *n_bytes, struct cov_err *e)
{
    struct stat st;
    *fd = -1;
    *n_bytes = 0;
    int rc = cov_path_check_file(path, e);
    if (rc)
        return rc;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &st) != 0)
        rc = cov_fail_errno(e, "%s", path);
    else if (!S_ISREG(st.st_mode))
        rc = cov_fail(e, COV_EINPUT, "%s: is not a regular file", path);
    else
        *n_bytes = (uint64_t)st.st_size;
    if (rc && *fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
    return rc;
}

bool cov_path_is_url(const char *path)
{
    size_t n = 0;
    while (isalnum((unsigned char)path[n]) || (path[n] && strchr("+-.", path[n])))
        n++;
    return n > 0 && strncmp(path + n, "://", 3) == 0 && access(path, F_OK) != 0;
}

bool cov_path_is_std(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *cov_path_of_input(const char *path)
{
    return cov_path_is_std(path) ? "standard input" : path;
}

bool cov_path_same_file(const char *a, const char *b)
{
    if (cov_path_is_std(a) || cov_path_is_std(b))
        return false;
    struct stat s, t;
    if (stat(a, &s) == 0 && stat(b, &t) == 0)
        return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    return strcmp(a, b) == 0;
}

int cov_path_check_distinct(char *const *paths, size_t n, struct cov_err *e)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(paths[i], paths[k]) == 0)
                return cov_fail(e, COV_EUSAGE, "%s: given twice", cov_path_of_input(paths[i]));
            else if (cov_path_same_file(paths[i], paths[k]))
                return cov_fail(e, COV_EINPUT, "%s: the same file as %s", paths[i], paths[k]);
    return COV_OK;
}

/* ---- suffixes ---- */

static const struct cov_suffix suffixes[] = {
    {".h5", COV_SUFFIX_HDF5},          {".hdf5", COV_SUFFIX_HDF5},
    {".fa", COV_SUFFIX_FASTA},         {".fasta", COV_SUFFIX_FASTA},
    {".fna", COV_SUFFIX_FASTA},        {".fas", COV_SUFFIX_FASTA},
    {".fsa", COV_SUFFIX_FASTA},        {".ffn", COV_SUFFIX_FASTA},
    {".frn", COV_SUFFIX_FASTA},        {".mfa", COV_SUFFIX_FASTA},
    {".bam", COV_SUFFIX_BAM},          {".cram", COV_SUFFIX_BAM},
    {".sam", COV_SUFFIX_SAM},          {".bedgraph", COV_SUFFIX_BEDGRAPH},
    {".bg", COV_SUFFIX_BEDGRAPH},      {".bdg", COV_SUFFIX_BEDGRAPH},
    {".bed", COV_SUFFIX_BED},          {".bw", COV_SUFFIX_BIGWIG},
    {".bigwig", COV_SUFFIX_BIGWIG},    {".ckpt", COV_SUFFIX_CKPT},
    {".narrowpeak", COV_SUFFIX_PEAKS}, {".broadpeak", COV_SUFFIX_PEAKS},
    {".gappedpeak", COV_SUFFIX_PEAKS}, {".png", COV_SUFFIX_PICTURE},
    {".svg", COV_SUFFIX_PICTURE},      {".txt", COV_SUFFIX_TEXT},
    {".tsv", COV_SUFFIX_TEXT},         {".csv", COV_SUFFIX_TEXT},
    {".json", COV_SUFFIX_JSON},        {".fq", COV_SUFFIX_INPUT},
    {".fastq", COV_SUFFIX_INPUT},      {".2bit", COV_SUFFIX_INPUT},
    {".gff", COV_SUFFIX_INPUT},        {".gff3", COV_SUFFIX_INPUT},
    {".gtf", COV_SUFFIX_INPUT},        {".vcf", COV_SUFFIX_VARIANTS},
    {".bcf", COV_SUFFIX_VARIANTS},     {".bb", COV_SUFFIX_INPUT},
    {".bigbed", COV_SUFFIX_INPUT},     {".npz", COV_SUFFIX_ARRAYS},
};

static bool ends_in(const char *name, size_t n, const char *suffix)
{
    size_t length = strlen(suffix);
    return n > length && strncasecmp(name + n - length, suffix, length) == 0;
}

const struct cov_suffix *cov_suffix_find(const char *name, size_t n)
{
    for (size_t i = 0; i < COV_COUNT(suffixes); i++)
        if (ends_in(name, n, suffixes[i].text))
            return &suffixes[i];
    return NULL;
}

size_t cov_suffix_skip_gz(const char *name, size_t n)
{
    return ends_in(name, n, ".gz") ? n - strlen(".gz") : n;
}

/* ---- open files ---- */

ssize_t cov_read_at(int fd, int64_t at, void *data, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)data + done, n - done, (off_t)(at + (int64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int cov_write_at(int fd, int64_t at, const void *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, (const char *)data + done, n - done, (off_t)(at + (int64_t)done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return -1;
        }
        done += (size_t)put;
    }
    return 0;
}

void cov_sync_name(const char *path)
{
    char *dir = cov_path_dir(path, NULL);
    int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(dir);
}

enum cov_lock_result cov_lock(int fd)
{
    /* A lock of the open file, not of the process: closing other descriptors of the file does not
     * free it. Unlike flock(), it does not collide with the locks of libhdf5. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int rc;
    do
        rc = fcntl(fd, F_OFD_SETLK, &whole);
    while (rc != 0 && errno == EINTR);
    if (rc == 0)
        return COV_LOCKED;
    if (errno == EAGAIN || errno == EACCES)
        return COV_LOCK_HELD;
    return errno == ENOLCK || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP
               ? COV_LOCK_UNSUPPORTED
               : COV_LOCK_FAILED;
}

bool cov_lock_is_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && S_ISREG(there.st_mode) &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

int cov_close(int fd)
{
    return close(fd) == 0 || errno == EINTR ? 0 : -1;
}
