// gather_mark: not a multiplication but a yardstick: gathers the rows of B that A names, in equal
// pieces, and sums them up.
// Owns     a group of 8, 16 or 32 lanes: 64 consecutive nonzeros, whatever their rows, and one
//          slice of the columns
// Reads    A coalesced, once per slice, passed on by shuffles; of B one, two or four aligned
//          vectors of 16 bytes per lane and nonzero, with up to eight vectors in flight
// Launch   128 threads, 7 blocks per multiprocessor (the fastest measured); slices of the columns
//          in the outer grid dimension
// Needs    rows of B that begin at multiples of 16 bytes: its capabilities say so
// Against  multiplications, which also have row ends, rows of unequal length and C. Its time bounds
//          every kernel that uses a row of B once per fetch; only reuse of rows within a
//          multiprocessor can be faster. `gather_mark` takes all columns at once,
//          `gather_mark_sliced` 256 bytes of B's rows at a time; the faster of the two is the mark

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/device/grid.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmm/lane_sums.cuh"
#include "gpu/spmm/marks/gather_mark.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 128;
constexpr int kBlocksPerMultiprocessor = 7;  // 72 registers: eight loads in flight, and no more
constexpr int kVectorBytes = 16;
constexpr int kSliceVectors = 16;  // gather_mark_sliced: 64 columns of f32

template <class Types, int kLanes, int kAccesses>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    gather_pieces(DeviceCsrView<typename Types::Value> a,
                  DeviceDenseView<const typename Types::Value> b, unsigned row_bytes,
                  float* piece_sums, Offset first_slice) {
  using Number = typename Types::Accumulate;
  using Value = typename Types::Value;
  constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(Value));
  constexpr int kBatch = 8 / kAccesses;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned mask = lanes_of_group<kLanes>();
  const Offset piece = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const Offset begin = piece * kGatherMarkPieceEntries;
  if (begin >= a.nnz) return;
  const int entries = static_cast<int>(min(Offset{kGatherMarkPieceEntries}, a.nnz - begin));
  // Lanes beyond the last column read the first one, and drop what they make of it.
  const Offset column = ((first_slice + blockIdx.y) * kAccesses * kLanes + lane) * kWidth;
  const auto* from = reinterpret_cast<const std::byte*>(b.data + (column < b.cols ? column : 0));
  int more[kAccesses];  // distance in elements from the first access to the others
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
    more[i] = column + i * kLanes * kWidth < b.cols ? i * kLanes * kWidth : 0;
  }

  Sums<Types, kWidth> sums[kAccesses];
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) sums[i].clear();
  for (int done = 0; done < entries; done += kLanes) {
    Index my_col = 0;
    Number my_value = 0;
    if (done + lane < entries) {
      my_col = __ldg(a.col_indices + begin + done + lane);
      my_value = value_at<Types>(a, begin + done + lane);
    }
    const int here = min(kLanes, entries - done);
    for (int step = 0; step < here; step += kBatch) {
      const std::byte* rows[kBatch];
      Number x[kBatch];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {  // past the end: row 0 times 0, at most a batch of it
        rows[u] =
            from +
            std::uint64_t{static_cast<unsigned>(__shfl_sync(mask, my_col, step + u, kLanes))} *
                row_bytes;
        x[u] = __shfl_sync(mask, my_value, step + u, kLanes);
      }
      Pack<Value, kWidth> y[kBatch][kAccesses];
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
#pragma unroll
        for (int i = 0; i < kAccesses; ++i) {
          y[u][i] = load_kept<kWidth>(reinterpret_cast<const Value*>(rows[u]) + more[i]);
        }
      }
#pragma unroll
      for (int u = 0; u < kBatch; ++u) {
#pragma unroll
        for (int i = 0; i < kAccesses; ++i) sums[i].add_product(x[u], y[u][i]);
      }
    }
  }
  // Null in timed runs. The compiler cannot know that, so it keeps the loads.
  if (piece_sums == nullptr) return;
#pragma unroll
  for (int i = 0; i < kAccesses; ++i) {
    const Offset mine = column + i * kLanes * kWidth;
    if (mine >= b.cols) continue;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      piece_sums[piece * b.cols + mine + k] = static_cast<float>(sums[i].item[k]);
    }
  }
}

