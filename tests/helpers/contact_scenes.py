"""Contacts of two cars whose fault is known by construction, labelled from the rule text before a judge was written.

The rules, in our words. C: FIA International Sporting Code, Appendix L, chapter IV, article 2. G: FIA Driving Standards
Guidelines (2022). S: FIA Formula One Sporting Regulations, article 33 (2022).

* A driver is responsible for not hitting the car ahead: who runs into the tail of a car that drives as the road demands
  has caused the collision (C 2.d, lack of control).
* A car that is overtaking on the inside owns room only with a significant portion alongside, in time for the bend (G):
  here, with half of a length at turn-in it does, with none it does not; in between nobody can say.
* A car that is overtaking on the outside and is ahead at the apex owns a car's width to the edge of the road (G).
* Nobody crowds a car that is alongside (C 2.b); a car with room on its own side keeps to it.
* One change of direction to defend (C 2.b); no abnormal change of direction, under braking least of all (C 2.b).
* Nobody drives unnecessarily slowly or erratically (C 2.e, S 33.4): no brake test.
* Who has left the road comes back when it is safe (C 2.c).
* Where nobody is predominantly to blame nobody is at fault (S, of incidents): "unclear".

Scenes are kinematic: s and n (m, along and left of the road's middle) over time, at 60 Hz, of the car ahead (0) and the
car behind or beside it (1). Parameters are drawn from a seed.
"""

import math
from dataclasses import dataclass

import numpy as np

from trailbrake.analysis.race_motion import open_race
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road

RATE = 60.0  # Hz
DURATION = 7.0  # s; the cars touch between 5 and 7 s
T = np.arange(int(DURATION * RATE) + 1) / RATE
TURN_IN = 600.0  # m, where the bend of a road with one begins
UNCLEAR = None


@dataclass
class Scene:
    """A scene: the road, size of the cars (m), s, n, and brake of the cars, (cars, ticks), and who is at fault."""

    kind: str
    seed: int
    road: Road
    length: float
    width: float
    s: np.ndarray
    n: np.ndarray
    brake: np.ndarray
    fault: int | None

    def poses(self):
        """Return x, y, yaw (m, rad) and speed (m/s) of the cars, each (cars, ticks)."""
        x, y, yaw = (np.empty_like(self.s) for _ in range(3))
        for car in range(len(self.s)):
            places = self.road.points(self.s[car], self.n[car])
            x[car], y[car] = places[:, 0], places[:, 1]
            yaw[car] = places[:, 3] + np.arctan2(np.gradient(self.n[car]), np.maximum(np.gradient(self.s[car]), 1e-6))
        return x, y, yaw, np.hypot(np.gradient(x, axis=1), np.gradient(y, axis=1)) * RATE


def ease(begin, seconds):
    """Return 0 before `begin` (s), 1 after `begin + seconds`, smooth between."""
    u = np.clip((T - begin) / seconds, 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)


def slow_down(speed, begin, deceleration, least=8.0):
    """Return the speed over time of a car that brakes from `begin` (s) on."""
    return np.maximum(speed - deceleration * np.maximum(T - begin, 0.0), least)


def travel(speed, s_end, tick):
    """Return s over time for a speed over time, so that it is `s_end` at `tick`."""
    s = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1])) / RATE])
    return s - s[tick] + s_end


class Draw:
    """What all scenes draw: a road, a size of cars, a side, a moment of contact."""

    def __init__(self, seed, bend=False):
        self.seed = seed
        self.random = random = np.random.default_rng(seed)
        self.half = random.uniform(5.5, 7.0)  # m, half of the road's width
        self.length, self.width = random.uniform(4.3, 5.2), random.uniform(1.8, 2.05)
        self.side = random.choice([-1.0, 1.0])  # of the bend, or of the first move: 1 left
        self.tick = int(random.uniform(5.4, 6.4) * RATE)
        self.at = T[self.tick]
        radius, angle = random.uniform(40.0, 120.0), random.uniform(0.9, 2.4)
        self.radius = radius
        self.arc = radius * angle
        curvature = self.side / radius if bend else 0.0
        self.road = make_road(curvature, self.arc, self.half)

    def between(self, low, high):
        return self.random.uniform(low, high)

    def scene(self, kind, s, n, fault, brake=None):
        brake = np.zeros((2, len(T))) if brake is None else np.asarray(brake, float)
        return Scene(kind, self.seed, self.road, self.length, self.width, np.asarray(s), np.asarray(n), brake, fault)


