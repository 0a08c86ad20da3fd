#include "tools/probe/products.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/hash.h"
#include "core/matrix/dense_matrix.h"
#include "cpu/common/caches.h"
#include "tools/cli/report.h"
#include "tools/operation/machine.h"
#include "tools/operation/product/measure.h"
#include "tools/probe/steady.h"

namespace csrkit {

namespace {

constexpr double kSmallestTable = 16 << 10;
constexpr const char* kContradiction =
    "the machine is too busy to be measured: a product with work to do took no longer than one "
    "without; measure on an idle machine";
constexpr Index kRowLength = 16;  // short enough for every real matrix, long enough to hide the row

/// `rows` rows of `length` f32 entries. Each is uniformly random in a part of its own of the
/// columns, which makes them ascending and different, and the reads uniform over the whole.
CsrMatrix uniform_reads(Index rows, Index cols, Index length) {
  const Offset nnz = Offset{rows} * length;
  Buffer<Offset> row_offsets(Offset{rows} + 1);
  Buffer<Index> col_indices(nnz);
  Buffer<float> values(nnz);
  row_offsets[rows] = nnz;
#pragma omp parallel for schedule(static)
  for (Index row = 0; row < rows; ++row) {
    row_offsets[row] = Offset{row} * length;
    for (Index k = 0; k < length; ++k) {
      const Offset at = Offset{row} * length + k;
      const std::uint64_t word = random_word(1, static_cast<std::uint64_t>(at));
      const Offset first = Offset{cols} * k / length, last = Offset{cols} * (k + 1) / length;
      col_indices[at] = static_cast<Index>(first) +
                        static_cast<Index>(below(word, static_cast<std::uint64_t>(last - first)));
      values[at] = static_cast<float>(random_value(2, static_cast<std::uint64_t>(at)));
    }
  }
  return CsrMatrix(rows, cols, std::move(row_offsets), std::move(col_indices),
                   ValueArray::from(std::move(values)));
}

/// Samples of a product that finds the caches as the one before left them; `figure` names it.
Samples samples_of(const std::string& figure, const SpmmKernel& kernel, const CsrMatrix& a,
                   DenseMatrix& b, DenseMatrix& c, Index dense_cols, const ProbeRequest& request,
                   double budget_seconds) {
  const SpmmProblem problem = default_spmm_problem(a, dense_cols);
  const std::unique_ptr<SpmmPlan> plan = kernel.make_plan(problem, request.plan);
  // One array serves every shape: rows of the width that is asked for, one after the other.
  const ConstDenseView b_view{b.view().data, ValueKind::f32, a.cols(), dense_cols, dense_cols};
  const DenseView c_view{c.view().data, ValueKind::f32, a.rows(), dense_cols, dense_cols};
  plan->bind(b_view, c_view);
  plan->time_multiply();
  const double once = plan->time_multiply();
  const int repeat = static_cast<int>(std::clamp(budget_seconds / std::max(once, 1e-6), 3.0, 25.0));
  return steady_samples(figure, request.max_spread,
                        [&] { return measure(0, repeat, [&] { return plan->time_multiply(); }); });
}

void measure_copy(int threads, double max_spread, DeviceProfile* device) {
  const Offset count = Offset{1} << 25;  // 256 MiB, far beyond a core's share of any cache
  Buffer<double> from(count), to(count);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Offset i = 0; i < count; ++i) from[i] = to[i] = static_cast<double>(i);
  const Samples samples = steady_samples("copy", max_spread, [&] {
    return measure(1, 5, [&] {
      const Stopwatch watch;
#pragma omp parallel for schedule(static) num_threads(threads)
      for (Offset i = 0; i < count; ++i) to[i] = from[i];
      return watch.seconds();
    });
  });
  device->copy_bytes_per_second =
      2.0 * static_cast<double>(from.size_bytes()) / samples.median_seconds();
  device->copy_spread = samples.spread();
}

/// The sizes that follow from what is asked for.
struct ProbeSizes {
  explicit ProbeSizes(const ProbeRequest& request)
      : steps(static_cast<int>(std::log2(
            std::max(1.0, static_cast<double>(request.max_table_bytes) / kSmallestTable)))),
        points(static_cast<double>(request.dense_cols.size()) * (steps + 3)),
        most_reads(std::clamp(request.seconds * (1 << 17), static_cast<double>(request.least_reads),
                              1.0 * (1 << 23))),
        b_bytes(static_cast<std::uint64_t>(std::ldexp(kSmallestTable, steps))),
        c_bytes(std::max(
            b_bytes, static_cast<std::uint64_t>(
                         most_reads / 8 * 4 * std::min<Index>(request.dense_cols.back(), 128)))) {}

  int steps;      // by which the largest table was doubled
  double points;  // that are measured
  /// A product reads every row of the largest table about once, or as often as time allows.
  double most_reads;
  std::uint64_t b_bytes;
  std::uint64_t c_bytes;  // as large as the largest table, or an eighth as many rows as reads
};

class ProductProbe {
 public:
  ProductProbe(const SpmmKernel& kernel, const ProbeRequest& request, DeviceProfile* profile)
      : kernel_(kernel), request_(request), profile_(*profile), sizes_(request) {
    require_available_memory(sizes_.b_bytes + sizes_.c_bytes +
                                 static_cast<std::uint64_t>(sizes_.most_reads) * 12 +
                                 sizes_.b_bytes / 4,
                             "the tables of the probe", "a smaller --max-table needs less");
    b_ = DenseMatrix(static_cast<Index>(sizes_.b_bytes / 64), 16, ValueKind::f32);
    c_ = DenseMatrix(static_cast<Index>(sizes_.c_bytes / 64), 16, ValueKind::f32);
    fill_random(b_.view(), 1);
    fill_random(c_.view(), 2);
  }

