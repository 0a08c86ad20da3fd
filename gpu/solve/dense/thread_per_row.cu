// row_per_thread, transposed: one thread computes one element of q.
// Reads    all of A; p once per warp and element, from L1
// Launch   a thread per row, which does not fill the device; shared_tiles has a warp per row
// Against  each other. Neighbouring threads of row_per_thread read elements a row apart, 32 sectors
//          a load; A being symmetric, `transposed` reads a_ji for a_ij, 4 sectors a load
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/solve/dense/product.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlockThreads = 128;

template <class T, bool kTransposed>
__global__ void thread_per_row(SquareView<T> a, const T* p, T* q, Index stride) {
  const Offset row = Offset{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (row >= a.rows) return;
  T sum = 0;
  for (Offset j = 0; j < a.rows; ++j) {
    sum += a.data[kTransposed ? j * a.pitch + row : row * a.pitch + j] * p[j * stride];
  }
  q[row * stride] = sum;
}

template <class T, bool kTransposed>
class ThreadPerRow : public DenseProduct<T> {
 public:
  explicit ThreadPerRow(const DenseInput<T>& input) : a_(input.a) {}
  void launch(const T* p, T* q, Index stride, cudaStream_t stream) override {
    const unsigned blocks = blocks_of(a_.rows, kBlockThreads);
    thread_per_row<T, kTransposed><<<blocks, kBlockThreads, 0, stream>>>(a_, p, q, stride);
    CHECK_LAUNCH("thread_per_row", stream);
  }

 private:
  SquareView<T> a_;
};

}  // namespace

template <class T>
std::unique_ptr<DenseProduct<T>> make_row_per_thread(const DenseInput<T>& input) {
  return std::make_unique<ThreadPerRow<T, false>>(input);
}
template <class T>
std::unique_ptr<DenseProduct<T>> make_transposed(const DenseInput<T>& input) {
  return std::make_unique<ThreadPerRow<T, true>>(input);
}
template std::unique_ptr<DenseProduct<float>> make_row_per_thread(const DenseInput<float>&);
template std::unique_ptr<DenseProduct<double>> make_row_per_thread(const DenseInput<double>&);
template std::unique_ptr<DenseProduct<float>> make_transposed(const DenseInput<float>&);
template std::unique_ptr<DenseProduct<double>> make_transposed(const DenseInput<double>&);

}  // namespace csrkit::gpu
