#include "cpu/common/instruction_set.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/error.h"

namespace csrkit::cpu {
namespace {

TEST(Isa, CanBeChosenByEnvironment) {
  unsetenv("CSRKIT_CPU_ISA");
  EXPECT_TRUE(is_supported(chosen_isa()));
  setenv("CSRKIT_CPU_ISA", "portable", 1);
  EXPECT_EQ(chosen_isa(), Isa::portable);
  setenv("CSRKIT_CPU_ISA", "abacus", 1);
  EXPECT_THROW(chosen_isa(), UsageError);
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    setenv("CSRKIT_CPU_ISA", name_of(isa), 1);
    if (is_supported(isa)) {
      EXPECT_EQ(chosen_isa(), isa);
      EXPECT_EQ(chosen_isa_for_short_loads(), isa) << "what is asked for is taken";
    } else {
      EXPECT_THROW(chosen_isa(), UsageError);
    }
  }
  unsetenv("CSRKIT_CPU_ISA");
}

TEST(Isa, ForShortLoadsIsNeverWider) {
  unsetenv("CSRKIT_CPU_ISA");
  EXPECT_LE(chosen_isa_for_short_loads(), chosen_isa());
#if defined(__x86_64__)
  if (chosen_isa() == Isa::avx512) {
    EXPECT_EQ(chosen_isa_for_short_loads(), __builtin_cpu_is("amd") ? Isa::avx2 : Isa::avx512);
  }
#endif
}

}  // namespace
}  // namespace csrkit::cpu
