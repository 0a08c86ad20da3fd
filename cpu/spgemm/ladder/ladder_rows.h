// What the rungs naive_rows, dense_rows and hash_rows have in common: every row is made twice, once
// to count its entries and once to write them. A rung is a class
//
//   Rung<B, Acc>(const CsrMatrix& op_b)             // one thread's accumulator
//   static std::uint64_t bytes(Offset most_products, Index cols)
//   void add(Index k, Acc x)                        // sum += x * row k of op(B)
//   Index take(Index* cols, Acc* values, Acc alpha) // null: count only; leaves it empty
#pragma once

#include <omp.h>

#include <algorithm>
#include <vector>

#include "cpu/spgemm/analysis/row_pieces.h"
#include "cpu/spgemm/plan.h"
#include "cpu/spgemm/rows/row_products.h"

namespace csrkit::cpu {

template <template <class, class> class Rung, class B, class Acc>
class LadderRows : public SpgemmMethod {
 public:
  LadderRows(const SpgemmInput& input, bool is_parallel)
      : problem_(input.problem), op_b_(input.op_b), threads_(is_parallel ? input.threads : 1) {}

  void balance(RowWork work) override {
    pieces_ = std::move(work.pieces);
    scratch_bytes_ = Rung<B, Acc>::bytes(work.most_products, op_b_.cols()) *
                         static_cast<std::uint64_t>(threads_) +
                     pieces_.size_bytes();
  }
  std::uint64_t scratch_bytes() const override { return scratch_bytes_; }

  void count(Index* row_nnz) override {
    for_each_row(0, problem_.a.rows(), [&](Rung<B, Acc>& rung, Index row) {
      row_nnz[row] = rung.take(nullptr, nullptr, Acc{1});
    });
  }
  void fill(const SpgemmRows& rows) override {
    const auto alpha = static_cast<Acc>(problem_.alpha);
    for_each_row(rows.first_row, rows.last_row, [&](Rung<B, Acc>& rung, Index row) {
      const Offset at = rows.row_offsets[row - rows.first_row];
      rung.take(rows.col_indices + at, static_cast<Acc*>(rows.values) + at, alpha);
    });
  }
  void set_values(const CsrMatrix& a, const CsrMatrix& op_b) override {
    problem_.a = a;
    op_b_ = op_b;
  }

 private:
  template <class Take>
  void for_each_row(Index begin, Index end, const Take& take) {
    const ProductJob<B, Acc> job(problem_, op_b_);
    std::vector<std::unique_ptr<Rung<B, Acc>>> rungs(static_cast<std::size_t>(threads_));
    pieces_.for_each(begin, end, threads_, [&](int thread, Index first, Index last) {
      auto& rung = rungs[static_cast<std::size_t>(thread)];
      if (!rung) rung = std::make_unique<Rung<B, Acc>>(op_b_);
      for (Index row = first; row < last; ++row) {
        rung->expect(products_of(job, row));
        for (Offset i = job.a_offsets[row]; i < job.a_offsets[row + 1]; ++i) {
          rung->add(job.a_cols[i], job.a_value(i));
        }
        take(*rung, row);
      }
    });
  }

  static Offset products_of(const ProductJob<B, Acc>& job, Index row) {
    Offset products = 0;
    for (Offset i = job.a_offsets[row]; i < job.a_offsets[row + 1]; ++i) {
      const Index k = job.a_cols[i];
      products += job.b.row_offsets[k + 1] - job.b.row_offsets[k];
    }
    return products;
  }

  SpgemmProblem problem_;
  CsrMatrix op_b_;
  int threads_;
  RowPieces pieces_;
  std::uint64_t scratch_bytes_ = 0;
};

template <template <class, class> class Rung>
std::unique_ptr<SpgemmMethod> make_ladder_rows(const SpgemmInput& input, bool is_parallel) {
  return with_spgemm_kinds(
      input.problem, [&](auto b_tag, auto acc_tag) -> std::unique_ptr<SpgemmMethod> {
        return std::make_unique<
            LadderRows<Rung, typename decltype(b_tag)::type, typename decltype(acc_tag)::type>>(
            input, is_parallel);
      });
}

/// A sum for every column of C, and the list of those in use.
template <class B, class Acc>
class DenseRung {
 public:
  explicit DenseRung(const CsrMatrix& op_b)
      : b_(op_b.view<B>()),
        sums_(static_cast<std::size_t>(op_b.cols())),
        is_used_(static_cast<std::size_t>(op_b.cols())) {}
  static std::uint64_t bytes(Offset most_products, Index cols) {
    return static_cast<std::uint64_t>(cols) * (sizeof(Acc) + 1) +
           2 * static_cast<std::uint64_t>(std::min<Offset>(most_products, cols)) * sizeof(Index);
  }
  void expect(Offset) {}
  void add(Index k, Acc x) {
    for (Offset at = b_.row_offsets[k]; at < b_.row_offsets[k + 1]; ++at) {
      const Index col = b_.col_indices[at];
      if (is_used_[static_cast<std::size_t>(col)] == 0) {
        is_used_[static_cast<std::size_t>(col)] = 1;
        used_.push_back(col);
      }
      sums_[static_cast<std::size_t>(col)] += x * b_.template value_as<Acc>(at);
    }
  }
  Index take(Index* cols, Acc* values, Acc alpha) {
    if (cols != nullptr) std::sort(used_.begin(), used_.end());
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const auto col = static_cast<std::size_t>(used_[i]);
      if (cols != nullptr) {
        cols[i] = used_[i];
        values[i] = alpha * sums_[col];
      }
      sums_[col] = 0;
      is_used_[col] = 0;
    }
    const auto count = static_cast<Index>(used_.size());
    used_.clear();
    return count;
  }

 private:
  CsrView<B> b_;
  std::vector<Acc> sums_;
  std::vector<std::uint8_t> is_used_;
  std::vector<Index> used_;
};

}  // namespace csrkit::cpu
