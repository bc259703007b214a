/* simt_emulated.cc - see simt_emulated.h.
 * SPDX-License-Identifier: MIT */
#include "tests/mock/simt_emulated.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <map>
#include <vector>

__thread dim3 threadIdx, blockIdx, blockDim, gridDim;
__thread bool simt_in_gemm;

/* set_place returns 0, then 1 once another function jumps to the place. The compiler's own version saves fewer
 * registers than the library's, of which most of the time would be spent; a function that switches must not be
 * analysed together with its callers, nor contain both parts of a switch. */
#if defined(__clang__)
typedef jmp_buf Place;
#define SWITCHES __attribute__((noinline))
#define set_place(place) _setjmp(place)
#define jump_to_place(place) _longjmp(place, 1)
#else
typedef void *Place[5];
#define SWITCHES __attribute__((noipa))
#define set_place(place) __builtin_setjmp(place)
#define jump_to_place(place) __builtin_longjmp(place, 1)
#endif

namespace
{

enum simt_fault planted = SIMT_FAULT_NONE;

/* The tops of stacks have other offsets in a page and in a cache, since a block uses all of them in turn. */
enum { STACK = 17 * 4096, STAGGER = 256, WARP = 32, EXCHANGE = 128 };

/* A pending copy to shared memory. */
struct Copy {
    void *to;
    const void *from; /* NULL: zeros */
};

/* A pending product of a warpgroup, for a lane. */
struct Async {
    float *d;
    const uint32_t *a;
    uint64_t b;
    bool bf16;
};

/* A place that counts copies of bulk, and the pending one. */
struct Arrival {
    void *to;
    const void *from;
    size_t bytes;  /* 0: none is pending */
    size_t phases; /* that are complete */
};

struct Fiber {
    Place at;
    bool begun = false;
    char *stack;
    size_t calls;             /* of __syncthreads */
    std::vector<Copy> copies; /* first those of groups */
    std::vector<size_t> ends; /* of groups, in copies */
    size_t groups, copied;    /* that are complete */
    std::vector<Async> products;
    std::vector<size_t> product_ends;  /* of groups, in products */
    size_t product_groups, multiplied; /* that are complete */
    bool fenced;                       /* since the last wait for products */
};

/* What the scheduler reads of a fiber or a warp: the barriers of a block and of a warp that it has passed. */
struct Lane {
    size_t block, warp;
    bool ended; /* the body, for the current block */
};
struct Warp {
    size_t now, arrived; /* lanes at the next barrier */
};

/* One per CPU thread that launches kernels. */
struct Machine {
    std::vector<Fiber> fibers;
    std::vector<Lane> lanes;
    std::vector<Warp> warps;
    size_t n = 0, current = 0;
    size_t now = 0, arrived = 0, ended = 0; /* of the block */
    Place scheduler;
    const std::function<void()> *body = nullptr;
    std::vector<char> shared;
    char *shared_start = nullptr;
    std::vector<char> exchange; /* [2][n][EXCHANGE] */
    std::map<uint64_t *, Arrival> arrivals;
    bool backwards = false;
    ~Machine()
    {
        for (Fiber &f : fibers)
            munmap(f.stack, STACK);
    }
};

thread_local Machine machine;
__thread Machine *here; /* the same, without the check whether it exists */

[[noreturn]] void die(const char *what)
{
    fprintf(stderr, "emulated kernel: %s (block %u,%u, thread %u)\n", what, blockIdx.x, blockIdx.y,
            threadIdx.x);
    abort();
}

[[noreturn]] SWITCHES void jump_to(Place &place)
{
    jump_to_place(place);
}

/* Returns to the scheduler until it is this fiber's turn again. */
SWITCHES void yield_fiber()
{
    Machine &m = *here;
    if (!set_place(m.fibers[m.current].at))
        jump_to(here->scheduler);
}

/* A fiber serves all blocks, since starting one takes system calls. */
void enter()
{
    for (;;) {
        Machine &m = *here;
        (*m.body)();
        m.lanes[m.current].ended = true;
        m.ended++;
        yield_fiber();
    }
}

SWITCHES void start(Fiber *f, size_t i)
{
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = STACK - i % 16 * STAGGER;
    context.uc_link = nullptr;
    makecontext(&context, enter, 0);
    f->begun = true;
    setcontext(&context);
}

SWITCHES void resume(size_t i)
{
    Machine &m = *here;
    m.current = i;
    threadIdx = dim3((unsigned)i);
    if (set_place(m.scheduler))
        return;
    Fiber &f = here->fibers[here->current];
    if (f.begun)
        jump_to(f.at);
    start(&f, here->current);
}

/* Runs a warp until its lanes have ended, or wait for the block. */
void run_warp(size_t first, size_t end)
{
    Machine &m = *here;
    Warp &w = m.warps[first / WARP];
    for (;;) {
        for (size_t k = first; k < end; k++) {
            size_t i = m.backwards ? first + end - 1 - k : k;
            const Lane &l = m.lanes[i];
            if (!l.ended && l.block == m.now && l.warp == w.now)
                resume(i);
        }
        if (w.arrived < end - first)
            return;
        w.arrived = 0;
        w.now++;
    }
}

void begin_block()
{
    Machine &m = *here;
    m.lanes.assign(m.n, Lane{0, 0, false});
    m.warps.assign((m.n + WARP - 1) / WARP, Warp{0, 0});
    m.now = m.arrived = m.ended = 0;
    m.arrivals.clear();
    for (size_t i = 0; i < m.n; i++) {
        Fiber &f = m.fibers[i];
        f.calls = f.groups = f.copied = 0;
        f.copies.clear();
        f.ends.clear();
        f.products.clear();
        f.product_ends.clear();
        f.product_groups = f.multiplied = 0;
        f.fenced = false;
    }
}

void run_block()
{
    Machine &m = *here;
    begin_block();
    for (;;) {
        /* Threads pass a barrier once all have reached it. Between barriers, warps run one at a time,
         * in reverse order every other time, so that a missing barrier makes a thread read stale
         * data. */
        for (size_t first = 0; first < m.n; first += WARP) {
            size_t beg = m.backwards ? (m.n - 1) / WARP * WARP - first : first;
            run_warp(beg, std::min(m.n, beg + WARP));
        }
        if (m.ended == m.n)
            return;
        if (m.arrived < m.n)
            die("not all threads reach a barrier");
        m.arrived = 0;
        m.now++;
        m.backwards = !m.backwards;
    }
}

} // namespace

