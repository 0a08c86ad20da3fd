// The weights of the formula and what is learnt of likeness are what the records say: they are made
// again from them and compared. CSRKIT_UPDATE_GOLDEN=1 writes them, after a change of the formula's
// terms or a new record. Needs no GPU.

#include "gpu/spmm/likeness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gpu/spmm/choose.h"
#include "gpu/spmm/panels_or_bins.h"
#include "tests/gpu/spmm/recorded_products.h"

namespace csrkit::gpu {
namespace {

constexpr const char* kTable = CSRKIT_SOURCE_DIR "/gpu/spmm/likeness.inc";
/// How unlike two products of the same facts may be: in squares, where likeness is 1.
constexpr double kNoise = 0.4;
/// So many matrices of one kind stand for all that were measured.
constexpr std::size_t kRepresentatives = 300;

/// What is learnt from, of one kind.
std::vector<RecordedProduct> products_to_learn_from(int b_bytes) {
  std::vector<RecordedProduct> products;
  const auto learn_from = [&](const char* record, int padding) {
    for (RecordedProduct& item : recorded_products(record, padding)) {
      if (item.profile.b_bytes != b_bytes || item.is_transposed || is_kept_out(item.matrix))
        continue;
      item.profile.is_off_vectors = padding > 0;
      if (may_have_panels(item.profile)) products.push_back(std::move(item));
    }
  };
  learn_from("h100/data/spmm_choices_landed", 0);
  learn_from("h100/data/spmm_choices_more", 0);
  learn_from("h100/data/spmm_choices_slices", 0);
  learn_from("h200/data/spmm_choices_more", 0);
  learn_from("h200/data/spmm_choices_all_kinds", 0);
  learn_from("h200/data/spmm_choices_sets", 0);
  // Rows one element apart.
  learn_from(b_bytes == 2 ? "h200/data/spmm_choices_all_kinds" : "h100/data/spmm_choices_more", 1);
  return products;
}

using OfWidths = std::array<double, std::tuple_size<WidthWeights>::value>;

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
  std::array<Mean, std::tuple_size<WidthWeights>::value> at_width;

  /// Of a width that was not measured, what its neighbours say, of rows that lie alike.
  double at(std::size_t width) const {
    const bool is_odd = width >= kLikenessWidths;
    const std::size_t first = is_odd ? kLikenessWidths : 0;
    const std::size_t last = is_odd ? at_width.size() - 1 : kLikenessWidths - 1;
    const auto is_there = [&](std::size_t each) { return at_width[each].count > 0; };
    std::size_t below = width, above = width;
    while (below > first && !is_there(below)) --below;
    while (above < last && !is_there(above)) ++above;
    if (!is_there(below)) return at_width[above].value();
    if (!is_there(above) || below == above) return at_width[below].value();
    const double part = static_cast<double>(width - below) / static_cast<double>(above - below);
    return at_width[below].value() + part * (at_width[above].value() - at_width[below].value());
  }
};

double rounded(double value) { return std::round(value * 1e3) / 1e3; }

using Square = std::vector<std::vector<double>>;

/// Solves (L L^T) x = b for all columns of b, given a symmetric positive definite matrix.
template <std::size_t columns>
void solve(Square matrix, std::vector<std::array<double, columns>>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) matrix[i][j] -= matrix[i][k] * matrix[j][k];
      matrix[i][j] = i == j ? std::sqrt(matrix[i][j]) : matrix[i][j] / matrix[j][j];
    }
  }
  for (std::size_t at = 0; at < columns; ++at) {
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

/// Least squares. Ratios near one matter more than others, as only there the choice depends on
/// them, and matrices of many products not much more than those of few.
PanelTerms fitted_weights(const std::vector<RecordedProduct>& products) {
  constexpr double kOfInterest = 0.25, kRidge = 3e-4;
  std::map<std::string, int> count;
  for (const RecordedProduct& item : products) ++count[item.matrix];
  constexpr std::size_t kTerms = std::tuple_size<PanelTerms>::value;
  Square system(kTerms, std::vector<double>(kTerms));
  std::vector<std::array<double, 1>> weights(kTerms, {0});
  double all = 0;
  for (const RecordedProduct& item : products) {
    const double wanted = std::log(item.panels / item.bins);
    const double matters =
        std::exp(-std::abs(wanted) / kOfInterest) / std::sqrt(count[item.matrix]);
    const PanelTerms terms = panel_terms(item.profile);
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) system[i][j] += matters * terms[i] * terms[j];
      weights[i][0] += matters * terms[i] * near_zero(wanted);
    }
    all += matters;
  }
  for (std::size_t i = 1; i < kTerms; ++i) system[i][i] += kRidge * all;
  system[0][0] += 1e-9 * all;
  solve(std::move(system), weights);
  PanelTerms fitted;
  for (std::size_t i = 0; i < kTerms; ++i) fitted[i] = rounded(weights[i][0]);
  return fitted;
}

