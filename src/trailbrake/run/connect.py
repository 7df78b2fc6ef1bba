"""Opens a link for a drive: to the embedded world in lockstep or in real time, or to a live simulator."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from trailbrake.errors import SimulatorError, UsageError, near
from trailbrake.roles import Driver, Link
from trailbrake.run import rate
from trailbrake.run.children import own_group
from trailbrake.run.loop import Lockstep, Pace, RealTime
from trailbrake.run.options import DriveOptions, WorldOptions
from trailbrake.run.punctual import punctual
from trailbrake.run.serve import build_host
from trailbrake.run.signals import CHILD
from trailbrake.run.worlds import build_world
from trailbrake.sims import registry

HOST_EXIT = 5.0  # s that a host process may take to end when asked


@dataclass
class Connection:
    """Open links, one per car, what makes their samples come, and what the other end says when it is over.

    Where the host is in this process, `host_now` tells the same while the drive goes on; `plant` is the world itself.
    """

    links: list[Link]
    pace: Pace
    host_report: dict[str, Any] = field(default_factory=dict)
    host_now: Callable[[], dict[str, Any]] = dict
    plant: Any = None

    @property
    def link(self) -> Link:
        """The first car's."""
        return self.links[0]


@contextmanager
def connected(options: DriveOptions, live: Any, stopped: Callable[[], bool]) -> Iterator[Connection]:
    """Connect as `options` say; on leaving, release the controls and close every door.

    Args:
        options: which simulator, embedded or live, at which pace.
        live: the simulator's `spec.LiveOptions`.
        stopped: whether the user has asked to stop; ends the wait for a simulator.

    Raises:
        SimulatorError: the simulator is not there, refuses, or another host has the doors.
        KeyboardInterrupt: `stopped` while there was no simulator yet.
    """
    options = options.named()
    if options.live:
        opened = _live(options, live, stopped)
    elif options.speed == "max":
        opened = _lockstep(options, live)
    else:
        opened = _beside(options, live, stopped)
    with opened as connection:
        yield connection


@contextmanager
def _live(options: DriveOptions, live: Any, stopped: Callable[[], bool]) -> Iterator[Connection]:
    with punctual(), _links(options, live, None, nap(stopped)) as links:
        yield Connection(links, RealTime())


@contextmanager
def _lockstep(options: DriveOptions, live: Any) -> Iterator[Connection]:
    with private_folder() as doors, _host(options, live, doors) as (host, plant):
        spec = registry.part(options.sim, "spec")
        pace = Lockstep(host.tick, spec.period(embedded(options, live)))
        with _links(options, live, doors, pace.step) as links:
            connection = Connection(links, pace, host_now=host.counters, plant=plant)
            yield connection
        connection.host_report.update(host.counters())


@contextmanager
def _beside(options: DriveOptions, live: Any, stopped: Callable[[], bool]) -> Iterator[Connection]:
    with (
        punctual(),
        private_folder() as doors,
        _host_process(options, live, doors) as (process, host_report),
        _links(options, live, doors, nap(stopped)) as links,
    ):

        def gone() -> str:
            return "" if process.poll() is None else f"the host process ended, exit code {process.returncode}"

        yield Connection(links, RealTime(gone), host_report)


def nap(stopped: Callable[[], bool]) -> Callable[[], float]:
    """Return what lets a little wall time pass while a simulator gets ready."""

    def a_little() -> float:
        if stopped():
            raise KeyboardInterrupt
        return rate.sleep_until(rate.now() + 0.005)

    return a_little


