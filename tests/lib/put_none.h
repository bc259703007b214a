/* put_none.h - for tests: a hyperparameter that is None, which covtools reads but does not write.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PUT_NONE_H
#define TESTS_PUT_NONE_H

#include "common/ckpt/ckpt.h"
#include "tests/lib/unit.h"

static inline void add_none(struct cov_ckpt *c, const char *name)
{
    assert_int_equal(cov_ckpt_add_bool(c, name, false, NULL), 0);
    c->hparams[c->n_hparams - 1].kind = COV_HPARAM_NONE;
}

#endif
