#include "gpu/spgemm/adaptive_rows/symbolic_memory.h"

namespace csrkit::gpu {

namespace {

template <class Value>
void make_room_for_bits(const PhaseInputs& in, const HostTotals& totals, DeviceMemory& memory,
                        DeviceBuffer<std::uint32_t>& bits, RowsWork<Value>& work) {
  const auto words =
      static_cast<Offset>(std::min<std::uint64_t>(totals.kept_words, RowProfile::kInPairs));
  if (words > bits.size()) {
    bits = {};
    bits = DeviceBuffer<std::uint32_t>(memory, words, "the bits of rows that were counted");
    in.side_streams.mark(in.stream);
  }
  work.space.profile.bits = bits.data();
}

template <class Value>
void list_all_parts(const PhaseInputs& in, const HostTotals& totals, DeviceMemory& memory,
                    RowsWork<Value>& work) {
  const auto parts = static_cast<Offset>(totals.parts);
  work.part_bytes = DeviceBuffer<std::byte>(memory, parts * static_cast<Offset>(RowParts::kBytes),
                                            "the parts of rows that are cut");
  work.parts.count = parts;
  work.parts.rows = reinterpret_cast<Index*>(work.part_bytes.data());
  work.parts.numbers = reinterpret_cast<std::uint32_t*>(work.parts.rows + parts);
  work.parts.counts = work.parts.numbers + parts;
  work.parts.products = work.parts.counts + parts;
  work.parts.starts = work.parts.products + parts;
  work.parts.most_words = static_cast<int>(totals.most_part_words);
  list_parts(work.lists.counted(CountBin::parts), work.space.profile, in.rules, work.parts,
             work.space.count_totals, in.stream);
  in.side_streams.mark(in.stream);
}

template <class Value>
void make_room_for_hubs(const PhaseInputs& in, const HostTotals& totals, DeviceMemory& memory,
                        RowsWork<Value>& work) {
  work.hubs =
      HubRows(memory, work.lists.counted(CountBin::hubs), static_cast<Offset>(totals.hub_entries),
              static_cast<Offset>(totals.hub_products), in.op.b.cols, sizeof(Value));
  in.side_streams.mark(in.stream);
}

template <class Value>
void make_room_for_staged(const PhaseInputs& in, DeviceMemory& memory, RowsWork<Value>& work) {
  constexpr ValueKind kKind = kValueKindOf<Value>;
  const Offset room = room_of_staged(in.rules, work.products_to_stage(), kKind);
  work.staged_bytes =
      DeviceBuffer<std::byte>(memory, static_cast<Offset>(staged_bytes(work.a.rows, room, kKind)),
                              "rows of C that are made while they are counted");
  work.staged = lay_out_staged<Value>(work.staged_bytes.data(), work.a.rows, room,
                                      work.space.profile, in.stream);
  in.side_streams.mark(in.stream);
}

}  // namespace

template <class Value>
void make_room_for_counting(const PhaseInputs& in, const HostTotals& totals, DeviceMemory& memory,
                            DeviceBuffer<std::uint32_t>& bits, RowsWork<Value>& work) {
  make_room_for_bits(in, totals, memory, bits, work);
  if (totals.parts > 0) list_all_parts(in, totals, memory, work);
  if (totals.hub_products > 0) make_room_for_hubs(in, totals, memory, work);
  if (work.may_stage && in.rules.stages(work.staging_facts(totals))) {
    make_room_for_staged(in, memory, work);
  }
}

#define CSRKIT_MAKE_ROOM(Value)                                                            \
  template void make_room_for_counting<Value>(const PhaseInputs&, const HostTotals&,       \
                                              DeviceMemory&, DeviceBuffer<std::uint32_t>&, \
                                              RowsWork<Value>&)
CSRKIT_MAKE_ROOM(float);
CSRKIT_MAKE_ROOM(double);
#undef CSRKIT_MAKE_ROOM

}  // namespace csrkit::gpu
