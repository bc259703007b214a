/* child.c - see child.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/mem.h"
#include "common/file/tmpfile.h"

enum { STATUS_NO_EXEC = 127, SAMPLE_MS = 50, MAX_MESSAGE = 4000 };

struct running {
    pid_t pid;
    int watch;  /* readable after the end of the process; -1: not supported */
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

static void keep_most(int64_t *most, int64_t kilobytes)
{
    if (kilobytes > 0 && kilobytes * 1024 > *most)
        *most = kilobytes * 1024;
}

static void sample(pid_t pid, struct child_cost *cost)
{
    int64_t clean = proc_number(pid, "smaps_rollup", "Private_Clean:");
    int64_t dirty = proc_number(pid, "smaps_rollup", "Private_Dirty:");
    keep_most(&cost->max_vms, proc_number(pid, "status", "VmPeak:"));
    keep_most(&cost->max_pss, proc_number(pid, "smaps_rollup", "Pss:"));
    if (clean >= 0 && dirty >= 0)
        keep_most(&cost->max_uss, clean + dirty);
}

/* ---------------------------------------------------------------- start and end */

static _Noreturn void run_child(const struct child *c, int go, int output, int errors)
{
    char byte, *const *arguments;
    memcpy(&arguments, &c->arguments, sizeof arguments); /* execvp takes them without const */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(errors, STDERR_FILENO) >= 0 && read(go, &byte, 1) == 1)
        (void)execvp(c->arguments[0], arguments);
    _exit(STATUS_NO_EXEC);
}

static int start(struct child *c, struct running *r, const char *tmpdir, struct cov_err *e)
{
    int go[2], output = open(c->output ? c->output : "/dev/null",
                             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output < 0)
        return cov_fail_errno(e, "%s", c->output ? c->output : "/dev/null");
    /* The peak memory of a child includes its copy of this process before exec. */
    (void)malloc_trim(0);
    int rc = cov_tmpfile(tmpdir, &r->errors, e);
    if (rc) {
        r->errors = -1;
    } else if (pipe2(go, O_CLOEXEC) != 0) {
        rc = cov_fail_errno(e, "a pipe");
    } else {
        pid_t pid = fork();
        if (pid == 0)
            run_child(c, go[0], output, r->errors);
        (void)close(go[0]);
        r->pid = pid;
        if (pid < 0) {
            rc = cov_fail_errno(e, "%s cannot be run", c->arguments[0]);
        } else {
            r->watch = (int)syscall(SYS_pidfd_open, pid, 0);
            for (int i = 0; i < CHILD_COUNTERS && c->count; i++)
                r->counters[i] = open_counter((enum child_counter)i, pid);
            r->started = cov_clock();
            if (write(go[1], "", 1) != 1)
                rc = cov_fail_errno(e, "%s cannot be run", c->arguments[0]);
        }
        (void)close(go[1]);
    }
    (void)close(output);
    return rc;
}

/* Returns the last line of text that has ": error: ", since mpirun writes more after the error of
 * the program that it ran; otherwise the last line. */
static const char *find_message(char *text)
{
    const char *found = NULL;
    for (const char *p = text; (p = strstr(p, ": error: ")); p++)
        found = p;
    char *end = found ? strchr(found, '\n') : NULL;
    if (end)
        *end = '\0';
    const char *newline = strrchr(text, '\n');
    return newline ? newline + 1 : text;
}

