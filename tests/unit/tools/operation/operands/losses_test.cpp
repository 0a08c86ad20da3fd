#include "tools/operation/operands/losses.h"

#include <gtest/gtest.h>

#include "tests/unit/core/file/csr_file_samples.h"
#include "tools/cli/log.h"

namespace csrkit {
namespace {

std::string said(const Losses& losses) {
  testing::internal::CaptureStderr();
  start_log("csr-test");
  set_log_level(LogLevel::normal);
  warn_of_losses("a.csr", losses);
  return testing::internal::GetCapturedStderr();
}

TEST(Losses, WarnsOfTheFirstOfEachKind) {
  const CsrMatrix sound = make_csr(1, 2, {0, 1}, {0}, {1}, ValueKind::f64);
  const CsrMatrix lossy = make_csr(1, 2, {0, 2}, {0, 1}, {1e39, 1e-50}, ValueKind::f64);
  const CsrMatrix later = make_csr(1, 2, {0, 2}, {0, 1}, {1e-60, 1e49}, ValueKind::f64);
  Losses losses;
  losses.note(sound, ValueKind::f32);
  EXPECT_EQ(said(losses), "");
  losses.note(lossy, ValueKind::f32);
  losses.note(later, ValueKind::f32);
  EXPECT_EQ(said(losses),
            "csr-test: warning: a.csr: 1 value beyond the range of f32, the first 1e+39 in row 0, "
            "column 0 (counted from 0); they become infinite: use a wider kind\n"
            "csr-test: warning: a.csr: 1 value too small for f32, the first 1e-50 in row 0, column "
            "1 (counted from 0); they become 0: use a wider kind\n");
}

}  // namespace
}  // namespace csrkit
