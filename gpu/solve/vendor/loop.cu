// vendor_cublas: CG as one would write it with the vendor's libraries.
// Launch   two or three dots, three axpys and a scal of cuBLAS beside the product; small kernels of
//          ours turn sums into scalars, keep the best iterate and count iterations
// Needs    cuBLAS, opened at run time; cuSPARSE for sparse products
// Against  fused and persistent. In a CUDA graph, too
#include "gpu/device/cuda_check.h"
#include "gpu/solve/vectors.cuh"
#include "gpu/solve/vendor/loop.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlockThreads = 256;

/// By one thread: scalars[0] and [1] are sums; [2] to [5] become alpha, -alpha, beta and 1. A
/// column that has ended does not move: alpha 0.
template <class T>
__global__ void make_scalars(CgState<T> state, After after, T* scalars) {
  const TwoSums sums{static_cast<double>(scalars[0]), static_cast<double>(scalars[1])};
  decide(state, 0, after, sums);
  const CgColumn& column = state.column[0];
  const bool moves = column.moves();
  scalars[2] = moves ? static_cast<T>(column.alpha) : T{0};
  scalars[3] = -scalars[2];
  scalars[4] = moves ? static_cast<T>(column.beta) : T{0};
  scalars[5] = 1;
}

template <class T>
__global__ void keep_best(CgState<T> state) {
  if (!state.column->moves() || !state.column->keeps) return;
  const Offset step = Offset{gridDim.x} * kBlockThreads;
  for (Offset i = Offset{blockIdx.x} * kBlockThreads + threadIdx.x; i < state.rows; i += step) {
    state.best[i] = state.x[i];
  }
}

}  // namespace

template <class T>
VendorPasses<T>::VendorPasses(DeviceMemory& memory)
    : stream_(memory.stream()),
      cublas_(memory, CUBLAS_POINTER_MODE_DEVICE, false),
      scalars_(memory, kPlaces, "scalars") {
  CHECK_CUDA(cudaMemsetAsync(scalars_.data(), 0, scalars_.size_bytes(), stream_));
}

template <class T>
void VendorPasses<T>::dot(const CgState<T>& state, const T* a, const T* b, Place to) {
  T* const sum = scalars_.data() + to;
  if constexpr (std::is_same_v<T, float>) {
    check_cublas(cublas_.calls().sdot(cublas_.handle(), state.rows, a, 1, b, 1, sum), "cublasSdot");
  } else {
    check_cublas(cublas_.calls().ddot(cublas_.handle(), state.rows, a, 1, b, 1, sum), "cublasDdot");
  }
}

template <class T>
void VendorPasses<T>::axpy(const CgState<T>& state, Place scale, const T* x, T* y) {
  const T* const by = scalars_.data() + scale;
  if constexpr (std::is_same_v<T, float>) {
    check_cublas(cublas_.calls().saxpy(cublas_.handle(), state.rows, by, x, 1, y, 1),
                 "cublasSaxpy");
  } else {
    check_cublas(cublas_.calls().daxpy(cublas_.handle(), state.rows, by, x, 1, y, 1),
                 "cublasDaxpy");
  }
}

template <class T>
void VendorPasses<T>::queue(const CgState<T>& state) {
  const auto scalars = [&](After after) {
    make_scalars<T><<<1, 1, 0, stream_>>>(state, after, scalars_.data());
    CHECK_LAUNCH("make_scalars", stream_);
  };
  dot(state, state.p, state.q, kFirstSum);
  scalars(After::product);
  axpy(state, kMinusAlpha, state.q, state.r);
  if (!state.is_plain()) launch_scale_residual(state, stream_);
  dot(state, state.r, state.r, kFirstSum);
  if (!state.is_plain()) dot(state, state.r, state.z, kSecondSum);
  scalars(After::residual);
  const auto blocks = static_cast<unsigned>(blocks_for(state.rows));
  keep_best<T><<<blocks, kBlockThreads, 0, stream_>>>(state);
  CHECK_LAUNCH("keep_best", stream_);
  axpy(state, kAlpha, state.p, state.x);
  const T* const beta = scalars_.data() + kBeta;
  if constexpr (std::is_same_v<T, float>) {
    check_cublas(cublas_.calls().sscal(cublas_.handle(), state.rows, beta, state.p, 1),
                 "cublasSscal");
  } else {
    check_cublas(cublas_.calls().dscal(cublas_.handle(), state.rows, beta, state.p, 1),
                 "cublasDscal");
  }
  axpy(state, kOne, state.z, state.p);
}

template class VendorPasses<float>;
template class VendorPasses<double>;

}  // namespace csrkit::gpu
