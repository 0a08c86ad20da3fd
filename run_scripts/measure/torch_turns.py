#!/usr/bin/env python3
"""Measures csrkit.torch beside PyTorch's own sparse operators on a GPU: one process, both in turn.

Usage: torch_turns.py PART [MATRIX.csr...] [--out FILE.tsv] [--force]

products   C = A B forward, and forward with the gradient of B, in f32 and bf16, against torch.sparse
sddmm      csrkit.torch.sddmm against torch.sparse.sampled_addmm
overhead   a product of csrkit.torch beside its plan's, one after another and in a captured CUDA graph
gcn        an epoch of a graph convolutional network (128-256-256-40, batch norm, dropout, Adam)
opening    csrkit.open beside csr-info (--info PROGRAM)

The rows go to --out (a data file of docs/results) and to standard output as they come. A time is the median over
rounds, each of as many calls as take about ten milliseconds, between two events in one stream. Exit code 1 if results
differ; 6 without a GPU; 77 without PyTorch or csrkit.
"""
import argparse
import datetime
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
import tables

try:
    import torch

    import csrkit
    import csrkit.torch
    MISSING = ""
except ImportError as error:
    torch, MISSING = None, str(error)

KINDS = {"f32": "float32", "bf16": "bfloat16"}
WIDTHS = [(128, 256), (256, 256), (256, 40)]  # of the network


class Table:
    """The rows, in a file and on standard output at once."""

    def __init__(self, path, commit):
        self.file = open(path, "w", encoding="utf-8") if path else None
        gpu = torch.cuda.get_device_properties(0)
        self.facts = {"machine": gpu.name, "date": datetime.date.today().isoformat(), "commit": commit,
                      "note": f"PyTorch {torch.__version__}, both in turn in one process"}
        self.headings = None

    def add(self, **row):
        lines = []
        if self.headings is None:
            self.headings = list(row)
            lines = [*(f"# {key}: {value}" for key, value in self.facts.items()), "\t".join(self.headings)]
        lines.append("\t".join(str(row[heading]) for heading in self.headings))
        print("\n".join(lines), flush=True)
        if self.file:
            self.file.write("\n".join(lines) + "\n")
            self.file.flush()


def microseconds(function, calls):
    """Of one call on the GPU, when so many follow each other."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        function()
    end.record()
    end.synchronize()
    return 1e3 * begin.elapsed_time(end) / calls


def in_turn(functions, rounds=15):
    """Samples of every function, in microseconds; a round has one of each."""
    calls = []
    for function in functions:
        for _ in range(3):
            function()
        torch.cuda.synchronize()
        calls.append(max(4, min(200, math.ceil(10_000 / microseconds(function, 5)))))
    turns = [[microseconds(function, count) for function, count in zip(functions, calls)] for _ in range(rounds)]
    return list(zip(*turns))


def times_of(ours, theirs):
    """The cells of two lists of samples."""
    speed, low, high = tables.median_interval([b / a for a, b in zip(ours, theirs)])
    return {"csrkit us": f"{statistics.median(ours):.1f}", "torch us": f"{statistics.median(theirs):.1f}",
            "speed-up": f"{speed:.2f}", "interval": f"{low:.2f}..{high:.2f}"}


def require_close(found, expected, bound, what):
    error = ((found.double() - expected.double()).abs() / (1 + expected.double().abs())).max().item()
    if not error <= bound:
        sys.exit(f"torch_turns.py: {what}: results differ by {error:.2e}; at most {bound:.0e} is expected")


def on_gpu(a, dtype):
    return a.to_torch().to("cuda", dtype)


def products(options, table):
    for path in options.matrices:
        a = csrkit.open(path)
        for kind, name in KINDS.items():
            dtype = getattr(torch, name)
            plain = on_gpu(a, dtype)
            for dense_cols in options.dense_cols:
                x = torch.randn(a.shape[1], dense_cols, device="cuda", dtype=dtype)
                gradient = torch.randn(a.shape[0], dense_cols, device="cuda", dtype=dtype)
                wanted = x.clone().requires_grad_()

                def backward(multiply, wanted=wanted, gradient=gradient):
                    wanted.grad = None
                    multiply(wanted).backward(gradient)
                bound = 1e-4 if dtype == torch.float32 else 0.1
                where = f"{path}, K = {dense_cols}, {kind}"
                case = {"matrix": pathlib.Path(path).stem, "nnz": f"{a.nnz:,}", "kind": kind, "K": dense_cols}
                ways = (lambda x: csrkit.torch.spmm(a, x), lambda x: torch.sparse.mm(plain, x))
                try:
                    require_close(*(way(x) for way in ways), bound, where)
                    table.add(product="forward", **case, **times_of(*in_turn([lambda way=way: way(x) for way in ways])))
                    gradients = []
                    for way in ways:
                        backward(way)
                        gradients.append(wanted.grad.clone())
                    require_close(*gradients, bound, f"{where}, gradient")
                    table.add(product="forward + backward", **case,
                              **times_of(*in_turn([lambda way=way: backward(way) for way in ways])))
                except NotImplementedError as error:
                    print(f"# {case}: {str(error).splitlines()[0]}", flush=True)


def sddmm(options, table):
    for path in options.matrices:
        a = csrkit.open(path)
        for kind, name in KINDS.items():
            dtype = getattr(torch, name)
            plain = on_gpu(a, dtype)
            for dense_cols in options.dense_cols:
                left = torch.randn(a.shape[0], dense_cols, device="cuda", dtype=dtype)
                right = torch.randn(a.shape[1], dense_cols, device="cuda", dtype=dtype)
                pair = (lambda l=left, r=right: csrkit.torch.sddmm(a, l, r),
                        lambda l=left, r=right: torch.sparse.sampled_addmm(plain, l, r.t(), beta=0.0))
                case = {"matrix": pathlib.Path(path).stem, "nnz": f"{a.nnz:,}", "kind": kind, "K": dense_cols}
                try:
                    theirs = pair[1]().values()
                except RuntimeError as error:
                    print(f"# {case}: {str(error).splitlines()[0]}", flush=True)
                    continue
                require_close(pair[0](), theirs, 1e-4 if dtype == torch.float32 else 0.5, f"{path}, K = {dense_cols}, {kind}")
                table.add(product="sddmm", **case, **times_of(*in_turn(pair)))


def captured(function, calls):
    """A graph of so many calls."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(calls):
            function()
    return graph


