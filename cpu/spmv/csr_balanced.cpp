// csr_balanced: CSR as it is, cut into pieces of equal work, hubs included.
// Owns     a piece is a run of rows with about as many nonzeros (plus rows) as any other; a row
//          longer than two pieces (a hub) is cut into stretches, whose sums are added in order
// Reads    A once in order, where it lies: its pages belong to whoever made or loaded them; x
//          wherever columns point
// Launch   every thread has a run of neighbouring pieces and helps others when it is done; cuts
//          depend on A alone, so the bits are the same for any number of threads
// Needs    16 bytes a piece; a copy of x where its elements lie apart or are of 16 bits
// Against  csr_rows: no thread has more work than another, long rows are summed by vectors.
//          Source: Merrill and Garland, Merge-based SpMV (2016), with cuts moved to row ends
#include "cpu/common/new_values.h"
#include "cpu/spmv/row_sums.h"
#include "cpu/spmv/semiring_loops.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Kinds>
class CsrBalanced : public RowSums<Kinds>, public ReadsValuesInPlace {
 public:
  using Base = RowSums<Kinds>;
  using typename Base::A;
  using typename Base::Acc;

  explicit CsrBalanced(const MethodInput& input)
      : Base(input, 1), sums_(semiring_loops<A, Acc>(input.problem.semiring)) {
    if (input.problem.semiring == Semiring::plus_times) {
      sums_.rows = this->loops_.rows;
      sums_.stretch = this->loops_.stretch;
    }
  }

  void take_values(const CsrMatrix& a) override { this->op_a_ = a; }

  std::string choice() const override {
    const std::uint64_t bytes = csr_bytes<A>(this->op_a_);
    return this->describe() + ", " + bytes_per_nonzero(bytes, bytes, this->op_a_.nnz());
  }

 private:
  void sum_rows(const Acc* x, const typename Base::Batch& batch, Acc* sums) const override {
    const Index first = batch.first, last = batch.last;
    sums_.rows(this->op_a_.template view<A>(), x, first, last, sums);
  }
  Acc sum_stretch(const Acc* x, Offset begin, Offset end) const override {
    return sums_.stretch(this->op_a_.template view<A>(), x, begin, end);
  }
  Acc add(Acc sum, Acc more) const override { return sums_.add(sum, more); }

  SemiringLoops<A, Acc> sums_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_csr_balanced(const MethodInput& input) {
  return make_format<CsrBalanced>(input);
}

}  // namespace csrkit::cpu::spmv
