"""Dense operands: any array with the buffer protocol (host) or DLPack (host or GPU)."""
import ctypes
import sys
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_ssize_t, c_uint8, c_uint16, c_uint64, c_void_p, pythonapi

from ._library import KINDS, SIZES, Dense
from .errors import UsageError

FORMATS = {"f": "f32", "d": "f64", "e": "f16"}  # of the buffer protocol
_CODES = {"f32": "f", "f64": "d", "f16": "e"}
_DL_FLOAT, _DL_BFLOAT, _DL_INT = 2, 4, 0
_DL_KINDS = {(_DL_FLOAT, 32): "f32", (_DL_FLOAT, 64): "f64", (_DL_FLOAT, 16): "f16", (_DL_BFLOAT, 16): "bf16",
             (_DL_INT, 32): "i32", (_DL_INT, 64): "i64"}
_DL_HOST, _DL_CUDA, _DL_CUDA_HOST = 1, 2, 3


class _Buffer(ctypes.Structure):  # Py_buffer
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", c_ssize_t), ("itemsize", c_ssize_t),
                ("readonly", c_int), ("ndim", c_int), ("format", c_char_p), ("shape", POINTER(c_ssize_t)),
                ("strides", POINTER(c_ssize_t)), ("suboffsets", c_void_p), ("internal", c_void_p)]


class _Tensor(ctypes.Structure):  # DLTensor, the first member of a DLManagedTensor
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_STRIDED, _WRITABLE, _FORMAT = 0x18, 0x1, 0x4  # PyBUF_*
_get_buffer = pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, POINTER(_Buffer), c_int]
_release_buffer = pythonapi.PyBuffer_Release
_release_buffer.argtypes = [POINTER(_Buffer)]
_capsule_pointer = pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes = [ctypes.py_object, c_char_p]
_capsule_pointer.restype = c_void_p


