import math

import numpy as np
import pytest

from trailbrake.dashboard.lap_path import GHOST_INDEX, LapPath


@pytest.fixture
def circle():
    """A lap of a circle of 100 m radius in 20 s: yaw passes pi."""
    t = np.linspace(0.0, 20.0, 401)
    angle = 2.0 * np.pi * t / 20.0
    yaw = np.remainder(angle + 1.5 * np.pi, 2.0 * np.pi) - np.pi
    speed = np.full_like(t, 10.0 * np.pi)
    return LapPath.from_samples(
        3, 20.0, np.column_stack([t, 100.0 * angle, 100.0 * np.cos(angle), 100.0 * np.sin(angle), 0.0 * t, yaw, speed,
                                  0.0 * t])
    )  # fmt: skip


def test_a_ghost_drives_between_the_samples(circle):
    for clock in (0.0, 3.333, 12.3456, 20.0):
        ghost, angle = circle.ghost_at(clock), 2.0 * math.pi * clock / 20.0
        assert ghost.index == GHOST_INDEX + 3
        assert math.hypot(ghost.x - 100.0 * math.cos(angle), ghost.y - 100.0 * math.sin(angle)) < 0.02
        assert math.remainder(ghost.yaw - angle - 0.5 * math.pi, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-6)


def test_there_is_no_ghost_outside_of_its_lap(circle):
    assert circle.ghost_at(-1.0) is None
    assert circle.ghost_at(21.0) is None


def test_the_clock_of_a_place(circle):
    assert circle.clock_at(50.0 * math.pi) == pytest.approx(5.0)
    assert math.isnan(circle.clock_at(-1.0))
    assert math.isnan(circle.clock_at(700.0))


def test_a_car_that_rolls_back_passes_each_place_once():
    rows = np.zeros((4, 8))
    rows[:, 0], rows[:, 1] = (0.0, 1.0, 2.0, 3.0), (0.0, 10.0, 9.5, 20.0)
    assert LapPath.from_samples(1, 3.0, rows).samples[:, 1].tolist() == [0.0, 10.0, 10.0, 20.0]