def make_road(curvature, arc, half):
    """Return a road: straight, at TURN_IN an arc, straight; along x at its start."""
    spacing = 1.0
    s = np.arange(int(TURN_IN + arc + 900.0)) * spacing
    bent = np.where((s >= TURN_IN) & (s < TURN_IN + arc), curvature, 0.0)
    yaw = np.concatenate([[0.0], np.cumsum(0.5 * (bent[1:] + bent[:-1])) * spacing])
    x = np.concatenate([[0.0], np.cumsum(np.cos(0.5 * (yaw[1:] + yaw[:-1]))) * spacing])
    y = np.concatenate([[0.0], np.cumsum(np.sin(0.5 * (yaw[1:] + yaw[:-1]))) * spacing])
    return Road.from_columns(spacing, False, x, y, yaw, bent, width_left=half, width_right=half, runoff_left=8.0,
                             runoff_right=8.0)  # fmt: skip


def flat(value):
    return np.full(len(T), float(value))


# --- The car behind is at fault


def rear_end_on_a_straight(seed):
    d = Draw(seed)
    speed = d.between(25.0, 60.0)
    ahead = travel(flat(speed), d.between(250.0, 400.0), d.tick)
    behind = travel(flat(speed + d.between(2.0, 12.0)), ahead[d.tick] - d.length + 0.05, d.tick)
    n = d.between(-3.0, 3.0)
    return d.scene("rear-end on a straight", [ahead, behind], [flat(n), flat(n + d.between(-0.7, 0.7))], 1)


def rear_end_under_braking(seed):
    """The car ahead brakes for the bend; the one behind brakes too late."""
    d = Draw(seed, bend=True)
    speed, pull = d.between(45.0, 65.0), d.between(7.0, 10.0)
    bend_speed = math.sqrt(10.0 * d.radius)
    begin = d.at - d.between(1.2, 2.0)
    v = slow_down(speed, begin, pull, bend_speed)
    way = (v[d.tick] ** 2 - bend_speed**2) / (2.0 * pull)
    ahead = travel(v, TURN_IN - max(way, 0.0) - d.between(2.0, 8.0), d.tick)
    late = slow_down(speed, begin + d.between(0.6, 1.0), pull)
    behind = travel(late, ahead[d.tick] - d.length + 0.05, d.tick)
    n = -d.side * d.between(1.0, d.half - 2.0)
    brake = [begin < T, begin + 0.8 < T]
    return d.scene("rear-end under braking", [ahead, behind], [flat(n), flat(n + d.between(-0.5, 0.5))], 1, brake)


def rear_end_long_after_one_move(seed):
    """The car ahead has defended once, early; the one behind goes the same way, and runs into it."""
    d = Draw(seed)
    speed = d.between(35.0, 60.0)
    ahead = travel(flat(speed), d.between(300.0, 450.0), d.tick)
    behind = travel(flat(speed + d.between(3.0, 6.0)), ahead[d.tick] - d.length + 0.05, d.tick)
    moved, begin = d.side * d.between(1.5, 3.0), d.at - d.between(3.4, 4.2)
    line = -0.5 * moved + moved * ease(begin, 1.0)
    follows = -0.5 * moved + moved * ease(begin + d.between(0.3, 0.8), 1.2)
    return d.scene("rear-end after one early move", [ahead, behind], [line, follows], 1)


