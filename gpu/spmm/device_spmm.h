// What an SpMM kernel's file offers to the plan: work on operands on the device, which neither
// allocates nor waits. Solvers, out-of-core plans and CUDA graphs use the same.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "core/contract/spmm.h"
#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// The types of one multiplication. Values of A and B have one type; A may also have none or, in
/// kernels with kNarrowOperands, f32 with a B of 16 bits. Plus and times are compiled in; the other
/// semirings are chosen at run time.
template <class ValueType, class OutputType, bool kPlusTimes = true>
struct SpmmTypes {
  using Value = ValueType;
  using Output = OutputType;
  using Accumulate = std::conditional_t<std::is_same_v<ValueType, double>, double, float>;
  static constexpr bool kIsPlusTimes = kPlusTimes;
};

/// Sizes known before anything is on the device; of op(A), as it will be stored there.
struct SpmmSizes {
  Index rows = 0;
  Index cols = 0;
  Offset nnz = 0;
  Index dense_cols = 0;
  /// If this is a block of rows and a panel of columns of a larger product: that product's sizes. A
  /// kernel with kOutOfCore chooses the order of sums by these, so that blocks have the bits of the
  /// whole.
  Index whole_rows = 0;
  Offset whole_nnz = 0;
  Index whole_dense_cols = 0;

  Index rows_of_whole() const { return std::max(rows, whole_rows); }
  Offset nnz_of_whole() const { return std::max(nnz, whole_nnz); }
  Index dense_cols_of_whole() const { return std::max(dense_cols, whole_dense_cols); }
};

/// A kernel for chosen types.
class DeviceSpmm {
 public:
  virtual ~DeviceSpmm() = default;

  /// Whether launch computes A^T B from A as it is stored. If not, it gets A^T.
  virtual bool transposes() const { return false; }

  /// An upper bound of the workspace, which analyse fills and launch uses, from sizes alone.
  virtual std::uint64_t workspace_bytes(const SpmmSizes&) const { return 0; }

  /// Queues everything that depends only on A.
  virtual void analyse(const DeviceCsrView<void>&, const SpmmSizes&, void* /*workspace*/,
                       cudaStream_t) {}

  /// The bytes at the start of the workspace that hold the analysis. They stay valid at another
  /// address and in another process. 0: the analysis cannot be saved.
  virtual std::uint64_t analysis_bytes(const SpmmSizes&) const { return 0; }

  /// Replaces analyse where those bytes come from an earlier analysis: does its host part.
  virtual void adopt(const SpmmSizes&, void* /*workspace*/) {}

  /// Fetches what launch needs on the host; waits for the analysis.
  virtual void finish_analysis(void* /*workspace*/, cudaStream_t) {}

  /// For vendor kernels that decide after they have seen the operands. `scratch` has C's shape and
  /// may be written. May wait, and allocate through `memory` only. Called by every bind.
  virtual bool wants_trials(const ConstDenseView& /*b*/, const DenseView& /*c*/) const {
    return false;
  }
  virtual void run_trials(const DeviceCsrView<void>&, const ConstDenseView& /*b*/,
                          const DenseView& /*scratch*/, DeviceMemory&) {}

  /// Queues C = alpha * op(A) * B + beta * C.
  virtual void launch(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView& c,
                      double alpha, double beta, void* workspace, cudaStream_t stream) = 0;

  virtual std::string choice() const { return {}; }
};

/// The kernel `name` of kernels.inc (not auto), for the kinds and the semiring of `problem`. Throws
/// UsageError if it cannot do them.
std::unique_ptr<DeviceSpmm> make_device_spmm(const std::string& name, const SpmmProblem& problem);

/// Whether a typed kernel has analysis_bytes and adopt.
template <class Kernel, class = void>
struct CanSaveAnalysis : std::false_type {};
template <class Kernel>
struct CanSaveAnalysis<Kernel, std::void_t<decltype(std::declval<const Kernel&>().analysis_bytes(
                                   std::declval<const SpmmSizes&>()))>> : std::true_type {};

/// Adapts a typed kernel to the interface above. `Kernel` has the same functions with typed views,
/// and may have analysis_bytes and adopt. It is constructed from `arguments`.
template <class Types, class Kernel>
class TypedSpmm final : public DeviceSpmm {
  using Value = typename Types::Value;
  using Output = typename Types::Output;
  using Accumulate = typename Types::Accumulate;

