#include <algorithm>
#include <cmath>

#include "tests/unit/preprocess/import/scratch_file.h"

namespace csrkit {
namespace {

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";
const std::string kInteger = "%%MatrixMarket matrix coordinate integer general\n";
const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string kSkew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";

ImportOptions with_kind(const std::string& kind) {
  ImportOptions options;
  options.value_kind = kind;
  return options;
}

ImportOptions with_duplicates(Duplicates duplicates) {
  ImportOptions options;
  options.duplicates = duplicates;
  return options;
}

TEST(MatrixMarket, GeneralReal) {
  const ImportResult result = import_text(kGeneral + "2 3 3\n1 1 1.5\n2 3 -2e1\n1 2 .25\n");
  EXPECT_EQ(result.format, "matrix-market");
  EXPECT_EQ(text_of(result.matrix), "2x3: 0,0=1.5 0,1=0.25 1,2=-20");
  EXPECT_EQ(result.entries_read, 3);
  EXPECT_EQ(result.repairs.out_of_order, 1);
  EXPECT_EQ(result.repairs.duplicates, 0);
  EXPECT_FALSE(result.is_symmetric_by_format);
}

TEST(MatrixMarket, ACommentOfTheExporterNamesTheKind) {
  const auto kind_of = [](const std::string& comments) {
    return import_text(kGeneral + comments + "1 1 1\n1 1 1.5\n").matrix.value_kind();
  };
  EXPECT_EQ(kind_of("% values are f32\n"), ValueKind::f32);
  EXPECT_EQ(kind_of("% values are f16\r\n"), ValueKind::f16);
  EXPECT_EQ(kind_of("% mine\n\n% values are bf16\n"), ValueKind::bf16);
  EXPECT_EQ(kind_of("% values are f64\n"), ValueKind::f64);
  EXPECT_EQ(kind_of("% values are none\n"), ValueKind::f64);
  EXPECT_EQ(kind_of("% values are f32 or so\n"), ValueKind::f64);
  EXPECT_EQ(kind_of("%values are f32\n"), ValueKind::f64);
  EXPECT_EQ(import_text(kGeneral + "% values are f32\n1 1 1\n1 1 0.1\n", with_kind("f64"))
                .matrix.value_kind(),
            ValueKind::f64);
  // Not a header any more.
  EXPECT_EQ(import_text(kGeneral + "1 1 1\n% values are f32\n1 1 0.1\n").matrix.value_kind(),
            ValueKind::f64);
}

TEST(MatrixMarket, AcceptsHowPeopleWriteIt) {
  const std::string expected = "2x2: 0,0=1 1,1=2";
  EXPECT_EQ(
      text_of(import_text("%%mAtRiXmArKeT MATRIX Coordinate REAL General\n2 2 2\n1 1 1\n2 2 2\n")
                  .matrix),
      expected);
  EXPECT_EQ(
      text_of(import_text("%%MatrixMarket matrix coordinate double general\n2 2 2\n1 1 1\n2 2 2")
                  .matrix),
      expected);
  EXPECT_EQ(text_of(import_text("%%MatrixMarket matrix coordinate real general\r\n% c\r\n\r\n2 2 "
                                "2\r\n1 1 1\r\n\r\n2 2 2\r\n")
                        .matrix),
            expected);
  EXPECT_EQ(
      text_of(import_text(kGeneral + "%%GraphBLAS type double\n%\n\n  %x\n 2 \t2 2 \n%in\n\t1  1 "
                                     "+1.0D+00 \n\n % between\n2 2 20d-1\n% end\n\n\n")
                  .matrix),
      expected);
  EXPECT_EQ(
      text_of(import_text(kGeneral + "2 2 2\n001 01 1.\n2 2 2.000000000000000000000000000000\n")
                  .matrix),
      expected);
}

TEST(MatrixMarket, WarnsOfALastNumberThatMayBeCut) {
  const auto warnings = [](const std::string& text, const std::string& kind = "auto") {
    return import_text(text, with_kind(kind)).warnings;
  };
  const std::string head = kGeneral + "9 9 2\n1 1 1.5\n";
  for (const char* number : {"1", "1.", "1.2", "-1.25e-1", "0", "1.25e-31", "3.D+5"}) {
    const std::vector<std::string> found = warnings(head + "9 9 " + number);
    ASSERT_EQ(found.size(), 1u) << number;
    EXPECT_EQ(found[0].find("line 4, the last one, has no line end behind \"" +
                            std::string(number) + "\": if the file was cut there"),
              0u)
        << found[0];
    EXPECT_EQ(warnings(head + "9 9 " + number + "\n").size(), 0u);
    EXPECT_EQ(warnings(head + "9 9 " + number + " ").size(), 0u);
    EXPECT_EQ(warnings(head + "9 9 " + number + "\r").size(), 0u);
    EXPECT_EQ(warnings(head + "9 9 " + number + "\n% 5").size(), 0u);
    EXPECT_EQ(warnings(head + "9 9 " + number, "none").size(), 0u);
  }
  for (const char* number : {"inf", "nan", "1.25e-03", "1.25E+00", "1e100", "1.25D-09"}) {
    EXPECT_EQ(warnings(head + "9 9 " + number).size(), 0u) << number;
  }
  // A column that could have no other digit is whole.
  EXPECT_EQ(warnings(kPattern + "99 99 1\n1 10").size(), 0u);
  EXPECT_EQ(warnings(kPattern + "99 99 1\n1 9").size(), 1u);
  EXPECT_EQ(warnings(kPattern + "99 89 1\n1 9").size(), 0u);
  EXPECT_EQ(warnings("%%MatrixMarket matrix array real general\n1 2\n1.5\n2").size(), 1u);
}

TEST(MatrixMarket, InfinityAndNaN) {
  const ImportResult result =
      import_text(kGeneral + "1 4 4\n1 1 inf\n1 2 -Infinity\n1 3 NaN\n1 4 -inf");
  const double* values = result.matrix.view<double>().values;
  EXPECT_EQ(values[0], INFINITY);
  EXPECT_EQ(values[1], -INFINITY);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], -INFINITY);
}

