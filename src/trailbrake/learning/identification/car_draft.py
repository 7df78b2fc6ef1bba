"""`CarDraft`: a car file in the making, and the mass and the wheel loads that are put into it.

Mass, centre of mass, downforce and roll stiffness from wheel loads, on wires that tell them.

A car's weight stands on its wheels: their sum is the mass times gravity and the downforce, what moves between the axles
in braking is mass times the height of its centre over the wheelbase, and what moves across an axle is its share of the
roll moment (Milliken and Milliken, Race Car Vehicle Dynamics, 1995, chapter 18).
"""

import math
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from trailbrake.cars.car_checks import FRONT_SHARES
from trailbrake.cars.params import CarParams, Tyre
from trailbrake.learning.identification.class_priors import SOURCE
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.learned_value import LEARNED, LearnedValue, identified, prior
from trailbrake.learning.identification.robust_fit import fit_linear
from trailbrake.units import G

LIFT_ERROR, LIFT_SPEED = 0.003, 50.0  # downforce of an axle over the weight, by loads, at a speed in m/s: of the method

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
    # Weight, downforce and pitch of each axle. A road that is fast in a dip alone would pass for downforce.
    matrix = np.column_stack([G + np.nan_to_num(t.az), t.vx**2, t.fx])
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


@dataclass
class CarDraft:
    """A car file in the making.

    Attributes:
        car: its numbers so far.
        values: what was found, by the key of the car file or a name of its own.
        missing: what could not be learned, and why, one line each.
    """

    car: CarParams
    values: dict[str, LearnedValue] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def put(self, section: str, **found: LearnedValue | None) -> None:
        """Put values into a section; None leaves the prior's."""
        part = getattr(self.car, section)
        for key, value in found.items():
            if value is None:
                self.values[f"{section}.{key}"] = prior(getattr(part, key), 0.2)
                continue
            self.values[f"{section}.{key}"] = value
            source = LEARNED if value.source == "identified" else part.source
            part = replace(part, **{key: value.value, "source": source})
        self.car = replace(self.car, **{section: part})

    def keep_upright(self) -> None:
        """Lower the centre of mass to where the car slides before it rolls over, as it did when it was driven."""
        body, tyres = self.car.body, (self.car.tyre_front, self.car.tyre_rear)
        grip = max(tyre.mu_y * (1.0 - tyre.mu_y_load) for tyre in tyres)  # of outer wheels that carry the whole car
        highest = 0.5 * min(body.track_front, body.track_rear) / grip
        if body.cg_height > highest:
            self.missing.append(f"height of the centre of mass: {body.cg_height:.2f} m would roll the car over")
            self.car = replace(self.car, body=replace(body, cg_height=highest))


def put_mass(draft: CarDraft, mass: LearnedValue | None) -> None:
    """Put the mass (kg) into a draft, and what goes with it; None: the class's stays."""
    if mass is None:
        draft.values["body.mass"] = prior(
            draft.car.body.mass, 0.25, "of the class: forces are known over the mass alone"
        )
        return
    scale = mass.value / draft.car.body.mass
    draft.put("body", mass=mass)
    draft.car = _scale_carried(draft.car, scale)


def put_loads(draft: CarDraft, loads: LoadModel) -> None:
    """Put what wheel loads tell into a draft."""
    put_mass(draft, loads.mass)
    body = draft.car.body
    height = identified(loads.height_over_base.value * body.wheelbase, loads.height_over_base.sigma * body.wheelbase,
                        loads.height_over_base.note)  # fmt: skip
    to_front = (1.0 - loads.front_share.value) * body.wheelbase
    if 0.05 * body.wheelbase < height.value < 0.5 * body.wheelbase:
        draft.put("body", cg_height=height)
    known = draft.values["body.cg_to_front"].source != "prior"
    if not known and FRONT_SHARES[0] < loads.front_share.value < FRONT_SHARES[1]:
        draft.put("body", cg_to_front=identified(to_front, loads.front_share.sigma * body.wheelbase, "wheel loads"))
    half = 0.5 * draft.car.aero.air_density
    # Crests and dips are driven at about the same speeds each lap: they do not all cancel.
    error = LIFT_ERROR * draft.car.body.mass * G / LIFT_SPEED**2
    draft.put("aero", **{
        f"lift_area_{axle}": LearnedValue(
            value.value / half, math.hypot(value.sigma, error) / half, value.source, value.note
        )
        for axle, value in (("front", loads.lift_front), ("rear", loads.lift_rear))
    })  # fmt: skip
    _put_roll_stiffness(draft, loads)


