// Rows of C by hashing, in adaptive_rows.
// Owns     a warp or a block: one row
// Reads    A's row, B's rows once, in order; a table in shared memory from column to place, a list
//          of columns by place and a sum per place. Slots are claimed by compare-and-swap; sums
//          need no atomics (row_walks.cuh)
// Launch   128, 256 or 512 threads, so that a multiprocessor holds several blocks of all but the
//          largest tables
// Needs    at most half as many entries as slots: the rules of the bins guarantee it
// Against  sorting all products, which moves each log(products) times. Only entries are sorted
//          here: they are dealt into as many buckets and ranked within each, so the work is
//          proportional to the entries

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/launch.cuh"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu {

namespace {

constexpr int kFree = -1;

/// The shared memory of one row.
template <class Value, int kSlots>
struct Table {
  static constexpr int kMost = kSlots / 2;
  static constexpr int kColsAt = kMost * static_cast<int>(sizeof(Value));
  static constexpr int kKeysAt = kColsAt + kMost * 4;
  static constexpr int kPlacesAt = kKeysAt + kSlots * 4;
  static constexpr int kBytes = (kPlacesAt + kSlots * 2 + 15) / 16 * 16;
  static_assert(kKeysAt % 16 == 0, "keys are cleared four at a time");

  Value* sums;            // by place
  Index* cols;            // by place
  int* keys;              // by slot; later: ends of buckets
  std::uint16_t* places;  // by slot; later: places, in the order of buckets

  explicit __device__ Table(std::byte* bytes)
      : sums(reinterpret_cast<Value*>(bytes)),
        cols(reinterpret_cast<Index*>(bytes + kColsAt)),
        keys(reinterpret_cast<int*>(bytes + kKeysAt)),
        places(reinterpret_cast<std::uint16_t*>(bytes + kPlacesAt)) {}

