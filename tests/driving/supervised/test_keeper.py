"""The keeper's driver at a wire in memory, with a clock that is moved by hand; over real wires in test_stalls.py."""

import os
from itertools import pairwise

import pytest
from helpers.fakes import FakeCar

from trailbrake.driving.loop.supervisor import STOP_BRAKE
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.supervised import keeper_process
from trailbrake.driving.supervised.car_messages import (
    CarRequest,
    CarSample,
    ChannelClosed,
    LeaveCar,
    StepAnswer,
    StillWaiting,
    encode_message,
)
from trailbrake.driving.supervised.keeper_process import (
    LEFT,
    PROGRAM_DIED,
    ProgramDriver,
    ProgramLine,
    ProgramSupervisor,
)
from trailbrake.state import Controls, Image, SimCommand

DRIVE = StepAnswer(Controls(throttle=1.0))


class FakeClock:
    def __init__(self):
        self.at = 50.0

    def now(self):
        return self.at


class FakeLine:
    """A program: `script` has what it does: messages, times in s that pass before the next one, or ChannelClosed."""

    def __init__(self, clock, script=()):
        self.clock, self.script, self.sent = clock, list(script), []
        self.shown = 0

    def send(self, message, on_wait=lambda: None):
        self.sent.append(message)

    def receive(self, timeout_s):
        while self.script and isinstance(self.script[0], float):
            passed = min(self.script[0], timeout_s)
            self.script[0] -= passed
            timeout_s -= passed
            self.clock.at += passed
            if self.script[0] > 1e-9:
                return None
            del self.script[0]
        if not self.script:
            return None
        found = self.script.pop(0)
        if found is ChannelClosed:
            raise ChannelClosed
        return found

    def show_life(self):
        self.shown += 1


class Rig:
    """A driver on a FakeCar whose samples follow the clock, or stand still."""

    def __init__(self, monkeypatch, script, *, game_waits=False, stands_still=False):
        self.clock = FakeClock()
        monkeypatch.setattr(keeper_process, "steady_clock", self.clock)
        self.car = FakeCar()
        self.commands, self.said = [], []
        self.car.send_command = self.commands.append
        began = self.clock.at

        def read(now):
            if not stands_still:
                self.car.time, self.car.sequence = 100.0 + now - began, int(1000.0 * (now - began)) + 1
                self.car.arrived = now
            return type(self.car).read(self.car, now)

        self.car.read = read
        self.line = FakeLine(self.clock, script)
        self.supervisor = ProgramSupervisor(self.said.append)
        self.driver = ProgramDriver(
            self.line, Connection([self.car], self.car), self.supervisor, self.said.append, game_waits=game_waits
        )

    def step(self):
        self.clock.at += 0.003
        state, fresh = self.driver.seat.read_state(self.clock.at)
        assert fresh
        return self.driver.seat.drive_tick(state, self.clock.at)


def test_a_state_goes_to_the_program_and_its_answer_to_the_wire(monkeypatch):
    rig = Rig(monkeypatch, [DRIVE, DRIVE])
    rig.step()
    assert rig.step().throttle == 1.0
    assert [type(message) for message in rig.line.sent] == [CarSample] * 2
    assert rig.line.sent[1].state.time > rig.line.sent[0].state.time
    assert [controls.throttle for controls in rig.car.written] == [1.0, 1.0]
    assert rig.said == []


def test_a_program_that_does_not_step_is_braked_for_within_a_third_of_a_second_and_its_next_step_drives(monkeypatch):
    rig = Rig(monkeypatch, [DRIVE, 2.0, DRIVE])
    rig.step()
    began = rig.clock.at
    braked = []
    write = rig.car.write
    rig.car.write = lambda controls: (write(controls), braked.append((rig.clock.at - began, controls)))
    rig.step()
    assert 0.29 < braked[0][0] < 0.33
    assert all(controls.brake == STOP_BRAKE and controls.throttle == 0.0 for _, controls in braked[:-1])
    assert max(b[0] - a[0] for a, b in pairwise(braked[:-1])) < 0.03
    assert braked[-1][1].throttle == 1.0
    assert rig.supervisor.counters.hung == 1
    assert rig.said == ["the program has not stepped for 0.3 s: braking until it steps", "the program steps again"]


def test_two_stalls_after_each_other_are_braked_for_as_soon(monkeypatch):
    rig = Rig(monkeypatch, [DRIVE, 5.0, DRIVE, DRIVE, 5.0, DRIVE])
    for _ in range(3):
        rig.step()
    began, write, first = rig.clock.at, rig.car.write, []
    rig.car.write = lambda controls: (write(controls), first.append(rig.clock.at - began))
    rig.step()
    assert first[0] < 0.5


def test_a_program_that_is_always_slow_is_waited_for(monkeypatch):
    rig = Rig(monkeypatch, [0.5, DRIVE] * 30)
    for _ in range(30):
        rig.step()
    assert all(controls.throttle == 1.0 for controls in rig.car.written[-10:])
    assert rig.supervisor.counters.hung <= 4


