"""`render_page`: a page as one HTML file, made of the assets of this package."""

import html
from collections.abc import Sequence
from importlib.resources import files
from string import Template

THEME = "shared/theme.css"


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


def escape_html(text: str) -> str:
    """Return a text in a form that is safe inside HTML: names and messages come from files and wires."""
    return html.escape(text)
