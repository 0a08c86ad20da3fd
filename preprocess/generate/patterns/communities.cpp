// communities: planted communities, row lengths from a distribution, exactly nnz entries.
#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/hash.h"
#include "preprocess/generate/drawn_rows/column_drawer.h"
#include "preprocess/generate/drawn_rows/row_length_model.h"

namespace csrkit {

namespace {

enum Stream : std::uint64_t { kLengths = 101, kColumns, kThinning };

/// Every vertex draws about half of its neighbours. A is the union of both directions, thinned to
/// exactly the number of edges asked for. An edge drawn from both ends counts once, so more are
/// drawn than needed. If that is still too few, everything is drawn again with a larger factor.
CsrMatrix undirected(const PatternRequest& request, const ColumnModel& model,
                     const Buffer<Index>& lengths, Offset edges) {
  const auto n = static_cast<Index>(lengths.size());
  const bool add_diagonal = model.diagonal == ColumnModel::Diagonal::always;
  ColumnModel off_diagonal = model;
  off_diagonal.diagonal = ColumnModel::Diagonal::never;
  const ColumnDrawer drawer(off_diagonal, n, n, lengths, random_word(request.seed, kColumns));
  const std::uint64_t thinning = random_word(request.seed, kThinning);

  Buffer<Index> half(n);
  double factor = 0.5;
  const auto set_half = [&] {
    RandomStream random(request.seed, kLengths);
    for (Index p = 0; p < n; ++p) {
      const double wanted = (lengths[p] - (add_diagonal ? 1 : 0)) * factor + random.unit();
      half[p] = static_cast<Index>(std::min<double>(n - 1, std::max(0.0, wanted)));
    }
  };
  set_half();
  const double meetings = drawer.expected_meetings(half);
  const double wanted_edges = std::max(1.0, static_cast<double>(edges));
  factor *= (wanted_edges + 1.5 * meetings) * 1.03 / wanted_edges;
  for (;;) {
    set_half();
    CsrPattern half_pattern = drawer.draw(half, request.progress);
    const CsrMatrix drawn(n, n, std::move(half_pattern.row_offsets),
                          std::move(half_pattern.col_indices), ValueArray());
    Offset found = 0;
    CsrPattern pattern = symmetric_pattern(drawn, edges, add_diagonal, thinning, &found);
    if (found >= edges) {
      return finish_matrix(n, n, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                           request, ValueRule::symmetric);
    }
    // Terminates: rows saturate at n - 1 neighbours, and then every edge is there.
    factor *= std::max(1.1, 1.05 * wanted_edges / std::max(1.0, static_cast<double>(found)));
  }
}

/// nnz as given, or of the mean row length: even without the diagonal if every edge is there twice.
Offset wanted_nnz(const Parameters& given, Index n, bool is_undirected, Offset diagonal_entries) {
  if (given.is_set("nnz")) {
    if (given.is_given("mean")) {
      given.refuse_all("nnz and mean both say how many entries there are; give one");
    }
    return given.integer("nnz");
  }
  const Offset nnz = std::llround(given.number("mean") * n);
  return is_undirected ? nnz - ((nnz - diagonal_entries) & 1) : nnz;
}

}  // namespace

std::vector<Parameter> communities_parameters() {
  using namespace parameter;
  std::vector<Parameter> parameters = {
      integer("n", "", 0, kMaxIndex, "rows, and columns unless cols is given"),
      integer("cols", "auto", 0, kMaxIndex, "columns; auto = n"),
      integer("nnz", "auto", 0, Offset{1} << 52, "entries, exactly; auto = n * mean"),
      number("mean", "10", 0, 1e9, "mean row length where nnz is auto"),
      choice("lengths", "lognormal", {"lognormal", "pareto", "constant"},
             "distribution of the row lengths"),
      number("spread", "1", 0, 100, "lengths=lognormal: standard deviation / mean"),
      number("exponent", "2.3", 1.01, 100,
             "lengths=pareto: the density falls with length^-exponent"),
      integer("shortest", "1", 0, kMaxIndex, "no row is shorter"),
      integer("longest", "auto", 0, kMaxIndex, "no row is longer; auto = n - 1"),
      flag("undirected", "no",
           "yes: symmetric pattern and values; row lengths then hold on average"),
  };
  for (const Parameter& parameter : column_model_parameters()) {
    parameters.push_back(parameter);
  }
  return parameters;
}

CsrMatrix generate_communities(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Index n = given.index("n");
  ColumnModel model = column_model_of(given);
  const bool is_undirected = given.flag("undirected");
  const Index cols = given.is_set("cols") ? given.index("cols") : n;
  if (is_undirected && cols != n) given.refuse("cols", "n where undirected=yes");
  const Index room = model.diagonal == ColumnModel::Diagonal::never ? std::max(0, cols - 1) : cols;
  const bool has_longest = given.is_set("longest");
  const Index longest = has_longest ? given.index("longest") : room;
  if (longest > room) given.refuse("longest", "at most " + std::to_string(room) + " here");
  const Index least = model.diagonal == ColumnModel::Diagonal::always ? 1 : 0;
  if (given.is_given("shortest") && given.index("shortest") > longest) {
    given.refuse("shortest", "at most " + std::to_string(longest) + " here");
  }
  const Index shortest = std::max(least, std::min(longest, given.index("shortest")));
  const int kind = given.choice("lengths");
  if (kind != 0 && given.is_given("spread")) given.refuse_all("spread is for lengths=lognormal");
  if (kind != 1 && given.is_given("exponent")) given.refuse_all("exponent is for lengths=pareto");

  const Offset nnz = wanted_nnz(given, n, is_undirected, Offset{least} * n);
  if (nnz < Offset{shortest} * n || nnz > Offset{longest} * n) {
    given.refuse_all(counted(nnz, "entry") + " do not fit " + counted(n, "row") + " of " +
                     std::to_string(shortest) + " to " + counted(longest, "entry"));
  }
  if (is_undirected && model.diagonal == ColumnModel::Diagonal::allowed) {
    given.refuse("diagonal", "never or always where undirected=yes");
  }
  if (is_undirected && (nnz - Offset{least} * n) % 2 != 0) {
    given.refuse_all(
        "undirected=yes stores every edge twice, so nnz without the diagonal must be even");
  }

  // Beside the matrix a shape, a length and three ids of every row.
  require_room(4 * Offset{n}, nnz, static_cast<int>(sizeof(Index)) + size_of(request.value_kind));
  std::vector<double> shape(static_cast<std::size_t>(n), 1.0);
  if (kind == 0) shape = lognormal_quantiles(n, given.number("spread"));
  if (kind == 1) shape = pareto_quantiles(n, given.number("exponent"), std::max(1, longest));
  const double mean = n > 0 ? static_cast<double>(nnz) / n : 0;
  // The longest row gets the length asked for, if the rest still fits.
  const bool reach = has_longest && kind != 2 && n > 1 && longest > mean &&
                     nnz - longest >= Offset{shortest} * (n - 1);
  Buffer<Index> lengths = fit_lengths(shape, nnz, shortest, longest, reach);
  shape = std::vector<double>();  // as large as A's row offsets
  place_lengths(&model, &lengths, random_word(request.seed, kLengths));

  if (is_undirected) return undirected(request, model, lengths, (nnz - Offset{least} * n) / 2);
  const ColumnDrawer drawer(model, n, cols, lengths, random_word(request.seed, kColumns));
  CsrPattern pattern = drawer.draw(lengths, request.progress);
  return finish_matrix(n, cols, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::independent);
}

}  // namespace csrkit
