// How a call ends: codes, and the sentence that explains the last failure of a thread.

#include "api/handles.h"

namespace csrkit::api {

namespace {

thread_local std::string last_error;

/// Without memory even for the message, the code alone.
csrkit_status failed(csrkit_status status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

}  // namespace

csrkit_status status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const UsageError& error) {
    return failed(CSRKIT_USAGE, error.what());
  } catch (const InputError& error) {
    return failed(CSRKIT_BAD_INPUT, error.what());
  } catch (const IoError& error) {
    return failed(CSRKIT_IO, error.what());
  } catch (const MemoryError& error) {
    return failed(CSRKIT_MEMORY, error.what());
  } catch (const NoDeviceError& error) {
    return failed(CSRKIT_NO_GPU, error.what());
  } catch (const DeviceError& error) {
    return failed(CSRKIT_DEVICE, error.what());
  } catch (const VerifyError& error) {
    return failed(CSRKIT_CHECK_FAILED, error.what());
  } catch (const std::bad_alloc&) {
    return failed(CSRKIT_MEMORY, "not enough memory for this matrix on this machine");
  } catch (const std::exception& error) {
    return failed(CSRKIT_INTERNAL, error.what());
  } catch (...) {
    return failed(CSRKIT_INTERNAL, "something was thrown that is no exception");
  }
}

void clear_last_error() noexcept { last_error.clear(); }

void require_given(const void* pointer, const char* name) {
  if (pointer == nullptr) throw UsageError(std::string(name) + " is NULL; it must be given");
}

ValueKind kind_of(std::int32_t kind, ValueKind otherwise) {
  if (kind == CSRKIT_NONE) return otherwise;
  if (kind < 0 || kind > CSRKIT_BF16) {
    throw UsageError(std::to_string(kind) + " is no csrkit_kind; use CSRKIT_F32 and the like");
  }
  return static_cast<ValueKind>(kind);
}

}  // namespace csrkit::api

const char* csrkit_version(void) { return CSRKIT_VERSION; }

const char* csrkit_last_error(void) { return csrkit::api::last_error.c_str(); }
