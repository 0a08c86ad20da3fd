// Searches the shapes of the ladder's v4_thread_counts: every block of threads with every tile of
// columns, A * A in f64, one JSON record per shape on stdout.
//   measure [--repeat N] MATRIX.csr ...
// The first run of a shape is checked and discarded. Seconds are those of the kernel and its
// unsorted output; the sort after it does not depend on the shape.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "core/judge/compare.h"
#include "gpu/device/device_info.h"
#include "gpu/device/stream.h"
#include "gpu/spgemm/ladder/v4_thread_counts.h"
#include "gpu/spgemm/phase_events.h"

namespace {

using namespace csrkit;

/// A * A on the device, without the plan around the kernel: nothing is downloaded but what is
/// checked.
struct Square {
  explicit Square(const CsrMatrix& matrix)
      : stream(nullptr),
        memory(0, stream.get(), 0),
        a(memory, matrix),
        problem(default_spgemm_problem(matrix, matrix)) {}

  /// Runs the kernel once; false if it is to be checked and wrong.
  bool run(gpu::DeviceSpgemm& kernel, bool checks, SpgemmPhases& phases) {
    gpu::DeviceProduct c;
    c.rows = problem.output_rows();
    c.cols = problem.output_cols();
    c.kind = problem.c;
    events.start(stream.get());
    kernel.multiply({a.view<void>(), a.view<void>(), 1}, memory, c, &events);
    events.stop();
    events.add_to(phases);
    if (!checks) return true;
    CheckOptions check;
    check.work_limit = 1u << 22;
    const CheckResult result = check_spgemm(problem, download(c, stream.get()), check);
    if (!result.passed) std::fprintf(stderr, "%s\n", result.failure.c_str());
    return result.passed;
  }

  gpu::Stream stream;
  gpu::DeviceMemory memory;
  gpu::DeviceCsr a;
  gpu::PhaseEvents events;
  SpgemmProblem problem;
};

/// False if the product is wrong.
bool measure(const std::string& path, Square& square, int block, int tile, int repeat) {
  const auto kernel = gpu::make_v4_of_shape(square.problem, block, tile);
  SpgemmPhases first;
  if (!square.run(*kernel, true, first)) {
    std::fprintf(stderr, "%s, block %d, tile %d\n", path.c_str(), block, tile);
    return false;
  }
  std::vector<double> seconds;
  for (int run = 0; run < repeat; ++run) {
    SpgemmPhases phases;
    square.run(*kernel, false, phases);
    seconds.push_back(phases.numeric_seconds);
  }
  std::printf("{\"matrix\": \"%s\", \"block\": %d, \"tile\": %d, \"seconds\": [", path.c_str(),
              block, tile);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    std::printf("%s%.9g", i == 0 ? "" : ", ", seconds[i]);
  }
  std::printf("]}\n");
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 5;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeat") == 0 && i + 1 < argc) {
      repeat = std::atoi(argv[++i]);
    } else {
      paths.emplace_back(argv[i]);
    }
  }
  if (paths.empty() || repeat < 1 || paths.front()[0] == '-') {
    std::fprintf(stderr, "usage: %s [--repeat N] MATRIX.csr ...\n", argv[0]);
    return 2;
  }
  try {
    gpu::require_device(0);
    for (const std::string& path : paths) {
      Square square(convert_values(read_csr_file(path).matrix, ValueKind::f64));
      for (const int block : gpu::kSearchedBlocks) {
        for (const int tile : gpu::kSearchedTiles) {
          if (!measure(path, square, block, tile, repeat)) return 1;
        }
      }
    }
  } catch (const NoDeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 6;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 70;
  }
  return 0;
}
