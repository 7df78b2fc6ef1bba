import sys

import numpy as np
import pytest

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.ggv_envelope import full_throttle_force
from trailbrake.cars.tyre import combined_slip_force
from trailbrake.errors import UsageError
from trailbrake.optimal.vehicle_model import CubicCurve, import_casadi, magic_formula_tyre, vehicle_from_car

pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')


def test_the_tyre_law_is_that_of_the_package():
    law = load_car("gt3").tyre_rear.tyre_law()
    tyre = magic_formula_tyre(law)
    rng = np.random.default_rng(3)
    for slip, angle, load in rng.uniform((-0.2, -0.2, 200.0), (0.2, 0.2, 9000.0), (40, 3)):
        found = [float(value) for value in tyre(slip, angle, load, 1.0)]
        # The floor under the squared slip, 1e-6, moves forces by no more.
        np.testing.assert_allclose(found, combined_slip_force(slip, angle, load, law), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", car_names())
def test_the_smooth_drive_limit_follows_the_gears(name):
    car = load_car(name)
    vehicle = vehicle_from_car(car)
    speeds = np.linspace(10.0, 0.95 * vehicle.top_speed, 200)
    wanted = full_throttle_force(car, speeds)
    error = np.abs(vehicle.drive_limits[0](speeds) - wanted)
    assert error.mean() < 0.02 * wanted.mean()


def test_a_cubic_is_its_own_curve():
    x = np.linspace(2.0, 80.0, 50)
    cubic = np.poly1d([2e-3, -0.3, 4.0, 900.0])
    curve = CubicCurve.fit(x, cubic(x), 6)
    np.testing.assert_allclose(curve(np.linspace(2.0, 80.0, 333)), cubic(np.linspace(2.0, 80.0, 333)), rtol=1e-7)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(UsageError, match=r"trailbrake\[limit\]"):
        import_casadi()
