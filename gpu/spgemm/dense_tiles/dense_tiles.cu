// dense_tiles: C = A B where B is nearly dense: rows of B are expanded to dense tiles in shared
// memory.
// Owns     the order of work: bits of B -> bits of C and its counts -> offsets -> columns and
//          values. The host waits once, for the number of entries of C
// Reads    see structure.cu and values.cu
// Launch   three small kernels, a scan, and one over tiles of C
// Needs    plus-times; why_no_dense_tiles names the matrices that are refused
// Against  adaptive_rows, which walks over every product three times, once with sums in shared
//          memory. Here the structure is a product of bits, and values are entries of A times dense
//          rows: nnz(A) times the columns of B multiplications, whatever B holds.
//          docs/results/h200/spgemm.md shows where that is less work

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "gpu/device/cub_scratch.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/workspace_layout.h"
#include "gpu/spgemm/dense_tiles/dense_tiles.h"
#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

namespace {

constexpr auto aligned = WorkspaceLayout::aligned;

/// Densities of A from which tensor cores are faster, although they multiply zeros; measured on an
/// H200, see docs/results/h200/spgemm.md.
constexpr double kLeastForTensorCores64 = 0.18, kLeastForTensorCores32 = 0.42;

/// Replaces rows + 1 counts by their exclusive sums.
template <class Sum>
void sum_counts(void* workspace, std::size_t bytes, const std::uint32_t* counts, Sum* sums,
                Index rows, cudaStream_t stream) {
  CHECK_CUDA(cub::DeviceScan::ExclusiveScan(workspace, bytes, counts, sums, cuda::std::plus<Sum>{},
                                            Sum{0}, Offset{rows} + 1, stream));
}

/// The arrays that are kept for new values, in one allocation.
struct Kept {
  DeviceBuffer<std::byte> bytes;
  SpreadColumns spread, spread_a, spread_c;
  SpecialRows special;
  std::uint32_t* counts = nullptr;
  Index* order = nullptr;
  void* scan = nullptr;

  static std::uint64_t starts_bytes(Index rows, Index cols) {
    return static_cast<std::uint64_t>(rows) *
           (static_cast<std::uint64_t>(ColumnBits::quads_for(cols)) + 1) * 4;
  }
  static std::uint64_t spread_bytes(Index rows, Index cols) {
    return aligned(ColumnBits::bytes_for(rows, cols)) + aligned(starts_bytes(rows, cols));
  }
  /// `with_a`: A's bits as well, for tensor cores.
  static std::uint64_t bytes_for(Index rows, Index inner, Index cols, bool with_a) {
    const auto n = static_cast<std::uint64_t>(rows);
    return spread_bytes(inner, cols) + (with_a ? spread_bytes(rows, inner) : 0) +
           spread_bytes(rows, cols) + aligned((n + 1) * 4) + 2 * aligned(n * 4) + aligned(n) +
           aligned(8) + aligned(scan_scratch_bound(Offset{rows} + 1));
  }

  Kept() = default;
  Kept(DeviceMemory& memory, Index rows, Index inner, Index cols, bool with_a)
      : bytes(memory, static_cast<Offset>(bytes_for(rows, inner, cols, with_a)),
              "the workspace of dense_tiles") {
    std::byte* next = bytes.data();
    const auto take = [&](auto*& array, std::uint64_t size) {
      array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
      next += aligned(size);
    };
    spread.bits.quads = spread_c.bits.quads = ColumnBits::quads_for(cols);
    spread_a.bits.quads = ColumnBits::quads_for(inner);
    const auto n = static_cast<std::uint64_t>(rows);
    take(spread.bits.quads_of_rows, ColumnBits::bytes_for(inner, cols));
    take(spread.starts, starts_bytes(inner, cols));
    if (with_a) {
      take(spread_a.bits.quads_of_rows, ColumnBits::bytes_for(rows, inner));
      take(spread_a.starts, starts_bytes(rows, inner));
    }
    take(spread_c.bits.quads_of_rows, ColumnBits::bytes_for(rows, cols));
    take(spread_c.starts, starts_bytes(rows, cols));
    take(counts, (n + 1) * 4);
    take(order, n * 4);
    take(special.rows, n * 4);
    take(special.is_special, n);
    take(special.counts, 8);
    scan = next;
  }
};

template <class Value>
class DenseTilesProduct final : public DeviceSpgemm {
 public:
  /// Uses tensor cores if `prefers_tensor_cores` and the device has them for f64.
  explicit DenseTilesProduct(bool prefers_tensor_cores) : on_tensor_cores_(prefers_tensor_cores) {}

