// csr_balanced: pieces of equally much work, whatever the rows are like.
// Owns     the first row of each piece, one part and one counter for pieces that cut a row
// Reads    columns and values once, coalesced; row offsets twice, from L2
// Launch   one block a piece. A piece's work counts entries and rows, as in merge path, so that
//          runs of empty rows are cut as well. Products go to shared memory, then as many lanes as
//          the piece's rows are long add up each row. Only rows longer than a piece are cut: the
//          block that brings the last part of such a row adds up the parts in their order, so that
//          the same bits come out every time, without a second kernel and without float atomics
// Needs    nothing: this is the kernel for what is irregular
// Source   Merrill, Garland: Merge-based parallel sparse matrix-vector multiplication, SC 2016 (how
//          work is counted); Greathouse, Daga: Efficient sparse matrix-vector multiplication on
//          GPUs using the CSR storage format, SC 2014 (products in shared memory, rows added up
//          there)
// Against  sell on regular matrices; vendor_cusparse
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

/// How the work positions 0 ... nnz + rows are cut into pieces of `size`. Row r owns the positions
/// begin(r) + r ... end(r) + r: one for each entry, then one for itself. A row with more than
/// `size` positions is cut where the boundaries fall; any other belongs to the piece of its last
/// position.
struct PieceMap {
  Offset count = 0;
  int size = 0;
  Offset total = 0;
  const Index* first_rows = nullptr;  // count + 1: the row that owns position piece * size
};

