/* fuzz_json.c - JSON, and the figures of a benchmark's report in it.
 * Target: common/base/json.c, tools/benchmark/figure.c
 * SPDX-License-Identifier: MIT */
#include "common/base/json.h"
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
    return 0;
}
