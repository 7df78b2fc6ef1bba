"""Counted drives in the miniature world: what `drive --sim trend` does, without the sockets between its two ends.

World, camera, JPEG, codecs, converters and supervisor are those of a drive, in one process and in lockstep, so that
hundreds of laps can be counted in minutes and every count repeats.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image as Picture

from trailbrake.drivers.load import load as load_driver
from trailbrake.planning.course import Unmapped
from trailbrake.roles import Driver
from trailbrake.run.supervisor import Supervisor
from trailbrake.sims.trend import codec, convert, spec
from trailbrake.state import CarState, Image
from trailbrake.tracks.miniature.load import load as load_track
from trailbrake.tracks.miniature.obstacles import Parked, park
from trailbrake.tracks.miniature.track import Branches, MiniatureTrack, Row, Side
from trailbrake.transport.picture import encode
from trailbrake.world.miniature import MiniatureWorld
from trailbrake.world.miniature_car import DRAG, DRIVE, ROLLING, TOP_SPEED

PERIOD = spec.STEP_S * spec.COMMAND_STEPS
PATIENCE = 2.0  # times a lap at top speed that a lap may take
_MIDDLE = (0.3, 0.7)  # share of a fork where a car has made up its mind


@dataclass(frozen=True)
class Drive:
    """What came of a drive.

    Attributes:
        driver, track, look: whose, where.
        wanted: laps that were asked for.
        laps: s, of the laps driven, the first from rest.
        driven: m, of the way that the car's middle went in each of them.
        contacts: with walls and parked cars.
        stuck_s: s stuck at them.
        wrong_way_s: s facing backwards.
        right, forks: forks at which the shorter branch was taken, and forks passed.
    """

    driver: str
    track: str
    look: str
    wanted: int
    laps: tuple[float, ...]
    driven: tuple[float, ...]
    contacts: int
    stuck_s: float
    wrong_way_s: float
    right: int
    forks: int

    @property
    def is_clean(self) -> bool:
        """Whether all laps were driven without a contact."""
        return len(self.laps) == self.wanted and self.contacts == 0

    @property
    def best(self) -> int:
        """The index of the quickest lap."""
        return int(np.argmin(self.laps))

    @property
    def over_ideal(self) -> float:
        """The best lap over the time that its line takes at top speed, the launch added where it began at rest."""
        k = self.best
        return self.laps[k] / (self.driven[k] / TOP_SPEED + (launch() if k == 0 else 0.0))


def launch() -> float:
    """Return what a start from rest costs over one at top speed, s: full throttle, straight on.

    dv/dt = a - DRAG v with a = DRIVE - ROLLING: top speed is reached at t = -ln(1 - DRAG TOP_SPEED / a) / DRAG, after
    (a t - TOP_SPEED) / DRAG of way.
    """
    a = DRIVE - ROLLING
    t = -math.log(1.0 - DRAG * TOP_SPEED / a) / DRAG
    return t - (a * t - TOP_SPEED) / DRAG / TOP_SPEED


def through_jpeg(pixels: Any) -> Any:
    """Return a picture as an agent sees it."""
    return np.asarray(Picture.open(BytesIO(encode(pixels))).convert("RGB"))


def over_the_wire(truth: CarState, sequence: int) -> CarState:
    """Return what an agent is told of the world's state: the wire's rounding, its JPEG, and nothing that it lacks."""
    image = truth.image
    assert image is not None

    def seen(_: bytes) -> Any:
        return through_jpeg(image.pixels)

    told = convert.state_to_wire(truth, b"", finished=False)
    message = codec.decode_telemetry(codec.encode_telemetry(told))
    assert message is not None
    state = convert.state_from_wire(message, Image(b"", seen))
    state.sequence = sequence
    return state


def ticks(world: MiniatureWorld, driver: Driver) -> Iterator[CarState]:
    """Drive for ever; yield the world's state after each tick.

    Args:
        world: one tick is one of its periods.
        driver: has been reset.
    """
    supervisor, dt = Supervisor(), 0.0
    truth = world.state(0)
    while True:
        state = over_the_wire(truth, truth.sequence)
        wish = supervisor.check(driver.act(state, dt), dt)
        message = codec.decode_steer(codec.encode_steer(convert.controls_to_wire(wish, state.speed)))
        world.step([convert.controls_from_wire(message, truth.velocity_x)])
        truth, dt = world.state(0), PERIOD
        yield truth


def half_at(track: MiniatureTrack, x: float, y: float) -> Side:
    """Return the half whose centre is nearest to a place, m."""
    gaps = [float(np.hypot(table[:, Row.X] - x, table[:, Row.Y] - y).min()) for table in track.halves]
    return Side.LEFT if gaps[0] < gaps[1] else Side.RIGHT


def _fork_at(track: MiniatureTrack, s: float) -> Branches | None:
    lo, hi = _MIDDLE
    for fork in track.forks:
        if lo < (s - fork.start) / (fork.end - fork.start) < hi:
            return fork
    return None


def drive(driver: str, track: str, look: str = "B", laps: int = 3, parked: Sequence[Parked] | int = ()) -> Drive:
    """Drive `laps` laps.

    Args:
        driver: a driver's name or file.
        track: a miniature track's name, file or gen:SEED.
        look: the track's paint.
        laps: how many.
        parked: cars in the way; a number: so many, by seed 0.
    """
    drawn = load_track(track)
    cars = park(drawn, parked, 0) if isinstance(parked, int) else parked
    world, hands = MiniatureWorld(drawn, look, cars, PERIOD), load_driver(driver)
    hands.reset(Unmapped())
    limit = laps * PATIENCE * drawn.length / TOP_SPEED + launch()
    x, y = world.state(0).x, world.state(0).y
    way, ways = 0.0, list[float]()
    taken: dict[tuple[int, float], bool] = {}
    for state in ticks(world, hands):
        way += math.hypot(state.x - x, state.y - y)
        x, y = state.x, state.y
        done = len(world.laps(0))
        if done > len(ways):
            ways.append(way)
            way = 0.0
        fork = _fork_at(drawn, state.lap_progress * drawn.length)
        if fork is not None and (done, fork.start) not in taken:
            taken[done, fork.start] = half_at(drawn, x, y) == fork.shorter
        if done >= laps or state.time > limit:
            break
    counted = world.counters()
    return Drive(
        driver, track, look, laps, tuple(lap.time_s for lap in world.laps(0)), tuple(ways), int(counted["contacts"]),
        counted["stuck_s"], counted["wrong_way_s"], sum(taken.values()), len(taken),
    )  # fmt: skip
