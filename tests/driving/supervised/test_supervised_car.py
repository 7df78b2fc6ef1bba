import gc
import math
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from helpers.fakes import FakeCar
from helpers.waiting import wait_for

from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite
from trailbrake.driving.supervised import supervised_car
from trailbrake.driving.supervised.car_messages import (
    CarOpened,
    CarProblem,
    CarRequest,
    CarSample,
    LeaveCar,
    MessageChannel,
    StepAnswer,
    StillWaiting,
    decode_program_message,
    encode_message,
)
from trailbrake.driving.supervised.supervised_car import EmbeddedCar, KeptCar, keep_car_elsewhere, open_car
from trailbrake.errors import SimulatorError, TrailbrakeError, UsageError
from trailbrake.roles import LinkCounters
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.system import processes

OPENED = CarOpened(frozenset({"steer", "pause"}), 0.005, (), 2)


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


class Keeper:
    """The other end: `send` messages beforehand, `messages` lists what the program has sent."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        self.channel, self.program = MessageChannel(ours), MessageChannel(theirs)

    def send(self, *messages):
        for message in messages:
            self.channel.send(encode_message(message))

    def send_states(self, *times, **more):
        self.send(
            *(CarSample(CarState(time=time), False, None, (7.0,), 0.01, (1, 2, 3, 4, 5), **more) for time in times)
        )

    def messages(self):
        found = []
        while (data := self.channel.receive(0.0)) is not None:
            found.append(decode_program_message(data))
        return found

    def close(self):
        self.channel.close()
        self.program.close()


@pytest.fixture
def keeper():
    made = Keeper()
    yield made
    made.close()


@pytest.fixture
def car(keeper):
    keeper.send(OPENED)
    return KeptCar(keeper.program)


def test_a_car_is_open_when_its_keeper_says_so(car):
    assert (car.accepts, car.period, car.custom_room) == (OPENED.accepts, 0.005, 2)
    assert car.plant is None


def test_each_state_has_one_answer(keeper, car):
    keeper.send_states(1.0, 1.01, 1.02)
    car.write(Controls(throttle=0.1))  # nothing to answer yet
    assert keeper.messages() == []
    assert car.wait_for_state().time == 1.0
    car.write(Controls(throttle=0.5))
    car.write(Controls(throttle=0.6))  # the state has its answer
    assert [message.controls.throttle for message in keeper.messages()] == [0.5]
    assert car.wait_for_state().time == 1.01
    assert car.wait_for_state().time == 1.02
    (repeated,) = keeper.messages()
    assert (repeated.controls.throttle, repeated.repeats) == (0.6, True)


def test_what_comes_with_a_state(keeper, car):
    keeper.send_states(1.0, pace={"missed": 3})
    car.wait_for_state()
    assert (car.custom, car.period, car.pace) == ((7.0,), 0.01, {"missed": 3})
    assert car.counters == LinkCounters(1, 2, 3, 4, 5)


def test_free_values_go_once_with_the_next_answer(keeper, car):
    keeper.send_states(1.0, 1.1)
    car.wait_for_state()
    car.set_custom_values((1.0, 2.0))
    car.write(Controls())
    car.wait_for_state()
    car.write(Controls(steer=math.nan), repeats=True)
    first, second = keeper.messages()
    assert (first.custom, first.repeats, second.custom, second.repeats) == ((1.0, 2.0), False, None, True)
    assert isinstance(second, StepAnswer)
    assert math.isnan(second.controls.steer)


def test_a_command_goes_at_once(keeper, car):
    car.send_command(SimCommand(pause=True))
    assert keeper.messages() == [CarRequest(SimCommand(pause=True))]


def test_controls_that_are_no_numbers_are_not_sent(keeper, car):
    keeper.send_states(1.0)
    car.wait_for_state()
    with pytest.raises(UsageError, match="no controls to send"):
        car.write(Controls(throttle="full"))
    assert keeper.messages() == []


def test_signs_of_life_are_no_states(keeper, car):
    keeper.send(*[StillWaiting()] * 3)
    keeper.send_states(1.0)
    assert car.wait_for_state().time == 1.0


def test_the_keeper_s_error_is_the_program_s(keeper):
    keeper.send(CarProblem("UsageError", ("no such thing", "--pad", "one", "two", "try")))
    with pytest.raises(UsageError, match=r"^--pad: no such thing, expected one, got two; try$"):
        KeptCar(keeper.program)
    keeper.send(OPENED, CarProblem("Unheard", ("the simulator went silent for 60 s", "step", "", "", "")))
    car = KeptCar(keeper.program)
    with pytest.raises(TrailbrakeError, match="step: the simulator went silent for 60 s"):
        car.wait_for_state()


def test_a_keeper_that_ends_or_hangs_is_an_error(keeper, car, monkeypatch):
    monkeypatch.setattr(supervised_car, "_POLL_S", 0.001)
    monkeypatch.setattr(supervised_car, "KEEPER_SILENCE_S", 0.003)
    with pytest.raises(SimulatorError, match=r"does not answer, expected a sign of life within 0.003 s"):
        car.wait_for_state()
    keeper.channel.close()
    with pytest.raises(SimulatorError, match="the process that keeps the car has ended"):
        car.wait_for_state()
    car.write(Controls())
    car.send_command(SimCommand(pause=True))
    car.leave(brakes=True)


def test_a_wrong_order_is_an_error(keeper, car):
    keeper.send(OPENED)
    with pytest.raises(SimulatorError, match="sends no state"):
        car.wait_for_state()
    keeper.send_states(1.0)
    with pytest.raises(SimulatorError, match="sends no car"):
        KeptCar(keeper.program)


def test_leaving_says_how_and_waits_for_the_end(keeper, car, monkeypatch):
    monkeypatch.setattr(supervised_car, "_POLL_S", 0.001)
    monkeypatch.setattr(supervised_car, "LEAVE_LIMIT_S", 0.003)
    keeper.send_states(1.0)  # nobody needs it any more
    car.leave(brakes=False)
    assert keeper.channel.receive(0.0) == encode_message(LeaveCar(False))


def test_a_keeper_that_still_stops_the_car_is_left_without_a_warning(monkeypatch):
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    stdin = process.stdin
    started = [(process, MessageChannel(ours))]
    monkeypatch.setattr(supervised_car, "start_keeper", started.pop)
    monkeypatch.setattr(supervised_car, "END_LIMIT_S", 0.0)
    keeper = MessageChannel(theirs)
    keeper.send(encode_message(CarProblem("SimulatorError", ("no car", "", "", "", ""))))
    del process
    with (
        pytest.raises(SimulatorError, match="no car"),
        keep_car_elsewhere(DriveSpec(site=LiveSite()), brakes_at_end=True),
    ):
        pass
    keeper.close()
    gc.collect(1)  # a handle that is dropped would be a ResourceWarning, which is an error here
    stdin.close()
    wait_for(lambda: all(each.poll() is not None for each in processes._left_running))


def test_a_process_that_cannot_be_started_is_an_error(monkeypatch):
    monkeypatch.setattr(supervised_car.sys, "executable", "no/such/python")
    with (
        pytest.raises(SimulatorError, match="connect: no process to keep the car"),
        keep_car_elsewhere(DriveSpec(site=LiveSite()), brakes_at_end=True),
    ):
        pass
