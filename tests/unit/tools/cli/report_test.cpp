#include "tools/cli/report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tools/cli/log.h"

namespace csrkit {
namespace {

TEST(Report, NumbersForPeople) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1166243), "1,166,243");
  EXPECT_EQ(with_commas(-123456), "-123,456");
  EXPECT_EQ(readable_bytes(512), "512 B");
  EXPECT_EQ(readable_bytes(4.0 * 1024 * 1024), "4.0 MiB");
  EXPECT_EQ(readable_seconds(0.0015), "1.50 ms");
  EXPECT_EQ(milliseconds(0.0012345), "1.234");
  EXPECT_EQ(milliseconds(0.0000123456), "0.01235");
}

TEST(Report, WholeCountsAreIntegersInJson) {
  const double largest = 9007199254740992;  // 2^53
  EXPECT_EQ(count_json(176).dump(), "176");
  EXPECT_EQ(count_json(0).dump(), "0");
  EXPECT_EQ(count_json(-largest).dump(), "-9007199254740992");
  EXPECT_EQ(count_json(0.5).dump(), "0.5");
  EXPECT_TRUE(count_json(2 * largest).is_number_float());
  EXPECT_EQ(count_json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Report, LinesAreAligned) {
  Report report;
  report.add("rows", "rows", std::int64_t{1000});
  report.add("value_kind", "kind of values", "f32");
  report.add("symmetric", "symmetric", true);
  EXPECT_EQ(report.text(), "rows            1,000\nkind of values  f32\nsymmetric       yes\n");
  EXPECT_EQ(report.json(),
            "{\"schema\":1,\"rows\":1000,\"value_kind\":\"f32\",\"symmetric\":true}\n");
}

TEST(Report, ANameBeginsNoLineOfItsOwn) {
  Report report;
  report.add("file", "file", std::string("a\nverified  yes"));
  report.add_text("two\nlines\n");
  EXPECT_EQ(report.text(), "file  a\\x0averified  yes\ntwo\nlines\n");
}

TEST(Report, TablesAlignNumbersRight) {
  TextTable table({"kernel", "ms"});
  table.add({"a", "1.5"});
  table.add({"longer", "12.25"});
  EXPECT_EQ(table.text(), "kernel     ms\na         1.5\nlonger  12.25\n");
}

TEST(Report, BytesThatAreNoUtf8StillMakeJson) {
  Report report;
  report.add("file", "file", std::string("na\xffme"));
  EXPECT_FALSE(Json::parse(report.json(), nullptr, false).is_discarded());
}

TEST(Report, TheProgressLineIsGoneBeforeAnythingIsPrinted) {
  for (const bool is_report : {false, true}) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    show_status_line("reading 17 %");
    if (is_report) {
      print(Report(), /*as_json=*/true);
    } else {
      print_text("matrix\n");
    }
    testing::internal::GetCapturedStdout();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\033[Kreading 17 %\r\033[K");
  }
}

}  // namespace
}  // namespace csrkit
