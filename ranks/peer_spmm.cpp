#include "ranks/peer_spmm.h"

#include <utility>

#include "core/base/stopwatch.h"

namespace csrkit::ranks {

namespace {

std::uint64_t bytes_of(Offset rows, Index cols, ValueKind kind) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
         static_cast<std::uint64_t>(size_of(kind));
}

template <class Message>
std::uint64_t sum_of(const std::vector<Message>& messages) {
  std::uint64_t bytes = 0;
  for (const Message& message : messages) bytes += message.bytes;
  return bytes;
}

}  // namespace

PeerArrays share_arrays(Communicator& communicator, const Grid& grid, Index rows,
                        const SpmmProblem& problem, int products, std::string* why_not) {
  const int group = grid.group_of(communicator.rank());
  const Index cols = columns_of_group(problem.dense_cols, grid, group).size();
  PeerArrays arrays;
  arrays.b = share_memory(communicator, group, bytes_of(rows, cols, problem.b), why_not);
  if (arrays.b == nullptr || products == 1) return arrays;
  arrays.c = share_memory(communicator, group, bytes_of(rows, cols, problem.c), why_not);
  if (arrays.c == nullptr) arrays.b.reset();
  return arrays;
}

PeerSpmmRank::PeerSpmmRank(Communicator& communicator, const Grid& grid, RankPart part,
                           const SpmmProblem& problem, const Kernel<Spmm>& kernel,
                           const PlanOptions& options, PeerArrays arrays)
    : SpmmRank(communicator.rank(), grid, std::move(part), problem),
      communicator_(communicator),
      arrays_(std::move(arrays)),
      sums_(grid, grid.group_of(communicator.rank()), part_, kinds_, kernel, options),
      rows_(plan_of(part_.own, kinds_, kernel, options)) {
  const Index cols = columns_.size();
  arrays_.b->take(bytes_of(head().col_begin, cols, kinds_.b),
                  bytes_of(head().col_end, cols, kinds_.b));
  all_b_ = {arrays_.b->data(), kinds_.b, part_.own.cols(), cols, cols};
  b_ = rows_from(all_b_, head().col_begin, head().own_cols());
  if (arrays_.c != nullptr) {
    require_powers();
    arrays_.c->take(bytes_of(head().row_begin, cols, kinds_.c),
                    bytes_of(head().row_end, cols, kinds_.c));
    all_c_ = {arrays_.c->data(), kinds_.c, part_.own.cols(), cols, cols};
    c_ = rows_from(all_c_, head().row_begin, head().rows());
  } else {
    kept_c_ = DenseMatrix(head().rows(), cols, kinds_.c);
    c_ = kept_c_.view();
  }
}

SpmmSeconds PeerSpmmRank::multiply_once() {
  SpmmSeconds seconds;
  const Stopwatch all;
  {
    const Stopwatch watch;
    sums_.make(b_);
    seconds.pack = watch.seconds();
  }
  const Stopwatch waiting;
  communicator_.barrier();  // all rows of B are there, and those of C no longer read as B
  Exchange exchange(communicator_, sums_.outgoing(), sums_.incoming());
  seconds.exchange = waiting.seconds();
  {
    const Stopwatch watch;
    if (rows_ != nullptr) {
      rows_->bind(all_b_, c_);
      rows_->multiply(1, 0);
      rows_->wait();
    } else {
      clear(c_);
    }
    seconds.own = watch.seconds();
  }
  {
    const Stopwatch watch;
    exchange.finish();
    seconds.exchange += watch.seconds();
  }
  {
    const Stopwatch watch;
    sums_.add_to(c_, part_);
    seconds.halo = watch.seconds();
  }
  seconds.total = all.seconds();
  return seconds;
}

SpmmSeconds PeerSpmmRank::multiply(int products) {
  if (products > 1 && arrays_.c == nullptr) {
    throw UsageError("a product of products needs C where all ranks of a group see it");
  }
  SpmmSeconds sum;
  for (int product = 0; product < products; ++product) {
    if (product > 0) {
      std::swap(b_, c_);
      std::swap(all_b_, all_c_);
    }
    sum += multiply_once();
  }
  communicator_.barrier();  // until then others read this rank's rows
  return sum;
}

ConstDenseView PeerSpmmRank::row_of_b(Index row) const { return rows_from(all_b_, row, 1); }

std::uint64_t PeerSpmmRank::bytes_sent() const {
  return bytes_of(head().send_cols, columns_.size(), kinds_.b) + sum_of(sums_.outgoing());
}

std::uint64_t PeerSpmmRank::bytes_received() const {
  return bytes_of(head().halo_cols, columns_.size(), kinds_.b) + sum_of(sums_.incoming());
}

std::string PeerSpmmRank::choice() const { return choice_of("rows:", rows_); }

}  // namespace csrkit::ranks
