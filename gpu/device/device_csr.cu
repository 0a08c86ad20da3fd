#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/grid.h"
#include "gpu/device/staged_copies.h"

namespace csrkit::gpu {

namespace {

// Row offsets are uploaded in 64 bits, so many at a time, and narrowed on the device.
constexpr Offset kStagedOffsets = Offset{1} << 20;

__global__ void narrow_offsets(const Offset* from, std::uint32_t* to, Offset count) {
  const Offset at = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at < count) to[at] = static_cast<std::uint32_t>(from[at]);
}

bool fits_narrow(Offset nnz) { return nnz <= Offset{UINT32_MAX}; }

}  // namespace

std::uint64_t DeviceCsr::forecast_bytes(Index rows, Offset nnz, ValueKind kind) {
  const auto offsets = static_cast<std::uint64_t>(rows) + 1;
  const std::uint64_t staging = std::min<std::uint64_t>(offsets, kStagedOffsets) * sizeof(Offset);
  return (fits_narrow(nnz) ? offsets * sizeof(std::uint32_t) + staging : offsets * sizeof(Offset)) +
         static_cast<std::uint64_t>(nnz) *
             (sizeof(Index) + static_cast<std::size_t>(size_of(kind)));
}

DeviceCsr::DeviceCsr(DeviceMemory& memory, const CsrMatrix& matrix, OffsetWidth width)
    : rows_(matrix.rows()), cols_(matrix.cols()), nnz_(matrix.nnz()), kind_(matrix.value_kind()) {
  if (matrix.space() == MemorySpace::device) {
    in_place_ = matrix;
    return;
  }
  const cudaStream_t stream = memory.stream();
  const Offset offsets = Offset{rows_} + 1;
  if (width == OffsetWidth::automatic && fits_narrow(nnz_)) {
    narrow_offsets_ = DeviceBuffer<std::uint32_t>(memory, offsets, "row offsets of A");
    const DeviceBuffer<Offset> staging(memory, std::min(offsets, kStagedOffsets),
                                       "row offsets of A");
    for (Offset done = 0; done < offsets; done += kStagedOffsets) {
      const Offset count = std::min(kStagedOffsets, offsets - done);
      CHECK_CUDA(cudaMemcpyAsync(staging.data(), matrix.row_offsets() + done,
                                 static_cast<std::size_t>(count) * sizeof(Offset),
                                 cudaMemcpyHostToDevice, stream));
      constexpr int kThreads = 256;
      narrow_offsets<<<blocks_of(count, kThreads), kThreads, 0, stream>>>(
          staging.data(), narrow_offsets_.data() + done, count);
      CHECK_LAUNCH("narrow_offsets", stream);
    }
  } else {
    wide_offsets_ = DeviceBuffer<Offset>(memory, offsets, "row offsets of A");
    CHECK_CUDA(cudaMemcpyAsync(wide_offsets_.data(), matrix.row_offsets(),
                               wide_offsets_.size_bytes(), cudaMemcpyHostToDevice, stream));
  }
  if (nnz_ == 0) return;
  col_indices_ = DeviceBuffer<Index>(memory, nnz_, "column indices of A");
  if (kind_ != ValueKind::none) {
    values_ = DeviceBuffer<std::byte>(memory, nnz_ * size_of(kind_), "values of A");
  }
  upload({{col_indices_.data(), matrix.col_indices(), col_indices_.size_bytes()},
          {values_.data(), matrix.values(), values_.size_bytes()}},
         stream);
}

void DeviceCsr::set_values(const CsrMatrix& matrix, cudaStream_t stream) {
  upload({{values_.data(), matrix.values(), values_.size_bytes()}}, stream);
}

void copy_dense(DenseView to, ConstDenseView from, cudaStream_t stream) {
  if (to.rows == 0 || to.cols == 0) return;
  const auto element = static_cast<std::size_t>(size_of(to.kind));
  const std::size_t row_bytes = static_cast<std::size_t>(to.cols) * element;
  const std::size_t to_pitch = static_cast<std::size_t>(to.leading_dim) * element;
  const std::size_t from_pitch = static_cast<std::size_t>(from.leading_dim) * element;
  const auto rows = static_cast<std::size_t>(to.rows);
  if (rows == 1 || (to_pitch == row_bytes && from_pitch == row_bytes)) {
    CHECK_CUDA(cudaMemcpyAsync(to.data, from.data, rows * row_bytes, cudaMemcpyDefault, stream));
    return;
  }
  int device = 0, max_pitch = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&max_pitch, cudaDevAttrMaxPitch, device));
  if (std::max(to_pitch, from_pitch) <= static_cast<std::size_t>(max_pitch)) {
    CHECK_CUDA(cudaMemcpy2DAsync(to.data, to_pitch, from.data, from_pitch, row_bytes, rows,
                                 cudaMemcpyDefault, stream));
    return;
  }
  // Rows are further apart than the largest pitch: copy them one at a time.
  for (std::size_t row = 0; row < rows; ++row) {
    CHECK_CUDA(cudaMemcpyAsync(static_cast<char*>(to.data) + row * to_pitch,
                               static_cast<const char*>(from.data) + row * from_pitch, row_bytes,
                               cudaMemcpyDefault, stream));
  }
}

}  // namespace csrkit::gpu