TEST(MatrixMarket, NumbersKeepEveryDigit) {
  const ImportResult result = import_text(
      kGeneral +
      "1 3 3\n1 1 0.30440317510077531\n1 2 4.9406564584124654e-324\n1 3 1.7976931348623157e308\n");
  const double* values = result.matrix.view<double>().values;
  EXPECT_EQ(values[0], 0.30440317510077531);
  EXPECT_EQ(values[1], 4.9406564584124654e-324);
  EXPECT_EQ(values[2], 1.7976931348623157e308);
}

TEST(MatrixMarket, KindsOfValues) {
  const std::string text = kInteger + "1 2 2\n1 1 3\n1 2 -4\n";
  EXPECT_EQ(import_text(text).matrix.value_kind(), ValueKind::f64);
  for (const char* kind : {"f32", "f64", "f16", "bf16"}) {
    const ImportResult result = import_text(text, with_kind(kind));
    EXPECT_EQ(name_of(result.matrix.value_kind()), std::string(kind));
    EXPECT_EQ(text_of(result.matrix), "1x2: 0,0=3 0,1=-4");
  }
  EXPECT_EQ(text_of(import_text(text, with_kind("none")).matrix), "1x2: 0,0 0,1");
  EXPECT_EQ(text_of(import_text(kPattern + "1 2 1\n1 2\n").matrix), "1x2: 0,1");
  EXPECT_EQ(text_of(import_text(kPattern + "1 2 1\n1 2\n", with_kind("f32")).matrix), "1x2: 0,1=1");
  EXPECT_REFUSAL("usage: ", text, with_kind("f33"));
}

