// How long every kernel takes for SpMM, over matrices, kinds and numbers of columns, operands on
// the device and caches warm: one JSON line for the device, then one per product, with what auto
// knows of it and what it chooses. A program takes a millisecond or so per kernel and product, so
// that a choice can be judged on thousands of them.
//
//   spmm_choices_measure [NAME=VALUE ...] 1,32,127 f32,f16,f32*f16 row_bins,row_panels a.csr b.csr
//
// A kind with a star is A's and B's. A kernel of SpMV is called spmv.stencil; one that refuses a
// product is left out of its line. NAME=VALUE:
//   padding=N    adds N columns to the leading dimensions
//   transpose=1  multiplies by the transposes
//   wait=N       waits up to N seconds for each file to be there
//   seconds=N    starts no product later than that

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/stopwatch.h"
#include "core/file/csr_file.h"
#include "core/matrix/csr_matrix.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/stream.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/profile.h"
#include "gpu/spmv/profile.h"

namespace csrkit {

namespace {

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// Bytes on the device.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::uint64_t bytes) { CHECK_CUDA(cudaMalloc(&data_, bytes + 64)); }
  DeviceBytes(const void* from, std::uint64_t bytes) : DeviceBytes(bytes) {
    CHECK_CUDA(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice));
  }
  ~DeviceBytes() { cudaFree(data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

  /// Fills all of it with a few random numbers, again and again.
  void fill_random(ValueKind kind, std::uint64_t bytes) {
    constexpr std::uint64_t kAtOnce = 1 << 22;
    DenseMatrix numbers(1, kAtOnce / 8, kind);
    csrkit::fill_random(numbers.view(), 1);
    std::uint64_t done = std::min(bytes, numbers.size_bytes());
    CHECK_CUDA(cudaMemcpy(data_, numbers.view().data, done, cudaMemcpyHostToDevice));
    for (std::uint64_t next = 0; done < bytes; done += next) {
      next = std::min(done, bytes - done);
      CHECK_CUDA(cudaMemcpy(data() + done, data_, next, cudaMemcpyDeviceToDevice));
    }
  }

 private:
  void* data_ = nullptr;
};

/// A matrix on the device: a plan of it is its analysis and nothing else.
struct MatrixThere {
  explicit MatrixThere(const CsrMatrix& a)
      : offsets(a.row_offsets(), (static_cast<std::uint64_t>(a.rows()) + 1) * sizeof(Offset)),
        cols(a.col_indices(), static_cast<std::uint64_t>(a.nnz()) * sizeof(Index)),
        values(a.values(), static_cast<std::uint64_t>(a.nnz()) *
                               static_cast<std::uint64_t>(size_of(a.value_kind()))),
        matrix(CsrMatrix::on_device(
            a.rows(), a.cols(), a.nnz(), reinterpret_cast<const Offset*>(offsets.data()),
            reinterpret_cast<const Index*>(cols.data()), a.value_kind(), values.data(), nullptr)) {}
  DeviceBytes offsets, cols, values;
  CsrMatrix matrix;
};

struct Request {
  std::vector<std::string> columns, kinds, kernels;
  Offset padding = 0;
  bool transpose = false;
  double wait_seconds = 0, seconds = 1e9;
  Stopwatch since_start;
  bool has_time() const { return since_start.seconds() < seconds; }
};

struct Candidate {
  std::string kernel;
  std::unique_ptr<SpmmPlan> plan;
  std::vector<double> seconds = {};
  double median() {
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return *middle;
  }
};

/// The kernels take turns, each several products at a time, so that caches are warm.
void time_in_turn(std::vector<Candidate>& candidates) {
  constexpr int kTurns = 3;
  constexpr double kSecondsEach = 200e-6;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (Candidate& candidate : candidates) {
      candidate.plan->time_multiply();
      const double once = candidate.plan->time_multiply();
      candidate.seconds.push_back(once);
      const int more = std::clamp(static_cast<int>(kSecondsEach / once), 1, 4);
      for (int run = 0; run < more; ++run) {
        candidate.seconds.push_back(candidate.plan->time_multiply());
      }
    }
  }
}

const SpmmKernel& kernel_called(const std::string& name) {
  const std::string spmv = "spmv.";
  if (name.rfind(spmv, 0) == 0) return find_kernel(gpu::spmv_kernels(), name.substr(spmv.size()));
  return find_kernel(gpu::spmm_kernels(), name);
}

/// Plans of the kernels that take `problem`, or `there`, the same with its matrix on the device.
std::vector<Candidate> plans_for(const SpmmProblem& problem, const SpmmProblem& there,
                                 const Request& request, const ConstDenseView& b,
                                 const DenseView& c) {
  // The work of a dense matrix takes seconds where A is large and nearly empty.
  constexpr double kFullEnough = 1.0 / 64;
  const CsrMatrix& a = problem.a;
  const bool is_full =
      static_cast<double>(a.nnz()) >= kFullEnough * static_cast<double>(a.rows()) * a.cols();
  std::vector<Candidate> candidates;
  for (const std::string& name : request.kernels) {
    if (name == "dense_windows" && !is_full) continue;
    try {
      const SpmmKernel& kernel = kernel_called(name);
      PlanOptions options;
      options.deterministic = kernel.can(kDeterministic);
      const bool goes_there = kernel.can(kDeviceMatrix) && name != "auto";
      auto plan = kernel.make_plan(goes_there ? there : problem, options);
      plan->bind(b, c);
      candidates.push_back({name, std::move(plan)});
    } catch (const UsageError&) {   // a kernel may refuse
    } catch (const MemoryError&) {  // or find no room
    }
  }
  return candidates;
}

void print_facts(const std::string& name, const std::string& kinds, const SpmmProblem& problem,
                 Offset padding) {
  const gpu::SpmmProfile profile = gpu::profile_of(problem);
  const gpu::PanelSample& sample = profile.sample;
  std::printf(
      "{\"matrix\":\"%s\",\"transpose\":%d,\"rows\":%d,\"cols\":%d,\"nnz\":%lld,"
      "\"entries\":%lld,\"distinct\":%lld,\"places\":%lld,\"finite\":%d,\"longest\":%lld,"
      "\"of_16\":%.4f,\"of_64\":%.4f,\"padding\":%lld,\"kinds\":\"%s\",\"k\":%d,"
      "\"chosen\":\"%s\"",
      name.c_str(), problem.transpose_a ? 1 : 0, profile.rows, profile.cols,
      static_cast<long long>(profile.nnz), static_cast<long long>(sample.entries),
      static_cast<long long>(sample.distinct), static_cast<long long>(sample.places),
      sample.all_finite ? 1 : 0, static_cast<long long>(profile.longest), profile.near.of_16,
      profile.near.of_64, static_cast<long long>(padding), kinds.c_str(), profile.dense_cols,
      gpu::auto_spmm_kernel(problem).c_str());
}

/// What the chooser of SpMV sees on the device.
void print_spmv_facts(const SpmmProblem& problem) {
  const gpu::Stream stream(nullptr);
  gpu::DeviceMemory memory(0, stream.get(), 0);
  const gpu::DeviceCsr a(memory, problem.a);
  const auto element = static_cast<std::uint64_t>(size_of(problem.b));
  const std::uint64_t vector_bytes =
      element * static_cast<std::uint64_t>(Offset{problem.a.rows()} + problem.a.cols());
  const gpu::SpmvProfile seen = gpu::profile_of(a, vector_bytes, static_cast<int>(element), memory);
  std::printf(
      ",\"spmv\":{\"vector\":%llu,\"csr\":%llu,\"jagged\":%llu,\"jagged_places\":%lld,"
      "\"jagged_height\":%d,\"jagged_padded\":%d,\"sell\":%llu,\"compressed\":%llu,"
      "\"bsr\":%llu,\"stencil\":%llu,\"sectors\":%lld,\"sell_places\":%lld,\"bsr_places\":%lld,"
      "\"stencil_places\":%lld,\"longest_slice\":%lld,\"warps_per_slice\":%d}",
      static_cast<unsigned long long>(seen.vector_bytes),
      static_cast<unsigned long long>(seen.csr_bytes),
      static_cast<unsigned long long>(seen.jagged_bytes),
      static_cast<long long>(seen.jagged_places), seen.jagged_height, seen.jagged_is_padded ? 1 : 0,
      static_cast<unsigned long long>(seen.sell_bytes),
      static_cast<unsigned long long>(seen.compressed_bytes),
      static_cast<unsigned long long>(seen.bsr_bytes),
      static_cast<unsigned long long>(seen.stencil_bytes),
      static_cast<long long>(seen.gathered_sectors), static_cast<long long>(seen.sell_places),
      static_cast<long long>(seen.bsr_places), static_cast<long long>(seen.stencil_places),
      static_cast<long long>(seen.longest_slice), static_cast<int>(seen.warps_per_slice));
}

void measure(const std::string& name, const CsrMatrix& stored, const std::string& kinds,
             const Request& request, bool is_printed) {
  const std::size_t star = kinds.find('*');
  const CsrMatrix a = convert_values(stored, parse_value_kind(kinds.substr(0, star)));
  const ValueKind b_kind =
      star == std::string::npos ? a.value_kind() : parse_value_kind(kinds.substr(star + 1));
  const MatrixThere there(a);
  SpmmProblem problem = default_spmm_problem(a, 1);
  problem.transpose_a = request.transpose;
  set_dense_kind(&problem, b_kind);
  Offset widest = 1;
  for (const std::string& cols : request.columns) {
    widest = std::max<Offset>(widest, std::atoi(cols.c_str()) + request.padding);
  }
  const auto bytes_of = [&](Index rows, ValueKind kind) {
    return static_cast<std::uint64_t>(rows * widest) * static_cast<std::uint64_t>(size_of(kind));
  };
  DeviceBytes b(bytes_of(problem.input_rows(), problem.b));
  b.fill_random(problem.b, bytes_of(problem.input_rows(), problem.b));
  const DeviceBytes c(bytes_of(problem.output_rows(), problem.c));
  for (const std::string& cols : request.columns) {
    if (!request.has_time()) return;
    problem.dense_cols = std::atoi(cols.c_str());
    SpmmProblem problem_there = problem;
    problem_there.a = there.matrix;
    const Offset leading_dim = problem.dense_cols + request.padding;
    std::vector<Candidate> candidates =
        plans_for(problem, problem_there, request,
                  {b.data(), problem.b, problem.input_rows(), problem.dense_cols, leading_dim,
                   MemorySpace::device},
                  {c.data(), problem.c, problem.output_rows(), problem.dense_cols, leading_dim,
                   MemorySpace::device});
    time_in_turn(candidates);
    if (!is_printed) continue;
    print_facts(name, kinds, problem, request.padding);
    if (problem.dense_cols == 1 && !problem.transpose_a && a.nnz() > 0) print_spmv_facts(problem);
    for (Candidate& candidate : candidates) {
      std::printf(",\"%s\":%.2f,\"%s plan\":%.1f", candidate.kernel.c_str(),
                  candidate.median() * 1e6, candidate.kernel.c_str(),
                  candidate.plan->phases().analysis_seconds * 1e6);
      const std::string chosen = candidate.plan->chosen_kernel();
      if (!chosen.empty()) {
        std::printf(",\"%s ran\":\"%s\"", candidate.kernel.c_str(), chosen.c_str());
      }
    }
    std::printf("}\n");
  }
  std::fflush(stdout);
}

void print_device() {
  const gpu::DeviceInfo info = gpu::device_info();
  std::printf(
      "{\"device\":\"%s\",\"multiprocessors\":%d,\"clock_hz\":%.0f,\"l2_bytes\":%llu,"
      "\"memory_bytes_per_second\":%.0f}\n",
      info.name.c_str(), info.multiprocessors, info.sm_clock_khz * 1e3,
      static_cast<unsigned long long>(info.l2_bytes), info.peak_bandwidth_bytes_per_second);
}

void measure_all(const Request& request, const std::vector<std::string>& paths) {
  bool is_first = true;
  for (const std::string& path : paths) {
    const Stopwatch waiting;
    while (!std::filesystem::exists(path) && waiting.seconds() < request.wait_seconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (!request.has_time()) return;
    try {
      const CsrMatrix stored = read_csr_file(path).matrix;
      const std::string name = std::filesystem::path(path).stem().string();
      // The first plan of a kernel loads its code: nobody's measurement.
      if (std::exchange(is_first, false)) {
        for (const std::string& kind : request.kinds) measure(name, stored, kind, request, false);
      }
      for (const std::string& kind : request.kinds) measure(name, stored, kind, request, true);
    } catch (const Error& error) {  // the other matrices are worth having
      std::fprintf(stderr, "spmm_choices_measure: %s: %s\n", path.c_str(), error.what());
    }
  }
}

Request request_from(const std::map<std::string, double>& settings) {
  Request request;
  for (const auto& [name, value] : settings) {
    if (name == "padding") {
      request.padding = static_cast<Offset>(value);
    } else if (name == "transpose") {
      request.transpose = value != 0;
    } else if (name == "wait") {
      request.wait_seconds = value;
    } else if (name == "seconds") {
      request.seconds = value;
    } else {
      throw UsageError("no setting is called " + name);
    }
  }
  return request;
}

}  // namespace

}  // namespace csrkit

int main(int argc, char** argv) {
  using namespace csrkit;
  try {
    int at = 1;
    std::map<std::string, double> settings;
    for (; at < argc; ++at) {
      const std::string argument = argv[at];
      const std::size_t equals = argument.find('=');
      if (equals == std::string::npos) break;
      settings[argument.substr(0, equals)] = std::atof(argument.c_str() + equals + 1);
    }
    Request request = request_from(settings);
    if (argc < at + 4) throw UsageError("give columns, kinds, kernels and .csr files");
    request.columns = parts_of(argv[at]);
    request.kinds = parts_of(argv[at + 1]);
    request.kernels = parts_of(argv[at + 2]);
    print_device();
    measure_all(request, {argv + at + 3, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spmm_choices_measure: %s\n", error.what());
    return dynamic_cast<const NoDeviceError*>(&error) != nullptr ? 6 : 1;
  }
}
