#include "ranks/spgemm.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/share_of.h"
#include "core/base/stopwatch.h"
#include "core/base/team.h"
#include "core/matrix/row_parts.h"
#include "ranks/shared_memory.h"

namespace csrkit::ranks {

namespace {

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

template <class T>
std::vector<T> numbers_in(const std::string& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

/// Arrays of `width`-byte elements that go to and come from all ranks, those of rank r side by side
/// from begin[r] to begin[r + 1].
struct Shares {
  const void* sent = nullptr;
  const std::vector<Offset>& send_begin;
  void* received = nullptr;
  const std::vector<Offset>& receive_begin;
  std::uint64_t width = 0;
};

struct Bytes {
  std::uint64_t sent = 0, received = 0;
};

Bytes exchange(Communicator& communicator, const Shares& shares) {
  Bytes moved;
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  const auto bytes = [&](const std::vector<Offset>& begin, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    return static_cast<std::uint64_t>(begin[at + 1] - begin[at]) * shares.width;
  };
  const auto place = [&](const std::vector<Offset>& begin, int rank) {
    return static_cast<std::uint64_t>(begin[static_cast<std::size_t>(rank)]) * shares.width;
  };
  for (int rank = 0; rank < communicator.size(); ++rank) {
    if (const std::uint64_t sent = bytes(shares.send_begin, rank); sent > 0) {
      const auto* from = static_cast<const char*>(shares.sent) + place(shares.send_begin, rank);
      outgoing.push_back({rank, from, sent});
      moved.sent += sent;
    }
    if (const std::uint64_t received = bytes(shares.receive_begin, rank); received > 0) {
      auto* to = static_cast<char*>(shares.received) + place(shares.receive_begin, rank);
      incoming.push_back({rank, to, received});
      moved.received += received;
    }
  }
  Exchange(communicator, outgoing, incoming).finish();
  return moved;
}

/// The columns of A's rows outside of [begin, end), ascending.
std::vector<Index> halo_of(const CsrMatrix& a, Index begin, Index end) {
  std::vector<bool> is_needed(static_cast<std::size_t>(a.cols()), false);
  for (Offset at = 0; at < a.nnz(); ++at) {
    is_needed[static_cast<std::size_t>(a.col_indices()[at])] = true;
  }
  std::vector<Index> halo;
  for (Index col = 0; col < a.cols(); ++col) {
    if (is_needed[static_cast<std::size_t>(col)] && (col < begin || col >= end)) {
      halo.push_back(col);
    }
  }
  return halo;
}

std::vector<Offset> sums_of(const std::vector<Offset>& counts) {
  std::vector<Offset> sums = {0};
  for (const Offset count : counts) sums.push_back(sums.back() + count);
  return sums;
}

/// Entries between places in a list of rows.
std::vector<Offset> at_places(const std::vector<Offset>& sums, const std::vector<Offset>& places) {
  std::vector<Offset> result;
  result.reserve(places.size());
  for (const Offset place : places) result.push_back(sums[static_cast<std::size_t>(place)]);
  return result;
}

struct RowCopier {
  std::size_t value_bytes;

  /// The entries of rows of `from`, one row after the other.
  void copy(const CsrMatrix& from, Index row, Offset to, Index* cols, char* values) const {
    const Offset begin = from.row_offsets()[row];
    const auto count = static_cast<std::size_t>(from.row_length(row));
    if (count == 0) return;
    std::memcpy(cols + to, from.col_indices() + begin, count * sizeof(Index));
    if (value_bytes == 0) return;
    std::memcpy(
        values + static_cast<std::size_t>(to) * value_bytes,
        static_cast<const char*>(from.values()) + static_cast<std::size_t>(begin) * value_bytes,
        count * value_bytes);
  }
};

/// Every rank tells the owners of the rows that its entries name.
RowLists lists_by_asking(Communicator& communicator, const CsrMatrix& a,
                         const std::vector<Index>& borders, SpgemmTraffic* traffic) {
  const auto me = static_cast<std::size_t>(communicator.rank());
  const auto ranks = static_cast<std::size_t>(communicator.size());
  RowLists lists;
  lists.halo = halo_of(a, borders[me], borders[me + 1]);
  // How many rows each rank asks each other rank for, on every rank.
  std::vector<Offset> wanted(ranks), asked(ranks);
  for (const Index row : lists.halo) {
    const auto owner = std::upper_bound(borders.begin(), borders.end(), row) - borders.begin() - 1;
    ++wanted[static_cast<std::size_t>(owner)];
  }
  const std::vector<std::string> all_wanted = communicator.gather(bytes_of(wanted));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    asked[rank] = numbers_in<Offset>(all_wanted[rank])[me];
  }
  lists.halo_begin = sums_of(wanted);
  lists.send_begin = sums_of(asked);
  lists.sends.resize(static_cast<std::size_t>(lists.send_begin.back()));
  traffic->list_bytes_received =
      exchange(communicator, {lists.halo.data(), lists.halo_begin, lists.sends.data(),
                              lists.send_begin, sizeof(Index)})
          .received;
  return lists;
}

/// The rows of B that the rank has asked for, in the order of its halo. Every rank knows the
/// lengths of B's rows (`b_offsets`), so only columns and values travel. `own_b` begins at row
/// `own_begin`.
CsrMatrix received_rows(Communicator& communicator, const CsrMatrix& own_b, Index own_begin,
                        const Offset* b_offsets, const RowLists& lists, int threads,
                        SpgemmTraffic* traffic) {
  const auto sums_of_rows = [&](const std::vector<Index>& rows) {
    std::vector<Offset> lengths;
    lengths.reserve(rows.size());
    for (const Index row : rows) lengths.push_back(b_offsets[Offset{row} + 1] - b_offsets[row]);
    return sums_of(lengths);
  };
  const std::vector<Offset> send_sums = sums_of_rows(lists.sends);
  const std::vector<Offset> halo_sums = sums_of_rows(lists.halo);
  const std::vector<Offset> send_entries = at_places(send_sums, lists.send_begin);
  const std::vector<Offset> halo_entries = at_places(halo_sums, lists.halo_begin);
  const ValueKind kind = own_b.value_kind();
  const RowCopier copier{static_cast<std::size_t>(size_of(kind))};
  Buffer<Index> sent_cols(send_sums.back()), cols(halo_sums.back());
  ValueArray sent_values(kind, send_sums.back()), values(kind, halo_sums.back());
  const auto sent_rows = static_cast<Offset>(lists.sends.size());
#pragma omp parallel for num_threads(team_for(sent_rows, threads)) schedule(static)
  for (Offset n = 0; n < sent_rows; ++n) {
    const auto i = static_cast<std::size_t>(n);
    copier.copy(own_b, lists.sends[i] - own_begin, send_sums[i], sent_cols.data(),
                static_cast<char*>(sent_values.data()));
  }
  const auto count = [&](const Bytes& moved) {
    traffic->bytes_sent += moved.sent;
    traffic->bytes_received += moved.received;
  };
  count(exchange(communicator,
                 {sent_cols.data(), send_entries, cols.data(), halo_entries, sizeof(Index)}));
  if (copier.value_bytes > 0) {
    count(exchange(communicator, {sent_values.data(), send_entries, values.data(), halo_entries,
                                  copier.value_bytes}));
  }
  traffic->rows_received = static_cast<Offset>(lists.halo.size());
  traffic->entries_received = halo_sums.back();
  return CsrMatrix(static_cast<Index>(lists.halo.size()), own_b.cols(),
                   Buffer<Offset>::copy_of(halo_sums.data(), static_cast<Offset>(halo_sums.size())),
                   std::move(cols), std::move(values));
}

/// B's rows that are here, in their order: the first `below` of the received ones, own rows, the
/// other received ones.
CsrMatrix joined_rows(const CsrMatrix& own_b, const CsrMatrix& received, Index below, int threads) {
  const Offset rows = Offset{own_b.rows()} + received.rows();
  const Offset own_end = Offset{below} + own_b.rows();
  const auto is_own = [&](Offset at) { return at >= below && at < own_end; };
  const auto row_in_source = [&](Offset at) {
    return static_cast<Index>(is_own(at) ? at - below : at < below ? at : at - own_b.rows());
  };
  const auto source = [&](Offset at) -> const CsrMatrix& { return is_own(at) ? own_b : received; };
  Buffer<Offset> offsets(rows + 1);
  offsets[0] = 0;
  for (Offset at = 0; at < rows; ++at) {
    offsets[at + 1] = offsets[at] + source(at).row_length(row_in_source(at));
  }
  Buffer<Index> cols(offsets[rows]);
  ValueArray values(own_b.value_kind(), offsets[rows]);
  const RowCopier copier{static_cast<std::size_t>(size_of(own_b.value_kind()))};
  auto* const value_bytes = static_cast<char*>(values.data());
#pragma omp parallel for num_threads(team_for(rows, threads)) schedule(static)
  for (Offset at = 0; at < rows; ++at) {
    copier.copy(source(at), row_in_source(at), offsets[at], cols.data(), value_bytes);
  }
  return CsrMatrix(checked_cast<Index, MemoryError>(rows, "rows of B on one rank"), own_b.cols(),
                   std::move(offsets), std::move(cols), std::move(values));
}

/// A with columns that count the rows of B that are here.
CsrMatrix in_local_columns(const CsrMatrix& a, const std::vector<Index>& rows_of_b, int threads) {
  std::vector<Index> place(static_cast<std::size_t>(a.cols()), -1);
  for (std::size_t i = 0; i < rows_of_b.size(); ++i) {
    place[static_cast<std::size_t>(rows_of_b[i])] = static_cast<Index>(i);
  }
  Buffer<Index> cols(a.nnz());
#pragma omp parallel for num_threads(team_for(a.nnz(), threads)) schedule(static)
  for (Offset at = 0; at < a.nnz(); ++at) {
    cols[at] = place[static_cast<std::size_t>(a.col_indices()[at])];
  }
  ValueArray values(a.value_kind(), a.nnz());
  if (a.value_kind() != ValueKind::none && a.nnz() > 0) {
    std::memcpy(values.data(), a.values(),
                static_cast<std::size_t>(a.nnz() * size_of(a.value_kind())));
  }
  return CsrMatrix(a.rows(), static_cast<Index>(rows_of_b.size()),
                   Buffer<Offset>::copy_of(a.row_offsets(), Offset{a.rows()} + 1), std::move(cols),
                   std::move(values));
}

}  // namespace

RowLists lists_of(const PartLists& part, int ranks) {
  RowLists lists;
  lists.halo.assign(part.halo.begin(), part.halo.end());
  lists.sends.assign(part.sends.begin(), part.sends.end());
  std::vector<Offset> halo(static_cast<std::size_t>(ranks)), sends(halo.size());
  for (const Neighbour& neighbour : part.neighbours) {
    halo[static_cast<std::size_t>(neighbour.part)] = neighbour.halo_cols;
    sends[static_cast<std::size_t>(neighbour.part)] = neighbour.send_cols;
  }
  lists.halo_begin = sums_of(halo);
  lists.send_begin = sums_of(sends);
  return lists;
}

LocalOperands fetch_rows_of_b(Communicator& communicator, const CsrMatrix& a,
                              const CsrMatrix& own_b, const std::vector<Index>& borders,
                              const Offset* b_offsets, const RowLists* lists, int threads) {
  LocalOperands local;
  const auto me = static_cast<std::size_t>(communicator.rank());
  const Index own_begin = borders[me], own_end = borders[me + 1];
  RowLists asked;
  if (lists == nullptr) {
    const Stopwatch asking;
    asked = lists_by_asking(communicator, a, borders, &local.traffic);
    lists = &asked;
    local.seconds.ask = asking.seconds();
  }
  const Stopwatch fetching;
  const CsrMatrix received =
      received_rows(communicator, own_b, own_begin, b_offsets, *lists, threads, &local.traffic);
  const std::vector<Index>& halo = lists->halo;
  const auto above = std::lower_bound(halo.begin(), halo.end(), own_begin);
  std::vector<Index>& rows = local.rows_of_b;
  rows.assign(halo.begin(), above);
  for (Index row = own_begin; row < own_end; ++row) rows.push_back(row);
  rows.insert(rows.end(), above, halo.end());
  local.b = joined_rows(own_b, received, static_cast<Index>(above - halo.begin()), threads);
  local.a = in_local_columns(a, rows, threads);
  local.seconds.fetch = fetching.seconds();
  return local;
}

std::optional<CsrMatrix> share_b(Communicator& communicator, const CsrMatrix& own_b,
                                 const std::vector<Index>& borders, const Buffer<Offset>& b_offsets,
                                 std::string* why_not) {
  const ValueKind kind = own_b.value_kind();
  const auto width = static_cast<std::uint64_t>(size_of(kind));
  const auto rows = static_cast<Index>(b_offsets.size() - 1);
  const auto entries = static_cast<std::uint64_t>(b_offsets[rows]);
  const std::uint64_t values_at = (entries * sizeof(Index) + 63) / 64 * 64;
  struct Owner {
    std::shared_ptr<SharedMemory> memory;
    Buffer<Offset> offsets;
  };
  const auto owner = std::make_shared<Owner>();
  owner->memory = share_memory(communicator, 0, values_at + entries * width, why_not);
  if (owner->memory == nullptr) return std::nullopt;
  owner->offsets = Buffer<Offset>::copy_of(b_offsets.data(), b_offsets.size());
  auto* const data = static_cast<char*>(owner->memory->data());
  const auto first =
      static_cast<std::uint64_t>(b_offsets[borders[static_cast<std::size_t>(communicator.rank())]]);
  const auto put = [&](std::uint64_t at, const void* from, std::uint64_t bytes_each) {
    const std::uint64_t begin = at + first * bytes_each;
    const std::uint64_t bytes = static_cast<std::uint64_t>(own_b.nnz()) * bytes_each;
    owner->memory->take(begin, begin + bytes);
    if (bytes > 0) std::memcpy(data + begin, from, bytes);
  };
  put(0, own_b.col_indices(), sizeof(Index));
  put(values_at, own_b.values(), width);
  communicator.barrier();
  return CsrMatrix(rows, own_b.cols(), owner->offsets.data(), reinterpret_cast<Index*>(data), kind,
                   width == 0 ? nullptr : data + values_at, owner);
}

RowRange rows_to_count(const Communicator& communicator, Index rows) {
  const auto border = [&](int rank) {
    return static_cast<Index>(Offset{rows} * rank / communicator.size());
  };
  return {border(communicator.rank()), border(communicator.rank() + 1)};
}

std::vector<Index> borders_by_products(Communicator& communicator, Index rows,
                                       std::vector<Offset> products) {
  const auto [begin, end] = rows_to_count(communicator, rows);
  // A row costs something even without products: it is visited, and has an offset in C.
  Offset weight = 0;
  for (Offset& one : products) weight += ++one;
  const std::vector<std::string> weights = communicator.gather(bytes_of<Offset>({weight}));
  Offset before = 0, total = 0;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const Offset its = numbers_in<Offset>(weights[static_cast<std::size_t>(rank)]).front();
    if (rank < communicator.rank()) before += its;
    total += its;
  }
  // The borders that lie in this rank's rows: the first row at which the share is reached.
  std::vector<Index> found;
  int next = 1;
  const auto target = [&](int number) { return share_of(total, number, communicator.size()); };
  while (next < communicator.size() && target(next) <= before) ++next;
  Offset sum = before;
  for (Index row = begin; row < end; ++row) {
    sum += products[static_cast<std::size_t>(row - begin)];
    while (next < communicator.size() && target(next) <= sum) {
      found.push_back(row + 1);
      ++next;
    }
  }
  std::vector<Index> borders = {0};
  for (const std::string& text : communicator.gather(bytes_of(found))) {
    for (const Index one : numbers_in<Index>(text)) borders.push_back(one);
  }
  // If there is no product at all, no rank found a border.
  while (static_cast<int>(borders.size()) < communicator.size()) borders.push_back(rows);
  borders.push_back(rows);
  std::sort(borders.begin(), borders.end());
  return borders;
}

EntryPlace place_of_entries(Communicator& communicator, Offset mine) {
  EntryPlace place;
  place.borders = {0};
  for (const std::string& text : communicator.gather(bytes_of<Offset>({mine}))) {
    place.borders.push_back(place.borders.back() + numbers_in<Offset>(text).front());
  }
  place.first = place.borders[static_cast<std::size_t>(communicator.rank())];
  place.total = place.borders.back();
  return place;
}

}  // namespace csrkit::ranks
