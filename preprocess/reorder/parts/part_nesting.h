// Renumbers parts so that levels of fewer, larger parts cut few entries, too.
#pragma once

#include <vector>

#include "core/file/csr_file.h"

namespace csrkit {

/// New numbers of the parts: after renumbering, each of the numbers of parts in `levels` (which
/// ascend and divide each other, and partition.parts) is made of consecutive parts. From the
/// finest level up, groups grow by the heaviest connection, and parts change places while that
/// lowers the cut. The connection of two parts is the entries that lead from one to the other;
/// where columns have no home (rectangular matrices), the columns that both read, one after the
/// other. Takes 8 bytes for each pair of parts; throws UsageError above 4096 parts.
std::vector<Index> nested_numbers(const CsrMatrix& matrix, const Partition& partition,
                                  const std::vector<Index>& levels);

}  // namespace csrkit
