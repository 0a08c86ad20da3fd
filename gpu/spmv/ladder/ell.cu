// ell: every row padded to the longest.
// Owns     columns and values, padded, step by step: entry k of all rows, then entry k + 1
// Reads    all of it, padding included, coalesced: lanes are neighbouring rows
// Launch   one thread per row, all for the same number of steps: no divergence
// Needs    rows of like length. One long row pads all others to its length: refused (MemoryError)
//          where that would be 16 times the matrix
// Source   Bell, Garland, SC 2009, "ELL" (the format of ELLPACK)
// Against  csr_scalar, which has the same threads and no coalescing

#include "gpu/spmv/ladder/padded_rows.cuh"
#include "gpu/spmv/row_lengths.h"

namespace csrkit::gpu {

namespace {

template <class Types>
class Ell {
 public:
  explicit Ell(Semiring) {}
  void convert(DeviceCsr a, DeviceMemory& memory) {
    const Offset width = longest_row(a.view<void>(), memory);
    require_worthwhile("ell", PaddedPart<Types>::bytes_for(a, width), csr_bytes_of(a));
    rows_.make(a, static_cast<Index>(width), memory);
  }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    rows_.launch(x, y, stream);
  }
  std::uint64_t stored_bytes() const { return rows_.bytes(); }
  std::string choice() const { return "rows of " + std::to_string(rows_.width()); }

 private:
  PaddedPart<Types> rows_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_ell(const SpmmProblem& problem) {
  return typed_ladder_spmv<Ell>(problem);
}

}  // namespace csrkit::gpu
