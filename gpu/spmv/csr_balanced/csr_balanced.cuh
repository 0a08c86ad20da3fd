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

inline constexpr int kThreads = 128;

__device__ inline bool is_cut(Offset length, int size) { return length + 1 > size; }

/// The entries and rows of a piece.
struct Piece {
  Index first_row;
  Index rows;
  Offset begin, end;
};

template <class Value>
__device__ Piece piece_of(const DeviceCsrView<Value>& a, const PieceMap& map, Offset index) {
  Piece piece;
  piece.first_row = map.first_rows[index];
  const Index next = map.first_rows[index + 1];
  const Offset first_position = index * map.size;
  const Offset last_position = min(first_position + map.size, map.total);
  piece.rows = next - piece.first_row;
  piece.begin = a.row_begin(piece.first_row);
  if (piece.first_row < a.rows) {
    const Offset skipped = first_position - (piece.begin + piece.first_row);
    const Offset length = a.row_end(piece.first_row) - piece.begin;
    if (skipped > 0 && is_cut(length, map.size)) piece.begin += skipped;
  }
  piece.end = a.row_begin(next);
  if (next < a.rows) {
    const Offset taken = last_position - (piece.end + next);
    if (taken > 0 && is_cut(a.row_end(next) - piece.end, map.size)) {
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
  Number* const products = reinterpret_cast<Number*>(shared_bytes);
  const int thread = static_cast<int>(threadIdx.x);
  const Offset index = blockIdx.x;
  const Piece piece = piece_of(a, map, index);
  const int entries = static_cast<int>(piece.end - piece.begin);

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

  // Lanes a row: so many that each adds up about four products.
  int lanes = 1;
  while (lanes < kWarpLanes && Offset{lanes} * 4 * piece.rows < entries) lanes *= 2;
  const int lane = thread % lanes, groups = kThreads / lanes;
  for (Index first = 0; first < piece.rows; first += groups) {
    const Index row_in_piece = first + thread / lanes;
    const bool is_there = row_in_piece < piece.rows;
    const Index row = piece.first_row + row_in_piece;
    const Offset row_begin = is_there ? a.row_begin(row) : 0;
    const Offset row_end = is_there ? a.row_end(row) : 0;
    const int end = is_there ? static_cast<int>(min(row_end, piece.end) - piece.begin) : 0;
    const int begin = is_there ? static_cast<int>(max(row_begin, piece.begin) - piece.begin) : 0;
    Number sum = algebra.empty_sum();
    for (int at = begin + lane; at < end; at += lanes) sum = algebra.add(sum, products[at]);
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
      sum = algebra.add(sum, __shfl_xor_sync(kAllLanes, sum, apart));
    }
    if (!is_there || lane != 0) continue;
    if (!is_cut(row_end - row_begin, map.size)) {
      y.store(row, sum);
    } else {
      cut_sums[(row_begin + row) / map.size == index ? 1 : 0] = sum;
    }
  }
  __syncthreads();

  const Index last_row = piece.first_row + piece.rows - 1;
  for (Index row = piece.first_row; piece.rows > 0; row = last_row) {
    const Offset begin = a.row_begin(row), length = a.row_end(row) - begin;
    if (is_cut(length, map.size)) {
      const Number part = cut_sums[(begin + row) / map.size == index ? 1 : 0];
      finish_cut_row<Types>(row, length, begin, index, map.size, part, parts, arrivals, products, y,
                            algebra);
    }
    if (row == last_row) break;
  }
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
    const std::size_t shared = 2 * static_cast<std::size_t>(map.size) * sizeof(Number);
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
