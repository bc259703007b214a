/* fuzz_json.c - JSON, and in it the figures of a benchmark's report and the statistics of a shard.
 * Target: common/base/json.c, tools/benchmark/figure.c
 * SPDX-License-Identifier: MIT */
#include "common/base/json.h"
#include "common/cli/stats.h"
#include "tests/fuzz/fuzz.h"
#include "tools/benchmark/figure.h"

enum { MAX_DEPTH = 2000 };

static void walk(const struct cov_json_value *v, int depth)
{
    double x;
    (void)cov_json_number(v, &x);
    (void)cov_json_text(v, "name");
    (void)cov_json_key(v);
    for (const struct cov_json_value *i = cov_json_first(v); i && depth < MAX_DEPTH;
         i = cov_json_next(i))
        walk(i, depth + 1);
}

/* Adds a shard twice: sums are finite, or unknown, and failures have a text. */
static void add_shard(const char *path)
{
    struct cov_stats s;
    struct cov_err e = COV_ERR_INIT;
    cov_stats_init(&s, "fuzz", "1");
    const int rc = cov_stats_add_shard(&s, path, &e);
    if ((rc != 0) != (s.shards.n == 0) || (rc && (e.code == 0 || !strstr(e.text, path))))
        abort();
    if (!rc && cov_stats_add_shard(&s, path, NULL))
        abort();
    const struct cov_stats_shards *t = &s.shards;
    if (t->bases < 0 || t->chunks < 0 || t->threads < 0 || t->wall_seconds < 0 ||
        t->cpu_seconds < 0 || (!rc && t->n != 2))
        abort();
    cov_stats_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct cov_json_value *v;
    struct figures f = {0};
    char *text = malloc(n + 1); /* not terminated */
    memcpy(text, data, n);
    text = realloc(text, n ? n : 1);
    if (cov_json_parse(text, n, &v, NULL) == COV_OK) {
        walk(v, 0);
        fuzz_ignore(figures_read(v, &f, NULL));
        figures_fini(&f);
        cov_json_free(v);
    }
    free(text);
    add_shard(fuzz_file(data, n));
    return 0;
}
