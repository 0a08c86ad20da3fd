// What is learnt of likeness is what the records say: the table is made again from them and
// compared. CSRKIT_UPDATE_GOLDEN=1 writes it, after a change of the formula or a new record. Needs
// no GPU.

#include "gpu/spmm/likeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gpu/spmm/choose.h"
#include "tests/gpu/spmm/recorded_products.h"

namespace csrkit::gpu {
namespace {

constexpr const char* kTable = CSRKIT_SOURCE_DIR "/gpu/spmm/likeness.inc";
/// How unlike two products of the same facts may be: in squares, where likeness is 1.
constexpr double kNoise = 0.4;

struct Mean {
  double sum = 0;
  int count = 0;
  void add(double each) {
    sum += each;
    ++count;
  }
  double value() const { return sum / std::max(count, 1); }
};

/// What the formula missed on one matrix.
struct Missed {
  std::array<Mean, std::tuple_size<LikenessFacts>::value> facts;
  std::array<Mean, kLikenessWidths> at_width;

  /// Of a width that was not measured, what its neighbours say.
  double at(std::size_t width) const {
    const auto is_there = [&](std::size_t each) { return at_width[each].count > 0; };
    std::size_t below = width, above = width;
    while (below > 0 && !is_there(below)) --below;
    while (above + 1 < at_width.size() && !is_there(above)) ++above;
    if (!is_there(below)) return at_width[above].value();
    if (!is_there(above) || below == above) return at_width[below].value();
    const double part = static_cast<double>(width - below) / static_cast<double>(above - below);
    return at_width[below].value() + part * (at_width[above].value() - at_width[below].value());
  }
};

double rounded(double value) { return std::round(value * 1e3) / 1e3; }

/// By name. Products that have no panels, whose rows fill no vectors, or whose width is between
/// those of the table tell nothing.
std::map<std::string, Missed> missed_by_matrix(int b_bytes) {
  constexpr double kNear = 0.3;
  std::map<std::string, Missed> matrices;
  for (const char* record :
       {"h100/data/spmm_choices", "h100/data/spmm_choices_again", "h200/data/spmm_choices",
        "h200/data/spmm_choices_16_bits", "h200/data/spmm_choices_all_kinds"}) {
    for (const RecordedProduct& item : recorded_products(record)) {
      const SpmmProfile& profile = item.profile;
      const Index cols = profile.dense_cols;
      if (profile.b_bytes != b_bytes || item.is_transposed || is_kept_out(item.matrix)) continue;
      const bool is_odd = b_bytes == 2 ? cols % 4 != 0 : cols > 8 && cols * b_bytes % 16 != 0;
      if (is_odd || !may_have_panels(profile)) continue;
      const double place = place_of_width(cols);
      if (std::abs(place - std::round(place)) > kNear) continue;
      const auto near_zero = [](double ratio) { return std::clamp(ratio, -kFarOff, kFarOff); };
      Missed& missed = matrices[item.matrix];
      missed.at_width[static_cast<std::size_t>(std::lround(place))].add(
          near_zero(std::log(item.panels / item.bins)) - near_zero(log_panels_over_bins(profile)));
      const LikenessFacts facts = likeness_facts(profile);
      for (std::size_t i = 0; i < facts.size(); ++i) missed.facts[i].add(facts[i]);
    }
  }
  return matrices;
}

using Square = std::vector<std::vector<double>>;

/// Solves (L L^T) x = b for all columns of b, given a symmetric positive definite matrix.
void solve(Square matrix, std::vector<WidthWeights>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) matrix[i][j] -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i == j ? std::sqrt(matrix[i][j]) : matrix[i][j] / matrix[j][j];
    }
  }
  for (int w = 0; w < kLikenessWidths; ++w) {
    const auto at = static_cast<std::size_t>(w);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i][at] -= matrix[i][k] * b[k][at];
      b[i][at] /= matrix[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) b[i][at] -= matrix[k][i] * b[k][at];
      b[i][at] /= matrix[i][i];
    }
  }
}

struct NamedMatrix {
  int b_bytes;
  std::string name;
  MeasuredMatrix matrix;
};

/// The table as the records want it.
std::vector<NamedMatrix> learnt() {
  std::vector<NamedMatrix> table;
  for (const int b_bytes : {2, 4, 8}) {
    const std::map<std::string, Missed> matrices = missed_by_matrix(b_bytes);
    std::vector<LikenessFacts> facts;
    std::vector<WidthWeights> weights;
    std::vector<std::string> names;
    for (const auto& [name, missed] : matrices) {
      LikenessFacts own;
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = rounded(missed.facts[i].value());
      WidthWeights at;
      for (std::size_t w = 0; w < at.size(); ++w) at[w] = missed.at(w);
      facts.push_back(own);
      weights.push_back(at);
      names.push_back(name);
    }
    Square system(facts.size(), std::vector<double>(facts.size()));
    for (std::size_t i = 0; i < facts.size(); ++i) {
      for (std::size_t j = 0; j < facts.size(); ++j) {
        system[i][j] = likeness(facts[i], facts[j]) + (i == j ? kNoise : 0);
      }
    }
    solve(std::move(system), weights);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      for (double& weight : weights[i]) weight = rounded(weight);
      table.push_back({b_bytes, names[i], {facts[i], weights[i]}});
    }
  }
  return table;
}

