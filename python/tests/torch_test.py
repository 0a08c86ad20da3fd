"""With PyTorch on the CPU, and on a GPU where there is one: values, gradients, autocast, compilation."""
import copy
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

    def test_new_values_need_no_new_plan(self):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            a, dense = sample(dtype if dtype == torch.float64 else torch.float32)
            rows, cols = dense.nonzero(as_tuple=True)
            for width in (1, 5, 32):
                for transpose in (False, True):
                    x = x_of(a, width, dtype, transpose=transpose).detach()
                    for turn in range(3):
                        values = (torch.arange(a.nnz) % (5 + turn) - 2).to(dtype)
                        weighted = torch.zeros(a.shape, dtype=torch.float64).index_put((rows, cols), values.double())
                        y = csrkit.torch.spmm(a, x, values=values, transpose=transpose)
                        self.close(y, (weighted.T if transpose else weighted) @ x.double(), dtype, scale=8)
                        made = a.derived["places", csrkit.torch._KINDS[dtype], transpose]
                        self.assertEqual(len(made._plans), (1, 5, 32).index(width) + 1)
            self.assertEqual(len(a._plans), 0)

    def test_values_of_a_view(self):
        a, dense = sample()
        both = torch.stack([torch.tensor(numpy.array(a.values)), torch.zeros(a.nnz, dtype=torch.float64)], 1)
        x = x_of(a).detach().T.contiguous().T  # by columns
        self.close(csrkit.torch.spmm(a, x, values=both[:, 0]), dense @ x)

    def test_sddmm_in_every_kind(self):
        a, dense = sample(torch.float32)
        rows, cols = dense.nonzero(as_tuple=True)
        for device in DEVICES:
            for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
                for width in (0, 1, 7, 41, 64):
                    left, right = x_of(a, width, dtype, device, True), x_of(a, width, dtype, device)
                    wanted = (left.detach().cpu().double() @ right.detach().cpu().double().T)[rows, cols]
                    self.close(csrkit.torch.sddmm(a, left, right), wanted, dtype, scale=8)

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

    def test_mean_has_gradients(self):
        a, dense = sample(rows=9, cols=7)
        values = torch.tensor(numpy.array(a.values)).requires_grad_()
        for device in DEVICES:
            for transpose in (False, True):
                x = x_of(a, 3, device=device, transpose=transpose)
                self.assertTrue(torch.autograd.gradcheck(
                    lambda v, x: csrkit.torch.spmm(a, x, v, transpose, "mean"), (values.to(device), x)))
                lengths = (dense != 0).sum(0 if transpose else 1).clamp(min=1).unsqueeze(1)
                op_a = dense.T if transpose else dense
                self.close(csrkit.torch.spmm(a, x, transpose=transpose, reduce="mean"),
                           op_a @ x.detach().cpu() / lengths)

    def max_by_hand(self, op_a, x):
        """The largest product of every row with every column; 0 in a row without entries."""
        products = torch.where((op_a != 0).unsqueeze(2), op_a.unsqueeze(2) * x.unsqueeze(0), -torch.inf)
        best = products.amax(1)
        return torch.where(torch.isinf(best), 0, best)

    def test_max(self):
        for device in DEVICES:
            for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
                a, dense = sample(torch.float64 if dtype == torch.float64 else torch.float32)
                for transpose in (False, True):
                    x = x_of(a, 6, dtype, device, transpose)
                    op_a = (dense.T if transpose else dense).to(dtype).double()
                    y = csrkit.torch.spmm(a, x, transpose=transpose, reduce="max")
                    self.close(y, self.max_by_hand(op_a, x.detach().cpu().double()), dtype)
                    self.assertEqual(y.device.type, device)

    def test_max_in_many_pieces(self):
        a, dense = sample()
        x = x_of(a)
        whole = csrkit.torch.spmm(a, x, reduce="max")
        kept, csrkit.torch._ENTRIES_AT_ONCE = csrkit.torch._ENTRIES_AT_ONCE, 7
        try:
            self.assertTrue(torch.equal(whole, csrkit.torch.spmm(a, x, reduce="max")))
        finally:
            csrkit.torch._ENTRIES_AT_ONCE = kept
        self.close(whole, self.max_by_hand(dense, x.detach()))

    def test_gradients_of_max(self):
        a, _ = sample(rows=9, cols=7)
        values = torch.tensor(numpy.array(a.values)).requires_grad_()
        for device in DEVICES:
            for transpose in (False, True):
                x = x_of(a, 3, device=device, transpose=transpose)
                self.assertTrue(torch.autograd.gradcheck(
                    lambda v, x: csrkit.torch.spmm(a, x, v, transpose, "max"), (values.to(device), x)))
                self.assertTrue(torch.autograd.gradcheck(
                    lambda x: csrkit.torch.spmm(a, x, transpose=transpose, reduce="max"), x))

    def test_the_first_of_equals_has_the_gradient_of_max(self):
        a = csrkit.from_arrays((2, 3), torch.tensor([0, 3, 3]), torch.tensor([0, 1, 2], dtype=torch.int32))
        x = torch.tensor([[1.0], [2.0], [2.0]], requires_grad=True)
        y = csrkit.torch.spmm(a, x, reduce="max")
        self.assertEqual(y.tolist(), [[2.0], [0.0]])
        y.sum().backward()
        self.assertEqual(x.grad.tolist(), [[0.0], [1.0], [0.0]])

    def test_a_matrix_without_entries(self):
        a = csrkit.from_arrays((3, 2), torch.zeros(4, dtype=torch.int64), torch.zeros(0, dtype=torch.int32))
        values = torch.zeros(0, requires_grad=True)
        for transpose in (False, True):
            for reduce in ("sum", "mean", "max"):
                x = torch.ones((3 if transpose else 2), 4, requires_grad=True)
                y = csrkit.torch.spmm(a, x, values, transpose, reduce)
                self.assertEqual(y.abs().sum().item(), 0)
                y.sum().backward()
                self.assertEqual(x.grad.abs().sum().item(), 0)
        self.assertEqual(csrkit.torch.sddmm(a, torch.ones(3, 4), torch.ones(2, 4)).shape, (0,))

    def test_edges(self):
        a, dense = sample()
        rows, cols = csrkit.torch.edges(a)
        self.assertTrue(torch.equal(torch.stack([rows.long(), cols.long()]), torch.stack(dense.nonzero(as_tuple=True))))

    def test_autocast_of_values(self):
        for device in DEVICES:
            a, dense = sample(torch.float32)
            x, left = x_of(a, 8, torch.float32, device), x_of(a, 8, torch.float32, device, True)
            values = torch.tensor(numpy.array(a.values), device=device).requires_grad_()
            with torch.autocast(device, dtype=torch.bfloat16):
                for reduce in ("sum", "mean", "max"):
                    y = csrkit.torch.spmm(a, x, values, reduce=reduce)
                    self.assertEqual(y.dtype, torch.bfloat16)
                    y.float().sum().backward()
                s = csrkit.torch.sddmm(a, left, x)
            self.assertEqual((s.dtype, values.grad.dtype, x.grad.dtype), (torch.bfloat16, torch.float32, torch.float32))

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
                              (torch.ops.csrkit.spmm_max.default, (values, x_of(a, 3), number, 9, False)),
                              (torch.ops.csrkit.over_lengths.default, (x_of(a, 3, transpose=True), number, False)),
                              (torch.ops.csrkit.own_values.default, (x_of(a, 3).detach(), number, a.nnz)),
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

    def test_everything_compiled(self):
        a, _ = sample(rows=9, cols=7)
        values = torch.tensor(numpy.array(a.values)).requires_grad_()

        def layer(left, x, values):
            weights = torch.tanh(csrkit.torch.sddmm(a, left, x) + values)
            return sum(csrkit.torch.spmm(a, x, weights, reduce=reduce) for reduce in ("sum", "mean", "max"))
        operands = [x_of(a, 4, transpose=True), x_of(a, 4), values]
        compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
        gradients = []
        for function in (layer, compiled):
            y = function(*operands)
            gradients.append((y.detach(), *torch.autograd.grad(y.square().sum(), operands)))
        for ours, same in zip(*gradients):
            self.close(ours, same, scale=8)

    def test_layers_of_pyg(self):
        try:
            import torch_geometric.nn
            import csrkit.pyg
        except ImportError:
            self.skipTest("no PyTorch Geometric")
        a, dense = sample(torch.float32, rows=30, cols=30)
        rows, cols = dense.nonzero(as_tuple=True)
        edge_index = torch.stack([cols, rows])
        x = torch.randn((30, 6), generator=torch.Generator().manual_seed(5))
        for aggr in ("add", "mean", "max"):
            torch.manual_seed(2)
            layer = torch_geometric.nn.SAGEConv(6, 4, aggr=aggr)
            wanted = layer(x, edge_index)
            ones = csrkit.from_arrays(a.shape, a.row_offsets, a.col_indices)
            self.close(csrkit.pyg.adapt(layer, ones)(x, None), wanted, torch.float32, scale=8)
        layer = torch_geometric.nn.GCNConv(6, 4, normalize=False)
        values = torch.tensor(numpy.array(a.values))
        wanted = layer(x, edge_index, values)
        self.close(csrkit.pyg.adapt(layer, a)(x, None), wanted, torch.float32, scale=8)
        self.close(layer(x, None, values), wanted, torch.float32, scale=8)
        with self.assertRaisesRegex(csrkit.UsageError, "pass None"):
            layer(x, edge_index)
        with self.assertRaisesRegex(csrkit.UsageError, "use add, mean or max"):
            csrkit.pyg.adapt(torch_geometric.nn.SAGEConv(6, 4, aggr="median"), a)

    def test_what_does_not_fit_is_refused(self):
        a, _ = sample()
        for call, text in ((lambda: csrkit.torch.spmm(a, torch.ones(30)), "1 dimensions"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(29, 2)), "30 are needed"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(30, 2), reduce="min"), "'min' is no reduction"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(30, 2), values=torch.ones(3)), "are needed"),
                           (lambda: csrkit.torch.sddmm(a, torch.ones(40, 2), torch.ones(30, 3)), "one dtype are needed"),
                           (lambda: csrkit.torch.spmm(torch.ones(2, 2), torch.ones(2, 2)), "pass a csrkit.Matrix"),
                           (lambda: csrkit.torch.spmm(a, numpy.ones((30, 2))), "X is a ndarray; pass a dense tensor"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(30, 2).to_sparse()), "X is a tensor of torch.sparse"),
                           (lambda: csrkit.torch.spmm(a, torch.ones(30, 2), values=[1.0]), "values is a list"),
                           (lambda: csrkit.torch.sddmm(a, None, torch.ones(30, 2)), "left is a NoneType"),
                           (lambda: csrkit.spmm(a, torch.ones(30, 2, device="meta")), "B cannot be shared")):
            with self.assertRaisesRegex(csrkit.UsageError, text):
                call()

    def test_signs_put_off_are_seen(self):
        a, dense = sample()
        x = torch.complex(x_of(a, 8).detach(), x_of(a, 8).detach()).conj().imag
        self.assertTrue(x.is_neg())
        self.close(csrkit.torch.spmm(a, x), dense @ x)
        self.close(csrkit.torch.spmm(a, x, reduce="mean", values=torch._neg_view(dense[dense != 0])),
                   -dense @ x / (dense != 0).sum(1, keepdim=True).clamp(min=1))
        with self.assertRaisesRegex(csrkit.UsageError, "resolve_neg"):
            csrkit.spmm(a, x)

    def test_forward_derivatives_are_refused(self):
        a, _ = sample()
        x = x_of(a).detach()
        with self.assertRaisesRegex(csrkit.UsageError, "X has a tangent"):
            torch.func.jvp(lambda y: csrkit.torch.spmm(a, y), (x,), (x,))
        with torch.autograd.forward_ad.dual_level():
            with self.assertRaisesRegex(csrkit.UsageError, "right has a tangent"):
                csrkit.torch.sddmm(a, torch.ones(40, 8), torch.autograd.forward_ad.make_dual(x, x))
            csrkit.torch.spmm(a, x)

    def test_shapes_are_known_without_elements(self):
        a, _ = sample()
        self.assertEqual(csrkit.torch.spmm(a, torch.ones(30, 2, device="meta")).shape, (40, 2))

    def test_copies_of_a_module_share_its_matrix(self):
        module = torch.nn.Linear(2, 2)
        module.matrix = sample()[0]
        self.assertIs(copy.deepcopy(module).matrix, module.matrix)

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
