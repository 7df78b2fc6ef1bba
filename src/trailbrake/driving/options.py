"""Options of served worlds and of the pad's check; the command line makes its flags of these."""

from dataclasses import dataclass
from typing import Literal

from trailbrake.simulator import Speed

ViewKind = Literal["none", "page", "window"]


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """An embedded world to serve.

    Attributes:
        track: a track's name or file, or gen:SEED for a random circuit; with @wet behind it, in the wet. Default:
            hartmoor, on public roads lakeside, in the miniature world clover.
        car: a car's name or file, or random:SEED. Default: gt3, on public roads hatchback. The miniature world has one.
        seed: of the world: where parked cars stand in the miniature world.
        seconds: s of wall time to serve; 0 = until stopped.
        speed: `real` time, or as fast as possible (`max`); default: what suits the simulator.
        view: the first car's view: page: for `drive --live --camera world`; window: also as a window, for `--camera
            window:TITLE`.
        world: changes during the drive, KEY=VALUE; repeatable: grip, grip_lap, rain_after, rain_seconds, fuel_rate:
            docs/evaluate.md; slipstream: docs/racing.md. car, track: in place of --car, --track.
    """

    track: str = ""
    car: str = ""
    seed: int = 0
    seconds: float = 0.0
    speed: Speed | None = None
    view: ViewKind = "none"
    world: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PadCheckOptions:
    """A check of the way to a simulator.

    Attributes:
        sim: whose wire.
        track: the embedded world's track.
        car: the embedded world's car.
        live: check the real game, or a served world.
        pad: with --live, as of `drive --live`.
        listen: with --live, where telemetry comes in; default: the simulator's usual place.
    """

    sim: str = "forza"
    track: str = "proving_ground"
    car: str = "hatchback"
    live: bool = False
    pad: str = "auto"
    listen: str = ""
