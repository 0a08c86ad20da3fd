#include "tools/bench/turns.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "api/rooms.h"
#include "core/base/error.h"
#include "core/file/csr_file.h"
#include "tools/operation/operations.h"
#include "tools/operation/operations/spmm.h"

namespace csrkit {
namespace {

/// What the plans below did, in order: "p" planned, "t" timed, with the letter of the kernel.
std::string diary;
int plans_alive = 0;

/// Says what it does and multiplies nothing. It cannot stand others of its kind: "g" (greedy) finds
/// too little memory to be planned beside another plan, "l" (late) to be timed, "b" is broken.
class TalkingPlan : public SpmmPlan {
 public:
  explicit TalkingPlan(char name) : name_(name) {
    diary += std::string("p") + name;
    if (name_ == 'g' && plans_alive > 0) throw MemoryError("greedy");
    ++plans_alive;
  }
  ~TalkingPlan() override { --plans_alive; }
  void bind(ConstDenseView, DenseView) override {}
  void multiply(double, double) override {}
  double time_multiply(double, double) override {
    diary += std::string("t") + name_;
    if (name_ == 'l' && plans_alive > 1) throw MemoryError("late");
    if (name_ == 'b') throw DeviceError("broken");
    return 1;
  }
  void evict_caches() override { diary += "e"; }
  OperatorShape shape() const override { return {}; }
  Phases phases() const override { return {}; }

 private:
  char name_;
};

template <char name>
std::unique_ptr<SpmmPlan> make(const SpmmProblem&, const PlanOptions&) {
  return std::make_unique<TalkingPlan>(name);
}

const KernelTable<Spmm>& talking_kernels() {
  static const KernelTable<Spmm> table = {{{"x", Role::ladder, kEverything, ""}, make<'x'>},
                                          {{"y", Role::ladder, kEverything, ""}, make<'y'>},
                                          {{"greedy", Role::ladder, kEverything, ""}, make<'g'>},
                                          {{"late", Role::ladder, kEverything, ""}, make<'l'>},
                                          {{"broken", Role::ladder, kEverything, ""}, make<'b'>}};
  return table;
}

class Turns : public testing::Test {
 protected:
  Turns() : operation_(make_spmm_operation({&talking_kernels})) {
    const Offset offsets[] = {0, 1};
    const Index cols[] = {0};
    CsrFile file;
    file.matrix = {1, 1, Buffer<Offset>::copy_of(offsets, 2), Buffer<Index>::copy_of(cols, 1),
                   ValueArray(ValueKind::f32, 1)};
    write_csr_file(path_, file);
    place_.machine = {{"threads", 1}, {"cpu", "a processor"}, {"gpu", nullptr}};
    request_.warmup = 0;
    request_.stop.repeat = 3;
    diary.clear();
  }
  ~Turns() override { std::remove(path_.c_str()); }

  std::vector<Json> record(const std::vector<std::string>& names) {
    kernels_.clear();
    for (const std::string& name : names)
      kernels_.push_back({find_kernel(*operation_, kCpu, name)});
    BenchMatrix matrix(path_, {});
    std::vector<BenchCase> cases;
    for (const BenchKernel& kernel : kernels_) cases.push_back({&kernel, request_});
    return record_cases(matrix, cases, place_);
  }

  static std::size_t count(const std::string& what) {
    std::size_t found = 0;
    for (std::size_t i = 0; i + what.size() <= diary.size(); ++i) {
      found += diary.compare(i, what.size(), what) == 0 ? 1 : 0;
    }
    return found;
  }

  std::string path_ = testing::TempDir() + std::to_string(getpid()) + "_turns_test.csr";
  std::unique_ptr<Operation> operation_;
  std::vector<BenchKernel> kernels_;
  Request request_;
  BenchPlace place_;
};

TEST_F(Turns, AreTakenSampleBySample) {
  const std::vector<Json> records = record({"x", "y"});
  // Each sample follows an untimed product of the same kernel, for the caches were the other's.
  ASSERT_EQ(diary.substr(0, 4), "pxpy");
  for (int round = 0; round < 3; ++round) {
    const std::string turns = diary.substr(4 + 8 * static_cast<std::size_t>(round), 8);
    EXPECT_TRUE(turns == "txtxtyty" || turns == "tytytxtx") << diary;
  }
  for (const Json& record : records) {
    EXPECT_EQ(record["status"], "done");
    EXPECT_EQ(record["samples_seconds"].size(), 3u);
    EXPECT_EQ(record["turns"]["id"], records[0]["turns"]["id"]);
    EXPECT_EQ(record["turns"]["cases"], 2);
  }
  EXPECT_NE(record({"x"})[0]["turns"]["id"], records[0]["turns"]["id"]);
}

TEST_F(Turns, TheOrderIsShuffledAndRepeatable) {
  request_.stop.repeat = 40;
  record({"x", "y"});
  const std::string first = diary;
  EXPECT_GT(count("txtxtyty"), 5u);
  EXPECT_GT(count("tytytxtx"), 5u);
  diary.clear();
  record({"x", "y"});
  EXPECT_EQ(diary, first);
}

TEST_F(Turns, OneAloneNeedsNoUntimedProducts) {
  record({"x"});
  EXPECT_EQ(diary, "pxtxtxtx");
}

TEST_F(Turns, ColdCachesAreEvictedBeforeEverySample) {
  request_.is_cold = true;
  record({"x", "y"});
  EXPECT_EQ(count("etx"), 3u);
  EXPECT_EQ(count("ety"), 3u);
  EXPECT_EQ(count("t"), 6u);
}

TEST_F(Turns, WhatFailsIsARecordAndTheOthersGoOn) {
  const std::vector<Json> records = record({"x", "broken", "y"});
  EXPECT_EQ(records[1]["status"], "failed");
  EXPECT_EQ(records[1]["reason"], "broken");
  for (const int i : {0, 2}) {
    EXPECT_EQ(records[static_cast<std::size_t>(i)]["samples_seconds"].size(), 3u);
  }
}

TEST_F(Turns, WhatDoesNotFitBesideOthersIsMeasuredAfterThem) {
  for (const char* name : {"greedy", "late"}) {
    const std::vector<Json> records = record({"x", name, "y"});
    for (const Json& record : records) EXPECT_EQ(record["samples_seconds"].size(), 3u) << name;
    EXPECT_EQ(records[0]["turns"]["id"], records[2]["turns"]["id"]);
    EXPECT_NE(records[0]["turns"]["id"], records[1]["turns"]["id"]);
    EXPECT_EQ(records[1]["turns"]["cases"], 1);
    EXPECT_EQ(plans_alive, 0);
  }
}

}  // namespace
}  // namespace csrkit
