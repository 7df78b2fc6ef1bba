"""Findings about a game that does not obey, from two snapshots of its pages and one of its files. Pure.

Source: protocol page assetto-custom-ai, section 8 and the places it points to; the order is that of its table.
"""

import math
from collections.abc import Generator, Iterator

from trailbrake.findings import Finding
from trailbrake.sims.assetto.diagnosis_snapshots import InstallationSnapshot, PageSnapshot
from trailbrake.sims.assetto.proton.page_bindings import BridgeSnapshot
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.classic_reader import status_text
from trailbrake.transport.shm import LockState

MIN_PATCH = (0, 1, 78)  # of the Custom Shaders Patch, for Custom AI at all
FULL_PATCH = (0, 2, 8)  # with a time scale; from 0.1.79 on teleports point the right way
MAX_TYRES_OUT = 2  # more than so many, and the lap does not count
_MOVING_KMH = 2.0  # km/h
_REQUEST_THRESHOLD = 0.05  # a control above this counts as requested


def _ok_finding(name: str, found: str) -> Finding:
    return Finding(name, "ok", found)


def _problem_finding(name: str, found: str, advice: str) -> Finding:
    return Finding(name, "problem", found, advice)


def _unknown_finding(name: str, found: str, advice: str = "") -> Finding:
    return Finding(name, "unknown", found, advice)


def diagnose_installation(files: InstallationSnapshot) -> Iterator[Finding]:
    """Yield findings about the installation: the game, its patch, the switches, the track's permission."""
    if not files.installed:
        yield _unknown_finding(
            "installation", files.found, "name the game's folder by --root to have its files looked at"
        )
        return
    yield _ok_finding("installation", files.found)
    yield _diagnose_patch(files.patch)
    advice = "run `trailbrake setup assetto`, then start the session anew"
    if files.module is False:
        yield _problem_finding("switches", "[BASIC] ENABLED=0 in new_behaviour.ini: the module is off", advice)
    elif not files.custom_ai:
        state = "has no [CUSTOM_AI] ENABLED" if files.custom_ai is None else "has [CUSTOM_AI] ENABLED=0"
        yield _problem_finding("switches", f"new_behaviour.ini {state}: Custom AI is off", advice)
    else:
        yield _ok_finding("switches", "Custom AI is on")
    yield from _diagnose_track(files)


def _diagnose_patch(version: tuple[int, ...] | None) -> Finding:
    text = ".".join(map(str, version or ()))
    advice = "install a newer Custom Shaders Patch; this needs 0.1.78, and 0.2.8 for all of it"
    if version is None:
        return _problem_finding("patch", "no Custom Shaders Patch (dwrite.dll and extension/)", advice)
    if not version:
        return _unknown_finding("patch", "there, but its version is unknown")
    if version < MIN_PATCH:
        return _problem_finding("patch", f"version {text} has no Custom AI", advice)
    if version < FULL_PATCH:
        lacks = "time scale" if version >= (0, 1, 79) else "time scale, valid-surface bits; teleports point backwards"
        return _ok_finding("patch", f"version {text}; without: {lacks}; it reads SimState.v0, which we write too")
    return _ok_finding("patch", f"version {text}")


def _diagnose_track(files: InstallationSnapshot) -> Iterator[Finding]:
    if files.surfaces is None:
        yield _unknown_finding("track's permission", files.surfaces_path or "no session, so the track is unknown")
        return
    reports = (
        "the patch's document asks for it; one user's car 0 drove without it on two tracks, and could not be had at "
        "all where extended physics was requested too"
    )
    extended = ", with extended physics" if files.surfaces.extended else ""
    if not files.surfaces.allows_custom_ai:
        yield _unknown_finding("track's permission", f"not granted{extended} in {files.surfaces_path}; {reports}",
                       "if the car is not to be had: `trailbrake setup assetto --track NAME`, then anew")  # fmt: skip
    elif files.surfaces_changed < files.session_began:
        yield _problem_finding("track's permission", "surfaces.ini was changed after the session began",
                       "start the session anew: the game reads it only then")  # fmt: skip
    else:
        yield _ok_finding("track's permission", f"granted{extended}; {reports}" if extended else "granted")


def diagnose_pages(
    before: PageSnapshot, after: PageSnapshot, *, car: int, running: bool | None, bridged: bool
) -> Iterator[Finding]:
    """Yield findings about the pages.

    Args:
        before: a snapshot.
        after: another, half a second later.
        car: the number of the car in question.
        running: whether the game's process exists; None = unknown.
        bridged: whether the pages come through a bridge, since the game runs under Proton.
    """
    if after.denied:
        yield _problem_finding("access", f"permission denied: {', '.join(after.denied)}",
                       "one of the game and this program runs as administrator: start both alike")  # fmt: skip
    yield from _diagnose_sim_state(after)
    alive = yield from _diagnose_session(before, after, running=running, bridged=bridged)
    if not alive:
        return
    driven = yield from _diagnose_car(before, after, car)
    if driven:
        yield from _diagnose_motion(after)
        yield from _diagnose_controls(before, after)
    yield from _diagnose_laps(after)