/* Fails with a line that the program wrote to standard error. */
static int refuse(const struct child *c, const struct running *r, int status, struct cov_err *e)
{
    char text[MAX_MESSAGE + 1];
    off_t size = lseek(r->errors, 0, SEEK_END);
    ssize_t n = pread(r->errors, text, MAX_MESSAGE, size > MAX_MESSAGE ? size - MAX_MESSAGE : 0);
    text[n > 0 ? n : 0] = '\0';
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        text[--n] = '\0';
    const char *line = find_message(text);
    if (WIFSIGNALED(status))
        return cov_fail(e, COV_EIO, "%s was killed by signal %d (%s)", c->arguments[0],
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == STATUS_NO_EXEC && !*line)
        return cov_fail(e, COV_EIO, "%s cannot be run", c->arguments[0]);
    return cov_fail(e, COV_EIO, "%s failed with status %d%s%s", c->arguments[0],
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
        return cov_fail_errno(e, "%s", c->arguments[0]);
    c->cost.cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    c->cost.max_rss = (int64_t)usage.ru_maxrss * 1024;
    for (int i = 0; i < CHILD_COUNTERS; i++)
        c->cost.counters[i] = c->count ? read_counter(r->counters[i]) : -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return refuse(c, r, status, e);
    return COV_OK;
}

/* Returns true if the process has ended. Does not reap it, so that its /proc entry can still be
 * read. */
static bool has_ended(const struct running *r)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

static int wait_for(struct child *children, struct running *running, size_t n, struct pollfd *polls,
                    struct cov_err *e)
{
    for (size_t left = n; left > 0;) {
        bool samples = false, watched = true;
        nfds_t n_polls = 0;
        for (size_t i = 0; i < n; i++) {
            if (running[i].ended)
                continue;
            samples = samples || children[i].sample;
            watched = watched && running[i].watch >= 0;
            polls[n_polls++] = (struct pollfd){running[i].watch, POLLIN, 0};
        }
        (void)poll(polls, n_polls, !watched ? 1 : samples ? SAMPLE_MS : -1);
        for (size_t i = 0; i < n; i++) {
            if (running[i].ended)
                continue;
            if (has_ended(&running[i])) {
                int rc = finish(&children[i], &running[i], e);
                left--;
                if (rc)
                    return rc;
            } else if (children[i].sample) {
                sample(running[i].pid, &children[i].cost);
            }
        }
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
    if (r->watch >= 0)
        (void)close(r->watch);
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
    struct pollfd *polls = cov_calloc(n, sizeof *polls, e);
    int rc = running && polls ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < n && running; i++) {
        running[i].watch = running[i].errors = -1;
        for (int k = 0; k < CHILD_COUNTERS; k++)
            running[i].counters[k] = -1;
        children[i].cost = (struct child_cost){0};
    }
    double started = cov_clock();
    for (size_t i = 0; i < n && !rc; i++)
        rc = start(&children[i], &running[i], tmpdir, e);
    if (!rc)
        rc = wait_for(children, running, n, polls, e);
    if (wall)
        *wall = cov_clock() - started;
    for (size_t i = 0; i < n && running; i++)
        release(&running[i]);
    free(running);
    free(polls);
    return rc;
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int child_run(const char *const *arguments, const char *tmpdir, struct cov_err *e)
{
    struct child child = {.arguments = arguments};
    return children_run(&child, 1, tmpdir, NULL, e);
}

/* Returns the length of the folder of this program in self[]; 0 if it is unknown. */
static size_t own_folder(char self[4096])
{
    ssize_t n = readlink("/proc/self/exe", self, 4095);
    self[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(self, '/');
    return slash ? (size_t)(slash - self) : 0;
}

int child_find_data(const char *name, char **path, struct cov_err *e)
{
    static const char *const folders[] = {"workflows", "share/covtools/workflows"};
    char self[4096];
    size_t n = own_folder(self);
    for (size_t i = 0; n > 0 && i < COV_COUNT(folders); i++) {
        *path = cov_strfmt(e, "%.*s/../%s/%s", (int)n, self, folders[i], name);
        if (!*path)
            return COV_ENOMEM;
        if (access(*path, R_OK) == 0)
            return COV_OK;
        free(*path);
    }
    *path = NULL;
    return COV_OK;
}

int child_find(const char *name, char **path, struct cov_err *e)
{
    char self[4096];
    const char *folder = self, *end = self + own_folder(self), *search = getenv("PATH");
    do {
        *path = cov_strfmt(e, "%.*s/%s", (int)(end - folder), folder, name);
        if (!*path)
            return COV_ENOMEM;
        if (end > folder && is_program(*path))
            return COV_OK;
        free(*path);
        folder = search;
        end = folder ? folder + strcspn(folder, ":") : NULL;
        search = end && *end ? end + 1 : NULL;
    } while (folder);
    *path = NULL;
    return cov_fail(e, COV_EUNSUPPORTED, "%s: not found in the folder of this program or in PATH",
                    name);
}

int child_tools_find(struct child_tools *t, struct cov_err *e)
{
    int rc = child_find("fasta2h5", &t->fasta2h5, e);
    if (!rc)
        rc = child_find("covpredict", &t->covpredict, e);
    if (!rc)
        rc = child_find("cov2bigwig", &t->cov2bigwig, e);
    return rc ? rc : child_find("h5chunk", &t->h5chunk, e);
}

void child_tools_free(struct child_tools *t)
{
    free(t->fasta2h5);
    free(t->covpredict);
    free(t->cov2bigwig);
    free(t->h5chunk);
}
