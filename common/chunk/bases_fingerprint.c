/* bases_fingerprint.c - see bases_fingerprint.h.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/bases_fingerprint.h"

#include <endian.h>
#include <stdlib.h>

#include "common/base/mem.h"

int cov_bases_fingerprints_read(struct cov_h5 *f, size_t n, uint64_t **out, struct cov_err *e)
{
    struct cov_h5_set *set;
    *out = NULL;
    int rc = cov_h5_set_find(f, COV_BASES_FINGERPRINT_SET, 1, &set, e);
    if (!set)
        return rc;
    const struct cov_h5_rows *rows = cov_h5_set_rows(set);
    if (rows->dims[0] != n || rows->type.kind != COV_H5_INT || rows->type.bytes != sizeof **out)
        rc = cov_fail(e, COV_EINPUT, "%s: %s: not %zu numbers of 8 bytes", cov_h5_path(f),
                      COV_BASES_FINGERPRINT_SET, n);
    if (!rc) {
        *out = cov_calloc(n + 1, sizeof **out, e);
        rc = *out ? cov_h5_set_read(set, 0, n, 0, 1, *out, e) : COV_ENOMEM;
    }
    for (size_t i = 0; !rc && i < n; i++)
        (*out)[i] = rows->type.big_endian ? be64toh((*out)[i]) : le64toh((*out)[i]);
    cov_h5_set_close(set);
    if (rc) {
        free(*out);
        *out = NULL;
    }
    return rc;
}
