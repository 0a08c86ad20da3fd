#include "tools/operation/tuning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/operation/operations/spmm.h"

namespace csrkit {
namespace {

CsrMatrix two_by_two() {
  const Offset offsets[] = {0, 1, 3};
  const Index cols[] = {1, 0, 1};
  const float values[] = {2, 3, 4};
  return {2, 2, Buffer<Offset>::copy_of(offsets, 3), Buffer<Index>::copy_of(cols, 3),
          ValueArray::from(Buffer<float>::copy_of(values, 3))};
}

/// Counts how often it was planned, and takes the time it is told.
int plans_made = 0;
std::function<void()> on_plan;  // what another process does meanwhile
template <int kMilliseconds>
class TimedPlan : public SpmmPlan {
 public:
  void bind(ConstDenseView, DenseView) override {}
  void multiply(double, double) override {}
  double time_multiply(double, double) override { return kMilliseconds * 1e-3; }
  void evict_caches() override {}
  OperatorShape shape() const override { return {}; }
  Phases phases() const override { return {}; }
};
template <int kMilliseconds>
std::unique_ptr<SpmmPlan> make_timed(const SpmmProblem&, const PlanOptions&) {
  ++plans_made;
  if (on_plan) on_plan();
  return std::make_unique<TimedPlan<kMilliseconds>>();
}
std::unique_ptr<SpmmPlan> make_too_big(const SpmmProblem&, const PlanOptions&) {
  throw MemoryError("needs 10 bytes, has 1");
}

std::unique_ptr<SpmmPlan> make_unfit(const SpmmProblem&, const PlanOptions&) {
  throw UsageError("most of A is empty");
}

const std::vector<SpmmKernel>& timed_table() {
  static const std::vector<SpmmKernel> table = {
      {"auto", Role::production, kEverything, "", make_timed<1>},
      {"too_big", Role::production, kEverything, "", make_too_big},
      {"unfit", Role::production, kEverything, "", make_unfit},
      {"slow", Role::production, kEverything, "", make_timed<20>},
      {"fast", Role::production, kEverything, "", make_timed<10>},
      {"rung", Role::ladder, kEverything, "", make_timed<1>},
      {"vendor_other", Role::vendor, kEverything, "", make_timed<1>}};
  return table;
}

const KernelTable<Spmm>* used_table = nullptr;

class Tuning : public testing::Test {
 protected:
  Tuning()
      : cache_(testing::TempDir() + "csrkit_" +
               testing::UnitTest::GetInstance()->current_test_info()->name() +
               std::to_string(getpid()) + ".json") {
    std::remove(cache_.c_str());
    plans_made = 0;
  }
  ~Tuning() override { std::remove(cache_.c_str()); }

