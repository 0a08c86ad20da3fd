"""Plans: what is derived from a matrix once, for many products with dense operands."""
import operator
import reprlib
import threading
from ctypes import byref, c_char_p

from ._dense import View, empty_like
from ._library import (KINDS, NAMES, SIZES, Dense, Handle, PlanInfo, PlanOptions, SddmmOptions, library, new_handle,
                       output_name, real, text, truth)
from .errors import UsageError


def _number(kind):
    """A kind for the library; None is the default there, too."""
    if kind is None:
        return 0
    if not isinstance(kind, str) or kind not in SIZES:
        raise UsageError(f"'{kind}' is no kind of dense operands; use {', '.join(SIZES)}")
    return KINDS[kind]


def require_cols(dense_cols):
    try:
        is_zero = operator.index(dense_cols) == 0
    except TypeError:
        raise UsageError(f"dense_cols is {reprlib.repr(dense_cols)}; it must be a whole number") from None
    if is_zero:  # the default in C
        raise UsageError("dense_cols is 0; it must be 1 or more")


class _Streams:
    """The stream of a plan's work on a GPU: the one it was made for, else that of each call's arrays."""

    def __init__(self, stream, use_stream):
        self.wanted = self._current = stream
        self._use_stream = use_stream

    def enter(self, handle, stream):
        if stream is not None and stream != self._current and self.wanted is None:
            self._use_stream(handle, stream)
            self._current = stream

    def leave(self, handle, stream, is_result_there):
        """After a call with operands on the host, for which the library went back to the plan's first stream."""
        if self.wanted is None:
            self._current = None
            if is_result_there:
                self.enter(handle, stream)


