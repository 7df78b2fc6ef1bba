"""Runs the Proton bridge: finds the game's prefix, its Proton and a Windows Python, starts the half inside, watches it.

Source: protocol page assetto-custom-ai, section 9. Which Proton a prefix belongs to is read from its `config_info`.
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

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.assetto import bridge, bridged, install

LOOK_S = 0.02  # s between looks
READY_S = 60.0  # s for the bridge's first sign of life: the first start of a prefix may take long
SILENT_S = 5.0  # s without a beat after which a bridge is taken for dead
END_S = 3.0  # s for it to end when asked
_LEAST_LIFE = 5.0  # s; a bridge that ends sooner, ...
_TRIES = 3  # ... so often in a row, is not started again
_PYTHON = Path("windows-python", "python.exe")  # in our folder of user data
_DIST = re.compile(r"^(.*)/(?:files|dist)/")


@dataclass(frozen=True)
class Runner:
    """How to run a Windows program in the prefix.

    Attributes:
        command: what stands before the program.
        environ: added to the environment.
        prefix: its folder, for people.
    """

    command: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""


def runner(root: Path | None, prefix: Path | None, wine: Path | None) -> Runner:
    """Return how to run programs in the game's prefix.

    Args:
        root: the game's folder, as for `install.find`.
        prefix: a prefix of another wine than Steam's; then `wine` runs it.
        wine: that program; None for `wine` as found in PATH.

    Raises:
        UsageError: no game, or its Proton is not to be found.
    """
    if prefix is not None:
        if not (prefix / "drive_c").is_dir():
            raise UsageError("no prefix of wine here", where=f"--prefix {prefix}", expected="a folder with drive_c")
        return Runner((str(wine or "wine"),), {"WINEPREFIX": str(prefix)}, str(prefix))
    library = install.find(root).root.parent.parent.parent
    data = library / "steamapps" / "compatdata" / install.APP_ID
    told = data / "config_info"
    try:
        lines = told.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        found = _DIST.match(line)
        program = Path(found[1], "proton") if found else None
        if program is not None and program.is_file():
            return Runner(
                (str(program), "runinprefix"),
                {"STEAM_COMPAT_DATA_PATH": str(data), "STEAM_COMPAT_CLIENT_INSTALL_PATH": str(library)},
                str(data / "pfx"),
            )
    raise UsageError(
        "the Proton of the game's prefix is not to be found", where=str(told), expected="the path of a Proton in it",
        hint="start the game by Steam once; or name a prefix by --prefix and its program by --wine",
    )  # fmt: skip


def windows_python(named: Path | None) -> Path:
    """Return the Windows Python to run the bridge by; UsageError where there is none."""
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
    """Return how a program in the prefix names `path`: drive Z: is the root."""
    return "Z:" + str(path.absolute()).replace("/", "\\")


class Watched:
    """The bridge's process, started again when it ends.

    Args:
        start: starts it.
        look: returns how far its beats are.
        say: takes a line for the user.
    """

    def __init__(
        self, start: Callable[[], "subprocess.Popen[bytes]"], look: Callable[[], int], say: Callable[[str], None]
    ) -> None:
        self._start, self._look, self._say = start, look, say
        self._process = start()
        self._short_lives = 0
        self._said = b""
        self._began(0.0)

    def _began(self, now: float) -> None:
        self._started_at = self._beat_at = now
        self._beats = self._look()
        self._alive = False
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def look(self, now: float) -> None:
        """See to it that the bridge runs. `now`: s of a steady clock that began at 0.

        Raises:
            SimulatorError: it ends as soon as it is started.
        """
        self._listen()
        beats, code = self._look(), self._process.poll()
        if beats != self._beats:
            self._beats, self._beat_at = beats, now
            if not self._alive:
                self._alive, self._said = True, b""
                self._say("the bridge runs")
        # The process may be a shell around the program inside: its beats are what counts.
        silent = now - self._beat_at > (SILENT_S if self._alive else READY_S)
        if not silent and (code is None or (self._alive and now - self._beat_at < 0.5)):
            return
        why = f"exit code {code}" if code is not None else "it says nothing any more"
        self._short_lives = self._short_lives + 1 if now - self._started_at < _LEAST_LIFE else 0
        self.kill()
        if self._short_lives >= _TRIES:
            lines = self._said.decode(errors="replace").split("\n")
            raise SimulatorError(
                f"the bridge does not stay: {why}", got=next((s for s in reversed(lines) if s.strip()), "nothing said"),
                hint="its program and its prefix must fit; `wineserver` of the game's own Proton must answer",
            )  # fmt: skip
        self._say(f"the bridge has ended ({why}): it is started again")
        self._process = self._start()
        self._began(now)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        # Read even if nobody wants it: a full pipe would stop the bridge.
        self._said = (self._said + (self._process.stdout.read() or b""))[-2000:]

    def wait(self) -> None:
        """Wait for it to end by itself, which it was asked for; else kill it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        self.kill()

    def kill(self) -> None:
        """End it."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def run(
    runs: Runner, python: Path, cars: int, *, clients: bool, wait: Callable[[float], object] = time.sleep
) -> Iterator[str]:
    """Bridge until interrupted; the values are lines for the user.

    Args:
        runs: how to run programs in the prefix.
        python: a Windows Python.
        cars: how many may be bridged.
        clients: the programs in the prefix are clients, not the game.
        wait: lets so many s pass; KeyboardInterrupt from it ends the bridge.

    Raises:
        SimulatorError: another bridge is there, or this one cannot be started.
    """
    said: list[str] = []
    ropes = bridged.Ropes(bridged.pages(cars, clients=clients), said.append)
    ropes.open()
    script = windows_path(Path(bridge.__file__))
    command = [*runs.command, str(python), script, windows_path(ropes.staging)]

    def start() -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                # Pipes and the null device: a Windows Python under wine does not start with anything else.
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, **runs.environ}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise SimulatorError(
                f"the bridge cannot be started: {error.strerror}", where=command[0], hint="name the program by --wine"
            ) from error

    watched = None
    began = time.monotonic()
    ready = False
    try:
        watched = Watched(start, ropes.beats, said.append)
        while True:
            ropes.look()
            watched.look(time.monotonic() - began)
            if not ready and ropes.settled:
                ready = True
                others = "clients in" if clients else "the game in"
                said.append(f"ready: {ropes.tied} pages tied for {others} {runs.prefix}; Ctrl-C ends it")
            yield from said
            said.clear()
            wait(LOOK_S)
    except KeyboardInterrupt:
        yield "the bridge ends"
    finally:
        ropes.stop()
        if watched is not None:
            watched.wait()
        ropes.close()
