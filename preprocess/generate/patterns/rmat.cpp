// rmat: the recursive matrix of Chakrabarti, Zhan and Faloutsos (2004), without an edge list.
//
// An edge chooses its row and column bit by bit, with the probabilities a b / c d of the quadrants.
// The row bits are independent coin flips, and so are the column bits once the row is known. So the
// rows of all edges are counted first, and then every row draws its own columns. The distribution
// is the same, no sort of all edges is needed, and each row is a pure function of the seed.
#include <algorithm>
#include <cmath>

#include "core/base/hash.h"
#include "preprocess/generate/common/csr_builder.h"

namespace csrkit {

namespace {

enum Stream : std::uint64_t { kRows = 401, kCols, kIds };

/// How an edge chooses: 2^scale ids, and what 32 random bits are compared with at every bit.
struct EdgeRule {
  int scale;
  std::uint64_t lower_row, right_if_upper, right_if_lower;

  Index row(RandomStream random) const {
    return id_of_bits(random, [&](int) { return lower_row; });
  }
  Index col(RandomStream& random, Index row) const {
    return id_of_bits(random, [&](int bit) {
      const bool is_lower = row >> (scale - 1 - bit) & 1;
      return is_lower ? right_if_lower : right_if_upper;
    });
  }

 private:
  template <class Threshold>
  Index id_of_bits(RandomStream& random, const Threshold& threshold) const {
    Index id = 0;
    std::uint64_t word = 0;
    for (int bit = 0; bit < scale; ++bit) {
      word = bit % 2 == 0 ? random.next() : word >> 32;
      id = id * 2 + ((word & 0xffffffffu) < threshold(bit));
    }
    return id;
  }
};

EdgeRule edge_rule(const Parameters& given) {
  const double a = given.number("a"), b = given.number("b"), c = given.number("c");
  const double d = given.is_set("d") ? given.number("d") : 1 - a - b - c;
  if (d < -1e-9 || std::fabs(a + b + c + d - 1) > 1e-6) {
    given.refuse_all("the probabilities a, b, c, d must add up to 1");
  }
  const auto threshold = [](double probability) {
    return static_cast<std::uint64_t>(
        std::llround(std::min(1.0, std::max(0.0, probability)) * 0x1p32));
  };
  return {given.index("scale"), threshold(c + d), threshold(a + b > 0 ? b / (a + b) : 0),
          threshold(c + d > 0 ? d / (c + d) : 0)};
}

Offset edges_to_draw(const Parameters& given, Index n) {
  if (given.is_set("edges") && given.is_given("edge_factor")) {
    given.refuse_all("edges and edge_factor both say how many edges are drawn; give one");
  }
  return given.is_set("edges") ? given.integer("edges")
                               : std::llround(given.number("edge_factor") * n);
}

/// Ids in the order of the rule's bits, or anywhere.
struct ShuffledIds {
  ShuffledIds(Index n, bool is_shuffled, std::uint64_t seed)
      : of_item(is_shuffled ? random_order(n, random_word(seed, kIds)) : Buffer<Index>()) {}

  Index operator()(Index item) const { return of_item.size() > 0 ? of_item[item] : item; }
  Buffer<Index> inverse() const {
    Buffer<Index> items(of_item.size());
    for (Offset item = 0; item < items.size(); ++item) {
      items[of_item[item]] = static_cast<Index>(item);
    }
    return items;
  }

