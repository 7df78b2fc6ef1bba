"""Heat and wear of the tyres against the closed forms of the model that `cars.tyre_params.Thermal` declares."""

import math

import numpy as np
import pytest
from helpers.work_blocks import Block
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.kernels import jit
from trailbrake.world.batch import Batch
from trailbrake.world.outer_step import AIR_TEMPERATURE, heat_and_wear_tyre
from trailbrake.world.row_layout import ControlRow, StateRow

PERIOD = 0.003


@jit
def _heat(block, period, looks):
    for _ in range(looks):
        heat_and_wear_tyre(block, 1, 2, 0, period)


def test_a_tyre_that_does_not_slide_cools_to_the_air():
    car = load_car("gt3")
    thermal = car.tyre_rear.thermal
    block = Block(car, heat=True)
    block[StateRow.VX], block[StateRow.FX + 2], block[StateRow.FY + 2] = 40.0, 0.0, 0.0
    assert block[StateRow.TEMPERATURE + 2] == thermal.start_temperature
    looks = 20_000
    _heat(block.array, PERIOD, looks)
    rate = (thermal.cooling + thermal.cooling_speed * 40.0) / thermal.heat_capacity
    expected = AIR_TEMPERATURE + (thermal.start_temperature - AIR_TEMPERATURE) * math.exp(-rate * PERIOD * looks)
    assert block[StateRow.TEMPERATURE + 2] == pytest.approx(expected, abs=0.02)
    assert block[StateRow.WEAR + 2] == 0.0


def test_steady_sliding_warms_and_wears_by_its_power():
    car = load_car("gt3")
    tyre, thermal = car.tyre_rear, car.tyre_rear.thermal
    block = Block(car, heat=True)
    speed, fy, angle = 50.0, -3000.0, 0.05
    block[StateRow.VX], block[StateRow.FY + 2], block[StateRow.FX + 2] = speed, fy, 500.0
    block[StateRow.SLIP_Y + 2] = math.tan(angle) / math.tan(tyre.peak_slip_angle)
    block[StateRow.SLIP_X + 2] = 0.02 / tyre.peak_slip_ratio
    power = (3000.0 * math.tan(angle) + 500.0 * 0.02) * speed
    looks = 10_000
    _heat(block.array, PERIOD, looks)
    cooling = thermal.cooling + thermal.cooling_speed * speed
    steady = AIR_TEMPERATURE + power / cooling
    decay = math.exp(-cooling / thermal.heat_capacity * PERIOD * looks)
    assert block[StateRow.TEMPERATURE + 2] == pytest.approx(
        steady + (thermal.start_temperature - steady) * decay, abs=0.05
    )
    assert block[StateRow.WEAR + 2] == pytest.approx(power * PERIOD * looks * thermal.wear_per_joule, rel=1e-9)


def test_grip_is_that_of_the_declared_law():
    car = load_car("gt3")
    thermal = car.tyre_rear.thermal
    for temperature, wear in ((thermal.optimal_temperature, 0.0), (40.0, 0.2), (150.0, 0.9), (-20.0, 1.0)):
        block = Block(car, heat=True)
        block[StateRow.TEMPERATURE + 2], block[StateRow.WEAR + 2], block[StateRow.GRIP + 2] = temperature, wear, 0.8
        _heat(block.array, 0.0, 1)
        assert block[StateRow.GRIP + 2] == pytest.approx(0.8 * thermal.grip_factor(temperature, wear))


def test_wear_ends_at_worn_out():
    block = Block(load_car("gt3"), heat=True)
    block[StateRow.WEAR + 2], block[StateRow.VX], block[StateRow.FX + 2], block[StateRow.SLIP_X + 2] = (
        1.0,
        60.0,
        9000.0,
        20.0,
    )
    _heat(block.array, PERIOD, 100)
    assert block[StateRow.WEAR + 2] == 1.0


def slide(roads, heat, car):
    batch = Batch(roads.straight(half_width=500.0), [car], tyre_heat=heat)
    batch.place_cars(0, 500.0, 0.0, 0.0, 40.0)
    batch.set_row(ControlRow.STEER, 0.3)
    batch.set_row(ControlRow.THROTTLE, 0.6)
    grips = []
    for _ in range(500):
        batch.step(0.001, 3)
        grips.append(batch.get_row(StateRow.GRIP, 4)[:, 0])
    return batch, np.array(grips)


def test_heat_is_off_unless_asked_for(roads):
    car = load_car("gt3")
    cold, grips = slide(roads, False, car)
    assert np.all(grips == 1.0)
    warm, grips = slide(roads, True, car)
    thermal = car.tyre_front.thermal
    seen = [
        thermal.grip_factor(t, w)
        for t, w in zip(warm.get_row(StateRow.TEMPERATURE, 4)[:, 0], warm.get_row(StateRow.WEAR, 4)[:, 0], strict=True)
    ]
    assert grips[-1] == pytest.approx(seen)
    assert grips.max() < 1.0
    assert warm.get_row(StateRow.TEMPERATURE, 4).max() > thermal.start_temperature
    assert warm.get_row(StateRow.WEAR, 4).min() > 0.0
    assert warm.get_row(StateRow.VX) != cold.get_row(StateRow.VX)


def test_a_car_without_the_section_keeps_its_grip_with_heat_on(roads):
    car = load_car("gt3")
    bare = replace(
        car, tyre_front=replace(car.tyre_front, thermal=None), tyre_rear=replace(car.tyre_rear, thermal=None)
    )
    _, grips = slide(roads, True, bare)
    assert np.all(grips == 1.0)


def test_a_worn_car_slides_wider(roads):
    def speed_held(wear):
        batch = Batch(roads.straight(half_width=500.0), [load_car("gt3")], tyre_heat=True)
        batch.place_cars(0, 500.0, 0.0, 0.0, 30.0)
        for i in range(4):
            batch.set_row(StateRow.WEAR + i, wear)
            batch.set_row(StateRow.TEMPERATURE + i, 85.0)
        batch.set_row(ControlRow.STEER, 0.35)
        most = 0.0
        for _ in range(300):
            batch.step(0.001, 3)
            most = max(most, float(batch.get_row(StateRow.AY)[0]))
        return most

    loss = load_car("gt3").tyre_front.thermal.wear_loss
    assert speed_held(1.0) / speed_held(0.0) == pytest.approx(1.0 - loss, abs=0.02)
