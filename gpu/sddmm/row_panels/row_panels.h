// row_panels as auto makes it.
#pragma once

#include <memory>

#include "gpu/sddmm/plan.h"
#include "gpu/sddmm/row_panels/lists.h"

namespace csrkit::gpu::sddmm {

/// The kernel with lists that count() and make() have filled.
std::unique_ptr<DeviceSddmm> make_row_panels(const SddmmProblem& problem, TileLists&& lists);

}  // namespace csrkit::gpu::sddmm