TEST(MatrixMarket, WholeNumbersThatADoubleCannotHold) {
  const std::string text = kInteger + "1 1 1\n1 1 9007199254740993\n";
  EXPECT_REFUSAL("3: expected a whole number of at most 2^53", text);
  EXPECT_EQ(text_of(import_text(text, with_kind("f64")).matrix), "1x1: 0,0=9007199254740992");
  const std::string huge = kInteger + "1 1 1\n1 1 -18446744073709551615\n";
  EXPECT_REFUSAL("3: expected a whole number of at most 2^53", huge);
  EXPECT_EQ(text_of(import_text(huge, with_kind("f64")).matrix),
            "1x1: 0,0=-1.8446744073709552e+19");
  EXPECT_REFUSAL("3: expected a whole number as the value, found \"1.5\"",
                 kInteger + "1 1 1\n1 1 1.5\n");
  EXPECT_REFUSAL("3: expected a whole number as the value, found \"inf\"",
                 kInteger + "1 1 1\n1 1 inf\n");
}

TEST(MatrixMarket, ValuesBeyondTheRangeOfTheirKind) {
  EXPECT_REFUSAL("3: expected a value within the range of f64", kGeneral + "1 1 1\n1 1 1e999\n");
  EXPECT_REFUSAL("3: expected a value within the range of f32", kGeneral + "1 1 1\n1 1 1e39\n",
                 with_kind("f32"));
  EXPECT_REFUSAL("3: expected a value within the range of f16", kGeneral + "1 1 1\n1 1 70000\n",
                 with_kind("f16"));
  EXPECT_EQ(text_of(import_text(kGeneral + "1 1 1\n1 1 1e-999\n").matrix), "1x1: 0,0=0");
}

TEST(MatrixMarket, Symmetric) {
  const ImportResult result = import_text(kSymmetric + "3 3 3\n1 1 1\n3 1 2\n3 2 3\n");
  EXPECT_EQ(text_of(result.matrix), "3x3: 0,0=1 0,2=2 1,2=3 2,0=2 2,1=3");
  EXPECT_EQ(result.entries_read, 3);
  EXPECT_EQ(result.entries_mirrored, 2);
  EXPECT_EQ(result.repairs.out_of_order, 0);
  EXPECT_TRUE(result.is_symmetric_by_format);
}

TEST(MatrixMarket, SymmetricWithEntriesAboveTheDiagonal) {
  EXPECT_EQ(text_of(import_text(kSymmetric + "2 2 1\n1 2 5\n").matrix), "2x2: 0,1=5 1,0=5");
  const std::string both = kSymmetric + "2 2 2\n1 2 5\n2 1 7\n";
  const ImportResult summed = import_text(both);
  EXPECT_EQ(text_of(summed.matrix), "2x2: 0,1=12 1,0=12");
  EXPECT_EQ(summed.repairs.duplicates, 2);
  EXPECT_EQ(summed.notes.count("triangles"), 1u);
  ASSERT_EQ(summed.warnings.size(), 1u);
  EXPECT_NE(summed.warnings[0].find("--duplicates first"), std::string::npos);
  const ImportResult kept = import_text(both, with_duplicates(Duplicates::first));
  EXPECT_EQ(text_of(kept.matrix), "2x2: 0,1=5 1,0=7");
  EXPECT_TRUE(kept.warnings.empty());
  EXPECT_TRUE(import_text(kSymmetric + "3 3 2\n1 2 5\n3 1 7\n").warnings.empty());
  EXPECT_REFUSAL(" expected every entry once, found row 0, column 1", both,
                 with_duplicates(Duplicates::error));
}

