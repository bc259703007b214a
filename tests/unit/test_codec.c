/* test_codec.c - names of compressions, round trips, shuffles, filter pipelines, damaged data, blobs.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <limits.h>
#include <sys/mman.h>

#include "common/codec/codec.h"

TEST(test_parse)
{
    static const struct {
        const char *text;
        enum cov_codec_id id;
        int level;
    } good[] = {
        {"gzip", COV_CODEC_GZIP, 0},
        {"fast", COV_CODEC_FAST, 0},
        {"libdeflate", COV_CODEC_LIBDEFLATE, 6},
        {"libdeflate:1", COV_CODEC_LIBDEFLATE, 1},
        {"libdeflate:12", COV_CODEC_LIBDEFLATE, 12},
        {"lzf", COV_CODEC_LZF, 0},
        {"lz4", COV_CODEC_LZ4, 0},
        {"zstd", COV_CODEC_ZSTD, 3},
        {"zstd:1", COV_CODEC_ZSTD, 1},
        {"zstd:19", COV_CODEC_ZSTD, 19},
        {"blosc", COV_CODEC_BLOSC, 1},
        {"blosc:9", COV_CODEC_BLOSC, 9},
        {"none", COV_CODEC_NONE, 0},
    };
    for (size_t i = 0; i < COV_COUNT(good); i++) {
        struct cov_codec_choice c;
        assert_ok(cov_codec_parse(good[i].text, &c, &e));
        assert_int_equal(c.id, good[i].id);
        assert_int_equal(c.level, good[i].level);
    }
    char bad[] =
        "gz,gzipp,GZIP,gzip:4,fast:1,lzf:1,lz4:1,lz4hc,zstd:0,zstd:20,zst,blosc:0,blosc:10,"
        "blosc2,none:0,libdeflate:0,libdeflate:13,libdeflate:,libdeflate:6x,libdeflate:-1,"
        "libdeflate: 6,libdeflate:+6,libdeflate:99999999999999999999";
    struct cov_codec_choice c;
    for (char *save, *text = strtok_r(bad, ",", &save); text; text = strtok_r(NULL, ",", &save))
        assert_fails(cov_codec_parse(text, &c, &e), COV_EUSAGE, "libdeflate");
    assert_fails(cov_codec_parse("", &c, &e), COV_EUSAGE,
                 ": gzip, fast, libdeflate, libdeflate:1 to libdeflate:12, lzf, ");
}

static const struct cov_codec_choice choices[] = {
    {COV_CODEC_NONE, 0},       {COV_CODEC_GZIP, 0},       {COV_CODEC_LZF, 0},
    {COV_CODEC_LIBDEFLATE, 1}, {COV_CODEC_LIBDEFLATE, 9}, {COV_CODEC_FAST, 0},
    {COV_CODEC_LZ4, 0},        {COV_CODEC_ZSTD, 1},       {COV_CODEC_ZSTD, 9},
    {COV_CODEC_BLOSC, 1},      {COV_CODEC_BLOSC, 5},
};

/* Returns true if the compression declines data that does not shrink. */
static bool may_decline(struct cov_codec_choice choice)
{
    return choice.id == COV_CODEC_LZF || choice.id == COV_CODEC_LZ4 ||
           choice.id == COV_CODEC_ZSTD || choice.id == COV_CODEC_BLOSC;
}

/* Returns true if the compression has a checksum. */
static bool has_checksum(struct cov_codec_choice choice)
{
    return choice.id != COV_CODEC_LZF && choice.id != COV_CODEC_LZ4 && choice.id != COV_CODEC_BLOSC;
}

static size_t filters_of(struct cov_codec_choice choice, struct cov_filter *filters)
{
    filters[0] = (struct cov_filter){cov_codecs[choice.id]->h5_id, 0, 0};
    return choice.id != COV_CODEC_NONE;
}

