/* fuzz_fasta.c - FASTA: the options come from the first bytes; intervals tile their sequences, and the genome at
 * random access has the same bases.
 * Target: common/seq/fasta.c, common/seq/genome.c
 * SPDX-License-Identifier: MIT */
#include "common/seq/genome.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_L = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 3)
        return 0;
    static uint8_t codes[MAX_L], again[MAX_L];
    size_t L = (size_t)data[0] + 1;
    struct cov_genome_options o = {.bad_base_is_n = data[1] & 1,
                                   .min_length = data[1] & 2 ? data[2] : 0,
                                   .max_length = data[1] & 4 ? data[2] * 8 : 0,
                                   .tmpdir = "/dev/shm",
                                   .n_threads = 1};
    const char *path = fuzz_file(data + 3, n - 3);
    struct cov_genome *g;
    struct cov_fasta_pairs *p;
    struct cov_fasta_pair pair;
    int got = 1, rc = cov_genome_read(path, &o, NULL, &g, NULL);
    if (cov_fasta_pairs_open(path, &o, L, &p, NULL)) {
        if (!rc)
            abort();
        return 0;
    }
    int64_t end = 0;
    while ((got = cov_fasta_pairs_next(p, &pair, codes, NULL)) > 0) {
        if (pair.beg != (pair.first ? 0 : end) || pair.end <= pair.beg)
            abort();
        end = pair.end;
        if (rc)
            continue;
        if (strcmp(g->names[pair.seq], pair.name) != 0 || pair.end > g->lengths[pair.seq] ||
            cov_genome_codes(g, pair.seq, pair.beg, pair.end, again, NULL) ||
            memcmp(codes, again, (size_t)(pair.end - pair.beg)) != 0)
            abort();
    }
    if ((got < 0) != (rc != 0))
        abort();
    cov_fasta_pairs_free(p);
    cov_genome_free(g);
    return 0;
}
