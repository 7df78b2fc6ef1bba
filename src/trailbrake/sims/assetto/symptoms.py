"""What is wrong with a game that does not obey, from two looks at its pages and one at its files. Reads nothing itself.

Source: protocol page assetto-custom-ai, section 8 and the places it points to; the order is that of its table.
"""

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from trailbrake.findings import Finding
from trailbrake.sims.assetto import acpmf, codec
from trailbrake.sims.assetto.bridged import BridgeLook
from trailbrake.sims.assetto.files.surfaces import Surfaces
from trailbrake.sims.assetto.watch import status_text
from trailbrake.transport.shm import LockState

LEAST_PATCH = (0, 1, 78)  # of the Custom Shaders Patch, for Custom AI at all
FULL_PATCH = (0, 2, 8)  # with a time scale; from 0.1.79 on teleports point the right way
TYRES_OUT = 2  # more than so many, and the lap does not count
_MOVING = 2.0  # km/h
_ASKED = 0.05  # a control from which on it is asked for


@dataclass(frozen=True)
class Files:
    """What the installation's files say; None where they are not there.

    Attributes:
        found: where the game is, or the line that says that it is not.
        installed: whether it is there.
        patch: the patch's version; () where it is there and does not tell, None where it is not there.
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
    surfaces: Surfaces | None = None
    surfaces_path: str = ""
    surfaces_changed: float = math.inf
    session_began: float = 0.0


@dataclass(frozen=True)
class Look:
    """What the pages hold at one moment; None where there is no page.

    Attributes:
        physics: acpmf_physics.
        graphics: acpmf_graphics.
        static: acpmf_static.
        car: the page of the car in question.
        controls: what somebody asks of it.
        sim: what somebody asks of the simulation.
        denied: the pages that could not be opened, in words.
    """

    physics: acpmf.Physics | None = None
    graphics: acpmf.Graphics | None = None
    static: acpmf.Static | None = None
    car: codec.CarData | None = None
    controls: codec.CarControls | None = None
    sim: codec.SimState | None = None
    denied: tuple[str, ...] = field(default=())


def _ok(name: str, found: str) -> Finding:
    return Finding(name, "ok", found)


def _problem(name: str, found: str, advice: str) -> Finding:
    return Finding(name, "problem", found, advice)


def _unknown(name: str, found: str, advice: str = "") -> Finding:
    return Finding(name, "unknown", found, advice)


def of_files(files: Files) -> Iterator[Finding]:
    """Say what the installation's files tell: the game, its patch, the switches, the track's permission."""
    if not files.installed:
        yield _unknown("installation", files.found, "name the game's folder by --root to have its files looked at")
        return
    yield _ok("installation", files.found)
    yield _patch(files.patch)
    advice = "run `trailbrake setup assetto`, then start the session anew"
    if files.module is False:
        yield _problem("switches", "[BASIC] ENABLED=0 in new_behaviour.ini: the module is off", advice)
    elif not files.custom_ai:
        state = "has no [CUSTOM_AI] ENABLED" if files.custom_ai is None else "has [CUSTOM_AI] ENABLED=0"
        yield _problem("switches", f"new_behaviour.ini {state}: Custom AI is off", advice)
    else:
        yield _ok("switches", "Custom AI is on")
    yield from _track(files)


def _patch(version: tuple[int, ...] | None) -> Finding:
    text = ".".join(map(str, version or ()))
    advice = "install a newer Custom Shaders Patch; this needs 0.1.78, and 0.2.8 for all of it"
    if version is None:
        return _problem("patch", "no Custom Shaders Patch (dwrite.dll and extension/)", advice)
    if not version:
        return _unknown("patch", "there, but its version is not told")
    if version < LEAST_PATCH:
        return _problem("patch", f"version {text} has no Custom AI", advice)
    if version < FULL_PATCH:
        lacks = "time scale" if version >= (0, 1, 79) else "time scale, valid-surface bits; teleports point backwards"
        return _ok("patch", f"version {text}; without: {lacks}")
    return _ok("patch", f"version {text}")


def _track(files: Files) -> Iterator[Finding]:
    if files.surfaces is None:
        yield _unknown("track's permission", files.surfaces_path or "no session tells which track it is")
        return
    reports = (
        "the patch's document asks for it; one user's car 0 drove without it on two tracks, and could not be had at "
        "all where extended physics was asked for too"
    )
    extended = ", with extended physics" if files.surfaces.extended else ""
    if not files.surfaces.allows_custom_ai:
        yield _unknown("track's permission", f"not granted{extended} in {files.surfaces_path}; {reports}",
                       "if the car is not to be had: `trailbrake setup assetto --track NAME`, then anew")  # fmt: skip
    elif files.surfaces_changed < files.session_began:
        yield _problem("track's permission", "surfaces.ini was changed after the session began",
                       "start the session anew: the game reads it only then")  # fmt: skip
    else:
        yield _ok("track's permission", f"granted{extended}; {reports}" if extended else "granted")


def of_pages(before: Look, after: Look, *, car: int, running: bool | None, bridged: bool) -> Iterator[Finding]:
    """Say what the pages tell.

    Args:
        before: a look.
        after: another, half a second later.
        car: the number of the car in question.
        running: whether the game's process is there; None where that cannot be seen.
        bridged: whether the pages have to come through a bridge: the game runs under Proton.
    """
    if after.denied:
        yield _problem("access", f"permission denied: {', '.join(after.denied)}",
                       "one of the game and this program runs as administrator: start both alike")  # fmt: skip
    alive = yield from _session(before, after, running=running, bridged=bridged)
    if not alive:
        return
    yield from _asked_of_simulation(after)
    driven = yield from _car(before, after, car)
    if driven:
        yield from _motion(after)
        yield from _controls(before, after)
    yield from _laps(after)


def _session(before: Look, after: Look, *, running: bool | None, bridged: bool) -> Generator[Finding, None, bool]:
    """Yield what is found of the session; return whether it runs."""
    if after.graphics is None and after.physics is None:
        if running:
            why = "start the bridge in the game's own prefix, before the session" if bridged else "wait for its menu"
            yield _problem("pages", "the game runs, and there are no acpmf pages", why)
        elif running is None:
            yield _problem("pages", "no acpmf pages", "start the game and a session")
        else:
            yield _problem("pages", "the game is not running: no acpmf pages", "start it and a session")
        return False
    yield _ok("pages", "the acpmf pages are there")
    moves = _moves(before.physics, after.physics)
    if running is False and not moves:
        yield _problem("session", "the values are frozen and the game is gone: it ended or crashed, and somebody "
                       "holds its pages", "start the game again; our driver stops by itself")  # fmt: skip
        return False
    status = after.graphics.status if after.graphics is not None else acpmf.LIVE
    if status != acpmf.LIVE:
        yield _problem("session", f"the game is in status {status_text(status)}",
                       "start a session and leave its menu and its pause")  # fmt: skip
        return False
    if not moves:
        yield _problem("session", "status live, and packet_id stands still",
                       "leave the menu before the drive, or the pause")  # fmt: skip
        return False
    yield _ok("session", f"live, {_rate(before, after)}")
    return True


def _moves(before: acpmf.Physics | None, after: acpmf.Physics | None) -> bool:
    return after is None or (before is not None and before.packet_id != after.packet_id)


def _rate(before: Look, after: Look) -> str:
    if before.physics is None or after.physics is None:
        return "by its status"
    return f"{after.physics.packet_id - before.physics.packet_id} steps between two looks"


def _asked_of_simulation(after: Look) -> Iterator[Finding]:
    sim = after.sim
    if sim is not None and (sim.pause or sim.extra_sleep_ms):
        what = "a pause" if sim.pause else f"{sim.extra_sleep_ms} ms of sleep a step"
        yield _problem("simulation", f"somebody asks for {what} (SimState)", "`trailbrake sim assetto resume`")


def _car(before: Look, after: Look, index: int) -> Generator[Finding, None, bool]:
    """Yield what is found of the car; return whether it is driven."""
    static = after.static
    if static is not None and static.num_cars and index >= static.num_cars:
        yield _problem("car", f"there is no car {index}: the session has {static.num_cars}", "take another --car-index")
        return False
    if after.car is not None and before.car is not None and after.car.packet_id not in (0, before.car.packet_id):
        yield _ok(
            "car", f"car {index} is published, {after.car.packet_id - before.car.packet_id} steps between two looks"
        )
        return True
    if after.controls is None:
        yield _unknown("car", f"nobody asks for car {index}: no CarControls{index}",
                       "start a live drive, then look again; or look with --take")  # fmt: skip
        return False
    what = "is not published" if after.car is None else "stands still, its packet_id too"
    if static is not None and static.is_online and index > 0:
        yield _problem("car", f"car {index} {what}: it is somebody else's, far away", "take car 0")
        return False
    yield _problem(
        "car", f"car {index} is asked for and {what}",
        "in this order: the problems above; a session started after the last change to the files; asking again some "
        "seconds after it began (ours does); a car without extended physics",
    )  # fmt: skip
    return False


def _motion(after: Look) -> Iterator[Finding]:
    car, asked = after.car, after.controls
    if car is None:
        return
    wants = car.gas > _ASKED or (asked is not None and asked.gas > _ASKED)
    if not wants or abs(car.speed_kmh) > _MOVING:
        yield _ok("motion", f"{car.speed_kmh:.0f} km/h")
        return
    advice = {
        "in neutral": "shift up once, or let the game shift: autoshift_active, --shifts game",
        "the handbrake is on": "let it go",
        "the clutch is pressed": "clutch 1 is the pedal released; or set autoclutch_on_start and autoclutch_on_change",
        "the brake is on": "let it go",
    }
    handbrake = max(car.handbrake, asked.handbrake if asked is not None else 0.0)
    automatic = asked is not None and asked.autoclutch_on_start
    causes = [
        ("in neutral", car.gear == 1),
        ("the clutch is pressed", car.clutch < 0.5 and not automatic),
        ("the handbrake is on", handbrake > _ASKED),
        ("the brake is on", car.brake > 0.5),
    ]
    found = [what for what, true in causes if true]
    if found:
        yield _problem("motion", f"the engine is asked for and the car stands: {', '.join(found)}",
                       "; ".join(advice[what] for what in found))  # fmt: skip
    else:
        yield _unknown("motion", "the engine is asked for and the car stands", "is it against a wall, or out of fuel?")


def _controls(before: Look, after: Look) -> Iterator[Finding]:
    asked, was, car = after.controls, before.controls, after.car
    if asked is None or was is None or car is None:
        return
    if asked.teleport_to and was.teleport_to:
        yield _problem("teleport", f"CarControls asks for a teleport without end (teleport_to {asked.teleport_to})",
                       "its writer must set it back to 0 after 10 ms")  # fmt: skip
    if abs(asked.gas - was.gas) < 0.01 and abs(asked.gas - car.gas) > 0.1 and not car.traction_control_in_action:
        yield _problem(
            "controls", f"gas {asked.gas:.2f} is asked for and {car.gas:.2f} applied",
            "are there two writers on one CarControls? else its fields are shifted against the layout",
        )  # fmt: skip
    elif abs(asked.steer) > _ASKED and abs(car.steer) > 1.0 and asked.steer * car.steer < 0.0:
        yield _problem(
            "steering", f"steer {asked.steer:.2f} is asked for and {car.steer:.0f} degrees applied: the wrong way",
            "the wire's steer is positive to the right; ROS and ours are positive to the left",
        )  # fmt: skip
    else:
        yield _ok("controls", "what is asked for is applied")


def _laps(after: Look) -> Iterator[Finding]:
    graphics, physics = after.graphics, after.physics
    if graphics is None or physics is None:
        return
    hotlap = acpmf.SESSIONS.get(graphics.session) == "hotlap"
    out = physics.number_of_tyres_out
    if after.car is not None:
        out = max(out, 4 - (after.car.wheels_valid_surface & 15).bit_count())
    if out > TYRES_OUT:
        yield _problem("laps", f"{out} wheels are beside the road: this lap will not count",
                       "a hotlap session counts valid laps only")  # fmt: skip
    elif hotlap and graphics.completed_laps == 0:
        yield _unknown("laps", "no lap yet; a hotlap session counts valid laps only")
    else:
        yield _ok("laps", f"{graphics.completed_laps} counted")


def of_bridge(before: BridgeLook, after: BridgeLook, *, proton: bool) -> Iterator[Finding]:
    """Say what is to be seen of the bridge to a game under Proton; nothing where neither bridge nor Proton is there.

    Args:
        before: a look at it.
        after: another, half a second later.
        proton: whether the game is installed under Proton here.
    """
    if after.watcher is LockState.FREE:
        if proton:
            yield _unknown("bridge", "none: programs of Linux do not see the game's pages",
                           "before the game: `trailbrake setup assetto --proton`")  # fmt: skip
        return
    again = "start `trailbrake setup assetto --proton` again; the game may stay"
    if after.watcher is LockState.ABANDONED:
        yield _problem("bridge", "its Linux side was killed", again)
    elif after.beats == before.beats:
        yield _problem("bridge", "its half in the prefix does not answer", "it is started again by itself; else stop "
                       "`trailbrake setup assetto --proton` and look at what it says")  # fmt: skip
    elif after.wrong:
        name, why = after.wrong[0]
        more = f" and {len(after.wrong) - 1} more" if len(after.wrong) > 1 else ""
        yield _problem("bridge", f"{name}{more} not tied: {why}", "start the bridge first, then the game")
    else:
        yield _ok("bridge", f"{after.tied} pages tied")


def of_test(gas: tuple[float, float], turned: float, moved: float) -> Iterator[Finding]:
    """Say what a little driving has shown.

    Args:
        gas: asked for, and applied a moment later.
        turned: rad to the left that the nose turned while the steering was to the right.
        moved: m.
    """
    asked, applied = gas
    if abs(asked - applied) > 0.05:
        yield _problem("test: gas", f"{asked:.2f} asked for, {applied:.2f} applied",
                       "somebody else writes to this car's controls, or the fields are shifted")  # fmt: skip
    else:
        yield _ok("test: gas", f"{asked:.2f} asked for, {applied:.2f} applied")
    if moved < 0.5:
        yield _problem("test: motion", f"the car moved {moved:.1f} m", "see gear, clutch and handbrake")
    elif turned > 0.0:
        yield _problem("test: steering", f"steered right, and turned {math.degrees(turned):.1f} degrees left",
                       "a sign is wrong between here and the game")  # fmt: skip
    else:
        yield _ok("test: steering", f"steered right, and turned {-math.degrees(turned):.1f} degrees right")
