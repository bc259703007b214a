/* test_loader.c - every kind of input, loading and order gives the same pairs and codes. Also tests
 * shards, length limits and damaged input.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/base/rng.h"
#include "common/chunk/stream.h"
#include "common/input/loader.h"
#include "common/seq/alphabet.h"
#include "tests/lib/genome_io.h"
#include "tests/lib/own_log.h"

/* ---------------------------------------------------------------- a genome */

enum { L = 40, N_SEQS = 5, MAX_LENGTH = 205, MAX_PAIRS = 64 };

static const int64_t lengths[N_SEQS] = {100, 40, 7, 205, 81};
static char *names[] = {"one", "two", "three", "four", "five"};
static char texts[N_SEQS][MAX_LENGTH + 1];

static void put_fasta(const char *path)
{
    FILE *f = must(fopen(path, "w"));
    for (size_t s = 0; s < N_SEQS; s++)
        assert_true(fprintf(f, ">%s words\n%.50s\n%s\n", names[s], texts[s],
                            lengths[s] > 50 ? texts[s] + 50 : "") > 0);
    assert_int_equal(fclose(f), 0);
}

/* In twisted files the - chunk of [0, 40) of sequence 3 is not the reverse complement: it begins
 * with N. */
static bool is_twisted(size_t seq, int64_t beg, int strand)
{
    return seq == 3 && beg == 0 && strand == COV_MINUS;
}

/* Expected codes, computed from the letters. */
static void codes_of(size_t seq, int64_t beg, int64_t end, int strand, bool twisted, uint8_t *codes)
{
    static const char letters[] = "ACGTRYSWKMBDHVN", others[] = "TGCAYRSWMKVHDBN";
    memset(codes, COV_CODE_PAD, L);
    for (int64_t t = 0; t < end - beg; t++) {
        char letter = texts[seq][strand == COV_PLUS ? beg + t : end - 1 - t];
        if (strand == COV_MINUS)
            letter = others[strchr(letters, letter) - letters];
        codes[t] = cov_code_of_letter[(unsigned char)letter];
    }
    if (twisted && is_twisted(seq, beg, strand))
        codes[0] = COV_CODE_N;
}

static struct cov_grid *regular_grid(void)
{
    struct cov_grid *grid;
    assert_ok(cov_grid_new(N_SEQS, names, lengths, "genome", L, &grid, &e));
    return grid;
}

/* Returns a grid with some or all rows of `g` in random order, and with or without declared
 * sequences. */
static struct cov_grid *some_rows(const struct cov_grid *g, bool declared, bool all)
{
    struct cov_rng rng;
    size_t rows[MAX_PAIRS], n = 0;
    struct cov_grid *out;
    cov_rng_init(&rng, 5);
    assert_in_range(cov_grid_n_chunks(g), 1, MAX_PAIRS);
    for (size_t i = 0; i < cov_grid_n_chunks(g); i++)
        /* Sequence 2 loses all its rows. */
        if (all || (cov_grid_chunk(g, i).seq != 2 && cov_rng_below(&rng, 4) > 0))
            rows[n++] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = cov_rng_below(&rng, i), row = rows[j];
        rows[j] = rows[i - 1];
        rows[i - 1] = row;
    }
    if (declared) {
        assert_ok(cov_grid_select(g, rows, n, &out, &e));
        return out;
    }
    struct cov_grid_builder *b;
    assert_ok(cov_grid_builder_new(L, &b, &e));
    for (size_t i = 0; i < n; i++) {
        struct cov_chunk c = cov_grid_chunk(g, rows[i]);
        struct cov_seq_id id = cov_seq_id("genome", names[c.seq]);
        int64_t start = c.minus ? c.end : c.beg, end = c.minus ? c.beg : c.end;
        assert_ok(cov_grid_builder_add(b, &id, start, end, &e));
    }
    assert_ok(cov_grid_builder_finish(b, &out, &e));
    return out;
}

/* Returns the index of a sequence in texts[]. */
static size_t seq_of_name(const char *name)
{
    size_t s = 0;
    while (s < N_SEQS && strcmp(names[s], name) != 0)
        s++;
    assert_true(s < N_SEQS);
    return s;
}

static const struct cov_chunk_head head = {.L = L, .has_bases = true};

