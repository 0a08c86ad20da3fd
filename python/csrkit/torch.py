"""The products as PyTorch operators: autograd, autocast, torch.compile. No header of torch is compiled against.

    import csrkit, csrkit.torch
    a = csrkit.open("graph.csr")
    y = csrkit.torch.spmm(a, x)
"""
from typing import Optional, Tuple

import torch
from torch.autograd import forward_ad

from ._dense import stream_of
from ._library import truth
from .errors import UsageError
from .matrix import MATRICES, Matrix, from_arrays, require_matrix
from .plan import SddmmPlan

_KINDS = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}
_DTYPES = {kind: dtype for dtype, kind in _KINDS.items()}
_ENTRIES_AT_ONCE = 1 << 16  # whose rows of the operands are gathered at a time


def _plain(x):
    """The tensor without gaps and with its final signs: PyTorch may put off those of an imaginary part."""
    return x.contiguous().resolve_neg()


def _require_tensor(x, name):
    if not isinstance(x, torch.Tensor) or x.layout != torch.strided:
        found = f"tensor of {x.layout}" if isinstance(x, torch.Tensor) else type(x).__name__
        raise UsageError(f"{name} is a {found}; pass a dense tensor")
    # Without this a tangent would be lost silently.
    if getattr(forward_ad, "_current_level", -1) >= 0 and forward_ad.unpack_dual(x).tangent is not None:
        raise UsageError(f"{name} has a tangent, and forward derivatives (jvp) are not offered; use backward()")


def _number(matrix):
    """Operators take tensors and numbers, so a matrix is passed by its number."""
    require_matrix(matrix)
    return matrix.number


def _kept(matrix, key, make):
    """What make() derives from a matrix, made once."""
    if key not in matrix.derived:
        matrix.derived[key] = make()
    return matrix.derived[key]


def _offsets(matrix):
    return matrix._tensor(matrix.row_offsets, torch.int64)


def _columns(matrix):
    return matrix._tensor(matrix.col_indices, torch.int32)


def _rows(matrix):
    """The row of every entry, int32, on the host."""
    rows = torch.arange(matrix.shape[0], dtype=torch.int32)
    return _kept(matrix, "rows", lambda: torch.repeat_interleave(rows, _offsets(matrix).diff()))


def _pattern(matrix, device):
    """(row, column) of every entry, int32, on that device."""
    return _kept(matrix, ("pattern", device), lambda: (_rows(matrix).to(device), _columns(matrix).to(device)))


def _positions(matrix, device):
    """Where A's values go in A^T, on that device."""
    return _kept(matrix, ("positions", device), lambda: _transposed(matrix)[2].to(device))


def _transposed(matrix):
    """(row offsets, columns, positions in A) of A^T's entries, on the host."""
    def make():
        cols = _columns(matrix)
        position = torch.sort(cols, stable=True)[1]
        offsets = torch.zeros(matrix.shape[1] + 1, dtype=torch.int64)
        torch.cumsum(torch.bincount(cols, minlength=matrix.shape[1]), 0, out=offsets[1:])
        return offsets, _rows(matrix)[position], position
    return _kept(matrix, "transposed", make)


def _in_kind(matrix, kind):
    """The matrix with values of that kind, one rounding each; made once."""
    if matrix.kind in ("none", kind):
        return matrix
    return _kept(matrix, ("values", kind), lambda: from_arrays(
        matrix.shape, matrix.row_offsets, matrix.col_indices, matrix.to_torch().values().to(_DTYPES[kind])))


def _own_values(matrix, dtype, device):
    """A's values as a tensor of that kind; ones if it has none."""
    return _kept(matrix, ("own", dtype, device), lambda: matrix.to_torch().values().to(dtype=dtype, device=device))


