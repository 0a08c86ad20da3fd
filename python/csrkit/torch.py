"""The products as PyTorch operators: autograd, autocast, torch.compile. No header of torch is compiled against.

    import csrkit, csrkit.torch
    a = csrkit.open("graph.csr")
    y = csrkit.torch.spmm(a, x)
"""
from typing import Optional

import torch

from ._dense import stream_of
from .errors import UsageError
from .matrix import MATRICES, Matrix, from_arrays

_KINDS = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}
_ENTRIES_AT_ONCE = 1 << 16  # rows of the operands that sddmm gathers at a time


def _number(matrix):
    """Operators take tensors and numbers: a matrix goes by its own."""
    if not isinstance(matrix, Matrix):
        raise UsageError(f"A is a {type(matrix).__name__}; pass a csrkit.Matrix")
    return matrix.number


def _pattern(matrix, device):
    """(row, column) of every entry, on that device; made once."""
    key = ("pattern", device)
    if key not in matrix.derived:
        offsets = matrix._tensor(matrix.row_offsets, torch.int64)
        rows = torch.repeat_interleave(torch.arange(matrix.shape[0]), offsets.diff())
        matrix.derived[key] = (rows.to(device), matrix._tensor(matrix.col_indices, torch.int32).to(device))
    return matrix.derived[key]


def _in_kind(matrix, kind):
    """The matrix with values of that kind, one rounding each; made once."""
    if matrix.kind in ("none", kind):
        return matrix
    key = ("values", kind)
    if key not in matrix.derived:
        dtype = next(dtype for dtype, name in _KINDS.items() if name == kind)
        values = matrix.to_torch().values().to(dtype)
        matrix.derived[key] = from_arrays(matrix.shape, matrix.row_offsets, matrix.col_indices, values)
    return matrix.derived[key]


def _multiply(matrix, x, transpose):
    kind = _KINDS.get(x.dtype)
    if kind is None:
        raise UsageError(f"X holds {x.dtype}; use float32, float64, float16 or bfloat16")
    x = x.contiguous()
    out = x.new_empty((matrix.shape[1 if transpose else 0], x.shape[1]))
    if x.shape[1] > 0:
        device, stream = (x.device.index, stream_of(x)) if x.is_cuda else (None, None)
        plan = _in_kind(matrix, kind).cached_plan(x.shape[1], transpose=transpose, kind=kind, out_kind=kind, device=device,
                                                  stream=stream)
        plan.multiply_at(x.data_ptr(), out.data_ptr())
    return out


_DEVICES = ("cpu", "cuda")
torch.library.define("csrkit::spmm", "(Tensor x, int matrix, int rows, bool transpose) -> Tensor")
torch.library.define("csrkit::spmm_values", "(Tensor values, Tensor x, int matrix, int rows, bool transpose) -> Tensor")
torch.library.define("csrkit::sddmm", "(Tensor left, Tensor right, int matrix, int entries) -> Tensor")


@torch.library.impl("csrkit::spmm", _DEVICES)
def _spmm(x: torch.Tensor, matrix: int, rows: int, transpose: bool) -> torch.Tensor:
    return _multiply(MATRICES[matrix], x, transpose)


@torch.library.impl("csrkit::spmm_values", _DEVICES)
def _spmm_values(values: torch.Tensor, x: torch.Tensor, matrix: int, rows: int, transpose: bool) -> torch.Tensor:
    pattern = MATRICES[matrix]
    host = values.detach().to("cpu").contiguous()
    return _multiply(from_arrays(pattern.shape, pattern.row_offsets, pattern.col_indices, host), x, transpose)


@torch.library.impl("csrkit::sddmm", _DEVICES)
def _sddmm(left: torch.Tensor, right: torch.Tensor, matrix: int, entries: int) -> torch.Tensor:
    rows, cols = _pattern(MATRICES[matrix], left.device)
    out = left.new_empty(entries)
    for begin in range(0, entries, _ENTRIES_AT_ONCE):
        here = slice(begin, begin + _ENTRIES_AT_ONCE)
        products_of = left.index_select(0, rows[here]) * right.index_select(0, cols[here])
        out[here] = products_of.sum(1, dtype=torch.promote_types(left.dtype, torch.float32))
    return out


@torch.library.register_fake("csrkit::spmm")
def _(x, matrix, rows, transpose):
    return x.new_empty((rows, x.shape[1]))


@torch.library.register_fake("csrkit::spmm_values")
def _(values, x, matrix, rows, transpose):
    return x.new_empty((rows, x.shape[1]))


@torch.library.register_fake("csrkit::sddmm")
def _(left, right, matrix, entries):
    return left.new_empty(entries)


_ops = torch.ops.csrkit


