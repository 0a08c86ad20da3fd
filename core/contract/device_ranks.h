// Ranks of C = A B that have a GPU each: what `ranks` asks of `gpu`. Lists and matrices are made on
// the host; a GPU is told which rows go where, and does it without asking back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/spmm.h"

namespace csrkit {

/// How rows of B and sums of split rows come from other GPUs. peer: they are read in place, through
/// NVLink. nccl: they are packed and travel as messages.
enum class HaloWay : std::uint8_t { peer, nccl };
inline const char* name_of(HaloWay way) { return way == HaloWay::peer ? "peer" : "nccl"; }

/// The same, and copies by the driver. Ranks do not use those: they show the best of a link.
enum class LinkWay : std::uint8_t { copy, peer, nccl };

/// Seconds of each phase of a product.
struct SpmmSeconds {
  double pack = 0;      // rows of B for others, side by side, and sums of their split rows
  double own = 0;       // own columns, while the halo travels
  double exchange = 0;  // the wait for the halo after own columns are done
  double halo = 0;      // columns of the halo, and sums from other ranks
  double total = 0;

  /// Phase by phase.
  SpmmSeconds& operator+=(const SpmmSeconds& other) {
    pack += other.pack;
    own += other.own;
    exchange += other.exchange;
    halo += other.halo;
    total += other.total;
    return *this;
  }
};

/// Neighbouring rows that another rank sends or gets. The rank may be this one; then no bytes
/// travel.
struct RowRun {
  int rank = 0;
  Index first = 0, count = 0;
};

/// What one rank contributes. Own rows of B are numbered from 0.
struct DeviceShare {
  int rank = 0;
  SpmmProblem kinds;             // `a` is not looked at; dense_cols are those of the rank's columns
  CsrMatrix own;                 // the rank's rows; columns are own rows of B
  CsrMatrix halo;                // columns are rows of the halo
  std::vector<Index> halo_rows;  // the rows of C that its rows are added to; empty: row by row
  std::vector<Index> sends;      // own rows of B in the order in which others need them
  std::vector<RowRun> send_runs;
  std::vector<Index> reads;  // for each row of the halo, its number among its owner's own rows
  std::vector<RowRun> read_runs;
  // Of split rows (core/matrix/split_rows.h).
  CsrMatrix pieces;  // a row for each sum that is made for others; columns are own rows of B
  std::vector<RowRun> piece_runs;
  std::vector<Index> sum_rows;   // own rows of C, in the order in which their sums come
  std::vector<RowRun> sum_runs;  // each has a row of C once, and they are added one after the other
};

/// One rank's arrays on its GPU.
class DeviceRank {
 public:
  virtual ~DeviceRank() = default;
  /// B before the first product; waits.
  virtual void upload_b(const ConstDenseView& b) = 0;
  /// B and C of the last product, and the rows of B that it received; waits.
  virtual void download(const DenseView& b, const DenseView& c, const DenseView& halo) = 0;
  /// What the kernels chose, as Plan::choice says it.
  virtual std::string choice() const = 0;
  /// Bytes with which another process of this host reads its rows in place; for `join`.
  virtual std::string memory() const = 0;
};

/// All ranks that this process drives, ready to work together. They must outlive it.
class DeviceRanks {
 public:
  virtual ~DeviceRanks() = default;
  /// C = A^products B on all ranks; waits. After more than one product B must be uploaded again.
  virtual void multiply(int products) = 0;
  /// Of a rank, by its place in the list that this was made of: `total` of the last multiply, as a
  /// CUDA graph where the kernel can be captured; the phases, of one product that was queued
  /// without.
  virtual SpmmSeconds seconds(std::size_t place) const = 0;
  /// Of each product, counted where copies and messages are queued.
  virtual std::uint64_t bytes_sent(std::size_t place) const = 0;
  /// The same.
  virtual std::uint64_t bytes_received(std::size_t place) const = 0;
};

/// What lies between GPUs: exchanges without a product, for csr-probe.
class DeviceLinks {
 public:
  virtual ~DeviceLinks() = default;
  /// Seconds of exchanges, one after the other, each one CUDA graph over all GPUs: every GPU gets
  /// `bytes` from the next one at the same time. peer: as rows of `row_bytes`, every second one of
  /// an array, in their order. Throws UsageError for what cannot be done here, or for more bytes
  /// than were said.
  virtual std::vector<double> exchange_seconds(LinkWay way, std::uint64_t bytes,
                                               std::uint64_t row_bytes) = 0;
  /// Whether every GPU has the bytes of the last exchange, and none after them was changed.
  virtual bool is_moved() const = 0;
};

/// The functions by which a device library makes these objects.
struct DeviceRankMakers {
  /// A rank on options.where.device. Throws what plans throw.
  std::unique_ptr<DeviceRank> (*make)(const DeviceShare& share, const std::string& kernel,
                                      const PlanOptions& options);
  /// `ranks` are those of this process, of `all` in the whole grid. With HaloWay::nccl `told` is
  /// one rank's new_nccl_id(), the same for all processes, which wait for each other here. With
  /// HaloWay::peer all ranks are in the list, or all that exchange anything, and nothing is told;
  /// or one rank is, and `told` is what memory() of each gave, in their order.
  std::unique_ptr<DeviceRanks> (*join)(const std::vector<DeviceRank*>& ranks, int all, HaloWay way,
                                       const std::vector<std::string>& told);
  /// Throws UsageError where there is no NCCL.
  std::string (*new_nccl_id)();
  /// The bus addresses of the GPUs that this process sees, by their numbers. Throws NoDeviceError
  /// if there are none.
  std::vector<std::string> (*addresses)();
  /// "" if every one of these GPUs reads the others' memory, or why not.
  std::string (*why_no_peers)(const std::vector<int>& devices);
  /// For a trial: bytes that name some memory of a GPU. Throws DeviceError where other processes
  /// cannot be told of it.
  std::string (*sample_memory)(int device);
  /// "" if a GPU reads what another process of this host named so, or why not.
  std::string (*why_not_read)(int device, const std::string& sample);
  /// "" if libnccl can be opened, or why not.
  std::string (*why_no_nccl)();
  /// Between these GPUs, for exchanges of up to so many bytes. Throws what plans throw.
  std::unique_ptr<DeviceLinks> (*make_links)(const std::vector<int>& devices,
                                             std::uint64_t most_bytes);
};

}  // namespace csrkit
