/* simt.h - the primitives that kernels use: those of CUDA, and thin wrappers of PTX instructions. Tests
 * provide an emulation of the same primitives (tests/mock/simt_emulated.h, included before everything
 * else), so that the kernels also run without a GPU.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_SIMT_H
#define COV_COMPUTE_CUDA_SIMT_H

#include <stddef.h>
#include <stdint.h>

#include "common/compute/cuda/conv_index.h"

#if !defined(SIMT_EMULATED_H)
#if !defined(__CUDACC__)
#error "neither nvcc nor the emulation"
#endif

/* Kernel names, especially those of templates, must be unique across all files: the linker merges
 * templates of the same name. */
#define SIMT_KERNEL(threads) __global__ void __launch_bounds__(threads)
/* The same, with registers for at least `blocks` blocks per multiprocessor. */
#define SIMT_KERNEL_BLOCKS(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
#define SIMT_DEVICE static __device__ __forceinline__
#define SIMT_DEVICE_MEMBER __device__ __forceinline__

/* The dynamic shared memory of the block; the launch sets its size. */
SIMT_DEVICE char *simt_shared(void)
{
    extern __shared__ uint4 simt_shared_memory[];
    return (char *)simt_shared_memory;
}

/* Returns `shared` in a way that the compiler does not see through. Otherwise, code for sm_90 often
 * computes addresses in shared memory again from special registers, which takes some 30 cycles. All
 * lanes of the warp must call it. */
template <typename T> SIMT_DEVICE T *simt_keep_address(T *shared)
{
    uint32_t address = (uint32_t)__cvta_generic_to_shared(shared);
    return (T *)__cvta_shared_to_generic(__shfl_sync(0xffffffffU, address, (int)threadIdx.x % 32));
}

/* Returns p + row * bytes, in global memory; one instruction. */
SIMT_DEVICE void *simt_row(const void *p, int row, int bytes)
{
    uint64_t address;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(address) : "r"(row), "r"(bytes), "l"(p));
    return __cvta_global_to_generic(address);
}

/* Starts to read the 32 bytes at p into the L2 cache. */
SIMT_DEVICE void simt_prefetch(const void *p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

SIMT_DEVICE float simt_float(uint32_t bits)
{
    return __uint_as_float(bits);
}

SIMT_DEVICE uint32_t simt_bits(float v)
{
    return __float_as_uint(v);
}

/* Reads through the read-only cache. */
SIMT_DEVICE float4 simt_read4(const float *p)
{
    return __ldg((const float4 *)p);
}

/* 2^v with a relative error of about 2^-22. */
SIMT_DEVICE float simt_exp2_fast(float v)
{
    float e;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(v));
    return e;
}

/* 1 / v with an error of at most 1 ulp; 0 for |v| > 2^126. */
SIMT_DEVICE float simt_reciprocal_fast(float v)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}

/* Returns the larger or the smaller of a and b, or NaN if one of them is NaN. */
SIMT_DEVICE float simt_max(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
    return larger;
#else
    return a < b || b != b ? b : a;
#endif
}

SIMT_DEVICE float simt_min(float a, float b)
{
    return -simt_max(-a, -b);
}

/* a b + c, rounded once, and e^v; the emulation can plant faults in both. */
SIMT_DEVICE float simt_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}

SIMT_DEVICE float simt_exp(float v)
{
    return expf(v);
}

/* Returns a mask in which bit i is `v` of lane i. All lanes of the warp must call it. */
SIMT_DEVICE uint32_t simt_ballot(bool v)
{
    return __ballot_sync(0xffffffffU, v);
}

/* Returns v of the lane whose number differs in the bits of `mask`. All lanes of the warp must call it. */
SIMT_DEVICE float simt_shuffle_xor(float v, int mask)
{
    return __shfl_xor_sync(0xffffffffU, v, mask);
}

/* Sets *shared to 1 if v. */
SIMT_DEVICE void simt_mark(uint32_t *shared, bool v)
{
    if (v)
        *shared = 1;
}

/* *shared |= bits, atomically. */
SIMT_DEVICE void simt_or(uint32_t *shared, uint32_t bits)
{
    (void)atomicOr(shared, bits);
}

SIMT_DEVICE uint32_t simt_shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Turing lacks these instructions; there, the host does not launch kernels that use them. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define SIMT_AMPERE_ASM(...) asm volatile(__VA_ARGS__)
#else
#define SIMT_AMPERE_ASM(...) __trap()
#endif

/* Starts an asynchronous copy of 16 bytes to shared memory; if !there, writes zeros and reads
 * nothing. */
SIMT_DEVICE void simt_copy16(void *shared, const void *global, bool there)
{
    SIMT_AMPERE_ASM(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(simt_shared_address(shared)),
        "l"(global), "r"(there ? 16 : 0)
        : "memory");
}

