"""The units of the numbers of a car file, as its sections declare them."""

from typing import Annotated, get_args, get_origin, get_type_hints

from msgspec import Meta

from trailbrake.cars.params import CarParams
from trailbrake.cars.section import Section

NO_KEYS = {"brakes.force_over_mass": "m/s^2"}  # numbers of learned cars that no car file has


def find_unit(key: str) -> str:
    """Return the unit of a number by its key (`body.mass`, `engine.torque.4785`); "" for ratios and unknown keys."""
    section, _, rest = key.partition(".")
    kind = get_type_hints(CarParams).get(section)
    if key in NO_KEYS or not isinstance(kind, type) or not issubclass(kind, Section):
        return NO_KEYS.get(key, "")
    hint = get_type_hints(kind, include_extras=True).get(rest.partition(".")[0])
    if get_origin(hint) is not Annotated:
        return ""
    texts = [meta.description for meta in get_args(hint)[1:] if isinstance(meta, Meta) and meta.description]
    unit = texts[0].partition(",")[0] if texts else ""
    return "" if unit == "1" else unit
