"""Sparse matrices: opened, imported, borrowed from arrays; reordered, saved, handed to other libraries."""
import ctypes
import itertools
import operator
import os
import reprlib
import threading
import warnings
import weakref
from ctypes import byref, c_int32, c_int64

from ._dense import View
from ._library import (KINDS, NAMES, Arrays, Handle, ImportOptions, MatrixInfo, ReorderOptions, library, new_handle,
                       output_name, parameter_array, text, truth)
from .errors import UsageError
from .plan import Plan, SddmmPlan

_ELEMENTS = {"f32": (ctypes.c_float, "f"), "f64": (ctypes.c_double, "d"), "f16": (ctypes.c_uint16, "H"),
             "bf16": (ctypes.c_uint16, "H")}
_numbers = itertools.count(1)
MATRICES = weakref.WeakValueDictionary()  # the living ones, by number
_CACHED_PLANS = 16  # per matrix: training uses a handful of widths, forward and backward


class Matrix(Handle):
    """A sparse matrix in CSR form that does not change. Made by open, import_file, from_scipy, from_arrays, spgemm.

    number: its own in this process, under which MATRICES has it. derived: what other modules keep with
    it. Its arrays are read-only views without a copy: NumPy arrays where NumPy is installed, memoryviews elsewhere.
    """

    __array_ufunc__ = None  # NumPy leaves b @ a to Python, which refuses it

    def __init__(self, handle, keep=()):
        self._handle = handle
        self._keep = keep  # arrays that the matrix borrows
        self._plans, self._lock = {}, threading.Lock()
        info = MatrixInfo()
        library.csrkit_info(handle, byref(info))
        self._info = info
        self._shape, self._nnz = (info.rows, info.cols), info.nnz  # torch.compile cannot read structures of ctypes
        self.number = next(_numbers)
        self.derived = {}
        MATRICES[self.number] = self

    def __del__(self):
        if library is not None and getattr(self, "_handle", None):
            library.csrkit_matrix_free(self._handle)

    def __repr__(self):
        return f"<csrkit.Matrix {self.shape[0]} x {self.shape[1]}, {self.nnz} nonzeros, {self.kind}>"

    # Read-only, unlike the shape of a NumPy array: views of the library's memory depend on them.
    @property
    def shape(self):
        """(rows, cols)."""
        return self._shape

    @property
    def nnz(self) -> int:
        """Stored entries; stored zeros are entries."""
        return self._nnz

    @property
    def kind(self) -> str:
        """Of the values: none (every entry is 1), f32, f64, f16 or bf16."""
        return NAMES[self._info.kind]

    @property
    def row_offsets(self):
        """rows + 1 numbers of int64; row i holds the entries [row_offsets[i], row_offsets[i + 1])."""
        return self._array(self._info.row_offsets, c_int64, "q", self.shape[0] + 1)

    @property
    def col_indices(self):
        """nnz numbers of int32, ascending and unique in every row."""
        return self._array(self._info.col_indices, c_int32, "i", self.nnz)

    @property
    def values(self):
        """nnz numbers of `kind`; None for kind none. Those of bf16 are given as their 16 bits (uint16)."""
        return None if self.kind == "none" else self._array(self._info.values, *_ELEMENTS[self.kind], self.nnz)

    @property
    def row_order(self):
        """rows numbers: where the row i of the matrix at import is now. None if it was never reordered."""
        return self._optional(self._info.row_order, self.shape[0])

    @property
    def col_order(self):
        """cols numbers: the same for columns."""
        return self._optional(self._info.col_order, self.shape[1])

    @property
    def parts(self) -> int:
        """Number of parts of the partition; 0 without one."""
        return self._info.parts

    @property
    def part_of_row(self):
        """rows numbers in [0, parts); None without a partition."""
        return self._optional(self._info.part_of_row, self.shape[0])

    @property
    def provenance(self) -> str:
        """JSON text that came with the file, or ""."""
        return (self._info.provenance or b"").decode()

    @property
    def is_pattern_symmetric(self) -> bool:
        """Whether the positions are known to be symmetric; False also stands for unknown."""
        return bool(self._info.is_pattern_symmetric)

    def save(self, path, overwrite=False):
        """Writes a .csr file, whole or not at all. overwrite: replace a file of that name. Raises UsageError, IoError."""
        library.csrkit_save(self._handle, output_name(path, overwrite))

    def reorder(self, method, sides=None, seed=1, **parameters) -> "Matrix":
        """The matrix in a new order, with the orders that lead there.

        method: a name of `csr-reorder --list`, or "undo", back to the order at import. sides: rows, cols, both
        (None: both of a square matrix, else rows). parameters: of the method, parts=8. Raises UsageError,
        OutOfMemoryError.
        """
        array, count = parameter_array(parameters)
        options = ReorderOptions(sides=text(sides, "sides"), seed=seed, parameters=array, parameter_count=count)
        return Matrix(new_handle(library.csrkit_reorder, self._handle, text(method, "method"), byref(options)))

    def __matmul__(self, other):
        """The product with a dense array (spmm), a vector (spmv) or another Matrix (spgemm)."""
        from . import products
        return products.spgemm(self, other) if isinstance(other, Matrix) else products.spmm(self, other)

    def plan(self, dense_cols=1, **options) -> Plan:
        """Analyses the matrix for products with dense operands of dense_cols columns; see Plan."""
        return Plan(self, dense_cols, **options)

    def load_plan(self, path, dense_cols=1, **options) -> Plan:
        """A plan that Plan.save kept for an equal matrix and equal options. Raises UsageError for any other."""
        return Plan(self, dense_cols, path=path, **options)

    def sddmm_plan(self, dense_cols=1, **options) -> SddmmPlan:
        """Analyses the matrix for dense products where it has entries; see SddmmPlan."""
        return SddmmPlan(self, dense_cols, **options)

    def cached_plan(self, dense_cols, make=Plan, **options):
        """As plan, or sddmm_plan for make=SddmmPlan, but returns the same plan for the same arguments: the last few are kept."""
        key = (make, dense_cols, *sorted(options.items()))
        try:
            hash(key)
        except TypeError:  # an argument without a hash, such as a list, which the plan refuses by name
            return make(self, dense_cols, **options)
        with self._lock:
            plan = self._plans.pop(key, None) or make(self, dense_cols, **options)
            self._plans[key] = plan  # the latest comes last
            if len(self._plans) > _CACHED_PLANS:
                self._plans.pop(next(iter(self._plans)))
        return plan

    def to_scipy(self):
        """A scipy.sparse.csr_matrix that shares columns and values; where SciPy wants 32-bit offsets, those are copied.

        Kind none becomes ones of float32. bf16, which NumPy lacks, is a UsageError.
        """
        import numpy
        import scipy.sparse
        if self.kind == "bf16":
            raise UsageError("SciPy has no bf16; use to_torch")
        values = numpy.ones(self.nnz, numpy.float32) if self.values is None else self.values
        matrix = scipy.sparse.csr_matrix((values, self.col_indices, self.row_offsets), shape=self.shape, copy=False)
        matrix.has_canonical_format = True
        return matrix

    def to_torch(self):
        """A torch.sparse_csr tensor on the CPU that shares columns and values.

        Its memory may be a mapped file: do not write to it. Kind none becomes ones of float32.
        """
        import torch
        index = torch.int32 if self.nnz <= 2**31 - 1 else torch.int64
        offsets, cols = self._tensor(self.row_offsets, torch.int64), self._tensor(self.col_indices, torch.int32)
        dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
        values = torch.ones(self.nnz) if self.values is None else self._tensor(self.values, dtypes[self.kind])
        return torch.sparse_csr_tensor(offsets.to(index), cols.to(index), values, self.shape)

    def to_cupy(self):
        """A cupyx.scipy.sparse.csr_matrix on the current GPU, by one copy."""
        import cupyx.scipy.sparse
        return cupyx.scipy.sparse.csr_matrix(self.to_scipy())

    @staticmethod
    def _tensor(array, dtype):
        import warnings

        import torch
        if len(array) == 0:
            return torch.empty(0, dtype=dtype)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*not writable.*")
            return torch.frombuffer(memoryview(array).cast("B"), dtype=dtype)

    def _optional(self, pointer, size):
        return None if pointer is None else self._array(pointer, c_int32, "i", size)

    def _array(self, pointer, element, code, size):
        """A read-only view of the library's memory, which lives as long as the view. An empty array may be anywhere."""
        memory = (element * size).from_address(pointer or ctypes.addressof(ctypes.c_int64()))
        memory.matrix = self
        view = memoryview(memory).toreadonly().cast("B")
        try:
            import numpy
        except ImportError:
            return view.cast(code)
        return numpy.frombuffer(view, numpy.float16 if self.kind == "f16" and code == "H" else code)


