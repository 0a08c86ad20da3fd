// Parameters of a generator: read from text once, checked by name and by range.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/types.h"
#include "preprocess/generate/generate.h"

namespace csrkit {

/// The parameters of one pattern with its defaults filled in. Every getter throws UsageError that
/// names the pattern, the parameter, what was given and what is allowed.
class Parameters {
 public:
  /// Throws UsageError on an unknown name or where one without default is missing.
  Parameters(const std::string& pattern, const std::vector<GenerateParameter>& known,
             const std::map<std::string, std::string>& given);

  const std::string& text(const std::string& name) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  Index index(const std::string& name, Index least, Index most = kMaxIndex) const {
    return static_cast<Index>(integer(name, least, most));
  }
  double real(const std::string& name, double least, double most) const;
  bool flag(const std::string& name) const;
  /// The position of the given word in `words`.
  int choice(const std::string& name, const std::vector<std::string>& words) const;
  /// Numbers separated by commas; at least one.
  std::vector<Index> index_list(const std::string& name, Index least, Index most) const;

  [[noreturn]] void refuse(const std::string& name, const std::string& expected) const;
  [[noreturn]] void refuse_all(const std::string& reason) const;

 private:
  std::string pattern_;
  std::map<std::string, std::string> values_;
};

/// What every pattern gets.
struct PatternRequest {
  const Parameters& parameters;
  std::uint64_t seed;
  ValueKind value_kind;
  const ProgressCallback& progress;
};

}  // namespace csrkit
