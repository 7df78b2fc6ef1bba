import asyncio
import math
import re

import pytest
from helpers.fakes import PERIOD, state

from trailbrake.driving.loop.supervisor import (
    BAD_CONTROLS_LIMIT_S,
    BLIND_LIMIT_S,
    STALE_AFTER_S,
    STANDSTILL_SPEED,
    STEER_RATE_LIMIT,
    STOP_BRAKE,
    Supervisor,
    SupervisorCounters,
    decide_controls,
)
from trailbrake.errors import CarStuckError
from trailbrake.state import Controls, OtherCar, Phase, SimCommand, WheelTorque
from trailbrake.state.controls import SETTINGS
from trailbrake.system.breakable_call import OURS


def test_good_controls_pass_as_they_are():
    supervisor = Supervisor()
    given = Controls(0.02, 0.5, 0.1, 0.2, 0.3, 4)
    assert supervisor.limit_controls(given, 0.0) == given
    assert supervisor.limit_controls(given, PERIOD) == given
    assert (supervisor.counters.clamped, supervisor.stop_reason) == (0, "")


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (Controls(steer=3.0, throttle=2.0), Controls(steer=1.0, throttle=1.0)),
        (Controls(steer=-3.0, throttle=-0.1), Controls(steer=-1.0)),
        (Controls(brake=1.5, clutch=-1.0, handbrake=9.0), Controls(brake=1.0, handbrake=1.0)),
    ],
)
def test_ranges_are_kept_and_counted_and_the_answer_is_not_changed(given, passed):
    supervisor = Supervisor()
    before = Controls(given.steer, given.throttle, given.brake, given.clutch, given.handbrake)
    assert supervisor.limit_controls(given, 0.0) == passed
    assert given == before
    assert supervisor.counters.clamped == 1


def test_what_a_car_may_not_have_is_left_alone_or_kept_within_its_range():
    supervisor = Supervisor()
    wheels = (WheelTorque(100.0, math.nan), WheelTorque(), WheelTorque(), WheelTorque(0.0, 50.0))
    passed = supervisor.limit_controls(Controls(drs=2.0, boost=-1.0, wheels=wheels), 0.0)
    assert (passed.drs, passed.boost, passed.wheels) == (1.0, 0.0, wheels)
    passed = supervisor.limit_controls(Controls(), PERIOD)
    assert math.isnan(passed.drs)
    assert math.isnan(passed.boost)
    assert passed.wheels is None
    assert supervisor.counters.clamped == 1


def test_steer_moves_no_faster_than_it_may():
    supervisor = Supervisor()
    supervisor.limit_controls(Controls(steer=0.0), 0.0)
    first = supervisor.limit_controls(Controls(steer=1.0), PERIOD).steer
    assert first == pytest.approx(STEER_RATE_LIMIT * PERIOD)
    assert supervisor.limit_controls(Controls(steer=-1.0), PERIOD).steer == pytest.approx(0.0)
    ticks = 0
    while supervisor.limit_controls(Controls(steer=1.0), PERIOD).steer < 1.0:
        ticks += 1
    assert ticks == pytest.approx(1.0 / STEER_RATE_LIMIT / PERIOD, abs=1.5)
    # The first tick, or one after a gap, has no dt to limit by.
    assert Supervisor().limit_controls(Controls(steer=-1.0), 0.0).steer == -1.0


