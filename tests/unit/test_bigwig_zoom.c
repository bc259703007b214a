/* test_bigwig_zoom.c - bigWig files of random tracks: intervals, zoom levels, trees, threads.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/bigwig_io.h"

#include <float.h>
#include <zlib.h>

#include "common/base/rng.h"
#include "common/track/formats/bigwig_zoom.h"

/* ---- random tracks ---- */

enum { NAME_BYTES = 32 };

struct track {
    size_t n_contigs, n_intervals;
    char (*texts)[NAME_BYTES];
    const char **names;
    int64_t *lengths;
    struct cov_track_contigs list;
    struct expected *contigs; /* in the order in which they are written */
    struct cov_interval *iv;
};

static float random_value(struct cov_rng *rng, int kind, float before)
{
    static const float extremes[] = {0,       -0.0F,   FLT_MAX, -FLT_MAX, FLT_MIN,
                                     1e-45F,  -1e-45F, 1,       16777216, -3.25F,
                                     FLT_MAX, 1e30F,   0,       -1e30F,   0.1F};
    if (cov_rng_below(rng, 3) == 0)
        return before; /* equal neighbours are not joined here */
    switch (kind) {
    case 0:
        return (float)cov_rng_below(rng, 100);
    case 1:
        return (float)(cov_rng_double(rng) * 2000 - 1000);
    case 2:
        return extremes[cov_rng_below(rng, COV_COUNT(extremes))];
    default:
        return (float)cov_rng_below(rng, 2);
    }
}

/* Makes a track of intervals of `width` bases on average, with and without gaps. Its contigs have
 * up to `longest` bases and are sorted by name or unsorted. */
static struct track make_track(struct cov_rng *rng, size_t n_contigs, size_t n_intervals,
                               int64_t longest, int64_t width, bool sorted)
{
    struct track t = {.n_contigs = n_contigs};
    t.texts = unit_zeros(n_contigs * sizeof *t.texts);
    t.names = unit_zeros(n_contigs * sizeof *t.names);
    t.lengths = unit_zeros(n_contigs * sizeof *t.lengths);
    t.contigs = unit_zeros(n_contigs * sizeof *t.contigs);
    t.iv = unit_zeros((n_intervals + 1) * sizeof *t.iv);
    t.list = (struct cov_track_contigs){n_contigs, t.names, t.lengths};
    int kind = (int)cov_rng_below(rng, 4);
    for (size_t c = 0; c < n_contigs; c++) {
        int digits = sorted ? 9 : 1;
        size_t number = sorted ? c : (c * 7919 + 5) % n_contigs; /* 7919 is prime */
        (void)snprintf(t.texts[c], NAME_BYTES, "c%.*zu", digits, number);
        t.names[c] = t.texts[c];
        int64_t length = 1 + (int64_t)cov_rng_below(rng, (uint64_t)longest);
        length = c % 7 == 3 ? longest : length;
        int64_t at = 0;
        float value = 0;
        bool gaps = cov_rng_below(rng, 2) == 0;
        size_t most = n_intervals * (c + 1) / n_contigs;
        t.contigs[c].iv = t.iv + t.n_intervals;
        while (t.n_intervals < most && cov_rng_below(rng, 5000) != 0) {
            struct cov_interval iv = {at, at + 1, 0};
            if (gaps && cov_rng_below(rng, 3) == 0)
                iv.beg += (int64_t)cov_rng_below(rng, (uint64_t)(4 * width));
            iv.end = iv.beg + 1 + (int64_t)cov_rng_below(rng, (uint64_t)(2 * width - 1));
            if (iv.beg >= length)
                break;
            iv.end = iv.end < length ? iv.end : length;
            iv.value = value = random_value(rng, kind, value);
            at = iv.end;
            t.iv[t.n_intervals++] = iv;
            t.contigs[c].n++;
        }
        t.lengths[c] = length;
    }
    return t;
}

