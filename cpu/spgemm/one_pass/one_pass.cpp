#include "cpu/spgemm/one_pass/one_pass.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <thread>

#include "core/base/team_errors.h"
#include "cpu/common/caches.h"
#include "cpu/common/stream_lines.h"

namespace csrkit::cpu {

namespace {

constexpr Offset kPiecesHeld = 3;  // of the largest size, by every thread

Offset largest_light_piece(const RowPieces& pieces) {
  Offset largest = 0;
  for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
    if (!pieces.is_heavy(piece)) largest = std::max(largest, pieces.cost(piece));
  }
  return largest;
}

/// Whether the pieces are shared out beforehand, so that every thread makes the same rows as in the
/// product before: if the product fits the caches next to the cores. Not for a single thread.
bool is_shared_out(const RowPieces& pieces, int threads) {
  constexpr Offset kMostOfThread = 1 << 18, kMost = 1 << 22;  // with f64, 48 MiB beside C
  return threads > 1 && pieces.count() > 1 &&
         pieces.cost_of_all() <= std::min(kMost, kMostOfThread * threads);
}

void copy_bytes(void* to, const void* from, Offset bytes, bool is_streamed) {
  constexpr Offset kWorthStreaming = 4 * kCacheLineBytes;
  if (is_streamed && bytes >= kWorthStreaming) {
    stream_lines(to, from, bytes);
  } else if (bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

/// Where pieces begin in C: known up to the first piece whose size is unknown. No mutex: with
/// one, 16 threads went to sleep and woke up 50 to 100 times in a product of one millisecond.
class Places {
 public:
  Places(std::size_t pieces, Offset room)
      : room_(room),
        pieces_(pieces),
        sizes_(std::make_unique<std::atomic<Offset>[]>(pieces)),
        starts_(pieces + 1, 0) {
    for (std::size_t piece = 0; piece < pieces; ++piece) sizes_[piece].store(-1);
  }

  void set_size(std::size_t piece, Offset size) {
    sizes_[piece].store(size);
    // The thread that holds the list takes this size too, or looks again after it let go.
    while (!is_taken_.exchange(true)) {
      std::size_t known = known_.load(std::memory_order_relaxed);
      for (; known < pieces_ && sizes_[known].load() >= 0; ++known) {
        starts_[known + 1] = starts_[known] + sizes_[known].load();
        if (starts_[known + 1] > room_) return stop();
      }
      known_.store(known, std::memory_order_release);
      is_taken_.store(false);
      if (known == pieces_ || sizes_[known].load() < 0) return;
    }
  }

  /// Whether the place of a piece is known, and is within the room.
  bool knows(std::size_t piece) const { return piece < known_.load(std::memory_order_acquire); }
  /// Whether it is known where a piece of at most `most` entries would begin, and there is room.
  bool has_room(std::size_t piece, Offset most) const {
    return piece <= known_.load(std::memory_order_acquire) && starts_[piece] + most <= room_;
  }
  Offset start(std::size_t piece) const { return starts_[piece]; }
  Offset end() const { return starts_.back(); }

  void stop() { is_stopped_.store(true, std::memory_order_relaxed); }
  bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }

 private:
  Offset room_;
  std::size_t pieces_;
  std::unique_ptr<std::atomic<Offset>[]> sizes_;
  std::vector<Offset> starts_;
  std::atomic<bool> is_taken_{false};  // starts_ and known_ are being written
  std::atomic<std::size_t> known_{0};  // pieces below have a place
  std::atomic<bool> is_stopped_{false};
};

/// What all threads share.
struct Work {
  OnePassRows& rows;
  const RowPieces& pieces;
  const OutputRoom& room;
  Offset largest_light;
  std::vector<std::size_t> light, heavy;  // pieces, ascending
  std::atomic<std::size_t> next_light{0}, next_heavy{0};
  Places places;

  Work(OnePassRows& r, const OutputRoom& where)
      : rows(r),
        pieces(r.pieces()),
        room(where),
        largest_light(largest_light_piece(pieces)),
        places(pieces.count(), where.entries) {
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
      (pieces.is_heavy(piece) ? heavy : light).push_back(piece);
    }
  }

  std::byte* values_at(Offset entry) const {
    return static_cast<std::byte*>(room.values) + entry * room.value_bytes;
  }
  /// The offsets of a piece's rows, from the thread that made them or places them.
  void set_offsets(std::size_t piece, Offset start) const {
    for (Index row = pieces.first_row(piece); row < pieces.first_row(piece + 1); ++row) {
      start += room.row_nnz[row];
      room.row_offsets[row + 1] = start;
    }
  }
  Offset make(int thread, std::size_t piece, Index* cols, void* values) const {
    const Index first = pieces.first_row(piece);
    return rows.make_rows(thread, first, pieces.first_row(piece + 1), room.row_nnz + first, cols,
                          values);
  }
};

/// One thread's part: light pieces wait here for their places.
class Maker {
 public:
  Maker(Work& work, int thread, WaitingRoom::Entries& waits)
      : work_(work), thread_(thread), capacity_(kPiecesHeld * work.largest_light), waits_(waits) {}

