"""The package in a Python with nothing but its standard library: buffers in, buffers out."""
import array
import copy
import ctypes
import gc
import os
import pathlib
import pickle
import signal
import tempfile
import threading
import unittest

import csrkit

# 1.5 0 -2 0 / 0 3 0 0 / 0 0 0 0 / 4 0 0.25 -1
OFFSETS, COLUMNS, VALUES = [0, 2, 3, 3, 6], [0, 2, 1, 0, 2, 3], [1.5, -2, 3, 4, 0.25, -1]


def small(code="d"):
    return csrkit.from_arrays((4, 4), array.array("q", OFFSETS), array.array("i", COLUMNS), array.array(code, VALUES))


def by_hand(b, transpose=False):
    """op(A) B for a list of rows."""
    c = [[0.0] * len(b[0]) for _ in range(4)]
    for i in range(4):
        for e in range(OFFSETS[i], OFFSETS[i + 1]):
            to, source = (COLUMNS[e], i) if transpose else (i, COLUMNS[e])
            c[to] = [x + VALUES[e] * y for x, y in zip(c[to], b[source])]
    return c


def dense(rows, code="d"):
    flat = array.array(code, [x for row in rows for x in row])
    return memoryview(flat).cast("B").cast(code, (len(rows), len(rows[0])))


class Matrices(unittest.TestCase):
    def test_arrays_are_views(self):
        a = small()
        self.assertEqual((a.shape, a.nnz, a.kind), ((4, 4), 6, "f64"))
        self.assertEqual((list(a.row_offsets), list(a.col_indices), list(a.values)), (OFFSETS, COLUMNS, VALUES))
        self.assertIsNone(a.row_order)
        values = a.values
        del a
        self.assertEqual(list(values), VALUES)  # the view keeps the matrix
        with self.assertRaises((TypeError, ValueError)):
            values[0] = 1

    def test_a_matrix_without_rows_was_not_reordered_either(self):
        a = csrkit.from_arrays((0, 0), array.array("q", [0]), array.array("i"))
        self.assertEqual((list(a.row_offsets), list(a.col_indices)), ([0], []))
        self.assertEqual((a.row_order, a.col_order, a.part_of_row), (None, None, None))

    def test_no_entries(self):
        """Empty arrays begin at odd addresses in Python up to 3.9; memoryview.cast makes none."""
        a = csrkit.from_arrays((2, 3), array.array("q", [0, 0, 0]), array.array("i"), array.array("d"))
        self.assertEqual(list(csrkit.spmv(a, array.array("d", [1, 2, 3]))), [0, 0])
        self.assertEqual(csrkit.sddmm(a, array.array("d", [1, 2]), array.array("d", [1, 2, 3])).shape, (0,))
        rowless = csrkit.from_arrays((0, 3), array.array("q", [0]), array.array("i"), array.array("d"))
        self.assertEqual(csrkit.spmm(rowless, dense([[1, 2]] * 3)).shape, (0, 2))
        nothing = csrkit.from_arrays((0, 0), array.array("q", [0]), array.array("i"), array.array("d"))
        self.assertEqual(csrkit.spmv(nothing, array.array("d")).shape, (0,))

    def test_what_views_are_made_by_cannot_be_assigned(self):
        a = small()
        for name, value in (("shape", (10**6, 1)), ("nnz", 10**9), ("kind", "f64")):
            with self.assertRaises(AttributeError):
                setattr(a, name, value)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.csr"
            small().save(path)
            for name in (path, str(path), os.fsencode(path)):
                with self.assertRaisesRegex(csrkit.UsageError, "a.csr' exists already; overwrite=True replaces it"):
                    small("f").save(name)
            csrkit.open(path).save(path, overwrite=True)  # a new file: the one that is mapped lives on
            with self.assertRaisesRegex(csrkit.UsageError, "overwrite is 'no'; it must be True or False"):
                small().save(path, overwrite="no")
            with self.assertRaisesRegex(csrkit.UsageError, "a.npz' would not be what its name says, but a .csr file"):
                small().save(path.with_suffix(".npz"))
            self.assertFalse(path.with_suffix(".npz").exists())
            for verify in (True, False):
                self.assertEqual(list(csrkit.open(path, verify=verify).values), VALUES)
            content = bytearray(path.read_bytes())
            content[-1] ^= 1
            path.write_bytes(content)
            with self.assertRaisesRegex(csrkit.InputError, "a.csr: byte"):
                csrkit.open(path)
            with self.assertRaisesRegex(csrkit.IoError, "nowhere.csr"):
                csrkit.open(path.with_name("nowhere.csr"))
            path.with_name("edges.txt").write_text("1 2 0.5\n2 1 4\n")
            a = csrkit.import_file(path.with_name("edges.txt"), value_kind="f32", format="edge-list", base=1)
            self.assertEqual((a.shape, list(a.values)), ((2, 2), [0.5, 4]))
            path.with_name("edges.txt").write_text("1 2 1e-50\n2 1 4\n")
            with self.assertWarnsRegex(UserWarning, r'edges.txt: 1 value too small for f32, the first "1e-50" in line 1'):
                a = csrkit.import_file(path.with_name("edges.txt"), value_kind="f32", format="edge-list", base=1)
            self.assertEqual(list(a.values), [0, 4])

    def test_wrong_arrays_are_refused(self):
        offsets, columns, values = array.array("q", OFFSETS), array.array("i", COLUMNS), array.array("d", VALUES)
        with self.assertRaisesRegex(csrkit.UsageError, "row_offsets must be i64"):
            csrkit.from_arrays((4, 4), array.array("i", OFFSETS), columns, values)
        with self.assertRaisesRegex(csrkit.UsageError, "row_offsets has 5 elements"):
            csrkit.from_arrays((5, 4), offsets, columns, values)
        with self.assertRaisesRegex(csrkit.UsageError, "values has 5 elements"):
            csrkit.from_arrays((4, 4), offsets, columns, values[:5])
        with self.assertRaisesRegex(csrkit.InputError, r"^col_indices: row \d, .* outside \[0, 3\); count columns from 0"):
            csrkit.from_arrays((4, 3), offsets, columns, values)
        with self.assertRaisesRegex(csrkit.InputError, "^row_offsets: .* found 2 and then 1 at row 1; pass where"):
            csrkit.from_arrays((3, 3), array.array("q", [0, 2, 1, 3]), array.array("i", [0, 1, 2]))
        with self.assertRaisesRegex(csrkit.UsageError, "the shape is -1 x 4"):
            csrkit.from_arrays((-1, 4), array.array("q"), array.array("i"))

    def test_copies_are_the_matrix_itself(self):
        a = small()
        plan = a.plan(2)
        for each in (a, plan, a.sddmm_plan(2)):
            self.assertIs(copy.copy(each), each)
            self.assertIs(copy.deepcopy(each), each)
            with self.assertRaisesRegex(csrkit.UsageError, "cannot be pickled; save the matrix"):
                pickle.dumps(each)

    def test_orders(self):
        a = small().reorder("degree")
        self.assertEqual(sorted(a.row_order), [0, 1, 2, 3])
        self.assertEqual(list(a.reorder("undo").values), VALUES)
        with self.assertRaisesRegex(csrkit.UsageError, "nonsense"):
            csrkit.reorder(small(), "nonsense")


