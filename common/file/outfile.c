/* outfile.c - see outfile.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/outfile.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/file/hash.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/file/tmpfile.h"

/* Another program that may write to the directory can rename or replace the temporary file at any
 * time. It cannot redirect what is written: all writers open o->tmp, the descriptor's name in
 * /proc, which stands for the file that was created. Commits rename only this file. What remains:
 * without /proc, writers open the file by its name; and between the check and the rename, that
 * program may swap the files, just as it may replace the output later. */
enum { MAX_TRIES = 1000 };

static _Atomic(bool) has_output; /* see cov_outfile_any_written */

/* ---- names ---- */

#define ACCEPT(kind) (1U << COV_SUFFIX_##kind)

enum { ANY_TEXT = ACCEPT(TEXT) | ACCEPT(BED) };

/* The index is enum cov_outfile_kind. */
static const struct {
    const char *what, *suffix; /* for messages */
    unsigned accepted;         /* known suffixes */
    bool seekable;             /* needs a regular file */
    bool may_be_gz;            /* is compressed if its name ends in .gz */
} kinds[] = {
    [COV_OUTFILE_HDF5] = {"an HDF5 file", ".h5", ACCEPT(HDF5), true},
    [COV_OUTFILE_STREAM] = {"a chunk stream", ".stream", 0, false},
    [COV_OUTFILE_BIGWIG] = {"a bigWig file", ".bw", ACCEPT(BIGWIG), true},
    [COV_OUTFILE_BEDGRAPH] = {"a bedGraph file", ".bg", ACCEPT(BEDGRAPH) | ANY_TEXT, false, true},
    [COV_OUTFILE_PEAKS] = {"a file of peaks", ".narrowPeak", ACCEPT(PEAKS) | ANY_TEXT, false, true},
    [COV_OUTFILE_TABLE] = {"a table", ".tsv", ACCEPT(TEXT), false},
    [COV_OUTFILE_GZ_TABLE] = {"a table", ".tsv", ACCEPT(TEXT), false, true},
    [COV_OUTFILE_MATRIX] = {"a compressed table", ".gz", ACCEPT(TEXT), true, true},
    [COV_OUTFILE_ARRAYS] = {"an array of NumPy", ".npz", ACCEPT(ARRAYS), true},
    [COV_OUTFILE_JSON] = {"a JSON file", ".json", ACCEPT(JSON) | ANY_TEXT, false},
    [COV_OUTFILE_PICTURE] = {"a picture", ".png or .svg", ACCEPT(PICTURE), true},
    [COV_OUTFILE_FASTA] = {"a FASTA file", ".fa", ACCEPT(FASTA) | ANY_TEXT, false},
    [COV_OUTFILE_SAM] = {"a SAM file", ".sam", ACCEPT(SAM) | ANY_TEXT, false},
    [COV_OUTFILE_VARIANTS] = {"a file of variants", ".vcf", ACCEPT(VARIANTS), false, true},
    [COV_OUTFILE_BESIDE] = {"a file", "", UINT_MAX, true, true},
};

int cov_outfile_check_name(const char *path, enum cov_outfile_kind kind, struct cov_err *e)
{
    const unsigned accepted = kinds[kind].accepted;
    const size_t n = strlen(path), length = cov_suffix_skip_gz(path, n);
    const struct cov_suffix *suffix = cov_suffix_find(path, length);
    const char *bad = NULL;
    if (suffix && !(accepted & 1U << suffix->kind))
        bad = suffix->text;
    else if (length < n && !kinds[kind].may_be_gz)
        bad = ".gz";
    if (!bad)
        return COV_OK;
    return cov_fail(e, COV_EUSAGE, "%s: the output is %s, but %s is another kind; use %s", path,
                    kinds[kind].what, bad, kinds[kind].suffix);
}

/* Refuses to replace a file whose first bytes show that it is of another kind, such as a FASTA file
 * named genome. Unknown text may be replaced. */
