"""The verbs that look at one simulator: `doctor`, `setup`, `sniff`, `probe`; each a module in the folders that have it.

`doctor.py`: `Options` and `examine(options)`, an iterator of Findings. `setup.py`: `Options` and `run(options)`, an
iterator of lines. `sniff.py`: `Options` and `watch(options)`, a context manager around a callable that returns the
Fields of now. `probe.py`: `Options` and `run(options, say, answer)`, which returns what it measured.
"""

import dataclasses
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any

from cyclopts import App, Parameter

from trailbrake.cli.output import Json, print_json, print_table
from trailbrake.findings import Field
from trailbrake.sims import registry

_MARKS = {"ok": "ok", "problem": "PROBLEM", "unknown": "?"}
_STYLES = {"ok": "green", "problem": "bold red", "unknown": "yellow"}
_SNIFF_PERIOD = 0.1  # s between looks on a terminal
_GLOW = 5  # looks for which a changed value stays highlighted


def doctor(module: ModuleType, options: Any, json: bool) -> int:
    """Print the findings; 1 where there is a problem."""
    from rich.console import Console
    from rich.text import Text

    found = []
    console = Console(file=sys.stderr if json else sys.stdout, soft_wrap=True)
    for finding in module.examine(options):
        found.append(finding)
        line = Text(f"{_MARKS[finding.verdict]:>8}  ", _STYLES[finding.verdict])
        line.append(f"{finding.name}: {finding.found}", "default")
        console.print(line)
        if finding.advice:
            console.print(Text(f"          {finding.advice}"))
    if json:
        print_json({"findings": [dataclasses.asdict(finding) for finding in found]})
    return int(any(finding.verdict == "problem" for finding in found))


def setup(module: ModuleType, options: Any, json: bool) -> int:
    """Print what was done."""
    lines = []
    for line in module.run(options):
        lines.append(line)
        print(line, file=sys.stderr if json else sys.stdout, flush=True)
    if json:
        print_json({"done": lines})
    return 0


def probe(module: ModuleType, options: Any, json: bool) -> int:
    """Print what was measured."""
    answer = None
    if options.driver:
        from trailbrake.run.asked import asked

        answer = asked(module.__name__.split(".")[-2], options.driver, options.track, options.car)
    result = module.run(options, lambda text: print(text, file=sys.stderr, flush=True), answer)
    if json:
        print_json(result)
    else:
        print_table("Measured", ["what", "value"], [[name, _text(value)] for name, value in result.items()])
    return 0


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def sniff(module: ModuleType, options: Any, json: bool) -> int:
    """Show the live fields until stopped; once, where the output is no terminal."""
    with module.watch(options) as look:
        if json:
            print_json({"fields": [dataclasses.asdict(field) for field in look()]})
        elif sys.stdout.isatty():
            _live(look)
        else:
            print_table(module.__name__.split(".")[-2], ["page", "field", "value", "unit"],
                        [[f.group, f.name, f.value, f.unit] for f in look()])  # fmt: skip
    return 0


def _live(look: Callable[[], list[Field]]) -> None:
    import time

    from rich.live import Live

    glow: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], str] = {}
    with Live(screen=True, auto_refresh=False) as screen:
        try:
            while True:
                fields = look()
                screen.update(live_view(fields, last, glow), refresh=True)
                last = {(f.group, f.name): f.value for f in fields}
                time.sleep(_SNIFF_PERIOD)
        except KeyboardInterrupt:
            return


def live_view(fields: list[Field], last: dict[tuple[str, str], str], glow: dict[tuple[str, str], int]) -> Any:
    """Return the fields in columns, those that changed of late highlighted.

    Args:
        fields: what is there now.
        last: {(group, name): value} of the look before.
        glow: {(group, name): looks for which it is still highlighted}; kept up to date here.
    """
    from rich.columns import Columns
    from rich.table import Table
    from rich.text import Text

    tables: dict[str, Table] = {}
    for field in fields:
        key = (field.group, field.name)
        changed = last.get(key, field.value) != field.value
        glow[key] = _GLOW if changed else max(glow.get(key, 0) - 1, 0)
        if field.group not in tables:
            tables[field.group] = Table(title=field.group, box=None, title_justify="left", title_style="bold cyan")
            tables[field.group].show_header = False
        value = Text(field.value, "bold yellow" if glow[key] else "")
        tables[field.group].add_row(Text(field.name, "dim"), value, Text(field.unit, "dim"))
    return Columns(tables.values(), padding=(0, 3))


_VERBS: dict[str, tuple[Callable[[ModuleType, Any, bool], int], str]] = {
    "doctor": (doctor, "Say why there is no data from a game, and what to do."),
    "setup": (setup, "Make a game ready."),
    "sniff": (sniff, "Show a live wire as named fields."),
    "probe": (probe, "Measure a live wire's timing."),
}


def _command(verb: str, sim: str) -> Callable[..., int]:
    module = registry.part(sim, verb)
    act, _ = _VERBS[verb]

    def command(*, options: Any = None, json: Json = False) -> int:
        return act(module, options or module.Options(), json)

    # The flags come from the simulator's own Options; cyclopts reads them off the annotations.
    command.__annotations__["options"] = Annotated[module.Options | None, Parameter(name="*")]
    command.__doc__ = module.Options.__doc__.splitlines()[0]
    return command


def apps(asked: str) -> list[App]:
    """Return one verb per kind of module that any simulator has.

    Only the verb `asked` for gets its sub-commands, one per simulator: they need the modules, which are not all cheap.
    """
    found = []
    for verb, (_, text) in _VERBS.items():
        sims = registry.having(verb)
        if sims:
            app = App(name=verb, help=text)
            for sim in sims if verb == asked else ():
                app.command(_command(verb, sim), name=sim)
            found.append(app)
    return found
