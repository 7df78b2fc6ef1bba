"""Mass, centre of mass, downforce and roll stiffness from wheel loads, on wires that tell them.

A car's weight stands on its wheels: their sum is the mass times gravity and the downforce, what moves between the axles
in braking is mass times the height of its centre over the wheelbase, and what moves across an axle is its share of the
roll moment (Milliken and Milliken, Race Car Vehicle Dynamics, 1995, chapter 18).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.learning.identification.robust_fit import fit_linear
from trailbrake.units import G

Array = NDArray[np.float64]

MIN_ROWS = 200
MASS_FLOOR = 0.003  # relative, of the method: loads oscillate on springs and tyres


@dataclass(frozen=True)
class LoadModel:
    """What the loads tell.

    Attributes:
        mass: kg.
        front_share: 1, of the weight.
        height_over_base: 1, height of the centre of mass over the wheelbase.
        lift_front, lift_rear: N s^2/m^2, downforce over speed squared.
        transfer_front, transfer_rear: N per m/s^2, load that moves from one wheel of the axle to the other per lateral
            force over mass.
    """

    mass: LearnedValue
    front_share: LearnedValue
    height_over_base: LearnedValue
    lift_front: LearnedValue
    lift_rear: LearnedValue
    transfer_front: LearnedValue
    transfer_rear: LearnedValue


def find_load_model(table: DriveTable) -> LoadModel | None:
    """Return the load model of the car of a drive; None where the wire tells no loads."""
    rows = np.isfinite(table.load).all(axis=1) & (table.load.min(axis=1) > 1.0)
    if rows.sum() < MIN_ROWS:
        return None
    t = table.take(rows)
    front, rear = t.load[:, :2].sum(axis=1), t.load[:, 2:].sum(axis=1)
    # Weight, downforce and pitch of each axle; what a crest or a dip adds is no more than noise.
    matrix = np.column_stack([np.full(len(t), G), t.vx**2, t.fx])
    free = (np.zeros(3), np.full(3, np.inf))
    f = fit_linear(matrix, front, free, t.blocks)
    r = fit_linear(matrix, rear, free, t.blocks)
    mass = f.value[0] + r.value[0]
    share = f.value[0] / mass
    pitch = 0.5 * (r.value[2] - f.value[2]) / mass
    spread = float(np.hypot(f.sigma[0], r.sigma[0]))
    note = "wheel loads"
    return LoadModel(
        mass=identified(mass, spread, note, floor=MASS_FLOOR),
        front_share=identified(share, spread / mass, note, floor=0.005),
        height_over_base=identified(pitch, float(np.hypot(f.sigma[2], r.sigma[2])) / mass, note, floor=0.03),
        lift_front=identified(f.value[1], f.sigma[1], note, floor=0.03),
        lift_rear=identified(r.value[1], r.sigma[1], note, floor=0.03),
        transfer_front=_transfer(t, 0),
        transfer_rear=_transfer(t, 1),
    )


def _transfer(t: DriveTable, axle: int) -> LearnedValue:
    # A left bend loads the right wheel.
    moved = 0.5 * (t.load[:, 2 * axle + 1] - t.load[:, 2 * axle])
    fit = fit_linear(np.column_stack([t.fy, np.ones(len(t))]), moved, (np.zeros(2), np.full(2, np.inf)), t.blocks)
    return identified(fit.value[0], fit.sigma[0], "wheel loads in bends", floor=0.03)
