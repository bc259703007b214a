/* own_folder.h - for unit tests: an empty folder to work in, which is removed at the end, and files in it.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_OWN_FOLDER_H
#define TESTS_OWN_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char own_folder[] = "/tmp/covtools_unit.XXXXXX";

/* Set-up and end of a group. */
static inline int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(own_folder) && chdir(own_folder) == 0 ? 0 : -1;
}
static inline int leave_folder(void **state)
{
    (void)state;
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf %s", own_folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1; /* NOLINT(cert-env33-c): constant */
}

static inline void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* Of up to 63 bytes. */
static inline void check_text(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    assert_string_equal(text, expected);
}

/* Files in a folder, `.` and `..` left out. */
static inline int count_files(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *f = readdir(d); f; f = readdir(d))
        n += strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0;
    (void)closedir(d);
    return n;
}

#endif
