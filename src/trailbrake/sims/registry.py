"""Finds simulators by their folders. Adding one is adding a folder."""

import importlib
from pathlib import Path
from types import ModuleType

from trailbrake.errors import UsageError, near


def names() -> list[str]:
    """Return the names of the simulators, sorted: the folders beside this file that have a spec."""
    return sorted(p.parent.name for p in Path(__file__).parent.glob("*/spec.py"))


def part(sim: str, name: str) -> ModuleType:
    """Return module `name` (spec, codec, convert, link or host) of simulator `sim`; UsageError if there is none."""
    if sim not in names():
        raise UsageError("no such simulator", where="sim", got=sim, hint=near(sim, names()))
    return importlib.import_module(f"trailbrake.sims.{sim}.{name}")
