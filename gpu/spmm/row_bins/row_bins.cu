// row_bins: rows of like length side by side, short rows in strips, long rows cut.
// Owns     8, 16 or 32 lanes: one row of C or a strip of short rows of one length, 16 bytes of B
//          per lane wide; the groups of a warp have tasks of about the same length, so none waits
//          for another. Long rows and parts of cut ones: a warp or a block, whose groups take
//          turns, in the order of the rows
// Reads    A once per slice, coalesced, passed on by shuffles; rows of at most eight entries from a
//          copy in which those of one length lie together, so that a strip needs no row offsets and
//          no loop over a row; eight rows of B asked for before the first is used (four where a
//          lane has three or four pieces in f64); C written once, evicted first. Parts of cut rows
//          go through the workspace, sums of a block's warps through 1.5 KB of shared memory at
//          most. In pieces, and in f64 but for strips, entries of A go through shared memory, not
//          by shuffles
// Launch   128 threads, 8 blocks per multiprocessor, so at most 64 registers; 7 where loads are
//          narrow (but for single elements by 8 lanes without blocks' tasks), in f32 where most
//          rows are long, and where 32 lanes have blocks' tasks; 6 for four pieces of f64. Groups
//          of 8, 16 or 32 lanes, so that slices are 128 or 256 bytes of a row of B, or all of it up
//          to 512, or 512 where that leaves half as many. Slices of the columns in the outer grid
//          dimension, so that a slice of B after the other stays in L2 if it fits there; a last one
//          of at most half the columns by 8 lanes in a second launch, if no row is long. A launch
//          for some tasks after the other where rows are short and a C larger than L2 has rows that
//          end inside sectors
// Needs    nothing: the width of the vectors follows from K, leading dimensions and addresses. If
//          rows of B or C begin anywhere, 8, 16 or 32 lanes read a row in pieces (pieces.cuh), an
//          element a lane or two neighbours, so that a lane has up to four columns. If K says so in
//          16 bits, and rows of B are read often, B is copied into rows of whole vectors instead
//          (copy_columns.h), and rows of C go through shared memory, 20 bytes a thread
// Against  nnz_split: no work at row ends, so half the registers and twice the lanes in flight; the
//          sum of a cut row is made by its last part (arrival counters; the order of the sum is
//          fixed, so the bits are always the same), which saves the second kernel. Still bad: rows
//          of 9 entries and more that are not long are visited out of order, which costs locality
//          where the order of the rows had some; C's stores add to the time of the gather where the
//          slice of B leaves no room for them in L2
// Akin to  CSR-Adaptive (Greathouse, Daga, "Efficient sparse matrix-vector multiplication on GPUs
//          using the CSR storage format", SC'14): rows classed by length, a method per class.
//          There a class is a run of neighbouring rows; here rows are sorted into bins.
//          RoDe (Pang et al., "A row decomposition-based approach for sparse matrix multiplication
//          on GPUs", PPoPP'24) cuts every long row into blocks and a rest, and runs a kernel for
//          each; here only very long rows are cut, and one kernel does all kinds of tasks

#include <algorithm>

#include "gpu/device/device_info.h"
#include "gpu/spmm/copy_columns.h"
#include "gpu/spmm/row_bins/access.cuh"
#include "gpu/spmm/row_bins/slice_width.h"
#include "gpu/spmm/row_tasks/ranges.h"

namespace csrkit::gpu {

namespace {

template <class Types>
class RowBins {
  using Value = typename Types::Value;
  using Number = typename Types::Accumulate;
  static constexpr int kValueBytes = static_cast<int>(sizeof(Value));
  static constexpr Index kFullWidth = 16 / kValueBytes;
  static constexpr bool kCopies = Types::kIsPlusTimes && kValueBytes == 2;

 public:
  explicit RowBins(const SpmmProblem& problem)
      : algebra_(problem.semiring),
        values_are_wide_(has_narrow_operands(problem)),
        a_value_bytes_(values_are_wide_ ? 4 : static_cast<int>(sizeof(Value))) {}

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    return copy_at(sizes) + (kCopies ? copy_bytes(sizes, kValueBytes) : 0);
  }

  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    return maker_for(sizes).workspace_bytes();
  }

