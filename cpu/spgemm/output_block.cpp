#include "cpu/spgemm/output_block.h"

#include <utility>

#include "core/base/huge_pages.h"
#include "cpu/common/prefix_sum.h"

namespace csrkit::cpu {

void OutputBlock::set_offsets(const Index* row_nnz, int threads) {
  row_offsets = Buffer<Offset>(Offset{last_row} - first_row + 1);
  row_offsets[0] = 0;
  inclusive_sums(
      last_row - first_row, threads, [&](Index row) { return Offset{row_nnz[first_row + row]}; },
      row_offsets.data() + 1);
}

CsrMatrix OutputBlock::release(Index cols, Offset nnz) {
  col_indices.truncate(nnz);
  values.truncate(nnz);
  return CsrMatrix(last_row - first_row, cols, std::move(row_offsets), std::move(col_indices),
                   std::move(values));
}

OutputBlock OutputMemory::take(Index first_row, Index last_row, Offset nnz, ValueKind kind) {
  OutputBlock block = std::exchange(kept_, OutputBlock());
  const bool fits = block.col_indices.size() == nnz && nnz > 0;
  if (!fits) block = OutputBlock();  // first, so that there are never two of them
  block.first_row = first_row;
  block.last_row = last_row;
  if (fits) return block;
  block.col_indices = Buffer<Index>(nnz);
  block.values = ValueArray(kind, nnz);
  advise_huge_pages(block.col_indices.data(), block.col_indices.size_bytes());
  advise_huge_pages(block.values.data(),
                    static_cast<std::size_t>(nnz) * static_cast<std::size_t>(size_of(kind)));
  return block;
}

void OutputMemory::keep(OutputBlock block) {
  kept_ = std::move(block);
  kept_.row_offsets = Buffer<Offset>();
}

}  // namespace csrkit::cpu
