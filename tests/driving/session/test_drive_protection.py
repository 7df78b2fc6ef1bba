"""A driver that hangs, over the real wire: what the page of its controls says, read by a stranger."""

import signal
import struct
import sys
from contextlib import contextmanager

import pytest
from helpers.processes import command
from helpers.waiting import HANG, wait_for

from trailbrake.record.recording_reader import Recording

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals")]
# s; 0.3 s on a quiet machine, the guard's 1 s and its start besides; a drive ends 10 s after its driver has hung
BRAKED, ENDED = 8.0, 60.0
DRIVER = """
import re, time
from trailbrake import Controls
from trailbrake.driving.loop import driver_watchdog
class Driver:
    NEEDS = frozenset({"speed"})
    def reset(self, course): pass
    def act(self, state, dt):
        if state.speed > 8.0:
            print("hangs", flush=True)
            %s
        return Controls(throttle=1.0, gear=2)
"""


# Ends after 3 s instead of 10: less to wait for.
ENDLESS = """driver_watchdog.END_S = 3.0
            while True: pass"""


@contextmanager
def hanging_drive(tmp_path, body, *words, driver=DRIVER):
    """Serve a world and drive in it with a driver that does `body` at 8 m/s; yields the drive when it does."""
    own = tmp_path / "own.py"
    own.write_text(driver % body)
    with command("serve", "assetto", "--track=proving_ground", "--no-classic", shm=tmp_path) as host:
        host.until("ready ")
        flags = ["--live", "--track=proving_ground", "--car=gt3", "--laps=0", "--no-report", "--json", *words]
        with command("drive", *flags, f"--driver={own}", f"--out={tmp_path}", shm=tmp_path) as drive:
            drive.until("hangs")
            yield drive
        host.process.send_signal(signal.SIGTERM)
        assert host.end() == 0


def read_pedals(folder):
    """Return throttle and brake on the controls page, by its document: two floats at its beginning; None: no page."""
    pages = [path for path in folder.glob("*CarControls*") if not path.name.endswith(".lock")]
    try:
        return struct.unpack_from("<2f", pages[0].read_bytes())
    except (IndexError, FileNotFoundError, struct.error):
        return None


def wait_for_brake(folder, limit=BRAKED):
    """Wait until the page says no throttle and brake."""
    wait_for(lambda: (pedals := read_pedals(folder)) is not None and pedals[0] <= 0.0 and pedals[1] >= 0.5, limit)


def read_sim_state(folder):
    """Return pause and sleep (ms) of both SimState pages, and the time scale of v1, by their document; or None."""
    try:
        old, new = ((folder / f"AcTools.CSP.NewBehaviour.CustomAI.SimState.{v}").read_bytes() for v in ("v0", "v1"))
    except FileNotFoundError:
        return None
    return old[0], old[3], new[0], new[3], *struct.unpack_from("<f", new, 4)


HOLDER = """
import time
from trailbrake import Controls
from trailbrake.state import SimCommand
class Driver:
    NEEDS = frozenset({"speed"})
    COMMANDS = frozenset({"pause"})
    def reset(self, course):
        print("hangs", flush=True)
    def act(self, state, dt):
        %s
"""


@pytest.mark.parametrize(
    ("body", "pace", "is_held"),
    [
        ("time.sleep(0.1); return Controls(throttle=1.0, gear=1)", "driver", lambda page: min(page[1], page[3]) > 50),
        ("return Controls(command=SimCommand(pause=True))", "simulator", lambda page: page[::2] == (1, 1, 1.0)),
    ],
    ids=["slowed", "paused"],
)
def test_a_killed_client_leaves_the_simulation_at_its_own_pace(tmp_path, body, pace, is_held):
    with hanging_drive(tmp_path, body, f"--pace={pace}", driver=HOLDER) as drive:
        wait_for(lambda: (page := read_sim_state(tmp_path)) is not None and is_held(page))
        drive.process.kill()
        wait_for(lambda: read_sim_state(tmp_path) == (0, 0, 0, 0, 1.0))
        wait_for_brake(tmp_path)


def test_an_endless_loop_is_braked_for_and_ends_the_drive(tmp_path):
    with hanging_drive(tmp_path, ENDLESS) as drive:
        wait_for_brake(tmp_path)
        drive.until("the driver has not answered for 0.3 s: braking")
        assert drive.end(ENDED) == 1
        assert drive.summary["ended"] == f"the driver has not answered for 3 s, at {tmp_path}/own.py:12"
        assert drive.summary["supervisor"]["hung"] == 1
        assert drive.summary["recording_error"] == ""


