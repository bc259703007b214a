/* tmpfile.c - see tmpfile.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/tmpfile.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"

/* ---- what a run that ends early must remove ---- */

enum { MAX_TRIES = 1000, MAX_DEPTH = 8 };

/* The thread that sets is_used fills the slot. It sets the name last, so a slot with a name is
 * complete. */
struct slot {
    _Atomic(bool) is_used;
    _Atomic(char *) name;
    _Atomic(pid_t) pid; /* a forked child must not remove its parent's files */
    _Atomic(int) kind;
    _Atomic(size_t) kept;
    _Atomic(uint64_t) number; /* sequence number of the entry */
};

/* Directories to be removed if empty are in a separate list, because they are removed last. */
static struct slot files[COV_LEFTOVERS_MAX], directories[COV_LEFTOVERS_MAX_EMPTY];
static _Atomic(uint64_t) n_entries;

static struct slot *slots_of(enum cov_leftover_kind kind, int *n)
{
    bool is_dir = kind == COV_LEFTOVER_EMPTY;
    *n = is_dir ? COV_LEFTOVERS_MAX_EMPTY : COV_LEFTOVERS_MAX;
    return is_dir ? directories : files;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the name is stored */
int cov_leftovers_add(enum cov_leftover_kind kind, char *name, size_t kept)
{
    int n;
    struct slot *slots = slots_of(kind, &n);
    for (int i = 0; i < n; i++) {
        if (atomic_exchange(&slots[i].is_used, true))
            continue;
        slots[i].pid = getpid();
        slots[i].kind = (int)kind;
        slots[i].kept = kept;
        slots[i].number = ++n_entries;
        slots[i].name = name;
        return i;
    }
    return -1;
}

/* Does not free the slot. */
static char *take(struct slot *s)
{
    return s->pid == getpid() ? atomic_exchange(&s->name, NULL) : NULL;
}

char *cov_leftovers_take(enum cov_leftover_kind kind, int slot)
{
    int n;
    struct slot *s = &slots_of(kind, &n)[slot];
    char *name = take(s);
    if (name)
        s->is_used = false;
    return name;
}

/* Uses system calls only: readdir is not async-signal-safe. */
static void empty_dir(int fd, int depth)
{
    _Alignas(struct dirent64) char buf[2048];
    ssize_t n;
    while ((n = getdents64(fd, buf, sizeof buf)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(buf + at);
            const char *name = entry->d_name;
            at += entry->d_reclen;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(fd, name, 0) == 0 ||
                depth == 0)
                continue;
            int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner < 0)
                continue;
            empty_dir(inner, depth - 1);
            (void)close(inner);
            (void)unlinkat(fd, name, AT_REMOVEDIR);
        }
}

/* Tries repeatedly, because other threads and programs may still be adding files. */
static void remove_tree(const char *name)
{
    for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
        int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            return;
        empty_dir(fd, MAX_DEPTH);
        (void)close(fd);
        if (rmdir(name) == 0 || (errno != ENOTEMPTY && errno != EEXIST))
            return;
    }
}

static void remove_empty(char *name, size_t kept)
{
    for (size_t n = strlen(name); n > kept;) {
        (void)rmdir(name);
        while (n > kept && name[n - 1] == '/')
            n--;
        while (n > kept && name[n - 1] != '/')
            n--;
        name[n] = '\0';
    }
}

/* Removes a file or directory, ignoring errors. Changes `name`. */
static void remove_leftover(enum cov_leftover_kind kind, char *name, size_t kept)
{
    if (kind == COV_LEFTOVER_EMPTY)
        remove_empty(name, kept);
    else if (kind == COV_LEFTOVER_TREE)
        remove_tree(name);
    else
        (void)unlink(name);
}

/* Returns the last directory added before entry number *before, and sets *before to its number.
 * Returns NULL if there is none. */
static struct slot *last_dir(uint64_t *before)
{
    struct slot *last = NULL;
    uint64_t greatest = 0;
    for (int i = 0; i < COV_LEFTOVERS_MAX_EMPTY; i++) {
        uint64_t number = directories[i].name ? directories[i].number : 0;
        if (number > greatest && number < *before) {
            last = &directories[i];
            greatest = number;
        }
    }
    *before = greatest;
    return last;
}

