#include "tools/operation/operations/output_sink.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/matrix/sorted_rows.h"

namespace csrkit {

CsrMatrix row_block(const CsrMatrix& matrix, Index first, Index last) {
  const Offset* const from = matrix.row_offsets() + first;
  const Offset begin = from[0];
  Buffer<Offset> own(Offset{last} - first + 1);
  for (Index row = 0; row <= last - first; ++row) own[row] = from[row] - begin;
  const auto owner =
      std::make_shared<const std::pair<CsrMatrix, Buffer<Offset>>>(matrix, std::move(own));
  const ValueKind kind = matrix.value_kind();
  const void* values = matrix.values();
  if (kind != ValueKind::none) values = static_cast<const char*>(values) + begin * size_of(kind);
  return CsrMatrix(last - first, matrix.cols(), owner->second.data(), matrix.col_indices() + begin,
                   kind, values, owner);
}

OutputSink::OutputSink(const SpgemmProblem& problem, std::string output,
                       std::optional<CheckOptions> check)
    : problem_(problem), output_(std::move(output)), options_(check) {
  if (options_) result_.emplace();
}

void OutputSink::append_rows(const CsrMatrix& made) {
  // A file promises ascending columns.
  const bool is_sorted = problem_.sorts_rows || output_.empty();
  const CsrMatrix block = is_sorted ? made : with_sorted_rows(made);
  if (rows_so_far_ == 0 && block.rows() == problem_.output_rows()) {
    whole_ = block;
    return;
  }
  if (options_) judge(block);
  rows_so_far_ += block.rows();
  if (output_.empty() || (result_ && !result_->passed)) return;
  if (!file_) file_.emplace(output_, problem_.output_rows(), problem_.output_cols(), problem_.c);
  file_->append_rows(block);
}

/// A product of some rows is a product: of these rows of A (and of the mask), with all of B.
void OutputSink::judge(const CsrMatrix& block) {
  if (!result_->passed) return;
  const Index first = rows_so_far_, last = first + block.rows();
  if (first == 0) op_b_ = problem_.transpose_b ? transpose(problem_.b) : problem_.b;
  SpgemmProblem part = problem_;
  part.a = row_block(problem_.a, first, last);
  part.b = op_b_;
  part.transpose_b = false;
  if (problem_.mask) part.mask = row_block(*problem_.mask, first, last);
  CheckOptions options = *options_;
  if (options.work_limit > 0) {  // one limit for all blocks together; 0 stands for none
    const double share = static_cast<double>(block.rows()) / problem_.output_rows();
    options.work_limit = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(share * static_cast<double>(options.work_limit)));
  }
  const CheckResult found = check_spgemm(part, block, options);
  result_->passed = found.passed;
  result_->sampled |= found.sampled;
  result_->has_projections |= found.has_projections;
  result_->rows_checked += found.rows_checked;
  result_->worst_error_ratio = std::max(result_->worst_error_ratio, found.worst_error_ratio);
  if (!found.passed) {
    result_->failure =
        "in the block that begins with row " + std::to_string(first) + ": " + found.failure;
  }
}

void OutputSink::finish(const CsrFile& beside, const ProgressCallback& progress) {
  if (whole_ && options_) result_ = check_spgemm(problem_, *whole_, *options_);
  if (result_ && !result_->passed) {
    file_.reset();
    return;
  }
  if (file_) file_->finish(beside);
  if (!whole_ || output_.empty()) return;
  CsrFile file = beside;
  file.matrix = *whole_;
  write_csr_file(output_, file, progress);
}

}  // namespace csrkit