/// By name. Products whose width is between those of the table tell nothing.
std::map<std::string, Missed> missed_by_matrix(const std::vector<RecordedProduct>& products,
                                               const PanelTerms& weights) {
  constexpr double kNear = 0.3;
  std::map<std::string, Missed> matrices;
  for (const RecordedProduct& item : products) {
    const WidthPlace place = place_of_width(item.profile);
    if (std::abs(place.beyond - std::round(place.beyond)) > kNear) continue;
    const PanelTerms terms = panel_terms(item.profile);
    const double said =
        near_zero(std::inner_product(terms.begin(), terms.end(), weights.begin(), 0.0));
    Missed& missed = matrices[item.matrix];
    missed.at_width[place.from + static_cast<std::size_t>(std::lround(place.beyond))].add(
        near_zero(std::log(item.panels / item.bins)) - said);
    const LikenessFacts facts = likeness_facts(item.profile);
    for (std::size_t i = 0; i < facts.size(); ++i) missed.facts[i].add(facts[i]);
  }
  return matrices;
}

/// Those that stand for all: each is the one that is least like those before it (a Cholesky
/// decomposition of likenesses, the largest pivot first).
std::vector<std::size_t> representatives(const std::vector<LikenessFacts>& facts) {
  const std::size_t n = facts.size(), count = std::min(n, kRepresentatives);
  std::vector<double> left(n, 1);
  Square of(n);
  std::vector<std::size_t> chosen;
  while (chosen.size() < count) {
    const auto next = static_cast<std::size_t>(
        std::distance(left.begin(), std::max_element(left.begin(), left.end())));
    const double pivot = std::sqrt(left[next]);
    const std::vector<double> row = of[next];
    for (std::size_t i = 0; i < n; ++i) {
      double value = likeness(facts[i], facts[next]);
      for (std::size_t k = 0; k < row.size(); ++k) value -= of[i][k] * row[k];
      of[i].push_back(value / pivot);
      left[i] -= of[i].back() * of[i].back();
    }
    left[next] = -1;
    chosen.push_back(next);
  }
  std::sort(chosen.begin(), chosen.end());  // by name
  return chosen;
}

struct NamedMatrix {
  std::string name;
  MeasuredMatrix matrix;
};
struct Learnt {
  PanelTerms weights = {};
  std::vector<NamedMatrix> matrices;
};

/// As the records want it: the formula's weights, and those of representatives, so that what the
/// formula missed on all measured matrices is met best.
std::map<int, Learnt> learnt() {
  std::map<int, Learnt> of_kinds;
  for (const int b_bytes : {2, 4, 8}) {
    Learnt& of_kind = of_kinds[b_bytes];
    const std::vector<RecordedProduct> products = products_to_learn_from(b_bytes);
    of_kind.weights = fitted_weights(products);
    std::vector<LikenessFacts> facts;
    std::vector<OfWidths> missed_on;
    std::vector<std::string> names;
    for (const auto& [name, missed] : missed_by_matrix(products, of_kind.weights)) {
      LikenessFacts own;
      for (std::size_t i = 0; i < own.size(); ++i) {
        own[i] = static_cast<float>(rounded(missed.facts[i].value()));
      }
      OfWidths at;
      for (std::size_t w = 0; w < at.size(); ++w) at[w] = missed.at(w);
      facts.push_back(own);
      missed_on.push_back(at);
      names.push_back(name);
    }
    const std::vector<std::size_t> chosen = representatives(facts);
    Square system(chosen.size(), std::vector<double>(chosen.size()));
    std::vector<OfWidths> weights(chosen.size(), OfWidths{});
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      for (std::size_t j = 0; j < chosen.size(); ++j) {
        system[i][j] = kNoise * likeness(facts[chosen[i]], facts[chosen[j]]);
      }
    }
    for (std::size_t of = 0; of < facts.size(); ++of) {
      std::vector<double> alike;
      alike.reserve(chosen.size());
      for (const std::size_t each : chosen) alike.push_back(likeness(facts[of], facts[each]));
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        for (std::size_t j = 0; j < chosen.size(); ++j) system[i][j] += alike[i] * alike[j];
        for (std::size_t w = 0; w < weights[i].size(); ++w) {
          weights[i][w] += alike[i] * missed_on[of][w];
        }
      }
    }
    solve(std::move(system), weights);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      MeasuredMatrix matrix{facts[chosen[i]], {}};
      std::transform(weights[i].begin(), weights[i].end(), matrix.weights.begin(),
                     [](double weight) { return static_cast<float>(rounded(weight)); });
      of_kind.matrices.push_back({names[chosen[i]], matrix});
    }
  }
  return of_kinds;
}