  ~DenseTilesProduct() override {
    if (last_offset_ != nullptr) CHECK_CUDA_NOEXCEPT(cudaFreeHost(last_offset_));
  }

  std::uint64_t forecast_bytes(const SpgemmSizes& sizes) const override {
    return Kept::bytes_for(sizes.rows, sizes.inner, sizes.cols, on_tensor_cores_) +
           csr_bytes(sizes.rows, sizes.counts.output_bound, kValueKindOf<Value>);
  }

  void multiply(const SpgemmOperands& op, DeviceMemory& memory, DeviceProduct& c,
                PhaseMarks* marks) override {
    const auto begin = [&](SpgemmPhase phase) {
      if (marks != nullptr) marks->begin(phase);
    };
    begin(SpgemmPhase::analysis);
    if (is_empty(op)) return make_nothing(memory, c);
    look_at_device(memory.device());
    Kept kept(memory, op.a.rows, op.b.rows, op.b.cols, spreads_a(op));
    begin(SpgemmPhase::symbolic);
    find_structure(op, kept, memory.stream());
    sum_up(kept, memory, c);
    begin(SpgemmPhase::numeric);
    if (c.nnz > 0) make_values(op, kept, c, c.col_indices.data(), memory);
  }

  bool can_reuse() const override { return true; }

  void prepare_values(const SpgemmOperands& op, DeviceMemory& memory, DeviceProduct&) override {
    kept_ = {};
    if (is_empty(op)) return;
    kept_ = Kept(memory, op.a.rows, op.b.rows, op.b.cols, spreads_a(op));
    find_structure(op, kept_, memory.stream());
  }

  void multiply_values(const SpgemmOperands& op, DeviceMemory& memory, DeviceProduct& c) override {
    if (c.nnz > 0) make_values(op, kept_, c, nullptr, memory);
  }

  std::string choice() const override {
    return on_tensor_cores_ ? "all rows in dense tiles on tensor cores" : "all rows in dense tiles";
  }

 private:
  void look_at_device(int device) {
    int major = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    on_tensor_cores_ = on_tensor_cores_ && major >= 9;
  }

  static bool is_empty(const SpgemmOperands& op) { return op.a.nnz == 0 || op.b.nnz == 0; }

  static void make_nothing(DeviceMemory& memory, DeviceProduct& c) {
    const Offset offsets = Offset{c.rows} + 1;
    c.narrow_offsets = DeviceBuffer<std::uint32_t>(memory, offsets, "the rows of C");
    CHECK_CUDA(cudaMemsetAsync(c.narrow_offsets.data(), 0, c.narrow_offsets.size_bytes(),
                               memory.stream()));
    c.allocate_entries(memory, 0);
  }

  static bool b_is_a(const SpgemmOperands& op) {
    return op.a.col_indices == op.b.col_indices && op.a.rows == op.b.rows;
  }
  bool spreads_a(const SpgemmOperands& op) const { return on_tensor_cores_ && !b_is_a(op); }

  void find_structure(const SpgemmOperands& op, const Kept& kept, cudaStream_t stream) const {
    const DeviceCsrView<float> a = op.a.as<float>(), b = op.b.as<float>();  // values are not read
    spread_columns(b, kept.spread, stream);
    if (spreads_a(op)) spread_columns(a, kept.spread_a, stream);
    if (!on_tensor_cores_) order_by_length(a, kept.order, stream);
    mark_columns(a, kept.spread.bits, b.cols, kept.spread_c, kept.counts, stream);
  }

