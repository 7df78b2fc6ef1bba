"""The estimate of grip from synthetic samples: a Magic Formula tyre with another friction than believed."""

import math

import numpy as np
import pytest

from trailbrake.control.vehicle.grip_estimate import (
    BRAKED_CAPACITY,
    LEAST_GRIP,
    SURE_GRIP,
    TOLERANCE,
    GripEstimate,
)

C, E = 1.45, -0.4
B = 1.5873  # the peak is at slip 1: C atan(B - E (B - atan B)) = pi / 2
DT = 0.01


def share_of_peak(slip):
    x = B * slip
    return math.sin(C * math.atan(x - E * (x - math.atan(x))))


def drive_bends(estimate, grip, seconds, *, peak_slip=0.75, noise=0.0, seed=1):
    """Pass bend after bend of 3 s, 1 s of straight between; the tyres give `grip` of what is usual for their slip."""
    random = np.random.default_rng(seed)
    for k in range(round(seconds / DT)):
        phase = (k * DT) % 4.0
        slip = peak_slip * math.sin(math.pi * min(phase, 3.0) / 3.0)
        use = grip * share_of_peak(slip)
        estimate.add_sample(use * (1.0 + noise * random.standard_normal()), slip, slip, DT)
    return estimate.grip


def made(grip=1.0):
    return GripEstimate(grip, (B, C, E))


@pytest.mark.parametrize("true", [0.7, 0.85, 0.9, 0.95])
def test_it_finds_the_grip_from_below_and_from_above(true):
    """Within the tolerance for cars as believed, which is nothing where the grip is surely lower."""
    for first in (0.93, 1.0, 0.6):
        found = drive_bends(made(first), true, 30.0)
        assert true - 0.012 < found < true + 0.012 + (TOLERANCE if true > SURE_GRIP else 0.0)


def test_a_car_as_believed_is_planned_with_all_its_grip_within_a_few_bends():
    estimate = made(0.93)
    assert estimate.grip == pytest.approx(0.93)
    assert drive_bends(estimate, 1.0, 8.0) == pytest.approx(1.0, abs=0.005)


def test_driving_below_the_limit_shows_that_there_is_margin_but_never_a_lower_grip():
    assert drive_bends(made(0.8), 1.0, 20.0, peak_slip=0.48) > 0.88
    assert drive_bends(made(1.0), 0.8, 20.0, peak_slip=0.48) == 1.0


def test_more_grip_than_believed_is_not_its_business():
    assert drive_bends(made(), 1.3, 20.0) == 1.0


def test_driven_wheels_show_on_a_straight_that_it_rains_and_that_it_rains_no_more():
    estimate = made()
    for share in np.linspace(1.0, 0.7, 500):  # 5 s without a bend
        estimate.add_traction(float(share), DT)
    assert estimate.grip < 0.8
    for _ in range(500):  # what a slide at a bend's exit made of it does not stay
        estimate.add_traction(1.0, DT)
    assert estimate.grip == 1.0


def test_a_clutch_that_slips_after_a_shift_is_no_rain():
    estimate = made()
    for _ in range(60):
        estimate.add_traction(1.0, 1.0 / 60.0)
    for _ in range(6):
        estimate.add_traction(0.6, 1.0 / 60.0)
    assert estimate.grip > 0.98
    for _ in range(60):  # the same for a second is
        estimate.add_traction(0.6, 1.0 / 60.0)
    assert estimate.grip < 0.75


def test_a_slip_that_a_shift_hides_shows_nothing_and_is_the_same_after_it():
    estimate = made(0.7)
    drive_bends(estimate, 0.7, 4.0, peak_slip=0.9)
    before, grip = estimate.combined_slip, estimate.grip
    for _ in range(50):
        assert math.isnan(estimate.add_sample(0.7, math.nan, 0.1, DT, driven=True))
    assert estimate.combined_slip == before
    assert estimate.grip == grip
    assert estimate.slip == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(("share", "found"), [(1.0, 1.0), (0.975, 1.0), (0.9, 0.9), (0.7, 0.7)])