  void run() {
    profile_.kernel = kernel_.name;
    profile_.fixed_seconds =
        std::max(seconds_of_rows(1), 2 * seconds_of_rows(2048) - seconds_of_rows(4096));
    for (const Index dense_cols : request_.dense_cols) profile_.gather.push_back(curve(dense_cols));
  }

 private:
  Samples samples(const std::string& figure, const CsrMatrix& a, Index dense_cols) {
    return samples_of(figure, kernel_, a, b_, c_, dense_cols, request_,
                      request_.seconds / sizes_.points);
  }

  /// Small, but large enough to be shared out: what is left when the work goes to nothing.
  double seconds_of_rows(Index rows) {
    const Samples taken = samples("a product of " + counted(rows, "row"),
                                  uniform_reads(rows, 16, kRowLength), request_.dense_cols.front());
    profile_.fixed_spread = std::max(profile_.fixed_spread, taken.spread());
    return taken.median_seconds();
  }

  struct RowTime {
    double seconds, spread;
  };

  /// Of a row of `length` reads from a table.
  RowTime time(Index dense_cols, double table_bytes, double reads, Index length) {
    const double row_bytes = 4.0 * dense_cols;
    const auto cols = std::max<Index>(static_cast<Index>(table_bytes / row_bytes), kRowLength);
    const CsrMatrix a = uniform_reads(static_cast<Index>(reads / length), cols, length);
    const Samples taken =
        samples("rows of " + std::to_string(length) + " reads of " + readable_bytes(row_bytes) +
                    " from a table of " + readable_bytes(table_bytes),
                a, dense_cols);
    if (request_.progress) {
      request_.progress("measuring", ++done_, static_cast<std::uint64_t>(sizes_.points));
    }
    const double seconds = taken.median_seconds() - profile_.fixed_seconds;
    if (!(seconds > 0)) throw ContradictionError(kContradiction);
    return {seconds / a.rows(), taken.spread()};
  }

  GatherCurve curve(Index dense_cols) {
    GatherCurve curve;
    curve.dense_cols = dense_cols;
    const double row_bytes = 4.0 * dense_cols;
    const double reads = sizes_.most_reads * std::min(1.0, 128.0 / dense_cols);
    // Rows of 4 and rows of 16 that find B in the nearest cache: what is not per nonzero is per
    // row.
    const RowTime near_16 = time(dense_cols, kSmallestTable, reads, kRowLength);
    const RowTime near_4 = time(dense_cols, kSmallestTable, reads / 2, 4);
    curve.output_row_spread = std::max(near_16.spread, near_4.spread);
    const double near_read = std::max(0.0, (near_16.seconds - near_4.seconds) / (kRowLength - 4));
    curve.seconds_per_output_row = std::max(0.0, near_4.seconds - 4 * near_read);
    const RowTime streamed_2 =
        time(dense_cols, kSmallestTable, 2 * static_cast<double>(sizes_.b_bytes) / row_bytes, 2);
    curve.streamed_row_spread = streamed_2.spread;
    curve.seconds_per_streamed_row =
        std::max(curve.seconds_per_output_row, streamed_2.seconds - 2 * near_read);
    for (int step = 0; step <= sizes_.steps; ++step) {
      const double bytes = std::ldexp(kSmallestTable, step);
      if (bytes < kRowLength * row_bytes) continue;
      const RowTime row = step == 0 ? near_16 : time(dense_cols, bytes, reads, kRowLength);
      // Of a table that is larger than all that is read, only so much was a table.
      const double rows_of_table = bytes / row_bytes;
      const double touched = -std::expm1(-reads / rows_of_table) * bytes;
      if (!curve.table_bytes.empty() && touched <= curve.table_bytes.back()) continue;
      curve.table_bytes.push_back(touched);
      curve.spread.push_back(row.spread);
      curve.seconds_per_read.push_back(
          std::max(row.seconds - curve.seconds_per_output_row, row.seconds / 100) / kRowLength);
    }
    return curve;
  }

  const SpmmKernel& kernel_;
  const ProbeRequest& request_;
  DeviceProfile& profile_;
  ProbeSizes sizes_;
  DenseMatrix b_, c_;
  std::uint64_t done_ = 0;
};

}  // namespace

void probe_products(const SpmmKernel& kernel, const ProbeRequest& request, DeviceProfile* profile) {
  ProductProbe(kernel, request, profile).run();
}

DeviceProfile cpu_device(int threads, double max_spread) {
  DeviceProfile device;
  device.device = "cpu";
  device.name = cpu_model();
  device.workers = threads > 0 ? threads : omp_get_max_threads();
  device.private_cache_bytes = static_cast<double>(cpu::known_cache_sizes().private_bytes);
  device.shared_cache_bytes = static_cast<double>(cpu::known_cache_sizes().last_level_bytes);
  device.memory_bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  measure_copy(device.workers, max_spread, &device);
  return device;
}

}  // namespace csrkit
