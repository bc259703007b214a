/* test_encode.c - FASTA converted to a genome file and a chunk stream, and read back.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_folder.h"

#include <fcntl.h>

#include "common/chunk/stream.h"
#include "common/job/encode/encode.h"
#include "common/seq/alphabet.h"

enum { N_SEQS = 4, L = 50 };
static const size_t lengths[N_SEQS] = {1, 50, 1234, 100};

static const char fasta[] = "a.fa", output[] = "a.h5", second[] = "b.h5";
static char letters[N_SEQS][2000];

static int set_up(void **state)
{
    if (enter_folder(state) || setenv("SOURCE_DATE_EPOCH", "0", 1))
        return -1;
    FILE *f = fopen(fasta, "wb");
    if (!f)
        return -1;
    uint32_t x = 3;
    for (size_t s = 0; s < N_SEQS; s++) {
        for (size_t i = 0; i < lengths[s]; i++) {
            x = x * 1664525 + 1013904223;
            letters[s][i] = cov_letter_of_code[1 + (x >> 16) % 15];
        }
        (void)fprintf(f, ">seq%zu\n%s\n", s, letters[s]);
    }
    return fclose(f);
}

static enum cov_layout layout;

static int encode(const char *to, bool force, unsigned n_threads, struct cov_stats *stats,
                  struct cov_err *e)
{
    struct cov_pool *pool;
    assert_int_equal(cov_pool_new(n_threads, &pool, NULL), 0);
    const struct cov_encode_options options = {
        .species = "sp",
        .chunk_length = L,
        .layout = layout,
        .compression = {COV_CODEC_GZIP, 0},
        .genome = {.tmpdir = ".", .n_threads = n_threads},
    };
    int rc = cov_encode_fasta(fasta, to, force, &options, &(struct cov_job){pool, NULL, stats}, e);
    cov_pool_free(pool);
    return rc;
}

/* Checks that codes[0..L) are those of the chunk. */
static void check_codes(const uint8_t *codes, size_t seq, int64_t beg, int64_t end, bool minus)
{
    for (int64_t i = 0; i < L; i++) {
        uint8_t expected = COV_CODE_PAD;
        if (i < end - beg) {
            int64_t at = minus ? end - 1 - i : beg + i;
            expected = cov_code_of_letter[(unsigned char)letters[seq][at]];
            if (minus)
                expected = cov_code_complement[expected];
        }
        assert_int_equal(codes[i], expected);
    }
}

static void check_file(void)
{
    struct cov_err e = COV_ERR_INIT;
    struct cov_chunk_file *f;
    struct cov_blob raw = COV_BLOB_INIT;
    assert_int_equal(cov_chunk_file_open(output, &f, &e), 0);
    assert_string_equal(cov_chunk_file_bases_name(f),
                        layout == COV_LAYOUT_PACKED ? "data/X_packed" : "data/X");
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    assert_true(cov_grid_is_regular(grid));
    assert_int_equal(cov_grid_n_chunks(grid), 58);
    assert_string_equal(cov_grid_name(grid, 2), "seq2");
    assert_string_equal(cov_grid_species(grid, 2), "sp");
    for (size_t row = 0; row < 58; row++) {
        uint8_t codes[L];
        struct cov_chunk c = cov_grid_chunk(grid, row);
        cov_blob_clear(&raw);
        assert_int_equal(cov_chunk_file_fetch(f, row, COV_CHUNK_BASES, &raw, &e), 0);
        assert_int_equal(cov_chunk_file_decode(f, row, COV_CHUNK_BASES, &raw, codes, NULL, &e), 0);
        check_codes(codes, c.seq, c.beg, c.end, c.minus);
    }
    cov_blob_fini(&raw);
    cov_chunk_file_close(f);
}

