#include "ranks/device_spmm.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace csrkit::ranks {

namespace {

/// An address, for a text that ranks gather.
std::string address_text(const void* address) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(address));
}
template <class T>
T* address_from(const std::string& text) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(std::stoull(text)));
}

Buffer<Offset> no_entries(Index rows) {
  Buffer<Offset> offsets(Offset{rows} + 1);
  std::fill(offsets.begin(), offsets.end(), Offset{0});
  return offsets;
}

/// Adds a row for a rank, `at` places after the first row of all.
void add_to_runs(std::vector<RowRun>* runs, int rank, Index at) {
  if (runs->empty() || runs->back().rank != rank) runs->push_back({rank, at, 0});
  ++runs->back().count;
}

/// The part's rows with columns of the whole matrix, which are own ones between those of the halo.
CsrMatrix whole_rows(const RankPart& part, Index cols) {
  const CsrMatrix &own = part.own, &halo = part.halo;
  const auto size = static_cast<std::size_t>(size_of(own.value_kind()));  // 0 without values
  Buffer<Offset> offsets(Offset{own.rows()} + 1);
  Buffer<Index> columns(own.nnz() + halo.nnz());
  ValueArray values(own.value_kind(), own.nnz() + halo.nnz());
  Offset to = 0;
  const auto take = [&](const CsrMatrix& from, Offset at, Index col) {
    columns[to] = col;
    if (size > 0) {
      std::memcpy(static_cast<char*>(values.data()) + static_cast<std::size_t>(to) * size,
                  static_cast<const char*>(from.values()) + static_cast<std::size_t>(at) * size,
                  size);
    }
    ++to;
  };
  offsets[0] = 0;
  for (Index row = 0; row < own.rows(); ++row) {
    Offset at = halo.row_offsets()[row];
    const auto halo_until = [&](Index end) {
      for (; at < halo.row_offsets()[row + 1]; ++at) {
        const Index col = part.lists.halo[halo.col_indices()[at]];
        if (col >= end) return;
        take(halo, at, col);
      }
    };
    halo_until(part.lists.head.col_begin);
    for (Offset i = own.row_offsets()[row]; i < own.row_offsets()[row + 1]; ++i) {
      take(own, i, part.lists.head.col_begin + own.col_indices()[i]);
    }
    halo_until(cols);
    offsets[row + 1] = to;
  }
  return CsrMatrix(own.rows(), cols, std::move(offsets), std::move(columns), std::move(values));
}

}  // namespace

CsrMatrix rows_with_entries(const CsrMatrix& a, std::vector<Index>* rows) {
  rows->clear();
  for (Index row = 0; row < a.rows(); ++row) {
    if (a.row_length(row) > 0) rows->push_back(row);
  }
  const auto count = static_cast<Index>(rows->size());
  if (count == 0 || 2 * Offset{count} >= a.rows()) {
    rows->clear();
    return a;
  }
  struct Kept {
    CsrMatrix whole;
    Buffer<Offset> offsets;
  };
  auto kept = std::make_shared<Kept>(Kept{a, Buffer<Offset>(Offset{count} + 1)});
  kept->offsets[0] = 0;  // rows between have no entries, so those of the others are side by side
  for (Index i = 0; i < count; ++i) {
    kept->offsets[i + 1] = a.row_offsets()[(*rows)[static_cast<std::size_t>(i)] + 1];
  }
  const Offset* const offsets = kept->offsets.data();
  return CsrMatrix(count, a.cols(), offsets, a.col_indices(), a.value_kind(), a.values(),
                   std::move(kept));
}

DeviceShare device_share(int rank, const Grid& grid, const RankPart& part,
                         const std::vector<Index>& borders, const SpmmProblem& kinds) {
  const PartLists& lists = part.lists;
  DeviceShare share;
  share.rank = rank;
  share.kinds = kinds;
  share.own = part.own;
  share.halo = rows_with_entries(part.halo, &share.halo_rows);
  for (const Index col : lists.sends) share.sends.push_back(col - lists.head.col_begin);
  Index sent = 0, received = 0;
  for (const Neighbour& neighbour : lists.neighbours) {
    const int other = grid.rank_of(neighbour.part, grid.group_of(rank));
    if (neighbour.send_cols > 0) share.send_runs.push_back({other, sent, neighbour.send_cols});
    if (neighbour.halo_cols > 0) share.read_runs.push_back({other, received, neighbour.halo_cols});
    const Index first = borders[static_cast<std::size_t>(neighbour.part)];
    for (Index i = 0; i < neighbour.halo_cols; ++i) {
      share.reads.push_back(lists.halo[received + i] - first);
    }
    sent += neighbour.send_cols;
    received += neighbour.halo_cols;
  }
  share.pieces = part.pieces;
  Index place = 0;
  for (const RowPiece& piece : lists.pieces) {
    add_to_runs(&share.piece_runs, grid.rank_of(piece.part, grid.group_of(rank)), place++);
  }
  place = 0;
  for (const RowSum& sum : lists.sums) {
    add_to_runs(&share.sum_runs, grid.rank_of(sum.part, grid.group_of(rank)), place++);
    share.sum_rows.push_back(sum.row - lists.head.row_begin);
  }
  return share;
}

