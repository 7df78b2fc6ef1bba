"""The program of the process that keeps a car: `python -m trailbrake.driving.supervised.keeper_process SOCKET`.

SOCKET is the number of an open socket (POSIX); on Windows the socket comes through standard input.

Keeps a car for a program in another process: it drives by the program's answers, and brakes while they stay away.

A program that is stopped, or that keeps the interpreter's lock, cannot brake; and a wire belongs to the process that
has opened it. So this process has the wire, and the program is its driver: states go to it and controls come back.
"""

import copy
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from math import isnan, nan

from trailbrake.driving.loop.drive_loop import CarLoop, RequestPacer, run_loop
from trailbrake.driving.loop.driver_watchdog import ANSWER_LIMIT_S, BRAKE_POLL_S, USUAL_ANSWERS, USUAL_SHARE
from trailbrake.driving.loop.supervisor import BAD_CONTROLS_LIMIT_S, STANDSTILL_SPEED, Supervisor
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup, make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.supervised.car_messages import (
    CarOpened,
    CarProblem,
    CarRequest,
    CarSample,
    ChannelClosed,
    KeeperMessage,
    LeaveCar,
    MessageChannel,
    OpenCar,
    ProgramMessage,
    StepAnswer,
    StillWaiting,
    decode_program_message,
    encode_message,
    make_picture,
)
from trailbrake.errors import SimulatorError, TrailbrakeError, WireError
from trailbrake.planning.course import Course
from trailbrake.roles import CustomChannels, LeavesUnchanged, PacedLink
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls, Image
from trailbrake.system import steady_clock
from trailbrake.system.signals import handle_stop_signals
from trailbrake.transport.client_notices import LineBudget, print_to_stderr


class ProgramSupervisor(Supervisor):
    """A Supervisor that brakes while a program answers NaN, and lets it drive on afterwards.

    Where the wire can leave a control as it is, NaN does that. A brake that is not the program's own does not stay:
    the first NaN behind it stands for the program's last number, or for 0 if it has sent none.

    Args:
        say: receives a line when braking begins and when it ends.

    Attributes:
        leaves: names of CONTROL_FIELDS that the wire leaves unchanged for NaN.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self.leaves: frozenset[str] = frozenset()
        self._say = say
        self._own_steer = self._own_throttle = self._own_brake = 0.0  # the program's last numbers
        self._is_overridden = False  # whether the wire says what the program has not requested
        self._brakes_for_numbers = False

    def safe_stop_controls(self, state: CarState) -> Controls:
        """Return the controls of a safe stop."""
        self._is_overridden = True
        return super().safe_stop_controls(state)

    def limit_controls(self, controls: Controls, dt: float) -> Controls:
        """Return what may be sent of a program's answer; NaN only in what the wire leaves unchanged."""
        rejected = self.counters.rejected
        filled = self._fill_unchanged(controls) if self.leaves else controls
        passed = super().limit_controls(filled, dt)
        if self.counters.rejected != rejected:
            return passed
        if self._brakes_for_numbers:
            self._brakes_for_numbers = False
            self._say("the program steps with numbers again")
        if not isnan(controls.steer):
            self._own_steer = passed.steer
        if not isnan(controls.throttle):
            self._own_throttle = passed.throttle
        if not isnan(controls.brake):
            self._own_brake = passed.brake
        if filled is not controls:
            passed = self._restore_unchanged(passed, controls)
        self._is_overridden = False
        return passed

    def _fill_unchanged(self, controls: Controls) -> Controls:
        """Return controls with numbers in place of the NaN that the wire leaves unchanged."""
        leaves, last = self.leaves, self._last
        filled = copy.copy(controls)
        if isnan(controls.steer) and "steer" in leaves:
            filled.steer = self._own_steer if self._is_overridden else last.steer
        if isnan(controls.throttle) and "throttle" in leaves:
            filled.throttle = self._own_throttle if self._is_overridden else last.throttle
        if isnan(controls.brake) and "brake" in leaves:
            filled.brake = self._own_brake if self._is_overridden else last.brake
        if controls.custom and "custom" in leaves:
            filled.custom = tuple(0.0 if isnan(value) else value for value in controls.custom)
        return filled

    def _restore_unchanged(self, passed: Controls, controls: Controls) -> Controls:
        """Return `passed` with the NaN of `controls`; free values alone where the wire says what is not its own."""
        sent = copy.copy(passed)
        if not self._is_overridden:
            sent.steer = nan if isnan(controls.steer) else passed.steer
            sent.throttle = nan if isnan(controls.throttle) else passed.throttle
            sent.brake = nan if isnan(controls.brake) else passed.brake
        sent.custom = tuple(
            nan if isnan(wanted) else value for value, wanted in zip(passed.custom, controls.custom, strict=True)
        )
        return sent

    def _reject_controls(self, dt: float) -> Controls:
        self.counters.rejected += 1
        self._bad_time += dt
        if self._bad_time <= BAD_CONTROLS_LIMIT_S:
            return self._last
        if not self._brakes_for_numbers:
            self._brakes_for_numbers = True
            self._say("the program steps with NaN or infinite controls: braking until it steps with numbers")
        return self.safe_stop_controls(CarState())


