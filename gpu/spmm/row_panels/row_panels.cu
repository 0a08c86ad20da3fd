// row_panels: neighbouring rows share one list of columns, so a row of B is read once for all of
// them.
// Owns     8, 16 or 32 lanes: the four rows of C of one panel, or of a part of its list, 16 bytes
//          of B per lane wide; the groups of a warp walk together
// Reads    the list (column, mask, four values) coalesced, an entry a lane, and passes it on
//          through shared memory, up to 37 bytes a thread: one access for all lanes of a group;
//          eight rows of B asked for before the first is used; C written once, evicted first. Parts
//          of cut panels go through the workspace. In 16 bits a warp has eight rows and 64 columns
//          of C: 16 rows of B at once go to shared memory, 4 KB a warp, and from there to tensor
//          cores, values of the list straight to the lanes that hold them; up to 32 columns, and
//          where vectors of 16 bytes are not aligned, B goes straight to the lanes, too
// Launch   128 threads, 5 blocks per multiprocessor, so at most 96 registers: 16 sums, and 32
//          numbers of B under way. Slices of the columns in the outer grid dimension. In 16 bits 8
//          blocks and 64 registers, 10 and 48 for narrow slices; neighbouring warps have
//          neighbouring slices
// Needs    nothing. Pays where neighbouring rows have columns in common: choose.cpp looks for it.
//          Where rows of B or C begin anywhere within a vector, lanes read a row of B in pieces
//          (pieces.cuh): more requests, the same sums
// Against  row_bins: on a matrix of finite elements a third of the reads of B and of the
//          instructions around them. Still bad: an entry of a list has room for four values, so
//          where few rows share it, A is larger than it was, and most multiplications are masked
//          out. In 16 bits those cost nothing, as tensor cores do all of them anyway; but eight
//          values of an entry are stored, and C is made again by multiply-adds where it is not
//          finite
// Akin to  ASpT (Hong et al., "Adaptive sparse tiling for sparse matrix multiplication", PPoPP'19):
//          rows of a panel share what they read of B. There the dense columns of a large panel go
//          through shared memory and the rest is done row by row; here a panel has four rows, one
//          list has all their columns, and B stays in registers. In 16 bits also to FlashSparse
//          (Shi et al., "FlashSparse: minimizing computation redundancy for fast sparse matrix
//          multiplications on tensor cores", PPoPP'25): columns of eight rows are the narrow side
//          of a tile, and C is transposed. Here whole vectors of B are loaded, and what is no entry
//          cannot change C

#include <algorithm>

#include "gpu/spmm/pieces.cuh"
#include "gpu/spmm/row_panels/launch.cuh"

namespace csrkit::gpu {

namespace {

template <class Types>
class RowPanels {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  static constexpr int kValueBytes = static_cast<int>(sizeof(Value));
  static constexpr Index kFullWidth = 16 / kValueBytes;
  static constexpr bool kIsTiled = kValueBytes == 2;
  static constexpr int kRows = panel_rows(kValueBytes);
  static constexpr bool kHasPieces = Types::kIsPlusTimes && !kIsTiled;

 public:
  explicit RowPanels(const SpmmProblem& problem) : algebra_(problem.semiring) {}

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    const Offset slots = task_maker_for(sizes).max_slots() * kRows;
    return analysis_bytes(sizes) +
           static_cast<std::uint64_t>(slots * partial_stride(sizes.dense_cols)) * sizeof(Number);
  }

  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    return list_maker_for(sizes).workspace_bytes() + task_maker_for(sizes).workspace_bytes();
  }

