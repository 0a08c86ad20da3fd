// csr_balanced: pieces of equal work, whatever the rows are.
// Owns     where each piece begins; a part and a counter for pieces that cut a row
// Reads    columns and values once, coalesced; row offsets of a piece meanwhile
// Launch   one block a piece, as many blocks as multiprocessors hold at once where that is enough.
//          A piece's work counts entries and rows, as in merge path, so that runs of empty rows are
//          cut as well. Only three loads depend on each other: the piece, its columns, x. Products
//          go to shared memory, then several lanes, by the length of the piece's rows, add up each
//          row. Only rows longer than half a piece are cut: the block with the last part to arrive
//          adds up the parts in order, so the bits are the same in every run, without a second
//          kernel or float atomics
// Needs    nothing: this is the kernel for irregular matrices Source Merrill, Garland: Merge-based
//          parallel sparse matrix-vector multiplication, SC 2016 (how work is counted); Greathouse,
//          Daga: Efficient sparse matrix-vector multiplication on GPUs using the CSR storage
//          format, SC 2014 (products in shared memory, rows added up there)
// Against  sell on regular matrices; vendor_cusparse
#pragma once

#include "core/base/counted.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/csr_balanced/pieces.h"
#include "gpu/spmv/device_spmv.h"

namespace csrkit::gpu {

namespace balanced {

/// Loads in flight per thread: all entries of a piece, and most pieces' row offsets.
inline constexpr int kEntriesAtOnce = 4, kRowsAtOnce = 4;

/// A row with more products than this for each of its lanes gets a warp; there are at most so many.
inline constexpr int kLongPerLane = 16;
inline constexpr int kMostLongRows = 2 * kLargestPiece / kLongPerLane;

/// A row of which this piece has a part. Parts are stored at 2 * piece for pieces that the row
/// continues into, and at 2 * piece + 1 for the one where it begins.
struct CutRow {
  Index row;
  Offset first_piece, last_piece;
  bool is_complete;  // this block brought the last part
};

/// By one thread: stores a part; returns whether it was the last.
template <class Number>
__device__ CutRow bring_part(Index row, Offset begin, Offset end, int size, Offset place,
                             Number part, Number* parts, unsigned* arrivals) {
  CutRow cut = {row, (begin + row) / size, (end + row) / size, false};
  parts[place] = part;
  __threadfence();
  const auto others = static_cast<unsigned>(cut.last_piece - cut.first_piece);
  cut.is_complete = atomicAdd(arrivals + cut.first_piece, 1u) == others;
  __threadfence();
  return cut;
}

/// The block adds up all parts of a row; `scratch` has room for kThreads numbers.
template <class Types, class Algebra>
__device__ void finish_row(const CutRow& cut, const typename Types::Number* parts,
                           unsigned* arrivals, typename Types::Number* scratch,
                           const OutputUpdate<Types>& y, const Algebra& algebra) {
  const int thread = static_cast<int>(threadIdx.x);
  typename Types::Number sum = algebra.empty_sum();
  for (Offset piece = cut.first_piece + thread; piece <= cut.last_piece; piece += kThreads) {
    sum = algebra.add(sum, __ldcg(parts + 2 * piece + (piece == cut.first_piece ? 1 : 0)));
  }
  scratch[thread] = sum;
  __syncthreads();
  for (int apart = kThreads / 2; apart > 0; apart /= 2) {
    if (thread < apart) scratch[thread] = algebra.add(scratch[thread], scratch[thread + apart]);
    __syncthreads();
  }
  if (thread == 0) {
    y.store(cut.row, scratch[0]);
    arrivals[cut.first_piece] = 0;  // for the next product
  }
}

__device__ inline PieceStart load_start(const PieceStart* from) {
  const auto words = load_kept<4>(reinterpret_cast<const std::uint32_t*>(from));
  PieceStart start;
  memcpy(&start, &words, sizeof start);
  return start;
}

template <class Types>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    multiply_pieces(DeviceCsrView<typename Types::Value> a, PieceMap map,
                    InputVector<typename Types::Vector> x, OutputUpdate<Types> y,
                    AlgebraFor<typename Types::Number, Types::kIsPlusTimes> algebra,
                    typename Types::Number* parts, unsigned* arrivals) {
  using Number = typename Types::Number;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ Number cut_sums[2];  // of the row that came in, and of the one that began and leaves
  __shared__ CutRow cut_rows[2];
  __shared__ int long_rows[kMostLongRows];
  __shared__ int long_row_count;
  const int thread = static_cast<int>(threadIdx.x);
  const PieceStart start = load_start(map.starts + blockIdx.x);
  const PieceStart next = load_start(map.starts + blockIdx.x + 1);
  const bool came_in = start.cuts != 0, leaves = next.cuts != 0;
  const Index rows = next.row - start.row + (leaves ? 1 : 0);
  const int entries = static_cast<int>(next.entry - start.entry);
  Number* const products = reinterpret_cast<Number*>(shared_bytes);
  int* const row_starts = reinterpret_cast<int*>(products + entries);  // and the last one's end
  if (thread < 2) cut_rows[thread].is_complete = false;
  if (thread == 0) long_row_count = 0;

  // A thread issues all its loads (columns, values, row offsets) before it uses one.
  const Index* const piece_cols = a.col_indices + start.entry;
  // Rows have fewer than 2^31 entries, so 32 bits hold what lies between two offsets.
  const auto offset_of = [&](int row) {
    return static_cast<int>(static_cast<std::uint32_t>(a.row_begin(start.row + row)) -
                            static_cast<std::uint32_t>(start.entry));
  };
  const auto put_row = [&](int row, int from) { row_starts[row] = min(max(from, 0), entries); };
  for (int base = 0; base < max(entries, 1); base += kThreads * kEntriesAtOnce) {
    Index cols[kEntriesAtOnce];
    Number values[kEntriesAtOnce];
    int offsets[kRowsAtOnce];
#pragma unroll
    for (int u = 0; u < kEntriesAtOnce; ++u) {
      const int entry = base + u * kThreads + thread;
      cols[u] = entry < entries ? load_once(piece_cols + entry) : 0;
      values[u] = entry < entries ? value_of<Number>(a.values, start.entry + entry) : Number{};
    }
    if (base == 0) {
#pragma unroll
      for (int u = 0; u < kRowsAtOnce; ++u) {
        const int row = u * kThreads + thread;
        offsets[u] = row <= rows ? offset_of(row) : 0;
      }
    }
#pragma unroll
    for (int u = 0; u < kEntriesAtOnce; ++u) {
      const int entry = base + u * kThreads + thread;
      if (entry >= entries) continue;
      const Number factor = x.template at<Number>(cols[u]);
      products[entry] = algebra.add_product(algebra.empty_sum(), values[u], factor);
    }
    if (base > 0) continue;
#pragma unroll
    for (int u = 0; u < kRowsAtOnce; ++u) {
      const int row = u * kThreads + thread;
      if (row <= rows) put_row(row, offsets[u]);
    }
  }
  for (int row = kThreads * kRowsAtOnce + thread; row <= rows; row += kThreads) {
    put_row(row, offset_of(row));
  }
  __syncthreads();

  const auto store = [&](int row, Number sum) {
    if (row == 0 && came_in) {
      cut_sums[0] = sum;
    } else if (row == rows - 1 && leaves) {
      cut_sums[1] = sum;
    } else {
      y.store(start.row + row, sum);
    }
  };
  // As many lanes a row that each adds up about four products; much longer rows get a warp
  // afterwards.
  int lanes = 1;
  while (lanes < kWarpLanes && lanes * 8 * rows < entries) lanes *= 2;
  const int lane = thread & (lanes - 1), groups = kThreads / lanes, group = thread / lanes;
  for (int first = 0; first < rows; first += groups) {
    const int row = first + group;
    const bool is_there = row < rows;
    const int begin = is_there ? row_starts[row] : 0, end = is_there ? row_starts[row + 1] : 0;
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
    for (int at = row_starts[long_rows[i]] + thread % kWarpLanes; at < row_starts[long_rows[i] + 1];
         at += kWarpLanes) {
      sum = algebra.add(sum, products[at]);
    }
#pragma unroll
    for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) {
      sum = algebra.add(sum, __shfl_xor_sync(kAllLanes, sum, apart));
    }
    if (thread % kWarpLanes == 0) store(long_rows[i], sum);
  }
  if (!came_in && !leaves) return;  // the whole block
  __syncthreads();
  const auto bring = [&](int which, Index row) {
    const Offset place = Offset{2} * blockIdx.x + which;
    cut_rows[which] = bring_part(row, a.row_begin(row), a.row_end(row), map.size, place,
                                 cut_sums[which], parts, arrivals);
  };
  if (thread == 0 && came_in) bring(0, start.row);
  if (thread == kWarpLanes && leaves && !(came_in && rows == 1)) bring(1, next.row);
  for (const CutRow& cut : cut_rows) {
    __syncthreads();
    if (cut.is_complete) finish_row<Types>(cut, parts, arrivals, products, y, algebra);
  }
}

}  // namespace balanced

