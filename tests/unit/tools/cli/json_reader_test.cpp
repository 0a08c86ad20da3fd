#include "tools/cli/json_reader.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace csrkit {
namespace {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string nested(int depth, char open, char close) {
  return std::string(static_cast<std::size_t>(depth), open) +
         std::string(static_cast<std::size_t>(depth), close);
}

TEST(JsonReader, ReadsWhatTheWriterWrites) {
  const Json value{{"b", {1, -2, 0.5, 1e300, 18446744073709551615u}},
                   {"a", {{"text", "\"\n\u00e9"}, {"none", nullptr}, {"yes", true}}},
                   {"empty", Json::array()},
                   {"nothing", Json::object()}};
  for (const int indent : {-1, 2}) {
    EXPECT_EQ(parse_json(value.dump(indent), "x.json", "advice").dump(), value.dump());
  }
}

TEST(JsonReader, NamesFileByteAndWhatToDo) {
  EXPECT_EQ(refusal([] { parse_json("{\"a\": 1,}", "x.json", "delete it"); }),
            "x.json: byte 9: expected JSON, found something else; delete it");
}

TEST(JsonReader, NamesAGzipFile) {
  EXPECT_EQ(refusal([] { parse_json("\x1f\x8b\x08", "x.json", "name another"); }),
            "x.json: byte 0: expected JSON, found a gzip file (gzip -dk unpacks it); name another");
}

TEST(JsonReader, RefusesWhatIsNoJson) {
  for (const std::string text : {"", " \n", "{", "[1,", "{\"a\"}", "[] []", "nul", "[01]",
                                 "\"\xff\"", "[NaN]", "{'a': 1}"}) {
    EXPECT_NE(refusal([&] { parse_json(text, "x", ""); }), "") << text;
    EXPECT_FALSE(try_parse_json(text)) << text;
  }
}

TEST(JsonReader, DepthIsLimitedAndNeverRecursed) {
  EXPECT_TRUE(try_parse_json(nested(kMaxJsonDepth, '[', ']')));
  EXPECT_FALSE(try_parse_json(nested(kMaxJsonDepth + 1, '[', ']')));
  EXPECT_NE(refusal([] { parse_json(nested(5'000'000, '[', ']'), "x", ""); }).find("64 nested"),
            std::string::npos);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(try_parse_json(objects));
}

TEST(JsonReader, SizeIsLimited) {
  EXPECT_NE(refusal([] {
              parse_json(std::string(kMaxJsonBytes + 1, ' '), "x", "");
            }).find("at most 16777216 bytes"),
            std::string::npos);
}

TEST(JsonReader, NumbersBeyondFloat64AreRefused) {
  for (const char* text : {"1e9999", "[-1e400]", "{\"a\": 1e309}"}) {
    EXPECT_NE(refusal([&] { parse_json(text, "x", ""); }).find("float64"), std::string::npos)
        << text;
  }
}

TEST(JsonReader, ANameTwiceIsRefused) {
  EXPECT_NE(refusal([] {
              parse_json("{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}", "x", "");
            }).find("a second \"a\""),
            std::string::npos);
  EXPECT_TRUE(try_parse_json("[{\"a\": 1}, {\"a\": 2}]"));
}

TEST(JsonReader, ManyMembersTakeNoSquareTime) {
  std::string text = "{";
  for (int i = 0; i < 500'000; ++i) text += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
  EXPECT_EQ(try_parse_json(text + "}")->size(), 500'000u);
}

class Fields : public testing::Test {
 protected:
  std::string refuses(const std::function<void(const JsonField&)>& act) {
    return refusal([&] { act(field_); });
  }
  Json document_ = {{"case", {{"k", 3}, {"name", "x"}, {"none", nullptr}, {"big", ~0ull}}},
                    {"list", {1.5, -1, "y"}}};
  JsonField field_{document_, "r.jsonl:7", "try again"};
};

TEST_F(Fields, GiveWhatIsThere) {
  EXPECT_EQ(field_["case"]["k"].integer(0, 3), 3);
  EXPECT_EQ(field_["case"]["name"].text(), "x");
  EXPECT_EQ(field_["case"]["big"].unsigned_integer(), ~0ull);
  EXPECT_FALSE(field_["case"].find("none"));
  EXPECT_FALSE(field_["case"].find("absent"));
  EXPECT_EQ(field_["list"].size(), 3u);
}

TEST_F(Fields, NamePlaceExpectationAndFinding) {
  EXPECT_EQ(refuses([](const JsonField& f) { f["case"]["k"].text(); }),
            "r.jsonl:7: case.k: expected text, found 3; try again");
  EXPECT_EQ(refuses([](const JsonField& f) { f["case"]["absent"]; }),
            "r.jsonl:7: case: expected a member \"absent\", found an object; try again");
  EXPECT_EQ(refuses([](const JsonField& f) { f["list"]["k"]; }),
            "r.jsonl:7: list: expected an object, found an array; try again");
  EXPECT_EQ(refuses([](const JsonField& f) {
              f["list"].for_each([](const JsonField& element) { element.number_from(0); });
            }),
            "r.jsonl:7: list[1]: expected a number of at least 0.0, found -1; try again");
}

TEST_F(Fields, WholeNumbersStayInTheirRange) {
  for (const std::int64_t least : {4, 0}) {
    EXPECT_NE(refuses([&](const JsonField& f) { f["case"]["k"].integer(least, 2 + least / 2); }),
              "");
  }
  EXPECT_NE(refuses([](const JsonField& f) { f["case"]["big"].integer(INT64_MIN, INT64_MAX); }),
            "");
  EXPECT_NE(refuses([](const JsonField& f) {
              f["list"].for_each([](const JsonField& element) { element.integer(-5, 5); });
            }),
            "")
      << "1.5 is no whole number";
}

}  // namespace
}  // namespace csrkit
