import math
from contextlib import contextmanager

import pytest
from helpers.fakes import FakeCar

from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite
from trailbrake.driving.supervised import supervised_car
from trailbrake.driving.supervised.supervised_car import EmbeddedCar, open_car
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims import registry
from trailbrake.state import Controls, SimCommand


@pytest.fixture
def fake():
    car = FakeCar()
    car.commands = []
    car.send_command = car.commands.append
    car.has_new_sample = lambda: True
    return car


def test_controls_are_limited_and_what_is_within_stays_the_same_object(fake):
    car = EmbeddedCar(Connection([fake], fake))
    legal = Controls(throttle=1.0, steer=-1.0)
    for controls in (legal, Controls(throttle=9.0, brake=math.nan)):
        car.write(controls, repeats=True)
    assert fake.written[0] is legal
    assert fake.written[1].throttle == 1.0
    assert math.isnan(fake.written[1].brake)
    with pytest.raises(UsageError, match="no controls to send"):
        car.write(Controls(steer=None))


def test_a_state_is_another_than_the_one_before(fake):
    fake.script = ["new", "old", "old", "new"]
    car = EmbeddedCar(Connection([fake], fake))
    assert [car.wait_for_state().sequence for _ in range(2)] == [1, 2]
    assert fake.waits == 4
    assert car.state.sequence == 2


def test_a_world_without_states_is_an_error(fake, monkeypatch):
    fake.script = ["new", "old"]
    monkeypatch.setattr(supervised_car, "LOST_LIMIT", 0.0)
    car = EmbeddedCar(Connection([fake], fake))
    car.wait_for_state()
    with pytest.raises(SimulatorError, match="went silent for 0 s"):
        car.wait_for_state()


def test_what_a_car_has(fake):
    car = EmbeddedCar(Connection([fake], fake))
    car.send_command(SimCommand(restart=True))
    car.set_custom_values((1.0,))  # no effect on a wire without free values
    assert fake.commands == [SimCommand(restart=True)]
    assert (car.custom, car.custom_room, car.accepts, car.period) == ((), 0, fake.ACCEPTS, fake.period)
    assert (car.pace, car.plant, car.counters) == (None, None, fake.counters)
    fake.custom, fake.custom_out = (5.0,), (0.0, 0.0)
    car = EmbeddedCar(Connection([fake], fake))
    car.set_custom_values((1.0, 2.0))
    assert (car.custom, car.custom_room, fake.custom_out) == ((5.0,), 2, (1.0, 2.0))


@pytest.mark.parametrize(
    ("live", "speed", "elsewhere", "brakes"),
    [(False, "max", False, None), (True, "max", True, True), (False, "real", True, False)],
)
def test_a_car_in_real_time_is_in_a_process_of_its_own(monkeypatch, live, speed, elsewhere, brakes):
    opened = []

    @contextmanager
    def keep(spec, *, brakes_at_end):
        opened.append((spec.site.sim, spec.site.options, brakes_at_end))
        yield None

    @contextmanager
    def connect(setup, stopped):
        assert not stopped()
        yield Connection([FakeCar()], FakeCar())

    monkeypatch.setattr(supervised_car, "keep_car_elsewhere", keep)
    monkeypatch.setattr(supervised_car, "open_connection", connect)
    options = {"wait": 1.0}
    site = LiveSite(options=options) if live else EmbeddedSite(speed=speed, options=options)
    with open_car(make_setup(registry.find("assetto"), DriveSpec(site=site))) as car:
        assert isinstance(car, EmbeddedCar) is not elsewhere
    assert opened == ([("assetto", {"wait": 1.0}, brakes)] if elsewhere else [])
