"""`MiniatureWorld`: one small car on a miniature track, with a camera, as a Plant."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.laps import LapRecord, LapTimer
from trailbrake.state import CarState, Controls, Image, SimCommand
from trailbrake.tracks.miniature.layout import HALF_WIDTH
from trailbrake.tracks.miniature.obstacles import Parked
from trailbrake.tracks.miniature.track import MiniatureTrack
from trailbrake.world.camera import look as looks
from trailbrake.world.camera.scene import build
from trailbrake.world.camera.view import Camera, Renderer
from trailbrake.world.miniature_car import LOCK, STEP, Mini, Pedal, locate, step

Array = NDArray[np.float64]

START_OFFSET = HALF_WIDTH  # m left of the road's centre: the middle of the left half


def parked_rows(parked: Sequence[Parked]) -> Array:
    """Return parked cars as the kernels want them, (m, 4)."""
    return np.array([[car.x, car.y, math.cos(car.yaw), math.sin(car.yaw)] for car in parked]).reshape(-1, 4)


class MiniatureWorld:
    """A car between walls.

    A lap is the way from the start line along the whole road, by either branch of every fork, and back to the line; it
    does not count after a contact or when the car has gone back over the line (`laps.LapTimer`). There is no place off
    the road: walls stand everywhere.

    Args:
        track: where.
        look: what it is painted with: a name of `camera.look.names()`.
        parked: cars in the way.
        period: s that one step goes; whole steps of 0.02 s.
        camera: None for the car's own.
    """

    def __init__(
        self,
        track: MiniatureTrack,
        look: str = "B",
        parked: Sequence[Parked] = (),
        period: float = STEP,
        camera: Camera | None = None,
    ) -> None:
        self._steps = round(period / STEP)
        if self._steps < 1 or abs(self._steps * STEP - period) > 1e-9:
            raise ValueError(f"MiniatureWorld: expected a period of whole steps of {STEP} s, got {period}")
        self.track, self.period, self.parked = track, period, tuple(parked)
        self.cars = (None,)  # there is one, which has no data file
        self.renderer = Renderer(build(track, looks.load(look), parked), camera)
        ground = self.renderer.scene.ground
        self._ground = (ground.left, ground.right, ground.near, ground.corner)
        self._around = (*self._ground, track.noses, parked_rows(parked))
        self._rows = np.zeros((1, len(Mini)))
        self._asked = np.zeros((1, len(Pedal)))
        self._timer = LapTimer(track.length, True)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Put the car at rest on the start line, in the left half, and start the clocks at 0. Nothing is random."""
        x, y, yaw = self.track.place(0.0, START_OFFSET)
        row = self._rows[0]
        row[:] = 0.0
        row[Mini.X], row[Mini.Y], row[Mini.YAW] = x, y, yaw
        self._asked[:] = 0.0
        locate(row, *self._ground)
        self._sequence = 0
        self._timer.reset()
        self._timer.update(0.0, float(row[Mini.MAIN]), 0, 0.0)

    def step(self, controls: Sequence[Controls]) -> None:
        """Advance the car by one period under `controls[0]`; a gear below 0 is reverse."""
        wanted = controls[0]
        reverse = wanted.gear is not None and wanted.gear < 0
        throttle = min(max(wanted.throttle, 0.0), 1.0)
        self._asked[0] = wanted.steer, -throttle if reverse else throttle, min(max(wanted.brake, 0.0), 1.0)
        step(self._rows, self._asked, STEP, self._steps, *self._around)
        self._sequence += 1
        row = self._rows[0]
        self._timer.update(self._sequence * self.period, float(row[Mini.MAIN]), 0, float(row[Mini.CONTACTS]))

    def state(self, car: int) -> CarState:
        """Return a fresh CarState. Its picture is drawn when somebody looks at it."""
        row, asked, timer = self._rows[0].tolist(), self._asked[0].tolist(), self._timer
        x, y, yaw = row[Mini.X], row[Mini.Y], row[Mini.YAW]
        speed = row[Mini.SPEED]
        renderer = self.renderer

        def draw(_: bytes) -> Any:
            return renderer.frame(x, y, yaw)

        return CarState(
            time=self._sequence * self.period,
            sequence=self._sequence,
            x=x,
            y=y,
            z=0.0,
            yaw=math.remainder(yaw, 2.0 * math.pi),
            speed=abs(speed),
            velocity_x=speed,
            steer=row[Mini.STEER] / LOCK,
            throttle=abs(asked[Pedal.DRIVE]),
            brake=asked[Pedal.BRAKE],
            gear=-1 if asked[Pedal.DRIVE] < 0.0 else 1,
            lap=float(timer.number),
            lap_time=timer.lap_time,
            best_lap_time=timer.best_s,
            lap_progress=timer.progress,
            contacts=row[Mini.CONTACTS],
            image=Image(b"", draw),
        )

    def laps(self, car: int) -> list[LapRecord]:
        """Return the laps driven since the start or the restart."""
        return list(self._timer.laps)

    def counters(self) -> dict[str, float]:
        """Return contacts, s stuck at a wall or a parked car, and s facing backwards, since the start."""
        row = self._rows[0]
        return {
            "contacts": int(row[Mini.CONTACTS]),
            "stuck_s": float(row[Mini.STUCK_TIME]),
            "wrong_way_s": float(row[Mini.WRONG_TIME]),
        }

    def command(self, car: int, command: SimCommand) -> None:
        """Carry out restart, to_pits (both: back to the start, everything reset) or teleport (the lap is spoilt)."""
        if command.restart or command.to_pits:
            self.reset(0)
        elif command.teleport is not None:
            row = self._rows[0]
            contacts = row[Mini.CONTACTS]
            row[:] = 0.0
            row[Mini.X], row[Mini.Y], row[Mini.YAW] = command.teleport.x, command.teleport.y, command.teleport.yaw
            row[Mini.CONTACTS] = contacts
            locate(row, *self._ground)
