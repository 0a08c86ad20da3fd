"""The limits of a machine, from the profile that csr-probe measured on it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from report.case import Case
from report.json_reader import Field

# No memory of any device moves more; a profile beyond it was not measured.
MOST_BYTES_PER_SECOND = 1e14


@dataclass(frozen=True)
class Roof:
    host: str
    is_gpu: bool
    device: str
    copy_bytes_per_second: float

    def covers(self, case: Case) -> bool:
        """GPUs of a name are alike; of CPUs only this host's."""
        if self.is_gpu:
            return case.gpu is not None and case.gpu.name == self.device
        return case.gpu is None and case.cpu == self.device and case.host in ("", self.host)


def roofs_of(profile: Field) -> list[Roof]:
    """Raises InputError where the numbers are no machine's."""
    return [Roof(profile["host"].text(), device["device"].text() == "gpu", device["name"].text(),
                 device["copy_bytes_per_second"].number(1, MOST_BYTES_PER_SECOND))
            for device in profile["devices"].elements()]


def roof_for(roofs: list[Roof], case: Case) -> Optional[Roof]:
    return next((roof for roof in roofs if roof.covers(case)), None)
