"""What the examples that train networks share: the same training with csrkit's products and with torch's."""
import statistics
import sys
import time

import torch

import csrkit


def train(make_model, rows, features, classes, epochs, device):
    """(losses, median seconds of an epoch), from the same start every time; features and labels are random."""
    torch.manual_seed(1)
    model = make_model().to(device)
    x = torch.randn(rows, features, device=device)
    labels = torch.randint(classes, (rows,), device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses, seconds = [], []
    for _ in range(epochs):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())  # waits for the GPU
        seconds.append(time.perf_counter() - begin)
    return losses, statistics.median(seconds)


def compare(script, make_ours, make_theirs, features, classes):
    """Trains both on the graph that the command line names, and says whether losses agree. Returns the exit code.

    make_ours(a, device), make_theirs(a, device): functions that make a model of the same parameters.
    """
    if len(sys.argv) < 2:
        sys.exit(f"usage: {script} GRAPH.csr [EPOCHS]")
    a = csrkit.open(sys.argv[1])
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    device = "cuda" if torch.cuda.is_available() else "cpu"
    runs = [train(make(a, device), a.shape[0], features, classes, epochs, device) for make in (make_ours, make_theirs)]
    (ours, our_seconds), (theirs, their_seconds) = runs
    difference = max(abs(x - y) for x, y in zip(ours, theirs))
    print(f"loss {ours[0]:.4f} -> {ours[-1]:.4f}, largest difference {difference:.1e}; an epoch on {device}: "
          f"{1e3 * our_seconds:.1f} ms by csrkit, {1e3 * their_seconds:.1f} ms by torch")
    return 0 if difference < 1e-3 else 1
