"""Speed profiles, against closed forms."""

import numpy as np
import pytest

from trailbrake.cars.ggv_envelope import Envelope
from trailbrake.planning.speed_profile import (
    COMPRESSION_EXPONENT,
    ProfileSettings,
    compute_profile,
    interpolate_speed,
    interpolate_speed_share,
    refill_profile,
)
from trailbrake.units import G

SPEEDS = np.linspace(1.0, 81.0, 32)


def _point_mass(mu: float, drive: float) -> Envelope:
    """Grip mu g in all directions, a constant drive, no downforce."""
    share = np.sqrt(1.0 - np.linspace(0.0, 1.0, 13) ** 2)
    brake = np.tile(mu * G * share, (32, 1))
    pull = np.full((32, 13), drive)
    return Envelope(SPEEDS, np.full(32, mu * G), np.minimum(pull, brake), brake, np.ones(32), brake, pull)


def _rows(curvature: np.ndarray) -> np.ndarray:
    return np.column_stack([curvature, np.zeros((len(curvature), 3)), np.ones(len(curvature)), 0.0 * curvature])


def test_constant_bend_is_taken_at_its_limit() -> None:
    result = compute_profile(_rows(np.full(400, 1 / 50)), 1.0, True, _point_mass(1.0, 5.0), start=-1.0, margin=1.0)
    assert np.allclose(result.speed, np.sqrt(G * 50.0), rtol=1e-3)
    assert result.lap_time == pytest.approx(400.0 / np.sqrt(G * 50.0), rel=1e-3)
    assert np.allclose(result.grip, 1.0, atol=1e-3)


def test_margin_is_kept() -> None:
    result = compute_profile(_rows(np.full(400, 1 / 50)), 1.0, True, _point_mass(1.0, 5.0), start=-1.0, margin=0.9)
    assert np.allclose(result.grip, 0.9, atol=1e-3)


def test_braking_distance_is_v_squared_over_two_mu_g() -> None:
    curvature = np.zeros(1000)
    curvature[700:] = 1 / 20
    result = compute_profile(_rows(curvature), 1.0, False, _point_mass(1.0, 5.0), start=60.0, margin=1.0)
    slow = np.sqrt(G * 20.0)
    for distance in (20.0, 60.0, 120.0):
        assert result.speed[int(700 - distance)] == pytest.approx(np.sqrt(slow**2 + 2 * G * distance), rel=5e-3)


def test_the_wet_takes_its_share_of_grip() -> None:
    rows = _rows(np.full(400, 1 / 50))
    rows[:, 4] = 0.6
    result = compute_profile(rows, 1.0, True, _point_mass(1.0, 5.0), start=-1.0, margin=1.0)
    assert np.allclose(result.speed, np.sqrt(0.6 * G * 50.0), rtol=1e-3)
    assert np.allclose(result.grip, 1.0, atol=1e-3)  # of what the wet road has
    ahead = _rows(np.zeros(1000))
    ahead[700:, 0], ahead[:, 4] = 1 / 20, 0.6
    result = compute_profile(ahead, 1.0, False, _point_mass(1.0, 5.0), start=60.0, margin=1.0)
    assert result.speed[640] == pytest.approx(np.sqrt(0.6 * G * 20.0 + 2 * 0.6 * G * 60.0), rel=5e-3)


def test_acceleration_from_rest() -> None:
    result = compute_profile(_rows(np.zeros(301)), 1.0, False, _point_mass(1.2, 5.0), start=0.0, margin=1.0)
    assert result.speed[300] == pytest.approx(np.sqrt(2 * 5.0 * 300.0), rel=5e-3)
    assert result.lap_time == pytest.approx(np.sqrt(2 * 300.0 / 5.0), rel=0.02)


