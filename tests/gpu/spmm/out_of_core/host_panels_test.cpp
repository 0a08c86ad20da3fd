// Panels of an operand on the host: where they are, and what copies of them hold.
#include "gpu/spmm/out_of_core/host_panels.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {
namespace {

using gpu::HostPanels;
using gpu::Region;

constexpr Index kRows = 2500, kCols = 10, kPanelCols = 4, kPanels = 3;
constexpr Offset kLeadingDim = 13;

/// Number (row, col) of a panel's region.
float number_of(const Region& region, Index row, Index col) {
  float number = 0;
  std::memcpy(&number,
              region.host + static_cast<std::size_t>(row) * region.pitch_bytes +
                  static_cast<std::size_t>(col) * sizeof number,
              sizeof number);
  return number;
}

/// Whether all panels together have each number of the operand in its place.
void expect_panels(const HostPanels& panels, const ConstDenseView& operand, bool are_copies) {
  std::byte device[1];
  const auto* const numbers = operand.as<float>();
  for (const auto& [first, rows] : {std::pair<Index, Index>{0, kRows}, {1030, 7}}) {
    Index col = 0;
    for (Index panel = 0; panel < kPanels; ++panel) {
      const Region region = panels.rows(panel, first, rows, device);
      EXPECT_EQ(region.rows, rows);
      EXPECT_EQ(region.device, device);
      EXPECT_EQ(region.is_locked, are_copies);
      const auto cols = static_cast<Index>(region.row_bytes / sizeof(float));
      for (Index row = 0; row < rows; ++row) {
        for (Index i = 0; i < cols; ++i) {
          ASSERT_EQ(number_of(region, row, i),
                    numbers[Offset{first + row} * operand.leading_dim + col + i]);
        }
      }
      if (are_copies) {
        EXPECT_EQ(region.pitch_bytes, region.row_bytes);
      }
      col += cols;
    }
    EXPECT_EQ(col, kCols);
  }
}

TEST(OutOfCoreHostPanels, HaveEachNumberOfTheOperandOnce) {
  DenseMatrix operand(kRows, kCols, ValueKind::f32, kLeadingDim);
  fill_random(operand.view(), 1);
  HostPanels panels(kPanelCols, false, 3);
  panels.bind(operand.view());
  expect_panels(panels, operand.view(), false);
  EXPECT_EQ(panels.copied_bytes(), 0u);
}

class OutOfCoreHostPanelsLocked : public GpuTest {};

TEST_F(OutOfCoreHostPanelsLocked, AreCopiedThereAndBack) {
  DenseMatrix operand(kRows, kCols, ValueKind::f32, kLeadingDim);
  fill_random(operand.view(), 1);
  const std::vector<float> before(operand.view().as<float>(),
                                  operand.view().as<float>() + kRows * kLeadingDim);
  for (const int threads : {1, 3}) {
    HostPanels panels(kPanelCols, true, threads);
    panels.bind(operand.view());
    panels.pack();
    expect_panels(panels, operand.view(), true);
    EXPECT_EQ(panels.copied_bytes(), sizeof(float) * kRows * kCols);
    for (Index row = 0; row < kRows; ++row) {
      std::fill_n(operand.view().as<float>() + row * kLeadingDim, kCols, 0.0f);
    }
    panels.unpack();
    EXPECT_EQ(std::memcmp(operand.view().data, before.data(), before.size() * sizeof(float)), 0);
  }
}

}  // namespace
}  // namespace csrkit::testing