  void run() {
    while (!work_.places.is_stopped()) {
      if (place_what_is_known() || make_heavy()) continue;
      if (capacity_ - used_ < work_.largest_light) {
        std::this_thread::yield();  // for threads that make earlier pieces
        continue;
      }
      const std::size_t turn = work_.next_light.fetch_add(1, std::memory_order_relaxed);
      if (turn >= work_.light.size()) break;
      const std::size_t piece = work_.light[turn];
      if (work_.places.has_room(piece, work_.pieces.cost(piece))) {
        // All pieces before it are placed, as always with one thread: so it is made in its place.
        const Offset start = work_.places.start(piece);
        work_.places.set_size(piece, work_.make(thread_, piece, work_.room.col_indices + start,
                                                work_.values_at(start)));
        work_.set_offsets(piece, start);
        continue;
      }
      waits_.make_room(capacity_, work_.room.value_bytes);
      const Offset size = work_.make(thread_, piece, waits_.col_indices.data() + used_,
                                     waits_.values.data() + used_ * work_.room.value_bytes);
      waiting_.push_back({piece, used_, size});
      used_ += size;
      work_.places.set_size(piece, size);
    }
    while (!work_.places.is_stopped() && (!waiting_.empty() || has_heavy())) {
      if (!place_what_is_known() && !make_heavy()) std::this_thread::yield();
    }
    if (work_.room.is_streamed) finish_streams();
  }

 private:
  struct Waiting {
    std::size_t piece;
    Offset at, size;
  };

  bool place_what_is_known() {
    if (waiting_.empty() || !work_.places.knows(waiting_.front().piece)) return false;
    const auto [piece, at, size] = waiting_.front();
    put_in_place(work_.room, work_.places.start(piece), work_.pieces.first_row(piece),
                 work_.pieces.first_row(piece + 1), size, waits_.col_indices.data() + at,
                 waits_.values.data() + at * work_.room.value_bytes);
    waiting_.pop_front();
    if (waiting_.empty()) used_ = 0;
    return true;
  }

  bool has_heavy() const {
    return work_.next_heavy.load(std::memory_order_relaxed) < work_.heavy.size();
  }

  bool make_heavy() {
    std::size_t turn = work_.next_heavy.load(std::memory_order_relaxed);
    if (turn >= work_.heavy.size() || !work_.places.knows(work_.heavy[turn])) return false;
    if (!work_.next_heavy.compare_exchange_strong(turn, turn + 1)) return true;
    const Offset start = work_.places.start(work_.heavy[turn]);
    work_.make(thread_, work_.heavy[turn], work_.room.col_indices + start, work_.values_at(start));
    work_.set_offsets(work_.heavy[turn], start);
    return true;
  }

