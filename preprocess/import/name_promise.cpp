// A file that begins in the middle of its format looks like another one: Matrix Market without its
// banner is a list of edges, whose first one is the size line. The name gives it away.
#include "preprocess/import/name_promise.h"

#include <algorithm>
#include <iterator>

#include "core/base/error.h"
#include "core/base/text.h"
#include "preprocess/import/format_reader.h"

namespace csrkit {

namespace {

struct Promise {
  const char* ending;
  const char* format;     // its name in formats.inc
  const char* beginning;  // how such a file begins, and what is wrong if it does not
};
constexpr Promise kPromises[] = {
    {".mtx", "matrix-market",
     "whose first line is \"%%MatrixMarket matrix coordinate real general\" (or pattern, or "
     "symmetric); write that line before the sizes"},
    {".npz", "npz", "a zip archive of arrays; fetch the file again"},
    {".npy", "edge-index", "an array of NumPy; fetch the file again"},
    {".petsc", "petsc", "a binary matrix of PETSc; fetch the file again"},
    {".sg", "gapbs", "a serialised graph whose size its counts fix; was it copied completely?"},
    {".wsg", "gapbs", "a serialised graph whose size its counts fix; was it copied completely?"},
    {".gr", "galois", "a binary graph whose size its counts fix; was it copied completely?"},
    {".smtx", "smtx", "whose first line holds rows, columns and nonzeros, the second row offsets"},
    {".graph", "metis-graph",
     "whose first line holds the numbers of vertices and edges that follow (--format=metis-graph "
     "says what does not agree)"},
    {".tar", "suitesparse-tar", "a tar archive; fetch the file again"},
};

/// In small letters, as Windows takes them all: A.MTX promises what A.mtx does.
std::string without_compression(const std::string& path) {
  std::string name = lower_case(path);
  for (const char* ending : {".gz", ".bz2", ".xz", ".lzma", ".zst"}) {
    if (ends_with(name, ending)) return name.substr(0, name.rfind('.'));
  }
  return name;
}

}  // namespace

std::string format_of_ending(const std::string& ending) {
  for (const Promise& promise : kPromises) {
    if (ending == promise.ending) return promise.format;
  }
  return "";
}

bool promises(const std::string& path, const std::string& format) {
  const std::string name = without_compression(path);
  return std::any_of(std::begin(kPromises), std::end(kPromises), [&](const Promise& promise) {
    return format == promise.format && ends_with(name, promise.ending);
  });
}

void require_promise_kept(const std::string& path, const FormatReader* found) {
  const std::string name = without_compression(path);
  for (const Promise& promise : kPromises) {
    if (!ends_with(name, promise.ending)) continue;
    if (found != nullptr && found->format.name == std::string(promise.format)) return;
    const std::string looks_like = found == nullptr ? "none of the known ones" : found->format.name;
    throw InputError(
        path + ":1: expected the format " + promise.format + ", as the name says, " +
        promise.beginning + "; found " + looks_like + " in its content" +
        (found == nullptr ? "" : "; if that is what it is, say --format=" + looks_like));
  }
}

}  // namespace csrkit
