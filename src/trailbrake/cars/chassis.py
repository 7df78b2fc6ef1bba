"""The chassis part of a car file: body, suspension, air, brakes, steering, actuation.

Lengths in m, masses in kg, angles in rad, torques in N m. Frames as everywhere: x forward, y left, z up (ISO 8855).
"""

from typing import Annotated

from msgspec import Meta

from trailbrake.cars.section import Section, non_negative_value, positive_value, unit_fraction


class Body(Section, frozen=True):
    """Mass and inertia of the whole car, unsprung parts included, and where the axles are."""

    mass: Annotated[float, positive_value("kg, with driver and half of the fuel")]
    yaw_inertia: Annotated[float, positive_value("kg m^2, whole car about the vertical through the centre of mass")]
    roll_inertia: Annotated[
        float, positive_value("kg m^2, whole car about the lengthwise axis through the centre of mass")
    ]
    pitch_inertia: Annotated[
        float, positive_value("kg m^2, whole car about the crosswise axis through the centre of mass")
    ]
    cg_height: Annotated[float, positive_value("m, centre of mass above the road, standing")]
    wheelbase: Annotated[float, positive_value("m")]
    cg_to_front: Annotated[float, positive_value("m, centre of mass to front axle, along x")]
    track_front: Annotated[float, positive_value("m, between the front contact points")]
    track_rear: Annotated[float, positive_value("m, between the rear contact points")]
    length: Annotated[float, Meta(gt=0.0, le=30.0, description="m, of the box that touches walls and cars")]
    width: Annotated[float, Meta(gt=0.0, le=10.0, description="m, of the box that touches walls and cars")]

    @property
    def cg_to_rear(self) -> float:
        """Distance from the centre of mass to the rear axle (m)."""
        return self.wheelbase - self.cg_to_front

    @property
    def front_share(self) -> float:
        """Share of the weight on the front axle, standing on level ground."""
        return self.cg_to_rear / self.wheelbase


class Suspension(Section, frozen=True):
    """One axle's springs, dampers and links; every rate is that of one wheel, measured at the wheel.

    Travel is counted from the static ride height, positive in bump (wheel up). Car files give camber and toe alike
    for both sides: camber < 0 leans the top inwards, toe > 0 points the front of the wheel inwards. In ISO 8855
    signs the right wheel's inclination is +camber and its angle about z +toe, the left wheel's -camber and -toe.
    """

    spring_rate: Annotated[float, positive_value("N/m, spring at the wheel")]
    bump_damping: Annotated[float, positive_value("N s/m, damper at the wheel, wheel moving up")]
    rebound_damping: Annotated[float, positive_value("N s/m, damper at the wheel, wheel moving down")]
    anti_roll_rate: Annotated[
        float, non_negative_value("N/m, force at each wheel per metre of difference between the two wheels' travel")
    ]
    roll_centre: Annotated[float, non_negative_value("m, height of the roll centre above the road")]
    anti_dive: Annotated[
        float,
        unit_fraction("1, share of the pitch load transfer in braking carried by links (rear axle: anti-lift)"),
    ]
    anti_squat: Annotated[float, unit_fraction("1, share of the pitch load transfer in driving carried by links")]
    unsprung_mass: Annotated[float, positive_value("kg, one wheel corner: wheel, brake, upright, half of the links")]
    bump_travel: Annotated[float, Meta(gt=0.0, le=1.0, description="m, from static ride height up to the bump stop")]
    droop_travel: Annotated[float, Meta(gt=0.0, le=1.0, description="m, from static ride height down to full droop")]
    bump_stop_rate: Annotated[float, positive_value("N/m, of the bump stop, added to the spring beyond bump_travel")]
    camber: Annotated[float, Meta(ge=-0.2, le=0.2, description="rad, static, negative = top leaning inwards")]
    camber_gain: Annotated[
        float, Meta(ge=-5.0, le=5.0, description="rad/m, added to camber per metre of bump travel; mostly negative")
    ]
    toe: Annotated[float, Meta(ge=-0.05, le=0.05, description="rad, of each wheel, positive = toe-in")]

    def roll_stiffness(self, track: float, vertical_stiffness: float) -> float:
        """Return the axle's roll stiffness (N m/rad) over `track` (m): spring and bar, in series with the tyres.

        A roll angle phi moves the wheels by +-track / 2 phi, so the bar adds twice its rate to each spring; two such
        wheels at that lever give rate * track^2 / 2. Milliken and Milliken, Race Car Vehicle Dynamics, chapter 16.

        Args:
            track: m.
            vertical_stiffness: N/m, of one tyre.
        """
        wheel = self.spring_rate + 2.0 * self.anti_roll_rate
        return wheel * vertical_stiffness / (wheel + vertical_stiffness) * track * track / 2.0


