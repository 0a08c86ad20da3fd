#include "core/base/suggestion.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(Suggestion, FindsTheNameThatWasMeant) {
  const std::vector<std::string> names = {"random", "degree", "rcm", "community"};
  EXPECT_EQ(nearest("rmc", names), "rcm");
  EXPECT_EQ(nearest("comunity", names), "community");
  EXPECT_EQ(nearest("degreee", names), "degree");
  EXPECT_EQ(nearest("dagrea", names), "degree");
  EXPECT_EQ(nearest("comm", names), "community");  // begun
  EXPECT_EQ(nearest("rcm", names), "rcm");
  EXPECT_EQ(nearest("RCM", names), "rcm");
  EXPECT_EQ(nearest("csr", {"CSR", "CSC"}), "CSR");
}

TEST(Suggestion, IsSilentWhereNothingIsNear) {
  const std::vector<std::string> names = {"rcm", "f32", "auto", "keep"};
  for (const char* word : {"", "r", "xyz", "abc", "heap", "metis", "f6", "alphabetical"}) {
    EXPECT_EQ(nearest(word, names), "") << word;
  }
  EXPECT_EQ(nearest("rcm", {}), "");
}

TEST(Suggestion, EndsARefusal) {
  EXPECT_EQ(did_you_mean("atuo", std::vector<std::string>{"row_loop", "auto"}),
            "; did you mean 'auto'?");
  EXPECT_EQ(did_you_mean("npy", "matrix-market (.mtx), npz (.npz)"), "; did you mean 'npz'?");
  EXPECT_EQ(did_you_mean("petsc", ""), "");
}

}  // namespace
}  // namespace csrkit
