"""Recovery of a car that has spun, faces the wrong way, has left the road, or is stuck, by driving forwards and back.

A `ManoeuvreTable` of the road's cross-section chooses the moves. Where a move does not move the car, something that the
road's data does not show is in the way: then the car is driven in the other direction first, each time further.

The trail that a car has driven on a road without a map: where the road is, for a car that has left it.
"""

import math
from collections import deque
from typing import NamedTuple

from trailbrake.control.vehicle.manoeuvre_table import BACKWARD, FORWARD, CarShape, ManoeuvreTable, Move, RoadStrip
from trailbrake.control.vehicle.slip_limit import slip_limited_share

WRONG_WAY_ANGLE = 1.2  # rad from the road's direction, above which the car is turned round first
ALONG_ANGLE = 0.45  # rad, below which a car on the road is given back to its driver
MAX_TURN_SPEED = 6.0  # m/s, above which a car is braked before it is turned
ASIDE_SPEED = 3.0  # m/s, below which a car beside the road is brought back; a faster one is still driven by its driver
INSIDE_DISTANCE = 0.3  # m inside the edge, with the centre of mass, where it is given back
STUCK_SPEED = 0.5  # m/s
STUCK_TIME = 1.0  # s at standstill, after the start, after which the car counts as stuck ...
STUCK_TIME_ACROSS = 2.0  # ... and before it, where the car does not stand along the road
STUCK_ANGLE = 0.5  # rad; a car that stands along the road before its start waits for it
CLEAR_DISTANCE = 30.0  # m driven on the road after which a recovery is over for good

FORWARD_SPEED, BACKWARD_SPEED = 6.0, 4.0  # m/s of a long move
BLIND_SPEED = 2.5  # m/s where the road is not known
MOVE_BRAKING = 1.5  # m/s^2, by which a move slows towards its end
MIN_MOVE_SPEED = 1.0  # m/s
CHOICE_PERIOD, RUN_PERIOD = 0.04, 0.2  # s between two choices of a move, and of its length
STOP_BRAKE, SETTLE_BRAKE, HOLD_BRAKE = 0.7, 0.6, 0.4  # before a change of direction; at speed; while gears change
STOP_THROTTLE = 0.5  # forwards, of a car that rolls backwards on a wire without gears
ROLL_SPEED = 0.3  # m/s against the direction of a move, above which the car is braked first ...
HILL_SPEED = 1.2  # ... unless it was at rest: then it rolls down a slope, and wants more throttle
ENGAGE_TIME = 2.5  # s that a gearbox may take to engage a direction
FIRST_THROTTLE = 0.25
THROTTLE_GAIN, THROTTLE_RATE = 0.10, 0.35  # per m/s of speed error; the same, per s that it lasts
MAX_SPEED_ERROR = 2.0  # m/s
PEAK_SLIP = 0.1  # slip ratio of peak grip, of an ordinary tyre
SPIN_RATE = 0.5  # 1/s by which the throttle falls while a driven wheel spins
BLOCKED_SPEED, BLOCKED_TIME = 0.2, 1.2  # m/s and s: a move that is slower for longer is blocked
FREEING_DISTANCE, FREEING_GROWTH, MOST_FREEING = 2.0, 1.5, 8.0  # m of the first move that frees it; factor; m
REQUEST_AFTER, REQUEST_PERIOD = 20.0, 3.0  # s of trouble until the simulator is requested to place the car; between two
REQUESTS = ("teleport", "to_pits", "restart")  # in this order, each once
GIVE_UP_AFTER = 90.0  # s of trouble

