"""The heats of a race day: who drives when, on what track, from where on the grid, and by what seed. Pure."""

import hashlib
from collections.abc import Callable

import msgspec

from trailbrake.race.plan import EntryLimits, RaceDayPlan, RaceEntry, RaceRules


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """Entries in one world at one time: all that their result depends on.

    Attributes:
        race: number of the race within the day, 1 for the first.
        sim: whose wire.
        track: where.
        car: with what.
        host: options of the embedded simulator, KEY=VALUE.
        laps: how many.
        seed: of the world.
        rules: what holds.
        grid: who, from the front of the grid to its back.
        limits: what entries may use. No result depends on it, unless an entry fails.
    """

    race: int
    sim: str
    track: str
    car: str
    host: tuple[str, ...]
    laps: int
    seed: int
    rules: RaceRules
    grid: tuple[RaceEntry, ...]
    limits: EntryLimits = EntryLimits()


def schedule_heats(plan: RaceDayPlan) -> list[Heat]:
    """Return the heats of a day in order.

    Entries share the track in groups of `plan.cars`, and the front of the grid goes round from race to race.
    """
    found: list[Heat] = []
    race = 0
    for item in plan.schedule:
        host = tuple(f"{name}={_format_option(value)}" for name, value in item.host.items())
        for _ in range(item.races):
            turn = race % len(plan.entries)
            order = plan.entries[turn:] + plan.entries[:turn] if plan.cars > 1 else plan.entries
            race += 1
            alike = Heat(race=race, sim=plan.sim, track=item.track, car=plan.car, host=host,
                         laps=item.laps or plan.rules.laps, seed=plan.seed + race - 1, rules=plan.rules,
                         limits=plan.limits, grid=())  # fmt: skip
            groups = (order[first : first + plan.cars] for first in range(0, len(order), plan.cars))
            found += [msgspec.structs.replace(alike, grid=grid) for grid in groups]
    return found


def _format_option(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def fingerprint_heat(heat: Heat, read_file: Callable[[str], bytes]) -> str:
    """Return a text that changes with anything that a heat's result may depend on.

    Args:
        heat: the heat. What only counts points, or is limited by the wall's clock, is left out.
        read_file: returns the bytes of the file that a text of the plan names, b"" where it names none.
    """
    rules = msgspec.structs.replace(heat.rules, score="best_lap", points=(), patience=1.0, start=1.0, wall=1.0)
    values = msgspec.to_builtins(msgspec.structs.replace(heat, rules=rules))
    del values["limits"]
    hashed = hashlib.sha256(msgspec.json.encode(values))
    words = [heat.track, heat.car]
    for entry in heat.grid:
        command = entry.command.split() if isinstance(entry.command, str) else entry.command
        words += [entry.driver, entry.config, *command]
    for word in words:
        hashed.update(hashlib.sha256(read_file(word)).digest())
    return hashed.hexdigest()
