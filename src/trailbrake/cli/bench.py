"""`bench NAME`: our speed, as fixed rows."""

import importlib
from collections.abc import Callable

from cyclopts import App

from trailbrake.bench import BENCHES
from trailbrake.cli.output import JsonFlag, print_json, print_table


def _build_command(name: str) -> Callable[..., None]:
    def bench(*, json: JsonFlag = False) -> None:
        from dataclasses import asdict

        from trailbrake.bench.rows import describe_machine

        rows = importlib.import_module(f"trailbrake.bench.{name}").measure_rows()
        if json:
            print_json({"bench": name, "machine": describe_machine(), "rows": [asdict(row) for row in rows]})
        else:
            print_table(
                f"bench {name}",
                ["name", "value", "unit", "better", "note"],
                [[row.name, f"{row.value:.4g}", row.unit, row.better, row.note] for row in rows],
            )

    bench.__doc__ = f"Measure the rows of bench {name}."
    return bench


def build_bench_app() -> App:
    """Return the verb with one sub-command per bench."""
    bench = App(name="bench", help="Measure our speed, as fixed rows.")
    for name in BENCHES:
        bench.command(_build_command(name), name=name)
    return bench
