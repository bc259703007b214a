/* test_leftovers.c - the list of files to remove, used by several threads. The code that uses the
 * list is tested in test_outfile.c and test_tmpfile.c.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <pthread.h>
#include <sys/stat.h>

#include "common/file/leftovers.h"

enum { THREADS = 4, ROUNDS = 2, EACH = 500 };

static pthread_barrier_t barrier;

/* Makes files and directories alternately, and adds them to the list. Every second thread starts with a
 * directory. */
static void *enter(void *arg)
{
    const size_t thread = *(const size_t *)arg;
    static char names[THREADS][EACH][16];
    void *failed = NULL;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < EACH; i++) {
            char *name = names[thread][i];
            (void)snprintf(name, sizeof names[thread][i], "%zu_%zu", thread, i);
            FILE *f = (thread + i) % 2 ? fopen(name, "w") : NULL;
            if (f ? fclose(f) : mkdir(name, 0777))
                failed = arg;
        }
        (void)pthread_barrier_wait(&barrier);
        for (size_t i = 0; i < EACH; i++) {
            enum cov_leftover_kind kind = (thread + i) % 2 ? COV_LEFTOVER_FILE : COV_LEFTOVER_TREE;
            if (cov_leftovers_add(kind, names[thread][i], 0) < 0)
                failed = arg;
        }
        (void)pthread_barrier_wait(&barrier);
        if (thread == 0)
            cov_leftovers_remove_all();
        (void)pthread_barrier_wait(&barrier);
    }
    return failed;
}

/* Each entry must keep its kind. Otherwise its file or directory would not be removed. */
TEST(threads_add)
{
    pthread_t threads[THREADS];
    size_t numbers[THREADS];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, enter, &numbers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(count_files("."), 0);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

/* The directory that was added last is removed first, whichever slots the directories have. */
TEST(removes_last_directories_first)
{
    char early[] = "early", outer[] = "outer", inner[] = "outer/inner", last[] = "outer/inner/last";
    int place = cov_leftovers_add(COV_LEFTOVER_EMPTY, early, 0);
    assert_int_equal(mkdir(outer, 0777), 0);
    int behind = cov_leftovers_add(COV_LEFTOVER_EMPTY, outer, 0);
    assert_true(place >= 0 && behind > place);
    assert_ptr_equal(cov_leftovers_take(COV_LEFTOVER_EMPTY, place), early);
    assert_int_equal(mkdir(inner, 0777), 0);
    assert_int_equal(cov_leftovers_add(COV_LEFTOVER_EMPTY, inner, strlen("outer/")), place);
    assert_int_equal(mkdir(last, 0777), 0);
    assert_true(cov_leftovers_add(COV_LEFTOVER_EMPTY, last, strlen("outer/inner/")) > behind);
    cov_leftovers_remove_all();
    assert_int_equal(count_files("."), 0);
}

TEST_GROUP(enter_dir, leave_dir)