def _diagnose_session(
    before: PageSnapshot, after: PageSnapshot, *, running: bool | None, bridged: bool
) -> Generator[Finding, None, bool]:
    """Yield findings about the session; return whether it runs."""
    if after.graphics is None and after.physics is None:
        if running:
            why = "start the bridge in the game's own prefix, before the session" if bridged else "wait for its menu"
            yield _problem_finding("pages", "the game runs, and there are no acpmf pages", why)
        elif running is None:
            yield _problem_finding("pages", "no acpmf pages", "start the game and a session")
        else:
            yield _problem_finding("pages", "the game is not running: no acpmf pages", "start it and a session")
        return False
    yield _ok_finding("pages", "the acpmf pages are there")
    moves = _is_advancing(before.physics, after.physics)
    is_paused = any(sim is not None and sim.pause for sim in (after.sim, after.old_sim))
    if running is False and not moves and not is_paused:  # a served world has no game's process
        yield _problem_finding(
            "session",
            "the values are frozen and the game is gone: it ended or crashed, and another program holds its pages",
            "start the game again; our driver stops by itself",
        )
        return False
    status = after.graphics.status if after.graphics is not None else acpmf.LIVE
    if status != acpmf.LIVE:
        yield _problem_finding("session", f"the game is in status {status_text(status)}",
                       "start a session and leave its menu and its pause")  # fmt: skip
        return False
    if not moves:
        yield _problem_finding("session", "status live, and packet_id stands still",
                       "leave the menu before the drive, or the pause")  # fmt: skip
        return False
    yield _ok_finding("session", f"live, {_describe_rate(before, after)}")
    return True


def _is_advancing(before: acpmf.Physics | None, after: acpmf.Physics | None) -> bool:
    return after is None or (before is not None and before.packet_id != after.packet_id)


def _describe_rate(before: PageSnapshot, after: PageSnapshot) -> str:
    if before.physics is None or after.physics is None:
        return "by its status"
    return f"{after.physics.packet_id - before.physics.packet_id} steps between two looks"


def _diagnose_sim_state(after: PageSnapshot) -> Iterator[Finding]:
    for sim in (after.sim, after.old_sim):
        if sim is not None and (sim.pause or sim.extra_sleep_ms):
            what = "a pause" if sim.pause else f"{sim.extra_sleep_ms} ms of sleep a step"
            yield _problem_finding(
                "simulation", f"a program requests {what} (SimState)", "`trailbrake sim assetto resume`"
            )
            return
    if after.sim is not None and after.old_sim is not None and after.sim[:4] != after.old_sim[:4]:
        yield _problem_finding("simulation", "SimState.v0 and SimState.v1 request different things",
                               "two programs write them: a patch before 0.2.8 reads v0, a newer one v1")  # fmt: skip


def _diagnose_car(before: PageSnapshot, after: PageSnapshot, index: int) -> Generator[Finding, None, bool]:
    """Yield findings about car `index`; return whether it is driven."""
    static = after.static
    if static is not None and static.num_cars and index >= static.num_cars:
        yield _problem_finding(
            "car", f"there is no car {index}: the session has {static.num_cars}", "take another --car-index"
        )
        return False
    if after.car is not None and before.car is not None and after.car.packet_id not in (0, before.car.packet_id):
        yield _ok_finding(
            "car", f"car {index} is published, {after.car.packet_id - before.car.packet_id} steps between two looks"
        )
        return True
    if after.controls is None:
        yield _unknown_finding("car", f"no program requests car {index}: no CarControls{index}",
                       "start a live drive, then look again; or look with --take")  # fmt: skip
        return False
    what = "is not published" if after.car is None else "stands still, its packet_id too"
    if static is not None and static.is_online and index > 0:
        yield _problem_finding("car", f"car {index} {what}: it is a remote player's", "take car 0")
        return False
    yield _problem_finding(
        "car", f"car {index} is requested and {what}",
        "in this order: the problems above; a session started after the last change to the files; asking again some "
        "seconds after it began (ours does); a car without extended physics",
    )  # fmt: skip
    return False


def _diagnose_motion(after: PageSnapshot) -> Iterator[Finding]:
    car, request = after.car, after.controls
    if car is None:
        return
    wants = car.gas > _REQUEST_THRESHOLD or (request is not None and request.gas > _REQUEST_THRESHOLD)
    if not wants or abs(car.speed_kmh) > _MOVING_KMH:
        yield _ok_finding("motion", f"{car.speed_kmh:.0f} km/h")
        return
    advice = {
        "in neutral": "shift up once, or let the game shift: autoshift_active, --shifts game",
        "the handbrake is on": "let it go",
        "the clutch is pressed": "clutch 1 is the pedal released; or set autoclutch_on_start and autoclutch_on_change",
        "the brake is on": "let it go",
    }
    handbrake = max(car.handbrake, request.handbrake if request is not None else 0.0)
    automatic = request is not None and request.autoclutch_on_start
    causes = [
        ("in neutral", car.gear == 1),
        ("the clutch is pressed", car.clutch < 0.5 and not automatic),
        ("the handbrake is on", handbrake > _REQUEST_THRESHOLD),
        ("the brake is on", car.brake > 0.5),
    ]
    found = [what for what, true in causes if true]
    if found:
        yield _problem_finding("motion", f"the engine is requested and the car stands: {', '.join(found)}",
                       "; ".join(advice[what] for what in found))  # fmt: skip
    else:
        yield _unknown_finding(
            "motion", "the engine is requested and the car stands", "is it against a wall, or out of fuel?"
        )


