// row_loop: the definition, an entry at a time.
// Owns     one thread makes all of C, in the order of A's entries
// Reads    A once; for every entry a row of X, which stays in L1, and a row of Y
// Needs    nothing
// Against  the reference: sums in the kind that the contract says, elements by their types
#include "cpu/sddmm/plan.h"

namespace csrkit::cpu::sddmm {

namespace {

template <class T>
class RowLoop : public SddmmMethod {
 public:
  explicit RowLoop(const SddmmInput& input) : problem_(input.problem) {}

  void multiply(const SddmmCall& call) override {
    using Acc = SumOf<T>;
    const CsrMatrix& a = problem_.a;
    for (Index row = 0; row < a.rows(); ++row) {
      const T* const x = call.x.as<T>() + Offset{row} * call.x.leading_dim;
      for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
        const T* const y = call.y.as<T>() + Offset{a.col_indices()[at]} * call.y.leading_dim;
        Acc dot = 0;
        for (Index k = 0; k < problem_.dense_cols; ++k) {
          dot += load_as<Acc>(x[k]) * load_as<Acc>(y[k]);
        }
        finish(problem_, call, at, 1, &dot);
      }
    }
  }

 private:
  SddmmProblem problem_;
};

}  // namespace

std::unique_ptr<SddmmMethod> make_row_loop(const SddmmInput& input) {
  return with_dense_type(input.problem.x, [&](auto tag) -> std::unique_ptr<SddmmMethod> {
    return std::make_unique<RowLoop<typename decltype(tag)::type>>(input);
  });
}

}  // namespace csrkit::cpu::sddmm
