"""A plant that is all arithmetic, and two ends of the wire in lockstep in front of it."""

import math

import numpy as np

from trailbrake.event_sims.options import STEP_S, EventLiveOptions
from trailbrake.sims.trend import spec
from trailbrake.sims.trend.host import Host
from trailbrake.sims.trend.link import Link
from trailbrake.state import CarState, Image


class Toy:
    """Speed follows the pedals; a lap is 2 s. The picture's colour is the number of steps."""

    track = cars = None
    period = STEP_S

    def __init__(self):
        self.controls = []
        self.restarts = 0
        self.reset(0)

    def reset(self, seed):
        self.time, self.speed, self.steps, self.steer = 0.0, 0.0, 0, 0.0

    def step(self, controls):
        (wanted,) = controls
        self.controls.append(wanted)
        self.steps += 1
        self.time = self.steps * self.period
        sign = -1.0 if wanted.gear is not None and wanted.gear < 0 else 1.0
        self.speed += (sign * wanted.throttle - wanted.brake * math.copysign(1.0, self.speed)) * self.period
        self.steer = wanted.steer

    def car_state(self, car):
        pixels = np.full((240, 320, 3), min(self.steps, 255), np.uint8)
        return CarState(time=self.time, speed=abs(self.speed), velocity_x=self.speed, steer=self.steer, throttle=0.0,
                        brake=0.0, lap=1 + int(self.time // 2.0), image=Image(b"", lambda data: pixels))  # fmt: skip

    def execute_command(self, car, command):
        if command.restart:
            self.restarts += 1
            self.reset(0)


class Ends:
    """Host and link over real sockets, in lockstep, on a clock of our own."""

    def __init__(self, folder, **options):
        self.plant = Toy()
        self.host = Host(self.plant, spec.ServeOptions(**options), doors=folder)
        self.now = 0.0
        self.host.open(0.0)
        self.link = Link(EventLiveOptions(), doors=folder, idle=self.tick)

    def tick(self):
        self.now += self.plant.period
        self.host.tick(self.now)
        return self.now

    def close(self):
        self.link.close()
        self.host.close()