/* Returns true if no earlier choice has the same format. */
static bool is_first(size_t c)
{
    struct cov_filter filter[1] = {{0, 0, 0}}, before[1] = {{0, 0, 0}};
    size_t n = filters_of(choices[c], filter);
    for (size_t i = 0; i < c; i++)
        if (filters_of(choices[i], before) == n && (n == 0 || before[0].id == filter[0].id))
            return false;
    return true;
}

/* ---- buffers that end at a guard page ---- */

enum { ROOM = 1 << 17 };

/* Returns the end of a buffer of ROOM bytes. */
static uint8_t *new_fence(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *p =
        mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    assert_int_equal(mprotect(p + ROOM, page, PROT_NONE), 0);
    return p + ROOM;
}

static uint8_t *fenced(uint8_t *fence, size_t n)
{
    assert_true(n <= ROOM);
    return fence - n;
}

/* Runs, text with repeats, and noise. */
static void fill(uint8_t *p, size_t n, int kind)
{
    uint32_t r = 12345;
    for (size_t i = 0; i < n; i++) {
        r = r * 1664525 + 1013904223;
        p[i] = kind == 0 ? 7 : kind == 1 ? (uint8_t)(r >> 30) : (uint8_t)(r >> 24);
    }
}

static void refuse(struct cov_applied applied, const uint8_t *packed, size_t n_packed, uint8_t *dst,
                   size_t n)
{
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_codec_undo(applied, packed, n_packed, dst, n, NULL, &e), COV_EINPUT);
    assert_true(e.text[0] != '\0');
}

/* Encodes n bytes twice, decodes them, and tries to decode them with wrong sizes. */
static void check_round_trip(struct cov_codec_choice choice, size_t elem_bytes, int kind, size_t n,
                             uint8_t *const fences[4])
{
    size_t cap = cov_codec_bound(choice, n), n_packed, n_again;
    uint8_t *src = fenced(fences[0], n), *packed = fenced(fences[1], cap),
            *again = fenced(fences[2], cap), *back = fenced(fences[3], n);
    fill(src, n, kind);
    memset(again, 0xee, cap);
    assert_int_equal(cov_codec_encode(choice, elem_bytes, src, n, packed, &n_packed, NULL), 0);
    assert_int_equal(cov_codec_encode(choice, elem_bytes, src, n, again, &n_again, NULL), 0);
    assert_int_equal(n_again, n_packed);
    assert_memory_equal(again, packed, n_packed);
    assert_true(!may_decline(choice) || n_packed < n || n == 0);
    assert_true(kind == 2 || n < 1000 || n_packed > 0);
    if (n_packed == 0) {
        assert_true(may_decline(choice) || n == 0);
        return;
    }
    struct cov_filter filter[1] = {{0, 0, 0}};
    size_t n_filters = filters_of(choice, filter);
    /* The input of the decoder also ends at a guard page. */
    uint8_t *end = fenced(fences[2], n_packed);
    memmove(end, packed, n_packed);
    if (n_filters > 0) {
        const struct cov_codec *codec = cov_codec_of_filter(filter[0].id);
        uint64_t claim = codec->claim ? codec->claim(NULL, 0, end, n_packed) : 0;
        assert_true(claim == n ||
                    (claim == 0 && (filter[0].id == COV_H5_DEFLATE || filter[0].id == COV_H5_LZF)));
    }
    const struct cov_applied applied = {filter, n_filters, 0};
    assert_ok(cov_codec_undo(applied, end, n_packed, back, n, NULL, &e));
    assert_memory_equal(back, src, n);
    for (size_t other = n ? n - 1 : 1; other <= n + 1; other += 2)
        refuse(applied, end, n_packed, fenced(fences[3], other), other);
}

