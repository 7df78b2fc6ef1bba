"""The tyre part of a car file: friction, slips, carcass, and heat and wear where they are modelled."""

import math
from typing import Annotated, NamedTuple

from msgspec import Meta

from trailbrake.cars.section import Section, non_negative_value, positive_value, unit_fraction

MIN_THERMAL_GRIP = 0.7  # the least factor on friction by temperature alone


class TyreLaw(NamedTuple):
    """The law of one tyre, as kernels take it; `Tyre.tyre_law` makes it.

    Attributes:
        nominal_load: N, the load at which friction and peak slips are given.
        mu_x, mu_y: peak longitudinal and lateral friction at nominal load.
        mu_x_load, mu_y_load: relative loss of mu_x and mu_y per nominal load.
        peak_slip_ratio: slip ratio of peak force at nominal load.
        tan_peak_slip_angle: tan of the slip angle of peak force at nominal load.
        slip_load: relative growth of both peak slips per nominal load.
        b, c, e: Magic Formula stiffness factor B, shape factor C and curvature factor E.
    """

    nominal_load: float
    mu_x: float
    mu_y: float
    mu_x_load: float
    mu_y_load: float
    peak_slip_ratio: float
    tan_peak_slip_angle: float
    slip_load: float
    b: float
    c: float
    e: float


class Thermal(Section, frozen=True):
    """Heat and wear of a tyre: one temperature, and one wear from 0 (new) to 1 (worn out).

    All sliding work heats the tyre; the air removes (cooling + cooling_speed * v) W per K of difference. Friction is
    multiplied by max(0.7, 1 - grip_loss * (T - optimal_temperature)^2) and by 1 - wear_loss * wear.
    """

    optimal_temperature: Annotated[float, Meta(gt=0.0, lt=200.0, description="degC, of best grip")]
    start_temperature: Annotated[float, Meta(gt=-50.0, lt=200.0, description="degC, at the start of a drive")]
    grip_loss: Annotated[
        float, non_negative_value("1/K^2, relative loss of friction per difference from optimal squared")
    ]
    heat_capacity: Annotated[float, positive_value("J/K, of what warms: tread and carcass")]
    cooling: Annotated[float, non_negative_value("W/K, to the air at rest")]
    cooling_speed: Annotated[float, non_negative_value("W/K per m/s, growth of the cooling with speed")]
    wear_per_joule: Annotated[float, non_negative_value("1/J, wear by sliding work; 1 = worn out")]
    wear_loss: Annotated[float, unit_fraction("1, relative loss of friction when worn out")]

    def grip_factor(self, temperature: float, wear: float = 0.0) -> float:
        """Return the factor on friction at `temperature` (degC) and `wear` (0..1)."""
        off = temperature - self.optimal_temperature
        return max(MIN_THERMAL_GRIP, 1.0 - self.grip_loss * off * off) * (1.0 - self.wear_loss * wear)


class Tyre(Section, frozen=True):
    """One tyre of an axle. `trailbrake.cars.tyre` holds the law; `tyre_law` returns its parameters.

    Friction: mu(Fz) = mu * (1 - mu_load * (Fz / nominal_load - 1)). The inverse of the peak slips falls likewise by
    slip_load, so that they grow with load. Camber acts as an added slip angle of camber_thrust * camber and reduces
    mu_y to mu_y * (1 - camber_loss * camber^2).
    """

    radius: Annotated[float, positive_value("m, effective rolling radius")]
    inertia: Annotated[float, positive_value("kg m^2, one wheel with tyre, disc and hub about its axle")]
    nominal_load: Annotated[float, positive_value("N, the load at which mu and peak slip are given")]
    mu_x: Annotated[float, positive_value("1, peak longitudinal friction at nominal load")]
    mu_y: Annotated[float, positive_value("1, peak lateral friction at nominal load")]
    mu_x_load: Annotated[float, Meta(ge=0.0, le=0.5, description="1, relative loss of mu_x per nominal load")]
    mu_y_load: Annotated[float, Meta(ge=0.0, le=0.5, description="1, relative loss of mu_y per nominal load")]
    peak_slip_ratio: Annotated[float, Meta(gt=0.0, lt=1.0, description="1, |slip ratio| of peak force")]
    peak_slip_angle: Annotated[float, Meta(gt=0.0, lt=0.6, description="rad, |slip angle| of peak force")]
    slip_load: Annotated[float, Meta(ge=-0.5, le=0.5, description="1, relative growth of both per nominal load")]
    shape: Annotated[float, Meta(gt=1.0, lt=2.0, description="1, Magic Formula C: how much force is left sliding")]
    curvature: Annotated[float, Meta(le=0.95, ge=-5.0, description="1, Magic Formula E: how sharp the peak is")]
    rolling_resistance: Annotated[float, Meta(ge=0.0, le=0.1, description="1, drag over load")]
    relaxation_x: Annotated[float, positive_value("m, longitudinal relaxation length")]
    relaxation_y: Annotated[float, positive_value("m, lateral relaxation length")]
    vertical_stiffness: Annotated[float, positive_value("N/m, of the carcass, at its running pressure")]
    vertical_damping: Annotated[float, non_negative_value("N s/m, of the carcass")]
    camber_thrust: Annotated[
        float, non_negative_value("1, rad of slip angle that give the same side force as one rad of camber")
    ]
    camber_loss: Annotated[float, non_negative_value("1/rad^2, relative loss of mu_y per camber squared")]
    thermal: Thermal | None = None

    @property
    def stiffness_factor(self) -> float:
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

    def tyre_law(self) -> TyreLaw:
        """Return the law of this tyre, as `trailbrake.cars.tyre.combined_slip_force` takes it."""
        return TyreLaw(
            nominal_load=self.nominal_load,
            mu_x=self.mu_x,
            mu_y=self.mu_y,
            mu_x_load=self.mu_x_load,
            mu_y_load=self.mu_y_load,
            peak_slip_ratio=self.peak_slip_ratio,
            tan_peak_slip_angle=math.tan(self.peak_slip_angle),
            slip_load=self.slip_load,
            b=self.stiffness_factor,
            c=self.shape,
            e=self.curvature,
        )