static int put_track(const struct track *t, const char *path, bool announced, struct cov_pool *pool,
                     size_t piece, struct cov_err *e)
{
    return put_bigwig(path, &t->list, t->contigs, announced,
                      &(struct cov_bigwig_options){pool, NULL}, piece, e);
}

/* ---- the file itself, without a library ---- */

static float get_float(const uint8_t *p)
{
    float x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* The windows of a level, in order. */
struct windows {
    const struct bytes *file;
    size_t at, end;       /* compressed blocks */
    uint8_t block[32768]; /* the current one */
    size_t next, n;
    size_t n_blocks;
};

static const uint8_t *next_window(struct windows *w)
{
    if (w->next == w->n) {
        assert_true(w->at < w->end);
        z_stream z = {.next_in = w->file->p + w->at,
                      .avail_in = (uInt)(w->end - w->at),
                      .next_out = w->block,
                      .avail_out = sizeof w->block};
        assert_int_equal(inflateInit(&z), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        w->at += z.total_in;
        w->n = z.total_out;
        w->next = 0;
        w->n_blocks++;
        (void)inflateEnd(&z);
        assert_true(w->n > 0 && w->n % 32 == 0);
    }
    w->next += 32;
    return w->block + w->next - 32;
}

static bool close_to(float got, double wanted, double size)
{
    if (wanted > (double)FLT_MAX)
        return got == FLT_MAX;
    if (wanted < -(double)FLT_MAX)
        return got == -FLT_MAX;
    return fabs((double)got - wanted) <= 1e-6 * size + 1e-44;
}

/* Checks the windows of a contig on a level; returns their number. */
static uint64_t check_windows(struct windows *w, uint32_t contig, const struct expected *x,
                              int64_t reduction)
{
    uint64_t n_windows = 0;
    size_t i = 0;
    int64_t at = x->n ? x->iv[0].beg : 0; /* the first base that is not in a window yet */
    while (i < x->n) {
        int64_t end = (at / reduction + 1) * reduction, beg = at, last = at;
        uint64_t n = 0;
        double min = INFINITY, max = -INFINITY, sum = 0, squares = 0, size = 0;
        while (i < x->n && x->iv[i].beg < end) {
            int64_t from = x->iv[i].beg < beg ? beg : x->iv[i].beg;
            int64_t to = x->iv[i].end < end ? x->iv[i].end : end;
            double v = (double)x->iv[i].value, bases = (double)(to - from);
            n += (uint64_t)(to - from);
            sum += v * bases;
            size += fabs(v) * bases;
            squares += v * v * bases;
            min = v < min ? v : min;
            max = v > max ? v : max;
            last = to;
            if (x->iv[i].end > end)
                break; /* the interval continues in the next window */
            i++;
        }
        const uint8_t *p = next_window(w);
        const struct bytes b = {w->block + w->next - 32, 32};
        assert_int_equal(number_at(&b, 0, 4), contig);
        assert_int_equal(number_at(&b, 4, 4), beg);
        assert_int_equal(number_at(&b, 8, 4), last);
        assert_int_equal(number_at(&b, 12, 4), n);
        assert_true((double)get_float(p + 16) == min && (double)get_float(p + 20) == max);
        assert_true(close_to(get_float(p + 24), sum, size));
        assert_true(close_to(get_float(p + 28), squares, squares));
        n_windows++;
        if (i < x->n)
            at = x->iv[i].beg < end ? end : x->iv[i].beg;
    }
    return n_windows;
}

/* Checks the header and all levels; returns the number of levels. */
static size_t check_levels(const char *path, const struct track *t)
{
    struct bytes b = get_file(path);
    assert_int_equal(number_at(&b, 0, 4), 0x888ffc26);
    assert_int_equal(number_at(&b, b.n - 4, 4), 0x888ffc26);
    assert_int_equal(number_at(&b, 4, 2), 4);
    size_t n_levels = number_at(&b, 6, 2);
    assert_true(n_levels <= 10);
    assert_true(number_at(&b, 8, 8) < number_at(&b, 16, 8)); /* the contigs are before the data */
    assert_int_equal(number_at(&b, 52, 4), 32768);
    uint64_t before = 0;
    struct windows *w = unit_alloc(sizeof *w);
    for (size_t k = 0; k < n_levels; k++) {
        size_t at = 64 + 24 * k;
        int64_t reduction = (int64_t)number_at(&b, at, 4);
        size_t data = number_at(&b, at + 8, 8), index = number_at(&b, at + 16, 8);
        assert_true(k == 0 || reduction == 4 * (int64_t)number_at(&b, at - 24, 4));
        *w = (struct windows){.file = &b, .at = data + 4, .end = index};
        uint64_t n = 0;
        for (size_t c = 0; c < t->n_contigs; c++)
            n += check_windows(w, (uint32_t)c, &t->contigs[c], reduction);
        assert_int_equal(number_at(&b, data, 4), n);
        assert_true(w->at == index && w->next == w->n);
        assert_int_equal(number_at(&b, index, 4), 0x2468ace0);
        assert_int_equal(number_at(&b, index + 8, 8), w->n_blocks);
        assert_true(k == 0 || n <= before);
        before = n;
    }
    return n_levels;
}

/* The largest value among the bases beg .. end-1; NaN: none has one. */
static double most_of(const struct expected *x, int64_t beg, int64_t end)
{
    double most = (double)NAN;
    for (size_t i = 0; i < x->n; i++)
        if (x->iv[i].beg < end && x->iv[i].end > beg)
            most = fmax(most, (double)x->iv[i].value);
    return most;
}

/* Checks that libBigWig finds the windows of all levels through their indexes. It reads bins of
 * four windows from the wanted level, because it uses a level whose windows are at most half as
 * wide as a bin. */
static void check_bins(bigWigFile_t *bw, const char *contig, int64_t length,
                       const struct expected *x)
{
    enum { BINS = 12 };
    for (uint16_t k = 0; x->n && k < bw->hdr->nLevels; k++) {
        const int64_t bin = 4 * (int64_t)bw->hdr->zoomHdrs->level[k];
        const int64_t n = length / bin < BINS ? length / bin : BINS;
        double *got = n ? bwStats(bw, contig, 0, (uint32_t)(n * bin), (uint32_t)n, max) : NULL;
        for (int64_t i = 0; i < n; i++) {
            const double wanted = most_of(x, i * bin, (i + 1) * bin);
            assert_true(got && (got[i] == wanted || (isnan(got[i]) && isnan(wanted))));
        }
        free(got);
    }
}

static void check_track(const char *path, const struct track *t)
{
    check_bigwig(path, &t->list, t->contigs);
    assert_true(check_levels(path, t) > 0 || t->n_intervals == 0);
    bigWigFile_t *bw = must(bwOpen(path, NULL, "r"));
    for (size_t c = 0; c < t->n_contigs; c += 1 + t->n_contigs / 50)
        check_bins(bw, t->names[c], t->lengths[c], &t->contigs[c]);
    bwClose(bw);
}

/* Writes 60 tracks, or as many as the environment variable COV_TRACKS says. */
TEST(writes_random_tracks)
{
    const char *wanted = getenv("COV_TRACKS");
    long n_rounds = wanted ? strtol(wanted, NULL, 10) : 60;
    assert_true(n_rounds > 0);
    struct cov_rng rng;
    cov_rng_init(&rng, 11);
    struct cov_pool *pool;
    assert_ok(cov_pool_new(3, &pool, &e));
    for (long round = 0; round < n_rounds; round++) {
        static const int64_t longest[] = {50, 3000, 1000000, UINT32_MAX};
        size_t n_contigs = round % 5 == 4 ? 1 + cov_rng_below(&rng, 5000) : 1 + (size_t)round % 7;
        size_t n_intervals = (size_t)cov_rng_below(&rng, round % 3 == 0 ? 60000 : 3000);
        int64_t length = longest[cov_rng_below(&rng, COV_COUNT(longest))];
        int64_t width = 1 + (int64_t)cov_rng_below(&rng, length > 1000000 ? 3000000 : 60);
        bool announced = round % 2 == 0;
        struct track t = make_track(&rng, n_contigs, n_intervals, length, width, !announced);
        assert_ok(put_track(&t, "x.bw", announced, round % 3 ? pool : NULL,
                            1 + (size_t)cov_rng_below(&rng, 3000), &e));
        check_track("x.bw", &t);
        unit_free();
    }
    cov_pool_free(pool);
}

/* The finest levels are dropped where they do not pay: for a constant stretch, and for long
 * intervals. The rest of the track has short intervals. */
TEST(drops_levels)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 12);
    for (int constant_first = 0; constant_first < 2; constant_first++) {
        struct track t = make_track(&rng, 2, 600000, 80000000, 100, true);
        struct cov_interval one = {17, 50000000, 3};
        size_t c = constant_first ? 0 : 1;
        t.n_intervals -= t.contigs[c].n - 1;
        t.contigs[c] = (struct expected){&one, 1};
        t.lengths[c] = one.end + 1;
        assert_ok(put_track(&t, "x.bw", false, NULL, 1000, &e));
        assert_true(check_levels("x.bw", &t) >= 5);
    }
}