@pytest.mark.parametrize("name", ["steer", "throttle", "brake", "clutch", "handbrake"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_replaced_by_the_last_good(name, bad):
    supervisor = Supervisor()
    good = Controls(0.03, 0.4, 0.0, 0.0, 0.0, 3)
    supervisor.limit_controls(good, 0.0)
    wrong = Controls(0.03, 0.4, 0.0, 0.0, 0.0, 3)
    setattr(wrong, name, bad)
    assert supervisor.limit_controls(wrong, PERIOD) == good
    assert supervisor.counters.rejected == 1
    assert supervisor.stop_reason == ""


def test_a_good_answer_forgives_the_bad_ones():
    supervisor = Supervisor()
    for _ in range(10):
        for _ in range(int(0.9 * BAD_CONTROLS_LIMIT_S / PERIOD)):
            supervisor.limit_controls(Controls(brake=math.inf), PERIOD)
        supervisor.limit_controls(Controls(), PERIOD)
    assert supervisor.stop_reason == ""


def test_a_wire_that_is_lost_from_the_beginning_is_an_episode():
    supervisor = Supervisor()
    assert supervisor.is_stale(state(phase=Phase.LOST))
    assert supervisor.counters.stale == 1


def test_stale_by_age_or_by_phase_and_each_episode_counts_once():
    supervisor = Supervisor()
    for age, stale in ((0.0, False), (STALE_AFTER_S, False), (0.3, True), (0.4, True), (0.0, False), (0.3, True)):
        assert supervisor.is_stale(state(age=age)) is stale
    assert supervisor.counters.stale == 2
    assert supervisor.is_stale(state(phase=Phase.LOST))


def test_the_first_reason_for_a_stop_stays():
    supervisor = Supervisor()
    supervisor.request_stop("first")
    supervisor.request_stop("second")
    assert supervisor.stop_reason == "first"


def test_the_limits_are_those_of_the_documents():
    assert (STALE_AFTER_S, BAD_CONTROLS_LIMIT_S, BLIND_LIMIT_S) == (0.25, 0.25, 0.25)
    assert (STEER_RATE_LIMIT, STOP_BRAKE, STANDSTILL_SPEED) == (12.0, 0.6, 0.5)
    assert SupervisorCounters() == SupervisorCounters(0, 0, 0, 0, 0)


@pytest.mark.parametrize(("speed", "brake"), [(0.5, STOP_BRAKE), (0.499, 1.0), (-1.0, 1.0), (math.nan, STOP_BRAKE)])
def test_a_car_that_stands_is_held(speed, brake):
    assert Supervisor().safe_stop_controls(state(speed=speed)).brake == brake


def test_a_safe_stop_is_what_the_steer_moves_on_from():
    supervisor = Supervisor()
    supervisor.limit_controls(Controls(steer=0.5, gear=3, throttle=1.0), 0.0)
    supervisor.safe_stop_controls(state(speed=30.0))
    assert supervisor.limit_controls(Controls(steer=math.nan), 0.01) == Controls(steer=0.5, brake=STOP_BRAKE, gear=3)
    assert supervisor.limit_controls(Controls(steer=-1.0), 0.01).steer == pytest.approx(0.5 - 0.12)


@pytest.mark.parametrize("name", ["throttle", "brake", "clutch", "handbrake"])
def test_each_pedal_is_kept_within_0_and_1(name):
    for given, passed in ((-0.001, 0.0), (0.0, 0.0), (0.25, 0.25), (1.0, 1.0), (1.001, 1.0)):
        supervisor = Supervisor()
        assert supervisor.limit_controls(Controls(**{name: given}), 0.0) == Controls(**{name: passed})
        assert supervisor.counters.clamped == (given != passed)


@pytest.mark.parametrize("name", [*SETTINGS, "drs", "boost"])
def test_each_setting_is_kept_within_0_and_1_or_left_alone(name):
    supervisor = Supervisor()
    for given, passed in ((-0.5, 0.0), (0.25, 0.25), (1.5, 1.0)):
        controls = supervisor.limit_controls(Controls(**{name: given}), 0.0)
        assert getattr(controls, name) == passed
        assert all(math.isnan(getattr(controls, other)) for other in SETTINGS if other != name)
    assert supervisor.counters.clamped == 2
    assert math.isnan(getattr(supervisor.limit_controls(Controls(), 0.0), name))
    assert supervisor.counters.clamped == 2


def test_free_values_become_numbers_and_none_of_them_may_be_infinite():
    supervisor = Supervisor()
    passed = supervisor.limit_controls(Controls(custom=(1, 2.5, True)), 0.0)
    assert (passed.custom, [type(value) for value in passed.custom]) == ((1.0, 2.5, 1.0), [float] * 3)
    assert supervisor.limit_controls(Controls(custom=(1.0, math.nan)), 0.0).custom == (1.0, 2.5, 1.0)
    assert supervisor.counters.rejected == 1


@pytest.mark.parametrize("torque", [WheelTorque(math.inf, 0.0), WheelTorque(0.0, -math.inf)])
def test_an_infinite_torque_of_either_kind_is_refused(torque):
    supervisor = Supervisor()
    wheels = (WheelTorque(), torque, WheelTorque(), WheelTorque())
    assert supervisor.limit_controls(Controls(throttle=1.0, wheels=wheels), 0.0) == Controls(brake=1.0)
    assert supervisor.counters.rejected == 1


def test_a_gear_is_a_whole_number_and_a_command_goes_once():
    supervisor = Supervisor()
    command = SimCommand(pause=True)
    passed = supervisor.limit_controls(Controls(throttle=0.5, gear=3.0, command=command), 0.0)
    assert (passed.gear, type(passed.gear), passed.command, passed.throttle) == (3, int, command, 0.5)
    assert supervisor.counters.clamped == 0
    repeated = supervisor.limit_controls(Controls(throttle=math.nan), 0.01)
    assert (repeated.command, repeated.throttle) == (None, 0.5)


def test_bad_answers_are_stopped_after_more_than_the_limit_of_simulator_time():
    supervisor = Supervisor()
    for dt, reason in (
        (0.0, ""),
        (0.125, ""),
        (0.125, ""),
        (0.0, ""),
        (0.001, "the driver answers NaN or infinite controls"),
    ):
        supervisor.limit_controls(Controls(brake=math.nan), dt)
        assert supervisor.stop_reason == reason
    assert supervisor.counters.rejected == 5


def raise_error(state, dt):
    raise ValueError("no\n  grip")


def test_what_a_driver_does_to_its_state_stays_with_it():
    def act(own, dt):
        own.speed, own.x = 3.6 * own.speed, 0.0
        own.wheels[0].slip_ratio = 1.0
        own.others.clear()
        return Controls(throttle=0.5)

    seen = state(sequence=3, speed=20.0)
    seen.x, seen.others = 7.0, [OtherCar()]
    assert decide_controls(act, Supervisor(), seen, PERIOD) == Controls(throttle=0.5)
    assert (seen.speed, seen.x, len(seen.others)) == (20.0, 7.0, 1)
    assert math.isnan(seen.wheels[0].slip_ratio)


def give_up(state, dt):
    raise CarStuckError("the car is stuck at x 1.0 m", hint="put it back")


def leave(state, dt):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("act", "reason"),
    [(lambda state, dt: 5, r"the driver answered int, expected Controls"),
     (lambda state, dt: None, r"the driver answered NoneType, expected Controls"),
     (raise_error, r"the driver raised ValueError at .*test_supervisor\.py:\d+: no grip"),
     (give_up, r"the car is stuck at x 1\.0 m; put it back"),
     (leave, r"the driver raised SystemExit at .*test_supervisor\.py:\d+: 3"),
     (lambda state: None, r"the driver raised TypeError: .*positional argument.*"),
     (lambda state, dt: Controls(steer=None), r"the driver answered what is no number: steer=None"),
     (lambda state, dt: Controls(gear="second"), r"the driver answered what is no number: gear='second'"),
     (lambda state, dt: Controls(gear=math.nan), r"the driver answered what is no number: .*"),
     (lambda state, dt: Controls(custom=(1.0, "x")), r"the driver answered what is no number: custom='x'"),
     (lambda state, dt: Controls(wheels=(WheelTorque(), 5, WheelTorque(), WheelTorque())),
      r"the driver answered what is no number: wheels=5"),
     (lambda state, dt: Controls(drs=(1.0,)), r"the driver answered what is no number: drs=\(1\.0,\)"),
     (lambda state, dt: Controls(wheels=[1.0] * 4), r"the driver answered what is no number: wheels=\[1\.0, .*\]"),
     (lambda state, dt: Controls(wheels=(WheelTorque(),) * 3),
      r"the driver answered what is no number: Controls\(stee\.\.\. command=None\)"),
     (lambda state, dt: Controls(brake="x\n" * 60), r"the driver answered what is no number: brake='x\\n.{1,40}")],
)  # fmt: skip
def test_a_driver_that_fails_stops_its_car_with_one_line(act, reason):
    supervisor = Supervisor()
    supervisor.limit_controls(Controls(steer=0.25, throttle=1.0, gear=4), 0.0)
    assert decide_controls(act, supervisor, state(speed=30.0), 0.01) == Controls(steer=0.25, brake=STOP_BRAKE, gear=4)
    assert re.fullmatch(reason, supervisor.stop_reason), supervisor.stop_reason


class MuteError(Exception):
    def __str__(self):
        raise KeyboardInterrupt("no text")

    __repr__ = __str__


class UnusualError(BaseException):
    pass


class Shy:
    """An answer that says what it is to nobody."""

    @property
    def __class__(self):
        raise GeneratorExit

    def __repr__(self):
        raise UnusualError


class Steer(float):
    def __lt__(self, other):
        raise asyncio.CancelledError

    __gt__ = __lt__

    def __repr__(self):
        raise UnusualError


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), SystemExit(), UnusualError("x"), MuteError(),
     MemoryError(), RecursionError(), StopIteration(), StopAsyncIteration(),
     BaseExceptionGroup("two", [KeyboardInterrupt()])],
)  # fmt: skip
def test_whatever_a_driver_raises_brakes(error):
    def act(state, dt):
        raise error

    supervisor = Supervisor()
    assert decide_controls(act, supervisor, state(speed=30.0), 0.01).brake == STOP_BRAKE
    assert supervisor.stop_reason.startswith(f"the driver raised {type(error).__name__} at ")
    assert "\n" not in supervisor.stop_reason