class View:
    """Where an array is: `pointer`, `kind`, `shape`, `strides` in elements, `device` (None: the host), `stream` in
    which it may be used there (None: the one in which its library works). Borrows the array until it is deleted."""

    def __init__(self, array, name, is_written=False, stream=None):
        self.array, self.name, self.stream = array, name, None
        self._buffer = None
        if _is_masked(array):
            raise UsageError(f"{name} is masked, and the mask would have no effect; pass {name}.filled(0)")
        if _has_signs_put_off(array):
            raise UsageError(f"{name} has its signs put off, as an imaginary part; pass {name}.resolve_neg()")
        if _dlpack_device(array) == _DL_CUDA:
            self.stream = stream or stream_of(array)
            self._read_dlpack(self.stream)
        elif _has_buffer(array):
            self._read_buffer(is_written)
        elif hasattr(array, "__dlpack__"):
            self._read_dlpack(None)
        else:
            raise UsageError(f"{name} is a {type(array).__name__}, which neither speaks DLPack nor has a buffer; "
                             "pass an array")

    def _read_buffer(self, is_written):
        buffer = _Buffer()
        try:
            _get_buffer(self.array, ctypes.byref(buffer), _STRIDED | _FORMAT | (_WRITABLE if is_written else 0))
        except (BufferError, ValueError) as error:
            raise UsageError(f"{self.name} cannot be {'written' if is_written else 'read'}: {error}") from None
        self._buffer = buffer
        code = (buffer.format or b"B").decode().lstrip("@=<")
        sizes = {"i": "i", "l": "i", "q": "i"}
        self.kind = FORMATS.get(code) or (f"i{8 * buffer.itemsize}" if code in sizes else code)
        self.shape = tuple(buffer.shape[:buffer.ndim])
        size = buffer.itemsize or 1
        # ctypes gives no strides for arrays without gaps.
        strides = buffer.strides[:buffer.ndim] if buffer.strides else [size * step for step in row_major(self.shape)]
        if any(stride % size for stride, extent in zip(strides, self.shape) if extent > 1):
            raise UsageError(f"{self.name} has {size} bytes in an element and steps of {tuple(strides)} bytes from one to the "
                             "next; pass a copy")
        self.strides = tuple(stride // size for stride in strides)
        self.pointer, self.device = buffer.buf, None

    def _read_dlpack(self, stream):
        try:
            capsule = self.array.__dlpack__() if stream is None else self.array.__dlpack__(stream=stream)
        except (BufferError, RuntimeError, TypeError) as error:
            raise UsageError(f"{self.name} cannot be shared: {error}") from None
        self._capsule = capsule  # never consumed: it releases the array when it is deleted
        try:
            tensor = _Tensor.from_address(_capsule_pointer(capsule, b"dltensor"))
        except ValueError as error:
            raise UsageError(f"{self.name} cannot be shared: {error}") from None
        self.kind = _DL_KINDS.get((tensor.code, tensor.bits), f"DLPack type ({tensor.code}, {tensor.bits})")
        self.shape = tuple(tensor.shape[:tensor.ndim])
        self.strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else row_major(self.shape)
        self.pointer = (tensor.data or 0) + tensor.byte_offset
        if tensor.device_type not in (_DL_HOST, _DL_CUDA, _DL_CUDA_HOST):
            raise UsageError(f"{self.name} is on a device of DLPack's type {tensor.device_type}; csrkit works on CPUs and "
                             "on NVIDIA's GPUs")
        self.device = tensor.device_id if tensor.device_type == _DL_CUDA else None

    def __del__(self):
        if self._buffer is not None:
            _release_buffer(ctypes.byref(self._buffer))

    def dense(self):
        """The structure for csrkit_bind: rows one after another, a vector as one column."""
        if self.kind not in SIZES:
            raise UsageError(f"{self.name} holds elements of type {self.kind}; use f32, f64, f16 or bf16")
        if len(self.shape) not in (1, 2):
            raise UsageError(f"{self.name} has {len(self.shape)} dimensions; use 1 or 2")
        rows, cols = (*self.shape, 1)[:2]
        step, between = (*self.strides, 1)[:2]
        if 0 in (rows, cols):  # then strides mean nothing, and may be anything
            step = cols
        elif cols > 1 and between != 1 or rows > 1 and step < cols:
            raise UsageError(f"{self.name} is not stored row by row (strides {self.strides}); pass a copy in C order")
        return Dense(data=self.pointer, rows=rows, cols=cols, leading_dim=max(step if rows > 1 else cols, 1),
                     kind=KINDS[self.kind], space=0 if self.device is None else 1)

    def is_off_vectors(self):
        """Whether rows are not aligned to 16 bytes, though their length would allow it."""
        dense, size = self.dense(), SIZES[self.kind]
        return dense.cols * size % 16 == 0 and (dense.data or 0) % 16 + dense.leading_dim * size % 16 > 0


def row_major(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


def _has_buffer(array):
    try:
        memoryview(array)
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _is_masked(array):
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


def _has_signs_put_off(array):
    """Whether PyTorch has yet to change the signs of these numbers, which DLPack does not say."""
    module = _owner(array)
    return module is not None and module.__name__ == "torch" and array.is_neg()


def _dlpack_device(array):
    """The type of the array's device, as DLPack numbers them; None for objects without DLPack."""
    try:
        return array.__dlpack_device__()[0]
    except (AttributeError, BufferError, RuntimeError, ValueError):
        return None


def _owner(array):
    """The module of the array's type, or of what that derives from, if we know how it allocates; else None."""
    for base in type(array).__mro__:
        name = base.__module__.split(".")[0]
        if name in ("torch", "numpy", "cupy"):
            return sys.modules.get(name)
    return None


def stream_of(array):
    """The current stream of the array's own library, as a number for DLPack and CUDA."""
    module = _owner(array)
    if module is not None and module.__name__ == "torch":
        return module.cuda.current_stream(array.device).cuda_stream or 1  # 1: the legacy default stream
    if module is not None and module.__name__ == "cupy":
        return module.cuda.get_current_stream().ptr or 1
    return 1


def empty_like(array, shape, kind):
    """An unfilled array of the library that made `array`; a memoryview for other objects."""
    module = _owner(array)
    if module is not None and module.__name__ == "torch":
        dtype = {"f32": module.float32, "f64": module.float64, "f16": module.float16, "bf16": module.bfloat16}[kind]
        return module.empty(shape, dtype=dtype, device=array.device)
    if kind == "bf16":
        raise UsageError("an array of bf16 can only be made by torch; pass out")
    if module is not None:
        return module.empty(shape, dtype=_CODES[kind])
    size = SIZES[kind]
    for extent in shape:
        size *= extent
    if size > 0:
        return memoryview((ctypes.c_char * size)()).cast("B").cast(_CODES[kind], shape)
    # memoryview.cast refuses a 0 in a shape, and ctypes knows no f16
    if kind == "f16":
        raise UsageError("an array of f16 without elements can only be made by NumPy or torch; pass out")
    empty = {"f32": ctypes.c_float, "f64": ctypes.c_double}[kind]
    for extent in reversed(shape):
        empty = empty * extent
    return memoryview(empty())
