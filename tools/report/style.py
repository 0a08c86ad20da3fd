"""How figures look: colours that the colour-blind tell apart, units on every axis, no surprise fonts."""
import functools
import io
import warnings

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# Okabe and Ito. Markers and hatches say the same a second time.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
MOST_PIXELS = 60000  # Matplotlib draws less than 2^16
LONGEST_NAME = 80
warnings.filterwarnings("ignore", message="Glyph")  # a character without a picture is drawn as a box
INCHES = 11.0  # the width of a figure; at 100 dots per inch it fills a page of 1280 pixels
from report.printable import printable  # noqa: E402

plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "axes.grid": True, "grid.alpha": 0.35,
                     "grid.linewidth": 0.6, "axes.axisbelow": True, "svg.fonttype": "path", "svg.hashsalt": "csrkit",
                     "figure.dpi": 100, "figure.max_open_warning": 0, "savefig.dpi": 150, "axes.spines.top": False, "axes.spines.right": False,
                     "legend.frameon": False, "figure.constrained_layout.use": True})


class Figure:
    """A figure as PNG and SVG, drawn when asked for; `raster` marks pictures made of pixels."""

    def __init__(self, section, name, caption, figure, raster=False):
        self.section, self.name, self.caption, self.raster = section, name, caption, raster
        self.figure = figure

    @functools.cached_property
    def svg(self):
        return saved(self.figure, "svg")

    @functools.cached_property
    def png(self):
        return saved(self.figure, "png")


def saved(figure, kind):
    stream = io.BytesIO()
    dots = min(plt.rcParams["savefig.dpi"], MOST_PIXELS / max(figure.get_size_inches()))
    figure.savefig(stream, format=kind, dpi=dots, bbox_inches="tight", pad_inches=0.1,
                   metadata={"Date": None} if kind == "svg" else {"Software": None})
    return stream.getvalue()


def plain(name):
    """A name from a file as Matplotlib shows it as it is: a '$' begins no formula."""
    name = printable(name)
    return (name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "...").replace("$", r"\$")


def grid(count, columns=3, height=2.7):
    """Axes for small multiples, row by row; those left over are switched off."""
    columns = min(columns, max(count, 1))
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(INCHES, height * rows), squeeze=False)
    flat = list(axes.flat)
    for unused in flat[count:]:
        unused.set_axis_off()
    return figure, flat[:count]


def look(names):
    """name -> (colour, marker, hatch), stable for the order of names."""
    return {name: (COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)],
                   HATCHES[i % len(HATCHES)]) for i, name in enumerate(names)}
