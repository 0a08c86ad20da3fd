// A stream whose first bytes can be seen before it is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "preprocess/import/source/byte_stream.h"

namespace csrkit {

class HeadedSource : public ByteSource {
 public:
  explicit HeadedSource(std::unique_ptr<ByteSource> source);

  /// Up to 64 KiB; read gives them again.
  std::string_view head() const { return head_; }
  bool head_is_whole() const { return is_whole_; }

  bool is_compressed() const override { return true; }
  std::size_t read(char* to, std::size_t capacity) override;

 private:
  std::unique_ptr<ByteSource> source_;
  std::string head_;
  std::size_t head_given_ = 0;
  bool is_whole_ = false;
};

}  // namespace csrkit
