"""Trains a graph convolutional network on all nodes at once, by csrkit.torch.spmm and by torch.sparse, and compares.

    python gcn.py GRAPH.csr [EPOCHS]

GRAPH.csr: made with `csr-import ... --symmetrize --self-loops=add --values=ones --gcn-normalize`. Features and labels
are random: this shows that losses agree, and what an epoch takes, not what the network learns. Model: Kipf, Welling,
ICLR 2017.
"""
import sys

import torch
from training import compare

import csrkit.torch

WIDTHS = [(128, 256), (256, 256), (256, 40)]


class Gcn(torch.nn.Module):
    """Layers of: a dense product, the sum over neighbours, ReLU."""

    def __init__(self, multiply):
        super().__init__()
        self.multiply = multiply
        self.layers = torch.nn.ModuleList(torch.nn.Linear(*width) for width in WIDTHS)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(self.multiply(layer(x)))
        return self.multiply(self.layers[-1](x))


def ours(a, device):
    return lambda: Gcn(lambda x: csrkit.torch.spmm(a, x))


def theirs(a, device):
    plain = a.to_torch().to(device)
    return lambda: Gcn(lambda x: torch.sparse.mm(plain, x))


if __name__ == "__main__":
    sys.exit(compare("gcn.py", ours, theirs, WIDTHS[0][0], WIDTHS[-1][1]))
