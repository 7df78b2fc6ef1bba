"""`RoadReturn`: brings a driver's car back onto the road, by what the wire and the course supply."""

import copy
import math
from typing import Self

from trailbrake.cars.params import CarParams
from trailbrake.control.vehicle.manoeuvre_table import BACKWARD, CarShape, RoadStrip
from trailbrake.control.vehicle.recovery import (
    GIVE_UP_AFTER,
    MAX_TURN_SPEED,
    WRONG_WAY_ANGLE,
    CarOnRoad,
    RecoveryCommand,
    RoadRecovery,
    RoadTrail,
)
from trailbrake.errors import CarStuckError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.state import CarState, Controls, Pose, SimCommand, WheelTorque
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.units import wrap_angle

LOCK_SHARE = 0.92  # of the kinematic curvature at full lock that a car reaches on loose ground
WHEEL_TORQUE = 900.0  # N m at each wheel for full throttle backwards, where no gear drives the car backwards
BEND_REACH = 6.0  # m ahead and behind over which the road's curvature is averaged
OFF_ROAD_SPEED_SHARE = 0.6  # of the planned speed, beside the road
ROLLING_RADIUS = 0.32  # m, of a wheel of an unknown car
PLACED_AHEAD = 2.0  # m along the road from where a car is stuck to where it is placed


class RoadReturn:
    """Takes over from a driver while its car is not on its way.

    With a map it knows the road's edges and walls. Without one it keeps the trail that the car has driven on the road.
    Without positions it frees a car that is stuck.

    Args:
        course: of the drive; None where nothing is known.
        forward_gear: the gear to drive forwards in; None leaves it to the simulator's automatic box.
    """

    USES = frozenset({"x", "y", "yaw", "speed", "velocity_x", "velocity_y", "gear", "wheels.angular_velocity", "fuel"})
    COMMANDS = frozenset({"teleport", "to_pits", "restart"})

    def __init__(self, course: Course | None, forward_gear: int | None = None) -> None:
        car = None if course is None else course.car
        self._road: Road | None = None
        if course is not None and not isinstance(course, UnmappedCourse):
            self._road = course.track.road
        self._trail = RoadTrail()
        self._recovery = RoadRecovery(*_describe_car(car))
        self._forward_gear = forward_gear
        self._wheels = _driven_wheels(car)
        self._row = -1

    def copy(self) -> Self:
        """Return a copy that can be called without an effect on this one."""
        other = copy.copy(self)
        other._recovery, other._trail = copy.copy(self._recovery), self._trail.copy()
        return other

    def wait(self) -> None:
        """The driver lets the car stand on purpose."""
        self._recovery.wait()

    def rescue(self, state: CarState, dt: float, heading: float = math.nan, place: float = math.nan) -> Controls | None:
        """Return the controls that bring the car back, None while it is on its way.

        Args:
            state: now; NaN and None where the wire does not supply a field.
            dt: s since the last call; 0 on the first and after a gap.
            heading: rad, of the car against the road, where the driver knows it: the road is then only looked at in
                trouble.
            place: -1..1 across the road, where the driver knows it; for roads without a map.

        Raises:
            CarStuckError: it has been tried for long enough.
        """
        recovery = self._recovery
        if state.speed > MAX_TURN_SPEED and abs(heading) < WRONG_WAY_ANGLE and not recovery.has_trouble:
            recovery.note_way(state.speed)
            return None
        car = self._locate_car(state, place, dt)
        command = recovery.compute_command(car, dt)
        if recovery.has_failed:
            where = f"x {state.x:.1f} m, y {state.y:.1f} m" if math.isfinite(state.x) else "a place that is not known"
            raise CarStuckError(
                f"the car is stuck at {where}: it did not get back onto the road in {GIVE_UP_AFTER:g} s",
                hint="the tank is empty" if state.fuel <= 0.0 else "put it back in the simulator, then drive again",
            )
        return None if command is None else self._convert_command(command, state)

    def _locate_car(self, state: CarState, place: float, dt: float) -> CarOnRoad:
        """Return the car against the road."""
        offset = heading = 0.0
        strip: RoadStrip | None = None
        gear = state.gear
        if math.isfinite(state.x + state.y + state.yaw):
            if self._road is not None:
                s, offset, self._row = self._road.locate(state.x, state.y, self._row)
                heading = wrap_angle(state.yaw - self._road.value_at(s, RoadColumn.YAW))
                strip = _cut_road(self._road, self._row)
            else:
                self._trail.add_place(state.x, state.y, state.yaw, (state.velocity_x, state.velocity_y), place)
                found = self._trail.locate(state.x, state.y)
                if found is not None:
                    offset, direction = found
                    heading, strip = wrap_angle(state.yaw - direction), self._trail.strip
        velocity = state.velocity_x
        if not math.isfinite(velocity):
            velocity = -state.speed if gear is not None and gear < 0 else state.speed
        sideways = state.velocity_y if math.isfinite(state.velocity_y) else 0.0
        slide = 0.0
        for number, radius in self._wheels:
            turning = state.wheels[number].angular_velocity * radius
            slide = max(slide, abs(turning - velocity)) if math.isfinite(turning) else slide
        return CarOnRoad(offset, heading, state.speed, velocity, sideways, gear, slide, strip)

    def _convert_command(self, command: RecoveryCommand, state: CarState) -> Controls:
        backwards = command.direction == BACKWARD
        controls = Controls(
            steer=command.steer,
            throttle=command.throttle,
            brake=command.brake,
            gear=-1 if backwards else self._forward_gear,
        )
        if command.by_torque and command.throttle > 0.0:
            torque = WheelTorque(-command.throttle * WHEEL_TORQUE, 0.0)
            controls.throttle, controls.wheels = 0.0, (torque, torque, torque, torque)
        if command.request:
            controls.command = self._make_request(command.request, state)
        return controls

    def _make_request(self, name: str, state: CarState) -> SimCommand | None:
        if name != "teleport":
            return SimCommand(to_pits=name == "to_pits", restart=name == "restart")
        road = self._road
        if road is None or not math.isfinite(state.x + state.y):
            return None
        s, _, _ = road.locate(state.x, state.y)
        row = road.table[self._row]
        middle = 0.5 * float(row[RoadColumn.WIDTH_LEFT] - row[RoadColumn.WIDTH_RIGHT])
        x, y, z, yaw = road.points(s + PLACED_AHEAD, middle)[0].tolist()
        return SimCommand(teleport=Pose(x, y, z, wrap_angle(yaw)))


