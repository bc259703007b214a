/* fuzz_run_journal.c - the head of a journal of --resume, compared with what a run describes. The first byte chooses
 * `force`, and whether the head gets the lines of the run before the input.
 * Target: common/input/run_journal.c
 * SPDX-License-Identifier: MIT */
#include "common/input/run_journal.h"
#include "tests/fuzz/fuzz.h"

static struct cov_journal *open_journal(const char *head)
{
    static const uint8_t nothing;
    struct cov_journal *j;
    if (cov_journal_open(fuzz_named_file(&nothing, 0), &j, NULL) ||
        cov_journal_begin(j, head, NULL))
        abort();
    return j;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1 || n > 20000 || memchr(data + 1, '\0', n - 1))
        return 0;
    struct cov_run_lines lines = {0};
    struct cov_err e = COV_ERR_INIT;
    bool done;
    if (cov_run_lines_add(&lines, "version", "1", NULL, NULL) ||
        cov_run_lines_add(&lines, "--window", "48, step 1", NULL, NULL) ||
        cov_run_lines_add(&lines, "--genome", "9 bytes, 0f", "g.fa", NULL))
        abort();
    char *head = malloc(lines.n + n + 1);
    const size_t n_lines = data[0] & 2 ? lines.n : 0;
    if (!head)
        abort();
    memcpy(head, lines.data ? lines.data : "", n_lines);
    memcpy(head + n_lines, data + 1, n - 1);
    head[n_lines + n - 1] = '\0';
    struct cov_journal *j = open_journal(head);
    int rc = cov_run_journal_done(j, &lines, "/dev/shm/fuzz.missing", data[0] & 1, &done, &e);
    if (!rc && !done)
        rc = cov_run_journal_start(j, &lines, data[0] & 1, &e);
    if ((rc != 0) != (e.code != 0) || (rc && !*e.text))
        abort();
    if (!rc && !done && n == 1 && n_lines == 0 && cov_journal_scan(j, 1, NULL, NULL, NULL))
        abort();
    cov_journal_close(j);
    cov_run_lines_fini(&lines);
    free(head);
    return 0;
}
