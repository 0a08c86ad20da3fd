"""With PyTorch on the CPU, and on a GPU where there is one: values, gradients, autocast, compilation."""
import unittest

import numpy
import torch

import csrkit
import csrkit.torch

DEVICES = ["cpu"]
if torch.cuda.is_available():
    try:
        csrkit.from_arrays((0, 1), torch.zeros(1, dtype=torch.int64), torch.zeros(0, dtype=torch.int32)).plan(device=0)
        DEVICES.append("cuda")
    except csrkit.NoGpuError as error:
        print(f"the CPU only: {error}")


def sample(dtype=torch.float64, rows=40, cols=30, seed=1):
    """A matrix of csrkit and the same one dense; with an empty and a full row."""
    random = torch.Generator().manual_seed(seed)
    dense = torch.rand((rows, cols), generator=random, dtype=torch.float64)
    dense = torch.where(dense < 0.15, dense - 0.075, 0.0)
    dense[3] = torch.linspace(-1, 1, cols, dtype=torch.float64) + 0.001
    dense[5] = 0
    dense = dense.to(dtype)
    sparse = dense.to_sparse_csr()
    a = csrkit.from_arrays((rows, cols), sparse.crow_indices().to(torch.int64), sparse.col_indices().to(torch.int32),
                           sparse.values())
    return a, dense


def x_of(a, dense_cols=8, dtype=torch.float64, device="cpu", transpose=False):
    random = torch.Generator().manual_seed(2)
    x = torch.randn((a.shape[0 if transpose else 1], dense_cols), generator=random, dtype=torch.float64)
    return x.to(dtype=dtype, device=device).requires_grad_()


class Torch(unittest.TestCase):
    def close(self, found, expected, dtype=torch.float64, scale=1.0):
        self.assertEqual(found.dtype, dtype)
        error = (found.detach().cpu().double() - expected.detach().cpu().double()).abs()
        bound = 64 * torch.finfo(dtype).eps * scale * (1 + expected.detach().cpu().double().abs())
        self.assertTrue(bool((error <= bound).all()), f"largest error {error.max().item()}")

    def test_products(self):
        for device in DEVICES:
            for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
                a, dense = sample(torch.float64 if dtype == torch.float64 else torch.float32)
                for transpose in (False, True):
                    op_a = (dense.T if transpose else dense).to(dtype).double()
                    x = x_of(a, 8, dtype, device, transpose)
                    y = csrkit.torch.spmm(a, x, transpose=transpose)
                    self.assertEqual(y.device.type, device)
                    self.close(y, op_a @ x.detach().cpu().double(), dtype)

    def test_gradients_of_x(self):
        for device in DEVICES:
            a, dense = sample()
            for transpose in (False, True):
                x = x_of(a, 5, device=device, transpose=transpose)
                y = csrkit.torch.spmm(a, x, transpose=transpose)
                weights = torch.linspace(-1, 1, y.numel(), dtype=y.dtype, device=device).reshape(y.shape)
                (y * weights).sum().backward()
                op_a = dense.T if transpose else dense
                self.close(x.grad, op_a.T @ weights.cpu())
            self.assertTrue(torch.autograd.gradcheck(lambda x: csrkit.torch.spmm(a, x), x_of(a, 3, device=device)))

    def test_gradients_of_values(self):
        a, _ = sample(rows=9, cols=7)
        values = torch.tensor(numpy.array(a.values)).requires_grad_()
        for transpose in (False, True):
            x = x_of(a, 3, transpose=transpose)
            self.assertTrue(torch.autograd.gradcheck(
                lambda v, x: csrkit.torch.spmm(a, x, values=v, transpose=transpose), (values, x)))

    def test_sddmm(self):
        a, dense = sample(rows=9, cols=7)
        left, right = x_of(a, 4, transpose=True), x_of(a, 4)
        rows, cols = dense.nonzero(as_tuple=True)
        self.close(csrkit.torch.sddmm(a, left, right), (left @ right.T)[rows, cols])
        self.assertTrue(torch.autograd.gradcheck(lambda l, r: csrkit.torch.sddmm(a, l, r), (left, right)))

    def test_mean(self):
        a, dense = sample()
        lengths = (dense != 0).sum(1, keepdim=True).clamp(min=1)
        self.close(csrkit.torch.spmm(a, x_of(a), reduce="mean"), dense @ x_of(a) / lengths)

    def test_autocast(self):
        for device in DEVICES:
            a, dense = sample(torch.float32)
            x = x_of(a, 8, torch.float32, device)
            with torch.autocast(device, dtype=torch.bfloat16):
                y = csrkit.torch.spmm(a, x)
            self.close(y, dense.bfloat16().double() @ x.detach().cpu().bfloat16().double(), torch.bfloat16)
            y.float().sum().backward()
            self.assertEqual(x.grad.dtype, torch.float32)

    def test_the_transposed_plan_is_made_once(self):
        a, _ = sample()
        for _ in range(3):
            csrkit.torch.spmm(a, x_of(a)).sum().backward()
        self.assertEqual(len(a._plans), 2)

    def test_operators_keep_torchs_rules(self):
        a, _ = sample(rows=9, cols=7)
        number = a.number
        values = torch.tensor(numpy.array(a.values)).requires_grad_()
        for op, arguments in ((torch.ops.csrkit.spmm.default, (x_of(a, 3), number, 9, False)),
                              (torch.ops.csrkit.spmm_values.default, (values, x_of(a, 3), number, 9, False)),
                              (torch.ops.csrkit.sddmm.default, (x_of(a, 3, transpose=True), x_of(a, 3), number, a.nnz))):
            torch.library.opcheck(op, arguments)

    def test_compiled(self):
        a, dense = sample()

        def layer(x):
            return torch.relu(csrkit.torch.spmm(a, x) * 2)
        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
        x, same = x_of(a), x_of(a)
        compiled(x).sum().backward()
        torch.relu(dense @ same * 2).sum().backward()
        self.close(compiled(x), torch.relu(dense @ same * 2))
        self.close(x.grad, same.grad)

    def test_what_does_not_fit_is_refused(self):
        a, _ = sample()
        for call, text in ((lambda: csrkit.torch.spmm(a, torch.ones(30)), "1 dimensions"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(29, 2)), "30 are needed"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(30, 2), reduce="max"), "'max' is no reduction"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(30, 2), values=torch.ones(3)), "are needed"),
                           (lambda: csrkit.torch.sddmm(a, torch.ones(40, 2), torch.ones(30, 3)), "one dtype are needed"),
                           (lambda: csrkit.torch.spmm(torch.ones(2, 2), torch.ones(2, 2)), "pass a csrkit.Matrix")):
            with self.assertRaisesRegex(csrkit.UsageError, text):
                call()

    def test_tensors_share_memory(self):
        a, dense = sample()
        b = a.to_torch()
        self.assertEqual(b.values().data_ptr(), a.values.__array_interface__["data"][0])
        self.close(b.to_dense(), dense)

    @unittest.skipUnless("cuda" in DEVICES, "no GPU")
    def test_captured(self):
        a, dense = sample(torch.float32)
        x = x_of(a, 32, torch.float32, "cuda").detach()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            y = csrkit.torch.spmm(a, x)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            y = csrkit.torch.spmm(a, x)
        y.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        self.close(y, dense.double() @ x.cpu().double(), torch.float32)


if __name__ == "__main__":
    unittest.main()