void simt_run(dim3 grid, int threads, size_t shared_bytes, const std::function<void()> &body)
{
    Machine &m = machine;
    here = &m;
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
    return here->shared_start;
}

/* Returns where the lanes of this warp publish WARP * EXCHANGE bytes. Two buffers alternate: a lane reads
 * its result before the exchange after the next. */
static char *simt_places(void)
{
    Machine &m = *here;
    size_t first = m.current / WARP * WARP;
    if (first + WARP > m.n)
        die("incomplete warp");
    return m.exchange.data() + (m.lanes[m.current].warp % 2 * m.n + first) * EXCHANGE;
}

/* Notes that this lane has published; returns true if it is the last of its warp. Then it must yield. */
static bool simt_arrive(void)
{
    Machine &m = *here;
    m.lanes[m.current].warp++;
    return ++m.warps[m.current / WARP].arrived == WARP;
}

/* Waits until all lanes of this warp have published. */
static void simt_meet(void)
{
    (void)simt_arrive();
    yield_fiber();
}

void __syncthreads(void)
{
    Machine &m = *here;
    size_t calls = ++m.fibers[m.current].calls;
    if (planted == SIMT_FAULT_BARRIER && calls > 2 && calls % 2) {
        simt_meet();
        return;
    }
    m.lanes[m.current].block++;
    m.arrived++;
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
    here->fibers[here->current].copies.push_back(Copy{shared, there ? global : nullptr});
}

void simt_copy_group(void)
{
    Fiber &f = here->fibers[here->current];
    f.ends.push_back(f.copies.size());
}

void simt_copy_wait_for(int groups)
{
    Fiber &f = here->fibers[here->current];
    for (; f.ends.size() - f.groups > (size_t)groups; f.groups++)
        for (; f.copied < f.ends[f.groups]; f.copied++) {
            const Copy &c = f.copies[f.copied];
            if (c.from)
                memcpy(c.to, c.from, 16);
            else if (planted != SIMT_FAULT_ZEROS)
                memset(c.to, 0, 16);
        }
}

/* ---- copies that a place counts ---- */

void simt_arrival_init(uint64_t *arrival)
{
    here->arrivals[arrival] = Arrival{nullptr, nullptr, 0, 0};
}

