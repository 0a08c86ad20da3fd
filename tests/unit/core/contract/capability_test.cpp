#include "core/contract/capability.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(Capabilities, ListEveryBitOrSayEverything) {
  EXPECT_EQ(names_of(kF32 | kTranspose, kAllKinds), "f32 transpose");
  EXPECT_EQ(names_of(kAllKinds, kAllKinds), "everything");
  EXPECT_EQ(names_of(kAllKinds | kSchedule, kAllKinds), "everything schedule");
  EXPECT_EQ(names_of(0, kAllKinds), "");
}

TEST(Capabilities, WhatIsMissingIsSaid) {
  EXPECT_NO_THROW(require_capabilities(kF32 | kMask, kMask, "k"));
  try {
    require_capabilities(kF32, kF32 | kF16 | kMask, "kernel_x");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel_x cannot do: f16, a mask; --list shows what each kernel can do");
  }
  try {
    require_capabilities(kF32, kWideOperands, "auto");
    FAIL();
  } catch (const UsageError& error) {  // what users of NumPy meet first, where f64 is the default
    EXPECT_NE(std::string(error.what()).find("both of one kind will do"), std::string::npos);
  }
}

TEST(Capabilities, EveryBitHasAPhrase) {
  for (Capabilities bit = kImplicitOnes; bit <= kDenseSystems; bit <<= 1) {  // to the last one
    try {
      require_capabilities(0, bit, "k");
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_STRNE(error.what(), "k cannot do: ; --list shows what each kernel can do") << bit;
    }
  }
}

TEST(Capabilities, EveryKindIsOne) {
  EXPECT_EQ(capability_of(ValueKind::none), kImplicitOnes);
  EXPECT_EQ(capability_of(ValueKind::bf16), kBf16);
}

}  // namespace
}  // namespace csrkit