def require_matrix(a, name="A"):
    """Raises UsageError if `a` is a matrix of another library."""
    if not isinstance(a, Matrix):
        raise UsageError(f"{name} is a {type(a).__name__}; pass a csrkit.Matrix, as csrkit.from_scipy makes one")


def open(path, verify=True) -> Matrix:
    """Opens a .csr file and checks all of it, as the tools do. Large files are mapped, not copied.

    verify=False looks at the header only: for a file that was checked before. Raises InputError, IoError.
    """
    return Matrix(new_handle(library.csrkit_open, text(path, "path"), 0 if truth(verify, "verify") else 1))


def import_file(path, format=None, value_kind=None, duplicates=None, **parameters) -> Matrix:
    """Imports a file of another program: Matrix Market, edge lists, NumPy archives and more.

    format: a name of `csr-import --list` (None: found by content). value_kind: none, f32, f64, f16, bf16 (None: without
    loss). duplicates: sum, first or error. parameters: of the format, base=1. Raises InputError, IoError, UsageError;
    warns (UserWarning) of what csr-import warns of, such as values too small for their kind, which become 0.
    """
    array, count = parameter_array(parameters)
    options = ImportOptions(format=text(format, "format"), value_kind=text(value_kind, "value_kind"),
                            duplicates=text(duplicates, "duplicates"), parameters=array, parameter_count=count)
    matrix = Matrix(new_handle(library.csrkit_import, text(path, "path"), byref(options)))
    for warning in (matrix._info.warnings or b"").decode(errors="replace").splitlines():
        warnings.warn(f"{os.fsdecode(path)}: {warning}", stacklevel=2)
    return matrix


