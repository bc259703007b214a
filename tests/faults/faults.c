/* faults.c - preloaded into a program, makes its n-th call or allocation fail.
 *
 * LD_PRELOAD=faults.so FAULT_MODE=eio FAULT_N=17 FAULT_LOG=log PROGRAM ...
 *
 * FAULT_MODE  eio     the call does nothing and fails with EIO (mmap: ENOMEM; fork and threads: EAGAIN)
 *             enospc  fails with ENOSPC; only calls that write or create
 *             eintr   fails with EINTR; only calls that a signal can interrupt
 *             short   transfers half of the bytes; only reads and writes
 *             zero    returns 0; only writes: reads would be at the end, where any text may end
 *             kill    SIGKILL before the call
 *             mem     the allocation returns NULL
 *             step    nothing fails; before a call that writes, creates or removes, waits for a byte from FAULT_STEP
 *             With a + at the end (eio+), later calls fail, too.
 * FAULT_N     which call, from 1; 0: none. Calls of all threads and of forked processes count, those
 *             of programs that the program starts do not.
 * FAULT_LOG   file that gets a line per failed call and, if n is 0, per call: number, kinds
 *             (w: writes or creates, u: removes, i: can be interrupted, d: transfers data, z: may return 0), name, file (mem, if
 *             n is 0: a hash of the stack). A crash adds "crash" and its stack.
 *
 * Writes to standard error never fail. Calls of libc itself are not seen, but streams are opened such
 * that their reads and writes are.
 * SPDX-License-Identifier: MIT */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-macro-parentheses,cert-err33-c) */
#undef _FILE_OFFSET_BITS /* both names of a call are wrapped: open, open64 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITES = 1, SLOW = 2, DATA = 4, MEMORY = 8, ZEROS = 16, REMOVES = 32 }; /* kinds of calls */

static const struct {
    const char *name;
    int calls; /* that fail; 0: all that are no allocation */
    int number;
} modes[] = {{"eio", 0, EIO},         {"enospc", WRITES, ENOSPC},
             {"eintr", SLOW, EINTR},  {"short", DATA, 0},
             {"zero", ZEROS, 0},      {"kill", 0, 0},
             {"mem", MEMORY, ENOMEM}, {"step", 0, 0}};
enum { EIO_, ENOSPC_, EINTR_, SHORT, ZERO, KILL, MEM, STEP, N_MODES };

static bool ready, sticky;
static int mode, log_fd = -1, step_fd = -1;
static long n_fail;
static atomic_long *n_calls;     /* shared with forked processes */
static _Thread_local int inside; /* this thread is in a wrapper */

static void note(long n, int kind, const char *function, int fd, const char *path)
{
    char line[700], link[64], target[512] = "";
    if (path) {
        snprintf(target, sizeof target, "%s", path);
    } else if (fd >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const long got = syscall(SYS_readlink, link, target, sizeof target - 1);
        target[got > 0 ? got : 0] = '\0';
    }
    const int length =
        snprintf(line, sizeof line, "%ld %s%s%s%s%s- %s %s\n", n, kind & WRITES ? "w" : "",
                 kind & REMOVES ? "u" : "", kind & SLOW ? "i" : "", kind & DATA ? "d" : "",
                 kind & ZEROS ? "z" : "", function, target);
    (void)syscall(SYS_write, log_fd, line, length);
}

enum { MAX_STACK = 64, INNERMOST = 3, OURS = 4 };

/* A hash of the innermost frames, and of those of libcov and the tool, by their places in the modules. */
static void note_stack(long n, const char *function)
{
    void *stack[MAX_STACK];
    char text[24];
    uint64_t hash = 0;
    int ours = 0;
    for (int i = 2, depth = backtrace(stack, MAX_STACK); i < depth; i++) { /* 0, 1: this file */
        Dl_info at = {0};
        const bool known = dladdr(stack[i], &at) != 0;
        const bool is_ours =
            known && (strstr(at.dli_fname, "libcov") || !strstr(at.dli_fname, ".so"));
        if (i < INNERMOST + 2 || (is_ours && ours++ < OURS))
            hash =
                (hash ^ (uint64_t)((char *)stack[i] - (char *)at.dli_fbase)) * 0x9e3779b97f4a7c15;
    }
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    note(n, 0, function, -1, text);
}

