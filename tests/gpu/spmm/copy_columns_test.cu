// Copies of B's columns in rows of whole vectors: every element in its place, 0 beyond B's columns,
// and nothing written around them. Products ask for copies only where they are large, which tools
// that watch every access would take minutes over.

#include "gpu/device/streams/stream.h"
#include "gpu/spmm/copy_columns.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

template <class Value>
void check_copy(ValueKind kind, Index rows, Index cols, Index to_cols) {
  const gpu::Stream stream(nullptr);
  DeviceSlice b(rows, cols, kind, 1, 3);
  DeviceSlice copy(rows, to_cols, kind, 0, 0);
  constexpr unsigned char kNanOfEveryKind = 0xff;
  fill_random(b.host(), 5);
  fill_random(copy.host(), 6);
  b.upload(stream.get(), kNanOfEveryKind);
  copy.upload(stream.get());
  const DenseView from = b.device();
  gpu::copy_columns<Value>(
      {static_cast<const Value*>(from.data), from.rows, from.cols, from.leading_dim},
      static_cast<Value*>(copy.device().data), to_cols, stream.get());
  ASSERT_TRUE(copy.download_and_check_surroundings(stream.get()));
  const ConstDenseView expected(b.host()), found(copy.host());
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < to_cols; ++col) {
      ASSERT_EQ(found.at(row, col), col < cols ? expected.at(row, col) : 0)
          << rows << " x " << cols << " to " << to_cols << ": " << row << ", " << col;
    }
  }
}

}  // namespace

using SanitizerCopyColumns = GpuTest;

TEST_F(SanitizerCopyColumns, PutEveryElementInItsPlace) {
  const struct {
    Index rows, cols, to_cols;
  } shapes[] = {{0, 33, 40},   {1, 1, 8},       {1, 33, 40},
                {300, 47, 48}, {129, 100, 256}, {3, 32767, 32768}};
  for (const auto& shape : shapes) {
    check_copy<f16>(ValueKind::f16, shape.rows, shape.cols, shape.to_cols);
    check_copy<bf16>(ValueKind::bf16, shape.rows, shape.cols, shape.to_cols);
    if (HasFatalFailure()) return;
  }
}

}  // namespace csrkit::testing