static int count_window(void *arg, size_t level, uint32_t contig, const struct cov_zoom_sums *sums,
                        struct cov_err *e)
{
    ((uint64_t *)arg)[level]++;
    return COV_OK;
}

static int count_level(void *arg, size_t level, struct cov_err *e)
{
    assert_true(level > 0 && ((uint64_t *)arg)[level] == 0);
    return COV_OK;
}

/* The work is bounded by the number of intervals, however long they are. */
TEST(zoom_work_is_bounded)
{
    uint64_t n[COV_ZOOM_LEVELS] = {0}, sum = 0;
    const struct cov_zoom_out out = {count_window, count_level, n};
    size_t levels[COV_ZOOM_MAX_CHOSEN];
    struct cov_zoom z;
    cov_zoom_init(&z, &out);
    assert_int_equal(cov_zoom_choose(&z, levels), 0);
    cov_zoom_begin(&z, 0);
    assert_ok(cov_zoom_add(&z, 0, UINT32_MAX, 1, &e));
    assert_ok(cov_zoom_end(&z, &e));
    for (size_t k = 0; k < COV_ZOOM_LEVELS; k++) {
        assert_true(n[k] < 70000);
        sum += n[k];
    }
    assert_true(sum < 15 * 66000);
    assert_int_equal(cov_zoom_choose(&z, levels), 1);
    assert_int_equal(levels[0], COV_ZOOM_LEVELS - 1);
    assert_true(cov_zoom_reduction(levels[0]) == UINT32_C(1) << 31);
    /* Contigs with only one window do not create levels. */
    memset(n, 0, sizeof n);
    cov_zoom_init(&z, &out);
    for (uint32_t c = 0; c < 100000; c++) {
        cov_zoom_begin(&z, c);
        assert_ok(cov_zoom_add(&z, 1, c == 50000 ? 10 : 3, 1, &e));
        assert_ok(cov_zoom_end(&z, &e));
    }
    assert_int_equal(z.n_active, 2);
    assert_int_equal(n[0], 100001);
    assert_int_equal(n[1], 50000);
    assert_int_equal(z.levels[1].n_windows, 100000);
    assert_int_equal(cov_zoom_choose(&z, levels), 2);
}

