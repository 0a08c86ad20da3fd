// What every ordering owes to a multiplication: P(AB) = (PA)B, and the way back. All numbers are
// small integers, so every sum is exact in any order and products are compared bit by bit.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/judge/reference.h"
#include "preprocess/import/import.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {
namespace {

constexpr Index kMostDenseCols = 4;

// Larger files of a data folder would make the test slow without making it sharper.
constexpr Offset kLargestNnz = 6000000;

double small_integer(std::uint64_t seed, Offset item) {
  return static_cast<double>(below(random_word(seed, static_cast<std::uint64_t>(item)), 17)) - 8;
}

/// The pattern of `matrix` with small integers as values.
CsrMatrix with_small_values(const CsrMatrix& matrix, std::uint64_t seed) {
  Buffer<double> values(matrix.nnz());
  for (Offset at = 0; at < matrix.nnz(); ++at) values[at] = small_integer(seed, at);
  return CsrMatrix(matrix.rows(), matrix.cols(),
                   Buffer<Offset>::copy_of(matrix.row_offsets(), Offset{matrix.rows()} + 1),
                   Buffer<Index>::copy_of(matrix.col_indices(), matrix.nnz()),
                   ValueArray::from(std::move(values)));
}

CsrMatrix random_matrix(Index rows, Index cols, unsigned per_mille, std::uint64_t seed) {
  Buffer<Offset> offsets(Offset{rows} + 1);
  offsets[0] = 0;
  std::vector<Index> cols_of;
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const std::uint64_t word =
          random_word(seed, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(col));
      if (below(word, 1000) < per_mille) cols_of.push_back(col);
    }
    offsets[row + 1] = static_cast<Offset>(cols_of.size());
  }
  const Offset nnz = static_cast<Offset>(cols_of.size());
  return with_small_values(
      CsrMatrix(rows, cols, std::move(offsets), Buffer<Index>::copy_of(cols_of.data(), nnz),
                ValueArray(ValueKind::none, nnz)),
      seed);
}

DenseMatrix dense_of_small_integers(Index rows, Index cols, std::uint64_t seed) {
  DenseMatrix dense(rows, cols, ValueKind::f64);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      dense.view().set(i, j, small_integer(seed, Offset{i} * cols + j));
    }
  }
  return dense;
}

DenseMatrix product(const CsrMatrix& a, const DenseMatrix& b) {
  DenseMatrix c(a.rows(), b.cols(), ValueKind::f64);
#pragma omp parallel for schedule(dynamic, 64) if (a.rows() > 1000)
  for (Index row = 0; row < a.rows(); ++row) {
    ReferenceEntry entries[kMostDenseCols];
    reference_spmm_row(a, b.view(), Semiring::plus_times, 1, 0, nullptr, row, entries);
    for (Index j = 0; j < b.cols(); ++j) c.view().set(row, j, entries[j].value);
  }
  return c;
}

DenseMatrix permuted(const DenseMatrix& dense, const Permutation& order) {
  DenseMatrix moved(dense.rows(), dense.cols(), dense.kind());
  permute_rows(dense.view(), order, moved.view());
  return moved;
}

bool equal(const DenseMatrix& x, const DenseMatrix& y) {
  if (x.rows() != y.rows() || x.cols() != y.cols()) return false;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      if (!(x.view().at(i, j) == y.view().at(i, j))) return false;
    }
  }
  return true;
}

/// "" or the law that `method` breaks on `a`, whose values are small integers.
std::string broken_law(const ReorderMethod& method, const CsrMatrix& a, const DenseMatrix& b,
                       const DenseMatrix& ab, std::uint64_t seed) {
  ReorderOptions options;
  options.seed = seed;
  // By default a small matrix would stay in one part, and METIS would not be called.
  if (find_parameter(method.parameters, "parts") != nullptr && a.rows() > 0) {
    options.parameters["parts"] = std::to_string(std::min<Index>(a.rows(), 2 + below(seed, 9)));
  }
  const Ordering ordering = make_ordering(method.name, a, options);
  const Permutation p = ordering.order;
  const CsrMatrix pa = permute_rows(a, p);
  validate(pa, "PA");
  if (!equal(product(pa, b), permuted(ab, p))) return "(PA)B = P(AB)";
  if (!identical(permute_rows(pa, p.inverse()), a)) return "P^-1(PA) = A";
  if (a.rows() != a.cols()) {
    // Rectangular: the columns have an order of their own, Q, if the method makes one.
    const Permutation q = ordering.col_order.value_or(Permutation::identity(a.cols()));
    const CsrMatrix paqt = permute_cols(pa, q);
    validate(paqt, "PAQ^T");
    if (!equal(product(paqt, permuted(b, q)), permuted(ab, p))) return "(PAQ^T)(QB) = P(AB)";
    return {};
  }
  const CsrMatrix papt = permute_both(a, p);
  validate(papt, "PAP^T");
  const DenseMatrix pb = permuted(b, p);
  if (!equal(product(papt, pb), permuted(ab, p))) return "(PAP^T)(PB) = P(AB)";
  if (!equal(product(permute_cols(a, p), pb), ab)) return "(AP^T)(PB) = AB";
  if (!identical(permute_both(papt, p.inverse()), a)) return "P^-1(PAP^T)P^-T = A";
  return {};
}

/// "" or the first method that breaks a law, and which.
std::string broken_by_any_method(const CsrMatrix& a, Index dense_cols, std::uint64_t seed) {
  const DenseMatrix b = dense_of_small_integers(a.cols(), dense_cols, seed);
  const DenseMatrix ab = product(a, b);
  for (const ReorderMethod& method : reorder_methods()) {
    if (!method.is_available || (method.needs_square() && a.rows() != a.cols())) continue;
    const std::string law = broken_law(method, a, b, ab, seed);
    if (!law.empty()) return std::string(method.name) + " breaks " + law;
  }
  return {};
}

RC_GTEST_PROP(EveryOrdering, ObeysTheLawsOnRandomMatrices, ()) {
  const Index rows = *rc::gen::inRange(0, 60);
  const Index cols = *rc::gen::element(rows, *rc::gen::inRange(0, 60));
  const unsigned per_mille = *rc::gen::element(0u, 10u, 50u, 300u, 1000u);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto dense_cols = *rc::gen::inRange(1, kMostDenseCols + 1);
  const std::string broken =
      broken_by_any_method(random_matrix(rows, cols, per_mille, seed), dense_cols, seed);
  if (!broken.empty()) RC_FAIL(broken);
}

TEST(EveryOrdering, ObeysTheLawsOnTheDataFolder) {
  const char* folder = std::getenv("CSRKIT_DATA_DIR");
  if (folder == nullptr) {
    GTEST_SKIP() << "CSRKIT_DATA_DIR is not set; set it to a folder of matrices to run this";
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > 7 && name.compare(name.size() - 7, 7, ".mtx.gz") == 0) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  int checked = 0;
  for (const auto& file : files) {
    CsrMatrix matrix;
    try {
      matrix = import_matrix(file.string()).matrix;
    } catch (const InputError&) {
      continue;  // whether that is right is for the tests of import to say
    }
    if (matrix.nnz() > kLargestNnz) continue;
    EXPECT_EQ(broken_by_any_method(with_small_values(matrix, 11), 2, 12), "") << file;
    ++checked;
  }
  EXPECT_GT(checked, 0) << "no .mtx.gz of at most " << kLargestNnz << " entries in " << folder;
}

}  // namespace
}  // namespace csrkit
