/* leftovers.c - see leftovers.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

void cov_leftovers_remove(enum cov_leftover_kind kind, char *name, size_t kept)
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
        cov_leftovers_remove((enum cov_leftover_kind)files[i].kind, name, 0);
        n_files += files[i].kind == COV_LEFTOVER_FILE;
        files[i].is_used = false;
    }
    /* The latest directory goes first: later directories may be inside earlier ones. */
    uint64_t before = UINT64_MAX;
    for (struct slot *s = last_dir(&before); s; s = last_dir(&before)) {
        char *name = take(s);
        if (!name)
            continue;
        cov_leftovers_remove(COV_LEFTOVER_EMPTY, name, s->kept);
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