/* Does not free the names: free is not async-signal-safe. */
int cov_leftovers_remove_all(void)
{
    int number = errno, n_files = 0;
    for (int i = 0; i < COV_LEFTOVERS_MAX; i++) {
        char *name = take(&files[i]);
        if (!name)
            continue;
        remove_leftover((enum cov_leftover_kind)files[i].kind, name, 0);
        n_files += files[i].kind == COV_LEFTOVER_FILE;
        files[i].is_used = false;
    }
    /* The latest directory goes first: later directories may be inside earlier ones. */
    uint64_t before = UINT64_MAX;
    for (struct slot *s = last_dir(&before); s; s = last_dir(&before)) {
        char *name = take(s);
        if (!name)
            continue;
        remove_leftover(COV_LEFTOVER_EMPTY, name, s->kept);
        s->is_used = false;
    }
    errno = number;
    return n_files;
}

void cov_leftovers_block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void cov_leftovers_restore_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- temporary files and directories ---- */

int cov_tmpfile(const char *dir, int *fd, struct cov_err *e)
{
    *fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*fd >= 0)
        return COV_OK;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
        return cov_fail_errno(e, "cannot create a temporary file in directory %s", dir);

    /* This file system does not support O_TMPFILE: creates a named file and unlinks it before a
     * signal can arrive. */
    char *name = cov_path_join(dir, ".covtools.XXXXXX", e);
    if (!name)
        return COV_ENOMEM;
    sigset_t before;
    cov_leftovers_block_signals(&before);
    *fd = mkostemp(name, O_CLOEXEC);
    int number = errno;
    if (*fd >= 0)
        (void)unlink(name);
    cov_leftovers_restore_signals(&before);
    free(name);
    errno = number;
    if (*fd < 0)
        return cov_fail_errno(e, "cannot create a temporary file in directory %s", dir);
    return COV_OK;
}

int cov_tmpdir_make(struct cov_tmpdir *t, const char *dir, const char *name, struct cov_err *e)
{
    *t = (struct cov_tmpdir){0};
    char *path = cov_strfmt(e, "%s/.%s.XXXXXX", dir, name);
    char *listed = path ? cov_strdup(path, e) : NULL;
    int rc = listed ? COV_OK : COV_ENOMEM;
    sigset_t before;
    cov_leftovers_block_signals(&before);
    if (!rc && !mkdtemp(path)) {
        rc = cov_fail_errno(e, "cannot create a temporary directory in %s", dir);
    } else if (!rc) {
        memcpy(listed, path, strlen(path) + 1);
        t->slot = cov_leftovers_add(COV_LEFTOVER_TREE, listed, 0);
        if (t->slot < 0) {
            (void)rmdir(path);
            rc = cov_fail(e, COV_EUNSUPPORTED, "%s: more than %d temporary files at once", dir,
                          COV_LEFTOVERS_MAX);
        }
    }
    cov_leftovers_restore_signals(&before);
    if (rc) {
        free(listed);
        free(path);
        return rc;
    }
    t->path = path;
    return COV_OK;
}

void cov_tmpdir_remove(struct cov_tmpdir *t)
{
    char *listed = t->path ? cov_leftovers_take(COV_LEFTOVER_TREE, t->slot) : NULL;
    if (listed)
        remove_leftover(COV_LEFTOVER_TREE, listed, 0);
    free(listed);
    free(t->path);
    *t = (struct cov_tmpdir){0};
}

/* Creates the missing directories of the path and sets f->kept to the length of the part that
 * existed. Returns 0, or the errno for the first directory that could not be created, not for the
 * directories inside it. */
static int make_missing(struct cov_newdir *f, char *path)
{
    size_t n = strlen(path);
    int why = 0, first = 0;
    f->kept = n;
    for (size_t i = 1; i <= n; i++) {
        if ((path[i] != '/' && path[i] != '\0') || path[i - 1] == '/')
            continue;
        path[i] = '\0';
        why = mkdir(path, 0777) ? errno : 0; /* EEXIST is checked at the end */
        if (first == 0 && why != EEXIST)
            first = why;
        if (why == 0 && f->kept == n) {
            f->kept = i;
            while (f->kept > 0 && path[f->kept - 1] != '/')
                f->kept--;
        }
        if (i < n)
            path[i] = '/';
    }
    if (n == 0)
        return ENOENT;
    return why == ENOENT ? first : why;
}