static void put_file(const char *path, const struct cov_grid *grid, enum cov_layout layout,
                     bool twisted)
{
    const struct cov_chunk_writer_options options = {layout, {COV_CODEC_GZIP, 0}, 1};
    struct cov_chunk_writer *w;
    uint8_t codes[L];
    assert_ok(cov_chunk_writer_new(path, &head, &options, &w, &e));
    for (size_t i = 0; i < cov_grid_n_chunks(grid); i++) {
        struct cov_chunk c = cov_grid_chunk(grid, i);
        codes_of(seq_of_name(cov_grid_name(grid, c.seq)), c.beg, c.end, c.minus, twisted, codes);
        assert_ok(put_row(w, i, codes, NULL, &e));
    }
    assert_ok(cov_chunk_writer_finish(w, grid, &e));
}

static void put_stream(const char *path, const struct cov_grid *grid, bool twisted)
{
    struct cov_stream_writer *w;
    struct cov_blob record = COV_BLOB_INIT;
    uint8_t codes[2][L];
    assert_ok(cov_stream_create(path, &head, twisted, true, 1, &w, &e));
    for (size_t s = 0; s < cov_grid_n_seqs(grid); s++) {
        size_t beg, end;
        cov_grid_seq_pairs(grid, s, &beg, &end);
        assert_ok(cov_stream_begin(w, cov_grid_species(grid, s), cov_grid_name(grid, s), &e));
        for (size_t p = beg; p < end; p++) {
            struct cov_pair pair = cov_grid_pair(grid, p);
            struct cov_stream_pair what = {pair.beg, pair.end, {false, false}};
            for (int k = COV_PLUS; k <= COV_MINUS; k++) {
                what.has[k] = pair.rows[k] != COV_NO_ROW;
                codes_of(seq_of_name(cov_grid_name(grid, s)), pair.beg, pair.end, k, twisted,
                         codes[k]);
            }
            const uint8_t *const both[2] = {codes[0], codes[1]};
            assert_ok(cov_stream_pack(&head, &what, both, NULL, &record, &e));
            assert_ok(cov_stream_put(w, &record, &e));
        }
        assert_ok(cov_stream_end(w, cov_grid_seq_length(grid, s), &e));
    }
    assert_ok(cov_stream_finish(w, &e));
    cov_blob_fini(&record);
}

static int set_up(void **state)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 1);
    for (size_t s = 0; s < N_SEQS; s++)
        for (int64_t t = 0; t < lengths[s]; t++)
            texts[s][t] = "ACGTACGTACGTACGTNRYSWKMBDHV"[cov_rng_below(&rng, 27)];
    if (enter_dir(state))
        return -1;
    start_log(COV_LOG_WARNING);
    struct cov_grid *regular = regular_grid(), *mixed = some_rows(regular, false, false),
                    *partial = some_rows(regular, true, false),
                    *shuffled = some_rows(regular, false, true);
    put_fasta("genome.fa");
    put_file("regular.h5", regular, COV_LAYOUT_ONEHOT, false);
    put_file("packed.h5", regular, COV_LAYOUT_PACKED, false);
    put_file("twisted.h5", regular, COV_LAYOUT_PACKED, true);
    put_file("mixed.h5", mixed, COV_LAYOUT_ONEHOT, true);
    put_file("partial.h5", partial, COV_LAYOUT_PACKED, true);
    put_file("shuffled.h5", shuffled, COV_LAYOUT_ONEHOT, true);
    put_stream("regular.stream", regular, false);
    put_stream("partial.stream", partial, true);
    cov_grid_free(regular);
    cov_grid_free(mixed);
    cov_grid_free(partial);
    cov_grid_free(shuffled);
    return 0;
}

static const char *const inputs[] = {"genome.fa", "regular.h5", "packed.h5",  "twisted.h5",
                                     "mixed.h5",  "partial.h5", "shuffled.h5"};
static const char *const streams[] = {"regular.stream", "partial.stream"},
                         *const files[] = {"regular.h5", "partial.h5"}; /* with the same rows */

static bool is_partial(const char *input)
{
    return strcmp(input, "mixed.h5") == 0 || strncmp(input, "partial", 7) == 0;
}

static bool is_stream(const char *input)
{
    return strstr(input, ".stream");
}