/* Counts a call. Returns true, and sets errno, if it must fail. */
static bool fails(const char *function, int kind, int fd, const char *path)
{
    if (!ready || inside || (kind == MEMORY) != (mode == MEM))
        return false;
    const long n = ++*n_calls;
    const bool now = n_fail > 0 && (sticky ? n >= n_fail : n == n_fail) &&
                     (modes[mode].calls == 0 || kind & modes[mode].calls);
    const bool steps = mode == STEP && kind & (WRITES | REMOVES);
    char byte;
    inside++;
    if (n_fail == 0 && mode == MEM)
        note_stack(n, function);
    else if (now || steps || (n_fail == 0 && mode != STEP))
        note(n, kind, function, fd, path);
    if (steps)
        (void)syscall(SYS_read, step_fd, &byte, 1);
    inside--;
    if (now && mode == KILL)
        (void)syscall(SYS_kill, getpid(), SIGKILL);
    if (now)
        errno = modes[mode].number;
    return now;
}

/* The next function of this name. */
#define REAL(type, name, params)                                                                   \
    static type(*real) params;                                                                     \
    if (!real) {                                                                                   \
        inside++;                                                                                  \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        inside--;                                                                                  \
    }

/* Wraps a function that returns `failed` with errno set. */
#define WRAP(type, name, params, args, failed, kind, fd, path)                                     \
    type name params                                                                               \
    {                                                                                              \
        REAL(type, name, params)                                                                   \
        return fails(#name, kind, fd, path) ? failed : real args;                                  \
    }

/* Wraps a function that transfers n bytes, and may transfer fewer. */
#define TRANSFER(name, params, args, kind, fd)                                                     \
    ssize_t name params                                                                            \
    {                                                                                              \
        REAL(ssize_t, name, params)                                                                \
        if (fd != STDERR_FILENO && fails(#name, SLOW | DATA | (kind), fd, NULL)) {                 \
            if (mode != SHORT)                                                                     \
                return mode == ZERO ? 0 : -1;                                                      \
            n = n > 1 ? n / 2 : n;                                                                 \
        }                                                                                          \
        return real args;                                                                          \
    }

/* clang-format off */
TRANSFER(read, (int fd, void *to, size_t n), (fd, to, n), 0, fd)
TRANSFER(pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), 0, fd)
TRANSFER(pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at), 0, fd)
TRANSFER(write, (int fd, const void *from, size_t n), (fd, from, n), WRITES | ZEROS, fd)
TRANSFER(pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), WRITES | ZEROS, fd)
TRANSFER(pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at), WRITES | ZEROS, fd)
TRANSFER(pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), WRITES | ZEROS, fd)
TRANSFER(pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), WRITES | ZEROS, fd)
TRANSFER(copy_file_range, (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags),
         (in, from, out, to, n, flags), WRITES | ZEROS, out)

WRAP(int, fsync, (int fd), (fd), -1, WRITES | SLOW, fd, NULL)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), -1, WRITES | SLOW, fd, NULL)
WRAP(int, ftruncate64, (int fd, off64_t n), (fd, n), -1, WRITES | SLOW, fd, NULL)
WRAP(off_t, lseek, (int fd, off_t at, int from), (fd, at, from), -1, 0, fd, NULL)
WRAP(off64_t, lseek64, (int fd, off64_t at, int from), (fd, at, from), -1, 0, fd, NULL)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1, WRITES, -1, to)
WRAP(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags), -1, WRITES, -1, to)
WRAP(int, link, (const char *from, const char *to), (from, to), -1, WRITES, -1, to)
WRAP(int, unlink, (const char *path), (path), -1, REMOVES, -1, path)
WRAP(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags), -1, REMOVES, -1, path)
WRAP(int, rmdir, (const char *path), (path), -1, REMOVES, -1, path)
WRAP(int, mkdir, (const char *path, mode_t bits), (path, bits), -1, WRITES, -1, path)
WRAP(int, fchmod, (int fd, mode_t bits), (fd, bits), -1, 0, fd, NULL)
WRAP(int, access, (const char *path, int how), (path, how), -1, 0, -1, path)
WRAP(int, stat, (const char *path, struct stat *to), (path, to), -1, 0, -1, path)
WRAP(int, stat64, (const char *path, struct stat64 *to), (path, to), -1, 0, -1, path)
WRAP(int, lstat, (const char *path, struct stat *to), (path, to), -1, 0, -1, path)
WRAP(int, lstat64, (const char *path, struct stat64 *to), (path, to), -1, 0, -1, path)
WRAP(int, fstat, (int fd, struct stat *to), (fd, to), -1, 0, fd, NULL)
WRAP(int, fstat64, (int fd, struct stat64 *to), (fd, to), -1, 0, fd, NULL)
WRAP(int, flock, (int fd, int how), (fd, how), -1, SLOW, fd, NULL)
WRAP(int, dup2, (int from, int to), (from, to), -1, SLOW, from, NULL)
WRAP(int, mkostemp64, (char *path, int flags), (path, flags), -1, WRITES, -1, path)
WRAP(char *, mkdtemp, (char *path), (path), NULL, WRITES, -1, path)
WRAP(char *, realpath, (const char *path, char *to), (path, to), NULL, 0, -1, path)
WRAP(DIR *, opendir, (const char *path), (path), NULL, SLOW, -1, path)
WRAP(struct dirent64 *, readdir64, (DIR *d), (d), NULL, 0, dirfd(d), NULL)
WRAP(int, madvise, (void *at, size_t n, int advice), (at, n, advice), -1, 0, -1, NULL)
WRAP(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), -1, SLOW, -1, NULL)
WRAP(pid_t, fork, (void), (), (errno = EAGAIN, -1), 0, -1, NULL)
WRAP(void *, mmap, (void *at, size_t n, int bits, int flags, int fd, off_t from),
     (at, n, bits, flags, fd, from), (errno = ENOMEM, MAP_FAILED), 0, fd, NULL)
