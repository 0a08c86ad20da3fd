// Small products in one parallel region: nothing is known of a row before it is made.
//
// Every thread counts the products of a few rows, makes these rows where there is room for so many
// entries, and takes the next few; when all rows have a size, it copies its rows to their places.
// With 16 threads, starting a region and waiting for all takes a tenth of such a product. So the
// analysis by which larger products share out their rows evenly is left out here. A thread takes
// the same rows as in the product before, which its caches hold, and then helps the others. Only
// for grids all rows are analysed first.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/base/types.h"
#include "cpu/common/work_shares.h"
#include "cpu/spgemm/one_pass/one_pass.h"

namespace csrkit::cpu {

class AtOnce {
 public:
  /// Whether a product of an A with so many rows and entries is small, and yet work for a team.
  static bool is_for(Index rows, Offset entries, Offset products, int threads);

  /// What make allocates beside C, at most.
  static std::uint64_t bytes(Offset products, int threads, int value_bytes);

  /// Makes C, whose `count` rows are those of A, in `kept` or, if that is too small, in what
  /// make_room(nnz) returns. Returns nnz(C). What the rows and make_room throw is thrown here.
  Offset make(OnePassRows& rows, Index count, const Offset* a_offsets, int threads,
              const OutputRoom& kept, const std::function<OutputRoom(Offset nnz)>& make_room);

 private:
  struct Run {  // of tasks, made by one thread
    std::size_t task;
    Index first, last;
    const Index* col_indices;
    const std::byte* values;
    Offset size;
  };
  /// One thread's runs, and the rooms where they wait for their places.
  struct alignas(64) OfThread {
    std::vector<Run> made;
    std::vector<WaitingRoom::Entries> rooms;
    std::size_t room = 0;
    Offset used = 0;  // of that room

    void begin();
    /// Makes a run of rows and counts them in kept.row_nnz; they wait here. Returns their entries.
    Offset make(OnePassRows& rows, int thread, std::size_t task, Index first, Index last,
                const OutputRoom& kept);
    WaitingRoom::Entries& room_for(Offset products, int value_bytes);
  };

  void place(OfThread& mine, const OutputRoom& room) const;

  std::vector<OfThread> of_threads_;
  std::vector<Offset> sizes_;  // of tasks
  std::unique_ptr<WorkShares> shares_;
};

}  // namespace csrkit::cpu