TEST(test_round_trip)
{
    static const size_t elems[] = {0, 1, 2, 3, 4, 8, 300};
    uint8_t *const fences[4] = {new_fence(), new_fence(), new_fence(), new_fence()};
    for (size_t c = 0; c < COV_COUNT(choices); c++) {
        /* Element sizes matter for Blosc and gzip only. The values of n include Blosc's smallest
         * blocks, and the limits at which LZ4 and Zstandard change tables. */
        const bool first = is_first(c), gzip = choices[c].id == COV_CODEC_GZIP;
        const bool sizes = gzip || choices[c].id == COV_CODEC_BLOSC;
        size_t n_elems = first && sizes ? COV_COUNT(elems) : 1;
        for (size_t k = 0; k < n_elems; k++)
            for (int kind = 0; kind < 3; kind++)
                for (size_t n = 0; n < 90000; n = n >= 300 ? n * 2 - n / 3 : n + (first ? 1 : 23))
                    check_round_trip(choices[c], elems[k], kind, n, fences);
        for (size_t n = (1 << 16) - 2; n < (1 << 16) + 3; n++)
            check_round_trip(choices[c], 2, 1, n, fences);
    }
}

/* Integers of a prediction: a period of eight, of which some change. */
TEST(test_integers)
{
    enum { N = 21384 };
    const struct cov_codec_choice gzip = {COV_CODEC_GZIP, 0};
    const struct cov_filter deflate = {.id = COV_H5_DEFLATE};
    for (size_t size = 2; size <= 8; size *= 2) {
        const size_t n = N * size, cap = cov_codec_bound(gzip, n);
        uint8_t *src = unit_zeros(n), *packed = unit_alloc(cap), *back = unit_alloc(n);
        size_t n_integers, n_bytes;
        uint32_t r = 1;
        for (size_t i = 0; i < N; i++) {
            r = r * 1664525 + 1013904223;
            src[i * size] = i < 8 || r >> 28 == 0 ? (uint8_t)(r >> 20) : src[(i - 8) * size];
        }
        assert_ok(cov_codec_encode(gzip, 0, src, n, packed, &n_bytes, &e));
        assert_ok(cov_codec_encode(gzip, size, src, n, packed, &n_integers, &e));
        assert_true(n_integers < n_bytes);
        const struct cov_applied applied = {&deflate, 1, 0};
        assert_ok(cov_codec_undo(applied, packed, n_integers, back, n, NULL, &e));
        assert_memory_equal(back, src, n);
    }
}

/* LZF finds matches only within its window, even where positions are equal modulo 2^16. */
TEST(test_lzf_window)
{
    static const size_t periods[] = {1, 2, 3, 63, 8191, 8192, 8193, 65535, 65536, 65537};
    enum { N = 131000, WINDOW = 8192 };
    const struct cov_codec_choice lzf = {COV_CODEC_LZF, 0};
    const struct cov_filter filter = {.id = COV_H5_LZF};
    static uint8_t src[N], packed[N], back[N];
    for (size_t i = 0; i < COV_COUNT(periods); i++) {
        size_t period = periods[i], n;
        fill(src, N, 2);
        for (size_t t = period; t < N; t++)
            src[t] = src[t - period];
        assert_ok(cov_codec_encode(lzf, 0, src, N, packed, &n, &e));
        assert_int_equal(n > 0 && n < period + N / 16, period <= WINDOW);
        if (n == 0)
            continue;
        assert_ok(
            cov_codec_undo((struct cov_applied){&filter, 1, 0}, packed, n, back, N, NULL, &e));
        assert_memory_equal(back, src, N);
    }
}

/* The bytes are not read. */
TEST(test_lzf_too_large)
{
    size_t n;
    uint8_t byte = 0;
    assert_fails(cov_codec_encode((struct cov_codec_choice){COV_CODEC_LZF, 0}, 0, &byte,
                                  (size_t)UINT_MAX + 1, &byte, &n, &e),
                 COV_EUNSUPPORTED, "lzf: a chunk of 4294967296 bytes is too large");
}

/* Truncated data is refused. Data with a flipped bit is refused or, if it has no checksum,
 * decodes to the right size. The decoder never reads or writes outside its buffers (checked by
 * sanitizers). */
