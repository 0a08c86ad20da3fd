// column_bands: row_bins over one band of A's columns after another, so that a band's rows of B
// stay in L2.
// Owns     as row_bins; a row is the part of a row of A in one band. Rows of fewer than three
//          entries a band are not cut: the first band has all of them
// Reads    A as row_bins does; B once from memory, except for rows that are not cut; C once for
//          every band in which a row has entries: the first band writes it, later ones add to it
// Launch   as row_bins, in slices of 128 bytes (in pieces where rows are not aligned); one launch
//          for every band
// Needs    f32 or f64, plus and times: sums of 16 bits would be rounded once a band. Columns that
//          are not sorted would cost time, not correctness
// Against  row_bins, which reads B's rows from memory repeatedly where B is several times as large
//          as L2 and neighbouring rows share few columns. Bad where rows are short, and where L2
//          holds B or what neighbours share; the workspace is as large as A
// Akin to  Cagra (Zhang et al., "Making caches work for graph analytics", IEEE Big Data'17):
//          columns in segments that a cache holds. There the segments' sums are merged at the end;
//          here they are added to C band by band

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/spmm/column_bands/column_bands.h"
#include "gpu/spmm/row_bins/access.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;

/// Fills RowTaskMaker's band_ends. A thread a row.
__global__ void find_band_ends(DeviceOffsets offsets, Offset base, const Index* cols, Index rows,
                               Index bands, Index band_cols, Index* ends) {
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  const Index* const of_row = cols + (offsets[row] - base);
  const auto length = static_cast<Index>(offsets[row + 1] - offsets[row]);
  const bool stays_whole = length < Offset{kEntriesOfABand} * bands;
  Index low = stays_whole ? length : 0;
  for (Index band = 0; band + 1 < bands; ++band) {
    const Offset first_behind = (band + Offset{1}) * band_cols;
    Index high = length;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (of_row[middle] < first_behind) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    ends[Offset{band} * rows + row] = low;
  }
}

template <class Types>
class ColumnBands {
  using Value = typename Types::Value;
  static constexpr Index kFullWidth = 16 / static_cast<Index>(sizeof(Value));
  static constexpr Index kSliceCols = kBandSliceBytes / static_cast<Index>(sizeof(Value));

 public:
  explicit ColumnBands(double l2_bytes) : l2_bytes_(l2_bytes) {}

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    const RowTaskMaker maker = maker_for(sizes);
    return maker.workspace_bytes() +
           std::max(ends_bytes(sizes), static_cast<std::uint64_t>(
                                           maker.max_slots() * partial_stride(sizes.dense_cols)) *
                                           sizeof(Value));
  }
  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    return maker_for(sizes).workspace_bytes();
  }

  void adopt(const SpmmSizes& sizes, void* workspace) {
    dense_cols_ = sizes.dense_cols;
    bands_ = bands(sizes);
    maker_ = maker_for(sizes);
    partial_ =
        reinterpret_cast<Value*>(static_cast<std::byte*>(workspace) + maker_.workspace_bytes());
  }

  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    if (a.rows == 0) return;
    // The room of the partial sums, which come later.
    auto* const ends = reinterpret_cast<Index*>(partial_);
    const Index band_cols = std::max<Index>((a.cols + bands_ - 1) / bands_, 1);
    const auto blocks = static_cast<unsigned>((Offset{a.rows} + kThreads - 1) / kThreads);
    find_band_ends<<<blocks, kThreads, 0, stream>>>(a.row_offsets, a.base, a.col_indices, a.rows,
                                                    bands_, band_cols, ends);
    CHECK_LAUNCH("find_band_ends", stream);
    maker_.analyse(a.template as<void>(), workspace, stream, nullptr, ends);
  }

  void finish_analysis(void* workspace, cudaStream_t stream) {
    tasks_ = maker_.finish_bands(workspace, stream);
  }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<Value>& c, Value alpha, Value beta, void*,
              cudaStream_t stream) const {
    RowBinsOperands<Types> operands{
        a,
        b,
        c,
        alpha,
        beta,
        {},
        partial_,
        partial_stride(c.cols),
        checked_cast<unsigned, UsageError>(b.leading_dim * static_cast<Offset>(sizeof(Value)),
                                           "column_bands: a row of B in bytes"),
        AlgebraOf<Types>(),
        false};
    for (const RowTasks& band : tasks_) {
      operands.tasks = band;
      if (band.block_task_count + band.warp_task_count + band.task_count > 0) {
        launch_by_access(operands, dense_cols_, true, stream);
      }
      operands.beta = 1;
    }
  }

  std::string choice() const {
    return std::to_string(bands_) + " bands of columns, rows of " +
           std::to_string(Offset{kEntriesOfABand} * bands_) + " and more nonzeros cut";
  }

 private:
  /// The rows of all bands together must fit an Index.
  Index bands(const SpmmSizes& sizes) const {
    const Index most = kMaxIndex / std::max<Index>(sizes.rows, 1);
    return std::min(column_bands(sizes.cols, l2_bytes_), std::max<Index>(most, 1));
  }
  RowTaskMaker maker_for(const SpmmSizes& sizes) const {
    const Offset slices = (Offset{sizes.dense_cols} + kSliceCols - 1) / kSliceCols;
    return {sizes, static_cast<int>(sizeof(Value)), slices, kSliceCols, 1, bands(sizes)};
  }
  std::uint64_t ends_bytes(const SpmmSizes& sizes) const {
    return static_cast<std::uint64_t>(Offset{sizes.rows} * (bands(sizes) - 1)) * sizeof(Index);
  }
  static Offset partial_stride(Index dense_cols) {
    return (Offset{dense_cols} + kFullWidth - 1) / kFullWidth * kFullWidth;
  }

  double l2_bytes_;
  RowTaskMaker maker_;
  std::vector<RowTasks> tasks_;
  Value* partial_ = nullptr;
  Index dense_cols_ = 0;
  Index bands_ = 1;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_column_bands(const SpmmProblem& problem, double l2_bytes) {
  if (problem.b == ValueKind::f64) {
    using Types = SpmmTypes<double, double>;
    return std::make_unique<TypedSpmm<Types, ColumnBands<Types>>>(l2_bytes);
  }
  using Types = SpmmTypes<float, float>;
  return std::make_unique<TypedSpmm<Types, ColumnBands<Types>>>(l2_bytes);
}

std::unique_ptr<DeviceSpmm> make_device_column_bands(const SpmmProblem& problem) {
  return make_device_column_bands(problem, static_cast<double>(current_l2_bytes()));
}

}  // namespace csrkit::gpu
