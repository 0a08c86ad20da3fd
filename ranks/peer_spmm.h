// Ranks of one host whose rows of B lie in one shared array: each reads the rows of its halo in
// place. Nothing is packed, sent or stored twice, and a rank multiplies all entries of its rows in
// one pass, as one process would. Before that it waits until all ranks have filled their rows of B.
// Sums of split rows travel as in ranks/spmm.h. A grid always gives the same bits.
#pragma once

#include <memory>
#include <string>

#include "ranks/shared_memory.h"
#include "ranks/spmm.h"

namespace csrkit::ranks {

/// The arrays of one group of columns: all rows of B and, if C becomes B, all rows of C.
struct PeerArrays {
  std::shared_ptr<SharedMemory> b, c;  // c null for one product
};

/// All ranks together. `rows` are those of B. If ranks cannot share memory: no arrays, and why.
PeerArrays share_arrays(Communicator& communicator, const Grid& grid, Index rows,
                        const SpmmProblem& problem, int products, std::string* why_not);

class PeerSpmmRank final : public SpmmRank {
 public:
  /// `part` has columns of the whole matrix (PartColumns::whole).
  PeerSpmmRank(Communicator& communicator, const Grid& grid, RankPart part,
               const SpmmProblem& problem, const Kernel<Spmm>& kernel, const PlanOptions& options,
               PeerArrays arrays);

  SpmmSeconds multiply(int products) override;
  ConstDenseView row_of_b(Index row) const override;
  /// Rows of others that are read, each counted once, and sums of split rows.
  std::uint64_t bytes_sent() const override;
  std::uint64_t bytes_received() const override;
  std::string choice() const override;

 private:
  SpmmSeconds multiply_once();

  Communicator& communicator_;
  PeerArrays arrays_;
  DenseView all_b_, all_c_;  // all_c_: without rows where C stays C
  DenseMatrix kept_c_;
  SplitSums sums_;
  std::unique_ptr<Operator> rows_;  // null where there is no entry
};

}  // namespace csrkit::ranks
