// Rows of C by sorting in registers, with sums in f64; a file of its own halves the time of
// compiling.

#include "gpu/spgemm/adaptive_rows/numeric/sort.cuh"

namespace csrkit::gpu {

template void make_short_rows(Structure, const MakeRows<double>&, const ShortRows&, unsigned,
                              cudaStream_t);
template void make_rows_by_sorting(MakeBin, Structure, const MakeRows<double>&, const RowList&,
                                   cudaStream_t);
template void stage_short_rows(const MakeRows<double>&, const StagedRows<double>&, const ShortRows&,
                               cudaStream_t);
template void stage_rows_by_sorting(CountBin, const MakeRows<double>&, const StagedRows<double>&,
                                    const RowList&, cudaStream_t);
template void make_parts_by_sorting(Structure, const MakeRows<double>&, const BinRules&,
                                    const RowParts&, cudaStream_t);

}  // namespace csrkit::gpu
