"""What `verify` finds in stand-ins: nothing where nothing differs, and each difference that a drive can show."""

import contextlib
import itertools
import math

import pytest
from helpers.flipped_wires import FLIPS, Flip

from trailbrake.driving import verification
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, KeepSpec
from trailbrake.driving.verification import verify_wire
from trailbrake.errors import SimulatorError
from trailbrake.sims.registry import find
from trailbrake.simulator import load_part
from trailbrake.state import CarState, Phase
from trailbrake.system import steady_clock

SIMULATORS = sorted(FLIPS)
SAME = Flip()
# One in twelve by default; all with -m faults, as `.ci/run` does.
CASES = [
    pytest.param(sim, id, marks=pytest.mark.faults if number % 12 else pytest.mark.slow)
    for sim in SIMULATORS
    for number, id in enumerate(FLIPS[sim])
]


class WorldClock:
    """The embedded world's own time, which also goes on where a restart sets it back."""

    def __init__(self):
        self.now = self.last = 0.0

    def __call__(self, car):
        time = car.plant.car_state(0).time
        self.now += max(time - self.last, 0.0)
        self.last = time
        return self.now


def tool_of(sim):
    return load_part(find(sim).tools["verify"])


def verify(sim, flip=SAME, say=lambda text: None):
    tool = tool_of(sim)
    site = EmbeddedSite(sim=sim, host=flip.host)
    setup = make_setup(find(sim), DriveSpec(site=site, keep=KeepSpec(signals=tool.signals)))
    return verify_wire(tool, setup, WorldClock(), say)


def verdicts(result):
    return {assumption.id: judgement.verdict for assumption, judgement in result.judgements}


@pytest.mark.slow
@pytest.mark.parametrize("sim", SIMULATORS)
def test_nothing_is_reported_where_nothing_differs(sim):
    lines = []
    result = verify(sim, say=lines.append)
    expected = {a.id: "undecided" if isinstance(a.check, str) else "holds" for a in tool_of(sim).assumptions}
    assert verdicts(result) == expected
    assert result.end_reason == ""
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(("sim", "id"), CASES)
def test_a_difference_is_found(sim, id, monkeypatch):
    flip = FLIPS[sim][id]
    flip.apply(monkeypatch)
    assert verdicts(verify(sim, flip))[id] == "does not hold"


@pytest.mark.parametrize("sim", SIMULATORS)
def test_every_assumption_with_a_check_is_flipped(sim):
    checked = [a.id for a in tool_of(sim).assumptions if not isinstance(a.check, str)]
    assert checked == list(FLIPS[sim])


class Car:
    """A car whose states are given; it notes what it gets."""

    def __init__(self, states):
        self.states, self.got, self.now = iter(states), [], 0.0

    def wait_for_state(self):
        self.now += 0.05
        return next(self.states)

    def write(self, controls):
        self.got.append(controls)

    def send_command(self, command):
        raise AssertionError


def drive(monkeypatch, states, tool="forza"):
    """Return the result of a drive of a car with these states, and the car."""
    car = Car(states)
    monkeypatch.setattr(verification, "open_car", lambda setup: contextlib.nullcontext(car))
    return verify_wire(tool_of(tool), None, lambda car: car.now, lambda text: None), car


def moving(speed, by_place=0.0):
    for count in itertools.count():
        yield CarState(phase=Phase.DRIVING, time=0.05 * count, x=by_place * 0.05 * count, y=0.0, yaw=0.0, speed=speed)


def test_a_car_that_shows_no_speed_gets_no_more_throttle(monkeypatch):
    result, car = drive(monkeypatch, moving(0.0))
    assert "does not move" in result.end_reason
    assert sum(c.throttle > 0.0 for c in car.got) * 0.05 <= verification.PUSH_S + 0.2


@pytest.mark.parametrize(("speed", "by_place"), [(20.0, 20.0), (1.0, 20.0), (math.nan, 0.0)])
def test_a_car_that_is_too_fast_is_given_up(monkeypatch, speed, by_place):
    states = itertools.chain(itertools.islice(moving(0.0), 45), moving(speed, by_place))
    result, _ = drive(monkeypatch, states)
    assert "too fast" in result.end_reason
    assert verdicts(result)["forza-yaw-zero"] != "holds"


def test_a_menu_gets_the_brake_and_ends_the_drive(monkeypatch):
    result, car = drive(monkeypatch, itertools.repeat(CarState(phase=Phase.PAUSED, speed=0.0)))
    assert "no car is driven" in result.end_reason
    assert {(c.throttle, c.brake) for c in car.got} == {(0.0, 1.0)}


def test_a_silent_simulator_ends_the_drive_with_what_there_is(monkeypatch):
    def states():
        yield from itertools.islice(moving(0.0), 20)
        raise SimulatorError("the simulator went silent", where="a place")

    result, _ = drive(monkeypatch, states())
    assert result.end_reason == "the simulator went silent"  # without the place


@pytest.mark.faults
def test_a_car_in_real_time_is_judged_by_another_process_s_samples():
    tool = tool_of("forza")
    spec = DriveSpec(site=EmbeddedSite(sim="forza", speed="real"), keep=KeepSpec(signals=tool.signals))
    result = verify_wire(tool, make_setup(find("forza"), spec), lambda car: steady_clock.now(), lambda text: None)
    found = verdicts(result)
    for name in ("forza-race-clock", "forza-timestamp-ms"):  # on a busy machine the world's time falls behind
        found.pop(name)
    assert result.end_reason == ""
    assert "does not hold" not in found.values()
    assert list(found.values()).count("holds") >= 15
