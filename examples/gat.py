"""Trains a graph attention network on all nodes at once, by csrkit.torch and by torch's own operators, and compares.

    python gat.py GRAPH.csr [EPOCHS]

An edge's weight comes from the inner product of a query of its row and a key of its column (csrkit.torch.sddmm), a
softmax over the edges of every row, and takes the place of the graph's value (csrkit.torch.spmm with values): gradients
flow through the weights. GRAPH.csr: made with `csr-import ... --symmetrize --self-loops=add --values=ones`. Features and
labels are random: this shows that losses agree, and what an epoch takes, not what the network learns. Model: Velickovic
and others, ICLR 2018, with the scores of Vaswani and others, NeurIPS 2017.
"""
import sys

import torch
from training import compare

import csrkit.torch

WIDTHS, KEYS = [(128, 64), (64, 40)], 32


class ByCsrkit:
    """The three steps of attention on the edges of a graph."""

    def __init__(self, a, device):
        self.a, self.nodes = a, a.shape[0]
        self.rows = csrkit.torch.edges(a, device)[0].long()
        self.ones = torch.ones(a.shape[1], 1, device=device)

    def scores(self, queries, keys):
        return csrkit.torch.sddmm(self.a, queries, keys)

    def row_sums(self, weights):
        return csrkit.torch.spmm(self.a, self.ones, weights).squeeze(1)

    def weighted_sum(self, weights, x):
        return csrkit.torch.spmm(self.a, x, weights)


class ByTorch:
    """The same, with a row of the operands for every edge."""

    def __init__(self, a, device):
        self.nodes = a.shape[0]
        self.rows, self.cols = (index.long() for index in csrkit.torch.edges(a, device))

    def scores(self, queries, keys):
        return (queries[self.rows] * keys[self.cols]).sum(1)

    def row_sums(self, weights):
        return weights.new_zeros(self.nodes).index_add(0, self.rows, weights)

    def weighted_sum(self, weights, x):
        return x.new_zeros(self.nodes, x.shape[1]).index_add(0, self.rows, weights.unsqueeze(1) * x[self.cols])


class Gat(torch.nn.Module):
    """Layers of: queries, keys and messages by dense products, attention over the edges, ReLU."""

    def __init__(self, edges):
        super().__init__()
        self.edges = edges
        self.queries = torch.nn.ModuleList(torch.nn.Linear(width, KEYS) for width, _ in WIDTHS)
        self.keys = torch.nn.ModuleList(torch.nn.Linear(width, KEYS) for width, _ in WIDTHS)
        self.messages = torch.nn.ModuleList(torch.nn.Linear(*width) for width in WIDTHS)

    def softmax(self, scores):
        """Over the edges of every row. Minus the largest score, so that nothing leaves the range of numbers."""
        rows = self.edges.rows
        largest = scores.new_full((self.edges.nodes,), -torch.inf).scatter_reduce(0, rows, scores.detach(), "amax")
        weights = torch.exp(scores - largest[rows])
        return weights / self.edges.row_sums(weights)[rows]

    def forward(self, x):
        for query, key, message in zip(self.queries, self.keys, self.messages):
            weights = self.softmax(self.edges.scores(query(x), key(x)) / KEYS ** 0.5)
            y = self.edges.weighted_sum(weights, message(x))
            x = torch.relu(y)
        return y


def ours(a, device):
    return lambda: Gat(ByCsrkit(a, device))


def theirs(a, device):
    return lambda: Gat(ByTorch(a, device))


if __name__ == "__main__":
    sys.exit(compare("gat.py", ours, theirs, WIDTHS[0][0], WIDTHS[-1][1]))
