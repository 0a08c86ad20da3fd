// Changes to inputs that parsers trip over more often than over random bytes.
#pragma once

#include <string>
#include <vector>

#include "core/base/hash.h"

namespace csrkit::fuzz {

/// One to eight changes: bits, bytes, numbers, words of the format, pieces removed, doubled or
/// taken from `other`. At most `most_bytes` come out.
std::string mutated(std::string bytes, const std::string& other,
                    const std::vector<std::string>& words, std::size_t most_bytes,
                    RandomStream& random);

}  // namespace csrkit::fuzz
