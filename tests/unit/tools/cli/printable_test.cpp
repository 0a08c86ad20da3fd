#include "tools/cli/printable.h"

#include <gtest/gtest.h>

#include "tools/cli/report.h"

namespace csrkit {
namespace {

TEST(Printable, WhatATerminalWouldObeyIsShown) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("\r\t\x7f"), "\\x0d\\x09\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI in one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gpj.exe"),
            "\\xe2\\x80\\xaegpj.exe");  // right to left
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, BytesThatAreNoUtf8AreShown) {
  EXPECT_EQ(printable("na\xffme"), "na\\xffme");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // '/' in two bytes
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");           // cut short
}

TEST(Printable, TheRestStays) {
  const std::string text = "k\u00e4se \u4e2d \U0001f600 ~";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("two\nlines"), "two\nlines");
  EXPECT_EQ(printable_line("two\nlines"), "two\\x0alines");
}

TEST(Printable, TablesShowHostileNames) {
  TextTable table({"matrix"});
  table.add({"a\x1b[2J\nb"});
  EXPECT_EQ(table.text(), "matrix\na\\x1b[2J\\x0ab\n");
}

}  // namespace
}  // namespace csrkit
