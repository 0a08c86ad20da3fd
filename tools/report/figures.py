"""Figures drawn from records: speed-up, rate over the dense columns, roofline, ladder."""
import matplotlib.ticker
import numpy as np

from report.style import INCHES, Figure, grid, look, plain, plt
from report.tables import break_even_rows, rows_of, width_text

# fp32 lanes of a multiprocessor by compute capability, from the architectures' white papers
LANES = {"7.0": 64, "7.5": 64, "8.0": 64, "8.6": 128, "8.9": 128, "9.0": 128, "10.0": 128, "12.0": 128}


def setting_text(setting):
    dense_cols, caches, value_kind, transpose, semiring = setting
    parts = [caches, "" if value_kind == "as stored" else value_kind, "transposed" if transpose else "",
             "" if semiring == "plus-times" else semiring]
    return ", ".join(part for part in parts if part)


def label_of(case):
    return case.dataset + (f" ({case.order})" if case.order else "")


def slug(text):
    return "".join(c if c.isalnum() else "-" for c in text).strip("-").lower()


def by_caches_and_kind(cases):
    groups = {}
    for case in cases:
        groups.setdefault(case.setting[1:], []).append(case)
    return groups


def speed_up(bundle):
    rows = [row for row in rows_of(bundle) if row["speed-up"]]
    for group in sorted({(row["caches"], row["values"]) for row in rows}):
        chosen = [row for row in rows if (row["caches"], row["values"]) == group]
        names = list(dict.fromkeys((row["matrix"], row["order"]) for row in chosen))
        widths = sorted({row["K"] for row in chosen})
        ups = {(row["matrix"], row["order"], row["K"]): row["speed-up"] for row in chosen}
        figure, axes = plt.subplots(figsize=(INCHES, 1.2 + (0.16 + 0.14 * len(widths)) * len(names)))
        height = 0.84 / len(widths)
        styles = look(widths)
        for i, k in enumerate(widths):
            colour, _, hatch = styles[k]
            at = [row - 0.42 + height * (i + 0.5) for row in range(len(names))]
            axes.barh(at, [ups.get((*name, k), 0) for name in names], height, color=colour, hatch=hatch,
                      edgecolor="white", linewidth=0.4, label=width_text(k))
        axes.axvline(1, color="black", linewidth=1.2)
        axes.set_yticks(range(len(names)), [plain(m + ("" if o == "natural" else f" ({o})")) for m, o in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(plain(f"speed-up: time of {bundle.against} / time of {bundle.kernel} (1 = equal)"))
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=6)
        caches, kind = group
        what = f"caches {caches}" + ("" if kind == "as stored" else f", values {kind}")
        yield Figure("speed-up", f"speed-up-{caches}-{slug(kind)}",
                     f"Speed-up per matrix and number of dense columns; {what}.", figure)


def rate(bundle):
    for group, cases in by_caches_and_kind([case for case in bundle.cases if case.dense_cols]).items():
        names = list(dict.fromkeys(label_of(case) for case in cases))
        kernels = [name for name in bundle.kernels() if any(case.kernel == name for case in cases)]
        styles = look(kernels)
        figure, axes = grid(len(names), height=2.9)
        for name, axis in zip(names, axes):
            for kernel in kernels:
                line = sorted((c.dense_cols, c.gflops) for c in cases if label_of(c) == name and c.kernel == kernel)
                if not line:
                    continue
                colour, marker, _ = styles[kernel]
                axis.plot(*zip(*line), color=colour, marker=marker, markersize=4.5, linewidth=1.3, label=plain(kernel))
            axis.set_title(plain(name), fontsize=10)
            axis.set_xscale("log", base=2)
            columns = sorted({c.dense_cols for c in cases})
            axis.set_xticks(columns, [str(k) for k in columns])
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
            axis.set_xlabel("dense columns K")
            axis.set_ylabel("GFLOP/s")
        handles = [plt.Line2D([], [], color=styles[k][0], marker=styles[k][1], markersize=5, label=plain(k)) for k in kernels]
        figure.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize=9)
        text = setting_text((0, *group))
        yield Figure("rate", f"rate-{slug(text)}", f"Rate over the number of dense columns; {text}.", figure)


