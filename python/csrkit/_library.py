"""libcsrkit and the structures of csrkit.h. Calls run without the interpreter's lock."""
import ctypes
import operator
import os
import pathlib
import reprlib
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from .errors import BY_STATUS, UsageError

KINDS = {"none": 0, "f32": 1, "f64": 2, "f16": 3, "bf16": 4}
NAMES = {number: name for name, number in KINDS.items()}
SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}


# Members with another name in Python, and the type that is expected unless it is an integer.
_PARAMETERS = {"memory_limit_bytes": "memory_limit"}
_WANTED = {"device": "None for the CPU, or the number of a GPU", "stream": "None, or a cudaStream_t as a number",
           "drop_below": "a number"}


class Sized(ctypes.Structure):
    """A structure that begins with its own size. Everything else is 0 unless it is given."""

    def __init__(self, **members):
        try:
            super().__init__(size=ctypes.sizeof(self), **members)
        except TypeError:
            self._raise_for_one_of(members)
            raise
        for name, value in members.items():
            if not hasattr(value, "__index__"):  # as integers of Python and of NumPy have
                continue
            value = operator.index(value)
            # ctypes would silently drop the bits of an integer that do not fit
            if getattr(self, name) not in (value, value or None):
                kind = dict(self._fields_)[name]
                bits = 8 * ctypes.sizeof(kind)
                low = 0 if kind(-1).value > 0 else -(1 << (bits - 1))
                raise UsageError(f"{_PARAMETERS.get(name, name)} is {value}; it must be a whole number from {low} to "
                                 f"{low + (1 << bits) - 1}")

    def _raise_for_one_of(self, members):
        """Raises UsageError for the first member that ctypes refuses."""
        kinds = dict(self._fields_)
        for name, value in members.items():
            try:
                kinds[name](value)
            except TypeError:
                raise UsageError(f"{_PARAMETERS.get(name, name)} is {reprlib.repr(value)}; it must be "
                                 f"{_WANTED.get(name, 'a whole number')}") from None


class Handle:
    """Owns an object of the library, in `_handle`. Copying returns the object itself; pickling is refused."""

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise UsageError(f"a {type(self).__name__} is in the memory of its process and cannot be pickled; save the matrix in a "
                         "file, and open that in the other process")


