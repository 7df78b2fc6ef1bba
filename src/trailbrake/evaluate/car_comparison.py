"""Compares a car file with the car that it describes, in what decides a lap. Pure functions of car files.

Forces count per mass: from a drive alone, mass and forces cannot be separated. Where the file has uncertainties, the
truth is looked for in the 95 % intervals that they make.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from trailbrake.cars.ggv_envelope import DRIVE_SPEEDS, CarFigures, compute_figures
from trailbrake.cars.params import CarParams
from trailbrake.json_types import JsonObject
from trailbrake.units import NORMAL_95, G

FIGURES = ("lateral_grip", "braking", "drive_force", "downforce", "steer_angle", "delay_s")
OWN_FORCES = ("aero.drag_area", "aero.lift_area_front", "aero.lift_area_rear")  # that count per mass


def compare_cars(file: CarParams, truth: CarParams) -> JsonObject:
    """Return how far a car file is from the truth; shares are (file - truth) / truth.

    Returns:
        lateral_grip, braking: shares, of the steady limits at `performance_figures.GRIP_SPEED`. Grip that the file
            holds back because it is not sure counts as found.
        drive_force: share, mean over `performance_figures.DRIVE_SPEEDS` below the truth's top speed, of the best gear
            at full throttle per mass; by absolute value.
        usable_drive_force: the same of what the truth's tyres carry in a straight line: no drive shows the rest.
        downforce: share of the truth's weight, difference at `performance_figures.DOWNFORCE_SPEED`, per mass.
        steer_angle: share, of the road wheels at full lock.
        delay_s: s, difference of the controls' delays.
        within: by figure, whether the truth lies in the file's 95 % interval; empty where the file has none.
        numbers_within, numbers: how many single numbers do, and how many could be compared.
        planned_share: of the grip that was found, in the file.
    """
    doubt = file.uncertainty
    share = doubt.planned_share if doubt is not None else 1.0
    file = restore_found_numbers(file)
    own, real = compute_figures(file), compute_figures(truth)
    errors: JsonObject = {
        "lateral_grip": own.lateral_grip / real.lateral_grip - 1.0,
        "braking": own.braking / real.braking - 1.0,
        "drive_force": _compare_drive(own, real, math.inf),
        "usable_drive_force": _compare_drive(own, real, real.traction),
        "downforce": own.downforce - real.downforce,
        "steer_angle": own.steer_angle / real.steer_angle - 1.0,
        "delay_s": own.delay - real.delay,
    }
    within: JsonObject = {}
    inside: list[bool] = []
    if doubt is not None:
        sizes = (doubt.lateral_grip, doubt.braking, doubt.drive_force, doubt.downforce, doubt.steer_angle, doubt.delay)
        # The errors are shares of the truth; the deviations are shares of what was found.
        within = {
            name: abs(errors[name]) <= NORMAL_95 * size * (1.0 + errors[name] if name in FIGURES[:2] else 1.0)
            for name, size in zip(FIGURES, sizes, strict=True)
        }
        inside = _compare_numbers(file, truth, doubt.deviation)
    return {
        **errors, "within": within, "numbers_within": sum(inside), "numbers": len(inside), "planned_share": share,
    }  # fmt: skip


def restore_found_numbers(car: CarParams) -> CarParams:
    """Return a learned car with the grip and downforce that were found, of which its file holds a share back."""
    doubt = car.uncertainty
    if doubt is None:
        return car
    downforce = doubt.planned_downforce
    axles = ((car.tyre_front, doubt.planned_front), (car.tyre_rear, doubt.planned_rear))
    tyres = [
        replace(tyre, mu_x=tyre.mu_x / (doubt.planned_share * share * doubt.planned_along),
                mu_y=tyre.mu_y / (doubt.planned_share * share))
        for tyre, share in axles
    ]  # fmt: skip
    aero = replace(car.aero, lift_area_front=car.aero.lift_area_front / downforce,
                   lift_area_rear=car.aero.lift_area_rear / downforce)  # fmt: skip
    return replace(car, tyre_front=tyres[0], tyre_rear=tyres[1], aero=aero)


def summarize_coverage(rows: Sequence[JsonObject]) -> JsonObject:
    """Return the share of files in whose 95 % intervals the truth lies, by figure, of all figures, and of all numbers.

    Args:
        rows: of `compare_cars`; those of files without intervals do not count.
    """
    known = [row for row in rows if row["within"]]
    if not known:
        return {}
    shares: JsonObject = {name: float(np.mean([row["within"][name] for row in known])) for name in FIGURES}
    numbers = sum(row["numbers"] for row in known)
    return {
        "files": len(known), **shares, "figures": float(np.mean([shares[name] for name in FIGURES])),
        "numbers": sum(row["numbers_within"] for row in known) / numbers if numbers else math.nan,
    }  # fmt: skip


def _compare_drive(own: CarFigures, real: CarFigures, most: float | NDArray[np.float64]) -> float:
    """Return the mean error of the drive forces over the masses, up to `most` (m/s^2)."""
    driven = (real.drive > 0.0) & (np.array(DRIVE_SPEEDS) <= real.top_speed)  # no drive shows gears beyond it
    shares = np.minimum(own.drive, most)[driven] / np.minimum(real.drive, most)[driven]
    return float(np.mean(np.abs(shares - 1.0))) if driven.any() else math.nan


def _compare_numbers(file: CarParams, truth: CarParams, deviation: Mapping[str, float]) -> list[bool]:
    """Return for each number of the file with a deviation whether the truth is in its interval.

    Friction and peak slips of tyres are compared at a quarter of each car's own weight: their nominal loads differ.
    """
    inside = []
    scale = file.body.mass / truth.body.mass
    for key, sigma in deviation.items():
        own, real = _number_at(file, key), _number_at(truth, key)
        if own is None or real is None:
            continue
        if key in OWN_FORCES:
            real *= scale
        inside.append(abs(own - real) <= NORMAL_95 * sigma)
    return inside


def _number_at(car: CarParams, key: str) -> float | None:
    """Return a number of a car by its key, tyre numbers at a quarter of its weight; None where there is none."""
    section, _, name = key.partition(".")
    if section == "gearbox" and name.startswith("overall_ratio."):
        gear = int(name.rpartition(".")[2])
        return car.gearbox.overall_ratio(gear) if gear <= car.gearbox.top_gear else None
    if key == "brakes.force_over_mass":
        return car.full_brake_force / car.body.mass
    value = getattr(getattr(car, section, None), name, None)
    if not isinstance(value, (int, float)):
        return None
    if section.startswith("tyre_"):
        tyre = getattr(car, section)
        more = 0.25 * car.body.mass * G / tyre.nominal_load - 1.0
        if name in ("mu_x", "mu_y"):
            return float(value * (1.0 - getattr(tyre, f"{name}_load") * more))
        if name in ("peak_slip_angle", "peak_slip_ratio"):
            return float(value / (1.0 - tyre.slip_load * more))
        if name == "mu_y_load":
            return float(value * (0.25 * car.body.mass * G / tyre.nominal_load))
    return float(value)
