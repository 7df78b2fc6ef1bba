"""A stadium on a coarse mesh: the line converges, beats its centre line, and its worth is a derivative."""

import os
import signal
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from helpers.roads import straight
from helpers.stadiums import build_stadium

from trailbrake.cars.car_library import load_car
from trailbrake.errors import DataError
from trailbrake.optimal import interior_point
from trailbrake.optimal.interior_point import LEVELS, START_SPEED
from trailbrake.optimal.minimum_time import plan_minimum_time
from trailbrake.optimal.stage import SCALES, UNKNOWNS, build_stage
from trailbrake.optimal.vehicle_model import vehicle_from_car
from trailbrake.units import G

pytest.importorskip("casadi", reason='CasADi is not installed: pip install "trailbrake[limit]"')

CAR = vehicle_from_car(load_car("gt3"))
QUICK = (LEVELS[1]._replace(coarseness=1.0, push=1e-2, barrier=1e-2),)
STEP = 11.0


@pytest.fixture(scope="module")
def line():
    return plan_minimum_time(build_stadium(), CAR, step=STEP, levels=QUICK)


def test_a_line_stays_on_the_road_and_within_grip(line):
    columns = line.columns
    assert np.abs(columns["offset_m"]).max() <= 6.0 - 0.5 * CAR.width - 0.6 + 1e-6
    assert max(columns[f"use_{name}"].max() for name in ("fl", "fr", "rl", "rr")) < 1.001
    assert np.all(np.diff(columns["time_s"]) > 0.0)


def test_a_line_is_quicker_than_the_centre_line(line):
    # The same model, with the road narrowed to its middle.
    centre = plan_minimum_time(build_stadium(half_width=1.7), CAR, step=STEP, levels=QUICK)
    assert np.abs(centre.columns["offset_m"]).max() <= 0.11
    assert line.time < centre.time - 0.5


def test_wheels_carry_weight_and_downforce(line):
    columns, body = line.columns, CAR.body
    loads = sum(columns[f"load_{name}_n"] for name in ("fl", "fr", "rl", "rr"))
    expected = (
        body.mass * G
        + (body.lift_front + body.lift_rear) * (columns["speed_mps"] * np.cos(columns["sideslip_rad"])) ** 2
    )
    # Rounded where a wheel lifts off: within two percent.
    np.testing.assert_allclose(loads, expected, rtol=0.02)


def test_worth_of_grip_is_the_lap_time_s_derivative(line):
    better = plan_minimum_time(build_stadium(grip=1.01), CAR, step=STEP, levels=QUICK)
    mesh = line.solution.mesh
    promised = 0.01 * float(np.sum(line.columns["worth_grip_spm"] * mesh.steps))
    assert promised > 0.0
    # First order against one percent: a tenth for the second order and the solver's tolerance.
    assert line.time - better.time == pytest.approx(promised, rel=0.1)


def test_worth_of_the_edges_is_the_lap_time_s_derivative(line):
    wider = plan_minimum_time(build_stadium(half_width=6.05), CAR, step=STEP, levels=QUICK)
    worth = line.columns["worth_left_spm2"] + line.columns["worth_right_spm2"]
    promised = 0.05 * float(np.sum(worth * sum(line.solution.mesh.halves)))
    assert promised > 0.0
    assert line.time - wider.time == pytest.approx(promised, rel=0.1)


def test_a_launch_by_a_constant_force_has_its_closed_form():
    """Without drag v^2 = v0^2 + 2 (F / m) s, and an open end leaves nothing to brake for."""
    force, length = 5000.0, 200.0
    free = {"drag": 0.0, "front": replace(CAR.front, rolling=0.0), "rear": replace(CAR.rear, rolling=0.0)}
    car = replace(CAR, drive_limits=(lambda speed: force + 0.0 * speed,), **free)
    columns = plan_minimum_time(straight(length).road, car, step=2.0, levels=(QUICK[0], LEVELS[2])).columns
    first = columns["speed_mps"][0]  # START_SPEED along the road, and what a free start gains by sliding
    assert START_SPEED <= first < 1.1 * START_SPEED
    speed = np.sqrt(first**2 + 2.0 * force / CAR.body.mass * columns["s_m"])
    np.testing.assert_allclose(columns["speed_mps"], speed, rtol=5e-3)
    np.testing.assert_allclose(columns["time_s"], (speed - first) * CAR.body.mass / force, rtol=5e-3, atol=0.02)


