"""`doctor assetto`: finds out why there is no data from the game, or why a car does not follow its controls.

`diagnosis_snapshots` reads the game's files and pages, `diagnosis_rules` makes findings of them.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import SimulatorError
from trailbrake.findings import Finding
from trailbrake.sims.assetto import diagnosis_rules, diagnosis_snapshots, spec
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.proton import page_bindings
from trailbrake.simulator_tools import DoctorTool
from trailbrake.state import Controls
from trailbrake.transport.shm import SharedMemory

SNAPSHOT_INTERVAL_S = 0.5  # from one snapshot to the other
TEST_GAS, TEST_STEER = 0.3, -0.1  # of the test drive: shares of throttle and of full lock (to the right)
TEST_GAS_S, TEST_STEER_S, TEST_STOP_S = 2.0, 0.6, 2.0
_STEP_S = 0.01  # between its controls


@dataclass(slots=True)
class DoctorOptions:
    """Say why there is no data from Assetto Corsa, or why it does not obey.

    Attributes:
        root: the game's folder; else TRAILBRAKE_ASSETTO, else where Steam has it.
        car_index: the car; 0 is the player's.
        take: drive the car a few metres. Only on an empty track.
        wait: seconds to wait for the car with --take.
    """

    root: Path | None = None
    car_index: int = 0
    take: bool = False
    wait: float = 10.0


def examine(options: DoctorOptions, wait: Callable[[float], None] = time.sleep) -> Iterator[Finding]:
    """Yield findings about the installation, the session and the car.

    Args:
        options: what to examine.
        wait: lets so many seconds pass.
    """
    memory = SharedMemory()
    on_linux = sys.platform != "win32"
    bridge = page_bindings.read_bridge_snapshot(memory) if on_linux else None
    before = diagnosis_snapshots.read_page_snapshot(memory, options.car_index)
    wait(SNAPSHOT_INTERVAL_S)
    after = diagnosis_snapshots.read_page_snapshot(memory, options.car_index)
    yield from diagnosis_rules.diagnose_installation(
        diagnosis_snapshots.read_installation_snapshot(options.root, after)
    )
    if bridge is not None:
        yield from diagnosis_rules.diagnose_bridge(
            bridge,
            page_bindings.read_bridge_snapshot(memory),
            proton=diagnosis_snapshots.runs_under_proton(options.root),
        )
    yield from diagnosis_rules.diagnose_pages(
        before, after, car=options.car_index, running=diagnosis_snapshots.is_game_running(), bridged=on_linux
    )
    if options.take:
        yield from run_test_drive(options, wait)


def run_test_drive(options: DoctorOptions, wait: Callable[[float], None]) -> Iterator[Finding]:
    """Take the car, press the throttle, steer a little to the right, and stop."""
    now = 0.0

    def idle() -> float:
        nonlocal now
        wait(_STEP_S)
        now += _STEP_S
        return now

    link = Link(spec.LiveOptions(car_index=options.car_index, wait=options.wait), idle=idle)
    try:
        link.open(now)
    except SimulatorError as error:
        yield Finding(
            "test",
            "problem",
            str(error),
            "see the other findings; another trailbrake that drives the car must end first",
        )
        return
    try:

        def hold(controls: Controls, seconds: float) -> None:
            until = now + seconds
            while idle() < until:
                link.read(now)
                link.write(controls)

        hold(Controls(brake=1.0), 0.2)
        start = link.read(now)
        hold(Controls(throttle=TEST_GAS), TEST_GAS_S)
        straight = link.read(now)
        hold(Controls(throttle=TEST_GAS, steer=TEST_STEER), TEST_STEER_S)
        turned = link.read(now)
        hold(Controls(brake=1.0), TEST_STOP_S)
    finally:
        link.close()
    turn = math.remainder(turned.yaw - straight.yaw, 2.0 * math.pi)
    moved = math.hypot(turned.x - start.x, turned.y - start.y)
    yield from diagnosis_rules.diagnose_test_drive((TEST_GAS, straight.throttle), turn, moved)


DOCTOR = DoctorTool(DoctorOptions, examine)
