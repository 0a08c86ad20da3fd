// row-similarity: rows with many columns in common become neighbours.
//
// Each row gets a signature of kHashes minima of hashed columns; two signatures agree in a place
// with the probability of the rows' Jaccard similarity (Broder, 1997). Rows that agree in a whole
// band of places become candidates (locality-sensitive hashing: Indyk, Motwani, STOC 1998), the
// most similar pairs are joined first, and the signature of a cluster, the element-wise minimum, is
// that of the union of its rows, so that the next pass joins clusters in the same way with shorter
// bands. (Clustering rows for SpMM like this: Jiang, Hong, Agrawal, PPoPP 2020.) No graph is
// needed: directed and rectangular matrices are nothing special.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/base/team.h"
#include "core/base/team_errors.h"
#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

namespace {

constexpr int kHashes = 16;
static_assert(kHashes <= kMostOwnRooms, "one thread for each band, and a pass may have kHashes");

/// A pass joins what agrees in a band of `band` places, and in `least` of all places.
struct Pass {
  int band;
  int least;
  Index most_rows;  // of a cluster: what shares columns with thousands shares them by chance
};
constexpr Pass kPasses[] = {{4, 8, 256}, {2, 4, 1024}, {1, 2, 4096}, {1, 1, 16384}};

using Signature = std::array<std::uint32_t, kHashes>;

Buffer<Signature> signatures_of(const CsrMatrix& matrix, std::uint64_t seed) {
  std::uint32_t factor[kHashes];
  for (int h = 0; h < kHashes; ++h) {
    factor[h] = static_cast<std::uint32_t>(random_word(seed, static_cast<std::uint64_t>(h))) | 1u;
  }
  Buffer<Signature> signatures(matrix.rows());
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index row = 0; row < matrix.rows(); ++row) {
    Signature minimum;
    minimum.fill(~std::uint32_t{0});
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      const auto word = static_cast<std::uint32_t>(
          mix64(seed ^ static_cast<std::uint64_t>(matrix.col_indices()[at])));
      for (int h = 0; h < kHashes; ++h) {
        // The high half of a product mixes the bits of both factors; the low half would keep the
        // low bits of the word for every h.
        const auto hashed = static_cast<std::uint32_t>((std::uint64_t{word} * factor[h]) >> 16) ^
                            (word * factor[h]);
        minimum[static_cast<std::size_t>(h)] =
            std::min(minimum[static_cast<std::size_t>(h)], hashed);
      }
    }
    signatures[row] = minimum;
  }
  return signatures;
}

/// Rows in clusters; each cluster is a list, and its first row stands for it.
class Clusters {
 public:
  Clusters(const CsrMatrix& matrix, Buffer<Signature> signatures)
      : signatures_(std::move(signatures)),
        first_(matrix.rows()),
        last_(matrix.rows()),
        next_(matrix.rows()),
        size_(matrix.rows()) {
    for (Index row = 0; row < matrix.rows(); ++row) {
      first_[row] = last_[row] = row;
      next_[row] = -1;
      size_[row] = 1;
      if (matrix.row_length(row) > 0) heads_.push_back(row);
    }
  }

  void join_similar(const Pass& pass) {
    std::vector<Pair> pairs = candidates(pass);
    std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
      return x.agreements != y.agreements ? x.agreements > y.agreements
             : x.a != y.a                 ? x.a < y.a
                                          : x.b < y.b;
    });
    for (const Pair& pair : pairs) join(pair.a, pair.b, pass.most_rows);
    heads_.erase(
        std::remove_if(heads_.begin(), heads_.end(), [&](Index row) { return first_[row] != row; }),
        heads_.end());
  }

  /// Clusters by signature, so that those with a column in common tend to meet.
  template <class Take>
  void in_order(Take&& take) {
    std::sort(heads_.begin(), heads_.end(), [&](Index a, Index b) {
      return signatures_[a] != signatures_[b] ? signatures_[a] < signatures_[b] : a < b;
    });
    for (const Index head : heads_) {
      for (Index row = head; row >= 0; row = next_[row]) take(row);
    }
  }

 private:
  struct Pair {
    Index a, b;
    int agreements;
  };

  int agreements(Index a, Index b) const {
    int count = 0;
    for (std::size_t h = 0; h < kHashes; ++h) count += signatures_[a][h] == signatures_[b][h];
    return count;
  }

  std::vector<Pair> candidates(const Pass& pass) const {
    const int bands = kHashes / pass.band;
    std::vector<std::vector<Pair>> of_band(static_cast<std::size_t>(bands));
    TeamErrors errors;
    // A thread without a band would make room for nothing.
    const int threads = std::min(team_size(0), bands);
#pragma omp parallel num_threads(threads)
    {
      std::vector<std::pair<std::uint64_t, Index>> keyed;
      errors.guard([&] { keyed.resize(heads_.size()); });
#pragma omp for schedule(dynamic, 1)
      for (int band = 0; band < bands; ++band) {
        errors.guard([&] {
          for (std::size_t i = 0; i < heads_.size(); ++i) {
            std::uint64_t key = 0;
            for (int h = band * pass.band; h < (band + 1) * pass.band; ++h) {
              key = mix64(key ^ signatures_[heads_[i]][static_cast<std::size_t>(h)]);
            }
            keyed[i] = {key, heads_[i]};
          }
          std::sort(keyed.begin(), keyed.end());
          for (std::size_t i = 1; i < keyed.size(); ++i) {
            if (keyed[i].first != keyed[i - 1].first) continue;
            const Index a = keyed[i - 1].second, b = keyed[i].second;
            const int count = agreements(a, b);
            if (count >= pass.least)
              of_band[static_cast<std::size_t>(band)].push_back({a, b, count});
          }
        });
      }
    }
    errors.rethrow();
    std::vector<Pair> all;
    for (const auto& pairs : of_band) all.insert(all.end(), pairs.begin(), pairs.end());
    return all;
  }

  Index head_of(Index row) {
    while (first_[row] != row) {
      first_[row] = first_[first_[row]];
      row = first_[row];
    }
    return row;
  }

  void join(Index a, Index b, Index most_rows) {
    a = head_of(a);
    b = head_of(b);
    if (a == b || size_[a] > most_rows - size_[b]) return;
    if (size_[a] < size_[b] || (size_[a] == size_[b] && b < a)) std::swap(a, b);
    next_[last_[a]] = b;
    last_[a] = last_[b];
    first_[b] = a;
    size_[a] += size_[b];
    for (std::size_t h = 0; h < kHashes; ++h) {
      signatures_[a][h] = std::min(signatures_[a][h], signatures_[b][h]);
    }
  }

  Buffer<Signature> signatures_;
  Buffer<Index> first_, last_, next_, size_;
  std::vector<Index> heads_;
};

}  // namespace

Ordering row_similarity(const CsrMatrix& matrix, const MethodRequest& request) {
  Clusters clusters(matrix, signatures_of(matrix, request.seed));
  for (const Pass& pass : kPasses) {
    if (request.progress) request.progress("row-similarity", 0, 0);
    clusters.join_similar(pass);
  }
  Buffer<Index> old_of_new(matrix.rows());
  Offset place = 0;
  clusters.in_order([&](Index row) { old_of_new[place++] = row; });
  // Rows without entries come last, in their order.
  for (Index row = 0; row < matrix.rows(); ++row) {
    if (matrix.row_length(row) == 0) old_of_new[place++] = row;
  }
  return {Permutation::from_old_of_new(std::move(old_of_new))};
}

}  // namespace csrkit::reorder
