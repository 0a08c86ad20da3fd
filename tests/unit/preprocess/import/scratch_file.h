// Files for import tests, gone when the test is over.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "preprocess/import/import.h"

namespace csrkit {

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& content, const std::string& suffix = ".txt") {
    static int count = 0;
    path_ = testing::TempDir() + "csrkit_import_" + std::to_string(getpid()) + "_" +
            std::to_string(count++) + suffix;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~ScratchFile() { std::remove(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline ImportResult import_text(const std::string& content, const ImportOptions& options = {}) {
  return import_matrix(ScratchFile(content).path(), options);
}

/// The matrix as "rows x cols: row,col=value ...", counted from 0; without "=value" for kind none.
inline std::string text_of(const CsrMatrix& matrix) {
  std::string text = std::to_string(matrix.rows()) + "x" + std::to_string(matrix.cols()) + ":";
  matrix.visit([&](auto view) {
    for (Index row = 0; row < view.rows; ++row) {
      for (Offset at = view.row_offsets[row]; at < view.row_offsets[row + 1]; ++at) {
        text += " " + std::to_string(row) + "," + std::to_string(view.col_indices[at]);
        if (matrix.value_kind() == ValueKind::none) continue;
        char number[32];
        std::snprintf(number, sizeof number, "=%.17g", view.template value_as<double>(at));
        text += number;
      }
    }
  });
  return text;
}

/// What importing says against it, without the path; "accepted" if nothing.
inline std::string refusal_of(const std::string& content, const ImportOptions& options = {}) {
  const ScratchFile file(content);
  try {
    import_matrix(file.path(), options);
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind(file.path() + ":", 0), 0u) << message;
    return message.substr(std::min(message.size(), file.path().size() + 1));
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  }
  return "accepted";
}

#define EXPECT_REFUSAL(start, ...)                                             \
  do {                                                                         \
    const std::string message = refusal_of(__VA_ARGS__);                       \
    EXPECT_EQ(message.substr(0, std::string(start).size()), start) << message; \
  } while (false)

}  // namespace csrkit
