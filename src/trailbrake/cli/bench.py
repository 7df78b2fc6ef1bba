"""`bench NAME`: our speed, as fixed rows."""

import importlib
import pkgutil
from collections.abc import Callable

from cyclopts import App

from trailbrake.cli.output import Json, print_json, print_table


def _names() -> list[str]:
    import trailbrake.bench

    return sorted(m.name for m in pkgutil.iter_modules(trailbrake.bench.__path__) if not m.name.endswith("rows"))


def _verb(name: str) -> Callable[..., None]:
    def bench(*, json: Json = False) -> None:
        from dataclasses import asdict

        from trailbrake.bench.rows import machine

        rows = importlib.import_module(f"trailbrake.bench.{name}").rows()
        if json:
            print_json({"bench": name, "machine": machine(), "rows": [asdict(row) for row in rows]})
        else:
            print_table(
                f"bench {name}",
                ["name", "value", "unit", "better", "note"],
                [[row.name, f"{row.value:.4g}", row.unit, row.better, row.note] for row in rows],
            )

    bench.__doc__ = f"Measure the rows of bench {name}."
    return bench


def app() -> App:
    """Return the verb with one sub-command per bench."""
    bench = App(name="bench", help="Measure our speed, as fixed rows.")
    for name in _names():
        bench.command(_verb(name), name=name)
    return bench