  void adopt(const SpmmSizes& sizes, void* workspace) {
    whole_cols_ = sizes.dense_cols_of_whole();
    list_maker_ = list_maker_for(sizes);
    task_maker_ = task_maker_for(sizes);
    lists_ = list_maker_.lay_out(workspace);
    auto* bytes = static_cast<std::byte*>(workspace);
    partial_ = reinterpret_cast<Number*>(bytes + analysis_bytes(sizes));
  }

  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    list_maker_.analyse(a.template as<void>(), workspace, task_maker_.cleared_bytes(), stream);
    task_maker_.analyse(a.template as<void>(), behind_lists(workspace), stream, lists_.lengths);
  }

  void finish_analysis(void* workspace, cudaStream_t stream) {
    tasks_ = task_maker_.finish(behind_lists(workspace), stream);
  }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<typename Types::Output>& c, Number alpha, Number beta, void*,
              cudaStream_t stream) const {
    const auto row_bytes = checked_cast<unsigned, UsageError>(
        b.leading_dim * static_cast<Offset>(sizeof(Value)), "row_panels: a row of B in bytes");
    PanelLists lists = lists_;
    if (a.values == nullptr && !kIsTiled) lists.values = nullptr;
    const RowPanelsOperands<Types> operands{b,         c,        alpha,    beta,
                                            tasks_,    lists,    partial_, partial_stride(c.cols),
                                            row_bytes, algebra_, {}};
    if constexpr (kIsTiled) return launch_tiled(operands, stream);
    if constexpr (kHasPieces) {
      const int widest = widest_access(b, c);
      if (widest < kFullWidth && whole_cols_ >= kFewestUnaligned) {
        return PiecesPanelsKernels<Types>::launch(operands, widest > 1, stream);
      }
    }
    if constexpr (!kIsTiled) {
      with_width<Types>(widest_access_of_whole(b, c, whole_cols_), [&](auto width) {
        RowPanelsKernels<Types, decltype(width)::value>::launch(operands, whole_cols_, stream);
      });
    }
  }

  std::string choice() const {
    return std::to_string(tasks_.task_count) + " tasks, panels of " + std::to_string(kRows) +
           " rows, lists above about " + std::to_string(task_maker_.part_entries()) +
           " entries cut";
  }

 private:
  /// The order of sums does not depend on the width.
  static void launch_tiled(RowPanelsOperands<Types> operands, cudaStream_t stream) {
    const auto launch = [&](auto width) {
      using Kernels = TiledPanelsKernels<Types, decltype(width)::value>;
      // The warps of a block: they share the reads of one list for several slices.
      constexpr Index kMost = 4;
      const Index slices = (operands.c.cols + Kernels::kSliceCols - 1) / Kernels::kSliceCols;
      operands.slices_together = std::min(slices, kMost);
      Kernels::launch(operands, stream);
    };
    const int widest = widest_access(operands.b, operands.c);
    if (widest == 8 && operands.c.cols > 32) return launch(std::integral_constant<int, 8>{});
    if (widest >= 4) return launch(std::integral_constant<int, 4>{});
    launch(std::integral_constant<int, 1>{});
  }
  static Offset partial_stride(Index dense_cols) {
    return (Offset{dense_cols} + kFullWidth - 1) / kFullWidth * kFullWidth;
  }
  static PanelListMaker list_maker_for(const SpmmSizes& sizes) {
    constexpr std::uint16_t kOne = std::is_same_v<Value, f16> ? 0x3c00 : 0x3f80;
    return {sizes.rows, sizes.nnz, kValueBytes, kOne};
  }
  /// An upper bound of the slices: alignment is known only after bind. If there are several, each
  /// has at least 32 columns or 256 bytes.
  static RowTaskMaker task_maker_for(const SpmmSizes& sizes) {
    constexpr Index kNarrowest = std::min<Index>(16 * kFullWidth, 32);
    const Offset slices = (Offset{sizes.dense_cols_of_whole()} + kNarrowest - 1) / kNarrowest;
    SpmmSizes panels = sizes;
    panels.rows = list_maker_for(sizes).panels();
    return {panels, static_cast<int>(sizeof(Value)), slices, 8 * kFullWidth, kRows};
  }
  void* behind_lists(void* workspace) const {
    return static_cast<std::byte*>(workspace) + list_maker_.workspace_bytes();
  }

  AlgebraOf<Types> algebra_;
  PanelListMaker list_maker_;
  RowTaskMaker task_maker_;
  PanelLists lists_;
  RowTasks tasks_;
  Number* partial_ = nullptr;
  Index whole_cols_ = 0;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_row_panels(const SpmmProblem& problem) {
  return typed_spmm<RowPanels>(problem);
}

}  // namespace csrkit::gpu