def _with_places(matrix, kind, transpose):
    """op(A) by rows with room for the values that every product passes: its plans are made once."""
    def make():
        places = torch.zeros(matrix.nnz, dtype=_DTYPES[kind])
        if not transpose:
            return from_arrays(matrix.shape, matrix.row_offsets, matrix.col_indices, places)
        offsets, cols, _ = _transposed(matrix)
        return from_arrays(matrix.shape[::-1], offsets, cols, places)
    return _kept(matrix, ("places", kind, transpose), make)


def _kind_of(x):
    kind = _KINDS.get(x.dtype)
    if kind is None:
        raise UsageError(f"X holds {x.dtype}; use float32, float64, float16 or bfloat16")
    return kind


def _place_of(x):
    """Options of a plan that works where x is."""
    return {"device": x.device.index} if x.is_cuda else {}


def _stream_of(x):
    """The stream of the moment, as a number; None on the CPU."""
    if not x.is_cuda:
        return None
    return (_raw_stream(x.device.index) or 1) if _raw_stream else stream_of(x)


def _multiply(matrix, x, transpose):
    kind, x = _kind_of(x), _plain(x)
    out = x.new_empty((matrix.shape[1 if transpose else 0], x.shape[1]))
    if x.shape[1] > 0:
        plan = _in_kind(matrix, kind).cached_plan(x.shape[1], transpose=transpose, kind=kind, out_kind=kind,
                                                  **_place_of(x))
        plan.multiply_at(x.data_ptr(), out.data_ptr(), _stream_of(x))
    return out


def _multiply_values(matrix, values, x, transpose):
    if x.is_cuda and x.shape[1] == 1:  # formats of SpMV on a GPU take no other values
        return _multiply_values(matrix, values, x.expand(-1, 2), transpose)[:, :1].contiguous()
    kind, x, values = _kind_of(x), _plain(x), _plain(values.detach().to(x.device))
    out = x.new_empty((matrix.shape[1 if transpose else 0], x.shape[1]))
    if x.shape[1] > 0:
        values = values.index_select(0, _positions(matrix, x.device)) if transpose else values
        kernel = "row_bins" if x.is_cuda else "nnz_balanced" if x.shape[1] > 1 else "csr_balanced"
        plan = _with_places(matrix, kind, transpose).cached_plan(x.shape[1], kind=kind, out_kind=kind, kernel=kernel,
                                                                 **_place_of(x))
        plan.multiply_values_at(values.data_ptr(), x.data_ptr(), out.data_ptr(), _stream_of(x))
    return out


# Both are PyTorch's own; where they are gone, what is public does, a few microseconds slower.
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)
_are_transforms_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: False)
_DEVICES = ("cpu", "cuda")
_OPERATORS = {
    "spmm": "(Tensor x, int matrix, int rows, bool transpose) -> Tensor",
    "spmm_values": "(Tensor values, Tensor x, int matrix, int rows, bool transpose) -> Tensor",
    "spmm_max": "(Tensor values, Tensor x, int matrix, int rows, bool transpose) -> (Tensor, Tensor)",
    "spmm_max_backward": "(Tensor gradient, Tensor entry, Tensor values, Tensor x, int matrix, bool transpose) "
                         "-> (Tensor, Tensor)",
    "own_values": "(Tensor like, int matrix, int entries) -> Tensor",
    "over_lengths": "(Tensor y, int matrix, bool transpose) -> Tensor",
    "sddmm": "(Tensor left, Tensor right, int matrix, int entries) -> Tensor",
}
for _name, _signature in _OPERATORS.items():
    torch.library.define(f"csrkit::{_name}", _signature)


@torch.library.impl("csrkit::spmm", _DEVICES)
def _spmm(x: torch.Tensor, matrix: int, rows: int, transpose: bool) -> torch.Tensor:
    return _multiply(MATRICES[matrix], x, transpose)


@torch.library.impl("csrkit::spmm_values", _DEVICES)
def _spmm_values(values: torch.Tensor, x: torch.Tensor, matrix: int, rows: int, transpose: bool) -> torch.Tensor:
    return _multiply_values(MATRICES[matrix], values, x, transpose)


