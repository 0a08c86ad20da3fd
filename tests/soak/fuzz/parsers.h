// Every parser of files that may come from anyone, as a function of bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace csrkit::fuzz {

struct Parser {
  const char* name;
  std::vector<std::string> words;  // of its format: what random bytes would never spell
  /// Reads the file. What it throws other than the two errors that bad content may end in
  /// (InputError, MemoryError) is a finding.
  std::function<void(const std::string& path)> read;
  /// Makes checksums right again, so that changes reach what lies behind them. May be null.
  std::function<void(std::string& bytes)> sign = nullptr;
  bool is_text =
      false;  // then inputs that name numbers from 10^6 on are left out: see fuzz_parsers
  /// A form without padding, so that changes meet content, and the way back. May be null.
  std::function<std::string(const std::string&bytes)> pack = nullptr, unpack = nullptr;
};

const std::vector<Parser>& parsers();

}  // namespace csrkit::fuzz