def test_uphill_costs_and_the_right_banking_helps() -> None:
    rows = _rows(np.zeros(301))
    rows[:, 1] = 0.1
    result = compute_profile(rows, 1.0, False, _point_mass(1.2, 5.0), start=0.0, margin=1.0)
    assert result.speed[300] == pytest.approx(np.sqrt(2 * (5.0 - G * np.sin(np.arctan(0.1))) * 300.0), rel=5e-3)
    bend = _rows(np.full(300, 1 / 50))  # a left bend
    flat = compute_profile(bend, 1.0, True, _point_mass(1.0, 5.0), start=-1.0, margin=1.0).speed[0]
    bend[:, 3] = -0.2  # ISO roll: right side up, the bank of a left bend
    banked = compute_profile(bend, 1.0, True, _point_mass(1.0, 5.0), start=-1.0, margin=1.0).speed[0]
    # v^2 / R cos - g sin = mu N / m, N / m = g cos + v^2 / R sin, with the grip that load takes off again.
    low, high = flat, 40.0
    for _ in range(60):
        v = 0.5 * (low + high)
        need = v * v / 50.0 * np.cos(0.2) - G * np.sin(0.2)
        load = np.cos(0.2) + v * v / 50.0 / G * np.sin(0.2)
        low, high = (v, high) if need < G * load**COMPRESSION_EXPONENT else (low, v)
    assert banked == pytest.approx(low, rel=2e-3)
    assert banked > flat


def test_lookups_interpolate_and_hold_at_the_ends() -> None:
    table = SPEEDS * 2.0
    assert interpolate_speed(table, SPEEDS, 33.3) == pytest.approx(66.6)
    assert interpolate_speed(table, SPEEDS, 500.0) == pytest.approx(162.0)
    grid = SPEEDS[:, None] + np.linspace(0.0, 1.0, 13)[None, :]
    assert interpolate_speed_share(grid, SPEEDS, 20.0, 0.35) == pytest.approx(20.35)


def test_an_engine_s_limit_scales_with_neither_margin_nor_grip() -> None:
    for margin, grip in ((0.9, 1.0), (1.0, 1.3), (1.0, 0.7)):
        rows = _rows(np.zeros(400))
        rows[:, 4] = grip
        result = compute_profile(rows, 1.0, False, _point_mass(1.0, 3.0), start=10.0, margin=margin)
        assert result.speed[200] == pytest.approx(np.sqrt(100.0 + 2 * 3.0 * 200.0), rel=1e-3)


@pytest.mark.parametrize("first", [0, 250, 880])
def test_a_part_planned_anew_is_the_whole_plan_s_part(first: int) -> None:
    """Up to a braking distance before its end, and over the start of a circuit."""
    along = np.arange(1000)
    rows, limits = _rows(np.where(along % 300 > 240, 1 / 30, 0.0)), _point_mass(1.0, 5.0)
    whole = compute_profile(rows, 1.0, True, limits, start=-1.0, margin=0.9)
    speed, acceleration = np.full(1000, 77.0), np.full(1000, 77.0)
    settings = ProfileSettings(1.0, True, float(whole.speed[first]), 0.9)
    refill_profile(rows, settings, limits, (first, 500), (speed, acceleration))
    part = (first + np.arange(300)) % 1000
    assert speed[part] == pytest.approx(whole.speed[part], rel=1e-6)
    assert acceleration[part] == pytest.approx(whole.acceleration[part], abs=1e-6)
    assert (speed[(first + np.arange(510, 990)) % 1000] == 77.0).all()


def test_a_part_ends_at_the_end_of_an_open_line() -> None:
    rows, limits = _rows(np.zeros(100)), _point_mass(1.0, 5.0)
    speed, acceleration = np.full(100, 77.0), np.zeros(100)
    refill_profile(rows, ProfileSettings(1.0, False, 10.0, 1.0), limits, (60, 500), (speed, acceleration))
    assert speed[60] == 10.0
    assert speed[99] == pytest.approx(np.sqrt(100.0 + 2 * 5.0 * 39.0))
    assert (speed[:60] == 77.0).all()
