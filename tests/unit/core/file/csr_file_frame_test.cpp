#include "core/file/csr_file_frame.h"

#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

class CsrFileFrameTest : public testing::Test {
 protected:
  /// Checksums of the arrays, which it writes, padding and all.
  static std::vector<std::uint64_t> write_arrays(AtomicFile& file, const CsrFileFrame& frame,
                                                 const CsrMatrix& matrix) {
    const void* const arrays[] = {matrix.row_offsets(), matrix.col_indices(), matrix.values()};
    std::vector<std::uint64_t> checksums;
    std::size_t next = 0;
    for (const CsrSection& section : frame.arrays()) {
      std::string padded(CsrFileFrame::padded_bytes(section), '\0');
      std::memcpy(padded.data(), arrays[next++], section.size_bytes);
      file.write_at(section.offset_bytes, padded.data(), padded.size());
      for (std::uint64_t at = 0; at < padded.size(); at += CsrFileFrame::chunk_bytes()) {
        const std::uint64_t bytes = std::min(CsrFileFrame::chunk_bytes(), padded.size() - at);
        checksums.push_back(CsrFileFrame::checksum(padded.data() + at, bytes));
      }
    }
    return checksums;
  }

  void expect_same_bytes(const CsrMatrix& matrix, const std::string& provenance,
                         bool has_orders = false) {
    CsrFile whole = just(matrix);
    whole.provenance = provenance;
    if (has_orders) {
      whole.row_order = Permutation::identity(matrix.rows());
      whole.col_order = Permutation::identity(matrix.cols());
    }
    write_csr_file(alone_, whole);
    {
      AtomicFile file(framed_);
      const CsrFileFrame frame(matrix.value_kind(), matrix.rows(), matrix.cols(), matrix.nnz(),
                               whole);
      frame.write(file, write_arrays(file, frame, matrix));
      file.commit();
    }
    EXPECT_TRUE(load_bytes(alone_) == load_bytes(framed_));
    // Both files end by the same function.
    const CsrFile found = read_csr_file(framed_);
    EXPECT_TRUE(identical(found.matrix, matrix));
    EXPECT_EQ(found.provenance, provenance);
  }

  ScratchFolder folder_;
  std::string alone_ = folder_ / "alone.csr", framed_ = folder_ / "framed.csr";
};

TEST_F(CsrFileFrameTest, MakesTheBytesOfOneWriter) {
  for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::f64}) {
    expect_same_bytes(five_by_seven(kind), "");
    expect_same_bytes(five_by_seven(kind), "{}");
  }
  expect_same_bytes(CsrMatrix(), "");
  expect_same_bytes(random_csr(60000, 50, 9, ValueKind::f64), "{}");  // several chunks
  expect_same_bytes(random_csr(300000, 5, 2, ValueKind::f64), "{}", /*has_orders=*/true);
}

TEST_F(CsrFileFrameTest, TheProvenanceMayFillSeveralChunks) {
  const std::uint64_t chunk = CsrFileFrame::chunk_bytes();
  for (const std::uint64_t bytes : {chunk - 1, chunk, chunk + 1, 2 * chunk + 100}) {
    expect_same_bytes(five_by_seven(ValueKind::f32), std::string(bytes, 'x'));
  }
}

TEST_F(CsrFileFrameTest, OrdersFitTheMatrix) {
  CsrFile file;
  file.row_order = Permutation::identity(6);
  EXPECT_THROW(CsrFileFrame(ValueKind::f32, 5, 7, 0, file), UsageError);
  file.row_order = Permutation::identity(5);
  file.col_order = Permutation::identity(5);
  EXPECT_THROW(CsrFileFrame(ValueKind::f32, 5, 7, 0, file), UsageError);
}

TEST_F(CsrFileFrameTest, EveryChunkNeedsItsChecksum) {
  const CsrMatrix matrix = five_by_seven(ValueKind::f32);
  const CsrFileFrame frame(matrix.value_kind(), matrix.rows(), matrix.cols(), matrix.nnz(),
                           just(matrix));
  AtomicFile file(framed_);
  std::vector<std::uint64_t> checksums = write_arrays(file, frame, matrix);
  checksums.push_back(0);
  EXPECT_THROW(frame.write(file, checksums), UsageError);
  checksums.resize(checksums.size() - 2);
  EXPECT_THROW(frame.write(file, checksums), UsageError);
}

}  // namespace
}  // namespace csrkit
