"""Places to drive and cars to put there; everything in SI units."""

import math

import pytest
from helpers.roads import circle, straight

from trailbrake.cars.car_library import load_car
from trailbrake.state import Controls
from trailbrake.world.batch import Batch, count_substeps, write_controls
from trailbrake.world.row_layout import StateRow

PERIOD = 1.0 / 333.0


class Rig:
    """One car in a batch of one, driven by hand."""

    def __init__(self, car, track, x=0.0, y=0.0, yaw=0.0):
        self.car = load_car(car) if isinstance(car, str) else car
        self.track = track
        self.batch = Batch(track, [self.car])
        self.batch.place_cars(0, x, y, yaw)
        self.time = 0.0
        self._substeps = count_substeps(PERIOD)

    def __getattr__(self, name):
        return float(self.batch.view_car(0)[StateRow[name.upper()]])

    def four(self, name):
        first = StateRow[name.upper()]
        return self.batch.view_car(0)[first : first + 4].copy()

    def set(self, name, value):
        self.batch.set_row(StateRow[name.upper()], value)

    def roll_at(self, speed, gear=None):
        """Set the car rolling without slip at `speed`, in the gear that suits or in `gear`."""
        x, y, yaw = self.x, self.y, self.yaw
        self.batch.place_cars(0, x, y, yaw, speed)
        if gear is not None:
            self.set("gear", gear)
            self.set("next_gear", gear)
            idle = self.car.engine.idle_rpm * math.pi / 30
            self.set("engine_speed", max(self.car.engine_speed(speed, gear), idle))

    def step(self, **controls):
        write_controls(self.batch.view_car(0)[StateRow.COUNT :], Controls(**controls))
        self.batch.step(PERIOD / self._substeps, self._substeps)
        self.time += PERIOD

    def run(self, seconds, **controls):
        for _ in range(round(seconds / PERIOD)):
            self.step(**controls)


@pytest.fixture
def rig():
    return Rig


@pytest.fixture
def roads():
    """The two shapes of road: `roads.straight(...)`, `roads.circle(...)`."""

    class Roads:
        straight = staticmethod(straight)
        circle = staticmethod(circle)

    return Roads
