"""Synthetic drives: a car on a stadium-shaped track, with plausible speeds, without any simulator.

Two straights of 600 m and two half circles of 120 m radius; the planned line runs 1.5 m inside the centre.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trailbrake.record.recorder import Recorder
from trailbrake.state import CarState, Controls

STRAIGHT, RADIUS = 600.0, 120.0
LENGTH = 2.0 * STRAIGHT + 2.0 * math.pi * RADIUS
FAST, SLOW = 62.0, 38.0  # m/s on the straight and in the bend


@dataclass(frozen=True)
class LapDone:
    number: int
    time_s: float
    valid: bool
    sectors_s: tuple[float, ...]
    invalid_reason: str = ""
    off_track_s: float = 0.0
    contacts: int = 0
    end: float = math.nan


def place(s: float, offset: float = 0.0) -> tuple[float, float, float]:
    """Return x, y and yaw at distance `s`, `offset` to the left of the centre line."""
    s %= LENGTH
    arc = math.pi * RADIUS
    if s < STRAIGHT:
        x, y, yaw = s, 0.0, 0.0
    elif s < STRAIGHT + arc:
        yaw = (s - STRAIGHT) / RADIUS
        x, y = STRAIGHT + RADIUS * math.sin(yaw), RADIUS - RADIUS * math.cos(yaw)
    elif s < 2 * STRAIGHT + arc:
        x, y, yaw = STRAIGHT - (s - STRAIGHT - arc), 2 * RADIUS, math.pi
    else:
        yaw = math.pi + (s - 2 * STRAIGHT - arc) / RADIUS
        x, y = RADIUS * math.sin(yaw), RADIUS - RADIUS * math.cos(yaw)
    return x - offset * math.sin(yaw), y + offset * math.cos(yaw), math.remainder(yaw, 2 * math.pi)


def planned_speed(s: float) -> float:
    """Brake for the bends, accelerate out of them."""
    s = s % (LENGTH / 2)
    if s > STRAIGHT:
        return SLOW
    braking = math.sqrt(SLOW**2 + 2 * 11.0 * (STRAIGHT - s))
    pulling = math.sqrt(SLOW**2 + 2 * 4.0 * s)
    return min(FAST, braking, pulling)


def edges(offset: float, step: float = 5.0) -> np.ndarray:
    return np.array([place(s, offset)[:2] for s in np.arange(0.0, LENGTH, step)])


def state_at(
    time: float, s: float, speed: float, ax: float, lap_time: float, sequence: int, lap: int = 0, full: bool = True
) -> CarState:
    """Return a state in which most of what a good simulator supplies is filled, or only x, y and speed."""
    wobble = 0.6 * math.sin(s / 37.0 + lap) + 0.25 * math.sin(s / 11.0)
    x, y, yaw = place(s, 1.5 + wobble)
    state = CarState(time=time, sequence=sequence, x=x, y=y, speed=speed)
    if not full:
        return state
    bend = s % (LENGTH / 2) > STRAIGHT
    rate = speed / RADIUS if bend else 0.0
    state.z, state.yaw, state.pitch, state.roll = 0.3, yaw, -0.001 * ax, 0.002 * rate
    state.velocity_x, state.velocity_y, state.velocity_z = speed, 0.02 * rate, 0.0
    state.acceleration_x, state.acceleration_y, state.acceleration_z = ax, speed * rate + wobble, 0.0
    state.roll_rate, state.pitch_rate, state.yaw_rate = 0.0, 0.0, rate
    state.throttle, state.brake = max(0.0, min(1.0, ax / 4)), max(0.0, min(1.0, -ax / 11))
    state.steer = 0.18 * rate + 0.01 * wobble
    state.gear = max(1, min(6, int(speed / 11)))
    state.engine_speed = 300.0 + 40.0 * (speed % 11)
    state.lap_time, state.lap_progress = lap_time, s % LENGTH / LENGTH
    state.contacts = 0.0
    for i, wheel in enumerate(state.wheels):
        wheel.x, wheel.y, wheel.z = x + (1 - i // 2), y + (0.8 if i % 2 == 0 else -0.8), 0.0
        wheel.angular_velocity, wheel.slip_ratio, wheel.slip_angle = speed / 0.33, 0.01 * ax, 0.02 * rate
        wheel.load, wheel.on_track = 3400.0 + 100 * wobble, 1.0
    return state


def record_drive(
    path: Path,
    laps: int = 2,
    rate: float = 333.0,
    full: bool = True,
    with_plan: bool = True,
    extra_seconds: float = 1.0,
    recorder: Recorder | None = None,
    pace: tuple[float, ...] = (0.97, 0.99, 0.98),
) -> Recorder:
    """Drive from rest before the line, `laps` laps and a little more, into a recording."""
    recorder = recorder or Recorder(path)
    recorder.start({"sim": "synthetic", "driver": "on_rails", "track": "stadium", "car": "point", "seed": 7})
    if with_plan:
        recorder.store_map(edges(0.0), edges(6.0), edges(-6.0), closed=True)
        grid = np.arange(0.0, LENGTH, 3.0)
        points = np.array([place(s, 1.5) for s in grid])
        recorder.store_plan(grid, points[:, 0], points[:, 1], np.array([planned_speed(s) for s in grid]))
    dt, time, s, speed, sequence, lap, started = 1.0 / rate, 0.0, -20.0, 0.0, 0, 0, 0.0
    sectors: list[float] = []
    stop = math.inf
    while time < stop:
        target = planned_speed(s) * pace[max(0, lap - 1) % len(pace)]
        ax = max(-11.0, min(5.0, (target - speed) / 0.1))
        state = state_at(time, s, speed, ax, time - started, sequence, lap, full)
        controls = Controls(steer=state.steer if full else 0.0, throttle=max(0.0, ax / 5), brake=max(0.0, -ax / 11))
        recorder.tick(state, controls)
        before = s
        s, speed, time, sequence = s + speed * dt, max(0.0, speed + ax * dt), time + dt, sequence + 1
        if before < 0.0 <= s:
            lap, started, sectors = 1, time, []
        for part in (1, 2):
            mark = (lap - 1 + part / 3) * LENGTH
            if lap and before < mark <= s:
                sectors.append(time - started - sum(sectors))
        if lap and s >= lap * LENGTH:
            total = time - started
            whole = (*sectors, total - sum(sectors))
            recorder.store_lap(LapDone(lap, total, lap != 2, whole, "" if lap != 2 else "off the road"))
            lap, started, sectors = lap + 1, time, []
            if lap > laps and stop == math.inf:
                stop = time + extra_seconds
    recorder.store_event(time, "supervisor: the drive is over")
    recorder.close()
    return recorder
