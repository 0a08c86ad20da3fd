"""Products in one call. Plans are kept with the matrix, so that only the first call analyses it."""
from ctypes import byref

from ._dense import View
from ._library import SpgemmOptions, library, new_handle, text, truth
from .errors import UsageError
from .matrix import Matrix, require_matrix
from .plan import SddmmPlan


def spmm(a: Matrix, b, out=None, alpha=1.0, beta=0.0, transpose=False, **options):
    """alpha * op(a) * b + beta * out, b and out dense; op(a) is the transpose of a if `transpose`.

    b: cols x K (rows x K if transposed), row by row, of f32, f64, f16 or bf16 as docs/python.md lists; any array that
    speaks DLPack or the buffer protocol. It decides where the product is made: on the host, or on its GPU in its stream.
    out: of the product's shape, else a new array like b. options: as in Plan. Raises UsageError and what Plan raises.
    """
    require_matrix(a)
    view = View(b, "B")
    dense_cols = view.dense().cols
    views = [view] if out is None else [view, View(out, "out")]
    if view.device is not None:
        options = {"device": view.device, **options}
        if options.get("kernel") is None and dense_cols > 1 and any(each.is_off_vectors() for each in views):
            options.setdefault("variant", "off-vectors")
    if out is not None:
        options.setdefault("out_kind", views[1].kind)
    plan = a.cached_plan(dense_cols, transpose=truth(transpose, "transpose"), kind=view.kind, **options)
    return plan.multiply(b, out, alpha, beta)


def spmv(a: Matrix, x, out=None, alpha=1.0, beta=0.0, transpose=False, **options):
    """alpha * op(a) * x + beta * out for a vector x; otherwise as spmm. An f32 matrix takes an f64 vector, too."""
    if len(View(x, "x").shape) != 1:
        raise UsageError("x must have one dimension; use spmm for more columns")
    return spmm(a, x, out, alpha, beta, transpose, **options)


def sddmm(a: Matrix, x, y, out=None, alpha=1.0, beta=0.0, times_values=False, **options):
    """alpha * s * (x[i] . y[j]) + beta * out for every entry (i, j) of a; s is a's value with times_values, else 1.

    x: rows x K, y: cols x K, row by row, both of f32, f64, f16 or bf16; any arrays as for spmm. out: nnz numbers in the
    order of a's entries, of x's kind or of f32 (f64 for f64), else a new array like x. With a's values in out this is
    torch.sparse.sampled_addmm. options: as in SddmmPlan. Raises UsageError and what SddmmPlan raises.
    """
    require_matrix(a)
    view = View(x, "X")
    dense_cols = view.dense().cols
    if view.device is not None:
        options = {"device": view.device, **options}
    if out is not None:
        options.setdefault("out_kind", View(out, "out").kind)
    plan = a.cached_plan(dense_cols, SddmmPlan, kind=view.kind, times_values=truth(times_values, "times_values"),
                         **options)
    return plan.multiply(x, y, out, alpha, beta)


def spgemm(a: Matrix, b: Matrix, transpose=False, *, mask=None, drop_below=0.0, semiring=None, kernel=None, device=None,
           threads=0, memory_limit=0) -> Matrix:
    """a * op(b), all sparse; columns sorted and unique.

    transpose: op(b) is the transpose of b. mask: a Matrix of the product's shape, only its positions are kept.
    drop_below: smaller magnitudes are left out. device: None for the CPU, or the number of a GPU. Raises UsageError,
    OutOfMemoryError, NoGpuError.
    """
    require_matrix(a)
    require_matrix(b, "B")
    if mask is not None:
        require_matrix(mask, "mask")
    options = SpgemmOptions(room=b"cpu" if device is None else b"gpu", kernel=text(kernel, "kernel"),
                            transpose=truth(transpose, "transpose"), threads=threads,
                            device=0 if device is None else device, drop_below=drop_below,
                            mask=None if mask is None else mask._handle, semiring=text(semiring, "semiring"),
                            memory_limit_bytes=memory_limit)
    return Matrix(new_handle(library.csrkit_spgemm, a._handle, b._handle, byref(options)))


def reorder(a: Matrix, method, sides=None, seed=1, **parameters) -> Matrix:
    """a.reorder(...), see there."""
    return a.reorder(method, sides, seed, **parameters)