TEST(test_damaged)
{
    enum { N = 3000 };
    uint8_t src[N], packed[2 * N];
    fill(src, N, 1);
    for (size_t c = 1; c < COV_COUNT(choices); c++) {
        size_t n;
        assert_true(cov_codec_bound(choices[c], N) <= sizeof packed);
        assert_int_equal(cov_codec_encode(choices[c], 0, src, N, packed, &n, NULL), 0);
        struct cov_filter filter[1] = {{0, 0, 0}};
        const struct cov_applied applied = {filter, filters_of(choices[c], filter), 0};
        for (size_t cut = 0; cut < n; cut++) {
            uint8_t *part = unit_alloc(cut);
            memcpy(part, packed, cut);
            refuse(applied, part, cut, unit_alloc(N), N);
            unit_free();
        }
        size_t n_flips = 0, n_unseen = 0;
        for (size_t bit = 0; bit < 8 * n; bit += 3) {
            uint8_t *part = unit_alloc(n), *back = unit_alloc(N);
            memcpy(part, packed, n);
            part[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int rc = cov_codec_undo(applied, part, n, back, N, NULL, NULL);
            assert_true(rc == 0 || rc == COV_EINPUT);
            n_flips++;
            n_unseen += rc == 0 && memcmp(back, src, N) != 0;
            unit_free();
        }
        /* Adler-32 misses a few changes. */
        if (has_checksum(choices[c]))
            assert_true(n_unseen * 1000 < n_flips * 5);
    }
}

/* Shuffle and unshuffle agree with their definition, for all element sizes and remainders, at odd
 * addresses. Nothing is written outside the buffers. */
TEST(test_shuffle)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 16, 50};
    for (size_t k = 0; k < COV_COUNT(sizes); k++) {
        size_t bytes = sizes[k];
        for (size_t n = 0; n < 70 * bytes; n += n < 3 * bytes ? 1 : bytes + 1) {
            uint8_t *src = unit_alloc(n + 1), *dst = unit_alloc(n + 2), *back = unit_alloc(n + 3);
            for (size_t i = 0; i < n; i++)
                src[1 + i] = (uint8_t)(i * 167 + i / 251);
            dst[0] = dst[n + 1] = back[0] = back[n + 1] = 0xa5;
            cov_shuffle(src + 1, n, bytes, dst + 1);
            assert_int_equal(dst[0], 0xa5);
            assert_int_equal(dst[n + 1], 0xa5);
            size_t n_elems = n / bytes;
            for (size_t i = 0; i < n; i++) {
                size_t at = i < n_elems * bytes ? i % bytes * n_elems + i / bytes : i;
                assert_int_equal(dst[1 + at], src[1 + i]);
            }
            cov_unshuffle(dst + 1, n, bytes, back + 1);
            assert_memory_equal(back + 1, src + 1, n);
            assert_int_equal(back[0], 0xa5);
            assert_int_equal(back[n + 1], 0xa5);
            unit_free();
        }
    }
}

/* Tests a huge element size, as a damaged file may contain. */
TEST(test_shuffle_huge_elements)
{
    uint8_t src[16], dst[16];
    for (uint8_t i = 0; i < 16; i++)
        src[i] = i;
    cov_shuffle(src, 16, SIZE_MAX, dst);
    assert_memory_equal(dst, src, 16);
    memset(dst, 0, 16);
    cov_unshuffle(src, 16, SIZE_MAX, dst);
    assert_memory_equal(dst, src, 16);
}

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