int cov_newdir_make(struct cov_newdir *f, const char *path, struct cov_err *e)
{
    struct stat st;
    *f = (struct cov_newdir){NULL, 0, -1};
    char *copy = cov_strdup(path, e), *listed = copy ? cov_strdup(path, e) : NULL;
    if (!listed) {
        free(copy);
        return COV_ENOMEM;
    }
    sigset_t before;
    cov_leftovers_block_signals(&before);
    int why = make_missing(f, copy);
    bool made = f->kept < strlen(path);
    if (made) {
        f->path = copy;
        f->slot = cov_leftovers_add(COV_LEFTOVER_EMPTY, listed, f->kept);
    }
    cov_leftovers_restore_signals(&before);
    if (f->slot < 0)
        free(listed);
    if (!made)
        free(copy);
    if (why == 0 || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return COV_OK;
    cov_newdir_fini(f);
    if (why == EEXIST || why == ENOTDIR)
        return cov_fail(e, COV_EIO, "%s: is not a directory", path);
    errno = why;
    return cov_fail_errno(e, "%s: cannot make the directory", path);
}

int cov_newdir_check(const char *path, struct cov_err *e)
{
    struct stat st;
    char *at = cov_strdup(path, e);
    int rc = at ? COV_OK : COV_ENOMEM;
    /* Finds the lowest directory that exists. */
    while (!rc && stat(at, &st) != 0) {
        if (errno == ENOTDIR)
            rc = cov_fail(e, COV_EIO, "%s: is not a directory", path);
        else if (errno != ENOENT || !*at)
            rc = cov_fail_errno(e, "%s: cannot make the directory", path);
        char *above = rc ? NULL : cov_path_dir(at, e);
        if (!rc && !above)
            rc = COV_ENOMEM;
        free(at);
        at = above;
    }
    if (!rc && !S_ISDIR(st.st_mode))
        rc = cov_fail(e, COV_EIO, "%s: is not a directory", path);
    if (!rc && access(at, W_OK | X_OK))
        rc = strcmp(at, path) == 0 ? cov_fail_errno(e, "%s", path)
                                   : cov_fail_errno(e, "%s: cannot make the directory", path);
    free(at);
    return rc;
}

void cov_newdir_fini(struct cov_newdir *f)
{
    bool is_listed = f->path && f->slot >= 0;
    char *listed = is_listed ? cov_leftovers_take(COV_LEFTOVER_EMPTY, f->slot) : NULL;
    /* If the list of leftovers was full, nothing else removes the directory. */
    if (listed || (f->path && !is_listed))
        remove_leftover(COV_LEFTOVER_EMPTY, f->path, f->kept);
    free(listed);
    free(f->path);
    *f = (struct cov_newdir){0};
}

int cov_spool_init(struct cov_spool *s, const char *dir, struct cov_err *e)
{
    *s = (struct cov_spool)COV_SPOOL_INIT;
    s->dir = cov_strdup(dir, e);
    return s->dir ? COV_OK : COV_ENOMEM;
}

void cov_spool_fini(struct cov_spool *s)
{
    if (s->fd >= 0)
        (void)close(s->fd); /* not read again */
    free(s->dir);
    *s = (struct cov_spool)COV_SPOOL_INIT;
}

static int fail(const struct cov_spool *s, struct cov_err *e)
{
    return cov_fail_errno(e, "temporary file in %s", s->dir);
}

int cov_spool_append(struct cov_spool *s, const void *data, size_t n, int64_t *at,
                     struct cov_err *e)
{
    int rc = s->fd < 0 ? cov_tmpfile(s->dir, &s->fd, e) : COV_OK;
    if (!rc && cov_write_at(s->fd, s->n_bytes, data, n) != 0)
        rc = fail(s, e);
    if (rc)
        return rc;
    if (at)
        *at = s->n_bytes;
    s->n_bytes += (int64_t)n;
    return COV_OK;
}

int cov_spool_read(const struct cov_spool *s, int64_t at, void *buf, size_t n, struct cov_err *e)
{
    const ssize_t got = cov_read_at(s->fd, at, buf, n);
    if (got < 0)
        return fail(s, e);
    return (size_t)got == n ? COV_OK
                            : cov_fail(e, COV_EIO, "temporary file in %s: truncated", s->dir);
}

int cov_spool_truncate(struct cov_spool *s, int64_t n, struct cov_err *e)
{
    assert(n <= s->n_bytes);
    if (s->fd >= 0 && ftruncate(s->fd, (off_t)n) != 0)
        return fail(s, e);
    s->n_bytes = n;
    return COV_OK;
}
