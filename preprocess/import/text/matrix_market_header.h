// The first lines of a Matrix Market file: banner, comments, sizes.
#pragma once

#include "core/base/value_kind.h"
#include "preprocess/import/source/line_reader.h"

namespace csrkit {

inline constexpr std::string_view kMarketBanner = "%%matrixmarket";  // in lower case

enum class MarketSymmetry { general, symmetric, skew };

struct MarketHeader {
  bool is_array = false;
  bool is_pattern = false;
  bool is_integer = false;
  MarketSymmetry symmetry = MarketSymmetry::general;
  ValueKind value_kind = ValueKind::f64;
  Offset rows = 0, cols = 0, entries = 0;
};

/// Leaves `lines` at the first entry. Throws InputError with the line and what was expected there.
MarketHeader read_market_header(LineReader& lines);

}  // namespace csrkit
