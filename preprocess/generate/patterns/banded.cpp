// banded: all or some of the entries near the diagonal, or whole diagonals at chosen distances.
#include <algorithm>

#include "core/base/hash.h"
#include "preprocess/generate/common/grid.h"

namespace csrkit {

namespace {
enum Stream : std::uint64_t { kEntries = 601 };
}

std::vector<Parameter> banded_parameters() {
  using namespace parameter;
  return {
      integer("n", "", 0, kMaxIndex, "rows and columns"),
      integer("bandwidth", "1", 0, kMaxIndex,
              "entries at most this far from the diagonal; 0 = the diagonal alone"),
      number("fill", "1", 0, 1, "share of the entries beside the diagonal that is there"),
      integers("offsets", "none", 1, kMaxIndex,
               "instead of a full band: distances of the diagonals, such as 1,64,4096"),
      flag("symmetric", "yes", "no: the entries above and below the diagonal are independent"),
  };
}

CsrMatrix generate_banded(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Index n = given.index("n");
  const Index bandwidth = given.index("bandwidth");
  const double fill = given.number("fill");
  const bool is_symmetric = given.flag("symmetric");
  std::vector<Index> offsets;
  if (given.is_set("offsets")) {
    if (given.is_given("bandwidth")) {
      given.refuse_all("bandwidth is for a full band, offsets for single diagonals; give one");
    }
    offsets = given.indices("offsets");
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  }
  request.require_random(fill < 1 || request.value_kind != ValueKind::none);
  const std::uint64_t salt = random_word(request.seed, kEntries);
  const auto is_there = [&](Index row, Index col) {
    if (row == col || fill == 1) return true;
    const bool mirrored = is_symmetric && col < row;
    const auto i = static_cast<std::uint64_t>(mirrored ? col : row);
    const auto j = static_cast<std::uint64_t>(mirrored ? row : col);
    return unit_of(random_word(salt, i, j)) < fill;
  };
  CsrPattern pattern = pattern_of(n, [&](Index row, auto&& add) {
    const auto add_if_there = [&](Offset col) {
      if (col >= 0 && col < n && is_there(row, static_cast<Index>(col)))
        add(static_cast<Index>(col));
    };
    if (offsets.empty()) {
      const Offset end = std::min<Offset>(n, Offset{row} + bandwidth + 1);
      for (Offset col = std::max<Offset>(0, Offset{row} - bandwidth); col < end; ++col)
        add_if_there(col);
      return;
    }
    for (std::size_t i = offsets.size(); i-- > 0;) add_if_there(Offset{row} - offsets[i]);
    add_if_there(row);
    for (const Index offset : offsets) add_if_there(Offset{row} + offset);
  });
  return finish_matrix(n, n, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request,
                       is_symmetric ? ValueRule::symmetric_dominant : ValueRule::independent);
}

}  // namespace csrkit
