"""The errors. Their texts are those of the tools, and each class stands for one of the tools' exit codes."""


class Error(Exception):
    """Any failure of csrkit."""


class CheckError(Error):
    """A result is wrong, or a system has no solution."""


class UsageError(Error, ValueError):
    """The call asks for something that does not exist or does not fit."""


class InputError(Error, ValueError):
    """A file or an array holds something wrong. The text names file and place."""


class IoError(Error, OSError):
    """The system refused to read or write."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory, forecast or real. The text holds the numbers."""


class NoGpuError(Error, RuntimeError):
    """There is no GPU that can be used, or no GPU library."""


class DeviceError(Error, RuntimeError):
    """A call to the GPU failed."""


class InternalError(Error, RuntimeError):
    """A bug of csrkit, or a helper program that died."""


BY_STATUS = {1: CheckError, 2: UsageError, 3: InputError, 4: IoError, 5: OutOfMemoryError, 6: NoGpuError,
             7: DeviceError, 70: InternalError}