/* Returns a place that has been initialized. */
static Arrival *simt_arrival_of(uint64_t *arrival)
{
    auto found = here->arrivals.find(arrival);
    if (found == here->arrivals.end())
        die("a place for arrivals is not initialized");
    return &found->second;
}

static void simt_arrive_now(Arrival *a)
{
    memcpy(a->to, a->from, a->bytes);
    a->bytes = 0;
    a->phases++;
}

void simt_copy_bulk(void *shared, const void *global, int bytes, uint64_t *arrival)
{
    Arrival *a = simt_arrival_of(arrival);
    if ((uintptr_t)shared % 16 || (uintptr_t)global % 16 || bytes % 16 || bytes <= 0)
        die("misaligned copy");
    if (a->bytes && planted != SIMT_FAULT_ARRIVAL)
        die("a place counts two copies at a time");
    *a = Arrival{shared, global, (size_t)bytes, a->phases};
    if (here->backwards)
        simt_arrive_now(a);
}

void simt_arrival_wait(uint64_t *arrival, int parity)
{
    Arrival *a = simt_arrival_of(arrival);
    if (planted == SIMT_FAULT_ARRIVAL)
        return;
    if ((int)(a->phases % 2) == parity && a->bytes)
        simt_arrive_now(a);
    if ((int)(a->phases % 2) == parity)
        die("an endless wait for a copy");
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

/* A warp's product, D += A B, by rows. */
template <int DEPTH> struct Product {
    double a[16][DEPTH], b[DEPTH][8], d[16][8];
};
static_assert(sizeof(Product<16>) <= WARP * EXCHANGE, "exchanged as a whole");

/* Stores a lane's part of the operands of m16n8k16, which has two bf16 per register. The function below
 * does so for m16n8k8 with one tf32 per register, of which the hardware ignores the low bits. See the PTX
 * manual, "Matrix Fragments for mma.m16n8k16 with floating point type". */
void store(Product<16> *all, int lane, const uint32_t a[4], const uint32_t b[2])
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

void store(Product<8> *all, int lane, const uint32_t a[4], const uint32_t b[2])
{
    for (int i = 0; i < 4; i++)
        all->a[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = (double)simt_float(a[i] & 0xffffe000);
    for (int i = 0; i < 2; i++)
        all->b[lane % 4 + i * 4][lane / 4] = (double)simt_float(b[i] & 0xffffe000);
}

typedef double Row __attribute__((vector_size(64), aligned(16)));
typedef uint64_t RowBits __attribute__((vector_size(64)));

/* Computes a warp's product with the widest vectors of the CPU. The compiler fuses no operations, so all versions give
 * the same bits. Truncating drops the bits of a double that a float has not, after every `step` elements of depth. */
#ifdef __x86_64__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void multiply_rows(const double *a, const double *b, double *d, int depth, int step, uint64_t kept)
{
    for (int r = 0; r < 16; r++, a += depth, d += 8) {
        Row sums = *(Row *)d;
        for (int beg = 0; beg < depth; beg += step) {
            for (int k = beg; k < beg + step; k++)
                sums += a[k] * *(const Row *)(b + 8 * k);
            sums = (Row)((RowBits)sums & kept);
        }
        *(Row *)d = sums;
    }
}

template <int DEPTH> void multiply_all(Product<DEPTH> *p)
{
    const bool truncated = how_to_sum == SIMT_SUMS_TRUNCATED;
    multiply_rows(p->a[0], p->b[0], p->d[0], DEPTH, truncated ? DEPTH / 2 : DEPTH,
                  truncated ? ~(uint64_t)0x1fffffff : ~(uint64_t)0);
}

/* The last lane to arrive computes the product for all. */
template <int DEPTH> void multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    int lane = (int)threadIdx.x % WARP, row = lane / 4, column = lane % 4 * 2;
    auto *all = (Product<DEPTH> *)simt_places();
    store(all, lane, a, b);
    for (int i = 0; i < 4; i++)
        all->d[row + i / 2 * 8][column + i % 2] = (double)d[i];
    if (simt_arrive() && planted != SIMT_FAULT_PRODUCTS)
        multiply_all(all);
    yield_fiber();
    for (int i = 0; i < 4; i++)
        d[i] = (float)all->d[row + i / 2 * 8][column + i % 2];
}

/* The element of operand B, m64n64, at byte `depth` of a column, which descriptor b describes: rows of 128
 * bytes, whose pieces of 16 bytes are swizzled by address. See the PTX manual, "Matrix Descriptor Format"
 * and "Shared Memory Matrix Layout". */
double operand_b(uint64_t b, int column, int depth, bool bf16)
{
    uint32_t at = (uint32_t)(b & 0x3fff) << 4, apart = (uint32_t)(b >> 32 & 0x3fff) << 4;
    at += (uint32_t)(column / 8) * apart + (uint32_t)(column % 8 * 128 + depth);
    if (planted != SIMT_FAULT_SWIZZLE)
        at ^= (at >> 7 & 7) << 4;
    const char *from = here->shared_start + (at - simt_shared_address(here->shared_start));
    uint32_t bits = 0;
    memcpy((char *)&bits + (bf16 ? 2 : 0), from, bf16 ? 2 : 4);
    return (double)simt_float(bf16 ? bits : bits & 0xffffe000);
}

/* A warp's part of a product of a warpgroup. Each lane computes the elements that it has. */
void multiply_async(const Async &p)
{
    const int lane = (int)threadIdx.x % WARP, elements = p.bf16 ? 16 : 8, size = p.bf16 ? 2 : 4;
    const bool truncated = how_to_sum == SIMT_SUMS_TRUNCATED;
    const char *all = (const char *)simt_exchange(p.a, 4 * sizeof *p.a);
    double a[2][16];
    for (int row = 0; row < 2; row++)
        for (int k = 0; k < elements; k++) {
            const int byte = k * size, of = lane / 4 * 4 + byte % 16 / 4;
            uint32_t bits;
            memcpy(&bits, all + of * EXCHANGE + (byte / 16 * 2 + row) * 4, sizeof bits);
            a[row][k] = (double)simt_float(p.bf16 ? bits >> byte % 4 * 8 << 16 : bits & 0xffffe000);
        }
    for (int n = 0; n < 16; n++) {
        double b[16];
        for (int k = 0; k < elements; k++) {
            const int depth = k * size ^ (planted == SIMT_FAULT_HALVES ? 16 : 0);
            b[k] = operand_b(p.b, n / 2 * 8 + lane % 4 * 2 + n % 2, depth, p.bf16);
        }
        for (int row = 0; row < 2; row++) {
            float *to = &p.d[n / 2 * 4 + row * 2 + n % 2];
            double sum = (double)*to;
            for (int beg = 0; beg < elements; beg += elements / 2) {
                for (int k = beg; k < beg + elements / 2; k++)
                    sum += a[row][k] * b[k];
                uint64_t sum_bits;
                memcpy(&sum_bits, &sum, sizeof sum);
                sum_bits &= truncated ? ~(uint64_t)0x1fffffff : ~(uint64_t)0;
                memcpy(&sum, &sum_bits, sizeof sum);
            }
            *to = (float)sum;
        }
    }
}

} // namespace

