// Sums of a row of C of which few columns come often, by a block of threads.
//
// Products come in any order. The first to reach a place claims it and stores its term there, with
// the number of its source; later ones are repeats and go to a list. At the end all are added up in
// the order of A's columns: two terms of a place by their sources' numbers; more after their
// repeats were sorted. So which product claims a place differs from run to run, the sum does not.
// Rows with many repeats are added up in shares of their columns, or in turns.
#pragma once

#include "gpu/spgemm/adaptive_rows/numeric/make.h"
#include "gpu/spgemm/adaptive_rows/primitives/row_sums.cuh"

namespace csrkit::gpu::bit_ranges {

/// A place, a source and a number, to be sorted by.
struct RepeatKey {
  unsigned long long bits;

  __device__ RepeatKey(std::uint32_t place, std::uint32_t source, int number)
      : bits(static_cast<unsigned long long>(place) << 32 | source << 16 |
             static_cast<unsigned>(number)) {}
  __device__ std::uint32_t place() const { return static_cast<std::uint32_t>(bits >> 32); }
  __device__ std::uint32_t source() const { return static_cast<std::uint32_t>(bits) >> 16; }
  __device__ int number() const { return static_cast<int>(bits & 0xffff); }
};

/// The sums of a row of `count` entries, with `repeats` products more than that. Its arrays are in
/// shared memory, as many bytes as bytes_of_claims says. By all threads of a block, but
/// for take().
template <int kThreads, class Value>
class ClaimedSums {
 public:
  /// `sums`: where the memory begins. `found`: a number in shared memory. A barrier must follow.
  __device__ ClaimedSums(Value* sums, int* found, int count, int repeats)
      : sums_(sums), found_(found), repeats_(repeats) {
    const int places = (count + 31) / 32 * 32, words = places / 32;
    keys_ = reinterpret_cast<RepeatKey*>(sums_ + places);
    terms_ = reinterpret_cast<Value*>(keys_ + repeats);
    claimed_ = reinterpret_cast<std::uint32_t*>(terms_ + repeats);
    twice_ = claimed_ + words;
    often_ = twice_ + words;
    sources_ = reinterpret_cast<std::uint16_t*>(often_ + words);
    for (int i = rank(); i < 3 * words; i += kThreads) claimed_[i] = 0;
    if (rank() == 0) *found_ = 0;
  }

  /// Takes a product's term, in any order.
  __device__ void take(std::uint32_t place, std::uint32_t source, Value term) {
    if (!was_set(claimed_, place)) {
      sums_[place] = term;
      sources_[place] = static_cast<std::uint16_t>(source);
      return;
    }
    if (was_set(twice_, place)) was_set(often_, place);
    const int number = atomicAdd(found_, 1);
    keys_[number] = {place, source, number};
    terms_[number] = term;
  }

  /// Adds repeats to the sums, after all terms were taken and a barrier.
  __device__ void add_repeats(Semiring semiring) {
    const int left = add_pairs(semiring);
    sort_repeats(left);
    for (int i = rank(); i < left; i += kThreads) {
      if (i == 0 || keys_[i - 1].place() != keys_[i].place()) add_up_place(i, left, semiring);
    }
    __syncthreads();
  }

 private:
  static __device__ int rank() { return static_cast<int>(threadIdx.x); }
  static __device__ bool was_set(std::uint32_t* bits, std::uint32_t place) {
    const std::uint32_t bit = 1u << (place & 31);
    return (atomicOr(bits + place / 32, bit) & bit) != 0;
  }
  __device__ bool comes_often(std::uint32_t place) const {
    return (often_[place / 32] >> (place & 31) & 1) != 0;
  }

  /// Adds the repeats of places with two terms, and moves the keys of others together. Returns how
  /// many there are.
  __device__ int add_pairs(Semiring semiring) {
    if (rank() == 0) *found_ = 0;
    for (int begin = 0; begin < repeats_; begin += kThreads) {
      const int i = begin + rank();
      const RepeatKey key = i < repeats_ ? keys_[i] : RepeatKey(0, 0, 0);
      __syncthreads();  // keys before the next `begin` have been read
      if (i >= repeats_) continue;
      if (comes_often(key.place())) {
        keys_[atomicAdd(found_, 1)] = key;
      } else {
        const Value claimed = sums_[key.place()], term = terms_[key.number()];
        const bool is_first = key.source() < sources_[key.place()];
        sums_[key.place()] =
            add_sums(semiring, is_first ? term : claimed, is_first ? claimed : term);
      }
    }
    __syncthreads();
    return *found_;
  }

  /// Sorts the first keys: Batcher's network, with one half mirrored so that all comparisons have
  /// one direction; what lies beyond the last key counts as larger.
  __device__ void sort_repeats(int keys) {
    for (int log2 = 1; 1 << (log2 - 1) < keys; ++log2) {
      for (int step = log2; step > 0; --step) {
        const int half = 1 << (step - 1);
        for (int i = rank(); (i >> (step - 1)) << step < keys; i += kThreads) {
          const int begin = (i >> (step - 1)) << step, within = i & (half - 1);
          const int low = begin + within;
          const int high = step == log2 ? begin + 2 * half - 1 - within : low + half;
          if (high >= keys) continue;
          const RepeatKey one = keys_[low], other = keys_[high];
          if (one.bits > other.bits) {
            keys_[low] = other;
            keys_[high] = one;
          }
        }
        __syncthreads();
      }
    }
  }

  /// Adds up the place of the sorted repeats from `first` on.
  __device__ void add_up_place(int first, int keys, Semiring semiring) {
    const std::uint32_t place = keys_[first].place();
    const RepeatKey claim(place, sources_[place], 0);
    const Value claimed = sums_[place];
    Value sum = empty_sum<Value>(semiring);
    bool is_added = false;
    for (int i = first; i < keys && keys_[i].place() == place; ++i) {
      if (!is_added && claim.bits < keys_[i].bits) {
        sum = add_sums(semiring, sum, claimed);
        is_added = true;
      }
      sum = add_sums(semiring, sum, terms_[keys_[i].number()]);
    }
    sums_[place] = is_added ? sum : add_sums(semiring, sum, claimed);
  }

  Value* sums_;             // by place
  RepeatKey* keys_;         // of repeats
  Value* terms_;            // of repeats
  std::uint32_t* claimed_;  // a bit for each place: one product has reached it,
  std::uint32_t* twice_;    // two have,
  std::uint32_t* often_;    // more have
  std::uint16_t* sources_;  // by place, of the product that claimed it
  int* found_;
  int repeats_;
};

}  // namespace csrkit::gpu::bit_ranges
