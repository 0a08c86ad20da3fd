// Rows whose entries are known, for tests of those who share rows out.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cpu/spgemm/one_pass/one_pass.h"

namespace csrkit::testing {

/// Row i has nnz[i] entries, all of column i and value i; some pieces take their time.
class FakeRows : public cpu::OnePassRows {
 public:
  FakeRows(std::vector<Index> nnz, Offset products_per_entry, int threads) : nnz_(std::move(nnz)) {
    const std::vector<Offset> a_offsets(nnz_.size() + 1, 0);
    for (const Index n : nnz_) sums.push_back(n * products_per_entry);
    pieces_ =
        cpu::RowPieces(static_cast<Index>(nnz_.size()), a_offsets.data(), sums.data(), threads);
  }

  const cpu::RowPieces& pieces() const override { return pieces_; }
  Offset products(Index first, Index last) const override {
    return (last > 0 ? sums[static_cast<std::size_t>(last) - 1] : 0) -
           (first > 0 ? sums[static_cast<std::size_t>(first) - 1] : 0);
  }
  bool can_be_made_at_once() const override { return true; }
  bool begin_at_once() override {
    looks_.assign(nnz_.size(), 0);
    return wants_looks;
  }
  void look_at_rows(Index first, Index last) override {
    for (Index row = first; row < last; ++row) ++looks_[static_cast<std::size_t>(row)];
  }
  void look_again(Index first, Index last) override {
    for (const int looks : looks_) saw_all = saw_all && looks == 1;
    for (Index row = first; row < last; ++row) seen_again += nnz_at(row);
  }
  Offset most_entries(Index first, Index last) const override {
    return (Offset{last} - first) * 1000000;
  }
  void count_rows(int, Index first, Index last, Index* row_nnz) override {
    for (Index row = first; row < last; ++row) row_nnz[row - first] = nnz_at(row);
  }
  Offset make_rows(int, Index first, Index last, Index* row_nnz, Index* cols,
                   void* values) override {
    if (first <= throws_at && throws_at < last) throw std::runtime_error("out of order");
    if (first % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    Offset at = 0;
    for (Index row = first; row < last; ++row) {
      row_nnz[row - first] = nnz_at(row);
      for (Index n = 0; n < nnz_at(row); ++n, ++at) {
        cols[at] = row;
        static_cast<double*>(values)[at] = row + added;
      }
    }
    return at;
  }
  Index nnz_at(Index row) const { return nnz_[static_cast<std::size_t>(row)]; }

  std::vector<Offset> sums;
  Index throws_at = -1;
  double added = 0;  // to all values
  bool wants_looks = false;
  std::atomic<bool> saw_all{true};    // when looking again: every row was looked at once
  std::atomic<Offset> seen_again{0};  // entries of rows

 private:
  std::vector<Index> nnz_;
  std::vector<int> looks_;
  cpu::RowPieces pieces_;
};

inline std::vector<Index> uneven_rows() {
  std::vector<Index> nnz(5000);
  for (std::size_t row = 0; row < nnz.size(); ++row) nnz[row] = static_cast<Index>(row * 7 % 90);
  nnz[0] = nnz[2500] = nnz[2501] = 60000;  // heavy ones at the start, inside and at the end
  nnz[4999] = 90000;
  return nnz;
}

}  // namespace csrkit::testing
