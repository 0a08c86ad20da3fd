// Synthetic matrices: seeded, parallel, the same bits for any thread count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/parameters.h"
#include "core/base/progress.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

struct GenerateOptions {
  std::string pattern;         // a name from generate_patterns()
  ParameterValues parameters;  // of that pattern, such as "scale" -> "20"
  std::uint64_t seed = 1;
  bool seed_is_given = false;             // then it is refused where nothing is random
  ValueKind value_kind = ValueKind::f32;  // none, or random values (stencils keep their own)
  ProgressCallback progress;              // must not throw
};

/// The result is a pure function of pattern, parameters, seed and value kind. Throws UsageError for
/// a name or a value that the pattern's table does not allow.
CsrMatrix generate_matrix(const GenerateOptions& options);

/// One row of preprocess/generate/patterns.inc.
struct GeneratePattern {
  const char* name;
  const char* summary;
  std::vector<Parameter> parameters;
};
const std::vector<GeneratePattern>& generate_patterns();

/// A published dataset or matrix class that `pattern=like, name=<dataset>` imitates.
struct LikeDataset {
  const char* name;
  Index rows, cols;
  Offset nnz;               // at scale 1, exact unless like.inc says within 2 percent
  const char* row_lengths;  // "exact histogram" or the model that stands in for it
  const char* summary;
  const char* pattern;  // the pattern and the parameters that make it
  const char* parameters;
  bool is_symmetric;  // the stand-in's pattern is symmetric
};
const std::vector<LikeDataset>& like_datasets();

}  // namespace csrkit