/* ---- the tree of contigs, searched like in UCSC's programs ---- */

static bool look_up(const struct bytes *b, const char *name, uint32_t *number, uint32_t *length)
{
    size_t tree = number_at(b, 8, 8), key_bytes = number_at(b, tree + 8, 4), at = tree + 32;
    uint8_t key[NAME_BYTES] = {0};
    assert_int_equal(number_at(b, tree, 4), 0x78ca8c91);
    assert_true(key_bytes <= sizeof key && strlen(name) <= key_bytes);
    memcpy(key, name, strlen(name));
    while (b->p[at] == 0) {
        size_t n = number_at(b, at + 2, 2), child = 0;
        assert_true(n > 0);
        for (size_t i = 1; i < n; i++)
            if (memcmp(key, b->p + at + 4 + i * (key_bytes + 8), key_bytes) >= 0)
                child = i;
        at = number_at(b, at + 4 + child * (key_bytes + 8) + key_bytes, 8);
        assert_true(at < b->n);
    }
    size_t n = number_at(b, at + 2, 2);
    for (size_t i = 0; i < n; i++) {
        size_t item = at + 4 + i * (key_bytes + 8);
        if (memcmp(key, b->p + item, key_bytes) == 0) {
            *number = (uint32_t)number_at(b, item + key_bytes, 4);
            *length = (uint32_t)number_at(b, item + key_bytes + 4, 4);
            return true;
        }
    }
    return false;
}

