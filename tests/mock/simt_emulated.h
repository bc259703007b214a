/* simt_emulated.h - the primitives of common/compute/cuda/simt.h on a CPU, so that kernels run without a
 * GPU. Tests only.
 *
 * The threads of a block are fibers of one CPU thread. Each runs until a barrier, or until lanes of
 * its warp wait for each other; the order in which they take turns alternates. Products of tensor
 * cores and ldmatrix follow the fragment layouts of the PTX manual. Copies to shared memory happen
 * only when they are waited for, as do products of warpgroups, which read their operands then. A
 * barrier that not all threads reach aborts the program, and so does an endless wait. The
 * emulation cannot detect races that neither order exposes, errors in the asm of simt.h, or timing
 * problems.
 * SPDX-License-Identifier: MIT */
#ifndef SIMT_EMULATED_H
#define SIMT_EMULATED_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <atomic>
#include <functional>
#include <type_traits>

#define SIMT_KERNEL(threads) static void
#define SIMT_KERNEL_BLOCKS(threads, blocks) static void
#define SIMT_DEVICE static inline
#define SIMT_DEVICE_MEMBER inline

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z)
    {
    }
};
struct uint4 {
    uint32_t x, y, z, w;
};
struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};

static inline float2 make_float2(float x, float y)
{
    return float2{x, y};
}

static inline float4 make_float4(float x, float y, float z, float w)
{
    return float4{x, y, z, w};
}

extern __thread dim3 threadIdx, blockIdx, blockDim, gridDim;
char *simt_shared(void);
void __syncthreads(void);

void simt_copy16(void *shared, const void *global, bool there);
void simt_copy_group(void);
void simt_copy_wait_for(int groups);
template <int N> static inline void simt_copy_wait(void)
{
    simt_copy_wait_for(N);
}

template <typename T> static inline T *simt_keep_address(T *shared)
{
    return shared;
}

static inline void *simt_row(const void *p, int row, int bytes)
{
    return (char *)p + (ptrdiff_t)row * bytes;
}

struct uint2 {
    uint32_t x, y;
};

static inline uint2 make_uint2(uint32_t x, uint32_t y)
{
    return uint2{x, y};
}

static inline void simt_prefetch(const void *)
{
}

