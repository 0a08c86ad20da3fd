// What a lane and a tile of A should be in SpMM with a warp per row: columns per lane (1, 2, 4, 8),
// 32 apart or side by side, and nonzeros of A that a warp holds in shared memory. One JSON record
// per product, in f32, caches warm.
//   measure [--samples N] [-k 32,64,128,256] MATRIX.csr ...
// A and B are small whole numbers, so sums are exact in any order: the product of `auto` is judged
// against float64, all others must have its bits in a C that was poisoned. Variants take turns,
// sample by sample; a sample is a row of launches that takes about 200 us.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "core/judge/compare.h"
#include "gpu/device/device_csr.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/stream.h"
#include "gpu/device/timing/gpu_timer.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/ladder/v2_columns_strided.cuh"
#include "gpu/spmm/ladder/v3_columns_adjacent.cuh"
#include "gpu/spmm/ladder/v4_a_in_shared.cuh"
#include "studies/common/exact_sums.cuh"

namespace csrkit::gpu {

namespace {

using Types = SpmmTypes<float, float>;
using A = DeviceCsrView<float>;
using B = DeviceDenseView<const float>;
using C = DeviceDenseView<float>;

struct Variant {
  const char* mapping;
  int per_lane;  // 0: the kernel's own choice
  int tile;      // nonzeros in shared memory, 0: none
  void (*launch)(const A&, const B&, const C&, cudaStream_t) = nullptr;
};

template <int kPerLane>
void strided(const A& a, const B& b, const C& c, cudaStream_t stream) {
  launch_columns_strided<Types, kPerLane>(a, b, c, 1, 0, stream);
}

template <int kPerLane>
void adjacent(const A& a, const B& b, const C& c, cudaStream_t stream) {
  launch_columns_adjacent<Types, kPerLane>(a, b, c, 1, 0, stream);
}

template <int kPerLane, int kTile>
void tiled(const A& a, const B& b, const C& c, cudaStream_t stream) {
  launch_a_in_shared<Types, kPerLane, kTile>(a, b, c, 1, 0, stream);
}

template <int kPerLane>
void add_variants(std::vector<Variant>& variants) {
  for (const Variant& variant : {Variant{"strided", kPerLane, 0, strided<kPerLane>},
                                 Variant{"adjacent", kPerLane, 0, adjacent<kPerLane>},
                                 Variant{"tiled", kPerLane, 8, tiled<kPerLane, 8>},
                                 Variant{"tiled", kPerLane, 16, tiled<kPerLane, 16>},
                                 Variant{"tiled", kPerLane, 32, tiled<kPerLane, 32>},
                                 Variant{"tiled", kPerLane, 64, tiled<kPerLane, 64>},
                                 Variant{"tiled", kPerLane, 128, tiled<kPerLane, 128>},
                                 Variant{"tiled", kPerLane, 256, tiled<kPerLane, 256>}}) {
    variants.push_back(variant);
  }
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  add_variants<1>(all);
  add_variants<2>(all);
  add_variants<4>(all);
  add_variants<8>(all);
  return all;
}

DenseMatrix whole_numbers(Index rows, Index cols) {
  DenseMatrix dense(rows, cols, ValueKind::f32);
  auto* const data = static_cast<float*>(dense.view().data);
  for (Offset at = 0; at < Offset{rows} * cols; ++at) {
    data[at] = static_cast<float>(studies::whole_number(3, static_cast<std::uint64_t>(at)));
  }
  return dense;
}

/// One matrix and one width: operands on the device, and the clock.
class Products {
 public:
  Products(const CsrMatrix& a, Index dense_cols)
      : stream_(nullptr),
        memory_(0, stream_.get(), 0),
        problem_(default_spmm_problem(a, dense_cols)),
        a_(memory_, a),
        host_b_(whole_numbers(a.cols(), dense_cols)),
        b_(memory_, Offset{a.cols()} * dense_cols, "B"),
        c_(memory_, Offset{a.rows()} * dense_cols, "C"),
        judged_(memory_, Offset{a.rows()} * dense_cols, "the judged C") {
    copy_dense(b_view(), host_b_.view(), stream_.get());
    stream_.wait();
  }

  /// The plan of a kernel of the table.
  std::unique_ptr<SpmmPlan> plan_of(const std::string& kernel) {
    PlanOptions options;
    options.where.stream = stream_.get();
    auto plan = find_kernel(spmm_kernels(), kernel).make_plan(problem_, options);
    plan->bind(b_view(), c_view(c_));
    return plan;
  }

  /// Judges what `plan` makes against float64, and keeps it. Returns what is wrong, or "".
  std::string judge(SpmmPlan& plan) {
    poison();
    plan.multiply();
    DenseMatrix c(problem_.output_rows(), problem_.dense_cols, ValueKind::f32);
    copy_dense(c.view(), c_view(c_), stream_.get());
    copy_dense(c_view(judged_), c_view(c_), stream_.get());
    stream_.wait();
    CheckOptions check;
    check.work_limit = 1u << 28;
    return check_spmm(problem_, host_b_.view(), 1, 0, nullptr, c.view(), check).failure;
  }

  template <class Queue>
  bool is_like_judged(const Queue& queue) {
    poison();
    queue();
    studies::UnlikeWords unlike(memory_);
    unlike.compare(c_.data(), judged_.data(), c_.size_bytes());
    return unlike.count() == 0;
  }