def overhead(options, table):
    calls = 20
    for path in options.matrices:
        a = csrkit.open(path)
        for dense_cols in options.dense_cols:
            x = torch.randn(a.shape[1], dense_cols, device="cuda")
            out = torch.empty(a.shape[0], dense_cols, device="cuda")

            def operator(x=x):
                return csrkit.torch.spmm(a, x)

            def plan(x=x, out=out):
                made = a.cached_plan(x.shape[1], transpose=False, kind="f32", out_kind="f32", device=0)
                made.multiply_at(x.data_ptr(), out.data_ptr(), torch.cuda.current_stream().cuda_stream or 1)
            graphs = [captured(function, calls) for function in (operator, plan)]
            in_graph = [[each / calls for each in samples] for samples in in_turn([graph.replay for graph in graphs])]
            queued = in_turn([operator, plan])
            # As a user feels it: from the call to the end of the work.
            waits = [[], []]
            for _ in range(200):
                for function, samples in zip((operator, plan), waits):
                    torch.cuda.synchronize()
                    begin = time.perf_counter()
                    function()
                    torch.cuda.synchronize()
                    samples.append(1e6 * (time.perf_counter() - begin))
            # The host's share alone: calls that do not wait.
            hosts = []
            for function in (operator, plan):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                for _ in range(100):
                    function()
                hosts.append(1e6 * (time.perf_counter() - begin) / 100)
                torch.cuda.synchronize()
            median = statistics.median
            table.add(matrix=pathlib.Path(path).stem, nnz=f"{a.nnz:,}", K=dense_cols,
                      **{"plan in a graph us": f"{median(in_graph[1]):.2f}", "operator in a graph us": f"{median(in_graph[0]):.2f}",
                         "beyond the plan, graph us": f"{median(in_graph[0]) - median(in_graph[1]):.2f}",
                         "operator queued us": f"{median(queued[0]):.2f}", "plan queued us": f"{median(queued[1]):.2f}",
                         "call and wait us": f"{median(waits[0]):.1f}", "plan call and wait us": f"{median(waits[1]):.1f}",
                         "beyond the plan in a graph, eager us": f"{median(waits[0]) - median(in_graph[1]):.1f}",
                         "host operator us": f"{hosts[0]:.1f}", "host plan us": f"{hosts[1]:.1f}"})


class Network(torch.nn.Module if torch else object):
    """Layers of: a dense product, the sum over neighbours, batch norm, ReLU, dropout."""

    def __init__(self, multiply):
        super().__init__()
        self.multiply = multiply
        self.layers = torch.nn.ModuleList(torch.nn.Linear(*width) for width in WIDTHS)
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(width[1]) for width in WIDTHS[:-1])

    def forward(self, x):
        for layer, norm in zip(self.layers[:-1], self.norms):
            x = torch.nn.functional.dropout(torch.relu(norm(self.multiply(layer(x)))), 0.5, self.training)
        return self.multiply(self.layers[-1](x))


