// erdos-renyi: entries thrown at rows uniformly, distinct columns per row.
#include <algorithm>

#include "core/base/hash.h"
#include "preprocess/generate/drawn_rows/column_drawer.h"

namespace csrkit {

namespace {
enum Stream : std::uint64_t { kLengths = 301, kColumns };
}

std::vector<Parameter> erdos_renyi_parameters() {
  using namespace parameter;
  return {
      integer("rows", "", 0, kMaxIndex, "rows"),
      integer("cols", "auto", 0, kMaxIndex, "columns; auto = as many as rows"),
      integer("nnz", "", 0, Offset{1} << 52, "entries, exactly"),
  };
}

CsrMatrix generate_erdos_renyi(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Index rows = given.index("rows");
  const Index cols = given.is_set("cols") ? given.index("cols") : rows;
  const Offset nnz = given.integer("nnz"), places = Offset{rows} * cols;
  if (nnz > places) given.refuse("nnz", "at most " + std::to_string(places) + " here");

  // Beside the matrix a length and a position of every row.
  require_room(2 * Offset{rows}, nnz,
               static_cast<int>(sizeof(Index)) + size_of(request.value_kind));
  Buffer<Index> lengths(rows);
  std::fill(lengths.begin(), lengths.end(), 0);
  const std::uint64_t salt = random_word(request.seed, kLengths);
#pragma omp parallel for schedule(static)
  for (Offset entry = 0; entry < nnz; ++entry) {
    const auto row = static_cast<Offset>(below(random_word(salt, static_cast<std::uint64_t>(entry)),
                                               static_cast<std::uint64_t>(rows)));
#pragma omp atomic
    ++lengths[row];
  }
  // Where the matrix is nearly full, some rows got more than they can hold: the next ones take it.
  Offset surplus = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (Index row = 0; row < rows; ++row) {
      const Offset wanted = lengths[row] + surplus;
      lengths[row] = static_cast<Index>(std::min<Offset>(wanted, cols));
      surplus = wanted - lengths[row];
    }
  }

  ColumnModel model;
  model.popularity = ColumnModel::Popularity::uniform;
  model.order = ColumnModel::Order::planted;
  model.diagonal = ColumnModel::Diagonal::allowed;
  const ColumnDrawer drawer(model, rows, cols, lengths, random_word(request.seed, kColumns));
  CsrPattern pattern = drawer.draw(lengths, request.progress);
  return finish_matrix(rows, cols, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::independent);
}

}  // namespace csrkit