TEST(MatrixMarket, SkewSymmetric) {
  EXPECT_EQ(text_of(import_text(kSkew + "2 2 1\n2 1 5\n").matrix), "2x2: 0,1=-5 1,0=5");
  EXPECT_EQ(text_of(import_text(kSkew + "2 2 2\n2 1 5\n1 1 0\n").matrix),
            "2x2: 0,0=0 0,1=-5 1,0=5");
  EXPECT_EQ(text_of(import_text(kSkew + "2 2 1\n2 1 5\n", with_kind("f32")).matrix),
            "2x2: 0,1=-5 1,0=5");
  EXPECT_EQ(text_of(import_text(kSkew + "2 2 1\n2 1 5\n", with_kind("none")).matrix),
            "2x2: 0,1 1,0");
  EXPECT_REFUSAL(" expected no value on the diagonal", kSkew + "2 2 1\n2 2 5\n");
}

TEST(MatrixMarket, Arrays) {
  const std::string head = "%%MatrixMarket matrix array ";
  EXPECT_EQ(text_of(import_text(head + "real general\n2 3\n1\n2\n3\n0\n5\n6\n").matrix),
            "2x3: 0,0=1 0,1=3 0,2=5 1,0=2 1,1=0 1,2=6");
  EXPECT_EQ(text_of(import_text(head + "integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n").matrix),
            "3x3: 0,0=1 0,1=2 0,2=3 1,0=2 1,1=4 1,2=5 2,0=3 2,1=5 2,2=6");
  EXPECT_EQ(text_of(import_text(head + "real skew-symmetric\n3 3\n1\n2\n3\n").matrix),
            "3x3: 0,1=-1 0,2=-2 1,0=1 1,2=-3 2,0=2 2,1=3");
  EXPECT_EQ(text_of(import_text(head + "real general\n0 3\n").matrix), "0x3:");
  EXPECT_REFUSAL("1: an array cannot be a pattern", head + "pattern general\n1 1\n1\n");
  EXPECT_REFUSAL("3: expected the line to end after 1 number, found \"2\"",
                 head + "real general\n1 2\n1 2\n");
  EXPECT_REFUSAL("2: expected the sizes as \"rows cols\"", head + "real general\n1 2 2\n1\n2\n");
}

TEST(MatrixMarket, EmptyShapes) {
  EXPECT_EQ(text_of(import_text(kGeneral + "0 0 0\n").matrix), "0x0:");
  EXPECT_EQ(text_of(import_text(kGeneral + "3 0 0").matrix), "3x0:");
  EXPECT_EQ(import_text(kGeneral + "3 2 0\n").matrix.value_kind(), ValueKind::f64);
  EXPECT_EQ(text_of(import_text(kSymmetric + "2 2 0\n% nothing\n\n").matrix), "2x2:");
  EXPECT_REFUSAL("3: expected no entry in a matrix without rows, found \"1\"",
                 kGeneral + "0 5 1\n1 1 1\n");
}

TEST(MatrixMarket, RefusesBadHeaders) {
  EXPECT_REFUSAL("1: expected \"%%MatrixMarket matrix",
                 "%%MatrixMarket matrix coordinate real\n1 1 0\n");
  EXPECT_REFUSAL("1: expected the object",
                 "%%MatrixMarket vector coordinate real general\n1 1 0\n");
  EXPECT_REFUSAL("1: complex values are not supported",
                 "%%MatrixMarket matrix coordinate complex general\n1 1 0\n");
  EXPECT_REFUSAL("1: expected a symmetry of a real matrix, found \"hermitian\"",
                 "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n");
  EXPECT_REFUSAL("1: a pattern cannot be skew",
                 "%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n");
  EXPECT_REFUSAL("2: expected a line with the sizes, found the end", kGeneral);
  EXPECT_REFUSAL("2: expected the sizes", kGeneral + "3 4\n");
  EXPECT_REFUSAL("2: expected the number of rows", kGeneral + "-3 4 1\n1 1 1\n");
  EXPECT_REFUSAL("2: expected the number of entries", kGeneral + "3 4 1.0\n1 1 1\n");
  EXPECT_REFUSAL("2: expected at most 2147483647 rows", kGeneral + "2147483648 4 1\n1 1 1\n");
  EXPECT_REFUSAL("2: expected as many rows as columns", kSymmetric + "3 4 1\n1 1 1\n");
}