void write(const std::map<int, Learnt>& of_kinds) {
  std::ofstream out(kTable);
  out << "// B's bytes an element; weights of the formula's terms\n"
         "// B's bytes an element; facts; weights at 8, 16, 32, 64, 128 and 256 columns, 41 and "
         "127\n";
  char number[32];
  const auto write_all = [&](const char* before, const auto& values) {
    for (const double value : values) {
      std::snprintf(number, sizeof number, "%s%.3f", before, value);
      out << number;
      before = ", ";
    }
  };
  for (const auto& [b_bytes, of_kind] : of_kinds) {
    out << "CSRKIT_WEIGHTS(" << b_bytes;
    write_all(", ", of_kind.weights);
    out << ")\n";
  }
  for (const auto& [b_bytes, of_kind] : of_kinds) {
    for (const NamedMatrix& row : of_kind.matrices) {
      out << "CSRKIT_MEASURED(" << b_bytes;
      write_all(", {", row.matrix.facts);
      write_all("}, {", row.matrix.weights);
      out << "})  // " << row.name << '\n';
    }
  }
}

std::map<int, Learnt> read() {
  std::map<int, Learnt> of_kinds;
  std::ifstream in(kTable);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("CSRKIT_", 0) != 0) continue;
    const bool is_matrix = line.rfind("CSRKIT_MEASURED", 0) == 0;
    NamedMatrix row;
    if (is_matrix) row.name = line.substr(line.rfind(' ') + 1);
    line.resize(line.rfind(')'));
    for (char& each : line) each = std::strchr("(),{}", each) != nullptr ? ' ' : each;
    std::istringstream words(line);
    std::string macro;
    int b_bytes = 0;
    words >> macro >> b_bytes;
    Learnt& of_kind = of_kinds[b_bytes];
    if (!is_matrix) {
      for (double& weight : of_kind.weights) words >> weight;
    } else {
      for (float& fact : row.matrix.facts) words >> fact;
      for (float& weight : row.matrix.weights) words >> weight;
      of_kind.matrices.push_back(row);
    }
    EXPECT_FALSE(words.fail()) << line;
  }
  return of_kinds;
}

template <class Values>
void expect_near(const Values& values, const Values& wanted) {
  constexpr double kLastDigit = 2e-3;
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], kLastDigit);
}

}  // namespace

TEST(Likeness, IsWhatTheRecordsSay) {
  const std::map<int, Learnt> wanted = learnt();
  if (std::getenv("CSRKIT_UPDATE_GOLDEN") != nullptr) return write(wanted);
  std::map<int, Learnt> table = read();
  ASSERT_EQ(table.size(), 3u);
  for (const auto& [b_bytes, of_kind] : wanted) {
    SCOPED_TRACE("CSRKIT_UPDATE_GOLDEN=1 writes it again; bytes: " + std::to_string(b_bytes));
    expect_near(table[b_bytes].weights, of_kind.weights);
    const std::vector<NamedMatrix>& matrices = table[b_bytes].matrices;
    ASSERT_EQ(of_kind.matrices.size(), kRepresentatives);
    ASSERT_EQ(matrices.size(), kRepresentatives);
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      SCOPED_TRACE(of_kind.matrices[i].name);
      EXPECT_EQ(matrices[i].name, of_kind.matrices[i].name);
      expect_near(matrices[i].matrix.facts, of_kind.matrices[i].matrix.facts);
      expect_near(matrices[i].matrix.weights, of_kind.matrices[i].matrix.weights);
    }
  }
}

TEST(Likeness, AddsNothingFarFromAllThatWasMeasured) {
  SpmmProfile profile;
  profile.rows = profile.cols = 2'000'000'000;
  profile.nnz = 2'000'000'000'000;
  profile.dense_cols = 32;
  profile.sample = {8'000, 2'800, 8'200};
  EXPECT_NEAR(missed_by_formula(profile), 0, 1e-6);
}

TEST(Likeness, KnowsWidthsBetweenThoseThatWereMeasured) {
  const auto place_of = [](Index dense_cols, int b_bytes) {
    SpmmProfile profile;
    profile.dense_cols = dense_cols;
    profile.b_bytes = b_bytes;
    const WidthPlace place = place_of_width(profile);
    return static_cast<double>(place.from) + place.beyond;
  };
  EXPECT_EQ(place_of(1, 4), 0);
  EXPECT_EQ(place_of(8, 4), 0);
  EXPECT_NEAR(place_of(32, 4), 2, 1e-9);
  EXPECT_NEAR(place_of(48, 4), 2.585, 1e-3);
  EXPECT_EQ(place_of(4096, 4), 5);
  EXPECT_EQ(place_of(33, 4), 6) << "rows that begin anywhere";
  EXPECT_NEAR(place_of(72, 8), 3.17, 1e-2);
  EXPECT_NEAR(place_of(73, 8), 6.51, 1e-2);
  EXPECT_EQ(place_of(601, 8), 7);
}

}  // namespace csrkit::gpu
