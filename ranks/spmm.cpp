#include "ranks/spmm.h"

#include <algorithm>
#include <cstring>

#include "core/base/available_memory.h"
#include "core/base/stopwatch.h"
#include "core/base/team.h"

namespace csrkit::ranks {

namespace {

Index checked_int(const std::string& text, const std::string& whole) {
  const bool is_number = !text.empty() && text.size() <= 6 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  const int number = is_number ? std::stoi(text) : 0;
  if (number < 1) {
    throw UsageError("expected ROW_PARTSxCOLUMN_GROUPS, such as 4x2, found '" + whole + "'");
  }
  return number;
}

std::uint64_t row_bytes(const ConstDenseView& dense) {
  return static_cast<std::uint64_t>(dense.leading_dim) *
         static_cast<std::uint64_t>(size_of(dense.kind));
}

}  // namespace

std::unique_ptr<Operator> plan_of(const CsrMatrix& a, SpmmProblem kinds, const Kernel<Spmm>& kernel,
                                  const PlanOptions& options) {
  if (a.nnz() == 0) return nullptr;
  kinds.a = a;
  return kernel.make_plan(kinds, options);
}

std::string choice_of(const char* what, const std::unique_ptr<Operator>& plan) {
  if (plan == nullptr) return std::string(what) + " none";
  const std::string choice = plan->choice();
  return std::string(what) + " " + (choice.empty() ? "as asked for" : choice);
}

void clear(const DenseView& c) {
  const auto bytes = static_cast<std::size_t>(Offset{c.rows} * c.leading_dim * size_of(c.kind));
  if (bytes > 0) std::memset(c.data, 0, bytes);
}

DenseView rows_from(const DenseView& dense, Offset first, Index rows) {
  DenseView some = dense;
  some.data = dense.as<char>() + first * dense.leading_dim * size_of(dense.kind);
  some.rows = rows;
  return some;
}

Grid parse_grid(const std::string& text) {
  const std::size_t x = text.find('x');
  if (x == std::string::npos) checked_int("", text);
  const Grid grid{checked_int(text.substr(0, x), text), checked_int(text.substr(x + 1), text)};
  if (Offset{grid.parts} * grid.groups > kMaxIndex) {
    throw UsageError("expected a grid of at most " + std::to_string(kMaxIndex) + " ranks, found '" +
                     text + "'");
  }
  return grid;
}

std::string text_of(const Grid& grid) {
  return std::to_string(grid.parts) + "x" + std::to_string(grid.groups);
}

ColumnRange columns_of_group(Index dense_cols, const Grid& grid, int group) {
  const auto border = [&](int number) {
    return static_cast<Index>(Offset{dense_cols} * number / grid.groups);
  };
  return {border(group), border(group + 1)};
}

SpmmRank::SpmmRank(int rank, const Grid& grid, RankPart part, const SpmmProblem& problem)
    : part_(std::move(part)),
      kinds_(problem),
      columns_(columns_of_group(problem.dense_cols, grid, grid.group_of(rank))) {
  kinds_.dense_cols = columns_.size();
  if (kinds_.c != kinds_.accumulate) {
    throw UsageError("ranks add the terms of their halo to C, so C has the accumulation's kind, " +
                     std::string(name_of(kinds_.accumulate)));
  }
}

void SpmmRank::keep_operands() {
  const auto bytes_of = [&](Offset rows, ValueKind kind) {
    return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns_.size()) *
           static_cast<std::uint64_t>(size_of(kind));
  };
  require_available_memory(bytes_of(Offset{head().own_cols()} + head().halo_cols, kinds_.b) +
                               bytes_of(head().rows(), kinds_.c),
                           "holding the dense operands of a rank",
                           "use fewer dense columns, or ranks on more hosts");
  kept_b_ = DenseMatrix(head().own_cols(), columns_.size(), kinds_.b);
  kept_c_ = DenseMatrix(head().rows(), columns_.size(), kinds_.c);
  kept_halo_ = DenseMatrix(head().halo_cols, columns_.size(), kinds_.b);
  b_ = kept_b_.view();
  c_ = kept_c_.view();
  halo_ = kept_halo_.view();
}

ConstDenseView SpmmRank::row_of_b(Index row) const {
  const bool is_own = row >= head().col_begin && row < head().col_end;
  const Buffer<Index>& halo = part_.lists.halo;
  const DenseView& from = is_own ? b_ : halo_;
  const Offset place = is_own ? Offset{row} - head().col_begin
                              : std::lower_bound(halo.begin(), halo.end(), row) - halo.begin();
  return rows_from(from, place, 1);
}

void SpmmRank::require_powers() const {
  if (kinds_.b != kinds_.c) {
    throw UsageError("a product of products needs B and C of one kind; B is " +
                     std::string(name_of(kinds_.b)) + ", C is " + name_of(kinds_.c));
  }
  if (head().row_begin != head().col_begin || head().row_end != head().col_end) {
    throw UsageError(
        "a product of products needs a square matrix, whose parts own the columns of "
        "their rows");
  }
}

