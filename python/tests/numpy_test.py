"""With NumPy and SciPy: arrays in their types, matrices shared, products against SciPy's in float64."""
import unittest
import warnings

import numpy
import scipy.sparse

import csrkit


def sample(rows=60, cols=45, dtype="float64", seed=1):
    """A matrix with an empty row, a full row and subnormal, huge and stored zero values."""
    random = numpy.random.default_rng(seed)
    a = scipy.sparse.random(rows, cols, density=0.1, format="lil", random_state=random, dtype=dtype)
    a[3, :] = random.uniform(-1, 1, cols)
    a[5, :] = 0
    a = a.tocsr().astype(dtype)
    a.data[:3] = [numpy.finfo(dtype).smallest_subnormal, 0, numpy.finfo(dtype).max ** 0.5 / 1e6]
    a.sort_indices()
    return a


class Sharing(unittest.TestCase):
    def test_steps_between_elements_are_no_gaps_of_none(self):
        records = numpy.zeros(4, numpy.dtype([("x", "f4"), ("y", "i2")]))
        records["x"] = [1, 2, 3, 4]
        offsets, columns = numpy.arange(5, dtype="int64"), numpy.arange(4, dtype="int32")
        with self.assertRaisesRegex(csrkit.UsageError, "values has 4 bytes in an element and steps of"):
            csrkit.from_arrays((4, 4), offsets, columns, records["x"])
        one = csrkit.from_arrays((4, 4), offsets, columns, numpy.ones(4, "float32"))
        with self.assertRaisesRegex(csrkit.UsageError, "x has 4 bytes in an element"):
            csrkit.spmv(one, records["x"])
        between = numpy.frombuffer(bytearray(17), numpy.uint8)[1:].view(numpy.float32)
        with self.assertRaisesRegex(csrkit.UsageError, "B begins between two addresses"):
            csrkit.spmv(one, between)

    def test_repeated_elements_are_not_read_beyond(self):
        offsets, columns = numpy.arange(5, dtype="int64"), numpy.arange(4, dtype="int32")
        with self.assertRaisesRegex(csrkit.UsageError, "values must be f64, on the host, of one dimension and without gaps"):
            csrkit.from_arrays((4, 4), offsets, columns, numpy.broadcast_to(2.0, 4))
        one = csrkit.from_arrays((1, 1), numpy.arange(2), columns[:1], numpy.broadcast_to(2.0, 1))
        self.assertEqual(one.values[0], 2)

    def test_masks_are_refused(self):
        a = csrkit.from_scipy(scipy.sparse.csr_matrix(numpy.eye(3)))
        with self.assertRaisesRegex(csrkit.UsageError, "B is masked"):
            csrkit.spmm(a, numpy.ma.masked_array(numpy.eye(3), mask=numpy.eye(3)))

    def test_arrays_of_a_derived_type(self):
        class Named(numpy.ndarray):
            pass

        a, b = csrkit.from_scipy(sample()), numpy.ones((45, 2))
        found = csrkit.spmm(a, b.view(Named))
        self.assertIsInstance(found, numpy.ndarray)
        numpy.testing.assert_array_equal(found, csrkit.spmm(a, b))

    def test_numbers_of_numpy(self):
        a, b = csrkit.from_scipy(sample()), numpy.ones((45, 2))
        wanted = csrkit.spmm(a, b)
        for alpha in (numpy.float64(1), numpy.float32(1), numpy.int8(1)):
            numpy.testing.assert_array_equal(csrkit.spmm(a, b, alpha=alpha, threads=numpy.int16(1)), wanted)
        for wrong in (numpy.int64(2**32 + 1), numpy.uint64(2**64 - 1)):
            with self.assertRaisesRegex(csrkit.UsageError, f"threads is {wrong}"):
                csrkit.spmm(a, b, threads=wrong)
        for function in (csrkit.spmm, lambda *given, **options: csrkit.sddmm(a, numpy.ones((60, 2)), b, **options),
                         lambda *given, **options: csrkit.spgemm(a, a, transpose=True, **options)):
            with self.assertRaisesRegex(csrkit.UsageError, "threads is 100000; it must be at most 4096"):
                function(a, b, threads=100000)

    def test_rows_off_vectors_are_seen(self):
        from csrkit._dense import View
        wide = numpy.zeros((8, 36), "float32")  # rows of 144 bytes, at multiples of 16 here
        at = -wide.ctypes.data % 16 // 4
        for array, wanted in ((wide[:, at:at + 32], False), (wide[:, at + 1:at + 33], True), (wide[:, at:at + 31], False),
                              (numpy.zeros((8, 33), "float32")[:, :32], True)):
            self.assertEqual(View(array, "B").is_off_vectors(), wanted, array.shape)

    def test_scipy_and_back(self):
        for dtype in ("float32", "float64"):
            wanted = sample(dtype=dtype)
            a = csrkit.from_scipy(wanted)
            self.assertTrue(numpy.shares_memory(a.values, wanted.data))
            self.assertTrue(numpy.shares_memory(a.col_indices, wanted.indices))
            back = a.to_scipy()
            self.assertTrue(numpy.shares_memory(back.data, wanted.data))
            self.assertEqual(back.dtype, dtype)
            self.assertEqual((back != wanted).nnz, 0)

    def test_any_format_and_order_of_scipy(self):
        wanted = sample()
        shuffled = wanted.copy()
        for begin, end in zip(wanted.indptr, wanted.indptr[1:]):
            shuffled.indices[begin:end] = shuffled.indices[begin:end][::-1]
            shuffled.data[begin:end] = shuffled.data[begin:end][::-1]
        shuffled.has_sorted_indices = shuffled.has_canonical_format = False
        for matrix in (wanted.tocoo(), wanted.tocsc(), shuffled):
            numpy.testing.assert_array_equal(csrkit.from_scipy(matrix).values, wanted.data)

    def test_whole_numbers_of_scipy(self):
        for dtype, kind in (("bool", "f32"), ("int8", "f32"), ("uint16", "f32"), ("int32", "f64"), ("int64", "f64")):
            matrix = scipy.sparse.csr_matrix(numpy.array([[0, 1], [1, 1]]).astype(dtype))
            a = csrkit.from_scipy(matrix)
            self.assertEqual(a.kind, kind)
            self.assertEqual((a.to_scipy() != matrix.astype("f8")).nnz, 0)
        for wrong, dtype in ((2**53 + 1, "int64"), (2**63 - 1, "int64"), (2**64 - 1, "uint64")):
            with warnings.catch_warnings(), self.assertRaisesRegex(csrkit.UsageError, f"{dtype}, exactly"):
                warnings.simplefilter("error")
                csrkit.from_scipy(scipy.sparse.csr_matrix(numpy.array([[wrong]], dtype)))

    def test_what_is_no_matrix_of_csrkit(self):
        matrix = scipy.sparse.csr_matrix(numpy.eye(3))
        for wrong, words in ((lambda: csrkit.from_scipy(numpy.eye(3)), "a ndarray; pass one of SciPy"),
                             (lambda: csrkit.from_scipy(matrix.astype(complex)), "complex"),
                             (lambda: csrkit.spmm(matrix, numpy.eye(3)), "csrkit.from_scipy"),
                             (lambda: csrkit.sddmm(matrix, numpy.eye(3), numpy.eye(3)), "csrkit.from_scipy"),
                             (lambda: csrkit.spgemm(csrkit.from_scipy(matrix), matrix), "B is a csr_matrix")):
            with self.assertRaisesRegex(csrkit.UsageError, words):
                wrong()

    def test_columns_beyond_32_bits_of_scipy_are_refused(self):
        for wrong in (2**32 + 1, -(2**32) + 1):
            matrix = scipy.sparse.csr_matrix((1, 4))
            matrix.data, matrix.indices = numpy.ones(1), numpy.array([wrong])
            matrix.indptr = numpy.array([0, 1])
            with self.assertRaisesRegex(csrkit.UsageError, f"column {wrong}, and 4 columns"):
                csrkit.from_scipy(matrix)

    @unittest.skipUnless(scipy.sparse.coo_array(numpy.ones(3)).ndim == 1, "SciPy has no sparse vectors")
    def test_vectors_of_scipy_are_refused(self):
        with self.assertRaisesRegex(csrkit.UsageError, r"the shape \(3,\)"):
            csrkit.from_scipy(scipy.sparse.coo_array(numpy.ones(3)))

    def test_the_operator_of_products(self):
        matrix = scipy.sparse.csr_matrix(numpy.arange(6.0).reshape(2, 3))
        a, b = csrkit.from_scipy(matrix), numpy.arange(12.0).reshape(3, 4)
        numpy.testing.assert_array_equal(a @ b, matrix @ b)
        numpy.testing.assert_array_equal(a @ b[:, 0].copy(), matrix @ b[:, 0])
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            b.T @ a
        square = a @ csrkit.from_scipy(matrix.T)
        self.assertEqual((square.to_scipy() != matrix @ matrix.T).nnz, 0)

    def test_arrays_are_read_only(self):
        a = csrkit.from_scipy(sample())
        for array in (a.values, a.row_offsets, a.col_indices):
            with self.assertRaises(ValueError):
                array[0] = 1

    def test_orders_are_permutations_that_lead_there(self):
        wanted = sample(50, 50)
        a = csrkit.from_scipy(wanted).reorder("rcm")
        moved = numpy.empty_like(wanted.toarray())
        moved[numpy.ix_(a.row_order, a.col_order)] = wanted.toarray()
        numpy.testing.assert_array_equal(a.to_scipy().toarray(), moved)

    def test_parts(self):
        try:
            a = csrkit.from_scipy(sample(200, 200)).reorder("metis-partition", parts=4)
        except csrkit.UsageError as error:
            self.skipTest(str(error))
        self.assertEqual(a.parts, 4)
        self.assertEqual(set(a.part_of_row), set(range(4)))


