"""`CarParams`: the schema of a car file. One declaration carries unit, meaning and allowed range of a value.

Lengths in m, masses in kg, angles in rad, torques in N m; engine speeds are in rpm, as data sheets print them.
Frames as everywhere: x forward, y left, z up (ISO 8855). Pure data: nothing here computes physics.
"""

import math
from typing import Annotated, Literal

import msgspec
from msgspec import Meta


def _positive(text: str) -> Meta:
    return Meta(gt=0.0, description=text)


def _not_negative(text: str) -> Meta:
    return Meta(ge=0.0, description=text)


def _share(text: str) -> Meta:
    return Meta(ge=0.0, le=1.0, description=text)


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    source: Annotated[str, Meta(description="where the numbers of this section come from")] = ""


class Body(_Section, frozen=True):
    """Mass, inertia, where the axles are, and how the axles share load transfer."""

    mass: Annotated[float, _positive("kg, with driver and half of the fuel")]
    yaw_inertia: Annotated[float, _positive("kg m^2, about the vertical through the centre of mass")]
    cg_height: Annotated[float, _positive("m, centre of mass above the road")]
    wheelbase: Annotated[float, _positive("m")]
    cg_to_front: Annotated[float, _positive("m, centre of mass to front axle, along x")]
    track_front: Annotated[float, _positive("m, between the front contact points")]
    track_rear: Annotated[float, _positive("m, between the rear contact points")]
    roll_stiffness_front_share: Annotated[float, _share("1, front axle's share of the roll stiffness")]
    roll_centre_front: Annotated[float, _not_negative("m, height of the front roll centre")]
    roll_centre_rear: Annotated[float, _not_negative("m, height of the rear roll centre")]
    load_transfer_lag: Annotated[float, _positive("s, first-order lag of roll and pitch load transfer")]
    length: Annotated[float, _positive("m, of the box that touches walls and cars")]
    width: Annotated[float, _positive("m, of the box that touches walls and cars")]

    @property
    def cg_to_rear(self) -> float:
        """Distance from the centre of mass to the rear axle (m)."""
        return self.wheelbase - self.cg_to_front

    @property
    def front_share(self) -> float:
        """Share of the weight on the front axle, standing on level ground."""
        return self.cg_to_rear / self.wheelbase


class Aero(_Section, frozen=True):
    """Forces of the air: F = density / 2 * area * v^2."""

    air_density: Annotated[float, _positive("kg/m^3")]
    drag_area: Annotated[float, _not_negative("m^2, drag coefficient times frontal area")]
    lift_area_front: Annotated[float, Meta(description="m^2, on the front axle, positive = downforce")]
    lift_area_rear: Annotated[float, Meta(description="m^2, on the rear axle, positive = downforce")]


class Tyre(_Section, frozen=True):
    """One tyre of an axle. The law is in `trailbrake.cars.tyre`; `law()` gives its arguments.

    Friction: mu(Fz) = mu * (1 - mu_load * (Fz / nominal_load - 1)); peak slips grow likewise with slip_load.
    """

    radius: Annotated[float, _positive("m, effective rolling radius")]
    inertia: Annotated[float, _positive("kg m^2, one wheel with tyre, disc and hub about its axle")]
    nominal_load: Annotated[float, _positive("N, the load at which mu and peak slip are given")]
    mu_x: Annotated[float, _positive("1, peak longitudinal friction at nominal load")]
    mu_y: Annotated[float, _positive("1, peak lateral friction at nominal load")]
    mu_x_load: Annotated[float, Meta(ge=0.0, le=0.5, description="1, relative loss of mu_x per nominal load")]
    mu_y_load: Annotated[float, Meta(ge=0.0, le=0.5, description="1, relative loss of mu_y per nominal load")]
    peak_slip_ratio: Annotated[float, Meta(gt=0.0, lt=1.0, description="1, |slip ratio| of peak force")]
    peak_slip_angle: Annotated[float, Meta(gt=0.0, lt=0.6, description="rad, |slip angle| of peak force")]
    slip_load: Annotated[float, Meta(ge=-0.5, le=0.5, description="1, relative growth of both per nominal load")]
    shape: Annotated[float, Meta(gt=1.0, lt=2.0, description="1, Magic Formula C: how much force is left sliding")]
    curvature: Annotated[float, Meta(le=0.95, ge=-5.0, description="1, Magic Formula E: how sharp the peak is")]
    rolling_resistance: Annotated[float, Meta(ge=0.0, le=0.1, description="1, drag over load")]
    relaxation_x: Annotated[float, _positive("m, longitudinal relaxation length")]
    relaxation_y: Annotated[float, _positive("m, lateral relaxation length")]

    @property
    def stiffness(self) -> float:
        """Magic Formula B that puts the peak of the normalised curve at slip 1.

        Solves C * atan(B - E * (B - atan(B))) = pi / 2 by Newton's method; the left side grows with B as E < 1.
        """
        target = math.tan(0.5 * math.pi / self.shape)
        b = target
        for _ in range(50):
            value = b * (1.0 - self.curvature) + self.curvature * math.atan(b) - target
            step = value / (1.0 - self.curvature + self.curvature / (1.0 + b * b))
            b = max(1e-6, b - step)
            if abs(step) < 1e-14:
                break
        return b

    def law(self) -> tuple[float, ...]:
        """Return the last 11 arguments of `trailbrake.cars.tyre.combined`, in order."""
        return (
            self.nominal_load, self.mu_x, self.mu_y, self.mu_x_load, self.mu_y_load, self.peak_slip_ratio,
            math.tan(self.peak_slip_angle), self.slip_load, self.stiffness, self.shape, self.curvature,
        )  # fmt: skip


