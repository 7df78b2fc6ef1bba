"""The sections that a learned car file has besides those of any car: how sure it is, and what a game does to the steer.

The embedded worlds do not read them.
"""

from typing import Annotated

from msgspec import Meta

from trailbrake.cars.drivetrain import interpolate_table
from trailbrake.cars.section import Section, non_negative_value


class Uncertainty(Section, frozen=True):
    """Standard deviations of a learned car: of its figures (`cars.ggv_envelope`) and of single numbers."""

    lateral_grip: Annotated[float, non_negative_value("1, of the largest lateral acceleration, as a share of it")]
    braking: Annotated[float, non_negative_value("1, of the largest deceleration, as a share of it")]
    drive_force: Annotated[float, non_negative_value("1, of the full-throttle force, as a share of it")]
    downforce: Annotated[float, non_negative_value("1, of the downforce at 50 m/s over the weight")]
    steer_angle: Annotated[float, non_negative_value("1, of the road wheels' angle at full lock, as a share of it")]
    delay: Annotated[float, non_negative_value("s, of the controls' delay")]
    planned_share: Annotated[
        float, Meta(gt=0.0, le=1.0, description="1, grip in this file over the grip that was found")
    ] = 1.0
    planned_along: Annotated[
        float, Meta(gt=0.0, le=1.0, description="1, the same of the grip along the tyres, besides")
    ] = 1.0
    planned_front: Annotated[
        float, Meta(gt=0.0, le=1.0, description="1, the same of the front tyres, that were never near their peak")
    ] = 1.0
    planned_rear: Annotated[
        float, Meta(gt=0.0, le=1.0, description="1, the same of the rear tyres, that were never near their peak")
    ] = 1.0
    planned_downforce: Annotated[
        float, Meta(gt=0.0, le=1.0, description="1, downforce in this file over the downforce that was found")
    ] = 1.0
    verified_laps: Annotated[
        int, Meta(ge=0, description="laps driven with this file that stayed on the road; 0: none were driven")
    ] = 0
    deviation: Annotated[
        dict[str, float], Meta(description="of single numbers, by `section.key`, in the unit of the key")
    ] = {}  # noqa: RUF012 (msgspec copies it)

    @property
    def is_verified(self) -> bool:
        """Whether laps have been driven with the file that stayed on the road."""
        return self.verified_laps > 0


class SteerRange(Section, frozen=True):
    """How far the wheels turn at full steer, over speed: games limit a pad, the more the faster the car is."""

    speeds: Annotated[tuple[float, ...], Meta(min_length=2, description="m/s, rising")]
    shares: Annotated[
        tuple[float, ...], Meta(min_length=2, description="1, road-wheel angle at full steer over the lock")
    ]

    def share_at(self, speed: float) -> float:
        """Return the share of the lock that full steer gives at `speed` (m/s)."""
        return interpolate_table(speed, self.speeds, self.shares)
