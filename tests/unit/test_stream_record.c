/* test_stream_record.c - the chunk stream: its bytes, the order of records, invalid streams.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/chunk/stream.h"
#include "common/seq/grid.h"
#include "tests/lib/own_dir.h"
#include "tests/lib/stream_bytes.h"

/* Reads the stream to its end, with all bases. */
static int read_stream(const char *path, unsigned n_threads, struct cov_err *e)
{
    struct cov_bgz *b;
    struct cov_stream *s;
    struct cov_blob record = COV_BLOB_INIT;
    int rc = cov_bgz_open_read(path, n_threads, &b, e);
    if (!rc)
        rc = cov_stream_open(b, &s, e);
    if (rc)
        return rc;
    struct cov_stream_item item = {.event = COV_STREAM_BEGIN};
    uint8_t codes[2][16];
    assert_in_range(cov_stream_head(s)->L, 1, sizeof codes[0]);
    while (!rc && item.event != COV_STREAM_DONE) {
        struct cov_stream_pair pair;
        rc = cov_stream_next(s, &item, &record, e);
        if (!rc && item.event == COV_STREAM_PAIR)
            rc = cov_stream_unpack(cov_stream_head(s), cov_stream_name(s), &record, &pair,
                                   (uint8_t *const[2]){codes[0], codes[1]}, NULL, e);
    }
    cov_blob_fini(&record);
    cov_stream_close(s);
    return rc;
}

static void expect_sound(const char *path)
{
    assert_ok(read_stream(path, 1, &e));
}

static void expect_refused(const char *path, const char *part)
{
    for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(read_stream(path, n_threads, &e), COV_EINPUT);
        assert_memory_equal(e.text, path, strlen(path));
        check_error(&e, COV_EINPUT, part);
    }
}

/* ---------------------------------------------------------------- pairs */

/* A pair can be packed from one strand and unpacked to both. Unneeded arguments may be NULL. */
TEST(test_parts_of_pairs)
{
    enum { L = 7 };
    const struct cov_chunk_head head = {.L = L, .has_bases = true};
    const uint8_t plus[L] = {1, 1, 2, 15, 4, 0, 0}, minus[L] = {2, 15, 4, 8, 8, 0, 0};
    const uint8_t *const given[2] = {plus, NULL};
    struct cov_stream_pair pair = {10, 15, {true, true}}, back;
    struct cov_blob record = COV_BLOB_INIT;
    assert_ok(
        cov_stream_pack(&head, &pair, given, (const uint8_t *const *const[2]){0, 0}, &record, &e));
    assert_int_equal(record.n_bytes, 24 + 3);
    uint8_t a[L], b[L];
    uint8_t *const wanted[3][2] = {{a, b}, {a, NULL}, {NULL, b}};
    for (int i = 0; i < 3; i++) {
        memset(a, 9, L);
        memset(b, 9, L);
        assert_ok(cov_stream_unpack(&head, "x", &record, &back, wanted[i], NULL, &e));
        assert_int_equal(back.beg, 10);
        assert_int_equal(back.end, 15);
        if (wanted[i][0])
            assert_memory_equal(a, plus, L);
        if (wanted[i][1])
            assert_memory_equal(b, minus, L);
    }
    assert_ok(cov_stream_unpack(&head, "x", &record, &back, NULL, NULL, &e));
    cov_blob_fini(&record);
}