CURVATURE_CHANGE, WIDTH_CHANGE = 0.015, 0.7  # 1/m and m of the strip from which a new table is computed
POINT_SPACING = 3.0  # m between points of the trail
MOST_POINTS = 120
MIN_SPEED = 4.0  # m/s: a slower car may be turning
MOST_PLACE = 0.9  # half roads from the middle, beyond which the car is leaving the road
MOST_SIDESLIP = 0.3  # rad between the car's heading and its way: a car that slides is leaving it too
HALF_WIDTH = 4.0  # m, of a road whose width is not known: a usual one's
RUN_OFF = 4.0  # m beside it without walls, as long as nothing is known
MAX_DISTANCE = 60.0  # m from the trail, from which it says nothing


class CarOnRoad(NamedTuple):
    """A car against the road.

    Attributes:
        offset: m, of the centre of mass, left of the road's reference line.
        heading: rad, -pi..pi, of the car against the road.
        speed: m/s.
        velocity: m/s, forwards.
        sideways: m/s, to the left.
        gear: engaged gear; None where it is not known.
        slide: m/s, of the driven wheel that slides most; 0 where it is not known.
        strip: the cross-section of the road; None where nothing is known of it. Offset and heading then mean nothing.
    """

    offset: float
    heading: float
    speed: float
    velocity: float
    sideways: float = 0.0
    gear: int | None = None
    slide: float = 0.0
    strip: RoadStrip | None = None


class RecoveryCommand(NamedTuple):
    """What to do to get out.

    Attributes:
        steer: share of full lock, positive left.
        throttle: 0..1; in `direction`.
        brake: 0..1.
        direction: FORWARD or BACKWARD: the gear.
        by_torque: whether the wheels shall be driven directly, since no gear drives the car backwards.
        request: one of REQUESTS, to be sent once; empty for none.
    """

    steer: float
    throttle: float
    brake: float
    direction: int
    by_torque: bool = False
    request: str = ""