class Training:
    """A network in training; epoch() is one step on all nodes."""

    def __init__(self, multiply, x, labels):
        torch.manual_seed(1)
        self.model = Network(multiply).to("cuda")
        self.x, self.labels = x, labels
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)

    def epoch(self):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.model(self.x), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss


def gcn(options, table):
    for path in options.matrices:
        a = csrkit.open(path)
        plain = on_gpu(a, torch.float32)
        torch.manual_seed(1)
        x = torch.randn(a.shape[0], WIDTHS[0][0], device="cuda")
        labels = torch.randint(WIDTHS[-1][1], (a.shape[0],), device="cuda")
        ways = {"csrkit.torch": lambda h: csrkit.torch.spmm(a, h), "torch.sparse by hand": lambda h: torch.sparse.mm(plain, h),
                "dense parts alone": lambda h: h}
        losses = []
        for multiply in list(ways.values())[:2]:
            training = Training(multiply, x, labels)
            torch.manual_seed(2)  # the same elements dropped
            losses.append([training.epoch().item() for _ in range(20)])
        difference = max(abs(one - other) for one, other in zip(*losses))
        print(f"# loss {losses[0][0]:.4f} -> {losses[0][-1]:.4f}, largest difference in 20 epochs {difference:.1e}", flush=True)
        trainings = [Training(multiply, x, labels) for multiply in ways.values()]
        samples = [[] for _ in trainings]
        for turn in range(55):
            for training, own in zip(trainings, samples):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                training.epoch().item()
                if turn >= 5:
                    own.append(1e3 * (time.perf_counter() - begin))
        for name, own in zip(ways, samples):
            median, low, high = tables.median_interval(own)
            table.add(graph=pathlib.Path(path).stem, nnz=f"{a.nnz:,}", **{
                "products by": name, "epoch ms": f"{median:.2f}", "interval ms": f"{low:.2f}..{high:.2f}",
                "largest difference of losses": f"{difference:.1e}" if name != "dense parts alone" else "-"})
        if difference > 1e-3:
            sys.exit(f"torch_turns.py: losses differ by {difference:.1e}")


def opening(options, table):
    def seconds(function):
        begin = time.perf_counter()
        function()
        return time.perf_counter() - begin
    for path in options.matrices:
        ways = {"csr-info": lambda: subprocess.run([options.info, path, "--quiet"], check=True, stdout=subprocess.DEVNULL),
                "csrkit.open": lambda: csrkit.open(path), "csrkit.open, verify=False": lambda: csrkit.open(path, verify=False)}
        turns = [[seconds(function) for function in ways.values()] for _ in range(options.rounds + 1)][1:]
        for name, own in zip(ways, zip(*turns)):
            median, low, high = tables.median_interval(own)
            table.add(file=pathlib.Path(path).stem, **{"GB": f"{os.path.getsize(path) / 1e9:.2f}", "opened by": name,
                                                       "ms": f"{1e3 * median:.2f}", "interval ms": f"{1e3 * low:.2f}..{1e3 * high:.2f}"})


PARTS = {"products": products, "sddmm": sddmm, "overhead": overhead, "gcn": gcn, "opening": opening}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("matrices", nargs="+", metavar="MATRIX.csr")
    parser.add_argument("-k", "--dense-cols", type=lambda text: [int(word) for word in text.split(",")], default=[64, 128, 256],
                        metavar="LIST", help="columns of the dense operands (default: 64,128,256)")
    parser.add_argument("--out", metavar="FILE.tsv", help="takes the rows, too")
    tables.add_force(parser)
    parser.add_argument("--info", default="csr-info", metavar="PROGRAM", help="opening: csr-info to compare with")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="opening: how often (default: 7)")
    parser.add_argument("--commit", default="unknown", help="of the build that is measured, for the table")
    options = parser.parse_args()
    tables.require_new(parser, options, options.out)
    if MISSING:
        print(f"torch_turns.py: PyTorch or csrkit is not installed for {sys.executable} ({MISSING}); run the script with a "
              "Python that has both", file=sys.stderr)
        return 77
    if not torch.cuda.is_available():
        print("torch_turns.py: there is no usable GPU", file=sys.stderr)
        return 6
    torch.manual_seed(0)
    PARTS[options.part](options, Table(options.out, options.commit))
    return 0


if __name__ == "__main__":
    sys.exit(main())