@contextmanager
def private_folder() -> Iterator[str]:
    """Make a folder for doors that nobody else knows; UsageError where there is no room for one."""
    # The shared-memory file system where there is one: page writes never touch a disk.
    base = os.environ.get("TRAILBRAKE_SHM") or ("/dev/shm" if Path("/dev/shm").is_dir() else None)
    try:
        folder = tempfile.mkdtemp(prefix="trailbrake-", dir=base)
    except OSError as error:
        raise UsageError(
            f"cannot make a folder for the pages: {error.strerror}",
            where=str(base),
            hint="make it, or set TRAILBRAKE_SHM",
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _links(options: DriveOptions, live: Any, doors: str | None, idle: Callable[[], float]) -> Iterator[list[Link]]:
    part = registry.part(options.sim, "link")
    spec = registry.part(options.sim, "spec")
    links: list[Link] = []
    with ExitStack() as doors_closed:
        for car in range(options.cars):
            link: Link = part.Link(spec.seat(live, car) if car else live, doors=doors, idle=idle)
            doors_closed.callback(link.close)
            link.open(idle())
            links.append(link)
        yield links
        for link in links:
            link.release()


def for_driver(options: DriveOptions, driver: Driver) -> DriveOptions:
    """Return `options` with the embedded simulator's steering as `driver` means its steer.

    A driver with `STICK = True` answers the stick of a pad, which games turn into less and less of the lock as the
    car gets faster; where an embedded simulator can do so too, it does, unless the user has said otherwise.
    """
    known = {item.name for item in fields(registry.part(options.sim, "spec").ServeOptions)}
    if getattr(driver, "STICK", False) and "steering" in known:
        return replace(options, host=("steering=pad", *options.host))
    return options


def embedded(options: DriveOptions, live: Any) -> Any:
    """Return the ServeOptions of a world behind a drive whose links have the LiveOptions `live`.

    Raises:
        UsageError: `options.host` names an option that this simulator does not have, or a value that it cannot have.
    """
    import msgspec

    spec = registry.part(options.sim, "spec")
    base = spec.embedded(live, options.cars) if hasattr(spec, "embedded") else spec.ServeOptions()
    known = [item.name for item in fields(base)]
    values = {}
    for pair in options.host:
        name, given, value = pair.partition("=")
        name = name.replace("-", "_")
        if not given or name not in known:
            raise UsageError("no such option of the embedded simulator", where=f"--host {pair}",
                             expected="KEY=VALUE", hint=near(name, known))  # fmt: skip
        values[name] = value
    try:
        asked = msgspec.convert(values, type(base), strict=False)  # not strict: numbers come as text
    except msgspec.ValidationError as error:
        raise UsageError(str(error), where=f"--host {' '.join(options.host)}") from error
    return replace(base, **{name: getattr(asked, name) for name in values})


@contextmanager
def _host(options: DriveOptions, live: Any, doors: str) -> Iterator[tuple[Any, Any]]:
    world = WorldOptions(track=options.track, car=options.car, seed=options.seed, speed="max")
    plant = build_world(options.sim, world, embedded(options, live))
    host = build_host(options.sim, world, embedded(options, live), doors, plant)
    host.open(0.0)
    try:
        yield host, plant
    finally:
        host.close()


@contextmanager
def _host_process(
    options: DriveOptions, live: Any, doors: str
) -> Iterator[tuple["subprocess.Popen[str]", dict[str, Any]]]:
    """Run `trailbrake serve` in a process of its own; the dict holds its --json report on leaving."""
    command = [
        sys.executable, "-m", "trailbrake", "serve", options.sim, "--json", "--speed=real", f"--track={options.track}",
        f"--car={options.car}", f"--seed={options.seed}", *_flags(embedded(options, live)),
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TRAILBRAKE_SHM": doors, CHILD: "1"}, **own_group(),  # the host must outlive the safe stop
    )  # fmt: skip
    report: dict[str, Any] = {}
    try:
        _await_ready(process)
        yield process, report
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()  # asks it to end
        try:
            process.wait(HOST_EXIT)
            report.update(json.loads(process.stdout.read() or "{}"))
        except (subprocess.TimeoutExpired, ValueError):
            process.kill()
            process.wait()
        process.stdout.close()


def _flags(options: Any) -> list[str]:
    """Return the flags of `serve` that say what differs from the defaults of `options`' class."""
    flags = []
    for item in fields(options):
        value, name = getattr(options, item.name), item.name.replace("_", "-")
        if value != item.default:
            flags.append(f"--{name}" if value is True else f"--no-{name}" if value is False else f"--{name}={value}")
    return flags


def _await_ready(process: "subprocess.Popen[str]") -> None:
    """Return when the host says ready; pass its other lines on, now and later."""
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        if line.startswith("ready "):
            threading.Thread(target=_pass_on, args=(process.stderr,), daemon=True).start()
            return
        lines.append(line.strip())
        print(line, end="", file=sys.stderr, flush=True)
    process.stderr.close()
    process.wait()
    raise SimulatorError("the host process ended before it was ready", got=lines[-1] if lines else "nothing said")


def _pass_on(stream: Any) -> None:
    with stream:
        for line in stream:
            print(line, end="", file=sys.stderr, flush=True)
