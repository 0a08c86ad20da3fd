// What a summed-area table loses in 32-bit floats, and what the two classic remedies give back: the
// mean of all cells subtracted before summing, and four tables that grow away from the centre.
//
// Usage: summed_area_tables_measure [--size N]     one line per pattern, errors in nonzeros
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using Grid = std::vector<double>;  // n x n counts, whole numbers

template <class Number>
struct Table {
  int rows, cols;
  std::vector<Number> sums;

  /// Sums of cell(r, c) + shift over the grid, in Number throughout.
  template <class Cell>
  Table(int r, int c, Cell&& cell) : rows(r), cols(c), sums((r + 1) * std::size_t(c + 1), 0) {
    for (int i = 0; i < rows; ++i) {
      Number line = 0;
      for (int j = 0; j < cols; ++j) {
        line += static_cast<Number>(cell(i, j));
        at(i + 1, j + 1) = at(i, j + 1) + line;
      }
    }
  }
  Number& at(int r, int c) { return sums[static_cast<std::size_t>(r) * (cols + 1) + c]; }
  Number at(int r, int c) const { return sums[static_cast<std::size_t>(r) * (cols + 1) + c]; }
  Number count(int r, int r_end, int c, int c_end) const {
    return at(r_end, c_end) - at(r, c_end) - at(r_end, c) + at(r, c);
  }
};

/// Four tables whose corner is the centre: sums, and with them the errors, are a quarter as large.
struct Quadrants {
  int half;
  std::array<Table<float>, 4> tables;

  Quadrants(const Grid& grid, int n)
      : half(n / 2),
        tables{quadrant(grid, n, 0), quadrant(grid, n, 1), quadrant(grid, n, 2),
               quadrant(grid, n, 3)} {}

  static Table<float> quadrant(const Grid& grid, int n, int which) {
    const int half = n / 2;
    const int rows = which < 2 ? half : n - half, cols = which % 2 == 0 ? half : n - half;
    return Table<float>(rows, cols, [&](int i, int j) {
      const int r = which < 2 ? half - 1 - i : half + i,
                c = which % 2 == 0 ? half - 1 - j : half + j;
      return grid[static_cast<std::size_t>(r) * n + c];
    });
  }
  float count(int r, int r_end, int c, int c_end) const {
    float sum = 0;
    const int row[2][2] = {{half - std::min(r_end, half), half - std::min(r, half)},
                           {std::max(r, half) - half, std::max(r_end, half) - half}};
    const int col[2][2] = {{half - std::min(c_end, half), half - std::min(c, half)},
                           {std::max(c, half) - half, std::max(c_end, half) - half}};
    for (int q = 0; q < 4; ++q) {
      const int* const rows = row[q / 2];
      const int* const cols = col[q % 2];
      if (rows[0] < rows[1] && cols[0] < cols[1]) {
        sum += tables[q].count(rows[0], rows[1], cols[0], cols[1]);
      }
    }
    return sum;
  }
};

struct Errors {
  double worst = 0, mean = 0;
};

template <class Count>
Errors errors_of(const Table<std::int64_t>& exact, int n, Count&& count) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> place(0, n);
  constexpr int kQueries = 100000;
  Errors errors;
  for (int i = 0; i < kQueries; ++i) {
    int r = place(random), r_end = place(random), c = place(random), c_end = place(random);
    if (r > r_end) std::swap(r, r_end);
    if (c > c_end) std::swap(c, c_end);
    const double error = std::abs(static_cast<double>(count(r, r_end, c, c_end)) -
                                  static_cast<double>(exact.count(r, r_end, c, c_end)));
    errors.worst = std::max(errors.worst, error);
    errors.mean += error / kQueries;
  }
  return errors;
}

void measure(const char* name, const Grid& grid, int n) {
  const auto cell = [&](int i, int j) { return grid[static_cast<std::size_t>(i) * n + j]; };
  const Table<std::int64_t> exact(n, n, cell);
  const Table<float> plain(n, n, cell);
  const double mean = static_cast<double>(exact.at(n, n)) / n / n;
  const Table<float> offset(n, n, [&](int i, int j) { return cell(i, j) - mean; });
  const Quadrants quadrants(grid, n);
  const Errors a = errors_of(exact, n, [&](auto... q) { return plain.count(q...); });
  const Errors b = errors_of(exact, n, [&](int r, int r_end, int c, int c_end) {
    return offset.count(r, r_end, c, c_end) +
           mean * static_cast<double>(r_end - r) * static_cast<double>(c_end - c);
  });
  const Errors c = errors_of(exact, n, [&](auto... q) { return quadrants.count(q...); });
  std::printf("%-10s %14lld  %9.1f %9.2f  %9.1f %9.2f  %9.1f %9.2f\n", name,
              static_cast<long long>(exact.at(n, n)), a.worst, a.mean, b.worst, b.mean, c.worst,
              c.mean);
}

}  // namespace

int main(int argc, char** argv) {
  int n = 1024;
  if (argc == 3 && std::string(argv[1]) == "--size") n = std::atoi(argv[2]);
  if (n < 2 || n > 8192 || (argc != 1 && argc != 3)) {
    std::fprintf(stderr, "usage: summed_area_tables_measure [--size N], N from 2 to 8192\n");
    return 2;
  }
  std::printf("%-10s %14s  %19s  %19s  %19s\n", "", "", "plain float", "mean offset",
              "four quadrants");
  std::printf("%-10s %14s  %9s %9s  %9s %9s  %9s %9s\n", "pattern", "nonzeros", "worst", "mean",
              "worst", "mean", "worst", "mean");
  std::mt19937 random(1);
  const std::size_t cells = static_cast<std::size_t>(n) * n;
  Grid grid(cells);
  std::poisson_distribution<int> even(100);
  for (double& count : grid) count = even(random);
  measure("even", grid, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      grid[static_cast<std::size_t>(i) * n + j] =
          std::abs(i - j) <= n / 100 ? 5000 + even(random) : 0;
    }
  }
  measure("band", grid, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      grid[static_cast<std::size_t>(i) * n + j] = std::floor(3e6 / (1.0 + i) / (1.0 + j));
    }
  }
  measure("power law", grid, n);
  return 0;
}
