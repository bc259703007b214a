/* outfile.c - see outfile.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/leftovers.h"
#include "common/base/mem.h"
#include "common/base/path.h"

enum { MAX_TRIES = 1000 };

/* ---- begin ---- */

static int check_folder(const char *path, const char *dir, struct cov_err *e)
{
    struct stat st;
    if (stat(dir, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return cov_fail(e, COV_EIO, "%s: %s is not a folder", path, dir);
        return COV_OK;
    }
    if (errno == ENOENT)
        return cov_fail(e, COV_EIO, "%s: folder %s does not exist", path, dir);
    return cov_fail_errno(e, "%s: folder %s", path, dir);
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
    bool exists = stat(path, &st) == 0;
    if ((exists && S_ISDIR(st.st_mode)) || path[strlen(path) - 1] == '/')
        return cov_fail(e, COV_EIO, "%s: is a folder, not a file", path);
    if ((exists && !S_ISREG(st.st_mode)) || names_descriptor(path)) {
        if (kind == COV_OUTFILE_SEEKABLE)
            return cov_fail(e, COV_EIO, "%s: not a regular file, which this format needs", path);
        o->in_place = true;
    } else if ((exists || is_link) && !o->force) {
        return cov_fail(e, COV_EEXIST, "%s: already exists; use -f to replace it", path);
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

/* "dir/.stem.<tag or pid>.tmp.suffix" for "dir/stem.suffix"; the suffix may be double, like
 * ".bg.gz". Shortens names that are too long for file systems. */
static char *temporary_name(const char *dir, const char *path, const char *tag, int attempt,
                            struct cov_err *e)
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
    int shown = stem < MAX_STEM ? (int)stem : MAX_STEM;
    char number[64], hidden[NAME_MAX + 1];
    if (tag)
        (void)snprintf(number, sizeof number, "%s", tag);
    else if (attempt)
        (void)snprintf(number, sizeof number, "%ld-%d", (long)getpid(), attempt);
    else
        (void)snprintf(number, sizeof number, "%ld", (long)getpid());
    (void)snprintf(hidden, sizeof hidden, ".%.*s.%s.tmp%s", shown, name, number, name + stem);
    return cov_path_join(dir, hidden, e);
}

/* Creates the temporary file and adds it to the leftovers, with signals blocked. The file's
 * permissions follow the umask. */
static int create(struct cov_outfile *o, const char *dir, const char *tag, struct cov_err *e)
{
    for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
        char *name = temporary_name(dir, o->path, tag, attempt, e);
        char *listed = name ? cov_strdup(name, e) : NULL;
        if (!listed) {
            free(name);
            return COV_ENOMEM;
        }
        sigset_t before;
        cov_leftovers_block_signals(&before);
        if (tag)
            (void)unlink(name);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        int number = errno;
        int slot = fd < 0 ? -1 : cov_leftovers_add(COV_LEFTOVER_FILE, listed, 0);
        if (fd >= 0 && slot < 0)
            (void)unlink(name);
        cov_leftovers_restore_signals(&before);
        if (slot >= 0) {
            o->tmp = name;
            o->slot = slot;
            (void)close(fd); /* nothing was written */
            return COV_OK;
        }
        free(listed);
        free(name);
        if (fd >= 0) {
            (void)close(fd);
            return cov_fail(e, COV_EUNSUPPORTED, "%s: more than %d outputs at once", o->path,
                            COV_LEFTOVERS_MAX);
        }
        errno = number;
        if (number == EACCES || number == EROFS || number == EPERM)
            return cov_fail_errno(e, "%s: cannot write to folder %s", o->path, dir);
        if (number != EEXIST)
            return cov_fail_errno(e, "%s: cannot create a file in folder %s", o->path, dir);
    }
    return cov_fail(e, COV_EEXIST, "%s: too many temporary files of killed runs in %s", o->path,
                    dir);
}

int cov_outfile_begin(struct cov_outfile *o, const char *path, enum cov_outfile_kind kind,
                      bool force, struct cov_err *e)
{
    return cov_outfile_begin_tagged(o, path, NULL, kind, force, e);
}

int cov_outfile_begin_tagged(struct cov_outfile *o, const char *path, const char *tag,
                             enum cov_outfile_kind kind, bool force, struct cov_err *e)
{
    *o = (struct cov_outfile)COV_OUTFILE_INIT;
    o->force = force;
    char *dir = NULL;
    int code = set_target(o, path, kind, e);
    if (code != COV_OK)
        goto out;
    if (o->in_place) {
        o->tmp = cov_strdup(path, e);
        code = o->tmp ? COV_OK : COV_ENOMEM;
        goto out;
    }
    dir = cov_path_dir(o->path, e);
    code = dir ? check_folder(o->path, dir, e) : COV_ENOMEM;
    if (code == COV_OK)
        code = create(o, dir, tag, e);
out:
    free(dir);
    if (code != COV_OK)
        cov_outfile_abort(o);
    return code;
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
    return cov_outfile_begin(o, path, COV_OUTFILE_SEEKABLE, true, e);
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
    int out = open(o->tmp, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (out < 0 || fstat(in, &st) != 0)
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
        got = copy_some(in, out, &share, buf, sizeof buf);
        if (got < 0 && errno != EINTR)
            code = cov_fail_errno(e, "%s: cannot write a copy", o->path);
        cov_progress_add(progress, got > 0 ? got : 0);
    }
    cov_progress_end(progress);
    if (code == COV_OK)
        /* The copy will be modified, so the owner must be able to write it. Some file systems
         * have no permissions. */
        (void)fchmod(out, (st.st_mode & 0777) | S_IRUSR | S_IWUSR);
    if (out >= 0 && close(out) != 0 && code == COV_OK)
        code = cov_fail_errno(e, "%s: cannot write a copy", o->path);
    (void)close(in); /* opened for reading */
    return code;
}

/* ---- commit ---- */

static int sync_file(const char *tmp, const char *path, struct cov_err *e)
{
    int fd = open(tmp, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cov_fail_errno(e, "%s: temporary file %s", path, tmp);
    int code = COV_OK;
    /* File systems that have nothing to sync return EINVAL or EROFS. */
    if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        code = cov_fail_errno(e, "%s: cannot sync", path);
    (void)close(fd); /* opened for reading */
    return code;
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

/* Makes the new name durable. Ignores errors, because the file is already complete and some file
 * systems cannot sync a folder. */
static void sync_folder(const char *path)
{
    char *dir = cov_path_dir(path, NULL);
    int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(dir);
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
    bool there = lstat(o->path, &st) == 0;
    if (o->is_copy && !is_unchanged(o))
        return cov_fail(e, COV_EEXIST, "%s was changed by another program; run again", o->path);
    if (!o->force)
        failed = rename_new(o->tmp, o->path);
    else if (keep_old && there && S_ISREG(st.st_mode) &&
             renameat2(AT_FDCWD, o->tmp, AT_FDCWD, o->path, RENAME_EXCHANGE) == 0)
        failed = 0, o->swapped = true;
    else
        failed = rename(o->tmp, o->path);
    if (failed && errno == EEXIST)
        return cov_fail(e, COV_EEXIST, "%s was created by another program; use -f to replace it",
                        o->path);
    if (failed)
        return cov_fail_errno(e, "%s: cannot rename the temporary file to it", o->path);
    o->placed = true;
    o->replaced = there && !o->swapped;
    return COV_OK;
}

/* Undoes place(), unless the old file is gone: then keeping the new file is better than having
 * none. */
static void take_back(struct cov_outfile *o)
{
    if (o->swapped)
        (void)rename(o->tmp, o->path);
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
            code = sync_file(files[i]->tmp, files[i]->path, e);
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
        if (files[i]->placed && (code != COV_OK || !files[i]->swapped)) {
            /* From now on, a process with the same id on another machine may create a file with
             * that name. */
            free(cov_leftovers_take(COV_LEFTOVER_FILE, files[i]->slot));
            files[i]->slot = -1;
        }
    }
    cov_leftovers_restore_signals(&before);
    for (size_t i = 0; i < n; i++) {
        if (files[i]->placed)
            sync_folder(files[i]->path);
        cov_outfile_abort(files[i]);
    }
    return code;
}

int cov_outfile_commit(struct cov_outfile *o, struct cov_err *e)
{
    return cov_outfile_commit_all(&o, 1, e);
}

void cov_outfile_abort(struct cov_outfile *o)
{
    if (o->slot >= 0) {
        char *name = cov_leftovers_take(COV_LEFTOVER_FILE, o->slot);
        if (name)
            (void)unlink(name);
        free(name);
    }
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
