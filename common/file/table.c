/* table.c - see table.h.
 * SPDX-License-Identifier: MIT */
#include "common/file/table.h"

#include <errno.h>
#include <math.h>

void cov_table_put_text(const char *text, FILE *f)
{
    for (const char *p = text; *p; p++)
        (void)fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, f);
}

void cov_table_put_number(double x, FILE *f)
{
    if (isnan(x))
        (void)fputs("\tNA", f);
    else
        (void)fprintf(f, "\t%.9g", x);
}

int cov_table_write(const struct cov_outfile *out, FILE *printed, cov_table_fn *print,
                    const void *arg, struct cov_err *e)
{
    FILE *f = out->path ? fopen(out->tmp, "we") : printed;
    if (!f)
        return cov_fail_errno(e, "%s", out->path);
    int why = 0;
    errno = 0;
    print(arg, f);
    if (fflush(f) != 0 || ferror(f))
        why = errno ? errno : EIO;
    if (out->path && fclose(f) != 0 && !why)
        why = errno;
    errno = why;
    return why ? cov_fail_errno(e, "%s", out->path ? out->path : "standard output") : COV_OK;
}
