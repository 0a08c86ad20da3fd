#include <thread>

#include "api/handles.h"
#include "tests/unit/api/handles_testing.h"
#include "tests/unit/failing_allocations.h"
#include "tools/cli/run_tool.h"

namespace csrkit::api {
namespace {

TEST(Status, NumbersAreTheExitCodesOfTheTools) {
  EXPECT_EQ(int{CSRKIT_OK}, int{kExitDone});
  EXPECT_EQ(int{CSRKIT_CHECK_FAILED}, int{kExitCheckFailed});
  EXPECT_EQ(int{CSRKIT_USAGE}, int{kExitUsage});
  EXPECT_EQ(int{CSRKIT_BAD_INPUT}, int{kExitBadInput});
  EXPECT_EQ(int{CSRKIT_IO}, int{kExitIo});
  EXPECT_EQ(int{CSRKIT_MEMORY}, int{kExitMemory});
  EXPECT_EQ(int{CSRKIT_NO_GPU}, int{kExitNoGpu});
  EXPECT_EQ(int{CSRKIT_DEVICE}, int{kExitDevice});
  EXPECT_EQ(int{CSRKIT_INTERNAL}, int{kExitInternal});
}

template <class Thrown>
void expect_status(const Thrown& error, csrkit_status status) {
  EXPECT_EQ(guarded([&] { throw error; }), status);
  EXPECT_STREQ(csrkit_last_error(), error.what());
}

TEST(Status, EveryExceptionHasItsNumberAndKeepsItsMessage) {
  expect_status(UsageError("u"), CSRKIT_USAGE);
  expect_status(InputError("i"), CSRKIT_BAD_INPUT);
  expect_status(IoError("o"), CSRKIT_IO);
  expect_status(MemoryError("m"), CSRKIT_MEMORY);
  expect_status(NoDeviceError("n"), CSRKIT_NO_GPU);
  expect_status(DeviceError("d"), CSRKIT_DEVICE);
  expect_status(VerifyError("v"), CSRKIT_CHECK_FAILED);
  expect_status(Error("e"), CSRKIT_INTERNAL);
  expect_status(std::logic_error("l"), CSRKIT_INTERNAL);
  EXPECT_EQ(guarded([] { throw std::bad_alloc(); }), CSRKIT_MEMORY);
  EXPECT_TRUE(says("not enough memory"));
  EXPECT_EQ(guarded([] { throw 3; }), CSRKIT_INTERNAL);
  EXPECT_EQ(guarded([] {}), CSRKIT_OK);
  EXPECT_STREQ(csrkit_last_error(), "");
}

TEST(Status, AMessageBelongsToItsThread) {
  guarded([] { throw UsageError("mine"); });
  std::thread([] {
    EXPECT_STREQ(csrkit_last_error(), "");
    guarded([] { throw UsageError("theirs"); });
  }).join();
  EXPECT_STREQ(csrkit_last_error(), "mine");
}

/// A C program has nothing that catches: without memory a call returns its code.
TEST(Status, NothingIsThrownWithoutMemory) {
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  csrkit_plan_options options{};
  options.size = sizeof options;
  csrkit_plan* made = nullptr;
  ASSERT_OK(csrkit_plan_make(matrix.get(), &options, &made));
  const PlanHandle plan(made);
  std::vector<double> b(4, 1), c(4);
  const csrkit_dense of_b = dense_of(b, 4, 1, CSRKIT_F64), of_c = dense_of(c, 4, 1, CSRKIT_F64);
  ASSERT_OK(csrkit_bind(plan.get(), &of_b, &of_c));
  const auto status_of = [](const auto& call) {
    try {
      return call();
    } catch (...) {
      ADD_FAILURE() << "an exception left a function of csrkit.h";
      return CSRKIT_INTERNAL;
    }
  };
  int refusals = 0;
  test::failures_of([&] {
    EXPECT_EQ(status_of([&] { return csrkit_multiply(plan.get(), 1, 0); }), CSRKIT_OK);
    csrkit_matrix* product = nullptr;
    const csrkit_status status =
        status_of([&] { return csrkit_spgemm(matrix.get(), matrix.get(), nullptr, &product); });
    if (status != CSRKIT_OK) {
      EXPECT_EQ(status, CSRKIT_MEMORY);
      ++refusals;
    }
    csrkit_matrix_free(product);
  });
  EXPECT_GT(refusals, 10);
}

TEST(Status, StructuresMayBeOlderOrNewerThanTheLibrary) {
  SmallArrays small;
  const Matrix matrix = wrapped(small.view());
  // Of an older program: the members that it does not know keep what is behind its structure.
  csrkit_matrix_info info{};
  info.size = offsetof(csrkit_matrix_info, nnz);
  info.nnz = -7;
  EXPECT_OK(csrkit_info(matrix.get(), &info));
  EXPECT_EQ(info.cols, 4);
  EXPECT_EQ(info.nnz, -7);
  // Of a newer one: what the library does not know is left alone.
  struct {
    csrkit_matrix_info info;
    int later;
  } newer{};
  newer.info.size = sizeof newer;
  newer.later = 5;
  EXPECT_OK(csrkit_info(matrix.get(), &newer.info));
  EXPECT_EQ(newer.info.nnz, 6);
  EXPECT_EQ(newer.later, 5);
  info.size = 0;
  EXPECT_EQ(csrkit_info(matrix.get(), &info), CSRKIT_USAGE);
  EXPECT_TRUE(says("sizeof(csrkit_matrix_info)"));
}

}  // namespace
}  // namespace csrkit::api
