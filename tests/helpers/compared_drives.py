"""Flying laps on the stadium of `synthetic_drives`, timed by the lap timer: drives that differ where a test says."""

import math

import numpy as np

from helpers.synthetic_drives import FAST, LENGTH, RADIUS, SLOW, STRAIGHT, edges, place, state_at
from trailbrake.laps import LapTimer
from trailbrake.record import Recorder
from trailbrake.state import Controls

HALF = LENGTH / 2


def target_speed(s, early=(0.0, 0.0), slower=(0.0, 0.0)):
    """Return the speed at `s`: the brake point is `early` m earlier, the bend driven `slower` m/s slower, per bend."""
    bend, s = int(s % LENGTH // HALF), s % HALF
    if s > STRAIGHT:
        return SLOW - slower[bend]
    braking = math.sqrt((SLOW - slower[bend]) ** 2 + 2 * 9.0 * max(0.0, STRAIGHT - early[bend] - s))
    pulling = math.sqrt((SLOW - slower[bend - 1]) ** 2 + 2 * 4.0 * s)
    return min(FAST, braking, pulling)


def record_laps(
    path, rate=60.0, laps=3, early=(0.0, 0.0), slower=(0.0, 0.0), with_map=True, positions=True, start=-15.0,
    aside=0.0, line=0.0, pull=5.0, **about,
):  # fmt: skip
    """Record a lap from rest and flying laps after it; return the path and the counted laps.

    It begins at `start` m, `aside` m beside its way over 60 m, with `pull` m/s^2 at most; laps are counted
    `line` m behind the start of the road.
    """
    recorder = Recorder(path)
    recorder.start({"sim": "synthetic", "driver": path.stem, "track": "stadium", "car": "point", **about})
    if with_map:
        recorder.store_map(edges(0.0), edges(6.0), edges(-6.0), closed=True)
    timer, dt, time, s, speed, sequence = LapTimer(LENGTH, True), 1.0 / rate, 0.0, start, 0.0, 0
    while len(timer.laps) < laps or s % LENGTH < 20.0:
        ax = max(-9.0, min(pull, (target_speed(s, early, slower) - speed) / 0.1))
        lap = timer.update(time, s)
        if lap is not None:
            recorder.store_lap(lap)
        state = state_at(time, s, speed, ax, timer.lap_time, sequence)
        state.x, state.y, _ = place(s + line, 1.5 + aside * max(0.0, 1.0 - max(s, 0.0) / 60.0))
        rate_of_turn = speed / RADIUS if s % HALF > STRAIGHT else 0.0
        state.steer, state.brake, state.throttle = 0.18 * rate_of_turn, max(0.0, -ax / 9.0), max(0.0, min(1.0, ax / 4))
        if not positions:
            state.x = state.y = math.nan
        recorder.tick(state, Controls(steer=state.steer, throttle=state.throttle, brake=state.brake))
        s, speed, time, sequence = s + speed * dt, max(0.0, speed + ax * dt), time + dt, sequence + 1
    recorder.close()
    return path, timer.laps


def brake_place(bend):
    """Return where a lap without changes begins to brake for a bend, m from the line."""
    grid = np.arange(0.0, HALF, 0.05)
    speeds = np.array([target_speed(s) for s in grid])
    return bend * HALF + float(grid[int(np.flatnonzero(speeds >= speeds.max() - 1e-9)[-1])])