REQUEST_TIMEOUT_S = 60.0  # s for the program's first message
TERMINATED = "the process that keeps the car was requested to end"
GAME_TIME_LIMIT_S = 0.25  # s that a game which waits for answers may go on without one before its car is braked
STILL_WAITING_S = 1.0  # s without a state after which the program is sent a sign of life
LEFT = "the program has left the car"  # the one reason for a stop of which the program is not informed
PROGRAM_DIED = "the program has ended without leaving its car"


class ProgramLine:
    """The keeper's end of the channel to its program.

    Args:
        channel: open.
        pid: identity of the program's process; 0 where it cannot die without closing the channel.
    """

    def __init__(self, channel: MessageChannel, pid: int) -> None:
        self._channel, self._pid = channel, pid
        self._sent_at = steady_clock.now()

    def send(self, message: KeeperMessage, on_wait: Callable[[], None] = lambda: None) -> None:
        """Send a message; `on_wait` is called while the program does not receive. ChannelClosed if it is gone."""
        self._sent_at = steady_clock.now()
        self._channel.send(encode_message(message), on_wait)

    def receive(self, timeout_s: float) -> ProgramMessage | None:
        """Return the next message; None where none comes within `timeout_s`. ChannelClosed if the program is gone."""
        data = self._channel.receive(timeout_s)
        if data is None:
            # A process that the program has forked keeps the channel open.
            if self._pid and sys.platform != "win32" and os.getppid() != self._pid:
                raise ChannelClosed
            return None
        try:
            return decode_program_message(data)
        except WireError as error:  # it was interrupted while it sent
            raise ChannelClosed from error

    def poll_end(self, supervisor: ProgramSupervisor) -> None:
        """Request a stop if the program has left or ended; called while the car is being opened."""
        try:
            if isinstance(self.receive(0.0), LeaveCar):
                supervisor.request_stop(LEFT)
        except ChannelClosed:
            supervisor.request_stop(PROGRAM_DIED)

    def show_life(self) -> None:
        """Send a sign of life where the program has heard nothing for a while."""
        if steady_clock.now() - self._sent_at >= STILL_WAITING_S:
            self.send(StillWaiting())


