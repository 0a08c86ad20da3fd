// What a plan may allocate, and what it holds.
#pragma once

#include <cstdint>
#include <string>

#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// Everything large is reserved here before it is allocated.
class MemoryBudget {
 public:
  /// `limit_bytes` 0 stands for what the system says is available now, beside `held_bytes` that are
  /// there already and count. `advice` ends the sentence of every refusal.
  MemoryBudget(std::uint64_t limit_bytes, std::uint64_t held_bytes, const char* advice);

  /// Throws MemoryError with forecast and limit if `bytes` more do not fit.
  void reserve(std::uint64_t bytes, const std::string& what);
  void release(std::uint64_t bytes) { held_bytes_ -= bytes; }
  bool fits(std::uint64_t bytes) const {
    return held_bytes_ <= limit_bytes_ && bytes <= limit_bytes_ - held_bytes_;
  }

  /// Notes a peak of `bytes` in all, for memory that the budget does not hold.
  void note_peak(std::uint64_t bytes) { peak_bytes_ = bytes > peak_bytes_ ? bytes : peak_bytes_; }

  std::uint64_t limit_bytes() const { return limit_bytes_; }
  std::uint64_t held_bytes() const { return held_bytes_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  std::uint64_t limit_bytes_;
  std::uint64_t held_bytes_;
  std::uint64_t peak_bytes_ = 0;
  const char* advice_;
};

/// What transpose_within needs: the transpose, and the workspace of making it on one thread. So a
/// choice that asks for this room does not depend on the number of threads.
std::uint64_t transpose_bytes(const CsrMatrix& matrix);

/// The transpose of a matrix called `name`, which the budget then holds. Made by fewer than
/// `threads` where there is no room for the workspace of all.
CsrMatrix transpose_within(MemoryBudget& budget, const CsrMatrix& matrix, const char* name,
                           int threads);

}  // namespace csrkit::cpu
