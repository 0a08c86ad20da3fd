// dense_windows: windows of A as dense matrices, multiplied by tensor cores, as a kernel of the
// table.

#include "gpu/spmm/dense_windows/dense_windows.h"

#include <type_traits>

#include "gpu/device/device_info.h"
#include "gpu/spmm/dense_windows/workspace.h"

namespace csrkit::gpu {

namespace {

template <class Types>
class DenseWindows {
  using T = typename Types::Value;
  static constexpr WindowKind kKind = std::is_same_v<T, double> ? WindowKind::f64 : WindowKind::f32;
  static constexpr WindowWorkspace<T>* kNowhere = nullptr;

 public:
  std::uint64_t workspace_bytes(const SpmmSizes& sizes) const {
    return lay_out_windows(WindowShape(sizes, kKind), nullptr, kNowhere, nullptr);
  }
  std::uint64_t analysis_bytes(const SpmmSizes& sizes) const {
    std::uint64_t bytes = 0;
    lay_out_windows(WindowShape(sizes, kKind), nullptr, kNowhere, &bytes);
    return bytes;
  }
  void adopt(const SpmmSizes& sizes, void* workspace) {
    shape_ = WindowShape(sizes, kKind);
    lay_out_windows(shape_, static_cast<std::byte*>(workspace), &workspace_, nullptr);
  }
  void analyse(const DeviceCsrView<T>& a, const SpmmSizes& sizes, void* workspace,
               cudaStream_t stream) {
    adopt(sizes, workspace);
    fill_windows(a, shape_, workspace_, stream);
  }
  void finish_analysis(void*, cudaStream_t) const {}

  void launch(const DeviceCsrView<T>& a, const DeviceDenseView<const T>& b,
              const DeviceDenseView<T>& c, T alpha, T beta, void*, cudaStream_t stream) const {
    if (shape_.blocks == 0) return;
    multiply_by_windows(WindowOperands<T>{a, b, c, alpha, beta, shape_, workspace_}, stream);
  }

  std::string choice() const {
    return std::to_string(shape_.row_tiles) + " x " + std::to_string(shape_.windows) +
           " windows of " + std::to_string(kTileRows) + " x " + std::to_string(shape_.window_cols) +
           ", tiles of " + std::to_string(shape_.tile_cols) + " columns of C";
  }

 private:
  WindowShape shape_;
  WindowWorkspace<T> workspace_;
};

}  // namespace

std::string why_no_dense_windows(const SpmmProblem& problem) {
  constexpr double kManyElements = 1e8, kFewestInAWindow = 2.5;
  const CsrMatrix& a = problem.a;
  const double elements = static_cast<double>(a.rows()) * static_cast<double>(a.cols());
  const bool is_f64 = problem.b == ValueKind::f64;
  const double windows =
      elements / (kTileRows * window_cols_of(is_f64 ? WindowKind::f64 : WindowKind::f32));
  if (elements > kManyElements && static_cast<double>(a.nnz()) < kFewestInAWindow * windows) {
    return "most windows of A would be empty: it has " + std::to_string(a.nnz()) + " nonzeros in " +
           std::to_string(a.rows()) + " x " + std::to_string(a.cols());
  }
  const int has = current_shared_bytes();
  const int needs = is_f64 ? window_shared_bytes<double>() : window_shared_bytes<float>();
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
  return typed_wide_spmm<DenseWindows>(problem);
}

}  // namespace csrkit::gpu
