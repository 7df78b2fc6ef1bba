"""Programs that stall, answer NaN or die while they step a live car: what the wire says, seen by a door between."""

import os
import signal
import sys
import time

import pytest
from faults.stream_faults import Frozen, Undisturbed
from faults.trace import is_braking, is_released, is_safe
from helpers.processes import children
from helpers.stepping_programs import stepped_world
from helpers.waiting import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="signals and pages as Linux has them"),
]

# s from the stall to the brake: 0.3 s on a quiet machine.
RUNNING_LIMIT_S, STOPPED_LIMIT_S = 0.5, 1.5
LIMITS = {"sleeps": RUNNING_LIMIT_S, "stopped": STOPPED_LIMIT_S, "keeps the lock": STOPPED_LIMIT_S}
BUSY_S = 0.5  # that a busy machine may add
NAN_LIMIT_S = 0.25 + BUSY_S
BRAKES, DRIVES_ON = "the program has not stepped for", "the program steps again"
NAN_LINES = "the program steps with NaN or infinite controls", "the program steps with numbers again"
STREAMS = ("assetto", "forza", "beamng")
EVENTS = ("trend", "udacity", "udacity_pid", "udacity_mpc", "donkeycar")
CELLS = [("connect", wire) for wire in (*STREAMS, *EVENTS)] + [("Link-v0", wire) for wire in STREAMS]
DEATHS = [("assetto", how) for how in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")]  # no wire differs by the signal
DEATHS += [(wire, "SIGKILL") for wire in ("forza", "beamng", "trend")]


def mark_all_but_first(cells):
    """Return the cells as parameters: the first is of the default run, the others belong to the fault matrix."""
    return [pytest.param(cell, marks=[pytest.mark.faults] * (cell != cells[0]), id="-".join(cell)) for cell in cells]


@pytest.fixture(scope="module", params=mark_all_but_first(CELLS))
def world(request):
    api, wire = request.param
    with stepped_world(wire, api, throttle=0.4 if wire == "trend" else 1.0) as made:
        made.api = api
        yield made


def wait_for_drive(world):
    """Wait until the program drives a car that rolls."""
    at = time.monotonic()
    took = wait_until(
        lambda: (
            world.trace.speed > 0.2 * world.wire.fast and any(c.throttle > 0.2 for c in world.trace.commands_since(at))
        ),
        30.0,
    )
    assert took is not None, world.describe()


def find_release(world, ended):
    """Return the s from `ended` to the first command with throttle behind it; None without one within 2 s."""
    found = wait_until(lambda: any(c.throttle > 0.2 for c in world.trace.commands_since(ended)), 2.0)
    if found is None:
        return None
    return next(when - ended for when, c in world.trace.commands if when >= ended and c.throttle > 0.2)


@pytest.mark.parametrize("kind", LIMITS)
def test_a_program_that_stalls_is_braked_for_until_its_next_step(world, kind):
    wait_for_drive(world)
    before = [world.program.count_lines(text) for text in (BRAKES, DRIVES_ON)]
    began, ended = world.stall(kind)
    seen = world.commands_between(began, ended)
    released = find_release(world, ended)
    if world.wire.name == "beamng":  # the game waits for the answer: its time stands still
        assert not seen
        assert sum(began + 0.1 < when < ended for when, _ in list(world.trace.speeds)) <= 3
        assert released < BUSY_S
        assert [world.program.count_lines(text) for text in (BRAKES, DRIVES_ON)] == before
        return
    braked = next(when for when, command in seen if is_safe(command))
    print(f"{world.api} {world.wire.name} {kind}: brake after {braked:.3f} s, released after {released:.4f} s")
    assert braked < LIMITS[kind] + BUSY_S
    assert all(is_safe(command) for when, command in seen if braked <= when < ended - began - 0.1)
    if world.wire.name in STREAMS:
        assert any(is_braking(command) for _, command in seen)
    elif world.wire.name != "trend":  # the brake of one pedal is taken back with speed; Trend rolls out
        assert any(command.brake > 0.0 for _, command in seen)
    assert released < BUSY_S
    assert wait_until(lambda: world.program.count_lines(DRIVES_ON) > before[1], 5.0) is not None
    assert [world.program.count_lines(text) for text in (BRAKES, DRIVES_ON)] == [count + 1 for count in before]


def test_nan_reaches_no_wire_that_does_not_define_it(world):
    wait_for_drive(world)
    before = world.program.count_lines(NAN_LINES[0])
    began, ended = world.do_fault("NaN")
    seen = world.commands_between(began, ended)
    released = find_release(world, ended)
    assert released < BUSY_S
    assert all(0.0 <= command.throttle <= 1.0 and 0.0 <= command.brake <= 1.0 for _, command in seen)
    if world.api == "Link-v0":  # the environment refuses the action
        assert world.program.count_lines("refused: action: no such action") > 0
    elif world.wire.name == "beamng":  # NaN leaves steer and throttle as they are; the view of the wire shows 0
        assert world.program.count_lines(NAN_LINES[0]) == 0
    else:
        braked = next(when for when, command in seen if is_safe(command))
        print(f"{world.api} {world.wire.name} NaN: brake after {braked:.3f} s, released after {released:.4f} s")
        assert braked < NAN_LIMIT_S
        assert world.program.count_lines(NAN_LINES[0]) == before + 1
        assert wait_until(lambda: world.program.count_lines(NAN_LINES[1]) == before + 1, 5.0) is not None


def test_a_game_that_goes_silent_is_braked_for(world):
    if world.wire.name in ("beamng", "trend"):
        pytest.skip("the simulator waits for answers; the event links' own stops are in tests/faults")
    wait_for_drive(world)
    began = time.monotonic()
    world.door.stream = Frozen(False)
    wait_until(lambda: world.program.count_lines("silent") and world.trace.first_time(began, is_safe) is not None, 10.0)
    braked = world.trace.first_time(began, is_safe)
    world.door.stream = Undisturbed()
    assert braked is not None
    print(f"{world.api} {world.wire.name} silent: brake after {braked:.3f} s")
    assert braked < 0.25 + BUSY_S + 0.5  # Forza's phase is DRIVING for half a second of silence
    assert wait_until(lambda: world.program.count_lines("the simulator is back") > 0, 10.0) is not None
    assert find_release(world, time.monotonic()) is not None


def test_leaving_stops_the_car(world):
    """The last test of a world: its program ends."""
    wait_for_drive(world)
    began = world.program.begin_fault("leave")
    assert wait_until(lambda: "closed" in world.program.output, 40.0) is not None, world.describe()
    assert world.program.wait_for_exit(10.0) == 0
    assert world.door.read_speed() < 0.5
    stop = world.trace.first_time(began, is_safe)
    assert stop is not None
    assert stop < BUSY_S
    print(f"{world.api} {world.wire.name} leave: at rest after {time.monotonic() - began:.1f} s")


@pytest.mark.parametrize("death", mark_all_but_first(DEATHS))
def test_a_program_that_dies_leaves_a_car_that_stands(death):
    wire, how = death
    with stepped_world(wire, throttle=0.4 if wire == "trend" else 1.0) as world:
        wait_for_drive(world)
        (keeper,) = children(world.program.pid)
        began = time.monotonic()
        os.killpg(world.program.pid, getattr(signal, how))  # as a terminal does
        assert world.program.wait_for_exit(40.0) not in (None, 0)
        assert wait_until(lambda: not os.path.exists(f"/proc/{keeper}"), 30.0, 0.01) is not None
        assert world.door.read_speed() < 0.5, world.describe()
        stop = world.trace.first_time(began, is_safe)
        assert stop is not None
        assert stop < RUNNING_LIMIT_S + BUSY_S
        assert world.program.count_lines("has ended without leaving its car") == (how != "SIGINT")


@pytest.mark.faults
def test_a_program_may_leave_a_rolling_car():
    with stepped_world("forza", brakes_at_end=False) as world:
        wait_for_drive(world)
        began = world.program.begin_fault("leave")
        assert world.program.wait_for_exit(5.0) == 0
        assert time.monotonic() - began < 3.0
        assert is_released(world.trace.commands[-1][1])
        assert world.trace.speed > 1.0
