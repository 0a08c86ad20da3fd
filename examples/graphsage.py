"""Trains GraphSAGE with means over neighbours on all nodes at once, by csrkit.torch and by torch.sparse, and compares.

    python graphsage.py GRAPH.csr [EPOCHS]

GRAPH.csr: made with `csr-import ... --symmetrize --values=ones`. Features and labels are random: this shows that losses
agree, and what an epoch takes, not what the network learns. Model: Hamilton, Ying, Leskovec, NeurIPS 2017.
"""
import sys

import torch
from training import compare

import csrkit.torch

WIDTHS = [(128, 256), (256, 256), (256, 40)]


class GraphSage(torch.nn.Module):
    """Layers of: a dense product of what a node has, plus one of the mean of what its neighbours have; ReLU."""

    def __init__(self, mean):
        super().__init__()
        self.mean = mean
        self.own = torch.nn.ModuleList(torch.nn.Linear(*width) for width in WIDTHS)
        self.of_neighbours = torch.nn.ModuleList(torch.nn.Linear(*width, bias=False) for width in WIDTHS)

    def forward(self, x):
        for own, of_neighbours in zip(self.own, self.of_neighbours):
            y = own(x) + of_neighbours(self.mean(x))
            x = torch.relu(y)
        return y


def ours(a, device):
    return lambda: GraphSage(lambda x: csrkit.torch.spmm(a, x, reduce="mean"))


def theirs(a, device):
    plain = a.to_torch().to(device)
    lengths = plain.crow_indices().diff().clamp(min=1).unsqueeze(1)
    return lambda: GraphSage(lambda x: torch.sparse.mm(plain, x) / lengths)


if __name__ == "__main__":
    sys.exit(compare("graphsage.py", ours, theirs, WIDTHS[0][0], WIDTHS[-1][1]))
