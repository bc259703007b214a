/* fuzz_h5.c - an HDF5 file of chunks, opened as the tools open it (tried in a child process first): its head, and the
 * first rows decoded.
 * Target: common/chunk/chunk_file.c, common/h5/h5_set.c, common/h5/h5.c
 * SPDX-License-Identifier: MIT */
#include "common/chunk/chunk_file.h"

#include <pthread.h>

#include "tests/fuzz/fuzz.h"

enum { MAX_ROW = 1 << 20, MAX_SETS = 32, ROWS = 3 };

/* Present with a sanitizer. */
void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));

/* The child process is there so that libhdf5 can fail in it: libFuzzer must not keep the input as a finding. */
static void allow_failure(void)
{
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(NULL);
}

static __attribute__((constructor)) void prepare(void)
{
    (void)pthread_atfork(NULL, NULL, allow_failure);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_chunk_file *f;
    if (cov_chunk_file_open(fuzz_named_file(data, n), &f, NULL))
        return 0;
    const struct cov_chunk_head *h = cov_chunk_file_head(f);
    size_t ks[MAX_SETS], n_ks = 0;
    uint8_t *elems[MAX_SETS], *codes = h->L <= MAX_ROW ? malloc(h->L) : NULL;
    struct cov_blob raw = COV_BLOB_INIT;
    for (size_t k = 0; k < h->n_sets && n_ks < MAX_SETS; k++)
        if (cov_chunk_set_row_bytes(&h->sets[k]) <= MAX_ROW) {
            elems[n_ks] = malloc(cov_chunk_set_row_bytes(&h->sets[k]) + 1);
            ks[n_ks++] = k;
        }
    const struct cov_chunk_parts parts = {h->has_bases && codes, ks, n_ks};
    for (size_t i = 0; i < cov_grid_n_chunks(cov_chunk_file_grid(f)) && i < ROWS; i++) {
        cov_blob_clear(&raw);
        if (cov_chunk_file_fetch(f, i, parts, &raw, NULL) == COV_OK)
            fuzz_ignore(cov_chunk_file_decode(f, i, parts, &raw, codes, elems, NULL));
    }
    for (size_t k = 0; k < n_ks; k++)
        free(elems[k]);
    free(codes);
    cov_blob_fini(&raw);
    cov_chunk_file_close(f);
    return 0;
}
