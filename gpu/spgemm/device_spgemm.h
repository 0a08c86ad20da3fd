// What an SpGEMM kernel's file offers to the plan: C = alpha * A * B for matrices on the device.
// The size of C is found on the way, so a kernel allocates (only through DeviceMemory, in its
// stream) and copies the few numbers that it needs to the host.
//
// The plan does the rest, for every kernel: transposes, 16-bit values (widened before the upload,
// which is exact, and sums are f32 anyway), masks, --drop-below, ranges of rows where memory is
// short, downloads. So kernels know only float, double and matrices without values.
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

/// A, or a range of its rows, and all of B. Where B is A, the pointers are the same. Values have
/// C's kind, or are null where every entry is 1.
struct SpgemmOperands {
  DeviceCsrView<void> a;
  DeviceCsrView<void> b;
  double alpha = 1;
};

/// The sizes of a product over a range of rows of A, known before it runs.
struct SpgemmSizes {
  Index rows = 0;   // of A and C
  Index inner = 0;  // columns of A, rows of B
  Index cols = 0;   // of B and C
  Offset a_nnz = 0;
  Offset b_nnz = 0;
  ProductCounts counts;
};

/// The phases of a report. sort: bringing an unsorted result into CSR.
enum class SpgemmPhase : std::uint8_t { analysis, symbolic, numeric, sort };

/// A kernel calls it where a phase begins. There is none in timed runs.
class PhaseMarks {
 public:
  virtual ~PhaseMarks() = default;
  virtual void begin(SpgemmPhase phase) = 0;
};

/// A kernel for chosen kinds.
class DeviceSpgemm {
 public:
  virtual ~DeviceSpgemm() = default;

  /// An upper bound of the bytes that multiply holds at once beside A and B, with C. The plan cuts
  /// A into ranges of rows by it. It must not shrink when any member of the sizes grows.
  virtual std::uint64_t forecast_bytes(const SpgemmSizes&) const = 0;

  /// Called once, before the first multiplication, not timed: a vendor tries its algorithms. It
  /// keeps only memory that multiply needs.
  virtual void prepare(const SpgemmOperands&, DeviceMemory&) {}

  /// Called once, before the first multiplication, with all ranges if A comes in several ranges of
  /// rows: decisions that change the order of sums must not depend on how A is cut. Stays within
  /// forecast_bytes of each range.
  virtual void look_at_ranges(const std::vector<SpgemmOperands>&, DeviceMemory&) {}

  /// Makes C from the operands alone; this is what timings from CSR to CSR cover. `c` has rows,
  /// cols and kind but no arrays. `marks` may be null.
  virtual void multiply(const SpgemmOperands&, DeviceMemory&, DeviceProduct& c,
                        PhaseMarks* marks) = 0;

  /// Whether the values of C can be computed again after A and B got new values.
  virtual bool can_reuse() const { return false; }

  /// An upper bound of the bytes that prepare_values holds at once beside A, B and C if it may
  /// spend memory to make multiply_values faster; 0: there is nothing to spend it on.
  virtual std::uint64_t values_bytes(const SpgemmSizes&) const { return 0; }

  /// Allows or forbids prepare_values to spend values_bytes. Forbidden until called.
  virtual void let_values_spend(bool) {}

  /// Called once after a multiply, not timed: keeps what multiply_values needs, within values_bytes
  /// if allowed, else within forecast_bytes (with C). `c` is the result of that multiply and stays
  /// where it is.
  virtual void prepare_values(const SpgemmOperands&, DeviceMemory&, DeviceProduct& /*c*/) {}

  /// Releases what prepare_values kept.
  virtual void forget_values() {}

  /// The numeric phase alone: writes the values of `c`, whose structure is complete.
  virtual void multiply_values(const SpgemmOperands&, DeviceMemory&, DeviceProduct& /*c*/) {
    throw UsageError("this kernel keeps no structure");
  }

  /// What was decided inside, for reports.
  virtual std::string choice() const { return {}; }
};

/// The kernel `name` of kernels.inc, for the kinds of `problem`. Throws UsageError for unknown
/// names and for auto.
std::unique_ptr<DeviceSpgemm> make_device_spgemm(const std::string& name,
                                                 const SpgemmProblem& problem);

}  // namespace csrkit::gpu
