#include "preprocess/reorder/parts/part_nesting.h"

#include <algorithm>
#include <numeric>

namespace csrkit {

namespace {

constexpr Index kMostParts = 4096;
constexpr int kSwapPasses = 8;

/// A symmetric matrix of what connects items.
class Connections {
 public:
  explicit Connections(Index items)
      : items_(static_cast<std::size_t>(items)), weight_(items_ * items_, 0) {}
  std::size_t items() const { return items_; }
  Offset operator()(std::size_t a, std::size_t b) const { return weight_[a * items_ + b]; }
  void add(std::size_t a, std::size_t b, Offset entries) {
    if (a == b) return;
    weight_[a * items_ + b] += entries;
    weight_[b * items_ + a] += entries;
  }

 private:
  std::size_t items_;
  std::vector<Offset> weight_;
};

Connections connect(const CsrMatrix& matrix, const Partition& partition) {
  Connections connections(partition.parts);
  const Buffer<Index>& part_of = *partition.part_of_row;
  const bool is_square = matrix.rows() == matrix.cols();
  std::vector<Index> last_reader(is_square ? 0 : static_cast<std::size_t>(matrix.cols()), -1);
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Index part = part_of[row];
    for (Offset e = matrix.row_offsets()[row]; e < matrix.row_offsets()[row + 1]; ++e) {
      const Index col = matrix.col_indices()[e];
      Index other = part;
      if (is_square) {
        other = part_of[col];
      } else {
        std::swap(other, last_reader[static_cast<std::size_t>(col)]);
      }
      if (other < 0) continue;
      connections.add(static_cast<std::size_t>(part), static_cast<std::size_t>(other), 1);
    }
  }
  return connections;
}

/// Puts items together into groups of `size`, the heaviest pairs first.
std::vector<std::size_t> grown_groups(const Connections& weight, std::size_t size) {
  const std::size_t items = weight.items(), none = items;
  std::vector<std::size_t> group_of(items, none);
  std::vector<std::size_t> by_weight(items);
  std::vector<Offset> total(items, 0);
  for (std::size_t a = 0; a < items; ++a) {
    for (std::size_t b = 0; b < items; ++b) total[a] += weight(a, b);
  }
  std::iota(by_weight.begin(), by_weight.end(), std::size_t{0});
  std::stable_sort(by_weight.begin(), by_weight.end(),
                   [&](std::size_t a, std::size_t b) { return total[a] > total[b]; });
  std::size_t groups = 0;
  for (const std::size_t seed : by_weight) {
    if (group_of[seed] != none) continue;
    group_of[seed] = groups;
    std::vector<Offset> to_group(items);
    for (std::size_t b = 0; b < items; ++b) to_group[b] = weight(seed, b);
    for (std::size_t members = 1; members < size; ++members) {
      std::size_t next = none;
      for (std::size_t b = 0; b < items; ++b) {
        if (group_of[b] == none && (next == none || to_group[b] > to_group[next])) next = b;
      }
      group_of[next] = groups;
      for (std::size_t b = 0; b < items; ++b) to_group[b] += weight(next, b);
    }
    ++groups;
  }
  return group_of;
}

/// Lets two items of different groups change places while that keeps more inside.
void swap_items(const Connections& weight, std::size_t groups, std::vector<std::size_t>* group_of) {
  const std::size_t items = weight.items();
  std::vector<Offset> to_group(items * groups, 0);
  for (std::size_t a = 0; a < items; ++a) {
    for (std::size_t b = 0; b < items; ++b) to_group[a * groups + (*group_of)[b]] += weight(a, b);
  }
  for (int pass = 0; pass < kSwapPasses; ++pass) {
    bool has_moved = false;
    for (std::size_t a = 0; a < items; ++a) {
      for (std::size_t b = a + 1; b < items; ++b) {
        const std::size_t of_a = (*group_of)[a], of_b = (*group_of)[b];
        if (of_a == of_b) continue;
        const Offset gain = to_group[a * groups + of_b] - to_group[a * groups + of_a] +
                            to_group[b * groups + of_a] - to_group[b * groups + of_b] -
                            2 * weight(a, b);
        if (gain <= 0) continue;
        for (std::size_t c = 0; c < items; ++c) {
          const Offset moved = weight(c, b) - weight(c, a);
          to_group[c * groups + of_a] += moved;
          to_group[c * groups + of_b] -= moved;
        }
        std::swap((*group_of)[a], (*group_of)[b]);
        has_moved = true;
      }
    }
    if (!has_moved) return;
  }
}

}  // namespace

std::vector<Index> nested_numbers(const CsrMatrix& matrix, const Partition& partition,
                                  const std::vector<Index>& levels) {
  std::vector<Index> numbers(static_cast<std::size_t>(partition.parts));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  std::vector<Index> coarser;
  for (const Index level : levels) {
    if (level > 1 && level < partition.parts) coarser.push_back(level);
  }
  if (coarser.empty()) return numbers;
  if (partition.parts > kMostParts) {
    const std::string parts = std::to_string(partition.parts);
    throw UsageError("larger parts are made of at most " + std::to_string(kMostParts) +
                     " smaller ones, not of " + parts + "; ask for " + parts + " parts alone");
  }
  Connections weight = connect(matrix, partition);
  std::vector<std::vector<std::size_t>> group_at;  // from the finest level up, of each part
  std::vector<std::size_t> item_of(numbers.begin(), numbers.end());
  for (auto level = coarser.rbegin(); level != coarser.rend(); ++level) {
    const auto groups = static_cast<std::size_t>(*level);
    std::vector<std::size_t> group_of = grown_groups(weight, weight.items() / groups);
    swap_items(weight, groups, &group_of);
    Connections merged(*level);
    for (std::size_t a = 0; a < weight.items(); ++a) {
      for (std::size_t b = a + 1; b < weight.items(); ++b) {
        merged.add(group_of[a], group_of[b], weight(a, b));
      }
    }
    for (std::size_t& item : item_of) item = group_of[item];
    group_at.push_back(item_of);
    weight = std::move(merged);
  }
  std::vector<Index> parts = numbers;
  std::stable_sort(parts.begin(), parts.end(), [&](Index a, Index b) {
    for (auto groups = group_at.rbegin(); groups != group_at.rend(); ++groups) {
      const std::size_t of_a = (*groups)[static_cast<std::size_t>(a)],
                        of_b = (*groups)[static_cast<std::size_t>(b)];
      if (of_a != of_b) return of_a < of_b;
    }
    return a < b;
  });
  for (std::size_t place = 0; place < parts.size(); ++place) {
    numbers[static_cast<std::size_t>(parts[place])] = static_cast<Index>(place);
  }
  return numbers;
}

}  // namespace csrkit
