/* cuda_runtime.cu - see runtime.h.
 * SPDX-License-Identifier: MIT */
extern "C" {
#include "common/compute/cuda/runtime.h"
}

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>

/* Translates a CUDA error; `what` is the operation that failed. */
static int check(cudaError_t code, struct cov_err *e, const char *what)
{
    if (code == cudaSuccess)
        return COV_OK;
    if (code == cudaErrorMemoryAllocation)
        (void)cudaGetLastError(); /* the caller may retry with a smaller size */
    return cov_fail(e, code == cudaErrorMemoryAllocation ? COV_ENOMEM : COV_EIO, "%s: %s", what,
                    cudaGetErrorString(code));
}

int cov_rt_count(int *n, struct cov_err *e)
{
    int driver = 0, runtime = 0;
    *n = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
        return cov_fail(e, COV_EUNSUPPORTED, "no working NVIDIA driver (libcuda.so.1)");
    cudaError_t code = cudaGetDeviceCount(n);
    if (code == cudaErrorInsufficientDriver)
        return cov_fail(e, COV_EUNSUPPORTED,
                        "the NVIDIA driver supports CUDA %d.%d, but covtools-cuda.so was built "
                        "with %d.%d: install a newer driver",
                        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    if (code == cudaErrorNoDevice || (code == cudaSuccess && *n == 0))
        return cov_fail(e, COV_EUNSUPPORTED,
                        "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides those that it "
                        "does not list)");
    if (code != cudaSuccess)
        return cov_fail(e, COV_EUNSUPPORTED, "CUDA: %s", cudaGetErrorString(code));
    return COV_OK;
}

int cov_rt_describe(int card, struct cov_rt_card *out, struct cov_err *e)
{
    struct cudaDeviceProp p;
    int rc = check(cudaGetDeviceProperties(&p, card), e, "properties of the GPU");
    if (rc)
        return rc;
    (void)snprintf(out->name, sizeof out->name, "%s", p.name);
    out->major = p.major;
    out->minor = p.minor;
    out->n_multiprocessors = p.multiProcessorCount;
    out->shared_bytes = p.sharedMemPerBlockOptin;
    int clock_khz = 0, memory_khz = 0, bus_bits = 0;
    if (cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, card) != cudaSuccess ||
        cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, card) != cudaSuccess ||
        cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, card) != cudaSuccess)
        (void)cudaGetLastError(); /* only benchmarks use them */
    out->clock_hz = clock_khz * 1e3;
    out->memory_bytes_per_s = memory_khz * 1e3 * bus_bits / 8 * 2; /* double data rate */
    return COV_OK;
}

static __global__ void nothing(void)
{
}

int cov_rt_check(int card, struct cov_err *e)
{
    struct cudaFuncAttributes attributes;
    int rc = cov_rt_use(card, e);
    if (rc)
        return rc;
    cudaError_t code = cudaFuncGetAttributes(&attributes, (const void *)nothing);
    (void)cudaGetLastError();
    if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction)
        return cov_fail(e, COV_EUNSUPPORTED, "covtools-cuda.so was not built for this type of GPU");
    return check(code, e, "kernels");
}

int cov_rt_use(int card, struct cov_err *e)
{
    return check(cudaSetDevice(card), e, "choosing the GPU");
}

int cov_rt_free_bytes(int card, size_t *out, struct cov_err *e)
{
    size_t total;
    int rc = cov_rt_use(card, e);
    return rc ? rc : check(cudaMemGetInfo(out, &total), e, "free memory");
}

int cov_rt_alloc(int card, size_t bytes, void **out, struct cov_err *e)
{
    *out = NULL;
    int rc = cov_rt_use(card, e);
    return rc ? rc : check(cudaMalloc(out, bytes ? bytes : 1), e, "memory");
}

void cov_rt_free(int card, void *p)
{
    if (p && cov_rt_use(card, NULL) == COV_OK)
        (void)cudaFree(p);
}

int cov_rt_alloc_host(int card, size_t bytes, void **out, struct cov_err *e)
{
    *out = NULL;
    int rc = cov_rt_use(card, e);
    return rc ? rc
              : check(cudaHostAlloc(out, bytes ? bytes : 1, cudaHostAllocPortable), e,
                      "pinned memory");
}

