#include "cpu/spmv/row_sums.h"

#include <cstdio>

namespace csrkit::cpu::spmv {

std::string bytes_per_nonzero(std::uint64_t stored, std::uint64_t csr, Offset nnz) {
  const auto entries = static_cast<double>(std::max<Offset>(nnz, 1));
  char text[80];
  std::snprintf(text, sizeof text, "%.2f bytes a nonzero (CSR %.2f)",
                static_cast<double>(stored) / entries, static_cast<double>(csr) / entries);
  return text;
}

}  // namespace csrkit::cpu::spmv