WRAP(void *, mmap64, (void *at, size_t n, int bits, int flags, int fd, off64_t from),
     (at, n, bits, flags, fd, from), (errno = ENOMEM, MAP_FAILED), 0, fd, NULL)
WRAP(int, pthread_create, (pthread_t *to, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
     (to, attr, run, arg), EAGAIN, 0, -1, NULL)
/* clang-format on */

/* Closes the descriptor even if the call fails, as the kernel does. */
int close(int fd)
{
    const bool failed = fails("close", SLOW, fd, NULL);
    const int number = errno, rc = (int)syscall(SYS_close, fd);
    errno = failed ? number : errno;
    return failed ? -1 : rc;
}

/* What libraries call with buffers of known size. */
ssize_t __read_chk(int fd, void *to, size_t n, size_t size);
ssize_t __read_chk(int fd, void *to, size_t n, size_t size)
{
    (void)size;
    return read(fd, to, n);
}

static int open_at(const char *function, int dir, const char *path, int flags, mode_t bits)
{
    if (fails(function, SLOW | (flags & O_CREAT ? WRITES : 0), -1, path))
        return -1;
    return (int)syscall(SYS_openat, dir, path, flags, bits);
}

#define OPEN(name, params, dir)                                                                    \
    int name params                                                                                \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        const mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;              \
        va_end(list);                                                                              \
        return open_at("open", dir, path, flags, bits);                                            \
    }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat64, (int dir, const char *path, int flags, ...), dir)

#define FCNTL(name)                                                                                \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, command);                                                                   \
        void *arg = va_arg(list, void *);                                                          \
        va_end(list);                                                                              \
        return fails("fcntl", SLOW, fd, NULL) ? -1 : (int)syscall(SYS_fcntl, fd, command, arg);    \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- streams, over the calls above ---- */

enum { MAX_STREAMS = 64 };
static struct {
    FILE *f;
    int fd;
} streams[MAX_STREAMS];

static int fd_of(const void *cookie)
{
    return (int)(intptr_t)cookie;
}

static ssize_t stream_read(void *cookie, char *to, size_t n)
{
    return read(fd_of(cookie), to, n);
}

static ssize_t stream_write(void *cookie, const char *from, size_t n)
{
    const ssize_t put = write(fd_of(cookie), from, n);
    return put < 0 ? 0 : put; /* see fopencookie(3) */
}

static int stream_seek(void *cookie, off64_t *at, int from)
{
    const off64_t got = lseek64(fd_of(cookie), *at, from);
    *at = got < 0 ? *at : got;
    return got < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    for (int i = 0; i < MAX_STREAMS; i++)
        if (streams[i].f && streams[i].fd == fd_of(cookie))
            streams[i].f = NULL;
    return close(fd_of(cookie));
}

FILE *fdopen(int fd, const char *how)
{
    const cookie_io_functions_t calls = {stream_read, stream_write, stream_seek, stream_close};
    FILE *f = fopencookie((void *)(intptr_t)fd, how, calls); /* NOLINT(performance-no-int-to-ptr) */
    for (int i = 0; f && i < MAX_STREAMS; i++)
        if (!streams[i].f) {
            streams[i].f = f;
            streams[i].fd = fd;
            break;
        }
    return f;
}

