// C = A B on a grid of ranks: R row parts times G groups of columns of B and C. Rank p G + g has
// part p of A, the rows of B that part owns and the rows of C that it makes, in the columns of
// group g. It sends the rows of B that its neighbours need, multiplies its own columns while they
// travel, then the columns of its halo. If rows are split (core/matrix/split_rows.h), it first
// makes its sums of other parts' rows and sends them with the rows of B; last it adds the sums that
// it gets for its own rows, in the order of parts. The order never changes, so a grid always gives
// the same bits.
//
// Ranks of one host that read each other's rows of B where they are: ranks/peer_spmm.h. Ranks with
// a GPU each: ranks/device_spmm.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/device_ranks.h"
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
/// Columns shared out evenly: no group has more than one column more than another.
ColumnRange columns_of_group(Index dense_cols, const Grid& grid, int group);

using csrkit::SpmmSeconds;

/// One rank's share of the product: B, C and the halo on the host, wherever it is multiplied.
class SpmmRank {
 public:
  virtual ~SpmmRank() = default;
  SpmmRank(const SpmmRank&) = delete;
  SpmmRank& operator=(const SpmmRank&) = delete;

  const RankPart& part() const { return part_; }
  const PartHead& head() const { return part_.lists.head; }
  ColumnRange columns() const { return columns_; }
  /// `a` is not this rank's; `dense_cols` are its columns.
  const SpmmProblem& kinds() const { return kinds_; }

  /// Rows head().col_begin to col_end of B, columns() of it; to be filled before the first product.
  DenseView b() { return b_; }
  /// Rows head().row_begin to row_end of C, columns() of it.
  ConstDenseView c() const { return c_; }
  /// A row of B, own or of the halo, as the last product read it.
  virtual ConstDenseView row_of_b(Index row) const;

  /// All ranks together, once, before anything below.
  virtual void connect() {}
  /// b() was filled, and is what the next product multiplies.
  virtual void bring_b() {}
  /// All ranks together: C = A^products B; returns when this rank's part is made. More than one
  /// product overwrites B. Throws UsageError if C cannot become B.
  virtual SpmmSeconds multiply(int products) = 0;
  /// b(), c() and row_of_b() become those of the last product.
  virtual void fetch() {}
  /// All ranks together, after the last product: later no rank reads memory of another.
  virtual void disconnect() {}

  /// Of each product.
  virtual std::uint64_t bytes_sent() const = 0;
  virtual std::uint64_t bytes_received() const = 0;
  /// What the kernels chose, for reports.
  virtual std::string choice() const = 0;

 protected:
  /// B and C of the kinds of `problem`, whose `dense_cols` are those of all groups, and whose `a`
  /// is not looked at; C of the accumulation's kind (UsageError otherwise: the halo's terms are
  /// added to what was stored).
  SpmmRank(int rank, const Grid& grid, RankPart part, const SpmmProblem& problem);
  /// b_, c_ and halo_ in memory of this rank alone.
  void keep_operands();
  /// C becomes B. The parts own the columns of their rows, and both have one kind: else UsageError.
  void require_powers() const;

  RankPart part_;
  SpmmProblem kinds_;
  ColumnRange columns_;
  DenseView b_, c_, halo_;  // halo_: the rows of B that came, in the order of lists.halo

 private:
  DenseMatrix kept_b_, kept_c_, kept_halo_;
};

/// Sums of split rows: those that this rank makes for others, and those that it gets for its own.
class SplitSums {
 public:
  SplitSums(const Grid& grid, int group, const RankPart& part, const SpmmProblem& kinds,
            const Kernel<Spmm>& kernel, const PlanOptions& options);
  /// From this rank's own rows of B.
  void make(const ConstDenseView& b);
  /// What came, in the order of parts.
  void add_to(const DenseView& c, const RankPart& part) const;
  const std::vector<Outgoing>& outgoing() const { return outgoing_; }
  const std::vector<Incoming>& incoming() const { return incoming_; }

 private:
  DenseMatrix sent_, received_;
  std::unique_ptr<Operator> pieces_;  // null where there is no such entry
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

/// A plan for a part's entries, or null if there are none.
std::unique_ptr<Operator> plan_of(const CsrMatrix& a, SpmmProblem kinds, const Kernel<Spmm>& kernel,
                                  const PlanOptions& options);
/// What ran, for reports.
std::string choice_of(const char* what, const std::unique_ptr<Operator>& plan);
/// Rows [first, first + rows).
DenseView rows_from(const DenseView& dense, Offset first, Index rows);
/// Sets C to 0, for a rank without entries.
void clear(const DenseView& c);

/// On the processors of this process.
class CpuSpmmRank final : public SpmmRank {
 public:
  CpuSpmmRank(Communicator& communicator, const Grid& grid, RankPart part,
              const SpmmProblem& problem, const Kernel<Spmm>& kernel, const PlanOptions& options);

  SpmmSeconds multiply(int products) override;
  std::uint64_t bytes_sent() const override;
  std::uint64_t bytes_received() const override;
  std::string choice() const override;

 private:
  void pack();
  SpmmSeconds multiply_once();

  Communicator& communicator_;
  int threads_;
  DenseMatrix packed_;
  SplitSums sums_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::unique_ptr<Operator> own_, beyond_;  // null where there is no such entry
};

}  // namespace csrkit::ranks
