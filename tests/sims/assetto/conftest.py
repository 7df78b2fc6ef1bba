"""A small world behind the wire: a car that turns, goes and shifts, without any physics worth the name."""

import math
from types import SimpleNamespace

import pytest
from strangers import let_go, pages

from trailbrake.cars.load import load
from trailbrake.sims.assetto import spec
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
    track = SimpleNamespace(name="nowhere", road=SimpleNamespace(length=1000.0))

    def __init__(self, cars=1):
        self.cars = [load("gt3")] * cars
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

    def state(self, car):
        b = self.bodies[car]
        return CarState(
            time=self.steps * self.period, sequence=self.steps, x=b.x, y=b.y, z=0.0, yaw=b.yaw, pitch=0.0, roll=0.0,
            speed=abs(b.speed), velocity_x=b.speed, velocity_y=0.0, velocity_z=0.0, yaw_rate=0.0,
            steer=b.controls.steer, throttle=b.controls.throttle, brake=b.controls.brake, clutch=b.controls.clutch,
            gear=b.gear, engine_speed=300.0,
        )  # fmt: skip

    def command(self, car, command):
        self.heard.append((car, command))
        b = self.bodies[car]
        if command.restart or command.to_pits:
            b.home()
        if command.teleport is not None:
            b.x, b.y, b.yaw, b.speed = command.teleport.x, command.teleport.y, command.teleport.yaw, 0.0


class Session:
    """A host and links in lockstep in one process, on a clock of their own."""

    def __init__(self, folder, cars=1, private=True, classic=False, pilots=()):
        self.folder = pages(folder)
        self.doors = folder if private else None  # None: the public names, which the environment moved to `folder`
        self.plant = FakePlant(cars)
        self.options, self.pilots, self.said = ServeOptions(classic=classic), pilots, []
        self.now = 0.0
        self.links = []
        self.host = self.start_host()

    def start_host(self):
        self.host = Host(self.plant, self.options, doors=self.doors, pilots=self.pilots, say=self.said.append)
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

    def close(self):
        for link in self.links:
            link.close()
        self.host.close()


@pytest.fixture(params=[True, False], ids=["mapped", "unmapped"])
def session(request, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    made = Session(tmp_path, cars=2, private=request.param)
    yield made
    made.close()
    assert sorted(p.name for p in tmp_path.iterdir() if "SimState" not in p.name and "CarControls" not in p.name) == []
    let_go()


@pytest.fixture
def told_session(tmp_path, monkeypatch):
    """A session with the classic pages, on the public names, which has run long enough to be joined."""
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    made = Session(tmp_path, cars=2, private=False, classic=True)
    made.tick(700)
    yield made
    made.close()
    let_go()
