import math

import pytest
from fakes import PERIOD, state

from trailbrake.run.supervisor import BAD_FOR, STALE_AFTER, STEER_RATE, STOP_BRAKE, Supervisor
from trailbrake.state import Controls, Phase, WheelTorque


def test_good_controls_pass_as_they_are():
    supervisor = Supervisor()
    given = Controls(0.02, 0.5, 0.1, 0.2, 0.3, 4)
    assert supervisor.check(given, 0.0) == given
    assert supervisor.check(given, PERIOD) == given
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
    assert supervisor.check(given, 0.0) == passed
    assert given == before
    assert supervisor.counters.clamped == 1


def test_what_a_car_may_not_have_is_left_alone_or_kept_within_its_range():
    supervisor = Supervisor()
    wheels = (WheelTorque(100.0, math.nan), WheelTorque(), WheelTorque(), WheelTorque(0.0, 50.0))
    passed = supervisor.check(Controls(drs=2.0, boost=-1.0, wheels=wheels), 0.0)
    assert (passed.drs, passed.boost, passed.wheels) == (1.0, 0.0, wheels)
    passed = supervisor.check(Controls(), PERIOD)
    assert math.isnan(passed.drs)
    assert math.isnan(passed.boost)
    assert passed.wheels is None
    assert supervisor.counters.clamped == 1


def test_an_infinite_torque_is_refused():
    supervisor = Supervisor()
    wheels = (WheelTorque(), WheelTorque(), WheelTorque(math.inf), WheelTorque())
    assert supervisor.check(Controls(throttle=1.0, wheels=wheels), 0.0) == Controls(brake=1.0)
    assert supervisor.counters.rejected == 1


def test_steer_moves_no_faster_than_it_may():
    supervisor = Supervisor()
    supervisor.check(Controls(steer=0.0), 0.0)
    first = supervisor.check(Controls(steer=1.0), PERIOD).steer
    assert first == pytest.approx(STEER_RATE * PERIOD)
    assert supervisor.check(Controls(steer=-1.0), PERIOD).steer == pytest.approx(0.0)
    ticks = 0
    while supervisor.check(Controls(steer=1.0), PERIOD).steer < 1.0:
        ticks += 1
    assert ticks == pytest.approx(1.0 / STEER_RATE / PERIOD, abs=1.5)
    # The first tick, or one after a gap, has no dt to limit by.
    assert Supervisor().check(Controls(steer=-1.0), 0.0).steer == -1.0


@pytest.mark.parametrize("name", ["steer", "throttle", "brake", "clutch", "handbrake"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_replaced_by_the_last_good(name, bad):
    supervisor = Supervisor()
    good = Controls(0.03, 0.4, 0.0, 0.0, 0.0, 3)
    supervisor.check(good, 0.0)
    wrong = Controls(0.03, 0.4, 0.0, 0.0, 0.0, 3)
    setattr(wrong, name, bad)
    assert supervisor.check(wrong, PERIOD) == good
    assert supervisor.counters.rejected == 1
    assert supervisor.stop_reason == ""


def test_before_the_first_good_answer_the_brake_is_on():
    assert Supervisor().check(Controls(throttle=math.nan), 0.0) == Controls(brake=1.0)


def test_a_driver_that_goes_on_answering_nan_is_stopped_after_a_quarter_second():
    supervisor = Supervisor()
    bad = Controls(steer=math.nan)
    ticks = 0
    while not supervisor.stop_reason:
        supervisor.check(bad, PERIOD)
        ticks += 1
    assert ticks * PERIOD == pytest.approx(BAD_FOR, abs=2.0 * PERIOD)
    assert "NaN" in supervisor.stop_reason


def test_a_good_answer_forgives_the_bad_ones():
    supervisor = Supervisor()
    for _ in range(10):
        for _ in range(int(0.9 * BAD_FOR / PERIOD)):
            supervisor.check(Controls(brake=math.inf), PERIOD)
        supervisor.check(Controls(), PERIOD)
    assert supervisor.stop_reason == ""


@pytest.mark.parametrize("given", [Controls(steer=None), Controls(gear="second"), Controls(gear=math.nan)])
def test_what_is_no_number_raises(given):
    with pytest.raises((TypeError, ValueError)):
        Supervisor().check(given, 0.0)


def test_a_safe_stop_holds_the_steer_and_brakes_below_the_limit():
    supervisor = Supervisor()
    supervisor.check(Controls(steer=0.2, throttle=1.0, gear=4), 0.0)
    assert supervisor.braking(state(speed=30.0)) == Controls(steer=0.2, brake=STOP_BRAKE, gear=4)
    assert supervisor.braking(state(speed=math.nan)).brake == STOP_BRAKE
    assert supervisor.braking(state(speed=0.1)).brake == 1.0


def test_stale_by_age_or_by_phase_and_each_episode_counts_once():
    supervisor = Supervisor()
    for age, stale in ((0.0, False), (STALE_AFTER, False), (0.3, True), (0.4, True), (0.0, False), (0.3, True)):
        assert supervisor.is_stale(state(age=age)) is stale
    assert supervisor.counters.stale == 2
    assert supervisor.is_stale(state(phase=Phase.LOST))


def test_the_first_reason_for_a_stop_stays():
    supervisor = Supervisor()
    supervisor.request_stop("first")
    supervisor.request_stop("second")
    assert supervisor.stop_reason == "first"
