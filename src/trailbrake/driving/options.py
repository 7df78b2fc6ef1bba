"""Options of served worlds, of the pad's check and of open-loop replays; the command line makes its flags of these."""

from dataclasses import dataclass
from pathlib import Path
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
        world: changes during the drive, KEY=VALUE; repeatable: docs/evaluate.md, docs/racing.md. car, track: in place
            of --car, --track.
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


@dataclass(frozen=True)
class OpenLoopOptions:
    """A driver that answers a recording.

    Attributes:
        driver: of the open-loop replay: a name, or FILE.py.
        config: its file of gains.
        gain: one of its gains, KEY=VALUE; repeatable.
        track: the road that it plans on; default that of the recording.
        car: the car that it plans with; default that of the recording.
        out: the page, or the recording of the driver's answers; default beside the recording.
    """

    driver: str = ""
    config: Path | None = None
    gain: tuple[str, ...] = ()
    track: str = ""
    car: str = ""
    out: Path | None = None
