#include "tools/bench/record_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/bench/case.h"

namespace csrkit {
namespace {

const std::string kKept = CSRKIT_SOURCE_DIR "/tests/data/records/schema_1.jsonl";

TEST(RecordSchema, KeptRecordsOfSchema1AreReadAsToday) {
  const std::vector<FiledRecord> records = read_records(kKept);
  ASSERT_EQ(records.size(), 4u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Json& record = records[i].record;
    EXPECT_EQ(record["schema"], kRecordSchema);
    if (record["status"] != "done") continue;
    require_repeatable(field_of(records[i], kKept));
    require_results(field_of(records[i], kKept));
    for (const char* key : {"rows", "cols", "nnz", "kinds", "peak_bytes"}) {
      EXPECT_TRUE(record.contains(key)) << i << ": " << key;
    }
    EXPECT_FALSE(record.contains("a"));
    for (const auto& [phase, seconds] : record["phases"].items()) {
      EXPECT_NE(phase.find("_seconds"), std::string::npos) << i;
    }
  }
  const Json& sparse = records[1].record;
  ASSERT_EQ(sparse["case"]["operation"], "spgemm");
  EXPECT_EQ(sparse["kinds"]["a"], "f32");
  EXPECT_EQ(sparse["kinds"]["accumulate"], sparse["kinds"]["c"]);
  EXPECT_EQ(sparse["c"]["row_blocks"], 1);
  EXPECT_FALSE(sparse["c"].contains("kind"));
}

TEST(RecordSchema, WhatIsWrittenTodayStaysAsItIs) {
  for (const FiledRecord& filed : read_records(kKept)) {
    EXPECT_EQ(upgraded_record(filed.record), filed.record);
  }
}

TEST(RecordSchema, OddValuesAreLeftToTheChecks) {
  for (const char* text : {"{}", "[]", "7", "{\"a\": 7}", "{\"a\": {\"kind\": 7}, \"c\": []}",
                           "{\"phases\": {\"row_blocks\": 1}, \"c\": 3}"}) {
    EXPECT_NO_THROW(upgraded_record(Json::parse(text))) << text;
  }
}

TEST(RecordSchema, AnotherSchemaIsNotKnown) {
  EXPECT_TRUE(is_known_schema(1));
  EXPECT_TRUE(is_known_schema(kRecordSchema));
  for (const Json& other : {Json(0), Json(kRecordSchema + 1), Json("2"), Json()}) {
    EXPECT_FALSE(is_known_schema(other)) << other;
  }
}

}  // namespace
}  // namespace csrkit
