// Ranks with a GPU each. Lists are made here, on the host; core/contract/device_ranks.h is all that
// is known of the GPUs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/contract/device_ranks.h"
#include "ranks/spmm.h"

namespace csrkit::ranks {

/// What a rank brings to its GPU. Part p owns the columns from borders[p] to borders[p + 1].
DeviceShare device_share(int rank, const Grid& grid, const RankPart& part,
                         const std::vector<Index>& borders, const SpmmProblem& kinds);

/// The rows that have entries, as a matrix of their own that shares `a`'s entries; and which they
/// are. If they are half of all rows or more: `a`, and no list. Rows that get nothing from a halo
/// are not touched so, where reading them twice costs less than touching all.
CsrMatrix rows_with_entries(const CsrMatrix& a, std::vector<Index>* rows);

/// What a rank brings where nobody knows which rows it needs: every rank gets all of B, its own
/// rows among them, and multiplies once. The rival of the above, for parts without split rows.
DeviceShare all_gather_share(int rank, const Grid& grid, const RankPart& part,
                             const std::vector<Index>& borders, const SpmmProblem& kinds);

class DeviceSpmmRank final : public SpmmRank {
 public:
  /// `is_one_process`: all ranks are threads of this one; else HaloWay::peer needs processes that
  /// read each other's GPUs. With `gathers_all` row_of_b() knows own rows only.
  DeviceSpmmRank(Communicator& communicator, const Grid& grid, RankPart part, Index dense_cols,
                 const SpmmProblem& kinds, const std::string& kernel, const PlanOptions& options,
                 const DeviceRankMakers& makers, HaloWay way, bool is_one_process,
                 bool gathers_all);

  void connect() override;
  void bring_b() override { device_->upload_b(b_); }
  SpmmSeconds multiply(int products) override;
  void fetch() override { device_->download(b_, c_, halo_); }
  void disconnect() override;
  std::uint64_t bytes_sent() const override { return ranks_->bytes_sent(place_); }
  std::uint64_t bytes_received() const override { return ranks_->bytes_received(place_); }
  std::string choice() const override { return device_->choice(); }

 private:
  Communicator& communicator_;
  Grid grid_;
  std::string kernel_;
  PlanOptions options_;
  const DeviceRankMakers& makers_;
  HaloWay way_;
  bool is_one_process_, gathers_all_;
  std::shared_ptr<DeviceRank> device_;
  std::vector<std::shared_ptr<DeviceRank>> held_;  // of all that are driven: they outlive driven_
  std::unique_ptr<DeviceRanks> driven_;            // by this rank, for all of its process
  DeviceRanks* ranks_ = nullptr;
  std::size_t place_ = 0;  // in there
};

}  // namespace csrkit::ranks
