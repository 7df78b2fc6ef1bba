"""`sim assetto ...`: pause, restart, teleport and the like, requested from outside a drive.

Source: protocol page assetto-custom-ai, sections 2.5, 4.4 and 4.5. SimState is a page beside those of the cars. A
command to a car takes the car for a moment, so it is refused while another trailbrake drives it.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import codec, diagnosis_snapshots, spec
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.sim_state_writer import SimStatePages
from trailbrake.sims.assetto.wire.sim_state_writer import requested_fields as sim_state_fields
from trailbrake.simulator_tools import ControlTool, Idle
from trailbrake.state import Controls, SimCommand
from trailbrake.state.commands import requested_fields
from trailbrake.transport.shm import LockState, SharedMemory

PAGES_PERSIST = sys.platform != "win32"  # whether a page outlives the program that created it
_PULSE_S = 0.1  # that a restart is requested (section 4.5)
_SETTLE_S = 0.1  # from a request until the game has found the page and follows it
_MEASURE_S = 0.3  # over which the pace is measured
_HOLD_S = 0.6  # that a car is held after a teleport: longer than the teleport's five tries


@dataclass(slots=True)
class ControlOptions:
    """Command a running Assetto Corsa.

    Attributes:
        car_index: which car, for teleports and the pits.
        wait: seconds to wait for that car.
        root: the game's folder; else TRAILBRAKE_ASSETTO, else where Steam has it.
    """

    car_index: int = 0
    wait: float = 10.0
    root: Path | None = None


def send(command: SimCommand, options: ControlOptions, idle: Idle, say: Callable[[str], None]) -> None:
    """Send `command`, and say what it has done.

    A pause, a time scale and the like last as long as their pages exist: on Windows as long as this program runs, which
    then waits for an interrupt; elsewhere until the next command.

    Args:
        command: the command.
        options: the car.
        idle: lets time pass and returns the new `now`.
        say: receives lines for the user.

    Raises:
        SimulatorError: the game is gone and has left its pages, there is none to restart, or the car cannot be taken.
    """
    memory = SharedMemory()
    if command.pause is not False:  # what a dead session left is taken back all the same
        _refuse_dead_game(memory, options.car_index, idle)
    if command.teleport is not None or command.to_pits:
        height = _command_car(command, options, idle)
        place = "into the pits" if command.to_pits else f"there{height}"
        say(f"car {options.car_index} was put {place} and stands")
    elif not {"headlights", "mguh_mode", "autoblip"}.isdisjoint(requested_fields(command)):
        _command_car(command, options, idle)
        say(f"car {options.car_index} was taken for {_HOLD_S:g} s and given back: the game may forget the request then")
    if not _requests_sim_state(command):
        return
    has_game = any(map(memory.page_exists, (spec.public_name(options.car_index), acpmf.PHYSICS_NAME)))
    if command.restart and not has_game and memory.read_lock_state(spec.HOST_LOCK) is not LockState.HELD:
        raise SimulatorError("no game is there, so no session can be restarted", where=memory.folder,
                             hint="start it and a session, or `trailbrake serve assetto`")  # fmt: skip
    pages = SimStatePages(memory)
    fields = sim_state_fields(command)
    if command.restart:
        say("requested a restart: where the game opens a menu of its own, the session must be started again by hand")
        pages.write_fields({**fields, "restart_session": 1})
        _let_pass(_PULSE_S, idle(), idle)
    requested = pages.write_fields({**fields, "restart_session": 0})
    resumed = requested == codec.SimState()
    try:
        if has_game:
            say(describe_effect(requested, measure_pace(memory, options.car_index, idle)))
        elif not resumed:
            say("no game is there yet: a session that starts finds this; `trailbrake sim assetto resume` takes it back")
        if not PAGES_PERSIST and not resumed:
            say("held until this program is interrupted")
            while True:
                idle()
    except KeyboardInterrupt:
        if PAGES_PERSIST:
            raise
        idle_state = codec.SimState()._asdict()
        pages.write_fields({name: idle_state[name] for name in fields})
    pages.close(remove=resumed)


def _refuse_dead_game(memory: SharedMemory, car: int, idle: Idle) -> None:
    """Raise SimulatorError where pages stand still that neither the game nor a served world writes any more."""
    if memory.read_lock_state(spec.HOST_LOCK) is LockState.HELD or diagnosis_snapshots.is_game_running() is not False:
        return
    if measure_pace(memory, car, idle) == 0.0:
        raise SimulatorError("the game is gone: it ended or crashed, and its pages stand still", where=memory.folder,
                             hint="start it and a session, or `trailbrake serve assetto`")  # fmt: skip


def _requests_sim_state(command: SimCommand) -> bool:
    levels = command.pause, command.time_scale, command.collisions, command.extra_sleep
    return command.restart or any(level is not None for level in levels)


def _let_pass(seconds: float, now: float, idle: Idle) -> float:
    """Wait for so many `seconds` from `now` on; return the new `now`."""
    end = now + seconds
    while now < end:
        now = idle()
    return now


def measure_pace(memory: SharedMemory, car: int, idle: Idle) -> float:
    """Return how fast the simulation runs now, 1 = real time, 0 = it stands; NaN where no page shows it."""
    for name in (acpmf.PHYSICS_NAME, spec.car_name(car)):  # both advance once per physics step
        page = memory.open_page(name, codec.PACKET_ID_SIZE)
        if page is None:
            continue
        began = _let_pass(_SETTLE_S, idle(), idle)
        first = codec.decode_packet_id(page.read(codec.PACKET_ID_SIZE))
        ended = _let_pass(_MEASURE_S, began, idle)
        steps = codec.decode_packet_id(page.read(codec.PACKET_ID_SIZE)) - first
        page.close()
        return steps / (spec.RATE_HZ * (ended - began)) if steps >= 0 else math.nan
    return math.nan


def describe_effect(requested: codec.SimState, pace: float) -> str:
    """Return a line for the user about what the pages request, and at what pace the simulation runs since."""
    what = [
        "a pause" if requested.pause else "no pause",
        f"time scale {requested.time_scale:g}",
        *([f"{requested.extra_sleep_ms} ms of sleep after every step"] if requested.extra_sleep_ms else []),
        *(["no collisions between cars"] if requested.disable_collisions else []),
    ]
    text = f"requested {', '.join(what)}"
    if math.isnan(pace):
        return f"{text}; no page shows whether the simulation follows"
    if requested.pause and pace > 0.0:
        return f"{text}; the simulation runs on at {pace:.2f} times real time: is Custom AI on? see `doctor assetto`"
    if pace == 0.0:
        return f"{text}; the simulation stands still"
    hint = ""
    if requested.time_scale > 1.5 and pace < 1.25:
        hint = "; a patch before 0.2.8 has no time scale"
    return f"{text}; the simulation runs at {pace:.2f} times real time{hint}"


def _command_car(command: SimCommand, options: ControlOptions, idle: Idle) -> str:
    """Take the car, send the command, hold the car, and give it back; return the height of a teleport without one."""
    live = spec.LiveOptions(car_index=options.car_index, wait=options.wait, root=options.root)
    link = Link(live, idle=idle)
    now = idle()
    link.open(now)
    try:
        link.read(now)
        height = ""
        if command.teleport is not None and math.isnan(command.teleport.z):
            ground = link.find_height(command.teleport.x, command.teleport.y)
            command = replace(command, teleport=replace(command.teleport, z=ground.z))
            height = f" at the height {ground.z:.1f} m, of {ground.source},"
        link.send_command(
            replace(command, pause=None, restart=False, time_scale=None, collisions=None, extra_sleep=None, lines=None)
        )
        until = now + _HOLD_S
        while now < until:
            link.read(now)
            link.write(Controls(brake=1.0))
            now = idle()
    finally:
        link.close()
    return height


CONTROL = ControlTool(ControlOptions, send)
