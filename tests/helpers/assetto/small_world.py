"""A small world behind the wire: a car that turns, goes and shifts, without any physics worth the name."""

import math
from types import SimpleNamespace

import numpy as np

from helpers.assetto.foreign_pages import pages
from trailbrake.cars.car_library import load_car
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.host import Host
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.spec import LiveOptions, ServeOptions
from trailbrake.state import CarState, Controls

SHIFT_STEPS = 20


class FakeCar:
    def __init__(self, index):
        self.index = index
        self.home()

    def home(self):
        self.x, self.y, self.yaw, self.speed = 0.0, 5.0 * self.index, 0.0, 0.0
        self.gear, self.shifting = 0, 0
        self.controls = Controls()

    def step(self, c, dt):
        self.controls = c
        if c.gear is None:
            self.gear = max(self.gear, 1)
        elif c.gear != self.gear and self.shifting == 0:
            self.shifting = SHIFT_STEPS
        elif self.shifting:
            self.shifting -= 1
            if self.shifting == 0 and c.gear is not None:
                self.gear = c.gear
        drive = (
            0.0 if self.gear == 0 or self.shifting else c.throttle * (1.0 - c.clutch) * math.copysign(10.0, self.gear)
        )
        self.speed += dt * drive
        self.speed -= math.copysign(min(abs(self.speed), dt * 20.0 * c.brake), self.speed)
        self.yaw += dt * self.speed * 0.1 * c.steer
        self.x += dt * self.speed * math.cos(self.yaw)
        self.y += dt * self.speed * math.sin(self.yaw)


class FakePlant:
    """Implements `roles.Plant`; `heard` keeps the commands it was given."""

    period = 1.0 / spec.RATE_HZ
    road = SimpleNamespace(length=1000.0, table=np.array([[-1000.0, -1000.0], [1000.0, 1000.0]]))
    track = SimpleNamespace(name="nowhere", road=road, roads=(road,))

    def __init__(self, cars=1):
        self.cars = [load_car("gt3")] * cars
        self.bodies = [FakeCar(i) for i in range(cars)]
        self.steps = 0
        self.heard = []

    def reset(self, seed):
        for body in self.bodies:
            body.home()

    def step(self, controls):
        assert len(controls) == len(self.bodies)
        self.steps += 1
        for body, c in zip(self.bodies, controls, strict=True):
            body.step(c, self.period)

    def car_state(self, car):
        b = self.bodies[car]
        return CarState(
            time=self.steps * self.period, sequence=self.steps, x=b.x, y=b.y, z=0.0, yaw=b.yaw, pitch=0.0, roll=0.0,
            speed=abs(b.speed), velocity_x=b.speed, velocity_y=0.0, velocity_z=0.0, yaw_rate=0.0,
            steer=b.controls.steer, throttle=b.controls.throttle, brake=b.controls.brake, clutch=b.controls.clutch,
            gear=b.gear, engine_speed=300.0,
        )  # fmt: skip

    def laps(self, car):
        return []

    def counters(self):
        return {}

    def road_outline(self):
        raise AssertionError("there is no road")

    def execute_command(self, car, command):
        self.heard.append((car, command))
        b = self.bodies[car]
        if command.restart or command.to_pits:
            b.home()
        if command.teleport is not None:
            b.x, b.y, b.yaw, b.speed = command.teleport.x, command.teleport.y, command.teleport.yaw, 0.0


class Session:
    """A host and links in lockstep in one process, on a clock of their own."""

    def __init__(self, folder, cars=1, private=True, classic=False, traffic=(), refuse="nothing"):
        self.folder = pages(folder)
        self.doors = folder if private else None  # None: the public names, which the environment moved to `folder`
        self.plant = FakePlant(cars)
        self.options, self.traffic, self.said = ServeOptions(cars, classic=classic, refuse=refuse), traffic, []
        self.now = 0.0
        self.links = []
        self.host = self.start_host()

    def start_host(self):
        self.host = Host(self.plant, self.options, doors=self.doors, say=self.said.append)
        self.host.set_traffic(self.traffic)
        self.host.open(self.now)
        return self.host

    def tick(self, times=1):
        for _ in range(times):
            self.now += self.plant.period
            self.host.tick(self.now)
        return self.now

    def connect(self, car=0, wait=1.0):
        link = Link(LiveOptions(car_index=car, wait=wait), doors=self.doors, idle=self.tick)
        link.open(self.now)
        self.links.append(link)
        return link

    def drive(self, link, controls, times):
        """Read, write and tick `times` over; return the last state."""
        for _ in range(times):
            state = link.read(self.now)
            link.write(controls(state) if callable(controls) else controls)
            self.tick()
        return link.read(self.now)

    def sent_controls(self, car=0):
        """The controls page of a car, as its client has written it last."""
        return codec.decode_controls((self.folder / spec.controls_name(car)).read_bytes())

    def close(self):
        for link in self.links:
            link.close()
        self.host.close()
