// reference: the product that checks compare with, as a kernel that users can run.
// Owns     one thread makes all of C, entry by entry, summing in float64 whatever the kinds are
// Reads    everything through conversions to double, one element at a time
// Needs    nothing
// Against  nothing: everything else is compared with this
#include "core/judge/reference.h"

#include "cpu/sddmm/plan.h"

namespace csrkit::cpu::sddmm {

namespace {

class Reference : public SddmmMethod {
 public:
  explicit Reference(const SddmmInput& input) : problem_(input.problem) {}

  void multiply(const SddmmCall& call) override {
    const ConstValuesView before = call.c;
    const Offset* const offsets = problem_.a.row_offsets();
    with_dense_type(call.c.kind, [&](auto tag) {
      using C = typename decltype(tag)::type;
      C* const c = static_cast<C*>(call.c.data);
      for (Index row = 0; row < problem_.a.rows(); ++row) {
        for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
          c[at] = store_as<C>(reference_sddmm_entry(problem_, call.x, call.y, call.alpha, call.beta,
                                                    &before, row, at)
                                  .value);
        }
      }
    });
  }

 private:
  SddmmProblem problem_;
};

}  // namespace

std::unique_ptr<SddmmMethod> make_reference(const SddmmInput& input) {
  return std::make_unique<Reference>(input);
}

}  // namespace csrkit::cpu::sddmm
