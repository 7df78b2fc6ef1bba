"""What a bench prints: rows with fixed names, and the machine they were measured on."""

import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class BenchRow:
    """One figure. `better` says which way is good."""

    name: str
    value: float
    unit: str
    better: Literal["higher", "lower"]
    note: str = ""


def measure_median(runs: int, measure: Callable[[], float]) -> tuple[float, str]:
    """Return the median of `runs` measurements, and a note with their spread."""
    values = sorted(measure() for _ in range(runs))
    return statistics.median(values), f"median of {runs}, {values[0]:.3g} to {values[-1]:.3g}"


def describe_machine() -> dict[str, Any]:
    """Describe this machine without naming it."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