 public:
  template <class... Arguments>
  explicit TypedSpmm(const Arguments&... arguments) : kernel_(arguments...) {}

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const override {
    return kernel_.workspace_bytes(sizes);
  }
  void analyse(const DeviceCsrView<void>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) override {
    kernel_.analyse(a.as<Value>(), sizes, workspace, stream);
  }
  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const override {
    if constexpr (CanSaveAnalysis<Kernel>::value) return kernel_.analysis_bytes(sizes);
    return 0;
  }
  void adopt(const SpmmSizes& sizes, void* workspace) override {
    if constexpr (CanSaveAnalysis<Kernel>::value) kernel_.adopt(sizes, workspace);
  }
  void finish_analysis(void* workspace, cudaStream_t stream) override {
    kernel_.finish_analysis(workspace, stream);
  }
  void launch(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView& c,
              double alpha, double beta, void* workspace, cudaStream_t stream) override {
    if (c.rows == 0) return;  // a grid of no blocks is an error
    kernel_.launch(a.as<Value>(), {b.as<Value>(), b.rows, b.cols, b.leading_dim},
                   {c.as<Output>(), c.rows, c.cols, c.leading_dim}, static_cast<Accumulate>(alpha),
                   static_cast<Accumulate>(beta), workspace, stream);
  }
  std::string choice() const override { return kernel_.choice(); }

 private:
  Kernel kernel_;
};

/// For kernels that need no analysis.
template <class Types>
struct NoAnalysis {
  std::uint64_t workspace_bytes(const SpmmSizes&) const { return 0; }
  void analyse(const DeviceCsrView<typename Types::Value>&, const SpmmSizes&, void*, cudaStream_t) {
  }
  void finish_analysis(void*, cudaStream_t) {}
  std::string choice() const { return {}; }
};

/// The one place where kinds become types: the rows of the table of legal kinds. `Kernel` is
/// constructed from the problem.
template <template <class> class Kernel>
std::unique_ptr<DeviceSpmm> typed_spmm(const SpmmProblem& problem) {
  const auto with_types = [&](auto value, auto output,
                              auto is_plus_times) -> std::unique_ptr<DeviceSpmm> {
    using Types = SpmmTypes<typename decltype(value)::type, typename decltype(output)::type,
                            decltype(is_plus_times)::value>;
    return std::make_unique<TypedSpmm<Types, Kernel<Types>>>(problem);
  };
  const auto with_any_semiring = [&](auto type) {
    if (problem.semiring == Semiring::plus_times) return with_types(type, type, std::true_type{});
    return with_types(type, type, std::false_type{});
  };
  const auto with_narrow = [&](auto type) {
    if (problem.c == problem.b) return with_types(type, type, std::true_type{});
    return with_types(type, TypeTag<float>{}, std::true_type{});
  };
  switch (problem.b) {
    case ValueKind::f32: return with_any_semiring(TypeTag<float>{});
    case ValueKind::f64: return with_any_semiring(TypeTag<double>{});
    case ValueKind::f16: return with_narrow(TypeTag<f16>{});
    case ValueKind::bf16: return with_narrow(TypeTag<bf16>{});
    case ValueKind::none: break;
  }
  throw UsageError("B cannot be of kind none");
}

/// The same for rungs of the ladder, which exist only in f32 and f64, with plus and times.
inline constexpr Capabilities kLadder = kManyColumns | kImplicitOnes | kF32 | kF64 | kIeeeSpecials |
                                        kTranspose | kAlphaBeta | kLeadingDimension |
                                        kDeterministic | kAnyAlignment;
template <template <class> class Kernel>
std::unique_ptr<DeviceSpmm> typed_wide_spmm(const SpmmProblem& problem) {
  if (problem.b == ValueKind::f64) {
    using Types = SpmmTypes<double, double>;
    return std::make_unique<TypedSpmm<Types, Kernel<Types>>>();
  }
  using Types = SpmmTypes<float, float>;
  return std::make_unique<TypedSpmm<Types, Kernel<Types>>>();
}

}  // namespace csrkit::gpu