def dive_without_overlap(seed):
    """From behind to the inside: no overlap at turn-in, contact towards the apex."""
    d = Draw(seed, bend=True)
    bend_speed = math.sqrt(d.between(9.0, 14.0) * d.radius)
    entry = d.between(0.6, 1.2)  # s from turn-in to the contact
    v = slow_down(bend_speed + 20.0, d.at - entry - 2.0, 10.0, bend_speed)
    ahead = travel(v, TURN_IN + bend_speed * entry, d.tick)
    turned = np.argmax(ahead >= TURN_IN)
    apart = d.length * d.between(1.1, 1.8)  # at turn-in
    closing = (apart - d.length * d.between(0.3, 0.7)) / (d.at - T[turned])
    gap = apart - closing * (T - T[turned])
    outside, inside = -d.side * (d.half - d.width), d.side * (d.half - 0.8 * d.width)
    turn = ease(T[turned], 1.1 * entry)
    line = outside + (inside - d.side * 0.85 * d.width - outside) * turn / turn[d.tick]
    brake = [(d.at - entry - 2.0 < T) & (d.at - entry > T), (d.at - entry - 1.2 < T)]
    return d.scene("dive without overlap", [ahead, ahead - gap], [line, flat(inside)], 1, brake)


def runs_wide_into_the_other(seed):
    """Inside with overlap, room left by the car outside: the one inside does not hold its line."""
    d = Draw(seed, bend=True)
    speed = math.sqrt(d.between(8.0, 13.0) * d.radius)
    entry = d.between(0.9, 1.5)
    ahead = travel(flat(speed), TURN_IN + speed * entry, d.tick)
    outside = -d.side * (d.half - 0.7 * d.width)
    inside = d.side * (d.half - 0.8 * d.width)
    run = ease(d.at - entry + 0.2, entry)
    wide = inside + (outside + d.side * 0.97 * d.width - inside) * run / run[d.tick]
    gap = flat(d.length * d.between(0.0, 0.35))
    return d.scene("runs wide into the other", [ahead, ahead - gap], [flat(outside), wide], 1)


# --- The car ahead is at fault


def turns_in_on_a_car_inside(seed):
    """Overlap of more than half at turn-in; the car outside turns in as if nobody were there."""
    d = Draw(seed, bend=True)
    speed = math.sqrt(d.between(8.0, 13.0) * d.radius)
    entry = d.between(0.6, 1.2)
    ahead = travel(flat(speed), TURN_IN + speed * entry, d.tick)
    inside = d.side * (d.half - 0.7 * d.width)
    outside = -d.side * d.between(0.5, d.half - d.width)
    turn = ease(d.at - entry, 1.2 * entry)
    line = outside + (inside - d.side * 0.97 * d.width - outside) * turn / turn[d.tick]
    gap = flat(d.length * d.between(0.0, 0.4))
    return d.scene("turns in on a car inside", [ahead, ahead - gap], [line, flat(inside)], 0)


def pushes_a_car_outside_off(seed):
    """The car outside is ahead at the apex; the one inside runs out to the edge and leaves it no room. Car 1 inside."""
    d = Draw(seed, bend=True)
    speed = math.sqrt(d.between(8.0, 12.0) * d.radius)
    ahead = travel(flat(speed), TURN_IN + 0.8 * d.arc, d.tick)
    outside = -d.side * (d.half - 0.55 * d.width)
    inside = d.side * (d.half - d.width)
    exit_s = 0.3 * d.arc / speed
    run = ease(d.at - exit_s, 1.2 * exit_s)
    wide = inside + (outside + d.side * 0.97 * d.width - inside) * run / run[d.tick]
    gap = flat(d.length * d.between(0.1, 0.35))
    return d.scene("pushes a car outside off", [ahead, ahead - gap], [flat(outside), wide], 1)


