#include "tests/soak/fuzz/coverage.h"

#include <array>
#include <cstdint>

namespace csrkit::fuzz {

namespace {

constexpr std::uint32_t kEdges = 1u << 16;  // two edges rarely share a counter: rooms have 20,000
std::array<std::uint8_t, kEdges> counts, seen;
thread_local std::uint32_t previous = 0;

/// How often, as one of eight bits: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, more. A loop that ran 41
/// times instead of 40 is nothing new.
std::uint8_t bucket(std::uint8_t count) {
  if (count == 0) return 0;
  if (count <= 3) return static_cast<std::uint8_t>(1 << (count - 1));
  if (count <= 7) return 8;
  if (count <= 15) return 16;
  if (count <= 31) return 32;
  return count <= 127 ? 64 : 128;
}

void pass(std::uintptr_t place) {
  const auto mixed = static_cast<std::uint32_t>((place * 0x9e3779b97f4a7c15ull) >> 48);
  std::uint8_t& count = counts[(mixed ^ previous) % kEdges];
  if (count < 255) ++count;
  previous = mixed >> 1;
}

}  // namespace

void begin_coverage() {
  counts.fill(0);
  previous = 0;
}

bool has_new_coverage() {
  bool is_new = false;
  for (std::uint32_t i = 0; i < kEdges; ++i) {
    const auto now = static_cast<std::uint8_t>(seen[i] | bucket(counts[i]));
    is_new |= now != seen[i];
    seen[i] = now;
  }
  return is_new;
}

int covered_edges() {
  int edges = 0;
  for (const std::uint8_t bits : seen) edges += bits != 0;
  return edges;
}

}  // namespace csrkit::fuzz

extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_pc() {
  csrkit::fuzz::pass(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}
