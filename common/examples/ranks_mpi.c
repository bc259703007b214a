/* ranks_mpi.c - see ranks.h: the plugin, the only file that uses MPI.
 *
 * Every MPI library supports calls from several threads one at a time (MPI_THREAD_SERIALIZED), but
 * not all support concurrent calls, especially with windows. So a lock surrounds each call. It
 * cannot deadlock: a call that waits for another process also serves requests to this process, and
 * a process that is not in such a call does not hold the lock.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/examples/ranks.h"

const struct cov_ranks_ops *cov_ranks_mpi(void);

struct window {
    MPI_Win win;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int fail(int code, const char *what, struct cov_err *e)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    (void)MPI_Error_string(code, text, &n);
    return cov_fail(e, COV_EIO, "MPI: %s: %s", what, text);
}

/* Ends a call: reports its error and releases the lock. */
static int end(int code, const char *what, struct cov_err *e)
{
    int rc = code ? fail(code, what, e) : COV_OK;
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

static int open_ranks(size_t *rank, size_t *n, struct cov_err *e)
{
    int i = 0, size = 1, given = 0;
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given);
    if (!code)
        code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!code)
        code = MPI_Comm_rank(MPI_COMM_WORLD, &i);
    if (!code)
        code = MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (code)
        return fail(code, "cannot start", e);
    if (given < MPI_THREAD_SERIALIZED)
        return cov_fail(e, COV_EUNSUPPORTED, "MPI: this build does not support threads");
    *rank = (size_t)i;
    *n = (size_t)size;
    return COV_OK;
}

/* Reduces and then broadcasts, so that all processes get the bits of process 0. MPI_Allreduce does
 * not guarantee identical bits. */
static int sum(double *v, size_t n, struct cov_err *e)
{
    (void)pthread_mutex_lock(&lock);
    int rank = 0, code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t beg = 0; !code && beg < n; beg += INT_MAX) {
        int count = n - beg < INT_MAX ? (int)(n - beg) : INT_MAX;
        code = MPI_Reduce(rank == 0 ? MPI_IN_PLACE : v + beg, v + beg, count, MPI_DOUBLE, MPI_SUM,
                          0, MPI_COMM_WORLD);
        if (!code)
            code = MPI_Bcast(v + beg, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    return end(code, "sum", e);
}

static int share(size_t n, void **window, void **base, struct cov_err *e)
{
    struct window *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    (void)pthread_mutex_lock(&lock);
    int code =
        MPI_Win_allocate((MPI_Aint)n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)base, &w->win);
    if (!code)
        code = MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    if (!code)
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
    int rc =
        end(code,
            "cannot allocate memory that other processes read (on one machine it is in /dev/shm; "
            "Open MPI of Debian needs OMPI_MCA_osc=pt2pt,sm between machines)",
            e);
    if (rc)
        free(w);
    else
        *window = w;
    return rc;
}

static int publish(void *window, struct cov_err *e)
{
    struct window *w = window;
    (void)pthread_mutex_lock(&lock);
    int code = MPI_Win_sync(w->win);
    if (!code)
        code = MPI_Barrier(MPI_COMM_WORLD);
    if (!code)
        code = MPI_Win_sync(w->win);
    return end(code, "publish", e);
}

static int get(void *window, size_t rank, size_t at, size_t n, void *to, struct cov_err *e)
{
    struct window *w = window;
    int code = MPI_SUCCESS;
    (void)pthread_mutex_lock(&lock);
    for (size_t beg = 0; !code && beg < n; beg += INT_MAX) {
        int count = n - beg < INT_MAX ? (int)(n - beg) : INT_MAX;
        code = MPI_Get((char *)to + beg, count, MPI_BYTE, (int)rank, (MPI_Aint)(at + beg), count,
                       MPI_BYTE, w->win);
    }
    return end(code, "get", e);
}

static int complete(void *window, struct cov_err *e)
{
    struct window *w = window;
    (void)pthread_mutex_lock(&lock);
    return end(MPI_Win_flush_local_all(w->win), "get", e);
}

static void release(void *window)
{
    struct window *w = window;
    (void)MPI_Win_unlock_all(w->win);
    (void)MPI_Win_free(&w->win);
    free(w);
}

static void close_ranks(void)
{
    (void)MPI_Finalize();
}

const struct cov_ranks_ops *cov_ranks_mpi(void)
{
    static const struct cov_ranks_ops ops = {.open = open_ranks,
                                             .sum = sum,
                                             .share = share,
                                             .publish = publish,
                                             .unshare = release,
                                             .get = get,
                                             .complete = complete,
                                             .close = close_ranks};
    return &ops;
}
