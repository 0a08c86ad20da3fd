"""A figure: a name, what it shows in words, and how it is drawn in a given width."""
from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import Callable

from report.chart import Chart

HERE = pathlib.Path(__file__).resolve().parent
NARROW, CARD, MIDDLE, WIDE = 310, 310, 620, 1060  # pixels: a phone, one of several in a row, a tablet, the page


def style_of(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Figure:
    """`title` stands above it, `caption` says in words what it shows. One that is small is drawn in one
    width, one that is not in three: for a screen, a tablet and a phone."""
    section: str
    name: str
    title: str
    caption: str
    draw: Callable[[float], Chart]
    is_small: bool = False

    def svg(self, width: float) -> str:
        return self.draw(width).svg(self.caption)

    def file(self) -> str:
        """An SVG document that brings its style."""
        drawn = self.svg(CARD if self.is_small else WIDE)
        head, end, rest = drawn.partition(">")
        return f"{head}{end}<style>{style_of('chart.css')}</style>{rest}\n"


def slug(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text).strip("-").lower()
