// Searches the shapes of the classic rungs of SpGEMM: every block of threads with every tile of
// columns, A * A in f64, one JSON record per shape on stdout.
//   measure [--repeat N] [--slowest S] [--kernels v1,v2,v3,v4] MATRIX.csr ...
// A's values are small whole numbers, so sums are exact in any order: the first product of a matrix
// is judged against float64, those of all other shapes must have its bits. The first run of a shape
// is the one that is checked, and is discarded. Seconds are those of the kernel and its unsorted
// output; the sort after it does not depend on the shape. A tile that took more than S seconds
// (0.25) ends its block: narrower ones take longer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/file/csr_file.h"
#include "core/judge/compare.h"
#include "gpu/device/device_info.h"
#include "gpu/device/streams/stream.h"
#include "gpu/spgemm/ladder/v1_cached_members.cuh"
#include "gpu/spgemm/ladder/v2_block_per_row.cuh"
#include "gpu/spgemm/ladder/v3_batched_writes.cuh"
#include "gpu/spgemm/ladder/v4_thread_counts.cuh"
#include "gpu/spgemm/phase_events.h"
#include "studies/common/exact_sums.cuh"

namespace csrkit::gpu {

namespace {

struct Shape {
  int block = 0;
  int tile = 0;
  std::unique_ptr<DeviceSpgemm> (*make)() = nullptr;
};

template <class Append>
std::unique_ptr<DeviceSpgemm> make() {
  return std::make_unique<Rung<Append, double>>();
}

/// Blocks from small to large, in each of them tiles from wide to narrow.
template <template <int, int> class Kernel, int... kBlock>
std::vector<Shape> shapes(std::integer_sequence<int, kBlock...>) {
  std::vector<Shape> all;
  const auto add_tiles = [&](auto block) {
    constexpr int kThreads = decltype(block)::value;
    for (const Shape& shape : {
             Shape{kThreads, 4096, make<Kernel<kThreads, 4096>>},
             Shape{kThreads, 2048, make<Kernel<kThreads, 2048>>},
             Shape{kThreads, 1024, make<Kernel<kThreads, 1024>>},
             Shape{kThreads, 512, make<Kernel<kThreads, 512>>},
             Shape{kThreads, 256, make<Kernel<kThreads, 256>>},
             Shape{kThreads, 128, make<Kernel<kThreads, 128>>},
             Shape{kThreads, 64, make<Kernel<kThreads, 64>>},
         }) {
      all.push_back(shape);
    }
  };
  (add_tiles(std::integral_constant<int, kBlock>{}), ...);
  return all;
}

struct Rungs {
  const char* name;
  std::vector<Shape> shapes;
};

std::vector<Rungs> rungs() {
  using Blocks = std::integer_sequence<int, 64, 128, 256, 512, 1024>;
  return {{"v1_cached_members", shapes<CachedMembers>(Blocks{})},
          {"v2_block_per_row", shapes<BlockPerRow>(Blocks{})},
          {"v3_batched_writes", shapes<BatchedWrites>(Blocks{})},
          {"v4_thread_counts", shapes<ThreadCounts>(Blocks{})}};
}

/// A * A on the device, without the plan around the kernel: nothing is downloaded but what is
/// judged.
class Square {
 public:
  explicit Square(const CsrMatrix& matrix)
      : stream_(nullptr),
        memory_(0, stream_.get(), 0),
        a_(memory_, matrix),
        problem_(default_spgemm_problem(matrix, matrix)) {}

  double seconds(DeviceSpgemm& kernel) {
    DeviceProduct c = empty();
    return run(kernel, c);
  }

  /// The same, and whether the product is right.
  double checked_seconds(DeviceSpgemm& kernel, bool& is_right) {
    DeviceProduct c = empty();
    const double seconds = run(kernel, c);
    if (judged_.rows == 0) {
      const CheckResult result = check_spgemm(problem_, download(c, 1, stream_.get()));
      if (!result.passed) std::fprintf(stderr, "%s\n", result.failure.c_str());
      is_right = result.passed;
      judged_ = std::move(c);
    } else {
      is_right = has_judged_bits(c);
    }
    return seconds;
  }

