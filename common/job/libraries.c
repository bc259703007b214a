/* libraries.c - see libraries.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/libraries.h"

#include "common/base/err.h"
#include "common/codec/deflate.h"
#include "common/codec/h5_filters.h"
#include "common/file/bgz.h"
#include "common/file/sha256.h"
#include "common/store/h5.h"

void cov_libraries_print(FILE *f)
{
    char hdf5[32];
    cov_h5_version(hdf5, sizeof hdf5);
    const struct {
        const char *name, *version;
    } libraries[] = {
        {"htslib", cov_bgz_version()},    {"HDF5", hdf5},
        {"zlib", cov_bgz_zlib_version()}, {"libdeflate", cov_deflate_version()},
        {"LZ4", cov_lz4_version()},       {"Zstandard", cov_zstd_version()},
        {"Blosc", cov_blosc_version()},   {"OpenSSL", cov_sha256_version()},
    };
    for (size_t i = 0; i < COV_COUNT(libraries); i++)
        (void)fprintf(f, "%s %s\n", libraries[i].name, libraries[i].version);
}
