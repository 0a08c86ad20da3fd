// Orders and partitions that other programs have found.
#pragma once

#include <string>

#include "core/matrix/csr_matrix.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {

/// Which way an outside permutation p reads: p[i] is the old row at place i (A[p] in NumPy and
/// MATLAB; what SciPy returns), or the new place of row i.
enum class Direction { old_of_new, new_of_old };

/// `size` numbers from an .npy file of integers or a text of one number per line (`#` and `%` begin
/// comments). Throws InputError, which names line or byte, and says that every `item`, a row or a
/// column, has one number.
Ordering read_outside_order(const std::string& path, Index size, Direction direction,
                            const char* item = "row");

/// The part of every row, from 0, in such a file: METIS's .part files, KaHIP, Scotch and others.
/// Rows of a part become neighbours, in the order they had. Warns where part 0 is empty: most
/// likely the parts were counted from 1.
Ordering read_outside_partition(const std::string& path, Index rows);

}  // namespace csrkit
