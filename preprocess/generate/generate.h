// Synthetic matrices: seeded, parallel, the same bits for any thread count.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/csr_matrix.h"
#include "core/progress.h"

namespace csrkit {

/// Parameters by name, as given on the command line ("scale" -> "20"). Every pattern documents its
/// own (GeneratePattern::parameters); an unknown name or a bad value throws UsageError.
struct GenerateOptions {
  std::string pattern;  // a name from generate_patterns()
  std::map<std::string, std::string> parameters;
  std::uint64_t seed = 1;
  ValueKind value_kind = ValueKind::f32;  // none, or random values (stencils keep their own)
  ProgressCallback progress;              // must not throw
};

/// The result is a pure function of pattern, parameters, seed and value kind.
CsrMatrix generate_matrix(const GenerateOptions& options);

struct GenerateParameter {
  const char* name;
  const char* default_value;  // "" = must be given
  const char* summary;
};

/// One row of preprocess/generate/patterns.inc.
struct GeneratePattern {
  const char* name;
  const char* summary;
  std::vector<GenerateParameter> parameters;
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
