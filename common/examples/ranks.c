/* ranks.c - see ranks.h. Knows nothing of MPI; loads the plugin.
 * SPDX-License-Identifier: MIT */
#include "common/examples/ranks.h"

#include <assert.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/file/hash.h"
#include "common/base/mem.h"
#include "common/file/descriptor.h"
#include "common/file/dynload.h"

#define PLUGIN "covtools/covtools-mpi.so"
#define SYMBOL "cov_ranks_mpi"

/* Reads a number that the launcher put into the environment. */
static size_t environment_number(const char *const *names)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end = NULL;
        long n = text ? strtol(text, &end, 10) : -1;
        if (text && end > text && !*end && n >= 0)
            return (size_t)n;
    }
    return 0;
}

size_t cov_ranks_expected(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
    return environment_number(names);
}

void cov_ranks_let_first_report(void)
{
    static const struct timespec long_enough = {3, 0};
    if (cov_ranks_expected() > 0)
        (void)nanosleep(&long_enough, NULL);
}

static int load(struct cov_ranks *r, struct cov_err *e)
{
    const struct cov_ranks_ops *(*get)(void) = NULL;
    struct cov_err why = COV_ERR_INIT;
    char *path = cov_dynload_beside(PLUGIN, e);
    if (!path)
        return COV_ENOMEM;
    int rc = cov_dynload(path, RTLD_NOW | RTLD_GLOBAL, &r->plugin, &why);
    void *symbol = rc ? NULL : dlsym(r->plugin, SYMBOL);
    free(path);
    if (symbol) {
        memcpy(&get, &symbol, sizeof get);
        r->ops = get();
        return COV_OK;
    }
    if (rc == COV_EINPUT)
        return cov_fail(e, rc, "mpirun started several processes, but %s", why.text);
    return cov_fail(e, COV_EUNSUPPORTED,
                    "mpirun started several processes, but this build has no MPI: %s (with "
                    "libopenmpi-dev installed, `make` builds it)",
                    rc ? why.text : dlerror());
}

int cov_ranks_open(struct cov_ranks *r, struct cov_err *e)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    *r = (struct cov_ranks){.n = 1};
    if (environment_number(sizes) < 2)
        return COV_OK;
    int rc = load(r, e);
    if (!rc)
        rc = r->ops->open(&r->rank, &r->n, e);
    return rc;
}

void cov_ranks_close(struct cov_ranks *r, bool failed)
{
    for (size_t i = 0; i < r->n_shared && !failed; i++)
        r->ops->unshare(r->shared[i]);
    free(r->shared);
    if (r->ops && !failed)
        r->ops->close();
    *r = (struct cov_ranks){.n = 1}; /* the plugin stays loaded: MPI cannot be unloaded */
}

int cov_ranks_sum(void *arg, double *v, size_t n, struct cov_err *e)
{
    const struct cov_ranks *r = arg;
    return r->ops ? r->ops->sum(v, n, e) : COV_OK;
}

uint64_t cov_text_fingerprint(const char *text)
{
    return cov_fingerprint(0, text, strlen(text) + 1);
}

/* What a process tells the others: characters of its host's name, and the halves of fingerprints. Sums
 * with zeros are exact. */
enum { HOST = 64 };

static void put_row(double *row, const struct cov_rank_item *items, size_t n)
{
    char host[HOST] = "";
    (void)gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < HOST; i++)
        row[i] = (unsigned char)host[i];
    for (size_t i = 0; i < n; i++) {
        row[HOST + 2 * i] = (double)(items[i].fingerprint >> 32);
        row[HOST + 2 * i + 1] = (double)(uint32_t)items[i].fingerprint;
    }
}

static int fail_item(const double *row, size_t rank, const char *name, struct cov_err *e)
{
    char host[HOST];
    for (size_t i = 0; i < HOST; i++)
        host[i] = (char)row[i];
    return cov_fail(e, COV_EINPUT,
                    "%s: not the same in rank %zu on host %s; all processes need the same files, "
                    "options and version",
                    name, rank, host);
}

