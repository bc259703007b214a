/* h5_probe.c - see h5.h: checks of a file before libhdf5 opens it. The superblock follows the HDF5
 * file format specification, versions 0 to 3.
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"

static uint64_t little_endian(const uint8_t *p, size_t n)
{
    uint64_t x = 0;
    while (n-- > 0)
        x = x << 8 | p[n];
    return x;
}

/* Reads zeros past the end. */
static bool read_at(int fd, off_t offset, uint8_t *buf, size_t n)
{
    memset(buf, 0, n);
    return cov_read_at(fd, offset, buf, n) >= 0;
}

/* Finds the signature, which a user block may precede, at 0, 512, 1024, 2048, and so on. Sets *at
 * to its offset and reads 64 bytes from there into head[]; *at is `size` if there is no signature.
 * Returns false if reading fails. */
static bool find_signature(int fd, uint64_t size, uint8_t head[64], uint64_t *at)
{
    for (*at = 0; *at < size; *at = *at ? 2 * *at : 512) {
        if (!read_at(fd, (off_t)*at, head, 64))
            return false;
        if (memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0)
            return true;
    }
    *at = size;
    return true;
}

int cov_h5_is_signed(const char *path, bool *yes, struct cov_err *e)
{
    struct stat st;
    uint8_t head[64];
    *yes = false;
    if (cov_path_is_url(path)) /* HDF5 is not read from URLs */
        return COV_OK;
    if (stat(path, &st))
        return cov_fail_errno(e, "%s", path);
    if (!S_ISREG(st.st_mode)) /* reading from a pipe would consume bytes */
        return COV_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cov_fail_errno(e, "%s", path);
    uint64_t size = (uint64_t)st.st_size, at;
    int rc = find_signature(fd, size, head, &at) ? COV_OK : cov_fail_errno(e, "%s", path);
    *yes = rc == COV_OK && at < size;
    (void)close(fd); /* read-only: nothing can be lost */
    return rc;
}

static int check(int fd, const char *path, struct cov_err *e)
{
    struct stat st;
    if (fstat(fd, &st))
        return cov_fail_errno(e, "%s", path);
    if (!S_ISREG(st.st_mode))
        return cov_fail(e, COV_EINPUT, "%s: not a regular file, as HDF5 files must be", path);
    if (st.st_size == 0)
        return cov_fail(e, COV_EINPUT, "%s: the file is empty", path);
    uint8_t head[64];
    uint64_t size = (uint64_t)st.st_size, at;
    if (!find_signature(fd, size, head, &at))
        return cov_fail_errno(e, "%s", path);
    if (at == size)
        return cov_fail_kind(e, path, "not an HDF5 file");
    unsigned version = head[8];
    if (version > 3)
        return cov_fail(e, COV_EINPUT,
                        "%s: unknown HDF5 superblock version %u; if the file is of a newer HDF5, "
                        "convert it with h5repack --high=2",
                        path, version);
    size_t n = head[version < 2 ? 13 : 9]; /* bytes per address */
    if (n != 2 && n != 4 && n != 8)
        return cov_fail(e, COV_EINPUT, "%s: damaged HDF5 superblock", path);
    /* Four addresses. The first is the base; the third is the end of the file. */
    const uint8_t *addresses = head + (version == 0 ? 24 : version == 1 ? 28 : 12);
    uint64_t base = little_endian(addresses, n), end = little_endian(addresses + 2 * n, n);
    /* A user block may have been prepended later. */
    end += at - base;
    if (end > size)
        return cov_fail(e, COV_EINPUT, "%s: truncated: %" PRIu64 " of %" PRIu64 " bytes", path,
                        size, end);
    return COV_OK;
}

static int check_superblock(const char *path, struct cov_err *e)
{
    int rc = cov_path_check_file(path, e);
    if (rc)
        return rc;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cov_fail_errno(e, "%s", path);
    rc = check(fd, path, e);
    (void)close(fd);
    return rc;
}

/* ---- the child ---- */

enum { CPU_SECONDS = 5, WALL_SECONDS = 60, MAX_PIECES = 4096 };
enum { STATUS_BAD_TEXTS = 3, STATUS_CACHE_IMAGE = 4 };
#define MEMORY_BYTES ((rlim_t)2 << 30)
#define TEXT_BYTES ((rlim_t)64 << 20)

/* Returns the size of the address space in use, so that only additional memory is limited
 * (sanitizers use terabytes). */
static rlim_t memory_in_use(void)
{
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return RLIM_INFINITY;
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    unsigned long long pages = n > 0 ? strtoull(text, NULL, 10) : 0;
    return pages ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : RLIM_INFINITY;
}

static void limit(int resource, rlim_t value)
{
    struct rlimit old;
    if (getrlimit((__rlimit_resource_t)resource, &old) == 0 && value < old.rlim_cur)
        (void)setrlimit((__rlimit_resource_t)resource, &(struct rlimit){value, old.rlim_max});
}

static void try_attrs(struct cov_h5 *f, const char *set)
{
    struct cov_h5_attr *attrs;
    struct rlimit old;
    size_t n;
    bool limited = getrlimit(RLIMIT_AS, &old) == 0;
    rlim_t used = memory_in_use();
    if (used != RLIM_INFINITY)
        limit(RLIMIT_AS, used + TEXT_BYTES);
    if (cov_h5_list_attrs(f, set, &attrs, &n, NULL) == COV_OK)
        cov_h5_free_attrs(attrs, n);
    if (limited)
        (void)setrlimit(RLIMIT_AS, &old);
}

