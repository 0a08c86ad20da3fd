// The settings of kernels (for --variant and --tune). No setting changes a bit of the result. Those
// of nnz_balanced stand here whole: how they are written, and what is best where nothing was
// measured.
#pragma once

#include <string>
#include <vector>

#include "cpu/common/operator_plan.h"
#include "cpu/spmm/row_kernels.h"

namespace csrkit::cpu {

struct Settings {
  Index tile_cols = 0;  // columns of B that are gone through before the next ones; 0 = all at once
  RowSettings rows;
  bool packs_b = false;  // slices of tile_cols columns of B are copied, their rows side by side on
                         // cache lines
  bool joins_rows = false;  // neighbouring rows with the same columns are made together
};

/// Among a few thousand neighbouring entries, the part that names a row of B not named among them
/// before: 1 where every entry needs another row, near 0 where rows of A share their columns. From
/// a few samples of the matrix.
double fresh_rows_of_b(const CsrMatrix& op_a);

/// Of the rows of B that are named for the first time among a few thousand neighbouring entries,
/// the part that lies beside one named among the last few hundred: near 1 for meshes and bands,
/// near 0 for graphs without an order. From a few samples.
double rows_of_b_in_runs(const CsrMatrix& op_a);

/// Whether most rows are as long as the row before, so that the machine foresees where they end.
/// From a few samples.
bool foresees_row_ends(const CsrMatrix& op_a);

/// The rows of B that one of so many threads reads, counted for the one in the middle; all of them
/// where its entries are too many to be looked at.
Index rows_of_b_per_thread(const CsrMatrix& op_a, int threads);

/// Chosen from sizes, caches, threads and what the above say of A; `why` says it in words.
Settings default_settings(const MethodInput& input, std::string* why);

/// "tile=64,prefetch=4096,stores=stream", and ",b=packed" where slices are, ",rows=joined" where
/// rows are. Throws UsageError that shows this form.
Settings parse_settings(const std::string& text);
std::string text_of(const Settings& settings);

/// What is worth measuring for a problem, as text.
std::vector<std::string> candidate_settings(const SpmmProblem& problem);

/// The settings of unrolled: how many columns are kept in local variables.
std::vector<std::string> unrolled_widths(const SpmmProblem& problem);

}  // namespace csrkit::cpu