class Plan(Handle):
    """C = alpha * op(A) * B + beta * C for one matrix, one number of columns and one device.

    transpose: op(A) is the transpose of A. kind, out_kind: of B and C (None: A's kind, f32 if it has no values; f64 if
    B is, else f32). device: None for the CPU, or the number of a GPU. stream: there, a cudaStream_t as a number (None:
    the one in which the arrays' library works at each call). kernel: a name of `csr-spmm-cpu --list` and the like (None
    chooses). variant: one of the kernel; "off-vectors" tells the GPU's chooser that rows of b or out will begin at
    no multiples of 16 bytes (an odd stride or address), as csrkit.spmm does by itself. semiring: plus-times, min-plus,
    max-times, or-and. threads: CPU, at most 4096 (0: OMP_NUM_THREADS). Raises UsageError, OutOfMemoryError, NoGpuError.
    One thread multiplies at a time; others wait.
    """

    def __init__(self, matrix, dense_cols=1, *, path=None, transpose=False, kind=None, out_kind=None, device=None,
                 stream=None, kernel=None, variant=None, semiring=None, threads=0, deterministic=True, memory_limit=0):
        require_cols(dense_cols)
        options = PlanOptions(
            room=b"cpu" if device is None else b"gpu", kernel=text(kernel, "kernel"), dense_cols=dense_cols,
            transpose=truth(transpose, "transpose"), b_kind=_number(kind), c_kind=_number(out_kind),
            may_vary=not truth(deterministic, "deterministic"), semiring=text(semiring, "semiring"),
            variant=text(variant, "variant"), memory_limit_bytes=memory_limit, threads=threads,
            device=0 if device is None else device, stream=stream)
        self._lock = threading.Lock()
        self._streams = _Streams(stream, library.csrkit_plan_use_stream)
        self._keep = matrix._keep  # arrays that the plan may read; not the matrix, which keeps plans
        if path is None:
            self._handle = new_handle(library.csrkit_plan_make, matrix._handle, byref(options))
        else:
            self._handle = new_handle(library.csrkit_plan_load, text(path, "path"), matrix._handle, byref(options))
        info = self._describe()
        self.shape = (info.output_rows, info.input_rows)
        self.dense_cols = info.dense_cols
        self.kind, self.out_kind = NAMES[info.b_kind], NAMES[info.c_kind]
        self.device = device
        space = 0 if device is None else 1
        self._b = Dense(rows=self.shape[1], cols=self.dense_cols, kind=info.b_kind, space=space)
        self._c = Dense(rows=self.shape[0], cols=self.dense_cols, kind=info.c_kind, space=space)

    def __del__(self):
        if library is not None and getattr(self, "_handle", None):
            library.csrkit_plan_free(self._handle)

    def __repr__(self):
        return f"<csrkit.Plan {self.kernel}, {self.shape[0]} x {self.shape[1]} times {self.dense_cols} columns>"

    @property
    def kernel(self) -> str:
        """The kernel that multiplies."""
        return self._describe().kernel.decode()

    @property
    def choice(self) -> str:
        """What was decided and why, for people; or ""."""
        return self._describe().choice.decode()

    @property
    def analysis_seconds(self) -> float:
        """Seconds that making the plan took, without the upload of the matrix to a GPU."""
        return self._describe().analysis_seconds

    def save(self, path, overwrite=False):
        """Keeps the kernel and what it derived from the matrix, for Matrix.load_plan. overwrite: replace a file of that name.

        Raises UsageError, IoError.
        """
        with self._lock:
            library.csrkit_plan_save(self._handle, output_name(path, overwrite))

    def multiply(self, b, out=None, alpha=1.0, beta=0.0):
        """alpha * op(A) * b + beta * out, in `out` if that is given, else in a new array like b.

        b: input rows x dense_cols (or a vector), row by row, on the host or on the plan's GPU; out likewise, and shares no
        element with b. Without beta it may hold anything. Arrays on a GPU are used in the stream in which their library works, without waiting.
        Raises UsageError.
        """
        alpha, beta = real(alpha, "alpha"), real(beta, "beta")
        b_view = View(b, "B", stream=self._streams.wanted)
        if out is None:
            if beta != 0:
                raise UsageError("beta adds to out; pass it")
            shape = (self.shape[0],) if len(b_view.shape) == 1 else (self.shape[0], self.dense_cols)
            out = empty_like(b, shape, self.out_kind)
        out_view = View(out, "out", is_written=True, stream=self._streams.wanted)
        stream = b_view.stream or out_view.stream
        with self._lock:
            self._streams.enter(self._handle, stream)
            library.csrkit_bind(self._handle, byref(b_view.dense()), byref(out_view.dense()))
            library.csrkit_multiply(self._handle, alpha, beta)
            if out_view.device is None:
                library.csrkit_fetch(self._handle)
            if b_view.device is None or out_view.device is None:
                self._streams.leave(self._handle, stream, out_view.device is not None)
        return out

    def multiply_at(self, b, out, stream=None):
        """out = op(A) b for the addresses of two arrays without gaps, in the memory of the plan's device, in that stream.

        For other modules that know their arrays: nothing is checked, and nothing waits on a GPU.
        """
        with self._lock:
            self._streams.enter(self._handle, stream)
            self._b.data, self._c.data = b, out
            library.csrkit_bind(self._handle, self._b, self._c)
            library.csrkit_multiply(self._handle, 1.0, 0.0)
            if self.device is None:
                library.csrkit_fetch(self._handle)

    def multiply_values_at(self, values, b, out, stream=None):
        """As multiply_at, with A's values at an address: nnz of them, of A's kind, in the order of its entries.

        Not transposed. On the CPU for nnz_balanced, and csr_balanced for one column.
        On a GPU for two columns or more, by row_bins best; it waits there for what depends on values to be made anew.
        Raises UsageError for others. Further products with this plan must say their values, too.
        """
        with self._lock:
            self._streams.enter(self._handle, stream)
            library.csrkit_plan_set_values(self._handle, values)
            self._b.data, self._c.data = b, out
            library.csrkit_bind(self._handle, self._b, self._c)
            library.csrkit_multiply(self._handle, 1.0, 0.0)
            if self.device is None:
                library.csrkit_fetch(self._handle)

    def _describe(self):
        info = PlanInfo()
        library.csrkit_plan_describe(self._handle, byref(info))
        return info