class RoadRecovery:
    """Brings one car back onto its road.

    Args:
        shape: of the car.
        max_angle: rad, of the road wheels at full lock.

    Attributes:
        active: whether it drives the car.
        trouble_time: s since the car was last on its way.
        has_failed: whether it has tried for GIVE_UP_AFTER.
    """

    def __init__(self, shape: CarShape, max_angle: float = 0.5) -> None:
        self._shape, self._max_angle = shape, max_angle
        self.active = self.has_failed = False
        self.trouble_time = 0.0
        self._under_way = False
        self._stationary_time = 0.0
        self._clear_distance = 0.0
        self._requests = 0
        self._failed_gears = 0  # ways to drive backwards that have failed: by gear, by torques
        self._has_reversed = False
        self._blocked_count = 0
        self._table: ManoeuvreTable | None = None
        self._begin_move(Move(FORWARD, 0.0, 0.0), 0.0)
        self._move_age = self._run_age = math.inf

    @property
    def has_trouble(self) -> bool:
        """Whether it drives the car, or has just done so."""
        return self.active or self.trouble_time > 0.0

    def wait(self) -> None:
        """The driver lets the car stand on purpose."""
        self._stationary_time = 0.0

    def note_way(self, speed: float) -> None:
        """The car is on its way at `speed` (m/s), and nothing is to be done."""
        self._under_way = self._under_way or speed > MAX_TURN_SPEED
        self._stationary_time = 0.0

    def compute_command(self, car: CarOnRoad, dt: float) -> RecoveryCommand | None:
        """Return what to do while the car has to be brought back, else None.

        Args:
            car: now.
            dt: s since the last call; 0 on the first and after a gap.
        """
        if not self.active:
            if not self._is_in_trouble(car, dt):
                self._note_progress(car, dt)
                return None
            self.active, self._clear_distance = True, 0.0
            self._move_age = math.inf
        self.trouble_time += dt
        self.has_failed = self.trouble_time > GIVE_UP_AFTER
        if self._freeing_distance <= 0.0 and self._is_over(car):
            self.active, self._stationary_time, self._under_way = False, 0.0, True
            return None
        request = self._choose_request()
        if request or car.speed > MAX_TURN_SPEED:
            return self._slow_down(car, request)
        return self._drive(car, dt)

    # ---- when ----

    def _is_in_trouble(self, car: CarOnRoad, dt: float) -> bool:
        self._under_way = self._under_way or car.speed > MAX_TURN_SPEED
        self._stationary_time = self._stationary_time + dt if car.speed < STUCK_SPEED else 0.0
        across = car.strip is not None and abs(car.heading) > STUCK_ANGLE
        allowed = STUCK_TIME if self._under_way else STUCK_TIME_ACROSS if across else math.inf
        if self._stationary_time > allowed:
            self._free_car(car, BACKWARD)
            return True
        if car.strip is None:
            return False
        aside = max(car.offset - car.strip.left_edge, -car.offset - car.strip.right_edge)
        return abs(car.heading) > WRONG_WAY_ANGLE or (aside > 0.0 and car.speed < ASIDE_SPEED)

    def _is_over(self, car: CarOnRoad) -> bool:
        if car.strip is None:
            return self._freeing_distance <= 0.0
        if car.velocity < -ROLL_SPEED:
            return False
        if car.speed > MAX_TURN_SPEED:
            return abs(car.heading) < WRONG_WAY_ANGLE
        inside = INSIDE_DISTANCE - car.strip.right_edge < car.offset < car.strip.left_edge - INSIDE_DISTANCE
        return inside and abs(car.heading) < ALONG_ANGLE

    def _note_progress(self, car: CarOnRoad, dt: float) -> None:
        if self.trouble_time <= 0.0:
            return
        self.trouble_time += dt
        self.has_failed = self.trouble_time > GIVE_UP_AFTER
        strip = car.strip
        clear = strip is None or -strip.right_edge < car.offset < strip.left_edge
        self._clear_distance = self._clear_distance + car.speed * dt if clear else 0.0
        if self._clear_distance > CLEAR_DISTANCE:
            self.trouble_time, self.has_failed = 0.0, False
            self._blocked_count = self._requests = 0

    def _choose_request(self) -> str:
        due = REQUEST_AFTER + REQUEST_PERIOD * self._requests
        if self.trouble_time < due or self._requests >= len(REQUESTS):
            return ""
        self._requests += 1
        self._freeing_distance = 0.0
        return REQUESTS[self._requests - 1]

    # ---- which move ----

    def _begin_move(self, move: Move, distance: float) -> None:
        # `distance` m of it are driven whatever the table says.
        self._move, self._freeing_distance = move, distance
        self._throttle, self._blocked_time, self._engage_time = FIRST_THROTTLE, 0.0, 0.0
        self._is_moving = False
        self._move_age, self._run_age = 0.0, math.inf

    def _free_car(self, car: CarOnRoad, direction: int) -> None:
        """Begin a move in `direction` after the other has failed."""
        direction = FORWARD if self._failed_gears >= 2 else direction
        self._blocked_count += 1
        distance = min(FREEING_DISTANCE * FREEING_GROWTH ** (self._blocked_count - 1), MOST_FREEING)
        # To the side that the road suggests, and from the third time on to one side and the other by turns.
        steer = self._choose(car, direction, only=True).steer if self._blocked_count < 3 else 0.0
        if self._blocked_count >= 3:
            steer = 1.0 if self._blocked_count % 4 < 2 else -1.0
        self._begin_move(Move(direction, steer, 0.0), distance)

    def _choose(self, car: CarOnRoad, direction: int, *, only: bool = False) -> Move:
        strip = car.strip
        if strip is None:
            return Move(direction, 0.0, 0.0)
        rear = car.offset - self._shape.to_rear * math.sin(car.heading)
        can_reverse = self._failed_gears < 2
        if self._table is None or self._is_outdated(strip, rear):
            self._table = ManoeuvreTable(self._shape, strip, rear, can_reverse=can_reverse)
        return self._table.choose_move(rear, car.heading, direction, only=only and can_reverse)

    def _is_outdated(self, strip: RoadStrip, rear: float) -> bool:
        table = self._table
        assert table is not None
        low, high = table.covered
        widths = max(abs(a - b) for a, b in zip(strip[:4], table.strip[:4], strict=True))
        bend = abs(strip.curvature - table.strip.curvature)
        inside = low - WIDTH_CHANGE <= rear <= high + WIDTH_CHANGE
        return not inside or widths > WIDTH_CHANGE or bend > CURVATURE_CHANGE

    def _update_move(self, car: CarOnRoad, dt: float) -> None:
        self._move_age += dt
        self._run_age += dt
        self._freeing_distance -= max(car.velocity * self._move.direction, 0.0) * dt
        if self._freeing_distance > 0.0 or self._move_age < CHOICE_PERIOD:
            return
        move = self._choose(car, self._move.direction)
        if move.direction != self._move.direction:
            self._begin_move(move, 0.0)
        self._move, self._move_age = move, 0.0

    def _move_speed(self, car: CarOnRoad) -> float:
        """Return the speed (m/s) for the present move, by the length that is left of it."""
        if car.strip is None or self._table is None:
            return BLIND_SPEED
        if self._run_age > RUN_PERIOD:
            self._run_age = 0.0
            if self._freeing_distance > 0.0:
                self._run = self._freeing_distance
            else:
                rear = car.offset - self._shape.to_rear * math.sin(car.heading)
                self._run = self._table.measure_run(rear, car.heading, self._move.direction)
        most = FORWARD_SPEED if self._move.direction == FORWARD else BACKWARD_SPEED
        return min(most, max(math.sqrt(2.0 * MOVE_BRAKING * max(self._run - 0.5, 0.0)), MIN_MOVE_SPEED))

    # ---- how ----

    def _slow_down(self, car: CarOnRoad, request: str) -> RecoveryCommand:
        # Wheels along the way of a car that slides forwards; straight on backwards, where they would turn it more.
        angle = math.atan2(car.sideways, car.velocity) if car.velocity > 2.0 else 0.0
        steer = min(max(angle / self._max_angle, -1.0), 1.0)
        direction = BACKWARD if car.gear is not None and car.gear < 0 else FORWARD
        return RecoveryCommand(steer, 0.0, SETTLE_BRAKE, direction, request=request)

    def _drive(self, car: CarOnRoad, dt: float) -> RecoveryCommand:
        self._update_move(car, dt)
        move = self._move
        along = car.velocity * move.direction
        self._has_reversed = self._has_reversed or (move.direction == BACKWARD and along > ROLL_SPEED)
        against = -along
        self._is_moving = self._is_moving or against < ROLL_SPEED
        if against > (HILL_SPEED if self._is_moving else ROLL_SPEED):
            if car.gear is None and move.direction == FORWARD:  # one pedal for both: forwards brakes
                return RecoveryCommand(move.steer, STOP_THROTTLE, 0.0, FORWARD)
            return RecoveryCommand(move.steer, 0.0, STOP_BRAKE, -move.direction)
        if self._waits_for_gear(car, dt):
            return RecoveryCommand(move.steer, 0.0, HOLD_BRAKE, move.direction)
        error = self._move_speed(car) - along
        throttle, brake = self._compute_pedals(car, error, dt)
        self._blocked_time = self._blocked_time + dt if along < BLOCKED_SPEED and error > 0.0 else 0.0
        if self._blocked_time > BLOCKED_TIME:
            if move.direction == BACKWARD and self._cannot_reverse(car):
                self._count_failed_gear()
            self._free_car(car, -move.direction)
        return RecoveryCommand(move.steer, throttle, brake, move.direction, self._drives_by_torque())

    def _cannot_reverse(self, car: CarOnRoad) -> bool:
        """Return whether the present way to drive backwards has no effect, as far as one can see."""
        if self._drives_by_torque():
            return not self._has_reversed
        return (car.gear is None or car.gear >= 0) and car.velocity > BLOCKED_SPEED

    def _count_failed_gear(self) -> None:
        self._failed_gears = min(self._failed_gears + 1, 2)
        self._table = None  # it may have to do without

    def _drives_by_torque(self) -> bool:
        return self._move.direction == BACKWARD and self._failed_gears == 1

    def _waits_for_gear(self, car: CarOnRoad, dt: float) -> bool:
        """Return whether the gearbox is still on its way to the direction of the move; count a failure to reverse."""
        direction = self._move.direction
        engaged = car.gear is None or (car.gear != 0 and (car.gear < 0) == (direction < 0))
        if engaged or self._drives_by_torque():
            return False
        self._engage_time += dt
        if self._engage_time < ENGAGE_TIME:
            return True
        if direction == BACKWARD and self._engage_time - dt < ENGAGE_TIME:
            self._count_failed_gear()
        return False

    def _compute_pedals(self, car: CarOnRoad, error: float, dt: float) -> tuple[float, float]:
        if error < -1.0:
            return 0.0, min(-0.2 * error, SETTLE_BRAKE)
        error = min(error, MAX_SPEED_ERROR)
        kept = slip_limited_share(car.slide, car.speed, PEAK_SLIP)
        rate = THROTTLE_RATE * error if kept >= 1.0 else -SPIN_RATE * (1.0 - kept) * self._throttle
        self._throttle = min(max(self._throttle + rate * dt, 0.0), 1.0)
        return kept * min(max(self._throttle + THROTTLE_GAIN * min(error, 1.0), 0.0), 1.0), 0.0


