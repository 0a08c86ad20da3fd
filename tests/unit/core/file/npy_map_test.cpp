#include "core/file/npy_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace csrkit {
namespace {

class NpyMap : public testing::Test {
 protected:
  ~NpyMap() override { std::remove(path_.c_str()); }
  std::string path_ = testing::TempDir() + std::to_string(getpid()) + "_npy_map_test.npy";
};

TEST_F(NpyMap, HoldsWhatReadingHolds) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::f16}) {
    DenseMatrix made(37, 11, kind);
    fill_random(made.view(), 3);
    write_npy(path_, std::as_const(made).view());
    const NpyFile file(path_);
    ASSERT_TRUE(MappedNpy::can_map(file));
    const MappedNpy mapped(file);
    EXPECT_EQ(mapped.view().kind, kind);
    for (Index i = 0; i < 37; ++i) {
      for (Index j = 0; j < 11; ++j)
        ASSERT_EQ(mapped.view().at(i, j), std::as_const(made).view().at(i, j));
    }
  }
}

TEST_F(NpyMap, FortranOrderIsNotMapped) {
  std::ofstream out(path_, std::ios::binary);
  std::string header = make_npy_header("<f4", {2, 3});
  header.replace(header.find("False"), 5, "True ");
  out << header << std::string(24, '\0');
  out.close();
  EXPECT_FALSE(MappedNpy::can_map(NpyFile(path_)));
}

TEST_F(NpyMap, AnOutputIsTheFileThatWritingMakes) {
  DenseMatrix made(5, 3, ValueKind::f32);
  fill_random(made.view(), 9);
  {
    MappedNpyOutput output(path_, 5, 3, ValueKind::f32);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < 3; ++j) {
        EXPECT_EQ(ConstDenseView(output.view()).at(i, j), 0);
        output.view().set(i, j, std::as_const(made).view().at(i, j));
      }
    }
    EXPECT_FALSE(std::ifstream(path_).good()) << "half a file under the final name";
    output.commit();
    output.view().set(4, 2, std::as_const(made).view().at(4, 2));  // may be used on
  }
  const auto bytes_of = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string mapped = bytes_of(path_);
  write_npy(path_, std::as_const(made).view());
  EXPECT_EQ(mapped, bytes_of(path_));
}

TEST_F(NpyMap, AnOutputThatIsNotCommittedLeavesNothing) {
  { const MappedNpyOutput output(path_, 5, 3, ValueKind::f64); }
  EXPECT_FALSE(std::ifstream(path_).good());
  EXPECT_THROW(MappedNpyOutput("/nowhere/c.npy", 5, 3, ValueKind::f64), IoError);
}

TEST_F(NpyMap, NothingIsAnArrayToo) {
  {
    MappedNpyOutput output(path_, 0, 3, ValueKind::f64);
    output.commit();
  }
  const NpyFile file(path_);
  EXPECT_EQ(MappedNpy(file).view().rows, 0);
}

}  // namespace
}  // namespace csrkit
