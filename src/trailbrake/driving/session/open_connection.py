"""Opens a link for a drive: to the embedded world in lockstep or in real time, or to a live simulator."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import TextIO

from trailbrake.driving.loop.drive_loop import LockstepPacer, RealTimePacer
from trailbrake.driving.loop.driver_pace import DriverPace
from trailbrake.driving.serve import count_world
from trailbrake.driving.session.camera_link import PictureSource, RenderedCamera, add_camera
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup
from trailbrake.driving.session.embedded_worlds import build_host, build_world
from trailbrake.errors import DataError, SimulatorError, TrailbrakeError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.roles import Host, Link, PacedLink, Plant, SafeAfterDeath, SignalSource
from trailbrake.system import steady_clock
from trailbrake.system.drive_guard import DriveGuard
from trailbrake.system.processes import process_group_options
from trailbrake.system.realtime import high_resolution_timers, low_latency_interpreter
from trailbrake.system.signals import CHILD_VARIABLE
from trailbrake.transport.capture.live_camera import open_live_camera
from trailbrake.transport.shm import LockState, SharedMemory

_FOLDER, _OWNER = "trailbrake-", "trailbrake.owner"  # beginning of a folder's name, and the lock in it
_FRESH_S = 60.0  # s in which a folder may be without its lock
HOST_EXIT = 5.0  # s that a host process may take to end after its input has ended


@contextmanager
def open_connection(setup: DriveSetup, stopped: Callable[[], bool]) -> Iterator[Connection]:
    """Connect to the simulator of a drive; on leaving, release the controls and close the wire.

    Args:
        setup: the drive: which simulator, embedded or live, at which pace.
        stopped: whether the user has requested a stop, which ends the wait for a simulator.

    Raises:
        SimulatorError: the simulator is not there or refuses, or another host has its addresses.
        KeyboardInterrupt: `stopped` while there was no simulator yet.
    """
    if setup.spec.is_live:
        opened = _connect_live(setup, stopped)
    elif setup.spec.is_real_time:
        opened = _connect_host_process(setup, stopped)
    else:
        opened = _connect_lockstep(setup)
    option = setup.camera
    with ExitStack() as closed:
        camera: PictureSource | None = None
        if option is not None and option.kind == "window":  # first: it is found at once, and a game may let us wait
            camera = closed.enter_context(closing(open_live_camera(option)))
        connection = closed.enter_context(opened)
        if option is not None and camera is None:
            plant, doors = connection.plant, connection.doors
            camera = open_live_camera(option, doors) if plant is None else RenderedCamera(plant, option)
            closed.enter_context(closing(camera))
        if camera is not None:
            connection.camera = camera
            connection.links[0] = add_camera(connection.links[0], camera)
        yield connection


@contextmanager
def _connect_live(setup: DriveSetup, stopped: Callable[[], bool]) -> Iterator[Connection]:
    with (
        high_resolution_timers(),
        _open_links(setup, None, make_idle_wait(stopped)) as links,
        low_latency_interpreter(),
        _guard_links(links) as guard,
    ):
        yield Connection(links, RealTimePacer(), pace=_make_pace(setup, links[0]), guard=guard)


@contextmanager
def _connect_lockstep(setup: DriveSetup) -> Iterator[Connection]:
    with make_private_folder() as doors, _open_host(setup, doors) as (host, plant):
        pacer = LockstepPacer(host.tick, setup.simulator.period(setup.serve))
        with _open_links(setup, doors, pacer.step) as links:
            connection = Connection(links, pacer, read_host_counters=host.read_counters, plant=plant, doors=doors)
            yield connection
        connection.host_report.update({**host.read_counters(), **count_world(plant)})


@contextmanager
def _connect_host_process(setup: DriveSetup, stopped: Callable[[], bool]) -> Iterator[Connection]:
    with (
        high_resolution_timers(),
        make_private_folder() as doors,
        _run_host_process(setup, doors) as (process, host_report),
        _open_links(setup, doors, make_idle_wait(stopped)) as links,
        low_latency_interpreter(),
        _guard_links(links) as guard,
    ):

        def explain_end() -> str:
            return "" if process.poll() is None else f"the host process ended, exit code {process.returncode}"

        yield Connection(links, RealTimePacer(explain_end), host_report, pace=_make_pace(setup, links[0]), doors=doors,
                         guard=guard)  # fmt: skip


@contextmanager
def _guard_links(links: Sequence[Link]) -> Iterator[DriveGuard | None]:
    """Start the process that writes to the pages of `links` if this one dies; None where they have no such pages.

    It also ends this process if that stops to beat, once it has begun.
    """
    resorts = [resort for link in links if isinstance(link, SafeAfterDeath) for resort in link.find_last_resorts()]
    guard = None
    if resorts:
        with suppress(OSError):  # `protect_cars` tries again, and says so
            guard = DriveGuard(resorts)
    try:
        yield guard
    finally:
        if guard is not None:
            guard.close(is_safe=_release_links(links))


def _release_links(links: Sequence[Link]) -> bool:
    """Leave the cars safe; return whether the wires accepted it: not if the driver's code has closed their files."""
    try:
        for link in links:
            link.release()
    except OSError:
        return False
    return True


def make_idle_wait(stopped: Callable[[], bool]) -> Callable[[], float]:
    """Return a function that sleeps a few milliseconds and returns the new time, for the wait for a simulator."""

    def sleep_briefly() -> float:
        if stopped():
            raise KeyboardInterrupt
        return steady_clock.sleep_until(steady_clock.now() + 0.005)

    return sleep_briefly