def _scale_carried(car: CarParams, scale: float) -> CarParams:
    """Return a car whose springs, inertias, tyres' loads, brakes and engine are those for a mass of `scale` times."""

    def links(axle: str) -> object:
        own = getattr(car, f"suspension_{axle}")
        return replace(own, **{key: getattr(own, key) * scale for key in (
            "spring_rate", "bump_damping", "rebound_damping", "anti_roll_rate", "bump_stop_rate", "unsprung_mass"
        )})  # fmt: skip

    def tyre(own: Tyre) -> Tyre:
        return replace(
            own, nominal_load=own.nominal_load * scale, inertia=own.inertia * scale,
            vertical_stiffness=own.vertical_stiffness * scale, vertical_damping=own.vertical_damping * scale,
        )  # fmt: skip

    body, engine, brakes = car.body, car.engine, car.brakes
    return replace(
        car,
        body=replace(body, yaw_inertia=body.yaw_inertia * scale, roll_inertia=body.roll_inertia * scale,
                     pitch_inertia=body.pitch_inertia * scale),
        suspension_front=links("front"), suspension_rear=links("rear"), tyre_front=tyre(car.tyre_front),
        tyre_rear=tyre(car.tyre_rear),
        engine=replace(engine, torque=tuple(t * scale for t in engine.torque), inertia=engine.inertia * scale,
                       braking_torque_idle=engine.braking_torque_idle * scale,
                       braking_torque_limiter=engine.braking_torque_limiter * scale),
        gearbox=replace(car.gearbox, clutch_torque=car.gearbox.clutch_torque * scale),
        brakes=replace(brakes, torque_front=brakes.torque_front * scale, torque_rear=brakes.torque_rear * scale,
                       handbrake_torque=brakes.handbrake_torque * scale),
    )  # fmt: skip


def _put_roll_stiffness(draft: CarDraft, loads: LoadModel) -> None:
    """Set the bars so that the axles carry the load transfer that was seen; the stiffness in all is the class's."""
    car, body = draft.car, draft.car.body
    front = loads.transfer_front.value * body.track_front
    rear = loads.transfer_rear.value * body.track_rear
    centres = [
        body.mass * share * links.roll_centre
        for share, links in ((body.front_share, car.suspension_front), (1.0 - body.front_share, car.suspension_rear))
    ]
    elastic = (max(front - centres[0], 0.0), max(rear - centres[1], 0.0))
    if sum(elastic) <= 0.0:
        return
    share = min(max(elastic[0] / sum(elastic), 0.1), 0.9)
    sigma = float(np.hypot(loads.transfer_front.sigma, loads.transfer_rear.sigma)) * body.track_front / sum(elastic)
    draft.values["roll_stiffness_front_share"] = identified(share, sigma, "wheel loads in bends", floor=0.02)
    total = car.roll_stiffness_front + car.roll_stiffness_rear
    sections = {}
    for axle, part, track, tyre in (("front", share, body.track_front, car.tyre_front),
                                    ("rear", 1.0 - share, body.track_rear, car.tyre_rear)):  # fmt: skip
        links = getattr(car, f"suspension_{axle}")
        wanted = part * total * 2.0 / track**2
        wheel = wanted * tyre.vertical_stiffness / max(tyre.vertical_stiffness - wanted, 0.1 * tyre.vertical_stiffness)
        bar = 0.5 * (wheel - links.spring_rate)
        if bar < 0.0:  # softer springs in place of a bar that would be negative
            links = replace(links, spring_rate=max(wheel, 1.0))
        sections[f"suspension_{axle}"] = replace(
            links, anti_roll_rate=max(bar, 0.0), source=f"{SOURCE}; roll stiffness {LEARNED}"
        )
    draft.car = replace(car, **sections)
