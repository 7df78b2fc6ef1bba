"""Every symptom of the table is told from the others, by looks made for it."""

import pytest

from trailbrake.sims.assetto import diagnosis_rules
from trailbrake.sims.assetto.codec import CarControls, CarData, SimState
from trailbrake.sims.assetto.diagnosis_rules import diagnose_bridge
from trailbrake.sims.assetto.diagnosis_snapshots import InstallationSnapshot, PageSnapshot
from trailbrake.sims.assetto.install.surfaces import SurfaceSection, SurfacesFile
from trailbrake.sims.assetto.proton.page_bindings import BridgeSnapshot
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.transport.shm import LockState

GOOD_FILES = InstallationSnapshot(
    "game", True, (0, 2, 8), True, True, SurfacesFile((SurfaceSection("ROAD", 1.0),), True, False), "s.ini", 500.0, 9.0
)


def looks(*, car=None, controls=None, graphics=None, physics=None, static=None, sim=None, frozen=(), **more):
    """Two looks at a car that drives well, but for what is given."""
    pair = []
    for step in (0, 166):
        steps = {"physics": 0 if "physics" in frozen else step, "car": 0 if "car" in frozen else step}
        told = {"gas": 0.5, "speed_kmh": 80.0, "gear": 3, "clutch": 1.0, "wheels_valid_surface": 15, "steer": 20.0}
        asked = {"gas": 0.5, "steer": 0.2, "clutch": 1.0}
        pair.append(
            PageSnapshot(
                acpmf.Physics(packet_id=5000 + steps["physics"], **(physics or {})),
                acpmf.Graphics(**({"status": acpmf.LIVE, "completed_laps": 1} | (graphics or {}))),
                acpmf.Static(**({"num_cars": 1, "track": "imola"} | (static or {}))),
                None if car == "none" else CarData(packet_id=900 + steps["car"], **(told | (car or {}))),
                None if controls == "none" else CarControls(**(asked | (controls or {}))),
                sim,
                **more,
            )
        )
    return pair


def problems(pair, *, car=0, running=True, bridged=False, files=GOOD_FILES):
    found = [
        *diagnosis_rules.diagnose_installation(files),
        *diagnosis_rules.diagnose_pages(*pair, car=car, running=running, bridged=bridged),
    ]
    assert all(f.advice for f in found if f.verdict == "problem"), "a problem without advice"
    return [f"{f.name}: {f.found}" for f in found if f.verdict == "problem"]


def test_all_is_well():
    pair = looks()
    assert problems(pair) == []
    found = list(diagnosis_rules.diagnose_pages(*pair, car=0, running=True, bridged=False))
    assert {f.name for f in found} == {"pages", "session", "car", "motion", "controls", "laps"}
    assert {f.verdict for f in found} == {"ok"}


NOTHING = PageSnapshot()


@pytest.mark.parametrize(
    ("pair", "asked", "expected"),
    [
        # No pages.
        ([NOTHING] * 2, {"running": False}, "pages: the game is not running: no acpmf pages"),
        ([NOTHING] * 2, {"running": None}, "pages: no acpmf pages"),
        ([NOTHING] * 2, {"bridged": True}, "pages: the game runs, and there are no acpmf pages"),
        # A menu, a pause, frozen, dead.
        (looks(graphics={"status": 0}, frozen=("physics",)), {}, "session: the game is in status off"),
        (looks(graphics={"status": 3}, frozen=("physics",)), {}, "session: the game is in status pause"),
        (looks(frozen=("physics",)), {}, "session: status live, and packet_id stands still"),
        (looks(frozen=("physics", "car")), {"running": False},
         "session: the values are frozen and the game is gone: it ended or crashed, "
         "and another program holds its pages"),
        # No car.
        (looks(car="none"), {}, "car: car 0 is requested and is not published"),
        (looks(frozen=("car",)), {}, "car: car 0 is requested and stands still, its packet_id too"),
        (looks(car="none"), {"car": 1}, "car: there is no car 1: the session has 1"),
        (looks(car="none", static={"num_cars": 9, "is_online": 1}), {"car": 1},
         "car: car 1 is not published: it is a remote player's"),
        # It revs and stands.
        (looks(car={"gear": 1, "speed_kmh": 0.0}), {},
         "motion: the engine is requested and the car stands: in neutral"),
        (looks(car={"clutch": 0.0, "speed_kmh": 0.0}, controls={"clutch": 0.0}), {},
         "motion: the engine is requested and the car stands: the clutch is pressed"),
        (looks(car={"handbrake": 1.0, "speed_kmh": 0.0}), {},
         "motion: the engine is requested and the car stands: the handbrake is on"),
        (looks(car={"brake": 1.0, "speed_kmh": 0.0}), {},
         "motion: the engine is requested and the car stands: the brake is on"),
        # It does not do what it is asked for.
        (looks(car={"gas": 0.0}), {}, "controls: gas 0.50 is requested and 0.00 applied"),
        (looks(car={"steer": -20.0}), {},
         "steering: steer 0.20 is requested and -20 degrees applied: the wrong way"),
        (looks(controls={"teleport_to": 2}), {},
         "teleport: CarControls requests a teleport without end (teleport_to 2)"),
        # Not allowed to look; held by somebody.
        ([PageSnapshot(denied=("acpmf_physics",))] * 2, {"running": None}, "access: permission denied: acpmf_physics"),
        (looks(sim=SimState(pause=1)), {}, "simulation: a program requests a pause (SimState)"),
        # The pages of a served world that stands in a pause: no game's process, and nothing moves.
        (looks(sim=SimState(pause=1), graphics={"status": acpmf.PAUSE}, frozen=("physics", "car")), {"running": False},
         "simulation: a program requests a pause (SimState)"),
        (looks(sim=SimState(extra_sleep_ms=9)), {}, "simulation: a program requests 9 ms of sleep a step (SimState)"),
        (looks(old_sim=SimState(pause=1)), {}, "simulation: a program requests a pause (SimState)"),
        (looks(sim=SimState(), old_sim=SimState(disable_collisions=1)), {},
         "simulation: SimState.v0 and SimState.v1 request different things"),
        # Laps that do not count.
        (looks(physics={"number_of_tyres_out": 3}), {}, "laps: 3 wheels are beside the road: this lap will not count"),
        (looks(car={"wheels_valid_surface": 0}), {}, "laps: 4 wheels are beside the road: this lap will not count"),
    ],
)  # fmt: skip
def test_symptoms_of_the_pages(pair, asked, expected):
    found = problems(pair, **asked)
    assert found[0] == expected
    assert "requests a pause" not in expected or not any("is gone" in each for each in found)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"patch": None}, "patch: no Custom Shaders Patch (dwrite.dll and extension/)"),
        ({"patch": (0, 1, 77)}, "patch: version 0.1.77 has no Custom AI"),
        ({"module": False}, "switches: [BASIC] ENABLED=0 in new_behaviour.ini: the module is off"),
        ({"custom_ai": False}, "switches: new_behaviour.ini has [CUSTOM_AI] ENABLED=0: Custom AI is off"),
        ({"custom_ai": None}, "switches: new_behaviour.ini has no [CUSTOM_AI] ENABLED: Custom AI is off"),
        ({"surfaces_changed": 3.0}, "track's permission: surfaces.ini was changed after the session began"),
    ],
)
def test_symptoms_of_the_files(change, expected):
    from dataclasses import replace

    assert problems(looks(), files=replace(GOOD_FILES, **change)) == [expected]


