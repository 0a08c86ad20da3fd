#include "gpu/solve/streamed_matrix.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

namespace {

/// The most and least entries of a warp in shared memory. 256 of f64 are 3 KiB; 32 warps leave more
/// than half of shared memory to vectors.
constexpr Offset kMostRoom = 256, kLeastRoom = 32;

/// Room for the entries of any 32 rows (of one warp), rounded up to bulk copies, within the bounds.
std::uint32_t room_for(const CsrMatrix& a) {
  const Offset* const offsets = a.row_offsets();
  Offset most = kLeastRoom;
  for (Index row = 0; row < a.rows(); row += 32) {
    most = std::max(most, offsets[std::min<Offset>(Offset{row} + 32, a.rows())] - offsets[row]);
  }
  constexpr Offset kUnit = kStreamUnit;
  return static_cast<std::uint32_t>(std::min(kMostRoom, (most + 2 * kUnit - 2) / kUnit * kUnit));
}

/// A copy of `size` items on the device, followed by kStreamUnit zeros. Queued: `from` must stay.
template <class To>
DeviceBuffer<To> padded_copy(DeviceMemory& memory, const To* from, Offset size, const char* what) {
  DeviceBuffer<To> copy(memory, size + kStreamUnit, what);
  const auto bytes = static_cast<std::size_t>(size) * sizeof(To);
  CHECK_CUDA(cudaMemsetAsync(copy.data() + size, 0, kStreamUnit * sizeof(To), memory.stream()));
  if (bytes > 0) {
    CHECK_CUDA(cudaMemcpyAsync(copy.data(), from, bytes, cudaMemcpyHostToDevice, memory.stream()));
  }
  return copy;
}

}  // namespace

template <class T>
StreamedArrays<T>::StreamedArrays(const CsrMatrix& a, DeviceMemory& memory) : room_(room_for(a)) {
  if (a.nnz() > kMaxIndex - kMostRoom) {
    throw UsageError("streamed numbers entries in 31 bits, and this matrix has " +
                     std::to_string(a.nnz()) + "; use one_pass");
  }
  const bool has_values = a.value_kind() != ValueKind::none;
  const CsrMatrix converted = has_values ? convert_values(a, kValueKindOf<T>) : a;
  const std::vector<std::uint32_t> narrow(a.row_offsets(), a.row_offsets() + a.rows() + 1);
  offsets_ = padded_copy(memory, narrow.data(), static_cast<Offset>(narrow.size()), "row offsets");
  cols_ = padded_copy(memory, a.col_indices(), a.nnz(), "columns");
  if (has_values) {
    values_ = padded_copy(memory, static_cast<const T*>(converted.values()), a.nnz(), "values");
  }
  CHECK_CUDA(cudaStreamSynchronize(memory.stream()));  // the copies' sources are local
}

template <class T>
StreamedMatrix<T> StreamedArrays<T>::view() const {
  return {offsets_.data(), cols_.data(), values_.data(), room_};
}

template class StreamedArrays<float>;
template class StreamedArrays<double>;

}  // namespace csrkit::gpu
