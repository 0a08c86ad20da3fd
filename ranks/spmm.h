// C = A B on a grid of ranks: R row parts times G groups of columns of B and C. Rank p G + g has
// part p of A, the rows of B that part owns and the rows of C that it makes, in the columns of
// group g. It sends the rows of B that its neighbours need, multiplies its own columns while they
// travel, then the columns of its halo: always in this order, so that a grid always gives the same
// bits.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/spmm.h"
#include "core/matrix/row_parts.h"
#include "ranks/communicator.h"

namespace csrkit::ranks {

struct Grid {
  int parts = 1;
  int groups = 1;
  int size() const { return parts * groups; }
  int part_of(int rank) const { return rank / groups; }
  int group_of(int rank) const { return rank % groups; }
  int rank_of(int part, int group) const { return part * groups + group; }
};

/// "4x2". Throws UsageError.
Grid parse_grid(const std::string& text);
std::string text_of(const Grid& grid);

struct ColumnRange {
  Index begin = 0, end = 0;
  Index size() const { return end - begin; }
};
/// Columns as even as they come: no group has more than one column more than another.
ColumnRange columns_of_group(Index dense_cols, const Grid& grid, int group);

/// Of one product.
struct SpmmSeconds {
  double pack = 0;      // rows of B for others, side by side
  double own = 0;       // own columns, while the halo travels
  double exchange = 0;  // what is left to wait for then
  double halo = 0;      // columns of the halo
  double total = 0;
};

/// One rank's share of the product.
class SpmmRank {
 public:
  /// B and C of the kinds of `kinds`, whose `a` and `dense_cols` are not looked at; C of the
  /// accumulation's kind (UsageError otherwise: the halo's terms are added to what was stored).
  SpmmRank(Communicator& communicator, const Grid& grid, RankPart part, Index dense_cols,
           const SpmmProblem& kinds, const Kernel<Spmm>& kernel, const PlanOptions& options);
  ~SpmmRank();

  const RankPart& part() const { return part_; }
  const PartHead& head() const { return part_.lists.head; }
  ColumnRange columns() const { return columns_; }
  const SpmmProblem& kinds() const { return kinds_; }

  /// Rows head().col_begin to col_end of B, columns() of it; to be filled before the first product.
  DenseView b();
  /// Rows head().row_begin to row_end of C, columns() of it.
  ConstDenseView c() const;
  /// The rows of B that the last product received, in the order of lists.halo.
  ConstDenseView halo() const;

  /// All ranks together: returns when this rank's C is made.
  SpmmSeconds multiply();
  /// C becomes B. The parts own the columns of their rows, and both have one kind: else UsageError.
  void take_c_as_b();

  /// Of each product.
  std::uint64_t bytes_sent() const;
  std::uint64_t bytes_received() const;
  /// What the kernels run as, where one was chosen.
  std::string choice() const;

 private:
  void pack();

  Communicator& communicator_;
  RankPart part_;
  SpmmProblem kinds_;
  ColumnRange columns_;
  int threads_;
  DenseMatrix b_, c_, halo_, packed_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::unique_ptr<Operator> own_, beyond_;  // null where there is no such entry
};

}  // namespace csrkit::ranks
