// The lists of row_panels, byte by byte, against those that the host makes: panels of every size
// that a warp, a block or the whole grid works on, in matrices of short and of long panels, as the
// mean decides who makes which.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/streams/stream.h"
#include "gpu/spmm/row_panels/lists.h"
#include "gpu/spmm/row_tasks/row_tasks.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {

namespace {

using gpu::DeviceBuffer;
using gpu::PanelListMaker;
using gpu::PanelLists;

/// Columns from `first` on, of which a row has about `percent` percent.
void add_row(std::vector<Entry>* entries, Index row, Index length, Index first, unsigned percent) {
  Index col = first;
  for (Index i = 0; i < length; ++col) {
    if (mix64(mix64(static_cast<std::uint64_t>(row)) + static_cast<std::uint64_t>(col)) % 100 >=
        percent) {
      continue;
    }
    entries->push_back({row, col, random_value(3, row, col)});
    ++i;
  }
}

/// A panel of each size between `filling` ones of `filler` entries each. Rows of a panel are alike
/// in length, or one has nearly all entries, or one has none.
CsrMatrix panels_of_sizes(const std::vector<Index>& sizes, Index filler, int filling, int rows) {
  std::vector<Index> all;
  for (const Index size : sizes) {
    all.push_back(size);
    all.insert(all.end(), static_cast<std::size_t>(filling), filler);
  }
  std::vector<Entry> entries;
  Index row = 0, cols = 1;
  for (std::size_t panel = 0; panel < all.size(); ++panel) {
    const unsigned percent = panel % 3 == 0 ? 20 : 80;
    const Index first = static_cast<Index>(panel % 7);
    Index left = all[panel];
    for (int r = 0; r < rows; ++r, ++row) {
      Index length = left / (rows - r);
      if (panel % 4 == 1 && r == 1) length = left * 4 / 5;
      if (panel % 4 == 2 && r + 1 < rows && r % 2 == 0) length = 0;
      add_row(&entries, row, length, first, percent);
      left -= length;
      if (!entries.empty()) cols = std::max(cols, entries.back().col + 1);
    }
  }
  --row;  // the last panel has a row less
  while (!entries.empty() && entries.back().row == row) entries.pop_back();
  return matrix_of(row, cols, std::move(entries));
}

/// What a list has in one place.
struct Place {
  Index col;
  unsigned mask;
  std::vector<Offset> entries;  // of each row, -1 where it has none
};

std::vector<Place> list_of(const CsrMatrix& a, Index panel, int rows) {
  std::vector<Place> list;
  std::map<Index, std::size_t> at;
  for (int r = 0; r < rows; ++r) {
    const Index row = panel * rows + r;
    if (row >= a.rows()) break;
    for (Offset i = a.row_offsets()[row]; i < a.row_offsets()[row + 1]; ++i) {
      const auto [found, is_new] = at.emplace(a.col_indices()[i], list.size());
      if (is_new) {
        list.push_back({found->first, 0, std::vector<Offset>(static_cast<std::size_t>(rows), -1)});
      }
      list[found->second].mask |= 1u << r;
      list[found->second].entries[static_cast<std::size_t>(r)] = i;
    }
  }
  return list;
}

/// Nobody looks whether rows of such a panel share columns.
std::vector<Place> copied_list_of(const CsrMatrix& a, Index panel, int rows) {
  std::vector<Place> list;
  for (int r = 0; r < rows; ++r) {
    const Index row = panel * rows + r;
    if (row >= a.rows()) break;
    for (Offset i = a.row_offsets()[row]; i < a.row_offsets()[row + 1]; ++i) {
      list.push_back(
          {a.col_indices()[i], 1u << r, std::vector<Offset>(static_cast<std::size_t>(rows), -1)});
      list.back().entries[static_cast<std::size_t>(r)] = i;
    }
  }
  return list;
}

Offset value_place(Offset at, int row, int rows) {
  return rows == gpu::kTiledPanelRows ? gpu::tiled_value_at(at, row) : at * rows + row;
}

void check_lists(const CsrMatrix& stored, ValueKind kind, int value_bytes) {
  constexpr unsigned char kPoison = 0xcd;
  constexpr std::uint16_t kOne = 0x3c00;
  constexpr Offset kMostCompared = 1 << 16;
  const int rows = gpu::panel_rows(value_bytes);
  const CsrMatrix a = convert_values(stored, kind);
  const gpu::Stream stream(nullptr);
  gpu::DeviceMemory memory(0, stream.get(), 0);
  const gpu::DeviceCsr there(memory, a);
  const PanelListMaker maker(a.rows(), a.nnz(), value_bytes, kOne);
  const DeviceBuffer<unsigned char> workspace(memory, static_cast<Offset>(maker.workspace_bytes()),
                                              "lists");
  CHECK_CUDA(cudaMemsetAsync(workspace.data(), kPoison, workspace.size_bytes(), stream.get()));
  maker.analyse(there.view<void>(), workspace.data(), 0, stream.get());
  std::vector<unsigned char> bytes(workspace.size_bytes());
  CHECK_CUDA(cudaMemcpyAsync(bytes.data(), workspace.data(), bytes.size(), cudaMemcpyDeviceToHost,
                             stream.get()));
  stream.wait();
  const PanelLists lists = maker.lay_out(bytes.data());
  const bool has_values = kind != ValueKind::none || rows == gpu::kTiledPanelRows;
  for (Index panel = 0; panel < maker.panels(); ++panel) {
    const Offset first = a.row_offsets()[std::min<Offset>(Offset{panel} * rows, a.rows())];
    const Offset last = a.row_offsets()[std::min<Offset>(Offset{panel + 1} * rows, a.rows())];
    const std::vector<Place> list =
        last - first > kMostCompared ? copied_list_of(a, panel, rows) : list_of(a, panel, rows);
    const auto length = static_cast<Offset>(list.size());
    ASSERT_EQ(lists.lengths[panel], length) << "panel " << panel << " of " << last - first;
    const Offset begin = gpu::panel_begin(first, panel);
    const Offset padded = (length + gpu::kPanelAlign - 1) / gpu::kPanelAlign * gpu::kPanelAlign;
    for (Offset i = 0; i < padded; ++i) {
      const bool is_there = i < length;
      const Place* const place = is_there ? &list[static_cast<std::size_t>(i)] : nullptr;
      ASSERT_EQ(lists.cols[begin + i], is_there ? place->col : 0) << panel << " " << i;
      ASSERT_EQ(unsigned{lists.masks[begin + i]}, is_there ? place->mask : 0) << panel << " " << i;
      for (int r = 0; has_values && r < rows; ++r) {
        unsigned char expected[8] = {};
        const Offset entry = is_there ? place->entries[static_cast<std::size_t>(r)] : -1;
        if (entry >= 0 && kind == ValueKind::none) std::memcpy(expected, &kOne, sizeof kOne);
        if (entry >= 0 && kind != ValueKind::none) {
          std::memcpy(expected, static_cast<const char*>(a.values()) + entry * value_bytes,
                      static_cast<std::size_t>(value_bytes));
        }
        ASSERT_EQ(std::memcmp(static_cast<const char*>(lists.values) +
                                  value_place(begin + i, r, rows) * value_bytes,
                              expected, static_cast<std::size_t>(value_bytes)),
                  0)
            << "panel " << panel << ", place " << i << ", row " << r;
      }
    }
  }
}

void check_sizes(const std::vector<Index>& sizes, Index filler, int filling) {
  for (const auto& [kind, bytes] :
       {std::pair(ValueKind::f32, 4), std::pair(ValueKind::f64, 8), std::pair(ValueKind::f16, 2),
        std::pair(ValueKind::none, 4), std::pair(ValueKind::none, 2)}) {
    SCOPED_TRACE("values of " + std::to_string(bytes) + " bytes, panels of about " +
                 std::to_string(filler));
    check_lists(panels_of_sizes(sizes, filler, filling, gpu::panel_rows(bytes)), kind, bytes);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

class RowPanelLists : public GpuTest {};
class SanitizerRowPanelLists : public GpuTest {};

const std::vector<Index> kShort = {0,   1,   2,   7,   8,   9,    31,   32,   33,  63,  64,
                                   65,  100, 127, 128, 129, 200,  255,  256,  257, 300, 400,
                                   511, 512, 513, 600, 900, 1023, 1024, 1025, 1100};
const std::vector<Index> kLong = {0,    1,    33,   500,  1023, 1024, 1025, 2047, 2048,
                                  2049, 3000, 4095, 4096, 4097, 8192, 8193, 9000};
// An H200's blocks hold lists of up to 8,264 entries in 16 bits and 11,568 in others, and the
// columns of five and seven times as many.
const std::vector<Index> kLongest = {8263,  8264,  8265,  11567, 11568, 11569, 20000,
                                     57839, 57840, 57841, 57847, 57848, 57849, 60000};

}  // namespace

TEST_F(RowPanelLists, OfShortPanels) {
  check_sizes(kShort, 6, 40);
  check_sizes(kShort, 20, 40);
  check_sizes(kShort, 90, 20);
}

TEST_F(RowPanelLists, OfLongPanels) {
  check_sizes(kLong, 160, 60);
  check_sizes(kLong, 700, 20);
  check_sizes(kLong, 1500, 10);
}

TEST_F(RowPanelLists, OfPanelsLongerThanABlockHolds) {
  check_sizes(kLongest, 300, 20);
  check_sizes(kLongest, 3000, 60);
}

TEST_F(RowPanelLists, OfPanelsThatAreCopied) { check_sizes({65535, 65536, 65537, 70000}, 300, 2); }

TEST_F(SanitizerRowPanelLists, OfEverySize) {
  check_sizes({0, 1, 33, 129, 513}, 20, 8);
  check_sizes({200, 600, 1025}, 90, 8);
  check_sizes({1025, 4097}, 700, 2);
  check_sizes({2049, 11569}, 90, 8);
}

}  // namespace csrkit::testing