class Engine(_Section, frozen=True):
    """Full-throttle torque over speed, what the engine does with the throttle shut, and its limits."""

    rpm: Annotated[tuple[float, ...], Meta(min_length=2, max_length=32, description="rpm, rising")]
    torque: Annotated[tuple[float, ...], Meta(min_length=2, max_length=32, description="N m at full throttle")]
    idle_rpm: Annotated[float, _positive("rpm")]
    limiter_rpm: Annotated[float, _positive("rpm, above it the fuel is cut")]
    inertia: Annotated[float, _positive("kg m^2, crankshaft, flywheel and clutch")]
    braking_torque_idle: Annotated[float, _not_negative("N m, resisting with the throttle shut, at idle")]
    braking_torque_limiter: Annotated[float, _not_negative("N m, resisting with the throttle shut, at the limiter")]

    @property
    def peak_power(self) -> float:
        """Largest power at the points of the curve (W)."""
        return max(n * math.pi / 30.0 * t for n, t in zip(self.rpm, self.torque, strict=True))


class Gearbox(_Section, frozen=True):
    """Clutch, ratios and shifting."""

    ratios: Annotated[tuple[float, ...], Meta(min_length=1, max_length=10, description="1, first gear first")]
    reverse: Annotated[float, _positive("1, size of the reverse ratio")]
    final_drive: Annotated[float, _positive("1, multiplies every ratio")]
    efficiency: Annotated[float, Meta(gt=0.5, le=1.0, description="1, crankshaft to wheels")]
    shift_time: Annotated[float, _not_negative("s, without drive torque in a shift")]
    upshift_rpm: Annotated[float, _positive("rpm, the automatic shifts up above it")]
    downshift_rpm: Annotated[float, _positive("rpm, the automatic shifts down when the lower gear stays below it")]
    clutch_torque: Annotated[float, _positive("N m, what the closed clutch can carry")]

    @property
    def top_gear(self) -> int:
        """Number of the highest gear."""
        return len(self.ratios)

    def overall(self, gear: int) -> float:
        """Return engine speed over wheel speed in `gear` (-1, 0, 1, 2, ...); negative in reverse, 0 in neutral."""
        if gear == 0:
            return 0.0
        return self.final_drive * (-self.reverse if gear < 0 else self.ratios[gear - 1])


class Differential(_Section, frozen=True):
    """What a driven axle does with the difference of its wheels' speeds."""

    kind: Literal["open", "lsd", "locked"]
    preload: Annotated[float, _not_negative("N m, difference of wheel torques without drive; lsd only")] = 0.0
    lock_power: Annotated[float, _share("1, difference of wheel torques over driving axle torque; lsd only")] = 0.0
    lock_coast: Annotated[float, _share("1, difference of wheel torques over braking axle torque; lsd only")] = 0.0


