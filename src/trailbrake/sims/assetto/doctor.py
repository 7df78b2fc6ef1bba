"""`doctor assetto`: looks at the game's files and pages, and says why there is no data or no obedience.

What the looks mean is in `symptoms.py`; here they are taken.
"""

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trailbrake.errors import SimulatorError, TrailbrakeError, UsageError
from trailbrake.findings import Finding
from trailbrake.sims.assetto import acpmf, bridged, codec, install, spec, symptoms
from trailbrake.sims.assetto.edits import read
from trailbrake.sims.assetto.files import content, ini, surfaces
from trailbrake.sims.assetto.install import PROGRAM, Installation
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.symptoms import Files, Look
from trailbrake.sims.assetto.watch import Watch
from trailbrake.state import Controls
from trailbrake.transport.shm import SharedMemory

BETWEEN = 0.5  # s from one look to the other
TEST_GAS, TEST_STEER = 0.3, -0.1  # of the little drive: share of throttle, share of full lock (ours: to the right)
TEST_GAS_S, TEST_STEER_S, TEST_STOP_S = 2.0, 0.6, 2.0
_STEP = 0.01  # s between our controls in it


@dataclass(slots=True)
class Options:
    """Say why there is no data from Assetto Corsa, or why it does not obey.

    Attributes:
        root: the game's folder; else TRAILBRAKE_ASSETTO, else where Steam has it.
        car_index: which car it is about; 0 is the player's.
        take: take the car and drive it a few metres: throttle, a little to the right, brake. Only on an empty track.
        wait: seconds to wait for the car with --take.
    """

    root: Path | None = None
    car_index: int = 0
    take: bool = False
    wait: float = 10.0


def examine(options: Options, wait: Callable[[float], None] = time.sleep) -> Iterator[Finding]:
    """Look, and say what is found.

    Args:
        options: what to look at.
        wait: lets so many seconds pass.
    """
    memory = SharedMemory()
    on_linux = sys.platform != "win32"
    bridge = bridged.look(memory) if on_linux else None
    before = look(memory, options.car_index)
    wait(BETWEEN)
    after = look(memory, options.car_index)
    yield from symptoms.of_files(files(options.root, after))
    if bridge is not None:
        yield from symptoms.of_bridge(bridge, bridged.look(memory), proton=_under_proton(options.root))
    yield from symptoms.of_pages(before, after, car=options.car_index, running=game_runs(), bridged=on_linux)
    if options.take:
        yield from little_drive(options, wait)


def look(memory: SharedMemory, car: int) -> Look:
    """Take a look at all pages about `car`."""
    denied: list[str] = []
    watch = Watch(memory)
    classic: list[object] = []
    for take in (watch.physics, watch.graphics, watch.static):
        try:
            classic.append(take())
        except SimulatorError as error:
            denied.append(error.where)
            classic.append(None)
    watch.close()
    physics, graphics, static = classic

    def page(name: str, size: int) -> bytes | None:
        try:
            opened = memory.open(name, size)
        except SimulatorError as error:
            denied.append(error.where)
            return None
        if opened is None:
            return None
        data = opened.read(size)
        opened.close()
        return data if len(data) == size else None

    told, asked = page(spec.car_name(car), codec.CAR_SIZE), page(spec.controls_name(car), codec.CONTROLS_SIZE)
    sim = page(spec.SIM_STATE_V1, codec.SIM_V1_SIZE)
    return Look(
        physics if isinstance(physics, acpmf.Physics) else None,
        graphics if isinstance(graphics, acpmf.Graphics) else None,
        static if isinstance(static, acpmf.Static) else None,
        None if told is None else codec.decode_car(told),
        None if asked is None else codec.decode_controls(asked),
        None if sim is None else codec.decode_sim_v1(sim),
        tuple(denied),
    )


def files(root: Path | None, now: Look) -> Files:
    """Look at the installation's files, and at those of the session's track."""
    try:
        game = install.find(root)
    except UsageError as error:
        return Files(str(error))
    switches = _switches(game)
    path, told, changed = "", None, math.inf
    if now.static is not None:
        place = content.surfaces_path(game.root, now.static.track, now.static.track_configuration)
        path = str(place)
        data = _bytes(place)
        if data is not None:
            told, changed = surfaces.decode(data, path), time.time() - place.stat().st_mtime
    began = now.physics.packet_id / spec.RATE_HZ if now.physics is not None else 0.0
    return Files(
        str(game.root), True, _patch(game), switches.get("BASIC"), switches.get("CUSTOM_AI"), told, path, changed, began
    )


def _under_proton(root: Path | None) -> bool:
    try:
        return install.find(root).documents is not None
    except UsageError:
        return False


def _bytes(path: Path) -> bytes | None:
    try:
        return read(path)
    except TrailbrakeError:
        return None


def _switches(game: Installation) -> dict[str, bool]:
    """Return what new_behaviour.ini says, the user's own settings last: they win key by key."""
    found: dict[str, bool] = {}
    for folder in (game.root / content.CONFIG.parent, game.overrides):
        data = None if folder is None else _bytes(folder / content.CONFIG.name)
        sections = ini.parse(data) if data is not None else {}
        for section in ("BASIC", "CUSTOM_AI"):
            value = ini.number(sections, section, "ENABLED", math.nan)
            if value == value:
                found[section] = value != 0.0
    return found


def _patch(game: Installation) -> tuple[int, ...] | None:
    """Return the version of the Custom Shaders Patch by its own manifest; () where that does not tell."""
    if not game.has_patch:
        # The tree of a served world has the patch's settings and no patch.
        return () if (game.root / content.CONFIG).is_file() and not (game.root / PROGRAM).exists() else None
    data = _bytes(game.root / "extension" / "config" / "data_manifest.ini")
    text = ini.parse(data).get("VERSION", {}).get("SHADERS_PATCH", "") if data is not None else ""
    return tuple(map(int, re.findall(r"\d{1,6}", text)[:3]))


def game_runs() -> bool | None:
    """Return whether the game's process is there; None where that cannot be seen."""
    if sys.platform == "win32":
        try:
            listed = subprocess.run(
                ["tasklist", "/FI", f"IMAGENAME eq {PROGRAM}", "/NH"], capture_output=True, text=True, timeout=10.0
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return PROGRAM in listed.stdout.lower()
    return any(_is_game(entry) for entry in Path("/proc").glob("[0-9]*")) if os.path.isdir("/proc") else None


def _is_game(process: Path) -> bool:
    try:
        return (process / "comm").read_text(errors="replace").strip().lower() == PROGRAM
    except OSError:
        return False


def little_drive(options: Options, wait: Callable[[float], None]) -> Iterator[Finding]:
    """Take the car, press the throttle, steer a little to the right, and bring it to a stand."""
    now = 0.0

    def idle() -> float:
        nonlocal now
        wait(_STEP)
        now += _STEP
        return now

    link = Link(spec.LiveOptions(car_index=options.car_index, wait=options.wait), idle=idle)
    try:
        link.open(now)
    except SimulatorError as error:
        yield Finding("test", "problem", str(error), "see above; another of ours that drives it must end first")
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
    yield from symptoms.of_test((TEST_GAS, straight.throttle), turn, moved)