  Buffer<Index> of_item;  // empty: its own number
};

/// Where the edges of every row begin.
Buffer<Offset> count_rows(const EdgeRule& rule, Index n, Offset edges, const ShuffledIds& id_of,
                          std::uint64_t salt) {
  Buffer<Offset> offsets(Offset{n} + 1);
  std::fill(offsets.begin(), offsets.end(), Offset{0});
#pragma omp parallel for schedule(static)
  for (Offset edge = 0; edge < edges; ++edge) {
    const Index row = rule.row(RandomStream(salt, static_cast<std::uint64_t>(edge)));
#pragma omp atomic
    ++offsets[id_of(row) + 1];
  }
  for (Index row = 0; row < n; ++row) offsets[row + 1] += offsets[row];
  return offsets;
}

/// Every row's columns, sorted, each once: the first `lengths` of its room.
void draw_columns(const EdgeRule& rule, const Buffer<Offset>& offsets, const ShuffledIds& id_of,
                  std::uint64_t salt, Buffer<Index>* drawn, Buffer<Index>* lengths) {
  const Buffer<Index> item_of_id = id_of.inverse();
  const auto n = static_cast<Index>(lengths->size());
#pragma omp parallel for schedule(dynamic, 512)
  for (Index id = 0; id < n; ++id) {
    const Index row = item_of_id.size() > 0 ? item_of_id[id] : id;
    RandomStream random(salt, static_cast<std::uint64_t>(row));
    Index* begin = drawn->data() + offsets[id];
    Index* end = drawn->data() + offsets[id + 1];
    for (Index* out = begin; out < end; ++out) *out = id_of(rule.col(random, row));
    std::sort(begin, end);
    (*lengths)[id] = static_cast<Index>(std::unique(begin, end) - begin);
  }
}

CsrPattern drawn_pattern(const EdgeRule& rule, Index n, Offset edges, bool is_shuffled,
                         std::uint64_t seed) {
  const ShuffledIds id_of(n, is_shuffled, seed);
  const Buffer<Offset> offsets = count_rows(rule, n, edges, id_of, random_word(seed, kRows));
  Buffer<Index> drawn(edges), lengths(n);
  draw_columns(rule, offsets, id_of, random_word(seed, kCols), &drawn, &lengths);
  CsrPattern pattern{offsets_of(lengths), Buffer<Index>()};
  pattern.col_indices = Buffer<Index>(pattern.row_offsets[n]);
#pragma omp parallel for schedule(dynamic, 4096)
  for (Index id = 0; id < n; ++id) {
    std::copy_n(drawn.data() + offsets[id], lengths[id],
                pattern.col_indices.data() + pattern.row_offsets[id]);
  }
  return pattern;
}

}  // namespace

std::vector<Parameter> rmat_parameters() {
  using namespace parameter;
  return {
      integer("scale", "", 0, 30, "2^scale rows and columns"),
      integer("edges", "auto", 0, Offset{1} << 40,
              "edges drawn, repeated ones then merge; auto = edge_factor * 2^scale"),
      number("edge_factor", "16", 0, 1e9, "edges per row where edges is auto"),
      number("a", "0.57", 0, 1, "probability of the upper left quadrant"),
      number("b", "0.19", 0, 1, "upper right"),
      number("c", "0.19", 0, 1, "lower left"),
      number("d", "auto", 0, 1, "lower right; auto = 1 - a - b - c"),
      flag("undirected", "no", "yes: symmetric pattern and values, no diagonal"),
      flag("shuffle", "yes", "no: ids as they come, low ones in most edges"),
  };
}

CsrMatrix generate_rmat(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const auto n = static_cast<Index>(Index{1} << given.index("scale"));
  const Offset edges = edges_to_draw(given, n);
  const EdgeRule rule = edge_rule(given);
  require_room(n, edges + 3 * Offset{n}, sizeof(Index));  // drawn, and three numbers of every id
  CsrPattern drawn = drawn_pattern(rule, n, edges, given.flag("shuffle"), request.seed);
  if (!given.flag("undirected")) {
    return finish_matrix(n, n, std::move(drawn.row_offsets), std::move(drawn.col_indices), request,
                         ValueRule::independent);
  }
  const CsrMatrix directed(n, n, std::move(drawn.row_offsets), std::move(drawn.col_indices),
                           ValueArray());
  Offset found = 0;
  CsrPattern pattern = symmetric_pattern(directed, -1, false, 0, &found);
  return finish_matrix(n, n, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::symmetric);
}

}  // namespace csrkit
