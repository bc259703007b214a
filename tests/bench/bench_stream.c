/* bench_stream.c - speed of the chunk stream between two programs.
 *
 *   bench_stream [MILLIONS_OF_BASES] [RESULT_BYTES_PER_BASE_AND_STRAND]
 *
 * One process packs and writes, another reads and unpacks, each with one thread.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/chunk/stream.h"
#include "common/seq/alphabet.h"
#include "common/seq/grid.h"

enum { L = 21384 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Buffers of one pair. */
struct space {
    uint8_t codes[2][L];
    uint8_t *elems[2][1];
};

static int write_pairs(const struct cov_chunk_head *head, int64_t n, struct space *p,
                       struct cov_err *e)
{
    struct cov_stream_writer *w;
    struct cov_blob record = COV_BLOB_INIT;
    const uint8_t *const codes[2] = {p->codes[0], NULL};
    const uint8_t *const *const elems[2] = {(const uint8_t *const *)p->elems[0],
                                            (const uint8_t *const *)p->elems[1]};
    int rc = cov_stream_create("-", head, false, false, 1, &w, e);
    if (rc)
        return rc;
    rc = cov_stream_begin(w, "", "chr1", e);
    for (int64_t i = 0; !rc && i < n; i++) {
        const struct cov_stream_pair pair = {i * L, (i + 1) * L, {true, true}};
        rc = cov_stream_pack(head, &pair, codes, elems, &record, e);
        if (!rc)
            rc = cov_stream_put(w, &record, e);
    }
    if (!rc)
        rc = cov_stream_end(w, n * L, e);
    cov_blob_fini(&record);
    if (!rc)
        return cov_stream_finish(w, e);
    cov_stream_abort(w);
    return rc;
}

static int read_pairs(struct space *p, struct cov_err *e)
{
    struct cov_bgz *b;
    struct cov_stream *s;
    struct cov_blob record = COV_BLOB_INIT;
    struct cov_stream_item item = {.event = COV_STREAM_BEGIN};
    uint8_t *const codes[2] = {p->codes[0], p->codes[1]};
    uint8_t *const *const elems[2] = {p->elems[0], p->elems[1]};
    int rc = cov_bgz_open_read("-", 1, &b, e);
    if (!rc)
        rc = cov_stream_open(b, &s, e);
    if (rc)
        return rc;
    while (!rc && item.event != COV_STREAM_DONE) {
        rc = cov_stream_next(s, &item, &record, e);
        if (!rc && item.event == COV_STREAM_PAIR)
            rc = cov_stream_unpack(cov_stream_head(s), cov_stream_name(s), &record, &item.pair,
                                   codes, elems, e);
    }
    cov_blob_fini(&record);
    cov_stream_close(s);
    return rc;
}

static void report(const char *what, double n_bases, double wall)
{
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    (void)fprintf(stderr, "%s\t%.0f Mbp/s wall\t%.0f Mbp/s CPU\n", what, 1e-6 * n_bases / wall,
                  1e-6 * n_bases / cpu);
}

int main(int argc, char **argv)
{
    int64_t n = (argc > 1 ? strtoll(argv[1], NULL, 10) : 500) * 1000000 / L;
    size_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint8_t fill[8] = {0};
    struct cov_err e = COV_ERR_INIT;
    struct cov_chunk_head head = {.L = L, .has_bases = true};
    struct cov_chunk_set set = {.name = "prediction/predictions",
                                .type = {COV_H5_INT, bytes, true, false, '\0'},
                                .rank = 2,
                                .dims = {L, 1},
                                .fill = fill};
    if (n < 1 || (bytes > 0 && cov_chunk_head_add_set(&head, &set, &e))) {
        (void)fprintf(stderr, "%s\n", e.text);
        return 2;
    }
    static struct space space;
    for (int s = 0; s < 2; s++) {
        space.elems[s][0] = calloc(L, 8);
        if (!space.elems[s][0])
            return 1;
    }
    for (size_t i = 0; i < L; i++)
        space.codes[COV_PLUS][i] = (uint8_t)(1U << (i * i / 7 % 4));
    int ends[2];
    double begin = seconds(CLOCK_MONOTONIC);
    if (pipe(ends))
        return 1;
    pid_t child = fork();
    (void)dup2(child ? ends[1] : ends[0], child ? STDOUT_FILENO : STDIN_FILENO);
    (void)close(ends[0]);
    (void)close(ends[1]);
    int rc = child ? write_pairs(&head, n, &space, &e) : read_pairs(&space, &e);
    (void)close(STDOUT_FILENO);
    if (rc)
        (void)fprintf(stderr, "%s\n", e.text);
    else
        report(child ? "written" : "read", (double)(n * L), seconds(CLOCK_MONOTONIC) - begin);
    int status = 0;
    if (child > 0)
        (void)waitpid(child, &status, 0);
    for (int s = 0; s < 2; s++)
        free(space.elems[s][0]);
    cov_chunk_head_fini(&head);
    return rc || status ? 1 : 0;
}
