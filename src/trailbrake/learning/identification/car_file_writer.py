"""A car as the text of a car file (TOML), with the source and the uncertainty of what was learned."""

from collections.abc import Mapping
from typing import Any

import msgspec

from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.learned_car import LearnedCar
from trailbrake.learning.identification.learned_value import LearnedValue


def format_car(learned: LearnedCar, car: CarParams | None = None) -> str:
    """Return the text of a car file that `trailbrake.cars.car_library.load_car` takes.

    Args:
        learned: what was learned.
        car: the car to write, where it is not that of `learned`.

    Behind a number that was learned, a comment has its standard deviation; the same numbers stand in a comment at the
    end, with all those that have no key of their own.
    """
    car = car or learned.car
    values = msgspec.to_builtins(car, enc_hook=float)
    lines = [f"# {learned.car.title}.", "# Numbers with +- were identified (standard deviation); all others are those",
             f"# of the class of cars ({learned.kind.name})."]  # fmt: skip
    lines += [f"# Not learned: {text}" for text in learned.missing]
    lines += ["", *_scalars(values, "", learned.values)]
    for name, section in values.items():
        if isinstance(section, dict):
            lines += ["", *_section(name, section, learned.values)]
    others = [key for key in learned.values if not _has_key(car, key)]
    lines += ["", "# Besides:"] + [f"# {key} = {_number_with_sigma(learned.values[key])}" for key in others]
    return "\n".join(lines) + "\n"


def _has_key(car: CarParams, key: str) -> bool:
    section, _, name = key.partition(".")
    return hasattr(getattr(car, section, None), name) if name else False


def _section(name: str, section: dict[str, Any], learned: Mapping[str, LearnedValue]) -> list[str]:
    lines = [f"[{name}]", *_scalars(section, f"{name}.", learned)]
    for key, inner in section.items():
        if isinstance(inner, dict):
            lines += ["", *_section(f"{name}.{key}", inner, learned)]
    return lines


def _scalars(section: dict[str, Any], prefix: str, learned: Mapping[str, LearnedValue]) -> list[str]:
    lines = []
    for key, value in section.items():
        if value is None or isinstance(value, dict):
            continue
        name = key if key.isidentifier() else f'"{key}"'
        found = learned.get(prefix + key)
        behind = f"  # +- {found.sigma:.2g}, {found.note}" if found is not None and found.source == "identified" else ""
        lines.append(f"{name} = {_toml(value)}{behind}")
    return lines


def _number_with_sigma(value: LearnedValue) -> str:
    return f"{value.value:.6g} +- {value.sigma:.2g} ({value.source}, {value.note})"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(f"{value:.7g}"))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