TEST(MatrixMarket, SizesAreComparedWithTheFileBeforeAllocating) {
  EXPECT_REFUSAL("2: expected 999999999999999999 entries as the sizes say, found 6 bytes",
                 kGeneral + "3 3 999999999999999999\n1 1 1\n");
  EXPECT_REFUSAL("2: expected 4611686014132420609 entries as the sizes say",
                 "%%MatrixMarket matrix array real general\n2147483647 2147483647\n1\n");
}

TEST(MatrixMarket, RefusesBadEntriesByLine) {
  const std::string head = kGeneral + "% comment\n3 4 2\n1 1 1\n";
  EXPECT_REFUSAL("5: expected a row number from 1 to 3, found \"4\"; correct it, or the sizes",
                 head + "4 1 1\n");
  EXPECT_REFUSAL(
      "5: expected a row number from 1 to 3, found \"0\"; rows and columns begin at 1 here, "
      "add 1 to all of them",
      head + "0 1 1\n");
  EXPECT_REFUSAL("5: expected a column number from 1 to 4, found \"5\"", head + "1 5 1\n");
  EXPECT_REFUSAL("5: expected a column number from 1 to 4, found \"99999999999999999999\"",
                 head + "1 99999999999999999999 1\n");
  EXPECT_REFUSAL("5: expected a row as a whole number, found \"-1\"", head + "-1 1 1\n");
  EXPECT_REFUSAL("5: expected a row as a whole number, found \"1x\"", head + "1x 1 1\n");
  EXPECT_REFUSAL("5: expected a column as a whole number, found \"1.5\"", head + "1 1.5 1\n");
  EXPECT_REFUSAL("5: expected a column as a whole number, found the end of the line",
                 head + "1   \n3 3 3\n");
  EXPECT_REFUSAL("5: expected a number as the value, found the end of the line",
                 head + "1 1\n2 2 2\n");
  EXPECT_REFUSAL("5: expected a number as the value, found \"forty-two\"",
                 head + "1 1 forty-two\n");
  EXPECT_REFUSAL("5: expected the line to end after 3 numbers, found \"4\"", head + "1 1 1 4\n");
  EXPECT_REFUSAL("5: expected the line to end after 3 numbers, found \"x\"", head + "1 1 1x\n");
  EXPECT_REFUSAL(
      "6: expected 2 entries as the header says, found at least 3 up to here; correct "
      "the header, or remove the rest",
      head + "1 2 1\n1 3 1\n");
  EXPECT_REFUSAL("12: expected 2 entries as the header says, found only 1",
                 head + "%\n%\n\n\n\n\n\n");
  EXPECT_REFUSAL("3: expected the line to end after 2 numbers", kPattern + "1 1 1\n1 1 1\n");
}

/// Line numbers and positions must survive the cutting into pieces and blocks.
TEST(MatrixMarket, LongFilesAreCutAndJoined) {
  const Index order = 400000;
  std::string text = kPattern + std::to_string(order) + " " + std::to_string(order) + " " +
                     std::to_string(order) + "\n";
  for (Index i = 1; i <= order; ++i) {
    if (i % 1000 == 0) text += i % 2000 == 0 ? "\n" : "% a comment line\n";
    text += std::to_string(i) + " " + std::to_string(order + 1 - i) + "   \n";
  }
  const ImportResult result = import_text(text);
  ASSERT_EQ(result.matrix.nnz(), order);
  EXPECT_EQ(result.repairs.out_of_order, 0);
  for (Index i = 0; i < order; ++i) ASSERT_EQ(result.matrix.col_indices()[i], order - 1 - i);

  const std::size_t at = text.find("350001 50000 ");
  ASSERT_NE(at, std::string::npos);
  const std::string start =
      std::to_string(
          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
      ": ";
  text[at + 3] = 'x';
  EXPECT_REFUSAL(start + "expected a row as a whole number, found \"350x01\"", text);
}

}  // namespace
}  // namespace csrkit
