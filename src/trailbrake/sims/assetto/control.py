"""`sim assetto ...`: pause, restart, teleport and the like, asked from outside of a drive.

Source: protocol page assetto-custom-ai, sections 2.5, 4.4 and 4.5. SimState is a page of its own, beside the cars'. A
request to a car takes the car for the moment, and so is refused while somebody of ours drives it.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from trailbrake.sims.assetto import acpmf, codec, spec
from trailbrake.sims.assetto.link import Link
from trailbrake.state import Controls, SimCommand
from trailbrake.transport.shm import Page, SharedMemory

LASTS = sys.platform != "win32"  # whether a page outlives the program that made it
_PULSE = 0.1  # s that a restart is asked for (section 4.5)
_HELD = 0.6  # s that a car is held after it was put somewhere: longer than a teleport asked for five times


@dataclass(slots=True)
class Options:
    """Ask something of a running Assetto Corsa.

    Attributes:
        car_index: which car, for teleports and the pits.
        wait: seconds to wait for that car.
    """

    car_index: int = 0
    wait: float = 10.0


def send(command: SimCommand, options: Options, idle: Callable[[], float], say: Callable[[str], None]) -> None:
    """Ask for `command`.

    A pause and a time scale hold as long as their page is there: on Windows as long as this program runs, which then
    waits for an interrupt; elsewhere until somebody asks for another.

    Args:
        command: what to ask for.
        options: which car it is about.
        idle: lets time pass and returns the new `now`.
        say: told what was done.

    Raises:
        SimulatorError: the car is not to be had.
    """
    if command.teleport is not None or command.to_pits:
        _of_car(command, options, idle)
        say(f"car {options.car_index} was put {'into the pits' if command.to_pits else 'there'} and stands")
    if command.pause is None and command.time_scale is None and not command.restart:
        return
    memory = SharedMemory()
    page = memory.create(spec.SIM_STATE_V1)
    asked = _current(page)
    if command.time_scale is not None:
        asked = asked._replace(time_scale=command.time_scale)
    if command.pause is not None:
        asked = asked._replace(pause=int(command.pause))
    if command.restart:
        say("asked for a restart: where the game opens a menu of its own, the session must be started again by hand")
        page.write(codec.encode_sim_v1(asked._replace(restart_session=1)))
        until = idle() + _PULSE
        while idle() < until:
            pass
    page.write(codec.encode_sim_v1(asked))
    resumed = asked == codec.SimState()
    if not resumed and not any(map(memory.exists, (spec.public_name(options.car_index), acpmf.PHYSICS_NAME))):
        say("no game is there yet: a session that starts finds this; `trailbrake sim assetto resume` takes it back")
    if not LASTS and not resumed:
        say("held until this program is interrupted")
        try:
            while True:
                idle()
        except KeyboardInterrupt:
            page.write(codec.encode_sim_v1(codec.SimState()))
    page.close(remove=resumed)


def _current(page: Page) -> codec.SimState:
    """Return what the page asks for now; a new page of zeros would ask for a time scale of 0."""
    now = codec.decode_sim_v1(page.read(codec.SIM_V1_SIZE))
    scale = now.time_scale if now.time_scale > 0.0 else codec.SimState().time_scale
    return now._replace(restart_session=0, time_scale=scale)


def _of_car(command: SimCommand, options: Options, idle: Callable[[], float]) -> None:
    link = Link(spec.LiveOptions(car_index=options.car_index, wait=options.wait), idle=idle)
    now = idle()
    link.open(now)
    try:
        link.command(SimCommand(teleport=command.teleport, to_pits=command.to_pits))
        until = now + _HELD
        while now < until:
            link.read(now)
            link.write(Controls(brake=1.0))
            now = idle()
    finally:
        link.close()
