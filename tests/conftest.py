"""Fixtures that several parts share."""

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import hear_all_signals
from hypothesis import HealthCheck, settings

# Several processes run tests: threads of the linear algebra library would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Bytecode is kept, whatever the shell says: all processes of a run read the same modules, and rewriting the assertions
# of the tests takes longer than everything else that precedes them.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

hear_all_signals()

# No line that a user keeps takes part in a test.
os.environ["TRAILBRAKE_LINES"] = str(Path(tempfile.gettempdir()) / f"trailbrake-lines-{os.getpid()}")

# Seeded, and nothing is asked of the clock: a machine that does something else beside is no failure.
settings.register_profile(
    "seeded", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# `make quick`: fewer of the same examples. The whole command tries all.
settings.register_profile("quick", parent=settings.get_profile("seeded"), max_examples=25)
settings.load_profile("seeded")


COMPILE = """
import os, sys, tempfile
from trailbrake.cli.main import run_command_line

with tempfile.TemporaryDirectory() as folder:
    os.environ["TRAILBRAKE_SHM"] = os.environ["TRAILBRAKE_RECORDINGS"] = folder
    for line in sys.argv[1:]:
        run_command_line(line.split())
"""
# Two processes: the first plans a line while the other one has compiled the world, and is there last.
COMPILED = (
    ("drive --seconds=0.3 --no-report",),
    ("serve assetto --seconds=0.05", "drive --sim=trend --seconds=0.3 --no-report"),
)
# Places with the most work, by their processor time: tests of one place share what they have driven.
LONGEST = (
    "coaching", "evaluate/overtaking", "driving/test_golden_drives.py", "env/test_cuda.py", "learning/test_gps_laps.py",
    "optimal/test_published_problems.py", "drivers/test_line_track.py", "fuzz/test_targets.py",
    "driving/session/test_drive_session.py", "sims/forza/test_drivers_on_the_wire.py",
)  # fmt: skip
# Places that mostly wait for processes at the pace of real time. One process runs them all, while the others compute.
WAITING = (
    "cli/test_main.py", "driving/session/test_drive_protection.py", "driving/session/test_open_connection.py",
    "driving/session/test_session_detection.py", "driving/supervised/test_stalls.py", "driving/test_recovery.py",
    "driving/test_serve.py", "driving/test_stepping.py", "driving/test_unmapped_drives.py",
    "driving/test_world_view.py", "faults/test_matrix.py", "sims/assetto/test_clients.py", "sims/beamng/test_probe.py",
    "sims/trend/test_link.py",
)  # fmt: skip
compilers = pytest.StashKey["list[subprocess.Popen[bytes]]"]()


def pytest_configure(config: pytest.Config) -> None:
    """Compile what all drives need once, while the processes of a run collect: else each would compile it by itself."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput") and _collects_all(config):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        config.stash[compilers] = [
            subprocess.Popen([sys.executable, "-c", COMPILE, *lines], **quiet) for lines in COMPILED
        ]
        for process in config.stash[compilers]:
            config.add_cleanup(process.wait)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Begin when the kernels of a drive are there; those of the miniature world are not needed soon."""
    if compilers in node.config.stash:
        node.config.stash[compilers][0].wait()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let a process that is out of tests take some of another's: else the last minute is one's alone."""
    if config.getoption("dist") != "load":  # somebody has asked for another
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def _collects_all(config: pytest.Config) -> bool:
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Let each process begin at another place, so that it finds the tests of the others' places rewritten."""
    report = yield
    if isinstance(collector, pytest.Directory) and _collects_all(collector.config):
        number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        first = len(report.result) * number // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        report.result[:] = [*report.result[first:], *report.result[:first]]
    return report


@pytest.hookimpl(trylast=True)  # behind those that deselect
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in one order, wherever a process has begun: LONGEST, files of whole drives, the others.

    The first process gets WAITING instead of drives, so that the others have the processor in the meantime; all get
    the same number of tests, in this order: what is left to steal at the end is short.
    """
    if not _collects_all(config):
        return
    tests, count = Path(__file__).parent, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    places, waits = [tests / name for name in LONGEST], {tests / name for name in WAITING}
    longest: list[list[pytest.Item]] = [[] for _ in places]
    waiting: list[pytest.Item] = []
    drives: list[pytest.Item] = []
    quick: list[pytest.Item] = []
    for path, own in groupby(sorted(items, key=lambda item: item.path.parts), key=lambda item: item.path):
        place = next((k for k, place in enumerate(places) if path.is_relative_to(place)), None)
        group = longest[place] if place is not None else waiting if path in waits else drives if path in slow else quick
        group.extend(own)
    computing = max(count - 1, 1)  # processes
    shares = [
        [*chain.from_iterable(longest[k::computing]),
         *drives[k * len(drives) // computing : (k + 1) * len(drives) // computing]]
        for k in range(computing)
    ]  # fmt: skip
    shares = [waiting, *shares] if count > 1 else [waiting + shares[0]]
    total, rest = len(items), iter(quick)
    items.clear()
    for k, share in enumerate(shares, 1):
        items.extend(share)
        items.extend(islice(rest, max(k * total // count - len(items), 0)))


def pytest_collection() -> None:
    """Import without looking for garbage: everything stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep what was imported and collected, some million objects, out of the garbage collector's searches: fewer."""
    gc.freeze()
    gc.set_threshold(10_000, 50, 50)
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data beside the repository; TRAILBRAKE_SHARED names another."""
    folder = Path(os.environ.get("TRAILBRAKE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder
