"""docs/flags.md: the flags of every verb, as the command line itself knows them, each written once."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from inspect import Parameter
from typing import Any, NamedTuple

from cyclopts import App

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.cli.main import build_command_line
from trailbrake.sims import registry

INTRODUCTION = """# Flags

Generated from the command line; do not edit. What the verbs do: [cli.md](cli.md). In brackets: the default; `--no-...`
turns off a switch that is on. Most verbs have `--json`. Flags of several verbs are at `every VERB`, or at the end.
"""
LIVE_VERBS = ("drive", "learn car", "learn track", "watch")
SEVERAL, LIVE = "Flags of several verbs", "Live flags"

Place = tuple[str, str]  # a verb, and the simulator with which alone it has a flag, or ""


class Group(NamedTuple):
    """Flags that several verbs have: a title, the places that all of them have, and each with its places."""

    title: str
    common: frozenset[Place]
    rows: dict[str, frozenset[Place]]
    is_live: bool = False


def page() -> str:
    """Return docs/flags.md."""
    verbs, places = collect_rows()
    heads = dict.fromkeys(verb.rpartition(" ")[0] for verb in verbs if " " in verb)
    families = {f"every {head}": [verb for verb in verbs if verb.rpartition(" ")[0] == head] for head in heads}
    families = {title: members for title, members in families.items() if len(members) > 1}
    of_families = {frozenset((verb, "") for verb in members): title for title, members in families.items()}
    rows_by_verb = {verb: frozenset((row, place[1]) for row, found in places.items() for place in found
                                    if place[0] == verb) for verb in verbs}  # fmt: skip
    rows_of: dict[str, list[str]] = {}  # rows of a section that stand there alone
    shared: dict[str, frozenset[Place]] = {}
    for row, found in places.items():
        alike = len({rows_by_verb[verb] for verb, _ in found}) == 1 and not any(sim for _, sim in found)
        family = of_families.get(frozenset(found))
        for title in [family] if family else dict(found) if alike else ():
            rows_of.setdefault(title, []).append(row)
        if len(found) > 1 and not alike and not family:
            shared[row] = frozenset(found)
    groups = list(group_rows(shared, verbs))
    taken = {verb: dict.fromkeys(text for group in groups for text in describe_taken(group, verb)) for verb in verbs}
    for title, members in families.items():
        taken[title] = {text: None for text in taken[members[0]] if all(text in taken[verb] for verb in members)}
        for verb in members:
            taken[verb] = {text: None for text in taken[verb] if text not in taken[title]}
    sections: dict[str, list[str]] = {}  # titles by what stands below them
    for title in sorted([*families, *verbs], key=lambda title: families.get(title, [title])[0]):
        lines = rows_of.get(title, [])
        for sim in registry.simulator_names():
            own = [row for row, found in places.items() if found == [(title, sim)]]
            lines += [f"\nWith `--sim {sim}`:\n", *own] if own else []
        lines += [f"\nAlso: {'; '.join(taken[title])}."] if taken[title] else []
        if lines:
            sections.setdefault("\n".join(lines).strip(), []).append(title)
    parts = [INTRODUCTION]
    parts += [f"## {'; '.join(join_verbs(alike, verbs))}\n\n{body}\n" for body, alike in sections.items()]
    parts.append(f"## {LIVE}\n\nOf {', '.join(join_verbs(LIVE_VERBS, verbs))}.\n")
    for group in sorted(groups, key=lambda group: not group.is_live):
        again = Counter(row.split("`")[1] for row in group.rows)
        is_unclear = {row: again[row.split("`")[1]] > 1 or (not group.is_live and any(sim for _, sim in found))
                      for row, found in group.rows.items()}  # fmt: skip
        rows = [row + describe_extra(group, found, verbs) * is_unclear[row] for row, found in group.rows.items()]
        parts.append("\n".join([f"{'###' if group.is_live else '##'} {group.title}\n", *rows]) + "\n")
    return "\n".join(parts)


def collect_rows() -> tuple[list[str], dict[str, list[Place]]]:
    """Return the verbs, and each different row with the places that have it."""
    verbs = dict(_verbs(build_command_line(registry.find(DriveFlags.sim))))
    for name in sorted({verb.split()[0] for verb in verbs}):  # some list what is below them only when they are called
        verbs.update(_verbs(build_command_line(registry.find(DriveFlags.sim), name)))
    longer = {verb.rsplit(" ", 1)[0] for verb in verbs if " " in verb}
    names = sorted(set(verbs) - longer)
    places: dict[str, list[Place]] = {}
    for name in names:
        found = {
            sim: _rows(dict(_verbs(build_command_line(registry.find(sim), name.split()[0])))[name])
            for sim in registry.simulator_names()
        }
        everywhere = [row for row in found[DriveFlags.sim] if all(row in rows for rows in found.values())]
        for row in everywhere:
            places.setdefault(row, []).append((name, ""))
        for sim, rows in found.items():
            for row in rows:
                if row not in everywhere:
                    places.setdefault(row, []).append((name, sim))
    return names, places


def group_rows(shared: dict[str, frozenset[Place]], verbs: Sequence[str]) -> Iterator[Group]:
    """Yield the groups: live flags by simulator, flags that two or more rows share in one way, and the rest."""
    left = dict(shared)
    for sims in sorted({live_sims(found) for found in shared.values()} - {()}, key=lambda sims: (len(sims), sims)):
        rows = {row: found for row, found in left.items() if live_sims(found) == sims}
        left = {row: found for row, found in left.items() if row not in rows}
        common = frozenset((verb, sim) for verb in LIVE_VERBS for sim in sims)
        yield Group(f"With {', '.join(sims)}", common, rows, is_live=True)
    rest: dict[str, frozenset[Place]] = {}
    for found in dict.fromkeys(left.values()):
        rows = {row: places for row, places in left.items() if places == found}
        if len(rows) > 1:
            yield Group(f"Flags of {describe_places(found, verbs)}", found, rows)
        else:
            rest |= rows
    yield Group(SEVERAL, frozenset(), rest)


def live_sims(places: Iterable[Place]) -> tuple[str, ...]:
    """Return the simulators with which all verbs of a live drive have a flag."""
    found = set(places)
    return tuple(sim for sim in registry.simulator_names() if all((verb, sim) in found for verb in LIVE_VERBS))


def describe_taken(group: Group, verb: str) -> Iterator[str]:
    """Yield what a verb takes of a group: the group, or some of its flags."""
    names = [row.split("`")[1] for row, found in group.rows.items() if any(place[0] == verb for place in found)]
    is_whole = any(place[0] == verb for place in group.common) or len(names) == len(group.rows)
    has_sims = any(sim for _, sim in group.common)
    title = LIVE if group.is_live and (verb in LIVE_VERBS or not is_whole) else group.title
    anchor = re.sub(r"[^a-z0-9_ -]", "", title.lower()).replace(" ", "-")
    if is_whole and has_sims:
        yield f"[{title[0].lower() + title[1:]}](#{anchor})"
    elif names:
        label = "shared" if title != LIVE else "live flags"
        yield ", ".join(f"`{name}`" for name in dict.fromkeys(names)) + f" ([{label}](#{anchor}))"


def describe_places(places: Iterable[Place], verbs: Sequence[str]) -> str:
    """Return places as text: the verbs that have a flag with the same simulators together."""
    by_sims: dict[tuple[str, ...], list[str]] = {}
    for verb in sorted({verb for verb, _ in places}):
        sims = tuple(sorted(sim for name, sim in places if name == verb and sim))
        by_sims.setdefault(sims, []).append(verb)
    texts = [
        ", ".join(join_verbs(alike, verbs)) + (f" with {', '.join(sims)}" if sims else "")
        for sims, alike in by_sims.items()
    ]
    return "; ".join(texts)


def join_verbs(alike: Sequence[str], verbs: Sequence[str]) -> list[str]:
    """Return verbs, those that begin alike in one: `serve beamng, forza`, `every serve`."""
    heads: dict[str, list[str]] = {}
    for verb in alike:
        heads.setdefault(verb.rpartition(" ")[0], []).append(verb.rpartition(" ")[2])
    texts = heads.pop("", [])
    for head, lasts in heads.items():
        is_whole = len(lasts) == sum(verb.rpartition(" ")[0] == head for verb in verbs)
        texts.append(f"every {head}" if is_whole and len(lasts) > 1 else f"{head} {', '.join(lasts)}")
    return texts


def describe_extra(group: Group, places: frozenset[Place], verbs: Sequence[str]) -> str:
    """Return where else than in the places of its group a flag is."""
    extra = places - group.common
    return f" ({'also ' if group.common else ''}{describe_places(extra, verbs)})" if extra else ""


def _verbs(app: App, before: str = "") -> Iterator[tuple[str, App]]:
    for name in app.resolved_commands():
        if not name.startswith("-"):
            yield before + name, app[name]
            yield from _verbs(app[name], f"{before}{name} ")


def _rows(verb: App) -> list[str]:
    return [
        f"* {_name(a)}{_default(a)}: {' '.join((a.parameter.help or '').split())}"
        for a in verb.assemble_argument_collection(parse_docstring=True)
        if a.show and a.name != "--json"
    ]


def _name(argument: Any) -> str:
    names = [name for name in argument.names if name not in argument.negatives]
    words = ", ".join(f"`{name}`" for name in names if not name.startswith("--empty-"))
    return " ".join([words, "|".join(argument.get_choices() or ())]).rstrip()


def _default(argument: Any) -> str:
    value = argument.field_info.default
    if argument.name == "--sim":  # a verb's own: see there
        return ""
    if argument.is_flag():
        return " [on]" if value else ""
    if argument.required:
        return " [required]"
    if isinstance(value, float):
        return f" [`{value:g}`]"
    return "" if value in (None, "", (), Parameter.empty) else f" [`{value}`]"