int fileno(FILE *f)
{
    REAL(int, fileno, (FILE *))
    for (int i = 0; i < MAX_STREAMS; i++)
        if (streams[i].f == f)
            return streams[i].fd;
    return real(f);
}

FILE *fopen64(const char *path, const char *how)
{
    int flags = *how == 'r' ? 0 : O_CREAT | (*how == 'a' ? O_APPEND : O_TRUNC);
    flags |= strchr(how, '+') ? O_RDWR : *how == 'r' ? O_RDONLY : O_WRONLY;
    flags |= (strchr(how, 'x') ? O_EXCL : 0) | (strchr(how, 'e') ? O_CLOEXEC : 0);
    const int fd = open_at("fopen", AT_FDCWD, path, flags, 0666);
    return fd < 0 ? NULL : fdopen(fd, how);
}

FILE *fopen(const char *path, const char *how)
{
    return fopen64(path, how);
}

/* ---- allocations ---- */

/* dlsym allocates, so these names of libc's functions are used. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

void *malloc(size_t n)
{
    return fails("malloc", MEMORY, -1, NULL) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails("calloc", MEMORY, -1, NULL) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
    return fails("realloc", MEMORY, -1, NULL) ? NULL : __libc_realloc(old, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return fails("aligned_alloc", MEMORY, -1, NULL) ? NULL : __libc_memalign(alignment, n);
}

int posix_memalign(void **to, size_t alignment, size_t n)
{
    *to = fails("posix_memalign", MEMORY, -1, NULL) ? NULL : __libc_memalign(alignment, n);
    return *to ? 0 : ENOMEM;
}

/* ---- start and end ---- */

static void log_stack(void)
{
    void *stack[24];
    ready = false;
    (void)syscall(SYS_write, log_fd, "crash\n", 6);
    backtrace_symbols_fd(stack, backtrace(stack, 24), log_fd);
}

static void crashed(int number)
{
    log_stack();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
enum { N_CRASHES = sizeof crashes / sizeof *crashes };

/* Recursion without end leaves no stack for the handler. */
static void catch_crashes(void)
{
    static char space[1 << 16];
    const stack_t other = {.ss_sp = space, .ss_size = sizeof space};
    const struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
    (void)sigaltstack(&other, NULL);
    for (size_t i = 0; i < N_CRASHES; i++)
        (void)sigaction(crashes[i], &action, NULL);
}

/* Threads block all signals. Those of crashes still reach the handler. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    REAL(int, pthread_sigmask, (int, const sigset_t *, sigset_t *))
    sigset_t fewer;
    sigemptyset(&fewer);
    if (set)
        fewer = *set;
    for (size_t i = 0; how != SIG_UNBLOCK && i < N_CRASHES; i++)
        sigdelset(&fewer, crashes[i]);
    return real(how, set ? &fewer : NULL, old);
}

/* Libraries may end the program. */
void exit(int status)
{
    REAL(void, exit, (int))
    if (ready && (status & 0xff) > 128)
        log_stack();
    real(status);
    __builtin_unreachable();
}

__attribute__((destructor)) static void end(void)
{
    ready = false;
}

void _exit(int status)
{
    if (ready && (status & 0xff) > 128)
        log_stack();
    end();
    (void)syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

/* Opens a file of this shim, such that those of the program have the usual numbers. */
static int open_high(const char *path, int flags)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
    const int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900);
    (void)syscall(SYS_close, fd);
    return high;
}

__attribute__((constructor)) static void begin(void)
{
    const char *how = getenv("FAULT_MODE"), *n = getenv("FAULT_N"), *path = getenv("FAULT_LOG");
    if (!how || !n || !path || ready)
        return;
    unsetenv("LD_PRELOAD");
    for (mode = N_MODES - 1;
         mode > 0 && strncmp(how, modes[mode].name, strlen(modes[mode].name)) != 0; mode--) {
    }
    sticky = how[strlen(how) - 1] == '+';
    n_fail = strtol(n, NULL, 10);
    log_fd = open_high(path, O_WRONLY | O_CREAT | O_APPEND);
    if (mode == STEP)
        step_fd = open_high(getenv("FAULT_STEP"), O_RDONLY);
    void *stack[4];
    (void)backtrace(stack, 4); /* loads libgcc now */
    n_calls =
        mmap(NULL, sizeof *n_calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    catch_crashes();
    stdout = fdopen(STDOUT_FILENO, "w");
    ready = n_calls != MAP_FAILED;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-macro-parentheses,cert-err33-c) */
