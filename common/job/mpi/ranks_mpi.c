/* ranks_mpi.c - see ranks.h: the plugin. The one file that knows MPI.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <mpi.h>

#include "common/job/ranks.h"

const struct cov_ranks_ops *cov_ranks_mpi(void);

static int fail(int code, const char *what, struct cov_err *e)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    (void)MPI_Error_string(code, text, &n);
    return cov_fail(e, COV_EIO, "MPI: %s: %s", what, text);
}

static int open_ranks(size_t *rank, size_t *n, struct cov_err *e)
{
    int i = 0, size = 1, code = MPI_Init(NULL, NULL);
    if (!code)
        code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!code)
        code = MPI_Comm_rank(MPI_COMM_WORLD, &i);
    if (!code)
        code = MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (code)
        return fail(code, "cannot start", e);
    *rank = (size_t)i;
    *n = (size_t)size;
    return COV_OK;
}

/* In two steps, so that all have the bits of process 0; the standard does not promise it of
 * MPI_Allreduce. */
static int sum(double *v, size_t n, struct cov_err *e)
{
    int rank = 0, code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t beg = 0; !code && beg < n; beg += INT_MAX) {
        int count = n - beg < INT_MAX ? (int)(n - beg) : INT_MAX;
        code = MPI_Reduce(rank == 0 ? MPI_IN_PLACE : v + beg, v + beg, count, MPI_DOUBLE, MPI_SUM,
                          0, MPI_COMM_WORLD);
        if (!code)
            code = MPI_Bcast(v + beg, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    return code ? fail(code, "sum", e) : COV_OK;
}

static void close_ranks(void)
{
    (void)MPI_Finalize();
}

const struct cov_ranks_ops *cov_ranks_mpi(void)
{
    static const struct cov_ranks_ops ops = {open_ranks, sum, close_ranks};
    return &ops;
}