def verdicts(files):
    return {f.name: (f.verdict, f.found) for f in diagnosis_rules.diagnose_installation(files)}


def test_what_is_no_problem_for_sure_is_not_called_one():
    from dataclasses import replace

    assert verdicts(InstallationSnapshot("not installed"))["installation"] == ("unknown", "not installed")
    stock = replace(GOOD_FILES, surfaces=SurfacesFile((), False, False))
    verdict, found = verdicts(stock)["track's permission"]
    assert verdict == "unknown"
    assert "document asks for it; one user's car 0 drove without it" in found  # both readings are told
    extended = replace(GOOD_FILES, surfaces=SurfacesFile((), True, True))
    assert "could not be had" in verdicts(extended)["track's permission"][1]
    assert verdicts(replace(GOOD_FILES, patch=()))["patch"][0] == "unknown"
    assert "teleports point backwards" in verdicts(replace(GOOD_FILES, patch=(0, 1, 78)))["patch"][1]
    assert "without: time scale; it reads SimState.v0" in verdicts(replace(GOOD_FILES, patch=(0, 1, 80)))["patch"][1]
    assert verdicts(replace(GOOD_FILES, surfaces=None))["track's permission"][0] == "unknown"


def test_nobody_asks_for_the_car():
    found = {
        f.name: f
        for f in diagnosis_rules.diagnose_pages(*looks(car="none", controls="none"), car=0, running=True, bridged=False)
    }
    assert found["car"].verdict == "unknown"
    assert found["laps"].verdict == "ok"
    hotlap = looks(graphics={"session": 3, "completed_laps": 0})
    found = {f.name: f for f in diagnosis_rules.diagnose_pages(*hotlap, car=0, running=True, bridged=False)}
    assert "a hotlap session counts valid laps only" in found["laps"].found


def test_standing_for_another_reason_is_not_known():
    pair = looks(car={"speed_kmh": 0.0})
    found = {f.name: f.verdict for f in diagnosis_rules.diagnose_pages(*pair, car=0, running=True, bridged=False)}
    assert found["motion"] == "unknown"


@pytest.mark.parametrize(
    ("gas", "turned", "moved", "expected"),
    [
        ((0.3, 0.3), -0.1, 5.0, ["ok", "ok"]),
        ((0.3, 0.0), -0.1, 5.0, ["problem", "ok"]),
        ((0.3, 0.3), 0.1, 5.0, ["ok", "problem"]),
        ((0.3, 0.3), 0.0, 0.1, ["ok", "problem"]),
    ],
)
def test_a_little_driving(gas, turned, moved, expected):
    assert [f.verdict for f in diagnosis_rules.diagnose_test_drive(gas, turned, moved)] == expected


@pytest.mark.parametrize(
    ("watcher", "beats", "wrong", "proton", "verdict", "words"),
    [
        (LockState.FREE, 0, (), False, None, ""),
        (LockState.FREE, 0, (), True, "unknown", "none"),
        (LockState.HELD, 9, (), True, "ok", "70 pages tied"),
        (LockState.HELD, 5, (), True, "problem", "does not answer"),
        (LockState.HELD, 9, (("Car0", "why"), ("Car1", "why")), True, "problem", "Car0 and 1 more not tied: why"),
        (LockState.ABANDONED, 9, (), True, "problem", "was killed"),
    ],
)
def test_the_bridge(watcher, beats, wrong, proton, verdict, words):
    found = list(
        diagnose_bridge(BridgeSnapshot(watcher, 5, 70), BridgeSnapshot(watcher, beats, 70, wrong), proton=proton)
    )
    assert [f.verdict for f in found] == ([verdict] if verdict else [])
    assert all(words in f.found for f in found)