class Products(unittest.TestCase):
    def check(self, found, a, b, before=0.0):
        """Within n + 4 roundings of the sum of magnitudes, as docs/benchmarking.md derives."""
        wide_a, wide_b = a.astype("float64"), b.astype("float64")
        magnitude = abs(wide_a) @ abs(wide_b) + numpy.abs(before)
        terms = int(numpy.diff(a.tocsr().indptr).max()) + 4
        bound = 2 * terms * numpy.finfo(found.dtype).eps * magnitude + terms * numpy.finfo(found.dtype).smallest_subnormal
        error = numpy.abs(found.astype("float64") - (wide_a @ wide_b + before))
        self.assertTrue((error <= bound).all(), f"largest error {error.max()}, bound there {bound.flat[error.argmax()]}")

    def test_spmm(self):
        for dtype in ("float32", "float64"):
            scipy_a = sample(dtype=dtype)
            a = csrkit.from_scipy(scipy_a)
            for transpose in (False, True):
                op_a = scipy_a.T if transpose else scipy_a
                for dense_cols in (1, 2, 32, 65):
                    b = numpy.random.default_rng(2).uniform(-1, 1, (op_a.shape[1], dense_cols)).astype(dtype)
                    out = numpy.full((op_a.shape[0], dense_cols), numpy.nan, dtype)
                    self.assertIs(csrkit.spmm(a, b, out, transpose=transpose), out)
                    self.check(out, op_a, b)
                    found = csrkit.spmm(a, b, transpose=transpose)
                    self.assertIsInstance(found, numpy.ndarray)
                    numpy.testing.assert_array_equal(found, out)

    def test_alpha_and_beta(self):
        scipy_a = sample()
        a, b = csrkit.from_scipy(scipy_a), numpy.ones((45, 7))
        out = numpy.linspace(-1, 1, 420).reshape(60, 7)
        before = out.copy()
        csrkit.spmm(a, b, out, alpha=-2, beta=0.5)
        self.check(out, -2 * scipy_a, b, 0.5 * before)

    def test_columns_of_wider_arrays(self):
        scipy_a = sample()
        wide, out = numpy.random.default_rng(3).uniform(-1, 1, (45, 20)), numpy.full((60, 9), numpy.nan)
        csrkit.spmm(csrkit.from_scipy(scipy_a), wide[:, 4:9], out[:, 2:7])
        self.check(out[:, 2:7], scipy_a, wide[:, 4:9])
        self.assertTrue(numpy.isnan(out[:, :2]).all() and numpy.isnan(out[:, 7:]).all())

    def test_arrays_by_columns_are_refused(self):
        with self.assertRaisesRegex(csrkit.UsageError, "not stored row by row"):
            csrkit.spmm(csrkit.from_scipy(sample()), numpy.ones((4, 45)).T)

    def test_halves(self):
        scipy_a = sample(dtype="float32")
        scipy_a.data[:3] = 1
        scipy_a.data = scipy_a.data.astype("float16").astype("float32")
        a = csrkit.from_arrays(scipy_a.shape, scipy_a.indptr.astype("int64"), scipy_a.indices,
                               scipy_a.data.astype("float16"))
        self.assertEqual((a.kind, a.values.dtype), ("f16", numpy.float16))
        b = numpy.random.default_rng(2).uniform(-1, 1, (45, 8)).astype("float16")
        found = csrkit.spmm(a, b)
        self.assertEqual(found.dtype, numpy.float32)
        self.check(found, scipy_a, b)
        out = numpy.empty((60, 8), "float16")
        self.check(csrkit.spmm(a, b, out), scipy_a, b)

    def test_spmv(self):
        scipy_a = sample(dtype="float32")
        a, x = csrkit.from_scipy(scipy_a), numpy.random.default_rng(2).uniform(-1, 1, 45)
        found = csrkit.spmv(a, x)
        self.assertEqual((found.shape, found.dtype), ((60,), numpy.float64))
        self.check(found[:, None], scipy_a, x[:, None])
        self.check(csrkit.spmv(a, x.astype("float32"))[:, None], scipy_a, x.astype("float32")[:, None])

    def test_specials_go_through(self):
        scipy_a = scipy.sparse.csr_matrix(numpy.array([[0.0, 1.0], [2.0, 0.0]]))
        b = numpy.array([[numpy.nan, 1.0], [numpy.inf, -0.0]])
        numpy.testing.assert_array_equal(csrkit.spmm(csrkit.from_scipy(scipy_a), b),
                                         [[numpy.inf, 0.0], [numpy.nan, 2.0]])

    def test_sddmm(self):
        random = numpy.random.default_rng(4)
        for dtype, eps in (("float32", 1e-6), ("float64", 1e-14), ("float16", 1e-6)):
            wanted = sample(dtype="float32" if dtype == "float16" else dtype)
            a = csrkit.from_scipy(wanted)
            rows, cols = numpy.repeat(numpy.arange(60), numpy.diff(wanted.indptr)), wanted.indices
            for width in (1, 7, 41, 64):
                x, y = (random.uniform(-1, 1, (size, width + 3)).astype(dtype)[:, :width] for size in wanted.shape)
                dots = numpy.einsum("nk,nk->n", x[rows].astype("float64"), y[cols].astype("float64"))
                found = csrkit.sddmm(a, x, y)
                self.assertEqual(found.dtype, "float64" if dtype == "float64" else "float32")
                numpy.testing.assert_allclose(found, dots, rtol=0, atol=width * eps)
                times = csrkit.sddmm(a, x, y, times_values=True, alpha=-0.5)
                numpy.testing.assert_allclose(times, -0.5 * dots * wanted.data.astype("float64"), rtol=1e-5,
                                              atol=width * eps * abs(wanted.data).max())

    def test_spgemm(self):
        scipy_a, scipy_b = sample(30, 40), sample(40, 25, seed=2)
        a, b = csrkit.from_scipy(scipy_a), csrkit.from_scipy(scipy_b)
        self.check(csrkit.spgemm(a, b).to_scipy().toarray(), scipy_a, scipy_b.toarray())
        gram = csrkit.spgemm(a, a, transpose=True)
        self.check(gram.to_scipy().toarray(), scipy_a, scipy_a.T.toarray())
        mask = csrkit.from_scipy(scipy.sparse.identity(30, format="csr"))
        self.assertEqual(csrkit.spgemm(a, a, transpose=True, mask=mask).nnz, min(30, gram.nnz) - 1)  # an empty row


if __name__ == "__main__":
    unittest.main()
