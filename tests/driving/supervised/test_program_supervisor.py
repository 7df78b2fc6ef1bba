import math

import pytest

from trailbrake.driving.loop.supervisor import STOP_BRAKE
from trailbrake.driving.supervised.program_supervisor import ProgramSupervisor
from trailbrake.state import CarState, Controls

NAN, DT = math.nan, 0.01
BEAMNG = frozenset({"steer", "throttle", "brake", "custom"})


@pytest.fixture
def said():
    return []


def make_supervisor(said, leaves=frozenset()):
    made = ProgramSupervisor(said.append)
    made.leaves = leaves
    return made


def pedals(controls):
    return controls.steer, controls.throttle, controls.brake


def test_nan_is_replaced_then_braked_for_and_the_next_numbers_drive_on(said):
    supervisor = make_supervisor(said)
    supervisor.limit_controls(Controls(steer=0.05, throttle=1.0), DT)
    sent = [supervisor.limit_controls(Controls(steer=NAN, throttle=math.inf), DT) for _ in range(30)]
    assert [pedals(controls) for controls in sent[:24]] == [(0.05, 1.0, 0.0)] * 24
    assert [pedals(controls) for controls in sent[-4:]] == [(0.05, 0.0, STOP_BRAKE)] * 4
    assert supervisor.stop_reason == ""
    assert supervisor.counters.rejected == 30
    assert pedals(supervisor.limit_controls(Controls(steer=0.06, throttle=0.5), DT)) == (0.06, 0.5, 0.0)
    assert said == [
        "the program steps with NaN or infinite controls: braking until it steps with numbers",
        "the program steps with numbers again",
    ]


def test_ranges_and_the_rate_of_the_steer_are_limited(said):
    supervisor = make_supervisor(said)
    supervisor.limit_controls(Controls(), DT)
    assert pedals(supervisor.limit_controls(Controls(steer=1.0, throttle=3.0, brake=-1.0), DT)) == (0.12, 1.0, 0.0)


def test_nan_leaves_unchanged_where_the_wire_can_do_so(said):
    supervisor = make_supervisor(said, BEAMNG)
    first = supervisor.limit_controls(Controls(steer=NAN, throttle=NAN, brake=NAN, custom=(NAN, 1.0)), DT)
    assert all(map(math.isnan, pedals(first)))
    assert math.isnan(first.custom[0])
    assert first.custom[1] == 1.0
    supervisor.limit_controls(Controls(steer=0.1, throttle=0.5), DT)
    for _ in range(100):
        sent = supervisor.limit_controls(Controls(steer=NAN, throttle=0.7), DT)
    assert math.isnan(sent.steer)
    assert (sent.throttle, sent.brake) == (0.7, 0.0)
    assert supervisor.counters.rejected == 0
    # The rate counts from the steer that is in force.
    assert supervisor.limit_controls(Controls(steer=1.0), DT).steer == pytest.approx(0.1 + 0.12)
    assert said == []


def test_infinity_is_left_unchanged_nowhere(said):
    supervisor = make_supervisor(said, BEAMNG)
    supervisor.limit_controls(Controls(throttle=0.5), DT)
    assert pedals(supervisor.limit_controls(Controls(steer=math.inf, throttle=NAN), DT)) == (0.0, 0.5, 0.0)
    assert supervisor.counters.rejected == 1


def test_a_brake_that_is_not_the_program_s_does_not_stay(said):
    supervisor = make_supervisor(said, BEAMNG)
    supervisor.limit_controls(Controls(throttle=0.8, brake=0.0), DT)
    supervisor.safe_stop_controls(CarState(speed=20.0))
    back = supervisor.limit_controls(Controls(steer=NAN, throttle=NAN, brake=NAN, custom=(NAN,)), DT)
    assert pedals(back) == (0.0, 0.8, 0.0)
    assert math.isnan(back.custom[0])
    assert all(map(math.isnan, pedals(supervisor.limit_controls(Controls(steer=NAN, throttle=NAN, brake=NAN), DT))))


def test_a_program_that_only_watches_gets_its_pedals_back_without_a_brake(said):
    supervisor = make_supervisor(said, BEAMNG)
    nothing = Controls(steer=NAN, throttle=NAN, brake=NAN)
    supervisor.limit_controls(nothing, DT)
    supervisor.safe_stop_controls(CarState(speed=20.0))
    assert pedals(supervisor.limit_controls(nothing, DT)) == (0.0, 0.0, 0.0)
