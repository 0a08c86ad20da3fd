"""Two times and what may be said of their ratio: faster, level, slower, or not settled yet."""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Iterable, Optional

from report.case import Case

FASTER, LEVEL, SLOWER, UNSETTLED = "faster", "level", "slower", "unsettled"
SETTLED_PERCENT = 10.0  # half the 95 % interval of a median; wider ones enter no mean


@dataclass(frozen=True)
class Ratio:
    """The other's time over ours, with its 95 % interval."""
    value: float
    low: float
    high: float
    is_settled: bool = True

    @property
    def verdict(self) -> str:
        if not self.is_settled:
            return UNSETTLED
        return FASTER if self.low > 1 else SLOWER if self.high < 1 else LEVEL


def ratio_of(ours: Case, other: Case) -> Optional[Ratio]:
    """The same ratio as csr-bench shows (tools/bench/ratio.h): of pairs of samples where the kernels took
    turns, else of the medians. None where a time is 0."""
    if min(*ours.samples, *other.samples, ours.interval[0], other.interval[0]) <= 0:
        return None
    if ours.turns and ours.turns == other.turns and len(ours.samples) == len(other.samples):
        return ratio_of_pairs([theirs / mine for theirs, mine in zip(other.samples, ours.samples)])
    ratio = other.seconds / ours.seconds
    down = math.hypot(math.log(ours.interval[1] / ours.seconds), math.log(other.seconds / other.interval[0]))
    up = math.hypot(math.log(ours.seconds / ours.interval[0]), math.log(other.interval[1] / other.seconds))
    return Ratio(ratio, ratio * math.exp(-down), ratio * math.exp(up), is_settled(ours) and is_settled(other))


def ratio_of_pairs(ratios: list[float]) -> Ratio:
    """Their median; between the ends lies the true one with 95 % confidence, by ranks alone."""
    ratios = sorted(ratios)
    below = math.floor(len(ratios) / 2 - 1.96 * math.sqrt(len(ratios)) / 2)
    value, low, high = statistics.median(ratios), ratios[max(below - 1, 0)], ratios[-1 - max(below - 1, 0)]
    return Ratio(value, low, high, len(ratios) > 1 and 50 * (high - low) / value <= SETTLED_PERCENT)


def is_settled(case: Case) -> bool:
    """One sample says nothing about the next."""
    return len(case.samples) > 1 and case.width_percent <= SETTLED_PERCENT


@dataclass(frozen=True)
class Mean:
    """The geometric mean of the settled ratios, at their medians and at either end of their intervals;
    NaN where none is settled."""
    value: float
    low: float
    high: float
    counts: dict[str, int]

    @property
    def settled(self) -> int:
        return self.counts[FASTER] + self.counts[LEVEL] + self.counts[SLOWER]


def mean_of(ratios: Iterable[Ratio]) -> Optional[Mean]:
    """None where there are none."""
    counts = dict.fromkeys((FASTER, LEVEL, SLOWER, UNSETTLED), 0)
    settled = []
    for ratio in ratios:
        counts[ratio.verdict] += 1
        if ratio.is_settled:
            settled.append(ratio)
    if not any(counts.values()):
        return None
    value, low, high = (math.exp(sum(math.log(getattr(ratio, end)) for ratio in settled) / len(settled))
                        if settled else math.nan for end in ("value", "low", "high"))
    return Mean(value, low, high, counts)


@dataclass(frozen=True)
class PayBack:
    """Products until an order has earned what it cost: by the medians, and at both ends of the 95 % interval."""
    value: float
    low: float
    high: float


def pay_back(cost: float, before: Case, after: Case) -> PayBack:
    def products(gained: float) -> float:
        return cost / gained if gained > 0 else math.inf
    gained = before.seconds - after.seconds
    more = math.hypot(before.interval[1] - before.seconds, after.seconds - after.interval[0])
    less = math.hypot(before.seconds - before.interval[0], after.interval[1] - after.seconds)
    return PayBack(products(gained), products(gained + more), products(gained - less))
