"""Drives round a circle with rewinds, lost packets, pauses, restarts and out laps at random places; their true laps."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from trailbrake.state import CarState

RADIUS = 40.0
LENGTH = 2.0 * math.pi * RADIUS
EVENTS = ("rewind", "rewind over the line", "two lost over the line", "silence over the line", "silence", "pause",
          "restart", "out lap")  # fmt: skip


@dataclass(frozen=True)
class Moment:
    """The car and its race at one moment: s, m, m/s; `laps` are finished: number, s, whether it counts."""

    time: float = 0.0  # of the session: neither a rewind nor a restart sets it back
    race: float = 0.0
    s: float = 0.0
    speed: float = 0.0
    lap: int = 1
    lap_start: float = 0.0  # of the race clock
    counts: bool = True
    laps: tuple[tuple[int, float, bool], ...] = ()

    def make_state(self) -> CarState:
        angle = self.s / RADIUS
        return CarState(time=self.time, x=RADIUS * math.sin(angle), y=-RADIUS * math.cos(angle), z=0.0,
                        yaw=math.remainder(angle, 2.0 * math.pi), speed=self.speed, lap=float(self.lap),
                        lap_time=self.race - self.lap_start)  # fmt: skip


@dataclass
class PlantedDrive:
    """What a wire would send: a moment for each sample that arrives, None for a packet of a paused game.

    `laps` are true and stand at the end, those before a restart included; `gap` is the longest step, s.
    """

    moments: list[Moment | None] = field(default_factory=list)
    laps: tuple[tuple[int, float, bool], ...] = ()
    gap: float = 0.0
    planted: list[str] = field(default_factory=list)


def plant_drive(rng: np.random.Generator, rate: float, events: tuple[str, ...] = EVENTS, laps: int = 4) -> PlantedDrive:
    """Drive `laps` laps and a half at `rate` samples per second, with one of the events in each lap but the first."""
    dt, drive, now = 1.0 / rate, PlantedDrive(), Moment()
    phase, base = rng.uniform(0.0, 6.0), rng.uniform(24.0, 34.0)
    chosen = [str(event) for event in rng.permutation([e for e in events if e != "out lap"])]
    plan = dict(zip(range(2, laps + 1), chosen, strict=False))
    if "out lap" in events and rng.random() < 0.3:
        now = Moment(s=0.4 * LENGTH, lap_start=-3.0, counts=False)
        drive.planted.append("out lap")
    kept, lost, share = [now], 0, rng.uniform(0.3, 0.9)
    while now.s < (laps + 0.5) * LENGTH:
        speed = base + 6.0 * math.sin(0.8 * now.race + phase)
        now = replace(now, time=now.time + dt, race=now.race + dt, s=now.s + speed * dt, speed=speed)
        if now.s >= now.lap * LENGTH:
            end = now.race - (now.s - now.lap * LENGTH) / speed
            record = now.lap, end - now.lap_start, now.counts
            now = replace(now, lap=now.lap + 1, lap_start=end, counts=True, laps=(*now.laps, record))
            share = rng.uniform(0.3, 0.9)
        kept.append(now)
        lost -= 1
        if lost < 0:
            drive.moments.append(now)
        event = plan.get(now.lap, "")
        ahead = now.lap * LENGTH - now.s
        at = {"rewind over the line": 0.9 * LENGTH, "two lost over the line": 1.5 * speed * dt,
              "silence over the line": 8.0}.get(event, (1.0 - share) * LENGTH)  # fmt: skip
        if not event or ahead > at:
            continue
        del plan[now.lap]
        drive.planted.append(event)
        if event.startswith("rewind"):
            back = LENGTH - ahead + 40.0 if "line" in event else rng.uniform(0.1, 0.9) * (LENGTH - ahead)
            kept = [moment for moment in kept if moment.s <= now.s - back]
            now = replace(kept[-1], time=now.time + rng.uniform(0.0, 2.0))
        elif event == "restart":
            now = Moment(time=now.time + 1.0, laps=now.laps)
            kept = [now]
        elif event == "pause":
            drive.moments += [None] * int(rng.integers(5, 60))
        else:
            lost = 2 if event.startswith("two") else int(rng.uniform(0.45, 1.2) * rate)
            drive.gap = max(drive.gap, (lost + 1) * dt)
    drive.laps = now.laps
    return drive