def from_arrays(shape, row_offsets, col_indices, values=None) -> Matrix:
    """A matrix that borrows arrays on the host: int64 offsets, int32 columns, values of f32, f64, f16, bf16 or None.

    Columns must ascend and be unique in every row. The arrays must not change. Raises UsageError, InputError.
    """
    views = [View(row_offsets, "row_offsets"), View(col_indices, "col_indices")]
    kind = "none"
    if values is not None:
        views.append(View(values, "values"))
        kind = views[2].kind
    try:
        rows, cols = map(operator.index, shape)
    except (TypeError, ValueError):
        raise UsageError(f"the shape is {reprlib.repr(shape)}; it must be two whole numbers") from None
    if rows < 0 or cols < 0:
        raise UsageError(f"the shape is {rows} x {cols}; rows and columns must be 0 or more")
    for view, wanted in zip(views, ("i64", "i32", kind)):
        is_dense = len(view.shape) == 1 and (view.shape[0] <= 1 or view.strides[0] == 1)
        if view.kind != wanted or view.device is not None or not is_dense:
            raise UsageError(f"{view.name} must be {wanted}, on the host, of one dimension and without gaps; found "
                             f"{view.kind} of shape {view.shape}")
    if kind not in KINDS:
        raise UsageError(f"values hold elements of type {kind}; use f32, f64, f16 or bf16")
    if views[0].shape[0] != rows + 1:
        raise UsageError(f"row_offsets has {views[0].shape[0]} elements; {rows + 1} are needed for {rows} rows")
    nnz = int(row_offsets[rows])
    for view in views[1:]:
        if view.shape[0] != nnz:
            raise UsageError(f"{view.name} has {view.shape[0]} elements; row_offsets end with {nnz}")
    arrays = Arrays(rows=rows, cols=cols, row_offsets=views[0].pointer, col_indices=views[1].pointer,
                    values=views[2].pointer if values is not None else None, kind=KINDS[kind])
    return Matrix(new_handle(library.csrkit_wrap, byref(arrays)), keep=tuple(views))


def from_scipy(matrix) -> Matrix:
    """A matrix of SciPy, in any of its formats. Columns and values of a csr_matrix in canonical form are shared.

    Whole numbers and truth values become f32, those of more than 16 bits f64, which must hold them exactly. Raises
    UsageError.
    """
    import numpy
    if not hasattr(matrix, "tocsr"):
        raise UsageError(f"the matrix is a {type(matrix).__name__}; pass one of SciPy, scipy.sparse.csr_matrix(x)")
    if len(matrix.shape) != 2:
        raise UsageError(f"the array has the shape {matrix.shape}; two dimensions are needed")
    matrix = matrix.tocsr()
    if matrix.dtype.kind == "c":
        raise UsageError("the values are complex, matrices here are real; pass matrix.real or matrix.imag")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.dtype.kind in "biu":
        found = matrix.data
        matrix = matrix.astype(numpy.float32 if matrix.dtype.itemsize <= 2 else numpy.float64)
        # A value that is rounded up to the first number beyond its type has no way back, which NumPy warns of.
        beyond = 2.0 ** (8 * found.dtype.itemsize - (found.dtype.kind == "i"))
        if (matrix.data >= beyond).any() or (matrix.data.astype(found.dtype) != found).any():
            raise UsageError(f"f64 does not hold all of the values, which are {found.dtype}, exactly")
    columns = matrix.indices.astype(numpy.int32, copy=False)  # which drops the upper bits of a longer number
    if (columns != matrix.indices).any():
        wrong = matrix.indices[columns != matrix.indices][0]
        raise UsageError(f"the matrix has an entry in column {wrong}, and {matrix.shape[1]} columns")
    return from_arrays(matrix.shape, matrix.indptr.astype(numpy.int64, copy=False), columns, matrix.data)
