// Checks that both ends of every exchange expect the same rows. Each rank reads its own lists and
// can check alone that they are possible; whether they fit each other takes two ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix/row_parts.h"

namespace csrkit::ranks {

/// One number for what `part` sends minus what it waits for. If all lists fit each other, the
/// numbers of all parts add up to 0, and the ranks need to tell each other nothing else.
std::uint64_t unmatched(Index part, const PartLists& lists);

/// One digest for each neighbour that `part` sends to, for gather(): if the sum is not 0, the
/// digests show which parts disagree.
std::string digests_of(Index part, const PartLists& lists);

/// Throws InputError that names `path` unless each neighbour sends the columns that `part` waits
/// for: else rows of B would land in wrong places. `all` holds the digests of every rank.
void require_agreement(Index part, const PartLists& lists, const std::vector<std::string>& all,
                       const std::string& path);

}  // namespace csrkit::ranks