 private:
  DeviceProduct empty() const {
    DeviceProduct c;
    c.rows = problem_.output_rows();
    c.cols = problem_.output_cols();
    c.kind = problem_.c;
    return c;
  }

  double run(DeviceSpgemm& kernel, DeviceProduct& c) {
    SpgemmPhases phases;
    events_.start(stream_.get());
    kernel.multiply({a_.view<void>(), a_.view<void>(), 1}, memory_, c, &events_);
    events_.stop();
    events_.add_to(phases);
    return phases.numeric_seconds;
  }

  bool has_judged_bits(const DeviceProduct& c) {
    if (c.nnz != judged_.nnz) return false;
    studies::UnlikeWords unlike(memory_);
    unlike.compare(c.narrow_offsets.data(), judged_.narrow_offsets.data(),
                   c.narrow_offsets.size_bytes());
    unlike.compare(c.wide_offsets.data(), judged_.wide_offsets.data(), c.wide_offsets.size_bytes());
    unlike.compare(c.col_indices.data(), judged_.col_indices.data(), c.col_indices.size_bytes());
    unlike.compare(c.values.data(), judged_.values.data(), c.values.size_bytes());
    return unlike.count() == 0;
  }

  Stream stream_;
  DeviceMemory memory_;
  DeviceCsr a_;
  PhaseEvents events_;
  SpgemmProblem problem_;
  DeviceProduct judged_;
};

struct Options {
  int repeat = 3;
  double slowest = 0.25;
  std::vector<std::string> kernels = {"v1", "v2", "v3", "v4"};
  std::vector<std::string> paths;
};

/// False if a product is wrong.
bool measure(const std::string& path, Square& square, const Rungs& rung, const Options& options) {
  int ended_block = 0;
  for (const Shape& shape : rung.shapes) {
    if (shape.block == ended_block) continue;
    const auto kernel = shape.make();
    bool is_right = false;
    const double first = square.checked_seconds(*kernel, is_right);
    if (!is_right) {
      std::fprintf(stderr, "%s, %s, block %d, tile %d: a wrong product\n", path.c_str(), rung.name,
                   shape.block, shape.tile);
      return false;
    }
    std::printf(R"({"matrix": "%s", "kernel": "%s", "block": %d, "tile": %d, "seconds": [)",
                path.substr(path.rfind('/') + 1).c_str(), rung.name, shape.block, shape.tile);
    for (int run = 0; run < (first > options.slowest ? 1 : options.repeat); ++run) {
      std::printf("%s%.6g", run == 0 ? "" : ", ", square.seconds(*kernel));
    }
    std::printf("]}\n");
    std::fflush(stdout);
    if (first > options.slowest) ended_block = shape.block;
  }
  return true;
}

int run(const Options& options) {
  require_device(0);
  for (const std::string& path : options.paths) {
    Square square(studies::with_whole_numbers<double>(read_csr_file(path).matrix));
    for (const Rungs& rung : rungs()) {
      const std::string number = std::string(rung.name).substr(0, 2);
      if (std::count(options.kernels.begin(), options.kernels.end(), number) == 0) continue;
      if (!measure(path, square, rung, options)) return 1;
    }
  }
  return 0;
}

}  // namespace

}  // namespace csrkit::gpu

int main(int argc, char** argv) try {
  csrkit::gpu::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--repeat" && i + 1 < argc) {
      options.repeat = std::atoi(argv[++i]);
    } else if (word == "--slowest" && i + 1 < argc) {
      options.slowest = std::atof(argv[++i]);
    } else if (word == "--kernels" && i + 1 < argc) {
      options.kernels.clear();
      std::stringstream list(argv[++i]);
      for (std::string name; std::getline(list, name, ',');) options.kernels.push_back(name);
    } else {
      options.paths.push_back(word);
    }
  }
  if (options.paths.empty() || options.repeat < 1 || options.paths.front()[0] == '-') {
    std::fprintf(stderr,
                 "usage: %s [--repeat N] [--slowest S] [--kernels v1,v2,v3,v4] MATRIX.csr ...\n",
                 argv[0]);
    return 2;
  }
  return csrkit::gpu::run(options);
} catch (const csrkit::NoDeviceError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 6;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 70;
}
