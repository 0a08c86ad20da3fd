// What holds for every ordering, and what make_ordering refuses.
#include <gtest/gtest.h>
#include <omp.h>

#include <set>

#include "core/base/team.h"
#include "preprocess/reorder/parts/partition_borders.h"
#include "preprocess/reorder/reorder.h"
#include "tests/unit/failing_allocations.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

using test::pattern_of;

/// Without a number of parts, small matrices would stay whole and METIS would not be called.
ReorderOptions three_parts(const ReorderMethod& method, const CsrMatrix& matrix) {
  ReorderOptions options;
  options.seed = 42;
  if (find_parameter(method.parameters, "parts") != nullptr && matrix.rows() > 0) {
    options.parameters["parts"] = std::to_string(std::min<Index>(3, matrix.rows()));
  }
  return options;
}

std::string refusal(const std::string& method, const CsrMatrix& matrix,
                    const ReorderOptions& options = {}) {
  try {
    make_ordering(method, matrix, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

bool is_same(const Permutation& a, const Permutation& b) {
  return a.size() == b.size() &&
         std::equal(a.new_of_old(), a.new_of_old() + a.size(), b.new_of_old());
}

TEST(ReorderRegistry, ListsTheMethods) {
  // In this order; others may stand between them.
  std::vector<std::string> left{"metis-partition", "metis-nested-dissection",
                                "row-similarity",  "gorder",
                                "community",       "rcm",
                                "degree",          "random",
                                "identity"};
  std::set<std::string> names;
  for (const ReorderMethod& method : reorder_methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name << " is there twice";
    if (!left.empty() && left.back() == method.name) left.pop_back();
  }
  EXPECT_TRUE(left.empty()) << left.back();
}

TEST(ReorderRegistry, MethodsThatShareAParameterDeclareItAlike) {
  for (const OwnedParameter& row : all_parameters(reorder_methods())) {
    for (const ReorderMethod& method : reorder_methods()) {
      const Parameter* own = find_parameter(method.parameters, row.parameter.name);
      if (own == nullptr) continue;
      EXPECT_EQ(own->expected(), row.parameter.expected()) << method.name;
      EXPECT_EQ(own->default_value, row.parameter.default_value) << method.name;
      EXPECT_EQ(own->summary, row.parameter.summary) << method.name;
    }
  }
}

TEST(ReorderRegistry, EveryMethodTakesEveryShape) {
  const auto battery = test::square_battery();
  for (const ReorderMethod& method : reorder_methods()) {
    if (!method.is_available) continue;
    for (const auto& [name, matrix] : battery) {
      SCOPED_TRACE(std::string(method.name) + " on " + name);
      const Ordering ordering = make_ordering(method.name, matrix, three_parts(method, matrix));
      ASSERT_EQ(ordering.order.size(), matrix.rows());
      // Permutation's factories refuse anything but a bijection; here, that both directions agree.
      for (Index i = 0; i < matrix.rows(); ++i) {
        ASSERT_EQ(ordering.order.old_of_new()[ordering.order.new_of_old()[i]], i);
      }
      const std::string own = method.name;
      const bool has_parts = own == "metis-partition" || (own == "community" && matrix.rows() > 0);
      EXPECT_EQ(ordering.partition.has_value(), has_parts);
      const CsrMatrix moved = permute_both(matrix, ordering.order);
      EXPECT_TRUE(identical(permute_both(moved, ordering.order.inverse()), matrix));
    }
  }
}

TEST(ReorderRegistry, EveryMethodRepeatsItselfForAnyNumberOfThreads) {
  const CsrMatrix matrix = test::power_law(6000, 20000, 5);
  const int before = omp_get_max_threads();
  for (const ReorderMethod& method : reorder_methods()) {
    if (!method.is_available) continue;
    SCOPED_TRACE(method.name);
    const ReorderOptions options = three_parts(method, matrix);
    omp_set_num_threads(1);
    const Permutation once = make_ordering(method.name, matrix, options).order;
    for (const int threads : {1, 2, 5}) {
      omp_set_num_threads(threads);
      EXPECT_TRUE(is_same(make_ordering(method.name, matrix, options).order, once)) << threads;
    }
  }
  omp_set_num_threads(before);
}

TEST(ReorderRegistry, EveryMethodTakesAHundredThousandLeavesAndALongPath) {
  for (const auto& matrix : {test::star(100000), test::path(100000)}) {
    for (const ReorderMethod& method : reorder_methods()) {
      if (!method.is_available) continue;
      SCOPED_TRACE(method.name);
      EXPECT_EQ(make_ordering(method.name, matrix).order.size(), matrix.rows());
    }
  }
}

TEST(ReorderRegistry, OnlyMetisNeedsASquareMatrix) {
  for (const auto& matrix :
       {pattern_of(2, 5, {{0, 4}, {1, 0}, {1, 2}}), pattern_of(3, 0, {}), pattern_of(0, 3, {})}) {
    for (const ReorderMethod& method : reorder_methods()) {
      SCOPED_TRACE(method.name);
      if (!method.needs_square()) {
        const Ordering ordering = make_ordering(method.name, matrix);
        EXPECT_EQ(ordering.order.size(), matrix.rows());
        EXPECT_EQ(ordering.col_order.has_value(), method.takes == Takes::graph);
        if (ordering.col_order) {
          EXPECT_EQ(ordering.col_order->size(), matrix.cols());
        }
      } else if (method.is_available) {
        EXPECT_NE(refusal(method.name, matrix).find("needs a square matrix"), std::string::npos)
            << refusal(method.name, matrix);
      }
    }
  }
}

TEST(ReorderRegistry, SaysWhatThereIsForAnUnknownName) {
  const std::string message = refusal("metis", test::path(3));
  EXPECT_NE(message.find("'metis'"), std::string::npos) << message;
  EXPECT_NE(message.find("metis-nested-dissection, metis-partition"), std::string::npos) << message;
}

TEST(ReorderRegistry, RefusesParametersOfOtherMethods) {
  const CsrMatrix matrix = test::path(3);
  for (const ReorderMethod& owner : reorder_methods()) {
    for (const Parameter& parameter : owner.parameters) {
      ReorderOptions options;
      options.parameters[parameter.name] = parameter.default_value;
      for (const ReorderMethod& method : reorder_methods()) {
        if (!method.is_available) continue;
        SCOPED_TRACE(parameter.name + " of " + method.name);
        if (find_parameter(method.parameters, parameter.name) != nullptr) {
          EXPECT_EQ(refusal(method.name, matrix, options), "accepted");
        } else {
          EXPECT_NE(refusal(method.name, matrix, options).find("is a parameter of "),
                    std::string::npos);
        }
      }
    }
  }
  ReorderOptions parts, negative, unknown;
  parts.parameters["parts"] = "3";
  EXPECT_EQ(refusal("degree", matrix, parts),
            "'parts' is a parameter of metis-partition, not of degree");
  negative.parameters["parts"] = "-1";
  EXPECT_NE(refusal("metis-partition", matrix, negative), "accepted");
  unknown.parameters["color"] = "red";
  EXPECT_EQ(refusal("rcm", matrix, unknown), "rcm has no parameter 'color'; it has none");
}

TEST(ReorderRegistry, ForecastsAndKeepsTheMemoryLimit) {
  const CsrMatrix matrix = test::path(1000);
  for (const ReorderMethod& method : reorder_methods()) {
    if (!method.is_available) continue;
    SCOPED_TRACE(method.name);
    const std::uint64_t bytes =
        forecast_reorder(method, matrix.rows(), matrix.cols(), matrix.nnz(), team_size(0)).bytes;
    EXPECT_GE(bytes, 1000 * sizeof(Index));
    ReorderOptions options;
    options.memory_limit_bytes = bytes;
    EXPECT_NO_THROW(make_ordering(method.name, matrix, options));
    options.memory_limit_bytes = bytes - 1;
    try {
      make_ordering(method.name, matrix, options);
      ADD_FAILURE() << "not refused";
    } catch (const MemoryError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos)
          << error.what();
    }
  }
}

// Each of its threads sorts all rows by another band, and there are 16 bands at most. Rows without
// an entry take no part.
TEST(ReorderRegistry, MemoryOfRowSimilarityGrowsWithThreads) {
  const auto bytes = [](Index rows, Offset nnz, int threads) {
    return forecast_reorder(find_reorder_method("row-similarity"), rows, 1000, nnz, threads).bytes;
  };
  EXPECT_EQ(bytes(1000000, 4000000, 4) - bytes(1000000, 4000000, 1), 3u * 16 * 1000000);
  EXPECT_EQ(bytes(1000000, 4000000, 128), bytes(1000000, 4000000, 16));
  EXPECT_EQ(bytes(1000000, 1000, 2) - bytes(1000000, 1000, 1), 16u * 1000);
  const auto degree = [](int threads) {
    return forecast_reorder(find_reorder_method("degree"), 1000000, 1000, 4000000, threads).bytes;
  };
  EXPECT_EQ(degree(16), degree(1));
}

TEST(ReorderRegistry, MemoryCountsColumnsAndVerticesWithoutEdges) {
  const auto bytes = [](const char* method, Index rows, Index cols, Offset nnz) {
    return forecast_reorder(find_reorder_method(method), rows, cols, nnz, 1).bytes;
  };
  // gorder looks at the rows of every column.
  EXPECT_EQ(bytes("gorder", 1000, 500000, 4000) - bytes("gorder", 1000, 1000, 4000), 40u * 499000);
  EXPECT_EQ(bytes("gorder", 1000, 10, 4000), bytes("gorder", 1000, 1000, 4000));
  // Groups of one vertex stay on every level.
  EXPECT_GT(bytes("community", 1000000, 1000000, 10), 80u * 1000000);
  EXPECT_EQ(bytes("community", 0, 0, 0), 0u);
}

TEST(ReorderRegistry, SaysHowToGetWhatWasNotBuilt) {
  for (const ReorderMethod& method : reorder_methods()) {
    if (method.is_available) continue;
    const std::string message = refusal(method.name, test::path(3));
    EXPECT_NE(message.find("built without METIS"), std::string::npos) << message;
    EXPECT_NE(message.find("libmetis-dev"), std::string::npos) << message;
  }
}

/// Of a caller's process, too: threads hand out what they met.
TEST(ReorderRegistry, EveryAllocationMayFail) {
  const CsrMatrix matrix = test::power_law(300, 1500, 9);
  for (const ReorderMethod& method : reorder_methods()) {
    if (std::string(method.name).rfind("metis", 0) == 0) continue;  // allocates for itself
    SCOPED_TRACE(method.name);
    Ordering ordering;
    EXPECT_GT(test::failures_of([&] {
                ordering = make_ordering(method.name, matrix, three_parts(method, matrix));
              }),
              2);
    if (!ordering.partition.has_value()) continue;
    EXPECT_GT(test::failures_of([&] { partition_borders(matrix, *ordering.partition); }), 2);
  }
}

}  // namespace
}  // namespace csrkit
