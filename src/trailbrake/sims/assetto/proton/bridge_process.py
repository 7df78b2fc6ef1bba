"""Runs the Proton bridge: finds the game's prefix, its Proton and a Windows Python, and keeps the bridge running.

Source: protocol page assetto-custom-ai, section 9. The file `config_info` of a prefix names its Proton.
"""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from trailbrake.errors import SimulatorError, TrailbrakeError, UsageError
from trailbrake.sims.assetto.install import installation
from trailbrake.sims.assetto.proton import page_bindings, windows_bridge
from trailbrake.system import steady_clock
from trailbrake.user_files import is_regular_file, read_user_file

POLL_S = 0.02  # s between polls
READY_S = 60.0  # s until the bridge's first heartbeat: the first start of a prefix may take long
SILENT_S = 5.0  # s without a heartbeat after which the bridge counts as dead
END_S = 3.0  # s that it has to end after a request
_MIN_LIFE_S = 5.0  # a bridge that ends sooner ...
_MAX_SHORT_LIVES = 3  # ... so often in a row is not started again
_PYTHON = Path("windows-python", "python.exe")  # in our folder of user data
_PROTON_LINE = re.compile(r"^(.*)/(?:files|dist)/")


@dataclass(frozen=True)
class PrefixRunner:
    """How to run a Windows program in the prefix.

    Attributes:
        command: the words before the program.
        environ: variables to add to the environment.
        prefix: its folder, for messages.
    """

    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""


def find_prefix_runner(root: Path | None, prefix: Path | None, wine: Path | None) -> PrefixRunner:
    """Return how to run programs in the game's prefix.

    Args:
        root: the game's folder, as for `installation.find_installation`.
        prefix: a prefix of another wine than Steam's; then `wine` runs it.
        wine: that program; None for `wine` as found in PATH.

    Raises:
        UsageError: no game, or its Proton cannot be found.
    """
    if prefix is not None:
        if not (prefix / "drive_c").is_dir():
            raise UsageError("no prefix of wine here", where=f"--prefix {prefix}", expected="a folder with drive_c")
        return PrefixRunner((str(wine or "wine"),), {"WINEPREFIX": str(prefix)}, str(prefix))
    library = installation.find_installation(root).root.parent.parent.parent
    data = library / "steamapps" / "compatdata" / installation.APP_ID
    config = data / "config_info"
    try:
        lines = read_user_file(config, "settings of Proton").decode("utf-8", "replace").splitlines()
    except TrailbrakeError:
        lines = []
    for line in lines:
        found = _PROTON_LINE.match(line)
        program = Path(found[1], "proton") if found else None
        if program is not None and is_regular_file(program):
            return PrefixRunner(
                (str(program), "runinprefix"),
                {"STEAM_COMPAT_DATA_PATH": str(data), "STEAM_COMPAT_CLIENT_INSTALL_PATH": str(library)},
                str(data / "pfx"),
            )
    raise UsageError(
        "the Proton of the game's prefix is not to be found", where=str(config), expected="the path of a Proton in it",
        hint="start the game by Steam once; or name a prefix by --prefix and its program by --wine",
    )  # fmt: skip


def find_windows_python(named: Path | None) -> Path:
    """Return the Windows Python that runs the bridge; UsageError if there is none."""
    own = Path(platformdirs.user_data_dir("trailbrake", appauthor=False)) / _PYTHON
    chosen = (named or own).expanduser()
    if not chosen.is_file():
        raise UsageError(
            "no Windows Python to run the bridge by", where=str(chosen), expected="python.exe",
            hint=f"unpack python.org's \"Windows embeddable package (64-bit)\" of 3.12 into {own.parent}, "
            "or name one by --python",
        )  # fmt: skip
    return chosen


def windows_path(path: Path) -> str:
    """Return the name of `path` inside the prefix, where drive Z: is the root."""
    return "Z:" + str(path.absolute()).replace("/", "\\")