/* Commits the copies since the last call as one group. */
SIMT_DEVICE void simt_copy_group(void)
{
    SIMT_AMPERE_ASM("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most the last N groups of this thread are pending. */
template <int N> SIMT_DEVICE void simt_copy_wait(void)
{
    SIMT_AMPERE_ASM("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* ldmatrix: loads four matrices of 8 rows of 16 bytes. Lane i passes the address of row i % 8 of matrix
 * i / 8, and receives 4 bytes of row i / 4 of each matrix, starting at byte 4 (i % 4). All lanes of
 * the warp must call it; the same holds for the products below. */
SIMT_DEVICE void simt_load_matrices(uint32_t r[4], const void *shared)
{
    SIMT_AMPERE_ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                    : "r"(simt_shared_address(shared))
                    : "memory");
}

/* The same, with each matrix of 8 by 8 bf16 transposed. */
SIMT_DEVICE void simt_load_transposed(uint32_t r[4], const void *shared)
{
    SIMT_AMPERE_ASM("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                    : "r"(simt_shared_address(shared))
                    : "memory");
}

/* d[16,8] += a[16,16] b[16,8] of bf16. */
SIMT_DEVICE void simt_mma_bf16(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    SIMT_AMPERE_ASM("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                    "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* d[16,8] += a[16,8] b[8,8] of tf32. */
SIMT_DEVICE void simt_mma_tf32(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
    SIMT_AMPERE_ASM("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                    "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Products of warpgroups exist on compute capability 9.0 only, in code for sm_90a; the host launches
 * their kernels nowhere else. */
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SIMT_HOPPER_ASM(...) asm volatile(__VA_ARGS__)
#else
#define SIMT_HOPPER_ASM(...) __trap()
#endif

/* d[64,64] += a[64,32 bytes] b[32 bytes,64], of bf16 or tf32, by the four warps of a warpgroup, the first
 * of which has a number divisible by four. Warp i has rows 16 i to 16 i + 15 of d and a, as fragments of
 * mma.m16n8: d[4 n] to d[4 n + 3] are those of columns 8 n to 8 n + 7. `b` describes shared memory. The
 * product runs asynchronously: neither d nor a may be used until it has been waited for. */
template <bool BF16> SIMT_DEVICE void simt_wgmma(float (&d)[32], const uint32_t (&a)[4], uint64_t b)
{
    if constexpr (BF16)
        SIMT_HOPPER_ASM("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
                        "%0, %1, %2, %3, %4, %5, %6, %7, "
                        "%8, %9, %10, %11, %12, %13, %14, %15, "
                        "%16, %17, %18, %19, %20, %21, %22, %23, "
                        "%24, %25, %26, %27, %28, %29, %30, %31}, "
                        "{%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
                        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                          "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]),
                          "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    else
        SIMT_HOPPER_ASM("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {"
                        "%0, %1, %2, %3, %4, %5, %6, %7, "
                        "%8, %9, %10, %11, %12, %13, %14, %15, "
                        "%16, %17, %18, %19, %20, %21, %22, %23, "
                        "%24, %25, %26, %27, %28, %29, %30, %31}, "
                        "{%32, %33, %34, %35}, %36, 1, 1, 1;"
                        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                          "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                          "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]),
                          "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* Orders earlier uses of registers before the following products. */
SIMT_DEVICE void simt_wgmma_fence(void)
{
    SIMT_HOPPER_ASM("wgmma.fence.sync.aligned;" ::: "memory");
}

/* Commits the products since the last call as one group. */
SIMT_DEVICE void simt_wgmma_group(void)
{
    SIMT_HOPPER_ASM("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most the last N groups are pending. */
template <int N> SIMT_DEVICE void simt_wgmma_wait(void)
{
    SIMT_HOPPER_ASM("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* Keeps the compiler from moving uses of d to before the last wait. */
SIMT_DEVICE void simt_wgmma_results(float (&d)[32])
{
#pragma unroll
    for (int i = 0; i < 32; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

/* Prepares a place in shared memory that counts arrivals of copies (mbarrier), for waits after the next
 * barrier. */
SIMT_DEVICE void simt_arrival_init(uint64_t *arrival)
{
    SIMT_HOPPER_ASM("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                    "fence.proxy.async.shared::cta;" ::"r"(simt_shared_address(arrival))
                    : "memory");
}

/* Starts an asynchronous copy of `bytes` bytes, a multiple of 16, to shared memory; one thread calls it.
 * A place counts one copy at a time. */
SIMT_DEVICE void simt_copy_bulk(void *shared, const void *global, int bytes, uint64_t *arrival)
{
    SIMT_HOPPER_ASM(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%3], %2;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(simt_shared_address(shared)),
        "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(simt_shared_address(arrival))
        : "memory");
}

/* Waits for the first copy of a place, the third, ... if `parity` is 0; for the second, the fourth, ... if
 * it is 1. */
SIMT_DEVICE void simt_arrival_wait(uint64_t *arrival, int parity)
{
    uint32_t arrived = 1;
    do
        SIMT_HOPPER_ASM("{ .reg .pred arrived;\n"
                        "mbarrier.try_wait.parity.shared::cta.b64 arrived, [%1], %2;\n"
                        "selp.b32 %0, 1, 0, arrived; }"
                        : "=r"(arrived)
                        : "r"(simt_shared_address(arrival)), "r"(parity)
                        : "memory");
    while (!arrived);
}

/* Reads 16 bytes through the read-only cache; if !there, reads nothing, and the result is undefined. */
SIMT_DEVICE uint4 simt_read16(const void *p, bool there)
{
    uint4 v;
    asm volatile("{ .reg .pred there;\n"
                 "setp.ne.b32 there, %5, 0;\n"
                 "@there ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p), "r"((int)there));
    return v;
}

/* Rounds two values to fp16 (to nearest even; large ones become infinite); `a` becomes the low half. */
SIMT_DEVICE uint32_t simt_fp16_pair(float a, float b)
{
    uint32_t pair;
    asm("{ .reg .f16 low, high;\n"
        "cvt.rn.f16.f32 low, %1; cvt.rn.f16.f32 high, %2; mov.b32 %0, {low, high}; }"
        : "=r"(pair)
        : "f"(a), "f"(b));
    return pair;
}

/* The two values of such a pair. */
SIMT_DEVICE float2 simt_of_fp16_pair(uint32_t pair)
{
    float2 v;
    asm("{ .reg .f16 low, high;\n"
        "mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(v.x), "=f"(v.y)
        : "r"(pair));
    return v;
}

/* Queues a kernel; cov_rt_launched (runtime.h) reports a failure. More than 48 KiB of shared memory
 * must be requested explicitly. Blocks of kernels of a lower priority, a larger number, wait for its
 * blocks to find room; 0: the lowest. */
template <typename... Parameters, typename... Arguments>
static void simt_launch_at(int priority, void (*kernel)(Parameters...), dim3 grid, int threads,
                           size_t shared_bytes, void *stream, Arguments... arguments)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    if (shared_bytes > 48 * 1024)
        (void)cudaFuncSetAttribute((const void *)kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = priority;
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = (cudaStream_t)stream;
    config.attrs = &attribute;
    config.numAttrs = priority ? 1 : 0;
    cudaError_t code = cudaLaunchKernelEx(&config, kernel, arguments...);
    if (code != cudaSuccess && priority) { /* values do not depend on it: try without */
        (void)cudaGetLastError();
        config.numAttrs = 0;
        (void)cudaLaunchKernelEx(&config, kernel, arguments...);
    }
}

template <typename... Parameters, typename... Arguments>
static void simt_launch(void (*kernel)(Parameters...), dim3 grid, int threads, size_t shared_bytes,
                        void *stream, Arguments... arguments)
{
    simt_launch_at(0, kernel, grid, threads, shared_bytes, stream, arguments...);
}

#endif

/* Rounds two values to bf16 (to nearest even); `a` becomes the low half. */
SIMT_DEVICE uint32_t simt_bf16_pair(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(b), "f"(a));
    return pair;
#else
    return cov_bf16_of_bits(simt_bits(a)) | cov_bf16_of_bits(simt_bits(b)) << 16;
#endif
}

/* v rounded to bf16. The conversion of a pair is four times as fast as that of a single value. */
SIMT_DEVICE uint32_t simt_bf16(float v)
{
    return simt_bf16_pair(v, 0);
}

/* v rounded to tf32, which has 10 bits of fraction: to nearest, ties away from zero, as cvt.rna.tf32
 * does. */
SIMT_DEVICE uint32_t simt_tf32(float v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(v));
    return rounded;
#else
    uint32_t bits = simt_bits(v);
    return (bits & 0x7f800000) == 0x7f800000 ? bits : (bits + 0x1000) & 0xffffe000;
#endif
}

/* For kernels in which each thread computes one item: the thread's item, and the launch for n items. */
enum { SIMT_THREADS = 256 };

SIMT_DEVICE size_t simt_item(void)
{
    return (size_t)blockIdx.x * SIMT_THREADS + threadIdx.x;
}

template <typename... Parameters, typename... Arguments>
static void simt_launch_items(void (*kernel)(Parameters...), size_t n, void *stream,
                              Arguments... arguments)
{
    if (n > 0)
        simt_launch(kernel, dim3((unsigned)((n + SIMT_THREADS - 1) / SIMT_THREADS)), SIMT_THREADS,
                    0, stream, arguments...);
}

#endif