uint32_t simt_shared_address(const void *shared)
{
    return (uint32_t)((const char *)shared - here->shared_start) + 16;
}

void simt_wgmma_add(float *d, const uint32_t *a, uint64_t b, bool bf16)
{
    Fiber &f = here->fibers[here->current];
    if (!f.fenced)
        die("a product of a warpgroup without a fence");
    if (b >> 62 != 1 || (b >> 49 & 7) != 0)
        die("another layout than 128 bytes, swizzled");
    f.products.push_back(Async{d, a, b, bf16});
}

void simt_wgmma_fence(void)
{
    here->fibers[here->current].fenced = true;
}

void simt_wgmma_group(void)
{
    Fiber &f = here->fibers[here->current];
    f.product_ends.push_back(f.products.size());
}

void simt_wgmma_wait_for(int groups)
{
    const size_t me = here->current, left = (size_t)groups + (planted == SIMT_FAULT_PENDING);
    for (; here->fibers[me].product_ends.size() - here->fibers[me].product_groups > left;
         here->fibers[me].product_groups++) {
        Fiber &f = here->fibers[me];
        for (; f.multiplied < f.product_ends[f.product_groups]; f.multiplied++)
            if (planted != SIMT_FAULT_PRODUCTS && !(planted == SIMT_FAULT_GEMM && simt_in_gemm))
                multiply_async(f.products[f.multiplied]);
    }
    here->fibers[me].fenced = false;
}

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

std::atomic<size_t> simt_prior_launches;

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
