// reference: what checks compare with, as a kernel.
// Owns     nothing but the calls; the arithmetic is core/judge/reference's
// Reads    rows of op(B) as A's columns come
// Launch   one thread: slow and obvious
// Needs    any legal problem
#include "core/judge/reference.h"

#include "cpu/spgemm/plan.h"

namespace csrkit::cpu {

namespace {

class Reference : public SpgemmMethod {
 public:
  explicit Reference(const SpgemmInput& input) : problem_(input.problem), op_b_(input.op_b) {}

  void balance(RowWork) override {}
  std::uint64_t scratch_bytes() const override {
    return static_cast<std::uint64_t>(op_b_.cols()) *
           (sizeof(Offset) + sizeof(ReferenceProductEntry));
  }
  void count(Index* row_nnz) override {
    ReferenceSpgemm reference(problem_, op_b_);
    for (Index row = 0; row < problem_.output_rows(); ++row) {
      compute(reference, row);
      row_nnz[row] = static_cast<Index>(entries_.size());
    }
  }
  void fill(const SpgemmRows& rows) override {
    ReferenceSpgemm reference(problem_, op_b_);
    Offset at = 0;
    for (Index row = rows.first_row; row < rows.last_row; ++row) {
      compute(reference, row);
      for (const ReferenceProductEntry& entry : entries_) {
        rows.col_indices[at] = entry.col;
        if (problem_.c == ValueKind::f64) {
          static_cast<double*>(rows.values)[at] = entry.value;
        } else {
          static_cast<float*>(rows.values)[at] = static_cast<float>(entry.value);
        }
        ++at;
      }
    }
  }
  void set_values(const CsrMatrix& a, const CsrMatrix& op_b) override {
    problem_.a = a;
    op_b_ = op_b;
  }

 private:
  void compute(ReferenceSpgemm& reference, Index row) {
    reference.row(row, entries_);
    if (!(problem_.drop_below > 0)) return;
    std::size_t kept = 0;
    for (const ReferenceProductEntry& entry : entries_) {
      const double stored =
          problem_.c == ValueKind::f64 ? entry.value : static_cast<float>(entry.value);
      if (!(std::abs(stored) < problem_.drop_below)) entries_[kept++] = entry;
    }
    entries_.resize(kept);
  }

  SpgemmProblem problem_;
  CsrMatrix op_b_;
  std::vector<ReferenceProductEntry> entries_;
};

}  // namespace

std::unique_ptr<SpgemmMethod> make_spgemm_reference(const SpgemmInput& input) {
  return std::make_unique<Reference>(input);
}

}  // namespace csrkit::cpu
