"""The delay of braking whose deceleration follows the pedal after a known time."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.known_drives import RATE, make_table
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.learning.identification.braking import Braking
from trailbrake.learning.identification.learned_value import identified
from trailbrake.learning.identification.loop_delay import find_loop_delay
from trailbrake.learning.identification.powertrain import KNOTS, wheel_inertia_share

CAR = load_car("gt3")
BRAKES = Braking(identified(20.0, 0.2, ""), None, 18.0)
ENGINE = SimpleNamespace(speeds=np.linspace(100.0, 800.0, KNOTS), fit=SimpleNamespace(value=np.zeros(KNOTS + 5)))
FINE = 20  # steps of the motion per sample


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