def test_a_driver_that_sleeps_is_braked_for_and_the_first_interrupt_ends_the_drive(tmp_path):
    with hanging_drive(tmp_path, f"driver_watchdog.END_S = 600.0; {HANG}") as drive:
        wait_for_brake(tmp_path)
        drive.process.send_signal(signal.SIGINT)
        assert drive.end(ENDED) == 0
        assert drive.summary["ended"] == "interrupted"
        assert drive.summary["recording_error"] == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no signal of Windows is another thread's")
def test_an_interrupt_that_another_thread_got_ends_the_drive(tmp_path):
    own = "__import__('signal').pthread_kill(__import__('threading').get_ident(), 2)"
    with hanging_drive(tmp_path, f"__import__('threading').Timer(0.5, lambda: {own}).start(); {HANG}") as drive:
        wait_for_brake(tmp_path)
        assert drive.end(5.0) == 0  # sooner than a driver that does not answer
        assert drive.summary["ended"] == "interrupted"


def test_a_call_that_keeps_the_interpreter_is_ended_by_the_guard_with_the_brake_on(tmp_path):
    with hanging_drive(tmp_path, "re.match('(a+)+$', 'a' * 40 + 'b')") as drive:
        wait_for_brake(tmp_path, ENDED)  # 1.1 s on a quiet machine; a busy one must be sure that the drive may run
        drive.until("trailbrake: the driver has kept the interpreter")
        assert drive.end(ENDED) == -signal.SIGKILL
        assert read_pedals(tmp_path)[1] > 0.5
        (recording,) = tmp_path.glob("*.mcap")
        assert Recording.open(recording).state["speed"][-1] > 2.0


# What a driver does once to the process that it shares with the drive.
INTRUDER = """
import os, signal, sys, threading, time
from trailbrake import Controls
class Driver:
    NEEDS = frozenset({"speed"})
    quick = 0  # ticks above 8 m/s
    def reset(self, course): pass
    def act(self, state, dt):
        self.quick += state.speed > 8.0
        if self.quick == 1:
            %s
        elif self.quick == 60:  # 0.18 s later: handlers are looked at 20 times a second
            print("hangs", flush=True)
        return Controls(throttle=1.0, gear=2)
"""


@pytest.mark.parametrize(
    "name", ["SIGINT", *(pytest.param(n, marks=pytest.mark.faults) for n in ("SIGTERM", "SIGHUP"))]
)
def test_a_handler_that_a_driver_sets_runs_after_ours(tmp_path, name):
    own = f"signal.signal(signal.{name}, lambda number, frame: print('the driver heard', number, flush=True))"
    with hanging_drive(tmp_path, own, driver=INTRUDER) as drive:
        drive.process.send_signal(getattr(signal, name))
        assert drive.end(ENDED) == 0
        assert drive.summary["ended"] == "interrupted"
        assert f"the driver heard {getattr(signal, name).value}" in drive.said


def test_a_thread_of_a_driver_does_not_keep_the_process(tmp_path):
    own = "threading.Thread(target=time.sleep, args=(600.0,), name='worker').start()"
    with hanging_drive(tmp_path, own, driver=INTRUDER) as drive:
        drive.process.send_signal(signal.SIGINT)
        assert drive.end(ENDED) == 0
        assert f"{tmp_path}/own.py has left threads that do not end: worker" in drive.said


def test_a_driver_that_closes_all_files_leaves_a_braked_car(tmp_path):
    with hanging_drive(tmp_path, "os.closerange(3, 4096); print('hangs', flush=True)", driver=INTRUDER) as drive:
        wait_for_brake(tmp_path)
        assert drive.end(ENDED) == 2
        line = "a file or socket of the drive was closed, as os.closerange does: the drive ends"
        assert f"trailbrake: {tmp_path}/own.py: {line}" in drive.said
        assert read_pedals(tmp_path)[1] > 0.5


def test_a_copy_of_the_process_that_a_driver_makes_does_not_drive(tmp_path):
    with hanging_drive(tmp_path, "os.fork()", driver=INTRUDER) as drive:
        drive.process.send_signal(signal.SIGINT)
        assert drive.end(ENDED) == 0
        assert drive.summary["ended"] == "interrupted"
        assert f"trailbrake: {tmp_path}/own.py has called os.fork: the copy of the drive ends" in drive.said
