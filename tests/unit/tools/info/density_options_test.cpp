// What csr-density understands and refuses, before any file is read.
#include "tools/info/density_options.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

DensityToolOptions parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "csr-density");
  return parse_density_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(DensityOptions, ReadsRectanglesAndGrids) {
  const DensityToolOptions options =
      parsed({"a.csr", "--rectangle", "0:100,50:60", "--grid", "8x16", "--partition", "2x3",
              "--densest", "4", "--spy", "a.png", "--pixels", "99"});
  ASSERT_EQ(options.rectangles.size(), 1u);
  EXPECT_EQ(options.rectangles[0].row_end, 100);
  EXPECT_EQ(options.rectangles[0].col, 50);
  EXPECT_EQ(options.rectangles[0].col_end, 60);
  EXPECT_EQ(options.grid_cols, 16);
  EXPECT_EQ(options.row_parts, 2);
  EXPECT_EQ(options.col_parts, 3);
  EXPECT_EQ(options.picture.pixels, 99);
  for (const char* bad :
       {"--rectangle=0:1", "--rectangle=0:1,2", "--rectangle=0:-1,2:3", "--rectangle=0:1,2:3x",
        "--rectangle=:,:", "--grid=0x4", "--grid=4", "--grid=4x4x4", "--partition=ax2",
        "--densest=0", "--device=tpu", "--pixels=7"}) {
    EXPECT_THROW(parsed({"a.csr", bad}), UsageError) << bad;
  }
}

}  // namespace
}  // namespace csrkit
