#include "core/solve/diagonal.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/solve/preconditioners.h"

namespace csrkit::gpu {

namespace {

constexpr int kBlockThreads = 256;

/// Converts and uploads. Waits, because the copy's source is temporary.
template <class To, class From>
DeviceBuffer<To> uploaded(DeviceMemory& memory, const std::vector<From>& from, const char* what) {
  std::vector<To> converted(from.begin(), from.end());
  DeviceBuffer<To> to(memory, static_cast<Offset>(from.size()), what);
  if (!from.empty()) {
    CHECK_CUDA(cudaMemcpyAsync(to.data(), converted.data(), to.size_bytes(), cudaMemcpyHostToDevice,
                               memory.stream()));
    CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
  }
  return to;
}

template <class T>
class Jacobi : public DevicePreconditioner<T> {
 public:
  Jacobi(const SolveProblem& problem, DeviceMemory& memory)
      : inverse_(uploaded<T>(memory, csrkit::inverse_diagonal(problem), "the inverse diagonal")) {}
  const T* inverse_diagonal() const override { return inverse_.data(); }

 private:
  DeviceBuffer<T> inverse_;
};

/// A warp per row of a diagonal block; its lanes share that row of the inverse.
template <class T>
__global__ void multiply_blocks(Index listed_rows, Index columns, const Index* rows,
                                const Offset* row_begin, const Offset* value_begin,
                                const Index* block_of_place, const T* values, const T* r, T* z) {
  const Offset place = (Offset{blockIdx.x} * kBlockThreads + threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x % kWarpLanes);
  if (place >= listed_rows) return;
  const Index block = block_of_place[place];
  const Offset begin = row_begin[block];
  const auto size = static_cast<Index>(row_begin[block + 1] - begin);
  const T* const inverse = values + value_begin[block] + (place - begin) * size;
  for (Index column = 0; column < columns; ++column) {
    T sum = 0;
    for (Index j = lane; j < size; j += kWarpLanes) {
      sum += inverse[j] * r[Offset{rows[begin + j]} * columns + column];
    }
    for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, offset);
    }
    if (lane == 0) z[Offset{rows[place]} * columns + column] = sum;
  }
}

template <class T>
class BlockJacobi : public DevicePreconditioner<T> {
 public:
  BlockJacobi(const SolveProblem& problem, DeviceMemory& memory)
      : rows_(problem.rows()), columns_(problem.right_hand_sides) {
    memory.require(inverse_blocks_bytes(problem.preconditioner.blocks) / sizeof(double) * sizeof(T),
                   "the inverse diagonal blocks");
    const InverseBlocks blocks = inverse_blocks(problem, 0);
    std::vector<Index> block_of_place(blocks.rows.size());
    for (Index block = 0; block < blocks.blocks(); ++block) {
      for (Offset at = blocks.row_begins[static_cast<std::size_t>(block)];
           at < blocks.row_begins[static_cast<std::size_t>(block) + 1]; ++at) {
        block_of_place[static_cast<std::size_t>(at)] = block;
      }
    }
    const char* const what = "the inverse diagonal blocks";
    listed_ = uploaded<Index>(memory, blocks.rows, what);
    row_begin_ = uploaded<Offset>(memory, blocks.row_begins, what);
    value_begin_ = uploaded<Offset>(memory, blocks.value_begins, what);
    block_of_place_ = uploaded<Index>(memory, block_of_place, what);
    values_ = uploaded<T>(memory, blocks.values, what);
  }

  void apply(const T* r, T* z, cudaStream_t stream) override {
    if (rows_ == 0) return;
    multiply_blocks<T>
        <<<blocks_of(Offset{rows_} * kWarpLanes, kBlockThreads), kBlockThreads, 0, stream>>>(
            rows_, columns_, listed_.data(), row_begin_.data(), value_begin_.data(),
            block_of_place_.data(), values_.data(), r, z);
    CHECK_LAUNCH("multiply_blocks", stream);
  }

