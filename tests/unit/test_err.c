/* test_err.c - failures and messages.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <errno.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/text.h"

TEST(keeps_first)
{
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_fail(&e, COV_EINPUT, "chr%d: \x1b[31mbad\n", 7), COV_EINPUT);
    assert_string_equal(e.text, "chr7: ?[31mbad?");
    assert_int_equal(cov_fail(&e, COV_EIO, "later"), COV_EIO);
    assert_int_equal(e.code, COV_EINPUT);
    assert_int_equal(cov_err_prefix(&e, COV_EINPUT, "x.fa"), COV_EINPUT);
    cov_err_append(&e, "; %d\t%s", 2, "more");
    assert_string_equal(e.text, "x.fa: chr7: ?[31mbad?; 2?more");
    cov_err_append(NULL, "; unseen");
    assert_int_equal(cov_err_prefix(NULL, COV_ENOMEM, "unseen"), COV_ENOMEM);
    cov_err_clear(&e);
    assert_int_equal(e.code, COV_OK);
    assert_int_equal(cov_fail(NULL, COV_ENOMEM, "unseen"), COV_ENOMEM);
}

TEST(appends_the_reason)
{
    errno = ENOENT;
    assert_fails_with(cov_fail_errno(&e, "x.fa"), COV_EIO, "x.fa: No such file or directory");
    errno = EPIPE;
    assert_int_equal(cov_fail_errno(NULL, "-"), COV_EPIPE);
    errno = ENOMEM;
    assert_int_equal(cov_fail_errno(NULL, "y"), COV_ENOMEM);

    /* The reason is kept, regardless of the length of the name. */
    struct cov_err e = COV_ERR_INIT;
    char name[4096];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    errno = ENOSPC;
    assert_int_equal(cov_fail_errno(&e, "%s", name), COV_EIO);
    assert_non_null(strstr(e.text, ": No space left on device"));
    (void)cov_err_prefix(&e, e.code, "%s", name);
    assert_true(strlen(e.text) < sizeof e.text);
    cov_err_append(&e, "%s", name);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

TEST(renames)
{
    struct cov_err e = COV_ERR_INIT;
    cov_err_rename(NULL, "a", "b");
    cov_err_rename(&e, "a", "b");
    assert_string_equal(e.text, "");
    assert_int_equal(cov_fail(&e, COV_EIO, "./.o.1.tmp.h5: x: .o.1.tmp.h5 or ./.o.1.tmp.h5"),
                     COV_EIO);
    cov_err_rename(&e, "./.o.1.tmp.h5", "o.h5");
    assert_string_equal(e.text, "o.h5: x: .o.1.tmp.h5 or o.h5");
    cov_err_rename(&e, "o.h5", "out/o.h5");
    assert_string_equal(e.text, "out/o.h5: x: .o.1.tmp.h5 or out/o.h5");
    struct cov_err fd = COV_ERR_INIT;
    (void)cov_fail(&fd, COV_EIO, "/proc/self/fd/12: x: /proc/self/fd/1");
    cov_err_rename(&fd, "/proc/self/fd/1", "o.h5");
    assert_string_equal(fd.text, "/proc/self/fd/12: x: o.h5");
    cov_err_rename(&e, "", "z");
    assert_int_equal(strncmp(e.text, "out/o.h5: x", 11), 0);
    char name[2000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cov_err_rename(&e, "x", name);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_int_equal(e.code, COV_EIO);
}

TEST(makes_printable)
{
    char text[] = "a\tb\x7f\xc3\xa9\xc2\x9b"
                  "1m\xc2\xa0\xc2";
    cov_make_printable(text);
    assert_string_equal(text, "a?b?\xc3\xa9??1m\xc2\xa0\xc2");
}

static void receive(void *arg, enum cov_log_level level, const char *text)
{
    assert_int_equal(level, COV_LOG_WARNING);
    assert_string_equal(text, "odd name ?x");
    ++*(int *)arg;
}

TEST(logs)
{
    int n = 0;
    cov_warn("dropped");
    cov_log_set(receive, &n, COV_LOG_WARNING);
    cov_warn("odd name %s", "\x1bx");
    cov_info("below the level");
    cov_log_set(NULL, NULL, COV_LOG_DEBUG);
    cov_warn("dropped");
    assert_int_equal(n, 1);
}