def test_a_car_without_forces_slides_down_the_road():
    """On a grade and a bank: the road's own kinematics, and gravity along and across the car."""
    ca = pytest.importorskip("casadi")
    stage = build_stage(CAR)
    figures = ca.Function("figures", [stage.w, stage.p], [stage.slopes, stage.pace])
    offset, heading, u, v, bend, grade, bank = 2.0, 0.1, 30.0, -1.0, 0.01, 0.08, 0.05
    unknowns = np.zeros(len(UNKNOWNS))
    unknowns[:4] = offset, heading, u, v
    slopes, pace = (np.asarray(value).ravel() for value in figures(unknowns / SCALES, [bend, grade, 0, bank, 1, 0, 0]))
    along = u * np.cos(heading) - v * np.sin(heading)
    assert pace == pytest.approx((1.0 - offset * bend) / along)
    down, aside = np.sin(np.arctan(grade)), np.cos(np.arctan(grade)) * np.sin(bank)  # shares of gravity
    assert slopes[:4] * SCALES[:4] / pace == pytest.approx([
        u * np.sin(heading) + v * np.cos(heading), -bend * along / (1.0 - offset * bend),
        -G * (down * np.cos(heading) + aside * np.sin(heading)),
        -G * (aside * np.cos(heading) - down * np.sin(heading)),
    ])  # fmt: skip


def test_a_failure_has_a_reason(monkeypatch):
    monkeypatch.setattr(interior_point, "MAX_ITERATIONS", 2)
    with pytest.raises(DataError, match=r"start 1, steps of .*: Maximum_Iterations_Exceeded.*start 3"):
        plan_minimum_time(build_stadium(), CAR, step=40.0, levels=QUICK)


@pytest.mark.skipif(sys.platform == "win32", reason="no signal of this kind")
def test_an_interrupted_plan_is_none(monkeypatch):
    ca = pytest.importorskip("casadi")
    made = ca.nlpsol

    def make_solver(*arguments):
        solver = made(*arguments)
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()  # within the half second that it takes
        return solver

    monkeypatch.setattr(ca, "nlpsol", make_solver)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever ran before in this process
    try:
        with pytest.raises(KeyboardInterrupt):
            plan_minimum_time(build_stadium(), CAR, step=4.0, levels=QUICK)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_changing_bank_is_a_grade_and_a_crest_beside_the_centreline():
    """Beside the centreline the road's height is z = n * bank(s); the car feels its derivatives along its way."""
    ca = pytest.importorskip("casadi")
    stage = build_stage(CAR)
    load = sum(stage.outputs[f"load_{name}"] for name in ("fl", "fr", "rl", "rr"))
    figures = ca.Function("figures", [stage.w, stage.p], [load, stage.slopes, stage.pace])
    offset, heading, speed, twist, twist_rate = 3.0, 0.05, 50.0, -4e-3, 1e-4
    unknowns = np.zeros(len(UNKNOWNS))
    unknowns[:3] = offset, heading, speed
    flat, twisted = (
        [np.asarray(value).ravel() for value in figures(unknowns / SCALES, [0.0, 0.0, 0.0, 0.0, 1.0, *change])]
        for change in ((0.0, 0.0), (twist, twist_rate))
    )
    along, across = speed * np.cos(heading), speed * np.sin(heading)
    rise = along**2 * offset * twist_rate + 2.0 * along * across * twist
    # The model takes the speed for its component along the road: a half of the heading's square.
    assert twisted[0][0] - flat[0][0] == pytest.approx(CAR.body.mass * rise, rel=0.01)
    slowing = (twisted[1][2] - flat[1][2]) * SCALES[2] / flat[2][0]
    assert slowing == pytest.approx(-G * np.sin(np.arctan(offset * twist)) * np.cos(heading))
