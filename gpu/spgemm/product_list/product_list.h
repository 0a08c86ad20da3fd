// C's structure as a list of its products: where each multiplication finds its two values and where
// its result goes. With new values in A and B, C is then one pass over the list.
#pragma once

#include <cstdint>

#include "core/contract/spmm.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Neighbouring entries of C with all their products, at most kMostOfAPiece: what one block makes.
/// A product has a place in shared memory. That of an entry's only product is where the entry is
/// written from: its number in the piece. The others have places behind those of all entries:
/// entries with more than one product are ranked by how many they have, most first, and 32 ranks
/// are a slice, which a warp adds up. A slice's places stand one after another: the first products
/// of its entries by rank, then the second ones, and so on.
struct ListPiece {
  std::uint32_t first_product;
  std::uint32_t first_entry;
  std::uint32_t first_of_a;  // position of the first value of A that it takes
  std::uint32_t form;        // see ListForm
};

/// What ListPiece::form says: whether products stand in runs, how many entries have a rank, and how
/// many ListTails there are.
struct ListForm {
  static constexpr std::uint32_t in_runs = 1;
  static constexpr int ranks = 1, tails = 16;  // bits below
};

/// As many products as all of a slice's entries have, then columns of those that have more.
struct ListSlice {
  std::uint16_t first_place;  // counted from the first behind all entries
  std::uint8_t entries;       // 32 or fewer
  std::uint8_t tails;         // columns beyond `full`
  std::uint16_t full;
  std::uint16_t first_tail;
};

/// A column of fewer entries than its slice: how many (5 bits) below the place of the first.
using ListTail = std::uint16_t;

/// An entry of C with more than kMostOfAnEntry products. Its words stand beside those of pieces:
/// position in A, then position in B, in the order of A.
struct LongEntry {
  std::uint32_t entry;
  std::uint32_t first_product;
  std::uint32_t products;
};

/// A product in a piece: the position of B's value; that of A's, counted from the piece's first;
/// its place among the piece's products. In the order of A and B, so that neighbours read
/// neighbours.
struct ListWord {
  std::uint32_t of_b;
  std::uint32_t of_a_and_place;
};

/// The words of a piece where they would take more room than runs of products: a run is an entry of
/// A with neighbouring entries of B. In the same memory stand, one after another: a RunStarts for
/// every 32 products, a place of 16 bits for every product, and the runs, each from an address that
/// is a multiple of 8.
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
/// A piece takes the entries that begin in its share of all products; the last may reach beyond.
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

/// Where places and runs of a piece begin, in words. There is a RunStarts for each 32 products of
/// the longest piece; those beyond have no start.
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
  /// The most bytes that make holds at once; never below the real peak, and grows with both.
  static std::uint64_t making_bytes(Offset products, Offset output_nnz);

  /// Lists the products of A and B in the order of C's entries; waits. Returns null, or, with
  /// nothing kept, why they cannot be listed.
  const char* make(const SpgemmOperands& op, const DeviceProduct& c, Offset products,
                   DeviceMemory& memory);

  /// The values of C. Every entry is added up in an order that depends on the structure alone.
  template <class Value>
  void sum(const SpgemmOperands& op, Semiring semiring, const DeviceProduct& c,
           cudaStream_t stream) const;

  std::uint64_t size_bytes() const {
    return words_.size_bytes() + entries_.size_bytes() + slices_.size_bytes() +
           pieces_.size_bytes() + long_entries_.size_bytes();
  }

 private:
  DeviceBuffer<ListWord> words_;         // of pieces, then of long entries
  DeviceBuffer<std::uint16_t> entries_;  // of each piece, counted from its first, by rank
  DeviceBuffer<ListSlices> slices_;      // of each piece
  DeviceBuffer<ListPiece> pieces_;       // and one more, the end
  DeviceBuffer<LongEntry> long_entries_;
  Offset piece_count_ = 0, long_count_ = 0, in_pieces_ = 0;
};

}  // namespace csrkit::gpu
