"""Our car of CommonRoad's parameters is that car: its tyre gives the forces of the package's own functions."""

import pytest
from vehiclemodels.utils import tire_model
from world_validation import bmw

from trailbrake.cars.tyre import combined_slip_force

LOAD = 2500.0


@pytest.fixture(scope="module")
def theirs():
    return bmw.parameters()


@pytest.mark.parametrize("alpha", [-0.2, -0.05, 0.01, 0.1, 0.3])
def test_side_force_over_slip_angle(theirs, alpha):
    force = combined_slip_force(0.0, alpha, LOAD, bmw.car(theirs).tyre_front.tyre_law())[1]
    assert force == pytest.approx(tire_model.formula_lateral(alpha, 0.0, LOAD, theirs.tire)[0], rel=1e-4)


def test_stiffness_and_friction_lengthwise(theirs):
    law = bmw.car(theirs).tyre_front.tyre_law()
    small = 1e-4
    slope = combined_slip_force(small, 0.0, LOAD, law)[0] / small
    # Their slip is positive in braking.
    assert slope == pytest.approx(tire_model.formula_longitudinal(-small, 0.0, LOAD, theirs.tire) / small, rel=1e-3)
    most = max(tire_model.formula_longitudinal(-0.001 * k, 0.0, LOAD, theirs.tire) for k in range(400))
    assert max(combined_slip_force(0.001 * k, 0.0, LOAD, law)[0] for k in range(400)) == pytest.approx(most, rel=1e-3)


def test_weight_and_inertia_are_theirs(theirs):
    car = bmw.car(theirs)
    roll, pitch, _ = car.unsprung_inertia
    assert car.sprung_mass == pytest.approx(theirs.m_s)
    assert car.body.roll_inertia - roll == pytest.approx(theirs.I_Phi_s)
    assert car.body.pitch_inertia - pitch == pytest.approx(theirs.I_y_s)
    # Corners split as the weight: the sprung mass's centre is the car's.
    assert theirs.m_uf * theirs.a == pytest.approx(theirs.m_ur * theirs.b)
