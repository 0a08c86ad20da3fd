#include <omp.h>

#include "core/matrix/sort/coo_to_csr.h"
#include "studies/parallel_sorts/sorts.h"

namespace csrkit::studies {

PreparedCoo::PreparedCoo(const Entries& entries) : coo_(std::make_unique<CooMatrix>()) {
  const auto size = static_cast<Offset>(entries.size());
  coo_->rows = 1 << 16;
  coo_->cols = 1 << 20;
  coo_->row_indices = Buffer<Index>(size);
  coo_->col_indices = Buffer<Index>(size);
  coo_->values = ValueArray(ValueKind::f64, size);
  for (Offset i = 0; i < size; ++i) {
    coo_->row_indices[i] = static_cast<Index>(entries[i].key >> 32);
    coo_->col_indices[i] = static_cast<Index>(entries[i].key & 0xffffffffu);
    coo_->values.as<double>()[i] = static_cast<double>(entries[i].payload);
  }
}

PreparedCoo::~PreparedCoo() = default;

CsrMatrix PreparedCoo::convert(int threads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  CsrMatrix matrix = coo_to_csr(std::move(*coo_), Duplicates::first, "study");
  omp_set_num_threads(before);
  return matrix;
}

}  // namespace csrkit::studies
