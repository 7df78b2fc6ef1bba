from dataclasses import dataclass
from pathlib import Path

import pytest

from trailbrake.driving.session.option_pairs import change_options
from trailbrake.errors import UsageError


@dataclass(frozen=True)
class Example:
    count: int = 1
    share: float = 0.5
    file_path: Path | None = None
    on: bool = False


def test_texts_become_what_the_fields_are():
    found = change_options(Example(), ["count=3", "file-path=a/b=c", "on=true"], "--x", "the example")
    assert found == Example(count=3, file_path=Path("a/b=c"), on=True)


@pytest.mark.parametrize("pair", ["cuont=3", "count", "count=1.5", "share=half"])
def test_a_wrong_pair_names_the_flag(pair):
    with pytest.raises(UsageError, match="--x"):
        change_options(Example(), [pair], "--x", "the example")
