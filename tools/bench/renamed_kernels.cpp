#include "tools/bench/renamed_kernels.h"

namespace csrkit {

namespace {

struct Renamed {
  const char* before;
  const char* now;
};

// tools/report/bundle.py has the same table; a test compares the two.
constexpr Renamed kRenamed[] = {
    {"gpu.spgemm.row_bins", "gpu.spgemm.adaptive_rows"},
    {"gpu.spgemm.v4_prefix_sum", "gpu.spgemm.v5_prefix_sum"},
    {"cpu.spmm.unrolled_4", "cpu.spmm.unrolled:4"},
    {"cpu.spmm.unrolled_8", "cpu.spmm.unrolled:8"},
    {"cpu.spmm.unrolled_16", "cpu.spmm.unrolled:16"},
    {"cpu.spmm.unrolled_32", "cpu.spmm.unrolled:32"},
};

}  // namespace

std::string current_kernel_name(const std::string& recorded) {
  for (const Renamed& kernel : kRenamed) {
    if (recorded == kernel.before) return kernel.now;
  }
  return recorded;
}

}  // namespace csrkit