def squeezes_on_a_straight(seed):
    d = Draw(seed)
    speed = d.between(30.0, 65.0)
    ahead = travel(flat(speed), d.between(300.0, 500.0), d.tick)
    apart, took = d.between(2.6, 3.6), d.between(0.9, 1.8)
    move = ease(d.at - took, 1.3 * took)
    mover = d.seed % 2
    lines = [flat(0.5 * apart * d.side), flat(-0.5 * apart * d.side)]
    towards = -d.side if mover == 0 else d.side
    lines[mover] = lines[mover] + towards * (apart - 0.97 * d.width) * move / move[d.tick]
    gap = flat(d.length * d.between(0.0, 0.6))
    return d.scene("squeezes on a straight", [ahead, ahead - gap], lines, mover)


def chops_in_the_braking_zone(seed):
    """Under braking the car ahead moves in front of one that comes on beside its line."""
    d = Draw(seed, bend=True)
    speed, pull = d.between(45.0, 60.0), d.between(7.0, 9.0)
    begin = d.at - d.between(1.3, 1.8)
    v = slow_down(speed, begin, pull)
    bend_speed = math.sqrt(10.0 * d.radius)
    ahead = travel(v, TURN_IN - max(v[d.tick] ** 2 - bend_speed**2, 0.0) / (2.0 * pull) - 3.0, d.tick)
    closing = d.between(4.0, 8.0)
    behind = ahead - d.length + 0.1 + closing * (T - d.at)
    aside = d.width * d.between(1.1, 1.5)
    took = d.between(0.5, 0.8)
    move = ease(d.at - took, 1.1 * took)
    line = flat(-0.5 * d.side * aside) + d.side * d.between(0.7, 0.95) * aside * move / move[d.tick]
    brake = [begin < T, begin + 0.2 < T]
    return d.scene("chops in the braking zone", [ahead, behind], [line, flat(0.5 * d.side * aside)], 0, brake)


def weaves(seed):
    """Three or four changes of direction in front of a car that is faster."""
    d = Draw(seed)
    speed = d.between(35.0, 60.0)
    ahead = travel(flat(speed), d.between(350.0, 500.0), d.tick)
    behind = ahead - d.length + 0.1 + d.between(2.0, 4.0) * (T - d.at)
    moves, wide = 3 + d.seed % 2, d.between(1.6, 2.6)
    period = d.between(1.0, 1.25)
    line, follow = flat(-0.5 * d.side * wide), flat(0.3 * d.side * wide)
    for k in range(moves):
        begin = d.at - 0.15 - period * (moves - k)
        way = d.side * wide * (1.0 if k % 2 == 0 else -1.0)
        line = line + way * ease(begin, 0.8 * period)
        follow = follow - 0.4 * way * ease(begin + 0.5 * period, 0.8 * period)
    follow = follow + (line[d.tick] - follow[d.tick]) * ease(d.at - 0.8, 0.8)
    return d.scene("weaves", [ahead, behind], [line, follow], 0)


def brake_test(seed):
    """On a straight, far from any bend and with nobody ahead, the car ahead brakes hard."""
    d = Draw(seed)
    speed, pull = d.between(40.0, 65.0), d.between(6.0, 10.0)
    begin = d.at - d.between(1.0, 1.5)
    ahead = travel(slow_down(speed, begin, pull), d.between(250.0, 330.0), d.tick)
    behind = travel(slow_down(speed + d.between(0.0, 1.0), begin + 0.7, pull), ahead[d.tick] - d.length + 0.05, d.tick)
    n = d.between(-3.0, 3.0)
    brake = [begin < T, begin + 0.7 < T]
    return d.scene("brake test", [ahead, behind], [flat(n), flat(n + d.between(-0.5, 0.5))], 0, brake)


def returns_unsafely(seed):
    """Beside the road and slower, back on it in front of the other, or into its side."""
    d = Draw(seed)
    speed = d.between(35.0, 55.0)
    behind = travel(flat(speed), d.between(350.0, 450.0), d.tick)
    slower = flat(speed * d.between(0.5, 0.85))
    ahead = travel(slower, behind[d.tick] + d.length * d.between(0.3, 0.98), d.tick)
    off, took = d.side * (d.half + d.between(1.8, 3.5)), d.between(1.0, 2.0)
    keeps = d.side * d.between(0.5, d.half - 1.5 * d.width)
    move = ease(d.at - took, 1.2 * took)
    line = off + (keeps + d.side * 0.95 * d.width - off) * move / move[d.tick]
    return d.scene("returns unsafely", [ahead, behind], [line, flat(keeps)], 0)


