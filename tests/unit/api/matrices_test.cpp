#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tests/unit/api/handles_testing.h"

namespace csrkit::api {
namespace {

std::string scratch(const char* name) {
  return testing::TempDir() + "csrkit_api_" + std::to_string(getpid()) + name;
}

TEST(Matrices, BorrowedArraysAreUsedInPlaceAndGivenBack) {
  SmallArrays small;
  csrkit_arrays arrays = small.view();
  int released = 0;
  arrays.owner = &released;
  arrays.release = [](void* owner) { ++*static_cast<int*>(owner); };
  Matrix matrix = wrapped(arrays);
  const csrkit_matrix_info info = info_of(matrix);
  EXPECT_EQ(info.rows, 4);
  EXPECT_EQ(info.nnz, 6);
  EXPECT_EQ(info.kind, CSRKIT_F64);
  EXPECT_EQ(info.values, small.values.data());
  EXPECT_EQ(info.row_order, nullptr);
  EXPECT_EQ(info.parts, 0);
  csrkit_plan* plan = nullptr;
  csrkit_plan_options options{};
  options.size = sizeof options;
  EXPECT_OK(csrkit_plan_make(matrix.get(), &options, &plan));
  matrix.reset();
  EXPECT_EQ(released, 0) << "the plan still reads them";
  csrkit_plan_free(plan);
  EXPECT_EQ(released, 1);
}

TEST(Matrices, ArraysThatAreNoMatrixAreRefusedAndNotGivenBack) {
  int released = 0;
  const auto refused = [&](const SmallArrays& small, const char* reason) {
    csrkit_arrays arrays = small.view();
    arrays.owner = &released;
    arrays.release = [](void* owner) { ++*static_cast<int*>(owner); };
    csrkit_matrix* matrix = nullptr;
    EXPECT_EQ(csrkit_wrap(&arrays, &matrix), CSRKIT_BAD_INPUT);
    EXPECT_TRUE(says(reason)) << csrkit_last_error();
    EXPECT_EQ(matrix, nullptr);
  };
  SmallArrays small;
  small.col_indices[1] = 4;
  refused(small, "col_indices: row 0, entry 1: column 4 is outside [0, 4); count columns from 0");
  small = {};
  std::swap(small.col_indices[3], small.col_indices[4]);
  refused(small, "col_indices: row 3");
  small = {};
  small.row_offsets = {0, 3, 2, 3, 6};
  refused(small, "row_offsets: expected row offsets that never decrease");
  EXPECT_EQ(released, 0);

  small = {};
  csrkit_arrays arrays = small.view();
  csrkit_matrix* matrix = nullptr;
  arrays.kind = 9;
  EXPECT_EQ(csrkit_wrap(&arrays, &matrix), CSRKIT_USAGE);
  EXPECT_TRUE(says("9 is no csrkit_kind"));
  arrays.kind = CSRKIT_F64;
  arrays.rows = std::int64_t{1} << 31;
  EXPECT_EQ(csrkit_wrap(&arrays, &matrix), CSRKIT_USAGE);
  EXPECT_EQ(csrkit_wrap(nullptr, &matrix), CSRKIT_USAGE);
  EXPECT_EQ(csrkit_wrap(&arrays, nullptr), CSRKIT_USAGE);
  arrays = small.view();
  arrays.values = reinterpret_cast<const char*>(small.values.data()) + 4;
  EXPECT_EQ(csrkit_wrap(&arrays, &matrix), CSRKIT_USAGE);
  EXPECT_TRUE(says("values begins between two addresses")) << csrkit_last_error();
}

// Empty arrays of Python may begin at any address.
TEST(Matrices, ArraysWithoutElementsMayBeAnywhere) {
  const std::int64_t row_offsets[] = {0, 0, 0};
  const char somewhere[16] = {};
  csrkit_arrays arrays = {};
  arrays.size = sizeof arrays;
  arrays.rows = arrays.cols = 2;
  arrays.row_offsets = row_offsets;
  arrays.kind = CSRKIT_F64;
  for (int shift = 0; shift < 8; ++shift) {
    arrays.col_indices = reinterpret_cast<const std::int32_t*>(somewhere + shift);
    arrays.values = somewhere + shift;
    csrkit_matrix* matrix = nullptr;
    EXPECT_OK(csrkit_wrap(&arrays, &matrix));
    csrkit_matrix_free(matrix);
  }
}

TEST(Matrices, AMatrixComesBackFromItsFile) {
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  const std::string path = scratch("back.csr");
  EXPECT_OK(csrkit_save(matrix.get(), path.c_str()));
  for (const std::uint32_t flags : {0u, CSRKIT_UNCHECKED}) {
    csrkit_matrix* opened = nullptr;
    EXPECT_OK(csrkit_open(path.c_str(), flags, &opened));
    const Matrix back(opened);
    const csrkit_matrix_info info = info_of(back);
    EXPECT_TRUE(std::equal(small.row_offsets.begin(), small.row_offsets.end(), info.row_offsets));
    EXPECT_TRUE(std::equal(small.col_indices.begin(), small.col_indices.end(), info.col_indices));
    EXPECT_TRUE(std::equal(small.values.begin(), small.values.end(),
                           static_cast<const double*>(info.values)));
  }
  // A flipped value is seen, unless nobody looks.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const csrkit_matrix_info info = info_of(matrix);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::string value(reinterpret_cast<const char*>(info.values), 8);
  file.seekp(static_cast<std::streamoff>(bytes.find(value)));
  file.put('\1');
  file.close();
  csrkit_matrix* opened = nullptr;
  EXPECT_EQ(csrkit_open(path.c_str(), 0, &opened), CSRKIT_BAD_INPUT);
  EXPECT_TRUE(says("checksum"));
  EXPECT_EQ(opened, nullptr);
  EXPECT_OK(csrkit_open(path.c_str(), CSRKIT_UNCHECKED, &opened));
  csrkit_matrix_free(opened);
  EXPECT_EQ(csrkit_open(path.c_str(), 2, &opened), CSRKIT_USAGE);
  std::remove(path.c_str());
  EXPECT_EQ(csrkit_open(path.c_str(), 0, &opened), CSRKIT_IO);
  EXPECT_TRUE(says(path.c_str()));
  EXPECT_EQ(csrkit_save(matrix.get(), scratch("nowhere/a.csr").c_str()), CSRKIT_IO);
}

TEST(Matrices, AreSavedUnderNamesThatSayWhatTheyAre) {
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  const std::string path = scratch("a.npz");
  EXPECT_EQ(csrkit_save(matrix.get(), path.c_str()), CSRKIT_USAGE);
  EXPECT_TRUE(says("would not be what its name says, but a .csr file"));
  EXPECT_FALSE(std::ifstream(path).good());
}

TEST(Matrices, ImportsTakeTheirOptions) {
  const std::string path = scratch("edges.txt");
  std::ofstream(path) << "1 2 0.5\n2 1 4\n1 2 1\n";
  csrkit_import_options options{};
  options.size = sizeof options;
  const csrkit_parameter base{"base", "1"};
  options.format = "edge-list";
  options.value_kind = "f32";
  options.parameters = &base;
  options.parameter_count = 1;
  csrkit_matrix* imported = nullptr;
  EXPECT_OK(csrkit_import(path.c_str(), &options, &imported));
  const Matrix matrix(imported);
  const csrkit_matrix_info info = info_of(matrix);
  EXPECT_EQ(info.rows, 2);
  EXPECT_EQ(info.nnz, 2);
  EXPECT_EQ(info.kind, CSRKIT_F32);
  EXPECT_EQ(static_cast<const float*>(info.values)[0], 1.5f);
  options.duplicates = "error";
  EXPECT_EQ(csrkit_import(path.c_str(), &options, &imported), CSRKIT_BAD_INPUT);
  options.format = "nonsense";
  EXPECT_EQ(csrkit_import(path.c_str(), &options, &imported), CSRKIT_USAGE);
  EXPECT_TRUE(says("nonsense"));
  std::remove(path.c_str());
}

TEST(Matrices, ImportsTellWhatTheyWarnOf) {
  const std::string path = scratch("warnings.txt");
  csrkit_import_options options{};
  options.size = sizeof options;
  options.value_kind = "f32";
  const auto warnings_of = [&](const char* text) {
    std::ofstream(path) << text;
    csrkit_matrix* imported = nullptr;
    EXPECT_OK(csrkit_import(path.c_str(), &options, &imported));
    const Matrix matrix(imported);
    return std::string(info_of(matrix).warnings);
  };
  EXPECT_EQ(warnings_of("0 1 2.5\n"), "");
  EXPECT_EQ(warnings_of("0 1 1e-50\n"),
            "1 value too small for f32, the first \"1e-50\" in line 1; they become 0: a wider "
            "--value-kind keeps them\n");
  std::remove(path.c_str());
}

TEST(Matrices, OrdersTravelAndAreUndone) {
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  csrkit_matrix* handle = nullptr;
  EXPECT_OK(csrkit_reorder(matrix.get(), "degree", nullptr, &handle));
  const Matrix moved(handle);
  const csrkit_matrix_info info = info_of(moved);
  ASSERT_NE(info.row_order, nullptr);
  for (int row = 0; row < 4; ++row) {
    const std::int32_t to = info.row_order[row];
    EXPECT_EQ(info.row_offsets[to + 1] - info.row_offsets[to],
              small.row_offsets[static_cast<std::size_t>(row) + 1] -
                  small.row_offsets[static_cast<std::size_t>(row)]);
  }
  EXPECT_OK(csrkit_reorder(moved.get(), "undo", nullptr, &handle));
  const Matrix back(handle);
  EXPECT_EQ(info_of(back).row_order, nullptr);
  EXPECT_TRUE(
      std::equal(small.col_indices.begin(), small.col_indices.end(), info_of(back).col_indices));
  csrkit_reorder_options options{};
  options.size = sizeof options;
  options.sides = "rows";
  EXPECT_OK(csrkit_reorder(matrix.get(), "random", &options, &handle));
  const Matrix rows(handle);
  EXPECT_EQ(info_of(rows).col_order, nullptr);
  options.sides = "left";
  EXPECT_EQ(csrkit_reorder(matrix.get(), "random", &options, &handle), CSRKIT_USAGE);
  EXPECT_EQ(csrkit_reorder(matrix.get(), "nonsense", nullptr, &handle), CSRKIT_USAGE);
  EXPECT_EQ(csrkit_reorder(matrix.get(), "undo", nullptr, &handle), CSRKIT_USAGE);
}

}  // namespace
}  // namespace csrkit::api
