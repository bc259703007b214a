/* h5_libraries.c - see h5_libraries.h.
 * SPDX-License-Identifier: MIT */
#include "common/h5/h5_libraries.h"

#include "common/codec/codec.h"
#include "common/file/bgz.h"
#include "common/file/sha256.h"
#include "common/h5/h5_private.h"

void cov_libraries_print(FILE *f)
{
    unsigned v[3] = {0, 0, 0};
    (void)H5get_libversion(&v[0], &v[1], &v[2]);
    (void)fprintf(f, "htslib %s\nHDF5 %u.%u.%u\nzlib %s\n", cov_bgz_version(), v[0], v[1], v[2],
                  cov_bgz_zlib_version());
    for (size_t i = 0; i < COV_N_CODECS; i++)
        if (cov_codecs[i]->library)
            (void)fprintf(f, "%s %s\n", cov_codecs[i]->library, cov_codecs[i]->version());
    (void)fprintf(f, "OpenSSL %s\n", cov_sha256_version());
}
