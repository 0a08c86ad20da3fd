#include "cpu/common/memory_budget.h"

#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/error.h"

namespace csrkit::cpu {

namespace {

std::uint64_t available_beside(std::uint64_t held_bytes) {
  const std::uint64_t available = available_memory_bytes();
  return available > UINT64_MAX - held_bytes ? UINT64_MAX : available + held_bytes;
}

std::uint64_t bytes_of_transpose(const CsrMatrix& matrix) {
  const auto nnz = static_cast<std::uint64_t>(matrix.nnz());
  return (static_cast<std::uint64_t>(matrix.cols()) + 1) * sizeof(Offset) +
         nnz * (sizeof(Index) + static_cast<std::uint64_t>(size_of(matrix.value_kind())));
}

}  // namespace

MemoryBudget::MemoryBudget(std::uint64_t limit_bytes, std::uint64_t held_bytes, const char* advice)
    : limit_bytes_(limit_bytes != 0 ? limit_bytes : available_beside(held_bytes)),
      held_bytes_(held_bytes),
      peak_bytes_(held_bytes),
      advice_(advice) {}

void MemoryBudget::reserve(std::uint64_t bytes, const std::string& what) {
  const std::uint64_t total = held_bytes_ + bytes;
  if (total > limit_bytes_) {
    throw MemoryError("no room for " + what + " (" + counted(bytes, "byte") + ", " +
                      std::to_string(total) + " with what the plan holds already): the limit is " +
                      counted(limit_bytes_, "byte") + "; " + advice_);
  }
  held_bytes_ = total;
  note_peak(total);
}

std::uint64_t transpose_bytes(const CsrMatrix& matrix) {
  return bytes_of_transpose(matrix) + transpose_workspace_bytes(matrix, 1);
}

CsrMatrix transpose_within(MemoryBudget& budget, const CsrMatrix& matrix, const char* name,
                           int threads) {
  const std::uint64_t bytes = bytes_of_transpose(matrix);
  while (threads > 1 && !budget.fits(bytes + transpose_workspace_bytes(matrix, threads))) {
    threads /= 2;
  }
  const std::uint64_t workspace = transpose_workspace_bytes(matrix, threads);
  budget.reserve(bytes + workspace, std::string("the transpose of ") + name);
  CsrMatrix result = transpose(matrix, threads);
  budget.release(workspace);
  return result;
}

}  // namespace csrkit::cpu
