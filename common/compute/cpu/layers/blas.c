/* blas.c - see blas.h.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cpu/layers/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"

/* Enumerators of cblas.h, and its matrix product; OpenBLAS's interface has int sizes. */
enum { ROW_MAJOR = 101, NO_TRANS = 111 };
typedef void sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);

static struct {
    pthread_once_t once;
    sgemm_fn *sgemm;
    char description[128];
} blas = {PTHREAD_ONCE_INIT, NULL, ""};

/* Returns the core type to request; NULL leaves the choice to OpenBLAS. */
static const char *core_type(void)
{
    unsigned has = cov_cpu_features();
    const unsigned skylake =
        COV_CPU_AVX512F | COV_CPU_AVX512BW | COV_CPU_AVX512DQ | COV_CPU_AVX512VL;
    if ((has & skylake) == skylake)
        return "SkylakeX";
    if ((has & COV_CPU_AVX2) && (has & COV_CPU_FMA))
        return "Haswell";
    return NULL;
}

/* Sets an environment variable unless it already has a value; returns true if it was set here. */
static bool put(const char *name, const char *value)
{
    return value && !getenv(name) && setenv(name, value, 0) == 0;
}

/* Sets the function pointer at `function`; NULL if the library has no such symbol. */
static void find_symbol(void *library, const char *name, void *function)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
}

static void load(void)
{
    bool put_core = put("OPENBLAS_CORETYPE", core_type());
    bool put_threads = put("OPENBLAS_NUM_THREADS", "1");
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
    if (put_core)
        (void)unsetenv("OPENBLAS_CORETYPE");
    if (put_threads)
        (void)unsetenv("OPENBLAS_NUM_THREADS");

    void (*set_threads)(int);
    char *(*config)(void), *(*core)(void);
    find_symbol(library, "openblas_set_num_threads", &set_threads);
    find_symbol(library, "openblas_get_config", &config);
    find_symbol(library, "openblas_get_corename", &core);
    find_symbol(library, "cblas_sgemm", &blas.sgemm);
    if (!blas.sgemm)
        return;
    if (set_threads)
        set_threads(1);
    /* The first two words of "OpenBLAS 0.3.21 DYNAMIC_ARCH ...". */
    const char *text = config ? config() : "OpenBLAS";
    const char *end = strchr(text, ' ');
    end = end ? strchr(end + 1, ' ') : NULL;
    (void)snprintf(blas.description, sizeof blas.description, "%.*s %s",
                   (int)(end ? end - text : (long)strlen(text)), text, core ? core() : "");
}

bool cov_blas_load(void)
{
    (void)pthread_once(&blas.once, load);
    return blas.sgemm != NULL;
}

const char *cov_blas_describe(void)
{
    return blas.description;
}

void cov_blas_sgemm(size_t m, size_t n, size_t k, const float *a, const float *b, float *c)
{
    blas.sgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, (int)m, (int)n, (int)k, 1.0f, a, (int)k, b, (int)n,
               0.0f, c, (int)n);
}
