"""Pictures of matrices and of grid searches: row lengths, spy plots, heat maps."""
import statistics

import matplotlib.colors
import numpy as np

from report.figures import label_of, slug
from report.style import Figure, grid, plain, plt
from report.csr_reader import CsrArrays
from report.tables import schedule_groups

PIXELS = 360  # of a spy plot's longer side


def matrices_of(bundle, say):
    """(label, case, arrays) of every measured matrix that is still where it was."""
    import os
    seen = set()
    for case in bundle.cases:
        if case.digest in seen:
            continue
        seen.add(case.digest)
        for path in (case.matrix, os.path.join(case.folder, case.matrix)):
            if not os.path.isfile(path):
                continue
            try:
                arrays = CsrArrays(path)
                arrays.check()
            except (OSError, ValueError) as error:
                say("warning", f"{error}; it is left out of the pictures")
                break
            if (arrays.rows, arrays.cols, arrays.nnz) != (case.rows, case.cols, case.nnz):
                say("warning", f"{path}: not the matrix that was measured; it is left out of the pictures")
                break
            yield label_of(case), case, arrays
            break
        else:
            say("warning", f"{case.matrix}: not found; it is left out of the pictures")


def row_lengths(matrices):
    chosen = [(label, arrays) for label, case, arrays in matrices if not case.order and arrays.rows > 0]
    if not chosen:
        return
    figure, axes = grid(len(chosen), columns=4, height=2.5)
    for (label, arrays), axis in zip(chosen, axes):
        lengths, counts = np.unique(arrays.row_lengths(), return_counts=True)
        empty = int(counts[lengths == 0].sum())
        at_least = counts[::-1].cumsum()[::-1]
        some = lengths > 0
        axis.step(lengths[some], at_least[some], where="pre", color="#0072b2", linewidth=1.4)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(plain(label), fontsize=10)
        axis.set_xlabel("row length (nonzeros)")
        axis.set_ylabel("rows at least so long")
        mean = arrays.nnz / arrays.rows
        axis.axvline(mean, color="#d55e00", linestyle="--", linewidth=1)
        axis.text(0.97, 0.95, f"mean {mean:,.1f}\nlongest {int(lengths[-1]):,}\nempty {empty:,}", fontsize=8, ha="right",
                  va="top", transform=axis.transAxes)
    yield Figure("row lengths", "row-lengths", "How many rows are at least so long. Dashed: the mean length.", figure)


