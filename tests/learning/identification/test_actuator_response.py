"""Delays and rates of made-up actuators, to a fraction of the wire's period."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.known_drives import RATE, make_table
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.actuator_response import LEAST_AMBIGUITY, find_loop_delay, find_response
from trailbrake.learning.identification.braking import Braking
from trailbrake.learning.identification.learned_value import identified
from trailbrake.learning.identification.powertrain import KNOTS, wheel_inertia_share

CAR = load_car("gt3")
BRAKES = Braking(identified(20.0, 0.2, ""), None, 18.0)
ENGINE = SimpleNamespace(speeds=np.linspace(100.0, 800.0, KNOTS), fit=SimpleNamespace(value=np.zeros(KNOTS + 5)))
FINE = 20  # steps of the motion per sample


def square_waves(seconds, period=1 / 60):
    time = np.arange(int(seconds / period)) * period
    return time, 0.5 * np.sign(np.sin(2.0 * np.pi * time / 1.3) + 1e-9)


def rack(time, commanded, delay, rate):
    """Return where a rack is that follows its command of `delay` s ago at a limited rate: in steps of 0.1 ms."""
    fine = np.arange(0.0, time[-1] + 1e-4, 1e-4)
    goal = commanded[np.maximum(np.searchsorted(time, fine - delay + 1e-9, side="right") - 1, 0)]
    now, path = commanded[0], np.empty(len(fine))
    for k, wanted in enumerate(goal):
        now += min(max(wanted - now, -rate * 1e-4), rate * 1e-4)
        path[k] = now
    applied = np.interp(time, fine, path)
    return np.round(applied * 500.0) / 500.0  # as wires count


@pytest.mark.parametrize("delay", [0.0, 0.007, 0.041])
def test_a_delay_is_found_far_below_the_period(delay):
    time, commanded = square_waves(6.0)
    found = find_response(time, commanded, rack(time, commanded, delay, 3.0), usual_rate=2.5)
    assert found.delay.value == pytest.approx(delay, abs=0.002)
    assert found.rate.value == pytest.approx(3.0, rel=0.03)
    assert found.gain.value == pytest.approx(1.0, rel=0.02)


def test_an_echo_has_no_rate():
    time, commanded = square_waves(6.0)
    found = find_response(time, commanded, np.concatenate([commanded[:1], commanded[:-1]]), usual_rate=math.inf)
    assert found.delay.value < 1 / 60
    assert found.error < 0.02


def test_a_stick_that_rests_tells_nothing():
    time, commanded = square_waves(6.0)
    assert find_response(time, 0.0 * commanded, 0.0 * commanded, usual_rate=3.0) is None


def test_windows_are_chosen_by_what_counts():
    # Hard braking is most of what is commanded, and tells nothing: its force is the tyres'.
    time, commanded = square_waves(150.0)
    gentle = time < 20.0
    commanded = np.where(gentle, 0.3 * commanded, commanded)
    found = find_response(
        time, commanded, np.where(gentle, rack(time, commanded, 0.02, 1e3), 0.2), usual_rate=math.inf, counted=gentle,
        averaged=True,
    )  # fmt: skip
    assert found.delay.value == pytest.approx(0.02, abs=0.01)


def test_what_does_not_follow_the_commands_tells_nothing():
    time, commanded = square_waves(20.0)
    noise = np.random.default_rng(3).normal(0.0, 1.0, len(time))
    assert find_response(time, commanded, noise, usual_rate=math.inf) is None


def test_two_delays_that_fit_as_well_are_both_likely():
    """Steps of 0.12 s, again and again: a delay and one that is 0.12 s longer differ in the first steps alone."""
    time = np.arange(0.0, 12.0, 0.003)
    regular = 0.5 + 0.5 * np.sign(np.sin(2.0 * np.pi * time / 0.12) + 1e-9)
    irregular = 0.5 + 0.5 * np.sign(np.sin(2.0 * np.pi * time / 1.3) + 1e-9)
    found = [
        find_response(time, steps, rack(time, steps, 0.02, 1e3), usual_rate=math.inf, averaged=True)
        for steps in (regular, irregular)
    ]
    assert found[0].delay.sigma > LEAST_AMBIGUITY
    assert found[1].delay.sigma < 0.5 * LEAST_AMBIGUITY
    assert found[1].delay.value == pytest.approx(0.02, abs=0.01)


def stops(delay, rows=3000):
    """Return a drive that brakes in steps; its force follows each command after `delay` s and the tyres' lag.

    Something else drives it: its speed stays near 30 m/s, and the force of that is not in the table.
    """
    rng = np.random.default_rng(2)
    pedal = np.repeat(rng.choice([0.0, 0.3, 0.5], rows // 25 + 1), 25)[:rows]
    step = 1.0 / RATE / FINE
    fine = np.repeat(pedal, FINE)
    late = np.concatenate([np.zeros(round(delay / step)), fine])[: len(fine)]
    lag = 0.5 * (CAR.tyre_front.relaxation_x + CAR.tyre_rear.relaxation_x) / 30.0
    held = np.empty_like(late)
    now = 0.0
    for k, goal in enumerate(late):
        now += (20.0 * goal - now) * step / lag
        held[k] = now
    # Sample k has the motion of its moment: a command acts from the next one on. A wave drowns in no brake step.
    mean = np.concatenate([[0.0], held.reshape(rows, FINE).mean(axis=1)[:-1]]) / (1.0 + wheel_inertia_share(CAR))
    speed = 2000.0 - np.cumsum(mean) / RATE
    return make_table(rows, vx=speed, ax=-mean, fx=-mean, brake_command=pedal, brake=pedal), ENGINE


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.030])
def test_a_delay_is_found_to_a_part_of_the_period(delay):
    table, engine = stops(delay)
    found = find_loop_delay(table, CAR, BRAKES, engine)
    assert found.value == pytest.approx(delay, abs=0.004)
    assert found.sigma < 0.01


def test_a_locked_wheel_tells_nothing_of_its_pedal():
    delay = 0.03
    table, engine = stops(delay)
    block = np.arange(len(table)) // 25
    locked = (table.brake < 0.1) & (block % 2 == 0)  # a full pedal, and hardly any deceleration
    pedal = np.where(locked, 1.0, table.brake)
    late = np.convolve(locked, np.ones(8))[: len(table)] > 0.0
    spin = np.where(late[:, None], 0.0, table.vx[:, None] / np.full((1, 4), CAR.tyre_front.radius))
    light = [replace(tyre, inertia=1e-9) for tyre in (CAR.tyre_front, CAR.tyre_rear)]
    car = replace(CAR, tyre_front=light[0], tyre_rear=light[1])
    table = dataclasses.replace(table, brake_command=pedal, brake=pedal, spin=spin)
    found = find_loop_delay(table, car, BRAKES, engine)
    assert found.value == pytest.approx(delay, abs=0.005)


def test_without_brakes_there_is_no_delay():
    table, engine = stops(0.01)
    assert find_loop_delay(table, CAR, None, engine) is None
    still = make_table(400, vx=20.0)
    assert find_loop_delay(still, CAR, BRAKES, engine) is None


def test_wheels_that_turn_slower_before_the_tyres_hold_are_no_delay():
    """The tyres' force lags by 20 ms while the wheels lose speed: the brakes' torque does not."""
    rows, delay, lag = 3000, 0.01, 0.02
    rng = np.random.default_rng(4)
    pedal = np.repeat(rng.choice([0.0, 0.3, 0.5], rows // 25 + 1), 25)[:rows]
    step = 1.0 / RATE / FINE
    torque = 20.0 * np.concatenate([np.zeros(round(delay / step)), np.repeat(pedal, FINE)])[: rows * FINE]
    force = np.empty_like(torque)
    now = 0.0
    for k, goal in enumerate(torque):
        now += (goal - now) * step / lag
        force[k] = now

    def mean(values):
        return np.concatenate([[0.0], values.reshape(rows, FINE).mean(axis=1)[:-1]])

    per_wheel = sum(2.0 * tyre.inertia / tyre.radius for tyre in (CAR.tyre_front, CAR.tyre_rear)) / CAR.body.mass
    spin = 5000.0 - np.cumsum(mean(torque - force)) / RATE / per_wheel
    table = make_table(
        rows, vx=2000.0 - np.cumsum(mean(force)) / RATE, ax=-mean(force), fx=-mean(force), brake_command=pedal,
        brake=pedal, spin=np.column_stack([spin] * 4),
    )  # fmt: skip
    found = find_loop_delay(table, CAR, BRAKES, ENGINE)
    assert found.value == pytest.approx(delay, abs=0.003)
