// Whether what ranks are to exchange is the same on both ends. Each rank reads its own lists, and
// checks alone that they are possible; only two ranks together can know that they fit each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix/row_parts.h"

namespace csrkit::ranks {

/// What part `part` sends less what it waits for, as one number. Where lists fit each other those
/// of all parts add up to 0, so that the ranks need to tell each other nothing else.
std::uint64_t unmatched(Index part, const PartLists& lists);

/// What part `part` sends in short, one digest for each neighbour, for gather(): where the sum is
/// not 0, these say which parts disagree.
std::string digests_of(Index part, const PartLists& lists);

/// Throws InputError that names `path`, unless each neighbour sends the columns that `part` waits
/// for: rows of B would come in the places of others. `all` holds the digests of every rank.
void require_agreement(Index part, const PartLists& lists, const std::vector<std::string>& all,
                       const std::string& path);

}  // namespace csrkit::ranks