class SddmmPlan(Handle):
    """C = alpha * S * (x[i] . y[j]) + beta * C for every entry (i, j) of one matrix; one width, one device.

    times_values: S is the matrix's value, else 1. kind, out_kind: of x and y, and of C (None: the matrix's kind, f32 if
    it has no values; f64 if x is, else f32). device, stream, kernel, threads, memory_limit: as in Plan, kernels of
    `csr-sddmm-cpu --list` and the like. Raises UsageError, OutOfMemoryError, NoGpuError. One thread multiplies at a
    time; others wait.
    """

    def __init__(self, matrix, dense_cols=1, *, times_values=False, kind=None, out_kind=None, device=None, stream=None,
                 kernel=None, threads=0, memory_limit=0):
        require_cols(dense_cols)
        kind = kind or ("f32" if matrix.kind == "none" else matrix.kind)
        self.kind, self.out_kind = kind, out_kind or ("f64" if kind == "f64" else "f32")
        options = SddmmOptions(room=b"cpu" if device is None else b"gpu", kernel=text(kernel, "kernel"),
                               dense_cols=dense_cols, times_values=truth(times_values, "times_values"),
                               kind=_number(self.kind), c_kind=_number(self.out_kind), threads=threads,
                               device=0 if device is None else device, memory_limit_bytes=memory_limit, stream=stream)
        self._lock = threading.Lock()
        self._streams = _Streams(stream, library.csrkit_sddmm_use_stream)
        self._keep = matrix._keep  # arrays that the plan may read; not the matrix, which keeps plans
        self._handle = new_handle(library.csrkit_sddmm_make, matrix._handle, byref(options))
        self.shape, self.nnz, self.dense_cols, self.device = matrix.shape, matrix.nnz, dense_cols, device
        space = 0 if device is None else 1
        self._x, self._y = (Dense(rows=rows, cols=dense_cols, kind=KINDS[self.kind], space=space) for rows in self.shape)
        self._c = Dense(rows=self.nnz, cols=1, kind=KINDS[self.out_kind], space=space)

    def __del__(self):
        if library is not None and getattr(self, "_handle", None):
            library.csrkit_sddmm_free(self._handle)

    def __repr__(self):
        return f"<csrkit.SddmmPlan {self.kernel}, {self.nnz} entries, {self.dense_cols} columns>"

    @property
    def kernel(self) -> str:
        """The kernel that multiplies."""
        return self._describe()[0]

    @property
    def choice(self) -> str:
        """What was decided and why, for people; or ""."""
        return self._describe()[1]

    def multiply(self, x, y, out=None, alpha=1.0, beta=0.0):
        """alpha * S * (x[i] . y[j]) + beta * out for every entry, in `out` if that is given, else in a new array like x.

        x: rows x dense_cols, y: cols x dense_cols, row by row; out: nnz numbers, none of them in x or y. Without beta it
        may hold anything.
        Raises UsageError.
        """
        alpha, beta = real(alpha, "alpha"), real(beta, "beta")
        x_view, y_view = (View(array, name, stream=self._streams.wanted) for array, name in ((x, "X"), (y, "Y")))
        if out is None:
            if beta != 0:
                raise UsageError("beta adds to out; pass it")
            out = empty_like(x, (self.nnz,), self.out_kind)
        out_view = View(out, "out", is_written=True, stream=self._streams.wanted)
        if len(out_view.shape) != 1:
            raise UsageError(f"out has {len(out_view.shape)} dimensions; use 1")
        stream = x_view.stream or y_view.stream or out_view.stream
        with self._lock:
            self._streams.enter(self._handle, stream)
            library.csrkit_sddmm_multiply(self._handle, byref(x_view.dense()), byref(y_view.dense()),
                                          byref(out_view.dense()), alpha, beta)
            if None in (x_view.device, y_view.device, out_view.device):
                self._streams.leave(self._handle, stream, out_view.device is not None)
        return out

    def multiply_at(self, x, y, out, stream=None):
        """out = S * (x[i] . y[j]) for the addresses of arrays without gaps, in the memory of the plan's device.

        For other modules that know their arrays: nothing is checked, and nothing waits on a GPU.
        """
        with self._lock:
            self._streams.enter(self._handle, stream)
            self._x.data, self._y.data, self._c.data = x, y, out
            library.csrkit_sddmm_multiply(self._handle, self._x, self._y, self._c, 1.0, 0.0)

    def _describe(self):
        kernel, choice = c_char_p(), c_char_p()
        library.csrkit_sddmm_describe(self._handle, byref(kernel), byref(choice))
        return kernel.value.decode(), choice.value.decode()
