/* own_dir.h - for unit tests: an empty working directory, which is removed at the end, and files in it.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_OWN_DIR_H
#define TESTS_OWN_DIR_H

#include "tests/lib/unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char own_dir[] = "/tmp/covtools_unit.XXXXXX";

/* Group setup and teardown. */
static inline int enter_dir(void **state)
{
    return mkdtemp(own_dir) && chdir(own_dir) == 0 ? 0 : -1;
}
static inline int leave_dir(void **state)
{
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf %s", own_dir);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1; /* NOLINT(cert-env33-c): constant */
}

/* Replaces the file `path`. */
static inline void put_bytes(const char *path, const void *data, size_t n)
{
    FILE *f = must(fopen(path, "wb"));
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}
static inline void put_text(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

/* Reads a whole file: *n bytes (n may be NULL) and a zero byte, in memory of the test. */
static inline char *get_bytes(const char *path, size_t *n)
{
    enum { STEP = 1 << 16 };
    char *data = NULL;
    size_t used = 0, got;
    FILE *f = must(fopen(path, "rb"));
    do {
        data = must(realloc(data, used + STEP + 1));
        got = fread(data + used, 1, STEP, f);
        used += got;
    } while (got > 0);
    assert_int_equal(fclose(f), 0);
    data[used] = '\0';
    if (n)
        *n = used;
    return unit_own(data);
}

/* The contents of a file, in memory of the test. */
struct bytes {
    uint8_t *p;
    size_t n;
};
static inline struct bytes get_file(const char *path)
{
    struct bytes b;
    b.p = (uint8_t *)get_bytes(path, &b.n);
    return b;
}

static inline void check_text(const char *path, const char *expected)
{
    assert_string_equal(get_bytes(path, NULL), expected);
}

static inline void check_same_files(const char *a, const char *b)
{
    size_t n_a, n_b;
    const char *text_a = get_bytes(a, &n_a), *text_b = get_bytes(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(text_a, text_b, n_a);
}

/* Limits the size of files, to simulate a full disk; RLIM_INFINITY: no limit. */
static inline void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Entries of a directory, except `.` and `..`. */
static inline int count_files(const char *dir)
{
    int n = 0;
    DIR *d = must(opendir(dir));
    for (const struct dirent *f = readdir(d); f; f = readdir(d))
        n += strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0;
    (void)closedir(d);
    return n;
}

/* Removes these files and directories, with blanks between them: the working directory is empty then. */
static inline void take_files(const char *names)
{
    char copy[256], *rest;
    (void)snprintf(copy, sizeof copy, "%s", names);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        assert_int_equal(remove(name), 0);
    assert_int_equal(count_files("."), 0);
}

#endif