void cov_rt_free_host(int card, void *p)
{
    if (p && cov_rt_use(card, NULL) == COV_OK)
        (void)cudaFreeHost(p);
}

/* Makes a stream that is independent of all others, including the default stream. */
int cov_rt_stream_new(int card, void **out, struct cov_err *e)
{
    cudaStream_t stream;
    *out = NULL;
    int rc = cov_rt_use(card, e);
    if (rc)
        return rc;
    rc = check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), e, "a stream");
    if (rc == COV_OK)
        *out = stream;
    return rc;
}

void cov_rt_stream_free(int card, void *stream)
{
    if (stream && cov_rt_use(card, NULL) == COV_OK)
        (void)cudaStreamDestroy((cudaStream_t)stream);
}

int cov_rt_copy_in(void *stream, void *card_memory, const void *host, size_t bytes,
                   struct cov_err *e)
{
    return check(
        cudaMemcpyAsync(card_memory, host, bytes, cudaMemcpyHostToDevice, (cudaStream_t)stream), e,
        "copying to the GPU");
}

int cov_rt_copy_out(void *stream, void *host, const void *card_memory, size_t bytes,
                    struct cov_err *e)
{
    return check(
        cudaMemcpyAsync(host, card_memory, bytes, cudaMemcpyDeviceToHost, (cudaStream_t)stream), e,
        "copying from the GPU");
}

/* Until the recording ends, only calls of this thread are restricted. */
int cov_rt_record(void *stream, struct cov_err *e)
{
    cudaError_t code =
        cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeThreadLocal);
    if (code != cudaSuccess)
        (void)cudaGetLastError(); /* the caller queues the work without a graph */
    return check(code, e, "recording a graph");
}

int cov_rt_recorded(void *stream, void **graph, struct cov_err *e)
{
    cudaGraph_t recorded = NULL;
    cudaGraphExec_t made = NULL;
    cudaError_t code = cudaStreamEndCapture((cudaStream_t)stream, &recorded);
    if (code == cudaSuccess)
        code = cudaGraphInstantiate(&made, recorded, 0);
    if (code != cudaSuccess)
        (void)cudaGetLastError(); /* the caller queues the work without a graph */
    if (recorded)
        (void)cudaGraphDestroy(recorded);
    *graph = code == cudaSuccess ? made : NULL;
    return check(code, e, "recording a graph");
}

int cov_rt_replay(void *stream, void *graph, struct cov_err *e)
{
    return check(cudaGraphLaunch((cudaGraphExec_t)graph, (cudaStream_t)stream), e,
                 "starting a graph");
}

void cov_rt_graph_free(int card, void *graph)
{
    if (graph && cov_rt_use(card, NULL) == COV_OK)
        (void)cudaGraphExecDestroy((cudaGraphExec_t)graph);
}

int cov_rt_launched(const char *what, struct cov_err *e)
{
    return check(cudaGetLastError(), e, what);
}

/* Waits for an event, so that the thread sleeps whatever flags the device was initialised with. */
int cov_rt_wait(void *stream, struct cov_err *e)
{
    cudaEvent_t event;
    /* An event lets the thread sleep. Without one it must wait, too, because the caller will use the
     * memory again. */
    if (cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming))
        return check(cudaStreamSynchronize((cudaStream_t)stream), e, "computing");
    int rc = cudaEventRecord(event, (cudaStream_t)stream) == cudaSuccess
                 ? check(cudaEventSynchronize(event), e, "computing")
                 : check(cudaStreamSynchronize((cudaStream_t)stream), e, "computing");
    (void)cudaEventDestroy(event);
    return rc;
}

void *cov_rt_cublas_function(const char *name)
{
    /* The plugin does not depend on the version, whose functions and numbers stay the same. */
    static void *const library = [] {
        void *found = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
        return found ? found : dlopen("libcublasLt.so.12", RTLD_NOW | RTLD_LOCAL);
    }();
    return library ? dlsym(library, name) : NULL;
}
