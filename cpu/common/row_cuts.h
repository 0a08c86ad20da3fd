// Cuts the rows of a matrix into tasks of about equal work, hubs included. Where a row is cut
// depends on the matrix alone, so the order of summation is the same for any number of threads.
// Source: the even split of rows plus nonzeros is that of Merrill and Garland, Merge-based SpMV
// (2016), with cuts moved to the ends of short rows.
#pragma once

#include <vector>

#include "core/matrix/csr_matrix.h"

namespace csrkit::cpu {

/// The work of a task, in nonzeros plus rows. Starting a piece costs some 200 ns, which only large
/// pieces hide; but a small matrix needs small pieces to be shared out at all.
struct PieceSizes {
  Offset smallest = 256;
  Offset usual = 1024;
  Offset largest = 4096;
  Offset pieces_wanted = 512;
  Offset fewest_pieces = 64;
  Index rows_at_once = 1;     // tasks of rows begin at multiples of it,
  bool halves_units = false;  // but where so many rows have far more entries than others
  int shares = 0;  // if above 0 and no row is long: the number of tasks is a multiple of this
  Offset shortest_hub = 0;  // if 2 or more: longer rows are hubs if they have a 128th of all work
                            // (not with halves_units or rows_at_once above 1)
};

/// Rows [first, last), or entries [first, last) of one hub.
struct Task {
  Offset first;
  Offset last;
  Offset stretch;          // where the stretch's sums wait, or -1 for rows
  bool holds_hub = false;  // some of the rows are hubs, and not this task's (rows_at_once above 1,
                           // or halves_units)
};

/// A row longer than `hub_length`, cut into stretches numbered from `first_stretch`.
struct Hub {
  Index row;
  Offset first_stretch;
  Offset stretches;
};

/// How the rows of one matrix are cut, in their order.
struct RowCuts {
  std::vector<Task> tasks;
  std::vector<Hub> hubs;
  Offset stretches = 0;
  Offset small_tasks = 0;  // how many tasks there are beyond one a piece, because of short hubs
  Offset hub_length = 0;   // at most twice a piece, or with halves_units one
};

/// With `halves_units`, rows_at_once rows are several tasks if they have more than two pieces, than
/// twice what so many have in the mean, and than twice the largest piece that fewest_pieces allow:
/// the long rows of an arrow, or of a list sorted by length, lie side by side, and in one task they
/// would keep one thread busy while others wait.
RowCuts cut_rows(const CsrMatrix& a, const PieceSizes& sizes);

/// Shares of neighbouring tasks of about equal work, for threads that do not help each other: a
/// share that takes in a hub has fewer tasks.
class EvenShares {
 public:
  EvenShares() = default;
  EvenShares(const CsrMatrix& a, const RowCuts& cuts);

  /// The first task of a thread's share; it ends where that of the next thread begins.
  Offset first_task(int thread, int threads) const;

 private:
  // Twice where the middle of each task is among the work of all, in nonzeros and rows.
  std::vector<Offset> middles_;
  Offset work_ = 0;
};

/// An upper bound of the bytes that the lists of cut_rows take.
std::uint64_t row_cuts_bytes(const CsrMatrix& a, const PieceSizes& sizes);

}  // namespace csrkit::cpu
