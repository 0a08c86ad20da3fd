#include "core/matrix/csr_sink.h"

#include <cstring>
#include <string>
#include <vector>

#include "core/base/counted.h"

namespace csrkit {

struct MemorySink::State {
  Index rows;
  Index cols;
  ValueKind kind;
  Index rows_so_far = 0;
  std::vector<CsrMatrix> blocks;
};

MemorySink::MemorySink(Index rows, Index cols, ValueKind kind)
    : state_(new State{rows, cols, kind, 0, {}}) {
  if (rows < 0 || cols < 0) throw UsageError("a matrix cannot have negative dimensions");
}

MemorySink::~MemorySink() = default;

void MemorySink::append_rows(const CsrMatrix& block) {
  require_next_block(block, state_->rows_so_far, state_->rows, state_->cols, state_->kind);
  state_->rows_so_far += block.rows();
  state_->blocks.push_back(block);
}

CsrMatrix MemorySink::finish() {
  require_all_rows(state_->rows_so_far, state_->rows);
  if (state_->blocks.size() == 1) {
    CsrMatrix whole = std::move(state_->blocks.front());
    state_->blocks.clear();
    return whole;
  }
  Offset nnz = 0;
  for (const CsrMatrix& block : state_->blocks) nnz += block.nnz();
  Buffer<Offset> row_offsets(Offset{state_->rows} + 1);
  Buffer<Index> col_indices(nnz);
  ValueArray values(state_->kind, nnz);
  const std::size_t value_bytes = static_cast<std::size_t>(size_of(state_->kind));

  Index row = 0;
  Offset at = 0;
  row_offsets[0] = 0;
  for (CsrMatrix& block : state_->blocks) {
    for (Index i = 0; i < block.rows(); ++i) row_offsets[++row] = at + block.row_offsets()[i + 1];
    const std::size_t entries = static_cast<std::size_t>(block.nnz());
    if (entries > 0) {
      std::memcpy(col_indices.data() + at, block.col_indices(), entries * sizeof(Index));
      if (value_bytes > 0) {
        std::memcpy(static_cast<char*>(values.data()) + static_cast<std::size_t>(at) * value_bytes,
                    block.values(), entries * value_bytes);
      }
    }
    at += block.nnz();
    block = CsrMatrix();  // its memory is free before the next one is copied
  }
  state_->blocks.clear();
  return CsrMatrix(state_->rows, state_->cols, std::move(row_offsets), std::move(col_indices),
                   std::move(values));
}

void require_next_block(const CsrMatrix& block, Index rows_so_far, Index rows, Index cols,
                        ValueKind kind) {
  if (block.cols() != cols || block.value_kind() != kind) {
    throw UsageError("a block of " + counted(block.cols(), "column") + " and kind " +
                     name_of(block.value_kind()) + " cannot join a matrix of " +
                     counted(cols, "column") + " and kind " + name_of(kind));
  }
  if (block.rows() > rows - rows_so_far) {
    throw UsageError("a block of " + counted(block.rows(), "row") + " after row " +
                     std::to_string(rows_so_far) + " exceeds the " + counted(rows, "row") +
                     " of the matrix");
  }
}

void require_all_rows(Index rows_so_far, Index rows) {
  if (rows_so_far != rows) {
    throw UsageError("only " + std::to_string(rows_so_far) + " of " + std::to_string(rows) +
                     " rows have arrived");
  }
}

}  // namespace csrkit
