"""What the examples that train networks share: the same training with csrkit's products and with torch's."""
import statistics
import sys
import time

import torch

import csrkit


# Sums in another order differ by rounding. Adam makes steps of one size out of gradients of any, so that such a difference
# grows with every epoch (from 5e-7 to 5e-3 in thirty): the first ones tell whether both compute the same.
_COMPARED_EPOCHS = 5


class Training:
    """A model in training on all nodes at once, from the same start every time; features and labels are random."""

    def __init__(self, make_model, rows, features, classes, device):
        torch.manual_seed(1)
        self.model = make_model().to(device)
        self.x = torch.randn(rows, features, device=device)
        self.labels = torch.randint(classes, (rows,), device=device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.losses, self.seconds = [], []

    def epoch(self):
        begin = time.perf_counter()
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.model(self.x), self.labels)
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())  # waits for the GPU
        self.seconds.append(time.perf_counter() - begin)


def compare(script, make_ours, make_theirs, features, classes):
    """Trains both on the graph that the command line names, in turn, and says whether losses agree. Returns the exit code.

    make_ours(a, device), make_theirs(a, device): functions that make a model of the same parameters.
    """
    if len(sys.argv) < 2:
        sys.exit(f"usage: {script} GRAPH.csr [EPOCHS]")
    a = csrkit.open(sys.argv[1])
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    device = "cuda" if torch.cuda.is_available() else "cpu"
    runs = [Training(make(a, device), a.shape[0], features, classes, device) for make in (make_ours, make_theirs)]
    for _ in range(epochs):
        for run in runs:  # what disturbs one disturbs the other
            run.epoch()
    (ours, our_seconds), (theirs, their_seconds) = ((run.losses, statistics.median(run.seconds)) for run in runs)
    compared = min(epochs, _COMPARED_EPOCHS)
    difference = max(abs(x - y) for x, y in zip(ours[:compared], theirs))
    print(f"loss {ours[0]:.4f} -> {ours[-1]:.4f}, largest difference {difference:.1e} in the first {compared} epochs; an epoch "
          f"on {device}: {1e3 * our_seconds:.1f} ms by csrkit, {1e3 * their_seconds:.1f} ms by torch")
    return 0 if difference < 1e-4 else 1
