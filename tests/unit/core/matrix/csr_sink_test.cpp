#include "core/matrix/csr_sink.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/error.h"
#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

TEST(CsrSink, BlocksBecomeOneMatrix) {
  MemorySink sink(3, 4, ValueKind::none);
  EXPECT_TRUE(sink.keeps_blocks());
  sink.append_rows(pattern_of(4, {{0, 3}}));
  sink.append_rows(pattern_of(4, {{}, {1}}));
  const CsrMatrix whole = sink.finish();
  EXPECT_EQ(whole.rows(), 3);
  EXPECT_EQ(whole.nnz(), 3);
  const std::vector<Offset> offsets(whole.row_offsets(), whole.row_offsets() + 4);
  EXPECT_EQ(offsets, (std::vector<Offset>{0, 2, 2, 3}));
  const std::vector<Index> cols(whole.col_indices(), whole.col_indices() + 3);
  EXPECT_EQ(cols, (std::vector<Index>{0, 3, 1}));
}

TEST(CsrSink, ASingleBlockIsNotCopied) {
  const CsrMatrix block = pattern_of(4, {{0, 3}, {2}});
  MemorySink sink(2, 4, ValueKind::none);
  sink.append_rows(block);
  EXPECT_EQ(sink.finish().col_indices(), block.col_indices());
}

TEST(CsrSink, RefusesWhatDoesNotFit) {
  MemorySink sink(2, 4, ValueKind::none);
  EXPECT_THROW(sink.append_rows(pattern_of(5, {{0}})), UsageError);
  EXPECT_THROW(sink.append_rows(convert_values(pattern_of(4, {{0}}), ValueKind::f32)), UsageError);
  EXPECT_THROW(sink.append_rows(pattern_of(4, {{0}, {0}, {0}})), UsageError);
  sink.append_rows(pattern_of(4, {{0}}));
  EXPECT_THROW(sink.finish(), UsageError);  // a row is missing
  EXPECT_THROW(MemorySink(-1, 4, ValueKind::none), UsageError);
}

}  // namespace
}  // namespace csrkit
