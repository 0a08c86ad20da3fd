#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/suggestion.h"
#include "core/base/team.h"
#include "preprocess/reorder/method.h"

namespace csrkit {

namespace reorder {

#define CSRKIT_METHOD(function, ...) \
  Ordering function(const CsrMatrix& matrix, const MethodRequest& request);
#define CSRKIT_METIS_METHOD CSRKIT_METHOD
#include "preprocess/reorder/methods.inc"
#undef CSRKIT_METHOD
#undef CSRKIT_METIS_METHOD

}  // namespace reorder

namespace {

struct Row {
  ReorderMethod method;
  Ordering (*make)(const CsrMatrix&, const reorder::MethodRequest&);  // null: not built
};

std::vector<Row> table() {
  using namespace parameter;
  const Parameter time_limit =
      number("time-limit", "none", 1e-6, 1e9, "give up after so many seconds");
  std::vector<Row> rows = {
#define CSRKIT_METHOD(function, ...) {{__VA_ARGS__}, reorder::function},
#ifdef CSRKIT_HAVE_METIS
#define CSRKIT_METIS_METHOD CSRKIT_METHOD
#else
#define CSRKIT_METIS_METHOD(function, ...) {{__VA_ARGS__}, nullptr},
#endif
#include "preprocess/reorder/methods.inc"
#undef CSRKIT_METHOD
#undef CSRKIT_METIS_METHOD
  };
  for (Row& row : rows) row.method.is_available = row.make != nullptr;
  return rows;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = table();
  return all;
}

const Row& find_row(const std::string& name) {
  std::string names;
  for (const Row& row : rows()) {
    if (name == row.method.name) return row;
    names += names.empty() ? row.method.name : std::string(", ") + row.method.name;
  }
  throw UsageError("there is no ordering called '" + name + "'; there are " + names +
                   did_you_mean(name, names));
}

void require_applicable(const ReorderMethod& method, const CsrMatrix& matrix) {
  const std::string name = method.name;
  if (!method.is_available) {
    throw UsageError(name + " is not available: this csrkit was built without METIS; install it " +
                     "(Debian and Ubuntu: libmetis-dev, conda: metis) and build with " +
                     "-DCSRKIT_METIS=ON, or try community, rcm or degree");
  }
  if (method.needs_square() && matrix.rows() != matrix.cols()) {
    throw UsageError(name + " divides the graph of A + A^T and so needs a square matrix; this " +
                     "one is " + std::to_string(matrix.rows()) + " x " +
                     std::to_string(matrix.cols()) +
                     "; community and rcm take it as the bipartite graph of its rows and "
                     "columns, row-similarity by its rows");
  }
  if (method.takes == Takes::graph && matrix.rows() != matrix.cols() &&
      matrix.rows() > kMaxIndex - matrix.cols()) {
    throw UsageError(name + " numbers rows and columns of a rectangular matrix together; these " +
                     std::to_string(Offset{matrix.rows()} + matrix.cols()) + " are more than " +
                     std::to_string(kMaxIndex) + "; row-similarity looks at rows alone");
  }
}

void require_memory(const ReorderMethod& method, const CsrMatrix& matrix,
                    const ReorderOptions& options) {
  const int threads = team_size(0);
  const std::uint64_t bytes =
      forecast_reorder(method, matrix.rows(), matrix.cols(), matrix.nnz(), threads).bytes;
  if (bytes > options.memory_limit_bytes) {
    throw MemoryError(std::string(method.name) + " is expected to take " + counted(bytes, "byte") +
                      " beside the matrix, more than the limit of " +
                      std::to_string(options.memory_limit_bytes) +
                      "; raise the limit, or try degree, which takes " +
                      std::to_string(forecast_reorder(find_reorder_method("degree"), matrix.rows(),
                                                      matrix.cols(), matrix.nnz(), threads)
                                         .bytes));
  }
  // METIS methods first say whether METIS can count that far, and then do this themselves.
  if (method.takes != Takes::square) {
    require_available_memory(bytes, method.name, "degree needs far less");
  }
}

}  // namespace

Ordering make_ordering(const std::string& method, const CsrMatrix& matrix,
                       const ReorderOptions& options) {
  const Row& row = find_row(method);
  require_applicable(row.method, matrix);
  const Parameters parameters = parameters_of(reorder_methods(), row.method, options.parameters);
  require_memory(row.method, matrix, options);
  return row.make(matrix, {parameters, options.seed, options.progress});
}

const std::vector<ReorderMethod>& reorder_methods() {
  static const std::vector<ReorderMethod> methods = [] {
    std::vector<ReorderMethod> all;
    for (const Row& row : rows()) all.push_back(row.method);
    return all;
  }();
  return methods;
}

const ReorderMethod& find_reorder_method(const std::string& name) { return find_row(name).method; }

ReorderForecast forecast_reorder(const ReorderMethod& method, Index rows, Index cols, Offset nnz,
                                 int threads, bool is_symmetric) {
  const bool is_bipartite = method.takes == Takes::graph && rows != cols;
  const double items = static_cast<double>(is_bipartite ? Offset{rows} + cols : Offset{rows});
  // A bipartite graph holds every entry twice; for the time of a square matrix, a symmetric pattern
  // is assumed, for its memory never.
  const double entries = (is_bipartite ? 2.0 : 1.0) * static_cast<double>(nnz);
  ReorderForecast forecast;
  forecast.seconds = 1e-9 * (method.ns_per_entry * entries + method.ns_per_row * items) /
                     (method.is_parallel ? std::max(1, threads) : 1);
  const bool is_graph = method.takes != Takes::any;
  const double edges = (is_graph && !is_symmetric ? 2.0 : 1.0) * static_cast<double>(nnz);
  const double capped =
      std::min(method.capped_bytes_per_entry * edges, method.cap_bytes_per_row * items);
  // A group that has no edges (left) stays one on every level of groups. So many have none if edges
  // fall anywhere.
  constexpr double kBytesPerLonely = 90;
  const bool makes_levels = is_graph && method.capped_bytes_per_entry > 0 && items > 0;
  const double lonely = makes_levels ? items * std::exp(-edges / items) : 0;
  const double further_cols = std::max(0.0, static_cast<double>(cols) - rows);
  const double rooms = static_cast<double>(std::clamp(threads, 1, kMostOwnRooms) - 1) *
                       static_cast<double>(std::min<Offset>(rows, nnz));
  forecast.bytes = static_cast<std::uint64_t>(
      method.bytes_per_entry * edges + method.bytes_per_row * items + capped +
      method.bytes_per_further_col * further_cols + method.bytes_per_thread_and_row * rooms +
      kBytesPerLonely * lonely);
  return forecast;
}

}  // namespace csrkit