static bool is_twisted_file(const char *input)
{
    return strcmp(input, "twisted.h5") == 0 || strcmp(input, "shuffled.h5") == 0 ||
           is_partial(input);
}

/* ---------------------------------------------------------------- pairs */

static struct cov_loader_options options_of(enum cov_loading loading, enum cov_loader_order order)
{
    return (struct cov_loader_options){.chunk_length = L,
                                       .genome = {.tmpdir = ".", .n_threads = 1},
                                       .loading = loading,
                                       .order = order};
}

static struct cov_loader *open_with(const char *input, const struct cov_loader_options *options,
                                    unsigned n_threads)
{
    struct cov_loader *l;
    struct cov_pool *pool;
    assert_ok(cov_loader_open(input, options, NULL, &l, &e));
    assert_ok(cov_pool_new(n_threads, &pool, &e));
    assert_ok(cov_loader_load(l, pool, NULL, &e));
    cov_pool_free(pool);
    return l;
}

static size_t seqs[MAX_PAIRS]; /* sequences of the last collected items, as in texts[] */

/* Collects all items, *n of them, and checks their codes. */
static void collect(struct cov_loader *l, bool twisted, struct cov_loader_item *items, size_t *n)
{
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    uint8_t codes[2][L], expected[L];
    assert_int_equal(cov_loader_chunk_length(l), L);
    *n = 0;
    for (;;) {
        struct cov_loader_item *item = &items[*n];
        int got = cov_loader_next(l, item, raw, NULL);
        assert_true(got >= 0);
        if (got == 0)
            break;
        assert_true(++*n < MAX_PAIRS);
        size_t seq = seq_of_name(cov_loader_name(l, item->seq));
        seqs[*n - 1] = seq;
        if (item->length >= 0)
            assert_int_equal(item->length, lengths[seq]);
        assert_string_equal(cov_loader_species(l, item->seq), "genome");
        memset(codes, 77, sizeof codes);
        assert_ok(cov_loader_codes(l, item, raw, (uint8_t *const[2]){codes[0], codes[1]}, &e));
        for (int s = COV_PLUS; s <= COV_MINUS; s++) {
            if (item->has[s])
                codes_of(seq, item->beg, item->end, s, twisted, expected);
            else
                memset(expected, 77, L);
            assert_memory_equal(codes[s], expected, L);
        }
    }
    assert_ok(cov_loader_next(l, &items[*n], raw, &e));
    cov_blob_fini(&raw[0]);
    cov_blob_fini(&raw[1]);
}

/* Removes items of sequences without pairs. */
static void drop_empty(struct cov_loader_item *items, size_t *n)
{
    size_t m = 0;
    for (size_t i = 0; i < *n; i++)
        if (items[i].has[COV_PLUS] || items[i].has[COV_MINUS])
            items[m++] = items[i];
    *n = m;
}

/* Checks that the items are the pairs of the loader's grid, without duplicates. */
static void check_pairs(const struct cov_loader *l, const struct cov_loader_item *items, size_t n)
{
    const struct cov_grid *g = cov_loader_grid(l);
    bool seen[MAX_PAIRS] = {false};
    assert_int_equal(n, cov_loader_n_pairs(l));
    assert_int_equal(n, cov_grid_n_pairs(g));
    for (size_t i = 0; i < n; i++) {
        struct cov_pair pair = cov_grid_pair(g, items[i].pair);
        assert_false(seen[items[i].pair]);
        seen[items[i].pair] = true;
        assert_int_equal(items[i].seq, pair.seq);
        assert_int_equal(items[i].beg, pair.beg);
        assert_int_equal(items[i].end, pair.end);
        assert_int_equal(items[i].length, cov_grid_seq_length(g, pair.seq));
        for (int s = COV_PLUS; s <= COV_MINUS; s++) {
            assert_int_equal(items[i].rows[s], pair.rows[s]);
            assert_int_equal(items[i].has[s], pair.rows[s] != COV_NO_ROW);
        }
    }
}

