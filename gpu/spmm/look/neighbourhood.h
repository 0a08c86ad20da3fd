// How many entries of neighbouring rows share a column.
#pragma once

#include "gpu/spmm/look/entries.h"

namespace csrkit::gpu {

/// How many entries of 16 and of 64 neighbouring rows share a column, on average: the reuse of rows
/// of B that is left to caches.
struct Neighbourhood {
  double of_16 = 1, of_64 = 1;
};

namespace look {

Neighbourhood sample_neighbourhood(const CsrMatrix& a, const EntrySample& of_entries);

}  // namespace look

}  // namespace csrkit::gpu
