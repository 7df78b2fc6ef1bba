"""The integrator: how errors shrink with the step, and that equal runs are equal to the bit."""

import hashlib
from functools import cache

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.world.row_layout import ControlRow, ParamRow, StateRow
from world_validation.case import Array, Case, Check, Curve, Plot, below
from world_validation.driving import Field

CALL = 0.003  # s
DIVISIONS = (3, 6, 12, 24, 48)
FINEST = 384
TRUTH = "the run with a substep of 7.8 μs"


def manoeuvre(name: str, substeps: int, calls: int = 1000, looks: int = 1) -> Array:
    """Drive weaving, throttle and brake for `calls` calls; return place, yaw, speeds and roll of each, (calls, 6).

    Args:
        name: car of the library.
        substeps: of a call of 3 ms.
        calls: how many.
        looks: in how many calls each is cut.
    """
    field = Field([load_car(name)], [30.0], dt=CALL / substeps / looks, substeps=substeps)
    field.gear(3)
    most = float(field.param(ParamRow.STEER_MAX)[0])
    rows = []
    for k in range(calls):
        t = k * CALL
        field.put(ControlRow.STEER, 0.02 * np.sin(2.0 * np.pi * 0.5 * t) / most)
        field.put(ControlRow.THROTTLE, 0.3 * max(np.sin(2.0 * np.pi * 0.4 * t), 0.0))
        field.put(ControlRow.BRAKE, 0.1 * max(-np.sin(2.0 * np.pi * 0.4 * t), 0.0))
        for _ in range(looks):
            field.step()
        shown = (StateRow.X, StateRow.Y, StateRow.YAW, StateRow.VX, StateRow.YAW_RATE, StateRow.ROLL)
        rows.append([float(field[row][0]) for row in shown])
    return np.array(rows)


@cache
def convergence() -> Case:
    """Errors over the length of a substep."""
    checks: list[Check] = []
    curves: list[Curve] = []
    for name in ("hatchback", "gt3"):
        truth = manoeuvre(name, FINEST)
        steps = np.array([CALL / n for n in DIVISIONS])
        errors: dict[str, list[float]] = {"place": [], "yaw rate": []}
        for n in DIVISIONS:
            got = manoeuvre(name, n)
            errors["place"].append(float(np.hypot(*(got - truth)[:, :2].T).max()))
            errors["yaw rate"].append(float(np.abs(got - truth)[:, 4].max()))
        path = float(np.hypot(*np.diff(truth[:, :2], axis=0).T).sum())
        most = float(np.abs(truth[:, 4]).max())
        place, rate = errors["place"], errors["yaw rate"]
        order = float(np.polyfit(np.log(steps), np.log(place), 1)[0])
        checks += [
            below(
                f"{name}: place after substeps of 1 ms, over a path of {path:.0f} m", place[0] / path, "m", 0.001, path
            ),
            below(f"{name}: yaw rate with 1 ms, share of the largest", rate[0] / most, "%", 0.01, 100.0),
            below(f"{name}: order of the place's error, {order:.2f}, short of 1", max(1.0 - order, 0.0), "", 0.1),
        ]
        curves += [Curve(f"{name}, place, m", 1e3 * steps, np.array(place), "o"),
                   Curve(f"{name}, yaw rate, rad/s", 1e3 * steps, np.array(rate), "-")]  # fmt: skip
        finer = manoeuvre(name, 3, looks=8)
        same = manoeuvre(name, 24)
        apart = float(np.hypot(*(finer - same)[:, :2].T).max())
        checks.append(
            below(
                f"{name}: place by what is looked at every 3 ms and not every 0.375 ms", apart / path, "m", 0.0001, path
            )
        )
    order_line = 1e3 * np.array([CALL / n for n in DIVISIONS])
    curves.append(Curve("first order", order_line, 0.02 * order_line, "--"))
    return Case(
        "Convergence with the step",
        "Cars of the library as they are, third gear, weaving with throttle and brake for 3 s from 30 m/s; the"
        " controls change every 3 ms in all runs. Substeps of 1 ms (what the world uses) down to 62.5 μs.",
        f"Semi-implicit Euler is of first order: half the step, half the error. The truth is {TRUTH}.",
        tuple(checks),
        "the path's length, the largest yaw rate, or the order itself",
        (Plot("convergence", "substep, ms", "largest difference", tuple(curves), log=True),),
    )


def fingerprint(seed: int) -> str:
    """Return a digest of all states of 11 cars under random controls from `seed`, 600 calls."""
    random = np.random.default_rng(seed)
    cars = [load_car("gt3"), load_car("hatchback")]
    field = Field([cars[i % 2] for i in range(11)], random.uniform(5.0, 50.0, 11), x=2000.0)
    digest = hashlib.sha256()
    for k in range(600):
        if k % 30 == 0:
            field.put(ControlRow.STEER, random.uniform(-0.4, 0.4, 11))
            field.put(ControlRow.THROTTLE, random.uniform(-0.5, 1.0, 11))
            field.put(ControlRow.BRAKE, random.uniform(-2.0, 1.0, 11))
            field.put(ControlRow.GEAR, np.nan)
        field.step()
        digest.update(np.stack([field[row] for row in range(StateRow.COUNT)]).tobytes())
    return digest.hexdigest()


@cache
def repeats() -> Case:
    """Two runs of one seed."""
    first, second, other = fingerprint(1), fingerprint(1), fingerprint(2)
    checks = (
        Check("two runs of seed 1", "equal", "equal" if first == second else "not", float(first != second), 0.0),
        Check("a run of seed 2", "another", "equal" if first == other else "another", float(first == other), 0.0),
    )
    return Case(
        "Repeatability",
        "Eleven cars, two kinds in mixed order, random steer, throttle and brake from a seed, automatic gears, 1.8 s;"
        f" all {int(StateRow.COUNT)} numbers of every car's state after every call go into a SHA-256.",
        "The same digest, bit for bit.",
        checks,
        "0 where it is as it must be, 1 where not",
    )