class Parameter(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Arrays(Sized):
    _fields_ = [("size", c_size_t), ("rows", c_int64), ("cols", c_int64), ("row_offsets", c_void_p),
                ("col_indices", c_void_p), ("values", c_void_p), ("kind", c_int32), ("release", c_void_p),
                ("owner", c_void_p)]


class ImportOptions(Sized):
    _fields_ = [("size", c_size_t), ("format", c_char_p), ("value_kind", c_char_p), ("duplicates", c_char_p),
                ("parameters", POINTER(Parameter)), ("parameter_count", c_size_t)]


class ReorderOptions(Sized):
    _fields_ = [("size", c_size_t), ("sides", c_char_p), ("seed", c_uint64), ("memory_limit_bytes", c_uint64),
                ("parameters", POINTER(Parameter)), ("parameter_count", c_size_t)]


class MatrixInfo(Sized):
    _fields_ = [("size", c_size_t), ("rows", c_int64), ("cols", c_int64), ("nnz", c_int64),
                ("row_offsets", c_void_p), ("col_indices", c_void_p), ("values", c_void_p), ("kind", c_int32),
                ("is_pattern_symmetric", c_int32), ("is_value_symmetric", c_int32), ("parts", c_int32),
                ("row_order", c_void_p), ("col_order", c_void_p), ("part_of_row", c_void_p),
                ("provenance", c_char_p), ("warnings", c_char_p)]


class PlanOptions(Sized):
    _fields_ = [("size", c_size_t), ("room", c_char_p), ("kernel", c_char_p), ("dense_cols", c_int64),
                ("transpose", c_int32), ("b_kind", c_int32), ("c_kind", c_int32), ("may_vary", c_int32),
                ("semiring", c_char_p), ("variant", c_char_p), ("memory_limit_bytes", c_uint64),
                ("threads", c_int32), ("device", c_int32), ("stream", c_void_p)]


class PlanInfo(Sized):
    _fields_ = [("size", c_size_t), ("kernel", c_char_p), ("choice", c_char_p), ("output_rows", c_int64),
                ("input_rows", c_int64), ("dense_cols", c_int64), ("b_kind", c_int32), ("c_kind", c_int32),
                ("analysis_seconds", c_double), ("peak_bytes", c_uint64)]


class Dense(Sized):
    _fields_ = [("size", c_size_t), ("data", c_void_p), ("rows", c_int64), ("cols", c_int64),
                ("leading_dim", c_int64), ("kind", c_int32), ("space", c_int32)]


class SpgemmOptions(Sized):
    _fields_ = [("size", c_size_t), ("room", c_char_p), ("kernel", c_char_p), ("transpose", c_int32),
                ("threads", c_int32), ("device", c_int32), ("drop_below", c_double), ("mask", c_void_p),
                ("semiring", c_char_p), ("memory_limit_bytes", c_uint64)]


class SddmmOptions(Sized):
    _fields_ = [("size", c_size_t), ("room", c_char_p), ("kernel", c_char_p), ("dense_cols", c_int64),
                ("times_values", c_int32), ("kind", c_int32), ("c_kind", c_int32), ("threads", c_int32),
                ("device", c_int32), ("memory_limit_bytes", c_uint64), ("stream", c_void_p)]


# The functions that return a status, with their parameters.
_FUNCTIONS = {
    "csrkit_open": [c_char_p, c_uint32, POINTER(c_void_p)],
    "csrkit_wrap": [POINTER(Arrays), POINTER(c_void_p)],
    "csrkit_import": [c_char_p, POINTER(ImportOptions), POINTER(c_void_p)],
    "csrkit_reorder": [c_void_p, c_char_p, POINTER(ReorderOptions), POINTER(c_void_p)],
    "csrkit_save": [c_void_p, c_char_p],
    "csrkit_info": [c_void_p, POINTER(MatrixInfo)],
    "csrkit_plan_make": [c_void_p, POINTER(PlanOptions), POINTER(c_void_p)],
    "csrkit_plan_save": [c_void_p, c_char_p],
    "csrkit_plan_load": [c_char_p, c_void_p, POINTER(PlanOptions), POINTER(c_void_p)],
    "csrkit_plan_describe": [c_void_p, POINTER(PlanInfo)],
    "csrkit_bind": [c_void_p, POINTER(Dense), POINTER(Dense)],
    "csrkit_multiply": [c_void_p, c_double, c_double],
    "csrkit_plan_set_values": [c_void_p, c_void_p],
    "csrkit_plan_use_stream": [c_void_p, c_void_p],
    "csrkit_fetch": [c_void_p],
    "csrkit_sddmm_make": [c_void_p, POINTER(SddmmOptions), POINTER(c_void_p)],
    "csrkit_sddmm_multiply": [c_void_p, POINTER(Dense), POINTER(Dense), POINTER(Dense), c_double, c_double],
    "csrkit_sddmm_use_stream": [c_void_p, c_void_p],
    "csrkit_sddmm_describe": [c_void_p, POINTER(c_char_p), POINTER(c_char_p)],
    "csrkit_spgemm": [c_void_p, c_void_p, POINTER(SpgemmOptions), POINTER(c_void_p)],
}


def _load():
    """The library of this package, or, in a source tree, the one that CSRKIT_LIBRARY names."""
    beside = sorted(pathlib.Path(__file__).parent.glob("lib/libcsrkit.so*"))
    path = os.environ.get("CSRKIT_LIBRARY") or (beside[0] if beside else None)
    if path is None:
        raise ImportError(f"{pathlib.Path(__file__).parent}/lib holds no libcsrkit; install the wheel, or name the "
                          "library in CSRKIT_LIBRARY")
    library = ctypes.CDLL(str(path))
    for name, parameters in _FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = parameters
        function.restype = _raise_if_failed
    library.csrkit_version.restype = c_char_p
    library.csrkit_last_error.restype = c_char_p
    for free in (library.csrkit_matrix_free, library.csrkit_plan_free, library.csrkit_sddmm_free):
        free.argtypes = [c_void_p]
        free.restype = None
    return library


def _raise_if_failed(status):
    if status != 0:
        raise BY_STATUS[status](library.csrkit_last_error().decode(errors="replace"))


library = _load()


def new_handle(function, *arguments):
    """The handle that a function returns through its last parameter."""
    handle = c_void_p()
    function(*arguments, byref(handle))
    return handle


def real(value, name):
    """A number for C. Text is refused, as by Python's own operators."""
    try:
        return c_double(value).value
    except (OverflowError, RuntimeError, TypeError, ValueError):  # what numbers of other libraries raise
        raise UsageError(f"{name} is {reprlib.repr(value)}; it must be a number") from None


def truth(value, name):
    """True or False. Text is refused: "no" would be True."""
    try:
        if not isinstance(value, (bytes, str)):
            return bool(value)
    except (RuntimeError, TypeError, ValueError):  # as of arrays
        pass
    raise UsageError(f"{name} is {reprlib.repr(value)}; it must be True or False")


def text(value, name):
    """A string for C; None stays None."""
    if value is None:
        return None
    try:
        encoded = os.fsencode(value)
    except (TypeError, UnicodeEncodeError):
        raise UsageError(f"{name} is {reprlib.repr(value)}; it must be text") from None
    if b"\0" in encoded:  # it would end there
        raise UsageError(f"{name} is {value!r}, which has a null character in it")
    return encoded


def output_name(path, overwrite):
    """The name of an output for C. A file that is there already is an error unless it may be overwritten."""
    name = text(path, "path")
    if not truth(overwrite, "overwrite") and name and os.path.isfile(name):
        raise UsageError(f"the output '{os.fsdecode(name)}' exists already; overwrite=True replaces it")
    return name


def parameter_array(parameters):
    """Keyword arguments as (array, count): min_parts=8 is the parameter min-parts with the value 8."""
    rows = [Parameter(name.replace("_", "-").encode(), _value(value, name)) for name, value in parameters.items()]
    return (Parameter * len(rows))(*rows), len(rows)


def _value(value, name):
    return text(str({True: "yes", False: "no"}[value] if isinstance(value, bool) else value), name)
