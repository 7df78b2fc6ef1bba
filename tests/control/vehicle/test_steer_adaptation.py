"""Steer per curvature of a linear car, learned from what its steering does."""

import math

import pytest

from trailbrake.control.vehicle.steer_adaptation import SteerAdaptation

PER_CURVATURE, PER_SIDE, DT = 4.6, 0.004, 0.02


def drive(adaptation, speed, seconds, amplitude=0.1):
    for k in range(int(seconds / DT)):
        steer = amplitude * math.sin(2.0 * math.pi * k * DT / 3.0)
        curvature = steer / (PER_CURVATURE + PER_SIDE * speed * speed)
        adaptation.learn(steer, speed, speed * curvature, DT)


def test_a_car_s_steering_is_learned_within_seconds_at_two_speeds():
    adaptation = SteerAdaptation(9.0)
    drive(adaptation, 5.0, 6.0)
    assert adaptation.steer_for(1.0, 0.0) == pytest.approx(PER_CURVATURE, rel=0.1)
    drive(adaptation, 20.0, 10.0, amplitude=0.04)
    assert adaptation.steer_for(0.01, 20.0) == pytest.approx(0.01 * (PER_CURVATURE + PER_SIDE * 400.0), rel=0.1)


def test_a_late_steering_in_a_slow_weave_teaches_nothing_of_fast_driving():
    """Behind its command by 0.16 s: of its steer by curvature and by lateral acceleration the sum alone is told."""
    adaptation = SteerAdaptation(6.0)
    steers = [0.5 * math.sin(2.0 * math.pi * k * DT / 2.4) for k in range(int(22.0 / DT))]
    for steer, late in zip(steers[8:], steers, strict=False):
        adaptation.learn(steer, 4.1, 4.1 * late / PER_CURVATURE, DT)
    assert adaptation.steer_for(0.01, 20.0) == pytest.approx(0.01 * PER_CURVATURE, rel=0.15)


def test_nothing_is_learned_at_a_stand_or_from_sliding():
    adaptation = SteerAdaptation(9.0)
    adaptation.learn(0.5, 0.5, 0.1, DT)
    adaptation.learn(0.5, 20.0, 1.0, DT)
    adaptation.learn(0.5, 10.0, 0.1, 0.0)
    assert adaptation.steer_for(1.0, 0.0) == 9.0
