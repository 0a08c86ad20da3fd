// What every pattern promises: sound matrices, the same bits for any thread count, refusals by
// name.
#include "preprocess/generate/generate.h"

#include <set>

#include "core/file/csr_file.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/generate/generate_testing.h"

namespace csrkit {
namespace {

struct Sample {
  const char* pattern;
  ParameterMap parameters;
  bool is_symmetric;
  bool is_random_pattern;
};

/// A directed graph in a file, which is there as long as the program runs.
const std::string& graph_file() {
  static const ScratchFolder folder;
  static const std::string path = folder / "graph.csr";
  static const bool is_written = [] {
    CsrFile file;
    file.matrix = make("rmat", {{"scale", "8"}});
    write_csr_file(path, file);
    return true;
  }();
  static_cast<void>(is_written);
  return path;
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"rmat", {{"scale", "10"}}, false, true},
      {"rmat", {{"scale", "9"}, {"undirected", "yes"}, {"shuffle", "no"}}, true, true},
      {"erdos-renyi", {{"rows", "1000"}, {"cols", "700"}, {"nnz", "9000"}}, false, true},
      {"communities", {{"n", "3000"}, {"spread", "2"}}, false, true},
      {"communities", {{"n", "3000"}, {"nnz", "30000"}, {"undirected", "yes"}}, true, true},
      {"communities",
       {{"n", "2000"}, {"cliques", "1.2"}, {"undirected", "yes"}, {"diagonal", "always"}},
       true,
       true},
      {"communities",
       {{"n", "500"},
        {"cols", "90"},
        {"mean", "5"},
        {"popularity", "power-law"},
        {"diagonal", "allowed"},
        {"lengths", "pareto"}},
       false,
       true},
      {"row-lengths", {{"histogram", "arxiv"}, {"scale", "0.01"}, {"near", "0.2"}}, false, true},
      {"poisson", {{"nx", "20"}}, true, false},
      {"poisson", {{"stencil", "9"}, {"nx", "13"}, {"ny", "7"}}, true, false},
      {"poisson", {{"stencil", "7"}, {"nx", "8"}, {"nz", "5"}}, true, false},
      {"poisson", {{"stencil", "27"}, {"nx", "7"}}, true, false},
      {"poisson",
       {{"stencil", "27"}, {"nx", "6"}, {"weight-y", "0.3"}, {"contrast", "50"}},
       true,
       false},
      {"laplacian", {{"graph", graph_file()}}, true, false},
      {"fem-blocks", {{"nx", "5"}, {"ny", "6"}, {"nz", "7"}, {"drop", "0.1"}}, true, true},
      {"proximity", {{"points", "900"}}, true, true},
      {"banded", {{"n", "500"}, {"bandwidth", "9"}, {"fill", "0.5"}}, true, true},
      {"banded",
       {{"n", "500"}, {"bandwidth", "9"}, {"fill", "0.5"}, {"symmetric", "no"}},
       false,
       true},
      {"banded", {{"n", "500"}, {"offsets", "1,20,400"}}, true, false},
      {"arrow", {{"n", "501"}}, true, false},
      {"epidemic", {{"size", "30"}}, false, false},
      {"dense", {{"rows", "17"}, {"cols", "33"}}, false, false},
      {"like", {{"name", "yelp"}, {"scale", "0.003"}}, false, true},
  };
  return all;
}

TEST(Generate, EveryPatternHasASample) {
  std::set<std::string> sampled;
  for (const Sample& sample : samples()) sampled.insert(sample.pattern);
  for (const GeneratePattern& pattern : generate_patterns()) {
    EXPECT_EQ(sampled.count(pattern.name), 1u) << pattern.name;
    EXPECT_NE(std::string(pattern.summary), "");
  }
}

TEST(Generate, MatricesAreSound) {
  for (const Sample& sample : samples()) {
    for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16}) {
      const CsrMatrix matrix = make(sample.pattern, sample.parameters, 5, kind);
      EXPECT_NO_THROW(validate(matrix, sample.pattern)) << sample.pattern;
      EXPECT_EQ(matrix.value_kind(), kind);
      EXPECT_GT(matrix.nnz(), 0) << sample.pattern;
    }
  }
}

TEST(Generate, SymmetricPatternsAreSymmetricInPatternAndValues) {
  for (const Sample& sample : samples()) {
    const CsrMatrix matrix = make(sample.pattern, sample.parameters);
    EXPECT_EQ(identical(matrix, transpose(matrix)), sample.is_symmetric) << sample.pattern;
  }
}

TEST(Generate, SameBitsForAnyNumberOfThreads) {
  const int threads_before = omp_get_max_threads();
  for (const Sample& sample : samples()) {
    omp_set_num_threads(1);
    const CsrMatrix serial = make(sample.pattern, sample.parameters, 7);
    for (const int threads : {2, 3, 7}) {
      omp_set_num_threads(threads);
      EXPECT_TRUE(identical(serial, make(sample.pattern, sample.parameters, 7)))
          << sample.pattern << " with " << threads << " threads";
    }
  }
  omp_set_num_threads(threads_before);
}