  void launch(const Variant& variant) {
    variant.launch(a_.view<float>(),
                   {b_.data(), a_.cols(), problem_.dense_cols, problem_.dense_cols},
                   {c_.data(), a_.rows(), problem_.dense_cols, problem_.dense_cols}, stream_.get());
  }

  /// Seconds of one, of `times` in a row.
  template <class Queue>
  double seconds(const Queue& queue, int times) {
    timer_.start(stream_.get());
    for (int i = 0; i < times; ++i) queue();
    timer_.stop(stream_.get());
    return timer_.seconds() / times;
  }

 private:
  void poison() { CHECK_CUDA(cudaMemsetAsync(c_.data(), 0xff, c_.size_bytes(), stream_.get())); }
  DenseView b_view() const {
    return {b_.data(),           ValueKind::f32,      a_.cols(),
            problem_.dense_cols, problem_.dense_cols, MemorySpace::device};
  }
  DenseView c_view(const DeviceBuffer<float>& c) const {
    return {c.data(),           ValueKind::f32, a_.rows(), problem_.dense_cols, problem_.dense_cols,
            MemorySpace::device};
  }

  Stream stream_;
  DeviceMemory memory_;
  SpmmProblem problem_;
  DeviceCsr a_;
  DenseMatrix host_b_;
  DeviceBuffer<float> b_;
  DeviceBuffer<float> c_;
  DeviceBuffer<float> judged_;
  GpuTimer timer_;
};

struct Candidate {
  Variant variant;
  std::function<void()> queue;
  int times = 1;
  std::vector<double> samples;
};

/// False if a product is wrong.
bool measure(const std::string& name, const CsrMatrix& a, Index dense_cols, int samples) {
  Products products(a, dense_cols);
  const auto production = products.plan_of("auto");
  const auto vectors = products.plan_of("v5_vector_loads");
  const std::string failure = products.judge(*production);
  if (!failure.empty()) {
    std::fprintf(stderr, "%s, K = %d, auto: %s\n", name.c_str(), dense_cols, failure.c_str());
    return false;
  }
  std::vector<Candidate> candidates = {{{"auto", 0, 0}, [&] { production->multiply(); }, 1, {}},
                                       {{"vectors", 4, 32}, [&] { vectors->multiply(); }, 1, {}}};
  for (const Variant& variant : variants()) {
    candidates.push_back({variant, [&products, variant] { products.launch(variant); }, 1, {}});
  }
  for (Candidate& candidate : candidates) {
    if (!products.is_like_judged(candidate.queue)) {
      std::fprintf(stderr, "%s, K = %d, %s, %d columns per lane, tile %d: a wrong product\n",
                   name.c_str(), dense_cols, candidate.variant.mapping, candidate.variant.per_lane,
                   candidate.variant.tile);
      return false;
    }
    const double once = products.seconds(candidate.queue, 1);
    candidate.times = std::clamp(static_cast<int>(200e-6 / once), 1, 30);
  }
  for (int sample = 0; sample < samples; ++sample) {
    for (Candidate& candidate : candidates)
      candidate.samples.push_back(products.seconds(candidate.queue, candidate.times));
  }
  for (const Candidate& candidate : candidates) {
    std::printf(R"({"matrix": "%s", "rows": %d, "nnz": %lld, "k": %d, "mapping": "%s", )",
                name.c_str(), a.rows(), static_cast<long long>(a.nnz()), dense_cols,
                candidate.variant.mapping);
    std::printf(R"("per_lane": %d, "tile": %d, "seconds": [)", candidate.variant.per_lane,
                candidate.variant.tile);
    for (std::size_t i = 0; i < candidate.samples.size(); ++i) {
      std::printf("%s%.5g", i == 0 ? "" : ", ", candidate.samples[i]);
    }
    std::printf("]}\n");
  }
  std::fflush(stdout);
  return true;
}

std::vector<Index> numbers(const std::string& list) {
  std::vector<Index> all;
  std::stringstream stream(list);
  for (std::string number; std::getline(stream, number, ',');)
    all.push_back(std::atoi(number.c_str()));
  return all;
}

}  // namespace

}  // namespace csrkit::gpu

int main(int argc, char** argv) try {
  using namespace csrkit;
  int samples = 7;
  std::vector<Index> widths = {32, 64, 128, 256};
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--samples" && i + 1 < argc) {
      samples = std::atoi(argv[++i]);
    } else if (word == "-k" && i + 1 < argc) {
      widths = gpu::numbers(argv[++i]);
    } else {
      paths.push_back(word);
    }
  }
  if (paths.empty() || samples < 1 || paths.front()[0] == '-' ||
      *std::min_element(widths.begin(), widths.end()) < 1) {
    std::fprintf(stderr, "usage: %s [--samples N] [-k 32,64,128,256] MATRIX.csr ...\n", argv[0]);
    return 2;
  }
  gpu::require_device(0);
  for (const std::string& path : paths) {
    const CsrMatrix a = studies::with_whole_numbers<float>(read_csr_file(path).matrix);
    const std::string file = path.substr(path.rfind('/') + 1);
    for (const Index width : widths) {
      if (!gpu::measure(file.substr(0, file.rfind('.')), a, width, samples)) return 1;
    }
  }
  return 0;
} catch (const csrkit::NoDeviceError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 6;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 70;
}
