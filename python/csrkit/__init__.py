"""Sparse matrices on the machines where they really run: open, reorder, multiply.

    import csrkit
    a = csrkit.open("graph.csr")
    c = csrkit.spmm(a, b)

csrkit.torch holds the PyTorch operator.
"""
from ._library import library as _library
from .errors import (CheckError, DeviceError, Error, InputError, InternalError, IoError, NoGpuError, OutOfMemoryError,
                     UsageError)
from .matrix import Matrix, from_arrays, from_scipy, import_file, open
from .plan import Plan
from .products import reorder, spgemm, spmm, spmv

__version__ = _library.csrkit_version().decode()
__all__ = ["CheckError", "DeviceError", "Error", "InputError", "InternalError", "IoError", "Matrix", "NoGpuError",
           "OutOfMemoryError", "Plan", "UsageError", "from_arrays", "from_scipy", "import_file", "open", "reorder",
           "spgemm", "spmm", "spmv"]