/* Numbers of contigs that nearly, just or more than fill the nodes, and one that needs three
 * levels. */
TEST(finds_contigs)
{
    static const size_t counts[] = {1, 2, 255, 256, 257, 1000, 65536, 65537, 70001};
    struct cov_rng rng;
    cov_rng_init(&rng, 13);
    for (size_t k = 0; k < 2 * COV_COUNT(counts); k++) {
        size_t n = counts[k / 2];
        bool announced = k % 2;
        struct track t = make_track(&rng, n, 100, 1000, 40, !announced);
        assert_ok(put_track(&t, "x.bw", announced, NULL, 100, &e));
        struct bytes b = get_file("x.bw");
        assert_true(number_at(&b, 8, 8) < number_at(&b, 16, 8));
        for (size_t c = 0; c < n; c++) {
            uint32_t number = 0, length = 0;
            assert_true(look_up(&b, t.names[c], &number, &length));
            assert_int_equal(number, c);
            assert_int_equal(length, t.lengths[c]);
        }
        uint32_t number, length;
        assert_false(look_up(&b, "c", &number, &length));
        assert_false(look_up(&b, "d", &number, &length));
        assert_false(look_up(&b, "a", &number, &length));
        unit_free();
    }
}

/* ---- threads ---- */

struct writers {
    const struct track *track;
    struct cov_pool *pool;
};

static int write_one(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    const struct writers *w = arg;
    char path[16];
    (void)snprintf(path, sizeof path, "%u.bw", (unsigned)item);
    return put_track(w->track, path, item % 2, w->pool, 1000 + item, e);
}

/* Writers run in all workers of a pool, and wait for blocks that the same pool compresses. */
TEST(bytes_do_not_depend_on_threads)
{
    enum { FILES = 5 };
    struct cov_rng rng;
    cov_rng_init(&rng, 14);
    struct track t = make_track(&rng, 3, 200000, 10000000, 30, true);
    assert_ok(put_track(&t, "list.bw", false, NULL, 1000, &e));
    assert_ok(put_track(&t, "announced.bw", true, NULL, 1000, &e));
    for (unsigned n_threads = 1; n_threads < 5; n_threads++) {
        struct writers w = {.track = &t};
        assert_ok(cov_pool_new(n_threads, &w.pool, &e));
        assert_ok(put_track(&t, "0.bw", false, w.pool, 1000, &e));
        assert_ok(cov_pool_for(w.pool, FILES, write_one, &w, &e));
        cov_pool_free(w.pool);
        for (size_t i = 0; i < FILES; i++) {
            char path[16];
            (void)snprintf(path, sizeof path, "%zu.bw", i);
            check_same_files(path, i % 2 ? "announced.bw" : "list.bw");
        }
    }
}

TEST_GROUP(enter_dir, leave_dir)