def test_answers_that_repeat_say_nothing_about_the_program(monkeypatch):
    slow = [0.5, DRIVE, *[StepAnswer(Controls(throttle=1.0), None, True)] * 20]
    rig = Rig(monkeypatch, slow * 10)
    for _ in range(210):
        rig.step()
    assert rig.supervisor.counters.hung <= 4


def test_a_game_that_waits_is_not_braked(monkeypatch):
    rig = Rig(monkeypatch, [DRIVE, 30.0, DRIVE], game_waits=True)
    rig.step()
    read = rig.car.read
    frozen = rig.clock.at
    rig.car.read = lambda now: read(frozen)
    rig.driver.act(rig.car.read(frozen), 0.003)
    assert len(rig.car.written) == 1
    assert rig.said == []


def test_a_game_that_ought_to_wait_and_goes_on_is_braked(monkeypatch):
    rig = Rig(monkeypatch, [DRIVE, 2.0, DRIVE], game_waits=True)
    rig.step()
    rig.step()
    assert rig.car.written[1].brake == STOP_BRAKE
    assert rig.car.written[-1].throttle == 1.0


def test_commands_are_carried_out_at_once_and_end_no_stall(monkeypatch):
    rig = Rig(monkeypatch, [0.2, CarRequest(SimCommand(pause=True)), 0.2, CarRequest(SimCommand(restart=True)), DRIVE])
    rig.step()
    assert rig.commands == [SimCommand(pause=True), SimCommand(restart=True)]
    assert rig.car.written[0].brake == STOP_BRAKE
    assert rig.car.written[-1].throttle == 1.0


def test_a_flood_of_commands_is_no_step(monkeypatch):
    rig = Rig(monkeypatch, [0.01, CarRequest(SimCommand(headlights=True))] * 60 + [DRIVE])
    rig.step()
    assert len(rig.commands) == 60
    assert len([controls for controls in rig.car.written if controls.brake == STOP_BRAKE]) > 20


def test_a_program_that_leaves_or_ends_stops_the_car(monkeypatch):
    for script, reason in (([LeaveCar(True)], LEFT), ([ChannelClosed], PROGRAM_DIED)):
        rig = Rig(monkeypatch, script)
        monkeypatch.setattr(os, "dup2", lambda one, other: None)
        assert rig.step().brake == STOP_BRAKE
        assert rig.supervisor.stop_reason == reason
        assert rig.supervisor.stop_by > 1e9
        assert not rig.driver.leaves_rolling
    assert rig.said == ["the program has ended without leaving its car: braking"]


def test_a_program_may_leave_a_rolling_car(monkeypatch):
    rig = Rig(monkeypatch, [LeaveCar(False)])
    rig.step()
    assert rig.driver.leaves_rolling
    assert rig.supervisor.stop_by < 1e9


def test_requests_are_carried_out_while_no_answer_is_due(monkeypatch):
    rig = Rig(monkeypatch, [CarRequest(SimCommand(pause=False)), CarRequest(SimCommand(restart=True))])
    rig.driver.handle_requests()
    assert len(rig.commands) == 2
    assert rig.line.shown == 1
    rig.line.script = [LeaveCar(True)]
    rig.driver.handle_requests()
    assert rig.supervisor.stop_reason == LEFT


def test_a_picture_is_sent_when_it_is_new(monkeypatch):
    rig = Rig(monkeypatch, [DRIVE] * 3)
    images = [Image(b"one", None), Image(b"two", None)]
    for image in (images[0], images[0], images[1]):
        state = rig.car.read(rig.clock.at)
        state.image = image
        rig.driver.act(state, 0.0)
    assert [message.has_picture for message in rig.line.sent] == [True] * 3
    assert [message.picture and message.picture.data for message in rig.line.sent] == [b"one", None, b"two"]


class FakeChannel:
    def __init__(self, *messages):
        self.messages, self.sent = list(messages), []

    def send(self, data, on_wait=None):
        self.sent.append(data)

    def receive(self, timeout_s):
        return self.messages.pop(0) if self.messages else None


def test_a_line_shows_life_once_a_second(monkeypatch):
    clock = FakeClock()
    monkeypatch.setattr(keeper_process, "steady_clock", clock)
    line = ProgramLine(FakeChannel(), 0)
    for _ in range(50):
        clock.at += 0.05
        line.show_life()
    assert line._channel.sent == [encode_message(StillWaiting())] * 2


def test_a_line_ends_with_a_program_that_has_left_a_child_with_its_channel(monkeypatch):
    line = ProgramLine(FakeChannel(), os.getppid())
    assert line.receive(0.0) is None
    if os.name == "posix":
        with pytest.raises(ChannelClosed):
            ProgramLine(FakeChannel(), os.getppid() + 1).receive(0.0)
    with pytest.raises(ChannelClosed):
        ProgramLine(FakeChannel(b"half of a"), 0).receive(0.0)


@pytest.mark.parametrize(("message", "reason"), [(LeaveCar(True), LEFT), (StepAnswer(Controls()), "")])
def test_a_program_may_leave_while_the_car_is_being_opened(message, reason):
    supervisor = ProgramSupervisor(print)
    ProgramLine(FakeChannel(encode_message(message)), 0).poll_end(supervisor)
    assert supervisor.stop_reason == reason
