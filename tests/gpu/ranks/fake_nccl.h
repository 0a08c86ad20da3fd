// An NCCL whose ranks may share one GPU, which NCCL refuses: sends and receives of a group are
// matched and copied on the device when the group ends. Counts what passes.
#pragma once

#include <cstdint>

#include "gpu/ranks/nccl.h"

namespace csrkit::testing {

const gpu::NcclLibrary& fake_nccl();

/// What was sent since the last call.
std::uint64_t take_fake_bytes();

/// From here on every exchange is said to have failed on the way, or not.
void break_fake_nccl(bool is_broken);
/// Communicators that were aborted since the last call.
int take_fake_aborts();

}  // namespace csrkit::testing