static int check_contents(const char *path, enum cov_outfile_kind kind, struct cov_err *e)
{
    static const enum cov_kind same[] = {
        [COV_OUTFILE_HDF5] = COV_KIND_HDF5,     [COV_OUTFILE_STREAM] = COV_KIND_STREAM,
        [COV_OUTFILE_BIGWIG] = COV_KIND_BIGWIG, [COV_OUTFILE_BEDGRAPH] = COV_KIND_BED,
        [COV_OUTFILE_PEAKS] = COV_KIND_BED,     [COV_OUTFILE_ARRAYS] = COV_KIND_ZIP,
        [COV_OUTFILE_FASTA] = COV_KIND_FASTA,   [COV_OUTFILE_SAM] = COV_KIND_SAM,
        [COV_OUTFILE_VARIANTS] = COV_KIND_VCF,  [COV_OUTFILE_BESIDE] = COV_KIND_UNKNOWN,
    };
    enum cov_kind there =
        kind == COV_OUTFILE_BESIDE ? COV_KIND_UNKNOWN : cov_kind_of_file(path, NULL);
    if (there == COV_KIND_NARROWPEAK && kind != COV_OUTFILE_TABLE)
        there = COV_KIND_BED;
    if (there == COV_KIND_UNKNOWN || there == COV_KIND_GZIP || there == COV_KIND_HTML ||
        there == COV_KIND_LFS || there == same[kind])
        return COV_OK;
    return cov_fail(e, COV_EEXIST, "%s: is %s, which %s does not replace; choose another name",
                    path, cov_kind_name(there), kinds[kind].what);
}

/* ---- begin ---- */

