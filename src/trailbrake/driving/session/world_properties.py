"""`WorldProperties`: what an embedded world has and does that its drivers are not informed of: `--world KEY=VALUE`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.option_pairs import change_options
from trailbrake.driving.spec import UNKNOWN_CAR
from trailbrake.errors import UsageError
from trailbrake.simulator import WorldKind
from trailbrake.world.conditions import WorldConditions


@dataclass(frozen=True, kw_only=True)
class WorldProperties(WorldConditions):
    """The properties that `--world` names.

    Attributes:
        car: a car's name or file; "" = that of --car.
        track: a track's name or file; "" = that of --track.
    """

    car: str = ""
    track: str = ""


def parse_world(pairs: Sequence[str]) -> WorldProperties:
    """Return the properties that the texts KEY=VALUE name; UsageError for others."""
    return change_options(WorldProperties(), pairs, "--world", "the embedded world")


def settle_world(options: WorldOptions, kind: WorldKind) -> tuple[WorldOptions, WorldProperties]:
    """Return the options with the names of track and car that the world has, and its properties.

    Raises:
        UsageError: a property that this kind of world does not have, or a car that is not named.
    """
    properties = parse_world(options.world)
    if kind == "miniature" and options.world:
        raise UsageError("the miniature world has no such properties", where=f"--world {options.world[0]}")
    options = options.with_defaults(kind)
    options = replace(options, track=properties.track or options.track, car=properties.car or options.car)
    if options.car == UNKNOWN_CAR:
        raise UsageError("the world needs a car", where=f"--car {UNKNOWN_CAR}", hint="add --world car=CAR")
    return options, properties
