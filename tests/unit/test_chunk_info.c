/* test_chunk_info.c - contents of files of chunks and of streams.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/chunk/stream.h"
#include "common/job/chunks/chunk_info.h"
#include "tests/lib/make_chunks.h"
#include "tests/lib/own_folder.h"

/* Writes the predictions of x.h5 to the stream x.cov, without chr2 and the last - chunk of chr1. */
static void write_stream(void)
{
    struct cov_grid *grid = made_grid();
    struct cov_chunk_head head;
    struct cov_stream_writer *w;
    struct cov_blob record = COV_BLOB_INIT;
    made_head(false, &head);
    assert_int_equal(cov_stream_create("x.cov", &head, true, false, 1, &w, NULL), COV_OK);
    assert_int_equal(cov_stream_begin(w, "Sp", "chr1", NULL), COV_OK);
    for (size_t i = 0; i < 3; i++) {
        uint8_t codes[MADE_L], elems[2][4 * MADE_L];
        struct cov_pair p = cov_grid_pair(grid, i);
        const struct cov_stream_pair pair = {p.beg, p.end, {true, i < 2}};
        made_row(grid, p.rows[COV_PLUS], codes, elems[0]);
        made_row(grid, p.rows[COV_MINUS], codes, elems[1]);
        const uint8_t *const sets[2][1] = {{elems[0]}, {elems[1]}};
        const uint8_t *const no_codes[2] = {NULL, NULL};
        const uint8_t *const *const both[2] = {sets[0], i < 2 ? sets[1] : NULL};
        cov_blob_clear(&record);
        assert_int_equal(cov_stream_pack(&head, &pair, no_codes, both, &record, NULL), COV_OK);
        assert_int_equal(cov_stream_put(w, &record, NULL), COV_OK);
    }
    assert_int_equal(cov_stream_end(w, 25, NULL), COV_OK);
    assert_int_equal(cov_stream_finish(w, NULL), COV_OK);
    cov_blob_fini(&record);
    cov_chunk_head_fini(&head);
    cov_grid_free(grid);
}

static int enter(void **state)
{
    if (enter_folder(state))
        return -1;
    make_chunks("x.h5", false, NULL);
    make_chunks("g.h5", true, NULL);
    write_stream();
    return 0;
}

static char *info(const char *path, bool json, int wanted)
{
    char *text = NULL, name[16];
    size_t n_text = 0;
    (void)snprintf(name, sizeof name, "%s", path);
    char *const paths[] = {name};
    FILE *f = open_memstream(&text, &n_text);
    assert_non_null(f);
    assert_int_equal(cov_chunk_info(paths, 1, json, f, NULL, NULL), wanted);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void has(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("no '%s' in:\n%s", line, text);
}

/* For two files, bases, chunks and figures are those of both files together. */
TEST(sums_up)
{
    char name[] = "x.h5", *text = NULL;
    size_t n_text = 0;
    char *const paths[] = {name, name};
    struct cov_stats one, two;
    cov_stats_init(&one, "h5chunk", "1");
    cov_stats_init(&two, "h5chunk", "1");
    FILE *f = open_memstream(&text, &n_text);
    assert_non_null(f);
    assert_int_equal(cov_chunk_info(paths, 1, false, f, &one, NULL), COV_OK);
    assert_int_equal(cov_chunk_info(paths, 2, false, f, &two, NULL), COV_OK);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(one.chunks, 8);
    assert_true(one.bases > 0);
    assert_int_equal(two.chunks, 16);
    assert_int_equal(two.bases, 2 * one.bases);
    assert_int_equal(two.n_figures, 3);
    assert_string_equal(two.figures[0].name, "sequences");
    assert_true(two.figures[0].value == 4);
    assert_true(two.figures[1].value == 2 * one.figures[1].value);
    assert_true(two.figures[2].value == one.figures[2].value);
    cov_stats_fini(&one);
    cov_stats_fini(&two);
    free(text);
}

TEST(describes_predictions)
{
    char *text = info("x.h5", false, COV_OK);
    has(text, "x.h5: predictions file\n  chunks     8 of 10 bases, in 4 pairs\n  sequences  2, "
              "together 35 ");
    has(text, "\n  prediction/predictions  int16  8 x 10 x 2 ");
    has(text, "\n  prediction/datasets: a, b\n");
    has(text, "            25         6  chr1 (Sp)\n            10         2  chr2 (Sp)\n");
    free(text);
    text = info("x.h5", true, COV_OK);
    has(text, "\"layout\": null,");
    has(text, "\"format\": \"hdf5\",");
    has(text, "\"stored_bytes\": ");
    free(text);
}

TEST(describes_genomes)
{
    char *text = info("g.h5", false, COV_OK);
    has(text, "g.h5: genome file\n");
    has(text, "\n  bases      one-hot\n");
    has(text, "\n  data/X           float16  8 x 10 x 4  1 x 10 x 4  shuffle, gzip ");
    free(text);
}

TEST(describes_streams)
{
    char *text = info("x.cov", false, COV_OK);
    has(text, "x.cov: predictions file, as a stream\n  chunks     5 of 10 bases, in 3 pairs\n"
              "  sequences  1, together 25 bases\n  partial    25 of these bases are here\n");
    has(text, "\n  prediction/predictions  int16  5 x 10 x 2\n");
    has(text, "\n  prediction/datasets: a, b\n        length    chunks  sequence\n"
              "            25         5  chr1 (Sp)\n");
    free(text);
    text = info("x.cov", true, COV_OK);
    has(text, "\"format\": \"stream\",");
    assert_null(strstr(text, "stored_bytes"));
    free(text);
}

TEST(refuses_other_files)
{
    free(info("none", false, COV_EIO));
    put_text("other", "chr1\n");
    free(info("other", false, COV_EINPUT));
    assert_int_equal(truncate("x.cov", 200), 0);
    free(info("x.cov", false, COV_EINPUT));
}

TEST_GROUP(enter, leave_folder)
