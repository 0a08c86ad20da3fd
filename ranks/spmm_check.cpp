#include "ranks/spmm_check.h"

#include <algorithm>
#include <cstring>

#include "core/base/hash.h"
#include "core/base/text.h"

namespace csrkit::ranks {

namespace {

constexpr Index kRandomRows = 64;

/// Whether a row of the part, counted from 0, has entries that other parts multiply.
bool is_split(const RankPart& part, Index row) {
  const std::vector<RowPiece>& split = part.lists.own_pieces;
  const Index wanted = part.lists.head.row_begin + row;
  return std::any_of(split.begin(), split.end(),
                     [&](const RowPiece& piece) { return piece.row == wanted; });
}

std::vector<Index> rows_to_check(const RankPart& part, std::uint64_t budget, std::uint64_t seed) {
  const Index rows = part.own.rows();
  const auto longest = [&](const auto& length) {
    Index best = 0;
    for (Index row = 1; row < rows; ++row) {
      if (length(row) > length(best)) best = row;
    }
    return best;
  };
  const auto entries = [&](Index row) {
    return part.own.row_length(row) + part.halo.row_length(row);
  };
  std::vector<Index> wanted = {0, rows - 1, longest(entries),
                               longest([&](Index row) { return part.halo.row_length(row); })};
  for (Index i = 0; i < kRandomRows; ++i) {
    const std::uint64_t word = random_word(seed, static_cast<std::uint64_t>(i));
    wanted.push_back(static_cast<Index>(below(word, static_cast<std::uint64_t>(rows))));
  }
  std::vector<Index> chosen;
  for (const Index row : wanted) {
    const auto cost = static_cast<std::uint64_t>(entries(row)) + 1;
    if (cost > budget || is_split(part, row)) continue;
    budget -= cost;
    chosen.push_back(row);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

/// The chosen rows of the part with columns of the whole matrix, as a matrix of their own whose
/// columns are those that occur.
struct Sample {
  CsrMatrix a;
  std::vector<Index> cols;  // ascending, of the whole matrix
};

Sample sample_of(const RankPart& part, const std::vector<Index>& rows, const CsrMatrix& split_row) {
  Sample sample;
  const Buffer<Index>& halo = part.lists.halo;
  struct Entry {
    Index col;
    const CsrMatrix* from;
    Offset at;
  };
  std::vector<Entry> entries;
  Buffer<Offset> offsets(static_cast<Offset>(rows.size()) + 1);
  offsets[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto begin = static_cast<Offset>(entries.size());
    if (is_split(part, rows[i])) {
      for (Offset at = 0; at < split_row.nnz(); ++at) {
        entries.push_back({split_row.col_indices()[at], &split_row, at});
      }
    } else {
      for (const CsrMatrix* from : {&part.own, &part.halo}) {
        for (Offset at = from->row_offsets()[rows[i]]; at < from->row_offsets()[rows[i] + 1];
             ++at) {
          const Index col = from->col_indices()[at];
          entries.push_back({from == &part.own ? part.first_col + col : halo[col], from, at});
        }
      }
    }
    std::sort(entries.begin() + begin, entries.end(),
              [](const Entry& a, const Entry& b) { return a.col < b.col; });
    offsets[static_cast<Offset>(i) + 1] = static_cast<Offset>(entries.size());
  }
  for (const Entry& entry : entries) sample.cols.push_back(entry.col);
  std::sort(sample.cols.begin(), sample.cols.end());
  sample.cols.erase(std::unique(sample.cols.begin(), sample.cols.end()), sample.cols.end());

  const auto count = static_cast<Offset>(entries.size());
  const ValueKind kind = part.own.value_kind();
  const auto size = static_cast<std::size_t>(size_of(kind));  // 0 without values
  Buffer<Index> cols(count);
  ValueArray values(kind, count);
  for (Offset i = 0; i < count; ++i) {
    const Entry& entry = entries[static_cast<std::size_t>(i)];
    const auto place = std::lower_bound(sample.cols.begin(), sample.cols.end(), entry.col);
    cols[i] = static_cast<Index>(place - sample.cols.begin());
    if (size > 0) {
      std::memcpy(static_cast<char*>(values.data()) + static_cast<std::size_t>(i) * size,
                  static_cast<const char*>(entry.from->values()) +
                      static_cast<std::size_t>(entry.at) * size,
                  size);
    }
  }
  sample.a = CsrMatrix(static_cast<Index>(rows.size()), static_cast<Index>(sample.cols.size()),
                       std::move(offsets), std::move(cols), std::move(values));
  return sample;
}

DenseView row_of(const DenseView& dense, Index row) {
  const Offset at = row * dense.leading_dim * size_of(dense.kind);
  return {dense.as<char>() + at, dense.kind, 1, dense.cols, dense.leading_dim};
}

}  // namespace

RowOfB rows_as_received(SpmmRank& rank) {
  return [&rank](Index row, DenseView to) {
    std::memcpy(to.data, rank.row_of_b(row).data,
                static_cast<std::size_t>(Offset{to.cols} * size_of(to.kind)));
  };
}

CheckResult check_sampled_rows(SpmmRank& rank, const RowOfB& row_of_b, const RowOfA& row_of_a,
                               std::uint64_t work_limit, std::uint64_t seed) {
  CheckResult nothing;
  nothing.sampled = true;
  const RankPart& part = rank.part();
  if (part.own.rows() == 0) return nothing;
  const Index dense_cols = rank.columns().size();
  const std::uint64_t budget = work_limit / static_cast<std::uint64_t>(dense_cols);
  std::vector<Index> rows = rows_to_check(part, budget, seed);
  CsrMatrix split_row;
  if (row_of_a && !part.lists.own_pieces.empty()) {
    const Index row = part.lists.own_pieces.front().row;
    split_row = row_of_a(row);
    const bool is_affordable = static_cast<std::uint64_t>(split_row.nnz()) <= budget;
    if (is_affordable) rows.push_back(row - part.lists.head.row_begin);
    std::sort(rows.begin(), rows.end());
  }
  const Sample sample = sample_of(part, rows, split_row);

  SpmmProblem problem = rank.kinds();
  problem.a = sample.a;
  DenseMatrix b(sample.a.cols(), dense_cols, problem.b), c(sample.a.rows(), dense_cols, problem.c);
  for (std::size_t i = 0; i < sample.cols.size(); ++i) {
    row_of_b(sample.cols[i], row_of(b.view(), static_cast<Index>(i)));
  }
  const ConstDenseView all = rank.c();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Offset at = rows[i] * all.leading_dim * size_of(all.kind);
    std::memcpy(row_of(c.view(), static_cast<Index>(i)).data, all.as<char>() + at,
                static_cast<std::size_t>(Offset{dense_cols} * size_of(all.kind)));
  }
  CheckOptions options;
  options.work_limit = 0;
  CheckResult result =
      check_spmm(problem, std::as_const(b).view(), 1, 0, nullptr, std::as_const(c).view(), options);
  result.sampled = static_cast<Index>(rows.size()) < part.own.rows();
  if (!result.passed) {
    std::string names;
    for (const Index row : rows) {
      append_item(names, std::to_string(part.lists.head.row_begin + row));
    }
    result.failure += " (counted from 0 among the rows " + names + " of the matrix)";
  }
  return result;
}

}  // namespace csrkit::ranks
