"""The pedals of a test drive: variety below the limit, braking at it, less where wheels spin or lock."""

import pytest

from trailbrake.control.vehicle.pedal_programme import PedalProgramme

DT = 0.02


def drive(programme, seconds, speed=20.0, limit=40.0, bending=0.0, slips=(0.0, 0.0)):
    return [programme.pedals(speed, limit, bending, slips, DT) for _ in range(int(seconds / DT))]


def test_pulls_coasting_and_braking_follow_each_other_and_never_meet():
    pedals = drive(PedalProgramme(), 25.0)
    throttles, brakes = zip(*pedals, strict=True)
    assert max(throttles) == 1.0
    assert max(brakes) > 0.8
    assert any(t == 0.0 and b == 0.0 for t, b in pedals)
    assert all(min(pair) < 0.3 for pair in pedals)  # while a pedal comes up, the other has gone


def test_above_the_limit_it_brakes_and_each_time_otherwise():
    programme, strongest = PedalProgramme(), set()
    for _ in range(4):
        strongest.add(round(max(b for _, b in drive(programme, 1.5, speed=20.5, limit=20.0)), 2))
        drive(programme, 1.0, speed=15.0, limit=20.0)
    assert len(strongest) == 4


def test_far_above_the_limit_every_brake_is_a_full_one():
    assert drive(PedalProgramme(), 2.0, speed=24.0, limit=20.0)[-1][1] == 1.0


def test_spinning_and_locked_wheels_are_let_go():
    free, spinning = drive(PedalProgramme(), 2.0)[-1][0], drive(PedalProgramme(), 2.0, slips=(0.0, 0.3))[-1][0]
    assert spinning < 0.4 * free
    held, locked = (
        drive(PedalProgramme(), 2.0, speed=24.0, limit=20.0, slips=(slip, 0.0))[-1][1] for slip in (0.0, -0.4)
    )
    assert locked <= 0.5 * held


def test_a_car_that_accelerates_more_than_is_wanted_gets_less_throttle():
    def pull(most, full):
        """Return the acceleration and the throttle at the end of a pull of a car that does `full` m/s^2."""
        programme, speed, pedals = PedalProgramme(), 10.0, (0.0, 0.0)
        programme.most_acceleration = most
        for _ in range(int(3.0 / DT)):
            pedals = programme.pedals(speed, 400.0, 0.0, (0.0, 0.0), DT)
            speed += pedals[0] * full * DT
        return pedals[0] * full, pedals[0]

    assert pull(9.0, 50.0)[0] == pytest.approx(9.0, rel=0.05)
    assert pull(20.0, 50.0)[0] == pytest.approx(20.0, rel=0.05)
    assert pull(9.0, 8.0)[1] == 1.0