class ProgramDriver:
    """Drives by the answers of a program; while none comes, the car is braked.

    A program that takes longer than 0.3 s, and three times its usual answer, is braked for until it answers. Where the
    simulator waits for answers, its car is braked only if the simulator goes on all the same.

    Args:
        line: to the program.
        connection: open.
        supervisor: of the car.
        say: receives a line when braking begins and when it ends.
        game_waits: whether the simulator waits for answers, or its pace is that of the program.

    Attributes:
        seat: the car in its loop, which this driver drives.
        leaves_rolling: whether the program has left the car without a stop.
    """

    NEEDS: frozenset[str] = frozenset()

    def __init__(
        self,
        line: ProgramLine,
        connection: Connection,
        supervisor: ProgramSupervisor,
        say: Callable[[str], None],
        *,
        game_waits: bool,
    ) -> None:
        self._line, self._supervisor, self._say, self._game_waits = line, supervisor, say, game_waits
        self._link, self._pace = connection.link, connection.pace
        self._channels = self._link if isinstance(self._link, CustomChannels) else None
        self.seat = CarLoop(self._link, self, supervisor, (), lambda: None, say=say)
        self.leaves_rolling = False
        self._image: Image | None = None  # sent last
        self._usual = 0.0  # s that an answer takes
        self._limit = ANSWER_LIMIT_S  # s for the answer under way
        self._began, self._state_time, self._is_braking = 0.0, 0.0, False  # of the answer under way

    def reset(self, course: Course) -> None:
        """Nothing to prepare."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Send a state to the program and return its answer; controls of a stop if it leaves or ends."""
        supervisor = self._supervisor
        self._began, self._state_time = steady_clock.now(), state.time
        self._limit = max(ANSWER_LIMIT_S, USUAL_ANSWERS * self._usual)
        try:
            self._line.send(self._make_sample(state), self._brake_if_late)
            while not supervisor.stop_reason:
                message = self._line.receive(max(self._limit - self._measure_wait(), BRAKE_POLL_S))
                if isinstance(message, StepAnswer):
                    return self._take_answer(message)
                if message is not None:
                    self.handle_request(message)
                self._brake_if_late()
        except ChannelClosed:
            self._stop_without_program()
        return supervisor.safe_stop_controls(state)

    def handle_request(self, message: ProgramMessage) -> None:
        """Carry out a message that is no answer."""
        if isinstance(message, CarRequest):
            self._link.send_command(message.command)
        elif isinstance(message, LeaveCar):
            self._end_program(LEFT)
            self.leaves_rolling = not message.brakes
            if self.leaves_rolling:
                self._supervisor.limit_stop(0.0)

    def handle_requests(self) -> None:
        """Carry out what has arrived while no answer is due; called at least every 50 ms."""
        try:
            while not self._supervisor.stop_reason and (message := self._line.receive(0.0)) is not None:
                self.handle_request(message)
            if not self._supervisor.stop_reason:
                self._line.show_life()
        except ChannelClosed:
            self._stop_without_program()

    def _stop_without_program(self) -> None:
        self._say(f"{PROGRAM_DIED}: braking")
        self._end_program(PROGRAM_DIED)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)  # a reader of the program's lines does not wait for this process
        os.close(null)

    def _end_program(self, reason: str) -> None:
        self._supervisor.request_stop(reason)
        if self._pace is not None and isinstance(self._link, PacedLink):
            self._link.set_step_time(self._link.period)  # the simulator need not wait for the program any more

    def _make_sample(self, state: CarState) -> CarSample:
        image, counters = state.image, self._link.counters
        is_new, self._image = image is not self._image, image
        return CarSample(
            state,
            image is not None,
            make_picture(image) if image is not None and is_new else None,
            () if self._channels is None else self._channels.custom,
            self._link.period,
            (counters.received, counters.lost, counters.stale, counters.torn, counters.resyncs),
            None if self._pace is None else self._pace.describe(),
        )

    def _measure_wait(self) -> float:
        """Return for how long the answer under way has been due, s."""
        return steady_clock.now() - self._began

    def _brake_if_late(self) -> None:
        """Brake if the answer is late; where the game waits for it, only if the game goes on without."""
        if self._measure_wait() < self._limit:
            return
        now = steady_clock.now()
        if self._game_waits and not self._is_braking:
            newest, _ = self.seat.read_state(now)  # also while nothing comes: a link counts time-outs of the game
            if not newest.time - self._state_time > GAME_TIME_LIMIT_S:
                return
        self.seat.brake_tick(now, notify=False)
        if not self._is_braking:
            self._is_braking = True
            self._supervisor.counters.hung += 1
            self._say(f"the program has not stepped for {self._limit:.1g} s: braking until it steps")

    def _take_answer(self, answer: StepAnswer) -> Controls:
        took = self._measure_wait()
        if not answer.repeats:
            # A long interruption is not usual, but a program that is always slow is.
            self._usual += USUAL_SHARE * (min(took, 2.0 * self._limit) - self._usual)
            if self._pace is not None:
                self._pace.add_answer(took, self._link.counters.lost)
        if self._is_braking:
            self._is_braking = False
            self._say("the program steps again")
        if answer.custom is not None and self._channels is not None:
            self._channels.custom_out = answer.custom
        return answer.controls


