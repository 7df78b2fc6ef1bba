"""How verbs answer: one JSON object on stdout with --json, else a table; everything else goes to stderr."""

import json
import math
import re
import shutil
import sys
import textwrap
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter

from trailbrake.errors import replace_controls

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

OpenFlag = Annotated[bool, Parameter(name="--open", negative=(), help="Open the page in the browser.")]
JsonFlag = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON object on stdout.")]

_UNLABELLED = ("about", "title")  # columns whose cells explain themselves in a paragraph
TALL = 4  # lines of a row, in the mean, above which paragraphs are read more easily


def _replace_nan(value: Any) -> Any:
    # JSON has no NaN: a number that is not there is null.
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _replace_nan(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nan(v) for v in value]
    return value


def print_json(value: Any) -> None:
    """Print `value` as one line of JSON on stdout."""
    print(json.dumps(_replace_nan(value)), flush=True)


def answer(result: Any, show: Callable[[Any], None], *, json: bool) -> None:
    """Print a verb's result: as one JSON object with --json, else as `show` prints it."""
    if json:
        print_json(result)
    else:
        show(result)


def wrap_text(text: str, stream: TextIO | None = None) -> str:
    """Return a line as lines for the width of the terminal `stream` (default stdout); as it is where that is a pipe."""
    if not (stream or sys.stdout).isatty():
        return text
    width = max(shutil.get_terminal_size().columns, 40) - 1
    return textwrap.fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def print_notice(text: str) -> None:
    """Print a line on stderr; names in it may come from files and games."""
    print(wrap_text(replace_controls(text), sys.stderr), file=sys.stderr, flush=True)


def open_page(page: str | Path | None, wanted: bool) -> None:
    """Open a page in the browser, where that is wanted; say so where none was written, or no browser opens."""
    if wanted and not page:
        print_notice("trailbrake: no page was written that could be opened")
    elif wanted and page and not webbrowser.open(Path(page).resolve().as_uri()):
        print_notice("trailbrake: no browser could be opened: open that file in one")


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, has_ids: bool = False) -> None:
    """Print a table on stdout; where the first column `has_ids`, which people copy, these are never broken.

    Columns in which no row has more than "-" are left out. Where the terminal is too narrow for the words of all
    columns, or rows take more than TALL lines, columns that are the same in all rows are said once, above; if that is
    not enough, each row is a paragraph.
    """
    from rich.console import Console

    lines = list(rows)
    kept = [i for i in range(len(header)) if not lines or any(row[i] not in ("", "-") for row in lines)]
    # Into a pipe there is no width to respect; 200 keeps one row on one line.
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200)

    def print_wrapped(text: str, style: str = "", indent: str = "  ") -> None:
        kept_together = re.sub(r"(?<=\d) (?=\w)", "\xa0", replace_controls(text))  # a number and its unit
        for line in textwrap.wrap(kept_together, console.width, subsequent_indent=indent,
                                  break_long_words=False, break_on_hyphens=False):  # fmt: skip
            console.print(line.replace("\xa0", " "), style=style, markup=False, highlight=False, soft_wrap=True)

    def print_paragraph(name: str, row: Sequence[str], columns: Sequence[int]) -> None:
        cells = (f"{'' if header[i] in _UNLABELLED else header[i]}\xa0{row[i].removesuffix('.')}".lstrip()
                 for i in columns if row[i] not in ("", "-"))  # fmt: skip
        print_wrapped(f"{name}: {'; '.join(cells)}")

    print_wrapped(title, "bold", "")

    table = _make_table(header, lines, kept, has_ids)
    if len(lines) > 1 and not _fits(console, table):
        same = [i for i in kept[1:] if all(row[i] == lines[0][i] for row in lines)]
        kept = [i for i in kept if i not in same]
        if same:
            print_paragraph("all", lines[0], same)
        table = _make_table(header, lines, kept, has_ids)
    if _fits(console, table):
        console.print(table)
    else:
        for row in lines:
            print_paragraph(row[kept[0]], row, kept[1:])


def _make_table(header: Sequence[str], lines: list[Sequence[str]], kept: list[int], has_ids: bool) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold cyan")
    for i in kept:
        table.add_column(header[i], overflow="fold", no_wrap=has_ids and i == 0)
    for row in lines:
        table.add_row(*(Text(replace_controls(row[i])) for i in kept))  # names may hold what would be markup
    return table


def _fits(console: "Console", table: "Table") -> bool:
    """Return whether no word of a table is broken, and its rows take no more than TALL lines in the mean."""
    words = [
        max(map(len, " ".join([str(column.header), *map(str, column.cells)]).split()), default=0)
        for column in table.columns
    ]
    if sum(words) + 2 * len(words) > console.width:
        return False
    return len(console.render_lines(table, pad=False)) <= TALL * table.row_count + 1


def format_camera(figures: dict[str, Any]) -> str:
    """Return a camera's figures in a line: how many pictures, how often, and how old they were when they were read."""
    if "rate_hz" not in figures:
        return f"{figures['pictures']} pictures"
    trouble = f"; {figures['trouble']}" if figures["trouble"] else ""
    rate, half, most = (figures[name] for name in ("rate_hz", "age_p50_ms", "age_p99_ms"))
    return (f"{figures['pictures']} pictures, {rate:.0f} a second; {half:.0f} ms old when read, 99 % under {most:.0f}"
            f" ms{trouble}")  # fmt: skip
