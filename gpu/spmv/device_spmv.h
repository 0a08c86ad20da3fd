// What an SpMV kernel's file offers to the plan: a format, made once from a CSR matrix on the
// device, and a product that neither allocates nor waits.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <utility>

#include "core/contract/spmm.h"
#include "gpu/device/device_csr.h"
#include "gpu/spmv/vectors.h"

namespace csrkit::gpu {

/// A kernel for chosen types.
class DeviceSpmv {
 public:
  virtual ~DeviceSpmv() = default;

  /// Whether launch computes A^T x from A as it is stored. If not, it gets A^T.
  virtual bool transposes() const { return false; }

  /// Makes the format. Takes `a`, and keeps it only if launch reads it. May allocate through
  /// `memory` and wait; called once. Throws for matrices that do not suit the format: MemoryError
  /// with the bytes, UsageError with the seconds that it would take.
  virtual void convert(DeviceCsr a, DeviceMemory& memory) = 0;

  /// Queues y = alpha * op(A) * x + beta * y; x and y are matrices of one column, or of any number
  /// of them if the kernel's row in the table says kManyColumns.
  virtual void launch(const ConstDenseView& x, const DenseView& y, double alpha, double beta,
                      cudaStream_t stream) = 0;

  /// Bytes of A, in this format, that one product reads.
  virtual std::uint64_t stored_bytes() const = 0;

  virtual std::string choice() const { return {}; }

  /// For vendor kernels that decide after they have seen the operands; as in DeviceSpmm.
  virtual bool wants_trials(const ConstDenseView& /*x*/, const DenseView& /*y*/) const {
    return false;
  }
  virtual void run_trials(const ConstDenseView& /*x*/, const DenseView& /*scratch*/,
                          DeviceMemory&) {}
};

/// The kernel `name` of kernels.inc (not auto), for the kinds and the semiring of `problem`. Throws
/// UsageError if it cannot do them.
std::unique_ptr<DeviceSpmv> make_device_spmv(const std::string& name, const SpmmProblem& problem);

/// What production kernels can do: everything, with A in place and in CUDA graphs.
inline constexpr Capabilities kSpmvProduction = kEverySpmv | kInDeviceMemory;

/// Rungs of the ladder exist only in f32 and f64, with plus and times.
inline constexpr Capabilities kSpmvLadder = kImplicitOnes | kF32 | kF64 | kIeeeSpecials |
                                            kTranspose | kAlphaBeta | kLeadingDimension |
                                            kDeterministic | kAnyAlignment;

/// Throws MemoryError, with `needed` bytes, for a format that is many times as large as A, even if
/// the device has the room: such a padded copy is never useful. Small formats are always allowed.
void require_worthwhile(const char* format, std::uint64_t needed, std::uint64_t csr_bytes);

/// The same for time, for formats in which one lane adds up a row by at least `steps` dependent
/// loads: throws UsageError, with the seconds, if that takes many times as long as reading A as
/// CSR.
void require_short_rows(const char* format, Offset steps, std::uint64_t csr_bytes);

/// Bytes of A's three arrays on the device.
std::uint64_t csr_bytes_of(const DeviceCsr& a);

/// Adapts a typed format to the interface above. `Format` is constructed from a semiring and has
/// convert, launch (with typed vectors), stored_bytes and choice.
template <class Types, class Format>
class TypedSpmv final : public DeviceSpmv {
 public:
  explicit TypedSpmv(Semiring semiring) : format_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) override {
    format_.convert(std::move(a), memory);
  }
  void launch(const ConstDenseView& x, const DenseView& y, double alpha, double beta,
              cudaStream_t stream) override {
    if (y.rows == 0) return;  // a grid of no blocks is an error
    format_.launch(input_of<typename Types::Vector>(x), update_of<Types>(y, alpha, beta), stream);
  }
  std::uint64_t stored_bytes() const override { return format_.stored_bytes(); }
  std::string choice() const override { return format_.choice(); }

 private:
  Format format_;
};

template <class Types, template <class> class Format>
std::unique_ptr<DeviceSpmv> make_typed(const SpmmProblem& problem) {
  return std::make_unique<TypedSpmv<Types, Format<Types>>>(problem.semiring);
}

/// f32 or f64 of everything.
template <class Number, template <class> class Format>
std::unique_ptr<DeviceSpmv> make_wide(const SpmmProblem& problem) {
  if (problem.semiring == Semiring::plus_times) {
    return make_typed<SpmvTypes<Number, Number, Number>, Format>(problem);
  }
  return make_typed<SpmvTypes<Number, Number, Number, false>, Format>(problem);
}

/// A of f32 with vectors of f64.
template <template <class> class Format>
std::unique_ptr<DeviceSpmv> make_mixed(const SpmmProblem& problem) {
  if (problem.semiring == Semiring::plus_times) {
    return make_typed<SpmvTypes<float, double, double>, Format>(problem);
  }
  return make_typed<SpmvTypes<float, double, double, false>, Format>(problem);
}

/// 16-bit A and x; y of the same kind or f32.
template <class Half, template <class> class Format>
std::unique_ptr<DeviceSpmv> make_narrow(const SpmmProblem& problem) {
  if (problem.c == problem.b) return make_typed<SpmvTypes<Half, Half, Half>, Format>(problem);
  return make_typed<SpmvTypes<Half, Half, float>, Format>(problem);
}

/// The one place where kinds become types: the rows of the table of legal kinds. A kernel whose
/// kinds are compiled separately has its own functions instead.
template <template <class> class Format>
std::unique_ptr<DeviceSpmv> typed_spmv(const SpmmProblem& problem) {
  if (has_wide_operands(problem)) return make_mixed<Format>(problem);
  switch (problem.b) {
    case ValueKind::f32: return make_wide<float, Format>(problem);
    case ValueKind::f64: return make_wide<double, Format>(problem);
    case ValueKind::f16: return make_narrow<f16, Format>(problem);
    case ValueKind::bf16: return make_narrow<bf16, Format>(problem);
    case ValueKind::none: break;
  }
  throw UsageError("x cannot be of kind none");
}

/// The same for rungs of the ladder (kSpmvLadder).
template <template <class> class Format>
std::unique_ptr<DeviceSpmv> typed_ladder_spmv(const SpmmProblem& problem) {
  if (problem.b == ValueKind::f64) {
    return make_typed<SpmvTypes<double, double, double>, Format>(problem);
  }
  return make_typed<SpmvTypes<float, float, float>, Format>(problem);
}

}  // namespace csrkit::gpu