void write(const std::vector<NamedMatrix>& table) {
  std::ofstream out(kTable);
  out << "// B's bytes an element; facts; weights at 8, 16, 32, 64, 128 and 256 columns\n";
  char number[32];
  for (const NamedMatrix& row : table) {
    out << "CSRKIT_MEASURED(" << row.b_bytes;
    const auto write_all = [&](const auto& values) {
      const char* before = ", {";
      for (const double value : values) {
        std::snprintf(number, sizeof number, "%s%.3f", before, value);
        out << number;
        before = ", ";
      }
      out << '}';
    };
    write_all(row.matrix.facts);
    write_all(row.matrix.weights);
    out << ")  // " << row.name << '\n';
  }
}

std::vector<NamedMatrix> read() {
  std::vector<NamedMatrix> table;
  std::ifstream in(kTable);
  for (std::string line; std::getline(in, line);) {
    NamedMatrix row;
    char name[128];
    auto& [facts, weights] = row.matrix;
    const int found = std::sscanf(
        line.c_str(),
        "CSRKIT_MEASURED(%d, {%lf, %lf, %lf, %lf, %lf}, {%lf, %lf, %lf, %lf, %lf, %lf}) // %127s",
        &row.b_bytes, &facts[0], &facts[1], &facts[2], &facts[3], &facts[4], &weights[0],
        &weights[1], &weights[2], &weights[3], &weights[4], &weights[5], name);
    if (found != 13) continue;
    row.name = name;
    table.push_back(row);
  }
  return table;
}

}  // namespace

TEST(Likeness, IsWhatTheRecordsSay) {
  const std::vector<NamedMatrix> wanted = learnt();
  if (std::getenv("CSRKIT_UPDATE_GOLDEN") != nullptr) return write(wanted);
  const std::vector<NamedMatrix> table = read();
  ASSERT_GE(table.size(), 300u);
  ASSERT_EQ(table.size(), wanted.size()) << "CSRKIT_UPDATE_GOLDEN=1 writes the table again";
  constexpr double kLastDigit = 2e-3;
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(wanted[i].name + " of " + std::to_string(wanted[i].b_bytes) + " bytes");
    EXPECT_EQ(table[i].b_bytes, wanted[i].b_bytes);
    EXPECT_EQ(table[i].name, wanted[i].name);
    for (std::size_t f = 0; f < wanted[i].matrix.facts.size(); ++f) {
      EXPECT_NEAR(table[i].matrix.facts[f], wanted[i].matrix.facts[f], kLastDigit);
    }
    for (std::size_t w = 0; w < wanted[i].matrix.weights.size(); ++w) {
      EXPECT_NEAR(table[i].matrix.weights[w], wanted[i].matrix.weights[w], kLastDigit);
    }
  }
}

TEST(Likeness, AddsNothingFarFromAllThatWasMeasured) {
  SpmmProfile profile;
  profile.rows = profile.cols = 2'000'000'000;
  profile.nnz = 2'000'000'000'000;
  profile.dense_cols = 32;
  profile.sample = {50, 8'000, 2'800, 8'200};
  EXPECT_NEAR(missed_by_formula(profile), 0, 1e-6);
}

TEST(Likeness, AddsNothingWhereRowsBeginAnywhere) {
  SpmmProfile profile;
  profile.rows = profile.cols = 40'320;
  profile.nnz = 2'996'280;
  profile.dense_cols = 32;
  profile.sample = {7, 2'100, 700, 2'180};
  profile.longest_seen = 81;
  EXPECT_NE(missed_by_formula(profile), 0);
  profile.is_off_vectors = true;
  EXPECT_EQ(missed_by_formula(profile), 0);
  profile.is_off_vectors = false;
  profile.dense_cols = 33;
  EXPECT_EQ(missed_by_formula(profile), 0);
}

TEST(Likeness, KnowsWidthsBetweenThoseThatWereMeasured) {
  EXPECT_EQ(place_of_width(1), 0);
  EXPECT_EQ(place_of_width(8), 0);
  EXPECT_EQ(place_of_width(32), 2);
  EXPECT_NEAR(place_of_width(48), 2.585, 1e-3);
  EXPECT_EQ(place_of_width(4096), 5);
}

}  // namespace csrkit::gpu
