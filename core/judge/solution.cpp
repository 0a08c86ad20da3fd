#include "core/judge/solution.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/lower_to.h"
#include "core/base/team.h"
#include "core/base/text.h"

namespace csrkit {

namespace {

/// Of a sum that was made in another order on the other side of the diagonal.
constexpr double kMirrorRoundings = 16;

bool mirror_each_other(double value, double mirrored, ValueKind kind) {
  const double scale = std::max(std::abs(value), std::abs(mirrored));
  return std::abs(value - mirrored) <= kMirrorRoundings * unit_roundoff(kind) * scale;
}

std::string text_of(Index row, Index col, double value, int digits) {
  return "row " + std::to_string(row) + ", column " + std::to_string(col) + " holds " +
         rounded(value, digits);
}

constexpr Offset kNowhere = std::numeric_limits<Offset>::max();

constexpr char kMeanAdvice[] = "solve with (A + A.T) / 2 if that is meant";

constexpr char kCounted[] = " (counted from 0)";

/// What the iterations can hold. Stricter than overflow_in: a value that only rounds to the largest
/// number is refused. So is a diagonal element that f32 would make 0: the solver would call A
/// singular, which it is not. Other elements may vanish beside the diagonal.
struct Range {
  double largest, least_diagonal;

  explicit Range(Precision precision)
      : largest(largest_finite(precision == Precision::f64 ? ValueKind::f64 : ValueKind::f32)),
        least_diagonal(precision == Precision::f64 ? 0 : std::numeric_limits<float>::denorm_min()) {
  }

  bool holds(double value, bool is_diagonal) const {
    if (is_diagonal && value != 0 && std::abs(value) < least_diagonal) return false;
    return std::abs(value) <= largest;  // false for a NaN
  }
};

[[noreturn]] void refuse_value(const std::string& name, Index row, Index col, double value) {
  const std::string found = "found " + rounded(value) + " in row " + std::to_string(row) +
                            ", column " + std::to_string(col) + kCounted + "; ";
  throw InputError(name + ": expected " +
                   (std::isfinite(value)
                        ? std::string("values that f32 can hold, ") + found + "use --precision f64"
                        : std::string("finite values, ") + found +
                              "correct the file that the matrix comes from"));
}

/// A place at which A and its transpose differ.
struct Difference {
  Index row, col;  // col: A's columns, if there is none
  double here, mirrored;
};

[[noreturn]] void refuse_asymmetry(const std::string& name, const Difference& found,
                                   const std::string& advice) {
  // Numbers that differ must not look the same.
  const int digits = rounded(found.here) == rounded(found.mirrored) ? 17 : 6;
  throw VerifyError(name + ": A is not symmetric, and conjugate gradients need that: " +
                    text_of(found.row, found.col, found.here, digits) + ", " +
                    text_of(found.col, found.row, found.mirrored, digits) + kCounted + "; " +
                    advice);
}

struct FirstPlaces {
  std::atomic<Offset> beyond{kNowhere};       // an entry that the range does not hold
  std::atomic<Offset> unequal_row{kNowhere};  // its mirror image differs
};

Index row_of(const CsrMatrix& a, Offset position) {
  const Offset* const begin = a.row_offsets();
  return static_cast<Index>(std::upper_bound(begin, begin + a.rows() + 1, position) - begin) - 1;
}

/// The first one of a row. A place without an entry holds 0, as one with a stored zero does.
template <class View>
Difference first_difference(const View& a, const View& mirror, Index row, ValueKind kind) {
  Offset here = a.row_offsets[row], there = mirror.row_offsets[row];
  const Offset end = a.row_offsets[row + 1], mirror_end = mirror.row_offsets[row + 1];
  while (here < end || there < mirror_end) {
    const Index col = here < end ? a.col_indices[here] : a.cols;
    const Index mirror_col = there < mirror_end ? mirror.col_indices[there] : a.cols;
    const double value = col <= mirror_col ? a.template value_as<double>(here) : 0;
    const double mirrored = mirror_col <= col ? mirror.template value_as<double>(there) : 0;
    if (!mirror_each_other(value, mirrored, kind)) {
      return {row, std::min(col, mirror_col), value, mirrored};
    }
    here += col <= mirror_col ? 1 : 0;
    there += mirror_col <= col ? 1 : 0;
  }
  return {row, a.cols, 0, 0};
}

template <class View>
void look_through(const View& a, const View& mirror, ValueKind kind, const Range& range,
                  int threads, FirstPlaces* places) {
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads)
  for (Index row = 0; row < a.rows; ++row) {
    const Offset begin = a.row_offsets[row], end = a.row_offsets[row + 1];
    const Offset mirror_begin = mirror.row_offsets[row];
    bool is_equal = mirror.row_offsets[row + 1] - mirror_begin == end - begin;
    for (Offset at = begin; at < end; ++at) {
      const double value = a.template value_as<double>(at);
      if (!range.holds(value, a.col_indices[at] == row)) lower_to(places->beyond, at);
      const Offset other = mirror_begin + (at - begin);
      is_equal = is_equal && a.col_indices[at] == mirror.col_indices[other] &&
                 mirror_each_other(value, mirror.template value_as<double>(other), kind);
    }
    if (!is_equal && first_difference(a, mirror, row, kind).col < a.cols) {
      lower_to(places->unequal_row, Offset{row});
    }
  }
}

void require_sparse(const CsrMatrix& a, const Range& range, const std::string& name, int threads) {
  const CsrMatrix mirror = transpose(a, threads);
  a.visit([&](const auto& view) {
    mirror.visit([&](const auto& other) {
      if constexpr (std::is_same_v<decltype(view), decltype(other)>) {
        FirstPlaces places;
        look_through(view, other, a.value_kind(), range, threads, &places);
        if (const Offset at = places.beyond; at != kNowhere) {
          refuse_value(name, row_of(a, at), view.col_indices[at],
                       view.template value_as<double>(at));
        }
        if (places.unequal_row == kNowhere) return;
        const auto row = static_cast<Index>(places.unequal_row);
        const Difference found = first_difference(view, other, row, a.value_kind());
        const bool is_one_sided = found.here == 0 || found.mirrored == 0;
        refuse_asymmetry(
            name, found,
            is_one_sided
                ? "csr-import --symmetrize mirrors entries that are stored on one side only"
                : kMeanAdvice);
      }
    });
  });
}

template <class Value>
void require_dense(const ConstDenseView& a, const Range& range, const std::string& name,
                   int threads) {
  // Tiles, so that the transposed reads find their lines in the cache.
  constexpr Index kTile = 64;
  const Index tiles = static_cast<Index>((Offset{a.rows} + kTile - 1) / kTile);
  FirstPlaces places;
  const auto value = [&](Index i, Index j) {
    return static_cast<double>(a.as<Value>()[i * a.leading_dim + j]);
  };
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (Index tile = 0; tile < tiles; ++tile) {
    const Index row_end = std::min<Index>(a.rows, (tile + 1) * kTile);
    for (Index other = 0; other <= tile; ++other) {
      for (Index i = tile * kTile; i < row_end; ++i) {
        for (Index j = other * kTile; j < std::min<Index>(a.rows, (other + 1) * kTile); ++j) {
          const Offset at = Offset{i} * a.rows + j;
          if (!range.holds(value(i, j), i == j)) lower_to(places.beyond, at);
          if (!range.holds(value(j, i), i == j)) lower_to(places.beyond, Offset{j} * a.rows + i);
          if (!mirror_each_other(value(i, j), value(j, i), a.kind)) {
            lower_to(places.unequal_row, at);
          }
        }
      }
    }
  }
  const Offset at = places.beyond != kNowhere ? places.beyond : places.unequal_row;
  if (at == kNowhere) return;
  const auto i = static_cast<Index>(at / a.rows), j = static_cast<Index>(at % a.rows);
  if (places.beyond != kNowhere) refuse_value(name, i, j, value(i, j));
  refuse_asymmetry(name, {i, j, value(i, j), value(j, i)},
                   std::string("store both triangles, or ") + kMeanAdvice);
}

}  // namespace