SplitSums::SplitSums(const Grid& grid, int group, const RankPart& part, const SpmmProblem& kinds,
                     const Kernel<Spmm>& kernel, const PlanOptions& options)
    : sent_(part.lists.head.sums_sent, kinds.dense_cols, kinds.c),
      received_(part.lists.head.sums_received, kinds.dense_cols, kinds.c),
      pieces_(plan_of(part.pieces, kinds, kernel, options)) {
  const std::uint64_t bytes = row_bytes(sent_.view());
  auto* from = sent_.view().as<char>();
  for (const RowPiece& piece : part.lists.pieces) {
    const int rank = grid.rank_of(piece.part, group);
    if (!outgoing_.empty() && outgoing_.back().to == rank) {
      outgoing_.back().bytes += bytes;
    } else {
      outgoing_.push_back({rank, from, bytes});
    }
    from += bytes;
  }
  auto* to = received_.view().as<char>();
  for (const RowSum& sum : part.lists.sums) {
    const int rank = grid.rank_of(sum.part, group);
    if (!incoming_.empty() && incoming_.back().from == rank) {
      incoming_.back().bytes += bytes;
    } else {
      incoming_.push_back({rank, to, bytes});
    }
    to += bytes;
  }
}

void SplitSums::make(const ConstDenseView& b) {
  if (pieces_ == nullptr) return;
  pieces_->bind(b, sent_.view());
  pieces_->multiply(1, 0);
  pieces_->wait();
}

void SplitSums::add_to(const DenseView& c, const RankPart& part) const {
  const auto add = [&](auto* to, const auto* received) {
    for (const RowSum& sum : part.lists.sums) {
      auto* const row = to + Offset{sum.row - part.lists.head.row_begin} * c.leading_dim;
      for (Index j = 0; j < c.cols; ++j) row[j] += received[j];
      received += received_.leading_dim();
    }
  };
  if (c.kind == ValueKind::f64) {
    add(c.as<double>(), received_.view().as<double>());
  } else {
    add(c.as<float>(), received_.view().as<float>());
  }
}

CpuSpmmRank::CpuSpmmRank(Communicator& communicator, const Grid& grid, RankPart part,
                         const SpmmProblem& problem, const Kernel<Spmm>& kernel,
                         const PlanOptions& options)
    : SpmmRank(communicator.rank(), grid, std::move(part), problem),
      communicator_(communicator),
      threads_(team_size(options.where.threads)),
      packed_(checked_cast<Index, MemoryError>(head().send_cols, "rows of B to send"),
              columns_.size(), kinds_.b),
      sums_(grid, grid.group_of(communicator.rank()), part_, kinds_, kernel, options),
      own_(plan_of(part_.own, kinds_, kernel, options)),
      beyond_(plan_of(part_.halo, kinds_, kernel, options)) {
  keep_operands();
  const int group = grid.group_of(communicator.rank());
  const std::uint64_t bytes = row_bytes(b_);
  auto* from = packed_.view().as<char>();
  auto* to = halo_.as<char>();
  for (const Neighbour& neighbour : part_.lists.neighbours) {
    const int rank = grid.rank_of(neighbour.part, group);
    const std::uint64_t sent = bytes * static_cast<std::uint64_t>(neighbour.send_cols);
    const std::uint64_t received = bytes * static_cast<std::uint64_t>(neighbour.halo_cols);
    if (sent > 0) outgoing_.push_back({rank, from, sent});
    if (received > 0) incoming_.push_back({rank, to, received});
    from += sent;
    to += received;
  }
  outgoing_.insert(outgoing_.end(), sums_.outgoing().begin(), sums_.outgoing().end());
  incoming_.insert(incoming_.end(), sums_.incoming().begin(), sums_.incoming().end());
}

void CpuSpmmRank::pack() {
  const Buffer<Index>& sends = part_.lists.sends;
  const std::uint64_t bytes = row_bytes(b_);
  const auto* const from = b_.as<char>();
  auto* const to = packed_.view().as<char>();
  const Index first = head().col_begin;
#pragma omp parallel for schedule(static) num_threads(team_for(sends.size(), threads_))
  for (Offset i = 0; i < sends.size(); ++i) {
    std::memcpy(to + static_cast<std::uint64_t>(i) * bytes,
                from + static_cast<std::uint64_t>(sends[i] - first) * bytes, bytes);
  }
}

SpmmSeconds CpuSpmmRank::multiply_once() {
  SpmmSeconds seconds;
  const Stopwatch all;
  {
    const Stopwatch watch;
    pack();
    sums_.make(b_);
    seconds.pack = watch.seconds();
  }
  Exchange exchange(communicator_, outgoing_, incoming_);
  {
    const Stopwatch watch;
    if (own_ != nullptr) {
      own_->bind(b_, c_);
      own_->multiply(1, 0);
      own_->wait();
    } else {
      clear(c_);
    }
    seconds.own = watch.seconds();
  }
  {
    const Stopwatch watch;
    exchange.finish();
    seconds.exchange = watch.seconds();
  }
  {
    const Stopwatch watch;
    if (beyond_ != nullptr) {
      beyond_->bind(halo_, c_);
      beyond_->multiply(1, 1);
      beyond_->wait();
    }
    sums_.add_to(c_, part_);
    seconds.halo = watch.seconds();
  }
  seconds.total = all.seconds();
  return seconds;
}

SpmmSeconds CpuSpmmRank::multiply(int products) {
  if (products > 1) require_powers();
  SpmmSeconds sum;
  for (int product = 0; product < products; ++product) {
    if (product > 0) std::swap(b_, c_);
    sum += multiply_once();
  }
  return sum;
}

std::uint64_t CpuSpmmRank::bytes_sent() const {
  std::uint64_t bytes = 0;
  for (const Outgoing& message : outgoing_) bytes += message.bytes;
  return bytes;
}

std::uint64_t CpuSpmmRank::bytes_received() const {
  std::uint64_t bytes = 0;
  for (const Incoming& message : incoming_) bytes += message.bytes;
  return bytes;
}

std::string CpuSpmmRank::choice() const {
  return choice_of("own:", own_) + "; " + choice_of("halo:", beyond_);
}

}  // namespace csrkit::ranks
