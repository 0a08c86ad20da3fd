// What the tests of this folder share.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "preprocess/generate/generate.h"

namespace csrkit {

using ParameterMap = std::map<std::string, std::string>;

inline CsrMatrix make(const std::string& pattern, const ParameterMap& parameters,
                      std::uint64_t seed = 1, ValueKind kind = ValueKind::f32) {
  GenerateOptions options;
  options.pattern = pattern;
  options.parameters = parameters;
  options.seed = seed;
  options.value_kind = kind;
  return generate_matrix(options);
}

/// The text of the UsageError that this must throw; "" if it does not.
inline std::string refusal(const std::string& pattern, const ParameterMap& parameters) {
  try {
    make(pattern, parameters);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

inline std::vector<Index> row_of(const CsrMatrix& matrix, Index row) {
  return {matrix.col_indices() + matrix.row_offsets()[row],
          matrix.col_indices() + matrix.row_offsets()[row + 1]};
}

inline std::vector<double> values_of(const CsrMatrix& matrix, Index row) {
  std::vector<double> values;
  matrix.visit([&](auto view) {
    for (Offset at = view.row_offsets[row]; at < view.row_offsets[row + 1]; ++at) {
      values.push_back(view.template value_as<double>(at));
    }
  });
  return values;
}

inline std::vector<Offset> sorted_row_lengths(const CsrMatrix& matrix) {
  std::vector<Offset> lengths;
  for (Index row = 0; row < matrix.rows(); ++row) lengths.push_back(matrix.row_length(row));
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

inline bool same_pattern(const CsrMatrix& a, const CsrMatrix& b) {
  return identical(convert_values(a, ValueKind::none), convert_values(b, ValueKind::none));
}

}  // namespace csrkit