namespace balanced {

inline constexpr int kThreads = 256, kWarps = kThreads / kWarpLanes;

/// A row with more products than this for each of its lanes gets a warp; there are at most so many.
inline constexpr int kLongPerLane = 16, kLargestPiece = 1024;
inline constexpr int kMostLongRows = 2 * kLargestPiece / kLongPerLane;

__device__ inline bool is_cut(Offset length, int size) { return length + 1 > size; }

/// The entries and rows of a piece.
struct Piece {
  Index first_row;
  Index rows;
  Offset begin, end;
  bool first_is_cut, last_is_cut;
};

template <class Value>
__device__ Piece piece_of(const DeviceCsrView<Value>& a, const PieceMap& map, Offset index) {
  Piece piece = {};
  piece.first_row = map.first_rows[index];
  const Index next = map.first_rows[index + 1];
  const Offset first_position = index * map.size;
  const Offset last_position = min(first_position + map.size, map.total);
  piece.rows = next - piece.first_row;
  piece.begin = a.row_begin(piece.first_row);
  piece.end = a.row_begin(next);
  if (piece.first_row < a.rows) {
    const Offset skipped = first_position - (piece.begin + piece.first_row);
    piece.first_is_cut = is_cut(a.row_end(piece.first_row) - piece.begin, map.size);
    if (skipped > 0 && piece.first_is_cut) piece.begin += skipped;
  }
  if (next < a.rows) {
    const Offset taken = last_position - (piece.end + next);
    piece.last_is_cut = taken > 0 && is_cut(a.row_end(next) - piece.end, map.size);
    if (piece.last_is_cut) {
      piece.end += taken;
      ++piece.rows;
    }
  }
  return piece;
}

/// Parts of cut rows: a piece has at most one row that came into it, and one that leaves it.
__device__ inline Offset part_slot(Offset piece, Offset first_piece) {
  return 2 * piece + (piece == first_piece ? 1 : 0);
}

/// 1 in the first piece of a cut row, which the row leaves, else 0: it came in.
template <class Value>
__device__ inline int is_first_piece(const DeviceCsrView<Value>& a, const PieceMap& map, Index row,
                                     Offset piece) {
  return (a.row_begin(row) + row) / map.size == piece ? 1 : 0;
}

/// The block adds up the parts of a cut row, if its own was the last to come. `scratch` has room
/// for kThreads numbers.
template <class Types, class Algebra>
__device__ void finish_cut_row(Index row, Offset length, Offset begin, Offset piece, int size,
                               typename Types::Number part, typename Types::Number* parts,
                               unsigned* arrivals, typename Types::Number* scratch,
                               const OutputUpdate<Types>& y, const Algebra& algebra) {
  using Number = typename Types::Number;
  __shared__ bool is_last;
  const Offset first_piece = (begin + row) / size;
  const Offset last_piece = (begin + row + length) / size;
  __syncthreads();  // scratch and is_last are free
  if (threadIdx.x == 0) {
    parts[part_slot(piece, first_piece)] = part;
    __threadfence();
    const auto wanted = static_cast<unsigned>(last_piece - first_piece);
    is_last = atomicAdd(arrivals + first_piece, 1u) == wanted;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  Number sum = algebra.empty_sum();
  for (Offset from = first_piece + threadIdx.x; from <= last_piece; from += kThreads) {
    sum = algebra.add(sum, __ldcg(parts + part_slot(from, first_piece)));
  }
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int apart = kThreads / 2; apart > 0; apart /= 2) {
    if (static_cast<int>(threadIdx.x) < apart) {
      scratch[threadIdx.x] = algebra.add(scratch[threadIdx.x], scratch[threadIdx.x + apart]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    y.store(row, scratch[0]);
    arrivals[first_piece] = 0;  // for the next product
  }
}

template <class Types>
__global__ void __launch_bounds__(kThreads)
    multiply_pieces(DeviceCsrView<typename Types::Value> a, PieceMap map,
                    InputVector<typename Types::Vector> x, OutputUpdate<Types> y,
                    AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra,
                    typename Types::Number* parts, unsigned* arrivals) {
  using Number = typename Types::Number;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ Number cut_sums[2];  // of the row that came in, and of the row that leaves
  __shared__ int long_rows[kMostLongRows];
  __shared__ int long_row_count;
  const int thread = static_cast<int>(threadIdx.x);
  const Offset index = blockIdx.x;
  const Piece piece = piece_of(a, map, index);
  const int entries = static_cast<int>(piece.end - piece.begin);
  Number* const products = reinterpret_cast<Number*>(shared_bytes);
  int* const starts =
      reinterpret_cast<int*>(products + entries);  // of rows, and the last one's end
  if (thread == 0) long_row_count = 0;

  // Offsets of rows come while the products do.
  for (int row = thread; row <= piece.rows; row += kThreads) {
    const Offset start = a.row_begin(piece.first_row + row) - piece.begin;
    starts[row] = static_cast<int>(min(max(start, Offset{0}), Offset{entries}));
  }
  constexpr int kBatch = 4;
  for (int at = thread; at < entries; at += kThreads * kBatch) {
    Index cols[kBatch];
    Number values[kBatch];
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const int entry = at + u * kThreads;
      if (entry >= entries) continue;
      cols[u] = load_once(a.col_indices + piece.begin + entry);
      values[u] = value_of<Number>(a.values, piece.begin + entry);
    }
#pragma unroll
    for (int u = 0; u < kBatch; ++u) {
      const int entry = at + u * kThreads;
      if (entry >= entries) continue;
      const Number factor = x.template at<Number>(cols[u]);
      products[entry] = algebra.add_product(algebra.empty_sum(), values[u], factor);
    }
  }
  __syncthreads();

  const auto store = [&](int row, Number sum) {
    if (row == 0 && piece.first_is_cut) {
      cut_sums[is_first_piece(a, map, piece.first_row, index)] = sum;
    } else if (row == piece.rows - 1 && piece.last_is_cut) {
      cut_sums[1] = sum;
    } else {
      y.store(piece.first_row + row, sum);
    }
  };
  // So many lanes a row that each adds up about four products; rows that are far longer than the
  // others get a warp afterwards.
  int lanes = 1;
  while (lanes < kWarpLanes && Offset{lanes} * 8 * piece.rows < entries) lanes *= 2;
  const int lane = thread & (lanes - 1), groups = kThreads / lanes, group = thread / lanes;
  for (int first = 0; first < piece.rows; first += groups) {
    const int row = first + group;
    const bool is_there = row < piece.rows;
    const int begin = is_there ? starts[row] : 0, end = is_there ? starts[row + 1] : 0;
    const bool is_long = end - begin > kLongPerLane * lanes;
    Number sum = algebra.empty_sum();
    if (!is_long) {
      for (int at = begin + lane; at < end; at += lanes) sum = algebra.add(sum, products[at]);
    }
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
      sum = algebra.add(sum, __shfl_xor_sync(kAllLanes, sum, apart));
    }
    if (!is_there || lane != 0) continue;
    if (is_long) {
      long_rows[atomicAdd(&long_row_count, 1)] = row;
    } else {
      store(row, sum);
    }
  }
  __syncthreads();
  for (int i = thread / kWarpLanes; i < long_row_count; i += kWarps) {
    Number sum = algebra.empty_sum();
    for (int at = starts[long_rows[i]] + thread % kWarpLanes; at < starts[long_rows[i] + 1];
         at += kWarpLanes) {
      sum = algebra.add(sum, products[at]);
    }
#pragma unroll
    for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) {
      sum = algebra.add(sum, __shfl_xor_sync(kAllLanes, sum, apart));
    }
    if (thread % kWarpLanes == 0) store(long_rows[i], sum);
  }
  if (!piece.first_is_cut && !piece.last_is_cut) return;  // the whole block
  __syncthreads();

