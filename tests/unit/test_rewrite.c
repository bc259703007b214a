/* test_rewrite.c - writes rows of several files to a new file.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/job/chunks/rewrite.h"
#include "tests/lib/genome_io.h"
#include "tests/lib/make_grid.h"

enum { L = 10, N_ROWS = 8 };

static const char *const paths[] = {"0.h5", "1.h5", "2.h5"};
static struct cov_job job;
static struct cov_stats stats;

/* Writes a file. In row i, each base is `code`, and the values are base + 100 * i + position. Data
 * set y, if requested, has the value 7 * i. */
static void write_file(const char *path, uint8_t code, int16_t base, bool with_y)
{
    struct cov_chunk_head head = {.L = L, .has_bases = true};
    int16_t fill = -1;
    const struct cov_chunk_set x = {.name = "prediction/x",
                                    .type = {COV_H5_INT, 2, true, false, '\0'},
                                    .rank = 3,
                                    .dims = {L, 1},
                                    .fill = (uint8_t *)&fill};
    struct cov_chunk_set y = x;
    y.name = "data/y";
    y.rank = 1;
    y.dims[0] = 1;
    const struct cov_chunk_writer_options options = {.compression = {.id = COV_CODEC_LZF}};
    struct cov_chunk_writer *w;
    struct cov_grid *g = two_sequences(25, 10, L);
    if (with_y)
        assert_ok(cov_chunk_head_add_set(&head, &y, &e));
    assert_ok(cov_chunk_head_add_set(&head, &x, &e));
    assert_ok(cov_chunk_head_add_attr(&head, NULL, COV_SHARD_ATTR, "1/2", &e));
    assert_ok(cov_chunk_head_add_attr(&head, NULL, COV_GENOME_ATTR, "9 bytes", &e));
    assert_ok(cov_chunk_writer_new(path, &head, &options, &w, &e));
    for (size_t i = 0; i < cov_grid_n_chunks(g); i++) {
        struct cov_chunk c = cov_grid_chunk(g, i);
        uint8_t codes[L] = {0};
        int16_t values[L], number = (int16_t)(7 * i);
        memset(codes, code, (size_t)(c.end - c.beg));
        for (size_t t = 0; t < L; t++)
            values[t] = (int16_t)(base + 100 * (int)i + (int)t);
        const uint8_t *both[] = {(const uint8_t *)&number, (const uint8_t *)values};
        assert_ok(put_row(w, i, codes, with_y ? both : both + 1, &e));
    }
    assert_ok(cov_chunk_writer_finish(w, g, &e));
    cov_chunk_head_fini(&head);
    cov_grid_free(g);
}

/* Joins two files, of which the second has an additional dataset. The type and layout change. */
TEST(joins_two_files)
{
    write_file(paths[0], 1, 0, false);
    write_file(paths[1], 8, 1000, true);
    struct cov_chunk_file *template, *f;
    struct cov_rewrite_row rows[] = {{1, 0}, {0, 1}, {0, 2}, {1, 3},
                                     {1, 4}, {0, 5}, {0, 6}, {1, 7}};
    const struct cov_rewrite_storage storage = {.has_layout = true,
                                                .layout = COV_LAYOUT_PACKED,
                                                .has_type = true,
                                                .type = cov_rewrite_type(2)};
    struct cov_grid *g = two_sequences(25, 10, L);
    assert_ok(cov_chunk_file_open(paths[0], &template, &e));
    struct cov_rewrite_plan plan = {.file = template,
                                    .paths = paths,
                                    .n_files = 2,
                                    .rows = rows,
                                    .grid = g,
                                    .storage = &storage};
    assert_ok(cov_rewrite(&plan, paths[2], &job, &e));
    assert_ok(cov_chunk_file_open(paths[2], &f, &e));
    assert_int_equal(cov_chunk_file_head(f)->n_sets, 1);
    assert_string_equal(cov_chunk_file_bases_name(f), "data/X_packed");
    struct cov_blob raw = COV_BLOB_INIT;
    for (size_t i = 0; i < COV_COUNT(rows); i++) {
        uint8_t codes[L];
        int64_t values[L];
        uint8_t *elems = (uint8_t *)values;
        const size_t k = 0;
        cov_blob_clear(&raw);
        assert_ok(cov_chunk_file_fetch(f, i, (struct cov_chunk_parts){true, &k, 1}, &raw, &e));
        assert_ok(cov_chunk_file_decode(f, i, (struct cov_chunk_parts){true, &k, 1}, &raw, codes,
                                        &elems, &e));
        assert_int_equal(codes[0], rows[i].file ? 8 : 1);
        for (size_t t = 0; t < L; t++)
            assert_int_equal(values[t], 1000 * rows[i].file + 100 * rows[i].row + t);
    }
    cov_blob_fini(&raw);
    cov_chunk_file_close(f);

    /* Every file must have the sets of the template. */
    cov_chunk_file_close(template);
    assert_ok(cov_chunk_file_open(paths[1], &template, &e));
    plan.file = template;
    plan.template = 1;
    assert_fails_with(cov_rewrite(&plan, paths[2], &job, &e), COV_EINPUT,
                      "0.h5: missing dataset data/y");

    /* A file that has fewer rows than when the plan was made. */
    rows[1] = rows[2] = rows[5] = rows[6] = rows[0];
    rows[4].row = N_ROWS;
    assert_fails_with(cov_rewrite(&plan, paths[2], &job, &e), COV_EINPUT,
                      "1.h5: changed while it was read");
    cov_chunk_file_close(template);
    cov_grid_free(g);
}

/* The same rows of one file are the same part of a genome; others are not. */
TEST(keeps_the_part_with_all_rows)
{
    struct cov_chunk_file *from, *f;
    bool wanted[N_ROWS];
    memset(wanted, true, sizeof wanted);
    write_file(paths[0], 1, 0, false);
    for (int i = 0; i < 2; i++) {
        wanted[1] = i == 0;
        assert_ok(cov_chunk_file_open(paths[0], &from, &e));
        assert_ok(cov_rewrite_rows(from, paths[0], wanted, NULL, paths[2], &job, &e));
        cov_chunk_file_close(from);
        assert_ok(cov_chunk_file_open(paths[2], &f, &e));
        for (size_t k = 0; k < 2; k++) {
            const char *name = k ? COV_SHARD_ATTR : COV_GENOME_ATTR;
            assert_int_equal(cov_chunk_head_attr(cov_chunk_file_head(f), NULL, name) != NULL,
                             i == 0);
        }
        cov_chunk_file_close(f);
    }
}

static int begin(void **state)
{
    cov_stats_init(&stats, "test", "0");
    job.stats = &stats;
    return enter_dir(state) || cov_pool_new(2, &job.pool, NULL);
}

static int end(void **state)
{
    cov_pool_free(job.pool);
    cov_stats_fini(&stats);
    return leave_dir(state);
}

TEST_GROUP(begin, end)
