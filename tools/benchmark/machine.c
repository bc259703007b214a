/* machine.c - description and measured peak speeds of the machine.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/version.h"
#include "common/cli/tool.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/device.h"

void machine_describe(struct machine *m)
{
    struct utsname u;
    *m = (struct machine){.online = 1};
    cov_cpu_describe(m->cpu, sizeof m->cpu);
    cov_device_describe_levels(m->levels, sizeof m->levels);
    if (uname(&u) == 0)
        (void)snprintf(m->system, sizeof m->system, "%s %s %s", u.sysname, u.release, u.machine);
    long n = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    m->online = n > 0 ? (unsigned)n : 1;
    m->memory_bytes = pages > 0 && page > 0 ? (int64_t)pages * page : 0;
}

const char *const probe_names[PROBES] = {"fp32_gflops", "bf16_gflops", "memory_gb_per_second"};

void machine_print_json(const struct machine *m, unsigned threads, struct cov_json *j)
{
    cov_json_begin_object(j, "machine");
    cov_json_string(j, "cpu", m->cpu);
    cov_json_string(j, "levels", m->levels);
    cov_json_int(j, "processors", m->online);
    cov_json_int(j, "threads", threads);
    cov_json_int(j, "memory_bytes", m->memory_bytes);
    cov_json_string(j, "system", m->system);
    cov_json_string(j, "compiler", __VERSION__);
    cov_json_string(j, "covtools", cov_version());
    cov_json_begin_object(j, "probes");
    for (int i = 0; i < PROBES; i++)
        if (m->probes[i] > 0)
            cov_json_double(j, probe_names[i], m->probes[i]);
    cov_json_end_object(j);
    cov_json_end_object(j);
}

/* ---------------------------------------------------------------- probes of all threads */

/* Operands that fit the L2 cache, shaped like those of a convolution. */
enum { ROWS = 56, K = 576, COLUMNS = 64, TRIES = 12 };
/* Bytes that a thread reads; more than its share of the last-level cache. */
enum { READ_BYTES = 48 << 20 };

struct meter {
    const struct cov_gemm *gemm; /* NULL: read memory */
    struct cov_matrix b;
    float *a;              /* [ROWS, K] */
    uint64_t **memory;     /* [threads][READ_BYTES / 8] */
    double seconds;        /* per try */
    volatile uint64_t sum; /* keeps the reads from being optimised away */
    double *work;          /* [threads]: operations or bytes per second */
};

static uint64_t read_all(const uint64_t *p)
{
    uint64_t s[8] = {0};
    for (size_t i = 0; i < READ_BYTES / 8; i += 8)
        for (size_t k = 0; k < 8; k++)
            s[k] += p[i + k];
    return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

static int work(void *arg, size_t item, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct meter *p = arg;
    float *c = p->gemm ? cov_calloc64((size_t)ROWS * COLUMNS, sizeof *c, e) : NULL;
    if (p->gemm && !c)
        return COV_ENOMEM;
    double start = cov_clock(), seconds = 0, done = 0;
    do {
        if (p->gemm) {
            p->gemm->run(ROWS, p->a, K, &p->b, c, COLUMNS, false);
            done += 2.0 * ROWS * K * COLUMNS;
        } else {
            p->sum += read_all(p->memory[item]);
            done += READ_BYTES;
        }
        seconds = cov_clock() - start;
    } while (seconds < p->seconds);
    p->work[item] = done / seconds;
    free(c);
    return COV_OK;
}

/* Measures all threads several times, and sets *best to the best result, in 10^9 per second. */
static int measure(struct meter *p, struct cov_pool *pool, double *best, struct cov_err *e)
{
    const size_t n = cov_pool_size(pool);
    int rc = COV_OK;
    for (int i = 0; i < TRIES && !rc; i++) {
        rc = cov_pool_for(pool, n, work, p, e);
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += p->work[k];
        *best = sum * 1e-9 > *best ? sum * 1e-9 : *best;
    }
    return rc;
}

static int probe_products(const struct cov_gemm *gemm, struct cov_pool *pool, double seconds,
                          double *best, struct cov_err *e)
{
    struct meter p = {.gemm = gemm, .seconds = seconds / TRIES};
    float *b = cov_calloc64((size_t)K * COLUMNS, sizeof *b, e);
    p.a = cov_calloc64((size_t)ROWS * K, sizeof *p.a, e);
    p.work = cov_calloc(cov_pool_size(pool), sizeof *p.work, e);
    int rc = b && p.a && p.work ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < (size_t)ROWS * K; i++)
        p.a[i] = (float)(i % 7) - 3;
    for (size_t i = 0; !rc && i < (size_t)K * COLUMNS; i++)
        b[i] = (float)(i % 5) - 2;
    if (!rc)
        rc = cov_matrix_init(gemm, K, COLUMNS, b, &p.b, e);
    if (!rc)
        rc = measure(&p, pool, best, e);
    cov_matrix_fini(&p.b);
    free(b);
    free(p.a);
    free(p.work);
    return rc;
}

static int probe_memory(struct cov_pool *pool, double seconds, double *best, struct cov_err *e)
{
    unsigned n = cov_pool_size(pool);
    struct meter p = {.seconds = seconds / TRIES};
    p.memory = cov_calloc(n, sizeof *p.memory, e);
    p.work = cov_calloc(n, sizeof *p.work, e);
    int rc = p.memory && p.work ? COV_OK : COV_ENOMEM;
    for (unsigned i = 0; i < n && !rc; i++) {
        p.memory[i] = cov_malloc_huge(READ_BYTES, 1, e);
        if (p.memory[i])
            memset(p.memory[i], (int)i + 1, READ_BYTES);
        else
            rc = COV_ENOMEM;
    }
    if (!rc)
        rc = measure(&p, pool, best, e);
    for (unsigned i = 0; p.memory && i < n; i++)
        free(p.memory[i]);
    free(p.memory);
    free(p.work);
    return rc;
}

bool machine_drop_cache(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    /* Dirty pages would stay in the cache. */
    bool dropped = fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    (void)close(fd);
    return dropped;
}

int machine_probe(struct machine *m, struct cov_pool *pool, double seconds, struct cov_err *e)
{
    struct cov_cpu_choice cpu;
    int rc = cov_cpu_level_choose(NULL, &cpu, e);
    if (rc)
        return rc;
    rc = probe_products(cov_gemm_choose(cpu.features, COV_FP32, 0, 0), pool, seconds,
                        &m->probes[PROBE_FP32], e);
    const struct cov_gemm *bf16 = cov_gemm_choose(cpu.features, COV_BF16, 0, 0);
    if (!bf16) /* the network then multiplies integers instead */
        bf16 = cov_gemm_choose(cpu.features, COV_INT16, 0, 0);
    if (!rc && bf16)
        rc = probe_products(bf16, pool, seconds, &m->probes[PROBE_BF16], e);
    return rc ? rc : probe_memory(pool, seconds, &m->probes[PROBE_MEMORY], e);
}
