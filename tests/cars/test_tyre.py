import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.tyre import combined_slip_force, magic_formula, value_at_load
from trailbrake.kernels import jit

LAWS = [tyre.tyre_law() for name in car_names() for car in [load_car(name)] for tyre in (car.tyre_front, car.tyre_rear)]


@jit
def curves(slips, b, c, e, out):
    for i in range(slips.shape[0]):
        out[i] = magic_formula(slips[i], b, c, e)


@pytest.mark.parametrize("law", LAWS)
def test_the_curve_peaks_at_slip_one(law):
    b, c, e = law[8:]
    slips = np.linspace(0.0, 6.0, 6001)
    shares = np.empty(len(slips))
    curves(slips, b, c, e, shares)
    assert slips[int(np.argmax(shares))] == pytest.approx(1.0, abs=5e-3)  # flat there: 1e-6 of force in 5e-3 of slip
    assert shares[1000] == pytest.approx(1.0, abs=2e-6)  # as good as its arctangents
    x = b * slips
    assert shares == pytest.approx(np.sin(c * np.arctan(x - e * (x - np.arctan(x)))), abs=2e-6)
    assert min(shares[1000:]) > 0.4  # a sliding tyre still grips; least where the source says so, in f1


@pytest.mark.parametrize("law", LAWS)
@given(angle=st.floats(-math.pi, math.pi), load_n=st.floats(200.0, 12000.0))
def test_the_limit_is_the_ellipse(law, angle, load_n):
    nominal, mu_x, mu_y, fall_x, fall_y, peak_x, peak_y, growth = law[:8]
    stretch = 1.0 / value_at_load(1.0, -growth, load_n, nominal)
    fx, fy, slip = combined_slip_force(
        math.cos(angle) * peak_x * stretch, math.sin(angle) * peak_y * stretch, load_n, law
    )
    limit_x = value_at_load(mu_x, -fall_x, load_n, nominal) * load_n
    limit_y = value_at_load(mu_y, -fall_y, load_n, nominal) * load_n
    assert slip == pytest.approx(1.0)
    assert math.hypot(fx / limit_x, fy / limit_y) == pytest.approx(1.0, abs=2e-6)


def test_signs_follow_iso_8855():
    law = LAWS[0]
    fx, fy, _ = combined_slip_force(0.05, 0.0, 4000.0, law)
    assert fx > 0.0
    assert fy == 0.0
    fx, fy, _ = combined_slip_force(0.0, 0.05, 4000.0, law)
    assert fx == 0.0
    assert fy < 0.0  # moving left: pushed to the right


@pytest.mark.parametrize("load_n", [0.0, -500.0])
def test_no_load_no_force(load_n):
    fx, fy, slip = combined_slip_force(0.1, 0.1, load_n, LAWS[0])
    assert fx == fy == 0.0
    assert slip > 0.0


def test_no_slip_no_force():
    fx, fy, slip = combined_slip_force(0.0, 0.0, 4000.0, LAWS[0])
    assert fx == fy == 0.0
    assert 0.0 <= slip < 1e-8


def test_small_slip_gives_the_linear_stiffness():
    law = LAWS[0]
    mu_y, peak_y, b, c = law[2], law[6], law[8], law[9]
    small = 1e-3 * peak_y  # nearer to 0 the curve's own error, 5e-8 of the peak, would show
    _, fy, _ = combined_slip_force(0.0, small, law[0], law)
    assert -fy / small == pytest.approx(b * c * mu_y * law[0] / peak_y, rel=1e-4)


def test_grip_falls_with_load():
    law = LAWS[0]

    def friction(load_n):
        stretch = 1.0 / value_at_load(1.0, -law[7], load_n, law[0])
        return -combined_slip_force(0.0, law[6] * stretch, load_n, law)[1] / load_n

    assert friction(2000.0) > friction(4000.0) > friction(8000.0) > 0.0


@pytest.mark.parametrize("load_n", [2000.0, 3000.0, 4000.0, 6000.0])
def test_the_tyre_of_the_f1_is_that_of_its_source(load_n):
    """Peaks by load as published, and mu = mu_max sin(Q atan(S rho)) with Q = 1.9, S = pi / (2 atan Q)."""
    law = load_car("f1").tyre_front.tyre_law()
    between = (load_n - 2000.0) / 4000.0
    mu_x, mu_y = 1.75 - 0.35 * between, 1.80 - 0.35 * between
    kappa_max, lambda_max = 0.11 - 0.01 * between, math.radians(9.0 - between)
    q, s = 1.9, math.pi / (2.0 * math.atan(1.9))
    for kappa in (0.01, 0.03, 0.06, 0.08, 0.11):
        wanted = mu_x * math.sin(q * math.atan(s * kappa / kappa_max)) * load_n
        assert combined_slip_force(kappa, 0.0, load_n, law)[0] == pytest.approx(wanted, rel=0.015)
    for angle in (0.01, 0.04, 0.08, 0.11, 0.15):
        wanted = mu_y * math.sin(q * math.atan(s * angle / lambda_max)) * load_n
        # The source counts the angle, we its tangent: 1 % at 0.15 rad.
        assert -combined_slip_force(0.0, math.tan(angle), load_n, law)[1] == pytest.approx(wanted, rel=0.015)