template <class Types, int kLanes, int kAccesses>
void launch_pieces(const DeviceCsrView<typename Types::Value>& a,
                   const DeviceDenseView<const typename Types::Value>& b, float* piece_sums,
                   cudaStream_t stream) {
  constexpr Offset kSlice = Offset{kLanes} * kAccesses * kVectorBytes /
                            static_cast<Offset>(sizeof(typename Types::Value));
  const Offset slices = (Offset{b.cols} + kSlice - 1) / kSlice;
  const Offset pieces = (a.nnz + kGatherMarkPieceEntries - 1) / kGatherMarkPieceEntries;
  const Offset blocks = (pieces * kLanes + kThreads - 1) / kThreads;
  const auto row_bytes = checked_cast<unsigned, UsageError>(
      b.leading_dim * static_cast<Offset>(sizeof(typename Types::Value)),
      "gather_mark: a row of B in bytes");
  if (blocks > kMaxIndex) throw UsageError("gather_mark: A has more nonzeros than a grid takes");
  for (Offset first = 0; first < slices; first += kMaxGridY) {
    const dim3 grid(static_cast<unsigned>(blocks),
                    static_cast<unsigned>(std::min(slices - first, kMaxGridY)));
    gather_pieces<Types, kLanes, kAccesses>
        <<<grid, kThreads, 0, stream>>>(a, b, row_bytes, piece_sums, first);
    CHECK_LAUNCH("gather_pieces", stream);
  }
}

template <class Types>
void gather(const DeviceCsrView<typename Types::Value>& a,
            const DeviceDenseView<const typename Types::Value>& b, bool is_sliced,
            float* piece_sums, cudaStream_t stream) {
  constexpr Offset kWidth = kVectorBytes / static_cast<Offset>(sizeof(typename Types::Value));
  if (a.nnz == 0 || b.cols == 0) return;
  if (b.cols % kWidth != 0 || b.leading_dim % kWidth != 0 ||
      reinterpret_cast<std::uintptr_t>(b.data) % kVectorBytes != 0) {
    throw UsageError("gather_mark reads B in vectors of " + std::to_string(kVectorBytes) +
                     " bytes; use a number of dense columns that is a multiple of " +
                     std::to_string(kWidth));
  }
  const Offset vectors = b.cols / kWidth;
  const Offset at_once = is_sliced ? std::min(vectors, Offset{kSliceVectors}) : vectors;
  if (at_once <= 8) return launch_pieces<Types, 8, 1>(a, b, piece_sums, stream);
  if (at_once <= 16) return launch_pieces<Types, 16, 1>(a, b, piece_sums, stream);
  if (at_once <= 32) return launch_pieces<Types, 32, 1>(a, b, piece_sums, stream);
  if (at_once <= 64) return launch_pieces<Types, 32, 2>(a, b, piece_sums, stream);
  launch_pieces<Types, 32, 4>(a, b, piece_sums, stream);
}

/// Runs under the plan of multiplications, so that it is timed alike. Does not write C.
class GatherMark final : public DeviceSpmm {
 public:
  GatherMark(ValueKind kind, bool is_sliced) : kind_(kind), is_sliced_(is_sliced) {}

  void launch(const DeviceCsrView<void>& a, const ConstDenseView& b, const DenseView&, double,
              double, void*, cudaStream_t stream) override {
    gather_for_mark(a, kind_, b, is_sliced_, nullptr, stream);
  }

 private:
  ValueKind kind_;
  bool is_sliced_;
};

}  // namespace

void gather_for_mark(const DeviceCsrView<void>& a, ValueKind kind, const ConstDenseView& b,
                     bool is_sliced, float* piece_sums, cudaStream_t stream) {
  const auto with_type = [&](auto tag) {
    using Value = typename decltype(tag)::type;
    using Types = SpmmTypes<Value, Value>;
    gather<Types>(a.as<Value>(), {b.as<Value>(), b.rows, b.cols, b.leading_dim}, is_sliced,
                  piece_sums, stream);
  };
  switch (kind) {
    case ValueKind::f32: return with_type(TypeTag<float>{});
    case ValueKind::f64: return with_type(TypeTag<double>{});
    case ValueKind::f16: return with_type(TypeTag<f16>{});
    case ValueKind::bf16: return with_type(TypeTag<bf16>{});
    case ValueKind::none: break;
  }
  throw UsageError("B cannot be of kind none");
}

std::unique_ptr<DeviceSpmm> make_device_gather_mark(const SpmmProblem& problem) {
  return std::make_unique<GatherMark>(problem.b, false);
}

std::unique_ptr<DeviceSpmm> make_device_gather_mark_sliced(const SpmmProblem& problem) {
  return std::make_unique<GatherMark>(problem.b, true);
}

}  // namespace csrkit::gpu
