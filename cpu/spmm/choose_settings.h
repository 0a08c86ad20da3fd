// The settings of nnz_balanced where none are asked for, by a model of caches, and those that are
// worth measuring.
#pragma once

#include <string>
#include <vector>

#include "cpu/common/alike_rows.h"
#include "cpu/common/caches.h"
#include "cpu/spmm/settings.h"

namespace csrkit::cpu {

/// Chosen from sizes, caches, threads and what reads_of_b.h says of A; `why` says it in words.
/// Without `may_band` there are no bands.
Settings default_settings(const CsrMatrix& op_a, const SpmmProblem& problem, int threads,
                          const CacheSizes& caches, bool may_band, std::string* why);

/// Whether rows of op(A) with the same columns are made together: where rows of B are so long that
/// reading one once for all of them saves more than it costs to go through several rows of A at a
/// time. Bands of columns take their place where few are alike.
bool pays_joining(const AlikeRows& alike, const CsrMatrix& op_a, const SpmmProblem& problem,
                  bool has_bands);
/// Whether that could be true at all, by sizes alone: if not, such rows are not searched for.
bool may_pay_joining(const CsrMatrix& op_a, const SpmmProblem& problem);

/// What is worth measuring for a problem, as text.
std::vector<std::string> candidate_variants(const SpmmProblem& problem);

}  // namespace csrkit::cpu
