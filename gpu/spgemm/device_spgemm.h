// What an SpGEMM kernel's file offers under the plan: C = alpha * A * B for matrices that are on
// the device already. The size of C is found on the way, so a kernel allocates - through
// DeviceMemory only, in its stream, from the pool - and brings the few numbers it must know to the
// host.
//
// The plan does the rest, for every kernel: transposes, 16-bit values (widened before they are
// uploaded: exact, and sums are f32 anyway), masks, --drop-below, ranges of rows when memory is
// short, downloads. So kernels know two types of values, float and double, and entries without
// values.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <vector>

#include "core/contract/spgemm.h"
#include "gpu/device/device_csr.h"
#include "gpu/spgemm/device_product.h"
#include "gpu/spgemm/product_counts.h"

namespace csrkit::gpu {

/// A, or a range of its rows, and all of B. Where B is A, the pointers are the same. Values are of
/// C's kind, or null where every entry is 1.
struct SpgemmOperands {
  DeviceCsrView<void> a;
  DeviceCsrView<void> b;
  double alpha = 1;
};

/// What is known of a range of rows before anything runs.
struct SpgemmSizes {
  Index rows = 0;   // of A and C
  Index inner = 0;  // columns of A, rows of B
  Index cols = 0;   // of B and C
  Offset a_nnz = 0;
  Offset b_nnz = 0;
  ProductCounts counts;
};

/// The phases of a report. `sort` is what it takes to bring an unsorted result into CSR.
enum class SpgemmPhase : std::uint8_t { analysis, symbolic, numeric, sort };

/// Told by a kernel when a phase begins; absent in timed runs.
class PhaseMarks {
 public:
  virtual ~PhaseMarks() = default;
  virtual void begin(SpgemmPhase phase) = 0;
};

/// A kernel with its kinds chosen.
class DeviceSpgemm {
 public:
  virtual ~DeviceSpgemm() = default;

  /// Most bytes that multiply may hold at once beside A and B, C included. Never below the real
  /// peak: the plan cuts A into ranges of rows by this number. Grows with every member of the
  /// sizes.
  virtual std::uint64_t forecast_bytes(const SpgemmSizes&) const = 0;

  /// Once, before the first multiplication and not timed: a vendor's trials of its algorithms.
  /// Leaves nothing allocated that multiply does not need.
  virtual void prepare(const SpgemmOperands&, DeviceMemory&) {}

  /// Once, before the first multiplication, where A comes in several ranges of rows; these are all
  /// of them. What decides the order of sums must not depend on how A is cut. Within forecast_bytes
  /// of each.
  virtual void look_at_ranges(const std::vector<SpgemmOperands>&, DeviceMemory&) {}

  /// Makes C out of nothing but the operands: what is timed from CSR to CSR. `c` comes with rows,
  /// cols and kind set and no arrays. `marks` may be null.
  virtual void multiply(const SpgemmOperands&, DeviceMemory&, DeviceProduct& c,
                        PhaseMarks* marks) = 0;

  /// Whether the values of C can be made anew when A and B got other values in the same places.
  virtual bool can_reuse() const { return false; }

  /// Most bytes that prepare_values may hold at once beside A, B and C where it may spend memory to
  /// make multiply_values faster; 0: there is no such way.
  virtual std::uint64_t values_bytes(const SpgemmSizes&) const { return 0; }

  /// Whether it may, from here on; it may not at first.
  virtual void let_values_spend(bool) {}

  /// Once after a multiply, not timed: keeps what multiply_values wants, within values_bytes where
  /// it may spend that, else within forecast_bytes, C included. `c` is the result of that multiply
  /// and stays where it is.
  virtual void prepare_values(const SpgemmOperands&, DeviceMemory&, DeviceProduct& /*c*/) {}

  /// Gives back what prepare_values kept.
  virtual void forget_values() {}

  /// The numeric phase alone: writes the values of `c`, whose structure stands.
  virtual void multiply_values(const SpgemmOperands&, DeviceMemory&, DeviceProduct& /*c*/) {
    throw UsageError("this kernel keeps no structure");
  }

  /// What was decided inside, for reports.
  virtual std::string choice() const { return {}; }
};

/// The kernel called `name` in the registry, for the kinds of `problem`; any but auto.
std::unique_ptr<DeviceSpgemm> make_device_spgemm(const std::string& name,
                                                 const SpgemmProblem& problem);

}  // namespace csrkit::gpu
