"""trailbrake: write an AI driver once, drive it in several simulators or with no game at all.

What a driver file needs is here: `Controls`, `CarState` and `check_driver`. Names are loaded when first used, so
that importing the package costs nothing.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "CarState",
    "Controls",
    "Course",
    "__version__",
    "check_driver",
    "connect",
    "drive",
    "load_car",
    "load_track",
]

if TYPE_CHECKING:
    from trailbrake.cars.load import load as load_car
    from trailbrake.drivers.check import check_driver
    from trailbrake.planning.course import Course
    from trailbrake.run.session import drive
    from trailbrake.run.stepping import connect
    from trailbrake.state import CarState, Controls
    from trailbrake.tracks.load import load as load_track

_LAZY = {
    "CarState": ("trailbrake.state", "CarState"),
    "Controls": ("trailbrake.state", "Controls"),
    "Course": ("trailbrake.planning.course", "Course"),
    "check_driver": ("trailbrake.drivers.check", "check_driver"),
    "connect": ("trailbrake.run.stepping", "connect"),
    "drive": ("trailbrake.run.session", "drive"),
    "load_car": ("trailbrake.cars.load", "load"),
    "load_track": ("trailbrake.tracks.load", "load"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'trailbrake' has no attribute {name!r}")
    import importlib

    module, attribute = _LAZY[name]
    return getattr(importlib.import_module(module), attribute)