TEST(test_fletcher32)
{
    /* Computed by hand: sum1 = 0x0102 + 0x0304, sum2 = 0x0102 + 0x0406; an odd last byte becomes a
     * high half. */
    assert_int_equal(cov_fletcher32("\1\2\3\4", 4), 0x05080406);
    assert_int_equal(cov_fletcher32("\1\2\3", 3), 0x05040402);
    assert_int_equal(cov_fletcher32("", 0), 0);
    /* Sums are modulo 65535 but may be 65535 instead of 0, so the test compares remainders. */
    uint8_t data[4097];
    fill(data, sizeof data, 2);
    /* Sums that have 17 bits after one reduction: 0x100ffff of 516 bytes, 0x1ffff with the next. */
    memset(data, 0xff, 517);
    data[514] = 1;
    data[515] = 0;
    for (size_t n = 516; n <= sizeof data; n = n == 517 ? 4000 : n + 1) {
        uint64_t sum1 = 0, sum2 = 0;
        for (size_t i = 0; i < n; i += 2) {
            sum1 += (uint64_t)data[i] << 8 | (i + 1 < n ? data[i + 1] : 0);
            sum2 += sum1;
        }
        uint32_t sum = cov_fletcher32(data, n);
        assert_int_equal((sum & 0xffff) % 65535, sum1 % 65535);
        assert_int_equal((sum >> 16) % 65535, sum2 % 65535);
    }
}

static struct cov_codec_choice choice_of(int id)
{
    size_t c = 0;
    while (c < COV_COUNT(choices) && cov_codecs[choices[c].id]->h5_id != id)
        c++;
    assert_true(c < COV_COUNT(choices));
    return choices[c];
}

/* All supported pipelines, with every subset of filters skipped. */
TEST(test_pipelines)
{
    enum { N = 1003, ELEM = 4 };
    static const struct cov_filter S = {COV_H5_SHUFFLE, ELEM, 0}, D = {COV_H5_DEFLATE, 0, 0},
                                   Z = {COV_H5_LZF, 0, 0}, F = {COV_H5_FLETCHER32, 0, 0},
                                   L = {COV_H5_LZ4, 0, 0}, T = {COV_H5_ZSTD, 0, 0},
                                   B = {COV_H5_BLOSC, 0, 0};
    const struct cov_filter pipelines[][3] = {
        {S, D, F},     {S, F, D}, {S, Z, F}, {S, F, Z}, {D, F, {0}}, {F, D, {0}},  {S, D, {0}},
        {F, {0}, {0}}, {S, L, F}, {S, F, T}, {S, B, F}, {F, B, {0}}, {B, {0}, {0}}};
    for (size_t p = 0; p < COV_COUNT(pipelines); p++) {
        const struct cov_filter *filters = pipelines[p];
        size_t n_filters = 0;
        while (n_filters < 3 && filters[n_filters].id)
            n_filters++;
        assert_true(cov_codec_can_undo(filters, n_filters));
        for (uint32_t mask = 0; mask < 1U << n_filters; mask++) {
            uint8_t src[N], a[2 * N], b[2 * N], back[N];
            fill(src, N, 1);
            memcpy(a, src, N);
            size_t n = N;
            for (size_t i = 0; i < n_filters; i++) {
                if (mask >> i & 1)
                    continue;
                if (filters[i].id == COV_H5_SHUFFLE) {
                    cov_shuffle(a, n, ELEM, b);
                } else if (filters[i].id == COV_H5_FLETCHER32) {
                    memcpy(b, a, n);
                    put32(b + n, cov_fletcher32(a, n));
                    n += 4;
                } else {
                    assert_ok(cov_codec_encode(choice_of(filters[i].id), 0, a, n, b, &n, &e));
                    assert_true(n > 0);
                }
                memcpy(a, b, n);
            }
            uint8_t *scratch = unit_alloc(cov_codec_undo_scratch(N));
            assert_ok(cov_codec_undo((struct cov_applied){filters, n_filters, mask}, a, n, back, N,
                                     scratch, &e));
            assert_memory_equal(back, src, N);
        }
    }
    assert_true(cov_codec_can_undo(NULL, 0));
    const struct cov_filter not_ours[][2] = {{D, S}, {D, Z}, {S, S}, {F, F}, {{32008, 0, 0}, D},
                                             {T, D}, {L, B}, {F, S}};
    for (size_t p = 0; p < COV_COUNT(not_ours); p++)
        assert_false(cov_codec_can_undo(not_ours[p], 2));
    assert_false(cov_codec_can_undo(&(struct cov_filter){COV_H5_SHUFFLE, 0, 0}, 1));
}

