"""The pad when nobody sees the car any more."""

import math

import pytest

from trailbrake.sims.forza.link import LONGEST_STOP_S, blind_stop_report, stop_duration
from trailbrake.state import Controls, Phase
from trailbrake.transport.pad_report import NEUTRAL, PadReport

FULL = PadReport(right_trigger=255, left_x=-8000)


@pytest.mark.parametrize(("speed", "seconds"), [
    (0.0, 0.0), (0.4, 0.0), (4.0, 2.0), (-4.0, 2.0), (20.0, 6.0), (80.0, 12.0), (math.nan, 12.0),
])  # fmt: skip
def test_it_lasts_as_long_as_a_slow_stop(speed, seconds):
    assert stop_duration(speed) == seconds
    at_the_end = blind_stop_report(FULL, seconds, speed, 3)
    assert at_the_end == NEUTRAL
    if seconds:
        assert blind_stop_report(FULL, seconds - 0.01, speed, 3).left_trigger == 153


def test_the_stick_is_held_and_the_buttons_are_not():
    assert blind_stop_report(FULL._replace(buttons=0x4000), 0.3, 20.0, 3) == PadReport(left_trigger=153, left_x=-8000)


def test_a_little_throttle_keeps_the_gearbox_from_reversing_once_the_car_may_stand():
    assert [blind_stop_report(FULL, t, 24.0, 3).right_trigger for t in (0.3, 1.9, 2.0, 6.9)] == [0, 0, 26, 26]


def test_in_reverse_the_triggers_change_places():
    assert blind_stop_report(FULL, 0.3, 6.0, -1) == PadReport(right_trigger=153, left_x=-8000)


def test_of_an_unknown_speed_only_a_pressed_trigger_means_driving():
    assert blind_stop_report(PadReport(buttons=0x1000, left_x=5), 0.3, math.nan, None) == NEUTRAL
    report = blind_stop_report(FULL, 0.3, math.nan, None)
    assert (report.left_trigger, report.right_trigger) == (153, 26)
    assert blind_stop_report(FULL, LONGEST_STOP_S, math.nan, None) == NEUTRAL


@pytest.mark.parametrize("seconds", [1.5, 6.0])
def test_a_car_whose_telemetry_is_lost_stands_and_does_not_reverse(lockstep, seconds, monkeypatch):
    """The host's gearbox reverses when the brake is held at rest for 0.3 s, as those of the games do."""
    session = lockstep()
    state = session.drive(Controls(throttle=1.0), round(seconds * 60))
    lost_at, speed = session.now, state.speed
    assert speed > 3.0
    monkeypatch.setattr(session.link.stream, "feed_datagram", lambda *args: False)
    speeds, forward = [], []
    while session.now < lost_at + 14.0:
        session.tick()
        phase = session.link.read(session.now).phase
        session.link.write(Controls(brake=0.6) if session.now < lost_at + 0.5 else Controls(throttle=1.0))
        car = session.plant.car_state(0)
        speeds.append(car.speed)
        forward.append(car.velocity_x)
    assert phase is Phase.LOST
    stands = next(i for i, v in enumerate(speeds) if v < 0.3) / 60.0
    assert stands < stop_duration(speed) - 0.5  # before the pad lets go
    assert min(forward) > -0.3
    held = round((stop_duration(speed) - 0.1) * 60)
    assert max(speeds[round(stands * 60) : held]) < 0.5
    assert session.host._report == NEUTRAL