def test_steady_bends_show_their_friction_soon_whatever_use_and_slip_say(share, found):
    estimate = made()
    for _ in range(175):
        friction = estimate.settle_friction(1.05 * share, DT)
        if not math.isnan(friction):
            estimate.add_friction(friction / 1.05, DT)
        estimate.add_sample(share_of_peak(0.5), 0.5, 0.5, DT)
    assert estimate.shown_grip == pytest.approx(found, abs=0.04)
    for _ in range(100):  # and that it rises again
        estimate.add_friction(estimate.settle_friction(1.0, DT), DT)
    assert estimate.shown_grip == 1.0


def test_cornering_that_has_just_begun_shows_no_friction_yet():
    estimate = made()
    shown = [estimate.settle_friction(0.8, DT) for _ in range(40)]
    assert math.isnan(shown[20])
    assert shown[-1] == pytest.approx(0.8)
    assert math.isnan(estimate.settle_friction(math.nan, DT))
    assert math.isnan(estimate.settle_friction(0.8, DT))


@pytest.mark.parametrize(("place", "found"), [(1.0, 0.0), (0.95, 0.0), (0.86, -0.1), (0.7, -0.3)])
def test_a_place_is_compared_with_what_it_showed_before(place, found):
    """A bend that gave 1.2 of what is believed shows rain long before the file would."""
    estimate = made()
    for _ in range(300):
        estimate.add_sample(1.2 * place * share_of_peak(0.75), 0.75, 0.75, DT, reference=1.2)
    assert estimate.shown_grip == pytest.approx(1.0 + found, abs=0.01)
    light = made()
    for _ in range(600):  # half of the slip, and the same of the place
        light.add_sample(1.2 * place * share_of_peak(0.45), 0.45, 0.45, DT, reference=1.2)
    assert light.shown_grip == pytest.approx(1.0 + found, abs=0.01)
    without = made()
    for _ in range(300):
        without.add_sample(1.2 * place * share_of_peak(0.75), 0.75, 0.75, DT)
    assert without.shown_grip == pytest.approx(min(1.2 * place, 1.0), abs=0.02)


def test_noise_does_not_move_it():
    assert drive_bends(made(), 0.85, 30.0, noise=0.1) == pytest.approx(0.85, abs=0.02)


def test_it_says_nothing_on_straights_and_while_a_wheel_spins():
    estimate = made(0.93)
    for _ in range(2000):
        estimate.add_sample(0.2, 0.1, 0.1, DT)
    for _ in range(200):
        estimate.add_sample(0.7, 5.0, 0.1, DT)
    for _ in range(200):  # the mean of an axle, of which one wheel spins
        estimate.add_sample(0.75, 1.1, 0.1, DT, driven=True)
    assert estimate.grip == pytest.approx(0.93)


def test_a_slide_lowers_it_within_half_a_second_and_use_without_one_does_not():
    sliding, holding = made(), made()
    drive_bends(sliding, 1.0, 20.0)
    drive_bends(holding, 1.0, 20.0)
    for _ in range(50):
        sliding.add_sample(0.7, 1.1, 1.1, DT)
        holding.add_sample(0.7, 0.3, 0.3, DT)
    assert sliding.grip < 0.85
    assert holding.grip == pytest.approx(1.0, abs=0.01)


def test_braked_to_the_peak_it_is_lowered_within_a_second():
    estimate = made()
    drive_bends(estimate, 1.0, 20.0)
    for _ in range(100):
        estimate.add_sample(0.82, 0.9, 0.05, DT)
    shown = 0.82 / BRAKED_CAPACITY / share_of_peak(0.9)
    assert shown - 0.15 < estimate.grip < shown + 0.03  # lower, because a fall is expected to go on


