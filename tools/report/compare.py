"""Two times and what may be said of their ratio: faster, level, slower, or not settled yet."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterable, Optional

from report.case import Case

FASTER, LEVEL, SLOWER, UNSETTLED = "faster", "level", "slower", "unsettled"
SETTLED_PERCENT = 10.0  # half the 95 % interval of a median; wider ones enter no mean


@dataclass(frozen=True)
class Ratio:
    """The other's time over ours, and every ratio that the two 95 % intervals allow."""
    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        return FASTER if self.low > 1 else SLOWER if self.high < 1 else LEVEL


def ratio_of(ours: Case, other: Case) -> Optional[Ratio]:
    if not ours.seconds or not ours.interval[0]:
        return None
    return Ratio(other.seconds / ours.seconds, other.interval[0] / ours.interval[1], other.interval[1] / ours.interval[0])


def is_settled(case: Case) -> bool:
    return case.width_percent <= SETTLED_PERCENT


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


def mean_of(judged: Iterable[tuple[Ratio, str]]) -> Optional[Mean]:
    """Of (ratio, verdict); None where there are none."""
    counts = dict.fromkeys((FASTER, LEVEL, SLOWER, UNSETTLED), 0)
    settled = []
    for ratio, verdict in judged:
        counts[verdict] += 1
        if verdict != UNSETTLED and min(ratio.value, ratio.low) > 0:
            settled.append(ratio)
    if not any(counts.values()):
        return None
    value, low, high = (math.exp(sum(math.log(getattr(ratio, end)) for ratio in settled) / len(settled))
                        if settled else math.nan for end in ("value", "low", "high"))
    return Mean(value, low, high, counts)


@dataclass(frozen=True)
class PayBack:
    """Products until an order has earned what it cost: by the medians, and between the ends of the intervals."""
    value: float
    low: float
    high: float


def pay_back(cost: float, before: Case, after: Case) -> PayBack:
    def products(gained: float) -> float:
        return cost / gained if gained > 0 else math.inf
    return PayBack(products(before.seconds - after.seconds), products(before.interval[1] - after.interval[0]),
                   products(before.interval[0] - after.interval[1]))
