// The device code of row_panels in 16 bits: the work of a warp on one panel, or a part of one.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/spmm/row_panels/launch.cuh"
#include "gpu/spmm/row_tasks/sums.cuh"

namespace csrkit::gpu {

namespace detail {

/// sums += x y: 16 x 16 times 16 x 8, 16 bits in, f32 out. A tensor core truncates when it adds, so
/// it only adds up these 16 products; `sums` are added with rounding to nearest. x: per column of
/// C's tile two entries a word, the first column's 0 and 1, the second's, then 2 and 3 of both.
__device__ inline void multiply_tile(float (&sums)[4], const Pack<bf16, 2> (&x)[4],
                                     const Pack<bf16, 2> (&y)[2]) {
  unsigned from[4], by[2];
  memcpy(from, x, sizeof from);
  memcpy(by, y, sizeof by);
  float tile[4];
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %10, %10, %10};"
      : "=f"(tile[0]), "=f"(tile[1]), "=f"(tile[2]), "=f"(tile[3])
      : "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]), "r"(by[0]), "r"(by[1]), "f"(0.0f));
#pragma unroll
  for (int i = 0; i < 4; ++i) sums[i] += tile[i];
}
/// f16 is passed as TF32, which represents all f16 numbers without subnormals: a tensor core does
/// not normalize subnormals and truncates other addends as if these were large.
__device__ inline void multiply_tile(float (&sums)[4], const Pack<f16, 2> (&x)[4],
                                     const Pack<f16, 2> (&y)[2]) {
  float tile[4] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const auto bits = [](f16 value) { return __float_as_uint(widen<float>(value)); };
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(tile[0]), "+f"(tile[1]), "+f"(tile[2]), "+f"(tile[3])
        : "r"(bits(x[2 * i].item[0])), "r"(bits(x[2 * i + 1].item[0])), "r"(bits(x[2 * i].item[1])),
          "r"(bits(x[2 * i + 1].item[1])), "r"(bits(y[i].item[0])), "r"(bits(y[i].item[1])));
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) sums[i] += tile[i];
}

/// Whether a list has subnormal bf16 numbers: tracks the smallest number that is not 0, by its
/// bits.
class SmallestSeen {
 public:
  __device__ void look_at(const Pack<bf16, 2>& pair) {
    unsigned bits;
    memcpy(&bits, &pair, sizeof bits);
    // 0 wraps to the largest.
    smallest_ = __viaddmin_u16x2(bits & 0x7fff7fffu, 0xffffffffu, smallest_);
  }
  __device__ void look_at(const Pack<f16, 2>&) {}
  __device__ bool is_subnormal() const {
    return (smallest_ & 0xffffu) < kNormal - 1 || smallest_ >> 16 < kNormal - 1;
  }
  __device__ static bool is_subnormal(bf16 value) {
    const unsigned size = value.bits & 0x7fffu;
    return size != 0 && size < kNormal;
  }
  __device__ static bool is_subnormal(f16) { return false; }

 private:
  static constexpr unsigned kNormal = 0x80;
  unsigned smallest_ = 0xffffffffu;
};

/// Copies 16 bytes to shared memory, through L1, because neighbouring panels share rows of B.
template <int kOffset>
__device__ inline void copy_vector(unsigned to, const std::byte* from) {
  asm volatile("cp.async.ca.shared.global [%0 + %2], [%1], 16;" ::"r"(to), "l"(from), "n"(kOffset)
               : "memory");
}
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
template <class Pair>
__device__ inline void load_transposed_tiles(Pair (&to)[4], unsigned from) {
  unsigned words[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
  memcpy(to, words, sizeof words);
}

}  // namespace detail

/// A warp's shared memory for wide slices: rows of B of two steps, later the sums. Rows of B are
/// swizzled so that vectors of eight rows use different banks; sums are placed so that the four
/// lanes of a column do.
struct alignas(128) PanelRing {
  static constexpr int kRows = 16, kVectors = 8;
  static constexpr int kStageBytes = kRows * kVectors * 16;
  static constexpr int kSumStride = 68;
  std::byte bytes[2 * kStageBytes];
  static_assert(kTiledPanelRows * kSumStride * 4 <= 2 * kStageBytes, "sums fit");

  __device__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(bytes));
  }
  __device__ static int place(int row, int vector) {
    return (row * kVectors + (vector ^ (row & 7))) * 16;
  }
};

