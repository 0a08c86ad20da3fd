// Ranks with a GPU each. Lists are made here, on the host. Of the GPUs only
// core/contract/device_ranks.h is known.
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

/// The rows that have entries, as a matrix that shares `a`'s entries, and their numbers in `rows`.
/// If they are half of all rows or more: `a` itself and no numbers, because then a list of rows
/// costs more than touching all rows of C.
CsrMatrix rows_with_entries(const CsrMatrix& a, std::vector<Index>* rows);

/// The share of a rank if every rank gets all of B, its own rows included, and multiplies once: the
/// baseline of device_share, which knows the needed rows. For parts without split rows.
DeviceShare all_gather_share(int rank, const Grid& grid, const RankPart& part,
                             const std::vector<Index>& borders, const SpmmProblem& kinds);

/// What a rank's GPU is told, and how rows of B come to it.
struct DeviceSetup {
  const DeviceRankMakers& makers;
  std::string kernel = "auto";
  PlanOptions options;
  HaloWay way = HaloWay::peer;
  /// All ranks are threads of this process; else HaloWay::peer needs processes that read each
  /// other's GPUs.
  bool is_one_process = true;
  bool gathers_all = false;  // all_gather_share; then row_of_b() knows own rows only
};

class DeviceSpmmRank final : public SpmmRank {
 public:
  /// Borrows `setup.makers`.
  DeviceSpmmRank(Communicator& communicator, const Grid& grid, RankPart part,
                 const SpmmProblem& problem, DeviceSetup setup);

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
  DeviceSetup setup_;
  std::shared_ptr<DeviceRank> device_;
  std::vector<std::shared_ptr<DeviceRank>> held_;  // of all that are driven: they outlive driven_
  std::unique_ptr<DeviceRanks> driven_;            // by this rank, for all of its process
  DeviceRanks* ranks_ = nullptr;
  std::size_t place_ = 0;  // in there
};

}  // namespace csrkit::ranks
