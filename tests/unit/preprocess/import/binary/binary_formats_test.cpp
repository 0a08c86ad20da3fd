// GAPBS, Galois and PETSc: binary files that their counts describe to the byte.
#include <gtest/gtest.h>

#include <cstring>

#include "preprocess/import/import.h"
#include "tests/unit/preprocess/export/scratch_folder.h"
#include "tests/unit/preprocess/transform/small_matrix.h"

namespace csrkit {
namespace {

/// Numbers one after the other, as they lie in a file.
class Bytes {
 public:
  explicit Bytes(bool is_big = false) : is_big_(is_big) {}

  template <class T>
  Bytes& add(std::initializer_list<T> numbers) {
    for (const T number : numbers) {
      char bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      if (is_big_) std::reverse(bytes, bytes + sizeof number);
      text_.append(bytes, sizeof number);
    }
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  bool is_big_;
  std::string text_;
};

using I32 = std::int32_t;
using I64 = std::int64_t;
using U64 = std::uint64_t;

// 0 -> 2, 0 -> 1, 2 -> 2: not sorted, one self loop, vertex 1 without edges.
const std::vector<double> kPattern = {0, 1, 1, 0, 0, 0, 0, 0, 1};
const std::vector<double> kWeighted = {0, -7, 5, 0, 0, 0, 0, 0, 9};

ImportResult import_as(const ScratchFolder& scratch, const std::string& name,
                       const std::string& bytes, const ImportOptions& options = {}) {
  return import_matrix(scratch.write(name, bytes), options);
}

/// Whatever is cut off, and one byte too many, is refused by the name of the format.
void expect_every_cut_refused(const ScratchFolder& scratch, const std::string& format,
                              const std::string& bytes, const ParameterValues& parameters = {}) {
  ImportOptions options;
  options.format = format;
  options.parameters = parameters;
  ASSERT_NO_THROW(import_as(scratch, "whole", bytes, options));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(import_as(scratch, "cut", bytes.substr(0, size), options), InputError)
        << format << " " << size;
  }
  EXPECT_THROW(import_as(scratch, "longer", bytes + "x", options), InputError) << format;
}

Bytes gapbs(std::uint8_t directed, bool has_weights) {
  Bytes bytes;
  bytes.add<std::uint8_t>({directed}).add<I64>({3, 3});
  for (int side = 0; side <= directed; ++side) {
    bytes.add<I64>({0, 2, 2, 3});
    has_weights ? bytes.add<I32>({2, 5, 1, -7, 2, 9}) : bytes.add<I32>({2, 1, 2});
  }
  return bytes;
}

TEST(ImportGapbs, ReadsGraphsWithAndWithoutWeights) {
  const ScratchFolder scratch;
  for (const std::uint8_t directed : {0, 1}) {
    const ImportResult plain = import_as(scratch, "g.sg", gapbs(directed, false).text());
    EXPECT_EQ(plain.format, "gapbs");
    EXPECT_TRUE(identical(plain.matrix, matrix_of(3, 3, kPattern, ValueKind::none)));
    EXPECT_EQ(plain.notes.at("graph"), directed != 0 ? "directed" : "undirected");
    EXPECT_TRUE(identical(import_as(scratch, "g.wsg", gapbs(directed, true).text()).matrix,
                          matrix_of(3, 3, kWeighted, ValueKind::f64)));
  }
}

TEST(ImportGapbs, RefusesWhatItsCountsDoNotDescribe) {
  const ScratchFolder scratch;
  expect_every_cut_refused(scratch, "gapbs", gapbs(0, false).text());
  expect_every_cut_refused(scratch, "gapbs", gapbs(1, true).text());
  EXPECT_NE(message_of<InputError>([&] {
              import_as(scratch, "g.sg", gapbs(0, false).text().substr(0, 50));
            }).find("expected the format gapbs, as the name says"),
            std::string::npos);
  std::string bad_target = gapbs(0, false).text();
  bad_target[17 + 4 * 8] = 3;
  EXPECT_NE(message_of<InputError>([&] {
              import_as(scratch, "g.sg", bad_target);
            }).find("expected columns from 0 to 2, found 3"),
            std::string::npos);
  // Counts of all bits set: no overflow makes them fit.
  const std::string huge = Bytes().add<std::uint8_t>({0}).add<I64>({-1, -1, 0}).text();
  ImportOptions options;
  options.format = "gapbs";
  EXPECT_THROW(import_as(scratch, "huge", huge, options), InputError);
}

Bytes galois(U64 version, U64 data_bytes) {
  Bytes bytes;
  bytes.add<U64>({version, data_bytes, 3, 3, 2, 2, 3});
  version == 1 ? bytes.add<I32>({2, 1, 2, 0}) : bytes.add<U64>({2, 1, 2});
  return bytes;
}

TEST(ImportGalois, ReadsBothVersionsAndAsksForTheTypeOfTheirData) {
  const ScratchFolder scratch;
  const CsrMatrix pattern = matrix_of(3, 3, kPattern, ValueKind::none);
  for (const U64 version : {1, 2}) {
    EXPECT_TRUE(identical(import_as(scratch, "g.gr", galois(version, 0).text()).matrix, pattern));
    const std::string ints = galois(version, 4).add<I32>({5, -7, 9}).text();
    EXPECT_NE(message_of<InputError>([&] {
                import_as(scratch, "g.gr", ints);
              }).find("say --edge-type=i32, u32 or f32, or --value-kind=none"),
              std::string::npos);
    ImportOptions options;
    options.parameters["edge-type"] = "i32";
    EXPECT_TRUE(identical(import_as(scratch, "g.gr", ints, options).matrix,
                          matrix_of(3, 3, kWeighted, ValueKind::f64)));
    options.parameters["edge-type"] = "f64";
    EXPECT_NE(message_of<InputError>([&] {
                import_as(scratch, "g.gr", ints, options);
              }).find("expected edge data of the size of f64, found 4 bytes"),
              std::string::npos);
    const std::string reals = galois(version, 8).add<double>({5, -7, 9}).text();
    EXPECT_TRUE(identical(import_as(scratch, "g.gr", reals, options).matrix,
                          matrix_of(3, 3, kWeighted, ValueKind::f64)));
    options.parameters.clear();
    options.value_kind = "none";
    EXPECT_TRUE(identical(import_as(scratch, "g.gr", ints, options).matrix, pattern));
  }
  ImportOptions options;
  options.parameters["edge-type"] = "i64";
  const std::string inexact = galois(2, 8).add<I64>({1, (I64{1} << 53) + 1, 1}).text();
  EXPECT_NE(message_of<InputError>([&] {
              import_as(scratch, "g.gr", inexact, options);
            }).find("byte 88: expected an integer that float64 holds"),
            std::string::npos);
}

TEST(ImportGalois, RefusesWhatItsCountsDoNotDescribe) {
  const ScratchFolder scratch;
  expect_every_cut_refused(scratch, "galois", galois(2, 0).text());
  expect_every_cut_refused(scratch, "galois", galois(1, 4).add<I32>({5, -7, 9}).text(),
                           {{"edge-type", "i32"}});
  std::string far = galois(2, 0).text();
  far[56 + 7] = 1;  // a target of 2^56
  EXPECT_THROW(import_as(scratch, "g.gr", far), InputError);
}

template <class Integer>
std::string petsc(std::initializer_list<Integer> sizes, std::initializer_list<Integer> lengths,
                  std::initializer_list<Integer> columns) {
  return Bytes(true)
      .add<Integer>({1211216})
      .add(sizes)
      .add(lengths)
      .add(columns)
      .template add<double>({5, -7, 9})
      .text();
}

TEST(ImportPetsc, ReadsBothWidthsAndLeavesTheVectorOut) {
  const ScratchFolder scratch;
  const CsrMatrix expected = matrix_of(3, 3, kWeighted, ValueKind::f64);
  const std::string narrow = petsc<I32>({3, 3, 3}, {2, 0, 1}, {2, 1, 2});
  EXPECT_TRUE(identical(import_as(scratch, "a.petsc", narrow).matrix, expected));
  EXPECT_EQ(import_as(scratch, "no_ending", narrow).format, "petsc");
  EXPECT_TRUE(identical(
      import_as(scratch, "a.petsc", petsc<I64>({3, 3, 3}, {2, 0, 1}, {2, 1, 2})).matrix, expected));
  const std::string vector = Bytes(true).add<I32>({1211214, 1}).add<double>({4}).text();
  const ImportResult with_vector = import_as(scratch, "a.petsc", narrow + vector);
  EXPECT_TRUE(identical(with_vector.matrix, expected));
  EXPECT_EQ(with_vector.notes.at("left out"), "the vector behind the matrix");
}

TEST(ImportPetsc, RefusesDamageAndComplexNumbers) {
  const ScratchFolder scratch;
  expect_every_cut_refused(scratch, "petsc", petsc<I32>({3, 3, 3}, {2, 0, 1}, {2, 1, 2}));
  const auto refusal = [&](const std::string& bytes) {
    return message_of<InputError>([&] { import_as(scratch, "a.petsc", bytes); });
  };
  EXPECT_NE(refusal(petsc<I32>({3, 3, 3}, {2, 0, 1}, {2, 1, 2}) + std::string(24, '\1'))
                .find("complex numbers"),
            std::string::npos);
  EXPECT_NE(refusal(petsc<I32>({3, 3, -1}, {2, 0, 1}, {2, 1, 2})).find("dense matrix"),
            std::string::npos);
  EXPECT_NE(refusal(petsc<I32>({3, 3, 3}, {2, 2, 1}, {2, 1, 2})).find("byte 20: expected a row"),
            std::string::npos);
  EXPECT_NE(refusal(petsc<I32>({3, 3, 3}, {2, 0, 1}, {2, 3, 2})).find("expected columns"),
            std::string::npos);
  EXPECT_NE(refusal(petsc<I32>({3, 3, 2000000000}, {2, 0, 1}, {2, 1, 2})).find("end of the file"),
            std::string::npos);
}

}  // namespace
}  // namespace csrkit