TEST(test_refused_pairs)
{
    enum { L = 5 };
    const struct cov_chunk_head head = {.L = L, .has_bases = true};
    static const struct {
        struct cov_stream_pair pair;
        uint8_t codes[L];
        const char *part;
    } cases[] = {
        {{0, 4, {true, false}}, {1, 1, 0, 1, 0}, "chunk 1-4: padding between its bases"},
        {{0, 4, {false, true}}, {1, 1, 1, 1, 1}, "chunk 1-4: bases past its end"},
        {{0, 3, {true, false}}, {1, 1, 1, 0, 2}, "bases past its end"},
        {{0, 6, {true, true}}, {1, 1, 1, 1, 1}, "not a chunk"},
        {{4, 4, {true, true}}, {1, 1, 1, 1, 1}, "not a chunk"},
        {{-1, 4, {true, true}}, {1, 1, 1, 1, 1}, "not a chunk"},
        {{0, 5, {false, false}}, {1, 1, 1, 1, 1}, "not a chunk"},
    };
    struct cov_blob record = COV_BLOB_INIT;
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        const uint8_t *const codes[2] = {cases[i].codes, cases[i].codes};
        const uint8_t *const *const elems[2] = {0, 0};
        assert_fails(cov_stream_pack(&head, &cases[i].pair, codes, elems, &record, &e), COV_EINPUT,
                     cases[i].part);
    }
    cov_blob_fini(&record);
}

/* ---------------------------------------------------------------- the format, byte for byte */

/* The records built by hand, as specified in the man page. */
static struct bytes made;

static void add(const void *p, size_t n)
{
    memcpy(made.p + made.n, p, n);
    made.n += n;
}

static void add_number(uint64_t v, int n)
{
    for (int i = 0; i < n; i++, v >>= 8)
        made.p[made.n++] = (uint8_t)v;
}

static void add_text(const char *text)
{
    add_number(strlen(text), 4);
    add(text, strlen(text));
}

static void add_start(const char *type, uint64_t n)
{
    add(type, 4);
    add_number(n, 8);
}

enum { HAND_L = 10, MADE_BYTES = 1 << 16 };

static void begin_made(bool partial)
{
    made.p = unit_zeros(MADE_BYTES);
    made.n = 0;
    add("COVSTRM\n", 8);
    add_number(1, 4);
    add_start("HEAD", 24);
    add_number(HAND_L, 8);
    add_number(2 | partial, 4);
    add_number(0, 12);
}

static void add_seq(const char *name)
{
    add_start("SEQB", 8 + 3 + strlen(name));
    add_text("Zea");
    add_text(name);
}

static void add_pair(int64_t beg, int64_t end, unsigned strands)
{
    uint64_t n = end - beg > 0 && end - beg <= HAND_L ? (uint64_t)(end - beg) : 1;
    add_start("PAIR", 24 + (n + 1) / 2);
    add_number((uint64_t)beg, 8);
    add_number((uint64_t)end, 8);
    add_number(strands, 4);
    add_number(0, 4);
    for (uint64_t i = 0; i < n; i += 2)
        add_number(i + 1 < n ? 0x12 : 0x10, 1);
}

static void add_seq_end(int64_t length, uint64_t n_pairs)
{
    add_start("SEQE", 16);
    add_number((uint64_t)length, 8);
    add_number(n_pairs, 8);
}

static void add_done(uint64_t n_seqs, uint64_t n_pairs, uint64_t n_bases)
{
    add_start("DONE", 24);
    add_number(n_seqs, 8);
    add_number(n_pairs, 8);
    add_number(n_bases, 8);
}

static void end_made(const char *part)
{
    frame("a", COV_BGZ_STORED, made.p, made.n);
    if (part)
        expect_refused("a", part);
    else
        expect_sound("a");
}

