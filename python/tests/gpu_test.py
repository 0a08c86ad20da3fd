"""On a GPU with PyTorch: DLPack and streams, strided operands, CUDA graphs, compilation, autocast, other values."""
import os
import threading
import unittest

import numpy
import torch

import csrkit
import csrkit.torch


def why_no_gpu():
    if not torch.cuda.is_available():
        return "PyTorch sees no GPU"
    try:
        csrkit.from_arrays((0, 1), torch.zeros(1, dtype=torch.int64), torch.zeros(0, dtype=torch.int32)).plan(device=0)
    except csrkit.NoGpuError as error:
        return str(error)
    return ""


MISSING = why_no_gpu()


def sample(rows=300, cols=200, dtype=torch.float32):
    """A matrix of csrkit and the same one dense in float64; with empty rows and a full one."""
    random = torch.Generator().manual_seed(1)
    dense = torch.rand((rows, cols), generator=random, dtype=torch.float64)
    dense = torch.where(dense < 0.05, dense - 0.025, 0.0)
    dense[3] = torch.linspace(-1, 1, cols, dtype=torch.float64) + 0.001
    dense[5:9] = 0
    dense = dense.to(dtype)
    sparse = dense.to_sparse_csr()
    a = csrkit.from_arrays((rows, cols), sparse.crow_indices().to(torch.int64), sparse.col_indices().to(torch.int32),
                           sparse.values())
    return a, dense.double().cuda()


def random_of(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64).to("cuda", dtype)


