// The command line of csr-density.
#pragma once

#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "tools/info/spy_picture.h"

namespace csrkit {

/// Rows [row, row_end) and columns [col, col_end).
struct Rectangle {
  Index row, row_end, col, col_end;
};

struct DensityToolOptions {
  std::string input;
  CsrReadOptions read;
  Index grid_rows = 0, grid_cols = 0;
  std::vector<Rectangle> rectangles;
  Index densest = 0;
  Index row_parts = 0, col_parts = 0;
  SpyOptions picture;
  bool is_gpu = false;
  bool as_json = false;
};

/// Throws UsageError; prints and throws Finished for --help and --version.
DensityToolOptions parse_density_options(int argc, const char* const* argv);

}  // namespace csrkit