static void try_set(struct cov_h5 *f, const char *name, struct cov_blob *raw)
{
    struct cov_h5_set *s;
    if (cov_h5_set_open(f, name, 0, &s, NULL))
        return;
    const struct cov_h5_rows *r = cov_h5_set_rows(s);
    size_t ends[2] = {0, r->dims[0] - 1};
    for (int i = 0; i < 2 && r->dims[0] > 0 && r->dims[1] > 0 && r->dims[2] > 0; i++) {
        cov_blob_clear(raw);
        if (r->chunked && cov_h5_n_pieces(r, 0, r->dims[2]) <= MAX_PIECES &&
            cov_h5_set_fetch(s, ends[i], 0, r->dims[2], raw, NULL))
            break;
    }
    cov_h5_set_close(s);
    try_attrs(f, name);
}

static void try_group(struct cov_h5 *f, const char *group, struct cov_blob *raw)
{
    char **names, path[512];
    size_t n_names;
    if (cov_h5_list(f, group, &names, &n_names, NULL))
        return;
    for (size_t i = 0; i < n_names; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", group, names[i]);
        if (n >= 0 && (size_t)n < sizeof path)
            try_set(f, path, raw);
    }
    cov_h5_free_names(names, n_names);
}

/* Returns true if the file holds a metadata cache image. libhdf5 (1.10.8 at least) trusts the
 * lengths in the image. If they are damaged, libhdf5 reads and writes past its buffers, perhaps
 * without crashing. */
static bool has_cache_image(const struct cov_h5 *f)
{
    haddr_t at;
    hsize_t n = 0;
    return H5Fget_mdc_image_info(f->id, &at, &n) >= 0 && n > 0;
}

/* Does what readers do, ignoring errors: the parent reports them when it opens the file. Returns
 * true if the text attributes can be read safely. */
static bool try_file(const char *path)
{
    bool texts_failed = false;
    static const char *const groups[] = {"data", "evaluation", "prediction"};
    struct cov_h5 *f;
    struct cov_blob raw = COV_BLOB_INIT;
    if (cov_h5_open_unchecked(path, &f, NULL))
        return true;
    if (has_cache_image(f))
        _exit(STATUS_CACHE_IMAGE); /* closing the file would read the image */
    f->texts_failed = &texts_failed;
    try_attrs(f, NULL);
    char **names;
    size_t n;
    if (cov_h5_list_groups(f, &names, &n, NULL) == COV_OK) {
        for (size_t i = 0; i < n; i++)
            try_attrs(f, names[i]);
        cov_h5_free_names(names, n);
    }
    if (cov_h5_list_sets(f, &names, &n, NULL) == COV_OK) {
        for (size_t i = 0; i < n; i++)
            try_set(f, names[i], &raw);
        cov_h5_free_names(names, n);
    } else {
        /* Some readers need only these groups. */
        for (size_t g = 0; g < COV_COUNT(groups); g++)
            try_group(f, groups[g], &raw);
    }
    cov_h5_close(f);
    cov_blob_fini(&raw);
    return !texts_failed;
}

static _Noreturn void run_child(const char *path)
{
    /* Crashes must end the child, whatever handlers the program or a sanitizer installed. */
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,  SIGABRT, SIGXCPU, SIGALRM,
                                  SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
    sigset_t all;
    for (size_t i = 0; i < COV_COUNT(signals); i++)
        (void)signal(signals[i], SIG_DFL);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_UNBLOCK, &all, NULL);
    int null = open("/dev/null", O_RDWR);
    if (null >= 0)
        (void)dup2(null, STDERR_FILENO);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, CPU_SECONDS);
    rlim_t used = memory_in_use();
    if (used != RLIM_INFINITY)
        limit(RLIMIT_AS, used + MEMORY_BYTES);
    (void)alarm(WALL_SECONDS);
    /* The child must not keep the locks of a killed parent. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(try_file(path) ? 0 : STATUS_BAD_TEXTS);
}

int cov_h5_probe(const char *path, bool *good_texts, struct cov_err *e)
{
    *good_texts = true;
    int rc = check_superblock(path, e);
    if (rc)
        return rc;
    pid_t child = fork();
    if (child == 0)
        run_child(path);
    if (child < 0) {
        cov_debug("%s: not probed in a child process: %s", path, strerror(errno));
        return COV_OK;
    }
    int status;
    pid_t got;
    do
        got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    /* There is no verdict if SIGCHLD is ignored, or if the child was waiting for a disk. */
    if (got != child || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
        return COV_OK;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return cov_fail(e, COV_EINPUT, "%s: damaged HDF5 file: libhdf5 does not terminate", path);
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_CACHE_IMAGE)
        return cov_fail(
            e, COV_EINPUT,
            "%s: HDF5 file with a metadata cache image, which libhdf5 cannot read safely; "
            "h5repack writes a copy without it",
            path);
    *good_texts = !WIFEXITED(status) || WEXITSTATUS(status) != STATUS_BAD_TEXTS;
    if (*good_texts && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        return cov_fail(e, COV_EINPUT, "%s: damaged HDF5 file: libhdf5 crashes on it", path);
    return COV_OK;
}

int cov_h5_open(const char *path, struct cov_h5 **out, struct cov_err *e)
{
    *out = NULL;
    bool good_texts;
    int rc = cov_h5_probe(path, &good_texts, e);
    if (!rc)
        rc = cov_h5_open_unchecked(path, out, e);
    if (!rc)
        (*out)->texts_damaged = !good_texts;
    return rc;
}