  /// Finds or claims the slot of `col`. `is_new`: this lane claimed it, so it must give it a place.
  __device__ unsigned claim(Index col, bool& is_new) const {
    unsigned slot = hash_slot<kSlots>(static_cast<std::uint32_t>(col));
    while (true) {
      int found = static_cast<volatile int*>(keys)[slot];
      if (found == kFree) {
        found = atomicCAS(keys + slot, kFree, col);
        is_new = found == kFree;
        if (is_new) return slot;
      }
      if (found == col) return slot;
      slot = (slot + 1) & (kSlots - 1);
    }
  }
  __device__ unsigned find(Index col) const {
    unsigned slot = hash_slot<kSlots>(static_cast<std::uint32_t>(col));
    while (keys[slot] != col) slot = (slot + 1) & (kSlots - 1);
    return slot;
  }
};

/// Turns counts into exclusive sums. Each warp scans its share of the buckets.
template <class G>
__device__ void sum_up_buckets(int* ends, int buckets, int* scratch) {
  const int share = buckets / G::kWarps;  // at least 32: both are powers of two
  const int first = G::kIsBlock ? static_cast<int>(threadIdx.x >> 5) * share : 0;
  int before = 0;
  for (int i = G::lane(); i < share; i += 32) {
    int total = 0;
    const int begin = before + Group<32>::exclusive_sum(ends[first + i], total, scratch);
    ends[first + i] = begin;
    before += total;
  }
  if constexpr (G::kIsBlock) {
    int total = 0;
    const int of_warps =
        G::exclusive_sum(G::lane() == 0 ? before : 0, total, scratch);  // valid in lane 0 only
    const int offset = __shfl_sync(kAllLanes, of_warps, 0);
    for (int i = G::lane(); i < share; i += 32) ends[first + i] += offset;
  }
}

/// Writes a row, sorted: ranks are found within buckets of neighbouring columns.
template <int kLanes, class Value, int kSlots>
__device__ void write_row(const Table<Value, kSlots>& table, int count, const MakeRows<Value>& op,
                          Index row, int* scratch) {
  using G = Group<kLanes>;
  const Offset to = op.c.row_offsets[row];
  const Offset first_col = Offset{op.profile.first_word[row]} << kWordLog2;
  const Offset width = Offset{op.profile.words[row]} << kWordLog2;
  int buckets = kLanes;
  while (buckets < count) buckets *= 2;
  const std::uint64_t scale =
      (static_cast<std::uint64_t>(buckets) << 32) / static_cast<std::uint64_t>(width);
  const auto bucket_of = [&](Index col) {
    return static_cast<int>((static_cast<std::uint64_t>(col - first_col) * scale) >> 32);
  };
  int* ends = table.keys;
  G::sync();
  for (int i = G::rank(); i < buckets; i += kLanes) ends[i] = 0;
  G::sync();
  for (int i = G::rank(); i < count; i += kLanes) atomicAdd(ends + bucket_of(table.cols[i]), 1);
  G::sync();
  sum_up_buckets<G>(ends, buckets, scratch);
  G::sync();
  for (int i = G::rank(); i < count; i += kLanes) {
    const int at = atomicAdd(ends + bucket_of(table.cols[i]), 1);
    table.places[at] = static_cast<std::uint16_t>(i);
  }
  G::sync();
  for (int i = G::rank(); i < count; i += kLanes) {
    const int place = table.places[i];
    const Index col = table.cols[place];
    const int bucket = bucket_of(col);
    const int begin = bucket > 0 ? ends[bucket - 1] : 0, end = ends[bucket];
    int rank = begin;
    for (int other = begin; other < end; ++other) rank += table.cols[table.places[other]] < col;
    op.c.col_indices[to + rank] = col;
    op.c.values[to + rank] = op.alpha * table.sums[place];
  }
}

/// Adds up the values of a row whose columns are known.
template <int kLanes, class Value, int kSlots, class GroupTurns>
__device__ void make_values(const Table<Value, kSlots>& table, const MakeRows<Value>& op, Index row,
                            const EntriesOfA& of_row, bool is_packed, Sources<kLanes, Value>* list,
                            GroupTurns& turns) {
  using G = Group<kLanes>;
  const Value nothing = empty_sum<Value>(op.semiring);
  const Offset to = op.c.row_offsets[row];
  const auto count = static_cast<int>(op.c.row_offsets[Offset{row} + 1] - to);
  for (int i = G::rank(); i < count; i += kLanes) {
    bool is_new = false;
    const unsigned slot = table.claim(op.c.col_indices[to + i], is_new);
    table.places[slot] = static_cast<std::uint16_t>(i);
    table.sums[i] = nothing;
  }
  G::sync();
  walk_products<kLanes, Product<Value>>(
      op.a, op.b, of_row, AllColumns{}, is_packed, list,
      [&](const Product<Value>(&entries)[kSegments], auto way) {
        std::uint32_t places[kSegments];
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          places[u] = entries[u].col >= 0 ? table.places[table.find(entries[u].col)] : 0;
        }
        add_products<kLanes>(entries, places, table.sums, op.semiring, way, turns);
      });
  for (int i = G::rank(); i < count; i += kLanes) {
    op.c.values[to + i] = op.alpha * table.sums[i];
  }
}

/// Takes places for a warp's new columns and returns this lane's. A warp that makes a row alone
/// counts its places in `count`; those of a block count them in `places_taken`.
template <class G>
__device__ int take_place(bool is_new, int& count, int* places_taken) {
  const unsigned all_new = __ballot_sync(kAllLanes, is_new);
  int first = count;
  if constexpr (G::kIsBlock) {
    if (all_new != 0) {
      const int leader = __ffs(static_cast<int>(all_new)) - 1;
      if (G::lane() == leader) first = atomicAdd(places_taken, __popc(all_new));
      first = __shfl_sync(kAllLanes, first, leader);
    }
  } else {
    count += __popc(all_new);
  }
  return first + __popc(all_new & ((1u << G::lane()) - 1));
}

