#include "tools/reorder/outside_order.h"

#include <gtest/gtest.h>

#include "core/file/npy_file.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tools/cli/log.h"

namespace csrkit {
namespace {

template <class T>
std::string npy(const char* descr, const std::vector<T>& elements) {
  return make_npy_header(descr, {static_cast<std::int64_t>(elements.size())}) +
         std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
}

std::vector<Index> old_of_new(const Ordering& ordering) {
  return {ordering.order.old_of_new(), ordering.order.old_of_new() + ordering.order.size()};
}

TEST(OutsideOrder, ReadsNumPyAndTextInBothDirections) {
  const ScratchFolder scratch;
  const std::string numpy =
      scratch.write("p.npy", npy("<i8", std::vector<std::int64_t>{2, 0, 3, 1}));
  const std::string text = scratch.write("p.txt", "# by hand\n2\n0 \r\n\n3\n1");
  for (const std::string& path : {numpy, text}) {
    EXPECT_EQ(old_of_new(read_outside_order(path, 4, Direction::old_of_new)),
              (std::vector<Index>{2, 0, 3, 1}));
    EXPECT_EQ(old_of_new(read_outside_order(path, 4, Direction::new_of_old)),
              (std::vector<Index>{1, 3, 0, 2}));
  }
}

TEST(OutsideOrder, RefusesWhatIsNoPermutation) {
  const ScratchFolder scratch;
  const auto refusal = [&](const std::string& content, Index size) {
    return message_of<InputError>(
        [&] { read_outside_order(scratch.write("p.txt", content), size, Direction::old_of_new); });
  };
  EXPECT_NE(refusal("0\n1\n1\n", 3).find("p.txt"), std::string::npos);
  EXPECT_NE(refusal("0\n3\n1\n", 3).find("p.txt:2: expected one number from 0 to 2"),
            std::string::npos);
  EXPECT_NE(refusal("1\n3\n2\n", 3).find("found \"3\"; numbers count from 0: if the first"),
            std::string::npos);
  EXPECT_EQ(refusal("1\n4\n2\n", 3).find("count from 0"), std::string::npos);
  EXPECT_NE(refusal("0\n-1\n1\n", 3).find("p.txt:2: "), std::string::npos);
  for (const char* const two : {"0 1\n2\n", "0,1\n2\n", "0\t1 2"}) {
    EXPECT_NE(
        refusal(two, 3).find("p.txt:1: expected one number from 0 to 2, found \"0\" and more "),
        std::string::npos);
  }
  EXPECT_NE(refusal("0.5\n1\n2\n", 3).find("found \"0.5\""), std::string::npos);
  EXPECT_EQ(refusal("7 \n1\n2\n", 3).find(" and more "), std::string::npos);
  EXPECT_NE(refusal("0\n1\n", 3).find("found 2"), std::string::npos);
  EXPECT_NE(refusal("0\n1\n2\n0\n", 3).find("p.txt:4: expected 3 numbers"), std::string::npos);
  EXPECT_NE(refusal(npy("<i4", std::vector<Index>{0, 1}), 3).find("expected 3 elements"),
            std::string::npos);
  EXPECT_NE(refusal(npy("<i4", std::vector<Index>{0, 1, -2}), 3).find("found -2"),
            std::string::npos);
  EXPECT_NE(refusal(npy("<i4", std::vector<Index>{0, 2, 2}), 3), "");
  for (const std::string& content :
       {std::string("0\n1\n"), std::string("0\n1\n2\n0\n"), npy("<i4", std::vector<Index>{0, 1})}) {
    EXPECT_NE(refusal(content, 3).find(", one for each row, found"), std::string::npos);
    EXPECT_NE(message_of<InputError>([&] {
                read_outside_order(scratch.write("p", content), 3, Direction::old_of_new, "column");
              }).find(", one for each column, found"),
              std::string::npos);
  }
}

TEST(OutsidePartition, GathersThePartsAndKeepsTheOrderInside) {
  const ScratchFolder scratch;
  const Ordering ordering = read_outside_partition(scratch.write("p", "1\n0\n3\n1\n0\n"), 5);
  EXPECT_EQ(old_of_new(ordering), (std::vector<Index>{1, 4, 0, 3, 2}));
  EXPECT_EQ(ordering.partition->parts, 4);  // part 2 is empty
  EXPECT_EQ(std::vector<Index>(ordering.partition->part_of_row->begin(),
                               ordering.partition->part_of_row->end()),
            (std::vector<Index>{0, 0, 1, 1, 3}));
  EXPECT_THROW(read_outside_partition(scratch.write("q", "0\n0\n"), 3), InputError);
  EXPECT_THROW(read_outside_partition(scratch.write("r", "0\nx\n0\n"), 3), InputError);
}

TEST(OutsidePartition, HasNoMorePartsThanRows) {
  const ScratchFolder scratch;
  EXPECT_EQ(read_outside_partition(scratch.write("p", "2\n0\n1\n"), 3).partition->parts, 3);
  EXPECT_NE(message_of<InputError>([&] {
              read_outside_partition(scratch.write("q", "0\n3\n1\n"), 3);
            }).find("q:2: expected one number from 0 to 2, found \"3\""),
            std::string::npos);
}

std::string said_of_partition(const std::string& content, Index rows) {
  const ScratchFolder scratch;
  testing::internal::CaptureStderr();
  start_log("csr-test");
  set_log_level(LogLevel::normal);
  read_outside_partition(scratch.write("p", content), rows);
  return testing::internal::GetCapturedStderr();
}

TEST(OutsidePartition, WarnsOfALastNumberThatMayBeCut) {
  const std::string parts = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
  EXPECT_EQ(said_of_partition(parts + "1\n", 12), "");
  EXPECT_NE(
      said_of_partition(parts + "1", 12)
          .find("p: line 12, the last one, has no line end behind \"1\": if the file was cut"),
      std::string::npos);
  EXPECT_EQ(said_of_partition(parts + "2", 12), "");  // there are not as many parts as 20
  EXPECT_EQ(said_of_partition(parts + "1\n# 1", 12), "");
}

TEST(OutsidePartition, WarnsWherePartsSeemToCountFromOne) {
  EXPECT_EQ(said_of_partition("1\n0\n1\n1\n", 4), "");
  EXPECT_NE(said_of_partition("1\n2\n1\n1\n", 4)
                .find("p: no row is in part 0, so it is empty; parts count from 0"),
            std::string::npos);
}

}  // namespace
}  // namespace csrkit
