/* simt_emulated.cc - see simt_emulated.h.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/simt_emulated.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <deque>
#include <vector>

thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;
thread_local bool simt_in_gemm;

namespace
{

enum simt_fault planted = SIMT_FAULT_NONE;

enum { STACK = 64 * 1024, WARP = 32, EXCHANGE = 96 };

/* A pending copy to shared memory. */
struct Copy {
    void *to;
    const void *from; /* NULL: zeros */
};

struct Fiber {
    jmp_buf at;
    bool begun = false, ended = false; /* ended: the body, for the current block */
    char *stack;
    size_t waits_block, waits_warp; /* barriers of each kind that it has reached */
    size_t calls;                   /* of __syncthreads */
    std::deque<std::vector<Copy>> groups;
    std::vector<Copy> open;
};

/* One per CPU thread that launches kernels. */
struct Machine {
    std::vector<Fiber> fibers;
    size_t n = 0, current = 0;
    jmp_buf scheduler;
    const std::function<void()> *body = nullptr;
    std::vector<char> shared;
    char *shared_start = nullptr;
    std::vector<char> exchange; /* [2][n][EXCHANGE] */
    bool backwards = false;
    ~Machine()
    {
        for (Fiber &f : fibers)
            munmap(f.stack, STACK);
    }
};

thread_local Machine machine;

[[noreturn]] void die(const char *what)
{
    fprintf(stderr, "emulated kernel: %s (block %u,%u, thread %u)\n", what, blockIdx.x, blockIdx.y,
            threadIdx.x);
    abort();
}

/* Returns to the scheduler until it is this fiber's turn again. */
void yield_fiber()
{
    Machine &m = machine;
    Fiber &f = m.fibers[m.current];
    if (!_setjmp(f.at))
        _longjmp(m.scheduler, 1);
}

/* A fiber serves all blocks, since starting one takes system calls. */
void enter()
{
    for (;;) {
        (*machine.body)();
        machine.fibers[machine.current].ended = true;
        yield_fiber();
    }
}

void resume(size_t i)
{
    Machine &m = machine;
    m.current = i;
    threadIdx = dim3((unsigned)i);
    if (_setjmp(m.scheduler))
        return;
    Fiber &f = m.fibers[i];
    if (f.begun)
        _longjmp(f.at, 1);
    f.begun = true;
    ucontext_t start;
    getcontext(&start);
    start.uc_stack.ss_sp = f.stack;
    start.uc_stack.ss_size = STACK;
    start.uc_link = nullptr;
    makecontext(&start, enter, 0);
    setcontext(&start);
}

/* Runs a warp until all of its lanes wait; returns false if none could run. */
bool run_warp(size_t first, size_t end, size_t all_block)
{
    Machine &m = machine;
    bool moved = false;
    for (bool more = true; more; moved |= more) {
        size_t all_warp = SIZE_MAX;
        for (size_t i = first; i < end; i++)
            all_warp = std::min(all_warp, m.fibers[i].waits_warp);
        more = false;
        for (size_t k = first; k < end; k++) {
            size_t i = m.backwards ? first + end - 1 - k : k;
            Fiber &f = m.fibers[i];
            if (!f.ended && f.waits_block <= all_block && f.waits_warp <= all_warp) {
                resume(i);
                more = true;
            }
        }
    }
    return moved;
}

void run_block()
{
    Machine &m = machine;
    for (size_t i = 0; i < m.n; i++) {
        Fiber &f = m.fibers[i];
        f.ended = false;
        f.waits_block = f.waits_warp = f.calls = 0;
        f.groups.clear();
        f.open.clear();
    }
    for (;;) {
        /* Threads pass a barrier once all have reached it. Between barriers, warps run one at a time,
         * in reverse order every other time, so that a missing barrier makes a thread read stale
         * data. */
        size_t all_block = SIZE_MAX;
        bool moved = false, ended = true;
        for (size_t i = 0; i < m.n; i++)
            all_block = std::min(all_block, m.fibers[i].waits_block);
        for (size_t first = 0; first < m.n; first += WARP) {
            size_t beg = m.backwards ? (m.n - 1) / WARP * WARP - first : first;
            moved |= run_warp(beg, std::min(m.n, beg + WARP), all_block);
        }
        for (size_t i = 0; i < m.n; i++)
            ended = ended && m.fibers[i].ended;
        if (ended)
            return;
        if (!moved)
            die("not all threads reach a barrier");
        m.backwards = !m.backwards;
    }
}

} // namespace

