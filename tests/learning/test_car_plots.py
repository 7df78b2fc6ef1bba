"""Plots of a learned car: the data lie on the curves of a car that is as it was learned."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.known_drives import make_table, straight_drive
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.learning.car_report import POINTS, make_car_plots
from trailbrake.learning.identification.braking import Braking
from trailbrake.learning.identification.learned_value import identified
from trailbrake.learning.identification.powertrain import find_powertrain
from trailbrake.learning.identification.robust_fit import Fit
from trailbrake.learning.identification.tyre_forces import P, TyreFit
from trailbrake.units import G

CAR = load_car("gt3")
EMPTY = SimpleNamespace(car=CAR, powertrain=None, tyres=None, braking=None, gearing=None, values={})


def learned(**found):
    """Return a learned car of which only `found` is known."""
    return SimpleNamespace(**{**vars(EMPTY), **found})


def find_plot(plots, words):
    """Return the points (x, y) of the plot whose title has `words`, and its curves."""
    plot = next(plot for plot in plots if words in plot.title)
    points = [(x, y) for style, x, y in plot.series if style == POINTS]
    return points[0] if points else None, [(x, y) for style, x, y in plot.series if style != POINTS]


def make_tyre_fit(rows, steer=0.4, signal="steer"):
    """Return a tyres' fit with rows for the plots."""
    value = np.zeros(len(P))
    value[P.STEER] = steer
    fit = Fit(value, np.zeros(len(P)), np.zeros((len(P), len(P))), 1.0, len(rows))
    return TyreFit(fit, np.ones(len(P)), signal, 1.0, 1.0, (1.0, 1.0), False, rows)


def test_a_car_of_which_nothing_is_known_has_its_limits_alone():
    (plot,) = make_car_plots(make_table(200, vx=20.0), EMPTY)
    assert "planned limits" in plot.title


def test_pulls_lie_on_the_torque_and_coasting_on_the_resistance():
    table, _, _ = straight_drive(CAR, (1.0, 0.0))
    power = find_powertrain(table, CAR)
    plots = make_car_plots(table, learned(powertrain=power))
    (rpm, torque), curves = find_plot(plots, "full-throttle torque")
    assert len(rpm) > 200
    middle, low, high = (np.interp(rpm, x, y) for x, y in curves)
    assert torque == pytest.approx(middle, rel=0.07)
    assert np.mean((torque > low) & (torque < high)) > 0.9
    (speed, force), [(at, model)] = find_plot(plots, "air drag")
    assert force == pytest.approx(np.interp(speed, at, model), abs=0.05)


def test_each_gear_has_a_line_through_its_engine_speeds():
    table, _, _ = straight_drive(CAR, (1.0,))
    (speed, rpm), lines = find_plot(make_car_plots(table, learned(gearing=object())), "engine speed (rpm)")
    nearest = np.min([np.abs(np.interp(speed, x, y) - rpm) for x, y in lines], axis=0)
    assert nearest == pytest.approx(0.0, abs=0.01 * rpm.max())
    assert max(y.max() for _, y in lines) == pytest.approx(CAR.engine.limiter_rpm)


def test_braking_lies_on_the_line_of_the_pedal():
    pedal = np.repeat([0.1, 0.2, 0.4], 60)
    air = 0.5 * CAR.aero.air_density * CAR.aero.drag_area / CAR.body.mass * 25.0**2
    spin = np.repeat(25.0 / np.array([CAR.tyre_front.radius, CAR.tyre_rear.radius]), 2)[None, :] * np.ones((180, 1))
    table = make_table(180, vx=25.0, fx=-20.0 * pedal - air - 0.015 * G, brake=pedal, spin=spin)
    found = learned(braking=Braking(identified(20.0, 0.5, ""), None, 9.0))
    (at, force), [(x, line), *interval] = find_plot(make_car_plots(table, found), "brakes' force")
    assert set(np.round(at, 3)) <= {0.1, 0.2, 0.4}
    assert force == pytest.approx(np.interp(at, x, line), abs=0.01)
    assert [y[-1] for _, y in interval] == pytest.approx([0.4 * (20.0 - 0.98), 0.4 * (20.0 + 0.98)])


def test_the_curve_of_an_axle_peaks_at_its_friction_and_slip_angle():
    body, tyre = CAR.body, CAR.tyre_front
    load = 0.5 * body.mass * G * body.front_share
    own = replace(tyre, nominal_load=load)  # so that the load changes nothing
    angle = np.linspace(-0.3, 0.3, 400)
    rows = np.column_stack([angle, angle, -np.sign(angle), -np.sign(angle), np.full(400, 20.0), np.zeros(400)])
    plots = make_car_plots(make_table(10), learned(car=replace(CAR, tyre_front=own), tyres=make_tyre_fit(rows)))
    (x, y), [(at, force)] = find_plot(plots, "front axle")
    assert np.all(np.sign(x) == np.sign(y))  # a positive slip angle is one that pushes to the left
    assert force.max() == pytest.approx(tyre.mu_y, rel=1e-3)
    assert np.radians(at[np.argmax(force)]) == pytest.approx(tyre.peak_slip_angle, abs=0.006)


def test_slow_bends_lie_on_the_line_of_the_steering():
    steer = np.repeat(np.linspace(-0.8, 0.8, 9), 100)
    yaw_rate = 5.0 * np.tan(0.4 * steer) / CAR.body.wheelbase
    rows = np.zeros((100, 6))
    rows[:, 0] = np.linspace(-0.1, 0.1, 100)
    table = make_table(900, vx=5.0, steer=steer, yaw_rate=yaw_rate, fy=5.0 * yaw_rate)
    (x, y), [(at, line)] = find_plot(make_car_plots(table, learned(tyres=make_tyre_fit(rows))), "road wheels' angle")
    assert len(x) > 300
    assert y == pytest.approx(np.interp(x, at, line), abs=0.01)


def test_the_delayed_commands_lie_on_what_the_brakes_give():
    table, _, _ = straight_drive(CAR, (1.0, 0.0))
    power = find_powertrain(table, CAR)
    rows, late = 300, 5
    pedal = np.repeat([0.0, 0.3, 0.0, 0.5, 0.0, 0.2], 50)
    given = np.concatenate([np.zeros(late), pedal])[:rows]
    spin = np.full((rows, 4), 1e5 / CAR.driven_radius)  # at which nothing else counts
    table = dataclasses.replace(
        make_table(rows, vx=20.0, brake_command=pedal, brake=pedal, gear=2, engine=300.0, spin=spin), fx=-20.0 * given
    )
    values = {"actuation.delay": identified(late / 50.0, 0.002, "")}
    found = learned(powertrain=power, braking=Braking(identified(20.0, 0.5, ""), None, 9.0), values=values)
    _, [(later, commanded), (time, force)] = find_plot(make_car_plots(table, found), "100 ms before")
    early = [np.interp(time[late:], later - shift, commanded) - force[late:] for shift in (0.0, late / 50.0)]
    wrong = [np.mean(np.abs(apart - np.median(apart))) for apart in early]  # the median: what the engine brakes
    assert wrong[0] < 0.02
    assert wrong[1] > 0.3
