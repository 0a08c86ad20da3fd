// A known C as a list of its products: for each, the positions of its two values and the place of
// its result. New values of C are then one pass over the list.
#pragma once

#include <cstdint>

#include "core/contract/spmm.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Neighbouring entries of C with all their products, at most kMostOfAPiece: the work of one block.
/// Every product has a place in shared memory. An entry's only product has the entry's place, its
/// number in the piece. Products of other entries have places after those of all entries: these
/// entries are ranked by their number of products, most first, and 32 ranks are a slice, which a
/// warp adds up. The places of a slice are contiguous: the first products of its entries by rank,
/// then the second ones, and so on.
struct ListPiece {
  std::uint32_t first_product;
  std::uint32_t first_entry;
  std::uint32_t first_of_a;  // position of the first value of A that it takes
  std::uint32_t form;        // see ListForm
};

/// The fields of ListPiece::form: whether products are stored as runs, how many entries are ranked,
/// and how many ListTails there are.
struct ListForm {
  static constexpr std::uint32_t in_runs = 1;
  static constexpr int ranks = 1, tails = 16;  // positions of the lowest bits
};

/// 32 ranks: `full` products of each of the slice's entries, then columns of the entries that have
/// more.
struct ListSlice {
  std::uint16_t first_place;  // counted from the first place after all entries
  std::uint8_t entries;       // 32 or fewer
  std::uint8_t tails;         // columns beyond `full`
  std::uint16_t full;
  std::uint16_t first_tail;
};

/// A column with fewer entries than its slice: the place of its first product, and below it the
/// number of entries in kTailBits bits.
using ListTail = std::uint16_t;

/// An entry of C with more than kMostOfAnEntry products. Its words come after those of the pieces,
/// in the order of A, with absolute positions in B and A.
struct LongEntry {
  std::uint32_t entry;
  std::uint32_t first_product;
  std::uint32_t products;
};

/// A product in a piece: the position of B's value; that of A's, counted from the piece's first;
/// its place among the piece's products. Words are in the order of A and B, so that neighbouring
/// threads read neighbours.
struct ListWord {
  std::uint32_t of_b;
  std::uint32_t of_a_and_place;
};

/// The other form of a piece, used where it takes less room: runs of products. A run is an entry of
/// A with neighbouring entries of B. The memory of the words then holds a RunStarts for every 32
/// products, a 16-bit place for every product, and the runs. Each of the three begins at a multiple
/// of 8 bytes.
struct RunStarts {
  std::uint32_t starts;  // a bit for every product that is the first of its run
  std::uint32_t before;  // runs that start before these products
};
struct ListRun {
  std::uint32_t shift_of_b;  // from a product's number in the piece to the position of B's value
  std::uint32_t of_a;        // counted from the piece's first
};

inline constexpr int kMostOfAPiece = 2048;
inline constexpr int kMostOfAnEntry = 256;
/// A piece takes the entries that begin in its share of all products; the last may extend beyond
/// it.
inline constexpr int kLeastShare = kMostOfAPiece - kMostOfAnEntry + 1;
/// Ranked entries have two products or more.
inline constexpr int kMostRanks = kMostOfAPiece / 2;
inline constexpr int kMostPlaces = kMostOfAPiece + kMostRanks;
inline constexpr int kPlaceBits = 12;
inline constexpr std::uint32_t kPlaceMask = (1u << kPlaceBits) - 1;
static_assert(kMostPlaces <= 1 << kPlaceBits);
inline constexpr int kTailBits = 5;
static_assert(kMostOfAPiece <= 1 << (16 - kTailBits));

struct alignas(16) ListSlices {
  ListSlice of_ranks[kMostRanks / 32];
  ListTail tails[kMostOfAnEntry];  // no more than the longest entry's products
};

inline constexpr std::uint32_t kWidestOfA = 1u << (32 - kPlaceBits);

/// Where places and runs of a piece begin, in words. There are RunStarts for the longest possible
/// piece; those beyond the piece's products have no start bit.
struct RunLayout {
  static constexpr std::uint32_t places = kMostOfAPiece / 32;
  std::uint32_t runs;
#ifdef __CUDACC__
  __host__ __device__
#endif
      explicit constexpr RunLayout(std::uint32_t products)
      : runs(places + (products + 3) / 4) {
  }
};

class ProductList {
 public:
  /// An upper bound of the bytes that make holds at once; grows with both arguments.
  static std::uint64_t making_bytes(Offset products, Offset output_nnz);

  /// Lists the products of A and B in the order of C's entries; waits. Returns null, or the reason
  /// why they cannot be listed; then nothing is kept.
  const char* make(const SpgemmOperands& op, const DeviceProduct& c, Offset products,
                   DeviceMemory& memory);

  /// Computes the values of C. The order of every sum depends only on the structure.
  template <class Value>
  void sum(const SpgemmOperands& op, Semiring semiring, const DeviceProduct& c,
           cudaStream_t stream) const;

  std::uint64_t size_bytes() const {
    return words_.size_bytes() + entries_.size_bytes() + slices_.size_bytes() +
           pieces_.size_bytes() + long_entries_.size_bytes();
  }

 private:
  DeviceBuffer<ListWord> words_;  // of pieces, then of long entries
  // of each piece by rank: the entry, counted from the piece's first
  DeviceBuffer<std::uint16_t> entries_;
  DeviceBuffer<ListSlices> slices_;  // one for each piece
  DeviceBuffer<ListPiece> pieces_;   // and the end
  DeviceBuffer<LongEntry> long_entries_;
  Offset piece_count_ = 0, long_count_ = 0, in_pieces_ = 0;
};

}  // namespace csrkit::gpu
