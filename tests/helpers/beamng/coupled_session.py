"""A host with a small world behind it, and links, in one process on a clock of their own."""

from dataclasses import replace

from trailbrake.cars.car_library import load_car
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.state import CarState, Controls, WheelState


class FakePlant:
    """Implements `roles.Plant`; `inputs` keeps the controls of each step."""

    period = PHYSICS_STEP
    track = None

    def __init__(self, cars=1):
        self.cars = [load_car("gt3")] * cars
        self.steps, self.inputs = 0, []
        self.speed = [0.0] * cars

    def reset(self, seed):
        self.steps = 0

    def step(self, controls):
        assert len(controls) == len(self.cars)
        self.steps += 1
        self.inputs.append(tuple(map(replace, controls)))
        for car, c in enumerate(controls):
            self.speed[car] += self.period * (10.0 * c.throttle - 20.0 * c.brake)

    def car_state(self, car):
        return CarState(
            time=self.steps * self.period, sequence=self.steps, x=10.0 * car, y=0.0, z=0.5, yaw=0.0, pitch=0.0,
            roll=0.0, speed=abs(self.speed[car]), velocity_x=self.speed[car], velocity_y=0.0, velocity_z=0.0,
            acceleration_x=0.0, acceleration_y=0.0, acceleration_z=0.0, throttle=0.25, brake=0.0, clutch=0.0,
            handbrake=0.0, gear=1, engine_speed=300.0, fuel_litres=10.0, steering_wheel_angle=0.0,
            fuel=0.25, engine_load=0.5, max_engine_speed=900.0,
            wheels=[WheelState(angular_velocity=0.0, load=3000.0, drive_torque=20.0 + k, brake_torque=5.0)
                    for k in range(4)],
        )  # fmt: skip

    def execute_command(self, car, command):
        """Nothing."""


class Session:
    """A host and links behind private doors."""

    def __init__(self, folder):
        self.folder, self.now, self.links, self.host, self.plant = folder, 0.0, [], None, None

    def serve(self, cars=1, **options):
        self.plant = FakePlant(cars)
        self.host = Host(self.plant, ServeOptions(vehicles=cars, **options), doors=self.folder)
        self.host.open(self.now)
        return self.host

    def tick(self, times=1):
        for _ in range(times):
            self.now += PHYSICS_STEP
            self.host.tick(self.now)
        return self.now

    def connect(self, **options):
        link = Link(LiveOptions(wait=10.0, **options), doors=self.folder)
        link.open(self.now)
        self.links.append(link)
        return link

    def exchange(self, link, controls=None, times=1):
        """Tick until there is a message, and answer it; return the last state."""
        for _ in range(times):
            for _ in range(100_000):
                if link.has_new_sample():
                    break
                self.tick()
            state = link.read(self.now)
            link.write(Controls() if controls is None else controls)
        return state

    def close(self):
        for link in self.links:
            link.close()
        if self.host is not None:
            self.host.close()
