// Where the row blocks of a sparse result go: into memory, or into a file while it is being made.
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// Receives a matrix of known rows, cols and value kind, block by block, top to bottom.
class CsrSink {
 public:
  virtual ~CsrSink() = default;

  /// The next `block.rows()` rows. `block` has the sink's cols and value kind.
  virtual void append_rows(const CsrMatrix& block) = 0;

  /// Whether the blocks stay in memory after append_rows, so that they count as held.
  virtual bool keeps_blocks() const { return false; }
};

/// Keeps the blocks and hands out one matrix at the end; a single block is handed out uncopied.
class MemorySink : public CsrSink {
 public:
  MemorySink(Index rows, Index cols, ValueKind kind);
  ~MemorySink() override;
  void append_rows(const CsrMatrix& block) override;
  bool keeps_blocks() const override { return true; }
  /// The whole matrix; all rows must have arrived.
  CsrMatrix finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What every sink demands of its next block and before it finishes; throws UsageError.
void require_next_block(const CsrMatrix& block, Index rows_so_far, Index rows, Index cols,
                        ValueKind kind);
void require_all_rows(Index rows_so_far, Index rows);

}  // namespace csrkit
