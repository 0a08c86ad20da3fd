// coo: a row index with every entry, so that work can be cut anywhere.
// Owns     rows, columns and values of the entries; a carry for each warp
// Reads    4 bytes more an entry than CSR, all coalesced; y twice
// Launch   y = beta y; one warp adds up 256 entries by segmented scans; a last kernel adds up, in
//          order, the sums of rows that several warps share. Equal work whatever the rows are
// Needs    nothing; costs more bytes and two more kernels Source Bell, Garland, SC 2009, "COO":
//          segmented reduction
// Against  csr_vector on power-law matrices; csr_balanced, which cuts work as evenly without row
//          indices

#include "gpu/spmv/ladder/entry_list.cuh"

namespace csrkit::gpu {

namespace {

template <class Types>
class Coo {
 public:
  explicit Coo(Semiring) {}
  void convert(DeviceCsr a, DeviceMemory& memory) { entries_.make(a, 0, memory); }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    entries_.launch_scale(y, stream);
    entries_.launch(x, y, stream);
  }
  std::uint64_t stored_bytes() const { return entries_.bytes(); }
  std::string choice() const { return {}; }

 private:
  EntryPart<Types> entries_;
};

}  // namespace

std::unique_ptr<DeviceSpmv> make_spmv_coo(const SpmmProblem& problem) {
  return typed_ladder_spmv<Coo>(problem);
}

}  // namespace csrkit::gpu