def spy(matrices):
    """One row per data set: natural order first, then what it was reordered to."""
    groups = {}
    for label, case, arrays in matrices:
        groups.setdefault(case.dataset, []).append((case.order or "natural order", case, arrays))
    if not groups:
        return
    ordered = [(name, sorted(items, key=lambda item: bool(item[1].order))) for name, items in groups.items()]
    if max(len(items) for _, items in ordered) == 1:  # nothing was reordered: fill the rows
        tiles = [(name, arrays) for name, items in ordered for _, _, arrays in items]
        figure, axes = grid(len(tiles), columns=4, height=2.9)
    else:
        columns = max(len(items) for _, items in ordered)
        figure, all_axes = plt.subplots(len(ordered), columns, figsize=(11, 11 / max(columns, 3) * len(ordered)),
                                        squeeze=False)
        tiles, axes = [], []
        for row, (name, items) in zip(all_axes, ordered):
            for axis, (order, _, arrays) in zip(row, items):
                tiles.append((f"{name}: {order}", arrays))
                axes.append(axis)
            for axis in row[len(items):]:
                axis.set_axis_off()
    drawn = []
    for title, arrays in tiles:
        longer = max(arrays.rows, arrays.cols, 1)
        height, width = (max(1, round(PIXELS * size / longer)) for size in (arrays.rows, arrays.cols))
        counts = arrays.density(height, width)
        area = arrays.rows / counts.shape[0] * arrays.cols / counts.shape[1]
        drawn.append((title, arrays, np.ma.masked_equal(counts / max(area, 1e-300), 0)))
    least = min((share.min() for _, _, share in drawn if share.count()), default=0.5)
    # One scale for all, so that they compare; its palest end stays unused, for white is "none".
    norm = matplotlib.colors.LogNorm(min(float(least), 0.5) / 30, 1)
    for (title, arrays, share), axis in zip(drawn, axes):
        image = axis.imshow(share, cmap="cividis_r", norm=norm, interpolation="nearest",
                            extent=(0, arrays.cols, arrays.rows, 0), aspect="equal")
        axis.set_title(plain(title), fontsize=9)
        axis.set_xlabel("column", fontsize=8)
        axis.set_ylabel("row", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.locator_params(nbins=4)
        axis.grid(False)
    figure.colorbar(image, ax=axes, label="share of places that hold a nonzero", shrink=min(1, 2.2 / len(ordered) + 0.2))
    yield Figure("spy plots", "spy", f"Density of nonzeros in cells of about 1/{PIXELS} of the longer side; white: none.",
                 figure, raster=True)


def schedules(bundle):
    """Kernels by schedules, a map per matrix, K and number of threads."""
    groups = {key: shared for key, (shared, _) in schedule_groups(bundle).items() if shared}
    if not groups:
        return
    figure, axes = grid(len(groups), columns=2, height=3.4)
    for ((matrix, k, threads), shared), axis in zip(groups.items(), axes):
        kernels = list(shared)
        names = list(dict.fromkeys(name for speeds in shared.values() for name in speeds))
        table = np.array([[shared[kernel].get(name, np.nan) for name in names] for kernel in kernels])
        image = axis.imshow(table, aspect="auto", cmap="cividis", norm=matplotlib.colors.LogNorm())
        middle = np.sqrt(np.nanmin(table) * np.nanmax(table))
        for (row, column), value in np.ndenumerate(table):
            if np.isfinite(value):
                is_best = value == np.nanmax(table[row])
                axis.text(column, row, f"{value:.3g}" + ("*" if is_best else ""), ha="center", va="center", fontsize=7,
                          fontweight="bold" if is_best else "normal", color="black" if value > middle else "white")
        axis.set_xticks(range(len(names)), [plain(name) for name in names], rotation=30, ha="right", fontsize=8)
        axis.set_yticks(range(len(kernels)), [plain(kernel) for kernel in kernels], fontsize=8)
        axis.grid(False)
        axis.set_title(plain(f"{matrix}, K = {k}, {threads} thread{'s' if threads != 1 else ''}"), fontsize=10)
        axis.figure.colorbar(image, ax=axis, label="GFLOP/s")
    yield Figure("schedules", "schedules", "Rate by kernel and OpenMP schedule with chunk; * is the best of a kernel.", figure)


def heat_maps(searches):
    groups = {}
    for record in searches:
        names = [key for key, value in record.items() if isinstance(value, int) and not isinstance(value, bool)]
        if len(names) < 2 or not record["seconds"]:
            continue
        x, y = ("block", "tile") if {"block", "tile"} <= set(names) else names[:2]
        matrix = str(record["matrix"]).rpartition("/")[2].removesuffix(".csr")
        rest = record.get("kernel", "")
        groups.setdefault((matrix, rest, x, y), {})[record[x], record[y]] = 1e3 * statistics.median(record["seconds"])
    if not groups:
        return
    figure, axes = grid(len(groups), columns=2, height=3.6)
    for ((matrix, kernel, x, y), times), axis in zip(groups.items(), axes):
        xs, ys = (sorted({place[i] for place in times}) for i in (0, 1))
        table = np.array([[times.get((a, b), np.nan) for a in xs] for b in ys])
        image = axis.imshow(table, origin="lower", aspect="auto", cmap="cividis_r", norm=matplotlib.colors.LogNorm())
        best = np.nanmin(table)
        middle = np.sqrt(best * np.nanmax(table))
        for (row, column), value in np.ndenumerate(table):
            if np.isfinite(value):
                is_best = value == best
                axis.text(column, row, f"{value:.3g}" + ("*" if is_best else ""), ha="center", va="center", fontsize=8,
                          fontweight="bold" if is_best else "normal", color="white" if value > middle else "black")
        axis.set_xticks(range(len(xs)), xs)
        axis.set_yticks(range(len(ys)), ys)
        axis.grid(False)
        axis.set_xlabel(f"{x} size (threads)" if x == "block" else plain(x))
        axis.set_ylabel(f"{y} size" if y == "tile" else plain(y))
        axis.set_title(plain(matrix + (f", {kernel}" if kernel else "")), fontsize=10)
        axis.figure.colorbar(image, ax=axis, label="median time (ms)")
    yield Figure("heat maps", "heat-maps", "Time over two parameters of a kernel; * is the best.", figure)
