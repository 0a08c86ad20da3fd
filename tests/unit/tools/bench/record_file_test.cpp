#include "tools/bench/record_file.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "tests/unit/core/file/csr_file_samples.h"
#include "tools/cli/log.h"

namespace csrkit {
namespace {

Json record_of(int dense_cols) {
  return {{"schema", 2},
          {"matrix", "a.csr"},
          {"case",
           {{"matrix_xxh3_128", "00112233445566778899aabbccddeeff"},
            {"kernel", "cpu.spmm.auto"},
            {"dense_cols", dense_cols}}},
          {"status", "done"},
          {"samples_seconds", {0.5, 0.25}},
          {"median_seconds", 0.375}};
}

std::string line_of(int dense_cols) { return record_of(dense_cols).dump() + "\n"; }

std::vector<Json> records_of(const std::vector<FiledRecord>& filed) {
  std::vector<Json> records;
  for (const FiledRecord& one : filed) records.push_back(one.record);
  return records;
}

/// What opening the file says on stderr; `records` is how many it must find.
std::string warning_of_opening(const std::string& path, std::size_t records) {
  start_log("test");
  testing::internal::CaptureStderr();
  EXPECT_EQ(RecordFile(path).records().size(), records);
  return testing::internal::GetCapturedStderr();
}

std::vector<std::string> sorted_names(const ScratchFolder& folder) {
  std::vector<std::string> names = folder.names();
  std::sort(names.begin(), names.end());
  return names;
}

template <class Failure>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(RecordFile, GrowsByWholeRecords) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl";
  RecordFile(path).append(record_of(1));
  RecordFile file(path);
  EXPECT_EQ(records_of(file.records()), std::vector<Json>{record_of(1)});
  file.append(record_of(2));
  EXPECT_EQ(load_bytes(path), line_of(1) + line_of(2));
  EXPECT_EQ(records_of(read_records(path)), (std::vector<Json>{record_of(1), record_of(2)}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out.jsonl"});
}

TEST(RecordFile, BlankLinesCountForNothing) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl", cut = "{\"schema\":1,\"matr";
  const std::string before = "\n" + line_of(1) + " \t\r\n" + line_of(2) + "\n";
  save_bytes(path, before + cut);
  const std::string warning = warning_of_opening(path, 2);
  EXPECT_NE(warning.find(path + ":6: the last line"), std::string::npos) << warning;
  EXPECT_EQ(load_bytes(path), before);
  RecordFile file(path);
  file.append(record_of(3));
  EXPECT_EQ(load_bytes(path), before + line_of(3));
  const std::vector<FiledRecord> found = read_records(path);
  EXPECT_EQ(records_of(found), (std::vector<Json>{record_of(1), record_of(2), record_of(3)}));
  EXPECT_EQ(found[1].line, 4u);
  const std::string refusal = message_of<InputError>([&] { field_of(found[1], path)["rows"]; });
  EXPECT_EQ(refusal.find(path + ":4: "), 0u) << refusal;
}

TEST(RecordFile, ABlankEndGetsItsNewline) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl", before = line_of(1) + " \t";
  save_bytes(path, before);
  warning_of_opening(path, 1);
  RecordFile(path).append(record_of(2));
  EXPECT_EQ(load_bytes(path), before + "\n" + line_of(2));
}

TEST(RecordFile, AnEmptyFileHasNoRecords) {
  const ScratchFolder folder;
  save_bytes(folder / "out.jsonl", "");
  EXPECT_TRUE(RecordFile(folder / "out.jsonl").records().empty());
  EXPECT_TRUE(read_records(folder / "out.jsonl").empty());
}

TEST(RecordFile, WhatIsNoRecordFileStaysAsItIs) {
  const ScratchFolder folder;
  const std::string path = folder / "notes.txt";
  Json of_schema_3 = record_of(1), without_schema = record_of(1), without_status = record_of(1),
       without_times = record_of(1);
  of_schema_3["schema"] = 3;
  without_schema.erase("schema");
  without_status.erase("status");
  without_times.erase("samples_seconds");
  struct Other {
    std::string content;
    int line;
  };
  const std::vector<Other> others = {
      {"my notes", 1},
      {"my notes\nof two lines", 1},
      {"{\"name\": \"value\"", 1},
      {"{\"name\": \"value\"}", 1},
      {"{\"name\": \"value\"}\n", 1},
      {"{\"schema\": \"https://json-schema.org/schema\"}", 1},
      {"[1, 2", 1},
      {"17", 1},
      {std::string(64, '\0'), 1},
      {of_schema_3.dump() + "\n", 1},
      {without_schema.dump() + "\n", 1},
      {without_status.dump() + "\n", 1},
      {without_times.dump() + "\n", 1},
      {without_status.dump(), 1},
      {line_of(1) + "my notes", 2},
      {line_of(1) + "{\"name\": \"value\"}", 2},
      {line_of(1) + "\n" + line_of(2) + "my notes", 4},
  };
  for (const Other& other : others) {
    save_bytes(path, other.content);
    const std::string place = path + ":" + std::to_string(other.line) + ": expected a record";
    EXPECT_EQ(message_of<InputError>([&] { RecordFile file(path); }).find(place), 0u)
        << other.content;
    EXPECT_EQ(message_of<InputError>([&] { read_records(path); }).find(place), 0u) << other.content;
    EXPECT_EQ(load_bytes(path), other.content);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"notes.txt"});
  }
}