def _describe_car(car: CarParams | None) -> tuple[CarShape, float]:
    """Return the shape of a car and its largest road-wheel angle (rad); those of an ordinary car for None."""
    if car is None:
        return CarShape(), 0.5
    body, lock = car.body, car.steering.max_angle
    half, axle = 0.5 * body.length, 0.5 * body.wheelbase
    curvature = LOCK_SHARE * math.tan(lock) / body.wheelbase
    return CarShape(body.cg_to_rear, half + axle, half - axle, 0.5 * body.width, curvature), lock


def _driven_wheels(car: CarParams | None) -> list[tuple[int, float]]:
    """Return number and radius (m) of the wheels that may spin."""
    if car is None:
        return [(number, ROLLING_RADIUS) for number in range(4)]
    share = car.drive.front_share
    front = [(number, car.tyre_front.radius) for number in (0, 1) if share > 0.0]
    return front + [(number, car.tyre_rear.radius) for number in (2, 3) if share < 1.0]


def _cut_road(road: Road, row: int) -> RoadStrip:
    """Return the cross-section of a road at a row."""
    at = road.table[row]
    left, right = float(at[RoadColumn.WIDTH_LEFT]), float(at[RoadColumn.WIDTH_RIGHT])
    reach = max(int(BEND_REACH / road.spacing), 1)
    curvatures = road.column(RoadColumn.CURVATURE)
    near = curvatures.take(range(row - reach, row + reach + 1), mode="wrap" if road.closed else "clip")
    return RoadStrip(
        left,
        right,
        left + float(at[RoadColumn.RUNOFF_LEFT]),
        right + float(at[RoadColumn.RUNOFF_RIGHT]),
        float(near.mean()),
    )