def keep_car(line: ProgramLine, connection: Connection, supervisor: ProgramSupervisor, *, game_waits: bool) -> None:
    """Drive until the program leaves or ends, a stop is requested, or the simulator is gone; stop the car.

    Args:
        line: to the program.
        connection: open.
        supervisor: of the car.
        game_waits: whether the simulator waits for answers, or its pace is that of the program.

    Raises:
        SimulatorError: the drive has ended although the program has not left the car.
    """
    say, link = LineBudget(print_line), connection.link
    if isinstance(link, LeavesUnchanged):
        supervisor.leaves = link.LEAVES
    driver = ProgramDriver(line, connection, supervisor, say, game_waits=game_waits)
    result = run_loop(driver.seat, RequestPacer(connection.pacer, driver.handle_requests), (), say)
    if result.reason != LEFT:
        raise SimulatorError(result.reason, where="step")
    if driver.seat.speed >= STANDSTILL_SPEED and not driver.leaves_rolling:
        say("the car was given back rolling: it did not come to a stand")


def print_line(text: str) -> None:
    """Print a line for the user of the program."""
    print_to_stderr(f"trailbrake: {text}")


def make_kept_setup(request: OpenCar) -> DriveSetup:
    """Return the setup of the car that a program requests; UsageError or DataError where there is no such car."""
    return make_setup(registry.find(request.spec.site.sim), request.spec)


def game_waits_for_answers(setup: DriveSetup) -> bool:
    """Return whether the simulator waits for a slow program, by itself or because its pace is the program's."""
    return setup.spec.site.pace == "driver" or setup.simulator.paced_by == "answers"


def describe_connection(setup: DriveSetup, connection: Connection) -> CarOpened:
    """Return what a program has to know of a car that is open."""
    link = connection.link
    room = len(link.custom_out) if isinstance(link, CustomChannels) else 0
    return CarOpened(link.ACCEPTS, link.period, tuple(signal.name for signal in setup.signals), room)


def describe_error(error: TrailbrakeError) -> CarProblem:
    """Return the message of an error that the program is to raise."""
    return CarProblem(type(error).__name__, (error.what, error.where, error.expected, error.got, error.hint))


def serve_program(channel: MessageChannel) -> None:
    """Open the car that the program at the other end requests, and keep it until the drive is over."""
    data = channel.receive(REQUEST_TIMEOUT_S)
    request = None if data is None else decode_program_message(data)
    if not isinstance(request, OpenCar):
        raise ChannelClosed
    line, supervisor = ProgramLine(channel, request.pid), ProgramSupervisor(print_line)

    def is_stopped() -> bool:
        line.poll_end(supervisor)
        return supervisor.stop_reason != ""

    with handle_stop_signals(lambda: supervisor.request_stop(TERMINATED), hurry=supervisor.limit_stop):
        try:
            setup = make_kept_setup(request)
            with open_connection(setup, is_stopped) as connection:
                line.send(describe_connection(setup, connection))
                keep_car(line, connection, supervisor, game_waits=game_waits_for_answers(setup))
        except TrailbrakeError as error:
            line.send(describe_error(error))


def main() -> None:
    """Keep a car for the program that has started this process."""
    channel = MessageChannel(_take_socket())
    with suppress(ChannelClosed, KeyboardInterrupt):
        serve_program(channel)
    channel.close()


def _take_socket() -> socket.socket:
    if sys.platform == "win32":
        return socket.fromshare(sys.stdin.buffer.read())
    return socket.socket(fileno=int(sys.argv[1]))


if __name__ == "__main__":
    main()
