/* fuzz_zip.c - a zip archive as it comes: its structure, each entry, and what a checkpoint makes of it.
 * Target: common/ckpt/zip.c
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/ckpt.h"
#include "common/ckpt/zip.h"
#include "common/input/model.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *path = fuzz_file(data, n);
    struct cov_zip *z;
    struct cov_model *m;
    if (cov_zip_open(path, &z, NULL))
        return 0;
    for (size_t i = 0; i < cov_zip_n_entries(z); i++) {
        size_t size = cov_zip_size(z, i), k;
        if (size > n || !cov_zip_find(z, cov_zip_name(z, i), &k) || k != i)
            abort();
        void *buf = malloc(size + 1);
        fuzz_ignore(cov_zip_read(z, i, buf, NULL));
        free(buf);
    }
    cov_zip_close(z);
    if (cov_model_open(path, &m, NULL) == COV_OK)
        cov_model_close(m);
    return 0;
}
