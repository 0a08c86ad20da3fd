// nnz_balanced: work is cut into pieces of equal size, hubs included, and columns stay in
// registers. Owns     a piece is a run of whole rows, about as many nonzeros (plus rows) as any
// other, and one thread makes it; a row longer than two pieces (a hub) is cut into stretches of one
// piece, whose sums wait in a workspace until they are added in order
// Reads    as row_kernels_body.inc says
// Launch   pieces are handed out dynamically; their boundaries depend on A alone and every element
//          has one order of summation, so the bits are the same for any number of threads
// Needs    4 to 8 bytes per dense column and stretch of a hub (at most 1/64 of the hubs' share of
//          A) Against row_parallel and simd: no row is too long for one thread, the widest vectors
//          of the machine at run time, sums in registers, rows of B prefetched. Source: the even
//          split of rows plus nonzeros is that of Merrill and Garland, Merge-based SpMV (2016),
//          with cuts moved to row ends where rows are short
#include <algorithm>
#include <vector>

#include "cpu/spmm/row_kernels.h"

namespace csrkit::cpu {

namespace {

/// Large pieces cost no time to hand out; small ones share out a small matrix.
constexpr Offset kLargestPiece = 4096;
constexpr Offset kSmallestPiece = 256;
constexpr Offset kPiecesWanted = 1024;
/// Below this many multiply-adds a second thread costs more than it brings (measured: about 5 us to
/// wake a team).
constexpr double kSerialWork = 1 << 15;
/// Columns that one task of the second phase adds up.
constexpr Index kReduceColumns = 256;

/// Rows [first, last) as a whole.
struct Piece {
  Index first;
  Index last;
};

/// A row that is cut into stretches of `piece_size` entries, numbered from `first_stretch`.
struct Hub {
  Index row;
  Offset first_stretch;
  Offset stretches;
};

struct Stretch {
  Offset begin;
  Offset end;
};

/// How the rows of one matrix are cut. A function of the matrix alone.
struct Cuts {
  std::vector<Piece> pieces;
  std::vector<Hub> hubs;
  std::vector<Stretch> stretches;
};

Cuts cut_rows(const CsrMatrix& a) {
  const Index rows = a.rows();
  const Offset* offsets = a.row_offsets();
  const Offset work = a.nnz() + rows;
  const Offset size = std::clamp(work / kPiecesWanted, kSmallestPiece, kLargestPiece);
  Cuts cuts;
  Index start = 0;
  for (Offset goal = size; start < rows; goal += size) {
    // The first row that begins at or after the goal, counting nonzeros and rows.
    Index low = start, high = rows;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (offsets[middle] + middle >= goal) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (low == start) continue;  // inside a long row
    // Only the last row before the goal can reach over two goals.
    const Index last = low - 1;
    const Offset length = a.row_length(last);
    const bool is_hub = length > 2 * size;
    if (start < (is_hub ? last : low)) cuts.pieces.push_back({start, is_hub ? last : low});
    if (is_hub) {
      const auto first_stretch = static_cast<Offset>(cuts.stretches.size());
      for (Offset begin = offsets[last]; begin < offsets[last + 1]; begin += size) {
        cuts.stretches.push_back({begin, std::min(begin + size, offsets[last + 1])});
      }
      cuts.hubs.push_back(
          {last, first_stretch, static_cast<Offset>(cuts.stretches.size()) - first_stretch});
    }
    start = low;
  }
  return cuts;
}

template <class Kinds>
class NnzBalanced : public SpmmMethod {
 public:
  using Acc = typename Kinds::Acc;

  NnzBalanced(const MethodInput& input, Isa isa)
      : op_a_(input.op_a),
        team_(input.team),
        isa_(isa),
        kernels_(row_kernels<Kinds>(isa, input.problem.semiring)) {
    // At most one piece per kSmallestPiece of work, and one stretch likewise.
    const auto work = static_cast<std::uint64_t>(op_a_.nnz() + op_a_.rows());
    const std::uint64_t pieces = std::min<std::uint64_t>(work / kSmallestPiece + 1,
                                                         kPiecesWanted + work / kLargestPiece + 2);
    input.budget.reserve(2 * pieces * (sizeof(Piece) + sizeof(Stretch) + sizeof(Hub)),
                         "the list of pieces");
    cuts_ = cut_rows(op_a_);
    const Offset sums = static_cast<Offset>(cuts_.stretches.size()) * input.problem.dense_cols;
    input.budget.reserve(static_cast<std::uint64_t>(sums) * sizeof(Acc), "the sums of cut rows");
    sums_ = Buffer<Acc>(sums);
  }

  void multiply(const MethodCall& call) override {
    const Operands<Kinds> x(op_a_, call, team_);
    const auto stretches = static_cast<Offset>(cuts_.stretches.size());
    const Offset tasks = stretches + static_cast<Offset>(cuts_.pieces.size());
    const Index column_blocks = (x.dense_cols - 1) / kReduceColumns + 1;
    const Offset reductions = static_cast<Offset>(cuts_.hubs.size()) * column_blocks;
    const bool is_parallel =
        static_cast<double>(op_a_.nnz() + op_a_.rows()) * static_cast<double>(x.dense_cols) >
        kSerialWork;
#pragma omp parallel num_threads(team_.threads) if (is_parallel)
    {
      // Stretches first: a hub that came last would keep one thread busy after the others are done.
#pragma omp for schedule(dynamic, 1)
      for (Offset task = 0; task < tasks; ++task) {
        if (task < stretches) {
          const Stretch& stretch = cuts_.stretches[static_cast<std::size_t>(task)];
          kernels_.stretch(x, stretch.begin, stretch.end, sums_.data() + task * x.dense_cols);
        } else {
          const Piece& piece = cuts_.pieces[static_cast<std::size_t>(task - stretches)];
          kernels_.rows(x, piece.first, piece.last);
        }
      }
#pragma omp for schedule(static)
      for (Offset task = 0; task < reductions; ++task) {
        finish_hub(x, cuts_.hubs[static_cast<std::size_t>(task / column_blocks)],
                   static_cast<Index>(task % column_blocks) * kReduceColumns);
      }
    }
  }

  std::string choice() const override {
    return std::string(name_of(isa_)) + ", " + std::to_string(cuts_.pieces.size()) + " pieces, " +
           std::to_string(cuts_.hubs.size()) + " cut rows";
  }

 private:
  void finish_hub(const Operands<Kinds>& x, const Hub& hub, Index j) {
    const Index count = std::min(kReduceColumns, x.dense_cols - j);
    Acc* total = sums_.data() + hub.first_stretch * x.dense_cols + j;
    for (Offset n = 1; n < hub.stretches; ++n) {
      kernels_.combine(total, total + n * x.dense_cols, count);
    }
    auto* c = x.c_row(hub.row) + j;
    for (Index k = 0; k < count; ++k) x.store(c[k], total[k]);
  }

  CsrMatrix op_a_;
  Team team_;
  Isa isa_;
  RowKernels<Kinds> kernels_;
  Cuts cuts_;
  Buffer<Acc> sums_;
};

}  // namespace

std::unique_ptr<SpmmMethod> make_nnz_balanced(const MethodInput& input) {
  return with_spmm_kinds(input.problem, [&](auto kinds) -> std::unique_ptr<SpmmMethod> {
    return std::make_unique<NnzBalanced<decltype(kinds)>>(input, chosen_isa());
  });
}

}  // namespace csrkit::cpu
