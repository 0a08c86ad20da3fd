#include "core/facts/column_sample.h"

#include <algorithm>
#include <vector>

#include "core/base/hash.h"

namespace csrkit {

namespace {

Buffer<Index> column_lengths(const CsrMatrix& matrix) {
  Buffer<Index> lengths(matrix.cols());
  std::fill(lengths.begin(), lengths.end(), Index{0});
  const Offset nnz = matrix.nnz();
#pragma omp parallel for schedule(static)
  for (Offset at = 0; at < nnz; ++at) {
#pragma omp atomic
    ++lengths[matrix.col_indices()[at]];
  }
  return lengths;
}

}  // namespace

ColumnSample column_sample(const CsrMatrix& matrix, Offset exact_reads, Offset sampled_reads,
                           std::uint64_t seed) {
  constexpr double kFew = 16;
  constexpr std::size_t kStrata = 32;
  ColumnSample items;
  items.count = items.always = matrix.cols();
  if (matrix.nnz() <= exact_reads) return items;

  const double share = std::min(1.0, static_cast<double>(std::max<Offset>(sampled_reads, 1)) /
                                         static_cast<double>(matrix.nnz()));
  const Buffer<Index> lengths = column_lengths(matrix);
  const auto stratum_of = [&](Index col) {  // of a column that is read
    return static_cast<std::size_t>(31 - __builtin_clz(static_cast<unsigned>(lengths[col])));
  };
  const auto word_of = [&](Index col) {
    return random_word(seed, static_cast<std::uint64_t>(col));
  };
  std::vector<std::vector<std::uint64_t>> words(kStrata);
  for (Index col = 0; col < matrix.cols(); ++col) {
    if (lengths[col] > 0) words[stratum_of(col)].push_back(word_of(col));
  }
  std::vector<std::uint64_t> limits(kStrata);  // words below are taken
  std::vector<bool> is_whole(kStrata);
  Index sampled_from = 0;
  for (std::size_t stratum = 0; stratum < kStrata; ++stratum) {
    const double taken = share * static_cast<double>(words[stratum].size());
    is_whole[stratum] = taken < kFew;
    if (is_whole[stratum]) continue;
    const auto limit = words[stratum].begin() + static_cast<std::ptrdiff_t>(taken);
    sampled_from += static_cast<Index>(words[stratum].size());
    if (limit == words[stratum].end()) {
      limits[stratum] = ~std::uint64_t{0};
    } else {
      std::nth_element(words[stratum].begin(), limit, words[stratum].end());
      limits[stratum] = *limit;
    }
  }

  items.is_everything = false;
  items.item_of_col = Buffer<Index>(matrix.cols());
  std::fill(items.item_of_col.begin(), items.item_of_col.end(), ColumnSample::kLeftOut);
  items.count = 0;
  for (Index col = 0; col < matrix.cols(); ++col) {
    if (lengths[col] > 0 && is_whole[stratum_of(col)]) items.item_of_col[col] = items.count++;
  }
  items.always = items.count;
  for (Index col = 0; col < matrix.cols(); ++col) {
    if (lengths[col] == 0 || is_whole[stratum_of(col)]) continue;
    if (word_of(col) < limits[stratum_of(col)]) items.item_of_col[col] = items.count++;
  }
  if (items.count > items.always) {
    items.scale = static_cast<double>(sampled_from) / (items.count - items.always);
  }
  return items;
}

}  // namespace csrkit
