// rmat: the recursive matrix of Chakrabarti, Zhan and Faloutsos (2004), without an edge list.
//
// An edge chooses its row and column bit by bit, with the probabilities a b / c d of the quadrants.
// The row bits alone are independent coin flips, and so are the column bits once the row is known:
// the rows of all edges are counted first, then every row draws its own columns. That is the same
// distribution, needs no sort of all edges, and makes each row a pure function of the seed.
#include <algorithm>
#include <cmath>

#include "core/hash.h"
#include "preprocess/generate/csr_builder.h"

namespace csrkit {

namespace {
enum Stream : std::uint64_t { kRows = 401, kCols, kIds };
}

std::vector<GenerateParameter> rmat_parameters() {
  return {
      {"scale", "", "2^scale rows and columns"},
      {"edges", "auto", "edges drawn, repeated ones then merge; auto = edge_factor * 2^scale"},
      {"edge_factor", "16", "edges per row where edges is auto"},
      {"a", "0.57", "probability of the upper left quadrant"},
      {"b", "0.19", "upper right"},
      {"c", "0.19", "lower left"},
      {"d", "auto", "lower right; auto = 1 - a - b - c"},
      {"undirected", "no", "yes: symmetric pattern and values, no diagonal"},
      {"shuffle", "yes", "no: ids as they come, low ones in most edges"},
  };
}

CsrMatrix generate_rmat(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const int scale = given.index("scale", 0, 30);
  const auto n = static_cast<Index>(Index{1} << scale);
  const Offset most = Offset{1} << 40;
  const Offset edges = given.text("edges") == "auto"
                           ? std::llround(given.real("edge_factor", 0, 1e9) * n)
                           : given.integer("edges", 0, most);
  const double a = given.real("a", 0, 1), b = given.real("b", 0, 1), c = given.real("c", 0, 1);
  const double d = given.text("d") == "auto" ? 1 - a - b - c : given.real("d", 0, 1);
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