void simt_run(dim3 grid, int threads, size_t shared_bytes, const std::function<void()> &body)
{
    Machine &m = machine;
    m.n = (size_t)threads;
    while (m.fibers.size() < m.n) {
        m.fibers.emplace_back();
        void *stack =
            mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stack == MAP_FAILED)
            die("no memory for a stack");
        m.fibers.back().stack = (char *)stack;
    }
    m.body = &body;
    m.exchange.resize(2 * m.n * EXCHANGE);
    gridDim = grid;
    blockDim = dim3((unsigned)threads);
    for (unsigned y = 0; y < grid.y; y++)
        for (unsigned x = 0; x < grid.x; x++) {
            blockIdx = dim3(x, y);
            /* Shared memory starts with garbage; 0xff bytes are NaN. */
            m.shared.assign(shared_bytes + 32, (char)0xff);
            m.shared_start = m.shared.data() + (16 - (uintptr_t)m.shared.data() % 16);
            run_block();
        }
}

char *simt_shared(void)
{
    return machine.shared_start;
}

void __syncthreads(void)
{
    Fiber &f = machine.fibers[machine.current];
    f.calls++;
    if (planted == SIMT_FAULT_BARRIER && f.calls > 2 && f.calls % 2)
        f.waits_warp++;
    else
        f.waits_block++;
    yield_fiber();
}

/* Returns where the lanes of this warp publish WARP * EXCHANGE bytes. Two buffers alternate: a lane reads
 * its result before the exchange after the next. */
static char *simt_places(void)
{
    Machine &m = machine;
    size_t first = m.current / WARP * WARP;
    if (first + WARP > m.n)
        die("incomplete warp");
    return m.exchange.data() + (m.fibers[m.current].waits_warp % 2 * m.n + first) * EXCHANGE;
}

/* Waits until all lanes of this warp have published. */
static void simt_meet(void)
{
    machine.fibers[machine.current].waits_warp++;
    yield_fiber();
}

/* Publishes `bytes` bytes of each lane, waits for the warp, and returns the bytes of all 32 lanes,
 * EXCHANGE bytes apart. */
static const void *simt_exchange(const void *mine, size_t bytes)
{
    char *places = simt_places();
    memcpy(places + threadIdx.x % WARP * EXCHANGE, mine, bytes);
    simt_meet();
    return places;
}

void simt_copy16(void *shared, const void *global, bool there)
{
    if ((uintptr_t)shared % 16 || (uintptr_t)global % 16)
        die("misaligned copy of 16 bytes");
    machine.fibers[machine.current].open.push_back(Copy{shared, there ? global : nullptr});
}

void simt_copy_group(void)
{
    Fiber &f = machine.fibers[machine.current];
    f.groups.push_back(std::move(f.open));
    f.open.clear();
}

void simt_copy_wait_for(int groups)
{
    Fiber &f = machine.fibers[machine.current];
    while (f.groups.size() > (size_t)groups) {
        for (const Copy &c : f.groups.front()) {
            if (c.from)
                memcpy(c.to, c.from, 16);
            else if (planted != SIMT_FAULT_ZEROS)
                memset(c.to, 0, 16);
        }
        f.groups.pop_front();
    }
}

float4 simt_read4(const float *p)
{
    if ((uintptr_t)p % 16)
        die("misaligned read of 16 bytes");
    return float4{p[0], p[1], p[2], p[3]};
}

uint32_t simt_ballot(bool v)
{
    const char *all = (const char *)simt_exchange(&v, sizeof v);
    uint32_t bits = 0;
    for (unsigned i = 0; i < WARP; i++)
        bits |= all[i * EXCHANGE] ? 1U << i : 0;
    return planted == SIMT_FAULT_REST ? 0 : bits;
}

float simt_shuffle_xor(float v, int mask)
{
    const char *all = (const char *)simt_exchange(&v, sizeof v);
    memcpy(&v, all + (threadIdx.x % WARP ^ (unsigned)mask) * EXCHANGE, sizeof v);
    return v;
}

void simt_load_matrices(uint32_t r[4], const void *shared)
{
    if ((uintptr_t)shared % 16)
        die("misaligned row of a matrix");
    const char *all = (const char *)simt_exchange(&shared, sizeof shared);
    unsigned lane = threadIdx.x % WARP;
    for (unsigned i = 0; i < 4; i++) {
        const char *row;
        memcpy(&row, all + (8 * i + lane / 4) * EXCHANGE, sizeof row);
        memcpy(&r[i], row + 4 * (lane % 4), 4);
    }
}