class BridgeProcess:
    """The bridge's process, which is started again when it ends.

    Args:
        start: starts the process.
        read_heartbeat: returns the bridge's heartbeat.
        say: receives lines for the user.
    """

    def __init__(
        self,
        start: Callable[[], "subprocess.Popen[bytes]"],
        read_heartbeat: Callable[[], int],
        say: Callable[[str], None],
    ) -> None:
        self._start, self._read_heartbeat, self._say = start, read_heartbeat, say
        self._process = start()
        self._short_lives = 0
        self._output = b""
        self._mark_started(0.0)

    def _mark_started(self, now: float) -> None:
        self._started_at = self._heartbeat_at = now
        self._heartbeat = self._read_heartbeat()
        self._alive = False
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def check_alive(self, now: float) -> None:
        """Start the bridge again if it has ended or does not answer. `now`: s of a steady clock that began at 0.

        Raises:
            SimulatorError: it ends each time as soon as it is started.
        """
        self._drain_output()
        beats, code = self._read_heartbeat(), self._process.poll()
        if beats != self._heartbeat:
            self._heartbeat, self._heartbeat_at = beats, now
            if not self._alive:
                self._alive, self._output = True, b""
                self._say("the bridge runs")
        # The process may be a shell around the program inside: only the heartbeat counts.
        silent = now - self._heartbeat_at > (SILENT_S if self._alive else READY_S)
        if not silent and (code is None or (self._alive and now - self._heartbeat_at < 0.5)):
            return
        why = f"exit code {code}" if code is not None else "it says nothing any more"
        self._short_lives = self._short_lives + 1 if now - self._started_at < _MIN_LIFE_S else 0
        self.kill_process()
        if self._short_lives >= _MAX_SHORT_LIVES:
            lines = self._output.decode(errors="replace").split("\n")
            raise SimulatorError(
                f"the bridge does not stay: {why}", got=next((s for s in reversed(lines) if s.strip()), "nothing said"),
                hint="its program and its prefix must fit; `wineserver` of the game's own Proton must answer",
            )  # fmt: skip
        self._say(f"the bridge has ended ({why}): it is started again")
        self._process = self._start()
        self._mark_started(now)

    def _drain_output(self) -> None:
        assert self._process.stdout is not None
        # Read although it is rarely shown: a full pipe would stop the bridge.
        self._output = (self._output + (self._process.stdout.read() or b""))[-2000:]

    def await_exit(self) -> None:
        """Wait for it to end after a stop request; kill it if it does not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        self.kill_process()

    def kill_process(self) -> None:
        """Kill the process."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def run_bridge(
    runner: PrefixRunner, python: Path, cars: int, *, clients: bool, wait: Callable[[float], object] = time.sleep
) -> Iterator[str]:
    """Bridge until interrupted; the values are lines for the user.

    Args:
        runner: how to run programs in the prefix.
        python: a Windows Python.
        cars: number of cars to bridge.
        clients: the programs in the prefix are clients, not the game.
        wait: lets so many s pass; its KeyboardInterrupt ends the bridge.

    Raises:
        SimulatorError: another bridge runs, or this one cannot be started.
    """
    lines: list[str] = []
    bindings = page_bindings.PageBindings(page_bindings.list_bridged_pages(cars, clients=clients), lines.append)
    bindings.open()
    script = windows_path(Path(windows_bridge.__file__))
    command = [*runner.command, str(python), script, windows_path(bindings.staging)]

    def start() -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                # Pipes and the null device: a Windows Python under wine does not start with anything else.
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, **runner.environ}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise SimulatorError(
                f"the bridge cannot be started: {error.strerror}", where=command[0], hint="name the program by --wine"
            ) from error

    process = None
    began = steady_clock.now()
    ready = False
    try:
        process = BridgeProcess(start, bindings.read_heartbeat, lines.append)
        while True:
            bindings.poll_changes()
            process.check_alive(steady_clock.now() - began)
            if not ready and bindings.all_settled:
                ready = True
                others = "clients in" if clients else "the game in"
                lines.append(f"ready: {bindings.bound_count} pages tied for {others} {runner.prefix}; Ctrl-C ends it")
            yield from lines
            lines.clear()
            wait(POLL_S)
    except KeyboardInterrupt:
        yield "the bridge ends"
    finally:
        bindings.request_stop()
        if process is not None:
            process.await_exit()
        bindings.close()
