#include "tools/ranks/csr_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/hash.h"
#include "core/file/csr_file.h"
#include "core/file/csr_rows.h"
#include "ranks/thread_ranks.h"

namespace csrkit {
namespace {

/// Rows of very different lengths, so that borders lie anywhere in the chunks.
CsrMatrix uneven_matrix(Index rows, Index cols, ValueKind kind, Index long_row) {
  std::vector<Offset> offsets = {0};
  std::vector<Index> columns;
  for (Index row = 0; row < rows; ++row) {
    const Index length = row == long_row ? cols : static_cast<Index>(random_word(1, row) % 9);
    for (Index i = 0; i < length; ++i) columns.push_back(i * (cols / length));
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const auto count = static_cast<Offset>(columns.size());
  ValueArray values(ValueKind::f64, count);
  for (Offset at = 0; at < count; ++at) {
    values.as<double>()[at] = random_value(2, static_cast<std::uint64_t>(at));
  }
  return convert_values(
      CsrMatrix(rows, cols, Buffer<Offset>::copy_of(offsets.data(), Offset{rows} + 1),
                Buffer<Index>::copy_of(columns.data(), count), std::move(values)),
      kind);
}

Permutation backwards(Index size) {
  Buffer<Index> new_of_old(size);
  for (Index i = 0; i < size; ++i) new_of_old[i] = size - 1 - i;
  return Permutation::from_new_of_old(std::move(new_of_old), "a test's order");
}

class CsrOutput : public testing::Test {
 protected:
  CsrOutput() { std::filesystem::create_directory(folder_); }
  ~CsrOutput() override { std::filesystem::remove_all(folder_); }

  std::string bytes_of(const std::string& path) const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  void expect_same_bytes(const CsrMatrix& matrix, const std::vector<Index>& borders,
                         const std::string& provenance) {
    CsrFile file;
    file.matrix = matrix;
    file.provenance = provenance;
    expect_same_bytes(file, borders);
  }

  void expect_same_bytes(const CsrFile& file, const std::vector<Index>& borders) {
    const CsrMatrix& matrix = file.matrix;
    write_csr_file(alone_, file);
    ranks::run_as_threads(
        static_cast<int>(borders.size()) - 1, [&](ranks::Communicator& communicator) {
          const auto rank = static_cast<std::size_t>(communicator.rank());
          // Also what reads some rows of a file: the block of each rank.
          const CsrMatrix block = read_csr_rows(alone_, borders[rank], borders[rank + 1]);
          write_csr_together(communicator, together_, block, borders,
                             rank == 0 ? read_csr_beside(alone_) : CsrFile{});
        });
    EXPECT_TRUE(bytes_of(alone_) == bytes_of(together_));
    EXPECT_TRUE(identical(read_csr_file(together_).matrix, matrix));
    const Buffer<Offset> offsets = read_row_offsets(alone_);
    ASSERT_EQ(offsets.size(), Offset{matrix.rows()} + 1);
    EXPECT_TRUE(std::equal(offsets.begin(), offsets.end(), matrix.row_offsets()));
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("csrkit_output_" + std::to_string(::getpid()));
  std::string alone_ = folder_ / "alone.csr", together_ = folder_ / "together.csr";
};

TEST_F(CsrOutput, TheBytesAreThoseOfOneWriter) {
  // 1.2 MB of offsets, 3 MB of columns: chunks that begin with one rank and end with another.
  const CsrMatrix matrix = uneven_matrix(150000, 200000, ValueKind::f32, 70000);
  expect_same_bytes(matrix, {0, 150000}, "{}");
  expect_same_bytes(matrix, {0, 40000, 150000}, "");
  expect_same_bytes(matrix, {0, 1, 2, 69999, 70001, 131072, 131073, 150000}, "{\"steps\": []}");
}

TEST_F(CsrOutput, ManyRanksInOneChunkAndRanksWithoutRows) {
  for (const ValueKind kind : {ValueKind::none, ValueKind::f16, ValueKind::f64}) {
    const CsrMatrix matrix = uneven_matrix(100, 90, kind, 50);
    expect_same_bytes(matrix, {0, 0, 3, 3, 3, 50, 51, 99, 100, 100}, "{}");
  }
  expect_same_bytes(uneven_matrix(1, 5, ValueKind::f32, 0), {0, 0, 1, 1}, "");
}

TEST_F(CsrOutput, MatricesWithoutRowsOrEntries) {
  expect_same_bytes(CsrMatrix(), {0, 0, 0}, "");
  Buffer<Offset> none(4);
  std::fill(none.begin(), none.end(), Offset{0});
  expect_same_bytes(
      CsrMatrix(3, 4, std::move(none), Buffer<Index>(), ValueArray(ValueKind::f32, 0)),
      {0, 1, 2, 3}, "x");
}

TEST_F(CsrOutput, OrdersAreThoseOfTheFirstRank) {
  CsrFile file;
  file.matrix = uneven_matrix(150000, 100000, ValueKind::f32, 70000);
  file.row_order = backwards(150000);
  expect_same_bytes(file, {0, 40000, 150000});
  file.col_order = backwards(100000);
  file.provenance = "{}";
  expect_same_bytes(file, {0, 1, 150000, 150000});
}

TEST_F(CsrOutput, DamageInOtherRowsIsNotSeenAndInTheirOwnIs) {
  CsrFile file;
  file.matrix = uneven_matrix(150000, 200000, ValueKind::f32, 70000);
  write_csr_file(alone_, file);
  std::string bytes = bytes_of(alone_);
  const auto columns = read_csr_header(alone_).sections[1];
  bytes[columns.offset_bytes + columns.size_bytes - 5] ^= 1;
  std::ofstream(alone_, std::ios::binary) << bytes;
  EXPECT_EQ(read_csr_rows(alone_, 0, 1000).rows(), 1000);
  EXPECT_THROW(read_csr_rows(alone_, 149000, 150000), InputError);
  EXPECT_THROW(read_csr_rows(alone_, 10, 150001), UsageError);
  EXPECT_THROW(read_csr_rows(alone_, 10, 9), UsageError);
}

}  // namespace
}  // namespace csrkit
