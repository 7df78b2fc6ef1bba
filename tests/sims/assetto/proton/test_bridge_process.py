"""The Proton bridge: finding what it needs, keeping it alive, and, marked `wine`, the real thing with strangers."""

import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from helpers.assetto import in_prefix
from helpers.assetto.small_world import FakePlant
from helpers.waiting import let_pass, wait_for, wait_until

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.doctor import DoctorOptions, examine
from trailbrake.sims.assetto.host import Host
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.proton import bridge_process, windows_bridge
from trailbrake.state import Controls, Phase

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the bridge's Linux side")

GOLDEN = Path(__file__).parents[3] / "golden/wire/assetto"


def steam(root, config="8.0-4\n{proton}/files/share/fonts/\n"):
    """A library of Steam with the game, its prefix and a Proton."""
    library, program = root / "library", root / "Proton 8.0"
    game = library / "steamapps/common/assettocorsa"
    data = library / "steamapps/compatdata/244210"
    for folder in (game, data, program):
        folder.mkdir(parents=True)
    (game / "acs.exe").touch()
    (program / "proton").touch()
    (data / "config_info").write_text(config.format(proton=program))
    return game, data, program


def test_the_game_s_own_proton(tmp_path):
    game, data, program = steam(tmp_path)
    found = bridge_process.find_prefix_runner(game, None, None)
    assert found.command == (str(program / "proton"), "runinprefix")
    assert found.environ["STEAM_COMPAT_DATA_PATH"] == str(data)
    assert found.prefix == str(data / "pfx")


@pytest.mark.parametrize("config", ["", "8.0-4\n", "8.0-4\n/nowhere/files/share/fonts/\n", "\xff\n/files/\n"])
def test_a_prefix_that_tells_no_proton_is_one_line(tmp_path, config):
    game, _, _ = steam(tmp_path, config)
    with pytest.raises(UsageError, match=r"config_info: the Proton of the game's prefix is not to be found.*--wine"):
        bridge_process.find_prefix_runner(game, None, None)


def test_another_prefix(tmp_path):
    with pytest.raises(UsageError, match="no prefix of wine here, expected a folder with drive_c"):
        bridge_process.find_prefix_runner(None, tmp_path, None)
    (tmp_path / "drive_c").mkdir()
    found = bridge_process.find_prefix_runner(None, tmp_path, Path("/opt/wine/bin/wine"))
    assert found.command == ("/opt/wine/bin/wine",)
    assert found.environ == {"WINEPREFIX": str(tmp_path)}


def test_a_windows_python_is_asked_for_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"no Windows Python to run the bridge by.*embeddable package") as error:
        bridge_process.find_windows_python(None)
    assert "\n" not in str(error.value)
    own = tmp_path / "trailbrake/windows-python/python.exe"
    own.parent.mkdir(parents=True)
    own.touch()
    assert bridge_process.find_windows_python(None) == own


def test_drive_z_is_the_root():
    assert bridge_process.windows_path(Path("/dev/shm/x y")) == r"Z:\dev\shm\x y"


class Beating:
    """A process that is there, for `BridgeProcess`, whose heartbeat the test sets."""

    def __init__(self):
        self.beats, self.started = 0, []

    def start(self):
        self.started.append(subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE))
        return self.started[-1]


def test_a_bridge_that_ends_is_started_again():
    beating, said = Beating(), []
    watched = bridge_process.BridgeProcess(beating.start, lambda: beating.beats, said.append)
    watched.check_alive(30.0)  # a prefix's first start may take long
    beating.beats = 7
    watched.check_alive(31.0)
    assert said == ["the bridge runs"]
    beating.started[0].kill()
    beating.started[0].wait()
    watched.check_alive(31.9)
    assert said[1:] == ["the bridge has ended (exit code -9): it is started again"]
    beating.beats += 1
    watched.check_alive(40.0)
    assert said[2:] == ["the bridge runs"]
    watched.check_alive(44.0)
    assert len(said) == 3
    watched.check_alive(46.0)  # it is there, and has not beaten for 6 s
    assert said[3:] == ["the bridge has ended (it says nothing any more): it is started again"]
    watched.kill_process()
    assert len(beating.started) == 3
    assert all(process.poll() is not None for process in beating.started)


