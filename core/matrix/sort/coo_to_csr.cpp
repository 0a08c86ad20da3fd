// One look at the order decides: sorted coordinates are used as they are, descending ones are
// turned around, all others are sorted (sort_entries). Then repeated places are merged.
#include "core/matrix/sort/coo_to_csr.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "core/matrix/sort/sort_entries.h"

namespace csrkit {

namespace {

struct OrderScan {
  Offset out_of_order = 0;
  Offset repeats = 0;
};

OrderScan scan_order(const Index* rows, const Index* cols, Offset nnz) {
  constexpr Offset kBlock = 1 << 12;  // narrow counters, so that the compiler can use vectors
  Offset out_of_order = 0, repeats = 0;
#pragma omp parallel for schedule(static) num_threads(sort_threads_for(nnz)) \
    reduction(+ : out_of_order, repeats)
  for (Offset block = 1; block < nnz; block += kBlock) {
    Index block_out_of_order = 0, block_repeats = 0;
    for (Offset i = block; i < std::min(nnz, block + kBlock); ++i) {
      const Index same_row = rows[i] == rows[i - 1];
      const Index row_before = rows[i] < rows[i - 1];
      block_out_of_order += row_before | (same_row & (cols[i] < cols[i - 1]));
      block_repeats += same_row & (cols[i] == cols[i - 1]);
    }
    out_of_order += block_out_of_order;
    repeats += block_repeats;
  }
  return {out_of_order, repeats};
}

Buffer<Offset> offsets_of_sorted(const Buffer<Index>& row_indices, Index rows) {
  Buffer<Offset> offsets(Offset{rows} + 1);
  const Offset nnz = row_indices.size();
  // Entry i closes the rows from its predecessor's on; the entry "nnz" closes the last ones.
#pragma omp parallel for schedule(static) num_threads(sort_threads_for(nnz))
  for (Offset i = 0; i <= nnz; ++i) {
    const Offset first = i == 0 ? 0 : Offset{row_indices[i - 1]} + 1;
    const Offset last = i == nnz ? Offset{rows} : Offset{row_indices[i]};
    for (Offset row = first; row <= last; ++row) offsets[row] = i;
  }
  return offsets;
}

}  // namespace

CsrMatrix coo_to_csr(CooMatrix coo, Duplicates duplicates, const std::string& where,
                     CooToCsrReport* report) {
  const Offset nnz = coo.nnz();
  const OrderScan scan = scan_order(coo.row_indices.data(), coo.col_indices.data(), nnz);
  const bool never_ascends = scan.out_of_order > 0 && scan.out_of_order + scan.repeats == nnz - 1;
  if (never_ascends) reverse_entries(coo);
  Buffer<Offset> offsets;
  Offset repeats = scan.repeats;
  if (scan.out_of_order == 0 || never_ascends) {
    offsets = offsets_of_sorted(coo.row_indices, coo.rows);
    coo.row_indices = Buffer<Index>();
  } else {
    std::tie(offsets, repeats) = sort_entries(coo);
  }
  if (report != nullptr) *report = {repeats, scan.out_of_order};
  if (repeats > 0) return merge_repeats(coo, offsets, duplicates, where);
  return CsrMatrix(coo.rows, coo.cols, std::move(offsets), std::move(coo.col_indices),
                   std::move(coo.values));
}

}  // namespace csrkit
