// The allocator of a test program: one allocation fails where a test wants it. Included by one file
// of a program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#include "core/base/error.h"

// ThreadSanitizer as clang has it brings an allocator that nothing can replace: there none fails.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CSRKIT_NO_ALLOCATION_FAILS
#endif
#endif

namespace csrkit::test {

/// 0: none fails. Else counted down by every allocation of any thread; what reaches 0 fails.
inline std::atomic<long> allocations_left{0};

inline void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (allocations_left.load(std::memory_order_relaxed) > 0 && --allocations_left == 0) {
    return nullptr;
  }
  // A multiple of the alignment, and never nothing.
  return std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Runs `work` until no allocation fails; its first fails, then its second, and so on. What is
/// thrown has to come out as an exception: if it cannot leave a thread, this program ends. Returns
/// how many failed; more than any test wants, after one run, where none can.
template <class Work>
long failures_of(Work&& work) {
#ifdef CSRKIT_NO_ALLOCATION_FAILS
  work();
  return std::numeric_limits<long>::max();
#endif
  for (long failures = 0;; ++failures) {
    allocations_left = failures + 1;
    try {
      work();
      // std::stable_sort, for one, can do without.
      if (allocations_left.exchange(0) > 0) return failures;
    } catch (const std::bad_alloc&) {
    } catch (const MemoryError&) {
    }
    allocations_left = 0;
  }
}

}  // namespace csrkit::test

#ifndef CSRKIT_NO_ALLOCATION_FAILS
void* operator new(std::size_t bytes) {
  return csrkit::test::allocate_or_throw(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return csrkit::test::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return csrkit::test::allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return csrkit::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t,
                                       const std::nothrow_t&) noexcept {
  std::free(memory);
}
#endif
