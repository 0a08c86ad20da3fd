// How much shared memory lists of panels ask for, on devices that let a block have less than an
// H200 does.

#include "gpu/spmm/row_panels/list_shape.h"

#include <gtest/gtest.h>

namespace csrkit::testing {

namespace {

using namespace gpu::row_panels;

constexpr int kTogether = 4;

/// Of an entry in panels of four and of eight rows (shared_list.cuh).
constexpr int kEntryBytes[] = {20, 28};

/// By compute capability: 7.5, 8.6 and 8.9, 8.0, 9.0.
constexpr int kSharedBytes[] = {64 << 10, 99 << 10, 163 << 10, 227 << 10};

}  // namespace

TEST(ListShape, AsksForNoMoreThanTheDeviceHas) {
  constexpr Index kPanels = 1000;
  constexpr int kStaticBytes = 2 * 32 * 4 + 4;  // counts of warps, and a panel left over
  for (const int shared_bytes : kSharedBytes) {
    for (const int entry_bytes : kEntryBytes) {
      const int most = most_room(shared_bytes, entry_bytes, kTogether);
      for (Offset mean = 0; mean <= 10'000; mean += 50) {
        const ListShape shape = list_shape(mean * kPanels, kPanels, most);
        const int longs = long_room(shape, most);
        EXPECT_LE(shape.room * entry_bytes + kStaticBytes, shared_bytes) << "mean " << mean;
        EXPECT_LE(longs * entry_bytes + kStaticBytes, shared_bytes) << "mean " << mean;
        EXPECT_GE(shape.room, kLongPanel) << "mean " << mean;
        EXPECT_GE(longs, shape.room) << "mean " << mean;
        EXPECT_EQ(shape.room % kTogether + longs % kTogether, 0) << "mean " << mean;
      }
    }
  }
}

TEST(ListShape, IsTheSameWhereMemoryIsPlenty) {
  for (const int entry_bytes : kEntryBytes) {
    const int most = most_room(227 << 10, entry_bytes, kTogether);
    EXPECT_EQ(list_shape(5000 * 10, 10, most).room, 4096);
    EXPECT_EQ(list_shape(129 * 10, 10, most).room, 512);
    EXPECT_TRUE(list_shape(128 * 10, 10, most).is_warps);
  }
}

}  // namespace csrkit::testing
