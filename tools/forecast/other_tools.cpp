#include "tools/forecast/other_tools.h"

#include <algorithm>

#include "core/contract/spgemm.h"
#include "core/facts/locality.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {

namespace {

double seconds_to_move(std::uint64_t bytes) {
  constexpr double kReadBytesPerSecond = 2e8;
  return static_cast<double>(bytes) / kReadBytesPerSecond;
}

}  // namespace

std::uint64_t MatrixSizes::bytes() const { return csr_bytes(rows, nnz, kind); }

ToolForecast forecast_import(const MatrixSizes& sizes, int threads) {
  // Coordinates and values as they are read, the same again in order, and the row offsets twice;
  // beside that the text itself, whose pages stay where it is mapped, and what a compressed file
  // is inflated into: a line has 40 bytes if its value has all digits, and there is half as much
  // again of what was inflated ahead. Blocks of text are larger for more than 8 threads, up to 64
  // (line_reader.cpp), and two of them are full at a time.
  const auto value_bytes = static_cast<std::uint64_t>(size_of(sizes.kind));
  const std::uint64_t per_entry =
      2 * (2 * sizeof(Index) + value_bytes) + sizeof(Index) + value_bytes;
  constexpr std::uint64_t kFewestTextBytes = 12ull << 20, kInflaterBytes = 1 << 20;
  constexpr std::uint64_t kTextBytesPerEntry = 60;
  const std::uint64_t most_text_bytes =
      kFewestTextBytes + (static_cast<std::uint64_t>(std::clamp(threads, 8, 64) - 8) << 21);
  constexpr double kSecondsPerEntry = 1e-6;
  const auto entries = static_cast<std::uint64_t>(sizes.nnz);
  ToolForecast forecast;
  forecast.bytes = entries * per_entry +
                   2 * sizeof(Offset) * static_cast<std::uint64_t>(sizes.rows) +
                   std::min(most_text_bytes, kInflaterBytes + entries * kTextBytesPerEntry);
  forecast.seconds =
      static_cast<double>(entries) * kSecondsPerEntry + seconds_to_move(sizes.bytes());
  return forecast;
}

ToolForecast forecast_reordering(const MatrixSizes& sizes, const std::string& method, int threads) {
  const ReorderMethod& row = find_reorder_method(method);
  const ReorderForecast order =
      forecast_reorder(row, sizes.rows, sizes.cols, sizes.nnz, threads, sizes.is_symmetric);
  // First the matrix and what its method takes; that is gone when the matrix stands beside its copy
  // in the new order. An order has two directions; while it is made, rows have 64-bit places, and
  // then the report looks at both matrices.
  const std::uint64_t items =
      static_cast<std::uint64_t>(sizes.rows) + static_cast<std::uint64_t>(sizes.cols);
  const std::uint64_t passing =
      std::max(sizeof(Offset) * items, locality_bytes(sizes.cols, sizes.nnz, threads));
  ToolForecast forecast;
  forecast.bytes =
      sizes.bytes() + std::max(order.bytes, sizes.bytes() + 2 * sizeof(Index) * items + passing);
  forecast.seconds = order.seconds + seconds_to_move(2 * sizes.bytes());
  return forecast;
}

ToolForecast forecast_report(const MatrixSizes& sizes) {
  // Python with NumPy and some hundred records; the matrix is mapped, its values are not read; a
  // chunk of entries (tools/report/csr_reader.py) and the lengths of rows are copied some times.
  constexpr std::uint64_t kPythonBytes = 44ull << 20, kBytesPerEntry = 24;
  constexpr Offset kChunk = 1 << 20;
  constexpr double kPythonSeconds = 10;
  ToolForecast forecast;
  forecast.bytes = kPythonBytes +
                   kBytesPerEntry * static_cast<std::uint64_t>(std::min(sizes.nnz, kChunk)) +
                   csr_bytes(sizes.rows, sizes.nnz, ValueKind::none) +
                   2 * sizeof(Offset) * static_cast<std::uint64_t>(sizes.rows);
  forecast.seconds = kPythonSeconds + seconds_to_move(sizes.bytes());
  return forecast;
}

}  // namespace csrkit
