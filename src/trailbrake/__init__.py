"""trailbrake: write an AI driver once, drive it in several simulators or with no game at all.

What a driver file needs is here: `Controls`, `CarState`, `SimCommand` and `check_driver`. Names are loaded when
first used, so that importing the package costs nothing.
"""

from typing import TYPE_CHECKING, Any

from trailbrake.env.registration import register_when_imported
from trailbrake.version import __version__

__all__ = [
    "CarState", "Controls", "Course", "DebugLine", "Pose", "SimCommand", "Simulator", "__version__", "check_driver",
    "check_simulator", "connect", "drive", "load", "load_car", "load_track",
]  # fmt: skip

if TYPE_CHECKING:
    from trailbrake.cars.car_library import load_car
    from trailbrake.drivers.loading.check import check_driver
    from trailbrake.driving.session.drive_session import drive
    from trailbrake.driving.simulator_check import check_simulator
    from trailbrake.driving.stepping import connect
    from trailbrake.planning.course import Course
    from trailbrake.record.run_frame import load
    from trailbrake.simulator import Simulator
    from trailbrake.state import CarState, Controls, DebugLine, Pose, SimCommand
    from trailbrake.tracks.track_library import load_track

_LAZY = {
    "CarState": ("trailbrake.state", "CarState"),
    "Controls": ("trailbrake.state", "Controls"),
    "Course": ("trailbrake.planning.course", "Course"),
    "DebugLine": ("trailbrake.state", "DebugLine"),
    "Pose": ("trailbrake.state", "Pose"),
    "SimCommand": ("trailbrake.state", "SimCommand"),
    "Simulator": ("trailbrake.simulator", "Simulator"),
    "check_driver": ("trailbrake.drivers.loading.check", "check_driver"),
    "check_simulator": ("trailbrake.driving.simulator_check", "check_simulator"),
    "connect": ("trailbrake.driving.stepping", "connect"),
    "drive": ("trailbrake.driving.session.drive_session", "drive"),
    "load": ("trailbrake.record.run_frame", "load"),
    "load_car": ("trailbrake.cars.car_library", "load_car"),
    "load_track": ("trailbrake.tracks.track_library", "load_track"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'trailbrake' has no attribute {name!r}")
    import importlib

    module, attribute = _LAZY[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return list(__all__)


register_when_imported()