def roofline(bundle):
    devices = {}
    for case in bundle.cases:
        if case.minimum_bytes > 0 and case.flops > 0 and case.gflops > 0:  # both axes are logarithmic
            name = case.gpu.name if case.gpu else case.cpu or "CPU"
            devices.setdefault((bool(case.gpu), name), []).append(case)
    for (is_gpu, name), cases in devices.items():
        figure, axis = plt.subplots(figsize=(INCHES, 5.2))
        intensity = np.array([case.flops / case.minimum_bytes for case in cases])
        rates = np.array([case.gflops for case in cases])
        reach = np.array([min(intensity) / 1.6, max(intensity) * 1.6])
        if is_gpu and cases[0].gpu.bandwidth:
            bandwidth = cases[0].gpu.bandwidth / 1e9
            source = "data sheet"
        else:
            bandwidth = float(max(rates / intensity))
            source = "the most seen here"
        axis.plot(reach, bandwidth * reach, color="black", linewidth=1.4,
                  label=f"A, B and C once each at {bandwidth:,.0f} GB/s ({source})")
        lanes = is_gpu and LANES.get(cases[0].gpu.compute_capability)
        if lanes:
            peak = 2 * lanes * cases[0].gpu.multiprocessors * cases[0].gpu.clock_khz / 1e6
            axis.plot(reach, [peak, peak], color="black", linestyle=":", linewidth=1.4,
                      label=f"fp32 arithmetic, {peak:,.0f} GFLOP/s")
        styles = look(bundle.kernels())
        for kernel in bundle.kernels():
            at = [i for i, case in enumerate(cases) if case.kernel == kernel]
            if at:
                colour, marker, _ = styles[kernel]
                axis.scatter(intensity[at], rates[at], s=26, color=colour, marker=marker, label=plain(kernel), alpha=0.8,
                             linewidths=0)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_xlabel("arithmetic intensity (FLOP per byte of A, B and C, each counted once)")
        axis.set_ylabel("GFLOP/s")
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, fontsize=9)
        yield Figure("roofline", f"roofline-{slug(name)}",
                     f"Every case on {name}. Nothing passes the solid line but through caches that keep operands from "
                     "one run to the next; the distance to it is what a matrix loses by fetching rows of B again.",
                     figure)


def is_rung(kernel):
    stem = kernel.rpartition(".")[2]
    return stem[:1] == "v" and stem[1:].partition("_")[0].isdigit()


def ladder(bundle):
    """Geometric means of rungs, production kernels and vendor, over the matrices that all have."""
    rooms = dict.fromkeys(kernel.rpartition(".")[0] for kernel in bundle.kernels())
    for room in rooms:
        kernels = [k for k in bundle.kernels() if k.rpartition(".")[0] == room]
        if not any(is_rung(kernel) for kernel in kernels):
            continue
        kernels.sort(key=lambda k: (not is_rung(k), k.rpartition(".")[2].startswith("vendor"), k))
        for group, cases in by_caches_and_kind([c for c in bundle.cases if c.kernel in kernels]).items():
            gflops = {}
            for case in cases:
                if case.gflops > 0:  # others have no geometric mean
                    gflops.setdefault((case.digest, case.dense_cols), {})[case.kernel] = case.gflops
            full = {key: of for key, of in gflops.items() if len(of) == len(kernels)}
            widths = sorted({k for _, k in full})
            if not widths:
                continue
            figure, axis = plt.subplots(figsize=(INCHES, 4.2))
            styles = look(widths)
            for i, k in enumerate(widths):
                means = [np.exp(np.mean([np.log(of[kernel]) for (_, cols), of in full.items() if cols == k]))
                         for kernel in kernels]
                bars = axis.bar(np.arange(len(kernels)) + 0.8 * (i + 0.5) / len(widths) - 0.4, means, 0.8 / len(widths),
                                color=styles[k][0], hatch=styles[k][2], edgecolor="white", label=width_text(k))
                axis.bar_label(bars, [f"{mean:,.0f}" for mean in means], fontsize=7)
            axis.set_xticks(range(len(kernels)), [plain(k.rpartition(".")[2]) for k in kernels], rotation=25, ha="right")
            axis.grid(axis="x", visible=False)
            axis.set_ylabel("GFLOP/s (geometric mean)")
            axis.set_xlabel(f"kernel of {plain(room)}, from the first idea to the vendor's")
            axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=6)
            count = len({digest for digest, _ in full})
            text = setting_text((0, *group))
            yield Figure("ladder", f"ladder-{slug(room)}-{slug(text)}",
                         f"{room}: geometric mean over the {count} matrices that every kernel here has; {text}.", figure)


def break_even(bundle):
    rows = [row for row in break_even_rows(bundle) if row["gain"]]
    if not rows:
        return
    names = list(dict.fromkeys((row["matrix"], row["K"], row["caches"], row["values"]) for row in rows))
    orders = list(dict.fromkeys(row["order"] for row in rows))
    styles = look(orders)
    figure, (gain, pays) = plt.subplots(1, 2, figsize=(INCHES, 1.4 + 0.3 * len(names)), sharey=True)
    for order in orders:
        colour, marker, _ = styles[order]
        for axis, key in ((gain, "gain"), (pays, "break-even")):
            line = [(row[key], names.index((row["matrix"], row["K"], row["caches"], row["values"]))) for row in rows
                    if row["order"] == order and row[key] is not None and np.isfinite(row[key])]
            axis.scatter([x for x, _ in line], [y for _, y in line], color=colour, marker=marker, label=plain(order), s=34)
    several = len({name[2:] for name in names}) > 1
    gain.set_yticks(range(len(names)), [plain(f"{m}, {width_text(k)}" + (f", {c}" if several else "")) for m, k, c, _ in names])
    gain.set_ylim(len(names) - 0.5, -0.5)
    gain.axvline(1, color="black", linewidth=1)
    gain.set_xlabel("gain (natural order's time / reordered time)")
    if any(row["break-even"] and np.isfinite(row["break-even"]) for row in rows):
        pays.set_xscale("log")
    else:
        pays.set_xticks([])
        pays.text(0.5, 0.5, "none pays here", ha="center", transform=pays.transAxes)
    pays.set_xlabel("products until the order has paid for itself (none drawn: it never does)")
    gain.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize=9)
    yield Figure("reordering", "break-even", "What an order gains, and after how many products it pays.", figure)
