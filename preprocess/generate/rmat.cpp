// rmat: the recursive matrix of Chakrabarti, Zhan and Faloutsos (2004), without an edge list.
//
// An edge chooses its row and column bit by bit, with the probabilities a b / c d of the quadrants.
// The row bits are independent coin flips, and so are the column bits once the row is known. So the
// rows of all edges are counted first, and then every row draws its own columns. The distribution
// is the same, no sort of all edges is needed, and each row is a pure function of the seed.
#include <algorithm>
#include <cmath>

#include "core/base/hash.h"
#include "preprocess/generate/csr_builder.h"

namespace csrkit {

namespace {
enum Stream : std::uint64_t { kRows = 401, kCols, kIds };
}

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
  const int scale = given.index("scale");
  const auto n = static_cast<Index>(Index{1} << scale);
  if (given.is_set("edges") && given.is_given("edge_factor")) {
    given.refuse_all("edges and edge_factor both say how many edges are drawn; give one");
  }
  const Offset edges = given.is_set("edges") ? given.integer("edges")
                                             : std::llround(given.number("edge_factor") * n);
  const double a = given.number("a"), b = given.number("b"), c = given.number("c");
  const double d = given.is_set("d") ? given.number("d") : 1 - a - b - c;
  if (d < -1e-9 || std::fabs(a + b + c + d - 1) > 1e-6) {
    given.refuse_all("the probabilities a, b, c, d must add up to 1");
  }
  const bool is_undirected = given.flag("undirected"), is_shuffled = given.flag("shuffle");

  const auto threshold = [](double probability) {  // compare with 32 random bits
    return static_cast<std::uint64_t>(
        std::llround(std::min(1.0, std::max(0.0, probability)) * 0x1p32));
  };
  const std::uint64_t lower_row = threshold(c + d);
  const std::uint64_t right_if_upper = threshold(a + b > 0 ? b / (a + b) : 0);
  const std::uint64_t right_if_lower = threshold(c + d > 0 ? d / (c + d) : 0);
  require_room(n, edges + 3 * Offset{n}, sizeof(Index));  // drawn, and three numbers of every id
  const Buffer<Index> ids =
      is_shuffled ? random_order(n, random_word(request.seed, kIds)) : Buffer<Index>();
  const auto id_of = [&](Index item) { return is_shuffled ? ids[item] : item; };

  // Rows of all edges, counted by final id.
  Buffer<Offset> offsets(Offset{n} + 1);
  std::fill(offsets.begin(), offsets.end(), Offset{0});
  const std::uint64_t row_salt = random_word(request.seed, kRows);
#pragma omp parallel for schedule(static)
  for (Offset edge = 0; edge < edges; ++edge) {
    RandomStream random(row_salt, static_cast<std::uint64_t>(edge));
    Index row = 0;
    std::uint64_t word = 0;
    for (int bit = 0; bit < scale; ++bit) {
      word = bit % 2 == 0 ? random.next() : word >> 32;
      row = row * 2 + ((word & 0xffffffffu) < lower_row);
    }
#pragma omp atomic
    ++offsets[id_of(row) + 1];
  }
  for (Index row = 0; row < n; ++row) offsets[row + 1] += offsets[row];

  Buffer<Index> item_of_id(is_shuffled ? n : 0);
  for (Offset item = 0; item < item_of_id.size(); ++item)
    item_of_id[ids[item]] = static_cast<Index>(item);
  Buffer<Index> drawn(edges), lengths(n);
  const std::uint64_t col_salt = random_word(request.seed, kCols);
#pragma omp parallel for schedule(dynamic, 512)
  for (Index id = 0; id < n; ++id) {
    const Index row = is_shuffled ? item_of_id[id] : id;
    RandomStream random(col_salt, static_cast<std::uint64_t>(row));
    Index* begin = drawn.data() + offsets[id];
    Index* end = drawn.data() + offsets[id + 1];
    for (Index* out = begin; out < end; ++out) {
      Index col = 0;
      std::uint64_t word = 0;
      for (int bit = 0; bit < scale; ++bit) {
        word = bit % 2 == 0 ? random.next() : word >> 32;
        const bool is_lower = row >> (scale - 1 - bit) & 1;
        col = col * 2 + ((word & 0xffffffffu) < (is_lower ? right_if_lower : right_if_upper));
      }
      *out = id_of(col);
    }
    std::sort(begin, end);
    lengths[id] = static_cast<Index>(std::unique(begin, end) - begin);
  }

  Buffer<Offset> row_offsets = offsets_of(lengths);
  Buffer<Index> cols(row_offsets[n]);
#pragma omp parallel for schedule(dynamic, 4096)
  for (Index id = 0; id < n; ++id) {
    std::copy_n(drawn.data() + offsets[id], lengths[id], cols.data() + row_offsets[id]);
  }
  if (!is_undirected) {
    return finish_matrix(n, n, std::move(row_offsets), std::move(cols), request,
                         ValueRule::independent);
  }
  drawn = Buffer<Index>();
  const CsrMatrix directed(n, n, std::move(row_offsets), std::move(cols), ValueArray());
  Offset found = 0;
  CsrPattern pattern = symmetric_pattern(directed, -1, false, 0, &found);
  return finish_matrix(n, n, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::symmetric);
}

}  // namespace csrkit
