/* encode.c - see encode.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/encode.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/base/ring.h"
#include "common/seq/alphabet.h"
#include "common/seq/grid.h"
#include "common/store/genome_file.h"

/* Rows that are read back in the end. */
enum { SAMPLE = 16 };

struct slot {
    size_t row;
    struct cov_blob blob;
};

struct job {
    const struct cov_genome *genome;
    const struct cov_grid *grid;
    struct cov_genome_writer *writer;
    struct cov_progress *progress;
    struct slot *slots;
    size_t n_slots;
    uint8_t *scratch; /* L codes a worker */
};

static int source(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)e;
    struct job *job = arg;
    job->slots[slot].row = n;
    return n < cov_grid_n_chunks(job->grid);
}

static int work(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct job *job = arg;
    struct slot *s = &job->slots[slot];
    size_t L = cov_grid_chunk_length(job->grid);
    uint8_t *codes = job->scratch + L * worker;
    int rc = cov_genome_chunk(job->genome, job->grid, s->row, codes, e);
    return rc ? rc : cov_genome_writer_encode(job->writer, codes, &s->blob, e);
}

static int sink(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    struct job *job = arg;
    int rc = cov_genome_writer_put(job->writer, n, &job->slots[slot].blob, e);
    if (!rc)
        cov_progress_add(job->progress, 1);
    return rc;
}

/* Encodes and stores all rows. */
static int write_rows(struct job *job, struct cov_pool *pool, struct cov_ring_times *times,
                      struct cov_err *e)
{
    static const struct cov_ring_stages stages = {source, work, sink};
    size_t n_scratch;
    if (cov_size_mul(cov_grid_chunk_length(job->grid), cov_pool_size(pool), &n_scratch))
        return cov_fail(e, COV_ENOMEM, "out of memory: chunks of %zu bases",
                        cov_grid_chunk_length(job->grid));
    job->n_slots = cov_ring_slots(pool);
    job->slots = cov_calloc(job->n_slots, sizeof *job->slots, e);
    job->scratch = cov_malloc(n_scratch, 1, e);
    int rc = COV_ENOMEM;
    if (job->slots && job->scratch) {
        cov_progress_begin(job->progress, "writing", "chunks",
                           (int64_t)cov_grid_n_chunks(job->grid));
        rc = cov_ring_run(pool, job->n_slots, &stages, job, times, e);
        cov_progress_end(job->progress);
    }
    for (size_t i = 0; job->slots && i < job->n_slots; i++)
        cov_blob_fini(&job->slots[i].blob);
    free(job->slots);
    free(job->scratch);
    return rc;
}

/* Whether some rows of the file, the first and the last among them, are read back as they should
 * be. */
static int verify(const struct job *job, const char *path, struct cov_err *e)
{
    size_t L = cov_grid_chunk_length(job->grid), n = cov_grid_n_chunks(job->grid);
    struct cov_genome_file *f = NULL;
    struct cov_blob raw = COV_BLOB_INIT;
    uint8_t *codes = cov_malloc(L, 2, e);
    int rc = codes ? cov_genome_file_open(path, &f, e) : COV_ENOMEM;
    if (rc)
        goto out;
    const struct cov_grid *grid = cov_genome_file_grid(f);
    bool same = cov_grid_n_chunks(grid) == n && cov_grid_chunk_length(grid) == L &&
                cov_grid_n_seqs(grid) == cov_grid_n_seqs(job->grid);
    size_t n_sample = n < SAMPLE ? n : SAMPLE;
    for (size_t k = 0; same && k < n_sample; k++) {
        size_t row = k + 1 < n_sample ? k * (n / n_sample) : n - 1;
        rc = cov_genome_file_fetch(f, row, &raw, e);
        if (!rc)
            rc = cov_genome_file_decode(f, row, &raw, codes, e);
        if (!rc)
            rc = cov_genome_chunk(job->genome, job->grid, row, codes + L, e);
        if (rc)
            goto out;
        same = memcmp(codes, codes + L, L) == 0;
    }
    if (!same)
        rc = cov_fail(e, COV_EIO, "%s: what was written does not read back", path);
out:
    cov_genome_file_close(f);
    cov_blob_fini(&raw);
    free(codes);
    return rc;
}

int cov_encode_fasta(const char *fasta, const char *output, bool force,
                     const struct cov_encode_options *options, struct cov_pool *pool,
                     struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_genome *genome = NULL;
    struct cov_grid *grid = NULL;
    struct job job = {.progress = progress};
    struct cov_ring_times times = {0};

    /* First, so that an output that cannot be is known before a long read. */
    int rc = cov_outfile_begin(&out, output, COV_OUTFILE_SEEKABLE, force, e);
    if (rc)
        goto out;
    double clock = cov_clock();
    rc = cov_genome_read(fasta, &options->genome, progress, &genome, e);
    if (rc)
        goto out;
    cov_stats_add_stage(stats, "read", cov_clock() - clock);
    stats->bases = genome->n_bases;
    rc = cov_grid_new(genome->n_seqs, genome->names, genome->lengths, options->species,
                      options->chunk_length, &grid, e);
    if (rc)
        goto out;
    stats->chunks = (int64_t)cov_grid_n_chunks(grid);

    job.genome = genome;
    job.grid = grid;
    struct cov_genome_writer_options writer_options = {.compression = options->compression,
                                                       .input_path = fasta};
    clock = cov_clock();
    rc = cov_genome_writer_new(out.tmp, grid, &writer_options, &job.writer, e);
    if (!rc)
        rc = write_rows(&job, pool, &times, e);
    if (!rc) {
        rc = cov_genome_writer_close(job.writer, e);
        job.writer = NULL;
    }
    if (rc)
        goto out;
    cov_stats_add_stage(stats, "write", cov_clock() - clock);
    cov_stats_add_stage(stats, "encode", times.work); /* part of "write", summed over the threads */
    clock = cov_clock();
    rc = verify(&job, out.tmp, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    cov_stats_add_stage(stats, "verify", cov_clock() - clock);
out:
    cov_genome_writer_abort(job.writer);
    cov_grid_free(grid);
    cov_genome_free(genome);
    cov_outfile_abort(&out);
    return rc;
}
