"""The world's tyres against the package's tyre law and against closed forms of relaxation."""

import itertools
import math

import numpy as np
import pytest
from helpers.work_blocks import Block

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.tyre import combined_slip_force
from trailbrake.kernels import jit
from trailbrake.world.row_layout import AxleRow, ParamRow, StateRow, WorkRow
from trailbrake.world.substep_inputs import prepare_axle_gains
from trailbrake.world.tyres import advance_deflection, compute_tyre_forces


@jit
def _friction(block, a, i):
    compute_tyre_forces(block, a, i, 0)


@jit
def _stretch(block, dt, steps):
    prepare_axle_gains(block, 1, 0, dt)
    for _ in range(steps):
        advance_deflection(block, 1, 2, 1.0, 0)


def grip_on(block, a, wheel, grip):
    """Give a wheel the axle's friction, by the factor `grip` of the ground."""
    for row, axle in ((WorkRow.MU_X, AxleRow.MU_X), (WorkRow.MU_X_LOAD, AxleRow.MU_X_LOAD)):
        block[row + wheel] = grip * block[axle + a]
    for row, axle in ((WorkRow.MU_Y, AxleRow.MU_Y), (WorkRow.MU_Y_LOAD, AxleRow.MU_Y_LOAD)):
        block[row + wheel] = -grip * block[axle + a]


@pytest.mark.parametrize("name", car_names())
def test_friction_is_the_package_s_tyre_law(name):
    rng = np.random.default_rng(5)
    car = load_car(name)
    block = Block(car)
    for _ in range(300):
        a = int(rng.integers(2))
        tyre = (car.tyre_front, car.tyre_rear)[a]
        sx, sy = rng.normal(0.0, 1.0, 2) * 10.0 ** rng.uniform(-2.0, 0.5)
        load_n, grip = tyre.nominal_load * rng.uniform(0.05, 1.8), rng.uniform(0.5, 1.0)
        # The law counts slips; the kernel takes them over those of the peaks under this load.
        per_peak = 1.0 - tyre.slip_load * (load_n / tyre.nominal_load - 1.0)
        ratio, tan = sx * tyre.peak_slip_ratio / per_peak, sy * math.tan(tyre.peak_slip_angle) / per_peak
        fx, fy, slip = combined_slip_force(ratio, tan, load_n, tyre.tyre_law())
        wheel = 2 * a
        block[StateRow.FX + wheel], block[StateRow.FY + wheel], block[StateRow.LOAD + wheel] = sx, sy, load_n
        grip_on(block, a, wheel, grip)
        _friction(block.array, a, wheel)
        largest = 6e-4 * load_n * max(tyre.mu_x, tyre.mu_y) * 1.3  # of the fit; friction grows as load falls
        assert block[StateRow.FX + wheel] == pytest.approx(grip * fx, abs=largest)
        assert block[StateRow.FY + wheel] == pytest.approx(grip * fy, abs=largest)
        assert block[StateRow.SLIP + wheel] == pytest.approx(slip, rel=1e-6)


def test_no_load_no_force():
    block = Block(load_car("gt3"))
    block[StateRow.FX], block[StateRow.FY], block[StateRow.LOAD] = 1.0, 1.0, 0.0
    grip_on(block, 0, 0, 1.0)
    _friction(block.array, 0, 0)
    assert block[StateRow.FX] == block[StateRow.FY] == 0.0


def test_slip_follows_with_the_relaxation_length():
    """A wheel that is turned at once into a slip angle: force lags by 1 - exp(-distance / sigma), Pacejka 2012, 7.2."""
    car = load_car("hatchback")
    block = Block(car)
    speed, angle, dt = 20.0, 0.01, 1e-5
    block[StateRow.VX], block[WorkRow.AXLE_VY + 1] = speed, speed * math.tan(angle)
    block[StateRow.SPIN + 2] = speed / car.tyre_rear.radius
    steps = 1500
    _stretch(block.array, dt, steps)
    share = 1.0 - math.exp(-speed * dt * steps / car.tyre_rear.relaxation_y)
    assert block[StateRow.SLIP_Y + 2] == pytest.approx(
        share * math.tan(angle) / math.tan(car.tyre_rear.peak_slip_angle), rel=1e-3
    )
    assert block[StateRow.SLIP_X + 2] == pytest.approx(0.0, abs=1e-12)


def test_slip_ratio_and_angle_settle_where_their_definitions_say():
    car = load_car("gt3")
    block = Block(car)
    speed = 30.0
    block[StateRow.VX], block[WorkRow.AXLE_VY + 1] = speed, -1.2
    block[StateRow.SPIN + 2] = 1.04 * speed / car.tyre_rear.radius
    _stretch(block.array, 0.001, 400)
    assert block[StateRow.SLIP_X + 2] * car.tyre_rear.peak_slip_ratio == pytest.approx(0.04)
    assert block[StateRow.SLIP_Y + 2] * math.tan(car.tyre_rear.peak_slip_angle) == pytest.approx(-1.2 / speed)


def test_at_rest_a_tyre_is_a_spring():
    """Pushed aside by a distance, it holds it: no speed, no letting go."""
    car = load_car("gt3")
    block = Block(car)
    block[WorkRow.AXLE_VY + 1] = 0.1
    _stretch(block.array, 0.001, 50)
    block[WorkRow.AXLE_VY + 1] = 0.0
    _stretch(block.array, 0.001, 500)
    tyre = car.tyre_rear
    assert block[StateRow.SLIP_Y + 2] * tyre.relaxation_y * math.tan(tyre.peak_slip_angle) == pytest.approx(0.005)


@pytest.mark.parametrize(("drives", "sx"), [(True, 1.0), (False, -1.0)])
def test_the_assistants_let_go_around_their_target(drives, sx):
    block = Block(load_car("gt3"))  # both targets are the peak; 20 % to either side is the band
    block[StateRow.RATIO] = 10.0
    block[WorkRow.INVERSE_ABS_SLIP2] = block[ParamRow.INVERSE_ABS_SLIP2]
    seen = []
    for size in (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3):
        block[StateRow.FX + 2], block[StateRow.FY + 2], block[StateRow.LOAD + 2] = sx * size, 0.0, 4000.0
        _friction(block.array, 1, 2)
        held, other = block[WorkRow.TC_WHEEL_FACTOR + 2], block[StateRow.ABS_FACTOR + 2]
        seen.append(held if drives else other)
        assert (other if drives else held) == 1.0
    assert seen[:2] == pytest.approx([1.0, 1.0])
    assert seen[-2:] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert all(a >= b for a, b in itertools.pairwise(seen))
    # In a slide something is left up to a third of the target and the band.
    for size, some in ((0.0, True), (0.3, True), (0.41, False)):
        block[StateRow.FX + 2], block[StateRow.FY + 2] = sx * max(size, 1e-6), 2.0
        _friction(block.array, 1, 2)
        held = block[WorkRow.TC_WHEEL_FACTOR + 2] if drives else block[StateRow.ABS_FACTOR + 2]
        assert (0.05 < held < 0.5) if some else held == 0.0
