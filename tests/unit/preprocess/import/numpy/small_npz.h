// Small .npz archives, written array by array.
#pragma once

#include <string>
#include <vector>

#include "core/file/npy_file.h"
#include "preprocess/export/byte_sink.h"

namespace csrkit {

class SmallNpz {
 public:
  explicit SmallNpz(const std::string& path) : zip_(path) {}

  template <class T>
  SmallNpz& add(const std::string& name, const std::string& descr, const std::vector<T>& elements,
                std::vector<std::int64_t> shape = {-1}) {
    if (shape == std::vector<std::int64_t>{-1}) {
      shape = {static_cast<std::int64_t>(elements.size())};
    }
    return add_bytes(name, make_npy_header(descr, shape) +
                               std::string(reinterpret_cast<const char*>(elements.data()),
                                           elements.size() * sizeof(T)));
  }
  SmallNpz& add_text(const std::string& name, const std::string& text) {
    return add_bytes(name, make_npy_header("|S" + std::to_string(text.size()), {}) + text);
  }
  SmallNpz& add_bytes(const std::string& name, const std::string& bytes) {
    zip_.begin_member(name + ".npy", bytes.size());
    zip_.write(bytes.data(), bytes.size());
    return *this;
  }
  void finish() { zip_.finish(); }

 private:
  ZipWriter zip_;
};

}  // namespace csrkit
