/* test_convert.c - names of output files, of which either all appear or none.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <sys/stat.h>

#include "common/job/tracks/track_jobs.h"

static const char *const names[] = {"chr1"};
static const int64_t lengths[] = {10};
static const struct cov_track_contigs contigs = {1, names, lengths};
static const char *const datasets[] = {"a", "b"};

static struct cov_track_files *write_files(enum cov_track_kind kind, bool force)
{
    struct cov_track_target target = {
        .output = "out/", .force = force, .basename = "x", .tail = "_avg", .kind = kind};
    struct cov_track_files *f;
    assert_ok(cov_track_files_open(&target, &contigs, datasets, 2, 3, &f, &e));
    for (size_t k = 0; k < 2; k++) {
        const struct cov_interval iv = {0, 10, (float)k};
        struct cov_track_sink *s = cov_track_files_sink(f, k);
        assert_ok(cov_track_begin(s, 0, &e));
        assert_ok(cov_track_add(s, &iv, 1, &e));
        assert_ok(cov_track_close(s, &e));
    }
    return f;
}

TEST(recognizes_suffixes)
{
    static const struct {
        const char *path;
        enum cov_track_kind kind;
    } good[] = {
        {"x.bw", COV_TRACK_BIGWIG},
        {"a/x.1.bigwig", COV_TRACK_BIGWIG},
        {"x.BEDGRAPH", COV_TRACK_BEDGRAPH},
        {"x.bg", COV_TRACK_BEDGRAPH},
        {"x.bdg", COV_TRACK_BEDGRAPH},
        {"x.BDG.gz", COV_TRACK_BEDGRAPH_GZ},
        {"-", COV_TRACK_BEDGRAPH},
        {"x.bg.gz", COV_TRACK_BEDGRAPH_GZ},
        {"x.bedGraph.gz", COV_TRACK_BEDGRAPH_GZ},
    };
    static const char *const bad[] = {"x", "x.bw.gz", "x.gz", "x.wig", "bw", "x.bed", ""};
    enum cov_track_kind kind;
    for (size_t i = 0; i < COV_COUNT(good); i++) {
        assert_ok(cov_track_kind_of(good[i].path, &kind, &e));
        assert_int_equal(kind, good[i].kind);
    }
    for (size_t i = 0; i < COV_COUNT(bad); i++)
        assert_int_equal(cov_track_kind_of(bad[i], &kind, NULL), COV_EUSAGE);
}

TEST(vanish_together)
{
    assert_int_equal(mkdir("out", 0777), 0);
    cov_track_files_free(write_files(COV_TRACK_BIGWIG, false));
    cov_track_files_free(NULL);
    assert_int_equal(count_files("out"), 0);

    /* Another program creates the second file during the run, so the first one is removed. */
    struct cov_track_files *f = write_files(COV_TRACK_BEDGRAPH_GZ, false);
    put_text("out/x_b_avg.bg.gz", "mine");
    assert_fails_with(cov_track_files_commit(f, NULL, 0, &e), COV_EEXIST,
                      "out/x_b_avg.bg.gz was created by another program; use -f to replace it");
    cov_track_files_free(f);
    check_text("out/x_b_avg.bg.gz", "mine");
    assert_int_equal(count_files("out"), 1);
    assert_int_equal(unlink("out/x_b_avg.bg.gz"), 0);

    /* Another program creates the index of the second file. */
    f = write_files(COV_TRACK_BEDGRAPH_GZ, false);
    put_text("out/x_b_avg.bg.gz.tbi", "mine");
    assert_int_equal(cov_track_files_commit(f, NULL, 0, NULL), COV_EEXIST);
    cov_track_files_free(f);
    check_text("out/x_b_avg.bg.gz.tbi", "mine");
    assert_int_equal(count_files("out"), 1);
    assert_int_equal(unlink("out/x_b_avg.bg.gz.tbi"), 0);
}

TEST(replace_stale_indexes)
{
    put_text("out/x_a_avg.bg.gz.csi", "old");
    struct cov_track_files *f = write_files(COV_TRACK_BEDGRAPH_GZ, true);
    check_text("out/x_a_avg.bg.gz.csi", "old");
    assert_ok(cov_track_files_commit(f, NULL, 0, &e));
    cov_track_files_free(f);
    assert_int_equal(access("out/x_a_avg.bg.gz.csi", F_OK), -1);
    assert_int_equal(count_files("out"), 4);
    for (size_t k = 0; k < 2; k++) {
        char path[64];
        (void)snprintf(path, sizeof path, "out/x_%s_avg.bg.gz", datasets[k]);
        assert_int_equal(unlink(path), 0);
        (void)snprintf(path, sizeof path, "out/x_%s_avg.bg.gz.tbi", datasets[k]);
        assert_int_equal(unlink(path), 0);
    }
}

TEST(rejects_bad_targets)
{
    struct cov_track_target target = {
        .output = "out/", .basename = "x", .tail = "_avg", .kind = COV_TRACK_BIGWIG};
    static const char *const bad[] = {"a/b", "", "a\nb"};
    struct cov_track_files *f;
    for (size_t i = 0; i < COV_COUNT(bad); i++)
        assert_int_equal(cov_track_files_open(&target, &contigs, &bad[i], 1, 1, &f, NULL),
                         COV_EINPUT);
    assert_int_equal(cov_track_files_open(&target, &contigs, bad, 0, 1, &f, NULL), COV_EINPUT);
    target.output = "out/x.bw";
    assert_int_equal(cov_track_files_open(&target, &contigs, datasets, 2, 1, &f, NULL), COV_EINPUT);
    assert_int_equal(count_files("out"), 0);
}

TEST_GROUP(enter_dir, leave_dir)
