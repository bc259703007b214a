/* tap.h - results of the programs that test the plugin for GPUs, as TAP.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_GPU_TAP_H
#define TESTS_GPU_TAP_H

#include <stdio.h>
#include <stdlib.h>

extern "C" {
#include "common/base/err.h"
}

namespace
{

int n_tests, n_failed;

void result(bool passed, const char *name)
{
    n_failed += !passed;
    printf("%sok %d - %s\n", passed ? "" : "not ", ++n_tests, name);
    fflush(stdout);
}

/* Ends the program where what is no test fails. */
void must(int rc, const struct cov_err *e)
{
    if (rc) {
        printf("Bail out! %s\n", e->text);
        exit(1);
    }
}

} // namespace

#endif
