#include "cpu/common/instruction_set.h"

#include <cstdlib>
#include <string>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/base/error.h"

namespace csrkit::cpu {

const char* name_of(Isa isa) {
  switch (isa) {
    case Isa::portable: return "portable";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "?";
}

#if defined(__x86_64__)
// Not every compiler's __builtin_cpu_supports knows f16c.
static bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

static bool has_slow_short_loads() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd");
#else
  return false;
#endif
}

static const char* wanted_isa() {
  const char* name = std::getenv("CSRKIT_CPU_ISA");
  return name == nullptr || *name == '\0' ? nullptr : name;
}

bool is_supported(Isa isa) {
#if defined(__x86_64__)
  const bool has_avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (isa == Isa::avx512) return has_avx512;
  if (isa == Isa::avx2) return has_avx2;
#endif
  return isa == Isa::portable;
}

Isa chosen_isa() {
  const Isa widest_first[] = {Isa::avx512, Isa::avx2, Isa::portable};
  const char* wanted = wanted_isa();
  for (const Isa isa : widest_first) {
    if (wanted == nullptr ? is_supported(isa) : name_of(isa) == std::string(wanted)) {
      if (is_supported(isa)) return isa;
      throw UsageError(std::string("CSRKIT_CPU_ISA asks for ") + wanted +
                       ", which this machine does not have; unset it");
    }
  }
  throw UsageError(std::string("CSRKIT_CPU_ISA is '") + wanted +
                   "'; use portable, avx2 or avx512, or unset it");
}

Isa chosen_isa_for_short_loads() {
  const Isa isa = chosen_isa();
  const bool is_free = wanted_isa() == nullptr;
  return is_free && isa == Isa::avx512 && has_slow_short_loads() ? Isa::avx2 : isa;
}

}  // namespace csrkit::cpu
