#include "gpu/spgemm/adaptive_rows/symbolic_phase.h"

#include "gpu/spgemm/adaptive_rows/numeric_phase.h"
#include "gpu/spgemm/adaptive_rows/side_by_side.h"
#include "gpu/spgemm/adaptive_rows/symbolic/count.h"

namespace csrkit::gpu {

namespace {

template <class Value>
MakeRows<Value> rows_to_stage(const PhaseInputs& in, const RowsWork<Value>& work) {
  MakeRows<Value> stage = rows_to_make(in, work, {});
  stage.c.col_indices = work.staged.cols;
  stage.c.values = work.staged.values;
  return stage;
}

template <class Value>
void count_all_short_rows(const PhaseInputs& in, const RowsWork<Value>& work, const ShortRows& rows,
                          cudaStream_t stream) {
  ShortRows counted = rows;
  if (work.stages()) {
    const ShortRows staged = rows.only(0, ShortLists::kToStage);
    if (staged.blocks() > 0) {
      stage_short_rows(rows_to_stage(in, work), work.staged, staged, stream);
    }
    counted = rows.only(ShortLists::kToStage, ShortLists::kCount);
  }
  if (counted.blocks() > 0) {
    count_short_rows(in.op.a, in.op.b, work.space.profile, counted, counted.blocks(), stream);
  }
}

template <class Value>
void count_rows_of(CountBin bin, const PhaseInputs& in, RowsWork<Value>& work,
                   const BinRules& rules, const RowList& list, cudaStream_t stream) {
  const SpgemmOperands& op = in.op;
  const RowProfile& profile = work.space.profile;
  if (bin == CountBin::hubs) {
    count_hub_rows(op.a.as<Value>(), op.b.as<Value>(), in.semiring, profile, work.hubs, stream);
  } else if (bin == CountBin::sort_16) {
    count_tiny_rows(op.a, op.b, profile,
                    tiny_rows(list, static_cast<int>(bin), work.space.count_totals), stream);
  } else if (work.stages() && bin >= CountBin::sort_512 && bin <= CountBin::sort_4096) {
    stage_rows_by_sorting(bin, rows_to_stage(in, work), work.staged, list, stream);
  } else {
    count_rows(bin, op.a, op.b, profile, rules, list, work.parts, stream);
  }
}

}  // namespace

template <class Value>
void count_short_rows_early(const PhaseInputs& in, const RowsWork<Value>& work) {
  const ShortRows rows = work.counted_short_rows(in.rules.is_wide);
  count_short_rows(in.op.a, in.op.b, work.space.profile, rows, early_blocks(rows), in.stream);
}

template <class Value>
void count_all_rows(const PhaseInputs& in, bool short_rows_are_counted, RowsWork<Value>& work) {
  std::array<RowList, kMostBins> lists = work.lists.to_count;
  lists[static_cast<std::size_t>(CountBin::twin)] = {};
  lists[static_cast<std::size_t>(CountBin::sorted_twin)] = {};
  ShortRows short_rows = work.counted_short_rows(in.rules.is_wide);
  const Offset blocks = short_rows.take(lists, in.fewest_tiny(short_rows_are_counted));
  const BinRules rules = in.rules.for_counting(work.rows_in_bit_ranges());
  side_by_side(in.side_streams, in.stream, work.products, short_rows_are_counted ? 0 : blocks,
               static_cast<int>(CountBin::bit_range_warp), lists, [&](int bin, cudaStream_t side) {
                 if (bin == kShortRows) return count_all_short_rows(in, work, short_rows, side);
                 count_rows_of(static_cast<CountBin>(bin), in, work, rules,
                               lists[static_cast<std::size_t>(bin)], side);
               });
  if (work.parts.count > 0) sum_parts(work.parts, work.space.profile, in.stream);
}

#define CSRKIT_COUNT_ROWS(Value)                                                           \
  template void count_short_rows_early<Value>(const PhaseInputs&, const RowsWork<Value>&); \
  template void count_all_rows<Value>(const PhaseInputs&, bool, RowsWork<Value>&)
CSRKIT_COUNT_ROWS(float);
CSRKIT_COUNT_ROWS(double);
#undef CSRKIT_COUNT_ROWS

}  // namespace csrkit::gpu
