"""Snapshots of the game's files and pages, which the rules of the doctor judge."""

import math
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from trailbrake.errors import SimulatorError, TrailbrakeError, UsageError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.install import content, ini, installation, surfaces
from trailbrake.sims.assetto.install.file_edits import read_if_exists
from trailbrake.sims.assetto.install.installation import PROGRAM, Installation
from trailbrake.sims.assetto.install.surfaces import SurfacesFile
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.classic_reader import ClassicPageReader
from trailbrake.transport.shm import SharedMemory


@dataclass(frozen=True)
class InstallationSnapshot:
    """The content of the installation's files; None where there is no file.

    Attributes:
        found: the game's folder, or the error line if there is none.
        installed: whether the game is there.
        patch: the patch's version; () for an unknown version, None without the patch.
        module: `[BASIC] ENABLED` of new_behaviour.ini, the user's own settings counted in.
        custom_ai: `[CUSTOM_AI] ENABLED` likewise.
        surfaces: of the session's track.
        surfaces_path: its file.
        surfaces_changed: s before now that it was last changed.
        session_began: s before now that the session began, by its clock.
    """

    found: str = ""
    installed: bool = False
    patch: tuple[int, ...] | None = None
    module: bool | None = None
    custom_ai: bool | None = None
    surfaces: SurfacesFile | None = None
    surfaces_path: str = ""
    surfaces_changed: float = math.inf
    session_began: float = 0.0


@dataclass(frozen=True)
class PageSnapshot:
    """The pages at one moment; None where there is no page.

    Attributes:
        physics: acpmf_physics.
        graphics: acpmf_graphics.
        static: acpmf_static.
        car: the page of the car in question.
        controls: what a client requests of that car.
        sim: what a client requests of the simulation, SimState.v1.
        old_sim: the same in SimState.v0, which patches before 0.2.8 read.
        denied: the pages that could not be opened, in words.
    """

    physics: acpmf.Physics | None = None
    graphics: acpmf.Graphics | None = None
    static: acpmf.Static | None = None
    car: codec.CarData | None = None
    controls: codec.CarControls | None = None
    sim: codec.SimState | None = None
    old_sim: codec.SimState | None = None
    denied: tuple[str, ...] = field(default=())


def read_page_snapshot(memory: SharedMemory, car: int) -> PageSnapshot:
    """Return the pages about car `car` as they are now."""
    denied: list[str] = []
    reader = ClassicPageReader(memory)
    classic: list[object] = []
    for take in (reader.read_physics, reader.read_graphics, reader.read_static):
        try:
            classic.append(take())
        except SimulatorError as error:
            denied.append(error.where)
            classic.append(None)
    reader.close()
    physics, graphics, static = classic

    def read_page(name: str, size: int) -> bytes | None:
        try:
            opened = memory.open_page(name, size)
        except SimulatorError as error:
            denied.append(error.where)
            return None
        if opened is None:
            return None
        data = opened.read(size)
        opened.close()
        return data if len(data) == size else None

    car_data, controls = (
        read_page(spec.car_name(car), codec.CAR_SIZE),
        read_page(spec.controls_name(car), codec.CONTROLS_SIZE),
    )
    new, old = read_page(spec.SIM_STATE_V1, codec.SIM_V1_SIZE), read_page(spec.SIM_STATE_V0, codec.SIM_V0_SIZE)
    return PageSnapshot(
        physics=physics if isinstance(physics, acpmf.Physics) else None,
        graphics=graphics if isinstance(graphics, acpmf.Graphics) else None,
        static=static if isinstance(static, acpmf.Static) else None,
        car=None if car_data is None else codec.decode_car(car_data),
        controls=None if controls is None else codec.decode_controls(controls),
        sim=None if new is None else codec.decode_sim_v1(new),
        old_sim=None if old is None else codec.decode_sim_v0(old),
        denied=tuple(denied),
    )


def read_installation_snapshot(root: Path | None, now: PageSnapshot) -> InstallationSnapshot:
    """Return the content of the installation's files, and of those of the session's track.

    Args:
        root: the game's folder; None: where `find_installation` finds it.
        now: the pages.
    """
    try:
        game = installation.find_installation(root)
    except UsageError as error:
        return InstallationSnapshot(str(error))
    switches = _read_switches(game)
    path, found, changed = "", None, math.inf
    if now.static is not None:
        place = content.surfaces_path(game.root, now.static.track, now.static.track_configuration)
        path = str(place)
        data = _read_or_none(place)
        if data is not None:
            found, changed = surfaces.decode_surfaces(data, path), time.time() - place.stat().st_mtime
    began = now.physics.packet_id / spec.RATE_HZ if now.physics is not None else 0.0
    return InstallationSnapshot(
        found=str(game.root),
        installed=True,
        patch=_read_patch_version(game),
        module=switches.get("BASIC"),
        custom_ai=switches.get("CUSTOM_AI"),
        surfaces=found,
        surfaces_path=path,
        surfaces_changed=changed,
        session_began=began,
    )


def runs_under_proton(root: Path | None) -> bool:
    """Return whether the game is installed in a library with a Proton prefix."""
    try:
        return installation.find_installation(root).documents is not None
    except UsageError:
        return False


def _read_or_none(path: Path) -> bytes | None:
    try:
        return read_if_exists(path)
    except TrailbrakeError:
        return None


def _read_switches(game: Installation) -> dict[str, bool]:
    """Return the switches of new_behaviour.ini; the user's own settings, read last, win key by key."""
    found: dict[str, bool] = {}
    for folder in (game.root / content.CONFIG.parent, game.overrides_folder):
        data = None if folder is None else _read_or_none(folder / content.CONFIG.name)
        sections = ini.parse_ini(data) if data is not None else {}
        for section in ("BASIC", "CUSTOM_AI"):
            value = ini.read_number(sections, section, "ENABLED", math.nan)
            if value == value:
                found[section] = value != 0.0
    return found


def _read_patch_version(game: Installation) -> tuple[int, ...] | None:
    """Return the version of the Custom Shaders Patch in its manifest; () for an unknown one, None without the patch."""
    if not game.has_patch:
        # The tree of a served world has the patch's settings and no patch.
        return () if (game.root / content.CONFIG).is_file() and not (game.root / PROGRAM).exists() else None
    data = _read_or_none(game.root / "extension" / "config" / "data_manifest.ini")
    text = ini.parse_ini(data).get("VERSION", {}).get("SHADERS_PATCH", "") if data is not None else ""
    return tuple(map(int, re.findall(r"\d{1,6}", text)[:3]))


def is_game_running() -> bool | None:
    """Return whether the game's process exists; None where that is unknown."""
    if sys.platform == "win32":
        try:
            listed = subprocess.run(
                ["tasklist", "/FI", f"IMAGENAME eq {PROGRAM}", "/NH"], capture_output=True, text=True, timeout=10.0
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return PROGRAM in listed.stdout.lower()
    return any(_is_game_process(entry) for entry in Path("/proc").glob("[0-9]*")) if os.path.isdir("/proc") else None


def _is_game_process(process: Path) -> bool:
    try:
        return (process / "comm").read_text(errors="replace").strip().lower() == PROGRAM
    except OSError:
        return False
