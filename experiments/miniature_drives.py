"""Drives of the miniature world's camera drivers through the wire's encoding, counted: laps, contacts, forks taken."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image as Picture

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.event_sims.one_pedal import OnePedal
from trailbrake.event_sims.options import COMMAND_STEPS, STEP_S
from trailbrake.planning.course import UnmappedCourse
from trailbrake.roles import Driver
from trailbrake.sims.trend import codec, convert
from trailbrake.state import CarState, Image
from trailbrake.transport.image_codec import encode_image
from trailbrake.world.miniature.car import FULL_THROTTLE_ACCELERATION, THROTTLE_DRAG, TOP_SPEED
from trailbrake.world.miniature.parked_cars import ParkedCar, place_parked_cars
from trailbrake.world.miniature.track import ForkBranches, HalfColumn, MiniatureTrack, RoadHalf
from trailbrake.world.miniature.track_library import load_miniature_track as load_track
from trailbrake.world.miniature.world import MiniatureWorld

PERIOD = STEP_S * COMMAND_STEPS
PATIENCE = 2.0  # times a lap at top speed that a lap may take
_MIDDLE = (0.3, 0.7)  # share of a fork where a car has made up its mind


@dataclass(frozen=True)
class CountedDrive:
    """What came of a drive.

    Attributes:
        driver, track, look: as given to `drive_laps`.
        requested_laps: laps that were requested.
        lap_times: s, of the laps driven, the first from rest.
        lap_distances: m, distance of the car's centre in each of them.
        contacts: with walls and parked cars.
        stuck_s: s stuck at them.
        wrong_way_s: s facing backwards.
        shorter_forks: forks at which the car took the shorter branch.
        forks: forks that it passed.
    """

    driver: str
    track: str
    look: str
    requested_laps: int
    lap_times: tuple[float, ...]
    lap_distances: tuple[float, ...]
    contacts: int
    stuck_s: float
    wrong_way_s: float
    shorter_forks: int
    forks: int

    @property
    def is_clean(self) -> bool:
        """Whether all laps were driven without a contact."""
        return len(self.lap_times) == self.requested_laps and self.contacts == 0

    @property
    def best_lap(self) -> int:
        """The index of the quickest lap."""
        return int(np.argmin(self.lap_times))

    @property
    def ratio_to_ideal(self) -> float:
        """The best lap over the time that its line takes at top speed, the launch added where it began at rest."""
        k = self.best_lap
        return self.lap_times[k] / (self.lap_distances[k] / TOP_SPEED + (launch_loss() if k == 0 else 0.0))


def launch_loss() -> float:
    """Return what a start from rest costs over one at top speed, s: full throttle, straight on.

    dv/dt = a - DRAG v: top speed is reached at t = -ln(1 - DRAG TOP_SPEED / a) / DRAG, after
    (a t - TOP_SPEED) / DRAG of way.
    """
    a, drag = FULL_THROTTLE_ACCELERATION, THROTTLE_DRAG
    t = -math.log(1.0 - drag * TOP_SPEED / a) / drag
    return t - (a * t - TOP_SPEED) / drag / TOP_SPEED


def compress_as_jpeg(pixels: Any) -> Any:
    """Return a picture as an agent sees it."""
    return np.asarray(Picture.open(BytesIO(encode_image(pixels))).convert("RGB"))


def pass_through_wire(truth: CarState, sequence: int) -> CarState:
    """Return the world's state as an agent receives it: rounded, with a JPEG, without what the wire lacks."""
    image = truth.image
    assert image is not None

    def seen(_: bytes) -> Any:
        return compress_as_jpeg(image.pixels)

    telemetry = convert.state_to_wire(truth, b"", finished=False)
    message = codec.decode_telemetry(codec.encode_telemetry(telemetry))
    assert message is not None
    state = convert.state_from_wire(message, Image(b"", seen))
    state.sequence = sequence
    return state


def iterate_ticks(world: MiniatureWorld, driver: Driver) -> Iterator[CarState]:
    """Drive for ever; yield the world's state after each tick.

    Args:
        world: one tick is one of its periods.
        driver: has been reset.
    """
    supervisor, pedal, dt = Supervisor(), OnePedal(convert.PEDAL_CAR), 0.0
    truth = world.car_state(0)
    while True:
        state = pass_through_wire(truth, truth.sequence)
        wish = supervisor.limit_controls(driver.act(state, dt), dt)
        sent = convert.controls_to_wire(wish, pedal=pedal.combine(wish, state.speed, PERIOD))
        message = codec.decode_steer(codec.encode_steer(sent))
        world.step([convert.controls_from_wire(message, truth.velocity_x)])
        truth, dt = world.car_state(0), PERIOD
        yield truth


def find_half(track: MiniatureTrack, x: float, y: float) -> RoadHalf:
    """Return the half whose centre is nearest to a place, m."""
    gaps = [float(np.hypot(table[:, HalfColumn.X] - x, table[:, HalfColumn.Y] - y).min()) for table in track.halves]
    return RoadHalf.LEFT if gaps[0] < gaps[1] else RoadHalf.RIGHT


def _find_fork(track: MiniatureTrack, s: float) -> ForkBranches | None:
    lo, hi = _MIDDLE
    for fork in track.forks:
        if lo < (s - fork.start) / (fork.end - fork.start) < hi:
            return fork
    return None


def drive_laps(
    driver: str, track: str, look: str = "B", laps: int = 3, parked: Sequence[ParkedCar] | int = ()
) -> CountedDrive:
    """Drive `laps` laps.

    Args:
        driver: a driver's name or file.
        track: a miniature track's name, file or gen:SEED.
        look: the track's paint.
        laps: how many.
        parked: cars in the way; a number: so many, by seed 0.
    """
    drawn = load_track(track)
    cars = place_parked_cars(drawn, parked, 0) if isinstance(parked, int) else parked
    world, hands = MiniatureWorld(drawn, look, cars, PERIOD), load_driver(driver)
    hands.reset(UnmappedCourse())
    limit = laps * PATIENCE * drawn.length / TOP_SPEED + launch_loss()
    x, y = world.car_state(0).x, world.car_state(0).y
    way, ways = 0.0, list[float]()
    taken: dict[tuple[int, float], bool] = {}
    for state in iterate_ticks(world, hands):
        way += math.hypot(state.x - x, state.y - y)
        x, y = state.x, state.y
        done = len(world.laps(0))
        if done > len(ways):
            ways.append(way)
            way = 0.0
        fork = _find_fork(drawn, state.lap_progress * drawn.length)
        if fork is not None and (done, fork.start) not in taken:
            taken[done, fork.start] = find_half(drawn, x, y) == fork.shorter_half
        if done >= laps or state.time > limit:
            break
    counted = world.counters()
    return CountedDrive(
        driver, track, look, laps, tuple(lap.time_s for lap in world.laps(0)), tuple(ways), int(counted["contacts"]),
        counted["stuck_s"], counted["wrong_way_s"], sum(taken.values()), len(taken),
    )  # fmt: skip
