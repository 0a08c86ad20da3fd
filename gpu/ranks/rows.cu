#include <algorithm>
#include <cstdint>

#include "core/base/error.h"
#include "gpu/device/cuda_check.h"
#include "gpu/ranks/rows.h"

namespace csrkit::gpu {

namespace {

constexpr int kThreads = 256;
// Four blocks for each of 132 multiprocessors. They loop over the rows.
constexpr Offset kMostBlocks = 528;
// Of 528 to 33 blocks and 1 to 8 reads of a thread, these slow a concurrent product least:
// kQuietBlocks where the product takes longer than the exchange, kBesideBlocks where not
// (docs/lab/2026-11-26-two-gpus-again.md).
constexpr Offset kQuietBlocks = 66, kBesideBlocks = 132;
constexpr int kReadsUnderWay = 4;

/// A power of two of neighbouring threads reads a row, so that short rows share a block.
struct Shape {
  dim3 threads;
  unsigned blocks;
};
Shape shape_of(Offset words, Index rows, Offset most_blocks = kMostBlocks) {
  unsigned across = 1;
  while (across < kThreads && across < words) across *= 2;
  const unsigned down = kThreads / across;
  const Offset blocks = (Offset{rows} + down - 1) / down;
  return {dim3(across, down), static_cast<unsigned>(std::min(blocks, most_blocks))};
}

/// A thread keeps the loads of kReads words of different rows in flight.
template <class Word, int kReads>
__global__ void __launch_bounds__(kThreads)
    gather_words(const Word* __restrict__ from, const Index* __restrict__ numbers, Index count,
                 Offset words, Word* __restrict__ to) {
  const Offset step = Offset{gridDim.x} * blockDim.y;
  for (Offset first = Offset{blockIdx.x} * blockDim.y + threadIdx.y; first < count;
       first += step * kReads) {
    for (Offset at = threadIdx.x; at < words; at += blockDim.x) {
      Word read[kReads];
#pragma unroll
      for (int k = 0; k < kReads; ++k) {
        const Offset i = first + k * step;
        if (i < count) read[k] = from[numbers[i] * words + at];
      }
#pragma unroll
      for (int k = 0; k < kReads; ++k) {
        const Offset i = first + k * step;
        if (i < count) to[i * words + at] = read[k];
      }
    }
  }
}

template <class Number>
__global__ void __launch_bounds__(kThreads)
    add_numbers(Number* __restrict__ c, const Index* __restrict__ numbers, Index count, Offset cols,
                const Number* __restrict__ terms) {
  for (Offset i = Offset{blockIdx.x} * blockDim.y + threadIdx.y; i < count;
       i += Offset{gridDim.x} * blockDim.y) {
    Number* const row = c + numbers[i] * cols;
    for (Offset at = threadIdx.x; at < cols; at += blockDim.x) row[at] += terms[i * cols + at];
  }
}

template <int kReads>
struct Gather {
  const void* from;
  const Index* numbers;
  Index count;
  Offset row_bytes;
  void* to;
  cudaStream_t stream;
  Offset most_blocks;

  template <class Word>
  void by() const {
    const Offset words = row_bytes / static_cast<Offset>(sizeof(Word));
    const Shape shape = shape_of(words, count, most_blocks);
    gather_words<Word, kReads><<<shape.blocks, shape.threads, 0, stream>>>(
        static_cast<const Word*>(from), numbers, count, words, static_cast<Word*>(to));
    CHECK_LAUNCH("gather_words", stream);
  }

  /// Uses the widest words that divide addresses and rows.
  void run() const {
    if (count == 0) return;
    const auto places = reinterpret_cast<std::uintptr_t>(from) |
                        reinterpret_cast<std::uintptr_t>(to) |
                        static_cast<std::uintptr_t>(row_bytes);
    if (places % 16 == 0) return by<uint4>();
    if (places % 8 == 0) return by<uint2>();
    if (places % 4 == 0) return by<unsigned>();
    by<unsigned short>();
  }
};

template <class Number>
void add(const DenseView& c, const Index* numbers, const ConstDenseView& terms,
         cudaStream_t stream) {
  const Shape shape = shape_of(c.cols, terms.rows);
  add_numbers<<<shape.blocks, shape.threads, 0, stream>>>(c.as<Number>(), numbers, terms.rows,
                                                          Offset{c.cols}, terms.as<Number>());
  CHECK_LAUNCH("add_numbers", stream);
}

}  // namespace

void gather_rows(const void* from, const Index* numbers, Index count, Offset row_bytes, void* to,
                 cudaStream_t stream) {
  Gather<1>{from, numbers, count, row_bytes, to, stream, kMostBlocks}.run();
}

void gather_far_rows(const void* from, const Index* numbers, Index count, Offset row_bytes,
                     void* to, FarReads how, cudaStream_t stream) {
  if (how == FarReads::alone) return gather_rows(from, numbers, count, row_bytes, to, stream);
  const Offset blocks = how == FarReads::quiet ? kQuietBlocks : kBesideBlocks;
  Gather<kReadsUnderWay>{from, numbers, count, row_bytes, to, stream, blocks}.run();
}

void add_rows(const DenseView& c, const Index* numbers, const ConstDenseView& terms,
              cudaStream_t stream) {
  if (terms.rows == 0) return;
  switch (c.kind) {
    case ValueKind::f32: return add<float>(c, numbers, terms, stream);
    case ValueKind::f64: return add<double>(c, numbers, terms, stream);
    case ValueKind::f16:
    case ValueKind::bf16:
    case ValueKind::none: break;
  }
  throw UsageError("terms of a halo are added up in f32 or f64");
}

}  // namespace csrkit::gpu
