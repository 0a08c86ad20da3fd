#include "cpu/spmm/rows/banded_copy.h"

#include <algorithm>
#include <cstring>

namespace csrkit::cpu {

namespace {

/// The lengths of a row's pieces, `step` apart. A piece takes up to kPieceStep - 1 entries of the
/// next bands, so that the next one begins where chains do.
void cut_row(const CsrMatrix& a, Index row, Index bands, Index* lengths, Offset step) {
  const Index* const cols = a.col_indices();
  const Offset begin = a.row_offsets()[row], end = a.row_offsets()[row + 1];
  const Offset whole = begin + (end - begin) / kPieceStep * kPieceStep;
  Offset at = begin;
  for (Index band = 0; band < bands; ++band) {
    Offset next = end;
    if (band + 1 < bands) {
      const auto behind = static_cast<Index>(Offset{a.cols()} * (band + 1) / bands);
      const Offset found = std::lower_bound(cols + at, cols + end, behind) - cols;
      next = std::min(begin + (found - begin + kPieceStep - 1) / kPieceStep * kPieceStep, whole);
    }
    lengths[band * step] = static_cast<Index>(next - at);
    at = next;
  }
}

}  // namespace

BandedCopy::BandedCopy(const CsrMatrix& a, const std::vector<Task>& blocks, Index bands,
                       int threads)
    : bands_(bands), threads_(threads) {
  Offset entries = 0, lengths = 0;
  for (const Task& task : blocks) {
    Block block;
    if (task.stretch < 0) {
      block = {static_cast<Index>(task.first), static_cast<Index>(task.last), entries, lengths};
      entries += a.row_offsets()[block.last] - a.row_offsets()[block.first];
      lengths += Offset{block.last - block.first} * bands;
    }
    blocks_.push_back(block);
  }
  cols_ = Buffer<Index>(entries);
  values_ = ValueArray(a.value_kind(), entries);
  lengths_ = Buffer<Index>(lengths);
  for_blocks([&](const Block& block) {
    const Offset rows = block.last - block.first;
    for (Index row = block.first; row < block.last; ++row) {
      cut_row(a, row, bands_, lengths_.data() + block.first_length + (row - block.first), rows);
    }
    for_pieces(block, a.row_offsets(), [&](Offset to, Offset from, Index count) {
      std::copy_n(a.col_indices() + from, count, cols_.data() + to);
    });
  });
  take_values(a);
}

std::uint64_t BandedCopy::most_bytes(const CsrMatrix& a, Index bands) {
  const auto entry_bytes =
      static_cast<std::uint64_t>(Offset{sizeof(Index)} + size_of(a.value_kind()));
  return static_cast<std::uint64_t>(a.nnz()) * entry_bytes +
         static_cast<std::uint64_t>(Offset{a.rows()} * bands) * sizeof(Index) +
         static_cast<std::uint64_t>(a.rows()) * sizeof(Block);
}

std::uint64_t BandedCopy::size_bytes() const {
  return cols_.size_bytes() + static_cast<std::uint64_t>(values_.size() * size_of(values_.kind())) +
         lengths_.size_bytes() + blocks_.size() * sizeof(Block);
}

void BandedCopy::take_values(const CsrMatrix& a) {
  const Offset bytes = size_of(a.value_kind());
  if (bytes == 0) return;
  const auto* const from = static_cast<const char*>(a.values());
  auto* const to = static_cast<char*>(values_.data());
  for_blocks([&](const Block& block) {
    for_pieces(block, a.row_offsets(), [&](Offset place, Offset entry, Index count) {
      std::memcpy(to + place * bytes, from + entry * bytes,
                  static_cast<std::size_t>(count * bytes));
    });
  });
}

BandedRows BandedCopy::rows(Offset block) const {
  const Block& wanted = blocks_[static_cast<std::size_t>(block)];
  return {wanted.first, wanted.last, bands_, wanted.first_entry,
          lengths_.data() + wanted.first_length};
}

template <class F>
void BandedCopy::for_blocks(F&& f) const {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_)
  for (std::size_t n = 0; n < blocks_.size(); ++n) f(blocks_[n]);
}

template <class F>
void BandedCopy::for_pieces(const Block& block, const Offset* row_offsets, F&& f) const {
  std::vector<Offset> next(row_offsets + block.first, row_offsets + block.last);
  const Index* length = lengths_.data() + block.first_length;
  Offset place = block.first_entry;
  for (Index band = 0; band < bands_; ++band) {
    for (Offset& at : next) {
      const Index count = *length++;
      if (count > 0) f(place, at, count);
      place += count;
      at += count;
    }
  }
}

}  // namespace csrkit::cpu
