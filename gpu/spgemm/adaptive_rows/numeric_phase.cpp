#include "gpu/spgemm/adaptive_rows/numeric_phase.h"

#include "gpu/spgemm/adaptive_rows/side_by_side.h"

namespace csrkit::gpu {

namespace {

/// The bin of twins has no launch of its own (they are made with other rows), so it is used for
/// parts.
constexpr int kParts = static_cast<int>(MakeBin::twin);

template <class Value>
void make_rows_of(int number, const BinRules& rules, Structure structure,
                  const MakeRows<Value>& make, const RowsWork<Value>& work, const RowList& list,
                  cudaStream_t stream) {
  const auto bin = static_cast<MakeBin>(number);
  if (number == kParts) {
    if (rules.most_sorted_to_make > 0) {
      make_parts_by_sorting(structure, make, rules, work.parts, stream);
    }
    make_rows_in_parts(structure, make, rules, work.parts, stream);
  } else if (bin == MakeBin::copy) {
    copy_rows(structure, make, list, stream);
  } else if (bin <= MakeBin::merge_8) {
    make_rows_by_merging(bin, structure, make, list, stream);
  } else if (bin == MakeBin::sort_16) {
    make_tiny_rows(structure, make, tiny_rows(list, number, work.space.make_totals), stream);
  } else if (bin <= MakeBin::sort_4096) {
    make_rows_by_sorting(bin, structure, make, list, stream);
  } else if (bin < MakeBin::bit_range_3k) {
    make_rows_by_hash(bin, structure, make, list, stream);
  } else {
    make_rows_by_bit_range(bin, structure, make, list, work.room_in(bin), stream);
  }
}

}  // namespace

template <class Value>
MakeRows<Value> rows_to_make(const PhaseInputs& in, const RowsWork<Value>& work,
                             const DeviceProduct& c) {
  return {in.op.a.as<Value>(),
          in.op.b.as<Value>(),
          {{c.narrow_offsets.data(), c.wide_offsets.data()},
           c.col_indices.data(),
           reinterpret_cast<Value*>(c.values.data())},
          work.space.profile,
          static_cast<Value>(in.op.alpha),
          in.semiring,
          work.has_twins(),
          in.rules.shared_sums,
          in.rules.most_block_bytes,
          static_cast<int>(in.rules.most_bytes_of_large_team())};
}

template <class Value>
void make_short_rows_early(const PhaseInputs& in, const DeviceProduct& c, RowsWork<Value>& work) {
  const ShortRows rows = work.made_short_rows(in.rules.is_wide);
  in.side_streams.mark(in.stream);
  make_short_rows(Structure::wanted, rows_to_make(in, work, c), rows, early_blocks(rows),
                  in.stream);
  work.short_rows_are_made = true;
}

template <class Value>
void make_all_rows(const PhaseInputs& in, Structure structure, const RowsWork<Value>& work,
                   const DeviceProduct& c) {
  if (work.products == 0) return;
  const MakeRows<Value> make = rows_to_make(in, work, c);
  std::array<RowList, kMostBins> lists = work.lists.to_make;
  lists[kParts] = work.lists.counted(CountBin::parts);
  ShortRows short_rows = work.made_short_rows(in.rules.is_wide);
  const Offset blocks = short_rows.take(lists, in.fewest_tiny(work.short_rows_are_made));
  const Offset blocks_left = work.short_rows_are_made ? 0 : blocks;
  if (!work.short_rows_are_made) in.side_streams.mark(in.stream);
  if (work.hubs.products > 0) make_hub_rows(structure, make, work.hubs, in.stream);
  if (work.stages()) {
    copy_staged_rows(make, work.staged, work.products / work.a.rows, in.stream);
  }
  side_by_side(in.side_streams, in.stream, work.products, blocks_left,
               static_cast<int>(MakeBin::bit_range_3k), lists, [&](int bin, cudaStream_t stream) {
                 if (bin == kShortRows) {
                   return make_short_rows(structure, make, short_rows,
                                          checked_cast<unsigned>(blocks, "short rows"), stream);
                 }
                 make_rows_of(bin, in.rules, structure, make, work,
                              lists[static_cast<std::size_t>(bin)], stream);
               });
}

#define CSRKIT_MAKE_ROWS(Value)                                                             \
  template MakeRows<Value> rows_to_make<Value>(const PhaseInputs&, const RowsWork<Value>&,  \
                                               const DeviceProduct&);                       \
  template void make_short_rows_early<Value>(const PhaseInputs&, const DeviceProduct&,      \
                                             RowsWork<Value>&);                             \
  template void make_all_rows<Value>(const PhaseInputs&, Structure, const RowsWork<Value>&, \
                                     const DeviceProduct&)
CSRKIT_MAKE_ROWS(float);
CSRKIT_MAKE_ROWS(double);
#undef CSRKIT_MAKE_ROWS

}  // namespace csrkit::gpu
