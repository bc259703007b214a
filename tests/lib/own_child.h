/* own_child.h - for unit tests: runs code in a child process and checks how it ends.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_OWN_CHILD_H
#define TESTS_OWN_CHILD_H

#include <signal.h>

#include "tests/lib/unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "common/file/tmpfile.h"

/* `part` returns 0 for success. It must not use assertions: after a failure, cmocka would continue
 * in the child. */
typedef int child_part(void *arg);

static inline void await_child(pid_t child, int expected)
{
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), expected);
}

static inline void check_in_child(child_part *part, void *arg)
{
    pid_t child = fork();
    if (child == 0)
        _exit(part(arg) == 0 ? 0 : 1);
    await_child(child, 0);
}

static inline void remove_and_exit(int signal)
{
    cov_leftovers_remove_all(); /* NOLINT(bugprone-signal-handler): made for it */
    _exit(128 + signal);
}

/* The child runs `part`, then gets SIGTERM, with the signal handler of the tools. */
static inline void terminate_in_child(child_part *part, void *arg)
{
    pid_t child = fork();
    if (child == 0) {
        if (signal(SIGTERM, remove_and_exit) == SIG_ERR || part(arg) != 0)
            _exit(1);
        (void)raise(SIGTERM);
        _exit(2);
    }
    await_child(child, 128 + SIGTERM);
}

#endif