void simt_load_transposed(uint32_t r[4], const void *shared)
{
    if ((uintptr_t)shared % 16)
        die("misaligned row of a matrix");
    const char *all = (const char *)simt_exchange(&shared, sizeof shared);
    unsigned lane = threadIdx.x % WARP;
    for (unsigned i = 0; i < 4; i++) {
        uint16_t pair[2];
        for (unsigned k = 0; k < 2; k++) {
            const char *row;
            memcpy(&row, all + (8 * i + lane % 4 * 2 + k) * EXCHANGE, sizeof row);
            memcpy(&pair[k], row + lane / 4 * 2, 2);
        }
        r[i] = pair[0] | (uint32_t)pair[1] << 16;
    }
}

namespace
{

enum simt_sums how_to_sum = SIMT_SUMS_EXACT;

/* The operands of a warp's product: A, and B, by rows. */
template <int DEPTH> struct Operands {
    double a[16][DEPTH], b[DEPTH][8];
};
static_assert(sizeof(Operands<16>) <= WARP * EXCHANGE, "exchanged as a whole");

/* Stores a lane's part of the operands of m16n8k16, which has two bf16 per register. The function below
 * does so for m16n8k8 with one tf32 per register, of which the hardware ignores the low bits. See the PTX
 * manual, "Matrix Fragments for mma.m16n8k16 with floating point type". */
void store(Operands<16> *all, int lane, const uint32_t a[4], const uint32_t b[2])
{
    for (int i = 0; i < 4; i++)
        for (int half = 0; half < 2; half++) {
            int k = lane % 4 * 2 + i / 2 * 8 + half;
            all->a[lane / 4 + i % 2 * 8][k] = (double)simt_float(a[i] >> 16 * half << 16);
        }
    for (int i = 0; i < 2; i++)
        for (int half = 0; half < 2; half++)
            all->b[lane % 4 * 2 + i * 8 + half][lane / 4] =
                (double)simt_float(b[i] >> 16 * half << 16);
}

void store(Operands<8> *all, int lane, const uint32_t a[4], const uint32_t b[2])
{
    for (int i = 0; i < 4; i++)
        all->a[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = (double)simt_float(a[i] & 0xffffe000);
    for (int i = 0; i < 2; i++)
        all->b[lane % 4 + i * 4][lane / 4] = (double)simt_float(b[i] & 0xffffe000);
}

template <int DEPTH> void multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    int lane = (int)threadIdx.x % WARP, column = lane % 4 * 2;
    auto *all = (Operands<DEPTH> *)simt_places();
    store(all, lane, a, b);
    simt_meet();
    if (planted == SIMT_FAULT_PRODUCTS)
        return;
    int step = how_to_sum == SIMT_SUMS_TRUNCATED ? DEPTH / 2 : DEPTH;
    for (int beg = 0; beg < DEPTH; beg += step) {
        double sums[4] = {(double)d[0], (double)d[1], (double)d[2], (double)d[3]};
        for (int k = beg; k < beg + step; k++)
            for (int i = 0; i < 4; i++)
                sums[i] += all->a[lane / 4 + i / 2 * 8][k] * all->b[k][column + i % 2];
        for (int i = 0; i < 4; i++) {
            d[i] = (float)sums[i];
            if (how_to_sum == SIMT_SUMS_TRUNCATED && fabs((double)d[i]) > fabs(sums[i]))
                d[i] = nextafterf(d[i], 0);
        }
    }
}

} // namespace

void simt_mma_bf16(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    if (planted == SIMT_FAULT_HALVES)
        std::swap(b0, b1);
    if (planted == SIMT_FAULT_GEMM && simt_in_gemm)
        b0 = b1 = 0;
    const uint32_t b[2] = {b0, b1};
    multiply<16>(d, a, b);
}

void simt_mma_tf32(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    if (planted == SIMT_FAULT_HALVES)
        std::swap(b0, b1);
    const uint32_t b[2] = {b0, b1};
    multiply<8>(d, a, b);
}

void simt_set_sums(enum simt_sums sums)
{
    how_to_sum = sums;
}

enum simt_fault simt_set_fault(enum simt_fault fault)
{
    enum simt_fault before = planted;
    planted = fault;
    return before;
}

enum simt_fault simt_get_fault(void)
{
    return planted;
}
