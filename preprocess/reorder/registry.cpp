#include <algorithm>
#include <string>

#include "preprocess/reorder/reorder.h"

namespace csrkit {

namespace reorder {

#define CSRKIT_METHOD(function, name, needs_square, summary) \
  Ordering function(const CsrMatrix& matrix, const ReorderOptions& options);
#define CSRKIT_METIS_METHOD CSRKIT_METHOD
#include "preprocess/reorder/methods.inc"
#undef CSRKIT_METHOD
#undef CSRKIT_METIS_METHOD

}  // namespace reorder

namespace {

struct Row {
  ReorderMethod method;
  Ordering (*make)(const CsrMatrix&, const ReorderOptions&);  // null: not built
};

const Row kRows[] = {
#define CSRKIT_METHOD(function, name, needs_square, summary) \
  {{name, needs_square, true, summary}, reorder::function},
#ifdef CSRKIT_HAVE_METIS
#define CSRKIT_METIS_METHOD CSRKIT_METHOD
#else
#define CSRKIT_METIS_METHOD(function, name, needs_square, summary) \
  {{name, needs_square, false, summary}, nullptr},
#endif
#include "preprocess/reorder/methods.inc"
#undef CSRKIT_METHOD
#undef CSRKIT_METIS_METHOD
};

const Row& find_row(const std::string& name) {
  std::string names;
  for (const Row& row : kRows) {
    if (name == row.method.name) return row;
    names += names.empty() ? row.method.name : std::string(", ") + row.method.name;
  }
  throw UsageError("there is no ordering called '" + name + "'; there are " + names);
}

void require_applicable(const ReorderMethod& method, const CsrMatrix& matrix,
                        const ReorderOptions& options) {
  const std::string name = method.name;
  if (!method.is_available) {
    throw UsageError(name + " is not available: this csrkit was built without METIS; install it " +
                     "(Debian and Ubuntu: libmetis-dev, conda: metis) and build with " +
                     "-DCSRKIT_METIS=ON, or try rcm or degree");
  }
  if (method.needs_square && matrix.rows() != matrix.cols()) {
    throw UsageError(name + " orders the vertices of a graph and so needs a square matrix; this " +
                     "one is " + std::to_string(matrix.rows()) + " x " +
                     std::to_string(matrix.cols()) + "; degree and random take any shape");
  }
  if (options.descending && name != "degree") {
    throw UsageError(name + " has no descending order; only degree has");
  }
  if (options.parts != 0 && name != "metis-partition") {
    throw UsageError(name + " makes no parts; only metis-partition does");
  }
  if (options.parts < 0) {
    throw UsageError("the number of parts is " + std::to_string(options.parts) +
                     "; it must be at least 1, or 0 for the default");
  }
}

}  // namespace

Ordering make_ordering(const std::string& method, const CsrMatrix& matrix,
                       const ReorderOptions& options) {
  const Row& row = find_row(method);
  require_applicable(row.method, matrix, options);
  return row.make(matrix, options);
}

const std::vector<ReorderMethod>& reorder_methods() {
  static const std::vector<ReorderMethod> methods = [] {
    std::vector<ReorderMethod> all;
    for (const Row& row : kRows) all.push_back(row.method);
    return all;
  }();
  return methods;
}

}  // namespace csrkit
