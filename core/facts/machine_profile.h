// What a machine can do, as csr-probe measured it once: with the matrix, all that a forecast needs.
// Plain numbers; the JSON file that holds them is read and written by
// tools/forecast/profile_file.
#pragma once

#include <string>
#include <vector>

#include "core/base/types.h"

namespace csrkit {

/// How long one read of a row of B takes, for rows of one width. Measured with the SpMM kernel
/// itself on matrices whose columns are uniformly random in a table of the given size. So it
/// includes all costs of a nonzero: its column, its value, the arithmetic.
struct GatherCurve {
  Index dense_cols = 0;                 // of f32: a row of B has 4 * dense_cols bytes
  double seconds_per_output_row = 0;    // what a row of A costs beside its nonzeros: loop, C stored
  double seconds_per_streamed_row = 0;  // the same where C is far larger than the caches
  std::vector<double> table_bytes;      // ascending
  std::vector<double> seconds_per_read;  // all workers together: time of a product / its nonzeros
  std::vector<double> spread = {};  // of the samples behind each; empty in profiles that have none
  double output_row_spread = 0;     // of the samples behind seconds_per_output_row
  double streamed_row_spread = 0;   // and behind seconds_per_streamed_row
};

/// One processor: all the cores of a host together, or one GPU.
struct DeviceProfile {
  std::string device;              // "cpu" or "gpu"
  std::string name;                // the maker's
  std::string kernel;              // whose reads were timed: "cpu.spmm.auto"
  int workers = 1;                 // CPU: threads; GPU: multiprocessors
  Index rows_per_turn = 0;         // how rows go to workers, as in reuse_distance.h
  double private_cache_bytes = 0;  // of each worker (L2 of a core, L1 of a multiprocessor)
  double shared_cache_bytes = 0;   // of all (L3, L2 of a GPU); 0 if there is none
  double memory_bytes = 0;
  double copy_bytes_per_second = 0;  // read and written, arrays far larger than every cache
  double copy_spread = 0;            // of its samples: third minus first quartile over the median
  double fixed_seconds = 0;          // of a product that has nothing to do
  double fixed_spread = 0;           // of the samples behind it
  std::vector<GatherCurve> gather;   // by ascending dense_cols, at least one
};

struct MachineProfile {
  std::string host;
  std::vector<DeviceProfile> devices;

  /// The device of that kind; throws UsageError that lists the kinds there are.
  const DeviceProfile& find(const std::string& device) const;
};

/// More than any memory or cache moves: a higher rate in a profile was not measured.
constexpr double kMostBytesPerSecond = 1e14;
/// No row, read or launch takes longer than this. So sums of such times are finite.
constexpr double kMostSeconds = 1e6;

/// Throws InputError that begins with `where` and names the first impossible number.
void validate(const MachineProfile& profile, const std::string& where);

/// The curve for any width of rows, in f32 columns (f64 counts double, f16 half): interpolated
/// between the measured widths, proportional to the width beyond the widest, the narrowest below
/// it. Tables: the sizes that both neighbours have in common range.
GatherCurve gather_curve(const DeviceProfile& device, double dense_cols);

/// The cost of a read by its LRU stack distance. Uniformly random reads of a table have every stack
/// distance up to the size of the table equally often (independent reference model), so the mean
/// over a table of S bytes is t(S) = 1/S * integral of cost from 0 to S, and the cost at a distance
/// is the derivative of S * t(S). Constant between the measured sizes, made non-decreasing by
/// pooling (isotonic regression: Ayer et al., Ann. Math. Statist. 26, 1955).
struct DistanceCost {
  std::vector<double> up_to_bytes;       // ascending; the last step goes on for ever
  std::vector<double> seconds_per_read;  // non-decreasing
};
DistanceCost distance_cost(const GatherCurve& curve);

}  // namespace csrkit
