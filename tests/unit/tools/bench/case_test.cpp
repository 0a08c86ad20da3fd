#include "tools/bench/case.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <random>

#include "core/file/csr_file.h"
#include "tools/cli/provenance.h"

namespace csrkit {
namespace {

CsrMatrix one_by_one() {
  const Offset offsets[] = {0, 1};
  const Index cols[] = {0};
  return {1, 1, Buffer<Offset>::copy_of(offsets, 2), Buffer<Index>::copy_of(cols, 1),
          ValueArray(ValueKind::none, 1)};
}

class History : public testing::Test {
 protected:
  ~History() override { std::remove(path_.c_str()); }

  /// What csr-bench makes of a file with this provenance; throws what it throws.
  Json of(const std::string& provenance) {
    CsrFile file;
    file.matrix = one_by_one();
    file.provenance = provenance;
    write_csr_file(path_, file);
    return BenchMatrix(path_, CsrReadOptions{}).history();
  }

  std::string path_ = testing::TempDir() + std::to_string(getpid()) + "_case_test.csr";
};

TEST_F(History, HoldsTheStepsOfTheProvenance) {
  const Json details{{"order_seconds", 0.5}};
  const Json history = of(append_step("", {{"csr-reorder", "a"}, {{"a", 3, "00ff"}}, &details}));
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0]["tool"], "csr-reorder");
  EXPECT_EQ(history[0]["inputs_xxh3_128"][0], "00ff");
  EXPECT_EQ(history[0]["order_seconds"], 0.5);
}

TEST_F(History, OfAnotherProgramsTextIsEmpty) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"steps\":[";
  for (const std::string& text : {std::string("by hand"), std::string("[1]"), std::string("{}"),
                                  std::string("{\"steps\": 3}"), deep}) {
    EXPECT_TRUE(of(text).empty()) << text.substr(0, 40);
  }
}

TEST_F(History, FitsARecord) {
  const auto steps = [](int count) {
    std::string text = "{\"steps\": [{}";
    for (int i = 1; i < count; ++i) text += ",{}";
    return text + "]}";
  };
  const auto words = [](std::size_t bytes) {
    return "{\"steps\": [{\"command_line\": [\"" + std::string(bytes, 'x') + "\"]}]}";
  };
  EXPECT_EQ(of(steps(1000)).size(), 1000u);
  EXPECT_THROW(of(steps(1001)), InputError);
  EXPECT_EQ(of(words(1 << 19)).size(), 1u);
  EXPECT_THROW(of(words(1 << 20)), InputError);
}

TEST_F(History, OfBrokenStepsIsRefusedByField) {
  for (const char* step :
       {"7", "{\"tool\": 7}", "{\"inputs\": 7}", "{\"inputs\": [7]}", "{\"command_line\": [7]}",
        "{\"details\": 7}", "{\"details\": {\"order_seconds\": \"x\"}}", "{\"inputs\": [{}]}"}) {
    try {
      of(std::string("{\"steps\": [") + step + "]}");
      ADD_FAILURE() << "accepted " << step;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path_ + ": provenance: steps[0]", 0), 0u)
          << error.what();
    }
  }
}

TEST_F(History, OfAMutatedProvenanceIsReadOrRefused) {
  const Json details{{"order_seconds", 0.5}, {"more", {1, 2, {{"a", nullptr}}}}};
  const std::string whole = append_step("", {{"csr-reorder", "a"}, {{"a", 3, "00ff"}}, &details});
  std::mt19937 random(1);
  const std::string odd = "[]{}\",:019eE.-+ntfx\\u";
  for (int i = 0; i < 500; ++i) {
    std::string text = whole;
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
      text[random() % text.size()] = odd[random() % odd.size()];
    }
    try {
      of(text);
    } catch (const InputError&) {
    }
    const Json appended = Json::parse(append_step(text, {{"csr-info"}, {}, nullptr}));
    EXPECT_EQ(appended["steps"].back()["tool"], "csr-info") << text;
  }
}

}  // namespace
}  // namespace csrkit
