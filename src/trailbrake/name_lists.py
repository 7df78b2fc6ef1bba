"""Lists of names and seeds as users write them: with commas between, and with ranges such as gen:3-5."""

import re

from trailbrake.errors import UsageError

MOST_NUMBERS = 100_000  # in a range
SEED_DIGITS = 18  # of a random road or car, at most
_RANGE = re.compile(r"(?P<head>(?:gen:|random:)?)(?P<first>\d{1,9})-(?P<last>\d{1,9})(?P<tail>(?:[:@].*)?)")


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def expand_names(text: str, where: str) -> list[str]:
    """Return the names of a list with commas, each once; gen:3-5 and random:3-5 become three names each.

    Args:
        text: the list.
        where: the option, for errors.

    Raises:
        UsageError: no name, or a range that is none.
    """
    names: list[str] = []
    for item in (part.strip() for part in text.split(",")):
        match = _RANGE.fullmatch(item)
        if match is None or not match["head"]:
            names.append(item)
            continue
        names += [f"{match['head']}{number}{match['tail']}" for number in _list_numbers(match, where)]
    if not all(names):
        raise UsageError("an empty name", where=where, got=repr(text), expected="names with commas between")
    return list(dict.fromkeys(names))


def expand_seeds(text: str, where: str) -> list[int]:
    """Return the whole numbers of a list with commas, each once; 3-5 becomes three.

    Args:
        text: the list.
        where: the option, for errors.

    Raises:
        UsageError: no number, or a range that is none.
    """
    seeds: list[int] = []
    for item in (part.strip() for part in text.split(",")):
        match = _RANGE.fullmatch(item)
        if match is not None and not match["head"] and not match["tail"]:
            seeds += _list_numbers(match, where)
        elif item.isascii() and item.isdigit() and len(item) <= 18:
            seeds.append(int(item))
        else:
            raise UsageError("no seed", where=where, got=repr(item), expected="whole numbers with commas, or 0-9")
    return list(dict.fromkeys(seeds))


def _list_numbers(match: re.Match[str], where: str) -> list[int]:
    first, last = int(match["first"]), int(match["last"])
    if not first <= last < first + MOST_NUMBERS:
        raise UsageError("no range", where=where, got=match[0], expected="FIRST-LAST")
    return list(range(first, last + 1))