/* A stream with one record of each kind is written as specified in the man page. */
TEST(test_format)
{
    int16_t fill = -1;
    struct cov_chunk_head head = {.L = 5, .has_bases = true};
    struct cov_chunk_set set = {.name = (char[]){"p/q"},
                                .type = {COV_H5_INT, 2, true, false, '\0'},
                                .rank = 3,
                                .dims = {5, 1},
                                .fill = (uint8_t *)&fill};
    struct cov_chunk_set flags = {.name = (char[]){"data/b"},
                                  .type = {COV_H5_INT, 1, false, false, '\0'},
                                  .rank = 1,
                                  .dims = {1, 1}};
    const char *const texts[] = {"x", "yz"};
    assert_ok(cov_chunk_head_add_set(&head, &set, &e));
    assert_ok(cov_chunk_head_add_set(&head, &flags, &e));
    assert_ok(cov_chunk_head_add_texts(&head, "p/t", 2, 2, texts, &e));
    assert_ok(cov_chunk_head_add_attr(&head, NULL, "by", "me", &e));
    struct cov_stream_writer *w;
    struct cov_blob record = COV_BLOB_INIT;
    assert_ok(cov_stream_create("a", &head, true, false, 1, &w, &e));
    assert_ok(cov_stream_begin(w, "Zea", "1", &e));
    const struct cov_stream_pair pair = {5, 8, {true, true}};
    const uint8_t plus[5] = {1, 2, 4}, minus[5] = {2, 4, 15};
    const uint8_t *const codes[2] = {plus, minus};
    const int16_t cut[5] = {1, 2, 3, -1, -1}, whole[5] = {4, 5, 6, -1, 0};
    const uint8_t yes = 1, no = 0;
    const uint8_t *const rows[2][2] = {{(const uint8_t *)cut, &yes}, {(const uint8_t *)whole, &no}};
    const uint8_t *const *const elems[2] = {rows[0], rows[1]};
    assert_ok(cov_stream_pack(&head, &pair, codes, elems, &record, &e));
    assert_ok(cov_stream_put(w, &record, &e));
    assert_ok(cov_stream_end(w, 9, &e));
    assert_ok(cov_stream_finish(w, &e));
    cov_blob_fini(&record);
    cov_chunk_head_fini(&head);

    made.p = unit_zeros(MADE_BYTES);
    made.n = 0;
    add("COVSTRM\n\1\0\0\0", 12);
    add_start("HEAD", 24 + (7 + 8 + 16 + 2) + (10 + 8 + 1) + (7 + 8 + 8 + 4) + (4 + 6 + 6));
    add_number(5, 8);
    add_number(3, 4);
    add_number(2, 4);
    add_number(1, 4);
    add_number(1, 4);
    add_text("p/q");
    add("\1\1\3\0\2\0\0\0", 8);
    add_number(5, 8);
    add_number(1, 8);
    add("\xff\xff", 2);
    add_text("data/b");
    add("\1\0\1\0\1\0\0\0\0", 9);
    add_text("p/t");
    add("\3\0\1\0\2\0\0\0", 8);
    add_number(2, 8);
    add("x\0yz", 4);
    add_text("");
    add_text("by");
    add_text("me");
    add_seq("1");
    add_start("PAIR", 24 + 4 + 2 * 2 + (6 + 1) + (10 + 1));
    add_number(5, 8);
    add_number(8, 8);
    add_number(7, 4);
    add_number(0, 4);
    add("\0\0\1\0", 4);
    add("\x12\x40\x24\xf0", 4);
    add("\1\0\2\0\3\0\1", 7);
    add("\4\0\5\0\6\0\xff\xff\0\0\0", 11);
    add_seq_end(9, 1);
    add_done(1, 1, 3);
    struct bytes got = unframed("a");
    assert_int_equal(got.n, made.n);
    assert_memory_equal(got.p, made.p, made.n);
    end_made(NULL);
}

/* ---------------------------------------------------------------- the order of records */

struct step {
    char what;
    int64_t a, b;
    unsigned strands;
};
#define SEQ(name) 'S', name, 0, 0
#define PAIR(beg, end, strands) 'P', beg, end, strands
#define END(length, n_pairs) 'E', length, n_pairs, 0
#define DONE 'D', 0, 0, 0