def test_a_bridge_that_cannot_run_is_given_up_with_its_last_words():
    def start():
        process = subprocess.Popen(["sh", "-c", "echo wine: bad prefix; exit 3"], stdout=subprocess.PIPE)
        process.wait()
        return process

    watched = bridge_process.BridgeProcess(start, lambda: 0, lambda text: None)
    with pytest.raises(SimulatorError, match=r"the bridge does not stay: exit code 3, got wine: bad prefix; its"):
        _ = [watched.check_alive(0.1 * now) for now in range(5)]


# ---- With wine: `.ci/windows.py` runs these ----


class Lines:
    """What a process in the prefix says, line by line."""

    def __init__(self, runs, python, *words):
        script = bridge_process.windows_path(Path(in_prefix.__file__))
        self.process = subprocess.Popen(
            [*runs.command, str(python), script, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={**os.environ, **runs.environ},
        )  # fmt: skip
        self._rest = b""

    def wait(self, word, idle=lambda: None, seconds=60.0):
        """Return the words of the next line that begins with `word`, calling `idle` meanwhile."""
        until, heard = time.monotonic() + seconds, []
        while time.monotonic() < until:
            idle()
            while b"\n" in self._rest:
                line, self._rest = self._rest.split(b"\n", 1)
                heard.append(line.decode().split())
                if heard[-1][:1] == [word]:
                    return heard[-1][1:]
            if select.select([self.process.stdout], [], [], 0.001)[0]:
                self._rest += os.read(self.process.stdout.fileno(), 65536)
        raise AssertionError(f"no {word}: {heard[-20:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Bridge:
    """`setup assetto --proton`, in a thread; `said` is what it has said."""

    def __init__(self, runs, python, *, clients):
        self.said, self._end = [], threading.Event()
        self._steps = bridge_process.run_bridge(runs, python, 2, clients=clients, wait=self._wait)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _wait(self, seconds):
        if self._end.wait(seconds):
            raise KeyboardInterrupt

    def _run(self):
        self.said.extend(iter(self._steps))

    def until(self, text, idle=lambda: None, seconds=90.0):
        def has_said():
            idle()
            return any(text in line for line in self.said) or not self._thread.is_alive()

        wait_until(has_said, seconds)
        assert any(text in line for line in self.said), self.said
        self.said[:] = []

    def close(self):
        self._end.set()
        self._thread.join()


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """How to run programs in the prefix, and a folder for the pages."""
    python = Path(os.environ["TRAILBRAKE_WINDOWS_PYTHON"])
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    runs = bridge_process.find_prefix_runner(None, Path(os.environ["WINEPREFIX"]), None)
    yield runs, python
    # One whose Linux side was killed holds its sections until it has seen that it is alone: no other may find them.
    wait_for(lambda: not any(bridges(tmp_path)), windows_bridge.WATCHER_TIMEOUT_S + 10.0, 0.1)


def bridges(folder):
    """The numbers of the processes inside that bridge the pages of `folder`."""
    ours = bridge_process.windows_path(folder).encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        is_bridge = any(word.endswith(b"\\windows_bridge.py") for word in words)
        if is_bridge and any(word.startswith(ours) for word in words):
            yield int(entry.name)


class Clock:
    def __init__(self):
        self.began = time.monotonic()

    def __call__(self):
        let_pass(0.002)
        return time.monotonic() - self.began


@pytest.mark.wine
def test_a_game_in_the_prefix_and_our_link(prefix, tmp_path):
    golden = bytes.fromhex((GOLDEN / "car.hex").read_text())
    between = Bridge(*prefix, clients=False)
    link = game = None
    try:
        between.until("ready")
        game = Lines(*prefix, "game", golden.hex())
        clock = Clock()
        link = Link(spec.LiveOptions(wait=30.0), idle=clock)
        link.open(clock())
        game.wait("taken")
        state = link.read(clock())
        assert state.phase is Phase.DRIVING
        # The same bytes on both sides, one way ...
        assert (tmp_path / spec.car_name(0)).read_bytes()[4:672] == golden[4:]
        # ... and the other.
        link.write(Controls(throttle=0.5, steer=-0.25))
        written = (tmp_path / spec.controls_name(0)).read_bytes()[:72]
        for _ in range(100):
            if game.wait("controls") == [written.hex()]:
                break
        # The bridge dies: the game holds its sections, and the drive goes on.
        os.kill(next(bridges(tmp_path)), 9)
        between.until("started again", lambda: link.read(clock()))
        assert link.read(clock()).phase is Phase.DRIVING
        between.until("the bridge runs", lambda: link.read(clock()))
        sequence = link.read(clock()).sequence
        wait_for(lambda: link.read(clock()).sequence > sequence)
        # The game dies: its last frame reads fine, and stands.
        game.kill()
        wait_for(lambda: link.read(clock()).phase is Phase.LOST)
        # A game that comes again is found.
        game = Lines(*prefix, "game", golden.hex())
        game.wait("taken")
        wait_for(lambda: link.read(clock()).phase is Phase.DRIVING)
    finally:
        if link is not None:
            link.close()
        if game is not None:
            game.kill()
        between.close()
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


@pytest.mark.wine
def test_a_client_in_the_prefix_and_our_host(prefix, tmp_path):
    controls = codec.encode_controls(codec.CarControls(gas=0.5, clutch=1.0, steer=-0.5, autoshift_active=1))
    between = Bridge(*prefix, clients=True)
    said, clock = [], Clock()

    def host():
        made = Host(FakePlant(), spec.ServeOptions(classic=False), say=said.append)
        made.open(clock())
        return made

    def taken():
        serving.tick(clock())
        return serving.cars_with_client[0]

    client = None
    try:
        between.until("ready")
        serving = host()
        for _ in range(40):  # a page that is merely offered takes no car
            assert not taken()
        client = Lines(*prefix, "client", controls.hex())
        (seen,) = client.wait("car", lambda: serving.tick(clock()))
        wait_for(taken)
        assert (tmp_path / spec.controls_name(0)).read_bytes()[:72] == controls
        assert codec.decode_car(bytes.fromhex(seen)).wheels_valid_surface == 15
        wait_for(lambda: (serving.tick(clock()), serving._plant.bodies[0].controls.throttle == 0.5)[1])
        # The host dies: noticed by the client; a new one has the car again.
        dead = serving
        (packet,) = client.wait("stale")
        assert int(packet) > 0
        dead._lock.close()  # what the system does for the dead; its pages stay as they are
        serving = host()
        client.wait("car", lambda: serving.tick(clock()))
        wait_for(taken)
        # The bridge dies: the car is still driven, and the client's end is seen afterwards.
        os.kill(next(bridges(tmp_path)), 9)
        between.until("the bridge runs", lambda: serving.tick(clock()))
        assert taken()
        # The client dies: noticed, said, and the car is given back.
        client.kill()
        between.until("CarControls0.v0: the program in the prefix that had it is gone", lambda: serving.tick(clock()))
        wait_for(lambda: not taken())
        # Another one comes.
        client = Lines(*prefix, "client", controls.hex())
        wait_for(taken)
        serving.close()
    finally:
        if client is not None:
            client.kill()
        between.close()
    assert [path.name for path in tmp_path.iterdir() if spec.public_name(0) not in path.name] == []


@pytest.mark.wine
def test_the_command_is_killed_and_started_again(prefix, tmp_path):
    runs, python = prefix
    golden = bytes.fromhex((GOLDEN / "car.hex").read_text())
    words = ["--proton", f"--prefix={runs.environ['WINEPREFIX']}", f"--python={python}", "--cars=2"]
    command = [sys.executable, "-m", "trailbrake", "setup", "assetto", *words]

    started = []

    def start(tied):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(process)
        lines = iter(process.stdout.readline, "")
        assert "the bridge runs" in next(lines)
        assert f"ready: {tied} pages tied" in next(lines)
        return process

    clock, game = Clock(), None
    link = Link(spec.LiveOptions(wait=30.0), idle=clock)
    try:
        first = start(7)
        game = Lines(*prefix, "game", golden.hex())
        link.open(clock())
        first.kill()
        first.wait()
        assert {f.name: f for f in examine(DoctorOptions(), clock_wait(link, clock))}["bridge"].verdict == "problem"
        second = start(8)  # with the controls that the link has made
        found = {f.name: f for f in examine(DoctorOptions(), clock_wait(link, clock))}
        assert (found["bridge"].verdict, found["bridge"].found) == ("ok", "8 pages tied")
        assert found["car"].verdict == "ok"
        assert link.read(clock()).phase is Phase.DRIVING
        second.send_signal(signal.SIGINT)
        assert second.wait(20.0) == 0
        assert second.stdout.read().splitlines()[-1] == "the bridge ends"
    finally:
        link.close()
        if game is not None:
            game.kill()
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()
    assert list(tmp_path.iterdir()) == []


def clock_wait(link, clock):
    """Let time pass for the doctor, reading on."""

    def wait(seconds):
        until = clock() + seconds
        while (now := clock()) < until:
            link.read(now)

    return wait


def tell(capsys, what, took):
    with capsys.disabled():
        print(f"\n  {what}, us: 5 % {took[0]}, median {took[1]}, 95 % {took[2]}, 99 % {took[3]}, 99.9 % {took[4]}")


@pytest.mark.wine
def test_there_and_back_through_a_served_world(prefix, tmp_path, capsys):
    """The handbrake that the client asks for, until the world shows it as applied: 333 Hz make this 1.5 ms or more."""
    between = Bridge(*prefix, clients=True)
    client = serving = None
    try:
        between.until("ready")
        serving = subprocess.Popen(
            [sys.executable, "-m", "trailbrake", "serve", "assetto", "--no-classic"], stderr=subprocess.PIPE
        )
        assert any(line.startswith(b"ready") for line in serving.stderr)
        client = Lines(*prefix, "echo", "1000", "16:20")
        took = client.wait("round", lambda: let_pass(0.2))
        tell(capsys, "through the bridge, a served world and back", took)
    finally:
        if client is not None:
            client.kill()
        if serving is not None:
            serving.kill()
            serving.wait()
            serving.stderr.close()
        between.close()


@pytest.mark.wine
def test_there_and_back(prefix, tmp_path, capsys):
    """A client in the prefix, and a plain loop on this side that answers what it reads; no assertion on the time."""
    between = Bridge(*prefix, clients=True)
    client = None
    try:
        between.until("ready")
        client = Lines(*prefix, "echo", "20000", "0:0")
        page = tmp_path / spec.controls_name(0)
        wait_for(page.exists)
        with page.open("r+b") as one, (tmp_path / spec.car_name(0)).open("r+b") as other:
            import mmap

            heard, answer = mmap.mmap(one.fileno(), 4096), mmap.mmap(other.fileno(), 4096)
        done = threading.Event()

        def reply():
            while not done.is_set():
                for _ in range(1000):
                    answer[:4] = heard[:4]

        thread = threading.Thread(target=reply)
        thread.start()
        try:
            took = client.wait("round", lambda: let_pass(0.2))
        finally:
            done.set()
            thread.join()
        (last,) = struct.unpack_from("<f", answer)
        assert last == 20000 / 65536
        tell(capsys, "through the bridge and back", took)
        answer.close()
        heard.close()
    finally:
        if client is not None:
            client.kill()
        between.close()


def test_the_board_has_room_for_the_most_cars():
    from trailbrake.sims.assetto import setup
    from trailbrake.sims.assetto.proton import page_bindings

    assert (
        windows_bridge.entry_offset(len(page_bindings.list_bridged_pages(setup.MAX_CARS, clients=True)), 0)
        <= windows_bridge.BOARD_SIZE
    )
