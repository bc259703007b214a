/* err.h - error codes and messages, and the compiler attributes used throughout libcov.
 *
 * A function that can fail returns 0 or one of the negative COV_E* codes. Its last argument is a
 * `struct cov_err *`, which may be NULL. The lowest layer names the object (file, record, dataset,
 * offset) in the message; a higher layer may add context once, as a prefix.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_ERR_H
#define COV_BASE_ERR_H

/* The caller must check the returned status. */
#define COV_MUST_USE __attribute__((warn_unused_result))

/* The compiler checks the arguments from number `args` on against argument number `fmt`, a
 * printf format. */
#define COV_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#define COV_COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum cov_status {
    COV_OK = 0,
    COV_EINPUT = -1,       /* the input is damaged, of another kind, or does not fit the options */
    COV_EIO = -2,          /* a system call failed: open, read, write, rename */
    COV_ENOMEM = -3,       /* out of memory, or a size exceeds the address space */
    COV_EUSAGE = -4,       /* the command line is wrong, whatever the files contain */
    COV_EEXIST = -5,       /* the output exists */
    COV_EUNSUPPORTED = -6, /* valid, but not supported by this build or machine */
    COV_EPIPE = -7,        /* the reader of standard output has closed it */
    COV_EUNLIKE = -8,      /* measurements from different machines cannot be compared */
};

struct cov_err {
    int code;        /* enum cov_status of the first failure, 0 if none */
    char text[1024]; /* one line without a newline */
};

#define COV_ERR_INIT                                                                               \
    {                                                                                              \
        0, ""                                                                                      \
    }

/* Fills *e, unless `e` is NULL or *e holds an earlier failure, and returns `code`. Replaces
 * control characters, which may come from a file's contents, with '?'. */
int cov_fail(struct cov_err *e, int code, const char *fmt, ...) COV_PRINTF(3, 4);

/* Like cov_fail, but appends ": <strerror(errno)>". The code is COV_ENOMEM for ENOMEM, COV_EPIPE
 * for EPIPE, else COV_EIO. */
int cov_fail_errno(struct cov_err *e, const char *fmt, ...) COV_PRINTF(2, 3);

/* Prepends "<text>: " to the text of *e, whose code does not change, and returns `code`. */
int cov_err_prefix(struct cov_err *e, int code, const char *fmt, ...) COV_PRINTF(3, 4);

/* Appends a hint to the text of *e, whose code does not change. */
void cov_err_append(struct cov_err *e, const char *fmt, ...) COV_PRINTF(2, 3);

/* Replaces `other` with `name` everywhere in the text, unless a digit follows it. */
void cov_err_rename(struct cov_err *e, const char *other, const char *name);

/* Replaces the bytes that control a terminal with '?': ASCII control characters, and U+0080 to
 * U+009F in UTF-8. */
void cov_make_printable(char *text);

/* Resets *e after its failure was handled. */
void cov_err_clear(struct cov_err *e);

#endif
