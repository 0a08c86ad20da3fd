#include "tools/info/spy_picture.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/ending.h"
#include "core/facts/summed_area_table.h"
#include "tools/cli/outputs.h"

namespace csrkit {

namespace {

using Bytes = std::vector<unsigned char>;

void put_big_endian(Bytes& out, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<unsigned char>(number >> shift));
}

void put_chunk(Bytes& out, const char* type, const Bytes& content) {
  put_big_endian(out, static_cast<std::uint32_t>(content.size()));
  Bytes body(type, type + 4);
  body.insert(body.end(), content.begin(), content.end());
  out.insert(out.end(), body.begin(), body.end());
  put_big_endian(
      out, static_cast<std::uint32_t>(::crc32(0, body.data(), static_cast<uInt>(body.size()))));
}

Bytes compressed(const Bytes& raw) {
  uLongf size = ::compressBound(static_cast<uLong>(raw.size()));
  Bytes out(size);
  if (::compress(out.data(), &size, raw.data(), static_cast<uLong>(raw.size())) != Z_OK) {
    throw MemoryError("not enough memory to compress a picture");
  }
  out.resize(size);
  return out;
}

/// White for nothing, then sand to dark blue: even in lightness, and told apart by the
/// colour-blind.
Bytes density_palette() {
  constexpr double kAnchors[][3] = {{225, 204, 85}, {166, 157, 117}, {124, 123, 120},
                                    {87, 93, 109},  {33, 61, 107},   {0, 34, 78}};
  Bytes palette{255, 255, 255};
  for (int i = 1; i < 256; ++i) {
    const double place = (i - 1) / 254.0 * 5;
    const int anchor = std::min(static_cast<int>(place), 4);
    for (int channel = 0; channel < 3; ++channel) {
      const double from = kAnchors[anchor][channel], to = kAnchors[anchor + 1][channel];
      palette.push_back(
          static_cast<unsigned char>(std::lround(from + (to - from) * (place - anchor))));
    }
  }
  return palette;
}

}  // namespace

void write_png(const std::string& path, Index width, Index height, const Bytes& pixels,
               const Bytes& palette) {
  Bytes out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  Bytes header;
  put_big_endian(header, static_cast<std::uint32_t>(width));
  put_big_endian(header, static_cast<std::uint32_t>(height));
  for (const unsigned char byte : {8, 3, 0, 0, 0}) header.push_back(byte);  // 8 bits, palette
  put_chunk(out, "IHDR", header);
  put_chunk(out, "PLTE", palette);
  Bytes lines;
  lines.reserve(pixels.size() + static_cast<std::size_t>(height));
  for (Index row = 0; row < height; ++row) {
    lines.push_back(0);  // no filter
    const auto begin = pixels.begin() + static_cast<std::ptrdiff_t>(row) * width;
    lines.insert(lines.end(), begin, begin + width);
  }
  put_chunk(out, "IDAT", compressed(lines));
  put_chunk(out, "IEND", {});
  AtomicFile file(path);
  file.write(out.data(), out.size());
  file.commit();
}

SpyPicture write_spy_picture(const std::string& path, const CsrMatrix& matrix, Index longer_side) {
  const double longer = std::max({matrix.rows(), matrix.cols(), Index{1}});
  const auto pixels_of = [&](Index size) {
    return std::max<Index>(1, static_cast<Index>(std::lround(size * (longer_side / longer))));
  };
  const SummedAreaTable table(matrix, pixels_of(matrix.rows()), pixels_of(matrix.cols()));
  SpyPicture picture;
  picture.width = table.grid_cols();
  picture.height = table.grid_rows();
  const double places = std::max(1.0, static_cast<double>(matrix.rows()) / picture.height *
                                          (static_cast<double>(matrix.cols()) / picture.width));
  picture.palest = 1 / places;
  const double scale = picture.palest < 1 ? 254 / -std::log(picture.palest) : 0;
  Bytes pixels;
  pixels.reserve(static_cast<std::size_t>(picture.width) *
                 static_cast<std::size_t>(picture.height));
  for (Index row = 0; row < picture.height; ++row) {
    for (Index col = 0; col < picture.width; ++col) {
      const Offset count = table.count(row, col);
      const double shade = 1 + (scale == 0 ? 254 : scale * std::log(static_cast<double>(count)));
      pixels.push_back(count == 0 ? 0 : static_cast<unsigned char>(std::clamp(shade, 1.0, 255.0)));
    }
  }
  write_png(path, picture.width, picture.height, pixels, density_palette());
  return picture;
}

void declare_spy_options(Options& options) {
  options.value("spy", "OUT.png", "draw where the nonzeros are, the darker the denser")
      .value("pixels", "N", "of the picture's longer side", "800")
      .writes_files();
}

SpyOptions read_spy_options(const Options& options, const std::string& input) {
  constexpr std::int64_t kMaxPixels = 20000;
  SpyOptions picture{options.text("spy"),
                     static_cast<Index>(options.integer("pixels", 1, kMaxPixels))};
  if (options.given("pixels") && picture.path.empty()) {
    throw UsageError("--pixels is for --spy");
  }
  require_outputs(options, {picture.path}, {input});
  require_ending(picture.path, {".png"});
  return picture;
}

void add_spy_picture(Report& report, const SpyOptions& picture, const CsrMatrix& matrix) {
  const SpyPicture spy = write_spy_picture(picture.path, matrix, picture.pixels);
  report.add("picture", "picture",
             Json{{"file", picture.path}, {"width", spy.width}, {"height", spy.height}},
             picture.path + ", " + std::to_string(spy.width) + " x " + std::to_string(spy.height) +
                 " pixels");
}

}  // namespace csrkit
