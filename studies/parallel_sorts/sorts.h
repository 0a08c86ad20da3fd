// The classic parallel sorts over (row, column) keys, to see what core/matrix/sort is measured
// against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/matrix/csr_matrix.h"

namespace csrkit {
struct CooMatrix;
}

namespace csrkit::studies {

/// An entry of a matrix: the row in the upper half of the key, the column in the lower; 8 bytes of
/// payload that travel along.
struct Entry {
  std::uint64_t key;
  std::uint64_t payload;
};
inline bool operator<(const Entry& a, const Entry& b) { return a.key < b.key; }

using Entries = std::vector<Entry>;

/// Every entry counts how many belong before it: n^2 comparisons, no dependences. Small n only.
void rank_sort(Entries& entries, int threads);
/// Equal slices of the key range become buckets, each sorted by one thread. Skew overfills buckets.
void bucket_sort(Entries& entries, int threads);
/// Sample sort with regular sampling (Shi, Schaeffer 1992): every thread sorts a block, splitters
/// from evenly spaced samples divide the blocks, every thread merges one part of each.
void sample_sort(Entries& entries, int threads);
/// The same, and how many entries each part of it merges: below twice their mean, plus the entries
/// of one key (equal keys stay together).
std::vector<std::int64_t> sample_sort_parts(Entries& entries, int threads);
/// Batcher's network (1968), in the form whose comparators all point the same way, so that a size
/// that is no power of two needs no padding: what would be padding never moves.
void bitonic_sort(Entries& entries, int threads);
/// One stable counting pass per byte of the key, from the lowest; bytes that are all alike cost a
/// look only.
void lsd_radix_sort(Entries& entries, int threads);
/// std::sort, one thread.
void std_sort(Entries& entries, int threads);
/// What import uses: core/matrix/sort's coo_to_csr, which also makes row offsets and keeps only the
/// first of several entries with one key. Rows must be below 2^16, columns below 2^20.
class PreparedCoo {
 public:
  explicit PreparedCoo(const Entries& entries);
  ~PreparedCoo();
  /// The timed part. Once only: the coordinates are used up.
  CsrMatrix convert(int threads);

 private:
  std::unique_ptr<CooMatrix> coo_;
};

struct Sort {
  const char* name;
  bool is_stable;
  std::int64_t largest_measured;  // sizes above would take minutes
  bool is_parallel;
  void (*sort)(Entries& entries, int threads);
};
const std::vector<Sort>& sorts();

/// Key distributions: uniform, sorted, reversed, all_equal, power_law_rows, nearly_sorted,
/// column_major (the usual order of Matrix Market files), one_huge_row (half of the entries).
const std::vector<std::string>& distributions();
/// `size` entries with 16-bit rows and 20-bit columns; payloads are the positions.
Entries make_entries(const std::string& distribution, std::int64_t size, std::uint64_t seed);

}  // namespace csrkit::studies