class Drive(_Section, frozen=True):
    """Which wheels are driven."""

    layout: Literal["fwd", "rwd", "awd"]
    differential: Differential
    awd_front_share: Annotated[float, _share("1, front axle's share of the drive torque; awd only")] = 0.5

    @property
    def front_share(self) -> float:
        """Share of the drive torque that goes to the front axle."""
        return {"fwd": 1.0, "rwd": 0.0, "awd": self.awd_front_share}[self.layout]


class Brakes(_Section, frozen=True):
    """Torques at full pedal, and the two assistants."""

    torque_front: Annotated[float, _positive("N m, both front wheels together at full pedal")]
    torque_rear: Annotated[float, _positive("N m, both rear wheels together at full pedal")]
    handbrake_torque: Annotated[float, _not_negative("N m, both rear wheels together at full lever")]
    abs: bool
    abs_slip: Annotated[float, _positive("1, combined slip that ABS holds a braked wheel at, 1 = peak")]
    tc: bool
    tc_slip: Annotated[float, _positive("1, combined slip that TC holds a driven wheel at, 1 = peak")]

    @property
    def front_share(self) -> float:
        """Brake bias: front share of the torque."""
        return self.torque_front / (self.torque_front + self.torque_rear)


class Steering(_Section, frozen=True):
    """From the steer command to the road wheels. Both front wheels turn by the same angle."""

    max_angle: Annotated[float, Meta(gt=0.0, lt=1.4, description="rad, road-wheel angle at full lock")]
    ratio: Annotated[float, _positive("1, steering-wheel angle over road-wheel angle")]
    max_rate: Annotated[float, _positive("rad/s, fastest change of the road-wheel angle")]


class Fuel(_Section, frozen=True):
    """Fuel is counted; its weight stays that of the half-full tank in `body.mass`."""

    capacity: Annotated[float, _positive("l; a drive starts with half of it")]
    density: Annotated[float, _positive("kg/l")]
    specific_consumption: Annotated[float, _positive("g/kWh at the crankshaft")]


class CarParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A car. Make one with `trailbrake.cars.load.load`, which also checks that the values fit together."""

    name: str
    title: str
    body: Body
    aero: Aero
    tyre_front: Tyre
    tyre_rear: Tyre
    engine: Engine
    gearbox: Gearbox
    drive: Drive
    brakes: Brakes
    steering: Steering
    fuel: Fuel

    @property
    def driven_radius(self) -> float:
        """Rolling radius of the driven wheels (m); the mean over the axles of an AWD car, by torque share."""
        front = self.drive.front_share
        return front * self.tyre_front.radius + (1.0 - front) * self.tyre_rear.radius

    @property
    def full_brake_force(self) -> float:
        """Force of all brakes at full pedal, were the tyres to hold it (N)."""
        return self.brakes.torque_front / self.tyre_front.radius + self.brakes.torque_rear / self.tyre_rear.radius

    def engine_speed(self, speed: float, gear: int) -> float:
        """Return the crankshaft speed (rad/s) with the clutch closed at car speed `speed` (m/s) without slip."""
        return speed / self.driven_radius * self.gearbox.overall(gear)

    def effective_mass(self, gear: int) -> float:
        """Return the mass (kg) that a force at the wheels accelerates in `gear`: the car, its wheels and the engine."""
        wheels = sum(2.0 * tyre.inertia / tyre.radius**2 for tyre in (self.tyre_front, self.tyre_rear))
        engine = self.engine.inertia * (self.gearbox.overall(gear) / self.driven_radius) ** 2
        return self.body.mass + wheels + engine

    def drive_force(self, speed: float, gear: int) -> float:
        """Return the full-throttle force at the wheels (N) at `speed` (m/s) in `gear`; 0 above the limiter."""
        rpm = self.engine_speed(speed, gear) * 30.0 / math.pi
        if rpm > self.engine.limiter_rpm:
            return 0.0
        torque = interpolate(max(rpm, self.engine.idle_rpm), self.engine.rpm, self.engine.torque)
        return torque * self.gearbox.overall(gear) * self.gearbox.efficiency / self.driven_radius


def interpolate(x: float, xs: tuple[float, ...], ys: tuple[float, ...]) -> float:
    """Return the piecewise linear value at `x`, held constant beyond the ends."""
    if x <= xs[0]:
        return ys[0]
    for i in range(1, len(xs)):
        if x <= xs[i]:
            return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[-1]
