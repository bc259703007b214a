/* child.c - see child.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/file/tmpfile.h"

enum { STATUS_NO_EXEC = 127, MAX_MESSAGE = 4000 };
/* Between the words of a command: ASCII's unit separator, since paths may have blanks. */
#define SEPARATOR "\x1f"

struct running {
    pid_t pid;
    int errors; /* its standard error */
    int counters[CHILD_COUNTERS];
    double started;
    bool ended;
};

/* ---------------------------------------------------------------- counters */

static int open_counter(enum child_counter which, pid_t pid)
{
    static const struct {
        uint32_t type;
        uint64_t config;
    } events[CHILD_COUNTERS] = {
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
        {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    };
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = events[which].type;
    attr.config = events[which].config;
    attr.disabled = 1;
    attr.inherit = 1;
    attr.enable_on_exec = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EACCES) {
        attr.exclude_kernel = 1;
        fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd;
}

/* Reads a counter, and extrapolates if the kernel multiplexed it. Returns -1 if it did not count.
 * */
static int64_t read_counter(int fd)
{
    uint64_t value[3];
    if (fd < 0 || read(fd, value, sizeof value) != (ssize_t)sizeof value || value[2] == 0)
        return -1;
    return (int64_t)((double)value[0] * ((double)value[1] / (double)value[2]));
}

/* ---------------------------------------------------------------- /proc */

/* Returns the number after `key` in /proc/PID/FILE, or -1 if it is missing. */
static int64_t proc_number(pid_t pid, const char *file, const char *key)
{
    char path[64], line[256];
    int64_t value = -1;
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
    FILE *f = fopen(path, "re");
    while (f && value < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtoll(line + strlen(key), NULL, 10);
    if (f)
        (void)fclose(f);
    return value;
}

/* ---------------------------------------------------------------- start and end */

static _Noreturn void run_child(char **words, const int fds[3])
{
    char byte;
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(fds[1], STDOUT_FILENO) >= 0 &&
        dup2(fds[2], STDERR_FILENO) >= 0 && read(fds[0], &byte, 1) == 1)
        (void)execvp(words[0], words);
    _exit(STATUS_NO_EXEC);
}

/* Starts the program with its standard output and error at fds[1] and fds[2]. It waits for a byte
 * from fds[0], the other end of `go`, until the counters are open. */
static int start_held(char **words, struct running *r, const int fds[3], int go, struct cov_err *e)
{
    /* The peak memory of a child includes its copy of this process before exec. */
    (void)malloc_trim(0);
    pid_t pid = fork();
    if (pid == 0)
        run_child(words, fds);
    r->pid = pid;
    if (pid < 0)
        return cov_fail_errno(e, "%s cannot be run", words[0]);
    for (int i = 0; i < CHILD_COUNTERS; i++)
        r->counters[i] = open_counter((enum child_counter)i, pid);
    r->started = cov_clock();
    return write(go, "", 1) == 1 ? COV_OK : cov_fail_errno(e, "%s cannot be run", words[0]);
}

static int start(const struct child *c, struct running *r, const char *tmpdir, struct cov_err *e)
{
    size_t n = 0;
    int go[2], output = -1;
    char *text = cov_strdup(c->command, e), *rest = text;
    char **words = text ? cov_calloc(strlen(text) + 2, sizeof *words, e) : NULL;
    int rc = words ? cov_tmpfile(tmpdir, &r->errors, e) : COV_ENOMEM;
    if (!rc && (output = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0)
        rc = cov_fail_errno(e, "/dev/null");
    if (!rc && pipe2(go, O_CLOEXEC) != 0)
        rc = cov_fail_errno(e, "a pipe");
    if (!rc) {
        const int fds[3] = {go[0], output, r->errors};
        while (rest)
            words[n++] = strsep(&rest, SEPARATOR);
        rc = start_held(words, r, fds, go[1], e);
        (void)close(go[0]);
        (void)close(go[1]);
    }
    if (output >= 0)
        (void)close(output);
    free(words);
    free(text);
    return rc;
}

/* Fails with the last line that the program wrote to standard error. */
static int refuse(const struct child *c, const struct running *r, int status, struct cov_err *e)
{
    char text[MAX_MESSAGE + 1];
    const int name = (int)strcspn(c->command, SEPARATOR);
    off_t size = lseek(r->errors, 0, SEEK_END);
    ssize_t n = pread(r->errors, text, MAX_MESSAGE, size > MAX_MESSAGE ? size - MAX_MESSAGE : 0);
    text[n > 0 ? n : 0] = '\0';
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        text[--n] = '\0';
    const char *newline = strrchr(text, '\n'), *line = newline ? newline + 1 : text;
    if (WIFSIGNALED(status))
        return cov_fail(e, COV_EIO, "%.*s was killed by signal %d (%s)", name, c->command,
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == STATUS_NO_EXEC && !*line)
        return cov_fail(e, COV_EIO, "%.*s cannot be run", name, c->command);
    return cov_fail(e, COV_EIO, "%.*s failed with status %d%s%s", name, c->command,
                    WEXITSTATUS(status), *line ? ": " : "", line);
}

static int finish(struct child *c, struct running *r, struct cov_err *e)
{
    struct rusage usage;
    int status;
    c->cost.wall = cov_clock() - r->started;
    c->cost.read_bytes = proc_number(r->pid, "io", "read_bytes:");
    c->cost.written_bytes = proc_number(r->pid, "io", "write_bytes:");
    pid_t got;
    do
        got = wait4(r->pid, &status, 0, &usage);
    while (got < 0 && errno == EINTR);
    r->ended = true;
    if (got < 0)
        return cov_fail_errno(e, "%.*s", (int)strcspn(c->command, SEPARATOR), c->command);
    c->cost.cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    c->cost.max_rss = (int64_t)usage.ru_maxrss * 1024;
    for (int i = 0; i < CHILD_COUNTERS; i++)
        c->cost.counters[i] = read_counter(r->counters[i]);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return refuse(c, r, status, e);
    return COV_OK;
}

/* Waits for all; they are the only children of this process. */
static int wait_for(struct child *children, struct running *running, size_t n, struct cov_err *e)
{
    for (size_t left = n; left > 0; left--) {
        siginfo_t info;
        size_t i = 0;
        int rc;
        do /* does not reap it, so that its /proc entry can still be read */
            rc = waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
        while (rc != 0 && errno == EINTR);
        while (i < n && running[i].pid != info.si_pid)
            i++;
        if (rc != 0 || i == n)
            return cov_fail(e, COV_EIO, "lost a child process");
        rc = finish(&children[i], &running[i], e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

static void release(struct running *r)
{
    if (r->pid > 0 && !r->ended) {
        (void)kill(r->pid, SIGTERM);
        while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (r->errors >= 0)
        (void)close(r->errors);
    for (int i = 0; i < CHILD_COUNTERS; i++)
        if (r->counters[i] >= 0)
            (void)close(r->counters[i]);
}

int children_run(struct child *children, size_t n, const char *tmpdir, double *wall,
                 struct cov_err *e)
{
    struct running *running = cov_calloc(n, sizeof *running, e);
    int rc = running ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < n && running; i++) {
        running[i].errors = -1;
        for (int k = 0; k < CHILD_COUNTERS; k++)
            running[i].counters[k] = -1;
        children[i].cost = (struct child_cost){0};
    }
    double started = cov_clock();
    for (size_t i = 0; i < n && !rc; i++)
        rc = start(&children[i], &running[i], tmpdir, e);
    if (!rc)
        rc = wait_for(children, running, n, e);
    if (wall)
        *wall = cov_clock() - started;
    for (size_t i = 0; i < n && running; i++)
        release(&running[i]);
    free(running);
    return rc;
}

/* ---------------------------------------------------------------- commands */

static char *make_command(const char *fmt, va_list ap, struct cov_err *e)
{
    va_list again;
    va_copy(again, ap);
    char *words = cov_strdup(fmt, e), *command = NULL;
    for (char *p = words; p && (p = strchr(p, ' '));)
        *p = SEPARATOR[0];
    int n = words ? vsnprintf(NULL, 0, words, ap) : -1;
    if (n >= 0)
        command = cov_malloc((size_t)n + 1, 1, e);
    if (command)
        (void)vsnprintf(command, (size_t)n + 1, words, again);
    va_end(again);
    free(words);
    return command;
}

char *child_command(struct cov_err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *command = make_command(fmt, ap, e);
    va_end(ap);
    return command;
}

int child_run(const char *tmpdir, struct cov_err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *command = make_command(fmt, ap, e);
    va_end(ap);
    struct child child = {.command = command};
    int rc = command ? children_run(&child, 1, tmpdir, NULL, e) : COV_ENOMEM;
    free(command);
    return rc;
}

/* Returns the length of the directory of this program in self[]; 0 if it is unknown. */
static size_t own_dir(char self[4096])
{
    ssize_t n = readlink("/proc/self/exe", self, 4095);
    self[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(self, '/');
    return slash ? (size_t)(slash - self) : 0;
}

int child_prefer_own(struct cov_err *e)
{
    char self[4096];
    const char *others = getenv("PATH");
    size_t n = own_dir(self);
    if (n == 0)
        return COV_OK;
    char *path = cov_strfmt(e, "%.*s%s%s", (int)n, self, others ? ":" : "", others ? others : "");
    int rc = path && setenv("PATH", path, 1) == 0 ? COV_OK : COV_ENOMEM;
    free(path);
    return rc;
}

int child_find_data(const char *name, char **path, struct cov_err *e)
{
    static const char *const directories[] = {"workflows", "share/covtools/workflows"};
    char self[4096];
    size_t n = own_dir(self);
    for (size_t i = 0; n > 0 && i < COV_COUNT(directories); i++) {
        *path = cov_strfmt(e, "%.*s/../%s/%s", (int)n, self, directories[i], name);
        if (!*path)
            return COV_ENOMEM;
        if (access(*path, R_OK) == 0)
            return COV_OK;
        free(*path);
    }
    *path = NULL;
    return COV_OK;
}