  struct Place {
    std::string matrix, device;
  };
  TunedKernel tune(const Place& place = {"aa", "device"}, Index dense_cols = 4,
                   const KernelTable<Spmm>& table = timed_table()) {
    used_table = &table;
    request_.dense_cols = dense_cols;
    const CsrMatrix matrix = two_by_two();
    return tuned_kernel(
        cache_, {operation_.get(), "cpu", {matrix, matrix}, request_, place.matrix, place.device});
  }
  std::string content() const {
    std::ifstream stream(cache_);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& text) { std::ofstream(cache_) << text; }
  std::string refusal() {
    try {
      tune();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  std::string cache_;
  Request request_;
  std::unique_ptr<Operation> operation_ =
      make_spmm_operation({[]() -> const KernelTable<Spmm>& { return *used_table; }});
};

TEST_F(Tuning, TakesTheFastestProductionKernelAndRemembersIt) {
  TunedKernel tuned = tune();
  EXPECT_STREQ(tuned.kernel.kernel->name, "fast");
  EXPECT_EQ(tuned.because, "tuned: fast was the fastest of 2 kernels");
  EXPECT_EQ(plans_made, 2);
  tuned = tune();
  EXPECT_STREQ(tuned.kernel.kernel->name, "fast");
  EXPECT_EQ(tuned.because, "tuned: remembered in " + cache_);
  EXPECT_EQ(plans_made, 2) << "what is remembered is not measured";
  const Json file = Json::parse(content());
  EXPECT_EQ(file["entries"].size(), 1u);
  EXPECT_EQ(file["entries"][0]["median_seconds"]["slow"], 0.02);
}

/// Takes the milliseconds that its variant names.
std::unique_ptr<SpmmPlan> make_as_varied(const SpmmProblem& problem, const PlanOptions& options) {
  if (options.variant == "7ms") return make_timed<7>(problem, options);
  return make_timed<30>(problem, options);
}

TEST_F(Tuning, MeasuresEveryVariantAndRemembersIt) {
  static const std::vector<SpmmKernel> table = {
      {"plain", Role::production, kEverything, "", make_timed<10>},
      {"varied", Role::production, kEverything, "", make_as_varied,
       [](const SpmmProblem&) -> std::vector<std::string> {
         return {"30ms", "7ms"};
       }}};
  for (const char* because : {"tuned: varied 7ms was the fastest of 3 kernels", "remembered"}) {
    const TunedKernel tuned = tune({"aa", "device"}, 4, table);
    EXPECT_EQ(tuned.kernel.full_name(), "cpu.spmm.varied:7ms");
    EXPECT_NE(tuned.because.find(because), std::string::npos) << tuned.because;
  }
}

TEST_F(Tuning, SaysWhyNoKernelIsLeft) {
  static const std::vector<SpmmKernel> too_big = {
      {"too_big", Role::production, kEverything, "", make_too_big}};
  static const std::vector<SpmmKernel> unfit = {
      {"unfit", Role::production, kEverything, "", make_unfit}};
  const auto tune_with = [&](const std::vector<SpmmKernel>& table) {
    tune({"aa", "device"}, 4, table);
  };
  EXPECT_THROW(tune_with(too_big), MemoryError);
  EXPECT_THROW(tune_with(unfit), UsageError);
}

TEST_F(Tuning, AnotherProblemIsAnotherEntry) {
  tune();
  tune({"bb", "device"});
  tune({"aa", "other device"});
  tune({"aa", "device"}, 8);
  request_.is_cold = true;
  tune();
  request_.is_cold = false;
  request_.transpose = true;
  tune();
  request_.transpose = false;
  request_.plan.deterministic = false;
  tune();
  EXPECT_EQ(plans_made, 14);
  EXPECT_EQ(Json::parse(content())["entries"].size(), 7u);
}

TEST_F(Tuning, RefusesWhatIsNoCache) {
  for (const char* text :
       {"", "{", "[]", "{\"csrkit_tuning\": 2, \"entries\": []}", "{\"csrkit_tuning\": 1}",
        "{\"csrkit_tuning\": 1, \"entries\": [{}]}", "{\"csrkit_tuning\": 1, \"entries\": [7]}",
        "%%MatrixMarket", "{\"csrkit_tuning\": 1, \"entries\": [], \"entries\": []}",
        "{\"csrkit_tuning\": 1e9999, \"entries\": []}"}) {
    write(text);
    const std::string found = refusal();
    EXPECT_EQ(found.rfind(cache_ + ": ", 0), 0u) << text << " -> " << found;
    EXPECT_NE(found.find("give --tune another name, or delete this file if --tune made it"),
              std::string::npos)
        << found;
    EXPECT_EQ(content(), text) << "and leaves it alone";
  }
}

TEST_F(Tuning, RefusesAKernelOrVariantThatIsNotHere) {
  tune();
  const Json whole = Json::parse(content());
  for (const char* key : {"kernel", "variant"}) {
    Json changed = whole;
    changed["entries"][0][key] = "no such thing";
    write(changed.dump());
    EXPECT_NE(refusal().find(std::string(key) + ": expected a "), std::string::npos) << refusal();
  }
}

TEST_F(Tuning, ACaseThatAnotherProcessAddedMeanwhileIsThereOnce) {
  tune();
  const std::string whole = content();
  std::remove(cache_.c_str());
  on_plan = [&] { write(whole); };
  tune();
  on_plan = nullptr;
  EXPECT_EQ(Json::parse(content())["entries"].size(), 1u);
}

TEST_F(Tuning, EveryCutOfACacheIsRefused) {
  tune();
  const std::string whole = content();
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {  // the last line end is no loss
    write(whole.substr(0, size));
    ASSERT_NE(refusal(), "") << "cut at " << size;
  }
}

}  // namespace
}  // namespace csrkit