@contextmanager
def make_private_folder() -> Iterator[str]:
    """Make a folder in which both ends of a private wire find each other; UsageError where that is impossible."""
    # The shared-memory file system where there is one: page writes never touch a disk.
    base = os.environ.get("TRAILBRAKE_SHM") or ("/dev/shm" if Path("/dev/shm").is_dir() else tempfile.gettempdir())
    try:
        folder = tempfile.mkdtemp(prefix=_FOLDER, dir=base)
    except OSError as error:
        raise UsageError(
            f"cannot make a folder for the pages: {error.strerror}",
            where=base,
            hint="make it, or set TRAILBRAKE_SHM",
        ) from error
    lock = SharedMemory(folder).acquire_lock(_OWNER)
    try:
        _remove_abandoned_folders(Path(base), Path(folder).stat().st_mtime - _FRESH_S)
        yield folder
    finally:
        if lock is not None:
            lock.close()
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned_folders(base: Path, before: float) -> None:
    """Remove the folders of killed drives: their lock has no holder. What has changed since `before` stays."""
    for folder in base.glob(f"{_FOLDER}*"):
        with suppress(OSError, TrailbrakeError):
            is_old = folder.is_dir() and folder.stat().st_mtime < before
            if is_old and SharedMemory(folder).read_lock_state(_OWNER) is LockState.ABANDONED:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _open_links(setup: DriveSetup, doors: str | None, idle: Callable[[], float]) -> Iterator[list[Link]]:
    simulator = setup.simulator
    links: list[Link] = []
    unopened: list[Link] = []

    def open_all() -> None:
        while unopened:
            unopened.pop(0).open(idle())

    def wait_with_all() -> float:  # the simulator that one link waits for may wait for the links of all cars
        open_all()
        return idle()

    with ExitStack() as closed:
        for car in range(len(setup.spec.cars)):
            options = setup.live
            if car and simulator.options_for_car is not None:
                options = simulator.options_for_car(options, car)
            link = simulator.make_link(options, doors=doors, idle=wait_with_all)
            closed.callback(link.close)
            if setup.signals:
                if not isinstance(link, SignalSource):
                    raise DataError("the link has no select_signals()", where=f"{simulator.name}, link",
                                    expected="a SignalSource, since the simulator declares signals")  # fmt: skip
                link.select_signals(setup.signals)
            links.append(link)
        unopened.extend(links)
        open_all()
        try:
            yield links
        except BaseException:
            for link in links:  # also after a second Ctrl-C: the wire may keep its last controls
                with suppress(Exception):
                    link.release()
            raise
        for link in links:
            link.release()


def _make_pace(setup: DriveSetup, link: Link) -> DriverPace | None:
    """Return what makes a simulator in real time wait for the driver; None where it needs nothing."""
    if setup.spec.site.pace == "simulator" or not isinstance(link, PacedLink):
        return None
    return DriverPace(link)


@contextmanager
def _open_host(setup: DriveSetup, doors: str) -> Iterator[tuple[Host, Plant]]:
    assert setup.world is not None
    plant = build_world(setup.simulator, setup.world, setup.serve)
    host = build_host(setup.simulator, plant, setup.serve, doors)
    host.open(0.0)
    try:
        yield host, plant
    finally:
        host.close()


@contextmanager
def _run_host_process(setup: DriveSetup, doors: str) -> Iterator[tuple["subprocess.Popen[str]", JsonObject]]:
    """Run `trailbrake serve` in a process of its own; the dict holds its --json report on leaving."""
    site = setup.site
    command = [
        sys.executable, "-m", "trailbrake", "serve", site.sim, "--json", "--speed=real", f"--track={site.track}",
        f"--car={site.car}", f"--seed={site.seed}", *(f"--world={pair}" for pair in site.conditions),
        *_serve_flags(setup.serve),
        *(["--view=page"] if setup.camera is not None and setup.camera.kind == "world" else []),
    ]  # fmt: skip
    # In a group of its own: the host must outlive the safe stop.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TRAILBRAKE_SHM": doors, CHILD_VARIABLE: "1"}, **process_group_options(),
    )  # fmt: skip
    report: JsonObject = {}
    try:
        _await_ready(process)
        yield process, report
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()  # requests its end
        try:
            process.wait(HOST_EXIT)
            report.update(json.loads(process.stdout.read() or "{}"))
        except (subprocess.TimeoutExpired, ValueError):
            process.kill()
            process.wait()
        process.stdout.close()


def _serve_flags(options: object) -> list[str]:
    """Return the flags of `serve` for what differs from the defaults of `options`' class."""
    assert is_dataclass(options)
    assert not isinstance(options, type)
    flags = []
    values = asdict(options)
    for item in fields(options):
        value, name = values[item.name], item.name.replace("_", "-")
        if value != item.default:
            flags.append(f"--{name}" if value is True else f"--no-{name}" if value is False else f"--{name}={value}")
    return flags


def _await_ready(process: "subprocess.Popen[str]") -> None:
    """Return when the host says ready; pass its other lines on, now and later."""
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        if line.startswith("ready "):
            threading.Thread(target=_forward_output, args=(process.stderr,), daemon=True).start()
            return
        lines.append(line.strip())
        print(line, end="", file=sys.stderr, flush=True)
    process.stderr.close()
    process.wait()
    raise SimulatorError("the host process ended before it was ready", got=lines[-1] if lines else "nothing said")


def _forward_output(stream: TextIO) -> None:
    with stream:
        for line in stream:
            print(line, end="", file=sys.stderr, flush=True)
