// communities: planted communities, row lengths from a distribution, exactly nnz entries.
#include <algorithm>
#include <cmath>

#include "core/hash.h"
#include "preprocess/generate/column_model.h"
#include "preprocess/generate/row_length_model.h"

namespace csrkit {

namespace {

enum Stream : std::uint64_t { kLengths = 101, kColumns, kThinning };

/// Every vertex draws about half of its neighbours, A is the union of both directions, thinned to
/// exactly the edges asked for. Draws that meet from both ends make one edge, so somewhat more are
/// drawn than needed; where the estimate was short, the whole is drawn again with more.
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

}  // namespace

std::vector<GenerateParameter> communities_parameters() {
  std::vector<GenerateParameter> parameters = {
      {"n", "", "rows, and columns unless cols is given"},
      {"cols", "auto", "columns; auto = n"},
      {"nnz", "auto", "entries, exactly; auto = n * mean"},
      {"mean", "10", "mean row length where nnz is auto"},
      {"lengths", "lognormal", "distribution of the row lengths: lognormal, pareto, constant"},
      {"spread", "1", "lengths=lognormal: standard deviation / mean"},
      {"exponent", "2.3", "lengths=pareto: the density falls with length^-exponent"},
      {"shortest", "1", "no row is shorter"},
      {"longest", "auto", "no row is longer; auto = n - 1"},
      {"undirected", "no", "yes: symmetric pattern and values; row lengths then hold on average"},
  };
  for (const GenerateParameter& parameter : column_model_parameters()) {
    parameters.push_back(parameter);
  }
  return parameters;
}

CsrMatrix generate_communities(const PatternRequest& request) {
  const Parameters& given = request.parameters;
  const Index n = given.index("n", 0);
  ColumnModel model = column_model_of(given);
  const bool is_undirected = given.flag("undirected");
  const Index cols = given.text("cols") == "auto" ? n : given.index("cols", 0);
  if (is_undirected && cols != n) given.refuse("cols", "n where undirected=yes");
  const Index room = model.diagonal == ColumnModel::Diagonal::never ? std::max(0, cols - 1) : cols;
  const bool has_longest = given.text("longest") != "auto";
  const Index longest = has_longest ? given.index("longest", 0) : room;
  if (longest > room) given.refuse("longest", "at most " + std::to_string(room) + " here");
  const Index least = model.diagonal == ColumnModel::Diagonal::always ? 1 : 0;
  const Index shortest = std::max(least, std::min(longest, given.index("shortest", 0)));

  Offset nnz = 0;
  if (given.text("nnz") == "auto") {
    nnz = std::llround(given.real("mean", 0, 1e9) * n);
    if (is_undirected) nnz -= (nnz - Offset{least} * n) & 1;
  } else {
    nnz = given.integer("nnz", 0, std::int64_t{1} << 52);
  }
  if (nnz < Offset{shortest} * n || nnz > Offset{longest} * n) {
    given.refuse_all(std::to_string(nnz) + " entries do not fit " + std::to_string(n) +
                     " rows of " + std::to_string(shortest) + " to " + std::to_string(longest) +
                     " entries");
  }
  if (is_undirected && model.diagonal == ColumnModel::Diagonal::allowed) {
    given.refuse("diagonal", "never or always where undirected=yes");
  }
  if (is_undirected && (nnz - Offset{least} * n) % 2 != 0) {
    given.refuse_all(
        "undirected=yes stores every edge twice, so nnz without the diagonal must be even");
  }

  const int kind = given.choice("lengths", {"lognormal", "pareto", "constant"});
  std::vector<double> shape(static_cast<std::size_t>(n), 1.0);
  if (kind == 0) shape = lognormal_quantiles(n, given.real("spread", 0, 100));
  if (kind == 1)
    shape = pareto_quantiles(n, given.real("exponent", 1.01, 100), std::max(1, longest));
  const double mean = n > 0 ? static_cast<double>(nnz) / n : 0;
  // A longest row that was asked for is reached, if the rest still fits.
  const bool reach = has_longest && kind != 2 && n > 1 && longest > mean &&
                     nnz - longest >= Offset{shortest} * (n - 1);
  Buffer<Index> lengths = fit_lengths(shape, nnz, shortest, longest, reach);
  place_lengths(&model, &lengths, random_word(request.seed, kLengths));

  if (is_undirected) return undirected(request, model, lengths, (nnz - Offset{least} * n) / 2);
  const ColumnDrawer drawer(model, n, cols, lengths, random_word(request.seed, kColumns));
  CsrPattern pattern = drawer.draw(lengths, request.progress);
  return finish_matrix(n, cols, std::move(pattern.row_offsets), std::move(pattern.col_indices),
                       request, ValueRule::independent);
}

}  // namespace csrkit
