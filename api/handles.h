// What the handles of csrkit.h are, and the one way from exceptions to its return codes.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "api/csrkit.h"
#include "api/rooms.h"
#include "core/base/error.h"
#include "core/contract/spmm.h"
#include "core/file/csr_file.h"

struct csrkit_matrix {
  csrkit::CsrFile file;
  std::string warnings;  // of the import, a line each
};

struct csrkit_plan {
  csrkit::SpmmProblem problem;
  csrkit::PlanOptions options;
  std::string room;
  std::string kernel;  // that was asked for or loaded
  std::unique_ptr<csrkit::Operator> plan;
  std::string running_kernel, choice;  // what csrkit_plan_describe points to
};

namespace csrkit::api {

/// To be called in a catch block: the code of the exception, whose message csrkit_last_error() then
/// gives on this thread.
csrkit_status status_of_current_exception() noexcept;
void clear_last_error() noexcept;

/// Runs `body` and returns CSRKIT_OK, or the code of what it threw. A template, because making a
/// std::function of `body` could throw by itself, outside of the guard.
template <class Body>
csrkit_status guarded(const Body& body) noexcept {
  clear_last_error();
  try {
    body();
    return CSRKIT_OK;
  } catch (...) {
    return status_of_current_exception();
  }
}

/// Throws UsageError that names the parameter, if it is null.
void require_given(const void* pointer, const char* name);

/// A copy of the caller's structure, as large as the caller's version of it is; the members that it
/// lacks are 0. Null stands for all defaults. Throws UsageError for a size that cannot be.
template <class Options>
Options read_options(const Options* given, const char* name) {
  Options options{};
  if (given == nullptr) return options;
  if (given->size < sizeof given->size) {
    throw UsageError(std::string(name) + ".size is " + std::to_string(given->size) +
                     "; set it to sizeof(" + name + ")");
  }
  std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

/// Fills as much of the caller's structure as it has room for.
template <class Info>
void write_info(const Info& info, Info* to, const char* name) {
  require_given(to, name);
  const std::size_t size = read_options(to, name).size;
  std::memcpy(reinterpret_cast<char*>(to) + sizeof size,
              reinterpret_cast<const char*>(&info) + sizeof size,
              std::min(size, sizeof info) - sizeof size);
}

/// The kernels of an operation in a room. `cpu` and `gpu` make the table of each; `what` begins the
/// sentence of a NoDeviceError. Throws UsageError for a room that does not exist.
template <class Table>
const Table& kernels_in(const std::string& room, const Table& (*cpu)(),
                        const Table& (*gpu::Face::*gpu)(), const char* what) {
  if (room == kCpu) return cpu();
  if (room != kGpu) throw UsageError("'" + room + "' is no room; use cpu or gpu");
  return (require_gpu_room(what).*gpu)();
}

/// NULL means `otherwise`.
inline std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

/// A csrkit_kind; CSRKIT_NONE means `otherwise`. Throws UsageError for other numbers.
ValueKind kind_of(std::int32_t kind, ValueKind otherwise);

/// The caller's operand with its kind, space and data looked at. Throws UsageError, with its name.
csrkit_dense read_operand(const csrkit_dense* dense, const char* name);

/// The same as a view.
ConstDenseView view_of(const csrkit_dense* dense, const char* name);

/// Throws UsageError if C, which is written while `operand` is read, shares an element with it.
void require_apart(const ConstDenseView& operand, const char* name, const ConstDenseView& c);

/// Throws UsageError that names the array unless its address is a multiple of `element_bytes`.
void require_aligned(const void* data, int element_bytes, const char* name);

}  // namespace csrkit::api
