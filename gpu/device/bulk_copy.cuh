// Bulk copies (cp.async.bulk): the hardware copies a stretch of global memory to shared memory
// without registers or waiting threads, and a barrier counts the bytes. Needs compute capability
// 9.0; older devices trap.
#pragma once

#include <cstdint>

namespace csrkit::gpu {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CSRKIT_BULK_ASM(...) asm volatile(__VA_ARGS__)
#else
#define CSRKIT_BULK_ASM(...) __trap()
#endif

__device__ inline std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// An mbarrier in shared memory: one thread announces how many bytes will come, others wait for
/// them. It is used in rounds, one after the other; each waiting thread counts the rounds itself.
class BulkBarrier {
 public:
  /// By one thread, before the first round.
  __device__ void begin() {
    CSRKIT_BULK_ASM("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(this))
                    : "memory");
    CSRKIT_BULK_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  /// By one thread, once a round: the round is full after `bytes` bytes, which may be 0.
  __device__ void expect(std::uint32_t bytes) {
    CSRKIT_BULK_ASM(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)),
        "r"(bytes)
        : "memory");
  }
  /// Returns when the round is full. `round` is its parity, 0 or 1.
  __device__ void wait(std::uint32_t round) {
    std::uint32_t is_full = 0;
    while (is_full == 0) {
      CSRKIT_BULK_ASM(
          "{\n.reg .pred full;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 full, [%1], %2;\n"
          "selp.u32 %0, 1, 0, full;\n}"
          : "=r"(is_full)
          : "r"(shared_address(this)), "r"(round)
          : "memory");
    }
  }

 private:
  std::uint64_t word_;
};

/// A policy for data that is read once: L2 evicts its lines first.
__device__ inline std::uint64_t evicted_first() {
  std::uint64_t policy = 0;
  CSRKIT_BULK_ASM("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// By one thread; addresses and `bytes` are multiples of 16. Overwrites `shared`: threads that read
/// its old contents must have passed a barrier before this call.
__device__ inline void copy_bulk(void* shared, const void* from, std::uint32_t bytes,
                                 BulkBarrier* barrier, std::uint64_t policy) {
  CSRKIT_BULK_ASM(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(shared)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(policy)
      : "memory");
}

#undef CSRKIT_BULK_ASM

}  // namespace csrkit::gpu