static const struct {
    bool partial;
    struct step steps[10];
    const char *part; /* part of the error message, or NULL if the order is valid */
    bool for_reader;  /* a writer cannot produce this */
} orders[] = {
    {false, {{DONE}}, NULL, false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 3)}, {PAIR(10, 13, 3)}, {END(13, 2)}, {DONE}}, NULL, false},
    {true, {{SEQ(1)}, {PAIR(3, 10, 1)}, {PAIR(12, 13, 2)}, {END(99, 2)}, {DONE}}, NULL, false},
    {true, {{SEQ(1)}, {END(5, 0)}, {SEQ(2)}, {END(1, 0)}, {DONE}}, NULL, false},
    {false,
     {{SEQ(1)}, {PAIR(0, 10, 3)}, {PAIR(9, 13, 3)}},
     "in sequence 's1', after position 10: the next chunk, 10-13, overlaps",
     false},
    {true, {{SEQ(1)}, {PAIR(0, 10, 3)}, {PAIR(0, 10, 3)}}, "overlaps", false},
    {true, {{SEQ(1)}, {PAIR(20, 30, 3)}, {PAIR(10, 20, 3)}}, "out of order", false},
    {false,
     {{SEQ(1)}, {PAIR(0, 10, 3)}, {PAIR(11, 13, 3)}},
     "in sequence 's1', after position 10: the next chunk, 12-13, leaves a gap",
     false},
    {false, {{SEQ(1)}, {PAIR(1, 10, 3)}}, "at the start of sequence 's1': the next", false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 1)}}, "lacks a strand", false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 2)}}, "lacks a strand", false},
    {false, {{PAIR(0, 10, 3)}}, "before the first sequence: chunks outside a sequence", false},
    {false,
     {{SEQ(1)}, {PAIR(0, 10, 3)}, {END(10, 1)}, {PAIR(10, 20, 3)}},
     "after sequence 's1': chunks outside a sequence",
     false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 3)}, {SEQ(2)}}, "another sequence starts", false},
    {false, {{END(10, 1)}}, "end of a sequence that has not started", false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 3)}, {END(11, 1)}}, "its length is 11", false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 3)}, {END(9, 1)}}, "its length is 9", false},
    {true, {{SEQ(1)}, {PAIR(0, 10, 3)}, {END(9, 1)}}, "its length is 9", false},
    {false, {{SEQ(1)}, {END(1, 0)}}, "its length is 1", false},
    {true, {{SEQ(1)}, {END(0, 0)}}, "its length is 0", false},
    {true, {{SEQ(1)}, {END(-5, 0)}}, "its length is -5", false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 3)}, {DONE}}, "the stream ends within a sequence", false},
    {false,
     {{SEQ(1)}, {PAIR(0, 1, 3)}, {END(1, 1)}, {SEQ(2)}, {PAIR(0, 1, 3)}, {END(1, 1)}, {SEQ(1)}},
     "duplicate sequence 's1'",
     false},
    {false, {{SEQ(0)}}, "empty sequence name", false},
    {false, {{SEQ(1)}, {PAIR(0, 10, 3)}, {END(10, 2)}}, "wrong number of chunks", true},
    {false, {{SEQ(1)}, {PAIR(0, 11, 3)}}, "its interval is not that of a chunk", true},
    {false, {{SEQ(1)}, {PAIR(5, 5, 3)}}, "its interval is not that of a chunk", true},
    {false, {{SEQ(1)}, {PAIR(-1, 5, 3)}}, "its interval is not that of a chunk", true},
    {false, {{SEQ(1)}, {PAIR(0, INT64_MAX, 3)}}, "its interval is not that of a chunk", true},
    {false, {{SEQ(1)}, {PAIR(0, 5, 0)}}, "it has no strand", true},
    {false, {{SEQ(1)}, {PAIR(0, 5, 8 | 3)}}, "unknown flags", true},
    {false, {{SEQ(1)}, {PAIR(0, 5, 4 | 1)}}, "contradictory flags", true},
    {false, {{SEQ(1)}, {PAIR(0, 5, 4 | 3)}}, "wrong length", true},
    {false, {{SEQ(1)}}, "at the start of sequence 's1' (did the program", true},
};

static void name_of(int64_t i, char name[16])
{
    if (i)
        (void)snprintf(name, 16, "s%d", (int)i);
    else
        name[0] = '\0';
}

