// Rows of C by ranges of bits, with sums in f64; a file of its own halves the time of compiling.

#include "gpu/spgemm/adaptive_rows/numeric/bit_range/bit_range.cuh"

namespace csrkit::gpu {

template void make_rows_by_bit_range(MakeBin, Structure, const MakeRows<double>&, const RowList&,
                                     int, cudaStream_t);
template void make_rows_in_parts(Structure, const MakeRows<double>&, const BinRules&,
                                 const RowParts&, cudaStream_t);

}  // namespace csrkit::gpu
