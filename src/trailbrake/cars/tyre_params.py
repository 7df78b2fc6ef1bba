"""The tyre part of a car file: friction, slips, carcass, and heat and wear where they are modelled."""

import math
from typing import Annotated

from msgspec import Meta

from trailbrake.cars.section import Section, not_negative, positive, share

LEAST_THERMAL = 0.7  # friction never falls below this share of its best by temperature alone


class Thermal(Section, frozen=True):
    """Heat and wear of a tyre: one temperature, one wear from 0 (new) to 1 (worn out).

    All of the sliding work warms the tyre; the air takes (cooling + cooling_speed * v) W per K of difference away.
    Friction is multiplied by max(0.7, 1 - grip_loss * (T - optimal_temperature)^2) and by 1 - wear_loss * wear.
    """

    optimal_temperature: Annotated[float, Meta(gt=0.0, lt=200.0, description="degC, of best grip")]
    start_temperature: Annotated[float, Meta(gt=-50.0, lt=200.0, description="degC, at the start of a drive")]
    grip_loss: Annotated[float, not_negative("1/K^2, relative loss of friction per difference from optimal squared")]
    heat_capacity: Annotated[float, positive("J/K, of what warms: tread and carcass")]
    cooling: Annotated[float, not_negative("W/K, to the air at rest")]
    cooling_speed: Annotated[float, not_negative("W/K per m/s, growth of the cooling with speed")]
    wear_per_joule: Annotated[float, not_negative("1/J, wear by sliding work; 1 = worn out")]
    wear_loss: Annotated[float, share("1, relative loss of friction when worn out")]

    def grip(self, temperature: float, wear: float = 0.0) -> float:
        """Return the factor on friction at `temperature` (degC) and `wear` (0..1)."""
        off = temperature - self.optimal_temperature
        return max(LEAST_THERMAL, 1.0 - self.grip_loss * off * off) * (1.0 - self.wear_loss * wear)


class Tyre(Section, frozen=True):
    """One tyre of an axle. The law is in `trailbrake.cars.tyre`; `law()` gives its arguments.

    Friction: mu(Fz) = mu * (1 - mu_load * (Fz / nominal_load - 1)); one over the peak slips
    falls likewise by slip_load, so they grow with load. Camber
    acts as an added slip angle of camber_thrust * camber and takes mu_y down to mu_y * (1 - camber_loss * camber^2).
    """

    radius: Annotated[float, positive("m, effective rolling radius")]
    inertia: Annotated[float, positive("kg m^2, one wheel with tyre, disc and hub about its axle")]
    nominal_load: Annotated[float, positive("N, the load at which mu and peak slip are given")]
    mu_x: Annotated[float, positive("1, peak longitudinal friction at nominal load")]
    mu_y: Annotated[float, positive("1, peak lateral friction at nominal load")]
    mu_x_load: Annotated[float, Meta(ge=0.0, le=0.5, description="1, relative loss of mu_x per nominal load")]
    mu_y_load: Annotated[float, Meta(ge=0.0, le=0.5, description="1, relative loss of mu_y per nominal load")]
    peak_slip_ratio: Annotated[float, Meta(gt=0.0, lt=1.0, description="1, |slip ratio| of peak force")]
    peak_slip_angle: Annotated[float, Meta(gt=0.0, lt=0.6, description="rad, |slip angle| of peak force")]
    slip_load: Annotated[float, Meta(ge=-0.5, le=0.5, description="1, relative growth of both per nominal load")]
    shape: Annotated[float, Meta(gt=1.0, lt=2.0, description="1, Magic Formula C: how much force is left sliding")]
    curvature: Annotated[float, Meta(le=0.95, ge=-5.0, description="1, Magic Formula E: how sharp the peak is")]
    rolling_resistance: Annotated[float, Meta(ge=0.0, le=0.1, description="1, drag over load")]
    relaxation_x: Annotated[float, positive("m, longitudinal relaxation length")]
    relaxation_y: Annotated[float, positive("m, lateral relaxation length")]
    vertical_stiffness: Annotated[float, positive("N/m, of the carcass, at its running pressure")]
    vertical_damping: Annotated[float, not_negative("N s/m, of the carcass")]
    camber_thrust: Annotated[
        float, not_negative("1, rad of slip angle that give the same side force as one rad of camber")
    ]
    camber_loss: Annotated[float, not_negative("1/rad^2, relative loss of mu_y per camber squared")]
    thermal: Thermal | None = None

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