static void check_order(enum cov_loader_order order, const struct cov_loader_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (order == COV_ORDER_GRID) {
            assert_int_equal(items[i].pair, i);
            assert_int_equal(items[i].first, i == 0 || items[i - 1].seq != items[i].seq);
            assert_int_equal(items[i].last, i + 1 == n || items[i + 1].seq != items[i].seq);
        }
        if (order == COV_ORDER_FILLED && i > 0) {
            int64_t before = items[i - 1].end - items[i - 1].beg, now = items[i].end - items[i].beg;
            assert_true(before > now || (before == now && items[i - 1].pair < items[i].pair));
        }
    }
}

TEST(test_all)
{
    for (size_t k = 0; k < COV_COUNT(inputs); k++)
        for (enum cov_loading loading = COV_LOAD_DISK; loading <= COV_LOAD_RAM_PACKED; loading++)
            for (enum cov_loader_order order = COV_ORDER_GRID; order <= COV_ORDER_FILLED; order++)
                for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
                    struct cov_loader_options o = options_of(loading, order);
                    struct cov_loader *l = open_with(inputs[k], &o, n_threads);
                    struct cov_loader_item items[MAX_PAIRS];
                    size_t n;
                    for (int round = 0; round < 2; round++) {
                        collect(l, is_twisted_file(inputs[k]), items, &n);
                        drop_empty(items, &n);
                        check_pairs(l, items, n);
                        check_order(order, items, n);
                        assert_ok(cov_loader_rewind(l, &e));
                    }
                    assert_int_equal(cov_loader_is_partial(l), is_partial(inputs[k]));
                    cov_loader_close(l);
                }
}

TEST(test_shards)
{
    for (size_t k = 0; k < COV_COUNT(inputs); k++) {
        struct cov_loader_item all[MAX_PAIRS], items[MAX_PAIRS];
        size_t n_all, n, n_seqs;
        struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
        struct cov_loader *l = open_with(inputs[k], &o, 1);
        collect(l, is_twisted_file(inputs[k]), all, &n_all);
        drop_empty(all, &n_all);
        n_seqs = cov_grid_n_seqs(cov_loader_grid(l));
        cov_loader_close(l);
        /* One shard, a few, one per pair, and more than there are pairs. */
        const size_t numbers[] = {1, 2, 3, n_all, n_all + 2};
        for (size_t i_number = 0; i_number < COV_COUNT(numbers); i_number++)
            for (enum cov_loading loading = COV_LOAD_DISK; loading <= COV_LOAD_RAM_PACKED;
                 loading++) {
                size_t at = 0, n_shards = numbers[i_number];
                /* The loaded data does not depend on the number of shards. */
                if (n_shards > 3 && loading != COV_LOAD_DISK)
                    continue;
                for (size_t shard = 0; shard < n_shards; shard++) {
                    o = options_of(loading, COV_ORDER_FILLED);
                    o.shard = shard;
                    o.n_shards = n_shards;
                    l = open_with(inputs[k], &o, 2);
                    const struct cov_grid *g = cov_loader_grid(l);
                    assert_int_equal(cov_grid_n_seqs(g), n_seqs);
                    assert_int_equal(cov_grid_is_partial(g), n_shards > 1 || is_partial(inputs[k]));
                    assert_int_equal(cov_loader_is_partial(l), cov_grid_is_partial(g));
                    collect(l, is_twisted_file(inputs[k]), items, &n);
                    check_pairs(l, items, n);
                    assert_in_range(n, n_all / n_shards, n_all / n_shards + 1);
                    for (size_t i = 0; i < n; i++) {
                        const struct cov_loader_item *whole = &all[at + items[i].pair];
                        assert_int_equal(items[i].seq, whole->seq);
                        assert_int_equal(items[i].beg, whole->beg);
                        assert_int_equal(items[i].end, whole->end);
                        assert_int_equal(items[i].length, whole->length);
                        assert_memory_equal(items[i].has, whole->has, sizeof whole->has);
                    }
                    at += n;
                    cov_loader_close(l);
                }
                assert_int_equal(at, n_all);
            }
    }
}

/* Returns the number of pairs of each delivered sequence in grid order, such as "one:3 two:0", or
 * "error: ...". */
