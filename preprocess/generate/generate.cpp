#include "preprocess/generate/generate.h"

#include "core/base/suggestion.h"
#include "core/base/text.h"
#include "preprocess/generate/common/pattern.h"

namespace csrkit {

#define CSRKIT_PATTERN(stem, name, summary)                 \
  CsrMatrix generate_##stem(const PatternRequest& request); \
  std::vector<Parameter> stem##_parameters();
#include "preprocess/generate/patterns.inc"
#undef CSRKIT_PATTERN

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
      return makers[i](
          {parameters, options.seed, options.seed_is_given, options.value_kind, options.progress});
    }
    append_item(names, patterns[i].name);
  }
  throw UsageError("no pattern named '" + options.pattern + "'; there are: " + names +
                   did_you_mean(options.pattern, names));
}

}  // namespace csrkit
