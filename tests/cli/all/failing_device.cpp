// Preloaded into a tool (LD_PRELOAD), makes a GPU fail.
//
//   CSRKIT_DEVICE_FAULT="allocate N"   allocation N (from 1) of device or page-locked memory fails
//   CSRKIT_DEVICE_FAULT="exhaust N"    allocation N and all after it fail: there is no memory left
//   CSRKIT_DEVICE_FAULT="call N" call N and all after it report an illegal address, as they do
//                                      when a kernel has broken its context
//   CSRKIT_DEVICE_FAULT_LOG=FILE       gets the numbers of both: "ALLOCATIONS CALLS"
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum class Kind { allocate, call };
std::atomic<long> allocations{0}, calls{0};
std::atomic<bool> is_broken{false}, is_exhausted{false};

long wanted(const char* kind) {
  const char* const fault = std::getenv("CSRKIT_DEVICE_FAULT");
  const std::size_t length = std::strlen(kind);
  if (fault == nullptr || std::strncmp(fault, kind, length) != 0) return 0;
  return std::atol(fault + length);
}

/// The tools open the runtime late and for themselves, so RTLD_NEXT does not see it.
void* real(const char* name) {
  static void* const runtime = ::dlopen("libcudart.so.13", RTLD_LAZY | RTLD_NOLOAD);
  void* const found = runtime == nullptr ? nullptr : ::dlsym(runtime, name);
  if (found == nullptr) {
    std::fprintf(stderr, "failing_device: the CUDA runtime has no %s\n", name);
    std::abort();
  }
  return found;
}

cudaError_t verdict(Kind kind) {
  static const long allocation = wanted("allocate "), last = wanted("exhaust "),
                    call = wanted("call ");
  if (kind == Kind::allocate) {
    const long number = ++allocations;
    if (number == last) is_exhausted = true;
    if (number == allocation || is_exhausted) return cudaErrorMemoryAllocation;
  }
  if (kind == Kind::call && ++calls == call) is_broken = true;
  return is_broken ? cudaErrorIllegalAddress : cudaSuccess;
}

[[gnu::destructor]] void write_log() {
  const char* const path = std::getenv("CSRKIT_DEVICE_FAULT_LOG");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%ld %ld\n", allocations.load(), calls.load());
  std::fclose(file);
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): a list of parameters cannot stand in more of them
#define CSRKIT_MAY_FAIL(kind, name, parameters, arguments)                             \
  extern "C" cudaError_t CUDARTAPI name parameters {                                   \
    static const auto next = reinterpret_cast<cudaError_t(*) parameters>(real(#name)); \
    const cudaError_t status = verdict(Kind::kind);                                    \
    return status == cudaSuccess ? next arguments : status;                            \
  }
// NOLINTEND(bugprone-macro-parentheses)

CSRKIT_MAY_FAIL(allocate, cudaMalloc, (void** data, size_t bytes), (data, bytes))
CSRKIT_MAY_FAIL(allocate, cudaMallocFromPoolAsync,
                (void** data, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                (data, bytes, pool, stream))
CSRKIT_MAY_FAIL(allocate, cudaHostRegister, (void* data, size_t bytes, unsigned flags),
                (data, bytes, flags))
CSRKIT_MAY_FAIL(allocate, cudaHostAlloc, (void** data, size_t bytes, unsigned flags),
                (data, bytes, flags))
CSRKIT_MAY_FAIL(call, cudaMemcpy, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind),
                (to, from, bytes, kind))
CSRKIT_MAY_FAIL(call, cudaMemcpyAsync,
                (void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream),
                (to, from, bytes, kind, stream))
CSRKIT_MAY_FAIL(call, cudaMemset, (void* data, int value, size_t bytes), (data, value, bytes))
CSRKIT_MAY_FAIL(call, cudaMemsetAsync, (void* data, int value, size_t bytes, cudaStream_t stream),
                (data, value, bytes, stream))
CSRKIT_MAY_FAIL(call, cudaStreamSynchronize, (cudaStream_t stream), (stream))
CSRKIT_MAY_FAIL(call, cudaDeviceSynchronize, (), ())
CSRKIT_MAY_FAIL(call, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
CSRKIT_MAY_FAIL(call, cudaEventSynchronize, (cudaEvent_t event), (event))
CSRKIT_MAY_FAIL(call, cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t stream),
                (graph, stream))
CSRKIT_MAY_FAIL(call, cudaLaunchKernelExC,
                (const cudaLaunchConfig_t* config, const void* function, void** arguments),
                (config, function, arguments))
CSRKIT_MAY_FAIL(call, cudaLaunchCooperativeKernel,
                (const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                 cudaStream_t stream),
                (function, grid, block, arguments, shared, stream))

// A broken context tells it to whoever asks.
#define CSRKIT_LAST_ERROR(name)                                                \
  extern "C" cudaError_t CUDARTAPI name() {                                    \
    static const auto next = reinterpret_cast<cudaError_t (*)()>(real(#name)); \
    const cudaError_t status = next();                                         \
    return is_broken ? cudaErrorIllegalAddress : status;                       \
  }
CSRKIT_LAST_ERROR(cudaGetLastError)
CSRKIT_LAST_ERROR(cudaPeekAtLastError)