TEST(test_reading_order)
{
    for (size_t i = 0; i < COV_COUNT(orders); i++) {
        uint64_t n_seqs = 0, n_pairs = 0, n_bases = 0;
        char name[16];
        begin_made(orders[i].partial);
        for (const struct step *t = orders[i].steps; t->what; t++) {
            if (t->what == 'S') {
                name_of(t->a, name);
                add_seq(name);
                n_seqs++;
            } else if (t->what == 'P') {
                add_pair(t->a, t->b, t->strands);
                n_pairs++;
                n_bases += (uint64_t)(t->b - t->a);
            } else if (t->what == 'E') {
                add_seq_end(t->a, (uint64_t)t->b);
            } else {
                add_done(n_seqs, n_pairs, n_bases);
            }
        }
        end_made(orders[i].part);
    }
}

static int write_step(struct cov_stream_writer *w, const struct cov_chunk_head *head,
                      const struct step *t, struct cov_err *e)
{
    static const uint8_t bases[HAND_L] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    char name[16];
    if (t->what == 'S') {
        name_of(t->a, name);
        return cov_stream_begin(w, "Zea", name, e);
    }
    if (t->what == 'E')
        return cov_stream_end(w, t->a, e);
    struct cov_stream_pair pair = {t->a, t->b, {t->strands & 1, t->strands & 2}};
    uint8_t codes[HAND_L] = {0};
    memcpy(codes, bases, (size_t)(t->b - t->a));
    struct cov_blob record = COV_BLOB_INIT;
    int rc = cov_stream_pack(head, &pair, (const uint8_t *const[2]){codes, codes},
                             (const uint8_t *const *const[2]){0, 0}, &record, e);
    if (!rc)
        rc = cov_stream_put(w, &record, e);
    cov_blob_fini(&record);
    return rc;
}

TEST(test_writing_order)
{
    const struct cov_chunk_head head = {.L = HAND_L, .has_bases = true};
    for (size_t i = 0; i < COV_COUNT(orders); i++) {
        if (orders[i].for_reader)
            continue;
        struct cov_stream_writer *w;
        assert_ok(cov_stream_create("a", &head, orders[i].partial, false, 1, &w, &e));
        struct cov_err e = COV_ERR_INIT;
        int rc = 0;
        for (const struct step *t = orders[i].steps; !rc && t->what && t->what != 'D'; t++)
            rc = write_step(w, &head, t, &e);
        if (rc)
            cov_stream_abort(w);
        else
            rc = cov_stream_finish(w, &e);
        assert_int_equal(rc, orders[i].part ? COV_EINPUT : 0);
        if (orders[i].part) {
            assert_memory_equal(e.text, "a: ", 3);
            check_error(&e, COV_EINPUT, orders[i].part);
        } else {
            assert_string_equal(e.text, "");
            expect_sound("a");
        }
    }
}

TEST(test_damaged_records)
{
    static const struct {
        uint64_t counts[3];
        const char *part;
    } counts[] = {{{2, 1, 10}, "the counts of the end record"},
                  {{1, 2, 10}, "the counts of the end record"},
                  {{1, 1, 11}, "the counts of the end record"},
                  {{1, 1, 10}, NULL}};
    for (size_t i = 0; i < COV_COUNT(counts); i++) {
        begin_made(false);
        add_seq("s");
        add_pair(0, 10, 3);
        add_seq_end(10, 1);
        add_done(counts[i].counts[0], counts[i].counts[1], counts[i].counts[2]);
        end_made(counts[i].part);
    }
    begin_made(false);
    add_done(0, 0, 0);
    add("x", 1);
    end_made("follows the end record");
    begin_made(false);
    add_start("NEWS", 4);
    end_made("before the first sequence: unknown record type 'NEWS'");
    begin_made(false);
    add_start("HEAD", 24);
    end_made("a second head");
    begin_made(false);
    add_start("SEQB", 1 << 30);
    end_made("the record has the wrong length");
    begin_made(false);
    add_start("SEQB", 10);
    add_number(7, 4);
    add("abcdef", 6);
    end_made("truncated sequence name");
    begin_made(false);
    add_start("SEQB", 10);
    add_number(0, 4);
    add_number(2, 4);
    add("a\0", 2);
    end_made("a name contains a zero byte");
    begin_made(false);
    add_seq("s");
    add_start("PAIR", (uint64_t)1 << 40);
    end_made("at the start of sequence 's': the record has the wrong length");
    begin_made(false);
    add_seq("s");
    add_pair(0, 10, 3);
    made.p[made.n - 3] = 0x10;
    end_made("chunk 1-10: padding between bases");
    begin_made(false);
    add_seq("s");
    add_pair(0, 9, 3);
    made.p[made.n - 1] |= 1;
    end_made("chunk 1-9: padding between bases");
}

