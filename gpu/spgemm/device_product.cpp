#include "gpu/spgemm/device_product.h"

#include "gpu/device/staged_copies.h"

namespace csrkit::gpu {

CsrMatrix download(const DeviceProduct& product, int threads, cudaStream_t stream) {
  const Offset count = Offset{product.rows} + 1;
  Buffer<Offset> row_offsets(count);
  Buffer<Index> col_indices(product.nnz);
  ValueArray values(product.kind, product.nnz);
  Buffer<std::uint32_t> narrow(product.narrow_offsets.size());
  const auto entries = static_cast<std::uint64_t>(product.nnz);
  copy_to_host(
      {{narrow.data(), product.narrow_offsets.data(), narrow.size_bytes()},
       {row_offsets.data(), product.wide_offsets.data(), product.wide_offsets.size_bytes()},
       {col_indices.data(), product.col_indices.data(), entries * sizeof(Index)},
       {values.data(), product.values.data(),
        entries * static_cast<std::uint64_t>(size_of(product.kind))}},
      threads, stream);
  for (Offset i = 0; i < narrow.size(); ++i) row_offsets[i] = Offset{narrow[i]};
  return CsrMatrix(product.rows, product.cols, std::move(row_offsets), std::move(col_indices),
                   std::move(values));
}

}  // namespace csrkit::gpu
