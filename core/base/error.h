// What can go wrong, by kind. Libraries throw these; tools/cli/run_tool turns each kind into
// one message and one exit code, and is the only place that does.
#pragma once

#include <stdexcept>
#include <string>

namespace csrkit {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line or an API call asks for something that does not exist or cannot be combined.
struct UsageError : Error {
  using Error::Error;
};

/// A file's content is wrong. The message starts with `path:line:` or `path: byte N:`, then says
/// what was expected, what was found and one thing to try.
struct InputError : Error {
  using Error::Error;
};

/// The operating system refused to open, read, write, sync or rename.
struct IoError : Error {
  using Error::Error;
};

/// Not enough memory, forecast or real. The message gives both numbers: needed and available.
struct MemoryError : Error {
  using Error::Error;
};

/// A device call failed.
struct DeviceError : Error {
  using Error::Error;
};

/// There is no usable GPU: the only error that a test may count as a skip.
struct NoDeviceError : DeviceError {
  using DeviceError::DeviceError;
};

/// A result was computed and is wrong.
struct VerifyError : Error {
  using Error::Error;
};

}  // namespace csrkit