  void adopt(const SpmmSizes& sizes, void* workspace) {
    whole_cols_ = sizes.dense_cols_of_whole();
    whole_nnz_ = sizes.nnz_of_whole();
    has_short_rows_ = sizes.nnz <= kShortMean * sizes.rows;
    has_few_long_rows_ = has_few_long_rows(sizes);
    fewest_for_wide_ = fewest_for_wide_slices(sizes.nnz_of_whole(), sizes.rows_of_whole());
    maker_ = maker_for(sizes);
    auto* bytes = static_cast<std::byte*>(workspace);
    partial_ = reinterpret_cast<Number*>(bytes + maker_.workspace_bytes());
    copy_ = reinterpret_cast<Value*>(bytes + copy_at(sizes));
    copied_cols_ = kCopies ? copied_cols(sizes, kValueBytes) : 0;
  }

  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    maker_.analyse(a.template as<void>(), workspace, stream);
  }

  void finish_analysis(void* workspace, cudaStream_t stream) {
    tasks_ = maker_.finish(workspace, stream);
    l2_bytes_ = static_cast<double>(current_l2_bytes());
  }

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<typename Types::Output>& c, Number alpha, Number beta, void*,
              cudaStream_t stream) const {
    const auto row_bytes = checked_cast<unsigned, UsageError>(
        b.leading_dim * static_cast<Offset>(sizeof(Value)), "row_bins: a row of B in bytes");
    const RowBinsOperands<Types> operands{a,
                                          b,
                                          c,
                                          alpha,
                                          beta,
                                          tasks_,
                                          partial_,
                                          partial_stride(c.cols),
                                          row_bytes,
                                          algebra_,
                                          values_are_wide_,
                                          tasks_at_once(c),
                                          whole_nnz_,
                                          has_few_long_rows_,
                                          fewest_for_wide_};
    if constexpr (kCopies) {
      const bool is_narrow = prefers_narrow_slices(b.rows);
      using Kernels = CopiedBinsKernels<Types>;
      if (copied_cols_ > 0 && is_in_vectors(b)) {
        return Kernels::launch(operands, whole_cols_, is_narrow, stream);
      }
      if (copied_cols_ > 0) {
        return launch_on_copies(operands, copy_, copied_cols_, stream, [&](const auto& slice) {
          Kernels::launch(slice, whole_cols_, is_narrow, stream);
        });
      }
    }
    launch_by_access(operands, whole_cols_, prefers_narrow_slices(b.rows), stream);
  }

  std::string choice() const {
    return std::to_string(tasks_.block_task_count) + " tasks of a block, " +
           std::to_string(tasks_.warp_task_count) + " of a warp, " +
           std::to_string(tasks_.task_count) + " of a part of one, rows above about " +
           std::to_string(maker_.part_entries()) + " nonzeros cut" +
           (has_few_long_rows_ ? ", by eight lanes a slice" : "") + choice_of_copy(copied_cols_);
  }

 private:
  /// Whether B is what a copy would be: so is a panel of a product out of core, but for the last.
  static bool is_in_vectors(const DeviceDenseView<const Value>& b) {
    return b.cols % kFullWidth == 0 && b.leading_dim % kFullWidth == 0 &&
           reinterpret_cast<std::uintptr_t>(b.data) % 16 == 0;
  }

  /// How many tasks write their slices of C before the next ones begin. Where rows of C end inside
  /// sectors, two slices, or two rows, write halves of one, which must meet in L2: a sector that
  /// leaves it half full is read again. Where C is most of what moves and does not fit, all slices
  /// of some rows are done before those of others.
  Offset tasks_at_once(const DeviceDenseView<typename Types::Output>& c) const {
    constexpr Offset kSector = 32, kWholeBlocks = 64, kFewest = 4096;
    constexpr double kShareOfL2 = 1.0 / 3;
    const Offset all = tasks_.task_count;
    const Offset row_bytes = c.leading_dim * Offset{sizeof(typename Types::Output)};
    const double bytes = static_cast<double>(row_bytes) * c.rows;
    if (!has_short_rows_ || row_bytes % kSector == 0 || bytes <= l2_bytes_) return all;
    const auto share =
        static_cast<Offset>(static_cast<double>(all) * kShareOfL2 * l2_bytes_ / bytes);
    return std::max(share, kFewest) / kWholeBlocks * kWholeBlocks;
  }

  /// Where the copy begins in the workspace.
  std::uint64_t copy_at(const SpmmSizes& sizes) const {
    constexpr std::uint64_t kAlign = 256;
    const RowTaskMaker maker = maker_for(sizes);
    const std::uint64_t partial_bytes =
        static_cast<std::uint64_t>(maker.max_slots() * partial_stride(sizes.dense_cols)) *
        sizeof(Number);
    return (maker.workspace_bytes() + partial_bytes + kAlign - 1) / kAlign * kAlign;
  }
  static Offset partial_stride(Index dense_cols) {
    return (Offset{dense_cols} + kFullWidth - 1) / kFullWidth * kFullWidth;
  }

  /// As many slices as there can be: how operands are aligned is not known before they are bound,
  /// but where there are several, each has 32 columns or 128 bytes at least.
  RowTaskMaker maker_for(const SpmmSizes& sizes) const {
    constexpr Index kNarrowest = std::min<Index>(8 * kFullWidth, 32);
    const Offset slices = (Offset{sizes.dense_cols_of_whole()} + kNarrowest - 1) / kNarrowest;
    return {sizes, a_value_bytes_, slices, 8 * kFullWidth};
  }

  /// Whether long rows are so few that slices of eight lanes pay instead of 16: a block's groups
  /// then share a row's entries in half as many turns, each of which waits for B, but entries are
  /// done once more for every slice more. Cycles of an H100,
  /// docs/lab/2026-11-26-spmm-last-lost.md.
  bool has_few_long_rows(const SpmmSizes& sizes) const {
    constexpr Offset kWait = 600, kEntry = 2;  // the latter of one multiprocessor
    constexpr Offset kMultiprocessors = kBlocksAtOnce / 8, kTurn = 64;  // of 16 lanes, in entries
    const Offset rows = sizes.rows_of_whole(), nnz = sizes.nnz_of_whole();
    if (rows == 0 || nnz < kShortestOfBlock * rows) return false;
    const Offset length = std::min<Offset>(nnz / rows, maker_for(sizes).part_entries());
    const auto whole = [](Offset count, Offset of) { return (count + of - 1) / of; };
    const Offset waits = whole(length, kTurn) - whole(length, 2 * kTurn);
    const Offset cols = sizes.dense_cols_of_whole(), narrow = 8 * kFullWidth;
    const Offset slices = std::max<Offset>(whole(cols, narrow) - whole(cols, 2 * narrow), 1);
    return kEntry * nnz * slices < kWait * kMultiprocessors * waits;
  }

  /// Few long rows always have narrow slices.
  bool prefers_narrow_slices(Index b_rows) const {
    return has_few_long_rows_ || narrow_slices_pay(whole_nnz_, b_rows, kValueBytes, l2_bytes_);
  }

  AlgebraOf<Types> algebra_;
  bool values_are_wide_;
  int a_value_bytes_;
  RowTaskMaker maker_;
  RowTasks tasks_;
  Number* partial_ = nullptr;
  Index whole_cols_ = 0;
  bool has_short_rows_ = false, has_few_long_rows_ = false;
  Offset whole_nnz_ = 0, fewest_for_wide_ = 0;
  Value* copy_ = nullptr;
  Index copied_cols_ = 0;
  double l2_bytes_ = 0;
};

}  // namespace

std::unique_ptr<DeviceSpmm> make_device_row_bins(const SpmmProblem& problem) {
  return typed_spmm<RowBins>(problem);
}

}  // namespace csrkit::gpu
