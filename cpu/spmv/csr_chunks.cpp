// csr_chunks: rows cut into chunks of 32, of 8 and of 0 to 7 entries, chunks of a length together,
// so that no loop over a row has an end that has to be guessed.
// Owns     of every batch of rows a list of chunks for each length, and a copy of the entries in
//          that order; hubs stay in CSR, cut into stretches
// Reads    the copy in a stream, no row offsets; x wherever columns point
// Launch   as csr_balanced; a batch is filled, so its pages first touched, by the thread that
//          reads it
// Needs    a copy of A's columns and values, 2 bytes a chunk; nothing is padded
// Against  csr_balanced: where A stays in the caches a row costs more for the wrong guess at its
//          end, 20 cycles, than for its entries. Source: our own; rows of one length together are
//          an old idea, which needs as many lists as there are lengths
#include "cpu/spmv/row_sums.h"

namespace csrkit::cpu::spmv {

namespace {

template <class Kinds>
class CsrChunks : public RowSums<Kinds> {
 public:
  using Base = RowSums<Kinds>;
  using typename Base::A;
  using typename Base::Acc;
  using typename Base::Batch;

  explicit CsrChunks(const MethodInput& input)
      : Base(input, 1), a_(input.op_a.view<A>()), chunks_(this->batches()) {
    const std::uint64_t list_bytes = RowChunks<A>::list_bytes(this->batches());
    this->reserve(list_bytes, "the lists of chunks");
    this->batches_by_owners([&](const Batch& batch) {
      chunks_.count(this->op_a_, batch.number, batch.first, batch.last);
    });
    chunks_.place();
    this->reserve(chunks_.size_bytes(), "the chunks");
    chunks_.allocate();
    this->batches_by_owners(
        [&](const Batch& batch) { chunks_.fill(a_, batch.number, batch.first, batch.last); });
    const auto in_place = static_cast<std::uint64_t>(a_.nnz() - chunks_.entries());
    stored_bytes_ =
        list_bytes + chunks_.size_bytes() + in_place * (sizeof(Index) + value_bytes<A>());
  }

  std::uint64_t stored_bytes() const override { return stored_bytes_; }

  std::string choice() const override {
    const double chunks = static_cast<double>(chunks_.chunks());
    char text[48];
    std::snprintf(text, sizeof text, ", %.2f chunks a row",
                  chunks / static_cast<double>(std::max<Index>(1, a_.rows)));
    return this->describe() + ", " +
           bytes_per_nonzero(stored_bytes_, csr_bytes<A>(this->op_a_), a_.nnz()) + text;
  }

 private:
  void sum_rows(const Acc* x, const Batch& batch, Acc* sums) const override {
    this->loops_.chunks(chunks_.of(batch.number), x, sums);
  }

  CsrView<A> a_;
  RowChunks<A> chunks_;
  std::uint64_t stored_bytes_ = 0;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_csr_chunks(const MethodInput& input) {
  return make_format<CsrChunks>(input);
}

}  // namespace csrkit::cpu::spmv
