/* fuzz_ckpt.c - the pickle of a checkpoint, in an archive with sound checksums and some storages: the
 * checkpoint, its state of training, the network, and writing what was read.
 * Target: common/ckpt/ckpt.c, common/ckpt/ckpt_training.c, common/ckpt/torch_file.c
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/ckpt.h"
#include "common/ckpt/zip.h"
#include "common/input/model.h"
#include "tests/fuzz/fuzz.h"

/* The first byte: how many storages; two bytes for the size of each; then the pickle. */
static void make_archive(const char *path, const uint8_t *data, size_t n)
{
    static const uint8_t zeros[65536];
    struct cov_zip_writer *w;
    char name[32];
    size_t k = data[0], head = 1 + 2 * k < n ? 1 + 2 * k : n;
    if (cov_zip_create(path, false, &w, NULL) ||
        cov_zip_add(w, "m/data.pkl", data + head, n - head, NULL) ||
        cov_zip_add(w, "m/version", "3\n", 2, NULL) ||
        cov_zip_add(w, "m/byteorder", "little", 6, NULL))
        abort();
    for (size_t i = 0; 1 + 2 * i + 1 < head; i++) {
        (void)snprintf(name, sizeof name, "m/data/%zu", i);
        if (cov_zip_add(w, name, zeros, (size_t)data[1 + 2 * i] | (size_t)data[2 + 2 * i] << 8,
                        NULL))
            abort();
    }
    if (cov_zip_finish(w, NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_ckpt *c;
    struct cov_ckpt_training t;
    struct cov_model *m;
    if (n == 0)
        return 0;
    const char *path = fuzz_file(data, 0);
    make_archive(path, data, n);
    int rc = cov_ckpt_read(path, &c, NULL);
    int rc2 = cov_ckpt_read_training(path, &t, NULL);
    if (cov_model_open(path, &m, NULL) == COV_OK) {
        fuzz_ignore(cov_model_check_length(m, 21384, NULL));
        cov_model_close(m);
    }
    if (!rc && !rc2) { /* what was read can be written, and be read again */
        struct cov_ckpt *again;
        if (cov_ckpt_write_training(path, c, &t, NULL) == COV_OK) {
            if (cov_ckpt_read(path, &again, NULL))
                abort();
            cov_ckpt_free(again);
        }
    }
    cov_ckpt_training_fini(&t);
    cov_ckpt_free(c);
    return 0;
}
