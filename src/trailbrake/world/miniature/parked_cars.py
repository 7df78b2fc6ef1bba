"""Parked cars on a miniature track, placed by a seed so that there is always a free way past."""

from dataclasses import dataclass

import numpy as np

from trailbrake.errors import UsageError
from trailbrake.world.miniature.layout import LANE
from trailbrake.world.miniature.track import MiniatureTrack

CAR_LENGTH, CAR_WIDTH = 0.25, 0.13  # m
MAX_PARKED_CARS = 20
_APART = 4.0  # m along the road from one to the next: room to change to the other half
_START = 5.0  # m behind the start line that stay free
_END = 1.5  # m before it
_SIGN_LEAD = 1.6  # m from a sign to the car that it announces
_SIGN_GAP = 2.0  # m to other gantries
_FORK_GAP = 1.2  # m before and behind a fork, so that a car that leaves it sees them in time
_LANES = (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)  # middles, in lanes left of the road's centre


@dataclass(frozen=True)
class ParkedCar:
    """A parked car.

    Attributes:
        x, y: m, world, its middle.
        yaw: rad.
        s: m along the road.
        offset: m left of the road's centre.
        sign: the symbol that announces it, "" for none.
        sign_s: m along the road, place of that sign.
    """

    x: float
    y: float
    yaw: float
    s: float
    offset: float
    sign: str
    sign_s: float


def place_parked_cars(track: MiniatureTrack, count: int, seed: int) -> list[ParkedCar]:
    """Return `count` parked cars, each in the middle of a lane outside forks, by `seed`.

    Each blocks one lane of six; the other half of the road is free beside it, and there is room to change over.

    Raises:
        UsageError: more than fit.
    """
    if not 0 <= count <= MAX_PARKED_CARS:
        raise UsageError("so many parked cars make no track", where="obstacles", expected=f"0 .. {MAX_PARKED_CARS}",
                         got=str(count))  # fmt: skip
    rng = np.random.default_rng(seed)
    found: list[ParkedCar] = []
    for _ in range(400 * count):
        if len(found) == count:
            break
        s = _START + float(rng.random()) * (track.length - _START - _END)
        offset = _LANES[int(rng.random() * len(_LANES))] * LANE
        turn = (float(rng.random()) - 0.5) * 0.3
        in_fork = any(fork.start - _FORK_GAP < s < fork.end + _FORK_GAP for fork in track.forks)
        if in_fork or any(abs(s - car.s) < _APART for car in found):
            continue
        x, y, yaw = track.pose_at(s, offset)
        sign_s = s - _SIGN_LEAD
        others = [board.s for board in track.signs] + [car.sign_s for car in found if car.sign]
        free = all(abs(sign_s - other) > _SIGN_GAP for other in others) and not track.is_apart(np.array(sign_s))
        sign = ("keep_right" if offset > 0.0 else "keep_left") if free else ""
        found.append(ParkedCar(x, y, yaw + turn, s, offset, sign, sign_s))
    if len(found) < count:
        raise UsageError("no room for so many parked cars", where="obstacles", expected=f"{len(found)} or fewer",
                         got=str(count))  # fmt: skip
    return sorted(found, key=lambda car: car.s)
