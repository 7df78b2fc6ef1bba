"""`CarParams`: the schema of a car file. One declaration carries unit, meaning and allowed range of a value.

Lengths in m, masses in kg, angles in rad, torques in N m; engine speeds are in rpm, as data sheets print them.
Frames as everywhere: x forward, y left, z up (ISO 8855). The sections are in `chassis`, `tyre_params` and
`drivetrain`, and all of them can be imported from here. Pure data, and closed formulas of it.
"""

import math
from typing import Self

import msgspec
from msgspec.structs import replace

from trailbrake.cars.chassis import Actuation, Aero, Body, Brakes, SteeringGear, Suspension
from trailbrake.cars.drivetrain import Differential, Driveline, Engine, Fuel, Gearbox, Hybrid, interpolate_table
from trailbrake.cars.learned import SteerRange, Uncertainty
from trailbrake.cars.tyre_params import Thermal, Tyre

__all__ = [
    "Actuation", "Aero", "Body", "Brakes", "CarParams", "Differential", "Driveline", "Engine", "Fuel", "Gearbox",
    "Hybrid", "SteerRange", "SteeringGear", "Suspension", "Thermal", "Tyre", "Uncertainty",
    "interpolate_table",
]  # fmt: skip


class CarParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A car. Make one with `trailbrake.cars.car_library.load_car`, which also checks that the values fit together."""

    name: str
    title: str
    body: Body
    suspension_front: Suspension
    suspension_rear: Suspension
    aero: Aero
    tyre_front: Tyre
    tyre_rear: Tyre
    engine: Engine
    gearbox: Gearbox
    drive: Driveline
    brakes: Brakes
    steering: SteeringGear
    fuel: Fuel
    hybrid: Hybrid | None = None
    actuation: Actuation = msgspec.field(default_factory=Actuation)
    steer_range: SteerRange | None = None
    uncertainty: Uncertainty | None = None

    @property
    def roll_stiffness_front(self) -> float:
        """Roll stiffness of the front axle (N m/rad): springs, bar and tyres."""
        return self.suspension_front.roll_stiffness(self.body.track_front, self.tyre_front.vertical_stiffness)

    @property
    def roll_stiffness_rear(self) -> float:
        """Roll stiffness of the rear axle (N m/rad): springs, bar and tyres."""
        return self.suspension_rear.roll_stiffness(self.body.track_rear, self.tyre_rear.vertical_stiffness)

    @property
    def roll_stiffness_front_share(self) -> float:
        """Front axle's share of the roll stiffness: of the load transfer that does not go through the roll centres."""
        return self.roll_stiffness_front / (self.roll_stiffness_front + self.roll_stiffness_rear)

    @property
    def sprung_mass(self) -> float:
        """Mass on the springs (kg)."""
        return self.body.mass - 2.0 * (self.suspension_front.unsprung_mass + self.suspension_rear.unsprung_mass)

    @property
    def unsprung_inertia(self) -> tuple[float, float, float]:
        """Roll, pitch and yaw inertia (kg m^2) of the four corners as points at the wheel centres; part of `body`'s."""
        roll = pitch = yaw = 0.0
        for axle, tyre, x, track in (
            (self.suspension_front, self.tyre_front, self.body.cg_to_front, self.body.track_front),
            (self.suspension_rear, self.tyre_rear, self.body.cg_to_rear, self.body.track_rear),
        ):
            mass, y, z = 2.0 * axle.unsprung_mass, 0.5 * track, tyre.radius - self.body.cg_height
            roll += mass * (y * y + z * z)
            pitch += mass * (x * x + z * z)
            yaw += mass * (x * x + y * y)
        return roll, pitch, yaw

    @property
    def driven_radius(self) -> float:
        """Rolling radius of the driven wheels (m); the mean over the axles of an AWD car, by torque share."""
        front = self.drive.front_share
        return front * self.tyre_front.radius + (1.0 - front) * self.tyre_rear.radius

    @property
    def full_brake_force(self) -> float:
        """Force of all brakes at full pedal, were the tyres to hold it (N)."""
        return self.brakes.torque_front / self.tyre_front.radius + self.brakes.torque_rear / self.tyre_rear.radius

    @property
    def driven_brake_force(self) -> float:
        """Force of the brakes of the driven axles at full pedal (N); of an AWD car by torque share."""
        front = self.drive.front_share * self.brakes.torque_front / self.tyre_front.radius
        return front + (1.0 - self.drive.front_share) * self.brakes.torque_rear / self.tyre_rear.radius

    @property
    def front_brake_force_share(self) -> float:
        """Front share of that force: with axles of different radii it is not the bias, which is that of the torques."""
        return self.brakes.torque_front / self.tyre_front.radius / self.full_brake_force

    def full_steer_angle(self, speed: float) -> float:
        """Return the road-wheel angle (rad) of full steer at `speed` (m/s): the lock, or less if a game limits it."""
        share = 1.0 if self.steer_range is None else self.steer_range.share_at(speed)
        return self.steering.max_angle * share

    def engine_speed(self, speed: float, gear: int) -> float:
        """Return the crankshaft speed (rad/s) with the clutch closed at car speed `speed` (m/s) without slip."""
        return speed / self.driven_radius * self.gearbox.overall_ratio(gear)

    def effective_mass(self, gear: int) -> float:
        """Return the mass (kg) that a force at the wheels accelerates in `gear`: the car, its wheels and the engine."""
        wheels = sum(2.0 * tyre.inertia / tyre.radius**2 for tyre in (self.tyre_front, self.tyre_rear))
        engine = self.engine.inertia * (self.gearbox.overall_ratio(gear) / self.driven_radius) ** 2
        return self.body.mass + wheels + engine

    def drive_force(self, speed: float, gear: int) -> float:
        """Return the full-throttle force at the wheels (N) at `speed` (m/s) in `gear`; 0 above the limiter."""
        rpm = self.engine_speed(speed, gear) * 30.0 / math.pi
        if rpm > self.engine.limiter_rpm:
            return 0.0
        torque = self.engine.full_torque(max(rpm, self.engine.idle_rpm))
        return torque * self.gearbox.overall_ratio(gear) * self.gearbox.efficiency / self.driven_radius

    def with_brakes(self, torque: float, front_share: float) -> Self:
        """Return the car with `torque` (N m) of all brakes and the same links at their angles.

        What links carry of the load transfer in braking follows their axle's share of the brakes.
        """
        own = self.brakes.front_share
        front, rear = (
            replace(links, anti_dive=min(links.anti_dive * share / before, 1.0) if before > 0.0 else 0.0)
            for links, share, before in (
                (self.suspension_front, front_share, own), (self.suspension_rear, 1.0 - front_share, 1.0 - own)
            )
        )  # fmt: skip
        brakes = replace(self.brakes, torque_front=front_share * torque, torque_rear=(1.0 - front_share) * torque)
        return replace(self, brakes=brakes, suspension_front=front, suspension_rear=rear)
