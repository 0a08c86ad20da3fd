// How long every kernel takes for SpMM, over matrices, kinds and numbers of columns, operands on
// the device and caches warm: one JSON line per product. A program takes a millisecond or so per
// kernel and product, so that a choice can be judged on thousands of them.
//
//   spmm_choices_measure 32,127,128 f32,f16,f32*f16 auto,row_bins,row_panels a.csr b.csr
//
// A kind with a star is A's and B's. `padding=N` in front adds N columns to the leading dimensions.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "core/matrix/csr_matrix.h"
#include "gpu/device/cuda_check.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/profile.h"

namespace csrkit {

namespace {

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// An operand on the device, large enough for all products.
class Operand {
 public:
  explicit Operand(std::uint64_t bytes) { CHECK_CUDA(cudaMalloc(&data_, bytes)); }
  ~Operand() { cudaFree(data_); }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

double median_microseconds(SpmmPlan& plan, double min_seconds) {
  plan.time_multiply();
  const double once = plan.time_multiply();
  const int runs = std::clamp(static_cast<int>(min_seconds / once), 5, 15);
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(runs));
  for (int run = 0; run < runs; ++run) seconds.push_back(plan.time_multiply());
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[static_cast<std::size_t>(runs / 2)] * 1e6;
}

void measure(const std::string& path, const std::vector<std::string>& columns,
             const std::vector<std::string>& kinds, const std::vector<std::string>& kernels,
             Offset padding) {
  const CsrMatrix stored = read_csr_file(path).matrix;
  std::string name = path.substr(path.rfind('/') + 1);
  name = name.substr(0, name.rfind('.'));
  Index widest = 1;
  for (const std::string& cols : columns) widest = std::max(widest, std::atoi(cols.c_str()));
  for (const std::string& kind : kinds) {
    const std::size_t star = kind.find('*');
    const ValueKind a_kind = parse_value_kind(kind.substr(0, star));
    const CsrMatrix a = convert_values(stored, a_kind);
    const ValueKind b_kind =
        star == std::string::npos ? a_kind : parse_value_kind(kind.substr(star + 1));
    DenseMatrix b(a.cols(), static_cast<Index>(widest + padding), b_kind);
    fill_random(b.view(), 1);
    const Operand device_b(b.size_bytes() + 64);
    CHECK_CUDA(cudaMemcpy(device_b.data(), b.view().data, b.size_bytes(), cudaMemcpyHostToDevice));
    const Operand device_c(static_cast<std::uint64_t>(a.rows()) *
                               static_cast<std::uint64_t>(widest + padding) * 8 +
                           64);
    for (const std::string& cols : columns) {
      SpmmProblem problem = default_spmm_problem(a, std::atoi(cols.c_str()));
      problem.b = b_kind;
      problem.accumulate = problem.c = b_kind == ValueKind::f64 ? b_kind : ValueKind::f32;
      const Offset leading_dim = problem.dense_cols + padding;
      const gpu::SpmmProfile profile = gpu::profile_of(problem);
      const gpu::PanelSample& sample = profile.sample;
      std::printf(
          "{\"matrix\":\"%s\",\"rows\":%d,\"cols\":%d,\"nnz\":%lld,\"panels\":%lld,"
          "\"entries\":%lld,\"distinct\":%lld,\"places\":%lld,\"longest\":%lld,\"kinds\":\"%s\","
          "\"k\":%d",
          name.c_str(), profile.rows, profile.cols, static_cast<long long>(profile.nnz),
          static_cast<long long>(sample.panels), static_cast<long long>(sample.entries),
          static_cast<long long>(sample.distinct), static_cast<long long>(sample.places),
          static_cast<long long>(profile.longest_seen), kind.c_str(), profile.dense_cols);
      for (const std::string& kernel : kernels) {
        try {
          const SpmmKernel& row = find_kernel(gpu::spmm_kernels(), kernel);
          PlanOptions options;
          options.deterministic = row.can(kDeterministic);
          const auto plan = row.make_plan(problem, options);
          plan->bind({device_b.data(), problem.b, a.cols(), problem.dense_cols, leading_dim,
                      MemorySpace::device},
                     {device_c.data(), problem.c, a.rows(), problem.dense_cols, leading_dim,
                      MemorySpace::device});
          std::printf(",\"%s\":%.2f", kernel.c_str(), median_microseconds(*plan, 400e-6));
          if (kernel == "auto") std::printf(",\"chosen\":\"%s\"", plan->chosen_kernel().c_str());
        } catch (const UsageError&) {  // a kernel may refuse
        }
      }
      std::printf("}\n");
    }
    std::fflush(stdout);
  }
}

}  // namespace

}  // namespace csrkit

int main(int argc, char** argv) {
  using namespace csrkit;
  try {
    int at = 1;
    const Offset padding =
        argc > 1 && std::string(argv[1]).rfind("padding=", 0) == 0 ? std::atoi(argv[at++] + 8) : 0;
    if (argc < at + 4) throw UsageError("give columns, kinds, kernels and .csr files");
    for (int file = at + 3; file < argc; ++file) {
      measure(argv[file], parts_of(argv[at]), parts_of(argv[at + 1]), parts_of(argv[at + 2]),
              padding);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spmm_choices_measure: %s\n", error.what());
    return 1;
  }
}
