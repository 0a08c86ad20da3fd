// hash_rows: a hash table per row instead of a sum per column.
// Owns     a thread owns whole rows of C; its table has at least twice as many slots as the row has
//          products
// Reads    as dense_rows, but sums lie close together
// Launch   as dense_rows
// Needs    nothing
// Against  dense_rows: small tables stay in the first cache however wide C is. Still bad: an
//          insertion per product where columns are dense, a comparison sort per row, every row made
//          in the same way. Source: Y. Nagasaka et al., ICPP Workshops 2018
#include "cpu/spgemm/ladder/ladder_rows.h"

namespace csrkit::cpu {

template <class B, class Acc>
class HashRung {
 public:
  explicit HashRung(const CsrMatrix& op_b) : b_(op_b.view<B>()) {}
  static std::uint64_t bytes(Offset most_products, Index) {
    std::uint64_t slots = 16;
    while (slots < 2 * static_cast<std::uint64_t>(most_products)) slots *= 2;
    return slots * (sizeof(Index) + sizeof(Acc)) +
           2 * static_cast<std::uint64_t>(most_products) * sizeof(used_[0]);
  }
  void expect(Offset products) {
    std::size_t slots = 16;
    while (slots < 2 * static_cast<std::size_t>(products)) slots *= 2;
    if (cols_.size() < slots) {
      cols_.assign(slots, -1);
      sums_.resize(slots);
    }
    mask_ = slots - 1;
  }
  void add(Index k, Acc x) {
    for (Offset at = b_.row_offsets[k]; at < b_.row_offsets[k + 1]; ++at) {
      const Index col = b_.col_indices[at];
      std::size_t slot = (static_cast<std::size_t>(col) * 107) & mask_;
      while (cols_[slot] >= 0 && cols_[slot] != col) slot = (slot + 1) & mask_;
      if (cols_[slot] < 0) {
        cols_[slot] = col;
        sums_[slot] = 0;
        used_.push_back({col, slot});
      }
      sums_[slot] += x * b_.template value_as<Acc>(at);
    }
  }
  Index take(Index* cols, Acc* values, Acc alpha) {
    if (cols != nullptr) std::sort(used_.begin(), used_.end());
    for (std::size_t i = 0; i < used_.size(); ++i) {
      const auto [col, slot] = used_[i];
      if (cols != nullptr) {
        cols[i] = col;
        values[i] = alpha * sums_[slot];
      }
      cols_[slot] = -1;
    }
    const auto count = static_cast<Index>(used_.size());
    used_.clear();
    return count;
  }

 private:
  CsrView<B> b_;
  std::vector<Index> cols_;
  std::vector<Acc> sums_;
  std::vector<std::pair<Index, std::size_t>> used_;
  std::size_t mask_ = 0;
};

std::unique_ptr<SpgemmMethod> make_spgemm_hash_rows(const SpgemmInput& input) {
  return make_ladder_rows<HashRung>(input, true);
}

}  // namespace csrkit::cpu