class Products(unittest.TestCase):
    def test_spmm(self):
        rows = [[float(4 * i + j - 7) for j in range(3)] for i in range(4)]
        for code in "fd":
            a, b = small(code), dense(rows, code)
            for transpose in (False, True):
                c = csrkit.spmm(a, b, transpose=transpose)
                self.assertEqual(c.tolist(), by_hand(rows, transpose))
                again = csrkit.spmm(a, b, out=c, alpha=2, beta=-1, transpose=transpose)
                self.assertIs(again, c)
                self.assertEqual(c.tolist(), by_hand(rows, transpose))

    def test_spmv(self):
        x = array.array("d", [1, -2, 3, 4])
        expected = [row[0] for row in by_hand([[value] for value in x])]
        self.assertEqual(list(csrkit.spmv(small(), x)), expected)
        self.assertEqual(list(csrkit.spmv(small("f"), x)), expected)  # an f32 matrix, sums in f64
        with self.assertRaisesRegex(csrkit.UsageError, "one dimension"):
            csrkit.spmv(small(), dense([[1.0]] * 4))

    def test_sddmm(self):
        a = small()
        x, y = [[1, 2], [3, 4], [5, 6], [7, 8]], [[1, 0], [0, 1], [2, -1], [1, 1]]
        dots = [1.0, 0.0, 4.0, 7.0, 6.0, 15.0]
        self.assertEqual(list(csrkit.sddmm(a, dense(x), dense(y))), dots)
        self.assertEqual(list(csrkit.sddmm(a, dense(x), dense(y), alpha=2, times_values=True)),
                         [2 * dot * value for dot, value in zip(dots, VALUES)])
        out = array.array("d", VALUES)  # as torch.sparse.sampled_addmm has it
        self.assertIs(csrkit.sddmm(a, dense(x), dense(y), out, alpha=2, beta=-1), out)
        self.assertEqual(list(out), [2 * dot - value for dot, value in zip(dots, VALUES)])
        plan = a.sddmm_plan(2)
        self.assertEqual((plan.kernel, plan.out_kind), ("nnz_balanced", "f64"))
        self.assertIn("because", plan.choice)
        self.assertEqual(list(plan.multiply(dense(x), dense(y))), dots)
        for call, sentence in ((lambda: csrkit.sddmm(a, dense(x), dense(y[:3])), "needs 4 x 2"),
                               (lambda: csrkit.sddmm(a, dense(x), dense(y), array.array("d", [0] * 5)), "one for each"),
                               (lambda: csrkit.sddmm(a, dense(x), dense(y), dense([[0.0] * 6])), "2 dimensions"),
                               (lambda: csrkit.sddmm(a, dense(x), dense(y), beta=1), "pass it"),
                               (lambda: csrkit.sddmm(a, dense(x), dense(y), kernel="fastest"), "no kernel 'fastest'"),
                               (lambda: csrkit.sddmm(a, dense(x, "f"), dense(y, "f"), times_values=True), "f64")):
            with self.assertRaisesRegex(csrkit.UsageError, sentence):
                call()

    def test_spgemm(self):
        c = csrkit.spgemm(small(), small())
        found = [[0.0] * 4 for _ in range(4)]
        for i in range(4):
            for e in range(c.row_offsets[i], c.row_offsets[i + 1]):
                found[i][c.col_indices[e]] = c.values[e]
        identity = [[float(i == j) for j in range(4)] for i in range(4)]
        self.assertEqual(found, by_hand(by_hand(identity)))

    def test_what_does_not_fit_is_refused(self):
        a, b = small(), dense([[1.0, 2.0]] * 4)
        for wrong, text in (([1, 2], "neither speaks DLPack"), (dense([[1.0]] * 3), "3"), (array.array("i", [1] * 4), "i32"),
                            (b"12345678", "type B")):
            with self.assertRaisesRegex(csrkit.UsageError, text):
                csrkit.spmm(a, wrong)
        with self.assertRaisesRegex(csrkit.UsageError, "cannot be written"):
            csrkit.spmm(a, b, out=b.toreadonly())
        with self.assertRaises(csrkit.UsageError):
            csrkit.spmm(a, dense([[1.0]] * 4, "f"))
        with self.assertRaises(csrkit.UsageError):
            csrkit.spmm(a, b, kernel="nonsense")

    def test_kernels_by_the_names_of_list(self):
        a, b = small(), dense([[1.0] * 2] * 4)
        for name in ("row_loop", "cpu.row_loop", "cpu.spmm.row_loop"):
            self.assertEqual(a.plan(2, kernel=name).kernel, "row_loop")
            self.assertEqual(a.sddmm_plan(2, kernel=name.replace("spmm", "sddmm")).kernel, "row_loop")
        self.assertEqual(a.plan(1, kernel="cpu.spmv.csr_rows").kernel, "csr_rows")
        self.assertEqual(csrkit.spgemm(a, a, kernel="cpu.spgemm.naive_rows").nnz, csrkit.spgemm(a, a).nnz)
        for name in ("gpu.spmm.row_loop", "cpu.spgemm.row_loop", "spmm.row_loop"):
            with self.assertRaisesRegex(csrkit.UsageError, "there is no kernel"):
                csrkit.spmm(a, b, kernel=name)

    def test_nothing_is_cut_to_what_fits_in_c(self):
        a, b = small(), dense([[1.0]] * 4)
        for wrong in (0, -1, 2**31, 2**32 + 1, 2**64, 2**64 + 1):
            with self.assertRaisesRegex(csrkit.UsageError, f"dense_cols is {wrong}"):
                a.plan(wrong)
            with self.assertRaisesRegex(csrkit.UsageError, f"dense_cols is {wrong}"):
                a.sddmm_plan(wrong)
        with self.assertRaisesRegex(csrkit.UsageError, f"threads is {2**32}; .* from -{2**31} to {2**31 - 1}"):
            a.plan(1, threads=2**32)
        with self.assertRaisesRegex(csrkit.UsageError, f"memory_limit is -1; .* from 0 to {2**64 - 1}"):
            a.plan(1, memory_limit=-1)
        with self.assertRaisesRegex(csrkit.UsageError, "cols is"):
            csrkit.from_arrays((4, 2**64 + 4), array.array("q", OFFSETS), array.array("i", COLUMNS))
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(csrkit.UsageError, "null character"):
                a.save(folder + "/a.csr\0.txt")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
        with self.assertRaisesRegex(csrkit.UsageError, "path is .*; it must be text"):
            csrkit.open("a\ud800.csr")  # half a character
        with self.assertRaisesRegex(csrkit.UsageError, "null character"):
            a.plan(1, kernel="nnz_balanced\0")
        with self.assertRaisesRegex(csrkit.UsageError, "beta adds to out"):
            csrkit.spmm(a, b, beta=1.0)

    def test_what_no_argument_can_be_is_named(self):
        a, b, x = small(), dense([[1.0]] * 4), array.array("d", [1, 2, 3, 4])
        calls = [lambda name, value: a.plan(1, **{name: value}), lambda name, value: a.sddmm_plan(1, **{name: value}),
                 lambda name, value: csrkit.spmm(a, b, **{name: value}),
                 lambda name, value: csrkit.spmv(a, x, **{name: value}),
                 lambda name, value: csrkit.sddmm(a, b, b, **{name: value}),
                 lambda name, value: csrkit.spgemm(a, a, **{name: value})]
        taken = [{"transpose", "kind", "out_kind", "device", "stream", "kernel", "variant", "semiring", "threads",
                  "deterministic", "memory_limit"},
                 {"times_values", "kind", "out_kind", "device", "stream", "kernel", "threads", "memory_limit"}]
        factors = {"alpha", "beta"}
        taken += [taken[0] - {"kind"} | factors, taken[0] - {"kind"} | factors, taken[1] - {"kind"} | factors,
                  {"transpose", "device", "kernel", "semiring", "threads", "memory_limit", "drop_below"}]
        wrongs = {"transpose": ("no",), "times_values": ("yes",), "deterministic": (b"no",), "kind": (3, ["f32"]),
                  "out_kind": (3, ["f32"]), "kernel": (3, ["auto"]), "variant": (3,), "semiring": (3, []),
                  "device": ("cuda", 0.5, []), "stream": ("main",), "threads": ("2", 2.0, []),
                  "memory_limit": ("1 GB", None), "alpha": ("2", None, 1j, [], 10**400), "beta": ("0", None, []),
                  "drop_below": ("0.5", None)}
        for call, names in zip(calls, taken):
            for name in names:
                for wrong in wrongs[name]:
                    with self.subTest(name=name, wrong=wrong):
                        said = "is no kind" if "kind" in name else f"^{name} is .*; it must be "
                        with self.assertRaisesRegex(csrkit.UsageError, said):
                            call(name, wrong)
        for wrong in ("4", 4.0, None, [4]):
            with self.assertRaisesRegex(csrkit.UsageError, "dense_cols is .*; it must be a whole number"):
                a.plan(wrong)
        for shape in ("ab", 4, (4,), (4, 4, 4), (4.0, 4), None):
            with self.assertRaisesRegex(csrkit.UsageError, "the shape is .*; it must be two whole numbers"):
                csrkit.from_arrays(shape, array.array("q", OFFSETS), array.array("i", COLUMNS))
        with self.assertRaisesRegex(csrkit.UsageError, "seed is '1'; it must be a whole number"):
            a.reorder("random", seed="1")
        with self.assertRaisesRegex(csrkit.UsageError, "sides is 2; it must be text"):
            a.reorder("random", sides=2)
        with self.assertRaisesRegex(csrkit.UsageError, "method is 2; it must be text"):
            a.reorder(2)
        for call in (csrkit.open, csrkit.import_file, a.save, a.load_plan, a.plan(1).save):
            with self.assertRaisesRegex(csrkit.UsageError, "path is 2.5; it must be text"):
                call(2.5)
        with self.assertRaisesRegex(csrkit.UsageError, "verify is 'no'; it must be True or False"):
            csrkit.open("a.csr", verify="no")
        for name in ("format", "value_kind", "duplicates"):
            with self.assertRaisesRegex(csrkit.UsageError, f"{name} is 2; it must be text"):
                csrkit.import_file("a.mtx", **{name: 2})

    def test_arrays_of_ctypes(self):
        x, out = (ctypes.c_double * 4)(1, 2, 3, 4), (ctypes.c_double * 4)()
        wanted = [row[0] for row in by_hand([[1.0], [2.0], [3.0], [4.0]])]
        csrkit.spmv(small(), x, out=out)
        self.assertEqual(list(out), wanted)
        rows = ((ctypes.c_double * 2) * 4)((1, 5), (2, 6), (3, 7), (4, 8))
        self.assertEqual(csrkit.spmm(small(), rows).tolist(), by_hand([[1, 5], [2, 6], [3, 7], [4, 8]]))

    def test_what_only_seems_to_be_an_array_is_refused(self):
        class Three:
            def __dlpack__(self, stream=None):
                return 3
        with self.assertRaisesRegex(csrkit.UsageError, "B cannot be shared"):
            csrkit.spmm(small(), Three())

    def test_out_shares_nothing_with_operands(self):
        a, flat = small(), array.array("d", range(12))
        whole = memoryview(flat)
        for out in (whole[:4], whole[3:7]):
            with self.assertRaisesRegex(csrkit.UsageError, "B and C share elements"):
                csrkit.spmv(a, whole[:4], out=out)
        csrkit.spmv(a, whole[:4], out=whole[4:8])
        x = whole[:4].cast("B").cast("d", (4, 1))
        with self.assertRaisesRegex(csrkit.UsageError, "X and C share elements"):
            csrkit.sddmm(a, x, dense([[1.0]] * 4), out=whole[3:9])

    def test_matrices_are_matrices(self):
        a = small()
        for wrong in (None, [1], dense([[1.0]] * 4)):
            with self.assertRaisesRegex(csrkit.UsageError, "pass a csrkit.Matrix"):
                csrkit.spgemm(a, wrong)
        with self.assertRaisesRegex(csrkit.UsageError, "mask is a list"):
            csrkit.spgemm(a, a, mask=[1])

    def test_plans_are_kept_and_saved(self):
        a, b = small(), dense([[1.0, 2.0]] * 4)
        plan = a.cached_plan(2, kind="f64")
        self.assertIs(a.cached_plan(2, kind="f64"), plan)
        self.assertEqual((plan.shape, plan.dense_cols, plan.kind), ((4, 4), 2, "f64"))
        with tempfile.TemporaryDirectory() as folder:
            plan.save(folder + "/a.plan")
            with self.assertRaisesRegex(csrkit.UsageError, "a.plan' exists already; overwrite=True replaces it"):
                plan.save(folder + "/a.plan")
            plan.save(folder + "/a.plan", overwrite=True)
            loaded = a.load_plan(folder + "/a.plan", 2, kind="f64")
            self.assertEqual(loaded.kernel, plan.kernel)
            self.assertEqual(loaded.multiply(b).tolist(), plan.multiply(b).tolist())
            with self.assertRaisesRegex(csrkit.UsageError, "dense_cols"):
                a.load_plan(folder + "/a.plan", 3, kind="f64")

    def test_a_plan_outlives_its_matrix_and_serves_many_threads(self):
        plan = small().plan(2)
        rows = [[float(i), 1.0] for i in range(4)]
        found = []

        def work():
            for _ in range(50):
                found.append(plan.multiply(dense(rows)).tolist())
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [by_hand(rows)] * 200)

    def test_forked_processes_multiply(self):
        rows = 20000  # enough for a team of threads
        a = csrkit.from_arrays((rows, 1), array.array("q", range(rows + 1)), array.array("i", [0] * rows))
        wanted = csrkit.spmm(a, dense([[1.0, 2.0]]), threads=3).tolist()
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # rather than wait for ever for threads that the parent alone has
            os._exit(0 if csrkit.spmm(a, dense([[1.0, 2.0]]), threads=3).tolist() == wanted else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(csrkit.spmm(a, dense([[1.0, 2.0]]), threads=3).tolist(), wanted)

    def test_an_interrupt_leaves_plans_usable(self):
        rows = 20000
        a = csrkit.from_arrays((rows, 1), array.array("q", range(rows + 1)), array.array("i", [0] * rows))
        timer = threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,))
        with self.assertRaises(KeyboardInterrupt):
            timer.start()
            while True:
                csrkit.spmm(a, dense([[1.0] * 8]))
        self.assertEqual(csrkit.spmm(a, dense([[1.0] * 8])).tolist(), [[1.0] * 8] * rows)

    def test_nothing_is_kept_in_circles(self):
        gc.disable()
        self.addCleanup(gc.enable)
        values = array.array("d", VALUES)
        a = csrkit.from_arrays((4, 4), array.array("q", OFFSETS), array.array("i", COLUMNS), values)
        csrkit.spmm(a, dense([[1.0, 2.0]] * 4))
        with self.assertRaises(BufferError):
            values.append(1)  # borrowed
        del a
        values.append(1)

    def test_no_gpu_is_said(self):
        try:
            plan = small("f").plan(4, device=0)
        except csrkit.NoGpuError as error:
            self.assertNotEqual(str(error), "")
        else:
            c = plan.multiply(dense([[1.0] * 4] * 4, "f"))
            self.assertEqual(c.tolist(), by_hand([[1.0] * 4] * 4))


if __name__ == "__main__":
    unittest.main()
