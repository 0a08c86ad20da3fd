#include "core/contract/kernel_table.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

/// An operation as small as one can be.
struct Number {
  int value;
};
struct DoublingPlan : Plan {
  void evict_caches() override {}
};
struct Doubling {
  using Problem = Number;
  using Plan = DoublingPlan;
  static constexpr const char* kName = "doubling";
  static constexpr Capabilities kAll = kF32;
};

void require_legal(const Number& problem) {
  if (problem.value < 0) throw UsageError("negative");
}
Capabilities needed_for(const Number& problem) { return problem.value > 9 ? kF64 : kF32; }

Kernel<Doubling> kernel(const char* name, Capabilities can) {
  Kernel<Doubling> row;
  static_cast<KernelInfo&>(row) = {name, Role::ladder, can, ""};
  row.make = [](const Number&, const PlanOptions&) { return std::make_unique<DoublingPlan>(); };
  return row;
}

TEST(FindKernel, ListsWhatThereIs) {
  const KernelTable<Doubling> table = {kernel("one", 0), kernel("two", 0)};
  EXPECT_STREQ(find_kernel(table, "two").name, "two");
  try {
    find_kernel(table, "three");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "there is no kernel 'three' here; use one of one, two");
  }
}

TEST(Kernel, ChecksProblemCapabilitiesAndOptions) {
  const Kernel<Doubling> one = kernel("one", kF32 | kDeterministic);
  EXPECT_NE(one.make_plan(Number{1}, {}), nullptr);
  EXPECT_THROW(one.make_plan(Number{-1}, {}), UsageError);
  EXPECT_THROW(one.make_plan(Number{10}, {}), UsageError);  // needs f64
  PlanOptions options;
  options.variant = "nonsense";
  EXPECT_THROW(one.make_plan(Number{1}, options), UsageError);
  options.variant = "";
  const SavedAnalysis saved(3);
  options.saved = &saved;
  EXPECT_THROW(one.make_plan(Number{1}, options), UsageError);
}

TEST(Kernel, VariantsAreForKernelsThatHaveSome) {
  Kernel<Doubling> one = kernel("one", kF32 | kDeterministic);
  one.variants = [](const Number&) { return std::vector<std::string>{"fast"}; };
  PlanOptions options;
  options.variant = "fast";
  EXPECT_NE(one.make_plan(Number{1}, options), nullptr);
}

}  // namespace
}  // namespace csrkit
