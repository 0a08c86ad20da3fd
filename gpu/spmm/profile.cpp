#include "gpu/spmm/profile.h"

#include <algorithm>

#include "gpu/device/device_info.h"
#include "gpu/spmm/row_panels/lists.h"

namespace csrkit::gpu {

namespace {

/// Whether sampled entries (i, j) all have a counterpart (j, i).
bool looks_symmetric(const CsrMatrix& a) {
  constexpr Offset kSample = 64;
  if (a.rows() != a.cols() || a.nnz() == 0) return false;
  for (Offset i = 0; i < kSample; ++i) {
    const auto row = static_cast<Index>(i * a.rows() / kSample);
    const Offset begin = a.row_offsets()[row], end = a.row_offsets()[row + 1];
    if (begin == end) continue;
    const Index col = a.col_indices()[begin + (end - begin) / 2];
    const Index* of_col = a.col_indices() + a.row_offsets()[col];
    if (!std::binary_search(of_col, a.col_indices() + a.row_offsets()[col + 1], row)) return false;
  }
  return true;
}

}  // namespace

bool rows_are_seen(const SpmmProblem& problem) {
  return problem.a.space() == MemorySpace::host && problem.a.nnz() > 0 &&
         (!problem.transpose_a || looks_symmetric(problem.a));
}

SpmmProfile sizes_of(const SpmmProblem& problem) {
  SpmmProfile profile;
  profile.rows = problem.output_rows();
  profile.cols = problem.input_rows();
  profile.nnz = problem.a.nnz();
  profile.dense_cols = problem.dense_cols;
  profile.b_bytes = size_of(problem.b);
  profile.multiprocessors = current_multiprocessors();
  profile.l2_bytes = static_cast<double>(current_l2_bytes());
  return profile;
}

EntrySample look_at_panels(const SpmmProblem& problem, SpmmProfile& profile) {
  const CsrMatrix& a = problem.a;
  if (a.space() != MemorySpace::host || a.nnz() == 0) return {};
  const Index panel_rows = gpu::panel_rows(profile.b_bytes);
  const look::RowStretches stretches(a);
  EntrySample of_entries = look::sample_entries(a, stretches);
  of_entries.sees_rows = rows_are_seen(problem);
  if (of_entries.sees_rows) {
    profile.sample = look::sample_panels(a, panel_rows, of_entries);
    profile.longest = look::longest_row(a, stretches, of_entries);
  } else {
    profile.sample = look::sample_column_panels(a, panel_rows, of_entries);
  }
  return of_entries;
}

void look_at_neighbourhood(const SpmmProblem& problem, const EntrySample& of_entries,
                           SpmmProfile& profile) {
  const CsrMatrix& a = problem.a;
  if (a.space() != MemorySpace::host || a.nnz() == 0) return;
  if (of_entries.sees_rows) {
    profile.near = look::sample_neighbourhood(a, of_entries);
  } else {
    profile.near = {look::sample_column_panels(a, 16, of_entries).sharing(),
                    look::sample_column_panels(a, 64, of_entries).sharing()};
  }
}

SpmmProfile profile_of(const SpmmProblem& problem) {
  SpmmProfile profile = sizes_of(problem);
  look_at_neighbourhood(problem, look_at_panels(problem, profile), profile);
  return profile;
}

}  // namespace csrkit::gpu