  const auto finish = [&](Index row) {
    const Offset begin = a.row_begin(row), length = a.row_end(row) - begin;
    finish_cut_row<Types>(row, length, begin, index, map.size,
                          cut_sums[is_first_piece(a, map, row, index)], parts, arrivals, products,
                          y, algebra);
  };
  if (piece.first_is_cut) finish(piece.first_row);
  const Index last_row = piece.first_row + piece.rows - 1;
  if (piece.last_is_cut && !(piece.first_is_cut && piece.rows == 1)) finish(last_row);
}

}  // namespace balanced

/// Where pieces begin, on the device.
class PieceStarts {
 public:
  void make(const DeviceCsrView<void>& a, DeviceMemory& memory, Offset part_bytes);

  const PieceMap& map() const { return map_; }
  std::uint64_t bytes() const { return first_rows_.size_bytes(); }
  void* parts() const { return parts_.data(); }
  unsigned* arrivals() const { return arrivals_.data(); }

 private:
  PieceMap map_;
  DeviceBuffer<Index> first_rows_;
  DeviceBuffer<std::byte> parts_;
  DeviceBuffer<unsigned> arrivals_;
};

template <class Types>
class CsrBalanced {
 public:
  explicit CsrBalanced(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    a_ = std::move(a);
    starts_.make(a_.view<void>(), memory, 2 * sizeof(Number));
  }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    const PieceMap& map = starts_.map();
    // Fewer than two sizes of entries and rows: a product for an entry, 4 bytes for a row.
    const std::size_t shared = 2 * static_cast<std::size_t>(map.size) * sizeof(Number) + 16;
    balanced::multiply_pieces<Types>
        <<<static_cast<unsigned>(map.count), balanced::kThreads, shared, stream>>>(
            a_.view<typename Types::Value>(), map, x, y, algebra_,
            static_cast<Number*>(starts_.parts()), starts_.arrivals());
    CHECK_LAUNCH("multiply_pieces", stream);
  }
  std::uint64_t stored_bytes() const { return csr_bytes_of(a_) + starts_.bytes(); }
  std::string choice() const {
    return std::to_string(starts_.map().count) + " pieces of " + std::to_string(starts_.map().size);
  }

 private:
  using Number = typename Types::Number;
  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  DeviceCsr a_;
  PieceStarts starts_;
};

}  // namespace csrkit::gpu
