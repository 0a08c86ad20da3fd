#include "preprocess/generate/generate.h"

#include <algorithm>
#include <cmath>

#include "core/base/suggestion.h"
#include "core/base/text.h"
#include "core/matrix/overflow.h"
#include "preprocess/generate/common/pattern.h"

namespace csrkit {

#define CSRKIT_PATTERN(stem, name, summary)                 \
  CsrMatrix generate_##stem(const PatternRequest& request); \
  std::vector<Parameter> stem##_parameters();
#include "preprocess/generate/patterns.inc"
#undef CSRKIT_PATTERN

namespace {

/// Throws UsageError for a value that the kind cannot hold. The largest follow from the parameters.
void require_finite(const CsrMatrix& matrix, const Parameters& parameters) {
  if (matrix.value_kind() == ValueKind::none) return;
  matrix.visit([&](const auto& a) {
    Offset first = matrix.nnz();
#pragma omp parallel for schedule(static) reduction(min : first)
    for (Offset at = 0; at < matrix.nnz(); ++at) {
      if (!std::isfinite(a.template value_as<double>(at))) first = std::min(first, at);
    }
    if (first == matrix.nnz()) return;
    parameters.refuse_all("expected values that " + std::string(name_of(matrix.value_kind())) +
                          " can hold, found " +
                          place_of(matrix, first, a.template value_as<double>(first)) +
                          "; use a wider --value-kind or other parameters");
  });
}

}  // namespace

const std::vector<GeneratePattern>& generate_patterns() {
  static const std::vector<GeneratePattern> patterns = {
#define CSRKIT_PATTERN(stem, name, summary) {name, summary, stem##_parameters()},
#include "preprocess/generate/patterns.inc"
#undef CSRKIT_PATTERN
  };
  return patterns;
}

CsrMatrix generate_matrix(const GenerateOptions& options) {
  using Make = CsrMatrix (*)(const PatternRequest&);
  static const Make makers[] = {
#define CSRKIT_PATTERN(stem, name, summary) generate_##stem,
#include "preprocess/generate/patterns.inc"
#undef CSRKIT_PATTERN
  };
  const std::vector<GeneratePattern>& patterns = generate_patterns();
  std::string names;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (options.pattern == patterns[i].name) {
      const Parameters parameters = parameters_of(patterns, patterns[i], options.parameters);
      CsrMatrix matrix = makers[i](
          {parameters, options.seed, options.seed_is_given, options.value_kind, options.progress});
      require_finite(matrix, parameters);
      return matrix;
    }
    append_item(names, patterns[i].name);
  }
  throw UsageError("no pattern named '" + options.pattern + "'; there are: " + names +
                   did_you_mean(options.pattern, names));
}

}  // namespace csrkit