  Work& work_;
  int thread_;
  Offset capacity_;  // entries that may wait
  WaitingRoom::Entries& waits_;
  Offset used_ = 0;
  std::deque<Waiting> waiting_;
};

void count_heavy(Work& work, int threads, std::exception_ptr& error) {
  std::vector<std::size_t> heaviest_first = work.heavy;
  std::sort(heaviest_first.begin(), heaviest_first.end(), [&](std::size_t x, std::size_t y) {
    return work.pieces.cost(x) > work.pieces.cost(y);
  });
  const int team = heaviest_first.size() > 1 ? threads : 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (std::size_t turn = 0; turn < heaviest_first.size(); ++turn) {
    const std::size_t piece = heaviest_first[turn];
    const Index first = work.pieces.first_row(piece), last = work.pieces.first_row(piece + 1);
    try {
      work.rows.count_rows(omp_get_thread_num(), first, last, work.room.row_nnz + first);
      Offset size = 0;
      for (Index row = first; row < last; ++row) size += work.room.row_nnz[row];
      work.places.set_size(piece, size);
    } catch (...) {
#pragma omp critical(csrkit_one_pass_error)
      error = std::current_exception();
      work.places.stop();
    }
  }
}

/// Every thread makes its share, the same in every product, which its caches hold, and then helps
/// the others. Pieces wait in a room for all products, and are copied to their places when all
/// sizes are known.
std::optional<Offset> make_shares(OnePassRows& rows, int threads, const OutputRoom& room,
                                  WaitingRoom& waiting) {
  const RowPieces& pieces = rows.pieces();
  const std::size_t count = pieces.count();
  if (!waiting.shares) waiting.shares = std::make_unique<WorkShares>(threads, 1);
  waiting.shares->deal(static_cast<Offset>(count));
  waiting.sizes.resize(count);
  waiting.of_all.make_room(pieces.cost_of_all(), room.value_bytes);
  Index* const cols = waiting.of_all.col_indices.data();
  std::byte* const values = waiting.of_all.values.data();
  Offset all = 0;
  TeamErrors errors;
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    std::vector<WorkShares::Run> made;
    errors.guard([&] {
      for (;;) {
        const WorkShares::Run run = waiting.shares->next_run(0, thread);
        if (run.first == run.last || errors.has_error()) break;
        const auto begin = static_cast<std::size_t>(run.first),
                   end = static_cast<std::size_t>(run.last);
        const Index first = pieces.first_row(begin), last = pieces.first_row(end);
        const Offset at = pieces.cost_before(begin);
        made.push_back(run);
        waiting.sizes[begin] = rows.make_rows(thread, first, last, room.row_nnz + first, cols + at,
                                              values + at * room.value_bytes);
        for (std::size_t piece = begin + 1; piece < end; ++piece) waiting.sizes[piece] = 0;
      }
    });
#pragma omp barrier
    if (!errors.has_error()) {
      Offset start = 0;
      std::size_t piece = 0;
      // Pieces that a thread took from others come after its own, in any order.
      std::sort(made.begin(), made.end(),
                [](const auto& x, const auto& y) { return x.first < y.first; });
      for (const WorkShares::Run& run : made) {
        const auto begin = static_cast<std::size_t>(run.first);
        for (; piece < begin; ++piece) start += waiting.sizes[piece];
        const Offset at = pieces.cost_before(begin);
        const Offset end =
            put_in_place(room, start, pieces.first_row(begin),
                         pieces.first_row(static_cast<std::size_t>(run.last)), waiting.sizes[begin],
                         cols + at, values + at * room.value_bytes);
        if (static_cast<std::size_t>(run.last) == count) all = end;
      }
      if (room.is_streamed) finish_streams();
    }
  }
  errors.rethrow();
  if (all > room.entries) return std::nullopt;
  return all;
}

}  // namespace

Offset put_in_place(const OutputRoom& room, Offset start, Index first, Index last, Offset size,
                    const Index* cols, const std::byte* values) {
  if (start + size <= room.entries && size > 0) {
    copy_bytes(room.col_indices + start, cols, size * Offset{sizeof(Index)}, room.is_streamed);
    copy_bytes(static_cast<std::byte*>(room.values) + start * room.value_bytes, values,
               size * room.value_bytes, room.is_streamed);
  }
  for (Index row = first; row < last; ++row) {
    start += room.row_nnz[row];
    room.row_offsets[row + 1] = start;
  }
  return start;
}

void WaitingRoom::Entries::make_room(Offset entries, int value_bytes) {
  if (col_indices.size() < entries) col_indices = Buffer<Index>(entries);
  if (values.size() < entries * value_bytes) values = Buffer<std::byte>(entries * value_bytes);
}

std::uint64_t one_pass_bytes(const RowPieces& pieces, int threads, int value_bytes) {
  const std::uint64_t each = sizeof(Index) + static_cast<std::uint64_t>(value_bytes);
  if (is_shared_out(pieces, threads)) {
    return static_cast<std::uint64_t>(pieces.cost_of_all()) * each;
  }
  const auto held = static_cast<std::uint64_t>(kPiecesHeld * largest_light_piece(pieces));
  constexpr std::uint64_t kPerPiece = 2 * sizeof(Offset) + 2 * sizeof(std::size_t);
  return static_cast<std::uint64_t>(threads) * held * each + 2 * pieces.count() * kPerPiece;
}

std::optional<Offset> make_in_one_pass(OnePassRows& rows, int threads, const OutputRoom& room,
                                       WaitingRoom& waiting) {
  waiting.of_threads.resize(static_cast<std::size_t>(threads));
  room.row_offsets[0] = 0;
  if (is_shared_out(rows.pieces(), threads)) return make_shares(rows, threads, room, waiting);
  Work work(rows, room);
  std::exception_ptr error;
  if (!work.heavy.empty()) count_heavy(work, threads, error);
  const int team = work.pieces.count() > 1 ? threads : 1;  // one piece is no work for a team
#pragma omp parallel num_threads(team)
  {
    try {
      const int thread = omp_get_thread_num();
      Maker(work, thread, waiting.of_threads[static_cast<std::size_t>(thread)]).run();
    } catch (...) {
#pragma omp critical(csrkit_one_pass_error)
      error = std::current_exception();
      work.places.stop();
    }
  }
  if (error) std::rethrow_exception(error);
  if (work.places.is_stopped()) return std::nullopt;
  return work.places.end();
}

}  // namespace csrkit::cpu