class Aero(Section, frozen=True):
    """Forces of the air: F = density / 2 * area * v^2.

    Downforce is given per axle as the balance of a wind tunnel has it (SAE J1594): drag counts at the road, and what
    its height does to the axles' loads is in their lift areas.

    An axle's downforce is multiplied by 1 + ride_gain * d + ride_curve * d^2, where d (m) is how far that axle's ride
    height is below its static reference. With the DRS flap open, drag is multiplied by 1 - drs_drag and the rear
    axle's downforce by 1 - drs_lift_rear.
    """

    air_density: Annotated[float, positive_value("kg/m^3")]
    drag_area: Annotated[float, non_negative_value("m^2, drag coefficient times frontal area")]
    lift_area_front: Annotated[float, Meta(description="m^2, on the front axle, positive = downforce")]
    lift_area_rear: Annotated[float, Meta(description="m^2, on the rear axle, positive = downforce")]
    ride_height_front: Annotated[
        float, non_negative_value("m, static ride height at the front axle, the reference")
    ] = 0.0
    ride_height_rear: Annotated[float, non_negative_value("m, static ride height at the rear axle, the reference")] = (
        0.0
    )
    ride_gain_front: Annotated[
        float, Meta(description="1/m, relative growth of the front downforce per metre below the reference")
    ] = 0.0
    ride_gain_rear: Annotated[
        float, Meta(description="1/m, relative growth of the rear downforce per metre below the reference")
    ] = 0.0
    ride_curve_front: Annotated[float, Meta(description="1/m^2, second order of ride_gain_front")] = 0.0
    ride_curve_rear: Annotated[float, Meta(description="1/m^2, second order of ride_gain_rear")] = 0.0
    drs_drag: Annotated[float, unit_fraction("1, share of the drag that an open DRS flap takes away")] = 0.0
    drs_lift_rear: Annotated[
        float, unit_fraction("1, share of the rear downforce that an open DRS flap takes away")
    ] = 0.0

    @property
    def has_drs(self) -> bool:
        """Whether the car has a flap to open."""
        return self.drs_drag > 0.0 or self.drs_lift_rear > 0.0


class Brakes(Section, frozen=True):
    """Torques at full pedal, and the two assistants."""

    torque_front: Annotated[float, non_negative_value("N m, both front wheels together at full pedal")]
    torque_rear: Annotated[float, non_negative_value("N m, both rear wheels together at full pedal")]
    handbrake_torque: Annotated[float, non_negative_value("N m, both rear wheels together at full lever")]
    abs: bool
    abs_slip: Annotated[float, positive_value("1, combined slip that ABS holds a braked wheel at, 1 = peak")]
    tc: bool
    tc_slip: Annotated[float, positive_value("1, combined slip that TC holds a driven wheel at, 1 = peak")]

    @property
    def front_share(self) -> float:
        """Brake bias: front share of the torque."""
        return self.torque_front / (self.torque_front + self.torque_rear)


class SteeringGear(Section, frozen=True):
    """From the steer command to the road wheels; angles are the mean of the two front wheels."""

    max_angle: Annotated[float, Meta(gt=0.0, lt=1.4, description="rad, road-wheel angle at full lock")]
    ratio: Annotated[float, positive_value("1, steering-wheel angle over road-wheel angle")]
    max_rate: Annotated[float, positive_value("rad/s, fastest change of the road-wheel angle")]
    ackermann: Annotated[
        float, unit_fraction("1, 0 = wheels parallel, 1 = both wheels' axes meet on the line of the rear axle")
    ]


class Actuation(Section, frozen=True):
    """From a control at the simulator's end of the wire to the car: the same for steer, pedals and gears.

    The embedded worlds behind a wire apply it, rounded to 3.6 ms or less; environments on arrays have `vary.delay`.
    """

    delay: Annotated[float, Meta(ge=0.0, le=0.5, description="s, until a control acts")] = 0.0
