// C = A B, all sparse, on ranks that each make a block of rows of C. A rank has its rows of A and
// owns a block of rows of B; the other rows of B that its entries name come from their owners: by
// lists that the file holds, or by asking. The columns of A are renumbered in their own order, so
// every sum has the order it has on one rank, and C has the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/spgemm.h"
#include "core/matrix/row_parts.h"
#include "ranks/communicator.h"

namespace csrkit::ranks {

/// Seconds of the phases of one rank, in their order.
struct SpgemmSeconds {
  double ask = 0;    // asking the owners for rows of B; 0 if the file holds the lists
  double fetch = 0;  // until those rows have arrived
  double multiply = 0;
};

struct SpgemmTraffic {
  Offset rows_received = 0, entries_received = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;  // columns and values of rows of B
  std::uint64_t list_bytes_received = 0;             // numbers of rows that others ask for
};

/// The rows of B that come and go, by their numbers in all of B. Those from and to rank r lie from
/// begin[r] to begin[r + 1].
struct RowLists {
  std::vector<Index> halo, sends;  // the halo ascends
  std::vector<Offset> halo_begin, send_begin;
};
/// The lists of a part in a file.
RowLists lists_of(const PartLists& part, int ranks);

/// The rows of B that a rank's entries name, and the rows of A with columns that number them.
struct LocalOperands {
  CsrMatrix a, b;
  std::vector<Index> rows_of_b;  // of b's rows, ascending: their numbers in all of B
  SpgemmTraffic traffic;
  SpgemmSeconds seconds;
};

/// All ranks together. `a`: this rank's rows with the columns of all of A. `own_b`: the rows
/// [borders[rank], borders[rank + 1]) of B; `borders` has one number more than there are ranks.
/// `b_offsets`: the row offsets of all of B. Without `lists` the owners are asked. `threads` of
/// each rank, as in team_size.
LocalOperands fetch_rows_of_b(Communicator& communicator, const CsrMatrix& a,
                              const CsrMatrix& own_b, const std::vector<Index>& borders,
                              const Offset* b_offsets, const RowLists* lists = nullptr,
                              int threads = 0);

/// All of B in memory that the ranks of one host share: each puts its own rows there, given as in
/// fetch_rows_of_b, and then a product moves nothing. If the ranks are on several hosts or the
/// system refuses: no matrix, and `why_not` in the same words on all ranks.
std::optional<CsrMatrix> share_b(Communicator& communicator, const CsrMatrix& own_b,
                                 const std::vector<Index>& borders, const Buffer<Offset>& b_offsets,
                                 std::string* why_not);

/// The rows whose products a rank counts, before the blocks are known.
struct RowRange {
  Index begin = 0, end = 0;
};
RowRange rows_to_count(const Communicator& communicator, Index rows);

/// size + 1 borders of `rows` rows, so that each block has about as many multiplications.
/// `products`: those of each of rows_to_count().
std::vector<Index> borders_by_products(Communicator& communicator, Index rows,
                                       std::vector<Offset> products);

/// How many entries the ranks before this one have, and all together.
struct EntryPlace {
  Offset first = 0, total = 0;
  std::vector<Offset> borders;  // of all ranks
};
EntryPlace place_of_entries(Communicator& communicator, Offset mine);

}  // namespace csrkit::ranks