class RoadTrail:
    """The last places where a car was on its road and drove along it.

    Attributes:
        strip: the cross-section of the road, as far as it is known.
    """

    strip = RoadStrip(HALF_WIDTH, HALF_WIDTH, HALF_WIDTH + RUN_OFF, HALF_WIDTH + RUN_OFF)

    def __init__(self) -> None:
        self._points: deque[tuple[float, float, float]] = deque(maxlen=MOST_POINTS)  # x, y (m), direction (rad)

    def copy(self) -> "RoadTrail":
        """Return a copy."""
        other = RoadTrail()
        other._points = self._points.copy()
        return other

    def add_place(self, x: float, y: float, yaw: float, velocity: tuple[float, float], place: float) -> None:
        """Add the place of a car that drives on the road.

        Args:
            x: m, world.
            y: m, world.
            yaw: rad, of the car.
            velocity: m/s, forwards and to the left.
            place: -1..1 across the road, positive left; NaN where it is not known.
        """
        forward, left = velocity
        if not (abs(place) < MOST_PLACE and forward > MIN_SPEED and abs(left) < MOST_SIDESLIP * forward):
            return
        if self._points and math.dist(self._points[-1][:2], (x, y)) < POINT_SPACING:
            return
        direction = yaw + math.atan2(left, forward)
        aside = place * HALF_WIDTH
        x, y = x + aside * math.sin(direction), y - aside * math.cos(direction)
        if self._points and math.dist(self._points[-1][:2], (x, y)) > MAX_DISTANCE:
            self._points.clear()  # the car was put to another place
        self._points.append((x, y, direction))

    def locate(self, x: float, y: float) -> tuple[float, float] | None:
        """Return offset (m, positive left) of a place from the trail, and the trail's direction (rad) there.

        None where there is no trail near it.
        """
        if not self._points:
            return None
        distances = [(px - x) * (px - x) + (py - y) * (py - y) for px, py, _ in self._points]
        nearest = min(distances)
        if nearest > MAX_DISTANCE * MAX_DISTANCE:
            return None
        near = self._points[distances.index(nearest)]
        return (y - near[1]) * math.cos(near[2]) - (x - near[0]) * math.sin(near[2]), near[2]
