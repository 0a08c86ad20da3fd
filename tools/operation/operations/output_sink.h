// Where csrkit's sparse products go: judged block by block, and written only if they are right.
#pragma once

#include <optional>
#include <string>

#include "core/contract/spgemm.h"
#include "core/file/csr_file.h"
#include "core/judge/compare.h"
#include "core/matrix/csr_sink.h"

namespace csrkit {

/// C of a sparse product. One block that is all of C stays in memory; several go to the file as
/// they come, so that no more than a block of C is ever held. Each is judged before the next one is
/// made. Rows of a file are sorted, whatever the problem says.
class OutputSink : public CsrSink {
 public:
  /// `output` "" writes nothing; without `check` nothing is judged. `problem` must outlive the
  /// sink.
  OutputSink(const SpgemmProblem& problem, std::string output,
             std::optional<CheckOptions> check = {});

  void append_rows(const CsrMatrix& block) override;

  /// Gives the file its name if no check failed; if one did, there is no file. All rows must have
  /// arrived.
  /// `beside` holds what goes into the file beside C.
  void finish(const CsrFile& beside, const ProgressCallback& progress = {});

  /// Of all blocks together; nothing if nothing was to be judged. Complete after finish().
  const std::optional<CheckResult>& check() const { return result_; }

 private:
  void judge(const CsrMatrix& block);

  const SpgemmProblem& problem_;
  std::string output_;
  std::optional<CheckOptions> options_;
  std::optional<CheckResult> result_;
  std::optional<CsrMatrix> whole_;
  std::optional<CsrFileSink> file_;
  CsrMatrix op_b_;
  Index rows_so_far_ = 0;
};

/// Rows [first, last) of a matrix, with offsets of their own; the entries are borrowed.
CsrMatrix row_block(const CsrMatrix& matrix, Index first, Index last);

}  // namespace csrkit
