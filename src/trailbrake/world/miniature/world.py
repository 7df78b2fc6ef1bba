"""`MiniatureWorld`: one small car on a miniature track, with a camera, as a Plant."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from trailbrake.kernels import bind_entry
from trailbrake.laps import LapRecord, LapTimer
from trailbrake.roles import RoadOutline
from trailbrake.state import CarState, Controls, Image, SimCommand
from trailbrake.world.miniature.camera import track_look as looks
from trailbrake.world.miniature.camera.renderer import Renderer
from trailbrake.world.miniature.camera.scene import build_scene
from trailbrake.world.miniature.car import (
    STEER_LOCK,
    STEP,
    MiniatureCarColumn,
    MiniatureCommand,
    Surroundings,
    locate_car,
    step_cars,
)
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.parked_cars import ParkedCar
from trailbrake.world.miniature.track import MiniatureTrack
from trailbrake.world.pinhole_camera import PinholeCamera

START_OFFSET = HALF_WIDTH  # m left of the road's centre: the middle of the left half


class MiniatureWorld:
    """A car between walls.

    A lap is one round of the road from the start line, by either branch of every fork. It does not count after a
    contact, or when the car has crossed the line backwards (`laps.LapTimer`). No place is off the road: walls are
    everywhere.

    Args:
        track: to drive on.
        look: name of its colours, one of `camera.track_look.look_names()`.
        parked: cars in the way.
        period: s of one step; a multiple of 0.02 s.
        camera: None for the car's own.
    """

    def __init__(
        self,
        track: MiniatureTrack,
        look: str = "B",
        parked: Sequence[ParkedCar] = (),
        period: float = STEP,
        camera: PinholeCamera | None = None,
    ) -> None:
        self._steps = round(period / STEP)
        if self._steps < 1 or abs(self._steps * STEP - period) > 1e-9:
            raise ValueError(f"MiniatureWorld: expected a period of whole steps of {STEP} s, got {period}")
        self.track, self.period, self.parked = track, period, tuple(parked)
        self.renderer = Renderer(build_scene(track, looks.load_look(look), parked), camera)
        self._surroundings = Surroundings.from_track(track, self.renderer.scene.raster, parked)
        self._cars = np.zeros((1, len(MiniatureCarColumn)))
        self._commands = np.zeros((1, len(MiniatureCommand)))
        self._timer = LapTimer(track.length, True)
        self.reset(0)

    @cached_property
    def _advance(self) -> Callable[..., Any]:
        # The compiled `step_cars`; made with the first step, so that a world that only stands compiles nothing.
        return bind_entry(step_cars, self._cars, self._commands, STEP, self._steps, self._surroundings)

    def reset(self, seed: int) -> None:
        """Put the car at rest on the start line, in the left half, and start the clocks at 0. Nothing is random."""
        x, y, yaw = self.track.pose_at(0.0, START_OFFSET)
        row = self._cars[0]
        row[:] = 0.0
        row[MiniatureCarColumn.X], row[MiniatureCarColumn.Y], row[MiniatureCarColumn.YAW] = x, y, yaw
        self._commands[:] = 0.0
        locate_car(row, self._surroundings.raster)
        self._sequence = 0
        self._timer.reset()
        self._timer.update(0.0, float(row[MiniatureCarColumn.ROAD_S]), 0, 0.0)

    def step(self, controls: Sequence[Controls]) -> None:
        """Advance the car by one period under `controls[0]`; a gear below 0 is reverse."""
        wanted = controls[0]
        reverse = wanted.gear is not None and wanted.gear < 0
        throttle = min(max(wanted.throttle, 0.0), 1.0)
        self._commands[0] = wanted.steer, -throttle if reverse else throttle, min(max(wanted.brake, 0.0), 1.0)
        self._advance(self._cars, self._commands, STEP, self._steps, self._surroundings)
        self._sequence += 1
        row = self._cars[0]
        self._timer.update(
            self._sequence * self.period,
            float(row[MiniatureCarColumn.ROAD_S]),
            0,
            float(row[MiniatureCarColumn.CONTACTS]),
        )

    def car_state(self, car: int) -> CarState:
        """Return a new CarState. Its picture is drawn on first access."""
        row, commands, timer = self._cars[0].tolist(), self._commands[0].tolist(), self._timer
        x, y, yaw = row[MiniatureCarColumn.X], row[MiniatureCarColumn.Y], row[MiniatureCarColumn.YAW]
        speed = row[MiniatureCarColumn.SPEED]
        renderer = self.renderer

        def draw(_: bytes) -> Any:
            return renderer.render_frame(x, y, yaw)

        return CarState(
            time=self._sequence * self.period,
            sequence=self._sequence,
            x=x,
            y=y,
            z=0.0,
            yaw=math.remainder(yaw, 2.0 * math.pi),
            speed=abs(speed),
            velocity_x=speed,
            steer=row[MiniatureCarColumn.STEER] / STEER_LOCK,
            throttle=abs(commands[MiniatureCommand.DRIVE]),
            brake=commands[MiniatureCommand.BRAKE],
            gear=-1 if commands[MiniatureCommand.DRIVE] < 0.0 else 1,
            lap=float(timer.number),
            lap_time=timer.lap_time,
            best_lap_time=timer.best_s,
            lap_progress=timer.progress,
            contacts=row[MiniatureCarColumn.CONTACTS],
            image=Image(b"", draw),
        )

    def laps(self, car: int) -> list[LapRecord]:
        """Return the laps driven since the start or the restart."""
        return list(self._timer.laps)

    def counters(self) -> dict[str, float]:
        """Return contacts, s stuck at a wall or a parked car, and s facing backwards, since the start."""
        row = self._cars[0]
        return {
            "contacts": int(row[MiniatureCarColumn.CONTACTS]),
            "stuck_s": float(row[MiniatureCarColumn.STUCK_TIME]),
            "wrong_way_s": float(row[MiniatureCarColumn.WRONG_TIME]),
        }

    def road_outline(self) -> RoadOutline:
        """Return the road's centre line and walls."""
        return RoadOutline(self.track.centre_line(), *self.track.edge_lines(), True)

    def execute_command(self, car: int, command: SimCommand) -> None:
        """Carry out restart, to_pits (both: back to the start, everything reset) or teleport (the lap is spoilt)."""
        if command.restart or command.to_pits:
            self.reset(0)
        elif command.teleport is not None:
            row = self._cars[0]
            contacts = row[MiniatureCarColumn.CONTACTS]
            row[:] = 0.0
            row[MiniatureCarColumn.X], row[MiniatureCarColumn.Y], row[MiniatureCarColumn.YAW] = (
                command.teleport.x,
                command.teleport.y,
                command.teleport.yaw,
            )
            row[MiniatureCarColumn.CONTACTS] = contacts
            locate_car(row, self._surroundings.raster)
            self._timer.mark_jump()
