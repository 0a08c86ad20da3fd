// Damaged input files: every one is imported or refused with an InputError, and nothing else
// happens.
#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "preprocess/import/import.h"

namespace csrkit {
namespace {

constexpr int kVariantsPerFile = 250;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Byte edits that parsers trip over more often than over random ones.
std::string damaged(std::string text, RandomStream& random) {
  static const std::vector<std::string> kBits = {
      "\n",   "\r",   "\r\n",    " ",    "\t",
      "-",    "+",    ".",       "e",    "0",
      "9",    "999",  "%",       "#",    "//",
      ",",    "nan",  "inf",     "1e99", "D",
      ";",    "\"",   "1 1 1\n", "%%",   std::string(1, '\0'),
      "\xff", "-inf", "1.5",     "\n\n"};
  for (std::uint64_t edits = 1 + random.below(4); edits > 0; --edits) {
    const auto at = static_cast<std::size_t>(random.below(text.size() + 1));
    switch (random.below(6)) {
      case 0: text.insert(at, kBits[random.below(kBits.size())]); break;
      case 1: text.erase(at, static_cast<std::size_t>(random.below(20))); break;
      case 2: text.resize(at); break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>('0' + random.below(10));
        break;
      default:
        text.insert(at, text.substr(static_cast<std::size_t>(random.below(text.size() + 1)), 40));
    }
  }
  return text;
}

/// A matrix of a thousand million empty rows is legal but takes gigabytes; not here.
bool claims_many_rows(const std::string& text) {
  std::size_t digits = 0;
  bool is_fraction = false;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    is_fraction = c == '.' || (is_fraction && is_digit);
    digits = is_digit && !is_fraction ? digits + 1 : 0;
    if (digits > 6) return true;
  }
  return false;
}

void expect_survival(const std::string& text, const std::string& format) {
  const std::string path = testing::TempDir() + "csrkit_fuzz_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << text;
  ImportOptions options;
  options.format = format;
  try {
    const ImportResult result = import_matrix(path, options);
    EXPECT_LE(result.matrix.nnz(), 2 * static_cast<Offset>(text.size()));
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).rfind(path + ":", 0), 0u) << error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  }
  std::remove(path.c_str());
}

void fuzz(const std::string& text, const std::string& format, std::uint64_t seed) {
  // One thread per import: what is hunted here does not depend on threads, and starting them is
  // slow.
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  RandomStream random(seed);
  for (int i = 0; i < kVariantsPerFile; ++i) {
    const std::string variant = damaged(text, random);
    if (claims_many_rows(variant)) continue;
    expect_survival(variant, i % 2 == 0 ? "auto" : format);
    if (testing::Test::HasFailure()) break;
  }
  omp_set_num_threads(threads);
}

TEST(ImportFuzz, MatrixMarketFiles) {
  const std::string folder = CSRKIT_SOURCE_DIR "/tests/data/import/tiny/";
  std::uint64_t seed = 1;
  for (const char* name : {"A.mtx", "cover.mtx", "skew_fp64.mtx", "full.mtx", "karate.mtx",
                           "empty.mtx", "comments_west0067.mtx"}) {
    fuzz(content_of(folder + name), "matrix-market", seed++);
  }
}

TEST(ImportFuzz, EdgeLists) {
  fuzz("# nodes\n0 1\n1 2\n2 0\n0 2\n", "edge-list", 11);
  fuzz("source,target,weight\n0,1,0.5\n1,2,1e3\n2,0,-7\n", "edge-list", 12);
}

TEST(ImportFuzz, MetisGraphs) {
  fuzz("% a graph\n4 4\n2 3\n1 3\n1 2 4\n3\n", "metis-graph", 21);
  fuzz("3 2 011 1\n5 2 7\n5 1 7 3 8\n5 2 8\n", "metis-graph", 22);
}

TEST(ImportFuzz, EveryCutOfASmallFile) {
  omp_set_num_threads(1);
  const std::string text = content_of(CSRKIT_SOURCE_DIR "/tests/data/import/tiny/skew_fp64.mtx");
  for (std::size_t size = 0; size < text.size(); ++size) {
    expect_survival(text.substr(0, size), "auto");
    expect_survival(text.substr(0, size), "matrix-market");
  }
  omp_set_num_threads(omp_get_num_procs());
}

}  // namespace
}  // namespace csrkit