static int check_dir(const char *path, const char *dir, struct cov_err *e)
{
    struct stat st;
    if (stat(dir, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return cov_fail(e, COV_EIO, "%s: %s is not a directory", path, dir);
        return COV_OK;
    }
    if (errno == ENOENT)
        return cov_fail(e, COV_EIO, "%s: directory %s does not exist", path, dir);
    return cov_fail_errno(e, "%s: directory %s", path, dir);
}

/* Returns true for standard streams and descriptors of this process, which are written in place,
 * not replaced. */
static bool names_descriptor(const char *path)
{
    static const char *const heads[] = {"/dev/std", "/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < COV_COUNT(heads); i++)
        if (strncmp(path, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

static int exists_already(const char *path, struct cov_err *e)
{
    return cov_fail(e, COV_EEXIST, "%s: already exists; use -f to replace it", path);
}

/* Sets o->path and o->in_place, depending on what exists at `path`. */
static int set_target(struct cov_outfile *o, const char *path, enum cov_outfile_kind kind,
                      struct cov_err *e)
{
    struct stat st, link;
    if (!*path)
        return cov_fail(e, COV_EIO, "the output has an empty name");
    if (lstat(path, &link) != 0 && errno != ENOENT && errno != ENOTDIR)
        return cov_fail_errno(e, "%s", path);
    bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    bool exists = !(is_link && kind == COV_OUTFILE_BESIDE) && stat(path, &st) == 0;
    if (path[strlen(path) - 1] == '/')
        return cov_fail(e, COV_EUSAGE,
                        "%s: the output is %s, but a name that ends in '/' is a directory", path,
                        kinds[kind].what);
    if (exists && S_ISDIR(st.st_mode))
        return cov_fail(e, COV_EIO, "%s: is a directory, not a file", path);
    if ((exists && !S_ISREG(st.st_mode)) || names_descriptor(path)) {
        if (kinds[kind].seekable)
            return cov_fail(e, COV_EIO, "%s: not a regular file, which this format needs", path);
        o->in_place = true;
    } else if ((exists || is_link) && !o->force) {
        return exists_already(path, e);
    } else if (exists && check_contents(path, kind, e)) {
        return COV_EEXIST;
    }
    if (exists && is_link && !o->in_place) {
        char *target = realpath(path, NULL);
        if (!target)
            return cov_fail_errno(e, "%s", path);
        o->path = target;
        return COV_OK;
    }
    o->path = cov_strdup(path, e);
    return o->path ? COV_OK : COV_ENOMEM;
}

enum { MAX_OWNER = 64 };

/* Without locks, a temporary name contains "-HOST-PID-ATTEMPT". HOST is a fingerprint of the machine's
 * name and of the namespace of process ids, so another run there can see whether the process runs. */
static void put_owner(char owner[MAX_OWNER], pid_t pid, long attempt)
{
    char host[256] = "";
    struct stat st = {0};
    (void)gethostname(host, sizeof host - 1);
    (void)stat("/proc/self/ns/pid", &st);
    const uint64_t id = cov_fingerprint(st.st_ino, host, strlen(host));
    (void)snprintf(owner, MAX_OWNER, "-%08" PRIx32 "-%ld-%ld", (uint32_t)id, (long)pid, attempt);
}

/* "dir/.stem.covtools.tmp.suffix" for "dir/stem.suffix"; the suffix may be double, like ".bg.gz".
 * The output's name determines the temporary name, so a run finds the file of another run. A name
 * that is too long for file systems is cut and gets a fingerprint. `owner` is empty if files can be
 * locked. */
static char *temporary_name(const char *dir, const char *path, const char *owner, struct cov_err *e)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t length = strlen(name), stem = length;
    const char *dot = strrchr(name, '.');
    if (dot && dot > name && length - (size_t)(dot - name) <= 16) {
        stem = (size_t)(dot - name);
        if (strcmp(dot, ".gz") == 0)
            for (size_t i = stem; i-- > 1 && stem - i <= 16;)
                if (name[i] == '.') {
                    stem = i;
                    break;
                }
    }
    enum { MAX_STEM = 160 };
    char rest[32] = "", hidden[NAME_MAX + 1];
    if (stem > MAX_STEM)
        (void)snprintf(rest, sizeof rest, "~%016" PRIx64, cov_fingerprint(0, name, stem));
    (void)snprintf(hidden, sizeof hidden, ".%.*s%s.covtools%s.tmp%s",
                   stem < MAX_STEM ? (int)stem : MAX_STEM, name, rest, owner, name + stem);
    return cov_path_join(dir, hidden, e);
}

/* Removes the output's temporary files of processes of this machine that no longer run. */
static void remove_dead(const struct cov_outfile *o, const char *dir)
{
    char owner[MAX_OWNER], *end;
    put_owner(owner, 0, 0);
    DIR *d = opendir(dir);
    for (const struct dirent *f = d ? readdir(d) : NULL; f; f = readdir(d)) {
        owner[strlen("-01234567-")] = '\0';
        const char *at = strstr(f->d_name, owner);
        const long pid = at ? strtol(at + strlen(owner), &end, 10) : 0;
        if (pid <= 0 || *end != '-' || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        put_owner(owner, (pid_t)pid, strtol(end + 1, NULL, 10));
        char *name = temporary_name(dir, o->path, owner, NULL);
        if (name && strcmp(strrchr(name, '/') + 1, f->d_name) == 0)
            (void)unlink(name);
        free(name);
    }
    if (d)
        (void)closedir(d);
}

enum { AGAIN = 1, NO_LOCKS };

/* Returns what to do after cov_lock() returned `got`. */
static int judge(const struct cov_outfile *o, enum cov_lock_result got, struct cov_err *e)
{
    if (got == COV_LOCK_HELD)
        return cov_fail(e, COV_EEXIST, "%s: another run is writing it", o->path);
    if (got == COV_LOCK_FAILED)
        return cov_fail_errno(e, "%s: cannot lock its temporary file", o->path);
    return got == COV_LOCKED ? AGAIN : NO_LOCKS;
}

/* Removes the temporary file of a killed run; nobody locks it. Only the holder of the lock removes
 * or renames a file, so it is still that file if it is there once it is locked. */
static int remove_stale(const struct cov_outfile *o, const char *name, struct cov_err *e)
{
    struct stat st;
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return AGAIN;
    if (fd < 0)
        return cov_fail_errno(e, "%s: temporary file %s of another run", o->path, name);
    int rc;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        rc = cov_fail(e, COV_EIO, "%s: %s is not a regular file; remove it", o->path, name);
    } else {
        rc = judge(o, cov_lock(fd), e);
        if (rc == AGAIN && cov_lock_is_at(fd, name) && unlink(name) != 0)
            rc = cov_fail_errno(e, "%s: temporary file %s of a killed run", o->path, name);
    }
    (void)close(fd); /* nothing was written */
    return rc;
}

/* Creates a file. Raises the limit of descriptors if necessary: each output has one. */
static int open_new(const char *name)
{
    enum { FLAGS = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC };
    struct rlimit limit;
    int fd = open(name, FLAGS, 0666);
    if (fd >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fd;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return open(name, FLAGS, 0666);
}

/* Creates the file `name` and, if o->locks, locks it. Its permissions follow the umask. Returns AGAIN if the
 * name must be tried again, and NO_LOCKS if files cannot be locked. */
static int create_locked(struct cov_outfile *o, const char *dir, const char *name,
                         struct cov_err *e)
{
    int fd = open_new(name);
    if (fd < 0 && errno == EEXIST)
        return o->locks ? remove_stale(o, name, e) : AGAIN;
    if (fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
        return cov_fail_errno(e, "%s: cannot write to directory %s", o->path, dir);
    if (fd < 0)
        return cov_fail_errno(e, "%s: cannot create a file in directory %s", o->path, dir);
    enum cov_lock_result got = o->locks ? cov_lock(fd) : COV_LOCKED;
    /* Another run may have locked and removed it first. */
    if (got == COV_LOCKED && cov_lock_is_at(fd, name)) {
        o->fd = fd;
        return COV_OK;
    }
    int rc = judge(o, got, e);
    if (got == COV_LOCK_UNSUPPORTED || got == COV_LOCK_FAILED)
        (void)unlink(name);
    (void)close(fd); /* nothing was written */
    return rc;
}

/* Creates the file `name` and adds it to the leftovers, with signals blocked. */
static int create_listed(struct cov_outfile *o, const char *dir, const char *name,
                         struct cov_err *e)
{
    char *listed = cov_strdup(name, e);
    if (!listed)
        return COV_ENOMEM;
    sigset_t before;
    cov_leftovers_block_signals(&before);
    int rc = create_locked(o, dir, name, e);
    if (rc == COV_OK)
        o->slot = cov_leftovers_add(COV_LEFTOVER_FILE, listed, 0);
    if (rc == COV_OK && o->slot < 0) {
        (void)unlink(name);
        rc = cov_fail(e, COV_EUNSUPPORTED, "%s: more than %d outputs at once", o->path,
                      COV_LEFTOVERS_MAX);
    }
    cov_leftovers_restore_signals(&before);
    if (rc != COV_OK)
        free(listed);
    return rc;
}

/* Creates the temporary file and sets o->hidden and o->tmp. */
static int create(struct cov_outfile *o, const char *dir, struct cov_err *e)
{
    int rc = AGAIN;
    char owner[MAX_OWNER] = "";
    if (!o->locks)
        remove_dead(o, dir);
    for (int attempt = 0; rc == AGAIN && attempt < MAX_TRIES; attempt++) {
        if (!o->locks)
            put_owner(owner, getpid(), attempt);
        free(o->hidden);
        o->hidden = temporary_name(dir, o->path, owner, e);
        rc = o->hidden ? create_listed(o, dir, o->hidden, e) : COV_ENOMEM;
        if (rc == NO_LOCKS) {
            cov_debug("%s: the file system does not support locks; a concurrent run would go "
                      "unnoticed",
                      o->path);
            o->locks = false;
            remove_dead(o, dir);
            rc = AGAIN;
        }
    }
    if (rc == AGAIN)
        return cov_fail(e, COV_EEXIST, "%s: other programs keep changing its temporary file %s",
                        o->path, o->hidden);
    if (rc != COV_OK)
        return rc;
    o->tmp = cov_strfmt(e, "/proc/self/fd/%d", o->fd);
    if (o->tmp && access(o->tmp, F_OK) != 0) {
        free(o->tmp);
        o->tmp = cov_strdup(o->hidden, e);
    }
    return o->tmp ? COV_OK : COV_ENOMEM;
}

static int begin(struct cov_outfile *o, const char *path, enum cov_outfile_kind kind,
                 struct cov_err *e)
{
    char *dir = NULL;
    struct stat st;
    int code = set_target(o, path, kind, e);
    if (code != COV_OK)
        goto out;
    if (o->in_place) {
        has_output = true;
        o->tmp = cov_strdup(path, e);
        code = o->tmp ? COV_OK : COV_ENOMEM;
        goto out;
    }
    assert(o->path);
    dir = cov_path_dir(o->path, e);
    code = dir ? check_dir(o->path, dir, e) : COV_ENOMEM;
    if (code == COV_OK)
        code = create(o, dir, e);
    /* Another run may have finished just before the lock. */
    if (code == COV_OK && !o->force && lstat(o->path, &st) == 0)
        code = exists_already(path, e);
out:
    free(dir);
    if (code != COV_OK)
        cov_outfile_abort(o);
    return code;
}

int cov_outfile_begin(struct cov_outfile *o, const char *path, enum cov_outfile_kind kind,
                      bool force, struct cov_err *e)
{
    *o = (struct cov_outfile)COV_OUTFILE_INIT;
    o->force = force;
    o->locks = true;
    int rc = cov_outfile_check_name(path, kind, e);
    return rc ? rc : begin(o, path, kind, e);
}

int cov_outfile_try(const char *path, enum cov_outfile_kind kind, bool force, struct cov_err *e)
{
    struct cov_outfile o = COV_OUTFILE_INIT;
    o.force = force;
    int rc = cov_outfile_check_name(path, kind, e);
    if (!rc)
        rc = begin(&o, path, kind, e);
    cov_outfile_end(&o, e);
    return rc;
}

int cov_outfile_begin_update(struct cov_outfile *o, const char *path, bool force, struct cov_err *e)
{
    struct stat st;
    *o = (struct cov_outfile)COV_OUTFILE_INIT;
    if (stat(path, &st))
        return cov_fail_errno(e, "%s", path);
    if (access(path, W_OK))
        return cov_fail_errno(e, "%s: cannot write (use -o to write another file)", path);
    if (!force && !(st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
        return cov_fail(e, COV_EIO, "%s: write-protected; use -f to change it, or -o for a copy",
                        path);
    o->force = o->locks = true;
    return begin(o, path, COV_OUTFILE_HDF5, e);
}

/* ---- copying ---- */

/* Copies the next bytes. Returns how many were copied, 0 at the end, or -1 with errno set. The
 * file system may let both files share the data. */
static ssize_t copy_some(int in, int out, bool *share, char *buf, size_t n)
{
    if (*share) {
        ssize_t got = copy_file_range(in, NULL, out, NULL, (size_t)1 << 26, 0);
        if (got > 0 || (got < 0 && errno == EINTR))
            return got;
        /* Copying between these file systems is not supported, and some of them then return 0.
         * After a real failure, read or write below fails, too. */
        *share = false;
    }
    ssize_t got = read(in, buf, n);
    for (ssize_t done = 0; done < got;) {
        ssize_t put = write(out, buf + done, (size_t)(got - done));
        if (put < 0 && errno != EINTR)
            return -1;
        done += put > 0 ? put : 0;
    }
    return got;
}

int cov_outfile_copy(struct cov_outfile *o, const char *from, struct cov_progress *progress,
                     struct cov_err *e)
{
    char buf[1 << 16];
    struct stat st = {0};
    bool share = true;
    int code = COV_OK, in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return cov_fail_errno(e, "%s", from);
    if (ftruncate(o->fd, 0) != 0 || lseek(o->fd, 0, SEEK_SET) < 0 || fstat(in, &st) != 0)
        code = cov_fail_errno(e, "%s: cannot copy", from);
    struct stat target;
    if (code == COV_OK && stat(o->path, &target) == 0 && target.st_ino == st.st_ino &&
        target.st_dev == st.st_dev) {
        o->is_copy = true;
        o->copied_time = st.st_mtim;
        o->copied_inode = st.st_ino;
    }
    cov_progress_begin(progress, "copying", "bytes", st.st_size);
    for (ssize_t got = 1; code == COV_OK && got != 0;) {
        got = copy_some(in, o->fd, &share, buf, sizeof buf);
        if (got < 0 && errno != EINTR)
            code = cov_fail_errno(e, "%s: cannot write a copy", o->path);
        cov_progress_add(progress, got > 0 ? got : 0);
    }
    cov_progress_end(progress);
    if (code == COV_OK)
        /* The copy will be modified, so the owner must be able to write it. Some file systems
         * have no permissions. */
        (void)fchmod(o->fd, (st.st_mode & 0777) | S_IRUSR | S_IWUSR);
    (void)close(in); /* opened for reading */
    return code;
}

/* ---- commit ---- */

static int sync_file(const struct cov_outfile *o, struct cov_err *e)
{
    /* File systems that have nothing to sync return EINVAL or EROFS. */
    if (fsync(o->fd) != 0 && errno != EINVAL && errno != EROFS)
        return cov_fail_errno(e, "%s: cannot sync", o->path);
    return COV_OK;
}

/* Renames `tmp` to `path` unless `path` exists. Returns 0, or -1 with errno set. */
static int rename_new(const char *tmp, const char *path)
{
    if (renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != ENOSYS && errno != EINVAL)
        return -1;
    /* The file system (such as NFS) or the kernel does not support RENAME_NOREPLACE. Uses a hard
     * link instead, which does not replace an existing file either. */
    if (link(tmp, path) == 0)
        return unlink(tmp);
    if (errno == EEXIST)
        return -1;
    /* Hard links are not supported either (FAT, some FUSE file systems): checks first, then
     * renames. */
    struct stat st;
    if (lstat(path, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(tmp, path);
}

/* Returns true if the original has not changed since it was copied. */
static bool is_unchanged(const struct cov_outfile *o)
{
    struct stat st;
    return stat(o->path, &st) == 0 && st.st_ino == o->copied_inode &&
           st.st_mtim.tv_sec == o->copied_time.tv_sec &&
           st.st_mtim.tv_nsec == o->copied_time.tv_nsec;
}

/* Renames the file. With keep_old, gives the old file the temporary name if the file system can
 * exchange names. */
static int place(struct cov_outfile *o, bool keep_old, struct cov_err *e)
{
    int failed;
    struct stat st;
    bool existed = lstat(o->path, &st) == 0;
    if (o->is_copy && !is_unchanged(o))
        return cov_fail(e, COV_EEXIST, "%s was changed by another program; run again", o->path);
    if (!cov_lock_is_at(o->fd, o->hidden))
        return cov_fail(e, COV_EEXIST, "%s: another program replaced its temporary file %s",
                        o->path, o->hidden);
    if (!o->force)
        failed = rename_new(o->hidden, o->path);
    else if (keep_old && existed && S_ISREG(st.st_mode) &&
             renameat2(AT_FDCWD, o->hidden, AT_FDCWD, o->path, RENAME_EXCHANGE) == 0)
        failed = 0, o->swapped = true;
    else
        failed = rename(o->hidden, o->path);
    if (failed && errno == EEXIST)
        return cov_fail(e, COV_EEXIST, "%s was created by another program; use -f to replace it",
                        o->path);
    if (failed)
        return cov_fail_errno(e, "%s: cannot rename the temporary file to it", o->path);
    o->placed = true;
    o->replaced = existed && !o->swapped;
    return COV_OK;
}

/* Undoes place(), unless the old file is gone: then keeping the new file is better than having
 * none. */
static void take_back(struct cov_outfile *o)
{
    if (o->swapped)
        (void)rename(o->hidden, o->path);
    else if (o->placed && !o->replaced)
        (void)unlink(o->path);
}

static bool is_pending(const struct cov_outfile *o)
{
    return o->path && !o->in_place && !o->placed;
}

int cov_outfile_commit_all(struct cov_outfile *const *files, size_t n, struct cov_err *e)
{
    int code = COV_OK;
    sigset_t before;
    for (size_t i = 0; code == COV_OK && i < n; i++)
        if (is_pending(files[i]))
            code = sync_file(files[i], e);
    cov_leftovers_block_signals(&before); /* so that no signal arrives when only some are renamed */
    /* Begins with files that replace nothing, because every file system can undo those renames. */
    for (size_t i = 0; code == COV_OK && i < n; i++)
        if (is_pending(files[i]) && access(files[i]->path, F_OK) != 0)
            code = place(files[i], n > 1, e);
    for (size_t i = 0; code == COV_OK && i < n; i++)
        if (is_pending(files[i]))
            code = place(files[i], n > 1, e);
    for (size_t i = 0; i < n; i++) {
        if (code != COV_OK)
            take_back(files[i]);
        if (files[i]->placed) {
            has_output = has_output || code == COV_OK;
            /* From now on, another run may create a file with the temporary name. */
            char *name = cov_leftovers_take(COV_LEFTOVER_FILE, files[i]->slot);
            if (name && code == COV_OK && files[i]->swapped)
                (void)unlink(name); /* the old file */
            free(name);
            files[i]->slot = -1;
        }
    }
    cov_leftovers_restore_signals(&before);
    for (size_t i = 0; i < n; i++) {
        if (files[i]->placed)
            cov_sync_name(files[i]->path);
        cov_outfile_abort(files[i]);
    }
    return code;
}

bool cov_outfile_any_written(void)
{
    return has_output;
}

int cov_outfile_commit(struct cov_outfile *o, struct cov_err *e)
{
    return cov_outfile_commit_all(&o, 1, e);
}

void cov_outfile_abort(struct cov_outfile *o)
{
    if (o->slot >= 0) {
        char *name = cov_leftovers_take(COV_LEFTOVER_FILE, o->slot);
        if (name && cov_lock_is_at(o->fd, name))
            (void)unlink(name);
        free(name);
    }
    if (o->fd >= 0)
        (void)close(o->fd); /* frees the lock; writers have checked their own descriptors */
    free(o->hidden);
    free(o->tmp);
    free(o->path);
    *o = (struct cov_outfile)COV_OUTFILE_INIT;
}

void cov_outfile_end(struct cov_outfile *o, struct cov_err *e)
{
    if (e && e->code != COV_OK && o->tmp && o->path)
        cov_err_rename(e, o->tmp, o->path);
    cov_outfile_abort(o);
}
