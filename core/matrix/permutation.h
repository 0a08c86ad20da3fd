// Permutations named by direction, because every mix-up of a permutation and its inverse starts
// with the name "perm".
#pragma once

#include "core/matrix/csr_matrix.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// A bijection of {0, ..., size - 1}: `new_of_old()[i]` is the place that item i moves to,
/// `old_of_new()[j]` is the item that arrives at j. Immutable; copies share the arrays.
class Permutation {
 public:
  /// The empty permutation.
  Permutation() = default;

  /// Each factory throws InputError if the array is not a bijection.
  static Permutation from_new_of_old(Buffer<Index> new_of_old,
                                     const std::string& where = "permutation");
  static Permutation from_old_of_new(Buffer<Index> old_of_new,
                                     const std::string& where = "permutation");
  static Permutation identity(Index size);

  Index size() const { return size_; }
  const Index* new_of_old() const { return new_of_old_.get(); }
  const Index* old_of_new() const { return old_of_new_.get(); }

  Permutation inverse() const;
  /// First this one, then `next`.
  Permutation then(const Permutation& next) const;

 private:
  Index size_ = 0;
  std::shared_ptr<const Index> new_of_old_;
  std::shared_ptr<const Index> old_of_new_;
};

/// (PA): row i of the input becomes row new_of_old[i] of the result.
CsrMatrix permute_rows(const CsrMatrix& matrix, const Permutation& order);

/// (AP^T): column j becomes column new_of_old[j]; rows are sorted again.
CsrMatrix permute_cols(const CsrMatrix& matrix, const Permutation& order);

/// (PAP^T) for a square matrix: rows and columns move together, so a graph keeps its meaning.
CsrMatrix permute_both(const CsrMatrix& matrix, const Permutation& order);

/// Rows of a dense host matrix: to.row(new_of_old[i]) = from.row(i). Same shape and kind.
void permute_rows(ConstDenseView from, const Permutation& order, DenseView to);

}  // namespace csrkit
