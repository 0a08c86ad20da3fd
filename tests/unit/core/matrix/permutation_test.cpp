#include "core/matrix/permutation.h"

#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

// 0 -> 2, 1 -> 0, 2 -> 1: its own inverse it is not, so a mix-up of directions shows.
Permutation cycle() { return Permutation::from_new_of_old(buffer_of<Index>({2, 0, 1})); }

std::vector<Index> list(const Index* items, Index size) { return {items, items + size}; }

TEST(Permutation, KnowsBothDirections) {
  EXPECT_EQ(list(cycle().new_of_old(), 3), (std::vector<Index>{2, 0, 1}));
  EXPECT_EQ(list(cycle().old_of_new(), 3), (std::vector<Index>{1, 2, 0}));
  const Permutation same = Permutation::from_old_of_new(buffer_of<Index>({1, 2, 0}));
  EXPECT_EQ(list(same.new_of_old(), 3), (std::vector<Index>{2, 0, 1}));
  EXPECT_EQ(list(cycle().inverse().new_of_old(), 3), (std::vector<Index>{1, 2, 0}));
}

TEST(Permutation, ThenAppliesTheFirstFirst) {
  const Permutation swap01 = Permutation::from_new_of_old(buffer_of<Index>({1, 0, 2}));
  // 0 -> 2 -> 2, 1 -> 0 -> 1, 2 -> 1 -> 0.
  EXPECT_EQ(list(cycle().then(swap01).new_of_old(), 3), (std::vector<Index>{2, 1, 0}));
  const Permutation there_and_back = cycle().then(cycle().inverse());
  EXPECT_EQ(list(there_and_back.new_of_old(), 3), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(list(Permutation::identity(4).new_of_old(), 4), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_THROW(cycle().then(Permutation::identity(4)), UsageError);
}

TEST(Permutation, RefusesWhatIsNoBijection) {
  EXPECT_THROW(Permutation::from_new_of_old(buffer_of<Index>({0, 0})), InputError);
  EXPECT_THROW(Permutation::from_new_of_old(buffer_of<Index>({0, 2})), InputError);
  EXPECT_THROW(Permutation::from_old_of_new(buffer_of<Index>({-1, 0})), InputError);
}

TEST(Permutation, MovesRowsAndColumnsWhereItSays) {
  const CsrMatrix matrix = make_csr(3, 3, {0, 2, 3, 4}, {0, 1, 2, 0}, {1, 2, 3, 4}, ValueKind::f32);
  // Row 0 arrives at 2, row 1 at 0, row 2 at 1.
  EXPECT_TRUE(identical(permute_rows(matrix, cycle()),
                        make_csr(3, 3, {0, 1, 2, 4}, {2, 0, 0, 1}, {3, 4, 1, 2}, ValueKind::f32)));
  // Column 0 becomes 2, column 1 becomes 0, column 2 becomes 1.
  EXPECT_TRUE(identical(permute_cols(matrix, cycle()),
                        make_csr(3, 3, {0, 2, 3, 4}, {0, 2, 1, 2}, {2, 1, 3, 4}, ValueKind::f32)));
  EXPECT_TRUE(identical(permute_both(matrix, cycle()),
                        permute_cols(permute_rows(matrix, cycle()), cycle())));
}

TEST(Permutation, IsUndoneByItsInverse) {
  for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::bf16}) {
    const CsrMatrix matrix = random_csr(200, 200, 15, kind);
    Buffer<Index> shuffled(200);
    for (Index i = 0; i < 200; ++i)
      shuffled[i] = static_cast<Index>(i * 77 % 200);  // gcd(77, 200) = 1
    const Permutation order = Permutation::from_new_of_old(std::move(shuffled));
    const CsrMatrix moved = permute_both(matrix, order);
    EXPECT_NO_THROW(validate(moved, "moved"));
    EXPECT_FALSE(identical(moved, matrix));
    EXPECT_TRUE(identical(permute_both(moved, order.inverse()), matrix));
    EXPECT_TRUE(identical(permute_rows(permute_rows(matrix, order), order.inverse()), matrix));
  }
}

TEST(Permutation, RefusesOtherSizes) {
  const CsrMatrix matrix = five_by_seven(ValueKind::f32);
  EXPECT_THROW(permute_rows(matrix, Permutation::identity(7)), UsageError);
  EXPECT_THROW(permute_cols(matrix, Permutation::identity(5)), UsageError);
  EXPECT_THROW(permute_both(matrix, Permutation::identity(5)), UsageError);
}

TEST(Permutation, MovesDenseRowsOfAnyLeadingDimension) {
  DenseMatrix from(3, 2, ValueKind::f16, 5), to(3, 2, ValueKind::f16, 3);
  fill_random(from.view(), 1);
  fill_nan(to.view());
  permute_rows(from.view(), cycle(), to.view());
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 2; ++j) {
      EXPECT_EQ(to.view().as<f16>()[cycle().new_of_old()[i] * 3 + j].bits,
                from.view().as<f16>()[i * 5 + j].bits);
    }
  }
  DenseMatrix other(3, 1, ValueKind::f16);
  EXPECT_THROW(permute_rows(from.view(), cycle(), other.view()), UsageError);
}

}  // namespace
}  // namespace csrkit
