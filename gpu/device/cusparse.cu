#include "gpu/device/arithmetic.cuh"
#include "gpu/device/cusparse.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlockThreads = 256;

template <class Value>
__global__ void fill_with_ones(Value* values, Offset count) {
  const Offset at = Offset{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (at < count) values[at] = Narrow<Value>::of(1);
}

}  // namespace

cudaDataType cuda_type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::f64: return CUDA_R_64F;
    case ValueKind::f16: return CUDA_R_16F;
    case ValueKind::bf16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

void require_cusparse_size(Offset nnz) {
  if (nnz <= kMaxIndex) return;
  throw UsageError("vendor_cusparse: A has " + std::to_string(nnz) +
                   " nonzeros; beyond 2^31 - 1 cuSPARSE wants 64-bit columns, and ours have 32 "
                   "bits; use another kernel");
}

void require_cusparse_offsets(const DeviceCsrView<void>& matrix) {
  if (matrix.row_offsets.narrow != nullptr && matrix.base == 0) return;
  throw UsageError("vendor_cusparse: cuSPARSE wants 32-bit row offsets that start at 0");
}

DeviceBuffer<std::byte> cusparse_buffer(DeviceMemory& memory, std::size_t bytes) {
  return DeviceBuffer<std::byte>(memory, std::max<Offset>(1, static_cast<Offset>(bytes)),
                                 "a buffer of cuSPARSE");
}

void fill_ones(ValueKind kind, void* values, Offset count, cudaStream_t stream) {
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>((count + kBlockThreads - 1) / kBlockThreads);
  with_value_type(kind, [&](auto tag) {
    using Value = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<Value, ImplicitOne>) {
      fill_with_ones<<<blocks, kBlockThreads, 0, stream>>>(static_cast<Value*>(values), count);
      CHECK_LAUNCH("fill_with_ones", stream);
    }
  });
}

CusparseMatrix::CusparseMatrix(const DeviceCsrView<void>& matrix, ValueKind kind) {
  require_cusparse_offsets(matrix);
  CHECK_CUSPARSE(cusparseCreateCsr(
      &descriptor_, matrix.rows, matrix.cols, matrix.nnz,
      const_cast<std::uint32_t*>(matrix.row_offsets.narrow), const_cast<Index*>(matrix.col_indices),
      const_cast<void*>(matrix.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
      CUSPARSE_INDEX_BASE_ZERO, cuda_type_of(kind)));
}

CusparseMatrix::CusparseMatrix(const DeviceCsrView<void>& matrix, Index* rows, ValueKind kind) {
  CHECK_CUSPARSE(cusparseCreateCoo(&descriptor_, matrix.rows, matrix.cols, matrix.nnz, rows,
                                   const_cast<Index*>(matrix.col_indices),
                                   const_cast<void*>(matrix.values), CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_BASE_ZERO, cuda_type_of(kind)));
}

}  // namespace csrkit::gpu