TEST(test_rows)
{
    struct cov_err e = COV_ERR_INIT;
    for (int k = 0; k < 2; k++) {
        struct cov_stats stats;
        layout = k ? COV_LAYOUT_PACKED : COV_LAYOUT_ONEHOT;
        cov_stats_init(&stats, "test", "0");
        assert_int_equal(encode(output, k > 0, 2, &stats, &e), 0);
        assert_int_equal(stats.bases, 1385);
        assert_int_equal(stats.chunks, 2 * (1 + 1 + 25 + 2));
        assert_true(stats.n_stages >= 4);
        cov_stats_fini(&stats);
        check_file();
    }
    layout = COV_LAYOUT_ONEHOT;
}

/* Encodes to standard output, redirected to the file `output`. */
static int encode_stream(unsigned n_threads, struct cov_err *e)
{
    struct cov_stats stats;
    cov_stats_init(&stats, "test", "0");
    assert_int_equal(fflush(stdout), 0);
    int kept = dup(STDOUT_FILENO), fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(kept >= 0 && fd >= 0);
    assert_true(dup2(fd, STDOUT_FILENO) >= 0);
    int rc = encode("-", false, n_threads, &stats, e);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    assert_int_equal(close(kept) | close(fd), 0);
    assert_true(rc || stats.chunks == 58);
    cov_stats_fini(&stats);
    return rc;
}

TEST(test_stream)
{
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        struct cov_err e = COV_ERR_INIT;
        struct cov_bgz *b;
        struct cov_stream *s;
        struct cov_blob record = COV_BLOB_INIT;
        struct cov_stream_item item;
        uint8_t plus[L], minus[L], *const codes[2] = {plus, minus};
        size_t n_seqs = 0;
        int64_t at = 0;
        assert_int_equal(encode_stream(n_threads, &e), 0);
        assert_int_equal(cov_bgz_open_read(output, 1, &b, &e), 0);
        assert_int_equal(cov_stream_open(b, &s, &e), 0);
        assert_false(cov_stream_is_partial(s));
        do {
            assert_int_equal(cov_stream_next(s, &item, &record, &e), 0);
            if (item.event == COV_STREAM_BEGIN) {
                char name[8];
                (void)snprintf(name, sizeof name, "seq%zu", n_seqs);
                assert_string_equal(item.sequence, name);
                assert_string_equal(item.species, "sp");
                at = 0;
            } else if (item.event == COV_STREAM_PAIR) {
                struct cov_stream_pair pair;
                assert_int_equal(
                    cov_stream_unpack(cov_stream_head(s), "test", &record, &pair, codes, NULL, &e),
                    0);
                assert_int_equal(pair.beg, at);
                at = pair.end;
                check_codes(plus, n_seqs, pair.beg, pair.end, false);
                check_codes(minus, n_seqs, pair.beg, pair.end, true);
            } else if (item.event == COV_STREAM_END) {
                assert_int_equal(item.length, at);
                assert_int_equal(item.length, lengths[n_seqs]);
                n_seqs++;
            }
        } while (item.event != COV_STREAM_DONE);
        assert_int_equal(n_seqs, N_SEQS);
        cov_blob_fini(&record);
        cov_stream_close(s);
    }
    assert_int_equal(unlink(output), 0);
}

TEST(test_threads)
{
    struct cov_stats stats;
    cov_stats_init(&stats, "test", "0");
    assert_int_equal(encode(output, true, 1, &stats, NULL), 0);
    assert_int_equal(encode(second, true, 5, &stats, NULL), 0);
    cov_stats_fini(&stats);
    check_same_files(output, second);
}

TEST(test_refused)
{
    struct cov_stats stats;
    struct cov_err e = COV_ERR_INIT;
    cov_stats_init(&stats, "test", "0");
    assert_int_equal(encode(output, true, 1, &stats, &e), 0);
    assert_int_equal(encode(output, false, 1, &stats, &e), COV_EEXIST);
    cov_err_clear(&e);
    assert_int_equal(unlink(output), 0);
    FILE *f = fopen(fasta, "ab");
    assert_non_null(f);
    (void)fputs("!\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(encode(output, false, 1, &stats, &e), COV_EINPUT);
    assert_int_equal(access(output, F_OK), -1);
    cov_err_clear(&e);
    assert_int_equal(encode_stream(1, &e), COV_EINPUT);
    cov_stats_fini(&stats);
}

TEST_GROUP(set_up, leave_folder)