TEST(RecordFile, ACutLastLineIsKeptAside) {
  const std::string last = record_of(2).dump();
  for (const std::string& before : {std::string(), line_of(1)}) {
    for (std::size_t size = 1; size < last.size(); size += size < 12 ? 1 : 9) {
      const ScratchFolder folder;
      const std::string path = folder / "out.jsonl", cut = last.substr(0, size);
      save_bytes(path, before + cut);
      set_log_level(LogLevel::quiet);
      EXPECT_EQ(read_records(path).size(), before.empty() ? 0u : 1u);
      EXPECT_EQ(load_bytes(path), before + cut);
      const std::string warning = warning_of_opening(path, before.empty() ? 0 : 1);
      EXPECT_NE(warning.find(path + (before.empty() ? ":1: " : ":2: ")), std::string::npos);
      EXPECT_NE(warning.find(path + ".cut"), std::string::npos) << warning;
      EXPECT_EQ(load_bytes(path), before);
      ASSERT_EQ(sorted_names(folder), (std::vector<std::string>{"out.jsonl", "out.jsonl.cut"}));
      EXPECT_EQ(load_bytes(path + ".cut"), cut);
    }
  }
}

TEST(RecordFile, WhatWasKeptAsideBeforeIsNotReplaced) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl", cut = "{\"schema\":1,\"matr";
  save_bytes(path + ".cut", "of an earlier crash");
  std::filesystem::create_symlink("nowhere", path + ".cut.2");
  save_bytes(path, line_of(1) + cut);
  const std::string warning = warning_of_opening(path, 1);
  EXPECT_NE(warning.find(path + ".cut.3"), std::string::npos) << warning;
  EXPECT_EQ(load_bytes(path + ".cut"), "of an earlier crash");
  EXPECT_EQ(load_bytes(path + ".cut.3"), cut);
  EXPECT_EQ(folder.names().size(), 4u);
}

TEST(RecordFile, StaysAsItIsWhereTheCutLineCannotBeKept) {
  const ScratchFolder folder;
  const std::string path = folder / std::string(255, 'x');  // too long a name with .cut behind it
  const std::string content = line_of(1) + "{\"schema\":";
  save_bytes(path, content);
  const std::string message = message_of<IoError>([&] { RecordFile file(path); });
  EXPECT_NE(message.find(path + ".cut"), std::string::npos) << message;
  EXPECT_EQ(load_bytes(path), content);
}

TEST(RecordFile, ARecordThatLacksOnlyItsNewlineIsARecord) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl";
  for (const std::string& before : {std::string(), line_of(1)}) {
    std::string content = before + line_of(2);
    content.pop_back();
    save_bytes(path, content);
    std::vector<Json> expected(before.empty() ? 0 : 1, record_of(1));
    expected.push_back(record_of(2));
    EXPECT_EQ(records_of(read_records(path)), expected);
    EXPECT_EQ(load_bytes(path), content);
    RecordFile file(path);
    EXPECT_EQ(records_of(file.records()), expected);
    file.append(record_of(3));
    EXPECT_EQ(load_bytes(path), before + line_of(2) + line_of(3));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"out.jsonl"});
  }
}

TEST(RecordFile, AShortWriteGoesOnOrLeavesNothingAndNamesTheReason) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl";
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  {
    RecordFile file(path);
    file.append(record_of(1));
    rlimit limit = before;
    limit.rlim_cur = line_of(1).size() + 20;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const std::string message = message_of<IoError>([&] { file.append(record_of(2)); });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_NE(message.find(std::strerror(EFBIG)), std::string::npos) << message;
    EXPECT_NE(message.find("go on with --resume"), std::string::npos) << message;
    EXPECT_EQ(load_bytes(path), line_of(1)) << "nothing of the other stays";
  }
  signal(SIGXFSZ, old_handler);
  RecordFile file(path);
  file.append(record_of(2));
  EXPECT_EQ(load_bytes(path), line_of(1) + line_of(2));
}

TEST(RecordFile, LeavesNoFileWithoutARecordWhereNoneWas) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl";
  { const RecordFile file(path); }
  EXPECT_TRUE(folder.names().empty());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  {
    RecordFile file(path);
    rlimit limit = before;
    limit.rlim_cur = 20;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const std::string message = message_of<IoError>([&] { file.append(record_of(1)); });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_NE(message.find("there is none yet: raise ulimit -f, then run this again"),
              std::string::npos)
        << message;
  }
  signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(folder.names().empty());
  save_bytes(path, "");  // this one is somebody's
  { const RecordFile file(path); }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out.jsonl"});
}

TEST(RecordFile, ASecondWriterIsRefusedAndTakesNothingAway) {
  const ScratchFolder folder;
  const std::string path = folder / "out.jsonl";
  RecordFile file(path);
  EXPECT_THROW(RecordFile{path}, IoError);
  file.append(record_of(1));
  EXPECT_EQ(load_bytes(path), line_of(1));
}

TEST(RecordFile, WhatCannotBeReadIsAnIoError) {
  const ScratchFolder folder;
  EXPECT_THROW(read_records(folder / "."), IoError);
  EXPECT_THROW(read_records(folder / "absent.jsonl"), IoError);
  EXPECT_THROW(RecordFile(folder / "."), IoError);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(RecordFile(folder / "pipe"), IoError);
}

}  // namespace
}  // namespace csrkit
