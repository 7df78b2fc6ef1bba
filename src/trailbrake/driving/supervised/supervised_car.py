"""`SupervisedCar`: a car that is stepped, and cannot be sent what no car may get.

In the embedded world, in lockstep, the link is in this process: time stands still between steps, so nothing has to be
braked, and controls are kept within their ranges. In real time another process has the link (`keeper_process`): it
checks samples, limits controls, and brakes while the simulator is silent or the program does not step.

`KeptCar`: a car in real time whose wire is in a process of its own; see `keeper_process`.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeAlias

from trailbrake import errors
from trailbrake.driving.loop.drive_loop import LOST_LIMIT
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.spec import DriveSpec
from trailbrake.driving.supervised.car_messages import (
    CarOpened,
    CarProblem,
    CarRequest,
    CarSample,
    ChannelClosed,
    KeeperMessage,
    KeeperMessageDecoder,
    LeaveCar,
    MessageChannel,
    OpenCar,
    ProgramMessage,
    StepAnswer,
    encode_message,
    encode_request,
)
from trailbrake.driving.supervised.control_check import copy_as_floats, limit_range
from trailbrake.errors import SimulatorError, TrailbrakeError, WireError
from trailbrake.json_types import JsonObject
from trailbrake.roles import CustomChannels, LinkCounters, Plant
from trailbrake.state import CarState, Controls, Phase, SimCommand
from trailbrake.system.processes import leave_running, process_group_options
from trailbrake.system.signals import CHILD_VARIABLE

_POLL_S = 1.0  # s between looks at signals while nothing comes (Windows)
KEEPER_SILENCE_S = 20.0  # s without a sign of life of the keeper after which the car counts as lost
END_LIMIT_S = 2.0  # s for the end of a keeper that has given the car back
LEAVE_LIMIT_S = 40.0  # s that the program waits for the car to stop; the keeper goes on without it


class EmbeddedCar:
    """A car of an embedded world in lockstep, that a program drives state by state.

    Args:
        connection: open.

    Attributes:
        state: the newest state.
        accepts: names of CONTROL_FIELDS and COMMAND_FIELDS that its link accepts.
        custom_room: how many free values an answer takes.
        pace: how the simulator's pace is kept; None where the program does not set it.
        plant: the embedded world, where it is in this process.
    """

    pace: JsonObject | None = None

    def __init__(self, connection: Connection) -> None:
        self._link, self._pacer = connection.link, connection.pacer
        self._channels = self._link if isinstance(self._link, CustomChannels) else None
        self.plant = connection.plant
        self.state = CarState()
        self.accepts = self._link.ACCEPTS
        self.custom_room = 0 if self._channels is None else len(self._channels.custom_out)

    @property
    def period(self) -> float:
        """S of simulator time between states."""
        return self._link.period

    @property
    def counters(self) -> LinkCounters:
        """Of the link."""
        return self._link.counters

    @property
    def custom(self) -> tuple[float, ...]:
        """Free values of the newest message."""
        return () if self._channels is None else tuple(self._channels.custom)

    def write(self, controls: Controls, *, repeats: bool = False) -> None:
        """Answer the newest state.

        Args:
            controls: what the car shall do.
            repeats: of no effect here.

        Raises:
            UsageError: a value is no number.
        """
        self._link.write(limit_range(controls))

    def set_custom_values(self, values: tuple[float, ...]) -> None:
        """Send these free values with every answer from the next one on; those behind them are 0."""
        if self._channels is not None:
            self._channels.custom_out = values

    def send_command(self, command: SimCommand) -> None:
        """Request something beside driving; it has been checked."""
        self._link.send_command(command)

    def wait_for_state(self) -> CarState:
        """Step the world to the next state and return it; in a pause, the same state with its phase.

        Raises:
            SimulatorError: the world makes no state.
        """
        link, pacer, last = self._link, self._pacer, self.state.sequence
        began = now = pacer.wait_for_sample(link)
        while now - began <= LOST_LIMIT:
            if link.has_new_sample() or "pause" in self.accepts:
                state = link.read(now)
                if state.sequence != last or state.phase is Phase.PAUSED:
                    self.state = state
                    return state
            now = pacer.wait_for_sample(link)
        raise SimulatorError(f"the simulator went silent for {LOST_LIMIT:g} s", where="step")


class KeptCar:
    """A car that another process supervises; the program's end of it.

    Args:
        channel: to the keeper.

    Attributes: those of `EmbeddedCar`; `plant` is None, because the world is elsewhere.

    Raises:
        TrailbrakeError: the keeper cannot open the car; the error is its own.
    """

    plant: Plant | None = None

    def __init__(self, channel: MessageChannel) -> None:
        self._channel, self._decoder = channel, KeeperMessageDecoder()
        opened = self._receive(float("inf"))
        if not isinstance(opened, CarOpened):
            raise SimulatorError("the process that keeps the car sends no car", where="connect")
        self.accepts, self.period, self.custom_room = opened.accepts, opened.period, opened.custom_room
        self.state, self.counters = CarState(), LinkCounters()
        self.custom: tuple[float, ...] = ()
        self.pace: JsonObject | None = None
        self._controls = Controls(brake=1.0)  # of the newest answer
        self._custom_out: tuple[float, ...] | None = None  # to go with the next answer
        self._owes_answer = False  # whether the newest state has no answer yet

    def write(self, controls: Controls, *, repeats: bool = False) -> None:
        """Answer the newest state; where it has an answer already, the controls wait for the next one.

        Args:
            controls: what the car shall do.
            repeats: whether they are those of an earlier state: then they say nothing about the program's pace.

        Raises:
            UsageError: a value is no number.
        """
        self._controls = copy_as_floats(controls)
        if self._owes_answer:
            self._answer(repeats=repeats)

    def set_custom_values(self, values: tuple[float, ...]) -> None:
        """Send these free values with every answer from the next one on."""
        self._custom_out = values

    def send_command(self, command: SimCommand) -> None:
        """Request something beside driving; it has been checked."""
        self._send(CarRequest(command))

    def wait_for_state(self) -> CarState:
        """Wait for the next state and return it; the newest one is answered as the one before if it has no answer.

        Raises:
            SimulatorError: the simulator is gone, or the process that keeps the car.
        """
        if self._owes_answer:
            self._answer(repeats=True)
        sample = self._receive(KEEPER_SILENCE_S)
        if not isinstance(sample, CarSample):
            raise SimulatorError("the process that keeps the car sends no state", where="step")
        self._owes_answer = True
        self.state, self.custom, self.period, self.pace = sample.state, sample.custom, sample.period, sample.pace
        self.counters = LinkCounters(*sample.counters)
        return self.state

    def leave(self, *, brakes: bool) -> None:
        """End the drive, and wait until the car is given back.

        Args:
            brakes: whether it is stopped before.
        """
        self._send(LeaveCar(brakes))
        self._channel.finish_sending()
        left_s = LEAVE_LIMIT_S
        with suppress(ChannelClosed, WireError):
            while left_s > 0.0:
                if self._channel.receive(_POLL_S) is None:
                    left_s -= _POLL_S

    def _answer(self, *, repeats: bool) -> None:
        self._owes_answer = False
        self._send(StepAnswer(self._controls, self._custom_out, repeats))
        self._custom_out = None

    def _send(self, message: ProgramMessage) -> None:
        with suppress(ChannelClosed):  # why it is closed is received
            self._channel.send(encode_message(message))

    def _receive(self, limit_s: float) -> KeeperMessage:
        """Return the next message that is more than a sign of life; raise what the keeper reports."""
        silent_s = 0.0
        while True:
            try:
                data = self._channel.receive(_POLL_S)
            except (ChannelClosed, WireError) as error:
                raise SimulatorError("the process that keeps the car has ended", where="step") from error
            if data is None:
                silent_s += _POLL_S
                if silent_s > limit_s:
                    raise SimulatorError("the process that keeps the car does not answer", where="step",
                                         expected=f"a sign of life within {limit_s:g} s")  # fmt: skip
                continue
            message = self._decoder.decode(data)
            if isinstance(message, CarProblem):
                raise _restore_error(message)
            if isinstance(message, CarOpened | CarSample):
                return message
            silent_s = 0.0


def _restore_error(problem: CarProblem) -> TrailbrakeError:
    kind = vars(errors).get(problem.kind, SimulatorError)
    what, where, expected, got, hint = problem.parts
    error: TrailbrakeError = kind(what, where=where, expected=expected, got=got, hint=hint)
    return error


SupervisedCar: TypeAlias = EmbeddedCar | KeptCar


@contextmanager
def open_car(setup: DriveSetup, *, brakes_at_end: bool = True) -> Iterator[SupervisedCar]:
    """Open a car for a program; on leaving, give it back.

    Args:
        setup: which simulator, embedded or live.
        brakes_at_end: whether the car of a live simulator is stopped before; the embedded world ends with its program.

    Raises:
        TrailbrakeError: the car cannot be opened.
    """
    spec = setup.spec
    if spec.is_real_time:
        with keep_car_elsewhere(spec, brakes_at_end=brakes_at_end and spec.is_live) as kept:
            yield kept
    else:
        with open_connection(setup, lambda: False) as connection:
            yield EmbeddedCar(connection)


@contextmanager
def keep_car_elsewhere(spec: DriveSpec, *, brakes_at_end: bool) -> Iterator[KeptCar]:
    """Open a car in a process of its own; on leaving, stop it and give it back.

    Args:
        spec: which simulator, live or in real time; signals, pace and camera.
        brakes_at_end: whether the car is stopped on leaving.

    Raises:
        TrailbrakeError: the car cannot be opened.
    """
    request = encode_request(OpenCar(spec, os.getpid()))
    process, channel = start_keeper()
    try:
        channel.send(request)
        car = KeptCar(channel)
        try:
            yield car
        finally:
            car.leave(brakes=brakes_at_end)
    finally:
        channel.close()
        try:
            process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:  # it goes on until the car stands
            leave_running(process)


def start_keeper() -> tuple["subprocess.Popen[bytes]", MessageChannel]:
    """Start a keeper; return its process and the program's end of the channel to it.

    The process is in a group of its own: what interrupts the program does not interrupt it. It ends when the channel
    is closed, after the car has been stopped.

    Raises:
        SimulatorError: no process can be started.
    """
    ours, theirs = socket.socketpair()
    # A standard input that ends would be a request to end.
    environment = {name: value for name, value in os.environ.items() if name != CHILD_VARIABLE}
    options = {"stdout": subprocess.DEVNULL, "env": environment, **process_group_options()}
    command = [sys.executable, "-m", "trailbrake.driving.supervised.keeper_process", str(theirs.fileno())]
    with theirs:
        try:
            if sys.platform == "win32":
                process = subprocess.Popen(command, stdin=subprocess.PIPE, **options)
                with process.stdin as handle:
                    handle.write(theirs.share(process.pid))
            else:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), **options)
        except OSError as error:
            ours.close()
            raise SimulatorError(f"no process to keep the car: {error.strerror}", where="connect") from error
    return process, MessageChannel(ours)
