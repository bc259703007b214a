/* count_file.c - see count_file.h: what reads and tracks have in common.
 * SPDX-License-Identifier: MIT */
#include "common/job/coverage/count_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"

int cov_count_file_init(const struct cov_count_genome *g, struct cov_count_file *m,
                        struct cov_err *e)
{
    int rc = cov_coverage_store_init(&m->store, cov_grid_n_pairs(g->grid),
                                     cov_grid_chunk_length(g->grid), g->elem_bytes, g->tmpdir, e);
    if (!rc)
        rc = cov_depth_summary_init(&m->summary, g->grid, cov_pool_size(g->pool), e);
    m->sums = rc ? NULL : cov_calloc(cov_grid_n_seqs(g->grid), sizeof *m->sums, e);
    return m->sums ? COV_OK : COV_ENOMEM;
}

void cov_count_file_fini(struct cov_count_file *m)
{
    cov_coverage_store_fini(&m->store);
    cov_depth_summary_fini(&m->summary);
    free(m->sums);
    free(m->path);
    m->sums = NULL;
    m->path = NULL;
}

void cov_count_number_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    (void)arg;
    (void)memory;
    *(unsigned *)worker = i;
}

typedef int32_t four __attribute__((vector_size(16)));

struct cov_depth_lane cov_count_lane(const int32_t *depth, size_t n, int64_t *sum)
{
    enum { BLOCK = 1 << 14 }; /* sums of BLOCK 16-bit halves, in four lanes, fit in 32 bits */
    int32_t max = 0;
    int64_t total = 0;
    size_t i = 0;
    while (i + 4 <= n) {
        four most = {0}, low = {0}, high = {0};
        for (size_t end = n - i < BLOCK ? n : i + BLOCK; i + 4 <= end; i += 4) {
            four x;
            memcpy(&x, depth + i, sizeof x);
            most ^= (most ^ x) & (x > most);
            low += x & 0xffff;
            high += x >> 16;
        }
        for (size_t k = 0; k < 4; k++) {
            max = most[k] > max ? most[k] : max;
            total += low[k] + ((int64_t)high[k] << 16);
        }
    }
    for (; i < n; i++) {
        max = depth[i] > max ? depth[i] : max;
        total += depth[i];
    }
    *sum = total;
    return (struct cov_depth_lane){depth, max};
}

int cov_count_find_contig(const struct cov_count_genome *g, const char *path, const char *name,
                          int64_t length, size_t *seq, struct cov_err *e)
{
    const char *ours = g->rename ? cov_rename_apply(g->rename, name, strlen(name)) : name;
    *seq = SIZE_MAX;
    if (!cov_names_find(g->names, ours, strlen(ours), seq)) {
        *seq = SIZE_MAX;
        return COV_OK;
    }
    int64_t wanted = cov_grid_seq_length(g->grid, *seq);
    if (length == wanted || length == -1)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: contig %s has %lld bases, but %lld in %s", path, name,
                    (long long)length, (long long)wanted, g->path);
}

int cov_count_check_contigs(const struct cov_count_genome *g, struct cov_count_file *m,
                            const size_t *seqs, size_t n,
                            const char *(*name)(const void *arg, size_t i), const void *arg,
                            struct cov_err *e)
{
    const char *path = m->path;
    struct cov_listing *extra = &m->extra, *missing = &m->missing;
    size_t n_seqs = cov_grid_n_seqs(g->grid), n_common = 0;
    bool *found = cov_calloc(n_seqs, sizeof *found, e);
    int rc = found ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        if (seqs[i] == SIZE_MAX) {
            cov_listing_add(extra, name(arg, i));
        } else if (found[seqs[i]]) {
            rc = cov_fail(e, COV_EINPUT, "%s: two contigs both map to %s of %s", path,
                          cov_grid_name(g->grid, seqs[i]), g->path);
        } else {
            found[seqs[i]] = true;
            n_common++;
        }
    }
    for (size_t s = 0; !rc && s < n_seqs; s++)
        if (!found[s])
            cov_listing_add(missing, cov_grid_name(g->grid, s));
    if (!rc && n_common == 0)
        rc = cov_fail(
            e, COV_EINPUT, "%s: none of its contigs (%s%s) is in %s (%s%s); --rename %s", path,
            extra->text, cov_listing_more(extra), g->path, missing->text, cov_listing_more(missing),
            g->rename ? "expects the file's name first, then the genome's" : "maps names");
    if (!rc && extra->n > 0)
        cov_warn("%s: skipping %zu of %zu contigs that are not in %s: %s%s", path, extra->n, n,
                 g->path, extra->text, cov_listing_more(extra));
    if (!rc && missing->n > 0)
        cov_warn("%s: %zu of the %zu sequences of %s are missing and get 0: %s%s", path, missing->n,
                 n_seqs, g->path, missing->text, cov_listing_more(missing));
    free(found);
    return rc;
}
