/* err.h - how a function of libcov says that it failed, and why.
 *
 * A fallible function returns 0 or one of the negative COV_E* codes and takes a `struct cov_err *`
 * as its last argument, which may be NULL. The lowest layer names the object (file, record, data
 * set, offset); a layer above may put context in front, once.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_ERR_H
#define COV_BASE_ERR_H

#include "common/base/attr.h"

enum cov_status {
    COV_OK = 0,
    COV_EINPUT = -1,       /* the input is damaged, or is not what it should be */
    COV_EIO = -2,          /* the operating system refused: open, read, write, rename */
    COV_ENOMEM = -3,       /* out of memory, or a size that cannot be addressed */
    COV_EUSAGE = -4,       /* the command line contradicts itself or the input */
    COV_EEXIST = -5,       /* the output is already there */
    COV_EUNSUPPORTED = -6, /* valid, but beyond this build or machine */
    COV_EPIPE = -7,        /* the reader of our standard output has gone */
    COV_EUNLIKE = -8,      /* measurements of different machines: they cannot be compared */
};

struct cov_err {
    int code;        /* enum cov_status of the first failure, 0 if none */
    char text[1024]; /* one line, without a newline at the end */
};

#define COV_ERR_INIT                                                                               \
    {                                                                                              \
        0, ""                                                                                      \
    }

/* Fills *e (if not NULL and still empty: the first failure is kept) and returns `code`. Bytes that
 * would spoil a terminal (control characters from file contents) are replaced by '?'. */
int cov_fail(struct cov_err *e, int code, const char *fmt, ...) COV_PRINTF(3, 4);

/* The same with ": <strerror(errno)>" behind the text. Code: COV_EIO, COV_ENOMEM for ENOMEM,
 * COV_EPIPE for EPIPE. */
int cov_fail_errno(struct cov_err *e, const char *fmt, ...) COV_PRINTF(2, 3);

/* Puts "<text>: " in front of the text of *e. Keeps its code, and returns it. */
int cov_err_prefix(struct cov_err *e, const char *fmt, ...) COV_PRINTF(2, 3);

/* Puts `name` in the place of `other` wherever that stands in the text. */
void cov_err_rename(struct cov_err *e, const char *other, const char *name);

/* Forgets a failure that has been dealt with. */
void cov_err_clear(struct cov_err *e);

#endif
