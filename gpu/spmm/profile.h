// What auto knows of a product: sizes, and what a look at A on the host finds. That takes
// microseconds whatever A's size.
#pragma once

#include "core/contract/spmm.h"
#include "gpu/spmm/look/entries.h"
#include "gpu/spmm/look/neighbourhood.h"
#include "gpu/spmm/look/panels.h"

namespace csrkit::gpu {

struct SpmmProfile {
  Index rows = 0;  // of op(A)
  Index cols = 0;
  Offset nnz = 0;
  Index dense_cols = 0;
  int b_bytes = 4;  // of an element of B
  int multiprocessors = 132;
  double l2_bytes = 60 << 20;
  bool is_off_vectors = false;  // rows of B or C begin anywhere, whatever dense_cols says
  Offset longest = 0;           // entries of the longest row found
  PanelSample sample;           // empty where the host cannot see the rows of op(A)
  Neighbourhood near;           // the same

  /// Whether kernels read rows of B in pieces, because rows begin anywhere. A few columns are read
  /// by single elements in any case. In 16 bits vectors of four elements will do; where K allows
  /// them but the addresses do not, B is copied.
  bool has_pieces() const {
    constexpr Index kFewColumns = 8;
    const Index vector = b_bytes == 8 ? 2 : 4;
    const bool is_anywhere = dense_cols % vector != 0 || (is_off_vectors && b_bytes != 2);
    return dense_cols > kFewColumns && is_anywhere;
  }
};

/// Whether the host can look at the rows of op(A).
inline bool rows_are_on_host(const SpmmProblem& problem) {
  return !problem.transpose_a && problem.a.space() == MemorySpace::host;
}

/// Whether the host can see the rows of op(A), or those of one with the same pattern.
bool rows_are_seen(const SpmmProblem& problem);

/// Without a look at A.
SpmmProfile sizes_of(const SpmmProblem& problem);

/// Finds `sample` and `longest`. `problem` may have an A on the device, of which nothing is found,
/// and a transposed one: if A's pattern looks symmetric, its rows are those of its transpose.
EntrySample look_at_panels(const SpmmProblem& problem, SpmmProfile& profile);

/// Finds `near`, which takes as long again, by what look_at_panels returned for the same problem.
void look_at_neighbourhood(const SpmmProblem& problem, const EntrySample& of_entries,
                           SpmmProfile& profile);

/// All of these, for records. auto looks only as far as its choice needs.
SpmmProfile profile_of(const SpmmProblem& problem);

}  // namespace csrkit::gpu
