#include "ranks/agreement.h"

#include <cstring>
#include <map>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace csrkit::ranks {

namespace {

/// What one part sends to another: rows of B, by their columns, or sums of split rows.
struct Digest {
  std::int64_t from, to;
  std::uint64_t is_sums, numbers;
};

std::uint64_t digest_of(const Index* columns, Index count) {
  auto digest = static_cast<std::uint64_t>(count);
  for (Index i = 0; i < count; ++i) {
    digest = mix64(digest ^ static_cast<std::uint64_t>(columns[i]));
  }
  return digest;
}

/// The split rows that a part exchanges sums of, by the other part.
template <class Row>
std::map<Index, std::vector<Index>> by_part(const std::vector<Row>& rows) {
  std::map<Index, std::vector<Index>> sums;
  for (const Row& row : rows) sums[row.part].push_back(row.row);
  return sums;
}

std::uint64_t digest_of(const std::vector<Index>& rows) {
  return digest_of(rows.data(), static_cast<Index>(rows.size()));
}

}  // namespace

std::uint64_t unmatched(Index part, const PartLists& lists) {
  const auto message = [](Index from, Index to, const Index* columns, Index count,
                          std::uint64_t is_sums = 0) {
    const auto pair = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
    return count == 0 ? 0 : mix64(mix64(pair ^ is_sums << 63) ^ digest_of(columns, count));
  };
  std::uint64_t sum = 0;
  const Index *sends = lists.sends.begin(), *halo = lists.halo.begin();
  for (const Neighbour& neighbour : lists.neighbours) {
    sum += message(part, neighbour.part, sends, neighbour.send_cols);
    sum -= message(neighbour.part, part, halo, neighbour.halo_cols);
    sends += neighbour.send_cols;
    halo += neighbour.halo_cols;
  }
  for (const auto& [to, rows] : by_part(lists.pieces)) {
    sum += message(part, to, rows.data(), static_cast<Index>(rows.size()), 1);
  }
  for (const auto& [from, rows] : by_part(lists.sums)) {
    sum -= message(from, part, rows.data(), static_cast<Index>(rows.size()), 1);
  }
  return sum;
}

std::string digests_of(Index part, const PartLists& lists) {
  std::string text;
  const auto add = [&](Index to, std::uint64_t is_sums, std::uint64_t numbers) {
    const Digest digest{part, to, is_sums, numbers};
    text.append(reinterpret_cast<const char*>(&digest), sizeof digest);
  };
  const Index* sends = lists.sends.begin();
  for (const Neighbour& neighbour : lists.neighbours) {
    add(neighbour.part, 0, digest_of(sends, neighbour.send_cols));
    sends += neighbour.send_cols;
  }
  for (const auto& [to, rows] : by_part(lists.pieces)) add(to, 1, digest_of(rows));
  return text;
}

void require_agreement(Index part, const PartLists& lists, const std::vector<std::string>& all,
                       const std::string& path) {
  const auto sent_by = [&](Index from, std::uint64_t is_sums) {
    for (const std::string& text : all) {
      for (std::size_t at = 0; at + sizeof(Digest) <= text.size(); at += sizeof(Digest)) {
        Digest digest{};
        std::memcpy(&digest, text.data() + at, sizeof digest);
        if (digest.from != from) break;  // all of a text are of one part
        if (digest.to == part && digest.is_sums == is_sums) return digest.numbers;
      }
    }
    return digest_of(nullptr, 0);
  };
  const auto refuse = [&](Index from, const char* what) {
    throw InputError(path + ": expected lists of parts that fit each other, but part " +
                     std::to_string(from) + " would send " + what + " than part " +
                     std::to_string(part) + " needs; make the parts again with csr-partition");
  };
  const Index* halo = lists.halo.begin();
  for (const Neighbour& neighbour : lists.neighbours) {
    if (sent_by(neighbour.part, 0) != digest_of(halo, neighbour.halo_cols)) {
      refuse(neighbour.part, "other columns");
    }
    halo += neighbour.halo_cols;
  }
  for (const auto& [from, rows] : by_part(lists.sums)) {
    if (sent_by(from, 1) != digest_of(rows)) refuse(from, "sums of other rows");
  }
}

}  // namespace csrkit::ranks