class Gpu(unittest.TestCase):
    def setUp(self):
        if MISSING and os.environ.get("CSRKIT_REQUIRE_GPU") == "1":
            self.fail(MISSING)
        if MISSING:
            self.skipTest(MISSING)

    def close(self, found, expected, scale=1.0):
        expected = expected.detach().double()
        error = (found.detach().double() - expected).abs()
        bound = 64 * torch.finfo(found.dtype).eps * scale * (1 + expected.abs())
        self.assertEqual(int((error > bound).sum() + error.isnan().sum()), 0, f"largest errors {error.flatten().sort().values[-4:]}")

    def test_arrays_of_dlpack(self):
        a, dense = sample()
        for width in (1, 7, 64):
            b = random_of(a.shape[1], width)
            c = csrkit.spmm(a, b)
            self.assertEqual((c.device, c.dtype), (b.device, b.dtype))
            self.close(c, dense @ b.double())
            out = torch.full((a.shape[0], width), float("nan"), device="cuda")
            self.assertIs(csrkit.spmm(a, b, out), out)
            self.close(out, dense @ b.double())
            csrkit.spmm(a, b, out, alpha=2, beta=-1)
            self.close(out, dense @ b.double(), scale=4)
            self.close(csrkit.spmm(a, random_of(a.shape[0], width), transpose=True), dense.T @ random_of(a.shape[0], width).double())
        self.close(csrkit.spmv(a, random_of(a.shape[1])), dense @ random_of(a.shape[1]).double())

    def test_columns_of_a_wider_array(self):
        a, dense = sample()
        b, c = random_of(a.shape[1], 100), torch.full((a.shape[0], 100), 7.0, device="cuda")
        csrkit.spmm(a, b[:, 3:36], c[:, 50:83])
        self.close(c[:, 50:83], dense @ b[:, 3:36].double())
        self.assertTrue(bool((c[:, :50] == 7).all() and (c[:, 83:] == 7).all()))

    def test_host_arrays(self):
        a, dense = sample()
        b = numpy.random.default_rng(3).standard_normal((a.shape[1], 16)).astype(numpy.float32)
        c = csrkit.spmm(a, b, device=0)
        self.assertIsInstance(c, numpy.ndarray)
        self.close(torch.from_numpy(c), dense.cpu() @ torch.from_numpy(b).double())

    def test_sddmm(self):
        a, dense = sample()
        rows, cols = dense.nonzero(as_tuple=True)
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            for width in (1, 9, 32, 64, 130):
                x, y = random_of(a.shape[0], width, dtype=dtype), random_of(a.shape[1], width, dtype=dtype)
                dots = (x.double() @ y.double().T)[rows, cols]
                self.close(csrkit.torch.sddmm(a, x, y), dots, scale=8)
                out = torch.full((a.nnz,), float("nan"), device="cuda", dtype=dtype)
                csrkit.sddmm(a, x, y, out)
                self.close(out, dots, scale=8)
                if dtype == torch.float32:
                    csrkit.sddmm(a, x, y, out, alpha=0.5, beta=2, times_values=True)
                    self.close(out, 0.5 * dense[rows, cols] * dots + 2 * dots, scale=16)

    def test_work_follows_in_the_stream(self):
        a, dense = sample()
        source = random_of(a.shape[1], 32)
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()):
            torch.cuda.synchronize()
            with torch.cuda.stream(stream):
                b = torch.zeros_like(source)
                torch.cuda._sleep(20_000_000)  # what is queued before is done late
                b.copy_(source)
                c = csrkit.spmm(a, b)
                y = csrkit.torch.spmm(a, b)
                both = c + y
            stream.synchronize()
            self.close(both, 2 * (dense @ source.double()), scale=2)

    def test_threads_with_streams_of_their_own(self):
        a, dense = sample()
        found = [None] * 4

        def work(i):
            with torch.cuda.stream(torch.cuda.Stream()):
                b = random_of(a.shape[1], 32) * (i + 1)
                for _ in range(20):
                    found[i] = csrkit.torch.spmm(a, b)
                torch.cuda.current_stream().synchronize()
        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(found))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, c in enumerate(found):
            self.close(c, dense @ (random_of(a.shape[1], 32) * (i + 1)).double(), scale=8)

    def test_gradients(self):
        a, dense = sample()
        for dtype in (torch.float32, torch.float64):
            for transpose in (False, True):
                op_a = dense.T if transpose else dense
                for reduce in ("sum", "mean", "max"):
                    x = random_of(op_a.shape[1], 24, dtype=dtype).requires_grad_()
                    same = x.detach().double().requires_grad_()
                    if reduce == "max":
                        products = torch.where((op_a != 0).unsqueeze(2), op_a.unsqueeze(2) * same.unsqueeze(0), -torch.inf)
                        wanted = products.amax(1)
                        wanted = torch.where(torch.isinf(wanted), 0, wanted)
                    else:
                        lengths = (op_a != 0).sum(1, keepdim=True).clamp(min=1) if reduce == "mean" else 1
                        wanted = op_a @ same / lengths
                    y = csrkit.torch.spmm(a, x, transpose=transpose, reduce=reduce)
                    self.close(y, wanted, scale=4)
                    weights = random_of(*y.shape, dtype=dtype)
                    y.backward(weights)
                    wanted.backward(weights.double())
                    self.close(x.grad, same.grad, scale=8)

    def test_values_of_the_caller(self):
        a, dense = sample(60, 50)
        rows, cols = dense.nonzero(as_tuple=True)
        for transpose, width in ((False, 8), (True, 8), (False, 1), (True, 1), (False, 0)):
            for turn in range(3):
                values = random_of(a.nnz).add(turn).requires_grad_()
                same = values.detach().double().requires_grad_()
                x = random_of(a.shape[0 if transpose else 1], width)
                op_a = torch.zeros(a.shape, device="cuda", dtype=torch.float64).index_put((rows, cols), same)
                wanted = (op_a.T if transpose else op_a) @ x.double()
                y = csrkit.torch.spmm(a, x, values=values, transpose=transpose)
                self.close(y, wanted, scale=8)
                y.sum().backward()
                wanted.sum().backward()
                self.close(values.grad, same.grad, scale=8)
            if width > 0:
                kept = a.derived["places", "f32", transpose]._plans
                self.assertEqual(len(kept), 2 if width == 1 else 1, "one plan for all values of a width")

    def test_autocast(self):
        a, dense = sample()
        for dtype in (torch.float16, torch.bfloat16):
            x = random_of(a.shape[1], 32).requires_grad_()
            with torch.autocast("cuda", dtype=dtype):
                y = csrkit.torch.spmm(a, x)
                self.assertEqual(y.dtype, dtype)
                s = csrkit.torch.sddmm(a, random_of(a.shape[0], 32), x)
                self.assertEqual(s.dtype, dtype)
            self.close(y, dense.to(dtype).double() @ x.detach().to(dtype).double())
            (y.float().sum() + s.float().sum()).backward()
            self.assertEqual(x.grad.dtype, torch.float32)

    def captured(self, work, warm_up_in):
        with torch.cuda.stream(warm_up_in):
            for _ in range(2):
                work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return graph

    def test_a_graph_as_pytorch_teaches_it(self):
        a, dense = sample()
        x, gradient = random_of(a.shape[1], 32).requires_grad_(), random_of(a.shape[0], 32)
        y = torch.empty(a.shape[0], 32, device="cuda")

        def work():
            x.grad = None
            product = csrkit.torch.spmm(a, x)
            y.copy_(product.detach())
            product.backward(gradient)
        graph = self.captured(work, torch.cuda.Stream())
        with torch.no_grad():
            x.copy_(2 * x)
            y.fill_(float("nan"))
            x.grad.fill_(float("nan"))
        for _ in range(3):
            graph.replay()
        torch.cuda.synchronize()
        self.close(y, dense @ x.double())
        self.close(x.grad, dense.T @ gradient.double())

    def test_a_graph_of_sddmm(self):
        a, dense = sample()
        left, right = random_of(a.shape[0], 32), random_of(a.shape[1], 32)
        out = torch.empty(a.nnz, device="cuda")
        graph = self.captured(lambda: out.copy_(csrkit.torch.sddmm(a, left, right)), torch.cuda.Stream())
        out.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        rows, cols = dense.nonzero(as_tuple=True)
        self.close(out, (left.double() @ right.double().T)[rows, cols], scale=8)

    def test_compiled(self):
        a, dense = sample()
        x = random_of(a.shape[1], 32)

        def layer(x):
            return torch.relu(csrkit.torch.spmm(a, x) * 2)
        wanted = torch.relu(dense @ x.double() * 2)
        for options in ({"backend": "aot_eager"}, {}, {"mode": "reduce-overhead"}):
            with self.subTest(options=options):
                compiled = torch.compile(layer, fullgraph=True, **options)
                own = x.clone().requires_grad_()
                for _ in range(3):
                    own.grad = None
                    y = compiled(own)
                    self.close(y, wanted, scale=2)
                    y.sum().backward()
                same = x.double().requires_grad_()
                torch.relu(dense @ same * 2).sum().backward()
                self.close(own.grad, same.grad, scale=4)

    def test_shapes_without_elements(self):
        a, _ = sample()
        self.assertEqual(csrkit.torch.spmm(a, random_of(a.shape[1], 0)).shape, (a.shape[0], 0))
        none = csrkit.from_arrays((3, 2), torch.zeros(4, dtype=torch.int64), torch.zeros(0, dtype=torch.int32))
        self.assertEqual(csrkit.torch.spmm(none, random_of(2, 4)).abs().sum().item(), 0)
        self.assertEqual(csrkit.torch.sddmm(none, random_of(3, 4), random_of(2, 4)).shape, (0,))

    def test_operands_here_and_there(self):
        a, dense = sample()
        b = random_of(a.shape[1], 4)
        out = torch.empty(a.shape[0], 4)
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                late = torch.zeros_like(b)
                torch.cuda._sleep(20_000_000)
                late.copy_(b)
                csrkit.spmm(a, late, out)
                self.close(out, dense.cpu() @ b.cpu().double())
                self.close(csrkit.spmm(a, late), dense @ b.double())

    def test_columns_are_refused(self):
        a, _ = sample()
        with self.assertRaises(csrkit.UsageError):
            csrkit.spmm(a, random_of(4, a.shape[1]).t())


if __name__ == "__main__":
    unittest.main()