template <class Types>
class CsrBalanced {
 public:
  explicit CsrBalanced(Semiring semiring) : algebra_(semiring) {}

  void convert(DeviceCsr a, DeviceMemory& memory) {
    a_ = std::move(a);
    pieces_.make(a_.view<void>(), sizeof(Number), memory);
  }
  void launch(const InputVector<typename Types::Vector>& x, const OutputUpdate<Types>& y,
              cudaStream_t stream) const {
    const PieceMap& map = pieces_.map();
    balanced::multiply_pieces<Types>
        <<<static_cast<unsigned>(map.count), balanced::kThreads, pieces_.shared_bytes(), stream>>>(
            a_.view<typename Types::Value>(), map, x, y, algebra_,
            static_cast<Number*>(pieces_.parts()), pieces_.arrivals());
    CHECK_LAUNCH("multiply_pieces", stream);
  }
  std::uint64_t stored_bytes() const { return csr_bytes_of(a_) + pieces_.bytes(); }
  std::string choice() const {
    return counted(pieces_.map().count, "piece") + " of " + std::to_string(pieces_.map().size);
  }

 private:
  using Number = typename Types::Number;
  AlgebraFor<Number, Types::kIsPlusTimes> algebra_;
  DeviceCsr a_;
  Pieces pieces_;
};

}  // namespace csrkit::gpu