@torch.library.impl("csrkit::own_values", _DEVICES)
def _own_values_of(like: torch.Tensor, matrix: int, entries: int) -> torch.Tensor:
    return _own_values(MATRICES[matrix], like.dtype, like.device).clone()


@torch.library.impl("csrkit::over_lengths", _DEVICES)
def _over_lengths(y: torch.Tensor, matrix: int, transpose: bool) -> torch.Tensor:
    a = MATRICES[matrix]

    def make():
        offsets = _transposed(a)[0] if transpose else _offsets(a)
        return offsets.diff().clamp(min=1).unsqueeze(1).to(y.device)
    return y / _kept(a, ("lengths", transpose, y.device), make).to(y.dtype)


@torch.library.impl("csrkit::spmm_max", _DEVICES)
def _spmm_max(values: torch.Tensor, x: torch.Tensor, matrix: int, rows: int,
              transpose: bool) -> Tuple[torch.Tensor, torch.Tensor]:
    a = MATRICES[matrix]
    position = None
    if transpose:
        offsets, cols, position = _transposed(a)
        position = position.to(values.device)
        values = values[position]
    else:
        offsets, cols = _offsets(a), _columns(a)
    cols = cols.to(x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.new_zeros((rows, x.shape[1]))
    entry = torch.full(y.shape, -1, dtype=torch.int64, device=x.device)
    first = 0
    while first < rows:
        # As many rows as have about _ENTRIES_AT_ONCE entries, at least one.
        last = int(torch.searchsorted(offsets, offsets[first] + _ENTRIES_AT_ONCE, right=True)) - 1
        last = min(max(last, first + 1), rows)
        begin, end = int(offsets[first]), int(offsets[last])
        if end > begin:
            lengths = offsets[first:last + 1].diff().to(x.device)
            row = torch.repeat_interleave(torch.arange(last - first, device=x.device), lengths)
            products = values[begin:end].to(wide).unsqueeze(1) * x.index_select(0, cols[begin:end]).to(wide)
            places = row.unsqueeze(1).expand_as(products)
            best = products.new_full((last - first, x.shape[1]), -torch.inf).scatter_reduce(0, places, products, "amax")
            here = torch.arange(begin, end, device=x.device).unsqueeze(1)
            candidates = torch.where(products == best.index_select(0, row), here, end)
            winner = torch.full(best.shape, end, device=x.device).scatter_reduce(0, places, candidates, "amin")
            y[first:last] = torch.where((lengths > 0).unsqueeze(1), best, 0).to(y.dtype)
            entry[first:last] = torch.where(winner < end, winner, -1)
        first = last
    if position is not None:
        entry = torch.where(entry < 0, -1, position[entry.clamp(min=0)]) if position.numel() else entry
    return y, entry


@torch.library.impl("csrkit::spmm_max_backward", _DEVICES)
def _spmm_max_backward(gradient: torch.Tensor, entry: torch.Tensor, values: torch.Tensor, x: torch.Tensor, matrix: int,
                       transpose: bool) -> Tuple[torch.Tensor, torch.Tensor]:
    of_values, of_x = torch.zeros_like(values), torch.zeros_like(x)
    if values.numel() > 0 and entry.numel() > 0:
        source = _pattern(MATRICES[matrix], x.device)[0 if transpose else 1].long()
        gradient = torch.where(entry >= 0, gradient, 0)
        entry = entry.clamp(min=0)
        neighbour = source[entry]
        of_x.scatter_add_(0, neighbour, gradient * values[entry])
        of_values.index_add_(0, entry.flatten(), (gradient * x.gather(0, neighbour)).flatten())
    return of_values, of_x


@torch.library.impl("csrkit::sddmm", _DEVICES)
def _sddmm(left: torch.Tensor, right: torch.Tensor, matrix: int, entries: int) -> torch.Tensor:
    out = left.new_empty(entries)
    if left.shape[1] == 0:
        return out.zero_()
    kind, left, right = _kind_of(left), _plain(left), _plain(right)
    plan = MATRICES[matrix].cached_plan(left.shape[1], SddmmPlan, kind=kind, out_kind=kind, **_place_of(left))
    plan.multiply_at(left.data_ptr(), right.data_ptr(), out.data_ptr(), _stream_of(left))
    return out


@torch.library.register_fake("csrkit::spmm")
def _(x, matrix, rows, transpose):
    return x.new_empty((rows, x.shape[1]))


@torch.library.register_fake("csrkit::spmm_values")
def _(values, x, matrix, rows, transpose):
    return x.new_empty((rows, x.shape[1]))


@torch.library.register_fake("csrkit::own_values")
def _(like, matrix, entries):
    return like.new_empty(entries)


@torch.library.register_fake("csrkit::over_lengths")
def _(y, matrix, transpose):
    return y.new_empty(y.shape)


@torch.library.register_fake("csrkit::spmm_max")
def _(values, x, matrix, rows, transpose):
    return x.new_empty((rows, x.shape[1])), x.new_empty((rows, x.shape[1]), dtype=torch.int64)


@torch.library.register_fake("csrkit::spmm_max_backward")
def _(gradient, entry, values, x, matrix, transpose):
    return torch.empty_like(values), torch.empty_like(x)


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


def _keep_max(ctx, inputs, output):
    values, x, ctx.matrix, _, ctx.transpose = inputs
    ctx.save_for_backward(output[1], values, x)
    ctx.mark_non_differentiable(output[1])


def _max_backward(ctx, gradient, _):
    entry, values, x = ctx.saved_tensors
    of_values, of_x = _ops.spmm_max_backward(gradient, entry, values, x, ctx.matrix, ctx.transpose)
    return of_values, of_x, None, None, None


def _keep_lengths(ctx, inputs, output):
    _, ctx.matrix, ctx.transpose = inputs


def _lengths_backward(ctx, gradient):
    return _ops.over_lengths(gradient, ctx.matrix, ctx.transpose), None, None


def _keep_sddmm(ctx, inputs, output):
    left, right, ctx.matrix, _ = inputs
    ctx.save_for_backward(left, right)


def _sddmm_backward(ctx, gradient):
    left, right = ctx.saved_tensors
    of_left = of_right = None
    if ctx.needs_input_grad[0]:
        of_left = _ops.spmm_values(gradient, right, ctx.matrix, left.shape[0], False)
    if ctx.needs_input_grad[1]:
        of_right = _ops.spmm_values(gradient, left, ctx.matrix, right.shape[0], True)
    return of_left, of_right, None, None


torch.library.register_autograd("csrkit::spmm", _spmm_backward, setup_context=_keep_spmm)
torch.library.register_autograd("csrkit::spmm_values", _values_backward, setup_context=_keep_values)
torch.library.register_autograd("csrkit::spmm_max", _max_backward, setup_context=_keep_max)
torch.library.register_autograd("csrkit::over_lengths", _lengths_backward, setup_context=_keep_lengths)
torch.library.register_autograd("csrkit::sddmm", _sddmm_backward, setup_context=_keep_sddmm)


def _autocast(tensor):
    """In the kind that autocast prescribes on the tensor's device, if it is on there."""
    device = tensor.device.type
    is_on = device in _DEVICES and torch.is_autocast_enabled(device)
    if is_on and tensor.dtype in (torch.float32, torch.float16, torch.bfloat16):
        return tensor.to(torch.get_autocast_dtype(device))
    return tensor


class _Spmm(torch.autograd.Function):
    """The operator's gradient without the operator: PyTorch's dispatcher costs more than a small product."""

    @staticmethod
    def forward(ctx, x, matrix, transpose):
        ctx.matrix, ctx.transpose = matrix, transpose
        return _multiply(matrix, x, transpose)

    @staticmethod
    def backward(ctx, gradient):
        return _spmm_now(ctx.matrix, gradient, not ctx.transpose), None, None


def _spmm_now(matrix, x, transpose):
    if x.requires_grad and torch.is_grad_enabled():
        return _Spmm.apply(x, matrix, transpose)
    return _multiply(matrix, x, transpose)


def _is_plain(x):
    """Whether nobody traces or transforms: then no operator has to be seen."""
    return (type(x) in (torch.Tensor, torch.nn.Parameter) and not x.is_meta and not torch.compiler.is_compiling()
            and not _are_transforms_active())


def spmm(a: Matrix, x: torch.Tensor, values: Optional[torch.Tensor] = None, transpose: bool = False,
         reduce: str = "sum") -> torch.Tensor:
    """op(a) @ x, differentiable with respect to x and values; of x's dtype, summed in float32 or better.

    x: cols x K (rows x K if transposed) of float32, float64, float16 or bfloat16, on the CPU or a GPU; a's values are
    rounded to that kind, once. values: nnz numbers of x's dtype that replace a's; a plan serves all of them.
    reduce: sum; mean, which divides every row by its number of entries; or max, the largest product of a value and an
    element of x, whose gradient goes to the first entry of the row that has it, and 0 in a row without entries. Under
    autocast it works in autocast's dtype. Raises UsageError.
    """
    number = _number(a)
    transpose = transpose if type(transpose) is bool else truth(transpose, "transpose")
    _require_tensor(x, "X")
    if x.dim() != 2:
        raise UsageError(f"X has {x.dim()} dimensions; use 2")
    wanted = a.shape[0 if transpose else 1]
    if x.shape[0] != wanted:
        raise UsageError(f"X has {x.shape[0]} rows, {wanted} are needed")
    if reduce not in ("sum", "mean", "max"):
        raise UsageError(f"'{reduce}' is no reduction; use sum, mean or max")
    rows = a.shape[1 if transpose else 0]
    x = _autocast(x)
    if values is None and reduce == "sum" and _is_plain(x):
        return _spmm_now(a, x, transpose)
    if values is not None:
        _require_tensor(values, "values")
        values = _autocast(values)
        if values.shape != (a.nnz,) or values.dtype != x.dtype:
            raise UsageError(f"values are {tuple(values.shape)} of {values.dtype}; ({a.nnz},) of {x.dtype} are needed")
    if reduce == "max":
        values = _ops.own_values(x.detach(), number, a.nnz) if values is None else values
        return _ops.spmm_max(values, x, number, rows, transpose)[0]
    if values is None:
        y = _ops.spmm(x, number, rows, transpose)
    else:
        y = _ops.spmm_values(values, x, number, rows, transpose)
    return _ops.over_lengths(y, number, transpose) if reduce == "mean" else y


def sddmm(a: Matrix, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """nnz numbers: for every entry (i, j) of a the inner product of left[i] and right[j]; differentiable.

    left: rows x K, right: cols x K, of one dtype, summed in float32 or better. Raises UsageError.
    """
    number = _number(a)
    _require_tensor(left, "left")
    _require_tensor(right, "right")
    shapes = (left.dim(), right.dim(), left.shape[0], right.shape[0])
    if shapes != (2, 2, *a.shape) or left.shape[1] != right.shape[1] or left.dtype != right.dtype:
        raise UsageError(f"the operands are {tuple(left.shape)} of {left.dtype} and {tuple(right.shape)} of {right.dtype}; "
                         f"({a.shape[0]}, K) and ({a.shape[1]}, K) of one dtype are needed")
    return _ops.sddmm(_autocast(left), _autocast(right), number, a.nnz)


def edges(a: Matrix, device="cpu") -> Tuple[torch.Tensor, torch.Tensor]:
    """(row, column) of every entry of a, nnz numbers of int32 each, on that device; made once: do not write to them."""
    return _pattern(a, torch.device(device))
