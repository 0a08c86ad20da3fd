// vendor_cusparse: cusparseSpGEMM with the algorithm that is fastest on this product.
// Owns     the library's descriptors; buffers are allocated through the plan's account, so the peak
//          is known
// Launch   prepare runs every algorithm (three of cusparseSpGEMM, the third with several chunk
//          fractions, and the reuse path from scratch) once to warm up, then timed. choice()
//          reports the times and memory of each, and why one was refused
// Needs    fewer than 2^31 nonzeros in A, B and C, for the library's 32-bit offsets. For matrices
//          without values it makes an array of ones
// Against  our own kernels, with the same operands, stream, memory and timing

#include <algorithm>
#include <cstdio>
#include <vector>

#include "gpu/device/cuda_check.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/spgemm/device_spgemm.h"
#include "gpu/spgemm/vendor_cusparse/cusparse_products.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
constexpr int kTimedRuns = 2;

struct Algorithm {
  cusparseSpGEMMAlg_t id;
  float chunk_fraction;  // of the products at a time; algorithm 3 only
  bool is_reuse;         // cusparseSpGEMMreuse, all of its steps
  const char* name;
};
constexpr Algorithm kAlgorithms[] = {
    {CUSPARSE_SPGEMM_ALG1, 0, false, "ALG1"},
    {CUSPARSE_SPGEMM_ALG2, 1, false, "ALG2"},
    {CUSPARSE_SPGEMM_ALG3, 0.05f, false, "ALG3 by 0.05"},
    {CUSPARSE_SPGEMM_ALG3, 0.2f, false, "ALG3 by 0.2"},
    {CUSPARSE_SPGEMM_ALG3, 1, false, "ALG3 by 1"},
    {CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC, 0, true, "reuse deterministic"},
    {CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC, 0, true, "reuse nondeterministic"}};

// The contract demands ascending columns; the library does not promise them.
__global__ void find_unsorted(DeviceCsrView<void> c, unsigned* found) {
  const Offset row = Offset{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= c.rows) return;
  const Offset end = c.row_end(static_cast<Index>(row));
  for (Offset at = c.row_begin(static_cast<Index>(row)) + 1; at < end; ++at) {
    if (c.col_indices[at - 1] >= c.col_indices[at]) {
      *found = 1;
      return;
    }
  }
}

class Cusparse final : public DeviceSpgemm {
 public:
  explicit Cusparse(const SpgemmProblem& problem) : kind_(problem.c) {
    const Offset most = std::max(problem.a.nnz(), problem.b.nnz());
    if (most > kMaxIndex) {
      throw UsageError("vendor_cusparse: a matrix has " + std::to_string(most) +
                       " nonzeros; cusparseSpGEMM takes 2^31 - 1 at most; use another kernel");
    }
  }

  // The library's demand is known only while it runs; only C's offsets are certain.
  std::uint64_t forecast_bytes(const SpgemmSizes& sizes) const override {
    return (static_cast<std::uint64_t>(sizes.rows) + 1) * sizeof(std::uint32_t);
  }

  void prepare(const SpgemmOperands& operands, DeviceMemory& memory) override {
    const SpgemmOperands with_values = valued(operands, memory);
    for (const Algorithm& algorithm : kAlgorithms) {
      tried_ += (tried_.empty() ? "" : ", ") + std::string(algorithm.name) + " ";
      try {
        try_out(algorithm, with_values, memory);
      } catch (const MemoryError& error) {
        tried_ += std::string("failed: ") + error.what();
      } catch (const DeviceError& error) {
        // A refusal is recorded. If the device itself failed, the next call throws.
        tried_ += std::string("refused: ") + error.what();
      }
      CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
    }
    if (best_ == nullptr) {
      throw MemoryError("vendor_cusparse: no algorithm got through this product: " + tried_);
    }
  }

  void multiply(const SpgemmOperands& operands, DeviceMemory& memory, DeviceProduct& c,
                PhaseMarks* marks) override {
    if (best_ == nullptr) return make_empty(memory, c);
    run(*best_, valued(operands, memory), memory, c, marks);
  }

  bool can_reuse() const override { return true; }

  void prepare_values(const SpgemmOperands& operands, DeviceMemory& memory,
                      DeviceProduct& c) override {
    if (best_ == nullptr) return;
    reuse_ = nullptr;
    const SpgemmOperands with_values = valued(operands, memory);
    for (const cusparseSpGEMMAlg_t id :
         {CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC, CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC}) {
      auto candidate = std::make_unique<CusparseReuse>(handle_, kind_, id);
      candidate->find_structure(with_values, memory, c);
      candidate->compute(operands.alpha);  // warms up
      GpuTimer timer;
      timer.start(memory.stream());
      candidate->compute(operands.alpha);
      timer.stop(memory.stream());
      const double seconds = timer.seconds();
      if (reuse_ == nullptr || seconds < reuse_seconds_) {
        reuse_ = std::move(candidate);
        reuse_seconds_ = seconds;
      }
    }
  }

  void forget_values() override { reuse_ = nullptr; }

