#include "ranks/agreement.h"

#include <cstring>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace csrkit::ranks {

namespace {

/// The columns that one part sends to another.
struct Digest {
  std::int64_t from, to;
  std::uint64_t columns;
};

std::uint64_t digest_of(const Index* columns, Index count) {
  auto digest = static_cast<std::uint64_t>(count);
  for (Index i = 0; i < count; ++i) {
    digest = mix64(digest ^ static_cast<std::uint64_t>(columns[i]));
  }
  return digest;
}

}  // namespace

std::uint64_t unmatched(Index part, const PartLists& lists) {
  const auto message = [](Index from, Index to, const Index* columns, Index count) {
    const auto pair = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
    return count == 0 ? 0 : mix64(mix64(pair) ^ digest_of(columns, count));
  };
  std::uint64_t sum = 0;
  const Index *sends = lists.sends.begin(), *halo = lists.halo.begin();
  for (const Neighbour& neighbour : lists.neighbours) {
    sum += message(part, neighbour.part, sends, neighbour.send_cols);
    sum -= message(neighbour.part, part, halo, neighbour.halo_cols);
    sends += neighbour.send_cols;
    halo += neighbour.halo_cols;
  }
  return sum;
}

std::string digests_of(Index part, const PartLists& lists) {
  std::string text;
  const Index* sends = lists.sends.begin();
  for (const Neighbour& neighbour : lists.neighbours) {
    const Digest digest{part, neighbour.part, digest_of(sends, neighbour.send_cols)};
    text.append(reinterpret_cast<const char*>(&digest), sizeof digest);
    sends += neighbour.send_cols;
  }
  return text;
}

void require_agreement(Index part, const PartLists& lists, const std::vector<std::string>& all,
                       const std::string& path) {
  const auto sent_by = [&](Index from) {
    for (const std::string& text : all) {
      for (std::size_t at = 0; at + sizeof(Digest) <= text.size(); at += sizeof(Digest)) {
        Digest digest{};
        std::memcpy(&digest, text.data() + at, sizeof digest);
        if (digest.from != from) break;  // all of a text are of one part
        if (digest.to == part) return digest.columns;
      }
    }
    return digest_of(nullptr, 0);
  };
  const Index* halo = lists.halo.begin();
  for (const Neighbour& neighbour : lists.neighbours) {
    if (sent_by(neighbour.part) != digest_of(halo, neighbour.halo_cols)) {
      throw InputError(path + ": expected lists of parts that fit each other, but part " +
                       std::to_string(neighbour.part) + " would send other columns than part " +
                       std::to_string(part) + " needs; make the parts again with csr-partition");
    }
    halo += neighbour.halo_cols;
  }
}

}  // namespace csrkit::ranks
