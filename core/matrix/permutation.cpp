#include "core/matrix/permutation.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/team_errors.h"

namespace csrkit {

namespace {

std::shared_ptr<const Index> share(Buffer<Index> array) {
  auto owner = std::make_shared<Buffer<Index>>(std::move(array));
  return {owner, owner->data()};
}

/// Throws unless `forward` hits every target once.
Buffer<Index> invert(const Buffer<Index>& forward, const std::string& where) {
  Buffer<Index> backward(forward.size());
  std::fill(backward.begin(), backward.end(), Index{-1});
  for (Offset i = 0; i < forward.size(); ++i) {
    const Index to = forward[i];
    if (to < 0 || to >= forward.size()) {
      throw InputError(where + ": element " + std::to_string(i) + " is " + std::to_string(to) +
                       ", outside [0, " + std::to_string(forward.size()) + ")");
    }
    if (backward[to] != -1) {
      throw InputError(where + ": elements " + std::to_string(backward[to]) + " and " +
                       std::to_string(i) + " are both " + std::to_string(to) +
                       ", so this is no permutation");
    }
    backward[to] = static_cast<Index>(i);
  }
  return backward;
}

/// Entries to move below which a team is not worth waking: a millisecond of work.
constexpr Offset kEntriesWorthThreads = 1 << 17;

/// Row `order.old_of_new()[r]` of the input at r, columns renamed by `col_new_of_old` if given.
CsrMatrix gather_rows(const CsrMatrix& matrix, const Index* row_old_of_new,
                      const Index* col_new_of_old) {
  const Index rows = matrix.rows();
  const Offset* offsets = matrix.row_offsets();
  const auto source_row = [&](Index row) { return row_old_of_new ? row_old_of_new[row] : row; };

  Buffer<Offset> out_offsets(Offset{rows} + 1);
  out_offsets[0] = 0;
  for (Index row = 0; row < rows; ++row) {
    out_offsets[row + 1] = out_offsets[row] + matrix.row_length(source_row(row));
  }
  Buffer<Index> out_cols(matrix.nnz());
  ValueArray out_values(matrix.value_kind(), matrix.nnz());
  matrix.visit([&](auto view) {
    using View = decltype(view);
    constexpr bool kHasValues = !std::is_same_v<View, CsrView<ImplicitOne>>;
    TeamErrors errors;
#pragma omp parallel if (matrix.nnz() >= kEntriesWorthThreads)
    {
      std::vector<std::pair<Index, Offset>> entries;  // new column, old position
#pragma omp for schedule(dynamic, 256)
      for (Index row = 0; row < rows; ++row) {
        const Offset from = offsets[source_row(row)], length = matrix.row_length(source_row(row));
        Offset to = out_offsets[row];
        if (col_new_of_old == nullptr) {
          std::copy_n(view.col_indices + from, length, out_cols.data() + to);
          if constexpr (kHasValues) {
            using Value = std::remove_cv_t<std::remove_pointer_t<decltype(view.values)>>;
            std::copy_n(view.values + from, length, out_values.template as<Value>() + to);
          }
          continue;
        }
        entries.clear();
        errors.guard([&] {
          for (Offset at = from; at < from + length; ++at) {
            entries.emplace_back(col_new_of_old[view.col_indices[at]], at);
          }
        });
        std::sort(entries.begin(), entries.end());
        for (const auto& [col, at] : entries) {
          out_cols[to] = col;
          if constexpr (kHasValues) {
            using Value = std::remove_cv_t<std::remove_pointer_t<decltype(view.values)>>;
            out_values.template as<Value>()[to] = view.values[at];
          }
          ++to;
        }
      }
    }
    errors.rethrow();
  });
  return CsrMatrix(rows, matrix.cols(), std::move(out_offsets), std::move(out_cols),
                   std::move(out_values));
}

void require_size(const Permutation& order, Index size, const char* what) {
  if (order.size() != size) {
    throw UsageError("a permutation of " + std::to_string(order.size()) + " items cannot reorder " +
                     std::to_string(size) + " " + what);
  }
}

}  // namespace

Permutation Permutation::from_new_of_old(Buffer<Index> new_of_old, const std::string& where) {
  Permutation result;
  result.size_ = static_cast<Index>(new_of_old.size());
  result.old_of_new_ = share(invert(new_of_old, where));
  result.new_of_old_ = share(std::move(new_of_old));
  return result;
}

Permutation Permutation::from_old_of_new(Buffer<Index> old_of_new, const std::string& where) {
  return from_new_of_old(std::move(old_of_new), where).inverse();
}

Permutation Permutation::identity(Index size) {
  Buffer<Index> order(size);
  std::iota(order.begin(), order.end(), Index{0});
  return from_new_of_old(std::move(order));
}

Permutation Permutation::inverse() const {
  Permutation result = *this;
  std::swap(result.new_of_old_, result.old_of_new_);
  return result;
}

Permutation Permutation::then(const Permutation& next) const {
  require_size(next, size_, "items");
  Buffer<Index> order(size_);
  for (Index i = 0; i < size_; ++i) order[i] = next.new_of_old()[new_of_old()[i]];
  return from_new_of_old(std::move(order));
}

CsrMatrix permute_rows(const CsrMatrix& matrix, const Permutation& order) {
  require_size(order, matrix.rows(), "rows");
  return gather_rows(matrix, order.old_of_new(), nullptr);
}

CsrMatrix permute_cols(const CsrMatrix& matrix, const Permutation& order) {
  require_size(order, matrix.cols(), "columns");
  return gather_rows(matrix, nullptr, order.new_of_old());
}

CsrMatrix permute_both(const CsrMatrix& matrix, const Permutation& order) {
  require_size(order, matrix.rows(), "rows");
  require_size(order, matrix.cols(), "columns");
  return gather_rows(matrix, order.old_of_new(), order.new_of_old());
}

void permute_rows(ConstDenseView from, const Permutation& order, DenseView to) {
  require_size(order, from.rows, "rows");
  if (from.rows != to.rows || from.cols != to.cols || from.kind != to.kind) {
    throw UsageError("the two dense matrices differ in shape or kind");
  }
  const std::size_t element = static_cast<std::size_t>(size_of(from.kind));
#pragma omp parallel for schedule(static)
  for (Index row = 0; row < from.rows; ++row) {
    std::memcpy(to.as<char>() + order.new_of_old()[row] * to.leading_dim * element,
                from.as<char>() + row * from.leading_dim * element,
                static_cast<std::size_t>(from.cols) * element);
  }
}

}  // namespace csrkit
