"""docs/flags.md: the flags of every verb, as the command line itself knows them."""

from collections.abc import Iterator
from inspect import Parameter
from typing import Any

from cyclopts import App

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.cli.main import build_command_line
from trailbrake.sims import registry

INTRODUCTION = """# Flags

Generated from the command line; do not edit. What the verbs do: [cli.md](cli.md). A switch that stands as on has a form
`--no-...` that takes it back. What `--sim` adds to a verb stands under the verb, simulator by simulator.
"""


def page() -> str:
    """Return docs/flags.md."""
    verbs = dict(_verbs(build_command_line(registry.find(DriveFlags.sim))))
    inside = {verb.split()[0] for verb in verbs}
    for name in sorted(inside):  # some verbs look for what is below them only when they are called
        verbs.update(_verbs(build_command_line(registry.find(DriveFlags.sim), name)))
    longer = {verb.rsplit(" ", 1)[0] for verb in verbs if " " in verb}
    parts = [INTRODUCTION]
    for name in sorted(set(verbs) - longer):
        flags = {
            sim: _rows(dict(_verbs(build_command_line(registry.find(sim), name.split()[0])))[name])
            for sim in registry.simulator_names()
        }
        everywhere = [row for row in flags[DriveFlags.sim] if all(row in rows for rows in flags.values())]
        sections = [(name, everywhere)]
        sections += [
            (f"{name} --sim {sim}", [row for row in rows if row not in everywhere]) for sim, rows in flags.items()
        ]
        parts += [_section(title, rows) for title, rows in sections if rows]
    return "\n".join(parts)


def _verbs(app: App, before: str = "") -> Iterator[tuple[str, App]]:
    for name in app.resolved_commands():
        if not name.startswith("-"):
            yield before + name, app[name]
            yield from _verbs(app[name], f"{before}{name} ")


def _rows(verb: App) -> list[str]:
    return [
        f"| {_name(a)} | {_default(a)} | {' '.join((a.parameter.help or '').split())} |".replace("  ", " ")
        for a in verb.assemble_argument_collection(parse_docstring=True)
        if a.show and a.name != "--json"
    ]


def _name(argument: Any) -> str:
    names = [name for name in argument.names if name not in argument.negatives]
    words = ", ".join(f"`{name}`" for name in names if not name.startswith("--empty-"))
    return " ".join([words, " or ".join(argument.get_choices() or ())]).rstrip()


def _default(argument: Any) -> str:
    value = argument.field_info.default
    if argument.name == "--sim":  # a verb's own: see there
        return ""
    if argument.is_flag():
        return "on" if value else ""
    if argument.required:
        return "must be given"
    return (
        f"`{value:g}`" if isinstance(value, float) else "" if value in (None, "", (), Parameter.empty) else f"`{value}`"
    )


def _section(title: str, rows: list[str]) -> str:
    return "\n".join([f"## {title}", "", "| flag | default | |", "|---|---|---|", *rows, ""])
