"""Draws charts as SVG. Colours come from the page's style, so a chart follows the reader's theme."""
from __future__ import annotations

import html
import math
from typing import Iterable, Optional, Sequence

from report.printable import printable

# A marker for each colour says the same a second time; paths around (0, 0), about 7 pixels wide.
MARKERS = ("M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z", "M-3-3h6v6h-6z", "M0-4L3.7 3h-7.4z", "M0-4.2L4.2 0 0 4.2-4.2 0z",
           "M0 4L3.7-3h-7.4z", "M-3.6-1.3h2.3v-2.3h2.6v2.3h2.3v2.6h-2.3v2.3h-2.6v-2.3h-2.3z")
COLOURS = 8
LETTER = 6.3  # pixels; the mean width of a letter of the 11 pixel font, rounded up
LONGEST_NAME = 80


def escaped(text: str) -> str:
    return html.escape(printable(text))


def short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..."


def number(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")


def tick_text(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


class Scale:
    """Maps values onto pixels, linearly or by their logarithm."""

    def __init__(self, low: float, high: float, log: bool = False) -> None:
        if not high > low:
            low, high = (low / 2, low * 2) if log and low > 0 else (low - 0.5, low + 0.5)
        self.low, self.high, self.log = low, high, log
        self.first, self.last = 0.0, 1.0

    def __call__(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def ticks(self, most: int) -> list[float]:
        """Round values within the range, at most so many."""
        if not self.log:
            step = 10.0 ** math.floor(math.log10((self.high - self.low) / max(most, 1)))
            step *= next(f for f in (1, 2, 2.5, 5, 10, 20, 50) if (self.high - self.low) / (f * step) < most)
            first = math.ceil(self.low / step - 1e-9)
            return [round(i * step, 12) for i in range(first, math.floor(self.high / step + 1e-9) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
            found = [f * 10.0**p for p in powers for f in factors if self.low * 0.999 <= f * 10.0**p <= self.high * 1.001]
            if len(found) <= most:
                return found
        return found[::-(-len(found) // most)]


def around(values: Iterable[float], log: bool, *, share: float = 0.06, also: Sequence[float] = ()) -> Scale:
    """A scale with some air around all values."""
    known = [value for value in (*values, *also) if math.isfinite(value) and (value > 0 or not log)] or [1.0]
    low, high = min(known), max(known)
    if log:
        air = max((high / low) ** share, 1.1)
        return Scale(low / air, high * air, log=True)
    air = share * (high - low) or 0.5
    return Scale(low - air, high + air)


class Chart:
    """A picture of so many pixels: what is added is drawn in that order."""

    def __init__(self, width: float, height: float, left: float = 46, right: float = 10, top: float = 8,
                 bottom: float = 36) -> None:
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = left, width - right, top, height - bottom
        self.parts: list[str] = []
        self.x, self.y = Scale(0, 1), Scale(0, 1)

    def axes(self, x: Optional[Scale], y: Optional[Scale], x_label: str = "", y_label: str = "",
             x_ticks: Optional[Sequence[float]] = None) -> None:
        """Grid lines, ticks and labels; an axis that is None has none."""
        if y:
            self.y = y
            y.first, y.last = self.bottom, self.top
            for value in y.ticks(max(2, int((self.bottom - self.top) / 34))):
                at = y(value)
                self.line([(self.left, at), (self.right, at)], "grid")
                self.text(self.left - 5, at + 4, tick_text(value), "end")
            if y_label:
                self.text(2, self.top - 8, y_label, "start", "axis")
        if x:
            self.x = x
            x.first, x.last = self.left, self.right
            for value in x_ticks or x.ticks(max(2, int((self.right - self.left) / 52))):
                at = x(value)
                self.line([(at, self.top), (at, self.bottom)], "grid")
                self.text(at, self.bottom + 14, tick_text(value), "middle")
            if x_label:
                self.text((self.left + self.right) / 2, self.bottom + 30, x_label, "middle", "axis")

    def line(self, points: Sequence[tuple[float, float]], style: str) -> None:
        path = "L".join(f"{number(x)} {number(y)}" for x, y in points)
        self.parts.append(f'<path class="{style}" d="M{path}"/>')

    def marker(self, x: float, y: float, index: int, style: str = "", tip: str = "") -> None:
        """Of the index-th series; `tip` is what a pointer that rests on it is told."""
        title = f"<title>{escaped(tip)}</title>" if tip else ""
        style = style or f"s{index % COLOURS}"
        self.parts.append(f'<path class="dot {style}" transform="translate({number(x)} {number(y)})" '
                          f'd="{MARKERS[index % len(MARKERS)]}"' + (f">{title}</path>" if tip else "/>"))

    def box(self, x: float, y: float, width: float, height: float, style: str, opacity: float = 1) -> None:
        shade = f' fill-opacity="{opacity:.2f}"' if opacity < 1 else ""
        self.parts.append(f'<rect class="{style}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
                          f'height="{number(height)}"{shade}/>')

    def text(self, x: float, y: float, text: str, anchor: str = "start", style: str = "") -> None:
        kind = f' class="{style}"' if style else ""
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{kind}>{escaped(text)}</text>')

    def image(self, x: float, y: float, width: float, height: float, source: str) -> None:
        self.parts.append(f'<image class="pixels" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
                          f'height="{number(height)}" preserveAspectRatio="none" href="{source}"/>')

    def legend(self, names: Sequence[str]) -> None:
        """In rows above the plot, as many as it takes; the plot becomes smaller."""
        at, row = self.left, self.top + 6
        most = int((self.right - self.left - 13) / LETTER)  # letters in a row of its own
        for i, name in enumerate(names):
            name = name if len(name) <= most else name[:most - 3] + "..."
            width = 22 + LETTER * len(name)
            if at > self.left and at + width > self.right:
                at, row = self.left, row + 16
            self.marker(at + 5, row, i)
            self.text(at + 13, row + 4, name)
            at += width
        self.top = row + 16

    def svg(self, label: str) -> str:
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(self.width)}" height="{number(self.height)}" '
                f'viewBox="0 0 {number(self.width)} {number(self.height)}" role="img" aria-label="{escaped(label)}">'
                + "".join(self.parts) + "</svg>")