TEST(test_checksum_mismatch)
{
    static const struct cov_filter f = {COV_H5_FLETCHER32, 0, 0};
    static const struct cov_applied applied = {&f, 1, 0}, skipped = {&f, 1, 1};
    uint8_t data[14], back[10], scratch[14];
    fill(data, 10, 2);
    uint32_t sum = cov_fletcher32(data, 10);
    put32(data + 10, sum);
    assert_ok(cov_codec_undo(applied, data, 14, back, 10, scratch, &e));
    /* This byte order was used by HDF5 before 1.6.3 on some machines. */
    put32(data + 10, (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff));
    assert_ok(cov_codec_undo(applied, data, 14, back, 10, scratch, &e));
    put32(data + 10, sum ^ 1);
    assert_fails(cov_codec_undo(applied, data, 14, back, 10, scratch, &e), COV_EINPUT,
                 "fletcher32");
    assert_int_equal(cov_codec_undo(applied, data, 3, back, 10, scratch, NULL), COV_EINPUT);
    assert_int_equal(cov_codec_undo(skipped, data, 14, back, 10, scratch, NULL), COV_EINPUT);
}

TEST(test_blob)
{
    struct cov_blob b = COV_BLOB_INIT;
    for (int round = 0; round < 2; round++) {
        cov_blob_clear(&b);
        for (size_t i = 0; i < 100; i++) {
            uint8_t *at;
            assert_int_equal(cov_blob_room(&b, 2 * i, &at, NULL), 0);
            if (i) /* room for 0 bytes may be NULL */
                memset(at, (int)i, i);
            assert_int_equal(cov_blob_end_piece(&b, i, NULL), 0);
        }
        assert_int_equal(b.n_pieces, 100);
        for (size_t i = 0; i < 100; i++) {
            size_t n;
            const uint8_t *p = cov_blob_piece(&b, i, &n);
            assert_int_equal(n, i);
            for (size_t k = 0; k < n; k++)
                assert_int_equal(p[k], i);
        }
    }
    uint8_t *at;
    assert_int_equal(cov_blob_room(&b, SIZE_MAX, &at, NULL), COV_ENOMEM);
    assert_int_equal(cov_blob_room(&b, SIZE_MAX / 2, &at, NULL), COV_ENOMEM);
    assert_int_equal(b.n_pieces, 100);
    cov_blob_fini(&b);
    cov_blob_fini(&b);
}

/* A copy has the pieces, without the scratch space after them, and replaces earlier pieces. */
TEST(test_blob_copy)
{
    struct cov_blob from = COV_BLOB_INIT, to = COV_BLOB_INIT;
    for (int round = 0; round < 2; round++) {
        static const char *const pieces[] = {"one", "", "three"};
        uint8_t *at;
        for (size_t i = 0; i < COV_COUNT(pieces); i++) {
            assert_ok(cov_blob_room(&from, 100000, &at, &e));
            memcpy(at, pieces[i], strlen(pieces[i]));
            assert_ok(cov_blob_end_piece(&from, strlen(pieces[i]), &e));
        }
        assert_ok(cov_blob_copy(&to, &from, &e));
        assert_int_equal(to.n_pieces, 3);
        assert_int_equal(to.n_bytes, 8);
        assert_memory_equal(to.data, "onethree", 8);
        assert_true(to.cap < 100);
        cov_blob_clear(&from);
    }
    cov_blob_fini(&from);
    cov_blob_fini(&to);
}

/* An empty piece of an empty blob has an address. */
TEST(empty_pieces_have_an_address)
{
    struct cov_blob b = COV_BLOB_INIT;
    uint8_t *at = NULL;
    size_t n = 1;
    assert_ok(cov_blob_room(&b, 0, &at, &e));
    assert_non_null(at);
    assert_ok(cov_blob_end_piece(&b, 0, &e));
    assert_ptr_equal(cov_blob_piece(&b, 0, &n), at);
    assert_int_equal(n, 0);
    cov_blob_fini(&b);
}