 private:
  Index rows_, columns_;
  DeviceBuffer<Index> listed_, block_of_place_;
  DeviceBuffer<Offset> row_begin_, value_begin_;
  DeviceBuffer<T> values_;
};

template <class T>
__global__ void first_term(Offset size, Index columns, T first, const T* inverse, const T* r, T* d,
                           T* z) {
  const Offset i = Offset{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i >= size) return;
  z[i] = d[i] = first * inverse[i / columns] * r[i];
}

template <class T>
__global__ void next_term(Offset size, Index columns, T keep, T add, const T* inverse, const T* r,
                          const T* t, T* d, T* z) {
  const Offset i = Offset{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i >= size) return;
  d[i] = keep * d[i] + add * inverse[i / columns] * (r[i] - t[i]);
  z[i] += d[i];
}

template <class T>
class Chebyshev : public DevicePreconditioner<T> {
 public:
  Chebyshev(const SolveProblem& problem, const ChebyshevSteps& steps, Operator& product,
            DeviceMemory& memory)
      : rows_(problem.rows()),
        columns_(problem.right_hand_sides),
        steps_(steps),
        product_(product),
        inverse_(uploaded<T>(memory, csrkit::inverse_diagonal(problem), "the inverse diagonal")),
        d_(memory, Offset{rows_} * columns_, "a vector of the polynomial"),
        t_(memory, Offset{rows_} * columns_, "a vector of the polynomial") {}

  void apply(const T* r, T* z, cudaStream_t stream) override {
    const Offset size = Offset{rows_} * columns_;
    if (size == 0) return;
    first_term<T><<<blocks_of(size, kBlockThreads), kBlockThreads, 0, stream>>>(
        size, columns_, static_cast<T>(steps_.first), inverse_.data(), r, d_.data(), z);
    CHECK_LAUNCH("first_term", stream);
    const ValueKind kind = kValueKindOf<T>;
    for (const ChebyshevSteps::Step& step : steps_.steps) {
      product_.bind({z, kind, rows_, columns_, columns_, MemorySpace::device},
                    {t_.data(), kind, rows_, columns_, columns_, MemorySpace::device});
      product_.multiply();
      next_term<T><<<blocks_of(size, kBlockThreads), kBlockThreads, 0, stream>>>(
          size, columns_, static_cast<T>(step.keep), static_cast<T>(step.add), inverse_.data(), r,
          t_.data(), d_.data(), z);
      CHECK_LAUNCH("next_term", stream);
    }
  }

 private:
  Index rows_, columns_;
  ChebyshevSteps steps_;
  Operator& product_;
  DeviceBuffer<T> inverse_, d_, t_;
};

}  // namespace

template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_jacobi(const SolveProblem& problem,
                                                     DeviceMemory& memory) {
  return std::make_unique<Jacobi<T>>(problem, memory);
}

template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_block_jacobi(const SolveProblem& problem,
                                                           DeviceMemory& memory) {
  return std::make_unique<BlockJacobi<T>>(problem, memory);
}

template <class T>
std::unique_ptr<DevicePreconditioner<T>> make_chebyshev(const SolveProblem& problem,
                                                        const ChebyshevSteps& steps,
                                                        Operator& product, DeviceMemory& memory) {
  return std::make_unique<Chebyshev<T>>(problem, steps, product, memory);
}

#define CSRKIT_INSTANTIATE(T)                                                              \
  template std::unique_ptr<DevicePreconditioner<T>> make_jacobi(const SolveProblem&,       \
                                                                DeviceMemory&);            \
  template std::unique_ptr<DevicePreconditioner<T>> make_block_jacobi(const SolveProblem&, \
                                                                      DeviceMemory&);      \
  template std::unique_ptr<DevicePreconditioner<T>> make_chebyshev(                        \
      const SolveProblem&, const ChebyshevSteps&, Operator&, DeviceMemory&);
CSRKIT_INSTANTIATE(float)
CSRKIT_INSTANTIATE(double)
#undef CSRKIT_INSTANTIATE

}  // namespace csrkit::gpu