def _diagnose_controls(before: PageSnapshot, after: PageSnapshot) -> Iterator[Finding]:
    request, was, car = after.controls, before.controls, after.car
    if request is None or was is None or car is None:
        return
    if request.teleport_to and was.teleport_to:
        yield _problem_finding(
            "teleport",
            f"CarControls requests a teleport without end (teleport_to {request.teleport_to})",
            "its writer must set it back to 0 after 10 ms",
        )
    if abs(request.gas - was.gas) < 0.01 and abs(request.gas - car.gas) > 0.1 and not car.traction_control_in_action:
        yield _problem_finding(
            "controls", f"gas {request.gas:.2f} is requested and {car.gas:.2f} applied",
            "are there two writers on one CarControls? else its fields are shifted against the layout",
        )  # fmt: skip
    elif abs(request.steer) > _REQUEST_THRESHOLD and abs(car.steer) > 1.0 and request.steer * car.steer < 0.0:
        yield _problem_finding(
            "steering", f"steer {request.steer:.2f} is requested and {car.steer:.0f} degrees applied: the wrong way",
            "the wire's steer is positive to the right; ROS and ours are positive to the left",
        )  # fmt: skip
    else:
        yield _ok_finding("controls", "what is requested is applied")


def _diagnose_laps(after: PageSnapshot) -> Iterator[Finding]:
    graphics, physics = after.graphics, after.physics
    if graphics is None or physics is None:
        return
    hotlap = acpmf.SESSIONS.get(graphics.session) == "hotlap"
    out = physics.number_of_tyres_out
    if after.car is not None:
        out = max(out, 4 - (after.car.wheels_valid_surface & 15).bit_count())
    if out > MAX_TYRES_OUT:
        yield _problem_finding("laps", f"{out} wheels are beside the road: this lap will not count",
                       "a hotlap session counts valid laps only")  # fmt: skip
    elif hotlap and graphics.completed_laps == 0:
        yield _unknown_finding("laps", "no lap yet; a hotlap session counts valid laps only")
    else:
        yield _ok_finding("laps", f"{graphics.completed_laps} counted")


def diagnose_bridge(before: BridgeSnapshot, after: BridgeSnapshot, *, proton: bool) -> Iterator[Finding]:
    """Yield findings about the bridge to a game under Proton; none without a bridge and Proton.

    Args:
        before: a snapshot of the bridge.
        after: another, half a second later.
        proton: whether the game is installed under Proton here.
    """
    if after.watcher is LockState.FREE:
        if proton:
            yield _unknown_finding("bridge", "none: programs of Linux do not see the game's pages",
                           "before the game: `trailbrake setup assetto --proton`")  # fmt: skip
        return
    again = "start `trailbrake setup assetto --proton` again; the game may stay"
    if after.watcher is LockState.ABANDONED:
        yield _problem_finding("bridge", "its Linux side was killed", again)
    elif after.heartbeat == before.heartbeat:
        yield _problem_finding("bridge", "its half in the prefix does not answer",
                               "it is started again by itself; else stop "
                               "`trailbrake setup assetto --proton` and look at what it says")  # fmt: skip
    elif after.failed:
        name, why = after.failed[0]
        more = f" and {len(after.failed) - 1} more" if len(after.failed) > 1 else ""
        yield _problem_finding("bridge", f"{name}{more} not tied: {why}", "start the bridge first, then the game")
    else:
        yield _ok_finding("bridge", f"{after.bound_count} pages tied")


def diagnose_test_drive(gas: tuple[float, float], turned: float, moved: float) -> Iterator[Finding]:
    """Yield findings of a short test drive.

    Args:
        gas: requested, and applied a moment later.
        turned: rad to the left that the nose turned while the steering was to the right.
        moved: m.
    """
    requested, applied = gas
    if abs(requested - applied) > 0.05:
        yield _problem_finding("test: gas", f"{requested:.2f} requested, {applied:.2f} applied",
                       "another program writes to this car's controls, or the fields are shifted")  # fmt: skip
    else:
        yield _ok_finding("test: gas", f"{requested:.2f} requested, {applied:.2f} applied")
    if moved < 0.5:
        yield _problem_finding("test: motion", f"the car moved {moved:.1f} m", "see gear, clutch and handbrake")
    elif turned > 0.0:
        yield _problem_finding("test: steering", f"steered right, and turned {math.degrees(turned):.1f} degrees left",
                       "a sign is wrong between here and the game")  # fmt: skip
    else:
        yield _ok_finding("test: steering", f"steered right, and turned {-math.degrees(turned):.1f} degrees right")