int cov_ranks_compare(struct cov_ranks *r, const struct cov_rank_item *items, size_t n,
                      struct cov_err *e)
{
    if (r->n < 2)
        return COV_OK;
    size_t most = 0, width;
    double *counts = cov_calloc(r->n, sizeof *counts, e), *rows = NULL;
    int rc = counts ? COV_OK : COV_ENOMEM;
    if (!rc) {
        counts[r->rank] = (double)n;
        rc = cov_ranks_sum(r, counts, r->n, e);
    }
    for (size_t k = 0; !rc && k < r->n; k++)
        most = counts[k] > (double)most ? (size_t)counts[k] : most;
    width = HOST + 2 * most;
    rows = rc ? NULL : cov_calloc(r->n * width, sizeof *rows, e);
    if (rows) {
        put_row(rows + r->rank * width, items, n);
        rc = cov_ranks_sum(r, rows, r->n * width, e);
    } else if (!rc) {
        rc = COV_ENOMEM;
    }
    for (size_t k = 1; !rc && k < r->n; k++) {
        const double *row = rows + k * width;
        size_t i = HOST;
        while (i < width && row[i] == rows[i])
            i++;
        i = (i - HOST) / 2;
        if (i < most || counts[k] != counts[0])
            rc = fail_item(row, k, i < n ? items[i].name : "further files", e);
    }
    free(counts);
    free(rows);
    return rc;
}

/* Hashes the name and size of a file, and up to 1 MB of its bytes: all of a small file, otherwise
 * parts at equal distances, including the end. A difference in coverage changes most compressed
 * chunks. */
static int describe_file(const char *path, struct cov_rank_item *item, struct cov_err *e)
{
    enum { PART = 1 << 16, PARTS = 16 };
    static uint8_t part[PART];
    struct stat st = {0};
    const char *name = strrchr(path, '/');
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int rc = cov_fail_errno(e, "%s", path);
        if (fd >= 0)
            (void)close(fd);
        return rc;
    }
    uint64_t hash = cov_text_fingerprint(name ? name + 1 : path);
    hash = cov_fingerprint(hash, &st.st_size, sizeof st.st_size);
    const int64_t last = st.st_size > PART ? st.st_size - PART : 0;
    const int64_t step = last / (PARTS - 1) > PART ? last / (PARTS - 1) : PART;
    ssize_t got = 0;
    for (int64_t at = 0; got >= 0 && at <= last + step - 1; at += step) {
        got = cov_read_at(fd, at < last ? at : last, part, PART);
        hash = cov_fingerprint(hash, part, got > 0 ? (size_t)got : 0);
    }
    const int rc = got < 0 ? cov_fail_errno(e, "%s", path) : COV_OK;
    (void)close(fd); /* opened for reading */
    *item = (struct cov_rank_item){path, hash};
    return rc;
}

int cov_ranks_compare_files(struct cov_ranks *r, const char *const *paths, size_t n,
                            struct cov_err *e)
{
    if (r->n < 2)
        return COV_OK;
    struct cov_rank_item *items = cov_calloc(n, sizeof *items, e);
    int rc = items ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        rc = describe_file(paths[i], &items[i], e);
    if (!rc)
        rc = cov_ranks_compare(r, items, n, e);
    free(items);
    return rc;
}

void cov_ranks_name(const struct cov_ranks *r, struct cov_err *e)
{
    char host[HOST] = "";
    (void)gethostname(host, sizeof host - 1);
    if (r->rank > 0)
        (void)cov_err_prefix(e, "rank %zu on host %s", r->rank, host);
}

int cov_ranks_share(struct cov_ranks *r, size_t n, void **window, void **base, struct cov_err *e)
{
    assert(r->ops);
    int rc = COV_RESERVE(&r->shared, &r->cap_shared, r->n_shared + 1, e);
    if (!rc)
        rc = r->ops->share(n, window, base, e);
    if (!rc)
        r->shared[r->n_shared++] = *window;
    return rc;
}