static const char *describe(const char *input, int64_t min, int64_t max, size_t shard,
                            size_t n_shards)
{
    static char text[512];
    struct cov_loader_item items[MAX_PAIRS];
    size_t n, at = 0, n_seq = 0;
    struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
    o.genome.min_length = min;
    o.genome.max_length = max;
    o.shard = shard;
    o.n_shards = n_shards;
    struct cov_loader *l;
    struct cov_err e = COV_ERR_INIT;
    logged.text[0] = '\0';
    if (cov_loader_open(input, &o, NULL, &l, &e)) {
        (void)snprintf(text, sizeof text, "error: %s", e.text);
        return text;
    }
    collect(l, is_twisted_file(input), items, &n);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        n_seq = items[i].first ? 0 : n_seq;
        n_seq += items[i].has[0] || items[i].has[1];
        assert_true(items[i].first || items[i - 1].seq == items[i].seq);
        assert_true(items[i].length >= 0 || (is_stream(input) && !items[i].last));
        if (items[i].last)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:%zu", at ? " " : "",
                                   names[seqs[i]], n_seq);
    }
    cov_loader_close(l);
    return text;
}

TEST(test_limits)
{
    assert_string_equal(describe("genome.fa", 0, 0, 0, 0), "one:3 two:1 three:1 four:6 five:3");
    assert_string_equal(logged.text, "");
    assert_string_equal(describe("regular.h5", 0, 0, 0, 0), "one:3 two:1 three:1 four:6 five:3");
    assert_string_equal(describe("regular.h5", 7, 205, 0, 0), "one:3 two:1 three:1 four:6 five:3");
    assert_string_equal(logged.text, "");
    assert_string_equal(describe("genome.fa", 40, 100, 0, 0), "one:3 two:1 five:3");
    assert_string_equal(logged.text,
                        "genome.fa: 2 of 5 sequences left out by length: 1 too short, 1 "
                        "too long");
    assert_string_equal(describe("regular.h5", 40, 100, 0, 0), "one:3 two:1 three:0 four:0 five:3");
    assert_string_equal(logged.text,
                        "regular.h5: 2 of 5 sequences left out by length: 1 too short, 1 "
                        "too long");
    assert_string_equal(describe("regular.h5", 41, 0, 0, 0), "one:3 two:0 three:0 four:6 five:3");
    assert_string_equal(describe("regular.h5", 0, 40, 0, 0), "one:0 two:1 three:1 four:0 five:0");
    assert_string_equal(describe("regular.h5", 101, 204, 0, 0),
                        "error: regular.h5: no sequence has a length within the limits");
    assert_string_equal(describe("genome.fa", 101, 204, 0, 0),
                        "error: genome.fa: no sequence has a length within the limits");
    /* The limits are applied before the shards are formed. */
    assert_string_equal(describe("genome.fa", 40, 100, 1, 3), "one:0 two:1 five:1");
    assert_string_equal(describe("regular.h5", 40, 100, 0, 3), "one:3 two:0 three:0 four:0 five:0");
    assert_string_equal(describe("regular.h5", 40, 100, 1, 3), "one:0 two:1 three:0 four:0 five:1");
    assert_string_equal(describe("regular.h5", 40, 100, 2, 3), "one:0 two:0 three:0 four:0 five:2");
}

/* ---------------------------------------------------------------- streams */

/* A stream gives the items of a file with the same rows, except row numbers. */
TEST(test_streams)
{
    for (size_t k = 0; k < COV_COUNT(streams); k++) {
        struct cov_loader_item items[MAX_PAIRS], expected[MAX_PAIRS];
        size_t n, n_expected;
        struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
        struct cov_loader *l = open_with(files[k], &o, 1);
        collect(l, is_twisted_file(files[k]), expected, &n_expected);
        cov_loader_close(l);
        l = open_with(streams[k], &o, 1);
        assert_null(cov_loader_grid(l));
        assert_true(cov_loader_n_pairs(l) == SIZE_MAX);
        assert_int_equal(cov_loader_is_partial(l), k == 1);
        collect(l, is_twisted_file(files[k]), items, &n);
        assert_int_equal(n, n_expected);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(items[i].seq, expected[i].seq);
            assert_int_equal(items[i].beg, expected[i].beg);
            assert_int_equal(items[i].end, expected[i].end);
            assert_int_equal(items[i].first, expected[i].first);
            assert_int_equal(items[i].last, expected[i].last);
            assert_int_equal(items[i].length, items[i].last ? expected[i].length : -1);
            assert_memory_equal(items[i].has, expected[i].has, sizeof items[i].has);
            assert_true(items[i].rows[0] == COV_NO_ROW && items[i].rows[1] == COV_NO_ROW);
        }
        cov_loader_close(l);
    }
}

