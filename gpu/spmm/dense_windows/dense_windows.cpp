// dense_windows: windows of A as dense matrices, multiplied by tensor cores, as a kernel of the
// table.

#include "gpu/spmm/dense_windows/dense_windows.h"

#include "gpu/device/device_info.h"
#include "gpu/spmm/dense_windows/workspace.h"

namespace csrkit::gpu {

namespace {

template <class Types>
class DenseWindows {
  using Value = typename Types::Value;
  using Output = typename Types::Output;
  using Accumulate = typename Types::Accumulate;
  static constexpr WindowWorkspace<Accumulate>* kNowhere = nullptr;

 public:
  explicit DenseWindows(const SpmmProblem& problem) : kind_(window_kind_of(problem.b)) {}

  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    return lay_out_windows(WindowShape(sizes, kind_), nullptr, kNowhere, nullptr);
  }
  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    std::uint64_t bytes = 0;
    lay_out_windows(WindowShape(sizes, kind_), nullptr, kNowhere, &bytes);
    return bytes;
  }
  void adopt(const SpmmSizes& sizes, void* workspace) {
    shape_ = WindowShape(sizes, kind_);
    lay_out_windows(shape_, static_cast<std::byte*>(workspace), &workspace_, nullptr);
  }
  void analyse(const DeviceCsrView<Value>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    fill_windows(a, shape_, workspace_, stream);
  }
  void finish_analysis(void*, cudaStream_t) const {}

  void launch(const DeviceCsrView<Value>& a, const DeviceDenseView<const Value>& b,
              const DeviceDenseView<Output>& c, Accumulate alpha, Accumulate beta, void*,
              cudaStream_t stream) const {
    if (shape_.blocks == 0) return;
    multiply_by_windows(WindowOperands<Types>{a, b, c, alpha, beta, shape_, workspace_}, stream);
  }

  std::string choice() const {
    return std::to_string(shape_.row_tiles) + " x " + std::to_string(shape_.windows) +
           " windows of " + std::to_string(kTileRows) + " x " + std::to_string(shape_.window_cols) +
           ", tiles of " + std::to_string(shape_.tile_cols) + " columns of C";
  }

 private:
  WindowKind kind_;
  WindowShape shape_;
  WindowWorkspace<Accumulate> workspace_;
};

template <class Value, class Output>
std::unique_ptr<DeviceSpmm> windows_of(const SpmmProblem& problem) {
  using Types = SpmmTypes<Value, Output>;
  return std::make_unique<TypedSpmm<Types, DenseWindows<Types>>>(problem);
}

}  // namespace

std::string why_no_dense_windows(const SpmmProblem& problem) {
  constexpr double kManyElements = 1e8, kFewestInAWindow = 2.5;
  const CsrMatrix& a = problem.a;
  const double elements = static_cast<double>(a.rows()) * static_cast<double>(a.cols());
  const WindowKind kind = window_kind_of(problem.b);
  const double windows = elements / (kTileRows * window_cols_of(kind));
  if (elements > kManyElements && static_cast<double>(a.nnz()) < kFewestInAWindow * windows) {
    return "most windows of A would be empty: it has " + std::to_string(a.nnz()) + " nonzeros in " +
           std::to_string(a.rows()) + " x " + std::to_string(a.cols());
  }
  const int has = current_shared_bytes();
  const int needs =
      kind == WindowKind::f64 ? f64_window_shared_bytes() : halves_window_shared_bytes(kind);
  if (has < needs) {
    return "a block needs " + std::to_string(needs) +
           " bytes of shared memory, this device gives it " + std::to_string(has);
  }
  return {};
}

std::unique_ptr<DeviceSpmm> make_device_dense_windows(const SpmmProblem& problem) {
  if (const std::string reason = why_no_dense_windows(problem); !reason.empty()) {
    throw UsageError("dense_windows cannot do this: " + reason + "; use row_bins, or auto");
  }
  const bool is_narrow_c = problem.c == problem.b;
  switch (problem.b) {
    case ValueKind::f64: return windows_of<double, double>(problem);
    case ValueKind::f16:
      return is_narrow_c ? windows_of<f16, f16>(problem) : windows_of<f16, float>(problem);
    case ValueKind::bf16:
      return is_narrow_c ? windows_of<bf16, bf16>(problem) : windows_of<bf16, float>(problem);
    default: return windows_of<float, float>(problem);
  }
}

}  // namespace csrkit::gpu
