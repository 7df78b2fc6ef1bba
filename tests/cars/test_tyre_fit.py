import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.tyre_fit import COEFFICIENTS, fit_curve, magic_formula_curve

TYRES = [
    pytest.param(tyre, id=f"{name}-{end}")
    for name in car_names()
    for end, tyre in (("front", load_car(name).tyre_front), ("rear", load_car(name).tyre_rear))
]


@pytest.mark.parametrize("tyre", TYRES)
def test_the_fit_is_within_half_a_thousandth_of_the_peak(tyre):
    b, c, e = tyre.stiffness_factor, tyre.shape, tyre.curvature
    curve = fit_curve(b, c, e)
    assert curve.coefficients.shape == (COEFFICIENTS,)
    slips = np.concatenate([np.geomspace(1e-9, 1e-2, 200), np.linspace(0.01, 8.0, 20_000), np.geomspace(8.0, 1e6, 500)])
    x = b * slips
    truth = np.sin(c * np.arctan(x - e * (x - np.arctan(x))))  # Pacejka 2012, equation 4.49 with D = 1
    error = np.abs(curve.curve_at(slips) - truth).max()
    assert error < 5e-4
    assert error == pytest.approx(curve.error, rel=0.1)  # it knows how good it is
    assert curve.curve_at(np.zeros(1))[0] == 0.0


@pytest.mark.parametrize("tyre", TYRES)
def test_the_fit_s_stiffness_is_the_formula_s(tyre):
    b, c, e = tyre.stiffness_factor, tyre.shape, tyre.curvature
    assert fit_curve(b, c, e).curve_at(np.array([1e-7]))[0] / 1e-7 == pytest.approx(b * c, rel=0.01)


def test_one_tyre_is_fitted_once():
    assert fit_curve(1.5, 1.45, -0.4) is fit_curve(1.5, 1.45, -0.4)


@settings(max_examples=30)
@given(shape=st.floats(1.15, 1.9), curvature=st.floats(-2.0, 0.6))
def test_any_reasonable_curve_is_fitted_with_its_error_known(shape, curvature):
    from msgspec.structs import replace

    tyre = replace(load_car("gt3").tyre_front, shape=shape, curvature=curvature)
    b = tyre.stiffness_factor
    curve = fit_curve(b, shape, curvature)
    slips = np.linspace(0.0, 6.0, 3001)[1:]
    error = np.abs(curve.curve_at(slips) - magic_formula_curve(slips, b, shape, curvature)).max()
    assert error <= curve.error * 1.1 + 1e-12
    assert error < 0.02
