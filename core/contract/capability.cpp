#include "core/contract/capability.h"

#include "core/base/text.h"

namespace csrkit {

namespace {

struct CapabilityWords {
  Capabilities bit;
  const char* name;    // in lists; "" where all kernels of an operation agree
  const char* phrase;  // after "cannot do: "
};

constexpr CapabilityWords kWords[] = {
    {kImplicitOnes, "none", "matrices of kind none"},
    {kF32, "f32", "f32"},
    {kF64, "f64", "f64"},
    {kF16, "f16", "f16"},
    {kBf16, "bf16", "bf16"},
    {kTranspose, "transpose", "transposed operands"},
    {kAlphaBeta, "scaling", "scaling (--alpha, --beta)"},
    {kLeadingDimension, "leading-dim", "a leading dimension above the columns"},
    {kSemirings, "semirings", "semirings"},
    {kSchedule, "schedule", "--schedule"},
    {kDeterministic, "deterministic", "determinism (--nondeterministic does without it)"},
    {kIeeeSpecials, "ieee", "subnormals, infinities and NaN"},
    {kNarrowOutput, "narrow-output", "C of 16 bits"},
    {kAnyAlignment, "any-alignment", "device operands that are not aligned to 16 bytes"},
    {kDeviceMatrix, "device-matrix", "a sparse matrix in device memory"},
    {kGraphCapture, "graph-capture", "capture in a CUDA graph"},
    {kMask, "mask", "a mask"},
    {kDropBelow, "drop-below", "--drop-below"},
    {kReuse, "reuse", "reuse of the structure"},
    {kRowBlocks, "row-blocks", "row blocks"},
    {kSavedAnalysis, "saved-analysis", "saved analyses"},
    {kManyColumns, "", "dense operands of more than one column"},
    {kWideOperands, "wide-operands",
     "an f32 matrix with f64 dense operands (both of one kind will do)"},
    {kNarrowOperands, "narrow-operands", "an f32 matrix with dense operands of 16 bits"},
    {kTimesValues, "times-values", "products times A's values (--times-values)"},
    {kOutOfCore, "out-of-core", "products out of core (--out-of-core)"},
    {kUnsortedRows, "unsorted-rows", "--unsorted"},
    {kRefinement, "refinement", "f32 iterations inside of f64 refinement"},
    {kPreconditioners, "preconditioners", "preconditioners other than the diagonal"},
    {kDenseSystems, "dense-systems", "dense systems"},
};

}  // namespace

Capabilities capability_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::none: return kImplicitOnes;
    case ValueKind::f32: return kF32;
    case ValueKind::f64: return kF64;
    case ValueKind::f16: return kF16;
    case ValueKind::bf16: return kBf16;
  }
  return 0;
}

std::string names_of(Capabilities set, Capabilities all) {
  std::string names;
  if ((set & all) == all) {
    names = "everything";
    set &= ~all;
  }
  for (const CapabilityWords& words : kWords) {
    if ((set & words.bit) == 0 || *words.name == 0) continue;
    append_item(names, words.name, " ");
  }
  return names;
}

void require_capabilities(Capabilities has, Capabilities needs, const std::string& name) {
  const Capabilities missing = needs & ~has;
  if (missing == 0) return;
  std::string phrases;
  for (const CapabilityWords& words : kWords) {
    if ((missing & words.bit) != 0) append_item(phrases, words.phrase);
  }
  throw UsageError(name + " cannot do: " + phrases + "; --list shows what each kernel can do");
}

}  // namespace csrkit