TEST(Generate, TheSeedDecides) {
  for (const Sample& sample : samples()) {
    const CsrMatrix one = make(sample.pattern, sample.parameters, 1);
    const CsrMatrix two = make(sample.pattern, sample.parameters, 2);
    EXPECT_EQ(same_pattern(one, two), !sample.is_random_pattern) << sample.pattern;
  }
}

TEST(Generate, ASeedIsRefusedWhereItChangesNothing) {
  for (const Sample& sample : samples()) {
    for (const ValueKind kind : {ValueKind::none, ValueKind::f32}) {
      GenerateOptions options;
      options.pattern = sample.pattern;
      options.parameters = sample.parameters;
      options.value_kind = kind;
      options.seed_is_given = true;
      bool is_refused = false;
      try {
        generate_matrix(options);
      } catch (const UsageError& error) {
        is_refused = true;
        EXPECT_NE(std::string(error.what()).find(": a seed has no effect"), std::string::npos);
      }
      const CsrMatrix one = make(sample.pattern, sample.parameters, 1, kind);
      const CsrMatrix two = make(sample.pattern, sample.parameters, 2, kind);
      EXPECT_EQ(is_refused, identical(one, two)) << sample.pattern << " " << name_of(kind);
    }
  }
}

TEST(Generate, TheValueKindDoesNotChangeThePattern) {
  for (const Sample& sample : samples()) {
    EXPECT_TRUE(same_pattern(make(sample.pattern, sample.parameters, 3, ValueKind::f64),
                             make(sample.pattern, sample.parameters, 3, ValueKind::none)))
        << sample.pattern;
  }
}

TEST(Generate, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusal("voronoi", {}).find("communities"), std::string::npos);
  EXPECT_NE(refusal("poisson", {{"nx", "4"}, {"color", "red"}}).find("color"), std::string::npos);
  EXPECT_NE(refusal("poisson", {}).find("nx"), std::string::npos);
}

TEST(Generate, RefusesBadParameters) {
  const std::vector<std::pair<std::string, ParameterMap>> bad = {
      {"rmat", {{"scale", "31"}}},
      {"rmat", {{"scale", "-1"}}},
      {"rmat", {{"scale", "4"}, {"a", "0.9"}, {"b", "0.3"}}},
      {"rmat", {{"scale", "4"}, {"a", "nan"}}},
      {"rmat", {{"scale", "4"}, {"undirected", "maybe"}}},
      {"erdos-renyi", {{"rows", "3"}, {"nnz", "10"}}},
      {"erdos-renyi", {{"rows", "0"}, {"nnz", "1"}}},
      {"erdos-renyi", {{"rows", "3"}, {"nnz", "1.5"}}},
      {"erdos-renyi", {{"rows", "3 "}, {"nnz", "1"}}},
      {"communities", {{"n", "10"}, {"nnz", "91"}}},
      {"communities", {{"n", "10"}, {"nnz", "31"}, {"undirected", "yes"}}},
      {"communities", {{"n", "10"}, {"mean", "3"}, {"longest", "10"}}},
      {"communities", {{"n", "100"}, {"inside", "0.9"}, {"inside_coarse", "0.2"}}},
      {"communities", {{"n", "100"}, {"cols", "50"}, {"mean", "3"}}},
      {"communities", {{"n", "100"}, {"cols", "50"}, {"mean", "3"}, {"undirected", "yes"}}},
      {"communities", {{"n", "100"}, {"lengths", "gauss"}}},
      {"communities", {{"n", "100"}, {"diagonal", "allowed"}, {"undirected", "yes"}}},
      {"communities", {{"n", "3000000000"}}},
      {"row-lengths", {{"histogram", "nowhere"}}},
      {"row-lengths", {{"histogram", "pubmed"}, {"cols", "100"}}},
      {"row-lengths", {{"histogram", "arxiv"}, {"diagonal", "always"}}},
      {"poisson", {{"nx", "0"}}},
      {"poisson", {{"nx", "4"}, {"nz", "2"}}},
      {"poisson", {{"nx", "4"}, {"stencil", "6"}}},
      {"poisson", {{"nx", "70000"}}},
      {"fem-blocks", {{"nx", "4"}, {"ny", "4"}, {"nz", "4"}, {"dof", "0"}}},
      {"fem-blocks", {{"nx", "4"}, {"ny", "4"}, {"nz", "4"}, {"drop", "1.1"}}},
      {"banded", {{"n", "4"}, {"offsets", "1,,2"}}},
      {"banded", {{"n", "4"}, {"offsets", "0"}}},
      {"banded", {{"n", "4"}, {"fill", ""}}},
      {"arrow", {{"n", "4"}, {"hub", "5"}}},
      {"epidemic", {{"size", "70000"}}},
      {"like", {{"name", "facebook"}}},
      {"like", {{"name", "cant"}, {"order", "shuffled"}}},
      {"like", {{"name", "arxiv"}, {"scale", "0"}}},
  };
  for (const auto& [pattern, parameters] : bad) {
    std::string shown;
    for (const auto& [name, value] : parameters) shown += " " + name + "=" + value;
    EXPECT_NE(refusal(pattern, parameters), "") << pattern << shown;
  }
}