/// A warp and its columns. A tensor core gets 16 columns of B as its rows, 16 entries of the list
/// as what is summed over, and the panel's eight rows as its columns. Rows and columns of a tile
/// may have any order, so lane 4 g + t takes of B the kCols columns from kCols g on, in the rows
/// that entries 4 t to 4 t + 3 name, as they lie there, and of A the values of row g in those
/// entries. It ends up with kCols neighbouring columns of rows 2 t and 2 t + 1 of C.
template <class Types, int kWidth, bool kScales>
struct PanelWarp {
  using Value = typename Types::Value;
  static constexpr int kCols = TiledPanelsKernels<Types, kWidth>::kLaneCols;
  static constexpr int kTiles = kCols / 2;  // of two columns a lane
  static constexpr int kStep = 16;          // entries in one tensor-core operation
  static constexpr int kEntries = 4;        // a lane's entries of a step
  using Row = Sums<Types, kCols>;
  using Tiles = float[kTiles][4];
  using Pair = Pack<Value, 2>;

  const RowPanelsOperands<Types>& op;
  const std::byte* b_column;  // this lane's columns in row 0 of B
  Index column;
  int cols;  // the number of existing columns

  __device__ PanelWarp(const RowPanelsOperands<Types>& operands, Index slice) : op(operands) {
    column = (slice * 8 + group()) * kCols;
    cols = max(0, min(kCols, op.c.cols - column));
    // Lanes beyond the last column read the first one, and drop the result.
    b_column = reinterpret_cast<const std::byte*>(op.b.data + (cols > 0 ? column : 0));
  }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarpLanes; }
  __device__ static int group() { return lane() / 4; }
  __device__ static int in_group() { return lane() % 4; }

  /// Loads this lane's columns of a row of B, two a word.
  struct Words {
    unsigned pair[kTiles];
  };
  __device__ Words load_b(Index row) const {
    const auto* from = reinterpret_cast<const Value*>(
        b_column + std::uint64_t{static_cast<unsigned>(row)} * op.row_bytes);
    Pack<Value, kCols> pack{};
    if constexpr (kWidth == 1) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) {
        if (i < cols) pack.item[i] = load_kept<1>(from + i).item[0];
      }
    } else {
      pack = load_kept<kWidth>(from);
    }
    Words words;
    memcpy(&words, &pack, sizeof words);
    return words;
  }

  /// Loads entries 4 part ... 4 part + 3 of a step, and their values in row g.
  __device__ const int4* cols_from(Offset begin, int part) const {
    return reinterpret_cast<const int4*>(op.lists.cols + begin) + part;
  }
  __device__ const uint2* values_from(Offset begin) const {
    const auto* values = static_cast<const Value*>(op.lists.values) + tiled_value_at(begin, 0);
    return reinterpret_cast<const uint2*>(values) + in_group() * kTiledPanelRows + group();
  }
  static constexpr int kColsOfStep = kStep / 4, kValuesOfStep = kStep / 4 * kTiledPanelRows;

  /// For four neighbouring entries.
  struct Values {
    Pair pair[2];
  };
  __device__ static Values load_values(const uint2* from) {
    const uint2 words = __ldg(from);
    Values values;
    memcpy(&values, &words, sizeof values);
    return values;
  }
  /// This lane's part of a step. Only `left` entries remain; the others are empty.
  struct Step {
    Words y[kEntries];
    Values x;
  };
  __device__ Step load(const int4& rows, const uint2* values, Index left) const {
    Step step = {};
    if (left <= kEntries * in_group()) return step;
    step.x = load_values(values);
    step.y[0] = load_b(rows.x);
    step.y[1] = load_b(rows.y);
    step.y[2] = load_b(rows.z);
    step.y[3] = load_b(rows.w);
    return step;
  }
  /// Each word holds two columns of one entry; a tensor core needs two entries of one column in a
  /// word.
  __device__ static void multiply(Tiles& sums, const Step& step, detail::SmallestSeen& smallest) {
    look_at(step.x, smallest);
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      const unsigned words[4] = {__byte_perm(step.y[0].pair[i], step.y[1].pair[i], 0x5410),
                                 __byte_perm(step.y[0].pair[i], step.y[1].pair[i], 0x7632),
                                 __byte_perm(step.y[2].pair[i], step.y[3].pair[i], 0x5410),
                                 __byte_perm(step.y[2].pair[i], step.y[3].pair[i], 0x7632)};
      Pair x[4];
      memcpy(x, words, sizeof x);
      multiply_tile(sums[i], x, step.x, smallest);
    }
  }
  __device__ static void look_at(const Values& values, detail::SmallestSeen& smallest) {
#pragma unroll
    for (const Pair& pair : values.pair) smallest.look_at(pair);
  }
  __device__ static void multiply_tile(float (&sums)[4], const Pair (&x)[4], const Values& y,
                                       detail::SmallestSeen& smallest) {
#pragma unroll
    for (const Pair& pair : x) smallest.look_at(pair);
    detail::multiply_tile(sums, x, y.pair);
  }

  /// A narrow slice: every lane loads what it needs directly. Four lanes then have 32 neighbouring
  /// bytes of a row of B.
  __device__ void add_narrow(Row (&rows)[2], Offset begin, Index length,
                             detail::SmallestSeen& smallest) const {
    Tiles sums = {};
    const int4* cols = cols_from(begin, in_group());
    const uint2* values = values_from(begin);
    const auto load_cols = [&](Index left) {
      return left > kEntries * in_group() ? __ldg(cols) : int4{};
    };
    int4 cols_ahead = load_cols(length);
#pragma unroll 1
    for (Index left = length; left > 0; left -= kStep) {
      const Step step = load(cols_ahead, values, left);
      cols += kColsOfStep;
      values += kValuesOfStep;
      cols_ahead = load_cols(left - kStep);
      multiply(sums, step, smallest);
    }
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        rows[row].item[2 * i] = sums[i][row];
        rows[row].item[2 * i + 1] = sums[i][2 + row];
      }
    }
  }

  /// A wide one goes through shared memory: eight lanes copy a row's 128 bytes, which is one line
  /// looked up instead of four times a quarter of it, and tiles are loaded transposed. A lane then
  /// has column g of each of the eight vectors; sums go through shared memory to the lanes that
  /// store them.
  __device__ void add_wide(Row (&rows)[2], Offset begin, Index length,
                           detail::SmallestSeen& smallest, PanelRing& ring) const {
    const int quarter = lane() / 8, vector = lane() % 8;
    const Index vector_column = column + (vector - group()) * kCols;
    const auto* b = reinterpret_cast<const std::byte*>(
        op.b.data + (vector_column < op.c.cols ? vector_column : 0));
    // Entries 4 q to 4 q + 3 are what a tensor core calls 2 q, 2 q + 1, 2 q + 8 and 2 q + 9.
    constexpr int kEightRows = 8 * PanelRing::kVectors * 16;
    const unsigned to[2] = {ring.address() + PanelRing::place(2 * quarter, vector),
                            ring.address() + PanelRing::place(2 * quarter + 1, vector)};
    const unsigned from = ring.address() + PanelRing::place(quarter / 2 * 8 + vector, quarter % 2);
    const int4* cols = cols_from(begin, quarter);
    const uint2* values = values_from(begin);
    const auto load_cols = [&](Index left) {
      return left > kEntries * quarter ? __ldg(cols) : int4{};
    };
    const auto values_of = [&](Index left) {
      return left > kEntries * in_group() ? load_values(values) : Values{};
    };
    int4 cols_ahead = load_cols(length);
    const auto copy_step = [&](unsigned stage, Index left) {
      const auto row = [&](Index col) {
        return b + std::uint64_t{static_cast<unsigned>(col)} * op.row_bytes;
      };
      detail::copy_vector<0>(to[0] + stage, row(cols_ahead.x));
      detail::copy_vector<0>(to[1] + stage, row(cols_ahead.y));
      detail::copy_vector<kEightRows>(to[0] + stage, row(cols_ahead.z));
      detail::copy_vector<kEightRows>(to[1] + stage, row(cols_ahead.w));
      detail::end_copies();
      cols += kColsOfStep;
      cols_ahead = load_cols(left - kStep);
    };
    Tiles sums = {};
    unsigned stage = 0;
    if (length > 0) copy_step(stage, length);
    Values values_ahead = values_of(length);
#pragma unroll 1
    for (Index left = length; left > 0; left -= kStep) {
      detail::wait_for_copies();
      __syncwarp();
      const unsigned next = stage ^ PanelRing::kStageBytes;
      if (left > kStep) copy_step(next, left - kStep);
      const Values now = values_ahead;
      values += kValuesOfStep;
      values_ahead = values_of(left - kStep);
      look_at(now, smallest);
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        Pair x[4];
        detail::load_transposed_tiles(x, (from + stage) ^ (2 * i * 16));
        multiply_tile(sums[i], x, now, smallest);
      }
      stage = next;
    }
    auto* staged = reinterpret_cast<float*>(ring.bytes);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        staged[(2 * in_group() + j % 2) * PanelRing::kSumStride + 16 * i + j / 2 * 8 + group()] =
            sums[i][j];
      }
    }
    __syncwarp();
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      memcpy(rows[row].item,
             staged + (2 * in_group() + row) * PanelRing::kSumStride + group() * kCols,
             sizeof rows[row].item);
    }
  }

  /// Computes the sums of entries [begin, begin + length) of a list.
  template <class... Ring>
  __device__ void add_list(Row (&rows)[2], Offset begin, Index length, Ring&... ring) const {
    detail::SmallestSeen smallest;
    if constexpr (kWidth == 8) {
      add_wide(rows, begin, length, smallest, ring...);
    } else {
      add_narrow(rows, begin, length, smallest);
    }
    bool is_suspect = smallest.is_subnormal();
#pragma unroll
    for (const Row& row : rows) {
#pragma unroll
      for (const float sum : row.item) is_suspect = is_suspect || !isfinite(sum);
    }
    if (__any_sync(kAllLanes, is_suspect)) mend_list(rows, begin, length);
  }
  /// Makes sums again by multiply-adds that are not finite, or that have a product of a subnormal
  /// number. Tensor cores multiply entries that no row has by 0, so an infinity or a NaN in B, or a
  /// sum of products that leaves f32, may have spread to rows that have nothing to do with it; that
  /// always makes a NaN. Which sums are made again does not depend on what else a warp has.
  __device__ void mend_list(Row (&rows)[2], Offset begin, Index length) const {
    Row alone[2];
    unsigned has_subnormal[2] = {0, 0};
    alone[0].clear();
    alone[1].clear();
    const int row = 2 * in_group();
    const auto* values = static_cast<const Value*>(op.lists.values);
#pragma unroll 1
    for (Offset at = begin; at < begin + length; ++at) {
      const unsigned mask = static_cast<unsigned>(__ldg(op.lists.masks + at)) >> row & 3u;
      if (mask == 0) continue;
      const Words words = load_b(__ldg(op.lists.cols + at));
      Pack<Value, kCols> y;
      memcpy(&y, &words, sizeof y);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        if ((mask & 1u << r) == 0) continue;
        const Value x = load_kept<1>(values + tiled_value_at(at, row + r)).item[0];
        alone[r].add_product(widen<float>(x), y);
#pragma unroll
        for (int i = 0; i < kCols; ++i) {
          const bool is_so = detail::SmallestSeen::is_subnormal(x) ||
                             detail::SmallestSeen::is_subnormal(y.item[i]);
          has_subnormal[r] |= is_so ? 1u << i : 0;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) {
        if (!isfinite(rows[r].item[i]) || (has_subnormal[r] >> i & 1u) != 0) {
          rows[r].item[i] = alone[r].item[i];
        }
      }
    }
  }

  __device__ void store(const Row (&rows)[2], Index panel) const {
    const Offset first = Offset{panel} * kTiledPanelRows + 2 * in_group();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (first + r >= op.c.rows || cols == 0) return;
      auto* c = op.c.data + (first + r) * op.c.leading_dim + column;
      if constexpr (kWidth == 1) {
#pragma unroll
        for (int i = 0; i < kCols; ++i) {
          Sums<Types, 1> one;
          one.item[0] = rows[r].item[i];
          if (i < cols) one.store(c + i, op.alpha, op.beta);
        }
      } else if constexpr (kScales) {
        rows[r].store(c, op.alpha, op.beta);
      } else {
        rows[r].store(c);
      }
    }
  }

  /// Stores the sums of a part; the part of the panel that comes last adds up all. Returns whether
  /// it was the last.
  __device__ bool meet_other_parts(Row (&rows)[2], Index slot, Offset slice, Index& panel) const {
    const Offset row = Offset{2} * in_group();
    const auto place = [&](Offset at) {
      return op.partial + (at * kTiledPanelRows + row) * op.partial_stride + column;
    };
    const auto leave = [&](Offset at) {
      if (cols == 0) return;
#pragma unroll
      for (int r = 0; r < 2; ++r)
        store_shared_by_all<kCols>(place(at) + r * op.partial_stride, rows[r].item);
    };
    const auto add_up = [&](Offset first, Index count) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        add_slots(rows[r], place(first) + r * op.partial_stride,
                  kTiledPanelRows * op.partial_stride, cols > 0, count);
      }
    };
    return meet_parts<kWarpLanes>(op.tasks, slot, slice, lane(), leave, add_up, panel);
  }
};

}  // namespace csrkit::gpu
