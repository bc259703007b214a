/* fuzz_pickle.c - a pickle alone: the limits, and what the tree of values promises.
 * Target: common/ckpt/pickle.c
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/pickle.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_DEPTH = 100, MAX_VALUES = 1 << 16 };

static void check(const struct cov_pickle_value *v, unsigned depth, size_t *left)
{
    char *text;
    if (!v || depth > MAX_DEPTH || *left == 0)
        return;
    --*left;
    if (v->depth > MAX_DEPTH)
        abort();
    if (cov_pickle_string(v, &text, NULL) == COV_OK)
        free(text);
    if (!cov_pickle_type(v))
        abort();
    (void)cov_pickle_get(v, "state_dict");
    if (v->kind == COV_PICKLE_OBJECT) {
        check(v->u.object.callee, depth + 1, left);
        check(v->u.object.args, depth + 1, left);
        check(v->u.object.state, depth + 1, left);
    }
    for (size_t i = 0; i < v->n_items; i++)
        check(v->items[i], depth + 1, left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct cov_pickle_name names[] = {{"collections", "OrderedDict", 1},
                                                   {"torch", "FloatStorage", 2},
                                                   {"torch._utils", "_rebuild_tensor_v2", 3}};
    struct cov_pickle *p;
    size_t left = 20000;
    if (cov_pickle_read(data, n, names, 3, &p, NULL))
        return 0;
    check(cov_pickle_root(p), 0, &left);
    cov_pickle_free(p);
    return 0;
}