/* With any length limits, a stream gives the same items as the file. */
TEST(test_stream_limits)
{
    static const int64_t limits[] = {0, 1, 7, 8, 40, 41, 80, 81, 82, 100, 101, 204, 205, 206};
    for (size_t k = 0; k < COV_COUNT(streams); k++)
        for (size_t i = 0; i < COV_COUNT(limits); i++)
            for (size_t j = 0; j < COV_COUNT(limits); j++) {
                char expected[512], text[512], from_file[sizeof logged.text];
                if (limits[j] && limits[j] < limits[i])
                    continue;
                (void)snprintf(expected, sizeof expected, "%s",
                               describe(files[k], limits[i], limits[j], 0, 0));
                (void)snprintf(from_file, sizeof from_file, "%s", logged.text);
                struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
                o.genome.min_length = limits[i];
                o.genome.max_length = limits[j];
                if (strncmp(expected, "error", 5) == 0) {
                    /* A stream shows this error only at its end. */
                    struct cov_loader *l = open_with(streams[k], &o, 1);
                    struct cov_loader_item item;
                    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
                    struct cov_err e = COV_ERR_INIT;
                    int got;
                    while ((got = cov_loader_next(l, &item, raw, &e)) == 1)
                        assert_false(item.has[0] || item.has[1]);
                    assert_int_equal(got, COV_EINPUT);
                    (void)snprintf(text, sizeof text,
                                   "%s: no sequence has a length within the limits", streams[k]);
                    assert_string_equal(e.text, text);
                    cov_blob_fini(&raw[0]);
                    cov_loader_close(l);
                } else {
                    assert_string_equal(describe(streams[k], limits[i], limits[j], 0, 0), expected);
                    const char *tail = strchr(from_file, ':');
                    assert_string_equal(tail ? strchr(logged.text, ':') : logged.text,
                                        tail ? tail : "");
                }
            }
}

/* A truncated stream is an error, wherever it ends. */
TEST(test_cut_streams)
{
    size_t n;
    const char *bytes = get_bytes("regular.stream", &n);
    assert_true(n >= 200);
    for (size_t cut = 0; cut < n; cut += cut < 60 || cut + 60 > n ? 1 : 7) {
        struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
        o.genome.min_length = cut % 2 ? 41 : 0;
        struct cov_loader *l;
        struct cov_loader_item item;
        struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
        uint8_t codes[2][L];
        put_bytes("cut.stream", bytes, cut);
        struct cov_err e = COV_ERR_INIT;
        if (cov_loader_open("cut.stream", &o, NULL, &l, &e) == COV_OK) {
            uint8_t *const both[2] = {codes[0], codes[1]};
            while (cov_loader_next(l, &item, raw, &e) == 1)
                assert_int_equal(cov_loader_codes(l, &item, raw, both, NULL), 0);
            cov_loader_close(l);
        }
        check_error(&e, COV_EINPUT, "cut.stream: ");
        cov_blob_fini(&raw[0]);
        cov_blob_fini(&raw[1]);
    }
}

/* ---------------------------------------------------------------- refused input */

static int no_length(const void *arg, size_t n, struct cov_err *e)
{
    assert_int_equal(*(const size_t *)arg, n);
    return cov_fail(e, COV_EUNSUPPORTED, "no such length");
}

TEST(test_refused)
{
    struct cov_loader *l;
    const size_t length = L;
    for (size_t k = 0; k < COV_COUNT(inputs); k++) {
        struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
        o.check = no_length;
        o.check_arg = &length;
        assert_fails(cov_loader_open(inputs[k], &o, NULL, &l, &e), COV_EUNSUPPORTED,
                     "no such length");
        assert_null(l);
        o.check = NULL;
        o.fasta_option = "species";
        if (k == 0) {
            assert_ok(cov_loader_open(inputs[k], &o, NULL, &l, &e));
            cov_loader_close(l);
        } else {
            char text[128];
            (void)snprintf(text, sizeof text,
                           "--species is for FASTA input, but %s is a genome file", inputs[k]);
            assert_fails(cov_loader_open(inputs[k], &o, NULL, &l, &e), COV_EINPUT, text);
        }
    }
    struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
    assert_fails(cov_loader_open("absent.h5", &o, NULL, &l, &e), COV_EIO, "absent.h5");
}