  void multiply_values(const SpgemmOperands& operands, DeviceMemory& memory,
                       DeviceProduct&) override {
    if (best_ == nullptr) return;
    handle_.set_stream(memory.stream());
    reuse_->compute(operands.alpha);
  }

  std::string choice() const override {
    return best_ == nullptr ? std::string() : std::string(best_->name) + " (" + tried_ + ")";
  }

 private:
  void try_out(const Algorithm& algorithm, const SpgemmOperands& operands, DeviceMemory& memory) {
    const std::uint64_t before = memory.used_bytes();
    memory.reset_peak();
    const auto make = [&](DeviceProduct& c) {
      c.rows = operands.a.rows;
      c.cols = operands.b.cols;
      c.kind = kind_;
      run(algorithm, operands, memory, c, nullptr);
    };
    {
      DeviceProduct c;
      make(c);  // loads code and fills the memory pool
      if (!is_sorted(c, memory)) {
        tried_ += "left its columns unsorted";
        return;
      }
    }
    const std::uint64_t peak = memory.peak_bytes() - before;
    double best_run = 0;
    GpuTimer timer;
    for (int i = 0; i < kTimedRuns; ++i) {
      DeviceProduct c;
      timer.start(memory.stream());
      make(c);
      timer.stop(memory.stream());
      const double seconds = timer.seconds();
      best_run = i == 0 ? seconds : std::min(best_run, seconds);
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.3f ms with %.1f MiB", best_run * 1e3,
                  static_cast<double>(peak) / (1 << 20));
    tried_ += text;
    if (best_ == nullptr || best_run < best_seconds_) {
      best_ = &algorithm;
      best_seconds_ = best_run;
    }
  }

  void run(const Algorithm& algorithm, const SpgemmOperands& operands, DeviceMemory& memory,
           DeviceProduct& c, PhaseMarks* marks) {
    handle_.set_stream(memory.stream());
    if (marks != nullptr) marks->begin(SpgemmPhase::symbolic);
    if (algorithm.is_reuse) {
      CusparseReuse reuse(handle_, kind_, algorithm.id);
      reuse.find_structure(operands, memory, c);
      if (marks != nullptr) marks->begin(SpgemmPhase::numeric);
      reuse.compute(operands.alpha);
    } else {
      cusparse_product(handle_, kind_, algorithm.id, algorithm.chunk_fraction, operands, memory, c);
    }
  }

  static bool is_sorted(const DeviceProduct& c, DeviceMemory& memory) {
    const DeviceBuffer<unsigned> found(memory, 1, "looking for unsorted columns");
    CHECK_CUDA(cudaMemsetAsync(found.data(), 0, sizeof(unsigned), memory.stream()));
    const Offset blocks = (Offset{c.rows} + kThreads - 1) / kThreads;
    find_unsorted<<<static_cast<unsigned>(blocks), kThreads, 0, memory.stream()>>>(c.view<void>(),
                                                                                   found.data());
    CHECK_LAUNCH("find_unsorted", memory.stream());
    unsigned on_host = 0;
    CHECK_CUDA(cudaMemcpyAsync(&on_host, found.data(), sizeof on_host, cudaMemcpyDeviceToHost,
                               memory.stream()));
    CHECK_CUDA(cudaStreamSynchronize(memory.stream()));
    return on_host == 0;
  }

  // The array of ones for matrices without values is made once.
  SpgemmOperands valued(const SpgemmOperands& operands, DeviceMemory& memory) {
    const Offset count = std::max(operands.a.values == nullptr ? operands.a.nnz : 0,
                                  operands.b.values == nullptr ? operands.b.nnz : 0);
    if (count > 0 && ones_.size() == 0) {
      ones_ =
          DeviceBuffer<std::byte>(memory, count * size_of(kind_), "the ones of cuSPARSE's values");
      fill_ones(kind_, ones_.data(), count, memory.stream());
    }
    SpgemmOperands with_values = operands;
    if (operands.a.values == nullptr) with_values.a.values = ones_.data();
    if (operands.b.values == nullptr) with_values.b.values = ones_.data();
    return with_values;
  }

  // The library does not take matrices without entries.
  static void make_empty(DeviceMemory& memory, DeviceProduct& c) {
    c.narrow_offsets =
        DeviceBuffer<std::uint32_t>(memory, Offset{c.rows} + 1, "the row offsets of C");
    CHECK_CUDA(cudaMemsetAsync(c.narrow_offsets.data(), 0, c.narrow_offsets.size_bytes(),
                               memory.stream()));
  }

  ValueKind kind_;
  CusparseHandle handle_;
  DeviceBuffer<std::byte> ones_;
  const Algorithm* best_ = nullptr;  // null: there is nothing to multiply
  double best_seconds_ = 0;
  std::unique_ptr<CusparseReuse> reuse_;
  double reuse_seconds_ = 0;
  std::string tried_;
};

}  // namespace

std::unique_ptr<DeviceSpgemm> make_device_vendor_cusparse(const SpgemmProblem& problem) {
  return std::make_unique<Cusparse>(problem);
}

}  // namespace csrkit::gpu