DeviceShare all_gather_share(int rank, const Grid& grid, const RankPart& part,
                             const std::vector<Index>& borders, const SpmmProblem& kinds) {
  const PartHead& head = part.lists.head;
  DeviceShare share;
  share.rank = rank;
  share.kinds = kinds;
  share.own = CsrMatrix(head.rows(), head.own_cols(), no_entries(head.rows()), Buffer<Index>(),
                        ValueArray(part.own.value_kind(), 0));
  share.halo = whole_rows(part, borders.back());
  for (Index row = 0; row < head.own_cols(); ++row) share.sends.push_back(row);
  for (int other = 0; other < grid.parts; ++other) {
    const auto at = static_cast<std::size_t>(other);
    const Index count = borders[at + 1] - borders[at];
    const int to = grid.rank_of(other, grid.group_of(rank));
    if (head.own_cols() > 0) share.send_runs.push_back({to, 0, head.own_cols()});
    if (count > 0) share.read_runs.push_back({to, borders[at], count});
    for (Index row = 0; row < count; ++row) share.reads.push_back(row);
  }
  return share;
}

DeviceSpmmRank::DeviceSpmmRank(Communicator& communicator, const Grid& grid, RankPart part,
                               const SpmmProblem& problem, DeviceSetup setup)
    : SpmmRank(communicator.rank(), grid, std::move(part), problem),
      communicator_(communicator),
      grid_(grid),
      setup_(std::move(setup)) {
  keep_operands();
}

void DeviceSpmmRank::connect() {
  std::vector<Index> borders = {0};
  const std::vector<std::string> ends = communicator_.gather(std::to_string(head().col_end));
  for (int part = 0; part < grid_.parts; ++part) {
    borders.push_back(std::stoi(ends[static_cast<std::size_t>(grid_.rank_of(part, 0))]));
  }
  const auto share = setup_.gathers_all ? all_gather_share : device_share;
  device_ = setup_.makers.make(share(communicator_.rank(), grid_, part_, borders, kinds_),
                               setup_.kernel, setup_.options);

  const bool is_first = communicator_.rank() == 0;
  std::vector<std::string> told;
  if (setup_.way == HaloWay::nccl) {
    told = communicator_.gather(is_first ? setup_.makers.new_nccl_id() : std::string());
    told.resize(1);
  } else if (!setup_.is_one_process && grid_.parts > 1) {
    told = communicator_.gather(device_->memory());
  }
  const std::vector<std::string> places = communicator_.gather(address_text(&device_));
  if (is_first || !setup_.is_one_process) {
    if (!setup_.is_one_process) held_ = {device_};
    for (const std::string& text : places) {
      if (setup_.is_one_process) held_.push_back(*address_from<std::shared_ptr<DeviceRank>>(text));
    }
    std::vector<DeviceRank*> driven(held_.size());
    std::transform(held_.begin(), held_.end(), driven.begin(),
                   [](const std::shared_ptr<DeviceRank>& rank) { return rank.get(); });
    driven_ = setup_.makers.join(driven, grid_.size(), setup_.way, told);
  }
  const std::vector<std::string> drivers = communicator_.gather(address_text(driven_.get()));
  ranks_ = setup_.is_one_process ? address_from<DeviceRanks>(drivers.front()) : driven_.get();
  place_ = setup_.is_one_process ? static_cast<std::size_t>(communicator_.rank()) : 0;
}

SpmmSeconds DeviceSpmmRank::multiply(int products) {
  if (products > 1) require_powers();
  communicator_.barrier();
  if (driven_ != nullptr) driven_->multiply(products);
  communicator_.barrier();
  return ranks_->seconds(place_);
}

/// A rank may free its memory only when no other process has it open.
void DeviceSpmmRank::disconnect() {
  communicator_.barrier();
  if (setup_.is_one_process) return;
  driven_.reset();
  ranks_ = nullptr;
  communicator_.barrier();
}

}  // namespace csrkit::ranks
