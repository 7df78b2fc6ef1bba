"""The scenes of an overtaking suite: classes in a file, and the scenes that their seed draws."""

import random
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from trailbrake.evaluate.suite import SUITE_PREFIX
from trailbrake.user_files import convert_values, decode_user_text, parse_toml

_FOLDER = Path(__file__).with_name("suites")
_Positive = Annotated[float, msgspec.Meta(gt=0.0)]
_Count = Annotated[int, msgspec.Meta(ge=1)]

Habit = Literal["own_line", "defending", "erratic", "braking_early", "spun", "train", "blue_flag"]
Means = Literal["grip", "power"]
MEANS: tuple[Means, ...] = ("grip", "power")


class Venue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A road and a car.

    Attributes:
        track, car: names of the library; a circuit.
        reference_s: s, the lap alone of the faster car, to which pace ratios refer.
    """

    track: str
    car: str
    reference_s: _Positive


class SceneClass(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scenes of one kind.

    Attributes:
        name: of the class.
        habit: of the rivals.
        ratios: pace ratios, lap time alone of the faster car over that of the slower; scenes take them by turn.
        laps: within which the rivals are to be passed.
        scenes: how many.
        rivals: in a scene, the same distance behind each other.
        gap_m: m, least and most from the judged car to the first rival at the start.
    """

    name: str
    habit: Habit
    ratios: Annotated[tuple[_Positive, ...], msgspec.Meta(min_length=1)]
    laps: _Count
    scenes: _Count
    rivals: _Count = 1
    gap_m: tuple[_Positive, _Positive] = (15.0, 50.0)


class OvertakingSuite(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A suite of overtaking.

    Attributes:
        name, text: what it is called and what it is.
        sim: whose wire.
        seed: of the scenes.
        practice_laps: that a driver drives alone before; what it learns there it keeps.
        clear_s: s for which the judged car has to be ahead by a car's length.
        train_gap_m: m between the cars of a train.
        venues: where; scenes take them by turn.
        classes: what is driven.
    """

    name: str
    text: str
    sim: str
    seed: int
    practice_laps: _Count
    clear_s: _Positive
    train_gap_m: _Positive
    venues: Annotated[tuple[Venue, ...], msgspec.Meta(min_length=1)]
    classes: Annotated[tuple[SceneClass, ...], msgspec.Meta(min_length=1)]


class OvertakingScene(msgspec.Struct, frozen=True, kw_only=True):
    """A scene: who is to be passed, where, and from where.

    Attributes:
        kind: name of its class.
        number: in the class.
        venue: where.
        habit, means, ratio: of the rivals.
        laps: within which they are to be passed.
        start: share of the lap at which the judged car begins.
        gaps_m: m from it to each rival.
        rival_seed: of the rivals' lines.
    """

    kind: str
    number: int
    venue: Venue
    habit: Habit
    means: Means
    ratio: float
    laps: int
    start: float
    gaps_m: tuple[float, ...]
    rival_seed: int


def list_overtaking_suites() -> list[str]:
    """Return the names of the suites of overtaking, with the prefix of a suite."""
    return sorted(SUITE_PREFIX + path.stem for path in _FOLDER.glob("*.toml"))


def load_overtaking_suite(name: str) -> OvertakingSuite:
    """Return a suite of `list_overtaking_suites`; its prefix may be left out."""
    where = f"{name.removeprefix(SUITE_PREFIX)}.toml"
    return parse_overtaking_suite(decode_user_text(_FOLDER.joinpath(where).read_bytes(), where), where)


def parse_overtaking_suite(text: str, where: str) -> OvertakingSuite:
    """Return the suite in a TOML text; DataError, naming `where`, where it is none."""
    return convert_values(parse_toml(text, where), OvertakingSuite, "not a suite of overtaking", where)


def draw_scenes(suite: OvertakingSuite, kind: SceneClass, seed: int, count: int = 0) -> list[OvertakingScene]:
    """Return the scenes of a class.

    Args:
        suite: whose venues they take.
        kind: the class.
        seed: of the draw.
        count: how many, the first; 0 = all. A scene is the same whatever the count.
    """
    scenes = []
    for number in range(count or kind.scenes):
        draw = random.Random(f"{seed}/{kind.name}/{number}")
        turn, place = divmod(number, len(suite.venues))
        gap = draw.uniform(*kind.gap_m)
        scenes.append(OvertakingScene(
            kind=kind.name, number=number, venue=suite.venues[place], habit=kind.habit,
            means=MEANS[(turn + place) % 2], ratio=kind.ratios[turn % len(kind.ratios)], laps=kind.laps,
            start=draw.random(), rival_seed=draw.randrange(1 << 30),
            gaps_m=tuple(gap + follower * suite.train_gap_m for follower in range(kind.rivals)),
        ))  # fmt: skip
    return scenes
