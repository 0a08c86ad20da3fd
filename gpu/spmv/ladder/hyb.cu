// hyb: ELL for what the typical row has, COO for the rest.
// Owns     padded rows of a width that at least a third of the rows fill; the entries behind it
// Reads    the padding of short rows, a row index for the entries of long ones
// Launch   ell's kernel, then coo's two
// Needs    nothing
// Source   Bell, Garland, SC 2009, "HYB": a step of ELL pays if a third of the rows fill it, as ELL
//          is about three times as fast as COO
// Against  ell, which one long row ruins; coo

#include <algorithm>

#include "gpu/spmv/ladder/entry_list.cuh"
#include "gpu/spmv/ladder/padded_rows.cuh"
#include "gpu/spmv/row_lengths.h"

namespace csrkit::gpu {

namespace {

/// The largest width that at least a third of the rows, or all but 4,096 of few, fill.
Index typical_width(const std::vector<Offset>& rows_of_length, Offset rows) {
  const Offset wanted = std::max<Offset>(rows / 3, std::min<Offset>(rows, 4096));
  Offset filling = 0;
  for (auto length = static_cast<Index>(rows_of_length.size()) - 1; length > 0; --length) {
    filling += rows_of_length[static_cast<std::size_t>(length)];
    if (filling >= wanted) return length;
  }
  return 0;
}

template <class Types>
class Hyb {
 public:
  explicit Hyb(Semiring) {}
  void convert(DeviceCsr a, DeviceMemory& memory) {
    const Index width = typical_width(count_row_lengths(a.view<void>(), memory), a.rows());
    typical_.make(a, width, memory);
    exceptional_.make(a, width, memory);
  }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    typical_.launch(x, y, stream);
    exceptional_.launch(x, y, stream);
  }
  std::uint64_t stored_bytes() const { return typical_.bytes() + exceptional_.bytes(); }
  std::string choice() const {
    return "rows of " + std::to_string(typical_.width()) + ", " +
           std::to_string(exceptional_.count()) + " entries behind them";
  }

 private:
  PaddedPart<Types> typical_;
  EntryPart<Types> exceptional_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_hyb(const SpmmProblem& problem) {
  return typed_ladder_spmv<Hyb>(problem);
}

}  // namespace csrkit::gpu
