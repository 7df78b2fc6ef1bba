"""Finds simulators by their folders. Adding one is adding a folder."""

import importlib
from pathlib import Path
from types import ModuleType

from trailbrake.errors import UsageError, near


def names() -> list[str]:
    """Return the names of the simulators, sorted: the folders beside this file that have a spec."""
    return sorted(p.parent.name for p in Path(__file__).parent.glob("*/spec.py"))


def having(name: str) -> list[str]:
    """Return the names of the simulators, sorted, whose folder has a module `name`, as `doctor` or `setup`."""
    return [sim for sim in names() if (Path(__file__).parent / sim / f"{name}.py").is_file()]


def part(sim: str, name: str) -> ModuleType:
    """Return module `name` (spec, codec, convert, link or host) of simulator `sim`; UsageError if there is none."""
    if sim not in names():
        raise UsageError("no such simulator", where="sim", got=sim, hint=near(sim, names()))
    return importlib.import_module(f"trailbrake.sims.{sim}.{name}")