def test_values_that_are_none_change_nothing_and_it_is_bounded():
    estimate = made(0.9)
    for use, slip, angle in ((math.nan, 0.8, 0.8), (0.8, math.nan, 0.8), (math.inf, 0.8, 0.8), (0.8, 0.8, math.nan)):
        for _ in range(100):
            estimate.add_sample(use, slip, angle, DT)
    assert estimate.grip == pytest.approx(0.9)
    for _ in range(5000):
        estimate.add_sample(LEAST_GRIP * estimate.grip + 0.21, 1.2, 1.2, DT)
    assert estimate.grip >= LEAST_GRIP


def test_a_slide_never_raises_it():
    estimate = made(0.85)
    for _ in range(500):
        estimate.add_sample(1.02, 1.1, 1.1, DT)
    assert estimate.grip < 0.86


def brake(estimate, grip, seconds, slip=0.9):
    for _ in range(round(seconds / DT)):
        estimate.add_sample(BRAKED_CAPACITY * grip * share_of_peak(slip), slip, 0.1, DT, braked=True)


def test_bends_do_not_raise_what_braking_has_lowered():
    """A wet road: braking gives 0.7 of what is believed, bends 0.85 of it."""
    estimate = made()
    for _ in range(6):
        brake(estimate, 0.7, 1.5)
        drive_bends(estimate, 0.85, 4.0, peak_slip=1.0)
    assert estimate.grip == pytest.approx(0.7, abs=0.05)
    for _ in range(40):  # the road dries
        brake(estimate, 1.0, 1.0, slip=0.6)
        drive_bends(estimate, 1.0, 4.0)
    assert estimate.grip == pytest.approx(1.0, abs=0.05)


def test_a_fall_is_expected_to_go_on_for_some_seconds():
    estimate = made()
    drive_bends(estimate, 1.0, 20.0)
    brake(estimate, 0.84, 1.0)
    assert estimate.grip < 0.84 - 0.02
    brake(estimate, 0.84, 3.0)
    drive_bends(estimate, 0.84, 40.0, peak_slip=1.0)
    assert estimate.grip == pytest.approx(0.84, abs=0.012)


def test_on_ground_that_is_known_to_be_poor_a_fall_is_not_expected_to_go_on():
    estimates = made(), made()
    estimates[1].expects_fall = False
    for estimate in estimates:
        drive_bends(estimate, 1.0, 20.0)
        brake(estimate, 0.84, 1.0)
    assert estimates[1].grip == pytest.approx(estimates[1].shown_grip)
    assert estimates[1].grip > estimates[0].grip + 0.02


def test_a_straight_does_not_show_that_a_fall_has_ended():
    """After 16 s of full throttle in the rain a bend was met with more grip than the one before had shown."""
    estimate = made()
    drive_bends(estimate, 1.0, 20.0)
    brake(estimate, 0.84, 1.0)
    low = estimate.grip
    for _ in range(1600):
        estimate.add_sample(0.2, 0.1, 0.1, 0.01)
    assert estimate.grip == pytest.approx(low, abs=0.005)


def test_a_fall_that_was_a_place_s_is_taken_back_at_once():
    estimate = made()
    drive_bends(estimate, 1.0, 8.0)
    for _ in range(60):
        estimate.add_sample(0.65, 1.1, 1.1, DT)
    past, now = estimate.past_and_present
    assert past > 0.95
    assert estimate.grip < now < 0.85
    estimate.return_to(past)
    assert estimate.grip == pytest.approx(past, abs=0.01)


@pytest.mark.parametrize("slip", [0.05, 0.2, 0.9, 1.7])
def test_slips_show_a_capacity_between_noise_and_a_wheel_that_spins(slip):
    estimate = made()
    for _ in range(100):
        estimate.add_sample(0.6 * share_of_peak(slip), slip, slip, DT)
    shows = 0.1 < slip < 1.6
    assert (estimate.capacity == pytest.approx(0.6, rel=1e-3)) if shows else math.isnan(estimate.capacity)


def test_a_limit_on_the_estimate_is_no_fall():
    estimate = made()
    estimate.most = 0.86
    past, now = estimate.past_and_present
    assert past - now <= 0.0
