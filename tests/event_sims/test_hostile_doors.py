"""The doors of Socket.IO, TCP and the live page under hostile clients, for as long as wanted.

Not part of the default run: `pytest -m soak -s tests/event_sims/test_hostile_doors.py`, TRAILBRAKE_SOAK_S seconds each
(60). Memory must stay, descriptors be few, and decent clients be served all the while; how quickly, which is printed,
depends on what else the machine does. The limits hold on two cores with forty processes.
"""

import contextlib
import itertools
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request

import pytest
from helpers.gym_donkeycar_client import GymDonkeycarClient
from helpers.hostile_clients import HostileAgent, HostileCrowd, ProcessWatch, print_report
from helpers.ports import free_port
from helpers.waiting import let_pass, wait_until

SECONDS = float(os.environ.get("TRAILBRAKE_SOAK_S", "60"))
MOST_GROWTH_MB = 20.0  # from the first third of the time to its end
MOST_DESCRIPTORS = 250
MOST_LINES = 400  # on standard error: what a person would still look through
pytestmark = [pytest.mark.soak, pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")]


@pytest.fixture(autouse=True)
def many_descriptors():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


class Served:
    """A `trailbrake` whose output goes to files: nobody reads a pipe for an hour."""

    def __init__(self, folder, name, *words, descriptors=1024):
        self.paths = folder / f"{name}.out", folder / f"{name}.err"

        def limit_descriptors():
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        with self.paths[0].open("w") as out, self.paths[1].open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trailbrake", *words],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit_descriptors,
                env={**os.environ, "TRAILBRAKE_SHM": str(folder)},
            )  # fmt: skip

    @property
    def said(self):
        return self.paths[1].read_text()

    def until(self, text, seconds=300.0):
        wait_until(lambda: text in self.said or self.process.poll() is not None, seconds, 0.1)
        assert text in self.said, self.said

    def end(self):
        """Stop it as Ctrl-C does; return its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60.0)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def serving(folder, name, *words):
    made = Served(folder, name, *words)
    try:
        yield made
    finally:
        made.kill()


def check_process(served, watch):
    found = watch.report()
    assert "Traceback" not in served.said, served.said[-2000:]
    assert served.said.count("\n") < MOST_LINES, served.said[-2000:]
    assert found["memory_end_mb"] - found["memory_third_mb"] < MOST_GROWTH_MB, found
    assert found["descriptors_most"] < MOST_DESCRIPTORS, found
    return found


def test_serve_donkeycar(tmp_path):
    port = free_port()
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(
            serving(tmp_path, "serve", "serve", "donkeycar", f"--listen=127.0.0.1:{port}", "--json")
        )
        served.until("ready")
        watch = ProcessWatch(served.process.pid)
        stack.callback(watch.close)
        crowd = HostileCrowd(port, speaks_json=True)
        stack.callback(crowd.close)
        until, waits, gaps, telemetries = time.monotonic() + SECONDS, [], [], 0
        while time.monotonic() < until:
            seen = _drive_for_a_while(port, min(10.0, SECONDS / 4.0))
            waits.append(seen[0])
            gaps.append(seen[1])
            telemetries += seen[2]
        assert served.process.poll() is None, served.said
        figures = check_process(served, watch)
        crowd.close()
        assert served.end() == 0, served.said
    print_report(
        "serve donkeycar", seconds=SECONDS, **figures, hostile=crowd.rounds, visits=len(waits),
        wait_median_s=round(statistics.median(waits), 2), wait_worst_s=round(max(waits), 2),
        gap_median_s=round(statistics.median(gaps), 2), gap_worst_s=round(max(gaps), 2), telemetries=telemetries,
    )  # fmt: skip
    assert statistics.median(waits) < 30.0


def _drive_for_a_while(port, seconds):
    """Drive; return s until the first telemetry, the longest time between two, and their number."""
    began, client = time.monotonic(), None
    arrivals, newest = [], None
    while not arrivals or time.monotonic() < arrivals[0] + seconds:
        assert time.monotonic() < began + 120.0 + seconds, "no telemetry for two minutes"
        try:
            if client is None:
                client = GymDonkeycarClient(port, "warehouse")
            client.receive()
            _check_connection(client.socket)
            if client.telemetry is not newest:
                newest = client.telemetry
                arrivals.append(time.monotonic())
                client.drive_by_line()
        except OSError:  # call again
            if client is not None:
                client.close()
            client = None
        let_pass(0.01)
    client.close()
    gaps = [after - before for before, after in itertools.pairwise(arrivals)]
    return arrivals[0] - began, max(gaps, default=0.0), len(arrivals)


def _check_connection(connection):
    with contextlib.suppress(BlockingIOError):
        if not connection.recv(1, socket.MSG_PEEK):
            raise ConnectionResetError("another client has the place")


def test_agent_of_trend_with_its_live_page(tmp_path):
    port, page = free_port(), free_port()
    with contextlib.ExitStack() as stack:
        drive = stack.enter_context(
            serving(tmp_path, "drive", "drive", "--sim=trend", "--live", f"--listen=127.0.0.1:{port}", "--laps=0",
                    "--driver=wall_follow", "--watch", f"--watch-port={page}", "--no-report", "--no-pictures", "--json",
                    "--wait=600", f"--out={tmp_path}")
        )  # fmt: skip
        drive.until("the page is at")
        simulator = stack.enter_context(
            serving(tmp_path, "serve", "serve", "trend", f"--connect=127.0.0.1:{port}", "--pace=real", "--json")
        )
        wait_until(lambda: _is_served(page) or drive.process.poll() is not None, 300.0, 0.2)
        assert drive.process.poll() is None, drive.said
        drive.until("moving at", seconds=600.0)  # kernels may have to be compiled first, in both processes
        watch = ProcessWatch(drive.process.pid)
        stack.callback(watch.close)
        crowds = [HostileCrowd(port), HostileCrowd(page)]
        for crowd in crowds:
            stack.callback(crowd.close)
        until, answers = time.monotonic() + SECONDS, []
        while time.monotonic() < until:
            began = time.monotonic()
            answers.append(time.monotonic() - began if _is_served(page) else None)
            assert drive.process.poll() is None, drive.said  # now, not after an hour
            let_pass(1.0)
        assert drive.process.poll() is None, drive.said
        assert simulator.process.poll() is None, simulator.said
        figures = check_process(drive, watch)
        for crowd in crowds:
            crowd.close()
        assert drive.end() == 0, drive.said
        assert simulator.end() == 0, simulator.said
        summary = json.loads(drive.paths[0].read_text())
    served = [answer for answer in answers if answer is not None]
    print_report(
        "agent of trend, live page", seconds=SECONDS, **figures, hostile=[crowd.rounds for crowd in crowds],
        loop=summary["loop"], stale=summary["supervisor"]["stale"], page_answers=len(served),
        page_missed=len(answers) - len(served), page_median_s=round(statistics.median(served), 3),
        page_worst_s=round(max(served), 2),
    )  # fmt: skip
    assert len(served) >= 0.8 * len(answers)
    assert summary["loop"]["ticks"] > SECONDS


def _is_served(page):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{page}/", timeout=10.0) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_serve_trend_in_front_of_a_hostile_agent(tmp_path):
    agent = HostileAgent()
    with contextlib.ExitStack() as stack:
        stack.callback(agent.close)
        served = stack.enter_context(
            serving(tmp_path, "serve", "serve", "trend", f"--connect=127.0.0.1:{agent.port}", "--patience=5",
                    "--pace=real", "--json")
        )  # fmt: skip
        wait_until(lambda: agent.telemetries, 300.0, 0.2)
        watch = ProcessWatch(served.process.pid)
        stack.callback(watch.close)
        let_pass(max(SECONDS, 45.0))
        assert served.process.poll() is None, served.said
        figures = check_process(served, watch)
        agent.close()
        assert served.end() == 0, served.said
    print_report("serve trend", seconds=SECONDS, **figures, calls=agent.calls, telemetries=agent.telemetries)
    assert agent.telemetries > 0.5 * SECONDS
