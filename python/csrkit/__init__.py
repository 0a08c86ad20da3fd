"""Sparse matrices on the machines where they really run: open, reorder, multiply.

    import csrkit
    a = csrkit.open("graph.csr")
    c = csrkit.spmm(a, b)

csrkit.torch holds the PyTorch operators, csrkit.pyg an adapter for PyTorch Geometric.
"""
from ._library import library as _library
from .errors import (CheckError, DeviceError, Error, InputError, InternalError, IoError, NoGpuError, OutOfMemoryError,
                     UsageError)
from .matrix import Matrix, from_arrays, from_scipy, import_file, open
from .plan import Plan, SddmmPlan
from .products import reorder, sddmm, spgemm, spmm, spmv

__version__ = _library.csrkit_version().decode()
__all__ = ["CheckError", "DeviceError", "Error", "InputError", "InternalError", "IoError", "Matrix", "NoGpuError",
           "OutOfMemoryError", "Plan", "SddmmPlan", "UsageError", "from_arrays", "from_scipy", "import_file", "open",
           "reorder", "sddmm", "spgemm", "spmm", "spmv"]
