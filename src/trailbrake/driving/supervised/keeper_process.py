"""The program of the process that keeps a car: `python -m trailbrake.driving.supervised.keeper_process SOCKET`.

SOCKET is the number of an open socket (POSIX); on Windows the socket comes through standard input.
"""

import socket
import sys
from contextlib import suppress

from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup, make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.supervised.car_messages import CarOpened, CarProblem, OpenCar, decode_program_message
from trailbrake.driving.supervised.keeper import ProgramLine, keep_car, print_line
from trailbrake.driving.supervised.message_channel import ChannelClosed, MessageChannel
from trailbrake.driving.supervised.program_supervisor import ProgramSupervisor
from trailbrake.errors import TrailbrakeError
from trailbrake.roles import CustomChannels
from trailbrake.sims import registry
from trailbrake.system.signals import handle_stop_signals

REQUEST_TIMEOUT_S = 60.0  # s for the program's first message
TERMINATED = "the process that keeps the car was requested to end"


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