TEST(test_damaged_heads)
{
    enum { AT_L = 24, AT_FLAGS = 32, AT_SETS = 36, AT_TABLES = 40, AT_ATTRS = 44 };
    static const struct {
        int at, value;
        const char *part;
    } cases[] = {
        {AT_L, 0, "subsequence length 0"},
        {AT_L + 3, 0x11, "subsequence length 285212682"},
        {AT_L + 7, 0xff, "impossible size"},
        {AT_FLAGS, 4, "unknown flags"},
        {AT_SETS, 1, "truncated field"},
        {AT_SETS + 3, 0xff, "truncated field"},
        {AT_TABLES + 3, 0xff, "truncated field"},
        {AT_ATTRS + 3, 0xff, "truncated field"},
        {12, 'h', "does not start with a head"},
        {16 + 7, 1, "does not start with a head"},
        {16 + 2, 1, "truncated"},
        {8, 2, "version 2 is not supported, only 1"},
        {8, 0, "version 0 is not supported, only 1"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        begin_made(false);
        made.p[cases[i].at] = (uint8_t)cases[i].value;
        end_made(cases[i].part);
    }
    begin_made(false);
    add_done(0, 0, 0);
    end_made(NULL);
}

/* ---------------------------------------------------------------- invalid streams */

TEST(test_kinds)
{
    static const struct {
        const char *text;
        size_t n;
        const char *part;
    } cases[] = {
        {"", 0, "a: not a chunk stream: it is empty"},
        {">chr1\nACGT\n", 11, "a: not a chunk stream: it looks like a FASTA"},
        {"\x89HDF\r\n\x1a\n\0\0", 10, "a: not a chunk stream: it is an HDF5 file"},
        {"COVSTR", 6, "a: not a chunk stream: it starts with other bytes"},
        {"COVSTRM\n", 8, "a: truncated: the chunk stream ends before its end record"},
    };
    for (size_t i = 0; i < COV_COUNT(cases); i++) {
        frame("a", COV_BGZ_STORED, cases[i].text, cases[i].n);
        expect_refused("a", cases[i].part);
        if (i < 4) {
            frame("a", COV_BGZ_PLAIN, cases[i].text, cases[i].n);
            expect_refused("a", cases[i].part);
        }
    }
    begin_made(false);
    add_done(0, 0, 0);
    frame("b", COV_BGZ_PLAIN, made.p, made.n);
    end_made(NULL);
    expect_refused("b", "b: a chunk stream without the blocks and checksums of BGZF");
    assert_int_equal(system("gzip <b >a"), 0);
    expect_refused("a", "a: a chunk stream without the blocks and checksums of BGZF");
    for (int i = 0; i < 3; i++) {
        bool yes = i == 2;
        struct cov_bgz *b;
        uint8_t start[8];
        size_t got;
        if (i == 2)
            put_bytes("a", ">COVSTRM\n", 9);
        assert_ok(cov_bgz_open_read(i == 1 ? "b" : "a", 1, &b, &e));
        assert_ok(cov_stream_is(b, &yes, &e));
        assert_int_equal(yes, i < 2);
        assert_ok(cov_bgz_read(b, start, 8, &got, &e));
        assert_memory_equal(start, i < 2 ? "COVSTRM\n" : ">COVSTRM", 8);
        cov_bgz_abort(b);
    }
}

TEST_GROUP(enter_dir, leave_dir)
