#include "gpu/spgemm/device_product.h"

#include "core/base/huge_pages.h"
#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

CsrMatrix download(const DeviceProduct& product, int threads, cudaStream_t stream) {
  const Offset count = Offset{product.rows} + 1;
  Buffer<Offset> row_offsets(count);
  Buffer<Index> col_indices(product.nnz);
  ValueArray values(product.kind, product.nnz);
  Buffer<std::uint32_t> narrow(product.narrow_offsets.size());
  const auto copy = [&](void* to, const void* from, std::uint64_t bytes) {
    if (bytes == 0) return;
    make_pages(to, bytes, threads);
    CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
  };
  copy(narrow.data(), product.narrow_offsets.data(), product.narrow_offsets.size_bytes());
  copy(row_offsets.data(), product.wide_offsets.data(), product.wide_offsets.size_bytes());
  copy(col_indices.data(), product.col_indices.data(),
       static_cast<std::uint64_t>(product.nnz) * sizeof(Index));
  copy(values.data(), product.values.data(),
       static_cast<std::uint64_t>(product.nnz) * static_cast<std::uint64_t>(size_of(product.kind)));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  for (Offset i = 0; i < narrow.size(); ++i) row_offsets[i] = Offset{narrow[i]};
  return CsrMatrix(product.rows, product.cols, std::move(row_offsets), std::move(col_indices),
                   std::move(values));
}

}  // namespace csrkit::gpu