/// Adds up the products of a row, and finds its columns meanwhile: fills table.cols and table.sums.
/// Returns how many there are. `places_taken`: where a block makes the row; in shared memory.
template <int kLanes, class Value, int kSlots, class GroupTurns>
__device__ int find_entries(const Table<Value, kSlots>& table, const MakeRows<Value>& op,
                            const EntriesOfA& of_row, bool is_packed, Sources<kLanes, Value>* list,
                            GroupTurns& turns, int* places_taken) {
  using G = Group<kLanes>;
  const Value nothing = empty_sum<Value>(op.semiring);
  int count = 0;
  walk_products<kLanes, Product<Value>>(
      op.a, op.b, of_row, AllColumns{}, is_packed, list,
      [&](const Product<Value>(&entries)[kSegments], auto way) {
        unsigned slots[kSegments];
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          bool is_new = false;
          slots[u] = entries[u].col >= 0 ? table.claim(entries[u].col, is_new) : 0;
          const int place = take_place<G>(is_new, count, places_taken);
          if (is_new) {
            table.places[slots[u]] = static_cast<std::uint16_t>(place);
            table.cols[place] = entries[u].col;
            table.sums[place] = nothing;
          }
        }
        G::sync();
        std::uint32_t places[kSegments];
#pragma unroll
        for (int u = 0; u < kSegments; ++u) {
          places[u] = entries[u].col >= 0 ? table.places[slots[u]] : 0;
        }
        add_products<kLanes>(entries, places, table.sums, op.semiring, way, turns);
      });
  return G::kIsBlock ? *places_taken : count;
}

template <class Value, int kLanes, int kSlots, int kThreads, Structure kStructure>
__global__ void __launch_bounds__(kThreads) make_by_hash(MakeRows<Value> op, RowList list) {
  using G = Group<kLanes>;
  using RowTable = Table<Value, kSlots>;
  extern __shared__ __align__(16) std::byte shared_bytes[];
  __shared__ int scratch[32];
  __shared__ int places_taken;
  __shared__ Sources<kLanes, Value> sources[kThreads / kLanes];
  __shared__ std::uint32_t bids[Turns<kLanes>::kBids];
  const Offset item = Offset{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  if (item >= list.count) return;  // a whole warp
  const Index row = list.rows[item];
  RowTable table(shared_bytes + threadIdx.x / kLanes * RowTable::kBytes);
  for (int i = G::rank(); i < kSlots / 4; i += kLanes) {
    reinterpret_cast<int4*>(table.keys)[i] = make_int4(kFree, kFree, kFree, kFree);
  }
  if (threadIdx.x == 0) places_taken = 0;
  const EntriesOfA of_row = entries_of_row(op.a, row);
  const bool is_packed = suits_packing<kLanes>(op.profile.products[row], of_row.count);
  Sources<kLanes, Value>* const list_of_sources = sources + threadIdx.x / kLanes;
  auto turns = Turns<kLanes>::make(bids);
  G::sync();
  if constexpr (kStructure == Structure::known) {
    make_values<kLanes>(table, op, row, of_row, is_packed, list_of_sources, turns);
  } else {
    const int count =
        find_entries<kLanes>(table, op, of_row, is_packed, list_of_sources, turns, &places_taken);
    write_row<kLanes>(table, count, op, row, scratch);
  }
}

template <int kLanes, int kSlots, int kThreads, class Value>
void launch(Structure structure, const MakeRows<Value>& op, const RowList& list,
            cudaStream_t stream) {
  const auto kernel = structure == Structure::known
                          ? make_by_hash<Value, kLanes, kSlots, kThreads, Structure::known>
                          : make_by_hash<Value, kLanes, kSlots, kThreads, Structure::wanted>;
  launch_rows<kThreads, kLanes>(kernel, "make_by_hash", list.count, Table<Value, kSlots>::kBytes,
                                stream, op, list);
}

}  // namespace

template <class Value>
void make_rows_by_hash(MakeBin bin, Structure structure, const MakeRows<Value>& op,
                       const RowList& list, cudaStream_t stream) {
  switch (bin) {
    case MakeBin::hash_256: return launch<32, 256, 128>(structure, op, list, stream);
    case MakeBin::hash_1024: return launch<32, 1024, 128>(structure, op, list, stream);
    case MakeBin::hash_4096: return launch<256, 4096, 256>(structure, op, list, stream);
    case MakeBin::hash_16384: return launch<512, 16384, 512>(structure, op, list, stream);
    default: throw std::logic_error("adaptive_rows: a bin that is not hashed");
  }
}

template void make_rows_by_hash(MakeBin, Structure, const MakeRows<float>&, const RowList&,
                                cudaStream_t);
template void make_rows_by_hash(MakeBin, Structure, const MakeRows<double>&, const RowList&,
                                cudaStream_t);

}  // namespace csrkit::gpu