  /// Makes the offsets of C, waits for its number of entries, and allocates them.
  void sum_up(const Kept& kept, DeviceMemory& memory, DeviceProduct& c) {
    const cudaStream_t stream = memory.stream();
    if (last_offset_ == nullptr) CHECK_CUDA(cudaMallocHost(&last_offset_, sizeof(Offset)));
    *last_offset_ = 0;
    const auto bytes = static_cast<std::size_t>(scan_scratch_bound(Offset{c.rows} + 1));
    if (DeviceProduct::fits_narrow(Offset{c.rows} * c.cols)) {
      c.narrow_offsets = DeviceBuffer<std::uint32_t>(memory, Offset{c.rows} + 1, "the rows of C");
      sum_counts(kept.scan, bytes, kept.counts, c.narrow_offsets.data(), c.rows, stream);
      CHECK_CUDA(cudaMemcpyAsync(last_offset_, c.narrow_offsets.data() + c.rows, 4,
                                 cudaMemcpyDeviceToHost, stream));
    } else {
      c.wide_offsets = DeviceBuffer<Offset>(memory, Offset{c.rows} + 1, "the rows of C");
      auto* sums = reinterpret_cast<unsigned long long*>(c.wide_offsets.data());
      sum_counts(kept.scan, bytes, kept.counts, sums, c.rows, stream);
      CHECK_CUDA(cudaMemcpyAsync(last_offset_, sums + c.rows, 8, cudaMemcpyDeviceToHost, stream));
    }
    CHECK_CUDA(cudaStreamSynchronize(stream));
    // also right for 32-bit offsets: the low 4 bytes come first, the others are 0
    c.allocate_entries(memory, *last_offset_);
  }

  void make_values(const SpgemmOperands& op, const Kept& kept, const DeviceProduct& c,
                   Index* col_indices, DeviceMemory& memory) const {
    DenseTiles<Value> tiles = {op.a.as<Value>(),
                               op.b.as<Value>(),
                               kept.spread,
                               b_is_a(op) ? kept.spread : kept.spread_a,
                               kept.spread_c,
                               kept.order,
                               nullptr,
                               kept.special.is_special,
                               {c.narrow_offsets.data(), c.wide_offsets.data()},
                               col_indices,
                               reinterpret_cast<Value*>(c.values.data()),
                               static_cast<Value>(op.alpha)};
    if (on_tensor_cores_) {
      find_special_rows(tiles, kept.special, memory.stream());
      multiply_dense_tiles(tiles, op.alpha, memory.stream());
      tiles.order = kept.special.rows;  // the special rows, mostly none
      tiles.listed = kept.special.counts;
    }
    make_dense_tiles(tiles, memory.device(), memory.stream());
  }

  bool on_tensor_cores_;
  Kept kept_;                      // for new values
  Offset* last_offset_ = nullptr;  // page-locked, so that the copy is asynchronous and short
};

}  // namespace

std::string why_no_dense_tiles(const SpgemmProblem& problem) {
  if (problem.semiring != Semiring::plus_times) {
    return std::string("it knows plus-times, not ") + name_of(problem.semiring);
  }
  constexpr std::uint64_t kAlways = 48u << 20;
  const Index rows = problem.a.rows(), inner = problem.a.cols(), cols = problem.output_cols();
  const std::uint64_t operands =
      csr_bytes(rows, problem.a.nnz(), problem.c) + csr_bytes(inner, problem.b.nnz(), problem.c);
  const std::uint64_t bits = Kept::bytes_for(rows, inner, cols, true);
  const std::uint64_t most = std::max(kAlways, operands / 2);
  if (bits <= most) return {};
  return "the columns of A, B and C as bits take " + std::to_string(bits) +
         " bytes, which pays up to " + std::to_string(most) + " for operands of this size";
}

std::unique_ptr<DeviceSpgemm> make_dense_tiles(const SpgemmProblem& problem, bool on_tensor_cores) {
  if (const std::string reason = why_no_dense_tiles(problem); !reason.empty()) {
    throw UsageError("dense_tiles cannot do this: " + reason + "; use adaptive_rows, or auto");
  }
  if (problem.c == ValueKind::f64) {
    return std::make_unique<DenseTilesProduct<double>>(on_tensor_cores);
  }
  return std::make_unique<DenseTilesProduct<float>>(on_tensor_cores);
}

std::unique_ptr<DeviceSpgemm> make_device_dense_tiles(const SpgemmProblem& problem) {
  const double places = static_cast<double>(problem.a.rows()) * problem.a.cols();
  const double least =
      problem.c == ValueKind::f64 ? kLeastForTensorCores64 : kLeastForTensorCores32;
  return make_dense_tiles(problem, static_cast<double>(problem.a.nnz()) >= least * places);
}

}  // namespace csrkit::gpu
