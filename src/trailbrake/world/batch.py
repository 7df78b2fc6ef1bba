"""`Batch`: many cars on one track as arrays, and the calls of the kernel on them. One car is a batch of one."""

import math
from collections.abc import Sequence

import numpy as np

from trailbrake.cars.params import CarParams
from trailbrake.state import Controls
from trailbrake.tracks.track import Track
from trailbrake.world.integrate import advance
from trailbrake.world.layout import Array, Control, Param, State, pack

MAX_DT = 0.0012  # s: substeps are no longer; stiff wheels and ABS are verified up to here


def substeps_for(period: float) -> int:
    """Return how many equal substeps of at most MAX_DT make up `period` (s)."""
    return max(1, math.ceil(period / MAX_DT))


class Batch:
    """Cars side by side on the same road, not touching each other.

    Args:
        track: where they drive; its first road.
        cars: one CarParams for all, or one per car.
        n: how many cars; by default as many as there are in `cars`.

    Attributes:
        state: (State.COUNT, n) float64.
        params: (Param.COUNT, n) float64.
        controls: (Control.COUNT, n) float64; write into it, or give `step` an array of your own.
    """

    def __init__(self, track: Track, cars: Sequence[CarParams], n: int | None = None) -> None:
        n = len(cars) if n is None else n
        if not cars or n < 1 or len(cars) not in (1, n):
            raise ValueError(f"Batch: expected 1 or n CarParams and n >= 1, got {len(cars)} and n = {n}")
        self.track, self.n = track, n
        # Plain, writable copies: numba compiles anew for a read-only array.
        columns = np.stack([pack(car) for car in cars], axis=1)
        self.params: Array = np.array(np.broadcast_to(columns, (Param.COUNT, n)), order="C")
        self.state: Array = np.zeros((State.COUNT, n))
        self.controls: Array = np.zeros((Control.COUNT, n))
        road, off = track.road, track.off_road
        self._ground = (
            np.array(road.table, order="C"),
            float(road.spacing),
            bool(road.closed),
            float(off.grip),
            float(off.rolling),
        )

    def place(self, car: int, x: float, y: float, yaw: float) -> None:
        """Put `car` at rest on the road at x, y (m, world), heading `yaw` (rad), in first gear, everything as new."""
        self.state[:, car] = 0.0
        self.state[State.X, car] = x
        self.state[State.Y, car] = y
        self.state[State.YAW, car] = math.remainder(yaw, 2.0 * math.pi)
        self.state[State.ROW, car] = -1.0
        self.state[State.ENGINE, car] = self.params[Param.IDLE, car]
        self.state[State.GEAR, car] = self.state[State.NEXT_GEAR, car] = 1.0
        self.state[State.FUEL, car] = self.params[Param.FUEL_START, car]
        self.state[State.CONTACT_GAP, car] = 1e6
        self.refresh(car, car + 1)

    def refresh(self, lo: int = 0, hi: int | None = None) -> None:
        """Find the ground under cars `lo`..`hi` - 1 and publish them, after `state` was written from outside."""
        hi = self.n if hi is None else hi
        advance(self.state, self.params, self.controls, *self._ground, 0.0, 0, lo, hi)

    def step(
        self,
        controls: Array | None = None,
        *,
        dt: float,
        substeps: int,
        lo: int = 0,
        hi: int | None = None,
    ) -> None:
        """Advance cars `lo`..`hi` - 1 by `substeps` times `dt` (s); releases the GIL, so ranges may go to threads.

        Args:
            controls: (Control.COUNT, n), constant over the step; default `self.controls`.
            dt: length of a substep (s), at most MAX_DT.
            substeps: how many. Ground and walls are looked at once, at the end: keep `dt * substeps` below 5 ms.
            lo: first car.
            hi: one past the last car, default all.
        """
        hi = self.n if hi is None else hi
        values = self.controls if controls is None else controls
        advance(self.state, self.params, values, *self._ground, dt, substeps, lo, hi)

    def set_controls(self, car: int, controls: Controls) -> None:
        """Write the controls of one car; a gear of None asks for the automatic."""
        gear = controls.gear
        self.controls[:, car] = (
            controls.steer,
            controls.throttle,
            controls.brake,
            controls.clutch,
            controls.handbrake,
            math.nan if gear is None else gear,
        )
