// One gzip member after the other, by ISA-L or zlib.
#pragma once

#include <memory>
#include <string_view>

namespace csrkit {

/// What one step of an Inflater did.
struct Inflated {
  enum class State { more, end_of_member, damaged };
  State state;
  std::size_t bytes_read, bytes_written;
  const char* reason;  // damaged: why
};

class Inflater {
 public:
  /// Throws MemoryError.
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Inflates from the beginning of `from`, until `from` is used up, `to` is full, or the member
  /// ends. A member ends only if its checksum and size are right.
  Inflated inflate(std::string_view from, char* to, std::size_t capacity);

  /// After end_of_member: another member follows.
  void begin_member();

  /// "ISA-L" or "zlib".
  static const char* library();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace csrkit
