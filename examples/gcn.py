"""Trains a graph convolutional network on all nodes at once, by csrkit.torch.spmm and by torch.sparse, and compares.

    python gcn.py GRAPH.csr [EPOCHS]

GRAPH.csr: made with `csr-import ... --symmetrize --self-loops=add --values=ones --gcn-normalize`. Features and labels
are random: this shows that losses agree, and what an epoch takes, not what the network learns. Model: Kipf, Welling,
ICLR 2017.
"""
import statistics
import sys
import time

import torch

import csrkit
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


def train(multiply, rows, epochs, device):
    """(losses, median seconds of an epoch), from the same start every time."""
    torch.manual_seed(1)
    model = Gcn(multiply).to(device)
    features = torch.randn(rows, WIDTHS[0][0], device=device)
    labels = torch.randint(WIDTHS[-1][1], (rows,), device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses, seconds = [], []
    for _ in range(epochs):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())  # waits for the GPU
        seconds.append(time.perf_counter() - begin)
    return losses, statistics.median(seconds)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: gcn.py GRAPH.csr [EPOCHS]")
    a = csrkit.open(sys.argv[1])
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    device = "cuda" if torch.cuda.is_available() else "cpu"
    plain = a.to_torch().to(device)
    ours = train(lambda x: csrkit.torch.spmm(a, x), a.shape[0], epochs, device)
    theirs = train(lambda x: torch.sparse.mm(plain, x), a.shape[0], epochs, device)
    difference = max(abs(x - y) for x, y in zip(ours[0], theirs[0]))
    print(f"loss {ours[0][0]:.4f} -> {ours[0][-1]:.4f}, largest difference {difference:.1e}; an epoch on {device}: "
          f"{1e3 * ours[1]:.1f} ms by csrkit, {1e3 * theirs[1]:.1f} ms by torch.sparse")
    return 0 if difference < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