void require_solvable(const SolveProblem& problem, const std::string& name, int threads) {
  require_legal(problem);
  threads = team_size(threads);
  const Range range(problem.precision);
  if (!problem.dense) return require_sparse(problem.a, range, name, threads);
  const ConstDenseView a = std::as_const(*problem.dense).view();
  return a.kind == ValueKind::f32 ? require_dense<float>(a, range, name, threads)
                                  : require_dense<double>(a, range, name, threads);
}

std::vector<Residual> residuals_of(const SolveProblem& problem, ConstDenseView b, ConstDenseView x,
                                   int threads) {
  const Index rows = problem.rows();
  const double unit = unit_roundoff(ValueKind::f64);
  std::vector<Residual> residuals;
  Buffer<double> sums(rows), bounds(rows);
  for (Index column = 0; column < b.cols; ++column) {
#pragma omp parallel for schedule(dynamic, 256) num_threads(team_size(threads))
    for (Index row = 0; row < rows; ++row) {
      double sum = b.at(row, column), magnitude = std::abs(sum), terms = 1;
      const auto subtract = [&](double value, Index col) {
        const double product = value * x.at(col, column);
        sum -= product;
        magnitude += std::abs(product);
        ++terms;
      };
      if (problem.dense) {
        const ConstDenseView a = std::as_const(*problem.dense).view();
        for (Index col = 0; col < a.cols; ++col) subtract(a.at(row, col), col);
      } else {
        problem.a.visit([&](const auto& a) {
          for (Offset at = a.row_offsets[row]; at < a.row_offsets[row + 1]; ++at) {
            subtract(a.template value_as<double>(at), a.col_indices[at]);
          }
        });
      }
      sums[row] = sum;
      bounds[row] = terms * unit / (1 - terms * unit) * magnitude;
    }
    double squares = 0, bound_squares = 0;
    for (Index row = 0; row < rows; ++row) {
      squares += sums[row] * sums[row];
      bound_squares += bounds[row] * bounds[row];
    }
    residuals.push_back({std::sqrt(squares), std::sqrt(bound_squares)});
  }
  return residuals;
}

}  // namespace csrkit
