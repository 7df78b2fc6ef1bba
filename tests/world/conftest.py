"""Places to drive and cars to put there; everything in SI units."""

import math

import pytest
from places import circle, straight

from trailbrake.cars.load import load
from trailbrake.state import Controls
from trailbrake.world.batch import Batch, substeps_for
from trailbrake.world.layout import State

PERIOD = 1.0 / 333.0


class Rig:
    """One car in a batch of one, driven by hand."""

    def __init__(self, car, track, x=0.0, y=0.0, yaw=0.0):
        self.car = load(car) if isinstance(car, str) else car
        self.track = track
        self.batch = Batch(track, [self.car])
        self.batch.place(0, x, y, yaw)
        self.time = 0.0
        self._substeps = substeps_for(PERIOD)

    def __getattr__(self, name):
        return float(self.batch.state[State[name.upper()], 0])

    def four(self, name):
        first = State[name.upper()]
        return self.batch.state[first : first + 4, 0].copy()

    def roll_at(self, speed, gear=None):
        """Set the car rolling without slip at `speed`, in the gear that suits or in `gear`."""
        car, state = self.car, self.batch.state
        if gear is None:
            gear = 1
            while (
                gear < car.gearbox.top_gear and car.engine_speed(speed, gear) > car.gearbox.upshift_rpm * math.pi / 30
            ):
                gear += 1
        state[State.VX, 0] = speed
        for wheel in range(4):
            state[State.SPIN + wheel, 0] = speed / (car.tyre_front if wheel < 2 else car.tyre_rear).radius
        state[State.GEAR, 0] = state[State.NEXT_GEAR, 0] = gear
        state[State.ENGINE, 0] = max(car.engine_speed(speed, gear), car.engine.idle_rpm * math.pi / 30)
        self.batch.refresh()

    def step(self, **controls):
        self.batch.set_controls(0, Controls(**controls))
        self.batch.step(dt=PERIOD / self._substeps, substeps=self._substeps)
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