static inline float simt_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint32_t simt_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* v rounded to fp16, and the value of fp16 bits. */
static inline uint32_t simt_fp16(float v)
{
    const uint32_t sign = simt_bits(v) >> 16 & 0x8000, bits = simt_bits(v) & 0x7fffffff;
    if (bits > 0x7f800000)
        return sign | 0x7e00;
    if (bits < 0x38800000) /* less than 2^-14 */
        return sign | (uint32_t)rintf(simt_float(bits) * 0x1p24f);
    const uint32_t rounded = (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
    return sign | (rounded < 0x7c00 ? rounded : 0x7c00);
}

static inline float simt_of_fp16(uint32_t half)
{
    const uint32_t sign = (half & 0x8000) << 16, bits = half & 0x7fff;
    if (bits < 0x400)
        return simt_float(sign | simt_bits((float)bits * 0x1p-24f));
    return simt_float(sign | (bits < 0x7c00 ? (bits << 13) + 0x38000000 : 0x7f800000 | bits << 13));
}

static inline uint32_t simt_fp16_pair(float a, float b)
{
    return simt_fp16(a) | simt_fp16(b) << 16;
}

static inline float2 simt_of_fp16_pair(uint32_t pair)
{
    return float2{simt_of_fp16(pair & 0xffff), simt_of_fp16(pair >> 16)};
}

/* Aborts if the address is not a multiple of 16, as the hardware would. */
float4 simt_read4(const float *p);

/* Faults that tests plant, to show that checks find them. */
enum simt_fault {
    SIMT_FAULT_NONE,
    SIMT_FAULT_PRODUCTS, /* products of tensor cores and of the last two layers are zero */
    SIMT_FAULT_HALVES,   /* the halves of operand B are swapped */
    SIMT_FAULT_H,        /* fast exponentials are 1, so LSTMs in bf16 return h = 0 */
    SIMT_FAULT_EXP,      /* the last layer returns its sums instead of their exponentials */
    SIMT_FAULT_BARRIER,  /* the third barrier, the fifth, ... wait for the warp only */
    SIMT_FAULT_ZEROS,    /* copies that write zeros do nothing */
    SIMT_FAULT_REST,     /* no lane votes or marks, so that moving sequences rest */
    SIMT_FAULT_GEMM,     /* products of bf16 are zero in kernels of struct cov_cuda_gemm */
    SIMT_FAULT_SWIZZLE,  /* products of warpgroups read rows in the order of their addresses */
    SIMT_FAULT_ARRIVAL,  /* waits for the arrival of copies do nothing */
    SIMT_FAULT_PENDING,  /* waits for products of warpgroups leave one more group pending */
};
/* Applies to all threads, like simt_set_sums; returns the previous fault. */
enum simt_fault simt_set_fault(enum simt_fault fault);
enum simt_fault simt_get_fault(void);

static inline float simt_exp2_fast(float v)
{
    return simt_get_fault() == SIMT_FAULT_H ? 1.0f : exp2f(v);
}

static inline float simt_reciprocal_fast(float v)
{
    return 1.0f / v;
}

static inline float simt_max(float a, float b)
{
    return a < b || b != b ? b : a;
}

static inline float simt_min(float a, float b)
{
    return a > b || b != b ? b : a;
}

/* As the library's, which is slow where the compiler may not use FMA: the product is exact in double. A sum rounded
 * twice differs from one rounded once in one case of 2^29. */
#define fmaf(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))

static inline float simt_fma(float a, float b, float c)
{
    return simt_get_fault() == SIMT_FAULT_PRODUCTS ? c : fmaf(a, b, c);
}

static inline float simt_exp(float v)
{
    return simt_get_fault() == SIMT_FAULT_EXP ? v : expf(v);
}

uint32_t simt_ballot(bool v);
float simt_shuffle_xor(float v, int mask);

static inline void simt_mark(uint32_t *shared, bool v)
{
    if (v && simt_get_fault() != SIMT_FAULT_REST)
        *shared = 1;
}

static inline void simt_or(uint32_t *shared, uint32_t bits)
{
    *shared |= bits;
}

void simt_load_matrices(uint32_t r[4], const void *shared);
void simt_load_transposed(uint32_t r[4], const void *shared);
void simt_mma_bf16(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1);
void simt_mma_tf32(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1);

/* Products of warpgroups. A warp computes its own rows. */
uint32_t simt_shared_address(const void *shared);
void simt_wgmma_add(float *d, const uint32_t *a, uint64_t b, bool bf16);
void simt_wgmma_fence(void);
void simt_wgmma_group(void);
void simt_wgmma_wait_for(int groups);

template <bool BF16>
static inline void simt_wgmma(float (&d)[32], const uint32_t (&a)[4], uint64_t b)
{
    simt_wgmma_add(d, a, b, BF16);
}

template <int N> static inline void simt_wgmma_wait(void)
{
    simt_wgmma_wait_for(N);
}

static inline void simt_wgmma_results(float (&)[32])
{
}

/* Copies to shared memory that a place counts. Every other time, they happen at once. */
void simt_arrival_init(uint64_t *arrival);
void simt_copy_bulk(void *shared, const void *global, int bytes, uint64_t *arrival);
void simt_arrival_wait(uint64_t *arrival, int parity);

static inline uint4 simt_read16(const void *p, bool there)
{
    uint4 v = {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
    if (there)
        memcpy(&v, p, sizeof v);
    return v;
}

/* How products of tensor cores are summed. The hardware truncates: it adds a few products at a time
 * to the sum, and drops the bits that do not fit. */
enum simt_sums {
    SIMT_SUMS_EXACT,     /* in double, rounded once per product of matrices */
    SIMT_SUMS_TRUNCATED, /* truncated after every 8 elements of depth of bf16, or 4 of tf32 */
};
/* Applies to all threads; call it while no kernel runs. */
void simt_set_sums(enum simt_sums sums);

/* Runs the blocks of a grid, each of `threads` threads, one by one. */
void simt_run(dim3 grid, int threads, size_t shared_bytes, const std::function<void()> &body);
/* Queues `work` on a stream of the emulated runtime. */
void simt_queue(void *stream, std::function<void()> work);

struct cov_cuda_gemm;
/* True in the kernels of struct cov_cuda_gemm. */
extern __thread bool simt_in_gemm;

/* Counts launches with a priority. */
extern std::atomic<size_t> simt_prior_launches;

template <typename... Parameters, typename... Arguments>
static void simt_launch_at(int priority, void (*kernel)(Parameters...), dim3 grid, int threads,
                           size_t shared_bytes, void *stream, Arguments... arguments)
{
    simt_prior_launches += priority < 0;
    simt_queue(stream, [=] {
        simt_in_gemm = (std::is_same<Parameters, struct cov_cuda_gemm>::value || ...);
        simt_run(grid, threads, shared_bytes, [=] { kernel(arguments...); });
    });
}

template <typename... Parameters, typename... Arguments>
static void simt_launch(void (*kernel)(Parameters...), dim3 grid, int threads, size_t shared_bytes,
                        void *stream, Arguments... arguments)
{
    simt_launch_at(0, kernel, grid, threads, shared_bytes, stream, arguments...);
}

#endif
