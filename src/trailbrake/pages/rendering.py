"""`render_page`, `render_framed_page`: a page as one HTML file, made of the assets of this package."""

import base64
import html
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from trailbrake.errors import OsErrors

THEME = "shared/theme.css"
FRAME = "shared/frame.html"  # head, theme by the system's, and policy of pages without scripts of their own
# The report of drives, comparisons and lines: charts over distance with a cursor, beside a map.
REPORT_SCRIPTS = (
    "shared/vendor/uPlot.iife.min.js", "shared/basics.js", "shared/map.js", "report/common.js", "report/charts.js",
    "report/maps.js", "report/main.js", "report/player.js",
)  # fmt: skip
REPORT_STYLES = ("shared/vendor/uPlot.min.css", THEME, "report/report.css")


def read_asset(name: str) -> bytes:
    """Return a file below `assets/`, as "report/report.css"."""
    return files("trailbrake.pages").joinpath("assets", *name.split("/")).read_bytes()


def read_text_asset(name: str) -> str:
    """Return a text file below `assets/`."""
    return read_asset(name).decode("utf-8")


def render_page(template: str, *, styles: Sequence[str], scripts: Sequence[str] = (), **values: str) -> str:
    """Return a page as one HTML file that loads nothing: styles and scripts are inside.

    Args:
        template: asset with $styles, $scripts and the names in `values`.
        styles: assets, in order.
        scripts: assets, in order.
        **values: finished HTML for each other name in the template.
    """
    return Template(read_text_asset(template)).substitute(
        values,
        styles="\n".join(map(read_text_asset, styles)),
        scripts="\n".join(f"<script>\n{read_text_asset(name)}\n</script>" for name in scripts),
    )


def render_framed_page(template: str, *, title: str, styles: Sequence[str], **values: str) -> str:
    """Return a page without scripts of its own: an asset with what is in its body, inside the shared frame.

    Args:
        template: asset with the names in `values`; $title too.
        title: finished HTML.
        styles: assets, in order.
        **values: finished HTML for each other name in the template.
    """
    content = Template(read_text_asset(template)).substitute(values, title=title)
    return render_page(FRAME, styles=styles, title=title, content=content.strip())


def render_table(heads: Sequence[str | tuple[str, str]], rows: Iterable[str], kind: str = "") -> str:
    """Return a table of class `kind`; `heads`: text of each column, or text and class; `rows`: finished <tr>s."""
    cells = (("", head) if isinstance(head, str) else (f" class='{head[1]}'", head[0]) for head in heads)
    head = "".join(f"<th scope='col'{name}>{escape_html(text)}</th>" for name, text in cells)
    return f"<table class='{kind}'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def write_page_file(path: Path, page: str) -> Path:
    """Write a page and return where it is; folders are made.

    Raises:
        UsageError: it cannot be written.
    """
    with OsErrors("cannot write the page", where=str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8", newline="\n")
    return path


def escape_html(text: str) -> str:
    """Return a text in a form that is safe inside HTML: names and messages come from files and wires."""
    return html.escape(text)


def encode_data_url(picture: bytes) -> str:
    """Return a PNG or JPEG file as the address of an image inside the page."""
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}"


def escape_script(text: str) -> str:
    """Return JSON that can stand inside of a script element: no text in it can end the element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
