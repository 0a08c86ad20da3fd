#include "core/contract/out_of_core.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

TEST(OutOfCore, NamesLeadBack) {
  for (const OutOfCore how :
       {OutOfCore::automatic, OutOfCore::never, OutOfCore::columns, OutOfCore::rows}) {
    EXPECT_EQ(parse_out_of_core(name_of(how)), how);
  }
  EXPECT_THROW(parse_out_of_core("panels"), UsageError);
}

TEST(OutOfCore, TheShareIsThatOfTheWayWithMoreBytes) {
  OutOfCoreReport report;
  EXPECT_EQ(report.copy_share(), 0) << "nothing was multiplied yet";
  report.bytes_in = 100;
  report.bytes_out = 40;
  report.copy_bytes_per_second = 50;
  report.seconds = 4;
  EXPECT_DOUBLE_EQ(report.copy_share(), 0.5);
  report.bytes_out = 160;
  EXPECT_DOUBLE_EQ(report.copy_share(), 0.8);
}

TEST(OutOfCore, KernelsSayThatTheyCan) {
  EXPECT_EQ(names_of(kOutOfCore, kF32), "out-of-core");
  EXPECT_THROW(require_capabilities(0, kOutOfCore, "this"), UsageError);
}

}  // namespace
}  // namespace csrkit