def _keep_spmm(ctx, inputs, output):
    x, ctx.matrix, _, ctx.transpose = inputs
    ctx.rows = x.shape[0]


def _spmm_backward(ctx, gradient):
    return _ops.spmm(gradient, ctx.matrix, ctx.rows, not ctx.transpose), None, None, None


def _keep_values(ctx, inputs, output):
    values, x, ctx.matrix, _, ctx.transpose = inputs
    ctx.save_for_backward(values, x)


def _values_backward(ctx, gradient):
    values, x = ctx.saved_tensors
    of_values = of_x = None
    if ctx.needs_input_grad[0]:
        pair = (x, gradient) if ctx.transpose else (gradient, x)
        of_values = _ops.sddmm(*pair, ctx.matrix, values.shape[0])
    if ctx.needs_input_grad[1]:
        of_x = _ops.spmm_values(values, gradient, ctx.matrix, x.shape[0], not ctx.transpose)
    return of_values, of_x, None, None, None


def _keep_sddmm(ctx, inputs, output):
    left, right, ctx.matrix, _ = inputs
    ctx.save_for_backward(left, right)


def _sddmm_backward(ctx, gradient):
    left, right = ctx.saved_tensors
    of_left = _ops.spmm_values(gradient, right, ctx.matrix, left.shape[0], False)
    of_right = _ops.spmm_values(gradient, left, ctx.matrix, right.shape[0], True)
    return of_left, of_right, None, None


torch.library.register_autograd("csrkit::spmm", _spmm_backward, setup_context=_keep_spmm)
torch.library.register_autograd("csrkit::spmm_values", _values_backward, setup_context=_keep_values)
torch.library.register_autograd("csrkit::sddmm", _sddmm_backward, setup_context=_keep_sddmm)


def _autocast(tensor):
    """In the kind that autocast prescribes on the tensor's device, if it is on there."""
    device = tensor.device.type
    if torch.is_autocast_enabled(device) and tensor.dtype in (torch.float32, torch.float16, torch.bfloat16):
        return tensor.to(torch.get_autocast_dtype(device))
    return tensor


def spmm(a: Matrix, x: torch.Tensor, values: Optional[torch.Tensor] = None, transpose: bool = False,
         reduce: str = "sum") -> torch.Tensor:
    """op(a) @ x, differentiable with respect to x and values; of x's dtype, summed in float32 or better.

    x: cols x K (rows x K if transposed) of float32, float64, float16 or bfloat16, on the CPU or a GPU; a's values are
    rounded to that kind, once. values: nnz numbers of x's dtype that replace a's. reduce: sum, or mean, which divides
    every row by its number of entries. Under autocast it works in autocast's dtype. Raises UsageError.
    """
    number = _number(a)
    if x.dim() != 2:
        raise UsageError(f"X has {x.dim()} dimensions; use 2")
    wanted = a.shape[0 if transpose else 1]
    if x.shape[0] != wanted:
        raise UsageError(f"X has {x.shape[0]} rows, {wanted} are needed")
    rows = a.shape[1 if transpose else 0]
    x = _autocast(x)
    if values is None:
        y = _ops.spmm(x, number, rows, transpose)
    else:
        values = _autocast(values)
        if values.shape != (a.nnz,) or values.dtype != x.dtype:
            raise UsageError(f"values are {tuple(values.shape)} of {values.dtype}; ({a.nnz},) of {x.dtype} are needed")
        y = _ops.spmm_values(values, x, number, rows, transpose)
    if reduce == "mean":
        return y / _row_lengths(a, transpose, y.device).to(y.dtype)
    if reduce != "sum":
        raise UsageError(f"'{reduce}' is no reduction; use sum or mean")
    return y


def sddmm(a: Matrix, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """nnz numbers: for every entry (i, j) of a the inner product of left[i] and right[j]; differentiable.

    left: rows x K, right: cols x K, of one dtype, summed in float32 or better. Raises UsageError.
    """
    number = _number(a)
    shapes = (left.dim(), right.dim(), left.shape[0], right.shape[0])
    if shapes != (2, 2, *a.shape) or left.shape[1] != right.shape[1] or left.dtype != right.dtype:
        raise UsageError(f"the operands are {tuple(left.shape)} of {left.dtype} and {tuple(right.shape)} of {right.dtype}; "
                         f"({a.shape[0]}, K) and ({a.shape[1]}, K) of one dtype are needed")
    return _ops.sddmm(_autocast(left), _autocast(right), number, a.nnz)


def _row_lengths(matrix, transpose, device):
    """Entries of every row of op(A), at least 1, as a column."""
    rows, cols = _pattern(matrix, device)
    along = cols.long() if transpose else rows
    return torch.bincount(along, minlength=matrix.shape[1 if transpose else 0]).clamp(min=1).unsqueeze(1)