TEST(test_streams_refused)
{
    struct cov_loader *l;
    const size_t length = L;
    for (size_t k = 0; k < COV_COUNT(streams); k++) {
        static const char *const whats[] = {"cut into shards", "loaded into memory",
                                            "loaded into memory"};
        for (size_t i = 0; i < COV_COUNT(whats); i++) {
            char text[128];
            struct cov_loader_options o = options_of(i == 1   ? COV_LOAD_RAM
                                                     : i == 2 ? COV_LOAD_RAM_PACKED
                                                              : COV_LOAD_DISK,
                                                     COV_ORDER_GRID);
            o.n_shards = i == 0;
            (void)snprintf(text, sizeof text, "%s is a chunk stream, which cannot be %s",
                           streams[k], whats[i]);
            assert_fails(cov_loader_open(streams[k], &o, NULL, &l, &e), COV_EINPUT, text);
        }
        struct cov_loader_options o = options_of(COV_LOAD_DISK, COV_ORDER_GRID);
        o.fasta_option = "rename";
        assert_fails(cov_loader_open(streams[k], &o, NULL, &l, &e), COV_EINPUT,
                     "--rename is for FASTA input, but ");
        o.fasta_option = NULL;
        o.check = no_length;
        o.check_arg = &length;
        assert_int_equal(cov_loader_open(streams[k], &o, NULL, &l, NULL), COV_EUNSUPPORTED);
        o.check = NULL;
        assert_ok(cov_loader_open(streams[k], &o, NULL, &l, &e));
        assert_int_equal(cov_loader_rewind(l, NULL), COV_EINPUT);
        cov_loader_close(l);
    }
}

/* Overwrites bytes of one stored chunk. */
static void put_damaged(const char *path)
{
    struct cov_grid *grid = regular_grid();
    struct cov_chunk_file *f;
    struct cov_blob row = COV_BLOB_INIT;
    size_t n;
    put_file(path, grid, COV_LAYOUT_ONEHOT, false);
    assert_ok(cov_chunk_file_open(path, &f, &e));
    assert_ok(cov_chunk_file_fetch(f, 4, COV_CHUNK_BASES, &row, &e));
    cov_chunk_file_close(f);
    cov_grid_free(grid);
    size_t n_file;
    char *bytes = get_bytes(path, &n_file);
    const uint8_t *piece = cov_blob_piece(&row, 0, &n);
    char *at = must(memmem(bytes, n_file, piece + 4, n - 4));
    memset(at + (n - 4) / 2, 0x55, (n - 4) / 2);
    put_bytes(path, bytes, n_file);
    cov_blob_fini(&row);
}

TEST(test_damaged)
{
    put_damaged("damaged.h5");
    for (enum cov_loading loading = COV_LOAD_DISK; loading <= COV_LOAD_RAM_PACKED; loading++) {
        struct cov_loader_options o = options_of(loading, COV_ORDER_GRID);
        struct cov_loader *l;
        struct cov_pool *pool;
        struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
        assert_ok(cov_pool_new(2, &pool, &e));
        assert_ok(cov_loader_open("damaged.h5", &o, NULL, &l, &e));
        struct cov_err e = COV_ERR_INIT;
        int rc = cov_loader_load(l, pool, NULL, &e);
        size_t n = 0;
        while (!rc) {
            uint8_t codes[2][L];
            struct cov_loader_item item;
            assert_int_equal(cov_loader_next(l, &item, raw, NULL), 1);
            rc = cov_loader_codes(l, &item, raw, (uint8_t *const[2]){codes[0], codes[1]}, &e);
            n += rc == 0;
        }
        assert_int_equal(n, loading == COV_LOAD_RAM_PACKED ? 0 : 1);
        check_error(&e, COV_EINPUT, "damaged.h5: data/X: row 4 (one:41-80, - strand)");
        cov_blob_fini(&raw[0]);
        cov_blob_fini(&raw[1]);
        cov_loader_close(l);
        cov_pool_free(pool);
    }
}

TEST_GROUP(set_up, leave_dir)
