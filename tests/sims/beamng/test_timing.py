"""The numbers of section 6."""

import pytest

from trailbrake.sims.beamng.timing import as_meant, as_the_game, expected_speed


@pytest.mark.parametrize(("simulink", "ping", "skips", "unanswered", "step"), [
    (0.005, 0.00001, 9, 1, 0.005), (0.0005, 0.002, 0, 4, 0.0005), (0.001, 0.00001, 1, 1, 0.001),
    (0.0007, 0.001, 1, 2, 0.001), (0.0012, 0.001, 2, 1, 0.0015), (0.002, 0.002, 3, 1, 0.002),
])  # fmt: skip
def test_the_two_parameters(simulink, ping, skips, unanswered, step):
    for timing in (as_meant(simulink, ping), as_the_game(simulink, ping)):
        assert (timing.send_skips, timing.unanswered, timing.step) == (skips, unanswered, pytest.approx(step))


def test_whole_steps_are_whole_from_half_a_millisecond_to_two_hundred():
    for steps in range(1, 401):
        assert as_the_game(steps * 0.0005, 0.001).send_skips == as_meant(steps * 0.0005, 0.001).send_skips == steps - 1


def test_the_readme_s_names():
    """Its figure of coupling case 2: an offset of 2, a window and a wait of 4."""
    timing = as_meant(0.001, 0.002)
    assert (timing.send_offset, timing.window_width, timing.send_wait) == (2, 4, 4)


def test_rounding_is_said():
    assert "rounded up" in as_meant(0.0007, 0.00001).sentence()
    assert "rounded up" in as_the_game(0.00050000002374873, 0.00001).sentence()
    assert "rounded" not in as_meant(0.00050000002374873, 0.00001).sentence()
    assert as_meant(0.0005, 0.002).sentence() == "a message every 0.5 ms, 4 messages may be unanswered"


def test_a_window_is_never_empty():
    assert as_meant(0.005, 0.0).unanswered == 1


@pytest.mark.parametrize(("simulink", "ping", "trip", "compute", "speed"), [
    (0.0005, 0.002, 0.002, 0.0, 1.0), (0.0005, 0.00001, 0.002, 0.0, 0.25), (0.001, 0.002, 0.002, 0.0, 1.0),
    (0.0005, 0.00001, 0.001, 0.001, 0.5), (0.0005, 0.01, 0.001, 0.001, 0.5), (0.005, 0.00001, 0.001, 0.001, 1.0),
])  # fmt: skip
def test_expected_speed_of_the_worked_cases(simulink, ping, trip, compute, speed):
    assert expected_speed(as_meant(simulink, ping), trip, compute) == pytest.approx(speed)
