// A matrix as a picture: how dense each cell of a grid is, on a logarithmic scale.
#pragma once

#include <string>
#include <vector>

#include "core/matrix/csr_matrix.h"
#include "tools/cli/options.h"
#include "tools/cli/report.h"

namespace csrkit {

/// A PNG of 8 bits a pixel with a palette of 256 colours. `pixels` holds rows from the top. Atomic.
void write_png(const std::string& path, Index width, Index height,
               const std::vector<unsigned char>& pixels, const std::vector<unsigned char>& palette);

struct SpyPicture {
  Index width = 0, height = 0;  // pixels
  double palest = 0;            // the density of the palest colour; the darkest is 1
};

/// Draws the matrix with `longer_side` pixels along its longer side, at most one per row or column:
/// white where nothing is, then from pale to dark by the share of places that hold a nonzero.
SpyPicture write_spy_picture(const std::string& path, const CsrMatrix& matrix, Index longer_side);

/// --spy OUT.png and --pixels N.
struct SpyOptions {
  std::string path;  // "" = no picture
  Index pixels = 0;
};
void declare_spy_options(Options& options);
/// Throws UsageError for --pixels alone, and for a picture that would replace `input`.
SpyOptions read_spy_options(const Options& options, const std::string& input);

/// Draws the picture and says where it is.
void add_spy_picture(Report& report, const SpyOptions& picture, const CsrMatrix& matrix);

}  // namespace csrkit