TEST(Generate, RefusesValuesThatTheKindCannotHold) {
  const ParameterMap shifted = {{"graph", graph_file()}, {"shift", "1e12"}};
  const ParameterMap stiff = {{"stencil", "7"}, {"nx", "4"}, {"weight-y", "1e6"}};
  for (const auto& [pattern, parameters] :
       {std::pair<std::string, ParameterMap>{"laplacian", shifted}, {"poisson", stiff}}) {
    try {
      make(pattern, parameters, 1, ValueKind::f16);
      ADD_FAILURE() << pattern;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what())
                    .find(pattern + ": expected values that f16 can hold, found inf in row 0, "),
                0u)
          << error.what();
    }
    for (const ValueKind kind : {ValueKind::none, ValueKind::f32, ValueKind::bf16}) {
      EXPECT_GT(make(pattern, parameters, 1, kind).nnz(), 0) << pattern;
    }
  }
}

TEST(Generate, RefusesParametersThatWouldHaveNoEffect) {
  const std::vector<std::pair<std::string, ParameterMap>> bad = {
      {"rmat", {{"scale", "4"}, {"edges", "9"}, {"edge_factor", "2"}}},
      {"communities", {{"n", "10"}, {"nnz", "30"}, {"mean", "3"}}},
      {"communities", {{"n", "10"}, {"lengths", "pareto"}, {"spread", "1"}}},
      {"communities", {{"n", "10"}, {"exponent", "2"}}},
      {"communities", {{"n", "10"}, {"nnz", "30"}, {"shortest", "4"}, {"longest", "3"}}},
      {"poisson", {{"nx", "4"}, {"weight-z", "2"}}},
      {"banded", {{"n", "9"}, {"bandwidth", "2"}, {"offsets", "1"}}},
  };
  for (const auto& [pattern, parameters] : bad) {
    std::string shown;
    for (const auto& [name, value] : parameters) shown += " " + name + "=" + value;
    EXPECT_EQ(refusal(pattern, parameters).find(pattern + ": "), 0u) << pattern << shown;
  }
  // Beside each other where both count, and where the other one has no value.
  EXPECT_EQ(refusal("rmat", {{"scale", "4"}, {"edges", "auto"}, {"edge_factor", "2"}}), "");
  EXPECT_EQ(
      refusal("communities", {{"n", "10"}, {"nnz", "30"}, {"shortest", "3"}, {"longest", "3"}}),
      "");
  EXPECT_EQ(refusal("banded", {{"n", "9"}, {"bandwidth", "2"}, {"offsets", "none"}}), "");
}

TEST(Generate, EmptyMatricesExist) {
  EXPECT_EQ(make("erdos-renyi", {{"rows", "0"}, {"cols", "5"}, {"nnz", "0"}}).cols(), 5);
  EXPECT_EQ(make("erdos-renyi", {{"rows", "5"}, {"cols", "0"}, {"nnz", "0"}}).rows(), 5);
  EXPECT_EQ(make("communities", {{"n", "0"}, {"mean", "0"}}).rows(), 0);
  EXPECT_EQ(make("communities", {{"n", "1"}, {"mean", "0"}}).nnz(), 0);
  EXPECT_EQ(
      make("communities", {{"n", "4"}, {"nnz", "0"}, {"shortest", "0"}, {"undirected", "yes"}})
          .nnz(),
      0);
  EXPECT_EQ(make("banded", {{"n", "0"}}).nnz(), 0);
  EXPECT_EQ(make("arrow", {{"n", "0"}}).nnz(), 0);
  EXPECT_EQ(make("dense", {{"rows", "3"}, {"cols", "0"}}).nnz(), 0);
  EXPECT_EQ(make("proximity", {{"points", "0"}}).nnz(), 0);
  EXPECT_EQ(make("rmat", {{"scale", "0"}}).nnz(), 1);
}

TEST(Generate, ReportsProgress) {
  GenerateOptions options;
  options.pattern = "communities";
  options.parameters = {{"n", "20000"}};
  std::uint64_t calls = 0, total = 0;
  options.progress = [&](const char*, std::uint64_t done, std::uint64_t all) {
    ++calls;
    total = all;
    EXPECT_LE(done, all);
  };
  const int threads_before = omp_get_max_threads();
  omp_set_num_threads(1);
  generate_matrix(options);
  omp_set_num_threads(threads_before);
  EXPECT_GT(calls, 0u);
  EXPECT_EQ(total, 20000u);
}

}  // namespace
}  // namespace csrkit
