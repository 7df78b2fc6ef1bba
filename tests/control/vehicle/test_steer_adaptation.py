"""Steer per curvature of a linear car, learned from what its steering does, late and at a rate of its own."""

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


@pytest.mark.parametrize(("delay", "rate"), [(0.0, 100.0), (0.08, 2.4), (0.04, 1.4)])
def test_short_steps_of_a_slow_steering_teach_its_gain(delay, rate):
    """Without the lag a step to both sides would teach that the car turns the other way."""
    adaptation = SteerAdaptation(6.0)
    applied, commands = 0.0, [0.0] * round(delay / DT)
    for k in range(int(60.0 / DT)):
        time, weaving = k * DT, k * DT < 20.0
        phase = (time % 6.0) / 0.22
        step = 0.3 * (1.0 if phase < 1.0 else -1.0 if phase < 3.0 else 1.0 if phase < 4.0 else 0.0)
        commands.append(0.8 * math.sin(2.0 * math.pi * time / 2.4) if weaving else step)
        applied += min(max(commands[k] - applied, -rate * DT), rate * DT)
        speed = 5.0 if weaving else 12.0
        adaptation.learn(commands[-1], speed, speed * applied / (PER_CURVATURE + PER_SIDE * speed * speed), DT)
    assert adaptation.steer_for(0.01, 12.0) == pytest.approx(0.01 * (PER_CURVATURE + PER_SIDE * 144.0), rel=0.15)


def test_nothing_is_learned_at_a_stand_or_from_sliding():
    adaptation = SteerAdaptation(9.0)
    adaptation.learn(0.5, 0.5, 0.1, DT)
    adaptation.learn(0.5, 20.0, 1.0, DT)
    adaptation.learn(0.5, 10.0, 0.1, 0.0)
    assert adaptation.steer_for(1.0, 0.0) == 9.0