# --- Nobody can say


def both_drift_together(seed):
    d = Draw(seed)
    speed = d.between(30.0, 60.0)
    ahead = travel(flat(speed), d.between(300.0, 500.0), d.tick)
    apart, took = d.between(2.5, 3.4), d.between(0.8, 1.6)
    share, move = d.between(0.42, 0.58), ease(d.at - took, 1.3 * took)
    way = (apart - 0.97 * d.width) * move / move[d.tick]
    lines = [0.5 * apart - share * way, -0.5 * apart + (1.0 - share) * way]
    gap = flat(d.length * d.between(0.0, 0.5))
    return d.scene("both drift together", [ahead, ahead - gap], [d.side * line for line in lines], UNCLEAR)


def a_little_overlap_at_turn_in(seed):
    """Between none and half: neither clearly owned the room."""
    d = Draw(seed, bend=True)
    speed = math.sqrt(d.between(8.0, 13.0) * d.radius)
    entry = d.between(0.6, 1.2)
    ahead = travel(flat(speed), TURN_IN + speed * entry, d.tick)
    inside = d.side * (d.half - 0.7 * d.width)
    outside = -d.side * d.between(0.5, d.half - d.width)
    turn = ease(d.at - entry, 1.2 * entry)
    line = outside + (inside - d.side * 0.97 * d.width - outside) * turn / turn[d.tick]
    gap = flat(d.length * d.between(0.66, 0.76))
    return d.scene("a little overlap at turn-in", [ahead, ahead - gap], [line, flat(inside)], UNCLEAR)


KINDS = (
    rear_end_on_a_straight, rear_end_under_braking, rear_end_long_after_one_move, dive_without_overlap,
    runs_wide_into_the_other, turns_in_on_a_car_inside, pushes_a_car_outside_off, squeezes_on_a_straight,
    chops_in_the_braking_zone, weaves, brake_test, returns_unsafely, both_drift_together, a_little_overlap_at_turn_in,
)  # fmt: skip


def make_scenes(each=8, first_seed=100):
    """Return `each` scenes of every kind."""
    return [make(first_seed + 1000 * k + seed) for k, make in enumerate(KINDS) for seed in range(each)]


def record_scene(folder, scene, clocks=(0.0,) * 4, order=None, about=None):
    """Write a scene as recordings of its cars, each with a clock of its own; return the path of the first."""
    x, y, yaw, speed = scene.poses()
    for number, car in enumerate(order or range(len(scene.s))):
        name = f"scene_{scene.seed}" + (f"_car{number}" if number else "")
        recorder = Recorder(folder / f"{name}.mcap")
        recorder.start({"sim": "test", **(about or {})})
        left, right = scene.road.edge_lines()
        recorder.store_map(scene.road.table[:, :2], left[:, :2], right[:, :2], scene.road.closed)
        for k in range(x.shape[1]):
            state = CarState(time=10.0 + clocks[number] + k / 60.0, x=x[car, k], y=y[car, k], speed=speed[car, k])
            state.yaw, state.contacts = yaw[car, k], float(k > 300)
            recorder.tick(state, Controls(brake=float(scene.brake[min(car, 1), k])))
        recorder.close()
    return folder / f"scene_{scene.seed}.mcap"


def record_cars(folder, *s):
    """Write cars at `s` (m) over T as recordings on a straight road; return those."""
    n = [flat(2.0 * car) for car in range(len(s))]
    scene = Scene("race", 1, make_road(0.0, 0.0, 6.0), 4.6, 1.9, np.array(s), np.array(n), np.zeros((2, len(T))), None)
    return open_race(Recording.open(record_scene(folder, scene)))