@pytest.mark.parametrize("make", [Shy, lambda: Controls(steer=Steer(0.5)), MuteError, lambda: UnusualError])
def test_answers_that_raise_when_they_are_looked_at_brake(make):
    supervisor = Supervisor()
    assert decide_controls(lambda state, dt: make(), supervisor, state(speed=30.0), 0.01).brake == STOP_BRAKE
    assert supervisor.stop_reason.startswith("the driver answered ")


@pytest.mark.parametrize("ours", OURS)
def test_what_we_raise_inside_of_a_driver_is_not_the_driver_s(ours):
    def act(state, dt):
        raise ours

    supervisor = Supervisor()
    with pytest.raises(ours):
        decide_controls(act, supervisor, state(speed=30.0), 0.01)
    assert supervisor.stop_reason == ""


def test_a_stopped_or_blind_car_asks_no_driver():
    calls = []

    def act(state, dt):
        calls.append((state.speed, dt))
        return Controls(throttle=0.5)

    supervisor = Supervisor()
    assert decide_controls(act, supervisor, state(speed=30.0), 0.01).throttle == 0.5
    assert decide_controls(act, supervisor, state(speed=30.0, age=0.3), 0.01) == Controls(brake=STOP_BRAKE)
    assert calls == [(30.0, 0.01)]
    supervisor.request_stop("enough")
    assert decide_controls(act, supervisor, state(speed=30.0), 0.01) == Controls(brake=STOP_BRAKE)
    assert (len(calls), supervisor.stop_reason) == (1, "enough")
