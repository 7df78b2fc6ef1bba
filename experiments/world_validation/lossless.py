"""Energy: what is kept where nothing takes it, and what work becomes."""

from functools import cache

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.units import G
from trailbrake.world.row_layout import StateRow
from world_validation.case import Array, Case, Check, Curve, Plot, against, below
from world_validation.driving import Field, hill, plain, with_links, with_tyres


def bouncing_energy(car: CarParams, field: Field) -> tuple[float, float]:
    """Return kinetic and potential energy (J) of body and wheels about rest, linear springs, roll centres at 0."""
    body = car.body
    corner_roll, corner_pitch, _ = car.unsprung_inertia
    heave, roll, pitch = (float(field[row][0]) for row in (StateRow.HEAVE, StateRow.ROLL, StateRow.PITCH))
    rates = [float(field[row][0]) for row in (StateRow.HEAVE_RATE, StateRow.ROLL_RATE, StateRow.PITCH_RATE)]
    inertias = (car.sprung_mass, body.roll_inertia - corner_roll, body.pitch_inertia - corner_pitch)
    moving = 0.5 * sum(i * r * r for i, r in zip(inertias, rates, strict=True))
    hops, hop_rates = field.four(StateRow.HOP)[:, 0], field.four(StateRow.HOP_RATE)[:, 0]
    stored = -0.5 * car.sprung_mass * G * body.cg_height * roll * roll  # the body's weight leans
    for a, (links, tyre, x, track) in enumerate((
        (car.suspension_front, car.tyre_front, body.cg_to_front, body.track_front),
        (car.suspension_rear, car.tyre_rear, -body.cg_to_rear, body.track_rear),
    )):  # fmt: skip
        bumps = []
        for k, side in enumerate((1.0, -1.0)):
            hop, rate = float(hops[2 * a + k]), float(hop_rates[2 * a + k])
            bump = hop - (heave - x * pitch + side * 0.5 * track * roll)
            bumps.append(bump)
            moving += 0.5 * links.unsprung_mass * rate * rate
            stored += 0.5 * links.spring_rate * bump * bump + 0.5 * tyre.vertical_stiffness * hop * hop
        stored += 0.5 * links.anti_roll_rate * (bumps[0] - bumps[1]) ** 2
    return moving, stored


def rolling_mass(car: CarParams) -> float:
    """Return the mass (kg) with what the wheels' spin adds."""
    tyres = (car.tyre_front, car.tyre_rear)
    return car.body.mass + sum(2.0 * tyre.inertia / tyre.radius**2 for tyre in tyres)


@cache
def energy() -> Case:
    """Bouncing on springs without dampers; rolling over hills; work of the wheels against speed."""
    checks: list[Check] = []
    for name in ("hatchback", "gt3"):
        car = with_tyres(plain(load_car(name)), mu_x=1e-9, mu_y=1e-9, vertical_damping=0.0)
        car = with_links(
            car, bump_damping=1e-9, rebound_damping=1e-9, roll_centre=0.0, bump_travel=1.0, droop_travel=1.0
        )
        field = Field([car], [0.0])
        field.put(StateRow.HEAVE, 0.004)
        field.put(StateRow.ROLL, 0.006)
        field.put(StateRow.PITCH, 0.003)
        totals, moving, times = [], [], []
        while field.time < 20.0:
            field.step()
            kinetic, potential = bouncing_energy(car, field)
            totals.append(kinetic + potential)
            moving.append(kinetic)
            times.append(field.time)
        totals_, tenth = np.array(totals), len(totals) // 10
        first, last = float(totals_[:tenth].mean()), float(totals_[-tenth:].mean())
        checks.append(
            against(f"{name} bouncing without dampers, mean of the first and the last 2 s of 20 s", first, last, "J")
        )
        if name == "hatchback":
            cut = slice(None, 700, 2)
            t = np.array(times)
            curves = (Curve("kinetic", t[cut], np.array(moving)[cut]), Curve("all", t[cut], totals_[cut]))
    profile: tuple[Curve, ...] = ()
    for name in ("hatchback", "gt3"):
        car = plain(load_car(name))
        height, wave = 6.0, 400.0
        field = Field([car], [30.0], hill(height, wave, 5), x=1.0)
        places, speeds = [], []
        while field[StateRow.X][0] < 4.0 * wave:
            field.step()
            places.append(float(field[StateRow.X][0]))
            speeds.append(float(field[StateRow.VX][0]))
        x, v = np.array(places), np.array(speeds)
        share = car.body.mass / rolling_mass(car)
        z = 0.5 * height * (1.0 - np.cos(2.0 * np.pi * x / wave))
        ideal = np.sqrt(v[0] ** 2 - 2.0 * G * share * (z - z[0]))
        top = int(np.argmin(v))
        checks += [
            against(f"{name} over hills of {height:.0f} m: v² lost at the top", float(v[0] ** 2 - ideal[top] ** 2),
                    float(v[0] ** 2 - v[top] ** 2), "m²/s²"),
            below(f"{name} after four hills: energy missing, share of what one hill exchanges",
                  float(v[0] ** 2 - v[-1] ** 2) / (2.0 * G * share * height), "%", 0.01, 100.0),
        ]  # fmt: skip
        profile = (Curve("closed form", x[::40], ideal[::40], "--"), Curve("world", x[::40], v[::40]))
    car = plain(load_car("gt3"))
    field = Field([car], [20.0])
    start = _kinetic(car, field)
    work = slid = 0.0
    drive = np.array([0.0, 0.0, 600.0, 600.0])
    field.torques(drive, np.zeros(4))
    radii = np.array([car.tyre_front.radius] * 2 + [car.tyre_rear.radius] * 2)
    while field.time < 3.0:
        before = field.four(StateRow.SPIN)[:, 0]
        field.step()
        spins = 0.5 * (before + field.four(StateRow.SPIN)[:, 0])
        v = float(field[StateRow.VX][0])
        work += float(drive @ spins) * field.period
        slid += float(field.four(StateRow.FX)[:, 0] @ (spins * radii - v)) * field.period
    end = _kinetic(car, field)
    what = "gt3 driven by 2 x 600 N m for 3 s: work less sliding against the gain of kinetic energy"
    checks.append(against(what, work - slid, end - start, "J"))
    return Case(
        "Energy",
        "First a car without dampers bounces on its springs, tyres without friction. Then plain cars roll in neutral"
        " over smooth hills of 6 m every 400 m at 30 m/s; only the tyres' minute slip and the dampers take anything."
        " Then known torques accelerate a car.",
        "Sum of kinetic energy and that of springs, bars, tyres and height; m g Δz = ½ (m + Σ J / r²) Δv²; torque"
        " times wheel speed less tyre force times slip speed.",
        tuple(checks),
        "the energy named",
        (Plot("bouncing", "time, s", "energy, J (hatchback)", curves),
         Plot("hills", "distance, m", "speed, m/s (gt3)", profile)),
        ("A semi-implicit step keeps an energy that differs from the true one by the order of ω dt: the sum swings by"
         " some per cent within a period and does not drift.",),
    )  # fmt: skip


def _kinetic(car: CarParams, field: Field) -> float:
    spins: Array = field.four(StateRow.SPIN)[:, 0] ** 2
    wheels = car.tyre_front.inertia * float(spins[:2].sum()) + car.tyre_rear.inertia * float(spins[2:].sum())
    return 0.5 * (car.body.mass * float(field[StateRow.VX][0]) ** 2 + wheels)
