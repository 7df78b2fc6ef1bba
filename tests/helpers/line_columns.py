"""The columns of a line file, as docs/minimum-time.md lists them."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "minimum-time.md"


def documented_columns():
    """Return their names; those of one wheel stand for all four."""
    cells = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return re.findall(r"\w+", " ".join(cells))
